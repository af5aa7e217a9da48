/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "session-util.h"

#include <malloc.h>

/* The life of sessions in their program: dropped, disposed of, closed in handlers, many of them,
 * and in other contexts and threads. */

static void
iterate_all (void)
{
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

static void
test_drop (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxCommand) command = shell ("trap '' TERM; setsid sleep 60 & sleep 60");
  SbxSession *idle = place_open (place);
  SbxSession *busy = place_open (place);
  SbxProcess *process = sbx_session_spawn (busy, command, NULL, NULL);

  test_assert_finalizes (idle);

  /* A running process is the user's to keep. */
  g_object_unref (busy);
  iterate_all ();
  g_assert_cmpint (sbx_process_get_state (process), ==, SBX_PROCESS_STATE_RUNNING);
  g_assert_true (sbx_process_kill (process, SIGKILL, NULL));
  test_wait_for (sbx_process_get_state (process) == SBX_PROCESS_STATE_ENDED);
  g_object_unref (process);
  assert_nothing_left (place->data);
}

static void
test_drop_provider (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autoptr(SbxOpenRequest) request = place_request (place);
  g_autoptr(GAsyncResult) result = NULL;
  g_autoptr(SbxSession) second = NULL;
  g_autoptr(GError) error = NULL;
  SbxBwrapProvider *provider = place->provider;
  g_autofree char *output = NULL;

  /* An open in flight keeps it, and a session does not need it. */
  sbx_provider_open_async (SBX_PROVIDER (provider), request, NULL, test_store_result, &result);
  g_clear_object (&place->provider);
  test_wait_for (result != NULL);
  second = sbx_provider_open_finish (SBX_PROVIDER (provider), result, &error);
  g_assert_no_error (error);
  g_clear_object (&result);
  output = shell_output (session, "echo x");
  close_session (session);
  close_session (second);
}

static void
count_cb (GObject      *object,
          GAsyncResult *result,
          gpointer      user_data)
{
  guint *n = user_data;
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxExecResult) ended = NULL;

  ended = sbx_session_exec_finish (SBX_SESSION (object), result, &error);
  g_assert_true (ended == NULL || error == NULL);
  *n += 1;
}

static void
count_close_cb (GObject      *object,
                GAsyncResult *result,
                gpointer      user_data)
{
  guint *n = user_data;

  sbx_session_close_finish (SBX_SESSION (object), result, NULL);
  *n += 1;
}

/* As a binding may: dispose while calls are in flight. Each is still answered, once. */
static void
test_dispose_in_flight (void)
{
  g_autoptr(Place) place = place_new ();

  for (guint n = 0; n < 12; n++)
    {
      g_autoptr(SbxSession) session = place_open (place);
      g_autoptr(SbxCommand) command = shell (n % 2 == 0 ? "sleep 60" : "true");
      guint n_done = 0;

      sbx_session_exec_async (session, command, NULL, count_cb, &n_done);
      for (guint i = 0; i < n / 2; i++)
        {
          g_usleep (500);
          g_main_context_iteration (NULL, FALSE);
        }
      g_object_run_dispose (G_OBJECT (session));
      g_object_run_dispose (G_OBJECT (session));
      test_wait_for (n_done > 0);
      iterate_all ();
      g_assert_cmpint (n_done, ==, 1);
    }

  assert_nothing_left (place->data);
}

typedef struct
{
  guint n_closed;
  guint n_exited;
  guint n_close_done;
} Counts;

static void
closed_cb (SbxSession *session,
           GError     *error,
           gpointer    user_data)
{
  Counts *counts = user_data;

  counts->n_closed++;
  sbx_session_close_async (session, NULL, count_close_cb, &counts->n_close_done);
}

static void
exited_cb (SbxProcess    *process,
           SbxExecResult *result,
           gpointer       user_data)
{
  Counts *counts = user_data;

  counts->n_exited++;
  sbx_session_close_async (sbx_process_get_session (process), NULL, count_close_cb,
                           &counts->n_close_done);
}

static void
stdout_cb (SbxProcess *process,
           GBytes     *bytes,
           gpointer    user_data)
{
  Counts *counts = user_data;

  sbx_session_close_async (sbx_process_get_session (process), NULL, count_close_cb,
                           &counts->n_close_done);
}

static void
test_close_in_handlers (void)
{
  g_autoptr(Place) place = place_new ();
  struct { const char *signal_name; GCallback callback; } const handlers[] = {
    { "exited", G_CALLBACK (exited_cb) }, { "stdout", G_CALLBACK (stdout_cb) },
  };

  for (guint i = 0; i < G_N_ELEMENTS (handlers); i++)
    {
      g_autoptr(SbxSession) session = place_open (place);
      g_autoptr(SbxCommand) command = shell ("echo x; exit 3");
      g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
      Counts counts = { 0 };
      guint n_extra = 0;

      g_signal_connect (session, "closed", G_CALLBACK (closed_cb), &counts);
      g_signal_connect (process, handlers[i].signal_name, handlers[i].callback, &counts);
      sbx_process_start_async (process, NULL, NULL, NULL);
      test_wait_for (counts.n_closed > 0 && counts.n_close_done >= 2);
      sbx_session_close_async (session, NULL, count_close_cb, &n_extra);
      test_wait_for (n_extra > 0);
      g_assert_cmpint (counts.n_closed, ==, 1);
      g_assert_cmpint (sbx_session_get_state (session), ==, SBX_SESSION_STATE_CLOSED);
      g_assert_cmpint (sbx_process_get_state (process), ==, SBX_PROCESS_STATE_ENDED);
    }
}

