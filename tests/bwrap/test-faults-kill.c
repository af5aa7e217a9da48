/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "session-util.h"

#include <fcntl.h>
#include <glib-unix.h>

/*
 * SIGKILL at a random moment over open, exec and close, the victims in turn. This program runs
 * itself again as the host of sandboxes, and is the reaper of all that loses its parent on the way:
 * whatever is left of a sandbox is below it. The seed that GLib prints makes the moments the same
 * again.
 */

#define N_ROUNDS 34
#define MAX_DELAY_US (100 * 1000)
#define SLOW_US (2 * G_USEC_PER_SEC)
#define DEADLINE_US (60 * G_USEC_PER_SEC)

/* How the child of a host is called that has copies of all that the host had open. */
#define FORKED "forked"

typedef struct
{
  char *root;
  char *data;
  char *project;
  char *self;
} Ground;

static void
ground_init (Ground *ground)
{
  g_autoptr(GError) error = NULL;

  ground->root = g_dir_make_tmp ("sbx-kill-XXXXXX", &error);
  g_assert_no_error (error);
  ground->data = g_build_filename (ground->root, "libsbx", NULL);
  ground->project = g_build_filename (ground->root, "project", NULL);
  ground->self = g_file_read_link ("/proc/self/exe", NULL);
  g_assert_cmpint (g_mkdir (ground->project, 0755), ==, 0);
}

/* --- The host: opens, runs and closes until it is told to stop, or killed. --- */

static gboolean stopping;

static gboolean
stop_cb (gpointer user_data)
{
  stopping = TRUE;

  return G_SOURCE_REMOVE;
}

static gboolean
fork_cb (gpointer user_data)
{
  static pid_t child;

  if (child > 0)
    {
      kill (child, SIGKILL);
      waitpid (child, NULL, 0);
    }

  child = fork ();
  if (child == 0)
    {
      prctl (PR_SET_NAME, FORKED, 0, 0, 0);
      for (;;)
        pause ();
    }

  return G_SOURCE_CONTINUE;
}

static void
exec_once (SbxSession *session,
           const char *script)
{
  g_autoptr(SbxCommand) command = shell (script);
  SbxExecResult *result = sbx_session_exec (session, command, NULL, NULL);

  g_clear_object (&result);
}

/* One life of a sandbox. Whatever of it is killed meanwhile, all calls must come back. */
static void
live (SbxProvider    *provider,
      SbxOpenRequest *request,
      gboolean        undisturbed)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxSession) session = sbx_provider_open (provider, request, NULL, &error);
  g_autoptr(SbxCommand) command = shell ("setsid sleep 60 & trap '' TERM; exec sleep 60");
  g_autoptr(SbxProcess) process = NULL;

  if (session == NULL)
    {
      if (undisturbed)
        g_error ("%s", error->message);
      return;
    }

  process = sbx_session_spawn (session, command, NULL, NULL);
  exec_once (session, "true");
  exec_once (session, "(setsid sleep 60 &) ; sleep 60 & echo x > file; sleep 0.005");
  sbx_session_close (session, NULL, &error);
  g_assert_no_error (error);
}

static int
run_host (const char *root,
          const char *mode)
{
  g_autoptr(SbxBwrapProvider) provider = sbx_bwrap_provider_new ();
  g_autofree char *data = g_build_filename (root, "libsbx", NULL);
  g_autofree char *project = g_build_filename (root, "project", NULL);
  g_autoptr(SbxReach) reach = sbx_reach_new (project);
  g_autoptr(SbxOpenRequest) request = NULL;

  sbx_reach_add_write (reach, project);
  request = sbx_open_request_new (reach);
  sbx_bwrap_provider_set_data_dir (provider, data);
  g_unix_signal_add (SIGTERM, stop_cb, NULL);
  if (strcmp (mode, "forking") == 0)
    g_timeout_add (1, fork_cb, NULL);

  do
    live (SBX_PROVIDER (provider), request, strcmp (mode, "disturbed") != 0);
  while (!stopping);

  return count_sessions (data) == 0 ? 0 : 3;
}

