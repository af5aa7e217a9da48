/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "resolve-util.h"
#include "spec/sbx-git-tree-private.h"

/* Which git directories a spec comes to, in repositories that git itself made. */

#define COMMIT "git commit -q --allow-empty -m one"

#define MAKE_HOME \
  "cd home; git init -q .; git init -q -b main repo; cd repo; mkdir src; echo x > src/f; " \
  "git add .; " COMMIT "; git worktree add -q ../feature -b feature"

#define MAKE_MAIN \
  "git init -q -b main lib-upstream; cd lib-upstream; " COMMIT "; cd ..; " \
  "git init -q -b main main; cd main; " COMMIT "; " \
  "git -c protocol.file.allow=always submodule --quiet add ../lib-upstream lib; " \
  "git commit -qm sub; git worktree add -q ../linked -b linked; " \
  "git init -q -b main vendor/clone"

static void
test_lookup (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxGitTree) tree = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *feature = NULL;
  g_autofree char *src = NULL;
  g_autofree char *notes = NULL;

  test_place_init (&place);
  test_run_in_place (&place, MAKE_HOME);
  feature = g_build_filename (place.home, "feature", NULL);
  src = g_build_filename (place.home, "repo", "src", NULL);
  notes = g_build_filename (place.home, "notes", NULL);

  /* R4a */
  tree = _sbx_git_tree_find (feature, place.home, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (tree->kind, ==, SBX_GIT_TREE_LINKED);
  g_assert_true (tree->names_back);
  g_assert_cmpstr (tree->root, ==, feature);
  g_assert_true (g_str_has_suffix (tree->git.path, "/home/repo/.git/worktrees/feature"));
  g_assert_true (g_str_has_suffix (tree->common.path, "/home/repo/.git"));

  /* R4d */
  g_clear_pointer (&tree, _sbx_git_tree_free);
  tree = _sbx_git_tree_find (notes, place.home, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (tree);

  /* R4e */
  tree = _sbx_git_tree_find (src, place.home, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (tree->kind, ==, SBX_GIT_TREE_MAIN);
  g_assert_true (g_str_has_suffix (tree->root, "/home/repo"));
}

static void
test_r4_r5 (void)
{
  static const struct
  {
    const char *id;
    const char *cwd;
    const char *read;
    const char *write;
    const char *git_dirs;
  } rows[] = {
    { "R4b", "home/feature", NULL, NULL,
      "home/repo/.git/worktrees/feature home/repo/.git" },
    { "R4c", "home/feature", NULL, "home/feature",
      "home/repo/.git/worktrees/feature+ home/repo/.git+" },
    { "R4f", "home/scratch", NULL, NULL, "" },
    { "R5a", "home/repo", NULL, "home/repo", "home/repo/.git+" },
    { "R5b", "home/repo", NULL, "home/repo/src", "home/repo/.git" },
    { "R5c", "home/repo", "home/repo/src", "home/repo", "home/repo/.git+" },
    { "R5d", "home/repo/src", "home/repo/src", "home/repo", "home/repo/.git+" },
    { "R5e", "home/repo", "home/repo", NULL, "home/repo/.git" },
    { "R5f", "home/repo/src", NULL, "home/repo", "home/repo/.git+" },
    { "asked for reading", "home/repo", "home/repo/.git", "home/repo", "home/repo/.git" },
    { "a file", "home/notes", "home/repo/src/f", NULL, "home/repo/.git" },
    { "two", "home/feature", "home/repo", "home/feature",
      "home/repo/.git/worktrees/feature+ home/repo/.git+" },
  };
  g_auto(TestPlace) place = { 0 };

  test_place_init (&place);
  test_run_in_place (&place, MAKE_HOME);

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr(SbxReach) reach = NULL;

      g_test_message ("%s", rows[i].id);
      reach = test_resolve (&place, rows[i].cwd, rows[i].read, rows[i].write);
      test_assert_git_dirs (&place, reach, rows[i].git_dirs);
    }
}

/* A run root in the repository does not keep its git directory from being found. */
static void
test_r6 (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxRoots) roots = _sbx_roots_new ();
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(GError) error = NULL;

  test_place_init (&place);
  test_run_in_place (&place, MAKE_HOME "; mkdir -p .awf/runs");
  roots->home = g_strdup (place.home);
  roots->run_root = g_build_filename (place.home, "repo", ".awf", "runs", NULL);
  g_clear_pointer (&place.roots, _sbx_roots_free);
  place.roots = _sbx_roots_real (roots, &error);
  g_assert_no_error (error);

  reach = test_resolve (&place, "home/repo/src", NULL, NULL);
  test_assert_git_dirs (&place, reach, "home/repo/.git");
}

