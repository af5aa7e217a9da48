/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core-session.h"

#include "core/sbx-process-private.h"

/* The word of a provider on what a command wrote in all, against what it told before. */

static gboolean
answer_with_word (GObject       *owner,
                  SbxInvocation *invocation)
{
  SbxExecInvocation *self = SBX_EXEC_INVOCATION (invocation);
  g_autoptr(GBytes) told = g_bytes_new_static ("told", 4);
  g_autoptr(GBytes) whole = g_bytes_new_static ("told and more", 13);

  sbx_exec_invocation_started (self, NULL);
  sbx_exec_invocation_emit_stdout (self, told);
  sbx_exec_invocation_emit_stderr (self, told);
  _sbx_exec_invocation_set_collected (self, SBX_STREAM_STDOUT, told);
  _sbx_exec_invocation_set_collected (self, SBX_STREAM_STDOUT, whole);
  sbx_exec_invocation_return_exited (self, 0);

  /* Too late, and of no effect. */
  _sbx_exec_invocation_set_collected (self, SBX_STREAM_STDERR, whole);

  return TRUE;
}

static void
collect_cb (SbxProcess *process,
            GBytes     *bytes,
            GString    *emitted)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  g_string_append_len (emitted, data, size);
}

static void
check (guint64     limit,
       const char *collected,
       guint64     truncated,
       const char *collected_error,
       guint64     truncated_error)
{
  g_autoptr(TestSession) session = test_session_new (answer_with_word);
  g_autoptr(SbxCommand) command = test_command ("a", NULL);
  g_autoptr(SbxProcess) process = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GString) emitted = g_string_new (NULL);

  sbx_command_set_collect_limit (command, limit);
  process = sbx_session_create_process (SBX_SESSION (session), command);
  g_signal_connect (process, "stdout", G_CALLBACK (collect_cb), emitted);
  result = sbx_process_run (process, NULL, NULL);

  test_assert_bytes (sbx_exec_result_get_stdout (result), collected);
  g_assert_cmpuint (sbx_exec_result_get_stdout_truncated (result), ==, truncated);
  test_assert_bytes (sbx_exec_result_get_stderr (result), collected_error);
  g_assert_cmpuint (sbx_exec_result_get_stderr_truncated (result), ==, truncated_error);
  g_assert_cmpstr (emitted->str, ==, "told");
}

static void
test_word (void)
{
  check (100, "told and more", 0, "told", 0);
  check (13, "told and more", 0, "told", 0);
  check (6, "told a", 7, "told", 0);
  check (2, "to", 11, "to", 2);
  check (0, "", 13, "", 4);
}

/* Who reads from a pipe has had it all. */
static void
test_pipe (void)
{
  g_autoptr(TestSession) session = test_session_new (answer_with_word);
  g_autoptr(SbxCommand) command = test_command ("a", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (SBX_SESSION (session), command);
  g_autoptr(SbxExecResult) result = NULL;
  GInputStream *pipe = sbx_process_get_stdout_pipe (process);
  char data[32];

  result = sbx_process_run (process, NULL, NULL);
  test_assert_bytes (sbx_exec_result_get_stdout (result), "");
  g_assert_cmpint (g_input_stream_read (pipe, data, sizeof data, NULL, NULL), ==, 4);
  g_assert_cmpint (g_input_stream_read (pipe, data, sizeof data, NULL, NULL), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/core/collected/word", test_word);
  g_test_add_func ("/core/collected/pipe", test_pipe);

  return g_test_run ();
}
