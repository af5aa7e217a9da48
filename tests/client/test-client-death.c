/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "client-util.h"

#include <signal.h>
#include <string.h>

/*
 * Providers that end, at every moment there is. Rows 5, 15, 16, 17, 25 and 32: a client that lost
 * its provider says so, at once, to everybody and in the same words, and nothing is left running.
 */

static const char *methods[] = {
  "open", "exec", "spawn", "write_file", "read_file", "create_dir_all", "create_temp_dir", "remove",
  "close", "cleanup_group",
};

/* Asks for one thing. */
static gboolean
call_method (TestClient  *self,
             SbxSession  *session,
             const char  *method,
             GError     **error)
{
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(GBytes) content = g_bytes_new_static ("x", 1);

  if (g_str_equal (method, "exec"))
    {
      g_autoptr(SbxExecResult) result = sbx_session_exec (session, command, NULL, error);

      /* It ran, and what became of it nobody knows: that is a result. */
      if (result != NULL && sbx_exec_result_get_outcome (result) == SBX_EXEC_OUTCOME_LOST)
        {
          g_set_error (error, SBX_ERROR, SBX_ERROR_LOST, "%s",
                       sbx_exec_result_get_message (result));
          return FALSE;
        }
      return result != NULL;
    }
  if (g_str_equal (method, "spawn"))
    {
      g_autoptr(SbxProcess) process = sbx_session_spawn (session, command, NULL, error);

      return process != NULL;
    }
  if (g_str_equal (method, "read_file"))
    {
      g_autoptr(GBytes) bytes = sbx_session_read_file (session, "there", 0, NULL, error);

      return bytes != NULL;
    }
  if (g_str_equal (method, "create_temp_dir"))
    {
      g_autofree char *path = sbx_session_create_temp_dir (session, "t", NULL, error);

      return path != NULL;
    }
  if (g_str_equal (method, "write_file"))
    return sbx_session_write_file (session, "there", content, 0, NULL, error);
  if (g_str_equal (method, "create_dir_all"))
    return sbx_session_create_dir_all (session, "d", NULL, error);
  if (g_str_equal (method, "remove"))
    return sbx_session_remove (session, "d", NULL, error);
  if (g_str_equal (method, "close"))
    return sbx_session_close (session, NULL, error);
  return sbx_provider_cleanup_group (SBX_PROVIDER (self->client), "g", NULL, NULL, error);
}

static void
assert_broken (TestClient *self,
               SbxSession *session,
               const char *method)
{
  const GError *failure;
  g_autoptr(GError) error = NULL;

  test_wait_for (sbx_provider_client_get_state (self->client) == SBX_PROVIDER_CLIENT_STATE_BROKEN);
  failure = sbx_provider_client_get_failure (self->client);
  g_assert_nonnull (failure);
  test_wait_for (self->n_closed > 0);
  g_assert_cmpuint (self->n_closed, ==, 1);
  g_assert_cmpstr (self->closed, ==, failure->message);

  /* Later calls end at once, for the same cause, and without a trace in the record. */
  g_assert_false (sbx_provider_cleanup_group (SBX_PROVIDER (self->client), "g", NULL, NULL,
                                              &error));
  g_assert_error (error, failure->domain, failure->code);
  g_assert_cmpstr (error->message, ==, failure->message);
  g_clear_error (&error);
  if (session == NULL || g_str_equal (method, "close"))
    return;
  test_wait_for (sbx_session_get_state (session) != SBX_SESSION_STATE_OPEN);
  g_assert_cmpint (sbx_session_get_state (session), ==, SBX_SESSION_STATE_LOST);
  g_assert_nonnull (sbx_session_get_failure (session));
}

