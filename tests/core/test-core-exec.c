/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "core-session.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

/* One command from its making to its end. The implementation passes on what it writes. */

static void
started_cb (SbxProcess *process,
            GString    *journal)
{
  g_assert_cmpint (sbx_process_get_state (process), ==, SBX_PROCESS_STATE_RUNNING);
  g_string_append (journal, "started ");
}

static void
stdout_cb (SbxProcess *process,
           GBytes     *bytes,
           GString    *journal)
{
  g_string_append_printf (journal, "out:%.*s ", (int) g_bytes_get_size (bytes),
                          (const char *) g_bytes_get_data (bytes, NULL));
}

static void
stderr_cb (SbxProcess *process,
           GBytes     *bytes,
           GString    *journal)
{
  g_string_append_printf (journal, "err:%.*s ", (int) g_bytes_get_size (bytes),
                          (const char *) g_bytes_get_data (bytes, NULL));
}

static void
exited_cb (SbxProcess    *process,
           SbxExecResult *result,
           GString       *journal)
{
  g_assert_cmpint (sbx_process_get_state (process), ==, SBX_PROCESS_STATE_ENDED);
  g_assert_true (sbx_process_get_result (process) == result);
  g_string_append (journal, "exited ");
}

static void
observe (SbxSession *session,
         SbxProcess *process,
         GString    *journal)
{
  g_assert_true (sbx_process_get_session (process) == session);
  g_assert_cmpint (sbx_process_get_state (process), ==, SBX_PROCESS_STATE_NEW);
  g_string_append (journal, "created ");
  g_signal_connect (process, "started", G_CALLBACK (started_cb), journal);
  g_signal_connect (process, "stdout", G_CALLBACK (stdout_cb), journal);
  g_signal_connect (process, "stderr", G_CALLBACK (stderr_cb), journal);
  g_signal_connect (process, "exited", G_CALLBACK (exited_cb), journal);
}

static void
journal_done_cb (GObject      *object,
                 GAsyncResult *result,
                 gpointer      user_data)
{
  g_string_append (user_data, "done ");
}

static void
emit (SbxInvocation *invocation,
      const char    *out,
      const char    *err)
{
  g_autoptr(GBytes) out_bytes = g_bytes_new (out, strlen (out));
  g_autoptr(GBytes) err_bytes = g_bytes_new (err, strlen (err));

  sbx_exec_invocation_emit_stdout (SBX_EXEC_INVOCATION (invocation), out_bytes);
  sbx_exec_invocation_emit_stderr (SBX_EXEC_INVOCATION (invocation), err_bytes);
}

static gboolean
talk_at_once (GObject       *owner,
              SbxInvocation *invocation)
{
  sbx_exec_invocation_started (SBX_EXEC_INVOCATION (invocation), "p1");
  emit (invocation, "a", "b");
  emit (invocation, "c", "");
  sbx_exec_invocation_return_exited (SBX_EXEC_INVOCATION (invocation), 0);
  /* Nothing comes after the end. */
  emit (invocation, "late", "late");

  return TRUE;
}

static gboolean
talk_before_start (GObject       *owner,
                   SbxInvocation *invocation)
{
  emit (invocation, "a", "b");
  sbx_exec_invocation_started (SBX_EXEC_INVOCATION (invocation), "p1");
  emit (invocation, "c", "");
  sbx_exec_invocation_started (SBX_EXEC_INVOCATION (invocation), "p2");
  sbx_exec_invocation_return_exited (SBX_EXEC_INVOCATION (invocation), 0);

  return TRUE;
}

static gboolean
talk_without_start (GObject       *owner,
                    SbxInvocation *invocation)
{
  emit (invocation, "a", "b");
  emit (invocation, "c", "");
  sbx_exec_invocation_return_exited (SBX_EXEC_INVOCATION (invocation), 0);

  return TRUE;
}

