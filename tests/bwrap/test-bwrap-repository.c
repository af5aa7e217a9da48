/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "bwrap-util.h"
#include "core/sbx-error.h"

/* Real repositories, real git on both sides. */

#define MAKE_REPOSITORY \
  "git init -q -b main repo; cd repo; " \
  "echo one > file; git add file; git commit -qm one; " \
  "git branch other; echo two >> file; git commit -qam two; " \
  "git checkout -q other; echo side > side; git add side; git commit -qm side; git checkout -q main"

static SbxBwrapPlan *
plan_writing (TestPlace  *place,
              const char *path,
              const char *extra)
{
  g_autoptr(GError) error = NULL;
  const char *write[] = { path, extra, NULL };
  SbxBwrapPlan *plan = test_plan (place, path, NULL, write, &error);

  g_assert_no_error (error);
  return plan;
}

static void
remove_placeholders (SbxBwrapPlan *plan)
{
  g_autoptr(GError) error = NULL;
  guint i;

  for (i = 0; i < plan->placeholders->len; i++)
    {
      const SbxBwrapPlaceholder *one = g_ptr_array_index (plan->placeholders, i);

      if (one->made)
        g_assert_true (_sbx_bwrap_placeholder_remove (one->path, one->is_directory, one->content,
                                                      one->device, one->inode, &error));
      g_assert_no_error (error);
    }
}

/* Runs @script in the repository; it must succeed with -e. */
static void
must_work (TestPlace  *place,
           const char *path,
           const char *script)
{
  g_autoptr(SbxBwrapPlan) plan = plan_writing (place, path, NULL);
  g_autofree char *strict = g_strconcat ("set -e; ", script, NULL);
  g_autofree char *output = NULL;
  int status;

  output = test_run_in (plan, path, strict, &status);
  if (status != 0)
    g_error ("“%s” failed with %d: %s", script, status, output);

  remove_placeholders (plan);
}

/* Each line of @script must fail, and leave the host's git as it was. */
static void
must_fail (SbxBwrapPlan *plan,
           const char   *path,
           const char   *script)
{
  g_autofree char *output = NULL;
  int status;

  output = test_run_in (plan, path, script, &status);
  if (status == 0)
    g_error ("“%s” worked: %s", script, output);
}

static void
test_work (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autofree char *repo = NULL;

  test_place_init (&place);
  repo = g_build_filename (place.work, "repo", NULL);
  test_run_outside (place.operator_home,
                    "printf '[user]\\n name = \"O \\\\\"Quoted\\\\\" Perator\" ; "
                    "x\\n\\temail=o@example.org\\n'"
                    " > .gitconfig");
  test_run_outside (place.work, MAKE_REPOSITORY);

  must_work (&place, repo, "echo three >> file; git commit -qam three; git log -1 --format=%an%ae "
                           "| "
                           "grep -x 'O \"Quoted\" Peratoro@example.org'; git status");
  must_work (&place, repo, "echo x >> file; git stash; git stash pop; git checkout file");
  must_work (&place, repo, "git rebase main other; git checkout main");
  must_work (&place, repo, "git merge -q --no-ff -m merged other");
  must_work (&place, repo, "git branch topic; git checkout -q topic; git checkout -q main; "
                           "git branch -D topic; git tag v1; git reset -q --hard HEAD~1; git "
                           "reflog");
  must_work (&place, repo, "git gc -q --prune=now; git fsck; git pack-refs --all; git repack -q "
                           "-a -d");
  must_work (&place, repo, "git clone -q . /tmp/copy; cd /tmp/copy; echo c > c; git add c; "
                           "git commit -qm c; cd -; git fetch -q /tmp/copy main; git cherry-pick "
                           "FETCH_HEAD");
  must_work (&place, repo, "git worktree list; git worktree prune; ! git worktree add -q /tmp/tree "
                           "other; ! mkdir .git/worktrees/x");
  must_work (&place, repo, "git rm -q file; git clean -fdx; git restore --staged --worktree file; "
                           "git bisect start; git bisect reset; git notes add -m n; git grep one");

  /* And nothing is left of us. */
  test_run_outside (repo, "git fsck; git status --porcelain | (! grep .); "
                          "! ls .git/commondir .git/gitdir .git/config.worktree .git/modules "
                          ".git/worktrees .git/remotes; "
                          "test -d .git/hooks -a -d .git/info; git log | grep -q three");
}

