/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "client-util.h"

#include <string.h>

/* The queue, and giving up: rows 1, 12, 13, 14 and 29. */

/* How long something may take that is to happen at once, on a machine that does other things. */
#define AT_ONCE_US (2 * G_USEC_PER_SEC)

static gboolean
finish_read (SbxSession    *session,
             GAsyncResult **result,
             GError       **error)
{
  g_autoptr(GAsyncResult) taken = NULL;
  g_autoptr(GBytes) bytes = NULL;

  test_wait_for (*result != NULL);
  taken = g_steal_pointer (result);
  bytes = sbx_session_read_file_finish (session, taken, error);
  return bytes != NULL;
}

static void
make_file (TestClient *self,
           const char *name)
{
  g_autofree char *path = g_build_filename (self->workspace, name, NULL);

  g_assert_true (g_file_set_contents (path, name, -1, NULL));
}

/* One at a time, in the order asked; who waits can be seen. */
static void
test_order (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxSession) session = test_client_open (self);
  GAsyncResult *results[20] = { NULL, };
  g_auto(GStrv) calls = NULL;
  g_autofree char *record = NULL;
  const char *at;

  for (guint i = 0; i < G_N_ELEMENTS (results); i++)
    {
      g_autofree char *name = g_strdup_printf ("file-%02u", i);

      make_file (self, name);
      sbx_session_read_file_async (session, name, 0, NULL, test_store_result, &results[i]);
    }
  calls = sbx_provider_client_dup_calls (self->client);
  g_assert_cmpuint (g_strv_length (calls), ==, 20);
  g_assert_cmpuint (sbx_provider_client_get_n_in_flight (self->client) +
                    sbx_provider_client_get_n_queued (self->client), ==, 20);
  g_assert_cmpuint (sbx_provider_client_get_n_in_flight (self->client), <=, 1);
  for (guint i = 0; i < G_N_ELEMENTS (results); i++)
    {
      g_autoptr(GError) error = NULL;

      g_assert_true (finish_read (session, &results[i], &error));
      g_assert_no_error (error);
    }
  g_assert_cmpuint (sbx_provider_client_get_n_in_flight (self->client), ==, 0);
  g_assert_cmpuint (sbx_provider_client_get_n_queued (self->client), ==, 0);

  record = test_client_read_record (self);
  at = record;
  for (guint i = 0; i < G_N_ELEMENTS (results); i++)
    {
      g_autofree char *name = g_strdup_printf ("\"file-%02u\"", i);

      at = strstr (at, name);
      g_assert_nonnull (at);
    }
}

