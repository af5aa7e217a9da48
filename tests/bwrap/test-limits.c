/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "limits-util.h"

#include <fcntl.h>
#include <sys/resource.h>

/*
 * What a sandbox may use of the machine, in real ones. Those below /limits/user/T6 are for an
 * ordinary user, and root runs them as one.
 */

static SbxSession *
open_limited (Place    *place,
              SbxLimit  limit,
              guint64   value)
{
  g_autoptr(SbxReach) reach = limits_reach (place);

  sbx_reach_set_limit (reach, limit, value);

  return open_reach (place, reach);
}

static void
test_cpu_time (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = open_limited (place, SBX_LIMIT_CPU_TIME, 1);
  g_autoptr(SbxExecResult) told = run_shell (session, "while :; do :; done");
  g_autoptr(SbxExecResult) deaf = run_shell (session, "trap '' XCPU; while :; do :; done");
  g_autofree char *next = NULL;

  g_assert_cmpint (sbx_exec_result_get_outcome (told), ==, SBX_EXEC_OUTCOME_SIGNALLED);
  g_assert_cmpint (sbx_exec_result_get_signal (told), ==, SIGXCPU);
  g_assert_cmpint (sbx_exec_result_get_outcome (deaf), ==, SBX_EXEC_OUTCOME_SIGNALLED);
  g_assert_cmpint (sbx_exec_result_get_signal (deaf), ==, SIGKILL);

  /* It is each process that has so much. */
  next = shell_output (session, "ulimit -t; ulimit -Ht");
  g_assert_cmpstr (next, ==, "1\n2\n");
  close_session (session);
}

static void
test_file_size (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = open_limited (place, SBX_LIMIT_FILE_SIZE, 10000);
  g_autoptr(SbxExecResult) result = run_shell (session, "head -c 20000 /dev/zero > big");
  g_autofree char *large = g_build_filename (place->project, "large", NULL);
  g_autofree char *small = g_build_filename (place->project, "small", NULL);
  g_autofree char *size = NULL;
  g_autofree char *data = g_malloc0 (20000);
  g_autoptr(GBytes) too_large = g_bytes_new (data, 20000);
  g_autoptr(GBytes) fits = g_bytes_new (data, 10000);
  g_autoptr(GError) error = NULL;

  g_assert_false (sbx_exec_result_get_success (result));
  size = shell_output (session, "stat -c %s big; head -c 20000 /dev/zero | wc -c");
  g_assert_cmpstr (size, ==, "10000\n20000\n");

  /* What is written through the session is as large. */
  sbx_session_write_file (session, small, fits, 0644, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (sbx_session_write_file (session, large, too_large, 0644, NULL, &error));
  g_assert_nonnull (error);
  g_test_message ("%s", error->message);
  g_assert_true (sbx_session_get_state (session) == SBX_SESSION_STATE_OPEN);
  close_session (session);
}

static void
test_open_files (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = open_limited (place, SBX_LIMIT_OPEN_FILES, 64);
  g_autofree char *limits = shell_output (session, "ulimit -n; ulimit -Hn");
  g_autofree char *lowest = NULL;
  g_autoptr(SbxExecResult) raised = run_shell (session, "ulimit -Hn 65");
  g_autoptr(SbxSession) few = NULL;

  g_assert_cmpstr (limits, ==, "64\n64\n");
  g_assert_false (sbx_exec_result_get_success (raised));
  close_session (session);

  /* The least that can be asked for is enough for a shell. */
  few = open_limited (place, SBX_LIMIT_OPEN_FILES, 8);
  lowest = shell_output (few, "cat /proc/self/limits | grep 'open files' | wc -l");
  g_assert_cmpstr (lowest, ==, "1\n");
  close_session (few);
}

/* Never more than what is in force. */
static void
test_open_files_in_force (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) without = place_open (place);
  g_autofree char *before = shell_output (without, "ulimit -Hn");
  g_autoptr(SbxSession) session = open_limited (place, SBX_LIMIT_OPEN_FILES,
                                                G_GUINT64_CONSTANT (1) << 40);
  g_autofree char *after = shell_output (session, "ulimit -Hn");

  g_assert_cmpstr (after, ==, before);
  close_session (without);
  close_session (session);
}

