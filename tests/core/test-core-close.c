/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "core-child.h"
#include "core-session.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

/* How a session ends: closed, lost, or both, with calls in flight. */

static void
closed_cb (SbxSession   *session,
           const GError *error,
           GString      *journal)
{
  g_string_append_printf (journal, "closed:%s ", error != NULL ? error->message : "well");
}

static void
state_cb (SbxSession *session,
          GParamSpec *pspec,
          GString    *journal)
{
  g_string_append_printf (journal, "state:%d ", sbx_session_get_state (session));
}

static void
watch (TestSession *session,
       GString     *journal)
{
  g_signal_connect (session, "closed", G_CALLBACK (closed_cb), journal);
  g_signal_connect (session, "notify::state", G_CALLBACK (state_cb), journal);
}

static void
test_once (void)
{
  g_autoptr(TestSession) session = test_session_new (test_answer_at_once);
  g_autoptr(GString) journal = g_string_new (NULL);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(GError) error = NULL;
  GAsyncResult *done[3] = { NULL, };

  watch (session, journal);
  session->close_behaviour = test_keep;
  for (guint i = 0; i < G_N_ELEMENTS (done); i++)
    sbx_session_close_async (SBX_SESSION (session), NULL, test_store_result, &done[i]);
  test_run_ready ();
  g_assert_cmpstr (session->calls->str, ==, "close ");
  g_assert_cmpstr (journal->str, ==, "state:1 ");

  /* Nothing new begins. */
  g_assert_null (sbx_session_exec (SBX_SESSION (session), command, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_CLOSED);
  g_clear_error (&error);
  g_assert_null (sbx_session_read_file (SBX_SESSION (session), "a", 0, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_CLOSED);

  sbx_close_invocation_return_done (SBX_CLOSE_INVOCATION (session->kept));
  test_wait_for (done[0] != NULL && done[1] != NULL && done[2] != NULL);
  for (guint i = 0; i < G_N_ELEMENTS (done); i++)
    {
      g_assert_true (sbx_session_close_finish (SBX_SESSION (session), done[i], NULL));
      g_object_unref (done[i]);
    }

  g_assert_true (sbx_session_close (SBX_SESSION (session), NULL, NULL));
  g_assert_cmpstr (session->calls->str, ==, "close ");
  g_assert_cmpstr (journal->str, ==, "state:1 state:2 closed:well ");
  g_assert_null (sbx_session_get_failure (SBX_SESSION (session)));
}

/* One that went wrong went wrong for everybody, and is not tried again. */
static void
test_error (void)
{
  g_autoptr(TestSession) session = test_session_new (NULL);
  g_autoptr(GString) journal = g_string_new (NULL);
  GError *error = NULL;
  GAsyncResult *done[2] = { NULL, };

  watch (session, journal);
  session->close_behaviour = test_keep;
  for (guint i = 0; i < G_N_ELEMENTS (done); i++)
    sbx_session_close_async (SBX_SESSION (session), NULL, test_store_result, &done[i]);
  sbx_invocation_return_error (session->kept, SBX_ERROR_PROVIDER, "left_behind");
  test_wait_for (done[0] != NULL && done[1] != NULL);
  for (guint i = 0; i < G_N_ELEMENTS (done); i++)
    {
      g_assert_false (sbx_session_close_finish (SBX_SESSION (session), done[i], &error));
      g_assert_error (error, SBX_ERROR, SBX_ERROR_PROVIDER);
      g_clear_error (&error);
      g_object_unref (done[i]);
    }

  g_assert_false (sbx_session_close (SBX_SESSION (session), NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_PROVIDER);
  g_clear_error (&error);
  g_assert_cmpstr (session->calls->str, ==, "close ");
  g_assert_cmpstr (journal->str, ==, "state:1 state:2 closed:left_behind ");
  g_assert_error (sbx_session_get_failure (SBX_SESSION (session)), SBX_ERROR, SBX_ERROR_PROVIDER);
}

/* Whoever it is who cancels wants it to be quick. */
static void
test_cancelled_by_another (void)
{
  g_autoptr(TestSession) session = test_session_new (NULL);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GAsyncResult) first = NULL;
  g_autoptr(GAsyncResult) second = NULL;

  session->close_behaviour = test_keep;
  sbx_session_close_async (SBX_SESSION (session), NULL, test_store_result, &first);
  sbx_session_close_async (SBX_SESSION (session), cancellable, test_store_result, &second);
  test_run_ready ();
  g_assert_false (g_cancellable_is_cancelled (sbx_invocation_get_cancellable (session->kept)));
  g_cancellable_cancel (cancellable);
  test_run_ready ();
  g_assert_true (g_cancellable_is_cancelled (sbx_invocation_get_cancellable (session->kept)));
  g_assert_null (second);

  sbx_close_invocation_return_done (SBX_CLOSE_INVOCATION (session->kept));
  test_wait_for (first != NULL && second != NULL);
  g_assert_true (sbx_session_close_finish (SBX_SESSION (session), first, NULL));
  g_assert_true (sbx_session_close_finish (SBX_SESSION (session), second, NULL));
}

/* Every verb but open and close, in flight. */
typedef struct
{
  TestProvider  *provider;
  SbxInvocation *kept[11];
  TestCall       calls[11];
} Flight;

static void
flight_begin (Flight        *flight,
              TestBehaviour  behaviour)
{
  flight->provider = test_provider_new (behaviour);
  flight->provider->session->close_behaviour = test_answer_at_once;
  for (guint i = 0; i < G_N_ELEMENTS (flight->calls); i++)
    {
      test_verb_begin (&test_verbs[i + 1], flight->provider, NULL, &flight->calls[i]);
      flight->kept[i] = g_object_ref (flight->provider->session->kept);
    }
}

static void
flight_land (Flight *flight)
{
  for (guint i = 0; i < G_N_ELEMENTS (flight->calls); i++)
    test_wait_for (flight->calls[i].result != NULL);
}

static void
flight_clear (Flight *flight)
{
  for (guint i = 0; i < G_N_ELEMENTS (flight->calls); i++)
    {
      test_call_clear (&flight->calls[i]);
      g_object_unref (flight->kept[i]);
    }
  g_object_unref (flight->provider);
}

/* What a run or an exec says that was in flight when the sandbox went away. */
static void
assert_lost (Flight     *flight,
             guint       i,
             const char *message)
{
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GObject) source = g_async_result_get_source_object (flight->calls[i].result);

  result = i == 0 ? sbx_session_exec_finish (SBX_SESSION (source), flight->calls[i].result, NULL)
                  : sbx_process_run_finish (SBX_PROCESS (source), flight->calls[i].result, NULL);
  g_assert_nonnull (result);
  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_LOST);
  if (message != NULL)
    g_assert_cmpstr (sbx_exec_result_get_message (result), ==, message);
}

