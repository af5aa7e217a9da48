/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "reach-util.h"

/* What may be done with git directories, with real git on both sides. */

#define MAKE \
  "git init -q -b main; echo one > file; git add file; git commit -qm one; " \
  "git branch other; "

static SbxSession *
open_mode (Place      *place,
           SbxGitMode  mode)
{
  g_autoptr(SbxReach) reach = sbx_reach_new (place->project);

  sbx_reach_add_write (reach, place->project);
  sbx_reach_set_git_mode (reach, mode);

  return must_open (place, reach);
}

static void
test_none (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *linked = g_build_filename (place->root, "linked", NULL);
  g_autoptr(SbxReach) reach = sbx_reach_new (linked);
  g_autoptr(SbxSession) session = NULL;

  outside (place, MAKE "git init -q sub/clone; git worktree add -q ../linked other");
  session = open_mode (place, SBX_GIT_MODE_NONE);
  inside_works (session, "test -d .git; test -z \"$(ls -A .git)\"; ! git status 2>/dev/null; "
                         "echo x > made; test -z \"$(ls -A sub/clone/.git)\"");
  inside_fails (session, "touch .git/x");
  inside_fails (session, "rm -rf .git");
  inside_fails (session, "mv .git .g");
  inside_fails (session, "mv sub s");
  inside_fails (session, "git init -q");
  close_session (session);
  g_clear_object (&session);

  /* Of a linked working tree the file that leads to it. */
  sbx_reach_add_write (reach, linked);
  sbx_reach_set_git_mode (reach, SBX_GIT_MODE_NONE);
  session = must_open (place, reach);
  inside_fails (session, "cat .git 2>&1 | grep gitdir");
  inside_fails (session, "rm -f .git");
  inside_fails (session, "ls ../project");
  close_session (session);
  outside (place, "git status --porcelain | grep -q made; git fsck; git -C ../linked status");
}

static void
test_read (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = NULL;

  outside (place, MAKE);
  session = open_mode (place, SBX_GIT_MODE_READ);
  inside_works (session, "git log --format=%s | grep -qx one; git status; echo x >> file; "
                         "git diff | grep -q '^+x'");
  inside_fails (session, "git commit -qam x");
  inside_fails (session, "touch .git/x");
  inside_fails (session, "mv .git .g");
  inside_fails (session, "rm -rf .git");
  close_session (session);
  outside (place, "test \"$(git log --format=%s)\" = one; ! ls .git/commondir .git/gitdir");
}

static void
test_commit (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = NULL;

  outside (place, MAKE);
  session = open_mode (place, SBX_GIT_MODE_COMMIT);
  inside_works (session, "echo x >> file; git commit -qam two; git stash list; git gc -q");
  inside_fails (session, "git config core.fsmonitor x");
  inside_fails (session, "echo x > .git/hooks/pre-commit");
  close_session (session);
  outside (place, "git log --format=%s | grep -qx two; ! ls .git/commondir .git/gitdir");
}

static void
test_full (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = NULL;

  outside (place, MAKE);
  session = open_mode (place, SBX_GIT_MODE_FULL);
  inside_works (session, "git commit -q --allow-empty -m two; git config user.name Own; "
                         "printf '#!/bin/sh\\n' > .git/hooks/pre-commit; git remote add r /x; "
                         "git worktree add -q /tmp/tree other; git worktree remove /tmp/tree");
  close_session (session);
  outside (place, "test \"$(git config user.name)\" = Own; test -f .git/hooks/pre-commit; "
                  "test ! -e .git/commondir");
}

/* Only to be read: nothing can be written, whatever the mode is by default. */
static void
test_default_of_read (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxReach) reach = sbx_reach_new (place->project);
  g_autoptr(SbxSession) session = NULL;

  outside (place, MAKE);
  session = must_open (place, reach);
  inside_works (session, "git log --format=%s | grep -qx one; git status");
  inside_fails (session, "git commit -q --allow-empty -m x");
  close_session (session);
}

/* A clone below what may be written is a repository like any other, and stays where it is. */
static void
test_nested_clone (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = NULL;

  outside (place, MAKE "mkdir -p deep/vendor; git clone -q . deep/vendor/clone");
  session = open_mode (place, SBX_GIT_MODE_DEFAULT);
  inside_works (session, "cd deep/vendor/clone; echo c > c; git add c; git commit -qm nested; "
                         "git log --format=%s | grep -qx nested");
  inside_fails (session, "cd deep/vendor/clone; git config core.fsmonitor x");
  inside_fails (session, "echo x > deep/vendor/clone/.git/hooks/post-commit");
  inside_fails (session, "echo x > deep/vendor/clone/.git/commondir");
  inside_fails (session, "mv deep/vendor/clone/.git deep/vendor/clone/g");
  inside_fails (session, "mv deep/vendor/clone deep/vendor/c");
  inside_fails (session, "mv deep d");
  close_session (session);
  outside (place, "cd deep/vendor/clone; git log --format=%s | grep -qx nested; "
                  "! ls .git/commondir .git/gitdir .git/config.worktree");
}

