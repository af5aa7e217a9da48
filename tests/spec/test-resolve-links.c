/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "resolve-util.h"

#include <sys/stat.h>

/*
 * Links on the way to what programs outside run or follow, and in directories of it: each one can
 * be replaced, and so can what it leads to.
 */

static mode_t
get_mode (TestPlace  *place,
          SbxReach   *reach,
          const char *relative)
{
  SbxReachEntry *entry = test_find_entry (place, reach, SBX_REACH_PROTECTED, relative);

  g_assert_nonnull (entry);
  return entry->mode;
}

static void
test_chain (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxReach) reach = NULL;

  test_place_init (&place);
  test_run_in_place (&place, "mkdir -p p/conf; cd p; echo x > conf/m.json; ln -s conf current; "
                             "ln -s current/m.json second; ln -s ./././second .mcp.json; "
                             "echo x > conf/settings.json; ln -s current/../conf .claude");

  reach = test_resolve (&place, "p", NULL, "p");
  test_assert_protected (&place, reach, "p/.mcp.json p/second p/current p/conf/m.json p/.claude "
                                        "p/conf/settings.json p/conf/commands");
  g_assert_true (S_ISLNK (get_mode (&place, reach, "p/current")));
  g_assert_true (S_ISREG (get_mode (&place, reach, "p/conf/m.json")));

  /* What is there is protected where it is: by this name nothing could be bound. */
  test_assert_not_protected (&place, reach, "p/.claude/settings.json p/conf");
}

static void
test_dangling (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxReach) reach = NULL;

  test_place_init (&place);
  test_run_in_place (&place, "mkdir p; cd p; ln -s later .claude; ln -s later2/a .mcp.json; "
                             "ln -s .vscode .vscode; ln -s b a; ln -s a b; ln -s a .idea");

  reach = test_resolve (&place, "p", NULL, "p");
  test_assert_protected (&place, reach, "p/.claude p/later/settings.json p/later/commands "
                                        "p/.mcp.json p/later2/a p/.vscode p/.idea");
}

/* What is not in reach cannot be replaced. */
static void
test_outside (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxReach) reach = NULL;

  test_place_init (&place);
  test_run_in_place (&place, "mkdir p other; ln -s ../other/a p/.mcp.json; ln -s ../p other/back; "
                             "ln -s ../other/back/tasks p/.vscode; mkdir p/tasks");

  reach = test_resolve (&place, "p", NULL, "p");
  test_assert_protected (&place, reach, "p/.mcp.json p/.vscode p/tasks");
  test_assert_not_protected (&place, reach, "other/a other/back");
}

static void
test_inside (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxReach) reach = NULL;

  test_place_init (&place);
  test_run_in_place (&place, "git init -q p; cd p; mkdir scripts hk tools docs; "
                             "echo x > scripts/pre-commit; echo x > tools/h; ln -s tools cur; "
                             "ln -s ../../scripts/pre-commit .git/hooks/pre-commit; "
                             "ln -s ../../later/post-commit .git/hooks/post-commit; "
                             "ln -s ../.. .git/hooks/all; ln -s pre-commit .git/hooks/pre-push; "
                             "git config core.hooksPath hk; ln -s ../cur/h hk/pre-merge-commit; "
                             "mkdir -p .claude/commands/ns; echo x > docs/c.md; "
                             "ln -s ../../../docs/c.md .claude/commands/ns/c.md");

  reach = test_resolve (&place, "p", NULL, "p");
  test_assert_protected (&place, reach, "p/.git/hooks p/scripts/pre-commit p/later/post-commit "
                                        "p/hk p/cur p/tools/h p/docs/c.md");
  test_assert_not_protected (&place, reach, "p p/scripts p/.git/hooks/pre-commit "
                                            "p/hk/pre-merge-commit p/docs");
}

/* The hooks of a submodule lie where it is read-only, but may lead out of that. */
static void
test_module (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxReach) reach = NULL;

  test_place_init (&place);
  test_run_in_place (&place, "git init -q p; cd p; mkdir -p .git/modules scripts; "
                             "git init -q --separate-git-dir=.git/modules/lib lib; "
                             "git -C lib config core.worktree ../../../lib; "
                             "echo x > scripts/pre-commit; "
                             "ln -s ../../../../scripts/pre-commit .git/modules/lib/hooks/");

  /* Its objects are not looked at, which can be many. */
  test_run_in_place (&place, "mkdir p/.git/modules/lib/objects/ab; "
                             "ln -s ../../../../../a p/.git/modules/lib/objects/ab/cd");

  reach = test_resolve (&place, "p", NULL, "p");
  test_assert_protected (&place, reach, "p/scripts/pre-commit");
  test_assert_not_protected (&place, reach, "p/a");
}