static void
test_r10 (void)
{
  g_auto(TestPlace) place = { 0 };

  test_place_init (&place);
  test_run_in_place (&place, "cd crafted; "
                             "mkdir points-home points-runs points-root points-keys wt; "
                             "echo gitdir: $HOME > points-home/.git; "
                             "echo gitdir: ../../runs/a-run > points-runs/.git; "
                             "echo gitdir: ../wt > points-root/.git; "
                             "echo ../../../../../../../../.. > wt/commondir; "
                             "echo $PWD/points-root/.git > wt/gitdir; "
                             "echo gitdir: $HOME/.ssh > points-keys/.git");

  test_resolve_fails (&place, "crafted/points-home", NULL, NULL, SBX_ERROR_REFUSED,
                      "git directory of|crafted/points-home|home");
  test_resolve_fails (&place, "home/notes", "crafted/points-runs", NULL, SBX_ERROR_REFUSED,
                      "git directory of|crafted/points-runs|runs/a-run");
  test_resolve_fails (&place, "crafted/points-root", NULL, NULL, SBX_ERROR_REFUSED,
                      "git directory of|crafted/points-root|“/”");
  test_resolve_fails (&place, "home/notes", NULL, "crafted/points-keys", SBX_ERROR_REFUSED,
                      "git directory of|crafted/points-keys|.ssh");
  test_resolve_fails (&place, "home/notes", NULL, "crafted", SBX_ERROR_REFUSED, "crafted");
}

static void
test_g1 (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxReach) reach = NULL;
  SbxReachEntry *common;

  test_place_init (&place);
  test_run_in_place (&place, MAKE_MAIN);
  reach = test_resolve (&place, "linked", NULL, "linked");

  test_assert_git_dirs (&place, reach, "main/.git/worktrees/linked+ main/.git+");
  common = test_find_entry (&place, reach, SBX_REACH_GIT_DIR, "main/.git");
  g_assert_cmpint (common->git_part, ==, SBX_GIT_PART_COMMON);
  test_assert_protected (&place, reach,
                         "linked/.git main/.git/index main/.git/HEAD main/.git/hooks "
                         "main/.git/worktrees/linked/config.worktree "
                         "linked/.claude/settings.json main/.git/commondir");
  test_assert_not_protected (&place, reach,
                             "main/.mcp.json main/.git/worktrees/linked/HEAD "
                             "main/.git/worktrees/linked/index main/.git/objects main/.git/refs");
}

static void
test_g2 (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxReach) reach = NULL;
  SbxReachEntry *common;

  test_place_init (&place);
  test_run_in_place (&place, MAKE_MAIN);
  reach = test_resolve (&place, "main", NULL, "main linked");

  common = test_find_entry (&place, reach, SBX_REACH_GIT_DIR, "main/.git");
  g_assert_cmpint (common->git_part, ==, SBX_GIT_PART_OWN);
  g_assert_true (common->writable);
  test_assert_not_protected (&place, reach, "main/.git/index main/.git/worktrees/linked/index");
  test_assert_protected (&place, reach, "linked/.git");
}