static void
test_attacks (void)
{
  static const char * const attacks[] = {
    "echo 'exit 0' > .git/hooks/pre-commit",
    "rm -rf .git/hooks && mkdir .git/hooks",
    "mv .git/hooks .git/h",
    "git config core.fsmonitor 'touch /tmp/x'",
    "echo '[core]' >> .git/config",
    "rm -f .git/config",
    "mv .git/config .git/c",
    "echo x > .git/n && mv -f .git/n .git/config",
    "ln -f file .git/config",
    "echo ../x > .git/commondir",
    "rm -f .git/commondir",
    "echo x > .git/n && mv -f .git/n .git/commondir",
    "echo x > .git/gitdir",
    "rm -f .git/gitdir",
    "echo '[core] fsmonitor=x' > .git/config.worktree",
    "rm -f .git/config.worktree",
    "echo '* filter=x' > .git/info/attributes",
    "mv .git/info .git/i",
    "mkdir .git/modules/x",
    "rmdir .git/modules",
    "mv .git/modules .git/m",
    "echo 'URL: x' > .git/remotes/origin",
    "mv .git/remotes .git/r",
    "echo x > .git/branches/origin",
    "mv .git/branches .git/b",
    "mv .git/objects .git/o",
    "mv .git/refs .git/r",
    "mv .git .g",
    "mv .git .g; mkdir .git",
    "rm -rf .git",
    "mount -o remount,rw .git/hooks",
    "umount .git/hooks",
    "umount -l .git",
    "unshare -Urm true",
  };
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxBwrapPlan) plan = NULL;
  g_autofree char *repo = NULL;
  gsize i;

  test_place_init (&place);
  repo = g_build_filename (place.work, "repo", NULL);
  test_run_outside (place.work, MAKE_REPOSITORY "; cp .git/config ../config");
  plan = plan_writing (&place, repo, NULL);

  for (i = 0; i < G_N_ELEMENTS (attacks) - 8; i++)
    must_fail (plan, repo, attacks[i]);

  for (; i < G_N_ELEMENTS (attacks); i++)
    {
      must_fail (plan, repo, attacks[i]);
      test_run_outside (repo, "cmp .git/config ../config; test -d .git/objects; test -d "
                              ".git/hooks");
    }

  remove_placeholders (plan);
}

/* What an attack is after: that git on the host runs something. */
static void
test_nothing_runs (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxBwrapPlan) plan = NULL;
  g_autofree char *repo = NULL;
  g_autofree char *output = NULL;
  int status;

  test_place_init (&place);
  repo = g_build_filename (place.work, "repo", NULL);
  test_run_outside (place.work, MAKE_REPOSITORY);
  plan = plan_writing (&place, repo, NULL);

  output = test_run_in (plan, repo,
                        "mkdir evil; git init -q --bare evil; T=$PWD/sprung;"
                        "git --git-dir=evil config core.fsmonitor \"touch $T\";"
                        "echo $PWD/evil > .git/commondir; cp evil/config .git/config;"
                        "cp evil/config .git/config.worktree;"
                        "git config extensions.worktreeConfig true;"
                        "for h in post-checkout post-commit reference-transaction; do"
                        "  printf '#!/bin/sh\\ntouch %s\\n' $T > .git/hooks/$h; chmod +x "
                        ".git/hooks/$h;"
                        "done; mv .git .old; cp -r evil .git; true", &status);
  g_assert_cmpint (status, ==, 0);

  test_run_outside (repo, "git status > /dev/null; git checkout -q other; git branch x; git "
                          "checkout -q main; "
                          "git commit -q --allow-empty -m z; test ! -e sprung");
  remove_placeholders (plan);
  test_run_outside (repo, "git status > /dev/null; git commit -q --allow-empty -m z; test ! -e "
                          "sprung");
}