/* Programs of the working tree that a configuration names. */
static void
test_named (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxReach) reach = NULL;

  test_place_init (&place);
  test_run_in_place (&place, "git init -q p; cd p; mkdir tools; touch tools/e tools/p tools/c "
                             "tools/t tools/s tools/k; git config core.editor 'tools/e --wait'; "
                             "git config core.pager 'tools/p | cat'; "
                             "git config trailer.a.cmd tools/t; "
                             "git config credential.https://example.org.helper '!tools/c'; "
                             "git config sequence.editor tools/s; "
                             "git config gpg.ssh.defaultKeyCommand tools/k");

  reach = test_resolve (&place, "p", NULL, "p");
  test_assert_protected (&place, reach, "p/tools/e p/tools/p p/tools/c p/tools/t p/tools/s "
                                        "p/tools/k");
}

/* What is mounted on one name of a file leaves its other ones as they are. */
static void
test_hard_links (void)
{
  static const char * const names[] = {
    ".mcp.json", ".bashrc", ".vscode/tasks.json", ".claude/commands/ns/c.md", ".git/config",
    ".git/config.worktree", ".git/hooks/pre-commit", ".git/info/attributes",
  };
  g_auto(TestPlace) place = { 0 };

  test_place_init (&place);
  test_run_in_place (&place, "git init -q p; mkdir -p p/.vscode p/.claude/commands/ns");

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *make = g_strdup_printf ("cd p; test -e %s || echo > %s; ln %s x", names[i],
                                               names[i], names[i]);
      g_autofree char *mend = g_strdup_printf ("cd p; cp -p %s %s.new && mv %s.new %s", names[i],
                                               names[i], names[i], names[i]);
      g_autoptr(SbxReach) mended G_GNUC_UNUSED = NULL;

      test_run_in_place (&place, make);
      test_resolve_fails (&place, "p", NULL, "p", SBX_ERROR_NOT_ENFORCEABLE, names[i]);
      test_resolve_fails (&place, "p", NULL, "p", SBX_ERROR_NOT_ENFORCEABLE, "cp -p FILE");

      /* As the message says. */
      test_run_in_place (&place, mend);
      mended = test_resolve (&place, "p", NULL, "p");
      test_run_in_place (&place, "rm p/x");
    }
}

/* Another repository's configuration names its hooks, and is read before. */
static void
test_hard_links_named (void)
{
  g_auto(TestPlace) place = { 0 };

  test_place_init (&place);
  test_run_in_place (&place, "git init -q p; cd p; git init -q b; git config core.hooksPath "
                             "b/.git/hooks; echo > x; ln x b/.git/hooks/pre-commit");
  test_resolve_fails (&place, "p", NULL, "p", SBX_ERROR_NOT_ENFORCEABLE, "b/.git/hooks/pre-commit");
}

/* Nobody runs these, or they are found in what somebody installed. */
static void
test_hard_links_elsewhere (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(SbxReach) read_only G_GNUC_UNUSED = NULL;

  test_place_init (&place);
  test_run_in_place (&place, "git init -q p; cd p; mkdir -p node_modules/h; echo x > store; "
                             "ln store node_modules/h/pre-commit; ln store tool; "
                             "echo x > .git/index; ln .git/index i; "
                             "git config core.hooksPath node_modules/h; "
                             "git config diff.external ./tool; "
                             "mkdir -p .git/objects/aa; echo > .git/objects/aa/b; "
                             "ln .git/objects/aa/b .git/objects/aa/c");
  reach = test_resolve (&place, "p", NULL, "p");
  test_assert_protected (&place, reach, "p/node_modules/h p/tool");

  /* What cannot be written anyway. */
  test_run_in_place (&place, "cd p; ln store .mcp.json");
  read_only = test_resolve (&place, "p", "p", NULL);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);

  g_test_add_func ("/spec/resolve-links/chain", test_chain);
  g_test_add_func ("/spec/resolve-links/dangling", test_dangling);
  g_test_add_func ("/spec/resolve-links/outside", test_outside);
  g_test_add_func ("/spec/resolve-links/inside", test_inside);
  g_test_add_func ("/spec/resolve-links/module", test_module);
  g_test_add_func ("/spec/resolve-links/named", test_named);
  g_test_add_func ("/spec/resolve-links/hard", test_hard_links);
  g_test_add_func ("/spec/resolve-links/hard-named", test_hard_links_named);
  g_test_add_func ("/spec/resolve-links/hard-elsewhere", test_hard_links_elsewhere);

  return g_test_run ();
}
