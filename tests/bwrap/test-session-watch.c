/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* What changes under a sandbox that is open: rows T10 and T27 of docs/security.md. */

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

#include "session-util.h"

/* A place whose project is a repository with a commit. */
static Place *
repository_new (void)
{
  Place *self = place_new ();
  g_autofree char *readable = g_build_filename (self->project, "readable", NULL);
  g_autoptr(GSubprocess) git = NULL;
  g_autoptr(GError) error = NULL;

  g_file_set_contents (readable, "old\n", -1, &error);
  g_assert_no_error (error);

  git = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_SILENCE, &error, "sh", "-c",
                          "cd \"$1\" && git init -q && git config user.name a && "
                          "git config user.email a@example.com && git add . && "
                          "git commit -qm first", "sh", self->project, NULL);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_wait_check (git, NULL, &error));
  g_assert_no_error (error);

  return self;
}

/* What the host does is told apart from a moment after the sandbox is there, when a descriptor is
 * open for it. */
static gboolean
is_watched (void)
{
  g_autoptr(GDir) dir = g_dir_open ("/proc/self/fd", 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename ("/proc/self/fd", name, NULL);
      g_autofree char *target = g_file_read_link (path, NULL);

      if (g_strcmp0 (target, "anon_inode:inotify") == 0)
        return TRUE;
    }

  return FALSE;
}

static SbxSession *
open_watched (Place *self)
{
  SbxSession *session = place_open (self);

  test_wait_for (is_watched ());

  return session;
}

static SbxSession *
open_with_read (Place      *self,
                const char *name)
{
  g_autoptr(SbxReach) reach = sbx_reach_new (self->project);
  g_autoptr(SbxOpenRequest) request = NULL;
  g_autofree char *path = g_build_filename (self->project, name, NULL);
  g_autoptr(GError) error = NULL;
  SbxSession *session;

  sbx_reach_add_write (reach, self->project);
  sbx_reach_add_read (reach, path);
  request = sbx_open_request_new (reach);
  session = sbx_provider_open (SBX_PROVIDER (self->provider), request, NULL, &error);
  g_assert_no_error (error);
  test_wait_for (is_watched ());

  return session;
}

/* On the host. */
static void
host (Place      *self,
      const char *script)
{
  g_autoptr(GSubprocess) process = NULL;
  g_autoptr(GError) error = NULL;

  process = g_subprocess_new (G_SUBPROCESS_FLAGS_NONE, &error, "sh", "-c", script, "sh",
                              self->project, NULL);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_wait_check (process, NULL, &error));
  g_assert_no_error (error);
}

static char *
read_host (Place      *self,
           const char *name)
{
  g_autofree char *path = g_build_filename (self->project, name, NULL);
  char *content = NULL;

  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  return content;
}

static void
assert_no_plant (Place      *self,
                 const char *name)
{
  g_autofree char *content = read_host (self, name);

  g_assert_null (strstr (content, "planted"));
}

static void
count_cb (SbxSession *session,
          const char *text,
          guint      *count)
{
  g_assert_nonnull (strstr (text, "quarantine"));
  ++*count;
}

static void
count_removed_cb (SbxSession *session,
                  const char *text,
                  guint      *count)
{
  g_assert_nonnull (strstr (text, "removed"));
  ++*count;
}

/* `git config` puts a new file in the place of the one that is bound. */
static void
test_git_config (void)
{
  g_autoptr(Place) place = repository_new ();
  g_autoptr(SbxSession) session = open_watched (place);
  g_autofree char *config = NULL;
  g_autofree char *seen = NULL;
  guint n_messages = 0;

  g_signal_connect (session, "message", G_CALLBACK (count_cb), &n_messages);

  for (guint i = 0; i < 5; i++)
    {
      g_autoptr(SbxExecResult) result = NULL;
      g_autofree char *script = g_strdup_printf ("git -C \"$1\" config user.name name%u", i);

      host (place, script);
      result = run_shell (session, "echo planted >> .git/config");
      g_assert_false (sbx_exec_result_get_success (result));
      assert_no_plant (place, ".git/config");
    }

  seen = shell_output (session, "git config user.name");
  g_assert_cmpstr (seen, ==, "name4\n");
  config = read_host (place, ".git/config");
  g_assert_nonnull (strstr (config, "name4"));
  g_assert_cmpuint (n_messages, ==, 0);

  close_session (session);
}