static void
test_lost (void)
{
  g_autoptr(GError) error = g_error_new_literal (SBX_ERROR, SBX_ERROR_LOST, "it fell over");
  g_autoptr(GError) later = g_error_new_literal (SBX_ERROR, SBX_ERROR_FAILED, "again");
  g_autoptr(GError) refused = NULL;
  g_autoptr(GString) journal = g_string_new (NULL);
  Flight flight = { NULL, };
  SbxSession *session;

  flight_begin (&flight, test_keep);
  session = SBX_SESSION (flight.provider->session);
  watch (flight.provider->session, journal);
  sbx_session_fail (session, error);
  sbx_session_fail (session, later);
  g_assert_cmpint (sbx_session_get_state (session), ==, SBX_SESSION_STATE_LOST);
  g_assert_true (g_error_matches (sbx_session_get_failure (session), SBX_ERROR, SBX_ERROR_LOST));
  g_assert_cmpstr (journal->str, ==, "state:3 closed:it fell over ");

  flight_land (&flight);
  assert_lost (&flight, 0, "it fell over");
  assert_lost (&flight, 1, "it fell over");
  /* Nobody knows whether these were started. */
  for (guint i = 2; i < G_N_ELEMENTS (flight.calls); i++)
    test_verb_assert_error (&test_verbs[i + 1], &flight.calls[i], SBX_ERROR, SBX_ERROR_LOST);

  for (guint i = 0; i < G_N_ELEMENTS (flight.calls); i++)
    {
      g_assert_true (g_cancellable_is_cancelled (sbx_invocation_get_cancellable (flight.kept[i])));
      /* Too late, and no defect. */
      test_answer (G_OBJECT (session), flight.kept[i]);
    }

  g_assert_false (sbx_session_remove (session, "a", NULL, &refused));
  g_assert_error (refused, SBX_ERROR, SBX_ERROR_CLOSED);
  g_assert_nonnull (strstr (refused->message, "it fell over"));

  /* Closing cleans up, and does not make it less lost. */
  g_assert_true (sbx_session_close (session, NULL, NULL));
  g_assert_true (g_str_has_suffix (flight.provider->session->calls->str, "close "));
  g_assert_cmpint (sbx_session_get_state (session), ==, SBX_SESSION_STATE_LOST);
  g_assert_cmpstr (journal->str, ==, "state:3 closed:it fell over ");
  flight_clear (&flight);
}