static void
die (const char *moment,
     const char *how,
     const char *expected)
{
  for (gsize i = 0; i < G_N_ELEMENTS (methods); i++)
    {
      g_autofree char *options = g_strdup_printf ("%s=%s,%s,say=these are my last words", moment,
                                                  methods[i], how);
      g_autoptr(TestClient) self = test_client_new (options);
      g_autoptr(SbxOpenRequest) request = test_client_request (self);
      g_autoptr(SbxSession) session = NULL;
      g_autoptr(GError) error = NULL;
      g_autofree char *there = g_build_filename (self->workspace, "there", NULL);
      const gboolean answered = g_str_equal (moment, "die-after");

      g_test_message ("%s", options);
      g_assert_true (g_file_set_contents (there, "x", 1, NULL));
      session = sbx_provider_open (SBX_PROVIDER (self->client), request, NULL, &error);
      if (i > 0 || answered)
        g_assert_no_error (error);
      else
        g_assert_null (session);
      if (i > 0)
        g_assert_cmpint (call_method (self, session, methods[i], &error), ==, answered);
      if (!answered)
        g_assert_error (error, SBX_ERROR, SBX_ERROR_LOST);
      assert_broken (self, session, methods[i]);
      g_assert_nonnull (strstr (sbx_provider_client_get_failure (self->client)->message, expected));
      g_assert_nonnull (strstr (sbx_provider_client_get_failure (self->client)->message,
                                "these are my last words"));
      if (!answered)
        g_assert_nonnull (strstr (error->message, expected));
    }
}

static void
test_before (void)
{
  die ("die-before", "status=7", "7");
}

static void
test_during (void)
{
  die ("die-during", "status=7", "7");
}

static void
test_after (void)
{
  die ("die-after", "status=7", "7");
}

static void
test_by_signal (void)
{
  die ("die-before", "signal=9", "9");
}

static void
test_by_signal_during (void)
{
  die ("die-during", "signal=11", "11");
}

/* It may end well, and still nobody asked it to. */
static void
test_with_status_0 (void)
{
  die ("die-before", "status=0", "");
}

/* Row 15: what it started has its pipes, and its end is seen all the same. */
static void
test_heir (void)
{
  const gint64 begin = g_get_monotonic_time ();

  die ("die-before", "status=7,heir", "7");
  g_assert_cmpint (g_get_monotonic_time () - begin, <, 20 * G_USEC_PER_SEC);
}

