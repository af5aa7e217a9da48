/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "worktree-util.h"

/* What a repository, or a command in a worktree of it, does against the host and the user. */

static char *config_home;

#define COMMON "c=$(git rev-parse --git-common-dir); b=$(git symbolic-ref --short HEAD); "

static void
assert_no_branch (Place *place)
{
  do_on_host (place->project, "test -z \"$(find .git -path .git/objects -prune -o -name 'sbx-*' "
                              "! -type d -print)\"; test ! -e .git/worktrees; "
                              "test -e .git/refs/heads/main; test -e .git/refs/heads/other");
  g_assert_cmpuint (count_worktrees (place->data), ==, 0);
}

/* The working directory is seen by the sandbox, so that nobody may say where it is. */
static void
test_cwd_link (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *part = g_build_filename (place->project, "sub", NULL);

  do_on_host (place->project, MAKE_REPOSITORY
              "b=$(printf %s \"$(dirname \"$PWD\")\" | git hash-object -w --stdin); "
              "git rm -q -r --cached sub; git update-index --add --cacheinfo 120000,$b,sub; "
              "git commit -q -m link");
  assert_not_opened (place, part, "worktree", NULL, SBX_ERROR_REFUSED, "“sub” is a symbolic link");
  g_assert_cmpuint (count_worktrees (place->data), ==, 0);
}

/* What is put in the way of removing a branch keeps nothing else from going. */
static void
test_in_the_way (void)
{
  static const struct
  {
    const char *script;
    gboolean    told;
  } attacks[] = {
    { COMMON "git update-ref -d refs/heads/$b; mkdir -p $c/refs/heads/$b", FALSE },
    { COMMON "rm -f $c/packed-refs; mkfifo $c/packed-refs", FALSE },
    { COMMON "ln -s /etc/passwd $c/packed-refs", FALSE },
    { COMMON "truncate -s 1G $c/packed-refs", TRUE },
    { COMMON "mkdir -p $c/packed-refs.$b/x $c/config.$b/x", FALSE },
    { COMMON "echo x > $c/packed-refs.lock; echo x > $c/config.lock", FALSE },
    { COMMON "rm -rf $c/logs/refs/heads; ln -s /etc $c/logs/refs/heads", FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (attacks); i++)
    {
      g_autoptr(Place) place = place_new ();
      g_autoptr(SbxSession) session = NULL;
      g_autoptr(GError) error = NULL;

      do_on_host (place->project, MAKE_REPOSITORY "git branch other");
      session = open_profile (place, place->project, "worktree", NULL);
      g_test_message ("%s", attacks[i].script);
      g_free (inside (session, attacks[i].script));
      g_assert_cmpint (sbx_session_close (session, NULL, &error), ==, !attacks[i].told);
      g_assert_cmpint (error != NULL, ==, attacks[i].told);
      assert_no_branch (place);
      if (attacks[i].told)
        do_on_host (place->data, "rm -r sessions/?*[0-9a-f]");
    }
}

/* The user has the first worktree made only when a sandbox can write the repository already. */
static void
test_late_worktree (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) whole = NULL;
  g_autoptr(SbxSession) other = NULL;
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;
  g_autofree char *output = NULL;

  do_on_host (place->project, MAKE_REPOSITORY);
  before = take_picture (place->project);
  whole = open_profile (place, place->project, "default", NULL);
  do_on_host (place->project, "git worktree add -q ../mine -b mine");
  output = inside (whole, "cd .git/worktrees/mine; for f in commondir gitdir config.worktree; do "
                          "echo x 2> /dev/null > $f && echo written; done; mkdir x 2> /dev/null || "
                          "echo refused");
  g_assert_cmpstr (output, ==, "refused\n");
  do_on_host (place->project, "git worktree remove ../mine; git branch -q -D mine");
  close_session (whole);
  g_clear_object (&whole);

  /* Nor does another session that goes leave the place to it. */
  other = open_profile (place, place->project, "worktree", NULL);
  whole = open_profile (place, place->project, "default", NULL);
  close_session (other);
  g_free (output);
  output = inside (whole, "mkdir .git/worktrees/x 2> /dev/null || rmdir .git/worktrees "
                          "2> /dev/null || echo refused");
  g_assert_cmpstr (output, ==, "refused\n");
  close_session (whole);

  do_on_host (place->project, "! grep mine .git/packed-refs; rm -f .git/packed-refs");
  after = take_picture (place->project);
  g_assert_cmpstr (after, ==, before);
}

static void
kept_cb (SbxBwrapProvider *provider,
         const char       *path,
         const char       *branch,
         const char       *message,
         guint            *n_kept)
{
  (*n_kept)++;
}