/* With another error than that a command is not lost but could not be run. */
static void
test_broken (void)
{
  g_autoptr(GError) error = g_error_new_literal (SBX_ERROR, SBX_ERROR_PROTOCOL, "nonsense");
  Flight flight = { NULL, };

  flight_begin (&flight, test_keep);
  sbx_session_fail (SBX_SESSION (flight.provider->session), error);
  flight_land (&flight);
  for (guint i = 0; i < G_N_ELEMENTS (flight.calls); i++)
    test_verb_assert_error (&test_verbs[i + 1], &flight.calls[i], SBX_ERROR, SBX_ERROR_PROTOCOL);
  flight_clear (&flight);
}

/* A process that was started and is lost has run. */
static void
test_lost_running (void)
{
  g_autoptr(TestSession) session = test_session_new (test_start_and_keep);
  g_autoptr(SbxCommand) command = test_command ("sleep", NULL);
  g_autoptr(GError) error = g_error_new_literal (SBX_ERROR, SBX_ERROR_LOST, "it fell over");
  g_autoptr(SbxProcess) process = sbx_session_spawn (SBX_SESSION (session), command, NULL, NULL);
  g_autoptr(SbxExecResult) result = NULL;

  sbx_session_fail (SBX_SESSION (session), error);
  result = sbx_process_wait (process, NULL, NULL);
  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_LOST);
  g_assert_true (sbx_process_kill (process, SIGKILL, NULL));
}

static void
test_lost_close_error (void)
{
  g_autoptr(TestSession) session = test_session_new (NULL);
  g_autoptr(GError) lost = g_error_new_literal (SBX_ERROR, SBX_ERROR_LOST, "it fell over");
  GError *error = NULL;

  session->close_behaviour = test_refuse;
  sbx_session_fail (SBX_SESSION (session), lost);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_false (sbx_session_close (SBX_SESSION (session), NULL, &error));
      g_assert_error (error, SBX_ERROR, SBX_ERROR_UNANSWERED);
      g_clear_error (&error);
    }
  g_assert_error (sbx_session_get_failure (SBX_SESSION (session)), SBX_ERROR, SBX_ERROR_LOST);
}

static void
test_fail_after_close (void)
{
  g_autoptr(TestSession) session = test_session_new (NULL);
  g_autoptr(GString) journal = g_string_new (NULL);
  g_autoptr(GError) error = g_error_new_literal (SBX_ERROR, SBX_ERROR_LOST, "it fell over");
  g_autoptr(GAsyncResult) done = NULL;

  watch (session, journal);
  session->close_behaviour = test_keep;
  sbx_session_close_async (SBX_SESSION (session), NULL, test_store_result, &done);
  sbx_session_fail (SBX_SESSION (session), error);
  sbx_close_invocation_return_done (SBX_CLOSE_INVOCATION (session->kept));
  test_wait_for (done != NULL);
  sbx_session_fail (SBX_SESSION (session), error);
  g_assert_true (sbx_session_close_finish (SBX_SESSION (session), done, NULL));
  g_assert_cmpstr (journal->str, ==, "state:1 state:2 closed:well ");
}

static void
close_done_cb (GObject      *object,
               GAsyncResult *result,
               gpointer      user_data)
{
  Flight *flight = user_data;

  g_assert_true (sbx_session_close_finish (SBX_SESSION (object), result, NULL));

  /* Calls in flight end first. */
  for (guint i = 0; i < G_N_ELEMENTS (flight->calls); i++)
    g_assert_nonnull (flight->calls[i].result);
  g_clear_object (&flight->provider->session->kept);
  flight->provider->n_opens = 1;
}