static void
test_mistakes (void)
{
  static const struct { SbxLimit limit; guint64 value; const char *name; } cases[] = {
    { SBX_LIMIT_OPEN_FILES, 7, "openFiles" },
    { SBX_LIMIT_MEMORY, 4096, "memory" },
  };
  g_autoptr(Place) place = place_new ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(SbxReach) reach = limits_reach (place);
      g_autoptr(SbxSession) session = NULL;
      g_autoptr(GError) error = NULL;

      sbx_reach_set_limit (reach, cases[i].limit, cases[i].value);
      session = try_open (place, reach, &error);
      g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
      g_assert_nonnull (strstr (error->message, cases[i].name));
      g_assert_null (session);
    }
}

static int
read_oom_score (const char *text)
{
  return (int) g_ascii_strtoll (text, NULL, 10);
}

/* Whatever is started, and whoever starts it: a sandbox goes first. */
static void
test_oom (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autofree char *own = NULL;
  g_autofree char *inside = shell_output (session, "cat /proc/self/oom_score_adj");
  g_autofree char *first = shell_output (session, "cat /proc/1/oom_score_adj");
  g_autoptr(SbxExecResult) lowered = run_shell (session, "echo 0 > /proc/self/oom_score_adj");
  g_autoptr(GError) error = NULL;
  int expected;

  g_file_get_contents ("/proc/self/oom_score_adj", &own, NULL, &error);
  g_assert_no_error (error);
  expected = MIN (read_oom_score (own) + 500, 1000);
  g_assert_cmpint (read_oom_score (inside), ==, expected);
  g_assert_cmpint (read_oom_score (first), ==, expected);

  /* The kernel would let a process go back to where it came from. */
  g_assert_false (sbx_exec_result_get_success (lowered));
  close_session (session);
}

static void
without_bus (void)
{
  g_setenv ("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", TRUE);
  g_setenv ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus", TRUE);
}

static void
assert_not_enforceable (Place      *place,
                        SbxReach   *reach,
                        const char *name)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxSession) session = try_open (place, reach, &error);

  g_assert_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, name));
  g_assert_nonnull (strstr (error->message, "systemd"));
  g_assert_nonnull (strstr (error->message, "allowWeaker"));
  g_assert_null (session);
  g_assert_cmpuint (count_sessions (place->data), ==, 0);
}

static void
test_memory (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxReach) reach = limits_reach (place);
  g_autoptr(SbxSession) session = NULL;
  g_autofree char *limits = NULL;
  g_autofree char *said = NULL;

  without_bus ();
  sbx_reach_set_limit (reach, SBX_LIMIT_MEMORY, 256 * 1024 * 1024);
  assert_not_enforceable (place, reach, "memory");

  sbx_reach_set_environment_key (reach, "bwrap", "{\"allowWeaker\":[\"processes\"]}");
  assert_not_enforceable (place, reach, "memory");

  sbx_reach_set_environment_key (reach, "bwrap", "{\"allowWeaker\":[\"memory\"]}");
  session = open_reach (place, reach);
  limits = shell_output (session, "ulimit -v; ulimit -Hv");
  g_assert_cmpstr (limits, ==, "262144\n262144\n");
  said = shell_output (session, "\"$TRY\" memory 200000000; \"$TRY\" memory 300000000");
  g_assert_cmpstr (said, ==, "taken\nrefused 12\n");
  close_session (session);
}

