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
assert_output (SbxSession *session,
               const char *script,
               const char *expected)
{
  g_autofree char *output = inside (session, script);

  g_assert_cmpstr (output, ==, expected);
}

static void
test_open (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = NULL;
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;
  g_autofree char *branch = NULL;
  g_autofree char *seen = NULL;
  g_autofree char *expected = NULL;

  do_on_host (place->project, MAKE_REPOSITORY "echo draft > file; echo mine > untracked");
  before = take_picture (place->project);

  session = open_profile (place, place->project, "worktree", NULL);
  branch = branch_of (session);
  g_assert_cmpstr (sbx_session_get_cwd (session), !=, place->project);
  g_assert_true (g_file_test (sbx_session_get_cwd (session), G_FILE_TEST_IS_DIR));

  expected = g_strconcat ("one\ntwo\nfile\nsub\n", branch, "\n", NULL);
  assert_output (session, "cat file sub/deep; ls; git status --porcelain; "
                          "git branch --show-current", expected);
  assert_output (session, "echo agent > file; git commit -q -a -m second; git log --format=%s; "
                          "echo x > new; git config a.b c 2> /dev/null || echo no",
                 "second\nfirst\nno\n");

  /* What is done in there is the repository's, and the user's own tree is nowhere to be seen. */
  g_clear_pointer (&expected, g_free);
  expected = g_strconcat (branch, " second\n", NULL);
  seen = on_host (place->project, "git branch --list 'sbx-*' --format='%(refname:short) "
                                  "%(contents:subject)'");
  g_assert_cmpstr (seen, ==, expected);
  g_clear_pointer (&expected, g_free);
  expected = g_strdup_printf ("ls -A '%s'", place->project);
  assert_output (session, expected, ".git\n");

  close_session (session);
  g_assert_false (g_file_test (sbx_session_get_cwd (session), G_FILE_TEST_EXISTS));
  g_assert_cmpuint (count_worktrees (place->data), ==, 0);
  after = take_picture (place->project);
  g_assert_cmpstr (after, ==, before);
}

/* What git moves elsewhere, inside or out, is found there. */
static void
test_packed (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = NULL;
  g_autofree char *branch = NULL;
  g_autofree char *script = NULL;
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;

  do_on_host (place->project, MAKE_REPOSITORY "git branch topic; git tag -a -m t v1; "
                              "git branch sbx-; git pack-refs --all");
  before = take_picture (place->project);

  session = open_profile (place, place->project, "worktree", NULL);
  branch = branch_of (session);
  assert_output (session, "echo x > x; git add x; git commit -q -m x; git pack-refs --all; "
                          "git branch --show-current | xargs -I@ test ! -e "
                          "$(git rev-parse --git-common-dir)/refs/heads/@; git gc -q; echo y >> x; "
                          "git commit -q -a -m y", "");
  script = g_strdup_printf ("printf '[branch \"%s\"]\\n\\tremote = .\\n[user]\\n' >> .git/config; "
                            "git config branch.main.remote .", branch);
  do_on_host (place->project, script);
  close_session (session);

  do_on_host (place->project, "! grep -r sbx-. .git --include=packed-refs --include=config; "
                              "git config branch.main.remote; grep user .git/config; "
                              "git rev-parse v1^{commit}; git fsck; "
                              "git config --remove-section branch.main; "
                              "sed -i '/^.user.$/d' .git/config; git pack-refs --all; "
                              "rm -f .git/info/refs .git/objects/info/commit-graph");
  after = take_picture (place->project);
  g_assert_cmpstr (after, ==, before);
}

/* Another git's lock is waited for, and then respected; one of a clean-up that was killed is taken
 * over, and what it had half written goes. */