/* With an implementation that ends what it is asked to end, and with one that does not. */
static void
test_in_flight (void)
{
  static const TestBehaviour behaviours[] = { test_honour, test_keep };

  for (guint j = 0; j < G_N_ELEMENTS (behaviours); j++)
    {
      Flight flight = { NULL, };

      flight_begin (&flight, behaviours[j]);
      sbx_session_close_async (SBX_SESSION (flight.provider->session), NULL, close_done_cb,
                               &flight);
      test_wait_for (flight.provider->n_opens == 1);

      /* None of them was cancelled by its caller, so that none may say so. */
      for (guint i = 4; i < G_N_ELEMENTS (flight.calls); i++)
        test_verb_assert_error (&test_verbs[i + 1], &flight.calls[i], SBX_ERROR,
                                SBX_ERROR_CLOSED);
      if (j == 1)
        {
          assert_lost (&flight, 0, NULL);
          assert_lost (&flight, 1, NULL);
        }
      flight_clear (&flight);
    }
}

static void
exited_cb (SbxProcess    *process,
           SbxExecResult *result,
           GString       *journal)
{
  g_assert_cmpint (sbx_exec_result_get_outcome (result), !=, SBX_EXEC_OUTCOME_EXITED);
  g_string_append (journal, "exited ");
}

static void
journal_done_cb (GObject      *object,
                 GAsyncResult *result,
                 gpointer      user_data)
{
  g_string_append (user_data, "done ");
}

