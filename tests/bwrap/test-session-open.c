/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "session-util.h"

/* What may be asked for when a sandbox is opened, and what comes of it when that makes no sense. */

static SbxSession *
try_open (Place       *place,
          SbxReach    *reach,
          GError     **error)
{
  g_autoptr(SbxOpenRequest) request = sbx_open_request_new (reach);

  return sbx_provider_open (SBX_PROVIDER (place->provider), request, NULL, error);
}

/* One clear message, which names the path. */
static void
assert_refused (Place      *place,
                SbxReach   *reach,
                SbxError    code,
                const char *named)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxSession) session = try_open (place, reach, &error);

  g_assert_null (session);
  g_assert_error (error, SBX_ERROR, (int) code);
  g_test_message ("%s", error->message);
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
  g_assert_null (strchr (error->message, '\n'));
  if (strstr (error->message, named) == NULL)
    g_error ("“%s” does not say “%s”", error->message, named);

  g_assert_cmpint (count_sessions (place->data), ==, 0);
}

static char *
make_dir (Place      *place,
          const char *name)
{
  char *path = g_build_filename (place->root, name, NULL);

  g_assert_cmpint (g_mkdir_with_parents (path, 0755), ==, 0);
  return path;
}

static char *
make_link (Place      *place,
           const char *target,
           const char *name)
{
  char *path = g_build_filename (place->root, name, NULL);

  g_assert_cmpint (symlink (target, path), ==, 0);
  return path;
}

static void
test_missing (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *missing = g_build_filename (place->root, "not-there", NULL);
  g_autofree char *dangling = make_link (place, "nowhere", "dangling");
  g_autofree char *loop = make_link (place, "loop", "loop");
  g_autofree char *file = g_build_filename (place->root, "file", NULL);
  g_autofree char *below_file = g_build_filename (file, "x", NULL);
  const char * const paths[] = { missing, dangling, loop, below_file };
  const SbxError codes[] = {
    SBX_ERROR_NOT_FOUND, SBX_ERROR_NOT_FOUND, SBX_ERROR_INVALID, SBX_ERROR_NOT_FOUND
  };

  g_assert_true (g_file_set_contents (file, "x", -1, NULL));

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_autofree char *name = g_path_get_basename (paths[i]);
      g_autoptr(SbxReach) cwd = sbx_reach_new (paths[i]);
      g_autoptr(SbxReach) read = sbx_reach_new (place->project);
      g_autoptr(SbxReach) write = sbx_reach_new (place->project);

      sbx_reach_add_read (read, paths[i]);
      sbx_reach_add_write (write, paths[i]);
      assert_refused (place, cwd, codes[i], name);
      assert_refused (place, read, codes[i], name);
      assert_refused (place, write, codes[i], name);
    }
}

static void
test_kinds (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *file = g_build_filename (place->root, "a-file", NULL);
  g_autofree char *fifo = g_build_filename (place->root, "a-fifo", NULL);
  g_autofree char *content = NULL;
  g_autoptr(SbxReach) cwd = sbx_reach_new (file);
  g_autoptr(SbxReach) good = sbx_reach_new (place->project);
  g_autoptr(SbxReach) bad = sbx_reach_new (place->project);
  g_autoptr(SbxReach) device = sbx_reach_new (place->project);
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_true (g_file_set_contents (file, "content", -1, NULL));
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  assert_refused (place, cwd, SBX_ERROR_INVALID, "a-file");

  sbx_reach_add_read (bad, fifo);
  assert_refused (place, bad, SBX_ERROR_INVALID, "a-fifo");
  sbx_reach_add_write (device, "/dev/null");
  assert_refused (place, device, SBX_ERROR_INVALID, "/dev/null");

  /* A single file is fine where no directory is needed. */
  sbx_reach_add_read (good, file);
  session = try_open (place, good, &error);
  g_assert_no_error (error);
  content = shell_output (session, "cat ../a-file; ls -A ..");
  g_assert_cmpstr (content, ==, "contenta-file\nproject\n");
  close_session (session);
}

static void
test_relative (void)
{
  g_autoptr(Place) place = place_new ();
  static const char * const paths[] = { "relative", "./x", "../x", "" };

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_autoptr(SbxReach) cwd = sbx_reach_new (paths[i]);
      g_autoptr(SbxReach) read = sbx_reach_new (place->project);
      g_autoptr(SbxReach) write = sbx_reach_new (place->project);

      sbx_reach_add_read (read, paths[i]);
      sbx_reach_add_write (write, paths[i]);
      assert_refused (place, cwd, SBX_ERROR_INVALID, paths[i]);
      assert_refused (place, read, SBX_ERROR_INVALID, paths[i]);
      assert_refused (place, write, SBX_ERROR_INVALID, paths[i]);
    }
}