#define N_WORKTREES 300
#define N_MODULES 40

#define MAKE_MANY \
  MAKE "git init -q -b main ../lib; cd ../lib; echo l > l; git add l; git commit -qm lib; " \
  "cd \"$OLDPWD\"; " \
  "for i in $(seq 40); do git clone -q ../lib lib$i; " \
  "git -c protocol.file.allow=always submodule --quiet add -f ../lib lib$i; done; " \
  "git submodule --quiet absorbgitdirs; git commit -qm modules; " \
  "mkdir trees; for i in $(seq 300); do git worktree add -q --no-checkout trees/t$i " \
  "-b b$i HEAD~1; done; "

#define TICK_MS 5

typedef struct
{
  gint64 last;     /* when the timer was last heard */
  gint64 latest;   /* how late it was at worst, in microseconds */
} Clock;

static gboolean
tick_cb (gpointer data)
{
  Clock *clock = data;
  const gint64 now = g_get_monotonic_time ();

  clock->latest = MAX (clock->latest, now - clock->last - TICK_MS * 1000);
  clock->last = now;

  return G_SOURCE_CONTINUE;
}

/* What is opened in the main loop leaves it to others. With sanitizers, or on a busy machine, all
 * of it takes longer: there is no deadline but that of the test. */
static SbxSession *
open_with_clock (Place *place)
{
  g_autoptr(SbxReach) reach = sbx_reach_new (place->project);
  g_autoptr(SbxOpenRequest) request = NULL;
  g_autoptr(GAsyncResult) result = NULL;
  g_autoptr(GError) error = NULL;
  const gint64 start = g_get_monotonic_time ();
  Clock clock = { .last = start };
  const guint timer = g_timeout_add (TICK_MS, tick_cb, &clock);
  SbxSession *session;

  make_operator ();
  sbx_reach_add_write (reach, place->project);
  request = sbx_open_request_new (reach);
  sbx_provider_open_async (SBX_PROVIDER (place->provider), request, NULL, test_store_result,
                           &result);
  while (result == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (timer);
  g_test_message ("the main loop was at worst %d ms late", (int) (clock.latest / 1000));
  g_assert_cmpint (clock.latest, <, (g_get_monotonic_time () - start) / 2);

  session = sbx_provider_open_finish (SBX_PROVIDER (place->provider), result, &error);
  g_assert_no_error (error);

  return session;
}

static void
test_many (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = NULL;
  g_autofree char *mounts = NULL;
  gint64 start;

  outside (place, MAKE_MANY);
  start = g_get_monotonic_time ();
  session = open_with_clock (place);
  g_test_message ("open after %d ms with %d worktrees and %d submodules",
                  (int) ((g_get_monotonic_time () - start) / 1000), N_WORKTREES, N_MODULES);
  mounts = shell_output (session, "wc -l < /proc/self/mountinfo");
  g_test_message ("%s mounts", g_strstrip (mounts));

  inside_works (session, "echo x >> file; git commit -qam x; git log --format=%s | grep -qx x; "
                         "git status; git submodule status > /dev/null");
  inside_works (session, "cd trees/t7; git read-tree --reset -u HEAD; echo t > t; git add t; "
                         "git commit -qm tree; git log --format=%s | grep -qx tree");
  inside_fails (session, "echo x > trees/t300/.git");
  inside_fails (session, "mv trees/t150 trees/x");
  inside_fails (session, "mv trees t");
  inside_fails (session, "echo x > .git/worktrees/t299/commondir");
  inside_fails (session, "echo x > .git/worktrees/t1/config.worktree");
  inside_fails (session, "rm .git/worktrees/t5/gitdir");
  inside_fails (session, "mv .git/worktrees/t5 .git/worktrees/t");
  inside_fails (session, "mkdir .git/worktrees/new");
  inside_fails (session, "echo x > .git/modules/lib33/config");
  inside_fails (session, "echo x > lib20/.git");
  inside_fails (session, "git config core.fsmonitor x");

  start = g_get_monotonic_time ();
  close_session (session);
  g_test_message ("closed after %d ms", (int) ((g_get_monotonic_time () - start) / 1000));
  outside (place, "git fsck; test $(git worktree list | wc -l) = 301; "
                  "git -C trees/t7 log --format=%s | grep -qx tree; "
                  "! ls .git/commondir .git/worktrees/*/modules .git/worktrees/*/config.worktree "
                  "2>/dev/null");
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  adopt_orphans ();

  g_test_add_func ("/session/reach-git/none", test_none);
  g_test_add_func ("/session/reach-git/read", test_read);
  g_test_add_func ("/session/reach-git/commit", test_commit);
  g_test_add_func ("/session/reach-git/full", test_full);
  g_test_add_func ("/session/reach-git/default-of-read", test_default_of_read);
  g_test_add_func ("/session/reach-git/nested-clone", test_nested_clone);
  g_test_add_func ("/session/reach-git/many", test_many);

  return g_test_run ();
}
