/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "client-util.h"

#include <string.h>

/* Every method with every parameter, and what providers say they can do. */

static void
assert_bytes (GBytes     *bytes,
              const char *expected)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  g_assert_cmpmem (data, size, expected, strlen (expected));
}

static void
test_life (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(GError) error = NULL;
  g_autofree char *methods = NULL;
  g_auto(GStrv) features = NULL;

  g_assert_cmpint (sbx_provider_client_get_state (self->client), ==,
                   SBX_PROVIDER_CLIENT_STATE_NEW);
  g_assert_true (sbx_provider_client_start (self->client, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpint (sbx_provider_client_get_state (self->client), ==,
                   SBX_PROVIDER_CLIENT_STATE_READY);
  features = sbx_provider_client_dup_features (self->client);
  g_assert_cmpuint (g_strv_length (features), ==, 0);
  g_assert_true (sbx_provider_client_close (self->client, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpint (sbx_provider_client_get_state (self->client), ==,
                   SBX_PROVIDER_CLIENT_STATE_CLOSED);
  g_assert_null (sbx_provider_client_get_failure (self->client));
  methods = test_client_methods (self);
  g_assert_cmpstr (methods, ==, "capabilities shutdown ");
  g_assert_cmpuint (self->n_closed, ==, 1);
  g_assert_null (self->closed);
}

/* It is started by the first call, and asked everything once. */
static void
test_every_method (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_shell ("cat; echo oh >&2; exit 3");
  g_autoptr(GBytes) content = g_bytes_new_static ("\0\1\xff\n", 4);
  g_autoptr(GBytes) read = NULL;
  g_autoptr(GBytes) input = g_bytes_new_static ("hello", 5);
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *methods = NULL;
  g_autofree char *temp = NULL;
  guint n = 9;

  g_assert_cmpstr (sbx_session_get_cwd (session), ==, self->workspace);
  g_assert_true (sbx_session_create_dir_all (session, "a/b", NULL, &error));
  g_assert_true (sbx_session_write_file (session, "a/b/c", content, 0, NULL, &error));
  g_assert_no_error (error);
  read = sbx_session_read_file (session, "a/b/c", 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_bytes_equal (read, content));
  temp = sbx_session_create_temp_dir (session, "t-", NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_file_test (temp, G_FILE_TEST_IS_DIR));
  g_assert_true (sbx_session_remove (session, "a", NULL, &error));

  sbx_command_set_stdin_bytes (command, input);
  result = sbx_session_exec (session, command, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_EXITED);
  g_assert_cmpint (sbx_exec_result_get_exit_code (result), ==, 3);
  assert_bytes (sbx_exec_result_get_stdout (result), "hello");
  assert_bytes (sbx_exec_result_get_stderr (result), "oh\n");

  g_assert_true (sbx_provider_cleanup_group (SBX_PROVIDER (self->client), "nobody's", NULL, &n,
                                             &error));
  g_assert_no_error (error);
  g_assert_cmpuint (n, ==, 0);
  g_assert_true (sbx_session_close (session, NULL, &error));
  g_assert_true (sbx_provider_client_close (self->client, NULL, &error));
  g_assert_no_error (error);
  methods = test_client_methods (self);
  g_assert_cmpstr (methods, ==,
                   "capabilities open create_dir_all write_file read_file create_temp_dir remove "
                   "exec cleanup_group close shutdown ");
}

/* What goes out is sandbox.v1 and not a member more. */
static void
test_parameters (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxOpenRequest) request = NULL;
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(SbxCommand) command = test_command ("env", NULL);
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *below = g_build_filename (self->workspace, "below", NULL);
  g_autofree char *record = NULL;

  g_assert_cmpint (g_mkdir_with_parents (below, 0700), ==, 0);
  request = sbx_open_request_new_for_profile (self->workspace, "a/b c");
  sbx_open_request_set_cwd (request, "below");
  sbx_open_request_set_group (request, "my group");
  sbx_open_request_set_request_id (request, "mine-1");
  sbx_open_request_set_tag (request, "k\"ey", "v\nalue");
  session = sbx_provider_open (SBX_PROVIDER (self->client), request, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sbx_session_get_cwd (session), ==, below);

  sbx_command_set_variable (command, "NAME", "a \"value\"\n");
  sbx_command_set_cwd (command, "..");
  result = sbx_session_exec (session, command, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (g_strstr_len (g_bytes_get_data (sbx_exec_result_get_stdout (result), NULL),
                                  (gssize) g_bytes_get_size (sbx_exec_result_get_stdout (result)),
                                  "NAME=a \"value\"\n"));

  record = test_client_read_record (self);
  g_assert_nonnull (strstr (record, "\"id\":\"req_1\""));
  g_assert_nonnull (strstr (record, "\"protocol_version\":\"sandbox.v1\""));
  g_assert_nonnull (strstr (record, "\"sandbox_group_id\":\"my group\""));
  g_assert_nonnull (strstr (record, "\"request_id\":\"mine-1\""));
  g_assert_nonnull (strstr (record, "\"tags\":{\"k\\\"ey\":\"v\\nalue\"}"));
  g_assert_nonnull (strstr (record, "\"provider\":\"fake\""));
  g_assert_nonnull (strstr (record, "\"name\":\"a/b c\""));
  g_assert_nonnull (strstr (record, "\"cwd\":\"below\""));
  g_assert_null (strstr (record, "collect"));
  g_assert_null (strstr (record, "timeout_ms"));
  g_assert_null (strstr (record, "follow"));
  g_assert_null (strstr (record, "stdin_base64"));
}

static void
test_group (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxOpenRequest) request = test_client_request (self);
  g_autoptr(SbxSession) one = NULL;
  g_autoptr(SbxSession) two = NULL;
  g_autoptr(GError) error = NULL;
  guint n = 0;

  sbx_open_request_set_group (request, "pair");
  one = sbx_provider_open (SBX_PROVIDER (self->client), request, NULL, &error);
  g_assert_no_error (error);
  two = sbx_provider_open (SBX_PROVIDER (self->client), request, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sbx_session_get_id (one), !=, sbx_session_get_id (two));
  g_assert_cmpuint (sbx_provider_client_get_n_sessions (self->client), ==, 2);
  g_assert_true (sbx_provider_cleanup_group (SBX_PROVIDER (self->client), "pair", NULL, &n,
                                             &error));
  g_assert_no_error (error);
  g_assert_cmpuint (n, ==, 2);
  g_assert_true (sbx_provider_cleanup_group (SBX_PROVIDER (self->client), "pair", NULL, NULL,
                                             &error));
}

/* Two clients on one group of a provider: neither is in the other's way. */
static void
test_two_clients (void)
{
  g_autoptr(TestClient) a = test_client_new ("strict");
  g_autoptr(TestClient) b = test_client_new ("strict");
  g_autoptr(SbxSession) of_a = test_client_open (a);
  g_autoptr(SbxSession) of_b = test_client_open (b);
  g_autoptr(SbxCommand) command = test_shell ("echo $PPID");
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_true (sbx_provider_cleanup_group (SBX_PROVIDER (a->client), "default", NULL, NULL,
                                             &error));
  g_assert_true (sbx_provider_client_close (a->client, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpint (sbx_session_get_state (of_a), !=, SBX_SESSION_STATE_OPEN);
  result = sbx_session_exec (of_b, command, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (sbx_exec_result_get_success (result));
}

/* Row 20: an answer that is wrapped is understood. */
static void
test_wrapped_capabilities (void)
{
  const char *modes[] = { "capabilities=wrapped", "capabilities=error", "plain",
                          "capabilities=junk" };

  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autoptr(TestClient) self = test_client_new (modes[i]);
      g_autoptr(GError) error = NULL;
      gboolean started;

      started = sbx_provider_client_start (self->client, NULL, &error);
      if (i == 3)
        {
          g_assert_false (started);
          g_assert_error (error, SBX_ERROR, SBX_ERROR_PROTOCOL);
          continue;
        }
      g_assert_no_error (error);
      g_assert_true (started);
      g_assert_true (sbx_provider_get_capabilities (SBX_PROVIDER (self->client)) &
                     SBX_CAPABILITIES_EXEC);
    }
}

/* Row 31: what a session says it cannot do is not asked of it. */
static void
test_no_exec (void)
{
  g_autoptr(TestClient) self = test_client_new ("capabilities=no-exec");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) content = g_bytes_new_static ("x", 1);

  g_assert_null (sbx_session_exec (session, command, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED);
  g_clear_error (&error);
  g_assert_true (sbx_session_write_file (session, "a", content, 0, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (test_client_count_record (self, "\"exec\",\"params\""), ==, 0);
}

/* Row 30: members of a session that nobody knows go back to the last byte. */
static void
test_strange_session (void)
{
  g_autoptr(TestClient) self = test_client_new ("strange");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GBytes) content = g_bytes_new_static ("x", 1);
  g_autoptr(GBytes) read = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_true (sbx_session_write_file (session, "a", content, 0, NULL, &error));
  g_assert_no_error (error);
  read = sbx_session_read_file (session, "a", 0, NULL, &error);
  g_assert_no_error (error);
  result = sbx_session_exec (session, command, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (sbx_session_close (session, NULL, &error));
  g_assert_no_error (error);
  g_assert_null (strstr (self->log->str, "s3cr3t"));
}

/* Row 28: one can tell what to try again. */
static void
test_errors (void)
{
  const char *modes[] = { "fail=read_file", "fail=read_file,retryable" };
  const char *codes[] = { "out_of_order: ", "ssh_not_ready: " };
  const int expected[] = { SBX_ERROR_PROVIDER, SBX_ERROR_PROVIDER_RETRYABLE };

  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autoptr(TestClient) self = test_client_new (modes[i]);
      g_autoptr(SbxSession) session = test_client_open (self);
      g_autoptr(SbxCommand) command = test_command ("true", NULL);
      g_autoptr(SbxExecResult) result = NULL;
      g_autoptr(GError) error = NULL;

      g_assert_null (sbx_session_read_file (session, "a", 0, NULL, &error));
      g_assert_error (error, SBX_ERROR, expected[i]);
      g_assert_true (g_str_has_prefix (error->message, codes[i]));
      /* One line, whatever it was sent as. */
      g_assert_null (strchr (error->message, '\n'));
      g_clear_error (&error);
      result = sbx_session_exec (session, command, NULL, &error);
      g_assert_no_error (error);
    }
}

static void
test_open_fails (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxOpenRequest) request = test_client_request (self);
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(GError) error = NULL;

  sbx_provider_client_set_provider_name (self->client, "another");
  session = sbx_provider_open (SBX_PROVIDER (self->client), request, NULL, &error);
  g_assert_null (session);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_PROVIDER);
  g_assert_true (g_str_has_prefix (error->message, "bad_profile: "));
  g_assert_cmpint (sbx_provider_client_get_state (self->client), ==,
                   SBX_PROVIDER_CLIENT_STATE_READY);
}

/* What JSON cannot carry never goes out, and harms nobody. */
static void
test_not_utf8 (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) argument = test_command ("echo", "\xff", NULL);
  g_autoptr(SbxCommand) variable = test_command ("true", NULL);
  g_autoptr(SbxCommand) cwd = test_command ("true", NULL);
  g_autoptr(SbxCommand) good = test_command ("true", NULL);
  g_autoptr(GBytes) content = g_bytes_new_static ("x", 1);
  g_autoptr(SbxExecResult) result = NULL;
  SbxCommand *bad[3];
  g_autoptr(GError) error = NULL;

  sbx_command_set_variable (variable, "A", "\xfe");
  sbx_command_set_cwd (cwd, "a\xff");
  bad[0] = argument;
  bad[1] = variable;
  bad[2] = cwd;
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_assert_null (sbx_session_exec (session, bad[i], NULL, &error));
      g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
      g_assert_true (g_utf8_validate (error->message, -1, NULL));
      g_clear_error (&error);
    }
  g_assert_false (sbx_session_write_file (session, "b\xff", content, 0, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_cmpuint (test_client_count_record (self, "exec\",\"params"), ==, 0);
  result = sbx_session_exec (session, good, NULL, &error);
  g_assert_no_error (error);
}

/* What a plain provider cannot do is refused, and nothing of it is sent. */
static void
test_unsupported (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("cat", NULL);
  g_autoptr(GListModel) infos = NULL;
  g_autoptr(GError) error = NULL;

  infos = sbx_session_list_dir (session, ".", NULL, &error);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED);
  g_clear_error (&error);
  g_assert_null (sbx_session_stat (session, ".", NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED);
  g_clear_error (&error);
  sbx_command_set_stdin (command, SBX_STDIN_PIPE);
  g_assert_null (sbx_session_exec (session, command, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED);
  g_clear_error (&error);
  sbx_command_set_stdin (command, SBX_STDIN_NULL);
  sbx_command_set_terminal (command, TRUE);
  g_assert_null (sbx_session_exec (session, command, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED);
}

/* A plain provider can start a command, and that is all that is known of it. */
static void
test_spawn (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("sleep", "1000", NULL);
  g_autoptr(SbxProcess) process = NULL;
  g_autoptr(GError) error = NULL;

  process = sbx_session_spawn (session, command, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (sbx_process_get_state (process), ==, SBX_PROCESS_STATE_RUNNING);
  g_assert_nonnull (sbx_process_get_id (process));
  g_assert_false (sbx_process_kill (process, 9, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED);
  g_clear_error (&error);
  g_assert_true (sbx_session_close (session, NULL, &error));
  g_assert_no_error (error);
  test_wait_for (sbx_process_get_state (process) == SBX_PROCESS_STATE_ENDED);
  g_assert_cmpint (sbx_exec_result_get_outcome (sbx_process_get_result (process)), ==,
                   SBX_EXEC_OUTCOME_LOST);
}

static void
test_not_started (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("/nonexistent/program", NULL);
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;

  /* All that a plain provider can say of it is an error. */
  result = sbx_session_exec (session, command, NULL, &error);
  g_assert_null (result);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_PROVIDER);
  g_assert_true (g_str_has_prefix (error->message, "exec_failed: "));
}

static void
test_signalled (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_shell ("kill -9 $$");
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;

  result = sbx_session_exec (session, command, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_SIGNALLED);
  g_assert_cmpint (sbx_exec_result_get_signal (result), ==, 9);
}

int
main (int   argc,
      char *argv[])
{
  test_client_init (&argc, &argv);

  g_test_add_func ("/client/calls/life", test_life);
  g_test_add_func ("/client/calls/every-method", test_every_method);
  g_test_add_func ("/client/calls/parameters", test_parameters);
  g_test_add_func ("/client/calls/group", test_group);
  g_test_add_func ("/client/calls/two-clients", test_two_clients);
  g_test_add_func ("/client/calls/row-20-wrapped-capabilities", test_wrapped_capabilities);
  g_test_add_func ("/client/calls/row-28-errors", test_errors);
  g_test_add_func ("/client/calls/row-30-strange-session", test_strange_session);
  g_test_add_func ("/client/calls/row-31-no-exec", test_no_exec);
  g_test_add_func ("/client/calls/open-fails", test_open_fails);
  g_test_add_func ("/client/calls/not-utf8", test_not_utf8);
  g_test_add_func ("/client/calls/unsupported", test_unsupported);
  g_test_add_func ("/client/calls/spawn", test_spawn);
  g_test_add_func ("/client/calls/not-started", test_not_started);
  g_test_add_func ("/client/calls/signalled", test_signalled);

  return g_test_run ();
}
