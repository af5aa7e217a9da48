/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "client-util.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The end of a provider, asked for or not: rows 13, 22, 23, 24, 25 and 32. */

static gboolean
close_client (TestClient  *self,
              GError     **error)
{
  return sbx_provider_client_close (self->client, NULL, error);
}

static void
test_twice (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxSession) session G_GNUC_UNUSED = test_client_open (self);
  GAsyncResult *results[3] = { NULL, };
  g_autoptr(GError) error = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (results); i++)
    sbx_provider_client_close_async (self->client, NULL, test_store_result, &results[i]);
  for (gsize i = 0; i < G_N_ELEMENTS (results); i++)
    {
      test_wait_for (results[i] != NULL);
      g_assert_true (sbx_provider_client_close_finish (self->client, results[i], &error));
      g_assert_no_error (error);
      g_clear_object (&results[i]);
    }
  g_assert_true (close_client (self, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (self->n_closed, ==, 1);
  g_assert_cmpuint (test_client_count_record (self, "\"shutdown\""), ==, 1);
}

static void
test_never_started (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxOpenRequest) request = test_client_request (self);
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_true (close_client (self, &error));
  g_assert_no_error (error);
  g_assert_cmpint (sbx_provider_client_get_state (self->client), ==,
                   SBX_PROVIDER_CLIENT_STATE_CLOSED);
  session = sbx_provider_open (SBX_PROVIDER (self->client), request, NULL, &error);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_CLOSED);
  g_assert_cmpuint (test_client_count_record (self, "id"), ==, 0);
}

static void
test_later_calls (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxOpenRequest) request = test_client_request (self);
  g_autoptr(SbxSession) another = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_true (close_client (self, &error));
  another = sbx_provider_open (SBX_PROVIDER (self->client), request, NULL, &error);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_CLOSED);
  g_clear_error (&error);
  g_assert_false (sbx_session_remove (session, "a", NULL, &error));
  g_assert_nonnull (error);
  g_clear_error (&error);
  g_assert_cmpint (sbx_session_get_state (session), >, SBX_SESSION_STATE_CLOSING);
}

/* Closing while a command runs: the command ends, and then the provider. */
static void
test_during_exec (void)
{
  g_autoptr(TestClient) self = test_client_new ("plain");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_shell ("sleep 1000");
  GAsyncResult *exec = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;
  const gint64 begin = g_get_monotonic_time ();

  sbx_provider_client_set_grace (self->client, 200);
  sbx_provider_client_set_close_timeout (self->client, 500);
  sbx_session_exec_async (session, command, NULL, test_store_result, &exec);
  test_run_for (100);
  close_client (self, &error);
  g_assert_cmpint (g_get_monotonic_time () - begin, <, 15 * G_USEC_PER_SEC);
  g_clear_error (&error);
  result = test_finish_exec (session, &exec, &error);
  if (result != NULL)
    g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_LOST);
  else
    g_assert_nonnull (error);
}

static void
test_session_during_exec (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_shell ("sleep 0.3; echo done");
  GAsyncResult *exec = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;

  sbx_provider_client_set_grace (self->client, 10000);
  sbx_session_exec_async (session, command, NULL, test_store_result, &exec);
  test_run_for (50);
  g_assert_true (sbx_session_close (session, NULL, &error));
  g_assert_no_error (error);
  result = test_finish_exec (session, &exec, &error);
  g_assert_true (result != NULL || error != NULL);
  g_clear_error (&error);
  g_assert_true (close_client (self, &error));
  g_assert_no_error (error);
}