static void
test_locks (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *branch = NULL;
  g_autofree char *script = NULL;
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;
  g_auto(GStrv) removed = NULL;

  do_on_host (place->project, MAKE_REPOSITORY "git pack-refs --all");
  before = take_picture (place->project);
  session = open_profile (place, place->project, "worktree", NULL);
  branch = branch_of (session);
  g_free (inside (session, "git pack-refs --all"));
  do_on_host (place->project, "grep -q sbx- .git/packed-refs; touch .git/packed-refs.lock");
  g_assert_false (sbx_session_close (session, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_BUSY);
  g_assert_nonnull (strstr (error->message, "packed-refs.lock"));
  g_clear_error (&error);
  g_clear_object (&session);
  g_assert_cmpuint (count_sessions (place->data), ==, 1);

  /* The session is its owner's until that has let go of it, which may take a moment. */
  while (error == NULL)
    {
      removed = sbx_bwrap_provider_clean (place->provider, FALSE, NULL, &error);
      g_clear_pointer (&removed, g_strfreev);
    }
  g_assert_error (error, SBX_ERROR, SBX_ERROR_BUSY);
  g_clear_error (&error);

  script = g_strdup_printf ("printf %s > .git/packed-refs.lock; echo half > .git/packed-refs.%s; "
                            "echo half > .git/config.%s; echo half > .git/refs/heads/%s.lock",
                            branch, branch, branch, branch);
  do_on_host (place->project, script);
  removed = sbx_bwrap_provider_clean (place->provider, FALSE, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_strv_length (removed), ==, 1);
  after = take_picture (place->project);
  g_assert_cmpstr (after, ==, before);
}

static void
test_detached (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = NULL;
  g_autofree char *linked = g_build_filename (place->root, "linked", NULL);
  g_autofree char *sub = g_build_filename (linked, "sub", NULL);
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;

  /* The workspace may be a linked worktree itself, and HEAD no branch. */
  do_on_host (place->project, MAKE_REPOSITORY "echo 2 > file; git commit -q -a -m second; "
                              "git worktree add -q --detach ../linked HEAD~1");
  before = take_picture (place->project);
  session = open_profile (place, sub, "worktree", NULL);
  g_assert_true (g_str_has_suffix (sbx_session_get_cwd (session), "/sub"));
  assert_output (session, "cat deep ../file; git log --format=%s", "two\none\nfirst\n");
  close_session (session);
  after = take_picture (place->project);
  g_assert_cmpstr (after, ==, before);
}

static void
test_cwd (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *sub = g_build_filename (place->project, "sub", NULL);
  static const struct
  {
    const char *profile;
    const char *cwd;
    const char *ending;
  } good[] = {
    { "worktree", NULL, "" },
    { "worktree", "", "" },
    { "worktree", "sub", "/sub" },
    { "worktree", "sub/../sub/.", "/sub" },
    { "default", "sub", "/sub" },
    { "default", ".", "" },
    { "reader", "sub", "/sub" },
    { "default", "/tmp", "/tmp" },
    { "worktree", "/sandbox/home", "/sandbox/home" },
  };

  do_on_host (place->project, MAKE_REPOSITORY "mkdir sub/empty");

  for (gsize i = 0; i < G_N_ELEMENTS (good); i++)
    {
      g_autoptr(SbxSession) session = open_profile (place, place->project, good[i].profile,
                                                    good[i].cwd);
      g_autofree char *expected = g_strconcat (sbx_session_get_cwd (session), "\n", NULL);

      g_assert_true (g_str_has_suffix (sbx_session_get_cwd (session), good[i].ending));
      assert_output (session, "pwd", expected);
      close_session (session);
    }

  assert_not_opened (place, place->project, "worktree", "missing", SBX_ERROR_NOT_FOUND, "missing");
  assert_not_opened (place, place->project, "default", "file", SBX_ERROR_NOT_FOUND, "file");
  assert_not_opened (place, place->project, "default", "..", SBX_ERROR_INVALID, "leads out");
  assert_not_opened (place, place->project, "worktree", "sub/../../x", SBX_ERROR_INVALID,
                     "leads out");
  assert_not_opened (place, place->project, "worktree", "/mnt/x", SBX_ERROR_NOT_FOUND, "/mnt/x");
  assert_not_opened (place, sub, "worktree", "..", SBX_ERROR_INVALID, "leads out");
  g_assert_cmpuint (count_worktrees (place->data), ==, 0);
  do_on_host (place->project, "test -z \"$(git branch --list 'sbx-*')\"; ! test -e .git/worktrees");

  {
    g_autofree char *empty = g_build_filename (sub, "empty", NULL);
    g_autoptr(SbxSession) session = open_profile (place, empty, "worktree", NULL);

    g_assert_true (g_str_has_suffix (sbx_session_get_cwd (session), "/sub/empty"));
    close_session (session);
  }
}

static void
test_refused (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *other = g_build_filename (place->root, "other", NULL);
  g_autofree char *planted = g_build_filename (place->project, "planted", NULL);
  g_autofree char *module = g_build_filename (place->project, "module", NULL);
  g_autofree char *bare = g_build_filename (place->root, "bare", NULL);
  g_autofree char *missing = g_build_filename (place->root, "missing", NULL);

  assert_not_opened (place, place->project, "worktree", NULL, SBX_ERROR_INVALID, "git init");
  assert_not_opened (place, missing, "worktree", NULL, SBX_ERROR_NOT_FOUND, "missing");

  do_on_host (place->project, "git init -q -b main");
  assert_not_opened (place, place->project, "worktree", NULL, SBX_ERROR_INVALID, "first commit");
  g_assert_false (g_file_test (other, G_FILE_TEST_EXISTS));

  /* A pointer that an earlier sandbox may have planted, to a repository of the user's. */
  do_on_host (place->root, "git init -q -b main other; cd other; " MAKE_REPOSITORY
                           "cd ..; git init -q --bare bare; "
                           "mkdir project/planted; echo 'gitdir: ../../other/.git' > "
                           "project/planted/.git");
  assert_not_opened (place, planted, "worktree", NULL, SBX_ERROR_REFUSED, "other/.git");
  assert_not_opened (place, bare, "worktree", NULL, SBX_ERROR_INVALID, "no working tree");

  do_on_host (place->project, "rm -rf planted; git -c protocol.file.allow=always submodule --quiet "
                              "add ../other module; git commit -q -m m");
  assert_not_opened (place, module, "worktree", NULL, SBX_ERROR_INVALID, "submodule");

  g_assert_cmpuint (count_worktrees (place->data), ==, 0);
  do_on_host (other, "test -z \"$(git branch --list 'sbx-*')\"; ! test -e .git/worktrees");
}

static void
test_carry (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = NULL;
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;
  g_autofree char *state = NULL;
  g_autofree char *carried = NULL;

  write_profile (config_home, "carry", "{\"workspace\": \"worktree\", \"carry-changes\": true}");
  do_on_host (place->project,
              MAKE_REPOSITORY "seq 9 > changed; seq 9 > staged; seq 9 > both; seq 9 > gone; "
              "seq 9 > moved; ln -s file link; echo '#!/bin/sh' > tool; git add .; "
              "git commit -q -m more; "
              "echo 1 > changed; echo 2 > staged; git add staged; echo 3 > both; git add both; "
              "echo 4 > both; rm gone; git mv moved elsewhere; ln -sf sub link; chmod +x tool; "
              "mkdir -p 'new dir'; head -c 3000 /dev/urandom > 'new dir/bin'; "
              "printf 'a\\n' > 'q\"uo te'; echo secret > out.o; git add -N 'q\"uo te'");
  before = take_picture (place->project);
  session = open_profile (place, place->project, "carry", NULL);
  state = on_host (place->project, "git ls-files -d; find . -path ./.git -prune -o -type f "
                                   "! -name '*.o' -print0 | sort -z | xargs -0 sha256sum; "
                                   "test -x tool; readlink link");
  carried = inside (session, "git ls-files -d | grep -vx moved; find . -name .git -prune -o "
                                   "-type f -print0 | sort -z | xargs -0 sha256sum; test -x tool; "
                                   "readlink link; test ! -e out.o && git diff --cached --quiet");
  g_assert_cmpstr (carried, ==, state);
  g_clear_pointer (&carried, g_free);
  carried = inside (session, "git fsck --no-dangling 2>&1; git add -A; git commit -q -m all; "
                                   "git fsck --no-dangling 2>&1");
  g_assert_cmpstr (carried, ==, "");

  close_session (session);
  after = take_picture (place->project);
  g_assert_cmpstr (after, ==, before);
}

/* --- What stays. --- */

typedef struct
{
  guint  n;
  char  *path;
  char  *branch;
  char  *message;
} Kept;

static void
kept_cb (SbxBwrapProvider *provider,
         const char       *path,
         const char       *branch,
         const char       *message,
         Kept             *kept)
{
  kept->n++;
  g_free (kept->path);
  g_free (kept->branch);
  g_free (kept->message);
  kept->path = g_strdup (path);
  kept->branch = g_strdup (branch);
  kept->message = g_strdup (message);
}

static void
kept_clear (Kept *kept)
{
  g_free (kept->path);
  g_free (kept->branch);
  g_free (kept->message);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Kept, kept_clear)

/* The command that the message has on the line that begins with @label. */
static char *
find_command (const char *message,
              const char *label)
{
  const char *found = strstr (message, label);

  g_assert_nonnull (found);
  found += strlen (label);
  found += strspn (found, " ");

  return g_strndup (found, strcspn (found, "\n"));
}

static void
write_keeping_profiles (void)
{
  write_profile (config_home, "keep", "{\"workspace\": \"worktree\", \"keep\": \"when-changed\"}");
  write_profile (config_home, "keep-carry", "{\"workspace\": \"worktree\", \"keep\": "
                                            "\"when-changed\", \"carry-changes\": true}");
}

typedef struct
{
  const char *profile;
  const char *work;
  gboolean    stays;
} Work;

/* The commands that were named show and drop it. */
static void
drop_kept (Place      *place,
           SbxSession *session,
           Kept       *kept)
{
  g_autofree char *see = find_command (kept->message, "To see them:");
  g_autofree char *drop = find_command (kept->message, "To drop it:");
  g_autofree char *branch = branch_of (session);

  g_assert_cmpstr (kept->path, ==, sbx_session_get_cwd (session));
  g_assert_cmpstr (kept->branch, ==, branch);
  do_on_host ("/", see);
  do_on_host ("/", drop);
  do_on_host (place->project, "test -z \"$(git branch --list 'sbx-*')\"; "
                              "test $(git worktree list | wc -l) = 1");
}

static void
do_work (const Work *work)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = NULL;
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;
  g_auto(Kept) kept = { 0 };

  g_test_message ("%s: %s", work->profile, work->work);
  do_on_host (place->project, MAKE_REPOSITORY "echo draft > file; echo mine > untracked");
  before = take_picture (place->project);
  g_signal_connect (place->provider, "worktree-kept", G_CALLBACK (kept_cb), &kept);
  session = open_profile (place, place->project, work->profile, NULL);
  g_free (inside (session, work->work));
  close_session (session);

  g_assert_cmpuint (kept.n, ==, work->stays ? 1 : 0);
  g_assert_cmpuint (count_worktrees (place->data), ==, kept.n);
  g_assert_true (g_file_test (sbx_session_get_cwd (session), G_FILE_TEST_EXISTS) == work->stays);
  if (work->stays)
    drop_kept (place, session, &kept);

  g_assert_cmpuint (count_worktrees (place->data), ==, 0);
  after = take_picture (place->project);
  if (!work->stays)
    g_assert_cmpstr (after, ==, before);
}

