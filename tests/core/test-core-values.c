/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-capabilities.h"
#include "core/sbx-command.h"
#include "core/sbx-environment-private.h"
#include "core/sbx-error.h"
#include "core/sbx-exec-result-private.h"
#include "core/sbx-open-request.h"
#include "core/sbx-reach.h"
#include "core/sbx-text-private.h"
#include "sbx-enum-types.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

/* The values of the vocabulary: they hold what they were given, byte for byte, and know what makes
 * no sense. */

static void
assert_strv (const char * const *strv,
             const char         *joined)
{
  g_autofree char *actual = g_strjoinv ("|", (GStrv) strv);

  g_assert_cmpstr (actual, ==, joined);
}

static void
assert_invalid_reach (SbxReach   *reach,
                      const char *part)
{
  g_autoptr(GError) error = NULL;

  g_assert_false (sbx_reach_validate (reach, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, part));
}

static void
test_reach (void)
{
  g_autoptr(SbxReach) reach = sbx_reach_new ("/work/a b");

  g_assert_cmpstr (sbx_reach_get_cwd (reach), ==, "/work/a b");
  assert_strv (sbx_reach_get_read (reach), "");
  assert_strv (sbx_reach_get_write (reach), "");
  assert_strv (sbx_reach_get_environment (reach), "");

  sbx_reach_add_read (reach, "/usr/share/\xff\xfe");
  sbx_reach_add_read (reach, "/with\nnewline");
  sbx_reach_add_read (reach, "/usr/share/\xff\xfe");
  sbx_reach_add_write (reach, "/work/a b");
  sbx_reach_set_variable (reach, "A", "1");
  sbx_reach_set_variable (reach, "AB", "");
  sbx_reach_set_variable (reach, "C", "x=y=\xff");
  sbx_reach_set_variable (reach, "A", "2");
  sbx_reach_set_variable (reach, "GONE", "1");
  sbx_reach_set_variable (reach, "GONE", NULL);
  sbx_reach_set_variable (reach, "NEVER", NULL);

  assert_strv (sbx_reach_get_read (reach), "/usr/share/\xff\xfe|/with\nnewline");
  assert_strv (sbx_reach_get_write (reach), "/work/a b");
  assert_strv (sbx_reach_get_environment (reach), "A=2|AB=|C=x=y=\xff");
  g_assert_true (sbx_reach_validate (reach, NULL));
}

static void
test_reach_copy (void)
{
  g_autoptr(SbxReach) reach = sbx_reach_new ("/work");
  g_autoptr(SbxReach) copy = NULL;

  sbx_reach_add_read (reach, "/a");
  sbx_reach_add_write (reach, "/b");
  sbx_reach_set_variable (reach, "A", "1");
  copy = sbx_reach_copy (reach);
  g_assert_true (sbx_reach_equal (reach, copy));

  sbx_reach_add_read (copy, "/c");
  g_assert_false (sbx_reach_equal (reach, copy));
  assert_strv (sbx_reach_get_read (reach), "/a");

  g_clear_object (&copy);
  copy = sbx_reach_copy (reach);
  sbx_reach_set_variable (copy, "A", "2");
  g_assert_false (sbx_reach_equal (reach, copy));
  assert_strv (sbx_reach_get_environment (reach), "A=1");

  /* A path that can be read is something else than one that can be written. */
  g_clear_object (&copy);
  copy = sbx_reach_new ("/work");
  sbx_reach_add_write (copy, "/a");
  sbx_reach_add_read (copy, "/b");
  sbx_reach_set_variable (copy, "A", "1");
  g_assert_false (sbx_reach_equal (reach, copy));
}