static int
run_clean (const char *root)
{
  g_autoptr(SbxBwrapProvider) provider = sbx_bwrap_provider_new ();
  g_autofree char *data = g_build_filename (root, "libsbx", NULL);
  g_auto(GStrv) removed = NULL;
  g_autoptr(GError) error = NULL;

  sbx_bwrap_provider_set_data_dir (provider, data);
  removed = sbx_bwrap_provider_clean (provider, FALSE, NULL, &error);
  if (removed == NULL)
    g_error ("%s", error->message);

  return 0;
}

/* --- The test. --- */

static pid_t
start (const char * const *argv,
       const char          *root)
{
  const pid_t pid = fork ();

  if (pid == 0)
    {
      const int null = open ("/dev/null", O_RDWR);

      g_setenv ("XDG_DATA_HOME", root, TRUE);
      dup2 (null, 0);
      dup2 (null, 1);
      execv (argv[0], (char **) argv);
      _exit (99);
    }

  g_assert_cmpint (pid, >, 0);
  return pid;
}

/* Reaps until @pid has ended, and returns how. */
static int
await (pid_t       pid,
       const char *what)
{
  const gint64 deadline = g_get_monotonic_time () + DEADLINE_US;

  for (;;)
    {
      int status;
      const pid_t ended = waitpid (-1, &status, WNOHANG);

      if (ended == pid)
        return status;
      if (ended > 0)
        continue;

      if (g_get_monotonic_time () > deadline)
        g_error ("%s does not end", what);

      g_usleep (1000);
    }
}

static gboolean
is_forked (const Process *process)
{
  return strcmp (process->name, FORKED) == 0;
}

/* Waits until nothing is left but what a host forked, which is ended then. */
static void
await_nothing (const char *what)
{
  const gint64 deadline = g_get_monotonic_time () + DEADLINE_US;

  for (;;)
    {
      g_autoptr(GArray) found = list_descendants (getpid ());
      guint n_left = 0;

      while (waitpid (-1, NULL, WNOHANG) > 0)
        ;

      for (guint i = 0; i < found->len; i++)
        n_left += !is_forked (&g_array_index (found, Process, i));

      for (guint i = 0; i < found->len && n_left == 0; i++)
        kill (g_array_index (found, Process, i).pid, SIGKILL);

      if (found->len == 0)
        return;

      if (g_get_monotonic_time () > deadline)
        {
          for (guint i = 0; i < found->len; i++)
            g_printerr ("# left: %d %s\n", g_array_index (found, Process, i).pid,
                        g_array_index (found, Process, i).name);
          g_error ("%s: %u processes are left", what, n_left);
        }

      g_usleep (1000);
    }
}

typedef struct
{
  const char *name;          /* of the victim, NULL for the host itself */
  const char *parent_name;
  const char *mode;          /* of the host; NULL for the tool */
} Victim;

static const char *
name_of (GArray *processes,
         int     pid)
{
  for (guint i = 0; i < processes->len; i++)
    if (g_array_index (processes, Process, i).pid == pid)
      return g_array_index (processes, Process, i).name;

  return "";
}

/* One of that kind is not there at every moment: the first that comes. */
static void
kill_inside (const Victim *victim)
{
  const gint64 deadline = g_get_monotonic_time () + DEADLINE_US;

  while (g_get_monotonic_time () < deadline)
    {
      g_autoptr(GArray) found = list_descendants (getpid ());

      for (guint i = 0; i < found->len; i++)
        {
          const Process *process = &g_array_index (found, Process, i);

          if (strcmp (process->name, victim->name) != 0 ||
              (victim->parent_name != NULL &&
               strcmp (name_of (found, process->parent), victim->parent_name) != 0))
            continue;

          kill (process->pid, SIGKILL);
          return;
        }
    }

  g_error ("There was no %s to kill", victim->name);
}

static pid_t
start_victim (const Ground *ground,
              const Victim *victim)
{
  const char * const host[] = { ground->self, "--host", ground->root, victim->mode, NULL };
  const char * const tool[] = {
    g_getenv ("SBX_TOOL"), "run", "--write", ground->project, "--cwd", ground->project, "--",
    "/bin/sh", "-c", "(setsid sleep 60 &); sleep 60 & sleep 0.02", NULL
  };

  return start (victim->mode != NULL ? host : tool, ground->root);
}

static void
clean (const Ground *ground)
{
  const char * const argv[] = { ground->self, "--clean", ground->root, NULL };
  const int status = await (start (argv, ground->root), "clean");

  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 0);
  g_assert_cmpint (count_sessions (ground->data), ==, 0);
}