static void
test_linked_worktree (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxBwrapPlan) plan = NULL;
  g_autofree char *tree = NULL;
  g_autofree char *main_git = NULL;
  g_autofree char *script = NULL;

  test_place_init (&place);
  tree = g_build_filename (place.work, "linked", NULL);
  main_git = g_build_filename (place.work, "repo/.git", NULL);
  test_run_outside (place.work, MAKE_REPOSITORY "; git worktree add -q ../linked other; "
                                "git worktree add -q ../third -b third; mkdir -p ../away");

  must_work (&place, tree, "echo l > l; git add l; git commit -qm l; git stash list; git status; "
                           "git branch more; git rebase -q main; git log | grep -q two");

  plan = plan_writing (&place, tree, NULL);
  must_fail (plan, tree, "rm .git");
  must_fail (plan, tree, "echo gitdir: /x > .git");
  must_fail (plan, tree, "mv .git .g");
  script = g_strdup_printf ("echo x > %s/index", main_git);
  must_fail (plan, tree, script);
  g_free (script);
  script = g_strdup_printf ("echo x > %s/HEAD", main_git);
  must_fail (plan, tree, script);
  g_free (script);
  script = g_strdup_printf ("echo x > %s/worktrees/third/HEAD", main_git);
  must_fail (plan, tree, script);
  g_free (script);
  script = g_strdup_printf ("rm -rf %s/worktrees/third; ! test -e %s/worktrees/third/HEAD",
                            main_git, main_git);
  must_fail (plan, tree, script);
  g_free (script);
  script = g_strdup_printf ("cd %s/worktrees/linked && (echo x > commondir || echo x > gitdir || "
                            "echo x > config.worktree || mkdir modules/x || mv ../linked ../l)",
                            main_git);
  must_fail (plan, tree, script);
  g_free (script);
  script = g_strdup_printf ("echo x > %s/hooks/pre-commit", main_git);
  must_fail (plan, tree, script);

  /* The third worktree is not there inside; pruning would take its state. */
  must_work (&place, tree, "git worktree prune -v --expire now || true");
  remove_placeholders (plan);
  test_run_outside (place.work, "cd third; git status; cd ../linked; git status; cd ../repo; "
                                "git status; git worktree list | grep third");
}

static void
test_submodule (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxBwrapPlan) plan = NULL;
  g_autofree char *repo = NULL;
  g_autofree char *module = NULL;
  g_autofree char *output = NULL;
  int status;

  test_place_init (&place);
  repo = g_build_filename (place.work, "repo", NULL);
  module = g_build_filename (repo, "lib", NULL);
  test_run_outside (place.work, MAKE_REPOSITORY "; cd ..; git clone -q repo upstream; cd repo; "
                                "git -c protocol.file.allow=always submodule --quiet add "
                                "$PWD/../upstream lib; "
                                "git commit -qm sub");

  /* From above: the module's directory is not to be written. */
  must_work (&place, repo, "git submodule status; git status; cd lib; git log -1; ! echo x > "
                           "../.git/modules/lib/config");

  /* By itself: it can be read, built and changed. */
  plan = plan_writing (&place, module, NULL);
  output = test_run_in (plan, module, "set -e; git status; git log -1; echo x >> file; git diff | "
                                      "grep +x; "
                                      "! git commit -qam x; ! rm .git; test ! -e ../file", &status);
  g_assert_cmpint (status, ==, 0);
  g_assert_cmpuint (plan->placeholders->len, ==, 0);
}