/* The kernel does not hold root to a number of processes: that is said, not pretended. */
static void
test_T6_root (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxReach) reach = limits_reach (place);
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(SbxSession) plain = NULL;
  g_autofree char *said = NULL;
  g_autofree char *defaults = NULL;

  without_bus ();
  sbx_reach_set_limit (reach, SBX_LIMIT_PROCESSES, 20);
  assert_not_enforceable (place, reach, "processes");

  sbx_reach_set_environment_key (reach, "bwrap", "{\"allowWeaker\":[\"processes\"]}");
  session = open_reach (place, reach);
  said = shell_output (session, "\"$TRY\" fork 100");
  g_assert_cmpstr (said, ==, "100 0\n");
  close_session (session);

  /* Nothing was asked for, so nothing is missing. */
  plain = place_open (place);
  defaults = shell_output (plain, "cat /proc/self/limits | grep -c 'Max processes'");
  g_assert_cmpstr (defaults, ==, "1\n");
  close_session (plain);
}

/* --- An ordinary user --- */

/* The last one to start is the command itself. */
static void
test_T6_processes (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = open_limited (place, SBX_LIMIT_PROCESSES, 50);
  g_autofree char *one = shell_output (session, "exec \"$TRY\" fork 300");
  g_autofree char *bomb = NULL;
  g_autofree char *threads = NULL;
  g_autoptr(SbxExecResult) raised = NULL;

  g_assert_cmpstr (one, ==, "49 11\n");
  bomb = shell_output (session, "exec \"$TRY\" bomb 300");
  g_assert_cmpstr (bomb, ==, "50 1\n");
  threads = shell_output (session, "exec \"$TRY\" threads 300");
  g_assert_cmpstr (threads, ==, "49 11\n");

  raised = run_shell (session, "ulimit -u 1000");
  g_assert_false (sbx_exec_result_get_success (raised));
  close_session (session);
}

/* Starts @what in @session, and waits until it has said that it is there. */
static SbxProcess *
hold (SbxSession  *session,
      const char  *what,
      char       **said)
{
  g_autoptr(SbxCommand) command = shell (what);
  g_autoptr(GError) error = NULL;
  g_autoptr(GDataInputStream) lines = NULL;
  g_autoptr(GAsyncResult) result = NULL;
  SbxProcess *process;

  sbx_command_set_stdin (command, SBX_STDIN_PIPE);
  process = sbx_session_create_process (session, command);
  sbx_process_get_stdout_pipe (process);
  sbx_process_start (process, NULL, &error);
  g_assert_no_error (error);
  lines = g_data_input_stream_new (sbx_process_get_stdout_pipe (process));
  g_filter_input_stream_set_close_base_stream (G_FILTER_INPUT_STREAM (lines), FALSE);
  g_data_input_stream_read_line_async (lines, G_PRIORITY_DEFAULT, NULL, test_store_result, &result);
  test_wait_for (result != NULL);
  *said = g_data_input_stream_read_line_finish (lines, result, NULL, &error);
  g_assert_no_error (error);

  return process;
}

/* Whatever else this user runs, here or in another sandbox, is none of a sandbox's own. */
static void
test_T6_own_count (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) first = open_limited (place, SBX_LIMIT_PROCESSES, 100);
  g_autoptr(SbxSession) second = open_limited (place, SBX_LIMIT_PROCESSES, 40);
  g_autoptr(SbxProcess) process = NULL;
  g_autofree char *held = NULL;
  g_autofree char *said = NULL;
  pid_t sleepers[120];

  for (guint i = 0; i < G_N_ELEMENTS (sleepers); i++)
    {
      sleepers[i] = fork ();
      g_assert_cmpint (sleepers[i], >=, 0);
      if (sleepers[i] == 0)
        {
          prctl (PR_SET_PDEATHSIG, SIGKILL);
          for (;;)
            pause ();
        }
    }

  process = hold (first, "exec \"$TRY\" hold 90", &held);
  g_assert_cmpstr (held, ==, "90 0");
  said = shell_output (second, "exec \"$TRY\" fork 300");
  g_assert_cmpstr (said, ==, "39 11\n");

  for (guint i = 0; i < G_N_ELEMENTS (sleepers); i++)
    {
      kill (sleepers[i], SIGKILL);
      waitpid (sleepers[i], NULL, 0);
    }
  close_session (first);
  close_session (second);
}

