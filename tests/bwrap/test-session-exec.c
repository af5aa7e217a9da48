/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "session-util.h"

/* Commands that do not behave, in a session that has to survive them. */

static void
assert_signalled (SbxExecResult *result,
                  int            signal_number)
{
  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_SIGNALLED);
  g_assert_cmpint (sbx_exec_result_get_signal (result), ==, signal_number);
}

static void
test_ends (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autoptr(SbxExecResult) exited = run_shell (session, "echo out; echo err >&2; exit 77");
  g_autoptr(SbxExecResult) killed = run_shell (session, "kill -9 $$");
  g_autoptr(SbxExecResult) termed = run_shell (session, "kill $$; sleep 60");
  g_autofree char *out = bytes_to_text (sbx_exec_result_get_stdout (exited));
  g_autofree char *err = bytes_to_text (sbx_exec_result_get_stderr (exited));

  assert_exited_with (exited, 77);
  g_assert_cmpstr (out, ==, "out\n");
  g_assert_cmpstr (err, ==, "err\n");
  assert_signalled (killed, SIGKILL);
  assert_signalled (termed, SIGTERM);
  close_session (session);
}

static SbxExecResult *
run_argv (SbxSession          *session,
          const char * const  *argv,
          GError             **error)
{
  g_autoptr(SbxCommand) command = sbx_command_new (argv);

  return sbx_session_exec (session, command, NULL, error);
}

static void
test_not_started (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  struct { const char *program; SbxNotStarted reason; int number; } const cases[] = {
    { "no-such-program", SBX_NOT_STARTED_NOT_FOUND, ENOENT },
    { "/no/such/program", SBX_NOT_STARTED_NOT_FOUND, ENOENT },
    { "/etc/passwd", SBX_NOT_STARTED_NOT_EXECUTABLE, EACCES },
    { "/usr", SBX_NOT_STARTED_NOT_EXECUTABLE, EACCES },
    { "/etc/passwd/x", SBX_NOT_STARTED_NOT_FOUND, ENOTDIR },
    { "./no-interpreter", SBX_NOT_STARTED_NOT_FOUND, ENOENT },
  };
  const char * const nothing[] = { NULL };
  const char * const empty[] = { "", NULL };
  g_autoptr(SbxExecResult) none = NULL;
  g_autoptr(SbxExecResult) unnamed = NULL;
  g_autoptr(GError) error = NULL;

  g_free (shell_output (session, "printf '#!/no/such\\n' > no-interpreter; chmod +x *"));

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char * const argv[] = { cases[i].program, NULL };
      g_autoptr(SbxExecResult) result = run_argv (session, argv, &error);

      g_assert_no_error (error);
      g_test_message ("%s: %s", cases[i].program, sbx_exec_result_get_message (result));
      g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_NOT_STARTED);
      g_assert_cmpint (sbx_exec_result_get_not_started (result), ==, cases[i].reason);
      g_assert_cmpint (sbx_exec_result_get_errno (result), ==, cases[i].number);
      g_assert_nonnull (strstr (sbx_exec_result_get_message (result), cases[i].program));
    }

  none = run_argv (session, nothing, &error);
  g_assert_null (none);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
  g_clear_error (&error);

  unnamed = run_argv (session, empty, &error);
  if (unnamed != NULL)
    g_assert_cmpint (sbx_exec_result_get_outcome (unnamed), ==, SBX_EXEC_OUTCOME_NOT_STARTED);
  else
    g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);

  close_session (session);
}