/* A real child, in the midst of its output. */
static void
test_child (void)
{
  g_autoptr(SbxSession) session = test_child_session_new ();
  g_autoptr(SbxCommand) command = test_command ("yes", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
  g_autoptr(GString) journal = g_string_new (NULL);

  g_signal_connect (process, "exited", G_CALLBACK (exited_cb), journal);
  g_signal_connect (session, "closed", G_CALLBACK (closed_cb), journal);
  g_assert_true (sbx_process_start (process, NULL, NULL));
  sbx_session_close_async (session, NULL, journal_done_cb, journal);
  test_wait_for (g_str_has_suffix (journal->str, "done "));
  g_assert_cmpstr (journal->str, ==, "exited closed:well done ");
}

/* What a handler does while something is told. Each closes and waits for that. */
typedef enum
{
  IN_CREATED,
  IN_STARTED,
  IN_STDOUT,
  IN_PROCESS_STATE,
  IN_EXITED,
  IN_CALLBACK,
  IN_SESSION_STATE,
  IN_CLOSED,
  N_PLACES,
} Place;

static void
close_now (SbxSession *session)
{
  g_autoptr(GError) error = NULL;

  g_assert_true (sbx_session_close (session, NULL, &error));
  g_assert_no_error (error);
}

static void
process_close_cb (SbxProcess *process)
{
  close_now (sbx_process_get_session (process));
}

static void
state_close_cb (SbxProcess *process,
                GParamSpec *pspec)
{
  close_now (sbx_process_get_session (process));
}

static void
created_close_cb (SbxSession *session)
{
  close_now (session);
}

static void
ask_close_cb (SbxSession *session)
{
  /* Within a close only asking is possible. */
  sbx_session_close_async (session, NULL, NULL, NULL);
}

static void
ran_close_cb (GObject      *object,
              GAsyncResult *result,
              gpointer      user_data)
{
  TestCall *call = user_data;

  g_assert_true (call->returned);
  if (call->result == NULL)
    close_now (sbx_process_get_session (SBX_PROCESS (object)));
  g_set_object (&call->result, result);
}

static gboolean
talk (GObject       *owner,
      SbxInvocation *invocation)
{
  g_autoptr(GBytes) bytes = g_bytes_new_static ("text", 4);

  sbx_exec_invocation_started (SBX_EXEC_INVOCATION (invocation), NULL);
  sbx_exec_invocation_emit_stdout (SBX_EXEC_INVOCATION (invocation), bytes);
  if (!sbx_invocation_is_answered (invocation))
    sbx_exec_invocation_return_exited (SBX_EXEC_INVOCATION (invocation), 0);

  return TRUE;
}

static gboolean
talk_without_start (GObject       *owner,
                    SbxInvocation *invocation)
{
  g_autoptr(GBytes) bytes = g_bytes_new_static ("text", 4);

  sbx_exec_invocation_emit_stdout (SBX_EXEC_INVOCATION (invocation), bytes);
  sbx_exec_invocation_return_exited (SBX_EXEC_INVOCATION (invocation), 0);

  return TRUE;
}

/* What it wrote is still in the pipe when it has ended. */
static gboolean
write_and_exit (GObject       *owner,
                SbxInvocation *invocation)
{
  SbxExecInvocation *exec = SBX_EXEC_INVOCATION (invocation);
  const int fd = sbx_exec_invocation_steal_stdout_fd (exec);

  g_assert_cmpint (write (fd, "text", 4), ==, 4);
  close (fd);
  sbx_exec_invocation_return_exited (exec, 0);

  return TRUE;
}

static void
check_close_in (SbxSession *session,
                Place       place)
{
  g_autoptr(SbxCommand) command = test_command ("echo", "text", NULL);
  g_autoptr(SbxProcess) process = NULL;
  g_auto(TestCall) call = { FALSE, };

  if (place == IN_CREATED)
    g_signal_connect (session, "process-created", G_CALLBACK (created_close_cb), NULL);
  process = sbx_session_create_process (session, command);

  if (place == IN_STARTED)
    g_signal_connect (process, "started", G_CALLBACK (process_close_cb), NULL);
  if (place == IN_STDOUT)
    g_signal_connect (process, "stdout", G_CALLBACK (process_close_cb), NULL);
  if (place == IN_PROCESS_STATE)
    g_signal_connect (process, "notify::state", G_CALLBACK (state_close_cb), NULL);
  if (place == IN_EXITED)
    g_signal_connect (process, "exited", G_CALLBACK (process_close_cb), NULL);
  if (place == IN_SESSION_STATE)
    g_signal_connect (session, "notify::state", G_CALLBACK (ask_close_cb), NULL);
  if (place == IN_CLOSED)
    g_signal_connect (session, "closed", G_CALLBACK (ask_close_cb), NULL);

  sbx_process_run_async (process, NULL, place == IN_CALLBACK ? ran_close_cb : test_call_cb, &call);
  call.returned = TRUE;
  test_wait_for (call.result != NULL);
  close_now (session);
  g_assert_cmpint (sbx_session_get_state (session), ==, SBX_SESSION_STATE_CLOSED);
}

static void
test_in_handler (void)
{
  for (Place place = 0; place < N_PLACES; place++)
    {
      static const TestBehaviour behaviours[] = { talk, talk_without_start, write_and_exit };
      g_autoptr(SbxSession) child = test_child_session_new ();

      for (guint i = 0; i < G_N_ELEMENTS (behaviours); i++)
        {
          g_autoptr(TestSession) session = test_session_new (behaviours[i]);

          check_close_in (SBX_SESSION (session), place);
        }

      check_close_in (child, place);
      test_run_ready ();
    }
}

/* One that waits for a close that waits for what is being delivered to it. */
static void
test_in_handler_of_close (void)
{
  g_autoptr(SbxSession) session = test_child_session_new ();
  g_autoptr(SbxCommand) command = test_command ("sh", "-c", "echo text; exec sleep 100", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
  g_autoptr(GAsyncResult) done = NULL;

  g_assert_true (sbx_process_start (process, NULL, NULL));
  g_signal_connect (process, "stdout", G_CALLBACK (process_close_cb), NULL);
  g_signal_connect (process, "exited", G_CALLBACK (process_close_cb), NULL);
  sbx_session_close_async (session, NULL, test_store_result, &done);
  test_wait_for (done != NULL);
  g_assert_true (sbx_session_close_finish (session, done, NULL));
  g_assert_cmpint (sbx_process_get_state (process), ==, SBX_PROCESS_STATE_ENDED);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/core/close/once", test_once);
  g_test_add_func ("/core/close/error", test_error);
  g_test_add_func ("/core/close/cancelled-by-another", test_cancelled_by_another);
  g_test_add_func ("/core/close/lost", test_lost);
  g_test_add_func ("/core/close/lost/running", test_lost_running);
  g_test_add_func ("/core/close/lost/close-error", test_lost_close_error);
  g_test_add_func ("/core/close/broken", test_broken);
  g_test_add_func ("/core/close/fail-after-close", test_fail_after_close);
  g_test_add_func ("/core/close/in-flight", test_in_flight);
  g_test_add_func ("/core/close/child", test_child);
  g_test_add_func ("/core/close/in-handler", test_in_handler);
  g_test_add_func ("/core/close/in-handler/of-close", test_in_handler_of_close);

  return g_test_run ();
}
