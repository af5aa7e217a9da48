/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "escape.h"

#include <glib/gstdio.h>
#include <string.h>

/*
 * A real repository, real git on both sides. What is planted inside must not make git on the host
 * run anything: every trap would touch a witness, in a place that both can write.
 */

#define GIT_ENVIRONMENT \
  "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=A " \
  "GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org; "

#define MAKE_REPOSITORY \
  GIT_ENVIRONMENT \
  "git init -q -b main .; echo attack > .git/info/exclude; echo sprung >> .git/info/exclude; " \
  "echo one > file; git add file; git commit -qm one; " \
  "git branch other; echo two >> file; git commit -qam two; "

/* What a user and their tools do all day. Each may fail; none may run what was planted. */
#define USE_REPOSITORY \
  GIT_ENVIRONMENT \
  "set +e; { git status; git diff; git log -1 -p; echo more >> file; git add file; git stash; " \
  "git stash pop; git commit -am more; git checkout other; git checkout main; git branch new; " \
  "git branch -D new; git merge other; git rebase other; git gc --auto; git fetch .; " \
  "git worktree list; git submodule status; git update-index --refresh; git push . main:pushed; " \
  "git worktree add ../tree-$$ -b tree; git worktree remove --force ../tree-$$; git log -1; } " \
  ">/dev/null 2>&1; true; "

/* $T is the trap: a command that touches the witness. */
#define MAKE_TRAP \
  "T=\"touch $PWD/sprung\"; printf '#!/bin/sh\\n%s\\n' \"$T\" > trap; chmod +x trap; "

#define EVIL_CONFIG \
  "printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = %s\\n" \
  "\\thooksPath = %s\\n\\tpager = %s\\n\\teditor = %s\\n[diff]\\n\\texternal = %s\\n" \
  "[filter \"x\"]\\n\\tclean = %s\\n\\tsmudge = %s\\n' \"$PWD/trap\" \"$PWD/evil-hooks\" " \
  "\"$T\" \"$T\" \"$PWD/trap\" \"$T\" \"$T\" " \
  "> evil-config; mkdir -p evil-hooks; for h in post-checkout post-commit reference-transaction " \
  "pre-commit post-index-change post-merge pre-push pre-rebase post-rewrite; do " \
  "cp trap evil-hooks/$h; done; "

typedef struct
{
  const char *name;
  const char *script;
  gboolean    destroys;    /* what it may write, it may also destroy */
} Plant;

static const Plant plants[] = {
  { "hooks", "cp evil-hooks/* .git/hooks/" },
  { "hooks-replaced", "rm -rf .git/hooks; mv .git/hooks .git/old-hooks; "
                      "cp -r evil-hooks .git/hooks" },
  { "config", "cat evil-config >> .git/config" },
  { "config-replaced", "cp evil-config .git/n; mv -f .git/n .git/config" },
  { "config-by-git", "git config core.fsmonitor \"$PWD/trap\"" },
  { "config-worktree",
    "git config extensions.worktreeConfig true; cp evil-config .git/config.worktree" },
  { "commondir",
    "git init -q --bare evil; cp evil-config evil/config; cp -r .git/refs .git/objects evil/; "
    "rm -f .git/commondir; printf '%s\\n' \"$PWD/evil\" > .git/commondir" },
  { "attributes", "mkdir -p .git/info; echo '* filter=x diff=x' > .git/info/attributes; "
                  "cat evil-config >> .git/config" },
  { "renamed", "mv .git old-git; mkdir .git; cp -r old-git/. .git/; cp evil-config .git/config" },
  { "removed", "rm -rf .git; git init -q .; cp evil-config .git/config", TRUE },
  { "parent-renamed", "cd ..; mv \"$OLDPWD\" other-name; mkdir \"$OLDPWD\"; cp -r other-name/. "
                      "\"$OLDPWD\"; cp \"$OLDPWD/evil-config\" \"$OLDPWD/.git/config\"" },
  { "objects-moved", "cp -r .git/objects copy; mv .git/objects .git/o; "
                     "ln -s \"$PWD/copy\" .git/objects" },
  { "refs-moved", "cp -r .git/refs copy; mv .git/refs .git/r; ln -s \"$PWD/copy\" .git/refs" },
  { "linked", "ln -sf ../evil-config .git/config; ln -sfn ../evil-hooks .git/hooks" },
  { "module", "git init -q .git/modules/m && cp -r .git/modules/m/.git/. .git/modules/m/ && "
              "cat evil-config >> .git/modules/m/config; mkdir m; "
              "echo 'gitdir: ../.git/modules/m' > m/.git; git -C m commit -q --allow-empty -m m; "
              "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),m", TRUE },
  { "hard-linked", "cp evil-config .git/n; ln -f .git/n .git/config; cp evil-config .git/m; "
                   "ln -f .git/m .git/config.worktree" },
};