/* What was not sent yet is never sent. */
static void
test_queued (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict,slow=exec,delay=200");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(SbxExecResult) result = NULL;
  GAsyncResult *exec = NULL;
  GAsyncResult *read = NULL;
  g_autoptr(GError) error = NULL;

  sbx_session_exec_async (session, command, NULL, test_store_result, &exec);
  sbx_session_read_file_async (session, "never", 0, cancellable, test_store_result, &read);
  test_run_ready ();
  g_assert_null (read);
  g_cancellable_cancel (cancellable);
  g_assert_null (read);
  test_wait_for (read != NULL);
  g_assert_null (exec);
  g_assert_false (finish_read (session, &read, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  result = test_finish_exec (session, &exec, &error);
  g_assert_no_error (error);
  g_assert_true (sbx_session_close (session, NULL, &error));
  g_assert_cmpuint (test_client_count_record (self, "never"), ==, 0);
}

/* Row 12: the caller is told at once; the connection takes in what still comes, and goes on. */
static void
test_in_flight (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_shell ("echo late; sleep 0.5; echo later");
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;

  make_file (self, "a");
  sbx_provider_client_set_grace (self->client, 20000);
  for (guint i = 0; i < 3; i++)
    {
      GAsyncResult *read = NULL;
      gint64 begin;

      sbx_session_read_file_async (session, "a", 0, cancellable, test_store_result, &read);
      g_cancellable_cancel (cancellable);
      begin = g_get_monotonic_time ();
      g_assert_false (finish_read (session, &read, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_cmpint (g_get_monotonic_time () - begin, <, AT_ONCE_US);
      g_clear_error (&error);
      g_cancellable_reset (cancellable);

      sbx_session_read_file_async (session, "a", 0, NULL, test_store_result, &read);
      g_assert_true (finish_read (session, &read, &error));
      g_assert_no_error (error);
    }
  for (guint i = 0; i < 2; i++)
    {
      GAsyncResult *exec = NULL;
      GAsyncResult *read = NULL;
      g_autoptr(SbxExecResult) result = NULL;

      sbx_session_exec_async (session, command, cancellable, test_store_result, &exec);
      test_run_for (100);
      g_cancellable_cancel (cancellable);
      result = test_finish_exec (session, &exec, &error);
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_clear_error (&error);
      g_cancellable_reset (cancellable);
      sbx_session_read_file_async (session, "a", 0, NULL, test_store_result, &read);
      g_assert_true (finish_read (session, &read, &error));
      g_assert_no_error (error);
    }
  g_assert_cmpint (sbx_provider_client_get_state (self->client), ==,
                   SBX_PROVIDER_CLIENT_STATE_READY);
}

/* What does not come within the grace ends the provider, and everybody who waits. */
static void
test_grace (void)
{
  g_autoptr(TestClient) self = test_client_new ("hang=read_file");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  GAsyncResult *read = NULL;
  GAsyncResult *waiting = NULL;
  g_autoptr(GError) error = NULL;

  sbx_provider_client_set_grace (self->client, 200);
  g_assert_cmpuint (sbx_provider_client_get_grace (self->client), ==, 200);
  sbx_session_read_file_async (session, "a", 0, cancellable, test_store_result, &read);
  test_run_for (50);
  sbx_session_read_file_async (session, "b", 0, NULL, test_store_result, &waiting);
  g_cancellable_cancel (cancellable);
  g_assert_false (finish_read (session, &read, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_false (finish_read (session, &waiting, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_LOST);
  g_assert_cmpint (sbx_provider_client_get_state (self->client), ==,
                   SBX_PROVIDER_CLIENT_STATE_BROKEN);
}

static void
test_already_cancelled (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  GAsyncResult *exec = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;

  g_cancellable_cancel (cancellable);
  sbx_session_exec_async (session, command, cancellable, test_store_result, &exec);
  g_assert_null (exec);
  result = test_finish_exec (session, &exec, &error);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_true (sbx_session_close (session, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (test_client_count_record (self, "\"true\""), ==, 0);
}

/* Opening can be given up; a session that comes too late is closed, so that nothing is leaked. */
static void
test_open (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict,slow=open,delay=300");
  g_autoptr(SbxOpenRequest) request = test_client_request (self);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(SbxSession) session = NULL;
  GAsyncResult *opened = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *methods = NULL;

  sbx_provider_client_set_grace (self->client, 20000);
  g_assert_true (sbx_provider_client_start (self->client, NULL, &error));
  sbx_provider_open_async (SBX_PROVIDER (self->client), request, cancellable, test_store_result,
                           &opened);
  test_run_for (100);
  g_cancellable_cancel (cancellable);
  test_wait_for (opened != NULL);
  session = sbx_provider_open_finish (SBX_PROVIDER (self->client), opened, &error);
  g_clear_object (&opened);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_true (sbx_provider_client_close (self->client, NULL, &error));
  g_assert_no_error (error);
  methods = test_client_methods (self);
  g_assert_cmpstr (methods, ==, "capabilities open close shutdown ");
}

/* Row 13. */
static void
test_open_timeout (void)
{
  const char *modes[] = { "silent=open", "hang=open", "silent=all" };

  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autoptr(TestClient) self = test_client_new (modes[i]);
      g_autoptr(SbxOpenRequest) request = test_client_request (self);
      g_autoptr(SbxSession) session = NULL;
      g_autoptr(GError) error = NULL;
      const gint64 begin = g_get_monotonic_time ();

      sbx_provider_client_set_open_timeout (self->client, 200);
      sbx_provider_client_set_grace (self->client, 100);
      session = sbx_provider_open (SBX_PROVIDER (self->client), request, NULL, &error);
      g_assert_null (session);
      g_assert_nonnull (error);
      g_assert_cmpint (g_get_monotonic_time () - begin, <, 10 * G_USEC_PER_SEC);
      g_assert_cmpint (g_get_monotonic_time () - begin, >=, 150 * 1000);
    }
}

static void
test_call_timeout (void)
{
  g_autoptr(TestClient) self = test_client_new ("silent=read_file");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(GError) error = NULL;
  const gint64 begin = g_get_monotonic_time ();

  sbx_provider_client_set_call_timeout (self->client, 200);
  sbx_provider_client_set_grace (self->client, 100);
  g_assert_null (sbx_session_read_file (session, "a", 0, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
  g_assert_cmpint (g_get_monotonic_time () - begin, <, 10 * G_USEC_PER_SEC);
}

/* A command may run as long as it likes: it has a time-out of its own. */
static void
test_exec_has_its_own (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_shell ("sleep 0.6; echo done");
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;

  sbx_provider_client_set_call_timeout (self->client, 200);
  result = sbx_session_exec (session, command, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (sbx_exec_result_get_success (result));
}

/* Row 14: it does not read, and we do not wait for it. */
static void
test_deaf (void)
{
  g_autoptr(TestClient) self = test_client_new ("deaf=open");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autofree char *much = g_malloc0 (4 * 1024 * 1024);
  g_autoptr(GBytes) content = g_bytes_new_static (much, 4 * 1024 * 1024);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  GAsyncResult *write = NULL;
  TestTimer timer;
  g_autoptr(GError) error = NULL;

  sbx_provider_client_set_grace (self->client, 100);
  test_timer_start (&timer);
  sbx_session_write_file_async (session, "a", content, 0, cancellable, test_store_result, &write);
  test_run_for (300);
  g_assert_null (write);
  g_cancellable_cancel (cancellable);
  test_wait_for (write != NULL);
  g_assert_cmpuint (test_timer_stop (&timer), <, 1000);
  g_assert_false (sbx_session_write_file_finish (session, write, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_object (&write);

  /* Half of it is in the pipe: there is no way on with that provider. */
  test_wait_for (sbx_provider_client_get_state (self->client) == SBX_PROVIDER_CLIENT_STATE_BROKEN);
}

/* They leave the queue in any order. */
static void
test_ten_thousand (void)
{
  enum { N = 10000 };
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_shell ("while ! test -e go; do sleep 0.01; done");
  g_autoptr(GPtrArray) cancellables = g_ptr_array_new_with_free_func (g_object_unref);
  g_autofree GAsyncResult **results = g_new0 (GAsyncResult *, N);
  g_autofree guint *order = g_new (guint, N);
  g_autoptr(SbxExecResult) result = NULL;
  GAsyncResult *exec = NULL;
  g_autoptr(GError) error = NULL;

  sbx_session_exec_async (session, command, NULL, test_store_result, &exec);
  for (guint i = 0; i < N; i++)
    {
      g_ptr_array_add (cancellables, g_cancellable_new ());
      sbx_session_read_file_async (session, "never", 0, g_ptr_array_index (cancellables, i),
                                   test_store_result, &results[i]);
      order[i] = i;
    }
  g_assert_cmpuint (sbx_provider_client_get_n_queued (self->client), >=, N);
  for (guint i = N - 1; i > 0; i--)
    {
      const guint j = (guint) g_test_rand_int_range (0, (gint32) i + 1);
      const guint kept = order[i];

      order[i] = order[j];
      order[j] = kept;
    }
  for (guint i = 0; i < N; i++)
    {
      g_cancellable_cancel (g_ptr_array_index (cancellables, order[i]));
      if (i % 100 == 0)
        test_run_ready ();
    }
  for (guint i = 0; i < N; i++)
    {
      g_assert_false (finish_read (session, &results[i], &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_clear_error (&error);
    }
  g_assert_cmpuint (sbx_provider_client_get_n_queued (self->client), ==, 0);
  g_assert_null (exec);
  make_file (self, "go");
  result = test_finish_exec (session, &exec, &error);
  g_assert_no_error (error);
  g_assert_true (sbx_session_close (session, NULL, &error));
  g_assert_no_error (error);
}

/* Row 1: with a provider that says so, a cheap call does not wait for a long one. */
static void
test_multiplex (void)
{
  g_autoptr(TestClient) self = test_client_new ("multiplex,features=multiplex+cancel");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("sleep", "20", NULL);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(SbxExecResult) result = NULL;
  GAsyncResult *exec = NULL;
  g_autoptr(GBytes) content = NULL;
  g_autoptr(GError) error = NULL;
  g_auto(GStrv) features = sbx_provider_client_dup_features (self->client);

  g_assert_true (g_strv_contains ((const char * const *) features, "multiplex"));
  make_file (self, "a");
  sbx_session_exec_async (session, command, cancellable, test_store_result, &exec);
  content = sbx_session_read_file (session, "a", 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (exec);
  g_assert_cmpuint (sbx_provider_client_get_n_in_flight (self->client), ==, 1);

  /* And it can be ended without ending anything else. */
  g_cancellable_cancel (cancellable);
  result = test_finish_exec (session, &exec, &error);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_true (sbx_session_close (session, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (test_client_count_record (self, "\"method\":\"cancel\""), ==, 1);
}

static void
test_reordered (void)
{
  g_autoptr(TestClient) self = test_client_new ("reorder=16,features=multiplex");
  g_autoptr(SbxSession) session = test_client_open (self);
  GAsyncResult *results[16] = { NULL, };

  for (guint i = 0; i < G_N_ELEMENTS (results); i++)
    {
      g_autofree char *name = g_strdup_printf ("file-%u", i);

      make_file (self, name);
      sbx_session_read_file_async (session, name, 0, NULL, test_store_result, &results[i]);
    }
  for (guint i = 0; i < G_N_ELEMENTS (results); i++)
    {
      g_autofree char *name = g_strdup_printf ("file-%u", i);
      g_autoptr(GBytes) bytes = NULL;
      g_autoptr(GError) error = NULL;

      test_wait_for (results[i] != NULL);
      bytes = sbx_session_read_file_finish (session, results[i], &error);
      g_assert_no_error (error);
      g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), name,
                       strlen (name));
      g_clear_object (&results[i]);
    }
}

/* It said that it can cancel, and does not. */
static void
test_cancel_unanswered (void)
{
  g_autoptr(TestClient) self = test_client_new ("multiplex,silent=cancel,"
                                                "features=multiplex+cancel");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("sleep", "1000", NULL);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(SbxExecResult) result = NULL;
  GAsyncResult *exec = NULL;
  g_autoptr(GError) error = NULL;
  const gint64 begin = g_get_monotonic_time ();

  sbx_provider_client_set_grace (self->client, 300);
  sbx_session_exec_async (session, command, cancellable, test_store_result, &exec);
  test_run_for (50);
  g_cancellable_cancel (cancellable);
  result = test_finish_exec (session, &exec, &error);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpint (g_get_monotonic_time () - begin, <, 10 * G_USEC_PER_SEC);
}

typedef struct
{
  SbxSession   *session;
  GAsyncResult *read;
} Nested;

static void
read_cb (SbxProcess *process,
         GBytes     *bytes,
         Nested     *nested)
{
  sbx_session_read_file_async (nested->session, "a", 0, NULL, test_store_result, &nested->read);
}

/* Row 29: a handler of the output asks for something else of the same session. */
static void
test_nested (void)
{
  const char *modes[] = { "strict", "multiplex,features=multiplex" };

  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autoptr(TestClient) self = test_client_new (modes[i]);
      g_autoptr(SbxSession) session = test_client_open (self);
      g_autoptr(SbxCommand) command = test_shell ("echo now");
      g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
      g_autoptr(SbxExecResult) result = NULL;
      g_autoptr(GError) error = NULL;
      Nested nested = { .session = session };

      make_file (self, "a");
      g_signal_connect (process, "stdout", G_CALLBACK (read_cb), &nested);
      result = sbx_process_run (process, NULL, &error);
      g_assert_no_error (error);
      g_assert_true (finish_read (session, &nested.read, &error));
      g_assert_no_error (error);
    }
}

/* Who does not read what he cancels holds up nobody else: its output would fill the pipe again and
 * again. */
static void
test_unread (void)
{
  g_autoptr(TestClient) self = test_client_new ("multiplex,features=multiplex+cancel,"
                                                "output=stream,size=64,chunk=2");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  GInputStream *pipe = sbx_process_get_stdout_pipe (process);
  g_autoptr(GAsyncResult) exec = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  GAsyncResult *read = NULL;
  g_autoptr(GError) error = NULL;
  gint64 begin;

  g_assert_nonnull (pipe);
  make_file (self, "a");
  sbx_process_run_async (process, cancellable, test_store_result, &exec);
  test_run_for (500);
  begin = g_get_monotonic_time ();
  g_cancellable_cancel (cancellable);
  test_wait_for (exec != NULL);
  result = sbx_process_run_finish (process, exec, &error);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);

  sbx_session_read_file_async (session, "a", 0, NULL, test_store_result, &read);
  g_assert_true (finish_read (session, &read, &error));
  g_assert_no_error (error);
  g_assert_cmpint (g_get_monotonic_time () - begin, <, AT_ONCE_US);
}

int
main (int   argc,
      char *argv[])
{
  test_client_init (&argc, &argv);

  g_test_add_func ("/client/cancel/order", test_order);
  g_test_add_func ("/client/cancel/queued", test_queued);
  g_test_add_func ("/client/cancel/row-12-in-flight", test_in_flight);
  g_test_add_func ("/client/cancel/grace", test_grace);
  g_test_add_func ("/client/cancel/already", test_already_cancelled);
  g_test_add_func ("/client/cancel/open", test_open);
  g_test_add_func ("/client/cancel/row-13-open-timeout", test_open_timeout);
  g_test_add_func ("/client/cancel/row-13-call-timeout", test_call_timeout);
  g_test_add_func ("/client/cancel/exec-has-its-own", test_exec_has_its_own);
  g_test_add_func ("/client/cancel/row-14-deaf", test_deaf);
  g_test_add_func ("/client/cancel/ten-thousand", test_ten_thousand);
  g_test_add_func ("/client/cancel/row-1-multiplex", test_multiplex);
  g_test_add_func ("/client/cancel/reordered", test_reordered);
  g_test_add_func ("/client/cancel/unanswered", test_cancel_unanswered);
  g_test_add_func ("/client/cancel/row-29-nested", test_nested);
  g_test_add_func ("/client/cancel/unread", test_unread);

  return g_test_run ();
}