/* However a path is written, it is the real one that is there inside. */
static void
test_spellings (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *outside = make_dir (place, "outside");
  g_autofree char *link = make_link (place, "outside", "link");
  g_autofree char *slashes = g_strconcat (place->project, "///", NULL);
  g_autofree char *dots = g_build_filename (place->project, "..", "project", ".", NULL);
  const char * const cwds[] = { place->project, slashes, dots };
  g_autofree char *home G_GNUC_UNUSED = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (cwds); i++)
    {
      g_autoptr(SbxReach) reach = sbx_reach_new (cwds[i]);
      g_autoptr(SbxSession) session = NULL;
      g_autoptr(GError) error = NULL;
      g_autofree char *pwd = NULL;
      g_autofree char *seen = NULL;
      g_autofree char *script = g_strdup_printf ("pwd -P; echo x > %s/f; test -h %s; "
                                                 "cat ~/mark 2> /dev/null; echo y > ~/mark",
                                                 outside, link);

      sbx_reach_add_write (reach, link);
      session = try_open (place, reach, &error);
      g_assert_no_error (error);
      g_assert_cmpstr (sbx_session_get_cwd (session), ==, place->project);
      pwd = g_strdup_printf ("%s\n%s", place->project, i == 0 ? "" : "y\n");
      seen = shell_output (session, script);
      g_assert_cmpstr (seen, ==, pwd);
      close_session (session);
    }
}

/* Any byte but NUL may be in a path, an argument, or a value. */
static void
test_bytes (void)
{
  static const char * const names[] = {
    "with space", "with\nnewline", "\xff\xfe not UTF-8 \x80", "quote'\"`$x;", "-dash", "tab\t*?[",
    "\xc3\xa9", "back\\slash", "\x1b[31m",
  };
  g_autoptr(Place) place = place_new ();

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = make_dir (place, names[i]);
      g_autofree char *expected = NULL;
      g_autofree char *output = NULL;
      g_autofree char *beside = g_strconcat (path, "x", NULL);
      const char * const argv[] = {
        "/bin/sh", "-c", "pwd; printf '%s|%s|%s\\n' \"$1\" \"$VALUE\" \"$OWN\"; echo > made", "sh",
        names[i], NULL
      };
      g_autoptr(SbxCommand) command = sbx_command_new (argv);
      g_autoptr(SbxReach) reach = sbx_reach_new (path);
      g_autoptr(SbxReach) missing = sbx_reach_new (beside);
      g_autoptr(SbxSession) session = NULL;
      g_autoptr(SbxExecResult) result = NULL;
      g_autoptr(GError) error = NULL;

      sbx_command_set_variable (command, "VALUE", names[i]);
      sbx_reach_set_variable (reach, "OWN", path);
      sbx_reach_add_write (reach, path);
      session = try_open (place, reach, &error);
      g_assert_no_error (error);
      result = run_command (session, command);
      assert_exited_with (result, 0);
      expected = g_strdup_printf ("%s\n%s|%s|%s\n", path, names[i], names[i], path);
      output = bytes_to_text (sbx_exec_result_get_stdout (result));
      g_assert_cmpstr (output, ==, expected);
      close_session (session);

      assert_refused (place, missing, SBX_ERROR_NOT_FOUND, "");
    }
}

static void
test_names (void)
{
  g_autoptr(Place) place = place_new ();
  static const char * const names[] = { "", "A=B", "=" };
  g_autoptr(SbxSession) session = place_open (place);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr(SbxReach) reach = sbx_reach_new (place->project);
      g_autoptr(SbxCommand) command = shell ("true");
      g_autoptr(SbxExecResult) result = NULL;
      g_autoptr(GError) error = NULL;
      g_autoptr(SbxSession) refused = NULL;

      sbx_reach_set_variable (reach, names[i], "x");
      refused = try_open (place, reach, &error);
      g_assert_null (refused);
      g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
      g_clear_error (&error);

      sbx_command_set_variable (command, names[i], "x");
      result = sbx_session_exec (session, command, NULL, &error);
      g_assert_null (result);
      g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
    }

  close_session (session);
}

