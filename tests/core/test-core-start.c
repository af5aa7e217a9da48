/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "core-session.h"

#include <signal.h>

/* A session that starts commands, and hears no more of them. */

static SbxSession *
new_session (TestBehaviour behaviour)
{
  TestSession *session = g_object_new (TEST_TYPE_SESSION, "capabilities",
                                       SBX_CAPABILITIES_EXEC | SBX_CAPABILITIES_START, NULL);

  session->behaviour = behaviour;

  return SBX_SESSION (session);
}

static void
test_implied (void)
{
  g_autoptr(SbxSession) session = g_object_new (TEST_TYPE_SESSION, "capabilities",
                                                SBX_CAPABILITIES_SPAWN, NULL);

  g_assert_cmpuint (sbx_session_get_capabilities (session), ==,
                    SBX_CAPABILITIES_SPAWN | SBX_CAPABILITIES_START);
}

static void
test_out_of_reach (void)
{
  g_autoptr(SbxSession) session = new_session (test_start_and_keep);
  g_autoptr(SbxCommand) command = test_command ("daemon", NULL);
  g_autoptr(SbxProcess) process = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  GError *error = NULL;

  process = sbx_session_spawn (session, command, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sbx_process_get_id (process), ==, "17");
  g_assert_cmpint (sbx_process_get_state (process), ==, SBX_PROCESS_STATE_RUNNING);

  g_assert_null (sbx_process_wait (process, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED);
  g_clear_error (&error);
  g_assert_false (sbx_process_kill (process, SIGTERM, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED);
  g_clear_error (&error);
  g_assert_false (sbx_process_kill (process, SIGKILL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED);
  g_clear_error (&error);
  g_assert_false (g_cancellable_is_cancelled (
    sbx_invocation_get_cancellable (TEST_SESSION (session)->kept)));
  g_assert_cmpint (sbx_process_get_state (process), ==, SBX_PROCESS_STATE_RUNNING);

  /* The sandbox takes it along; nobody knows how it ended. */
  g_assert_true (sbx_session_close (session, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpint (sbx_process_get_state (process), ==, SBX_PROCESS_STATE_ENDED);
  result = sbx_process_wait (process, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_LOST);
  g_assert_true (sbx_process_kill (process, SIGTERM, &error));
  g_assert_no_error (error);
}

/* One that is run to its end can be waited for as ever, and ended. */
static void
test_foreground (void)
{
  g_autoptr(SbxSession) session = new_session (test_start_and_keep);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
  g_autoptr(GAsyncResult) ran = NULL;
  g_autoptr(GAsyncResult) waited = NULL;
  g_autoptr(SbxExecResult) run_result = NULL;
  g_autoptr(SbxExecResult) wait_result = NULL;

  sbx_process_run_async (process, NULL, test_store_result, &ran);
  sbx_process_wait_async (process, NULL, test_store_result, &waited);
  test_run_ready ();
  g_assert_null (waited);

  sbx_exec_invocation_return_exited (SBX_EXEC_INVOCATION (TEST_SESSION (session)->kept), 4);
  test_wait_for (ran != NULL && waited != NULL);
  run_result = sbx_process_run_finish (process, ran, NULL);
  wait_result = sbx_process_wait_finish (process, waited, NULL);
  g_assert_true (run_result == wait_result);
  g_assert_cmpint (sbx_exec_result_get_exit_code (run_result), ==, 4);
}

/* Nobody could keep it. */
static void
test_timeout (void)
{
  g_autoptr(SbxSession) session = new_session (test_start_and_keep);
  g_autoptr(SbxCommand) command = test_command ("daemon", NULL);
  g_autoptr(SbxProcess) process = NULL;
  g_autoptr(GError) error = NULL;

  sbx_command_set_timeout (command, 1000);
  process = sbx_session_spawn (session, command, NULL, &error);
  g_assert_null (process);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED);
  g_assert_cmpstr (TEST_SESSION (session)->calls->str, ==, "");
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/core/start/implied", test_implied);
  g_test_add_func ("/core/start/out-of-reach", test_out_of_reach);
  g_test_add_func ("/core/start/foreground", test_foreground);
  g_test_add_func ("/core/start/timeout", test_timeout);

  return g_test_run ();
}