static void
test_keep (void)
{
  static const Work cases[] = {
    { "keep", "true", FALSE },
    { "keep", "touch file; git status; echo x > y.o", FALSE },
    { "keep", "echo x > file; git add file; git reset -q --hard", FALSE },
    { "keep", "echo x > file", TRUE },
    { "keep", "echo x > new", TRUE },
    { "keep", "rm sub/deep", TRUE },
    { "keep", "chmod +x file", TRUE },
    { "keep", "echo x > file; git commit -q -a -m work", TRUE },
    { "keep", "git commit -q --allow-empty -m work", TRUE },
    { "keep", "git checkout -q -b feature; git commit -q --allow-empty -m work", TRUE },
    { "keep-carry", "true", FALSE },
    { "keep-carry", "echo x > file", TRUE },
    { "keep-carry", "git stash -q -u", TRUE },
  };

  write_keeping_profiles ();

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    do_work (&cases[i]);
}

static void
test_merge (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = NULL;
  g_autofree char *commit = NULL;
  g_autofree char *merge = NULL;
  g_autofree char *quiet = NULL;
  g_autofree char *content = NULL;
  g_auto(Kept) kept = { 0 };

  write_keeping_profiles ();
  do_on_host (place->project, MAKE_REPOSITORY);
  g_signal_connect (place->provider, "worktree-kept", G_CALLBACK (kept_cb), &kept);
  session = open_profile (place, place->project, "keep", NULL);
  g_free (inside (session, "echo work > file"));
  close_session (session);

  g_assert_cmpuint (kept.n, ==, 1);
  commit = find_command (kept.message, "To commit all:");
  merge = find_command (kept.message, "To merge it:");
  quiet = g_strconcat (commit, " -q -m work", NULL);
  do_on_host ("/", quiet);
  do_on_host ("/", merge);
  content = on_host (place->project, "cat file; git log --format=%s");
  g_assert_cmpstr (content, ==, "work\nwork\nfirst\n");
}