static void
test_reach_invalid (void)
{
  static const char * const relative[] = { "", ".", "a", "../a", "~/a", "./\xff\xe2\x80\xae" };
  static const char * const bad_names[] = { "", "A=B", "=" };

  for (guint i = 0; i < G_N_ELEMENTS (relative); i++)
    {
      g_autoptr(SbxReach) cwd = sbx_reach_new (relative[i]);
      g_autoptr(SbxReach) read = sbx_reach_new ("/work");
      g_autoptr(SbxReach) write = sbx_reach_new ("/work");

      sbx_reach_add_read (read, "/fine");
      sbx_reach_add_read (read, relative[i]);
      sbx_reach_add_write (write, relative[i]);
      assert_invalid_reach (cwd, "cwd");
      assert_invalid_reach (read, "read");
      assert_invalid_reach (write, "write");
    }

  for (guint i = 0; i < G_N_ELEMENTS (bad_names); i++)
    {
      g_autoptr(SbxReach) reach = sbx_reach_new ("/work");
      g_autoptr(SbxReach) copy = NULL;

      sbx_reach_set_variable (reach, bad_names[i], "1");
      copy = sbx_reach_copy (reach);
      assert_invalid_reach (reach, bad_names[i]);
      assert_invalid_reach (copy, bad_names[i]);
      assert_strv (sbx_reach_get_environment (reach), "");
    }
}

static void
test_reach_escapes (void)
{
  g_autoptr(SbxReach) reach = sbx_reach_new ("a\xff\xe2\x80\xae" "b\n");
  g_autoptr(GError) error = NULL;

  g_assert_false (sbx_reach_validate (reach, &error));
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
  g_assert_nonnull (strstr (error->message, "“a\\xff\\u202eb\\n”"));
}

static void
test_open_request (void)
{
  g_autoptr(SbxReach) reach = sbx_reach_new ("/work");
  g_autoptr(SbxOpenRequest) request = sbx_open_request_new (reach);

  sbx_reach_add_read (reach, "/later");
  assert_strv (sbx_reach_get_read (sbx_open_request_get_reach (request)), "");
}

static void
test_command (void)
{
  const char *argv[] = { "prog", "", "a b", "\xff\xfe", "-n\n", NULL };
  g_autoptr(SbxCommand) command = sbx_command_new (argv);
  g_autoptr(GBytes) bytes = g_bytes_new_static ("in\0put", 6);

  g_assert_true (sbx_command_get_argv (command) != argv);
  assert_strv (sbx_command_get_argv (command), "prog||a b|\xff\xfe|-n\n");
  g_assert_null (sbx_command_get_cwd (command));
  g_assert_cmpint (sbx_command_get_stdin (command), ==, SBX_STDIN_NULL);
  g_assert_null (sbx_command_get_stdin_bytes (command));
  g_assert_cmpuint (sbx_command_get_timeout (command), ==, 0);
  g_assert_false (sbx_command_get_terminal (command));
  g_assert_cmpuint (sbx_command_get_rows (command), ==, 24);
  g_assert_cmpuint (sbx_command_get_columns (command), ==, 80);
  g_assert_cmpuint (sbx_command_get_collect_limit (command), ==, 16 * 1024 * 1024);

  sbx_command_set_cwd (command, "sub/\xff");
  sbx_command_set_cwd (command, sbx_command_get_cwd (command));
  g_assert_cmpstr (sbx_command_get_cwd (command), ==, "sub/\xff");
  sbx_command_set_cwd (command, NULL);
  g_assert_null (sbx_command_get_cwd (command));

  sbx_command_set_stdin_bytes (command, bytes);
  g_assert_cmpint (sbx_command_get_stdin (command), ==, SBX_STDIN_BYTES);
  g_assert_true (sbx_command_get_stdin_bytes (command) == bytes);
  sbx_command_set_stdin_bytes (command, sbx_command_get_stdin_bytes (command));
  g_assert_true (sbx_command_get_stdin_bytes (command) == bytes);
  sbx_command_set_stdin_bytes (command, NULL);
  g_assert_cmpint (sbx_command_get_stdin (command), ==, SBX_STDIN_NULL);
}

