/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "core-child.h"
#include "core-session.h"

#include <string.h>

/* What keeps what alive, and what an object survives; and which context it belongs to. */

static void
test_drop_idle (void)
{
  g_autoptr(TestSession) session = test_session_new (test_answer_at_once);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (SBX_SESSION (session), command);
  g_autoptr(TestProvider) provider = test_provider_new (test_answer_at_once);

  sbx_command_set_stdin (command, SBX_STDIN_PIPE);
  test_assert_finalizes (process);
  process = sbx_session_create_process (SBX_SESSION (session), command);
  g_assert_nonnull (sbx_process_get_stdout_pipe (process));
  g_assert_nonnull (sbx_process_get_stdin_pipe (process));
  test_assert_finalizes (process);
  test_assert_finalizes (session);
  test_assert_finalizes (provider);
}

/* After every verb nothing of it is left. */
static void
test_drop_used (void)
{
  for (const TestVerb *verb = test_verbs; verb->name != NULL; verb++)
    {
      g_autoptr(TestProvider) provider = test_provider_new (test_keep);
      g_autoptr(GCancellable) cancellable = g_cancellable_new ();
      g_auto(TestCall) call = { FALSE, };
      SbxInvocation **kept = test_verb_kept (verb, provider);

      test_verb_begin (verb, provider, cancellable, &call);
      test_answer (g_str_equal (verb->name, "open") ? G_OBJECT (provider)
                                                    : G_OBJECT (provider->session), *kept);
      test_wait_for (call.result != NULL);
      test_verb_assert_success (verb, &call);
      test_call_clear (&call);
      g_clear_object (kept);
      test_run_ready ();

      /* Nor in a cancellable that lives on. */
      g_assert_cmpuint (G_OBJECT (cancellable)->ref_count, ==, 1);
      test_assert_finalizes (provider->session);
      test_assert_finalizes (provider);
    }
}

/* A call in flight keeps what it needs. */
static void
test_drop_in_flight (void)
{
  g_autoptr(TestSession) session = test_session_new (test_start_and_keep);
  g_autoptr(SbxCommand) command = test_command ("sleep", NULL);
  g_autoptr(GAsyncResult) done = NULL;
  g_autoptr(SbxInvocation) kept = NULL;
  SbxProcess *process = sbx_session_create_process (SBX_SESSION (session), command);
  TestSession *weak_session = session;
  SbxProcess *weak_process = process;

  g_object_add_weak_pointer (G_OBJECT (session), (gpointer *) &weak_session);
  g_object_add_weak_pointer (G_OBJECT (process), (gpointer *) &weak_process);

  sbx_process_run_async (process, NULL, test_store_result, &done);
  kept = g_steal_pointer (&session->kept);
  g_object_unref (process);
  g_clear_object (&session);
  test_run_ready ();
  g_assert_nonnull (weak_session);
  g_assert_nonnull (weak_process);

  sbx_exec_invocation_return_exited (SBX_EXEC_INVOCATION (kept), 0);
  test_wait_for (done != NULL);
  g_clear_object (&done);
  test_run_ready ();
  g_assert_null (weak_process);
  g_assert_null (weak_session);
}

static void
unref_cb (gpointer object)
{
  g_object_unref (object);
}

static void
journal_cb (SbxProcess    *process,
            SbxExecResult *result,
            GString       *journal)
{
  g_string_append (journal, "exited ");
}

/* Handlers that drop the last reference that anybody has. */
static void
test_unref_in_handler (void)
{
  static const char * const signals[] = { "started", "stdout", "exited", "notify::state" };

  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    for (guint kind = 0; kind < 2; kind++)
      {
        g_autoptr(GString) journal = g_string_new (NULL);
        g_autoptr(SbxCommand) command = test_command ("echo", "text", NULL);
        SbxSession *session = kind == 0 ? test_child_session_new ()
                                        : SBX_SESSION (test_session_new (test_answer_at_once));
        SbxProcess *process = sbx_session_create_process (session, command);
        gulong handler;

        if (kind == 1 && g_str_equal (signals[i], "stdout"))
          {
            g_object_unref (process);
            g_object_unref (session);
            continue;
          }

        handler = g_signal_connect_swapped (process, signals[i], G_CALLBACK (unref_cb), process);
        g_signal_connect_swapped (process, signals[i], G_CALLBACK (unref_cb), session);
        g_signal_connect (process, "exited", G_CALLBACK (journal_cb), journal);
        /* Of the states there are several. */
        if (g_str_equal (signals[i], "notify::state"))
          {
            g_object_ref (process);
            g_object_ref (process);
            g_object_ref (session);
            g_object_ref (session);
          }

        g_assert_cmpuint (handler, >, 0);
        sbx_process_run_async (process, NULL, NULL, NULL);
        test_wait_for (journal->len > 0);
        test_run_ready ();
        g_assert_cmpstr (journal->str, ==, "exited ");
      }
}