static void
test_g3 (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxReach) reach = NULL;

  test_place_init (&place);
  test_run_in_place (&place, MAKE_MAIN);
  reach = test_resolve (&place, "main", NULL, "main");

  test_assert_protected (&place, reach,
                         "main/.git/worktrees/linked/index main/.git/worktrees/linked/HEAD "
                         "main/vendor/clone/.mcp.json");
  test_assert_not_protected (&place, reach, "main/.git/index linked/.git linked/.mcp.json");
}

static void
test_g4 (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(SbxReach) from_lib = NULL;

  test_place_init (&place);
  test_run_in_place (&place, MAKE_MAIN);

  /* G4a */
  reach = test_resolve (&place, "main", NULL, "main");
  g_assert_true (test_find_entry (&place, reach, SBX_REACH_GIT_DIR,
                                  "main/vendor/clone/.git")->writable);
  g_assert_false (test_find_entry (&place, reach, SBX_REACH_GIT_DIR,
                                   "main/.git/modules/lib")->writable);
  g_assert_cmpint (test_find_entry (&place, reach, SBX_REACH_GIT_DIR,
                                    "main/.git/modules/lib")->git_part, ==, SBX_GIT_PART_MODULE);

  /* G4b */
  from_lib = test_resolve (&place, "main/lib", NULL, "main");
  g_assert_false (test_find_entry (&place, from_lib, SBX_REACH_GIT_DIR,
                                   "main/.git/modules/lib")->writable);
  g_assert_true (test_find_entry (&place, from_lib, SBX_REACH_GIT_DIR, "main/.git")->writable);

  /* G4c */
  test_assert_protected (&place, reach,
                         "main/lib/.git main/.git/modules main/vendor/clone/.git/hooks "
                         "main/vendor/clone/.git/config main/.gitmodules");
}

static void
test_g5 (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(SbxReach) linked = NULL;

  test_place_init (&place);
  test_run_in_place (&place, MAKE_MAIN "; git config core.hooksPath .githooks; "
                             "mkdir config-shared; ln -s config-shared .vscode; "
                             "ln -s config-shared .claude");

  /* G5a */
  reach = test_resolve (&place, "main", NULL, "main");
  test_assert_protected (&place, reach,
                         "main/.githooks main/.vscode main/config-shared "
                         "main/config-shared/settings.json main/.claude/settings.json");
  test_assert_not_protected (&place, reach, "linked/.githooks");

  /* What is there is known again, and what is not there, too. */
  g_assert_cmpuint (test_find_entry (&place, reach, SBX_REACH_PROTECTED,
                                     "main/.githooks")->inode, ==, 0);
  g_assert_true (S_ISDIR (test_find_entry (&place, reach, SBX_REACH_PROTECTED,
                                           "main/config-shared")->mode));
  g_assert_true (S_ISLNK (test_find_entry (&place, reach, SBX_REACH_PROTECTED,
                                           "main/.vscode")->mode));

  /* G5b */
  linked = test_resolve (&place, "linked", NULL, "linked");
  test_assert_protected (&place, linked, "linked/.githooks");
  test_assert_not_protected (&place, linked, "main/.githooks");
}

static void
test_g6 (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxReach) reach = NULL;

  test_place_init (&place);
  test_run_in_place (&place, MAKE_MAIN "; cd ..; mkdir -p work/planted/deep; "
                             "echo gitdir: $PWD/main/.git > work/planted/deep/.git");
  test_resolve_fails (&place, "work", NULL, "work", SBX_ERROR_REFUSED,
                      "work/planted/deep|main/.git|ask to write that as well|outside");

  /* To be read is not enough; to be written is, but it does not become what it is not. */
  test_resolve_fails (&place, "work", "main", "work", SBX_ERROR_REFUSED, "main/.git|outside");
  reach = test_resolve (&place, "work", NULL, "work main");
  g_assert_true (test_find_entry (&place, reach, SBX_REACH_GIT_DIR, "main/.git")->writable);

  /* One that leads nowhere, and one that is none, are passed over. */
  test_run_in_place (&place, "echo gitdir: gone > work/planted/deep/.git; mkdir work/a work/b; "
                             "echo x > work/a/.git; ln -s nowhere work/b/.git");
  g_clear_object (&reach);
  reach = test_resolve (&place, "work", NULL, "work");
  test_assert_git_dirs (&place, reach, "");
}