/* A `read` file in a `write` tree, replaced as editors do it. */
static void
test_nested_read (void)
{
  g_autoptr(Place) place = repository_new ();
  g_autoptr(SbxSession) session = open_with_read (place, "readable");

  for (guint i = 0; i < 5; i++)
    {
      g_autoptr(SbxExecResult) result = NULL;
      g_autofree char *seen = NULL;
      g_autofree char *script = g_strdup_printf ("cd \"$1\" && echo new%u > .readable.swp && "
                                                 "mv .readable.swp readable", i);
      g_autofree char *expected = g_strdup_printf ("new%u\n", i);

      host (place, script);
      result = run_shell (session, "echo planted >> readable");
      g_assert_false (sbx_exec_result_get_success (result));
      assert_no_plant (place, "readable");
      seen = shell_output (session, "cat readable");
      g_assert_cmpstr (seen, ==, expected);
    }

  close_session (session);
}

/* Something inside that writes to the file whenever it can, and says so. */
static void
start_hostile (SbxSession *session,
               const char *name)
{
  g_autofree char *script =
    g_strdup_printf ("while :; do (echo planted >> %s) 2>/dev/null && echo x >> hits; done", name);
  g_autoptr(SbxCommand) command = shell (script);

  sbx_session_exec_async (session, command, NULL, NULL, NULL);
}

/* Something inside that does nothing, but could. */
static void
start_idler (SbxSession *session)
{
  g_autoptr(SbxCommand) command = shell ("exec sleep 1000");

  sbx_session_exec_async (session, command, NULL, NULL, NULL);
}

static gboolean
quarantine_has (Place      *self,
                const char *text)
{
  g_autofree char *quarantine = g_build_filename (self->data, "quarantine", NULL);
  g_autoptr(GSubprocess) grep = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_SILENCE |
                                                  G_SUBPROCESS_FLAGS_STDERR_SILENCE, NULL,
                                                  "grep", "-r", text, quarantine, NULL);

  return g_subprocess_wait_check (grep, NULL, NULL);
}

/* Waits until nothing is being put right: a command ends only when everything goes on. */
static void
settle (SbxSession *session)
{
  g_autoptr(SbxExecResult) result = run_shell (session, "true");

  if (sbx_exec_result_get_outcome (result) == SBX_EXEC_OUTCOME_LOST)
    g_error ("%s", sbx_exec_result_get_message (result));
  assert_exited_with (result, 0);
}

static gboolean
tick_cb (gpointer user_data)
{
  *(gboolean *) user_data = TRUE;
  return G_SOURCE_REMOVE;
}

/* Lets the main loop run on. */
static void
run_loop (guint ms)
{
  gboolean over = FALSE;

  g_timeout_add (ms, tick_cb, &over);
  while (!over)
    g_main_context_iteration (NULL, TRUE);
}

/* Somebody inside wants to be faster. What it wrote is never what git on the host would read. */
static void
test_hostile_writer (void)
{
  g_autoptr(Place) place = repository_new ();
  g_autoptr(SbxSession) session = open_watched (place);
  guint n_messages = 0;

  g_signal_connect (session, "message", G_CALLBACK (count_cb), &n_messages);
  for (guint i = 0; i < 3; i++)
    start_hostile (session, ".git/config");

  for (guint i = 0; i < 100; i++)
    {
      g_autofree char *script = g_strdup_printf ("git -C \"$1\" config user.name name%u", i);

      host (place, script);
      settle (session);
      assert_no_plant (place, ".git/config");
    }

  g_test_message ("%u messages", n_messages);
  if (n_messages > 0)
    g_assert_true (quarantine_has (place, "planted"));

  close_session (session);
}

/* An editor that keeps a backup moves the file away, and the mount goes with it. */
static void
test_moved_away (void)
{
  g_autoptr(Place) place = repository_new ();
  g_autoptr(SbxSession) session = open_watched (place);
  g_autofree char *before = read_host (place, ".git/config");
  g_autofree char *after = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  guint n_messages = 0;

  g_signal_connect (session, "message", G_CALLBACK (count_cb), &n_messages);
  start_idler (session);
  host (place, "cd \"$1/.git\" && mv config config~ && printf '[a]\\n b = c\\n' > config");
  test_wait_for (n_messages > 0);
  settle (session);

  result = run_shell (session, "echo planted >> .git/config");
  g_assert_false (sbx_exec_result_get_success (result));
  after = read_host (place, ".git/config");
  g_assert_cmpstr (after, ==, before);
  g_assert_true (quarantine_has (place, "b = c"));

  close_session (session);
}