/* A sandbox that is full can be worked in by whoever opened it, and ended. */
static void
test_T6_full (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = open_limited (place, SBX_LIMIT_PROCESSES, 30);
  g_autoptr(SbxProcess) process = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(SbxExecResult) ended = NULL;
  g_autoptr(SbxExecResult) next = NULL;
  g_autofree char *held = NULL;
  g_autofree char *path = g_build_filename (place->project, "file", NULL);
  const char * const argv[] = { "/bin/true", NULL };
  g_autoptr(SbxCommand) command = sbx_command_new (argv);
  g_autoptr(GBytes) content = g_bytes_new_static ("x", 1);
  g_autoptr(GError) error = NULL;

  process = hold (session, "exec \"$TRY\" hold 300", &held);
  g_assert_cmpstr (held, ==, "29 11");

  result = run_command (session, command);
  assert_exited_with (result, 0);
  sbx_session_write_file (session, path, content, 0644, NULL, &error);
  g_assert_no_error (error);

  g_assert_true (sbx_process_kill (process, SIGKILL, &error));
  ended = sbx_process_wait (process, NULL, &error);
  g_assert_no_error (error);

  next = run_shell (session, "\"$TRY\" fork 20");
  assert_exited_with (next, 0);
  close_session (session);
}

/* Several commands: what each has is counted together. */
static void
test_T6_together (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = open_limited (place, SBX_LIMIT_PROCESSES, 60);
  g_autoptr(SbxProcess) process = NULL;
  g_autofree char *held = NULL;
  g_autofree char *said = NULL;

  process = hold (session, "exec \"$TRY\" hold 30", &held);
  g_assert_cmpstr (held, ==, "30 0");
  said = shell_output (session, "exec \"$TRY\" fork 300");
  g_assert_cmpstr (said, ==, "28 11\n");
  close_session (session);
}

static void
test_T6_defaults (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autofree char *text = shell_output (session, "grep 'Max processes' /proc/self/limits");
  struct rlimit limit;
  rlim_t expected;
  guint64 soft = 0;

  /* With process 1 and the supervisor. */
  g_assert_cmpint (getrlimit (RLIMIT_NPROC, &limit), ==, 0);
  expected = limit.rlim_max == RLIM_INFINITY ? 4096 : MIN (4096, limit.rlim_max / 2);
  g_assert_cmpint (sscanf (text, "Max processes %" G_GUINT64_FORMAT, &soft), ==, 1);
  g_assert_cmpuint (soft, ==, expected + 2);
  close_session (session);
}

static void
add_user_test (const char *path,
               GTestFunc   func)
{
  if (geteuid () != 0)
    g_test_add_func (path, func);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  adopt_orphans ();

  g_test_add_func ("/limits/cpu-time", test_cpu_time);
  g_test_add_func ("/limits/file-size", test_file_size);
  g_test_add_func ("/limits/open-files", test_open_files);
  g_test_add_func ("/limits/open-files/in-force", test_open_files_in_force);
  g_test_add_func ("/limits/mistakes", test_mistakes);
  g_test_add_func ("/limits/T6/oom", test_oom);
  g_test_add_func ("/limits/memory", test_memory);
  if (geteuid () == 0)
    {
      g_test_add_func ("/limits/T6/root", test_T6_root);
      g_test_add_data_func ("/limits/T6/as-user", "/limits/user/T6", run_as_user);
    }

  add_user_test ("/limits/user/T6/processes", test_T6_processes);
  add_user_test ("/limits/user/T6/own-count", test_T6_own_count);
  add_user_test ("/limits/user/T6/full", test_T6_full);
  add_user_test ("/limits/user/T6/together", test_T6_together);
  add_user_test ("/limits/user/T6/defaults", test_T6_defaults);

  return g_test_run ();
}