/* It is the command's end that counts, not the end of its output, and nothing stays behind. */
static void
test_output_and_end (void)
{
  static const char * const scripts[] = {
    "sleep 60 & echo hi",
    "setsid sleep 60 & echo hi",
    "(setsid sh -c '(sleep 60 &) ; exec sleep 61' &) & echo hi",
    "trap '' TERM HUP INT; (trap '' TERM; exec setsid sleep 61) & echo hi",
    "nohup sleep 60 & kill -STOP $!; echo hi",
  };
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autoptr(SbxExecResult) closed = NULL;
  g_autofree char *made = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (scripts); i++)
    {
      const gint64 begin = g_get_monotonic_time ();
      g_autofree char *output = shell_output (session, scripts[i]);

      g_assert_cmpstr (output, ==, "hi\n");
      g_assert_cmpint (count_inside (session), ==, 0);
      g_assert_cmpint (g_get_monotonic_time () - begin, <, 4 * G_USEC_PER_SEC);
    }

  closed = run_shell (session, "echo before; exec >&- 2>&-; sleep 0.3; echo x > made; exit 3");
  assert_exited_with (closed, 3);
  made = shell_output (session, "cat made");
  g_assert_cmpstr (made, ==, "x\n");
  close_session (session);
}

static void
test_time_out (void)
{
  static const char * const scripts[] = {
    "sleep 60",
    "trap '' TERM INT HUP QUIT; while :; do sleep 60; done",
    "setsid sleep 60 & (trap '' TERM; setsid setsid sleep 60 &) ; wait; sleep 60",
    "kill -STOP $$",
    "exec >&- 2>&- <&-; sleep 60",
    "kill -STOP $PPID; sleep 60",
    /* Bounded to some 300 by the program that does the same for process 1. */
    "exec \"$BOMB\" bomb",
  };
  g_autoptr(Place) place = place_new ();
  g_autofree char *helper = g_test_build_filename (G_TEST_BUILT, "init", "init-helper", NULL);
  g_autoptr(SbxReach) reach = sbx_reach_new (place->project);
  g_autoptr(SbxOpenRequest) request = NULL;
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(GError) error = NULL;

  sbx_reach_add_read (reach, helper);
  sbx_reach_set_variable (reach, "BOMB", helper);
  request = sbx_open_request_new (reach);
  session = sbx_provider_open (SBX_PROVIDER (place->provider), request, NULL, &error);
  g_assert_no_error (error);

  for (guint i = 0; i < G_N_ELEMENTS (scripts); i++)
    {
      const gint64 begin = g_get_monotonic_time ();
      g_autoptr(SbxCommand) command = shell (scripts[i]);
      g_autoptr(SbxExecResult) result = NULL;

      sbx_command_set_timeout (command, 200);
      result = run_command (session, command);
      g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_TIMED_OUT);
      g_test_message ("%s: %d ms", scripts[i], (int) (g_get_monotonic_time () - begin) / 1000);
      g_assert_cmpint (g_get_monotonic_time () - begin, >=, 190 * 1000);
      g_assert_cmpint (g_get_monotonic_time () - begin, <, 5 * G_USEC_PER_SEC);
      g_assert_cmpint (count_inside (session), ==, 0);
    }

  close_session (session);
}

static void
test_supervisor (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autoptr(SbxExecResult) killed = run_shell (session, "setsid sleep 60 & kill -9 $PPID; "
                                                         "sleep 60");
  g_autoptr(SbxExecResult) stopped = run_shell (session, "sleep 60 & kill -STOP $PPID; exit 5");
  g_autoptr(SbxExecResult) all = run_shell (session, "kill -9 -1; sleep 60");

  g_assert_cmpint (sbx_exec_result_get_outcome (killed), ==, SBX_EXEC_OUTCOME_LOST);
  g_test_message ("%s", sbx_exec_result_get_message (killed));
  assert_exited_with (stopped, 5);
  g_assert_cmpint (sbx_exec_result_get_outcome (all), ==, SBX_EXEC_OUTCOME_LOST);

  /* The session is none the worse for it. */
  g_assert_cmpint (sbx_session_get_state (session), ==, SBX_SESSION_STATE_OPEN);
  g_assert_cmpint (count_inside (session), ==, 0);
  close_session (session);
}

/* The kernel takes no single argument over 128 KiB, and no more than about a quarter of the stack's
 * limit of all together. */