/* The same while nothing runs inside: nobody else can have done it. */
static void
test_moved_away_by_the_host (void)
{
  g_autoptr(Place) place = repository_new ();
  g_autoptr(SbxSession) session = open_watched (place);
  g_autofree char *after = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  guint n_messages = 0;

  g_signal_connect (session, "message", G_CALLBACK (count_cb), &n_messages);
  settle (session);
  host (place, "cd \"$1/.git\" && mv config config~ && printf '[a]\\n b = c\\n' > config");
  settle (session);

  result = run_shell (session, "echo planted >> .git/config");
  g_assert_false (sbx_exec_result_get_success (result));
  after = read_host (place, ".git/config");
  g_assert_cmpstr (after, ==, "[a]\n b = c\n");
  g_assert_cmpuint (n_messages, ==, 0);

  close_session (session);
}

/* Somebody inside has a file ready, and waits for the host to take the mount away. */
static void
test_second_rename (void)
{
  g_autoptr(Place) place = repository_new ();
  g_autoptr(SbxSession) session = open_watched (place);
  g_autoptr(SbxCommand) command =
    shell ("exec perl -e 'for (;;) { open F, \">.git/x\"; print F \"planted\\n\"; close F; "
           "1 until rename \".git/x\", \".git/config\" }'");

  sbx_session_exec_async (session, command, NULL, NULL, NULL);
  settle (session);

  for (guint i = 0; i < 20; i++)
    {
      g_autofree char *script = g_strdup_printf ("git -C \"$1\" config user.name name%u", i);

      host (place, script);
      settle (session);
      assert_no_plant (place, ".git/config");
    }

  close_session (session);
}

/* The new file has a second name, by which it could be written to. */
static void
test_hard_link (void)
{
  g_autoptr(Place) place = repository_new ();
  g_autoptr(SbxSession) session = open_watched (place);
  g_autofree char *before = read_host (place, ".git/config");
  g_autofree char *after = NULL;
  guint n_messages = 0;

  g_signal_connect (session, "message", G_CALLBACK (count_cb), &n_messages);
  start_idler (session);
  host (place, "cd \"$1\" && cp .git/config .git/new && ln .git/new other && "
               "echo '# more' >> .git/new && mv .git/new .git/config");
  test_wait_for (n_messages > 0);
  settle (session);
  g_clear_object (&(SbxExecResult *) { run_shell (session, "echo planted >> other") });
  after = read_host (place, ".git/config");
  g_assert_cmpstr (after, ==, before);

  close_session (session);
}

/* Many in a row, none of which waits. */
static void
test_many_renames (void)
{
  g_autoptr(Place) place = repository_new ();
  g_autoptr(SbxSession) session = open_watched (place);
  g_autofree char *seen = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  guint n_messages = 0;

  g_signal_connect (session, "message", G_CALLBACK (count_cb), &n_messages);
  host (place, "cd \"$1\" && for i in $(seq 100); do git config user.name name$i; done");
  settle (session);

  result = run_shell (session, "echo planted >> .git/config");
  g_assert_false (sbx_exec_result_get_success (result));
  seen = shell_output (session, "git config user.name");
  g_assert_cmpstr (seen, ==, "name100\n");
  g_assert_cmpuint (n_messages, ==, 0);

  close_session (session);
}

static void
done_cb (GObject      *object,
         GAsyncResult *result,
         gpointer      user_data)
{
  SbxExecResult **stored = user_data;
  g_autoptr(GError) error = NULL;

  *stored = sbx_session_exec_finish (SBX_SESSION (object), result, &error);
  g_assert_no_error (error);
}

/* What works inside goes on afterwards, and does not notice. */
static void
test_during_commits (void)
{
  g_autoptr(Place) place = repository_new ();
  g_autoptr(SbxSession) session = open_watched (place);
  g_autoptr(SbxCommand) command =
    shell ("set -e; for i in $(seq 20); do echo $i > file; git add file; git commit -qm $i; done; "
           "git fsck --strict >/dev/null 2>&1; git log --oneline | wc -l");
  g_autoptr(SbxExecResult) result = NULL;
  g_autofree char *output = NULL;
  guint i = 0;

  sbx_session_exec_async (session, command, NULL, done_cb, &result);
  while (result == NULL)
    {
      g_autofree char *script = g_strdup_printf ("git -C \"$1\" config user.other %u", i++);

      /* Time to put it right also where a sanitizer makes all slow. */
      host (place, script);
      run_loop (100);
    }

  output = bytes_to_text (sbx_exec_result_get_stdout (result));
  assert_exited_with (result, 0);
  g_assert_cmpstr (output, ==, "21\n");

  close_session (session);
}