static void
test_at_start (void)
{
  g_autoptr(TestClient) self = test_client_new ("die-at-start,status=3,say=no such profile");
  g_autoptr(GError) error = NULL;

  g_assert_false (sbx_provider_client_start (self->client, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_LOST);
  g_assert_nonnull (strstr (error->message, "no such profile"));
  g_assert_nonnull (strstr (error->message, "3"));
  assert_broken (self, NULL, "");
}

static void
test_no_program (void)
{
  const char *programs[] = { "/nonexistent/sbx-provider", "/etc/passwd", "sbx-no-such-program" };

  for (gsize i = 0; i < G_N_ELEMENTS (programs); i++)
    {
      g_autoptr(SbxProviderClient) client = sbx_provider_client_new_for_program (programs[i]);
      g_autoptr(GError) error = NULL;

      g_assert_cmpstr (sbx_provider_client_get_argv (client)[0], ==, programs[i]);
      g_assert_cmpstr (sbx_provider_client_get_argv (client)[1], ==, "serve");
      g_assert_false (sbx_provider_client_start (client, NULL, &error));
      g_assert_nonnull (error);
      g_assert_nonnull (strstr (error->message, programs[i]));
      g_assert_cmpint (sbx_provider_client_get_state (client), ==,
                       SBX_PROVIDER_CLIENT_STATE_BROKEN);
    }
}

/* Half a line and then the end is no answer; a whole one without its newline is. */
static void
test_half_line (void)
{
  g_autoptr(TestClient) self = test_client_new ("half=read_file");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autofree char *there = g_build_filename (self->workspace, "there", NULL);
  g_autoptr(GError) error = NULL;

  g_assert_true (g_file_set_contents (there, "x", 1, NULL));
  g_assert_false (call_method (self, session, "read_file", &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_LOST);
  assert_broken (self, session, "");
}

static void
test_unended_line (void)
{
  g_autoptr(TestClient) self = test_client_new ("unended=read_file");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autofree char *there = g_build_filename (self->workspace, "there", NULL);
  g_autoptr(GError) error = NULL;

  g_assert_true (g_file_set_contents (there, "x", 1, NULL));
  g_assert_true (call_method (self, session, "read_file", &error));
  g_assert_no_error (error);
  assert_broken (self, session, "");
}

static void
collect_cb (SbxProcess *process,
            GBytes     *bytes,
            GString    *seen)
{
  g_string_append_len (seen, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
}

/* Row 17: output that came before the end is not lost. */
static void
test_output_before (void)
{
  g_autoptr(TestClient) self = test_client_new ("die-during=exec,status=7");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
  g_autoptr(GString) seen = g_string_new (NULL);
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;

  g_signal_connect (process, "stdout", G_CALLBACK (collect_cb), seen);
  result = sbx_process_run (process, NULL, &error);
  g_assert_cmpstr (seen->str, ==, "last");
  g_assert_cmpint (sbx_process_get_state (process), ==, SBX_PROCESS_STATE_ENDED);
  g_assert_cmpint (sbx_exec_result_get_outcome (sbx_process_get_result (process)), ==,
                   SBX_EXEC_OUTCOME_LOST);
}

/* Everything that waits ends with the same words, in the order in which it was asked. */
static void
test_all_waiting (void)
{
  g_autoptr(TestClient) self = test_client_new ("slow=read_file,delay=50,die-after=read_file,"
                                                "status=5");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autofree char *there = g_build_filename (self->workspace, "there", NULL);
  GAsyncResult *results[100] = { NULL, };
  g_autofree char *message = NULL;

  g_assert_true (g_file_set_contents (there, "x", 1, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (results); i++)
    sbx_session_read_file_async (session, "there", 0, NULL, test_store_result, &results[i]);
  g_assert_cmpuint (sbx_provider_client_get_n_in_flight (self->client), <=, 1);
  for (gsize i = 0; i < G_N_ELEMENTS (results); i++)
    {
      g_autoptr(GBytes) bytes = NULL;
      g_autoptr(GError) error = NULL;

      test_wait_for (results[i] != NULL);
      bytes = sbx_session_read_file_finish (session, results[i], &error);
      g_clear_object (&results[i]);
      if (i == 0)
        {
          g_assert_no_error (error);
          continue;
        }
      g_assert_error (error, SBX_ERROR, SBX_ERROR_LOST);
      if (message == NULL)
        message = g_strdup (error->message);
      g_assert_cmpstr (error->message, ==, message);
    }
  assert_broken (self, session, "");
}

/* What the error stream said last is in the message, on one line and without what a terminal would
 * act on. */
static void
test_last_words (void)
{
  g_autoptr(TestClient) self = test_client_new ("die-before=exec,say=a\033[31mb\x80" "c");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(GError) error = NULL;

  g_assert_false (call_method (self, session, "exec", &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_LOST);
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
  g_assert_null (strchr (error->message, '\033'));
  g_assert_null (strchr (error->message, '\n'));
}

/* What was sent along in confidence is in no message. */
static void
test_secrets (void)
{
  g_autoptr(TestClient) self = test_client_new ("strange,die-before=exec,signal=9");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;
  const char *failure;

  sbx_command_set_variable (command, "TOKEN", "s3cr3t-value");
  result = sbx_session_exec (session, command, NULL, &error);
  test_wait_for (self->n_closed > 0);
  failure = sbx_provider_client_get_failure (self->client)->message;
  g_assert_null (strstr (failure, "s3cr3t"));
  g_assert_null (strstr (self->log->str, "s3cr3t"));
  if (error != NULL)
    g_assert_null (strstr (error->message, "s3cr3t"));
}

/* Row 25 and 32: killed at any moment, it leaves no process and no zombie. */
static void
test_killed_at_random (void)
{
  for (guint i = 0; i < 30; i++)
    {
      g_autoptr(TestClient) self = test_client_new ("plain");
      g_autoptr(SbxSession) session = test_client_open (self);
      const GPid pid = test_client_provider_pid (session);
      g_autoptr(SbxCommand) command = test_shell ("sleep 1000 & cat /dev/zero");
      GAsyncResult *exec = NULL;
      GAsyncResult *read = NULL;
      g_autoptr(SbxExecResult) result = NULL;
      g_autoptr(GError) error = NULL;

      sbx_command_set_collect_limit (command, 0);
      sbx_session_exec_async (session, command, NULL, test_store_result, &exec);
      sbx_session_read_file_async (session, "nothing", 0, NULL, test_store_result, &read);
      test_run_for ((guint) g_test_rand_int_range (0, 20));
      kill (pid, SIGKILL);
      result = test_finish_exec (session, &exec, &error);
      test_wait_for (read != NULL);
      g_assert_null (sbx_session_read_file_finish (session, read, NULL));
      g_clear_object (&read);
      assert_broken (self, session, "");
      test_wait_for_exit (pid);
    }
}

/* Row 26: writing to one that is gone is an error, though the signal was deadly at the start. */
static void
test_broken_pipe (void)
{
  for (guint i = 0; i < 10; i++)
    {
      g_autoptr(TestClient) self = test_client_new ("deaf=open");
      g_autoptr(SbxSession) session = test_client_open (self);
      g_autofree char *much = g_malloc0 (1024 * 1024);
      g_autoptr(GBytes) content = g_bytes_new_static (much, 1024 * 1024);
      GAsyncResult *write = NULL;
      g_autoptr(GError) error = NULL;

      sbx_session_write_file_async (session, "a", content, 0, NULL, test_store_result, &write);
      test_run_ready ();
      test_kill_children ();
      test_wait_for (write != NULL);
      g_assert_false (sbx_session_write_file_finish (session, write, &error));
      g_assert_error (error, SBX_ERROR, SBX_ERROR_LOST);
      g_clear_object (&write);
    }
}

/* And a provider has the default, though we may ignore it. */
static void
test_provider_signals (void)
{
  const char *argv[] = { "sh", "-c", "grep SigIgn /proc/self/status >&2", NULL };
  g_autoptr(SbxProviderClient) client = sbx_provider_client_new (argv);
  struct sigaction before;
  struct sigaction ignored = { .sa_handler = SIG_IGN };
  const char *at;
  g_autoptr(GError) error = NULL;

  g_assert_cmpint (sigaction (SIGPIPE, &ignored, &before), ==, 0);
  g_assert_false (sbx_provider_client_start (client, NULL, &error));
  g_assert_cmpint (sigaction (SIGPIPE, &before, NULL), ==, 0);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_LOST);
  at = strstr (error->message, "SigIgn:\\t");
  g_assert_nonnull (at);
  g_assert_cmpuint (g_ascii_strtoull (at + strlen ("SigIgn:\\t"), NULL, 16) & (1 << (SIGPIPE - 1)),
                    ==, 0);
}

static void
close_cb (SbxProviderClient *client,
          const GError      *error,
          GAsyncResult     **result)
{
  sbx_provider_client_close_async (client, NULL, test_store_result, result);
}

/* A handler may do what it likes when it is told. */
static void
test_close_in_handler (void)
{
  g_autoptr(TestClient) self = test_client_new ("die-before=exec");
  g_autoptr(SbxSession) session = test_client_open (self);
  GAsyncResult *closed = NULL;
  g_autoptr(GError) error = NULL;

  g_signal_connect (self->client, "closed", G_CALLBACK (close_cb), &closed);
  g_assert_false (call_method (self, session, "exec", &error));
  test_wait_for (closed != NULL);
  sbx_provider_client_close_finish (self->client, closed, NULL);
  g_clear_object (&closed);
  g_signal_handlers_disconnect_by_func (self->client, close_cb, &closed);
}

int
main (int   argc,
      char *argv[])
{
  test_client_init (&argc, &argv);

  g_test_add_func ("/client/death/before", test_before);
  g_test_add_func ("/client/death/during", test_during);
  g_test_add_func ("/client/death/after", test_after);
  g_test_add_func ("/client/death/row-16-by-signal", test_by_signal);
  g_test_add_func ("/client/death/row-16-by-signal-during", test_by_signal_during);
  g_test_add_func ("/client/death/with-status-0", test_with_status_0);
  g_test_add_func ("/client/death/row-15-heir", test_heir);
  g_test_add_func ("/client/death/at-start", test_at_start);
  g_test_add_func ("/client/death/no-program", test_no_program);
  g_test_add_func ("/client/death/half-line", test_half_line);
  g_test_add_func ("/client/death/unended-line", test_unended_line);
  g_test_add_func ("/client/death/row-17-output-before", test_output_before);
  g_test_add_func ("/client/death/row-5-all-waiting", test_all_waiting);
  g_test_add_func ("/client/death/last-words", test_last_words);
  g_test_add_func ("/client/death/secrets", test_secrets);
  g_test_add_func ("/client/death/row-25-killed-at-random", test_killed_at_random);
  g_test_add_func ("/client/death/row-26-broken-pipe", test_broken_pipe);
  g_test_add_func ("/client/death/row-26-provider-signals", test_provider_signals);
  g_test_add_func ("/client/death/close-in-handler", test_close_in_handler);

  return g_test_run ();
}