/* A binding that disposes what it was given: nothing is lost, nothing is told twice. */
static void
test_dispose_session (void)
{
  for (const TestVerb *verb = test_verbs; verb->name != NULL; verb++)
    {
      g_autoptr(TestProvider) provider = test_provider_new (test_keep);
      g_auto(TestCall) call = { FALSE, };
      g_autoptr(SbxInvocation) kept = NULL;

      test_verb_begin (verb, provider, NULL, &call);
      kept = g_object_ref (*test_verb_kept (verb, provider));
      g_object_run_dispose (G_OBJECT (provider->session));
      test_run_ready ();
      g_assert_null (call.result);
      test_answer (g_str_equal (verb->name, "open") ? G_OBJECT (provider)
                                                    : G_OBJECT (provider->session), kept);
      test_wait_for (call.result != NULL);
      test_verb_assert_success (verb, &call);
      test_run_ready ();
    }
}

static void
check_dispose_process (SbxSession *session,
                       gboolean    with_pipe,
                       gboolean    before)
{
  g_autoptr(SbxCommand) command = test_command ("cat", NULL);
  g_autoptr(GBytes) bytes = g_bytes_new_static ("text", 4);
  g_autoptr(SbxProcess) process = NULL;
  g_autoptr(GAsyncResult) ran = NULL;
  g_autoptr(GAsyncResult) waited = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;

  sbx_command_set_stdin_bytes (command, bytes);
  sbx_command_set_timeout (command, 60000);
  process = sbx_session_create_process (session, command);
  if (with_pipe)
    g_assert_nonnull (sbx_process_get_stdout_pipe (process));
  if (before)
    g_object_run_dispose (G_OBJECT (process));

  sbx_process_run_async (process, NULL, test_store_result, &ran);
  sbx_process_wait_async (process, NULL, test_store_result, &waited);
  if (!before)
    g_object_run_dispose (G_OBJECT (process));
  g_object_run_dispose (G_OBJECT (process));

  g_assert_true (sbx_process_get_session (process) == session);
  test_run_ready ();
  if (TEST_IS_SESSION (session) && ran == NULL)
    test_answer (G_OBJECT (session), TEST_SESSION (session)->kept);
  else if (ran == NULL)
    g_assert_true (sbx_process_kill (process, 9, NULL));

  test_wait_for (ran != NULL && waited != NULL);
  result = sbx_process_run_finish (process, ran, &error);
  g_assert_no_error (error);
  g_assert_nonnull (result);
}

static void
test_dispose_process (void)
{
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr(TestSession) push = test_session_new (test_start_and_keep);
      g_autoptr(SbxSession) child = test_child_session_new ();

      check_dispose_process (SBX_SESSION (push), i == 1, FALSE);
      check_dispose_process (SBX_SESSION (push), i == 1, TRUE);
      check_dispose_process (child, i == 1, FALSE);
    }
}

typedef struct
{
  TestProvider *provider;
  gboolean      asynchronous;
  guint         n_refused;
} Elsewhere;

static void
refused_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  test_store_result (object, result, user_data);
}

static gpointer
call_elsewhere (gpointer user_data)
{
  Elsewhere *elsewhere = user_data;

  for (const TestVerb *verb = test_verbs; verb->name != NULL; verb++)
    {
      g_autoptr(GError) error = NULL;

      g_assert_false (verb->sync (elsewhere->provider, NULL, &error));
      g_assert_error (error, SBX_ERROR, SBX_ERROR_BUSY);
      g_assert_nonnull (strstr (error->message, "another thread"));
      elsewhere->n_refused++;
    }

  return NULL;
}