/* A process that was stopped before stays so; the others go on. */
static void
test_stopped_stay_stopped (void)
{
  g_autoptr(Place) place = repository_new ();
  g_autoptr(SbxSession) session = open_watched (place);
  g_autofree char *state = NULL;

  g_autoptr(SbxCommand) sleeper = shell ("echo $$ > stopped; kill -STOP $$; sleep 100");
  g_autoptr(SbxCommand) runner = shell ("echo $$ > running; exec sleep 100");

  sbx_session_exec_async (session, sleeper, NULL, NULL, NULL);
  sbx_session_exec_async (session, runner, NULL, NULL, NULL);
  g_free (shell_output (session, "until grep -q T /proc/$(cat stopped)/stat && "
                                 "test -s running; do sleep 0.01; done 2>/dev/null"));

  for (guint i = 0; i < 3; i++)
    {
      host (place, "git -C \"$1\" config user.name b");
      settle (session);
    }

  state = shell_output (session, "for i in stopped running; do "
                                 "cut -d' ' -f3 /proc/$(cat $i)/stat; done");
  g_assert_cmpstr (state, ==, "T\nS\n");

  close_session (session);
}

/* What the host removes is back, and protected. */
static void
test_removed (void)
{
  g_autoptr(Place) place = repository_new ();
  g_autoptr(SbxSession) session = open_watched (place);
  g_autofree char *before = read_host (place, ".git/config");
  g_autofree char *after = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  guint n_messages = 0;

  g_signal_connect (session, "message", G_CALLBACK (count_removed_cb), &n_messages);
  host (place, "rm \"$1/.git/config\"");
  test_wait_for (n_messages > 0);
  settle (session);

  result = run_shell (session, "echo planted >> .git/config");
  g_assert_false (sbx_exec_result_get_success (result));
  after = read_host (place, ".git/config");
  g_assert_cmpstr (after, ==, before);

  close_session (session);
}

/* Only what cannot be put right ends it. */
static void
test_replaced_by_link (void)
{
  g_autoptr(Place) place = repository_new ();
  g_autoptr(SbxSession) session = open_watched (place);
  g_autoptr(SbxCommand) command = shell ("sleep 100");
  g_autoptr(SbxExecResult) result = NULL;

  sbx_session_exec_async (session, command, NULL, done_cb, &result);
  run_loop (50);
  host (place, "cd \"$1/.git\" && mv hooks h && ln -s h hooks");
  test_wait_for (result != NULL);
  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_LOST);
  g_assert_nonnull (strstr (sbx_exec_result_get_message (result), ".git/hooks"));

  close_session (session);
}

/* Whether a namespace of our own for mounts can be had; as an ordinary user one for users, too. */
static gboolean
enter_namespaces (void)
{
  g_autofree char *uids = g_strdup_printf ("%u %u 1\n", geteuid (), geteuid ());
  g_autofree char *gids = g_strdup_printf ("%u %u 1\n", getegid (), getegid ());
  FILE *file;

  if (unshare (CLONE_NEWNS | (geteuid () != 0 ? CLONE_NEWUSER : 0)) != 0)
    return FALSE;

  if (strcmp (uids, "0 0 1\n") != 0)
    {
      const struct { const char *path, *text; } maps[] = {
        { "/proc/self/setgroups", "deny" },
        { "/proc/self/uid_map", uids },
        { "/proc/self/gid_map", gids },
      };

      for (gsize i = 0; i < G_N_ELEMENTS (maps); i++)
        {
          file = fopen (maps[i].path, "we");
          if (file == NULL || fputs (maps[i].text, file) < 0 || fclose (file) != 0)
            return FALSE;
        }
    }

  return mount (NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0;
}

/* In namespaces of its own: somebody mounts something below what a sandbox has. */
static void
test_mount_appears_there (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *sub = g_build_filename (place->project, "sub", NULL);
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(SbxCommand) command = shell ("exec sleep 100");
  g_autoptr(SbxExecResult) result = NULL;

  g_assert_cmpint (g_mkdir (sub, 0755), ==, 0);
  g_assert_cmpint (mount (place->project, place->project, NULL, MS_BIND, NULL), ==, 0);
  g_assert_cmpint (mount (NULL, place->project, NULL, MS_SHARED, NULL), ==, 0);

  session = place_open (place);
  sbx_session_exec_async (session, command, NULL, done_cb, &result);
  run_loop (50);
  g_assert_null (result);

  g_assert_cmpint (mount ("tmpfs", sub, "tmpfs", 0, "size=64k"), ==, 0);
  test_wait_for (result != NULL);
  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_LOST);
  g_assert_nonnull (strstr (sbx_exec_result_get_message (result), "sub"));
  g_assert_nonnull (strstr (sbx_exec_result_get_message (result), "mounted"));

  close_session (session);
  g_assert_cmpint (umount2 (sub, MNT_DETACH), ==, 0);
  g_assert_cmpint (umount2 (place->project, MNT_DETACH), ==, 0);
}