static void
one_round (const Ground *ground,
           const Victim *victim,
           guint         number)
{
  const guint delay = (guint) g_test_rand_int_range (0, MAX_DELAY_US);
  g_autofree char *what = g_strdup_printf ("round %u, %u µs", number, delay);
  const pid_t pid = start_victim (ground, victim);
  const gint64 begin = g_get_monotonic_time ();
  int status;

  g_usleep (delay);

  if (victim->name == NULL)
    {
      kill (pid, SIGKILL);
      await (pid, what);
      await_nothing (what);

      /* The next one of this kind removes what is there, and else this does. */
      if (number % 4 == 3)
        clean (ground);
      return;
    }

  kill_inside (victim);

  /* The host must be none the worse for it: it goes on, and ends well. */
  g_usleep (delay / 2);
  kill (pid, SIGTERM);
  status = await (pid, what);
  if (!WIFEXITED (status) || WEXITSTATUS (status) != 0)
    g_error ("%s: the host ended with %x", what, status);
  await_nothing (what);
  g_assert_cmpint (count_sessions (ground->data), ==, 0);
  if (g_get_monotonic_time () - begin > SLOW_US)
    g_test_message ("%s: %d ms", what, (int) (g_get_monotonic_time () - begin) / 1000);
}

static guint
count_mounts (void)
{
  g_autofree char *text = NULL;
  guint n = 0;

  g_assert_true (g_file_get_contents ("/proc/self/mountinfo", &text, NULL, NULL));
  for (const char *at = text; (at = strchr (at, '\n')) != NULL; at++)
    n++;

  return n;
}

static void
test_kill (gconstpointer user_data)
{
  const Victim *victim = user_data;
  const guint n_mounts = count_mounts ();
  const gint64 begin = g_get_monotonic_time ();
  Ground ground;
  Victim undisturbed = { "sbx-init", NULL, "disturbed" };

  ground_init (&ground);
  for (guint i = 0; i < N_ROUNDS; i++)
    one_round (&ground, victim, i);

  /* The next start removes what is there. */
  if (victim->name == NULL)
    {
      const pid_t pid = start_victim (&ground, &undisturbed);
      int status;

      while (count_descendants () < 3)
        g_usleep (1000);
      kill (pid, SIGTERM);
      status = await (pid, "the last host");
      g_assert_true (WIFEXITED (status));
      g_assert_cmpint (WEXITSTATUS (status), ==, 0);
    }

  g_assert_cmpint (count_sessions (ground.data), ==, 0);
  g_assert_cmpint (count_mounts (), ==, n_mounts);
  g_test_message ("%d rounds: %d ms", N_ROUNDS, (int) (g_get_monotonic_time () - begin) / 1000);

  {
    const char * const argv[] = { "/bin/rm", "-rf", "--one-file-system", ground.root, NULL };

    await (start (argv, "/"), "rm");
  }
  g_free (ground.root);
  g_free (ground.data);
  g_free (ground.project);
  g_free (ground.self);
}

int
main (int    argc,
      char **argv)
{
  static const Victim host = { NULL, NULL, "plain" };
  static const Victim forked = { NULL, NULL, "forking" };
  static const Victim tool = { NULL, NULL, NULL };
  static const Victim bwrap = { "bwrap", NULL, "disturbed" };
  static const Victim init = { "sbx-init", "bwrap", "disturbed" };
  static const Victim supervisor = { "sbx-init", "sbx-init", "disturbed" };

  if (argc == 4 && strcmp (argv[1], "--host") == 0)
    return run_host (argv[2], argv[3]);
  if (argc == 3 && strcmp (argv[1], "--clean") == 0)
    return run_clean (argv[2]);

  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  adopt_orphans ();

  g_test_add_data_func ("/faults/kill/host", &host, test_kill);
  g_test_add_data_func ("/faults/kill/host-with-a-child", &forked, test_kill);
  g_test_add_data_func ("/faults/kill/tool", &tool, test_kill);
  g_test_add_data_func ("/faults/kill/bwrap", &bwrap, test_kill);
  g_test_add_data_func ("/faults/kill/process-1", &init, test_kill);
  g_test_add_data_func ("/faults/kill/supervisor", &supervisor, test_kill);

  return g_test_run ();
}