static void
test_after_death (void)
{
  g_autoptr(TestClient) self = test_client_new ("die-before=read_file,status=4");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(GError) error = NULL;

  g_assert_null (sbx_session_read_file (session, "a", 0, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_LOST);
  g_clear_error (&error);
  test_wait_for (sbx_provider_client_get_state (self->client) == SBX_PROVIDER_CLIENT_STATE_BROKEN);
  /* It did not end as it was asked to, and closing says so as often as it is asked. */
  for (guint i = 0; i < 2; i++)
    {
      g_assert_false (close_client (self, &error));
      g_assert_error (error, SBX_ERROR, SBX_ERROR_LOST);
      g_clear_error (&error);
    }
  g_assert_cmpuint (self->n_closed, ==, 1);
}

/* Rows 13 and 24: it never answers, answers and stays, waits for the end of its input, takes no
 * notice of anything. The end comes all the same, and in time. */
static void
test_stubborn (void)
{
  const char *modes[] = {
    "silent=shutdown", "hang=shutdown", "stay", "stay,ignore-term", "silent=shutdown,ignore-eof",
    "hang=shutdown,ignore-term,ignore-eof", "deaf=open", "stay,ignore-term,heir",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autoptr(TestClient) self = test_client_new (modes[i]);
      g_autoptr(SbxSession) session G_GNUC_UNUSED = test_client_open (self);
      g_autoptr(GError) error = NULL;
      const gint64 begin = g_get_monotonic_time ();

      g_test_message ("%s", modes[i]);
      sbx_provider_client_set_close_timeout (self->client, 300);
      sbx_provider_client_set_grace (self->client, 200);
      g_assert_false (close_client (self, &error));
      g_assert_nonnull (error);
      g_assert_cmpint (g_get_monotonic_time () - begin, <, 10 * G_USEC_PER_SEC);
      test_wait_for_no_children ();
      test_wait_for (self->n_closed == 1);
    }
}

static void
test_awaits_end_of_input (void)
{
  g_autoptr(TestClient) self = test_client_new ("await-eof,strict");
  g_autoptr(SbxSession) session G_GNUC_UNUSED = test_client_open (self);
  g_autoptr(GError) error = NULL;

  g_assert_true (close_client (self, &error));
  g_assert_no_error (error);
  g_assert_cmpint (sbx_provider_client_get_state (self->client), ==,
                   SBX_PROVIDER_CLIENT_STATE_CLOSED);
}

/* Row 23: how it ended is not passed over. */
static void
test_exit_status (void)
{
  g_autoptr(TestClient) self = test_client_new ("exit=3");
  g_autoptr(SbxSession) session G_GNUC_UNUSED = test_client_open (self);
  g_autoptr(GError) error = NULL;

  g_assert_false (close_client (self, &error));
  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error->message, "3"));
}

static void
test_shutdown_fails (void)
{
  g_autoptr(TestClient) self = test_client_new ("fail=shutdown");
  g_autoptr(SbxSession) session G_GNUC_UNUSED = test_client_open (self);
  g_autoptr(GError) error = NULL;

  /* It refuses, and has to go all the same. */
  sbx_provider_client_set_close_timeout (self->client, 1000);
  close_client (self, &error);
  test_wait_for_no_children ();
}

/* Row 22: a client that is dropped takes its provider along, and a session in the making. */
static void
test_dropped (void)
{
  const char *modes[] = { "plain", "ignore-term,ignore-eof", "hang=read_file", "stay" };

  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autoptr(TestClient) self = test_client_new (modes[i]);
      g_autoptr(SbxSession) session = test_client_open (self);
      const GPid pid = test_client_provider_pid (session);
      GAsyncResult *read = NULL;
      g_autoptr(GError) error = NULL;

      g_test_message ("%s", modes[i]);
      sbx_provider_client_set_grace (self->client, 200);
      sbx_provider_client_set_close_timeout (self->client, 500);
      if (i == 2)
        sbx_session_read_file_async (session, "a", 0, NULL, test_store_result, &read);
      test_run_ready ();
      if (i == 2)
        {
          g_assert_true (close_client (self, NULL) || TRUE);
          test_wait_for (read != NULL);
          g_assert_null (sbx_session_read_file_finish (session, read, &error));
          g_clear_object (&read);
        }
      g_clear_object (&session);
      test_run_ready ();
      g_signal_handlers_disconnect_by_data (self->client, self);
      g_clear_object (&self->client);
      test_wait_for_exit (pid);
    }
}

