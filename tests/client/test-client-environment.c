/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "client-util.h"

#include <string.h>

/* The execution environment: a provider and a session that begin and end together. */

static void
test_open (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxOpenRequest) request = test_client_request (self);
  g_autoptr(SbxExecutionEnvironment) environment = NULL;
  g_autoptr(SbxCommand) command = test_command ("printf", "a\\000\\377", NULL);
  g_autoptr(GBytes) content = g_bytes_new_static ("\0\1\xff", 3);
  g_autoptr(GBytes) read = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  SbxSession *session;
  g_autoptr(GError) error = NULL;
  g_autofree char *methods = NULL;

  environment = sbx_execution_environment_open (self->client, request, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (sbx_execution_environment_get_client (environment) == self->client);
  session = sbx_execution_environment_get_session (environment);
  g_assert_cmpstr (sbx_execution_environment_get_cwd (environment), ==, self->workspace);
  g_assert_true (sbx_session_write_file (session, "binary.bin", content, 0, NULL, &error));
  read = sbx_session_read_file (session, "binary.bin", 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_bytes_equal (read, content));
  result = sbx_session_exec (session, command, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (g_bytes_get_data (sbx_exec_result_get_stdout (result), NULL),
                   g_bytes_get_size (sbx_exec_result_get_stdout (result)), "a\0\xff", 3);
  g_assert_true (sbx_execution_environment_close (environment, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (sbx_execution_environment_close (environment, NULL, &error));
  g_assert_no_error (error);
  methods = test_client_methods (self);
  g_assert_cmpstr (methods, ==,
                   "capabilities open write_file read_file exec close shutdown ");
  g_assert_cmpint (sbx_provider_client_get_state (self->client), ==,
                   SBX_PROVIDER_CLIENT_STATE_CLOSED);
}

static void
test_adopt (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxExecutionEnvironment) environment = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *methods = NULL;

  environment = sbx_execution_environment_new (self->client, session);
  g_assert_true (sbx_execution_environment_get_session (environment) == session);
  g_assert_true (sbx_execution_environment_close (environment, NULL, &error));
  g_assert_no_error (error);
  methods = test_client_methods (self);
  g_assert_cmpstr (methods, ==, "capabilities open close shutdown ");
}

/* An open that fails leaves no provider. */
static void
test_open_fails (void)
{
  g_autoptr(TestClient) self = test_client_new ("fail=open,retryable");
  g_autoptr(SbxOpenRequest) request = test_client_request (self);
  g_autoptr(SbxExecutionEnvironment) environment = NULL;
  g_autoptr(GError) error = NULL;

  environment = sbx_execution_environment_open (self->client, request, NULL, &error);
  g_assert_null (environment);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_PROVIDER_RETRYABLE);
  test_wait_for_no_children ();
  g_assert_cmpint (sbx_provider_client_get_state (self->client), >=,
                   SBX_PROVIDER_CLIENT_STATE_CLOSING);
}

/* Shutdown is asked for even when close failed, and the first error is what is reported. */
static void
test_close_fails (void)
{
  g_autoptr(TestClient) self = test_client_new ("fail=close,exit=3");
  g_autoptr(SbxOpenRequest) request = test_client_request (self);
  g_autoptr(SbxExecutionEnvironment) environment = NULL;
  g_autoptr(GError) error = NULL;

  environment = sbx_execution_environment_open (self->client, request, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (sbx_execution_environment_close (environment, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_PROVIDER);
  g_assert_true (g_str_has_prefix (error->message, "out_of_order"));
  g_assert_cmpuint (test_client_count_record (self, "\"shutdown\""), ==, 1);
  test_wait_for_no_children ();
}

static void
test_shutdown_fails (void)
{
  g_autoptr(TestClient) self = test_client_new ("exit=3");
  g_autoptr(SbxOpenRequest) request = test_client_request (self);
  g_autoptr(SbxExecutionEnvironment) environment = NULL;
  g_autoptr(GError) error = NULL;

  environment = sbx_execution_environment_open (self->client, request, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (sbx_execution_environment_close (environment, NULL, &error));
  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error->message, "3"));
}

/* Others have sessions of the same client: they stay. */
static void
test_shared (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxSession) one = test_client_open (self);
  g_autoptr(SbxSession) two = test_client_open (self);
  g_autoptr(SbxExecutionEnvironment) environment = sbx_execution_environment_new (self->client,
                                                                                  one);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_true (sbx_execution_environment_close (environment, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpint (sbx_session_get_state (one), ==, SBX_SESSION_STATE_CLOSED);
  result = sbx_session_exec (two, command, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (sbx_session_close (two, NULL, &error));
  g_assert_no_error (error);
}

static void
test_cancelled (void)
{
  g_autoptr(TestClient) self = test_client_new ("hang=open");
  g_autoptr(SbxOpenRequest) request = test_client_request (self);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  GAsyncResult *opened = NULL;
  g_autoptr(GError) error = NULL;

  sbx_provider_client_set_grace (self->client, 100);
  sbx_execution_environment_open_async (self->client, request, cancellable, test_store_result,
                                        &opened);
  test_run_for (100);
  g_assert_null (opened);
  g_cancellable_cancel (cancellable);
  test_wait_for (opened != NULL);
  g_assert_null (sbx_execution_environment_open_finish (opened, &error));
  g_clear_object (&opened);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
test_death (void)
{
  g_autoptr(TestClient) self = test_client_new ("die-before=close,status=9");
  g_autoptr(SbxOpenRequest) request = test_client_request (self);
  g_autoptr(SbxExecutionEnvironment) environment = NULL;
  g_autoptr(GError) error = NULL;

  environment = sbx_execution_environment_open (self->client, request, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (sbx_execution_environment_close (environment, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_LOST);
  g_assert_nonnull (strstr (error->message, "9"));
}

int
main (int   argc,
      char *argv[])
{
  test_client_init (&argc, &argv);

  g_test_add_func ("/client/environment/open", test_open);
  g_test_add_func ("/client/environment/adopt", test_adopt);
  g_test_add_func ("/client/environment/open-fails", test_open_fails);
  g_test_add_func ("/client/environment/close-fails", test_close_fails);
  g_test_add_func ("/client/environment/shutdown-fails", test_shutdown_fails);
  g_test_add_func ("/client/environment/shared", test_shared);
  g_test_add_func ("/client/environment/cancelled", test_cancelled);
  g_test_add_func ("/client/environment/death", test_death);

  return g_test_run ();
}