/* A repository is as writable as its root is. */
static void
test_part (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxBwrapPlan) plan = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *part = NULL;
  g_autofree char *hooks = NULL;
  g_autofree char *output = NULL;
  int status;

  test_place_init (&place);
  part = g_build_filename (place.work, "repo/part", NULL);
  hooks = g_build_filename (place.work, "repo/.git/hooks", NULL);
  test_run_outside (place.work, MAKE_REPOSITORY "; mkdir part; echo p > part/p; git add part; git "
                                                "commit -qm p");

  plan = plan_writing (&place, part, NULL);
  output = test_run_in (plan, part, "git log -1 && echo x >> p && git diff -- . | grep +x && "
                                    "! git commit -qm x -a && ! touch ../.git/x", &status);
  g_assert_cmpint (status, ==, 0);

  g_clear_pointer (&plan, _sbx_bwrap_plan_unref);
  plan = test_plan (&place, place.work, NULL, (const char *[]) { hooks, NULL }, &error);
  g_assert_null (plan);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_REFUSED);
  g_clear_error (&error);
}

static void
test_bare (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxBwrapPlan) plan = NULL;
  g_autofree char *bare = NULL;

  test_place_init (&place);
  bare = g_build_filename (place.work, "bare.git", NULL);
  test_run_outside (place.work, MAKE_REPOSITORY "; cd ..; git clone -q --bare repo bare.git; "
                                "rm -r bare.git/hooks bare.git/info");
  must_work (&place, bare, "git branch new; git log -1; git clone -q . /tmp/c; cd /tmp/c; echo n "
                           "> n; "
                           "git add n; git commit -qm n; git push -q origin main");
  plan = plan_writing (&place, bare, NULL);
  must_fail (plan, bare, "git config core.fsmonitor x");
  must_fail (plan, bare, "touch hooks/post-update");
  remove_placeholders (plan);
  test_run_outside (bare, "! ls hooks info modules commondir; git log -1 main | grep n");
}

/* A planted pointer does not widen what a later sandbox gets. */
static void
test_pointers (void)
{
  static const struct
  {
    const char *script;
    int         code;
    const char *says;
  } cases[] = {
    { "printf 'gitdir: %s/secret/.git\\n' $PWD/.. > .git", SBX_ERROR_REFUSED, "secret" },
    { "mkdir g; printf '../../../secret/.git\\n' > g/commondir; echo $PWD/.git > g/gitdir;"
      "echo 'gitdir: g' > .git", SBX_ERROR_REFUSED, "names" },
    { "echo nothing > .git", SBX_ERROR_INVALID, "names no git directory" },
    { "echo gitdir: gone > .git", SBX_ERROR_NOT_FOUND, "git worktree prune" },
    { "ln -s ../secret/.git .git", SBX_ERROR_NOT_ENFORCEABLE, "symbolic link" },
    { "git init -q .; rm -rf .git/hooks; ln -s ../h .git/hooks", SBX_ERROR_NOT_ENFORCEABLE,
      "hooks" },
    { "git init -q .; rm .git/config; mkfifo .git/config", SBX_ERROR_NOT_ENFORCEABLE, "config" },
    { "git init -q .; mkdir .git/commondir", SBX_ERROR_NOT_ENFORCEABLE, "commondir" },
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto(TestPlace) place = { 0 };
      g_autoptr(SbxBwrapPlan) plan = NULL;
      g_autoptr(GError) error = NULL;
      g_autofree char *dir = NULL;

      test_place_init (&place);
      dir = test_make_dir (place.work, "dir");
      test_run_outside (place.work, "git init -q secret");
      test_run_outside (dir, cases[i].script);

      plan = test_plan (&place, dir, NULL, (const char *[]) { dir, NULL }, &error);
      g_assert_null (plan);
      g_assert_error (error, SBX_ERROR, cases[i].code);
      g_assert_nonnull (strstr (error->message, cases[i].says));
    }
}