/* Row 32: it is in a session of its own, where no key of our terminal reaches it. */
static void
test_own_session (void)
{
  g_autoptr(TestClient) self = test_client_new ("plain");
  g_autoptr(SbxSession) session = test_client_open (self);
  const GPid pid = test_client_provider_pid (session);

  g_assert_cmpint (getsid (pid), ==, pid);
  g_assert_cmpint (getpgid (pid), ==, pid);
}

/* Row 25. */
static void
test_no_zombie (void)
{
  for (guint i = 0; i < 20; i++)
    {
      g_autoptr(TestClient) self = test_client_new ("plain");
      g_autoptr(SbxSession) session = test_client_open (self);
      const GPid pid = test_client_provider_pid (session);
      g_autoptr(GError) error = NULL;

      g_assert_true (close_client (self, &error));
      g_assert_no_error (error);
      /* Not even as a zombie: it was reaped before close said that it was done. */
      g_assert_false (test_process_exists (pid));
    }
}

/* Everybody who waits when it is closed is told. */
static void
test_waiting (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict,slow=read_file,delay=200");
  g_autoptr(SbxSession) session = test_client_open (self);
  GAsyncResult *results[50] = { NULL, };
  g_autoptr(GError) error = NULL;
  guint n_failed = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (results); i++)
    sbx_session_read_file_async (session, "a", 0, NULL, test_store_result, &results[i]);
  test_run_for (50);
  close_client (self, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (results); i++)
    {
      test_wait_for (results[i] != NULL);
      g_assert_null (sbx_session_read_file_finish (session, results[i], &error));
      if (g_error_matches (error, SBX_ERROR, SBX_ERROR_CLOSED))
        n_failed++;
      g_clear_error (&error);
      g_clear_object (&results[i]);
    }
  g_assert_cmpuint (n_failed, >=, 49);
}

static void
close_in_output_cb (SbxProcess    *process,
                    GBytes        *bytes,
                    GAsyncResult **result)
{
  SbxSession *session = sbx_process_get_session (process);
  SbxProviderClient *client = g_object_get_data (G_OBJECT (session), "client");

  if (g_object_get_data (G_OBJECT (session), "done") != NULL)
    return;
  g_object_set_data (G_OBJECT (session), "done", client);
  sbx_provider_client_close_async (client, NULL, test_store_result, result);
}

/* A handler closes the client in the middle of what it is told. */
static void
test_in_handler (void)
{
  g_autoptr(TestClient) self = test_client_new ("output=stream,size=1");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
  g_autoptr(SbxExecResult) result = NULL;
  GAsyncResult *closed = NULL;
  g_autoptr(GError) error = NULL;

  g_object_set_data (G_OBJECT (session), "client", self->client);
  g_signal_connect (process, "stdout", G_CALLBACK (close_in_output_cb), &closed);
  result = sbx_process_run (process, NULL, &error);
  g_assert_true (result != NULL || error != NULL);
  test_wait_for (closed != NULL);
  sbx_provider_client_close_finish (self->client, closed, NULL);
  g_clear_object (&closed);
}

static void
drop_cb (SbxProcess *process,
         GBytes     *bytes,
         TestClient *self)
{
  if (self->client == NULL)
    return;
  g_signal_handlers_disconnect_by_data (self->client, self);
  g_clear_object (&self->client);
}

/* A handler drops it. */
static void
test_drop_in_handler (void)
{
  g_autoptr(TestClient) self = test_client_new ("output=stream,size=1");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;

  g_signal_connect (process, "stdout", G_CALLBACK (drop_cb), self);
  result = sbx_process_run (process, NULL, &error);
  g_assert_true (result != NULL || error != NULL);
  g_clear_object (&process);
  g_clear_object (&session);
}

typedef struct
{
  TestClient   *self;
  GAsyncResult *closed;
  gboolean      drops;
} LogHandler;

static void
log_handler_cb (SbxProviderClient *client,
                const char        *source,
                const char        *text,
                LogHandler        *handler)
{
  if (handler->drops)
    drop_cb (NULL, NULL, handler->self);
  else if (handler->closed == NULL && sbx_provider_client_get_state (client) ==
                                      SBX_PROVIDER_CLIENT_STATE_READY)
    sbx_provider_client_close_async (client, NULL, test_store_result, &handler->closed);
}

