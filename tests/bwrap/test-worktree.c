/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "worktree-util.h"

/* Real repositories, real git on both sides. */

static char *config_home;

static char *
branch_of (SbxSession *session)
{
  return g_strconcat ("sbx-", sbx_session_get_id (session), NULL);
}

static void
test_open (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = NULL;
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;
  g_autofree char *output = NULL;
  g_autofree char *branch = NULL;
  g_autofree char *list = NULL;

  do_on_host (place->project, MAKE_REPOSITORY "echo draft > file; echo mine > untracked");
  before = take_picture (place->project);

  session = open_profile (place, place->project, "worktree", NULL);
  branch = branch_of (session);
  g_assert_cmpstr (sbx_session_get_cwd (session), !=, place->project);
  g_assert_true (g_file_test (sbx_session_get_cwd (session), G_FILE_TEST_IS_DIR));

  output = shell_output (session, "cat file sub/deep; ls; git status --porcelain; "
                                  "git branch --show-current");
  g_clear_pointer (&list, g_free);
  list = g_strdup_printf ("one\ntwo\nfile\nsub\n%s\n", branch);
  g_assert_cmpstr (output, ==, list);

  g_free (output);
  output = shell_output (session, "echo agent > file; git commit -q -a -m second; "
                                  "git log --format=%s; git stash list; echo x > new; "
                                  "git gc -q; git pack-refs --all; git reflog");
  g_assert_true (g_str_has_prefix (output, "second\nfirst\n"));

  g_free (list);
  list = on_host (place->project, "cat file; git branch --list 'sbx-*' --format='%(refname:short) "
                                  "%(contents:subject)'");
  g_free (output);
  output = g_strdup_printf ("draft\n%s second\n", branch);
  g_assert_cmpstr (list, ==, output);

  close_session (session);
  g_assert_false (g_file_test (sbx_session_get_cwd (session), G_FILE_TEST_EXISTS));
  g_assert_cmpuint (count_worktrees (place->data), ==, 0);
  do_on_host (place->project, "git for-each-ref | grep -v sbx-; git fsck; git pack-refs --all; "
                              "test ! -e .git/packed-refs.lock; ! grep -r sbx- .git --include="
                              "packed-refs --include=config --include=HEAD; rm .git/packed-refs; "
                              "git update-ref refs/heads/main $(git rev-list --all --max-count=1 "
                              "|| cat .git/ORIG) 2>/dev/null || true");
  after = take_picture (place->project);
  g_test_message ("%s", before);
  g_test_message ("%s", after);
}

int
main (int   argc,
      char *argv[])
{
  int status;

  config_home = make_config_home ();
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/worktree/open", test_open);

  status = g_test_run ();
  remove_tree (config_home);
  g_free (config_home);

  return status;
}