static void
test_g7 (void)
{
  g_auto(TestPlace) place = { 0 };

  test_place_init (&place);
  test_run_in_place (&place, "mkdir gone none; echo gitdir: ../missing > gone/.git; "
                             "echo hello > none/.git");
  test_resolve_fails (&place, "gone", NULL, NULL, SBX_ERROR_NOT_FOUND,
                      "gone/.git|git worktree prune");
  test_resolve_fails (&place, "none", NULL, NULL, SBX_ERROR_INVALID,
                      "none/.git|names no git directory");
}

static void
test_modes (void)
{
  g_auto(TestPlace) place = { 0 };
  const SbxGitMode reading[] = { SBX_GIT_MODE_NONE, SBX_GIT_MODE_READ };
  g_autoptr(SbxReach) full = NULL;
  g_autoptr(SbxReach) refused = NULL;
  g_autoptr(GError) error = NULL;

  test_place_init (&place);
  test_run_in_place (&place, MAKE_MAIN "; git config core.hooksPath .githooks");

  /* What cannot be written needs no guard; what leads to it, or is run from the tree, does. */
  for (gsize i = 0; i < G_N_ELEMENTS (reading); i++)
    {
      g_autoptr(SbxReach) reach = test_resolve_with (&place, "main", NULL, "main", reading[i], NULL,
                                                     &error);

      g_assert_no_error (error);
      test_assert_git_dirs (&place, reach,
                            "main/.git main/.git/modules/lib main/vendor/clone/.git");
      test_assert_protected (&place, reach, "main/.mcp.json main/lib/.git main/.githooks "
                                            "main/vendor/clone/.mcp.json main/lib/.mcp.json");
      test_assert_not_protected (&place, reach, "main/.git/config main/.git/hooks");
    }

  full = test_resolve_with (&place, "main", NULL, "main", SBX_GIT_MODE_FULL, NULL, &error);
  g_assert_no_error (error);
  test_assert_git_dirs (&place, full,
                        "main/.git+ main/.git/modules/lib+ main/vendor/clone/.git+");
  test_assert_protected (&place, full, "main/.mcp.json main/vendor/clone/.mcp.json");
  test_assert_not_protected (&place, full, "main/.git/config main/lib/.git main/.githooks");

  refused = test_resolve_with (&place, "main", "main", NULL, SBX_GIT_MODE_COMMIT, NULL, &error);
  g_assert_null (refused);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "main” may not be written"));
}