/* And one that is told what the provider said wrongly, or on its error stream. */
static void
test_in_log_handler (void)
{
  const char *modes[] = { "before=log", "behind=event", "before=number-id,dribble",
                          "flood=lines,amount=1", "die-before=exec,say=farewell" };

  for (gsize i = 0; i < 2 * G_N_ELEMENTS (modes); i++)
    {
      g_autoptr(TestClient) self = test_client_new (modes[i / 2]);
      g_autoptr(SbxSession) session = test_client_open (self);
      g_autoptr(SbxCommand) command = test_command ("true", NULL);
      g_autoptr(SbxExecResult) result = NULL;
      g_autoptr(GError) error = NULL;
      LogHandler handler = { .self = self, .drops = i % 2 == 1 };

      g_test_message ("%s", modes[i / 2]);
      sbx_provider_client_set_close_timeout (self->client, 500);
      g_signal_connect (self->client, "log", G_CALLBACK (log_handler_cb), &handler);
      result = sbx_session_exec (session, command, NULL, &error);
      g_assert_true (result != NULL || error != NULL);
      test_run_for (50);
      if (self->client != NULL)
        {
          close_client (self, NULL);
          g_signal_handlers_disconnect_by_data (self->client, &handler);
        }
      g_clear_object (&handler.closed);
    }
}

