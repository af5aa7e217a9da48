/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "worktree-util.h"

/*
 * A repository with every trap that git has. Each one makes a file in a directory that no sandbox
 * sees: none may be there after a worktree was opened and closed. That the traps are sharp is shown
 * by git itself.
 */

static char *config_home;

typedef struct
{
  Place *place;
  char  *markers;
} Ground;

static void
ground_init (Ground *ground)
{
  ground->place = place_new ();
  ground->markers = g_build_filename (ground->place->root, "markers", NULL);
  g_assert_cmpint (g_mkdir (ground->markers, 0755), ==, 0);
}

static void
ground_clear (Ground *ground)
{
  g_free (ground->markers);
  place_free (ground->place);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Ground, ground_clear)

/* Commands that say who they are, where that can be said, and do their duty. */
#define TRAPS \
  "m=\"$1\"; trap_() { echo \"touch '$m/$1' 2> /dev/null; $2\"; }\n" \
  "for h in applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit " \
  "prepare-commit-msg commit-msg post-commit pre-rebase post-checkout post-merge pre-push " \
  "pre-receive update proc-receive post-receive post-update reference-transaction " \
  "push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman " \
  "post-index-change; do\n" \
  "  printf '#!/bin/sh\\n%s\\n' \"$(trap_ hook-$h true)\" > .git/hooks/$h; " \
  "chmod +x .git/hooks/$h\n" \
  "done\n" \
  "printf '#!/bin/sh\\n%s\\n' \"$(trap_ fsmonitor 'exit 1')\" > .git/monitor\n" \
  "chmod +x .git/monitor\n" \
  "printf '#!/bin/sh\\n%s\\n' \"$(trap_ process '. $0.answer')\" > .git/process\n" \
  "chmod +x .git/process\n" \
  "echo 'printf \"0016git-filter-server\\n000eversion=2\\n00000000\"; cat > /dev/null' " \
  "> .git/process.answer\n" \
  "git config core.fsmonitor \"$PWD/.git/monitor\"\n" \
  "git config filter.one.clean \"$(trap_ clean cat)\"\n" \
  "git config filter.one.smudge \"$(trap_ smudge cat)\"\n" \
  "git config filter.two.process \"$PWD/.git/process\"\n" \
  "git config diff.three.textconv \"$(trap_ textconv cat)\"\n" \
  "git config diff.three.command \"$(trap_ diff true)\"\n" \
  "git config diff.external \"$(trap_ external true)\"\n" \
  "git config merge.four.driver \"$(trap_ merge true)\"\n" \
  "git config core.sshCommand \"$(trap_ ssh false)\"\n" \
  "git config core.pager \"$(trap_ pager cat)\"\n" \
  "git config core.editor \"$(trap_ editor true)\"\n" \
  "git config sequence.editor \"$(trap_ editor true)\"\n" \
  "git config core.askPass \"$(trap_ askpass true)\"\n" \
  "git config core.alternateRefsCommand \"$(trap_ alternates true)\"\n" \
  "git config credential.helper \"!$(trap_ credential true)\"\n" \
  "git config gpg.program \"$(trap_ gpg true)\"\n" \
  "printf '[filter \"one\"]\\n\\trequired = false\\n[alias]\\n" \
  "\\tincluded = \"!touch %s/include\"\\n" \
  "[core]\\n\\thooksPath = %s\\n' \"$m\" \"$PWD/.git/hooks\" > .git/more\n" \
  "git config include.path more\n" \
  "git config 'includeIf.gitdir:**.path' more\n" \
  "git config 'includeIf.onbranch:**.path' more\n" \
  "git config protocol.allow always; git config protocol.ext.allow always\n" \
  "git config core.repositoryFormatVersion 1; git config extensions.partialClone evil\n" \
  "git config remote.evil.promisor true; git config remote.evil.partialCloneFilter blob:none\n" \
  "git config remote.evil.url \"ext::sh -c touch% '$m/promisor'\"\n" \
  "git config remote.evil.uploadpack \"$(trap_ uploadpack true)\"\n" \
  "printf '*.one filter=one\\n*.two filter=two\\n*.three diff=three\\n*.four merge=four\\n' " \
  "> .git/info/attributes\n"