static void
make_repository (EscapeBox *box)
{
  escape_place (box);
  escape_outside (box->work, MAKE_REPOSITORY MAKE_TRAP EVIL_CONFIG);
}

static void
open_repository (EscapeBox *box)
{
  g_autoptr(GError) error = NULL;

  box->session = escape_try_open (box, box->work, &error);
  g_assert_no_error (error);
}

static void
run_inside (EscapeBox  *box,
            const char *script)
{
  g_autofree char *all = g_strconcat (MAKE_TRAP, script, "; true", NULL);
  g_autoptr(SbxCommand) command = sbx_command_new ((const char * const []) {
    "sh", "-c", all, NULL });
  g_autoptr(SbxExecResult) result = escape_exec (box, command);

  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_EXITED);
}

static void
assert_unsprung (EscapeBox  *box,
                 const char *when)
{
  g_autofree char *witness = g_build_filename (box->work, "sprung", NULL);

  if (g_file_test (witness, G_FILE_TEST_EXISTS))
    g_error ("A trap sprang on the host %s", when);
}

/* While the sandbox is open, and after it was closed. */
static void
test_plant (gconstpointer data)
{
  const Plant *plant = data;
  g_auto(EscapeBox) box = { 0 };

  make_repository (&box);
  open_repository (&box);
  run_inside (&box, plant->script);
  escape_outside (box.work, "rm -f sprung");

  escape_outside (box.work, USE_REPOSITORY);
  assert_unsprung (&box, "while the sandbox was open");
  escape_close (&box);
  escape_outside (box.work, USE_REPOSITORY);
  assert_unsprung (&box, "after the sandbox was closed");

  /* Nor does git on the host write to where a link of the sandbox's leads. */
  escape_outside (box.work, "test ! -L .git/objects -a ! -L .git/refs -a ! -L .git/config");

  /* It is the repository that it was. */
  if (!plant->destroys)
    escape_outside (box.work, GIT_ENVIRONMENT "git fsck; git log --format=%s main | grep -qx two; "
                              "git status > /dev/null");
}

/* That the traps are good: planted by the host, they spring. */
static void
test_traps_are_good (void)
{
  static const char * const scripts[] = {
    "cp evil-hooks/* .git/hooks/", "cat evil-config >> .git/config",
    ("git init -q --bare evil; cp evil-config evil/config; cp -r .git/refs .git/objects evil/; "
     "printf '%s\\n' \"$PWD/evil\" > .git/commondir"),
    "git config extensions.worktreeConfig true; cp evil-config .git/config.worktree",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (scripts); i++)
    {
      g_auto(EscapeBox) box = { 0 };

      make_repository (&box);
      escape_outside (box.work, scripts[i]);
      escape_outside (box.work, "rm -f sprung");
      escape_outside (box.work, USE_REPOSITORY "test -e sprung");
    }
}

/* Pruning inside must not take the state of the worktrees that only the host has. */
static void
test_worktrees (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *tree = NULL;
  g_autofree char *add = NULL;

  make_repository (&box);
  tree = g_build_filename (escape_get_root (), "user-tree", NULL);
  add = g_strdup_printf ("%s git worktree add -q '%s' -b user; cd '%s'; echo w > w; git add w",
                         GIT_ENVIRONMENT, tree, tree);
  escape_outside (box.work, add);

  open_repository (&box);
  run_inside (&box, "git worktree prune -v --expire now; rm -rf .git/worktrees/*; "
                    "mv .git/worktrees .git/w; git worktree remove --force user-tree");
  escape_close (&box);

  escape_outside (tree, GIT_ENVIRONMENT "git status --porcelain | grep -qx 'A  w'; "
                                        "git commit -qm w; git log --format=%s | grep -qx w");
}

/* What a commit needs goes on inside, and the host finds it. */
static void
test_work (void)
{
  g_auto(EscapeBox) box = { 0 };

  make_repository (&box);
  open_repository (&box);
  run_inside (&box, "git config --get user.name; git -c user.name=I -c user.email=i@example.org "
                    "commit -q --allow-empty -m inside");
  escape_close (&box);
  escape_outside (box.work, "git -c safe.directory='*' log -1 --format=%s | grep -qx inside; "
                            "cd .git; ! ls commondir gitdir config.worktree modules 2>/dev/null");
}

int
main (int    argc,
      char **argv)
{
  escape_init (&argc, &argv);

  for (gsize i = 0; i < G_N_ELEMENTS (plants); i++)
    {
      g_autofree char *path = g_strconcat ("/escape/T28/", plants[i].name, NULL);

      g_test_add_data_func (path, &plants[i], test_plant);
    }
  g_test_add_func ("/escape/T28/worktrees", test_worktrees);
  g_test_add_func ("/escape/repository/traps-are-good", test_traps_are_good);
  g_test_add_func ("/escape/repository/work", test_work);

  return escape_run ();
}