/* A session of the repository itself may reach the entry of a worktree that is made later, when git
 * on the host took the place for them away in between, and it is not protected again yet: git must
 * find nothing of what it planted. */
static void
test_planted (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) plain = NULL;
  g_autoptr(SbxSession) session = NULL;
  g_autofree char *marker = g_build_filename (place->root, "marker", NULL);
  g_autofree char *script = NULL;
  g_auto(Kept) kept = { 0 };

  write_keeping_profiles ();
  do_on_host (place->project, MAKE_REPOSITORY);
  g_signal_connect (place->provider, "worktree-kept", G_CALLBACK (kept_cb), &kept);
  plain = open_profile (place, place->project, "default", NULL);
  do_on_host (place->project, "rmdir .git/worktrees");
  session = open_profile (place, place->project, "keep", NULL);
  g_free (inside (session, "echo x > file"));
  script = g_strdup_printf ("mkdir planted; cp -r .git/objects .git/refs .git/HEAD planted; "
                            "printf '[core]\n\trepositoryFormatVersion = 0\n"
                            "\tfsmonitor = touch %s\n' > planted/config; "
                            "d=$(echo .git/worktrees/sbx-*); exec 2> /dev/null; "
                            "cp planted/config $d/config.worktree; "
                            "{ echo $PWD/planted > $d/commondir; } || true", marker);
  g_free (inside (plain, script));
  close_session (session);

  g_assert_cmpuint (kept.n, ==, 1);
  do_on_host (kept.path, "git status; git rev-parse --git-common-dir | grep project/.git");
  g_assert_false (g_file_test (marker, G_FILE_TEST_EXISTS));
  close_session (plain);
}