static gboolean
can_enter_namespaces (void)
{
  const pid_t child = fork ();
  int status = 1;

  if (child == 0)
    _exit (enter_namespaces () ? 0 : 1);

  return child > 0 && waitpid (child, &status, 0) == child && status == 0;
}

static void
test_mount_appears (void)
{
  if (!can_enter_namespaces ())
    {
      g_test_skip ("This machine lets this user have no namespace for mounts");
      return;
    }

  g_test_trap_subprocess ("/session/watch/T10/subprocess/appears", 0, 0);

  g_test_trap_assert_passed ();
}

/* A host that is killed while it puts something right. */
static void
be_host (const char *root)
{
  g_autofree char *data = g_build_filename (root, "data", NULL);
  g_autofree char *project = g_build_filename (root, "project", NULL);
  g_autoptr(SbxBwrapProvider) provider = sbx_bwrap_provider_new ();
  Place place = { .data = data, .project = project, .provider = provider };
  g_autoptr(SbxSession) session = NULL;

  sbx_bwrap_provider_set_data_dir (provider, data);
  session = place_open (&place);
  for (guint i = 0; i < 2; i++)
    start_hostile (session, ".git/config");
  g_print ("ready\n");

  for (;;)
    g_main_context_iteration (NULL, TRUE);
}

static void
test_host_killed (void)
{
  g_autoptr(Place) place = repository_new ();
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < 20; i++)
    {
      g_autoptr(GSubprocessLauncher) launcher = NULL;
      g_autoptr(GSubprocess) process = NULL;
      char line[6];

      launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE);
      g_subprocess_launcher_setenv (launcher, "SBX_TEST_HOST", place->root, TRUE);
      process = g_subprocess_launcher_spawn (launcher, &error, "/proc/self/exe", NULL);
      g_assert_no_error (error);
      g_assert_true (g_input_stream_read_all (g_subprocess_get_stdout_pipe (process), line,
                                              sizeof line, NULL, NULL, &error));

      host (place, "git -C \"$1\" config user.name b");
      g_usleep ((gulong) g_random_int_range (0, 6000));
      g_subprocess_force_exit (process);
      g_assert_true (g_subprocess_wait (process, NULL, NULL));
      wait_for_no_process ();

      /* What was planted may be there now: nobody was left who could take it away. */
      host (place, "cd \"$1\" && ls -A .git | grep sbx; git config --unset-all user.name; "
                   "printf '[core]\\n\\tbare = false\\n' > .git/config; "
                   "! ls -A .git | grep -q sbx-q");
    }

  /* The next one clears up. */
  close_session (place_open (place));
}

int
main (int    argc,
      char **argv)
{
  adopt_orphans ();

  if (g_getenv ("SBX_TEST_HOST") != NULL)
    be_host (g_getenv ("SBX_TEST_HOST"));

  /* Before there is a second thread. */
  for (int i = 1; i < argc; i++)
    if (strstr (argv[i], "T10/subprocess") != NULL && !enter_namespaces ())
      {
        g_printerr ("Namespaces of its own are not to be had\n");
        return 1;
      }

  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);

  g_test_add_func ("/session/watch/T27/git-config", test_git_config);
  g_test_add_func ("/session/watch/T27/nested-read", test_nested_read);
  g_test_add_func ("/session/watch/T27/hostile-writer", test_hostile_writer);
  g_test_add_func ("/session/watch/T27/moved-away", test_moved_away);
  g_test_add_func ("/session/watch/T27/hard-link", test_hard_link);
  g_test_add_func ("/session/watch/T27/moved-away-by-the-host", test_moved_away_by_the_host);
  g_test_add_func ("/session/watch/T27/second-rename", test_second_rename);
  g_test_add_func ("/session/watch/T27/many-renames", test_many_renames);
  g_test_add_func ("/session/watch/T27/removed", test_removed);
  g_test_add_func ("/session/watch/T27/replaced-by-link", test_replaced_by_link);
  g_test_add_func ("/session/watch/T10/appears", test_mount_appears);
  g_test_add_func ("/session/watch/T10/subprocess/appears", test_mount_appears_there);
  g_test_add_func ("/session/watch/during-commits", test_during_commits);
  g_test_add_func ("/session/watch/stopped-stay-stopped", test_stopped_stay_stopped);
  g_test_add_func ("/session/watch/host-killed", test_host_killed);

  return g_test_run ();
}