/* Work that the index was told to overlook, and what would be waited for. */
static void
test_hidden_work (void)
{
  static const char * const scripts[] = {
    "git update-index --skip-worktree file; echo work > file",
    "git update-index --assume-unchanged file; echo work > file",
    "rm file; git -c core.ignoreStat=true reset -q --hard; echo work > file",
    "i=$(git rev-parse --git-dir)/index; rm $i; mkfifo $i",
    "rm .gitignore; mkfifo .gitignore",
    "for i in 1 2 3 4 5 6 7 8; do echo two > file; git checkout -q file; echo 123 > file; done",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (scripts); i++)
    {
      g_autoptr(Place) place = place_new ();
      g_autoptr(SbxSession) session = NULL;
      guint n_kept = 0;

      do_on_host (place->project, MAKE_REPOSITORY);
      g_signal_connect (place->provider, "worktree-kept", G_CALLBACK (kept_cb), &n_kept);
      session = open_profile (place, place->project, "keep", NULL);
      g_test_message ("%s", scripts[i]);
      g_free (inside (session, scripts[i]));
      close_session (session);
      g_assert_cmpuint (n_kept, ==, 1);
    }
}

/* Names that separate elsewhere. */
static void
test_names (void)
{
  static const char * const names[] = { "a:b", "with space", "-x", "quo\"te'$d", "back\\slash" };
  g_autoptr(Place) place = place_new ();

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (place->project, names[i], NULL);
      g_autoptr(SbxSession) session = NULL;
      g_autofree char *output = NULL;

      g_assert_cmpint (g_mkdir (path, 0755), ==, 0);
      do_on_host (path, MAKE_REPOSITORY "echo draft > file");
      session = open_profile (place, path, "all", NULL);
      output = inside (session, "cat file; git status --porcelain");
      g_assert_cmpstr (output, ==, "draft\n M file\n");
      close_session (session);
      g_assert_cmpuint (count_worktrees (place->data), ==, 0);
    }
}

/* Who cannot tell what there is removes nothing, and does not forget it either. */
static void
test_damaged_note (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(GError) error = NULL;

  do_on_host (place->project, MAKE_REPOSITORY);
  session = open_profile (place, place->project, "keep", NULL);
  g_free (inside (session, "echo work > file"));
  do_on_host (place->data, "truncate -s 20 sessions/*/worktree");
  g_assert_false (sbx_session_close (session, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_FAILED);
  g_assert_nonnull (strstr (error->message, "damaged"));
  do_on_host (place->data, "grep -q work worktrees/*/file; test -e sessions/*/worktree; "
                           "rm -r sessions/?*[0-9a-f] worktrees/*");
}

/* Of the configuration nothing goes but the sections of the branch. */
static void
test_config (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = NULL;
  g_autofree char *output = NULL;

  do_on_host (place->project, MAKE_REPOSITORY);
  session = open_profile (place, place->project, "worktree", NULL);
  do_on_host (place->project,
              "b=$(git branch --list 'sbx-*' --format='%(refname:short)'); "
              "printf '[branch \"%s\"]\\n\\tremote = x\\n  [user]\\n\\tname = y\\n\\n\\t[branch "
              "\"%s\"]\\n\\tmerge = z\\n[branch \"%s.more\"]\\n\\tremote = w\\n' $b $b $b "
              ">> .git/config");
  close_session (session);
  output = on_host (place->project, "git config user.name; git config --get-regexp '^branch' | "
                                    "sed 's/sbx-[0-9a-f]*/SBX/'");
  g_assert_cmpstr (output, ==, "y\nbranch.SBX.more.remote w\n");
}

int
main (int   argc,
      char *argv[])
{
  int status;

  config_home = make_config_home ();
  write_profile (config_home, "keep", "{\"workspace\": \"worktree\", \"keep\": \"when-changed\"}");
  write_profile (config_home, "all", "{\"workspace\": \"worktree\", \"carry-changes\": true, "
                                     "\"keep\": \"when-changed\"}");
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/worktree/attacks/cwd-link", test_cwd_link);
  g_test_add_func ("/worktree/attacks/in-the-way", test_in_the_way);
  g_test_add_func ("/worktree/attacks/late-worktree", test_late_worktree);
  g_test_add_func ("/worktree/attacks/hidden-work", test_hidden_work);
  g_test_add_func ("/worktree/attacks/names", test_names);
  g_test_add_func ("/worktree/attacks/damaged-note", test_damaged_note);
  g_test_add_func ("/worktree/attacks/config", test_config);

  status = g_test_run ();
  remove_tree (config_home);
  g_free (config_home);

  return status;
}