static void
test_pointer_of_a_fifo (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxBwrapPlan) plan = NULL;
  g_autoptr(GError) error = NULL;

  test_place_init (&place);
  test_run_outside (place.work, "mkfifo .git");
  plan = test_plan (&place, place.work, NULL, (const char *[]) { place.work, NULL }, &error);
  g_assert_no_error (error);

  /* And a large one is read no further than a pointer goes. */
  g_clear_pointer (&plan, _sbx_bwrap_plan_unref);
  test_run_outside (place.work, "rm .git; truncate -s 10G .git");
  plan = test_plan (&place, place.work, NULL, (const char *[]) { place.work, NULL }, &error);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE);
}

static void
test_placeholders (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxBwrapPlan) plan = NULL;
  g_autoptr(SbxBwrapPlan) second = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *repo = NULL;
  guint n_made = 0;
  guint i;

  test_place_init (&place);
  repo = g_build_filename (place.work, "repo", NULL);
  test_run_outside (place.work, MAKE_REPOSITORY "; mkdir .git/modules");
  plan = plan_writing (&place, repo, NULL);

  /* Nothing is there before it was noted. */
  test_run_outside (repo, "! ls .git/commondir .git/gitdir .git/config.worktree");
  g_assert_true (_sbx_bwrap_plan_make_placeholders (plan, &error));
  g_assert_no_error (error);
  test_run_outside (repo, "test \"$(cat .git/commondir)\" = ./; test -f .git/gitdir; "
                          "test -f .git/config.worktree");

  for (i = 0; i < plan->placeholders->len; i++)
    {
      const SbxBwrapPlaceholder *one = g_ptr_array_index (plan->placeholders, i);

      n_made += one->made;
      g_assert_true (one->made != one->exists);
    }
  g_assert_cmpuint (n_made, ==, 5);

  /* A second session sees that they are there, and makes none. */
  second = plan_writing (&place, repo, NULL);
  g_assert_true (_sbx_bwrap_plan_make_placeholders (second, &error));
  g_assert_cmpuint (second->placeholders->len, ==, plan->placeholders->len);
  for (i = 0; i < second->placeholders->len; i++)
    g_assert_true (((SbxBwrapPlaceholder *) g_ptr_array_index (second->placeholders, i))->exists);

  /* One that somebody has filled since stays. */
  test_run_outside (repo, "echo '[a]' > .git/config.worktree; rm .git/gitdir; ln -s x .git/gitdir");
  remove_placeholders (plan);
  test_run_outside (repo, "test -s .git/config.worktree; test -L .git/gitdir; test ! -e "
                          ".git/commondir; "
                          "test -d .git/modules");
}

/* A disk that is full: nothing is left that git would stumble over. */
static void
test_half_written (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxBwrapPlan) plan = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *repo = NULL;
  struct rlimit before, small;

  test_place_init (&place);
  repo = g_build_filename (place.work, "repo", NULL);
  test_run_outside (place.work, MAKE_REPOSITORY);
  plan = plan_writing (&place, repo, NULL);

  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &before), ==, 0);
  small = before;
  small.rlim_cur = 1;
  signal (SIGXFSZ, SIG_IGN);
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &small), ==, 0);
  g_assert_false (_sbx_bwrap_plan_make_placeholders (plan, &error));
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &before), ==, 0);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED);

  test_run_outside (repo, "test ! -e .git/commondir; git status");
  remove_placeholders (plan);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/bwrap/repository/work", test_work);
  g_test_add_func ("/bwrap/repository/attacks", test_attacks);
  g_test_add_func ("/bwrap/repository/nothing-runs", test_nothing_runs);
  g_test_add_func ("/bwrap/repository/linked-worktree", test_linked_worktree);
  g_test_add_func ("/bwrap/repository/submodule", test_submodule);
  g_test_add_func ("/bwrap/repository/part", test_part);
  g_test_add_func ("/bwrap/repository/bare", test_bare);
  g_test_add_func ("/bwrap/repository/pointers", test_pointers);
  g_test_add_func ("/bwrap/repository/pointer-of-a-fifo", test_pointer_of_a_fifo);
  g_test_add_func ("/bwrap/repository/placeholders", test_placeholders);
  g_test_add_func ("/bwrap/repository/half-written", test_half_written);

  return g_test_run ();
}