static void
test_command_copy (void)
{
  const char *argv[] = { "prog", "\xff", NULL };
  g_autoptr(SbxCommand) command = sbx_command_new (argv);
  g_autoptr(GBytes) bytes = g_bytes_new_static ("input", 5);
  g_autoptr(SbxCommand) copy = NULL;

  sbx_command_set_cwd (command, "sub");
  sbx_command_set_variable (command, "A", "1");
  sbx_command_set_stdin_bytes (command, bytes);
  sbx_command_set_timeout (command, 1500);
  sbx_command_set_terminal (command, TRUE);
  sbx_command_set_terminal_size (command, 1, 65535);
  sbx_command_set_collect_limit (command, G_MAXUINT64);
  copy = sbx_command_copy (command);

  sbx_command_set_cwd (command, "other");
  sbx_command_set_variable (command, "A", "2");
  sbx_command_set_stdin_bytes (command, NULL);
  sbx_command_set_timeout (command, 0);
  sbx_command_set_terminal (command, FALSE);
  sbx_command_set_terminal_size (command, 2, 2);
  sbx_command_set_collect_limit (command, 0);

  assert_strv (sbx_command_get_argv (copy), "prog|\xff");
  g_assert_cmpstr (sbx_command_get_cwd (copy), ==, "sub");
  assert_strv (sbx_command_get_environment (copy), "A=1");
  g_assert_true (sbx_command_get_stdin_bytes (copy) == bytes);
  g_assert_cmpint (sbx_command_get_stdin (copy), ==, SBX_STDIN_BYTES);
  g_assert_cmpuint (sbx_command_get_timeout (copy), ==, 1500);
  g_assert_true (sbx_command_get_terminal (copy));
  g_assert_cmpuint (sbx_command_get_rows (copy), ==, 1);
  g_assert_cmpuint (sbx_command_get_columns (copy), ==, 65535);
  g_assert_cmpuint (sbx_command_get_collect_limit (copy), ==, G_MAXUINT64);
}

