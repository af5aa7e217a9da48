/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "worktree-util.h"

#include <locale.h>

/* Profiles as files, found by their names. */

static char *config_home;
static char *data_home;
static char *system_config;

static void
write_in (const char *root,
          const char *name,
          const char *text)
{
  g_autofree char *file = g_strconcat ("libsbx/profiles/", name, ".json", NULL);

  write_text (root, file, text);
}

static char *
path_in (const char *root,
         const char *name)
{
  g_autofree char *file = g_strconcat (name, ".json", NULL);

  return g_build_filename (root, "libsbx", "profiles", file, NULL);
}

static void
remove_in (const char *root,
           const char *name)
{
  g_autofree char *path = path_in (root, name);

  g_assert_cmpint (g_unlink (path), ==, 0);
}

static gboolean
is_writable (SbxSession *session)
{
  g_autoptr(SbxExecResult) result = run_shell (session, "echo x > written");

  return sbx_exec_result_get_success (result);
}

static void
test_built_in (void)
{
  static const struct
  {
    const char *name;
    gboolean    writable;
  } cases[] = { { "default", TRUE }, { "reader", FALSE } };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(Place) place = place_new ();
      g_autoptr(SbxSession) session = NULL;
      g_autofree char *content = NULL;

      write_text (place->project, "file", "content\n");
      write_text (place->root, "beside/file", "other\n");
      session = open_profile (place, place->project, cases[i].name, NULL);
      g_assert_cmpstr (sbx_session_get_cwd (session), ==, place->project);
      content = shell_output (session, "cat file; test ! -e ../beside; test ! -e /root/.ssh");
      g_assert_cmpstr (content, ==, "content\n");
      g_assert_true (is_writable (session) == cases[i].writable);
      close_session (session);
    }
}

static void
test_all_members (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = NULL;
  g_autofree char *text = NULL;
  g_autofree char *script = NULL;
  g_autofree char *content = NULL;

  write_text (place->root, "r/file", "readable\n");
  write_text (place->root, "w/file", "writable\n");
  text = g_strdup_printf ("{\"description\": \"all of it\", \"workspace\": \"read\", "
                          "\"read\": [\"%s/r\"], \"write\": [\"%s/w\"], "
                          "\"environment\": {\"COLOR\": \"blue and green\", \"EMPTY\": \"\"}, "
                          "\"toolchain\": false, \"fresh-home\": true}",
                          place->root, place->root);
  write_in (config_home, "all", text);
  session = open_profile (place, place->project, "all", NULL);
  script = g_strdup_printf ("cat %s/r/file %s/w/file; echo \"$COLOR,${EMPTY-unset}\"; "
                            "echo x > %s/w/new && echo ok; echo x 2> /dev/null > %s/r/new || "
                            "echo no; ls -A ~; touch ~/mark", place->root, place->root,
                            place->root, place->root);
  content = shell_output (session, script);
  g_assert_cmpstr (content, ==, "readable\nwritable\nblue and green,\nok\nno\n");
  g_assert_false (is_writable (session));
  close_session (session);
  g_clear_object (&session);

  /* The home went with it, while the one of other profiles is kept. */
  session = open_profile (place, place->project, "all", NULL);
  g_clear_pointer (&content, g_free);
  content = shell_output (session, "ls -A ~");
  g_assert_cmpstr (content, ==, "");
  close_session (session);
  g_clear_object (&session);

  session = open_profile (place, place->project, "default", NULL);
  g_free (shell_output (session, "touch ~/mark"));
  close_session (session);
  g_clear_object (&session);
  session = open_profile (place, place->project, "reader", NULL);
  g_free (shell_output (session, "test -e ~/mark"));
  close_session (session);
}