/* Two at once, and one of the repository itself, do not get into one another's way. */
static void
test_several (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;
  SbxSession *sessions[4];

  do_on_host (place->project, MAKE_REPOSITORY);
  before = take_picture (place->project);

  sessions[0] = open_profile (place, place->project, "default", NULL);
  for (guint i = 1; i < G_N_ELEMENTS (sessions); i++)
    sessions[i] = open_profile (place, place->project, "worktree", NULL);

  for (guint i = 1; i < G_N_ELEMENTS (sessions); i++)
    {
      assert_output (sessions[i], "cat file; echo x > file; git commit -q -a -m x; "
                                  "git log --oneline | wc -l", "one\n2\n");

      /* The user's other worktrees are not this one's to change. */
      assert_output (sessions[i], "cd $(git rev-parse --git-common-dir)/worktrees; "
                                  "for d in sbx-*; do test -w $d && echo $d; done | wc -l", "1\n");
    }

  for (guint i = G_N_ELEMENTS (sessions); i > 0; i--)
    {
      close_session (sessions[i - 1]);
      g_object_unref (sessions[i - 1]);
    }

  after = take_picture (place->project);
  g_assert_cmpstr (after, ==, before);
}

/* Whoever drops a session without closing it leaves nothing either. */
static void
test_dropped (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;
  SbxSession *session;

  do_on_host (place->project, MAKE_REPOSITORY);
  before = take_picture (place->project);
  session = open_profile (place, place->project, "worktree", NULL);
  g_object_unref (session);
  assert_nothing_left (place->data);
  g_assert_cmpuint (count_worktrees (place->data), ==, 0);
  after = take_picture (place->project);
  g_assert_cmpstr (after, ==, before);
}