/* A pointer that was planted does not widen what the next sandbox gets. */
static void
test_planted (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxReach) reach = NULL;
  SbxReachEntry *entry;

  test_place_init (&place);
  test_run_in_place (&place, MAKE_MAIN "; cd ..; git init -q secret; mkdir dir entry; "
                             "echo gitdir: $PWD/secret/.git > dir/.git; mkdir entry/g; "
                             "echo ../../secret/.git > entry/g/commondir; "
                             "echo $PWD/entry/.git > entry/g/gitdir; echo gitdir: g > entry/.git");
  test_resolve_fails (&place, "dir", NULL, "dir", SBX_ERROR_REFUSED, "secret/.git|name it back");
  test_resolve_fails (&place, "dir", NULL, NULL, SBX_ERROR_REFUSED, "secret/.git|name it back");
  test_resolve_fails (&place, "entry", NULL, "entry", SBX_ERROR_REFUSED, "entry/g|name it back");

  /* What may be read does not become what may be written. */
  reach = test_resolve (&place, "dir", "secret", "dir");
  entry = test_find_entry (&place, reach, SBX_REACH_GIT_DIR, "secret/.git");
  g_assert_false (entry->writable);

  /* Nor does the index of the user's own tree, when a linked one has a pointer to it. */
  g_clear_object (&reach);
  test_run_in_place (&place, "mkdir linked/x; echo gitdir: $PWD/main/.git > linked/x/.git");
  test_resolve_fails (&place, "linked", NULL, "linked", SBX_ERROR_REFUSED, "linked/x/.git");

  /* A link cannot be guarded. */
  test_run_in_place (&place, "mkdir link; ln -s ../secret/.git link/.git");
  test_resolve_fails (&place, "link", NULL, "link", SBX_ERROR_NOT_ENFORCEABLE, "symbolic link");
  g_clear_object (&reach);
  reach = test_resolve (&place, "link", NULL, NULL);
  test_assert_git_dirs (&place, reach, "");
}

static void
test_inside_git_dir (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(SbxReach) bare = NULL;

  test_place_init (&place);
  test_run_in_place (&place, MAKE_MAIN "; cd ..; git clone -q --bare main bare.git");
  test_resolve_fails (&place, "linked", NULL, "main/.git/hooks", SBX_ERROR_REFUSED,
                      "main/.git/hooks|lies inside a git directory");
  test_resolve_fails (&place, "linked", NULL, "main/.git/config", SBX_ERROR_REFUSED,
                      "main/.git/config|lies inside a git directory");
  reach = test_resolve (&place, "main/.git/hooks", NULL, NULL);

  bare = test_resolve (&place, "bare.git", NULL, "bare.git");
  test_assert_git_dirs (&place, bare, "bare.git+");
  test_assert_protected (&place, bare, "bare.git/hooks bare.git/config bare.git/commondir");
}

/* Submodules of a linked working tree lie in its entry, which is in reach anyway. */
static void
test_linked_module (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxReach) reach = NULL;

  test_place_init (&place);
  test_run_in_place (&place, MAKE_MAIN "; cd ../linked; "
                             "git -c protocol.file.allow=always submodule --quiet update --init");
  reach = test_resolve (&place, "linked", NULL, "linked");
  test_assert_git_dirs (&place, reach, "main/.git/worktrees/linked+ main/.git+ "
                                       "main/.git/worktrees/linked/modules/lib");
  test_assert_protected (&place, reach, "linked/lib/.git linked/lib/.mcp.json");
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);

  g_test_add_func ("/spec/resolve-git/R4a-R4d-R4e", test_lookup);
  g_test_add_func ("/spec/resolve-git/R4b-R4c-R4f-R5a-R5f", test_r4_r5);
  g_test_add_func ("/spec/resolve-git/R6", test_r6);
  g_test_add_func ("/spec/resolve-git/R10.17-R10.18-R10.19", test_r10);
  g_test_add_func ("/spec/resolve-git/G1", test_g1);
  g_test_add_func ("/spec/resolve-git/G2", test_g2);
  g_test_add_func ("/spec/resolve-git/G3", test_g3);
  g_test_add_func ("/spec/resolve-git/G4a-G4b-G4c", test_g4);
  g_test_add_func ("/spec/resolve-git/G5a-G5b", test_g5);
  g_test_add_func ("/spec/resolve-git/G6", test_g6);
  g_test_add_func ("/spec/resolve-git/G7", test_g7);
  g_test_add_func ("/spec/resolve-git/modes", test_modes);
  g_test_add_func ("/spec/resolve-git/planted", test_planted);
  g_test_add_func ("/spec/resolve-git/inside-git-dir", test_inside_git_dir);
  g_test_add_func ("/spec/resolve-git/linked-module", test_linked_module);

  return g_test_run ();
}