static void
test_wrong (void)
{
  static const struct
  {
    const char *text;
    const char *complaint;
  } cases[] = {
    { "", "JSON" },
    { "[]", "not a JSON object" },
    { "{", "Not JSON" },
    { "{\"workspace\": \"write\",}", "Not JSON" },
    { "{\"worksapce\": \"write\"}", "worksapce" },
    { "{\"workspace\": \"writable\"}", "“workspace” has to be" },
    { "{\"workspace\": 1}", "“workspace” has to be" },
    { "{\"workspace\": null}", "“workspace” has to be" },
    { "{\"read\": \"/x\"}", "“read” has to be a list" },
    { "{\"read\": [1]}", "“read” has to be a list" },
    { "{\"read\": [\"x\"]}", "begin with" },
    { "{\"write\": [\"../x\"]}", "begin with" },
    { "{\"write\": [\"~root/x\"]}", "begin with" },
    { "{\"environment\": []}", "“environment” has to be" },
    { "{\"environment\": {\"A\": 1}}", "“environment” has to be" },
    { "{\"environment\": {\"A=B\": \"c\"}}", "“environment” has to be" },
    { "{\"environment\": {\"\": \"c\"}}", "“environment” has to be" },
    { "{\"toolchain\": \"yes\"}", "“toolchain” has to be" },
    { "{\"fresh-home\": 0}", "“fresh-home” has to be" },
    { "{\"keep\": \"never\"}", "for a “workspace” that is" },
    { "{\"carry-changes\": true}", "for a “workspace” that is" },
    { "{\"workspace\": \"worktree\", \"keep\": \"always\"}", "“keep” has to be" },
    { "{\"workspace\": \"worktree\", \"carry-changes\": \"x\"}", "“carry-changes” has to be" },
    { "{\"workspace\": \"read\", \"workspace\": \"write\"}", "Not JSON" },
    { "{\"bad\\u001b[31m\": 1}", "\\x1b[31m" },
  };
  g_autoptr(Place) place = place_new ();

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      write_in (config_home, "wrong", cases[i].text);
      assert_not_opened (place, place->project, "wrong", NULL, SBX_ERROR_PROVIDER, "bad_profile: ");
      assert_not_opened (place, place->project, "wrong", NULL, SBX_ERROR_PROVIDER, "wrong.json");
      assert_not_opened (place, place->project, "wrong", NULL, SBX_ERROR_PROVIDER,
                         cases[i].complaint);
    }

  /* What cannot be had is named as with every reach. */
  write_in (config_home, "wrong", "{\"read\": [\"/nonexistent/x\"]}");
  assert_not_opened (place, place->project, "wrong", NULL, SBX_ERROR_NOT_FOUND, "/nonexistent/x");
  write_in (config_home, "wrong", "{\"write\": [\"/proc\"]}");
  assert_not_opened (place, place->project, "wrong", NULL, SBX_ERROR_REFUSED, "cannot be given");
  remove_in (config_home, "wrong");
}

static void
test_names (void)
{
  static const char * const names[] = {
    "nothing", "../x", "bwrap/../../x", "a/b", "/etc/passwd", ".", "..", "-a", "A", "a_b", "a b",
    "a.json", "default/", "dé", "a\nb",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
  };
  g_autoptr(Place) place = place_new ();
  g_autofree char *huge = g_strnfill (1024 * 1024, 'a');

  write_text (config_home, "x.json", "{}");
  write_text (config_home, "libsbx/profiles/A.json", "{}");
  write_text (config_home, "libsbx/profiles/a_b.json", "{}");
  write_text (config_home, "libsbx/profiles/a/b.json", "{}");
  write_in (config_home, "known", "{}");
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    assert_not_opened (place, place->project, names[i], NULL, SBX_ERROR_PROVIDER,
                       "bad_profile: There is no profile");

  assert_not_opened (place, place->project, huge, NULL, SBX_ERROR_PROVIDER, "bad_profile: ");
  assert_not_opened (place, place->project, "", NULL, SBX_ERROR_INVALID, "empty");
  assert_not_opened (place, place->project, "nothing", NULL, SBX_ERROR_PROVIDER, "default");
  assert_not_opened (place, place->project, "nothing", NULL, SBX_ERROR_PROVIDER,
                     "known, reader, worktree");
  remove_in (config_home, "known");
}