/* Nothing is done from another thread, whether the context is iterated or not. */
static void
test_other_thread (void)
{
  g_autoptr(TestProvider) provider = test_provider_new (test_answer_at_once);
  Elsewhere elsewhere = { provider, };
  g_autoptr(GThread) thread = NULL;
  g_autoptr(GError) error = NULL;

  /* A provider belongs to who used it first. */
  g_assert_true (test_verbs[0].sync (provider, NULL, &error));

  thread = g_thread_new ("elsewhere", call_elsewhere, &elsewhere);
  g_thread_join (g_steal_pointer (&thread));
  g_assert_cmpuint (elsewhere.n_refused, ==, 17);

  elsewhere.n_refused = 0;
  thread = g_thread_new ("elsewhere", call_elsewhere, &elsewhere);
  test_poll_for (g_atomic_int_get (&elsewhere.n_refused) == 17);
  g_thread_join (g_steal_pointer (&thread));
  g_assert_cmpstr (provider->session->calls->str, ==, "");
}

static gpointer
begin_elsewhere (gpointer user_data)
{
  g_autoptr(GMainContext) context = g_main_context_new ();
  SbxSession *session = user_data;
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(GAsyncResult) stat = NULL;
  g_autoptr(GAsyncResult) exec = NULL;
  g_autoptr(GAsyncResult) closed = NULL;
  GError *error = NULL;

  g_main_context_push_thread_default (context);
  sbx_session_stat_async (session, "a", NULL, refused_cb, &stat);
  sbx_session_exec_async (session, command, NULL, refused_cb, &exec);
  sbx_session_close_async (session, NULL, refused_cb, &closed);
  while (stat == NULL || exec == NULL || closed == NULL)
    g_main_context_iteration (context, TRUE);

  g_assert_null (sbx_session_stat_finish (session, stat, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_BUSY);
  g_clear_error (&error);
  g_assert_null (sbx_session_exec_finish (session, exec, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_BUSY);
  g_clear_error (&error);
  g_assert_false (sbx_session_close_finish (session, closed, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_BUSY);
  g_clear_error (&error);
  g_main_context_pop_thread_default (context);

  return NULL;
}

static void
test_other_thread_async (void)
{
  g_autoptr(TestSession) session = test_session_new (test_answer_at_once);
  GThread *thread;

  /* This thread has its context all the while. */
  g_assert_true (g_main_context_acquire (NULL));
  thread = g_thread_new ("elsewhere", begin_elsewhere, session);
  g_thread_join (thread);
  g_main_context_release (NULL);
  g_assert_cmpstr (session->calls->str, ==, "");
  g_assert_cmpint (sbx_session_get_state (SBX_SESSION (session)), ==, SBX_SESSION_STATE_OPEN);
}

static gpointer
use_elsewhere (gpointer user_data)
{
  g_autoptr(GMainContext) context = g_main_context_new ();
  g_autoptr(SbxReach) reach = sbx_reach_new ("/work");
  g_autoptr(SbxOpenRequest) request = sbx_open_request_new (reach);
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(GAsyncResult) done = NULL;
  GError *error = NULL;

  g_main_context_push_thread_default (context);
  sbx_provider_open_async (user_data, request, NULL, test_store_result, &done);
  while (done == NULL)
    g_main_context_iteration (context, TRUE);
  session = sbx_provider_open_finish (user_data, done, &error);
  g_main_context_pop_thread_default (context);

  return error;
}

/* A provider that a thread has used belongs to it, also when the thread is gone. Nobody would ever
 * answer from its context. */
static void
test_gone_thread (void)
{
  g_autoptr(TestProvider) provider = test_provider_new (test_answer_at_once);
  GThread *thread = g_thread_new ("first", use_elsewhere, provider);
  g_autoptr(GError) error = NULL;

  g_assert_null (g_thread_join (thread));
  thread = g_thread_new ("second", use_elsewhere, provider);
  error = g_thread_join (thread);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_BUSY);
}

static GMainContext *seen_context;

static gboolean
note_context (GObject       *owner,
              SbxInvocation *invocation)
{
  seen_context = g_main_context_get_thread_default ();

  return test_answer_at_once (owner, invocation);
}

/* With a context of the caller's own in between: what waits works, what does not completes there,
 * and the implementation is in its own. */
static void
test_pushed_context (void)
{
  g_autoptr(GMainContext) context = g_main_context_new ();

  for (const TestVerb *verb = test_verbs; verb->name != NULL; verb++)
    {
      g_autoptr(TestProvider) provider = test_provider_new (note_context);
      g_autoptr(TestProvider) other = test_provider_new (note_context);
      g_auto(TestCall) call = { FALSE, };
      g_autoptr(GError) error = NULL;

      /* Both belong to the default context. */
      g_assert_true (test_verbs[0].sync (provider, NULL, NULL));
      g_assert_true (test_verbs[0].sync (other, NULL, NULL));

      g_main_context_push_thread_default (context);
      seen_context = context;
      g_assert_true (verb->sync (provider, NULL, &error));
      g_assert_no_error (error);
      g_assert_null (seen_context);

      seen_context = context;
      test_verb_begin (verb, other, NULL, &call);
      g_assert_null (seen_context);
      g_main_context_pop_thread_default (context);

      while (call.result == NULL)
        {
          g_main_context_iteration (NULL, FALSE);
          g_assert_null (call.result);
          g_main_context_iteration (context, FALSE);
        }
      test_verb_assert_success (verb, &call);
      test_run_ready ();
    }
}

static gpointer
live_elsewhere (gpointer user_data)
{
  g_autoptr(GMainContext) context = g_main_context_new ();
  guint64 *n_out = user_data;

  g_main_context_push_thread_default (context);
  {
    g_autoptr(SbxSession) session = test_child_session_new ();
    g_autoptr(SbxCommand) command = test_command ("head", "-c", "3000000", "/dev/zero", NULL);
    g_autoptr(GAsyncResult) done = NULL;
    g_autoptr(SbxExecResult) result = NULL;
    g_autoptr(SbxExecResult) waited = NULL;

    sbx_session_exec_async (session, command, NULL, test_store_result, &done);
    while (done == NULL)
      g_main_context_iteration (context, TRUE);
    result = sbx_session_exec_finish (session, done, NULL);
    *n_out = g_bytes_get_size (sbx_exec_result_get_stdout (result));

    waited = sbx_session_exec (session, command, NULL, NULL);
    *n_out += g_bytes_get_size (sbx_exec_result_get_stdout (waited));
    g_assert_true (sbx_session_close (session, NULL, NULL));
  }
  g_main_context_pop_thread_default (context);

  return NULL;
}

/* Threads with contexts of their own, while nobody iterates the default one. */
static void
test_own_thread (void)
{
  GThread *threads[4];
  guint64 n_out[4] = { 0, };

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("own", live_elsewhere, &n_out[i]);

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    {
      g_thread_join (threads[i]);
      g_assert_cmpuint (n_out[i], ==, 2 * 3000000);
    }
}

/* A script that never runs a main loop. */
static void
test_provider_request (void)
{
  g_autoptr(TestProvider) provider = test_provider_new (test_answer_at_once);
  g_autoptr(SbxReach) reach = sbx_reach_new ("relative");
  g_autoptr(SbxOpenRequest) bad = sbx_open_request_new (reach);
  g_autoptr(SbxReach) good_reach = sbx_reach_new ("/work");
  g_autoptr(SbxOpenRequest) good = sbx_open_request_new (good_reach);
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_null (sbx_provider_open (SBX_PROVIDER (provider), bad, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
  g_assert_cmpuint (provider->n_opens, ==, 0);

  session = sbx_provider_open (SBX_PROVIDER (provider), good, NULL, NULL);
  g_assert_nonnull (session);
  g_assert_true (provider->request == good);
  g_assert_cmpstr (sbx_session_get_cwd (session), ==, "/work");
  g_assert_cmpint (sbx_session_get_capabilities (session), ==, TEST_ALL_CAPABILITIES);
  g_assert_cmpuint (strlen (sbx_session_get_id (session)), ==, 36);
  g_assert_cmpint (sbx_session_get_state (session), ==, SBX_SESSION_STATE_OPEN);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/core/lifetime/drop-idle", test_drop_idle);
  g_test_add_func ("/core/lifetime/drop-used", test_drop_used);
  g_test_add_func ("/core/lifetime/drop-in-flight", test_drop_in_flight);
  g_test_add_func ("/core/lifetime/unref-in-handler", test_unref_in_handler);
  g_test_add_func ("/core/lifetime/dispose-session", test_dispose_session);
  g_test_add_func ("/core/lifetime/dispose-process", test_dispose_process);
  g_test_add_func ("/core/lifetime/other-thread", test_other_thread);
  g_test_add_func ("/core/lifetime/other-thread/async", test_other_thread_async);
  g_test_add_func ("/core/lifetime/gone-thread", test_gone_thread);
  g_test_add_func ("/core/lifetime/pushed-context", test_pushed_context);
  g_test_add_func ("/core/lifetime/own-thread", test_own_thread);
  g_test_add_func ("/core/lifetime/provider-request", test_provider_request);

  return g_test_run ();
}
