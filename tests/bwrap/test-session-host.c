/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* What a user goes on doing while a sandbox is open: it works, and so does the sandbox, in which
 * everything is protected as before. */

#include "worktree-util.h"

typedef struct
{
  const char *name;
  const char *script;    /* in the project, on the host */
} Deed;

static const Deed deeds[] = {
  { "config", "git config user.name other; git config --unset user.name" },
  { "remote", "git remote add there ../there; git remote rename there here; "
              "git remote remove here" },
  { "branch", "git branch topic; git branch -m topic other; git branch -D -q other" },
  { "commit", "echo 2 > file; git add file; git commit -q -m second; git tag second" },
  { "amend", "git commit -q --amend -m amended; git reset -q --hard HEAD~1" },
  { "gc", "git gc -q; git repack -q -a -d; git pack-refs --all" },
  { "worktree", "git worktree add -q ../linked -b linked; git -C ../linked status -s; "
                "git worktree remove ../linked; git worktree prune; git branch -q -D linked" },
  { "worktrees", "for i in 1 2 3 4 5; do git worktree add -q --detach ../w$i; "
                 "git worktree remove ../w$i; done" },
  { "pruned worktree", "git worktree add -q --detach ../gone; rm -r ../gone; git worktree prune" },
  { "no worktrees", "rmdir .git/worktrees 2> /dev/null || true" },
  { "kept worktree", "git worktree add -q --detach ../kept; git -C ../kept log -1 --format=%s" },
  { "second worktree", "git worktree add -q --detach ../two; git worktree remove ../two" },
  { "last worktree", "git worktree remove ../kept" },
  { "submodule", "git -c protocol.file.allow=always submodule --quiet update --init; "
                 "test -f module/file" },
  { "no submodule", "git submodule --quiet deinit -f module; rm -rf .git/modules" },
  { "hooks", "rm -rf .git/hooks; mkdir -p .git/hooks" },
  { "no hooks", "rm -rf .git/hooks" },
  { "info", "rm -rf .git/info; mkdir -p .git/info; echo '*.o' > .git/info/exclude || true" },
  { "neutral", "rm -f .git/config.worktree .git/commondir .git/gitdir" },
  { "init", "git init -q" },
  { "rewritten", "cp .git/config .git/c; mv .git/c .git/config" },
};

/* Nothing of these can be written inside, and git works. */
#define TRY_ALL \
  "for f in .git/config .git/config.worktree .git/commondir .git/gitdir .git/hooks/x " \
  ".git/modules/x .git/worktrees/x .git/info/x .mcp.json .vscode/settings.json; do " \
  "if (echo planted >> $f) 2> /dev/null; then echo $f; fi; done; " \
  "mv .git/hooks .git/h 2> /dev/null && echo moved; " \
  "git status -s > /dev/null || echo status; git log -1 --format=%s > /dev/null || echo log"

typedef struct
{
  gboolean is_done;
  gboolean ok;
} Wait;

static void
waited_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  Wait *wait = user_data;

  wait->ok = g_subprocess_wait_check_finish (G_SUBPROCESS (object), result, NULL);
  wait->is_done = TRUE;
}

/* On the host, while the main loop runs. */
static void
meanwhile (const char *directory,
           const char *script)
{
  g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_NONE);
  g_autofree char *whole = g_strconcat (GIT_ENVIRONMENT, script, NULL);
  g_autoptr(GSubprocess) process = NULL;
  g_autoptr(GError) error = NULL;
  Wait wait = { 0 };

  g_subprocess_launcher_set_cwd (launcher, directory);
  process = g_subprocess_launcher_spawn (launcher, &error, "/bin/sh", "-c", whole, NULL);
  g_assert_no_error (error);
  g_subprocess_wait_check_async (process, NULL, waited_cb, &wait);
  test_wait_for (wait.is_done);
  if (!wait.ok)
    g_error ("On the host “%s” failed", script);
}

static void
message_cb (SbxSession *session,
            const char *text,
            GString    *all)
{
  g_test_message ("%s", text);
  g_string_append (all, text);
}

static void
assert_protected (SbxSession *session)
{
  g_autofree char *output = inside (session, TRY_ALL);

  g_assert_cmpstr (output, ==, "");
}

static Place *
repository_new (void)
{
  Place *place = place_new ();

  do_on_host (place->root, "git init -q -b main other; cd other; " MAKE_REPOSITORY);
  do_on_host (place->project,
              MAKE_REPOSITORY "echo '{}' > .mcp.json; mkdir .vscode; "
              "echo '{}' > .vscode/settings.json; git add .; "
              "git -c protocol.file.allow=always submodule --quiet add ../other module; "
              "git commit -q -m more; git submodule --quiet deinit -f module; rm -rf .git/modules");
  return place;
}