/* The operator's own come before the system's, and the built-in ones last. */
static void
test_order (void)
{
  static const struct
  {
    char       **root;
    const char  *word;
  } places[] = {
    { &config_home, "config" }, { &system_config, "system" }, { &data_home, "data" },
  };
  g_autoptr(Place) place = place_new ();

  for (gsize i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autofree char *text = g_strdup_printf ("{\"environment\": {\"FROM\": \"%s\"}}",
                                               places[i].word);

      write_in (*places[i].root, "reader", text);
    }

  for (gsize i = 0; i <= G_N_ELEMENTS (places); i++)
    {
      g_autoptr(SbxSession) session = open_profile (place, place->project, "reader", NULL);
      g_autofree char *content = shell_output (session, "echo ${FROM-built-in}");
      g_autofree char *expected = g_strconcat (i < G_N_ELEMENTS (places) ? places[i].word
                                                                         : "built-in", "\n", NULL);

      g_assert_cmpstr (content, ==, expected);
      close_session (session);
      if (i < G_N_ELEMENTS (places))
        remove_in (*places[i].root, "reader");
    }
}

static void
assert_distrusted (Place      *place,
                   const char *culprit)
{
  assert_not_opened (place, place->project, "mine", NULL, SBX_ERROR_PROVIDER, "bad_profile: ");
  assert_not_opened (place, place->project, "mine", NULL, SBX_ERROR_PROVIDER, culprit);
}

/* Nobody else has had a hand in it. */
static void
test_trust (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *path = path_in (config_home, "mine");
  g_autofree char *directory = g_path_get_dirname (path);
  g_autofree char *elsewhere = g_build_filename (place->root, "elsewhere.json", NULL);

  write_in (config_home, "mine", "{}");

  g_assert_cmpint (g_chmod (path, 0646), ==, 0);
  assert_distrusted (place, "mine.json” belongs to somebody else");
  g_assert_cmpint (g_chmod (path, 0664), ==, 0);
  assert_distrusted (place, "mine.json” belongs to somebody else");
  g_assert_cmpint (g_chmod (path, 0644), ==, 0);

  g_assert_cmpint (g_chmod (directory, 0777), ==, 0);
  assert_distrusted (place, "profiles” belongs to somebody else");
  g_assert_cmpint (g_chmod (directory, 0700), ==, 0);

  if (geteuid () == 0)
    {
      g_assert_cmpint (chown (path, 12345, 0), ==, 0);
      assert_distrusted (place, "mine.json” belongs to somebody else");
      g_assert_cmpint (chown (path, 0, 0), ==, 0);
    }

  /* A link counts with where it leads to. */
  g_assert_cmpint (rename (path, elsewhere), ==, 0);
  g_assert_cmpint (symlink (elsewhere, path), ==, 0);
  close_session (open_profile (place, place->project, "mine", NULL));
  g_assert_cmpint (g_chmod (elsewhere, 0666), ==, 0);
  assert_distrusted (place, "elsewhere.json” belongs to somebody else");
  g_assert_cmpint (g_unlink (path), ==, 0);

  /* Nor is it anything else than a file. */
  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  assert_distrusted (place, "mine.json");
  g_assert_cmpint (g_unlink (path), ==, 0);
  g_assert_cmpint (g_mkdir (path, 0700), ==, 0);
  assert_distrusted (place, "mine.json");
  g_assert_cmpint (g_rmdir (path), ==, 0);
  g_assert_cmpint (symlink ("/nonexistent", path), ==, 0);
  assert_distrusted (place, "leads nowhere");
  g_assert_cmpint (g_unlink (path), ==, 0);
  g_assert_cmpint (symlink ("mine.json", path), ==, 0);
  assert_distrusted (place, "mine.json");
  g_assert_cmpint (g_unlink (path), ==, 0);
}