static void
test_arguments (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  const gsize each = 100 * 1024;
  const gsize fit = 19;
  g_autofree char *argument = g_strnfill (each, 'x');
  g_autofree char *long_one = g_strnfill (4 * 1024 * 1024, 'x');
  g_autoptr(GPtrArray) argv = g_ptr_array_new ();
  g_autoptr(SbxExecResult) ok = NULL;
  g_autoptr(SbxExecResult) more = NULL;
  g_autoptr(SbxExecResult) single = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *output = NULL;

  g_ptr_array_add (argv, (char *) "/bin/sh");
  g_ptr_array_add (argv, (char *) "-c");
  g_ptr_array_add (argv, (char *) "s=0; for a; do s=$((s + ${#a})); done; echo $s");
  g_ptr_array_add (argv, (char *) "sh");
  for (gsize i = 0; i < fit; i++)
    g_ptr_array_add (argv, argument);
  g_ptr_array_add (argv, NULL);

  ok = run_argv (session, (const char * const *) argv->pdata, &error);
  g_assert_no_error (error);
  assert_exited_with (ok, 0);
  output = bytes_to_text (sbx_exec_result_get_stdout (ok));
  g_assert_cmpint (g_ascii_strtoll (output, NULL, 10), ==, fit * each);

  g_ptr_array_remove_index (argv, argv->len - 1);
  for (gsize i = 0; i < 4 * fit; i++)
    g_ptr_array_add (argv, argument);
  g_ptr_array_add (argv, NULL);
  more = run_argv (session, (const char * const *) argv->pdata, &error);
  g_assert_no_error (error);
  g_assert_cmpint (sbx_exec_result_get_outcome (more), ==, SBX_EXEC_OUTCOME_NOT_STARTED);
  g_assert_cmpint (sbx_exec_result_get_not_started (more), ==, SBX_NOT_STARTED_TOO_LARGE);
  g_assert_cmpint (sbx_exec_result_get_errno (more), ==, E2BIG);

  single = run_argv (session, (const char * const []) { "true", long_one, NULL }, &error);
  g_assert_no_error (error);
  g_assert_cmpint (sbx_exec_result_get_errno (single), ==, E2BIG);

  close_session (session);
}

typedef struct
{
  SbxExecResult *result;
  guint         *n_done;
} Call;

static void
count_cb (GObject      *object,
          GAsyncResult *result,
          gpointer      user_data)
{
  Call *call = user_data;
  g_autoptr(GError) error = NULL;

  call->result = sbx_session_exec_finish (SBX_SESSION (object), result, &error);
  g_assert_no_error (error);
  ++*call->n_done;
}

/* Many at once, each with its own output. */
static void
test_many (void)
{
  enum { N = 60 };
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  Call calls[N] = { 0 };
  guint n_done = 0;

  for (guint i = 0; i < N; i++)
    {
      g_autofree char *script = g_strdup_printf ("head -c 100000 /dev/zero | tr '\\0' a; "
                                                 "echo %u >&2; exit %u", i, i);
      g_autoptr(SbxCommand) command = shell (script);

      calls[i].n_done = &n_done;
      sbx_session_exec_async (session, command, NULL, count_cb, &calls[i]);
    }

  test_wait_for (n_done == N);

  for (guint i = 0; i < N; i++)
    {
      g_autofree char *err = bytes_to_text (sbx_exec_result_get_stderr (calls[i].result));

      assert_exited_with (calls[i].result, (int) i);
      g_assert_cmpint (g_bytes_get_size (sbx_exec_result_get_stdout (calls[i].result)), ==, 100000);
      g_assert_cmpint (g_ascii_strtoll (err, NULL, 10), ==, i);
      g_clear_object (&calls[i].result);
    }

  close_session (session);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  adopt_orphans ();

  g_test_add_func ("/session/exec/ends", test_ends);
  g_test_add_func ("/session/exec/not-started", test_not_started);
  g_test_add_func ("/session/exec/output-and-end", test_output_and_end);
  g_test_add_func ("/session/exec/time-out", test_time_out);
  g_test_add_func ("/session/exec/supervisor", test_supervisor);
  g_test_add_func ("/session/exec/arguments", test_arguments);
  g_test_add_func ("/session/exec/many", test_many);

  return g_test_run ();
}