/* Somebody outside kills process 1: the session is lost by name, and still is closed. */
static void
test_lost (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autoptr(SbxCommand) command = shell ("sleep 60");
  g_autoptr(SbxProcess) process = sbx_session_spawn (session, command, NULL, NULL);
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(SbxExecResult) later = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(GArray) found = list_descendants (getpid ());
  Counts counts = { 0 };

  /* Its supervisors have the same name, and go with it. */
  for (guint i = 0; i < found->len; i++)
    if (strcmp (g_array_index (found, Process, i).name, "sbx-init") == 0)
      kill (g_array_index (found, Process, i).pid, SIGKILL);

  g_signal_connect (session, "closed", G_CALLBACK (closed_cb), &counts);
  result = sbx_process_wait (process, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_LOST);
  test_wait_for (counts.n_close_done > 0);
  g_assert_cmpint (sbx_session_get_state (session), ==, SBX_SESSION_STATE_LOST);
  g_assert_error (sbx_session_get_failure (session), SBX_ERROR, SBX_ERROR_LOST);
  g_test_message ("%s", sbx_session_get_failure (session)->message);

  later = sbx_session_exec (session, command, NULL, &error);
  g_assert_null (later);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_CLOSED);
  assert_nothing_left (place->data);
}

/* Somebody outside kills bwrap, which is no longer needed. */
static void
test_bwrap_killed (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autoptr(GArray) found = list_descendants (getpid ());
  g_autofree char *output = NULL;

  for (guint i = 0; i < found->len; i++)
    if (strcmp (g_array_index (found, Process, i).name, "bwrap") == 0)
      g_assert_cmpint (kill (g_array_index (found, Process, i).pid, SIGKILL), ==, 0);

  output = shell_output (session, "echo x");
  g_assert_cmpstr (output, ==, "x\n");
  close_session (session);
  assert_nothing_left (place->data);
}

/* What an ended child of ours must not take along. */
static void
test_forked_host (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autofree char *output = NULL;
  const pid_t child = fork ();
  int status;

  if (child == 0)
    _exit (0);

  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  output = shell_output (session, "echo x");
  g_assert_cmpstr (output, ==, "x\n");
  close_session (session);
}

typedef struct
{
  gint64  last;
  gint64  worst;
} Timer;

static gboolean
timer_cb (gpointer user_data)
{
  Timer *timer = user_data;
  const gint64 now = g_get_monotonic_time ();

  timer->worst = MAX (timer->worst, now - timer->last - 5000);
  timer->last = now;

  return G_SOURCE_CONTINUE;
}

static guint
count_threads (void)
{
  g_autoptr(GDir) dir = g_dir_open ("/proc/self/task", 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;

  return n;
}

static void
opened_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  GPtrArray *sessions = user_data;
  g_autoptr(GError) error = NULL;
  SbxSession *session = sbx_provider_open_finish (SBX_PROVIDER (object), result, &error);

  g_assert_no_error (error);
  g_ptr_array_add (sessions, session);
}

/* What is in use of the heap, which a sanitizer does not tell. */
static gsize
get_heap (void)
{
  const struct mallinfo2 info = mallinfo2 ();

  return info.uordblks + info.hblkhd;
}

static void
open_many (Place     *place,
           GPtrArray *sessions,
           guint      n)
{
  g_autoptr(SbxOpenRequest) request = place_request (place);
  const guint before = sessions->len;

  for (guint i = 0; i < n; i++)
    sbx_provider_open_async (SBX_PROVIDER (place->provider), request, NULL, opened_cb, sessions);
  test_wait_for (sessions->len == before + n);
}