static void
test_deeds (void)
{
  g_autoptr(Place) place = repository_new ();
  g_autoptr(SbxSession) session = open_profile (place, place->project, "default", NULL);
  g_autoptr(GString) messages = g_string_new (NULL);

  g_signal_connect (session, "message", G_CALLBACK (message_cb), messages);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (deeds); i++)
    {
      const Deed *deed = &deeds[i % G_N_ELEMENTS (deeds)];

      g_test_message ("%s", deed->name);
      if (g_str_equal (deed->name, "commit"))
        do_on_host (place->project, "git tag -d second > /dev/null 2>&1 || true");
      meanwhile (place->project, deed->script);
      assert_protected (session);
    }

  close_session (session);
  do_on_host (place->project, "! test -e .git/worktrees; ! test -e .git/modules; "
                              "! test -e .git/commondir; ! test -e .git/gitdir; "
                              "! test -e .git/config.worktree; ! test -e .git/hooks; "
                              "! ls -A .git | grep -q sbx; git fsck; "
                              "! grep -r planted .git .mcp.json .vscode");
}

/* As fast as it goes, while what came before is being put right. */
static void
test_rapid (void)
{
  g_autoptr(Place) place = repository_new ();
  g_autoptr(SbxSession) session = open_profile (place, place->project, "default", NULL);
  g_autoptr(GString) messages = g_string_new (NULL);
  g_autofree char *seen = NULL;

  g_signal_connect (session, "message", G_CALLBACK (message_cb), messages);
  meanwhile (place->project, "for i in $(seq 300); do git config user.name name$i; done");
  assert_protected (session);
  g_assert_cmpstr (messages->str, ==, "");
  seen = inside (session, "git config user.name");
  g_assert_cmpstr (seen, ==, "name300\n");
  close_session (session);
}

/* The same from a linked worktree: what is done in the main one, and to others. */
static void
test_linked (void)
{
  static const char * const scripts[] = {
    "echo 2 > file; git commit -q -a -m second",
    "git gc -q",
    "git worktree add -q --detach ../w; git worktree remove ../w; git worktree prune",
    "git config a.b c; git remote add x ../x",
    "git -C ../linked commit -q --allow-empty -m x",
  };
  g_autoptr(Place) place = repository_new ();
  g_autoptr(SbxSession) session = NULL;
  g_autofree char *linked = g_build_filename (place->root, "linked", NULL);

  do_on_host (place->project, "git worktree add -q ../linked -b linked");
  session = open_profile (place, linked, "default", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (scripts); i++)
    {
      g_autofree char *output = NULL;

      meanwhile (place->project, scripts[i]);
      output = inside (session, "c=$(git rev-parse --git-common-dir); "
                                "for f in $c/config $c/hooks/x $c/worktrees/x .git .mcp.json "
                                "$c/worktrees/linked/commondir $c/worktrees/linked/gitdir; do "
                                "if (echo planted >> $f) 2> /dev/null; then echo $f; fi; done; "
                                "echo x >> file; git commit -q -a -m inside");
      g_assert_cmpstr (output, ==, "");
    }

  close_session (session);
  do_on_host (place->project, "git fsck; ! grep -r planted .git");
}

/* What one session puts right is for the other one something that was replaced, and so is what came
 * in meanwhile, which does not stay. */
static void
assert_protected_soon (SbxSession *session)
{
  g_autofree char *output = inside (session, TRY_ALL);

  for (guint i = 0; i < 20 && *output != '\0'; i++)
    {
      g_free (output);
      output = inside (session, TRY_ALL);
    }

  g_assert_cmpstr (output, ==, "");
}

/* Two sessions that know of one another, and two that do not, put the same right. */
static void
check_two (Place *place,
           Place *other)
{
  g_autoptr(SbxSession) one = open_profile (place, place->project, "default", NULL);
  g_autoptr(SbxSession) two = open_profile (other, place->project, "default", NULL);

  for (guint i = 0; i < 3; i++)
    {
      meanwhile (place->project, "rm -rf .git/hooks .git/modules; mkdir -p .git/hooks; "
                                 "rmdir .git/worktrees || true");
      assert_protected_soon (one);
      assert_protected_soon (two);
      do_on_host (place->project, "! grep -r planted .git .mcp.json .vscode");
    }

  close_session (one);
  assert_protected (two);
  close_session (two);
}

static void
test_two (void)
{
  g_autoptr(Place) place = repository_new ();
  g_autoptr(Place) other = place_new ();

  check_two (place, place);
  check_two (place, other);
}