static void
test_order (void)
{
  static const struct
  {
    TestBehaviour  behaviour;
    const char    *id;
  } cases[] = {
    { talk_at_once, "p1" },
    { talk_before_start, "p1" },
    { talk_without_start, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(TestSession) session = test_session_new (cases[i].behaviour);
      g_autoptr(GString) journal = g_string_new (NULL);
      g_autoptr(SbxCommand) command = test_command ("talk", NULL);
      g_autoptr(SbxProcess) process = NULL;

      g_signal_connect (session, "process-created", G_CALLBACK (observe), journal);
      process = sbx_session_create_process (SBX_SESSION (session), command);
      g_assert_null (sbx_process_get_id (process));
      g_assert_null (sbx_process_get_result (process));

      sbx_process_run_async (process, NULL, journal_done_cb, journal);
      test_wait_for (g_str_has_suffix (journal->str, "done "));
      g_assert_cmpstr (journal->str, ==, "created started out:a err:b out:c exited done ");
      g_assert_cmpstr (sbx_process_get_id (process), ==, cases[i].id);
      test_assert_bytes (sbx_exec_result_get_stdout (sbx_process_get_result (process)), "ac");
      test_assert_bytes (sbx_exec_result_get_stderr (sbx_process_get_result (process)), "b");
    }
}

/* An observer sees the executions of every verb, from before they start. */
static void
test_observed (void)
{
  g_autoptr(TestSession) session = test_session_new (talk_at_once);
  g_autoptr(GString) journal = g_string_new (NULL);
  g_autoptr(SbxCommand) command = test_command ("talk", NULL);
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(SbxProcess) spawned = NULL;
  g_autoptr(SbxExecResult) waited = NULL;

  g_signal_connect (session, "process-created", G_CALLBACK (observe), journal);

  result = sbx_session_exec (SBX_SESSION (session), command, NULL, NULL);
  g_assert_nonnull (result);
  spawned = sbx_session_spawn (SBX_SESSION (session), command, NULL, NULL);
  g_assert_nonnull (spawned);
  waited = sbx_process_wait (spawned, NULL, NULL);
  g_assert_nonnull (waited);

  g_assert_cmpstr (journal->str, ==,
                   "created started out:a err:b out:c exited "
                   "created started out:a err:b out:c exited ");
}

/* While nobody tells that the command runs, no more than a little is held back. */
static void
test_early_bound (void)
{
  g_autoptr(TestSession) session = test_session_new (test_keep);
  g_autoptr(GString) journal = g_string_new (NULL);
  g_autoptr(SbxCommand) command = test_command ("talk", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (SBX_SESSION (session), command);
  g_autofree char *text = g_strnfill (64 * 1024, 'x');
  SbxExecInvocation *invocation;
  GBytes *collected;

  g_signal_connect (process, "started", G_CALLBACK (started_cb), journal);
  sbx_process_run_async (process, NULL, journal_done_cb, journal);
  invocation = SBX_EXEC_INVOCATION (session->kept);

  for (guint i = 0; i < 4; i++)
    emit (session->kept, text, "");
  g_assert_cmpint (sbx_process_get_state (process), ==, SBX_PROCESS_STATE_STARTING);
  emit (session->kept, text, "");
  g_assert_cmpint (sbx_process_get_state (process), ==, SBX_PROCESS_STATE_RUNNING);
  g_assert_null (sbx_process_get_id (process));

  /* The name may still come. */
  sbx_exec_invocation_started (invocation, "p1");
  g_assert_cmpstr (sbx_process_get_id (process), ==, "p1");
  sbx_exec_invocation_return_exited (invocation, 0);
  test_wait_for (g_str_has_suffix (journal->str, "done "));
  g_assert_cmpstr (journal->str, ==, "started done ");
  collected = sbx_exec_result_get_stdout (sbx_process_get_result (process));
  g_assert_cmpuint (g_bytes_get_size (collected), ==, 5 * 64 * 1024);
}

typedef void (*AnswerFunc) (SbxExecInvocation *invocation);

static SbxExecResult *
run_kept (TestSession *session,
          AnswerFunc   answer)
{
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(GError) error = NULL;
  GAsyncResult *done = NULL;
  SbxExecResult *result;

  sbx_session_exec_async (SBX_SESSION (session), command, NULL, test_store_result, &done);
  answer (SBX_EXEC_INVOCATION (session->kept));
  test_wait_for (done != NULL);
  result = sbx_session_exec_finish (SBX_SESSION (session), done, &error);
  g_assert_no_error (error);
  g_object_unref (done);

  return result;
}

static void
answer_exited (SbxExecInvocation *invocation)
{
  sbx_exec_invocation_return_exited (invocation, 255);
}

static void
answer_signalled (SbxExecInvocation *invocation)
{
  sbx_exec_invocation_return_signalled (invocation, SIGSEGV, TRUE);
}

static void
answer_not_started (SbxExecInvocation *invocation)
{
  sbx_exec_invocation_return_not_started (invocation, SBX_NOT_STARTED_NOT_EXECUTABLE, EACCES,
                                          "not a program");
}

static void
answer_lost (SbxExecInvocation *invocation)
{
  sbx_exec_invocation_return_lost (invocation, "who knows");
}

/* What the implementation says is what the caller gets. */
static void
test_results (void)
{
  g_autoptr(TestSession) session = test_session_new (test_keep);
  g_autoptr(SbxExecResult) exited = run_kept (session, answer_exited);
  g_autoptr(SbxExecResult) signalled = run_kept (session, answer_signalled);
  g_autoptr(SbxExecResult) not_started = run_kept (session, answer_not_started);
  g_autoptr(SbxExecResult) lost = run_kept (session, answer_lost);

  g_assert_cmpint (sbx_exec_result_get_outcome (exited), ==, SBX_EXEC_OUTCOME_EXITED);
  g_assert_cmpint (sbx_exec_result_get_exit_code (exited), ==, 255);

  g_assert_cmpint (sbx_exec_result_get_outcome (signalled), ==, SBX_EXEC_OUTCOME_SIGNALLED);
  g_assert_cmpint (sbx_exec_result_get_signal (signalled), ==, SIGSEGV);
  g_assert_true (sbx_exec_result_get_core_dumped (signalled));

  g_assert_cmpint (sbx_exec_result_get_outcome (not_started), ==, SBX_EXEC_OUTCOME_NOT_STARTED);
  g_assert_cmpint (sbx_exec_result_get_not_started (not_started), ==,
                   SBX_NOT_STARTED_NOT_EXECUTABLE);
  g_assert_cmpint (sbx_exec_result_get_errno (not_started), ==, EACCES);
  g_assert_cmpstr (sbx_exec_result_get_message (not_started), ==, "not a program");

  g_assert_cmpint (sbx_exec_result_get_outcome (lost), ==, SBX_EXEC_OUTCOME_LOST);
  g_assert_cmpstr (sbx_exec_result_get_message (lost), ==, "who knows");
}

/* A number that is no exit code, such as Python's for a signal, is a defect and no result. */
static void
test_bad_exit_code (void)
{
  g_autoptr(TestSession) session = test_session_new (test_keep);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(GAsyncResult) done = NULL;

  sbx_session_exec_async (SBX_SESSION (session), command, NULL, test_store_result, &done);

  g_test_expect_message ("libsbx", G_LOG_LEVEL_CRITICAL, "*exit_code >= 0*");
  sbx_exec_invocation_return_exited (SBX_EXEC_INVOCATION (session->kept), -9);
  g_test_expect_message ("libsbx", G_LOG_LEVEL_CRITICAL, "*exit_code <= 255*");
  sbx_exec_invocation_return_exited (SBX_EXEC_INVOCATION (session->kept), 256);
  g_test_expect_message ("libsbx", G_LOG_LEVEL_CRITICAL, "*signal_number > 0*");
  sbx_exec_invocation_return_signalled (SBX_EXEC_INVOCATION (session->kept), 0, FALSE);
  g_test_assert_expected_messages ();

  g_assert_false (sbx_invocation_is_answered (session->kept));
  sbx_exec_invocation_return_exited (SBX_EXEC_INVOCATION (session->kept), 0);
  test_wait_for (done != NULL);
}

/* What could not be started has never told that it runs, and is an error to who starts it. */
static void
test_not_started (void)
{
  static const struct
  {
    SbxNotStarted  reason;
    SbxError       code;
  } cases[] = {
    { SBX_NOT_STARTED_NOT_FOUND, SBX_ERROR_NOT_FOUND },
    { SBX_NOT_STARTED_BAD_CWD, SBX_ERROR_FAILED },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(TestSession) session = test_session_new (test_keep);
      g_autoptr(GString) journal = g_string_new (NULL);
      g_autoptr(SbxCommand) command = test_command ("true", NULL);
      g_autoptr(SbxProcess) process = NULL;
      g_autoptr(GAsyncResult) done = NULL;
      g_autoptr(GError) error = NULL;
      g_autoptr(SbxExecResult) result = NULL;

      g_signal_connect (session, "process-created", G_CALLBACK (observe), journal);
      process = sbx_session_create_process (SBX_SESSION (session), command);
      sbx_process_start_async (process, NULL, test_store_result, &done);
      sbx_exec_invocation_return_not_started (SBX_EXEC_INVOCATION (session->kept), cases[i].reason,
                                              ENOENT, "no way");
      test_wait_for (done != NULL);
      g_assert_false (sbx_process_start_finish (process, done, &error));
      g_assert_error (error, SBX_ERROR, (int) cases[i].code);
      g_assert_cmpstr (error->message, ==, "no way");
      g_assert_cmpstr (journal->str, ==, "created exited ");

      result = sbx_process_wait (process, NULL, NULL);
      g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_NOT_STARTED);
    }
}

static void
test_refused_to_run (void)
{
  g_autoptr(TestSession) session = test_session_new (test_answer_at_once);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(SbxCommand) empty = test_command ("", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (SBX_SESSION (session), command);
  g_autoptr(SbxProcess) invalid = sbx_session_create_process (SBX_SESSION (session), empty);
  g_autoptr(SbxExecResult) result = NULL;
  GError *error = NULL;

  /* Neither waited for nor killed before it was started. */
  g_assert_null (sbx_process_wait (process, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_false (sbx_process_kill (process, SIGTERM, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
  g_clear_error (&error);

  result = sbx_process_run (process, NULL, &error);
  g_assert_no_error (error);

  /* One process is one execution. */
  g_assert_null (sbx_process_run (process, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_BUSY);
  g_clear_error (&error);
  g_assert_false (sbx_process_start (process, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_BUSY);
  g_clear_error (&error);

  g_assert_null (sbx_process_run (invalid, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_cmpint (sbx_process_get_state (invalid), ==, SBX_PROCESS_STATE_NEW);
  g_assert_cmpstr (session->calls->str, ==, "exec ");
}

static SbxProcess *
start (TestSession   *session,
       TestBehaviour  behaviour,
       guint          timeout_ms)
{
  g_autoptr(SbxCommand) command = test_command ("sleep", NULL);
  SbxProcess *process;

  session->behaviour = behaviour;
  sbx_command_set_timeout (command, timeout_ms);
  process = sbx_session_create_process (SBX_SESSION (session), command);
  g_assert_true (sbx_process_start (process, NULL, NULL));

  return process;
}

static gboolean
start_and_honour (GObject       *owner,
                  SbxInvocation *invocation)
{
  sbx_exec_invocation_started (SBX_EXEC_INVOCATION (invocation), NULL);

  return test_honour (owner, invocation);
}

static void
test_timeout (void)
{
  g_autoptr(TestSession) session = test_session_new (NULL);
  g_autoptr(SbxProcess) process = start (session, start_and_honour, 20);
  g_autoptr(SbxExecResult) result = sbx_process_wait (process, NULL, NULL);

  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_TIMED_OUT);
  g_assert_cmpint (sbx_exec_result_get_exit_code (result), ==, -1);
}

static void
exit_cb (GCancellable  *cancellable,
         SbxInvocation *invocation)
{
  sbx_exec_invocation_return_exited (SBX_EXEC_INVOCATION (invocation), 0);
}

/* What ended by itself at that moment has ended by itself. */
static void
test_timeout_too_late (void)
{
  g_autoptr(TestSession) session = test_session_new (NULL);
  g_autoptr(SbxProcess) process = start (session, test_start_and_keep, 20);
  g_autoptr(SbxExecResult) result = NULL;

  g_signal_connect (sbx_invocation_get_cancellable (session->kept), "cancelled",
                    G_CALLBACK (exit_cb), session->kept);
  result = sbx_process_wait (process, NULL, NULL);
  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_EXITED);
}

/* A time-out after the end was told changes nothing, nor does a cancellation. */
static void
test_timeout_after (void)
{
  g_autoptr(TestSession) session = test_session_new (NULL);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(SbxCommand) command = test_command ("crash", NULL);
  g_autoptr(SbxProcess) process = NULL;
  g_autoptr(GAsyncResult) done = NULL;
  g_autoptr(SbxExecResult) result = NULL;

  session->behaviour = test_start_and_keep;
  sbx_command_set_timeout (command, 1);
  process = sbx_session_create_process (SBX_SESSION (session), command);
  sbx_process_run_async (process, cancellable, test_store_result, &done);
  sbx_exec_invocation_return_signalled (SBX_EXEC_INVOCATION (session->kept), SIGSEGV, FALSE);
  g_cancellable_cancel (cancellable);
  g_usleep (2000);
  test_wait_for (done != NULL);
  result = sbx_process_run_finish (process, done, NULL);
  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_SIGNALLED);
  g_assert_cmpint (sbx_exec_result_get_signal (result), ==, SIGSEGV);
}

static void
test_timeout_in_vain (void)
{
  g_autoptr(TestSession) session = test_session_new (NULL);
  g_autoptr(TestSession) killed = test_session_new (NULL);
  g_autoptr(SbxProcess) process = start (session, test_start_and_keep, 20);
  g_autoptr(SbxProcess) victim = start (killed, test_start_and_keep, 0);
  g_autoptr(SbxExecResult) late = NULL;
  g_autoptr(SbxExecResult) lost = NULL;

  g_assert_true (sbx_process_kill (victim, SIGKILL, NULL));
  late = sbx_process_wait (process, NULL, NULL);
  lost = sbx_process_wait (victim, NULL, NULL);

  g_assert_cmpint (sbx_exec_result_get_outcome (late), ==, SBX_EXEC_OUTCOME_TIMED_OUT);
  g_assert_cmpint (sbx_exec_result_get_outcome (lost), ==, SBX_EXEC_OUTCOME_LOST);
}

/* Cancelling a run ends the command. Who only waits for it is told how it ended. */
static void
test_cancel_and_wait (void)
{
  g_autoptr(TestSession) session = test_session_new (test_honour);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(SbxCommand) command = test_command ("sleep", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (SBX_SESSION (session), command);
  g_autoptr(GAsyncResult) ran = NULL;
  g_autoptr(GAsyncResult) waited = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(SbxExecResult) later = NULL;
  g_autoptr(GError) error = NULL;

  sbx_process_run_async (process, cancellable, test_store_result, &ran);
  sbx_process_wait_async (process, NULL, test_store_result, &waited);
  g_cancellable_cancel (cancellable);
  test_wait_for (ran != NULL && waited != NULL);

  g_assert_null (sbx_process_run_finish (process, ran, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);

  result = sbx_process_wait_finish (process, waited, NULL);
  g_assert_nonnull (result);
  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_SIGNALLED);
  later = sbx_process_wait (process, NULL, NULL);
  g_assert_true (later == result);
}

/* What was cancelled before it was started is cancelled, whatever the implementation calls it. */
static void
test_cancel_not_started (void)
{
  g_autoptr(TestSession) session = test_session_new (test_keep);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(SbxCommand) command = test_command ("sleep", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (SBX_SESSION (session), command);
  g_autoptr(GAsyncResult) done = NULL;
  g_autoptr(GError) error = NULL;

  sbx_process_start_async (process, cancellable, test_store_result, &done);
  g_cancellable_cancel (cancellable);
  test_run_ready ();
  sbx_exec_invocation_return_not_started (SBX_EXEC_INVOCATION (session->kept),
                                          SBX_NOT_STARTED_OTHER, 0, "not any more");
  test_wait_for (done != NULL);
  g_assert_false (sbx_process_start_finish (process, done, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpint (sbx_exec_result_get_outcome (sbx_process_get_result (process)), ==,
                   SBX_EXEC_OUTCOME_NOT_STARTED);
}

/* That a command could not be run at all everybody is told, at any time. */
static void
test_failure_and_wait (void)
{
  g_autoptr(TestSession) session = test_session_new (test_keep);
  g_autoptr(SbxCommand) command = test_command ("sleep", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (SBX_SESSION (session), command);
  g_autoptr(GAsyncResult) ran = NULL;
  g_autoptr(GAsyncResult) waited = NULL;
  GError *error = NULL;

  sbx_process_run_async (process, NULL, test_store_result, &ran);
  sbx_process_wait_async (process, NULL, test_store_result, &waited);
  sbx_invocation_return_error (session->kept, SBX_ERROR_PROVIDER, "out_of_order: no");
  test_wait_for (ran != NULL && waited != NULL);

  g_assert_null (sbx_process_run_finish (process, ran, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_PROVIDER);
  g_clear_error (&error);
  g_assert_null (sbx_process_wait_finish (process, waited, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_PROVIDER);
  g_clear_error (&error);
  g_assert_null (sbx_process_wait (process, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_PROVIDER);
  g_clear_error (&error);
}

static void
test_wait_cancelled (void)
{
  g_autoptr(TestSession) session = test_session_new (NULL);
  g_autoptr(SbxProcess) process = start (session, test_start_and_keep, 0);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GAsyncResult) cancelled = NULL;
  g_autoptr(GAsyncResult) waited = NULL;
  g_autoptr(GAsyncResult) before = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  GError *error = NULL;

  sbx_process_wait_async (process, cancellable, test_store_result, &cancelled);
  sbx_process_wait_async (process, NULL, test_store_result, &waited);
  g_cancellable_cancel (cancellable);
  g_assert_null (cancelled);
  test_wait_for (cancelled != NULL);
  g_assert_null (sbx_process_wait_finish (process, cancelled, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);

  sbx_process_wait_async (process, cancellable, test_store_result, &before);
  test_wait_for (before != NULL);
  g_assert_null (sbx_process_wait_finish (process, before, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);

  /* The process knows nothing of it. */
  g_assert_null (waited);
  g_assert_false (g_cancellable_is_cancelled (sbx_invocation_get_cancellable (session->kept)));
  sbx_exec_invocation_return_exited (SBX_EXEC_INVOCATION (session->kept), 5);
  test_wait_for (waited != NULL);
  result = sbx_process_wait_finish (process, waited, NULL);
  g_assert_cmpint (sbx_exec_result_get_exit_code (result), ==, 5);
}

/* The end is on its way to a context of the caller's own, and is not told a second time. */
static void
test_wait_cancelled_late (void)
{
  g_autoptr(GMainContext) context = g_main_context_new ();
  g_autoptr(TestSession) session = test_session_new (NULL);
  g_autoptr(SbxProcess) process = start (session, test_start_and_keep, 0);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GAsyncResult) waited = NULL;
  g_autoptr(SbxExecResult) result = NULL;

  g_main_context_push_thread_default (context);
  sbx_process_wait_async (process, cancellable, test_store_result, &waited);
  g_main_context_pop_thread_default (context);

  sbx_exec_invocation_return_exited (SBX_EXEC_INVOCATION (session->kept), 5);
  test_wait_for (sbx_process_get_state (process) == SBX_PROCESS_STATE_ENDED);
  g_cancellable_cancel (cancellable);
  while (g_main_context_iteration (context, FALSE))
    continue;

  g_assert_nonnull (waited);
  result = sbx_process_wait_finish (process, waited, NULL);
  g_assert_cmpint (sbx_exec_result_get_exit_code (result), ==, 5);
}

static gboolean
kill_cb (SbxExecInvocation *invocation,
         int                signal_number,
         int               *received)
{
  *received = signal_number;

  return signal_number != SIGUSR1;
}

static gboolean
kill_and_answer_cb (SbxExecInvocation *invocation,
                    int                signal_number,
                    TestSession       *session)
{
  sbx_exec_invocation_return_signalled (invocation, signal_number, FALSE);
  g_clear_object (&session->kept);

  return FALSE;
}

static void
test_kill (void)
{
  g_autoptr(TestSession) session = test_session_new (NULL);
  g_autoptr(SbxProcess) process = start (session, test_start_and_keep, 0);
  g_autoptr(SbxExecResult) result = NULL;
  int received = 0;
  GError *error = NULL;

  /* Nobody handles it: a process can only be ended. */
  g_assert_false (sbx_process_kill (process, SIGTERM, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED);
  g_clear_error (&error);
  g_assert_false (g_cancellable_is_cancelled (sbx_invocation_get_cancellable (session->kept)));

  g_signal_connect (session->kept, "kill", G_CALLBACK (kill_cb), &received);
  g_assert_true (sbx_process_kill (process, SIGTERM, NULL));
  g_assert_cmpint (received, ==, SIGTERM);
  g_assert_true (sbx_process_kill (process, 64, NULL));
  g_assert_cmpint (received, ==, 64);
  g_assert_false (sbx_process_kill (process, SIGUSR1, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED);
  g_clear_error (&error);
  g_assert_true (sbx_process_kill (process, SIGKILL, NULL));
  g_assert_cmpint (received, ==, SIGKILL);
  g_assert_false (g_cancellable_is_cancelled (sbx_invocation_get_cancellable (session->kept)));

  sbx_exec_invocation_return_signalled (SBX_EXEC_INVOCATION (session->kept), SIGKILL, FALSE);
  received = 0;
  g_assert_true (sbx_process_kill (process, SIGTERM, NULL));
  g_assert_cmpint (received, ==, 0);
  result = sbx_process_wait (process, NULL, NULL);
  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_SIGNALLED);
  g_assert_true (sbx_process_kill (process, SIGTERM, NULL));
}

static void
test_kill_unhandled (void)
{
  g_autoptr(TestSession) session = test_session_new (NULL);
  g_autoptr(SbxProcess) process = start (session, start_and_honour, 0);
  g_autoptr(SbxProcess) answering = NULL;
  g_autoptr(SbxExecResult) killed = NULL;
  g_autoptr(SbxExecResult) answered = NULL;

  g_assert_true (sbx_process_kill (process, SIGKILL, NULL));
  killed = sbx_process_wait (process, NULL, NULL);
  g_assert_cmpint (sbx_exec_result_get_outcome (killed), ==, SBX_EXEC_OUTCOME_SIGNALLED);
  g_assert_cmpint (sbx_exec_result_get_signal (killed), ==, SIGKILL);

  /* The call may be over, and gone, when its handler returns. */
  answering = start (session, test_start_and_keep, 0);
  g_signal_connect (session->kept, "kill", G_CALLBACK (kill_and_answer_cb), session);
  g_assert_true (sbx_process_kill (answering, SIGKILL, NULL));
  g_assert_null (session->kept);
  answered = sbx_process_wait (answering, NULL, NULL);
  g_assert_cmpint (sbx_exec_result_get_outcome (answered), ==, SBX_EXEC_OUTCOME_SIGNALLED);
}

/* Who keeps an answered call keeps neither its process nor its session. */
static void
test_kept_call (void)
{
  g_autoptr(TestSession) session = test_session_new (NULL);
  g_autoptr(SbxProcess) process = start (session, test_start_and_keep, 0);
  g_autoptr(SbxExecInvocation) invocation = SBX_EXEC_INVOCATION (g_steal_pointer (&session->kept));
  g_autoptr(GBytes) bytes = g_bytes_new_static ("x", 1);
  char byte;

  sbx_exec_invocation_return_exited (invocation, 0);
  test_wait_for (sbx_process_get_state (process) == SBX_PROCESS_STATE_ENDED);
  test_assert_finalizes (process);
  test_assert_finalizes (session);

  g_assert_cmpstr (sbx_command_get_argv (sbx_exec_invocation_get_command (invocation))[0], ==,
                   "sleep");
  sbx_exec_invocation_started (invocation, NULL);
  sbx_exec_invocation_emit_stdout (invocation, bytes);
  g_assert_cmpint (sbx_exec_invocation_get_credit (invocation), ==, 0);
  g_assert_cmpint (sbx_exec_invocation_steal_stdin_fd (invocation), ==, -1);
  g_assert_cmpint (sbx_exec_invocation_steal_stdout_fd (invocation), ==, -1);
  g_assert_cmpint (sbx_exec_invocation_steal_stderr_fd (invocation), ==, -1);
  g_assert_cmpint (g_input_stream_read (sbx_exec_invocation_get_stdin (invocation), &byte, 1,
                                        NULL, NULL), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/core/exec/order", test_order);
  g_test_add_func ("/core/exec/observed", test_observed);
  g_test_add_func ("/core/exec/early-bound", test_early_bound);
  g_test_add_func ("/core/exec/results", test_results);
  g_test_add_func ("/core/exec/bad-exit-code", test_bad_exit_code);
  g_test_add_func ("/core/exec/not-started", test_not_started);
  g_test_add_func ("/core/exec/refused-to-run", test_refused_to_run);
  g_test_add_func ("/core/exec/timeout", test_timeout);
  g_test_add_func ("/core/exec/timeout/too-late", test_timeout_too_late);
  g_test_add_func ("/core/exec/timeout/after", test_timeout_after);
  g_test_add_func ("/core/exec/timeout/in-vain", test_timeout_in_vain);
  g_test_add_func ("/core/exec/cancel-and-wait", test_cancel_and_wait);
  g_test_add_func ("/core/exec/cancel-not-started", test_cancel_not_started);
  g_test_add_func ("/core/exec/failure-and-wait", test_failure_and_wait);
  g_test_add_func ("/core/exec/wait-cancelled", test_wait_cancelled);
  g_test_add_func ("/core/exec/wait-cancelled/late", test_wait_cancelled_late);
  g_test_add_func ("/core/exec/kill", test_kill);
  g_test_add_func ("/core/exec/kill/unhandled", test_kill_unhandled);
  g_test_add_func ("/core/exec/kept-call", test_kept_call);

  return g_test_run ();
}