static void
test_many (void)
{
  enum { N = 100 };
  g_autoptr(Place) place = place_new ();
  g_autoptr(GPtrArray) sessions = g_ptr_array_new_with_free_func (g_object_unref);
  Timer timer = { g_get_monotonic_time (), 0 };
  guint source;
  guint n_threads;
  guint n_done = 0;
  gsize heap;
  gint64 begin;
  g_autoptr(SbxCommand) command = shell ("echo x");

  /* Whatever is made once is made by then, the threads of the pool too. */
  open_many (place, sessions, 20);
  n_threads = count_threads ();
  heap = get_heap ();

  source = g_timeout_add (5, timer_cb, &timer);
  timer.last = begin = g_get_monotonic_time ();
  open_many (place, sessions, N);
  g_test_message ("%u more open after %d ms: %u KiB each, %u threads, a timer up to %d ms late", N,
                  (int) (g_get_monotonic_time () - begin) / 1000,
                  (guint) ((get_heap () - MIN (heap, get_heap ())) / N / 1024), count_threads (),
                  (int) timer.worst / 1000);
  g_assert_cmpuint (count_threads (), <, n_threads + N / 8);
  g_assert_cmpuint (get_heap (), <, heap + N * 200 * 1024);

  begin = g_get_monotonic_time ();
  for (guint i = 0; i < sessions->len; i++)
    {
      sbx_session_exec_async (sessions->pdata[i], command, NULL, count_cb, &n_done);
      g_main_context_iteration (NULL, FALSE);
    }
  test_wait_for (n_done == sessions->len);
  g_test_message ("a command in each: %d ms", (int) (g_get_monotonic_time () - begin) / 1000);

  n_done = 0;
  for (guint i = 0; i < sessions->len; i++)
    {
      sbx_session_close_async (sessions->pdata[i], NULL, count_close_cb, &n_done);
      g_main_context_iteration (NULL, FALSE);
    }
  test_wait_for (n_done == sessions->len);
  g_test_message ("in all of it a timer was up to %d ms late", (int) timer.worst / 1000);
  g_source_remove (source);
  g_assert_cmpuint (count_threads (), <, n_threads + N / 8);
}

/* A whole life in a thread that has a context of its own. */
static gpointer
thread_cb (gpointer user_data)
{
  Place *place = user_data;
  g_autoptr(GMainContext) context = g_main_context_new ();
  g_autoptr(SbxBwrapProvider) provider = NULL;
  g_autoptr(SbxOpenRequest) request = place_request (place);

  g_main_context_push_thread_default (context);
  provider = sbx_bwrap_provider_new ();
  sbx_bwrap_provider_set_data_dir (provider, place->data);

  for (guint i = 0; i < 5; i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(SbxSession) session = NULL;
      g_autofree char *output = NULL;

      session = sbx_provider_open (SBX_PROVIDER (provider), request, NULL, &error);
      g_assert_no_error (error);
      output = shell_output (session, "echo x; cat /etc/hostname > /dev/null");
      g_assert_cmpstr (output, ==, "x\n");
      close_session (session);
    }

  g_clear_object (&provider);
  g_main_context_pop_thread_default (context);

  return NULL;
}

static void
test_threads (void)
{
  g_autoptr(Place) place = place_new ();
  GThread *threads[4];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("session", thread_cb, place);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  assert_nothing_left (place->data);
}

typedef struct
{
  Place      *place;
  SbxSession *session;
} Foreign;

static gpointer
foreign_cb (gpointer user_data)
{
  Foreign *foreign = user_data;
  g_autoptr(SbxCommand) command = shell ("true");
  g_autoptr(SbxOpenRequest) request = place_request (foreign->place);
  g_autoptr(GError) error = NULL;

  g_assert_null (sbx_provider_open (SBX_PROVIDER (foreign->place->provider), request, NULL,
                                    &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_BUSY);
  g_clear_error (&error);
  g_assert_null (sbx_session_exec (foreign->session, command, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_BUSY);
  g_clear_error (&error);
  g_assert_null (sbx_session_read_file (foreign->session, "x", 0, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_BUSY);
  g_clear_error (&error);
  g_assert_null (sbx_bwrap_provider_clean (foreign->place->provider, FALSE, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_BUSY);
  g_clear_error (&error);
  g_assert_false (sbx_session_close (foreign->session, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_BUSY);

  return NULL;
}

static gpointer
unref_cb (gpointer user_data)
{
  g_object_unref (user_data);

  return NULL;
}

static void
test_wrong_thread (void)
{
  g_autoptr(Place) place = place_new ();
  SbxSession *session = place_open (place);
  Foreign foreign = { place, session };
  g_autofree char *output = NULL;

  g_thread_join (g_thread_new ("foreign", foreign_cb, &foreign));
  output = shell_output (session, "echo x");
  g_assert_cmpstr (output, ==, "x\n");

  /* The garbage of a binding is collected in any thread. */
  g_assert_true (g_main_context_acquire (NULL));
  g_thread_join (g_thread_new ("garbage", unref_cb, session));
  g_main_context_release (NULL);
  assert_nothing_left (place->data);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  adopt_orphans ();

  g_test_add_func ("/session/life/drop", test_drop);
  g_test_add_func ("/session/life/drop-provider", test_drop_provider);
  g_test_add_func ("/session/life/dispose-in-flight", test_dispose_in_flight);
  g_test_add_func ("/session/life/close-in-handlers", test_close_in_handlers);
  g_test_add_func ("/session/life/lost", test_lost);
  g_test_add_func ("/session/life/bwrap-killed", test_bwrap_killed);
  g_test_add_func ("/session/life/forked-host", test_forked_host);
  g_test_add_func ("/session/life/many", test_many);
  g_test_add_func ("/session/life/threads", test_threads);
  g_test_add_func ("/session/life/wrong-thread", test_wrong_thread);

  return g_test_run ();
}