/* What links lead through counts as well, and not only where they end. */
static void
test_links (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *path = path_in (config_home, "mine");
  g_autofree char *good = g_build_filename (place->root, "good.json", NULL);
  g_autofree char *open_dir = g_build_filename (place->root, "open", NULL);
  g_autofree char *middle = g_build_filename (open_dir, "middle.json", NULL);
  g_autofree char *inside = g_build_filename (place->project, "pointer.json", NULL);

  write_text (place->root, "good.json", "{\"workspace\": \"read\"}");
  g_assert_cmpint (g_mkdir (open_dir, 0700), ==, 0);
  g_assert_cmpint (symlink ("../good.json", middle), ==, 0);
  g_assert_cmpint (symlink (middle, path), ==, 0);
  close_session (open_profile (place, place->project, "mine", NULL));

  g_assert_cmpint (g_chmod (open_dir, 0777), ==, 0);
  assert_distrusted (place, "open” belongs to somebody else");
  g_assert_cmpint (g_unlink (path), ==, 0);

  g_assert_cmpint (symlink (good, inside), ==, 0);
  g_assert_cmpint (symlink (inside, path), ==, 0);
  assert_distrusted (place, "pointer.json: it lies in what the sandbox may write");
  g_assert_cmpint (g_unlink (path), ==, 0);
}

/* And no sandbox either. */
static void
test_own_place (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *path = path_in (config_home, "mine");
  g_autofree char *inside = g_build_filename (place->project, "mine.json", NULL);
  g_autofree char *written = g_build_filename (place->root, "written", NULL);
  g_autofree char *target = g_build_filename (written, "mine.json", NULL);
  g_autofree char *text = g_strdup_printf ("{\"write\": [\"%s\"]}", written);

  write_text (place->project, "mine.json", "{\"workspace\": \"read\"}");
  g_assert_cmpint (symlink (inside, path), ==, 0);
  assert_distrusted (place, "lies in what the sandbox may write");
  g_assert_cmpint (g_unlink (path), ==, 0);

  write_text (written, "mine.json", text);
  g_assert_cmpint (symlink (target, path), ==, 0);
  assert_distrusted (place, "lies in what the sandbox may write");
  g_assert_cmpint (g_unlink (path), ==, 0);
}

static char *
make_home (const char *variable)
{
  g_autoptr(GError) error = NULL;
  char *path = g_dir_make_tmp ("sbx-home-XXXXXX", &error);

  g_assert_no_error (error);
  g_setenv (variable, path, TRUE);

  return path;
}

int
main (int   argc,
      char *argv[])
{
  g_autofree char *relative = NULL;
  int status;

  config_home = make_config_home ();
  data_home = make_home ("XDG_DATA_HOME");
  system_config = make_home ("XDG_CONFIG_DIRS");
  relative = g_strconcat (".:relative/path::", system_config, NULL);
  g_setenv ("XDG_CONFIG_DIRS", relative, TRUE);
  g_setenv ("XDG_DATA_DIRS", "/nonexistent", TRUE);
  setlocale (LC_ALL, "C.UTF-8");
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/profile/built-in", test_built_in);
  g_test_add_func ("/profile/all-members", test_all_members);
  g_test_add_func ("/profile/wrong", test_wrong);
  g_test_add_func ("/profile/names", test_names);
  g_test_add_func ("/profile/order", test_order);
  g_test_add_func ("/profile/trust", test_trust);
  g_test_add_func ("/profile/links", test_links);
  g_test_add_func ("/profile/own-place", test_own_place);

  status = g_test_run ();
  remove_tree (config_home);
  remove_tree (data_home);
  remove_tree (system_config);
  g_free (config_home);
  g_free (data_home);
  g_free (system_config);

  return status;
}