static void
assert_invalid_command (SbxCommand *command)
{
  g_autoptr(GError) error = NULL;

  g_assert_false (sbx_command_validate (command, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
}

static void
test_command_invalid (void)
{
  const char *nothing[] = { NULL };
  const char *no_name[] = { "", "a", NULL };
  const char *argv[] = { "prog", NULL };
  g_autoptr(SbxCommand) empty = sbx_command_new (nothing);
  g_autoptr(SbxCommand) nameless = sbx_command_new (no_name);
  g_autoptr(SbxCommand) no_cwd = sbx_command_new (argv);
  g_autoptr(SbxCommand) bad_name = sbx_command_new (argv);
  g_autoptr(SbxCommand) no_bytes = sbx_command_new (argv);
  g_autoptr(SbxCommand) both = sbx_command_new (argv);
  g_autoptr(SbxCommand) bare = g_object_new (SBX_TYPE_COMMAND, NULL);
  g_autoptr(SbxCommand) fine = sbx_command_new (argv);

  sbx_command_set_cwd (no_cwd, "");
  sbx_command_set_variable (bad_name, "A=B", "1");
  sbx_command_set_stdin (no_bytes, SBX_STDIN_BYTES);
  sbx_command_set_terminal (both, TRUE);
  sbx_command_set_stdin (both, SBX_STDIN_PIPE);

  assert_invalid_command (empty);
  assert_invalid_command (nameless);
  assert_invalid_command (no_cwd);
  assert_invalid_command (bad_name);
  assert_invalid_command (no_bytes);
  assert_invalid_command (both);
  assert_invalid_command (bare);
  g_assert_true (sbx_command_validate (fine, NULL));
}

static void
test_environment_merge (void)
{
  const char *base[] = { "PATH=/bin", "HOME=/home", "A=1", NULL };
  const char *overlay[] = { "A=", "AB=2", "nonsense", "HOME=/x=y", "AB=3", NULL };
  g_auto(GStrv) merged = _sbx_environment_merge (base, overlay);
  g_auto(GStrv) nothing = _sbx_environment_merge (NULL, NULL);
  g_auto(GStrv) only_base = _sbx_environment_merge (base, NULL);

  assert_strv ((const char * const *) merged, "PATH=/bin|HOME=/x=y|A=|AB=3");
  assert_strv ((const char * const *) nothing, "");
  assert_strv ((const char * const *) only_base, "PATH=/bin|HOME=/home|A=1");
}

static const struct
{
  const char *bytes;
  const char *escaped;
} texts[] = {
  { "", "" },
  { "plain text, with “quotes” and ünïcödé 漢字 🦆", NULL },
  { "a\nb\tc\rd", "a\\nb\\tc\\x0dd" },
  { "\x01\x1b[2J\x7f", "\\x01\\x1b[2J\\x7f" },
  { "back\\slash\\n", "back\\\\slash\\\\n" },
  { "\xff", "\\xff" },
  { "a\xc3", "a\\xc3" },
  { "\xc3\x28", "\\xc3(" },
  { "\xed\xa0\x80", "\\xed\\xa0\\x80" },             /* half of a surrogate pair */
  { "\xc0\xaf", "\\xc0\\xaf" },                     /* a slash, written too long */
  { "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" },   /* above what Unicode has */
  { "\xc2\x85", "\\u0085" },                        /* a control of the second set */
  { "\xc2\x9b" "31m", "\\u009b31m" },               /* a terminal takes it for ESC [ */
  { "\xe2\x80\xae" "gnp.exe", "\\u202egnp.exe" },   /* from right to left */
  { "\xe2\x81\xa6x\xe2\x81\xa9", "\\u2066x\\u2069" },
  { "\xd8\x9c", "\\u061c" },
  { "a\xe2\x80\x8b" "b", "a\\u200bb" },             /* a space that is not seen */
  { "\xef\xbb\xbf", "\\ufeff" },
  { "\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029" },
  { "\xc2\xad", "\\u00ad" },
  { "\xf3\xa0\x81\x81", "\\U000e0041" },            /* a tag */
  { "\xee\x80\x80", "\\ue000" },
};

static void
test_text (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autofree char *escaped = _sbx_text_escape (texts[i].bytes);
      g_autofree char *quoted = _sbx_text_quote (texts[i].bytes);
      g_autofree char *expected =
        g_strconcat ("“", texts[i].escaped != NULL ? texts[i].escaped : texts[i].bytes, "”", NULL);

      g_assert_cmpstr (escaped, ==,
                       texts[i].escaped != NULL ? texts[i].escaped : texts[i].bytes);
      g_assert_cmpstr (quoted, ==, expected);
      g_assert_true (g_utf8_validate (escaped, -1, NULL));
    }
}

static void
test_text_any_byte (void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed ((guint32) g_test_rand_int ());

  for (guint i = 0; i < 2000; i++)
    {
      char bytes[64];
      g_autofree char *escaped = NULL;

      for (guint j = 0; j + 1 < sizeof bytes; j++)
        bytes[j] = (char) g_rand_int_range (rand, 1, 256);
      bytes[sizeof bytes - 1] = '\0';

      escaped = _sbx_text_escape (bytes);
      g_assert_true (g_utf8_validate (escaped, -1, NULL));
      for (const char *c = escaped; *c != '\0'; c = g_utf8_next_char (c))
        g_assert_false (g_unichar_iscntrl (g_utf8_get_char (c)));
    }
}

static void
test_text_long (void)
{
  g_autofree char *at_limit = g_strnfill (1024, 'a');
  g_autofree char *over = g_strnfill (1025, 'a');
  g_autofree char *hostile = g_strnfill (1024 * 1024, '\xff');
  g_autofree char *whole = _sbx_text_escape (at_limit);
  g_autofree char *cut = _sbx_text_escape (over);
  g_autofree char *bounded = _sbx_text_escape (hostile);

  g_assert_cmpstr (whole, ==, at_limit);
  g_assert_cmpuint (strlen (cut), ==, 1024 + strlen ("…"));
  g_assert_true (g_str_has_suffix (cut, "a…"));
  g_assert_cmpuint (strlen (bounded), ==, 4 * 1024 + strlen ("…"));
}

static void
assert_empty_output (SbxExecResult *result)
{
  g_assert_cmpuint (g_bytes_get_size (sbx_exec_result_get_stdout (result)), ==, 0);
  g_assert_cmpuint (g_bytes_get_size (sbx_exec_result_get_stderr (result)), ==, 0);
  g_assert_cmpuint (sbx_exec_result_get_stdout_truncated (result), ==, 0);
  g_assert_cmpuint (sbx_exec_result_get_stderr_truncated (result), ==, 0);
}

static void
test_result (void)
{
  g_autoptr(SbxExecResult) success = _sbx_exec_result_new_exited (0);
  g_autoptr(SbxExecResult) failure = _sbx_exec_result_new_exited (137);
  g_autoptr(SbxExecResult) killed = _sbx_exec_result_new_signalled (SIGKILL, FALSE);
  g_autoptr(SbxExecResult) dumped = _sbx_exec_result_new_signalled (SIGSEGV, TRUE);
  g_autoptr(SbxExecResult) late = _sbx_exec_result_new_timed_out ();
  g_autoptr(SbxExecResult) missing =
    _sbx_exec_result_new_not_started (SBX_NOT_STARTED_NOT_FOUND, ENOENT, "no such");
  g_autoptr(SbxExecResult) lost = _sbx_exec_result_new_lost ("gone");

  g_assert_cmpint (sbx_exec_result_get_outcome (success), ==, SBX_EXEC_OUTCOME_EXITED);
  g_assert_true (sbx_exec_result_get_success (success));
  g_assert_null (sbx_exec_result_get_message (success));
  assert_empty_output (success);

  g_assert_false (sbx_exec_result_get_success (failure));
  g_assert_cmpint (sbx_exec_result_get_exit_code (failure), ==, 137);
  g_assert_cmpint (sbx_exec_result_get_signal (failure), ==, 0);

  /* A signal is never an exit code. */
  g_assert_cmpint (sbx_exec_result_get_outcome (killed), ==, SBX_EXEC_OUTCOME_SIGNALLED);
  g_assert_cmpint (sbx_exec_result_get_exit_code (killed), ==, -1);
  g_assert_cmpint (sbx_exec_result_get_signal (killed), ==, SIGKILL);
  g_assert_false (sbx_exec_result_get_core_dumped (killed));
  g_assert_nonnull (strstr (sbx_exec_result_get_message (killed), "9"));
  g_assert_true (sbx_exec_result_get_core_dumped (dumped));

  g_assert_cmpint (sbx_exec_result_get_outcome (late), ==, SBX_EXEC_OUTCOME_TIMED_OUT);
  g_assert_false (sbx_exec_result_get_success (late));
  g_assert_nonnull (sbx_exec_result_get_message (late));

  g_assert_cmpint (sbx_exec_result_get_outcome (missing), ==, SBX_EXEC_OUTCOME_NOT_STARTED);
  g_assert_cmpint (sbx_exec_result_get_not_started (missing), ==, SBX_NOT_STARTED_NOT_FOUND);
  g_assert_cmpint (sbx_exec_result_get_errno (missing), ==, ENOENT);
  g_assert_cmpstr (sbx_exec_result_get_message (missing), ==, "no such");

  g_assert_cmpint (sbx_exec_result_get_outcome (lost), ==, SBX_EXEC_OUTCOME_LOST);
  g_assert_cmpstr (sbx_exec_result_get_message (lost), ==, "gone");
}

static void
test_types (void)
{
  g_autofree char *flags = g_flags_to_string (SBX_TYPE_CAPABILITIES,
                                              SBX_CAPABILITIES_EXEC | SBX_CAPABILITIES_FILES);
  g_autofree char *code = g_enum_to_string (SBX_TYPE_ERROR, SBX_ERROR_UNANSWERED);

  g_assert_cmpstr (flags, ==, "SBX_CAPABILITIES_EXEC | SBX_CAPABILITIES_FILES");
  g_assert_cmpstr (code, ==, "SBX_ERROR_UNANSWERED");
  g_assert_cmpstr (g_quark_to_string (SBX_ERROR), ==, "sbx-error-quark");
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/core/values/reach", test_reach);
  g_test_add_func ("/core/values/reach/copy", test_reach_copy);
  g_test_add_func ("/core/values/reach/invalid", test_reach_invalid);
  g_test_add_func ("/core/values/reach/escapes", test_reach_escapes);
  g_test_add_func ("/core/values/open-request", test_open_request);
  g_test_add_func ("/core/values/command", test_command);
  g_test_add_func ("/core/values/command/copy", test_command_copy);
  g_test_add_func ("/core/values/command/invalid", test_command_invalid);
  g_test_add_func ("/core/values/environment/merge", test_environment_merge);
  g_test_add_func ("/core/values/text", test_text);
  g_test_add_func ("/core/values/text/any-byte", test_text_any_byte);
  g_test_add_func ("/core/values/text/long", test_text_long);
  g_test_add_func ("/core/values/result", test_result);
  g_test_add_func ("/core/values/types", test_types);

  return g_test_run ();
}