static void
test_forbidden (void)
{
  g_autoptr(Place) place = place_new ();
  const char * const paths[] = {
    "/", "/proc", "/sys", "/dev", "/run", "/sandbox", "/tmp", "/var/tmp",
    g_get_home_dir (), place->data, place->root,
  };

  g_assert_cmpint (g_mkdir_with_parents (place->data, 0700), ==, 0);
  g_assert_cmpint (g_mkdir_with_parents (g_get_home_dir (), 0700), ==, 0);

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_autoptr(SbxReach) reach = sbx_reach_new (place->project);
      g_autoptr(SbxSession) session = NULL;
      g_autoptr(GError) error = NULL;

      sbx_reach_add_write (reach, paths[i]);
      session = try_open (place, reach, &error);
      g_assert_null (session);
      if (strcmp (paths[i], "/sandbox") == 0)
        g_assert_error (error, SBX_ERROR, SBX_ERROR_NOT_FOUND);
      else
        g_assert_error (error, SBX_ERROR, SBX_ERROR_REFUSED);
      g_assert_nonnull (strstr (error->message, paths[i]));
    }
}

static void
test_not_readable (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *path = make_dir (place, "closed");
  g_autoptr(SbxReach) reach = sbx_reach_new (place->project);

  /* A sandbox in which it cannot be read would be narrower than was asked for. */
  g_assert_cmpint (chmod (path, 0300), ==, 0);
  sbx_reach_add_read (reach, path);
  assert_refused (place, reach, SBX_ERROR_NOT_ENFORCEABLE, "closed");
  g_assert_cmpint (chmod (path, 0700), ==, 0);
}

static void
test_not_writable (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *path = make_dir (place, "locked");
  g_autoptr(SbxReach) reach = sbx_reach_new (place->project);

  /* As root the same: capabilities are not taken along. */
  g_assert_cmpint (chmod (path, 0500), ==, 0);
  sbx_reach_add_write (reach, path);
  assert_refused (place, reach, SBX_ERROR_NOT_ENFORCEABLE, "locked");
}

static void
test_cwd_of_a_command (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *below = make_dir (place, "project/below");
  g_autofree char *outside = make_dir (place, "outside");
  g_autofree char *file = g_build_filename (place->project, "file", NULL);
  g_autoptr(SbxSession) session = place_open (place);
  struct { const char *cwd; const char *seen; } const cases[] = {
    { NULL, place->project }, { ".", place->project }, { "below", below }, { below, below },
    { "below/..", place->project }, { "/tmp", "/tmp" }, { "/", "/" },
    { "..", NULL }, { outside, NULL }, { "nowhere", NULL }, { file, NULL }, { "/root", NULL },
    { "/home", NULL },
  };

  g_assert_true (g_file_set_contents (file, "", -1, NULL));

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(SbxCommand) command = shell ("pwd");
      g_autoptr(SbxExecResult) result = NULL;
      g_autofree char *output = NULL;
      g_autofree char *expected = g_strdup_printf ("%s\n", cases[i].seen);

      sbx_command_set_cwd (command, cases[i].cwd);
      result = run_command (session, command);
      output = bytes_to_text (sbx_exec_result_get_stdout (result));
      g_test_message ("%s: %s", cases[i].cwd, sbx_exec_result_get_message (result));

      if (cases[i].seen != NULL)
        {
          assert_exited_with (result, 0);
          g_assert_cmpstr (output, ==, expected);
        }
      else if (g_strcmp0 (cases[i].cwd, "..") != 0)
        {
          g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_NOT_STARTED);
          g_assert_cmpint (sbx_exec_result_get_not_started (result), ==, SBX_NOT_STARTED_BAD_CWD);
        }
    }

  close_session (session);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  adopt_orphans ();

  g_test_add_func ("/session/open/missing", test_missing);
  g_test_add_func ("/session/open/kinds", test_kinds);
  g_test_add_func ("/session/open/relative", test_relative);
  g_test_add_func ("/session/open/spellings", test_spellings);
  g_test_add_func ("/session/open/bytes", test_bytes);
  g_test_add_func ("/session/open/names", test_names);
  g_test_add_func ("/session/open/forbidden", test_forbidden);
  g_test_add_func ("/session/open/not-readable", test_not_readable);
  g_test_add_func ("/session/open/not-writable", test_not_writable);
  g_test_add_func ("/session/open/cwd-of-a-command", test_cwd_of_a_command);

  return g_test_run ();
}