static void
make_repository (Ground *ground)
{
  g_autofree char *script = NULL;

  do_on_host (ground->place->project,
              MAKE_REPOSITORY "for e in one two three four; do echo $e > a.$e; done; "
              "printf '*.one filter=one\\n*.two filter=two\\n*.three diff=three\\n' "
              "> .gitattributes; git add .; git commit -q -m traps; rm -f .git/hooks/*");
  script = g_strconcat ("set -- '", ground->markers, "'\n" TRAPS "echo draft > file; "
                        "echo draft > a.one; echo draft > a.two; echo new > b.one; "
                        "echo new > b.two", NULL);
  do_on_host (ground->place->project, script);
}

static char *
list_sprung (Ground *ground)
{
  return on_host (ground->markers, "ls -A | tr '\\n' ' '; rm -f *");
}

static void
assert_sharp (Ground *ground)
{
  static const char * const expected[] = {
    "hook-reference-transaction", "hook-post-checkout", "hook-post-index-change", "fsmonitor",
    "clean", "smudge", "process", "include", "external",
  };
  g_autofree char *sprung = NULL;

  do_on_host (ground->place->project,
              "set +e; exec > /dev/null 2>&1; git status --short; git diff -- file; "
              "git -c filter.two.process= worktree add -b sharp ../sharp; git add -A; "
              "git reset -q; git read-tree HEAD; "
              "git included; git worktree remove --force ../sharp; git branch -D sharp; true");
  sprung = list_sprung (ground);
  g_test_message ("%s", sprung);
  for (gsize i = 0; i < G_N_ELEMENTS (expected); i++)
    if (strstr (sprung, expected[i]) == NULL)
      g_error ("The trap “%s” is blunt: %s", expected[i], sprung);
}

static void
assert_none_sprung (Ground *ground)
{
  g_autofree char *sprung = list_sprung (ground);

  g_assert_cmpstr (sprung, ==, "");
}

static void
test_traps (gconstpointer user_data)
{
  const char *profile = user_data;
  g_auto(Ground) ground = { 0 };
  g_autoptr(SbxSession) session = NULL;
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;
  g_autofree char *content = NULL;

  ground_init (&ground);
  make_repository (&ground);
  assert_sharp (&ground);

  before = take_picture (ground.place->project);
  g_free (list_sprung (&ground));
  session = open_profile (ground.place, ground.place->project, profile, NULL);
  assert_none_sprung (&ground);

  content = inside (session, "cat a.one a.two a.three; git config alias.included > /dev/null");
  g_assert_cmpstr (content, ==, strcmp (profile, "worktree") == 0 ? "one\ntwo\nthree\n"
                                                                 : "draft\ndraft\nthree\n");
  g_free (content);

  /* Whatever springs in there stays in there. */
  content = inside (session, "echo x > a.one; echo x > a.two; git -c alias.x=y add -A; "
                                   "git commit -q -m x 2> /dev/null; git checkout -q -b y; true");
  assert_none_sprung (&ground);
  close_session (session);
  assert_none_sprung (&ground);

  do_on_host (ground.place->project, "git branch -q -D y || true");
  g_free (list_sprung (&ground));
  do_on_host (ground.place->project, "git -c core.hooksPath=/dev/null worktree prune; "
                                     "rmdir .git/worktrees 2> /dev/null || true");
  after = take_picture (ground.place->project);
  if (strcmp (profile, "worktree") == 0)
    g_assert_cmpstr (after, ==, before);
}

static void
kept_cb (SbxBwrapProvider *provider,
         const char       *path,
         const char       *branch,
         const char       *message,
         char            **kept)
{
  g_assert_null (*kept);
  *kept = g_strdup (path);
}

/* Telling whether there is work in it looks at everything. */
static void
test_keep (void)
{
  g_auto(Ground) ground = { 0 };
  g_autofree char *kept = NULL;

  ground_init (&ground);
  make_repository (&ground);
  g_signal_connect (ground.place->provider, "worktree-kept", G_CALLBACK (kept_cb), &kept);

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr(SbxSession) session = open_profile (ground.place, ground.place->project, "all",
                                                    NULL);

      g_assert_null (kept);
      if (i == 1)
        g_free (inside (session, "echo work > a.one"));
      close_session (session);
      assert_none_sprung (&ground);
    }

  g_assert_nonnull (kept);
}