static gpointer
context_thread (gpointer data)
{
  g_autoptr(GMainContext) context = g_main_context_new ();
  TestClient *self = data;
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(SbxCommand) command = test_shell ("echo $PPID");
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;
  const char *argv[] = { g_getenv ("SBX_FAKE_PROVIDER"), "strict", "serve", NULL };
  g_autoptr(SbxProviderClient) client = NULL;
  g_autoptr(SbxOpenRequest) request = test_client_request (self);

  g_main_context_push_thread_default (context);
  client = sbx_provider_client_new (argv);
  sbx_provider_client_set_provider_name (client, "fake");
  session = sbx_provider_open (SBX_PROVIDER (client), request, NULL, &error);
  g_assert_no_error (error);
  result = sbx_session_exec (session, command, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (sbx_session_close (session, NULL, &error));
  g_assert_true (sbx_provider_client_close (client, NULL, &error));
  g_assert_no_error (error);

  /* What belongs to another thread is refused, and no harm is done. */
  g_assert_false (sbx_provider_client_start (self->client, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_BUSY);
  g_main_context_pop_thread_default (context);

  return NULL;
}

/* Clients in other threads, each with a context of its own that nobody else turns. */
static void
test_threads (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxSession) session = test_client_open (self);
  GThread *threads[4];
  g_autoptr(GError) error = NULL;

  /* The default context is at home here, as in a program that runs its loop. */
  g_assert_true (g_main_context_acquire (NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("client", context_thread, self);
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  g_main_context_release (NULL);
  g_assert_true (sbx_session_close (session, NULL, &error));
  g_assert_no_error (error);
}

/* Sessions do not take each other along, nor their client. */
static void
test_sessions (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxSession) one = test_client_open (self);
  g_autoptr(SbxSession) two = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_true (sbx_session_close (one, NULL, &error));
  g_assert_cmpuint (sbx_provider_client_get_n_sessions (self->client), ==, 1);
  result = sbx_session_exec (two, command, NULL, &error);
  g_assert_no_error (error);
  g_clear_object (&one);
  g_assert_cmpint (sbx_provider_client_get_state (self->client), ==,
                   SBX_PROVIDER_CLIENT_STATE_READY);
  g_assert_true (sbx_session_close (two, NULL, &error));
  g_assert_true (sbx_session_close (two, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (test_client_count_record (self, "\"method\":\"close\""), ==, 2);
}

/* A session whose close fails says so. */
static void
test_session_close_fails (void)
{
  g_autoptr(TestClient) self = test_client_new ("fail=close");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(GError) error = NULL;

  g_assert_false (sbx_session_close (session, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_PROVIDER);
  g_assert_cmpint (sbx_session_get_state (session), >, SBX_SESSION_STATE_CLOSING);
}

/* In a process of its own: @behave, and then the end of that process. */
typedef void (*Behaviour) (TestClient *self,
                           SbxSession *session);

static void
in_child (Behaviour   behave,
          const char *options)
{
  int report[2];
  GPid provider = 0;
  pid_t pid;

  g_assert_cmpint (pipe (report), ==, 0);
  pid = fork ();
  g_assert_cmpint (pid, >=, 0);
  if (pid == 0)
    {
      TestClient *self = test_client_new (options);
      SbxSession *session = test_client_open (self);

      provider = test_client_provider_pid (session);
      if (write (report[1], &provider, sizeof provider) != sizeof provider)
        _exit (1);
      behave (self, session);
      _exit (0);
    }
  close (report[1]);
  g_assert_cmpint (read (report[0], &provider, sizeof provider), ==, sizeof provider);
  close (report[0]);
  g_assert_cmpint (waitpid (pid, NULL, 0), ==, pid);
  g_assert_cmpint (provider, >, 1);
  test_wait_for_no_children ();
}

/* Nobody ever turns the loop again, and then the process is over. */
static void
never_again (TestClient *self,
             SbxSession *session)
{
  GAsyncResult *result = NULL;

  sbx_session_close_async (session, NULL, test_store_result, &result);
  sbx_provider_client_close_async (self->client, NULL, test_store_result, &result);
}

static void
drop_all (TestClient *self,
          SbxSession *session)
{
  g_signal_handlers_disconnect_by_data (self->client, self);
  g_object_unref (session);
  g_object_unref (self->client);
}

static void
be_killed (TestClient *self,
           SbxSession *session)
{
  g_autoptr(SbxCommand) command = test_shell ("sleep 1000 & sleep 1000");
  GAsyncResult *result = NULL;

  sbx_session_exec_async (session, command, NULL, test_store_result, &result);
  test_run_for ((guint) g_random_int_range (0, 30));
  kill (getpid (), SIGKILL);
}

static void
test_context_never_iterated (void)
{
  in_child (never_again, "plain");
  in_child (drop_all, "plain");
}

static void
test_client_killed (void)
{
  for (guint i = 0; i < 10; i++)
    in_child (be_killed, "plain");
}

int
main (int   argc,
      char *argv[])
{
  test_client_init (&argc, &argv);

  g_test_add_func ("/client/close/twice", test_twice);
  g_test_add_func ("/client/close/never-started", test_never_started);
  g_test_add_func ("/client/close/later-calls", test_later_calls);
  g_test_add_func ("/client/close/during-exec", test_during_exec);
  g_test_add_func ("/client/close/session-during-exec", test_session_during_exec);
  g_test_add_func ("/client/close/after-death", test_after_death);
  g_test_add_func ("/client/close/row-13-stubborn", test_stubborn);
  g_test_add_func ("/client/close/row-24-awaits-end-of-input", test_awaits_end_of_input);
  g_test_add_func ("/client/close/row-23-exit-status", test_exit_status);
  g_test_add_func ("/client/close/shutdown-fails", test_shutdown_fails);
  g_test_add_func ("/client/close/row-22-dropped", test_dropped);
  g_test_add_func ("/client/close/row-32-own-session", test_own_session);
  g_test_add_func ("/client/close/row-25-no-zombie", test_no_zombie);
  g_test_add_func ("/client/close/waiting", test_waiting);
  g_test_add_func ("/client/close/in-handler", test_in_handler);
  g_test_add_func ("/client/close/drop-in-handler", test_drop_in_handler);
  g_test_add_func ("/client/close/in-log-handler", test_in_log_handler);
  g_test_add_func ("/client/close/threads", test_threads);
  g_test_add_func ("/client/close/sessions", test_sessions);
  g_test_add_func ("/client/close/session-close-fails", test_session_close_fails);
  g_test_add_func ("/client/close/context-never-iterated", test_context_never_iterated);
  g_test_add_func ("/client/close/client-killed", test_client_killed);

  return g_test_run ();
}