static void
cancelled_cb (GObject      *object,
              GAsyncResult *result,
              gpointer      user_data)
{
  gboolean *done = user_data;
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxSession) session = sbx_provider_open_finish (SBX_PROVIDER (object), result, &error);

  if (session == NULL)
    g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);

  *done = TRUE;
}

static gboolean
cancel_cb (gpointer user_data)
{
  g_cancellable_cancel (user_data);

  return G_SOURCE_REMOVE;
}

/* At whatever moment an opening is cancelled. */
static void
test_cancel (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxOpenRequest) request = NULL;
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;

  do_on_host (place->project, MAKE_REPOSITORY);
  before = take_picture (place->project);
  request = profile_request (place->project, "worktree", NULL, NULL);

  for (guint i = 0; i < 25; i++)
    {
      g_autoptr(GCancellable) cancellable = g_cancellable_new ();
      gboolean done = FALSE;

      g_timeout_add (i * 2, cancel_cb, cancellable);
      sbx_provider_open_async (SBX_PROVIDER (place->provider), request, cancellable, cancelled_cb,
                               &done);
      test_wait_for (done && g_cancellable_is_cancelled (cancellable));
    }

  assert_nothing_left (place->data);
  g_assert_cmpuint (count_worktrees (place->data), ==, 0);
  after = take_picture (place->project);
  g_assert_cmpstr (after, ==, before);
}

int
main (int   argc,
      char *argv[])
{
  int status;

  config_home = make_config_home ();
  adopt_orphans ();
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/worktree/open", test_open);
  g_test_add_func ("/worktree/packed", test_packed);
  g_test_add_func ("/worktree/locks", test_locks);
  g_test_add_func ("/worktree/detached", test_detached);
  g_test_add_func ("/worktree/cwd", test_cwd);
  g_test_add_func ("/worktree/refused", test_refused);
  g_test_add_func ("/worktree/carry", test_carry);
  g_test_add_func ("/worktree/keep", test_keep);
  g_test_add_func ("/worktree/merge", test_merge);
  g_test_add_func ("/worktree/planted", test_planted);
  g_test_add_func ("/worktree/several", test_several);
  g_test_add_func ("/worktree/dropped", test_dropped);
  g_test_add_func ("/worktree/cancel", test_cancel);

  status = g_test_run ();
  remove_tree (config_home);
  g_free (config_home);

  return status;
}