/* An object that is to be fetched from somewhere is missing. */
static void
test_promisor (void)
{
  g_auto(Ground) ground = { 0 };
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;
  g_autofree char *sprung = NULL;

  ground_init (&ground);
  make_repository (&ground);
  do_on_host (ground.place->project,
              "blob=$(git rev-parse HEAD:a.three); "
              "rm -f .git/objects/$(echo $blob | cut -c1-2)/$(echo $blob | cut -c3-); "
              "git cat-file -p $blob > /dev/null 2>&1 || true");
  sprung = list_sprung (&ground);
  g_assert_nonnull (strstr (sprung, "promisor"));

  before = take_picture (ground.place->project);
  g_free (list_sprung (&ground));
  assert_not_opened (ground.place, ground.place->project, "worktree", NULL, SBX_ERROR_SETUP_FAILED,
                     "git could not");
  assert_none_sprung (&ground);
  assert_not_opened (ground.place, ground.place->project, "all", NULL, SBX_ERROR_SETUP_FAILED,
                     "git could not");
  assert_none_sprung (&ground);
  g_assert_cmpuint (count_worktrees (ground.place->data), ==, 0);
  after = take_picture (ground.place->project);
  g_assert_cmpstr (after, ==, before);
}

/* Files that the host reads may be anything: none of them is waited for. */
static void
test_strange_files (void)
{
  static const char * const scripts[] = {
    "rm .git/HEAD; mkfifo .git/HEAD",
    "git symbolic-ref HEAD refs/heads/none; rm -f .git/packed-refs; mkfifo .git/packed-refs",
    "rm .git/refs/heads/main; mkfifo .git/refs/heads/main",
    "rm .git/HEAD; head -c 100000000 /dev/zero > .git/HEAD",
    "echo 'ref: refs/heads/main' > .git/refs/heads/main",
    "echo 'ref: ../../../../etc/passwd' > .git/HEAD",
    "echo 'ref: refs/../../../../etc/passwd' > .git/HEAD",
    "rm .git/HEAD; ln -s /etc/passwd .git/HEAD",
    "mv .git/refs .git/r; ln -s r .git/refs",
    "printf zz > .git/refs/heads/main",
    "mkdir .git/reftable",
    "rm -rf .git/refs/heads; mkfifo .git/refs/heads",
    "mv .git ../elsewhere; ln -s ../elsewhere .git",
    "mkdir -p ../outside; ln -s ../../outside .git/worktrees",
    "mkfifo .git/worktrees",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (scripts); i++)
    {
      g_autoptr(Place) place = place_new ();
      g_autoptr(SbxOpenRequest) request = NULL;
      g_autoptr(GError) error = NULL;
      SbxSession *session;

      do_on_host (place->project, MAKE_REPOSITORY);
      do_on_host (place->project, scripts[i]);
      request = profile_request (place->project, "worktree", NULL, NULL);
      session = sbx_provider_open (SBX_PROVIDER (place->provider), request, NULL, &error);
      g_assert_null (session);
      g_assert_nonnull (error);
      g_test_message ("%s -> %s", scripts[i], error->message);
      g_assert_cmpuint (count_worktrees (place->data), ==, 0);
      do_on_host (place->project, "test -z \"$(ls -A ../outside 2> /dev/null)\"; "
                                  "test -z \"$(ls -A .git/refs/heads 2> /dev/null | grep sbx)\"");
    }
}

int
main (int   argc,
      char *argv[])
{
  int status;

  config_home = make_config_home ();
  write_profile (config_home, "carry", "{\"workspace\": \"worktree\", \"carry-changes\": true}");
  write_profile (config_home, "all", "{\"workspace\": \"worktree\", \"carry-changes\": true, "
                                     "\"keep\": \"when-changed\"}");
  g_test_init (&argc, &argv, NULL);

  g_test_add_data_func ("/worktree/traps/plain", "worktree", test_traps);
  g_test_add_data_func ("/worktree/traps/carry", "carry", test_traps);
  g_test_add_func ("/worktree/traps/keep", test_keep);
  g_test_add_func ("/worktree/traps/promisor", test_promisor);
  g_test_add_func ("/worktree/traps/strange-files", test_strange_files);

  status = g_test_run ();
  remove_tree (config_home);
  g_free (config_home);

  return status;
}