/* Editors save a file in many ways. What the user wrote is there, or was put aside and told. */
static void
test_editors (void)
{
  static const char * const files[] = { ".mcp.json", ".vscode/settings.json", ".git/config" };
  static const char * const styles[] = {
    "printf '%s' > f",
    "printf '%s' > f.tmp; mv f.tmp f",
    "mv f f~; printf '%s' > f; rm f~",
    "rm f; printf '%s' > f",
    "cp f f~; printf '%s' > f.new; ln -f f f.bak; mv f.new f; rm -f f.bak f~",
    "printf '%s' > f.swp; rm f; mv f.swp f",
  };
  g_autoptr(Place) place = repository_new ();
  g_autoptr(SbxSession) session = open_profile (place, place->project, "default", NULL);
  g_autoptr(GString) messages = g_string_new (NULL);

  g_signal_connect (session, "message", G_CALLBACK (message_cb), messages);
  for (guint i = 0; i < G_N_ELEMENTS (files) * G_N_ELEMENTS (styles); i++)
    {
      const char *file = files[i / G_N_ELEMENTS (styles)];
      g_autofree char *mark = g_strdup_printf ("# mark %u\\n", i);
      g_auto(GStrv) parts = g_strsplit (styles[i % G_N_ELEMENTS (styles)], "%s", 2);
      g_autofree char *style = g_strjoinv (mark, parts);
      g_autofree char *name = g_path_get_basename (file);
      g_autofree char *directory = g_path_get_dirname (file);
      g_auto(GStrv) names = g_strsplit (style, "f", -1);
      g_autoptr(GString) script = g_string_new (NULL);
      g_autofree char *check = NULL;

      /* The names that begin with an f, and not what has one in it. */
      g_string_printf (script, "cd %s; f=%s; ", directory, name);
      for (guint j = 0; names[j] != NULL; j++)
        {
          const gboolean is_name = j > 0 && (names[j - 1][0] == '\0' ||
                                             g_str_has_suffix (names[j - 1], " "));

          g_string_append_printf (script, "%s%s", j == 0 ? "" : is_name ? "${f}" : "f", names[j]);
        }

      g_test_message ("%s", script->str);
      meanwhile (place->project, script->str);
      assert_protected (session);
      check = g_strdup_printf ("grep -qF '# mark %u' %s || grep -rqF '# mark %u' '%s/quarantine'",
                               i, file, i, place->data);
      do_on_host (place->project, check);
    }

  close_session (session);
  do_on_host (place->project, "! grep -r planted .git/config .mcp.json .vscode");
}

/* What is taken away is back as long as something inside could take its place. */
static void
test_removed (void)
{
  g_autoptr(Place) place = repository_new ();
  g_autoptr(SbxSession) session = open_profile (place, place->project, "default", NULL);
  g_autoptr(GString) messages = g_string_new (NULL);

  g_signal_connect (session, "message", G_CALLBACK (message_cb), messages);
  meanwhile (place->project, "rm .mcp.json");
  test_wait_for (strstr (messages->str, ".mcp.json") != NULL);
  assert_protected (session);
  do_on_host (place->project, "test \"$(cat .mcp.json)\" = '{}'");

  meanwhile (place->project, "rm -r .vscode");
  assert_protected (session);
  close_session (session);
  do_on_host (place->project, "! test -e .vscode");
}

/* An entry that sends git elsewhere does not stay where git on the host would follow it. */
static void
test_planted_worktree (void)
{
  g_autoptr(Place) place = repository_new ();
  g_autoptr(SbxSession) session = open_profile (place, place->project, "default", NULL);
  g_autoptr(GString) messages = g_string_new (NULL);

  g_signal_connect (session, "message", G_CALLBACK (message_cb), messages);
  do_on_host (place->project, "mkdir -p new/bad new/good; echo /tmp > new/bad/commondir; "
                              "echo ../.. > new/good/commondir; rmdir .git/worktrees; "
                              "mv new .git/worktrees");
  test_wait_for (strstr (messages->str, "worktrees/bad") != NULL);
  assert_protected (session);
  do_on_host (place->project, "test -e .git/worktrees/good; ! test -e .git/worktrees/bad; "
                              "rm -r .git/worktrees/good");
  close_session (session);
}

int
main (int    argc,
      char **argv)
{
  char *config_home = make_config_home ();
  int status;

  adopt_orphans ();
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/session/host/deeds", test_deeds);
  g_test_add_func ("/session/host/rapid", test_rapid);
  g_test_add_func ("/session/host/linked", test_linked);
  g_test_add_func ("/session/host/two", test_two);
  g_test_add_func ("/session/host/editors", test_editors);
  g_test_add_func ("/session/host/removed", test_removed);
  g_test_add_func ("/session/host/planted-worktree", test_planted_worktree);

  status = g_test_run ();
  remove_tree (config_home);
  g_free (config_home);

  return status;
}
