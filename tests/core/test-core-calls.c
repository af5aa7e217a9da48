/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "core-session.h"

/* What holds for every asynchronous verb alike: how it is answered, and how it is cancelled. */

static gboolean
is (const TestVerb *verb,
    const char     *name)
{
  return g_str_equal (verb->name, name);
}

static gboolean
runs_command (const TestVerb *verb)
{
  return is (verb, "exec") || is (verb, "run") || is (verb, "start") || is (verb, "spawn");
}

static void
test_at_once (void)
{
  for (const TestVerb *verb = test_verbs; verb->name != NULL; verb++)
    {
      g_autoptr(TestProvider) provider = test_provider_new (test_answer_at_once);
      g_auto(TestCall) call = { FALSE, };

      test_verb_begin (verb, provider, NULL, &call);
      test_wait_for (call.result != NULL);
      test_verb_assert_success (verb, &call);
      test_run_ready ();
    }
}

static void
test_later (void)
{
  for (const TestVerb *verb = test_verbs; verb->name != NULL; verb++)
    {
      g_autoptr(TestProvider) provider = test_provider_new (test_keep);
      g_auto(TestCall) call = { FALSE, };
      SbxInvocation **kept = test_verb_kept (verb, provider);

      test_verb_begin (verb, provider, NULL, &call);
      test_run_ready ();
      g_assert_null (call.result);
      g_assert_false (sbx_invocation_is_answered (*kept));
      g_assert_false (g_cancellable_is_cancelled (sbx_invocation_get_cancellable (*kept)));

      test_answer (is (verb, "open") ? G_OBJECT (provider) : G_OBJECT (provider->session), *kept);
      g_assert_true (sbx_invocation_is_answered (*kept));
      test_wait_for (call.result != NULL);
      test_verb_assert_success (verb, &call);
      test_run_ready ();
    }
}

/* An answer that comes from a main loop that the implementation runs within its function. */
static void
test_in_loop (void)
{
  for (const TestVerb *verb = test_verbs; verb->name != NULL; verb++)
    {
      g_autoptr(TestProvider) provider = test_provider_new (test_answer_in_loop);
      g_auto(TestCall) call = { FALSE, };

      test_verb_begin (verb, provider, NULL, &call);
      test_wait_for (call.result != NULL);
      test_verb_assert_success (verb, &call);
      test_run_ready ();
    }
}

static void
test_twice (void)
{
  for (const TestVerb *verb = test_verbs; verb->name != NULL; verb++)
    {
      g_autoptr(TestProvider) provider = test_provider_new (test_keep);
      g_auto(TestCall) call = { FALSE, };
      SbxInvocation *kept;

      test_verb_begin (verb, provider, NULL, &call);
      kept = *test_verb_kept (verb, provider);
      test_answer (is (verb, "open") ? G_OBJECT (provider) : G_OBJECT (provider->session), kept);

      g_test_expect_message ("libsbx", G_LOG_LEVEL_CRITICAL, "*was answered twice*");
      sbx_invocation_return_error (kept, SBX_ERROR_FAILED, "too late");
      g_test_assert_expected_messages ();

      test_wait_for (call.result != NULL);
      test_verb_assert_success (verb, &call);
      test_run_ready ();
    }
}

static void
test_error (void)
{
  for (const TestVerb *verb = test_verbs; verb->name != NULL; verb++)
    {
      g_autoptr(TestProvider) provider = test_provider_new (test_keep);
      g_auto(TestCall) call = { FALSE, };
      g_autoptr(GError) error = NULL;
      SbxInvocation **kept = test_verb_kept (verb, provider);

      test_verb_begin (verb, provider, NULL, &call);
      sbx_invocation_return_error (*kept, SBX_ERROR_PROVIDER, "full_moon: come back later");
      test_wait_for (call.result != NULL);
      g_assert_false (verb->end (&call, &error));
      g_assert_error (error, SBX_ERROR, SBX_ERROR_PROVIDER);
      g_assert_cmpstr (error->message, ==, "full_moon: come back later");
    }
}

static void
test_gerror (void)
{
  g_autoptr(GError) error = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_NO_SPACE, "full");

  for (const TestVerb *verb = test_verbs; verb->name != NULL; verb++)
    {
      g_autoptr(TestProvider) provider = test_provider_new (test_keep);
      g_auto(TestCall) call = { FALSE, };

      test_verb_begin (verb, provider, NULL, &call);
      sbx_invocation_return_gerror (*test_verb_kept (verb, provider), error);
      test_wait_for (call.result != NULL);
      test_verb_assert_error (verb, &call, G_IO_ERROR, G_IO_ERROR_NO_SPACE);
    }
}

static void
test_dropped (void)
{
  for (const TestVerb *verb = test_verbs; verb->name != NULL; verb++)
    {
      g_autoptr(TestProvider) provider = test_provider_new (test_keep);
      g_auto(TestCall) call = { FALSE, };

      test_verb_begin (verb, provider, NULL, &call);
      test_run_ready ();

      /* Nobody is called back by the drop itself. */
      call.returned = FALSE;
      g_clear_object (test_verb_kept (verb, provider));
      call.returned = TRUE;
      g_assert_null (call.result);

      test_wait_for (call.result != NULL);
      test_verb_assert_error (verb, &call, SBX_ERROR, SBX_ERROR_UNANSWERED);
      test_run_ready ();
    }
}

static void
test_dropped_at_once (void)
{
  for (const TestVerb *verb = test_verbs; verb->name != NULL; verb++)
    {
      g_autoptr(TestProvider) provider = test_provider_new (test_drop);
      g_auto(TestCall) call = { FALSE, };

      test_verb_begin (verb, provider, NULL, &call);
      test_wait_for (call.result != NULL);
      test_verb_assert_error (verb, &call, SBX_ERROR, SBX_ERROR_UNANSWERED);
      test_run_ready ();
    }
}

/* A binding may dispose what it was given. */
static void
test_disposed (void)
{
  for (const TestVerb *verb = test_verbs; verb->name != NULL; verb++)
    {
      g_autoptr(TestProvider) provider = test_provider_new (test_keep);
      g_auto(TestCall) call = { FALSE, };
      SbxInvocation *kept;

      test_verb_begin (verb, provider, NULL, &call);
      kept = *test_verb_kept (verb, provider);
      g_object_run_dispose (G_OBJECT (kept));
      g_assert_null (call.result);

      test_wait_for (call.result != NULL);
      test_verb_assert_error (verb, &call, SBX_ERROR, SBX_ERROR_UNANSWERED);

      /* An answer after that is late, and no more than that. A session is closed again. */
      provider->session->close_behaviour = test_answer_at_once;
      test_answer (is (verb, "open") ? G_OBJECT (provider) : G_OBJECT (provider->session), kept);
      test_run_ready ();
    }
}

static void
test_refused (void)
{
  for (const TestVerb *verb = test_verbs; verb->name != NULL; verb++)
    {
      g_autoptr(TestProvider) provider = test_provider_new (test_refuse);
      g_auto(TestCall) call = { FALSE, };

      test_verb_begin (verb, provider, NULL, &call);
      test_wait_for (call.result != NULL);
      test_verb_assert_error (verb, &call, SBX_ERROR, SBX_ERROR_UNANSWERED);
      test_run_ready ();
    }
}

static void
test_answered_and_refused (void)
{
  for (const TestVerb *verb = test_verbs; verb->name != NULL; verb++)
    {
      g_autoptr(TestProvider) provider = test_provider_new (test_answer_and_refuse);
      g_auto(TestCall) call = { FALSE, };

      test_verb_begin (verb, provider, NULL, &call);
      test_wait_for (call.result != NULL);
      test_verb_assert_success (verb, &call);
      test_run_ready ();
    }
}

static void
test_missing (void)
{
  g_autoptr(TestBareProvider) bare = g_object_new (TEST_TYPE_BARE_PROVIDER, NULL);
  g_autoptr(SbxReach) reach = sbx_reach_new ("/work");
  g_autoptr(SbxOpenRequest) request = sbx_open_request_new (reach);
  g_autoptr(SbxSession) session = g_object_new (TEST_TYPE_BARE_SESSION,
                                                "capabilities", TEST_ALL_CAPABILITIES, NULL);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(GBytes) bytes = g_bytes_new_static ("", 0);
  GError *error = NULL;

#define assert_unsupported(call) \
  G_STMT_START { \
    g_assert_false ((gboolean) (call)); \
    g_assert_error (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED); \
    g_clear_error (&error); \
  } G_STMT_END

  assert_unsupported (sbx_provider_open (SBX_PROVIDER (bare), request, NULL, &error) != NULL);
  assert_unsupported (sbx_session_exec (session, command, NULL, &error) != NULL);
  assert_unsupported (sbx_session_spawn (session, command, NULL, &error) != NULL);
  assert_unsupported (sbx_session_read_file (session, "a", 0, NULL, &error) != NULL);
  assert_unsupported (sbx_session_write_file (session, "a", bytes, 0644, NULL, &error));
  assert_unsupported (sbx_session_create_dir_all (session, "a", NULL, &error));
  assert_unsupported (sbx_session_create_temp_dir (session, "a", NULL, &error) != NULL);
  assert_unsupported (sbx_session_remove (session, "a", NULL, &error));
  assert_unsupported (sbx_session_list_dir (session, "a", NULL, &error) != NULL);
  assert_unsupported (sbx_session_stat (session, "a", NULL, &error) != NULL);
  assert_unsupported (sbx_session_read_range (session, "a", 0, 1, NULL, NULL, &error) != NULL);
  assert_unsupported (sbx_session_write_range (session, "a", bytes, 0, TRUE, 0644, NULL, &error));
  assert_unsupported (sbx_session_rename (session, "a", "b", NULL, &error));
  assert_unsupported (sbx_session_copy (session, "a", "b", NULL, &error));

  /* There may be nothing to do to close. */
  g_assert_true (sbx_session_close (session, NULL, &error));
  g_assert_no_error (error);
}

/* What a session says it cannot do its implementation is not asked for. */
static void
test_capabilities (void)
{
  static const struct
  {
    const char      *verb;
    SbxCapabilities  needed;
  } needs[] = {
    { "exec", SBX_CAPABILITIES_EXEC },
    { "run", SBX_CAPABILITIES_EXEC },
    { "start", SBX_CAPABILITIES_START | SBX_CAPABILITIES_SPAWN },
    { "spawn", SBX_CAPABILITIES_START | SBX_CAPABILITIES_SPAWN },
    { "read-file", SBX_CAPABILITIES_FILES },
    { "write-file", SBX_CAPABILITIES_FILES },
    { "create-dir-all", SBX_CAPABILITIES_FILES },
    { "create-temp-dir", SBX_CAPABILITIES_FILES },
    { "remove", SBX_CAPABILITIES_FILES },
    { "list-dir", SBX_CAPABILITIES_LISTING },
    { "stat", SBX_CAPABILITIES_LISTING },
    { "read-range", SBX_CAPABILITIES_RANGES },
    { "write-range", SBX_CAPABILITIES_RANGES },
    { "rename", SBX_CAPABILITIES_MOVING },
    { "copy", SBX_CAPABILITIES_MOVING },
  };

  for (guint i = 0; i < G_N_ELEMENTS (needs); i++)
    {
      const TestVerb *verb = test_verbs;
      g_autoptr(TestProvider) provider = test_provider_new (test_answer_at_once);
      g_auto(TestCall) lacking = { FALSE, };
      g_auto(TestCall) having = { FALSE, };

      while (!is (verb, needs[i].verb))
        verb++;

      g_clear_object (&provider->session);
      provider->session = g_object_new (TEST_TYPE_SESSION, "capabilities",
                                        TEST_ALL_CAPABILITIES & ~needs[i].needed, NULL);
      test_verb_begin (verb, provider, NULL, &lacking);
      test_wait_for (lacking.result != NULL);
      test_verb_assert_error (verb, &lacking, SBX_ERROR, SBX_ERROR_UNSUPPORTED);
      g_assert_cmpstr (provider->session->calls->str, ==, "");

      g_clear_object (&provider->session);
      provider->session = g_object_new (TEST_TYPE_SESSION, "capabilities", needs[i].needed, NULL);
      test_verb_begin (verb, provider, NULL, &having);
      test_wait_for (having.result != NULL);
      test_verb_assert_success (verb, &having);
    }
}

static void
test_cancelled_before (void)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();

  g_cancellable_cancel (cancellable);

  for (const TestVerb *verb = test_verbs; verb->name != NULL; verb++)
    {
      g_autoptr(TestProvider) provider = test_provider_new (test_answer_at_once);
      g_auto(TestCall) call = { FALSE, };

      test_verb_begin (verb, provider, cancellable, &call);
      test_wait_for (call.result != NULL);

      /* A close cannot be called off. */
      if (is (verb, "close"))
        {
          test_verb_assert_success (verb, &call);
          g_assert_cmpstr (provider->session->calls->str, ==, "close ");
          continue;
        }

      test_verb_assert_error (verb, &call, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_cmpuint (provider->n_opens, ==, 0);
      g_assert_cmpstr (provider->session->calls->str, ==, "");
    }
}

static gpointer
cancel_thread (gpointer cancellable)
{
  g_cancellable_cancel (cancellable);

  return NULL;
}

static void
check_cancelled_during (gboolean in_thread)
{
  for (const TestVerb *verb = test_verbs; verb->name != NULL; verb++)
    {
      g_autoptr(GCancellable) cancellable = g_cancellable_new ();
      g_autoptr(TestProvider) provider = test_provider_new (test_honour);
      g_auto(TestCall) call = { FALSE, };
      SbxInvocation **kept = test_verb_kept (verb, provider);

      test_verb_begin (verb, provider, cancellable, &call);
      test_run_ready ();

      if (in_thread)
        g_thread_join (g_thread_new ("cancel", cancel_thread, cancellable));
      else
        g_cancellable_cancel (cancellable);

      /* The implementation is told in its own context. */
      g_assert_false (g_cancellable_is_cancelled (sbx_invocation_get_cancellable (*kept)));
      g_assert_null (call.result);

      test_wait_for (call.result != NULL);
      test_verb_assert_error (verb, &call, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_true (g_cancellable_is_cancelled (sbx_invocation_get_cancellable (*kept)));
      test_run_ready ();
    }
}

static void
test_cancelled_during (void)
{
  check_cancelled_during (FALSE);
}

static void
test_cancelled_in_thread (void)
{
  check_cancelled_during (TRUE);
}

/* Whatever goes wrong because of it, a cancelled call ends as cancelled; but a close tells what. */
static void
test_cancelled_and_broken (void)
{
  for (const TestVerb *verb = test_verbs; verb->name != NULL; verb++)
    {
      g_autoptr(GCancellable) cancellable = g_cancellable_new ();
      g_autoptr(TestProvider) provider = test_provider_new (test_keep);
      g_auto(TestCall) call = { FALSE, };
      SbxInvocation **kept = test_verb_kept (verb, provider);

      test_verb_begin (verb, provider, cancellable, &call);
      g_cancellable_cancel (cancellable);
      test_run_ready ();
      g_assert_true (g_cancellable_is_cancelled (sbx_invocation_get_cancellable (*kept)));
      sbx_invocation_return_error (*kept, SBX_ERROR_PROVIDER, "broken_pipe: gone");
      test_wait_for (call.result != NULL);

      if (is (verb, "close"))
        test_verb_assert_error (verb, &call, SBX_ERROR, SBX_ERROR_PROVIDER);
      else
        test_verb_assert_error (verb, &call, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    }
}

/* What was done before the cancelling arrived succeeds. */
static void
test_cancelled_after (void)
{
  for (const TestVerb *verb = test_verbs; verb->name != NULL; verb++)
    {
      g_autoptr(GCancellable) cancellable = g_cancellable_new ();
      g_autoptr(TestProvider) provider = test_provider_new (test_keep);
      g_auto(TestCall) call = { FALSE, };
      SbxInvocation **kept = test_verb_kept (verb, provider);

      test_verb_begin (verb, provider, cancellable, &call);
      test_answer (is (verb, "open") ? G_OBJECT (provider) : G_OBJECT (provider->session), *kept);
      g_cancellable_cancel (cancellable);
      test_wait_for (call.result != NULL);
      test_verb_assert_success (verb, &call);
      test_run_ready ();
    }
}

#define N_VERBS 17

/* Implementations that do not heed it: the callers are told after a while, and late answers count
 * for nothing. All at once, since each takes its grace time. */
static void
test_cancelled_in_vain (void)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  TestProvider *providers[N_VERBS] = { NULL, };
  TestCall calls[N_VERBS] = { { FALSE, }, };

  for (guint i = 0; i < N_VERBS; i++)
    {
      providers[i] = test_provider_new (test_keep);
      test_verb_begin (&test_verbs[i], providers[i], cancellable, &calls[i]);
    }
  g_assert_null (test_verbs[N_VERBS].name);

  test_run_ready ();
  g_cancellable_cancel (cancellable);
  test_run_ready ();

  for (guint i = 0; i < N_VERBS; i++)
    g_assert_null (calls[i].result);

  for (guint i = 0; i < N_VERBS; i++)
    {
      test_wait_for (calls[i].result != NULL);
      test_verb_assert_error (&test_verbs[i], &calls[i], G_IO_ERROR, G_IO_ERROR_CANCELLED);
      test_call_clear (&calls[i]);
    }

  for (guint i = 0; i < N_VERBS; i++)
    {
      TestSession *session = providers[i]->session;

      /* Without a word, and without a second callback. */
      session->close_behaviour = test_answer_at_once;
      test_answer (i == 0 ? G_OBJECT (providers[i]) : G_OBJECT (session),
                   *test_verb_kept (&test_verbs[i], providers[i]));
      test_run_ready ();

      /* A session that comes too late is closed again. */
      if (i == 0)
        g_assert_cmpstr (session->calls->str, ==, "close ");
      g_object_unref (providers[i]);
    }
}

static void
test_sync (void)
{
  for (const TestVerb *verb = test_verbs; verb->name != NULL; verb++)
    {
      static const TestBehaviour behaviours[] = {
        test_answer_at_once, test_answer_in_loop, test_answer_and_refuse
      };

      for (guint i = 0; i < G_N_ELEMENTS (behaviours); i++)
        {
          g_autoptr(TestProvider) provider = test_provider_new (behaviours[i]);
          g_autoptr(GError) error = NULL;

          g_assert_true (verb->sync (provider, NULL, &error));
          g_assert_no_error (error);
          test_run_ready ();
        }
    }
}

static gboolean
cancel_cb (gpointer cancellable)
{
  g_cancellable_cancel (cancellable);

  return G_SOURCE_REMOVE;
}

static void
test_sync_errors (void)
{
  for (const TestVerb *verb = test_verbs; verb->name != NULL; verb++)
    {
      g_autoptr(TestProvider) dropping = test_provider_new (test_drop);
      g_autoptr(TestProvider) honouring = test_provider_new (test_honour);
      g_autoptr(GCancellable) cancellable = g_cancellable_new ();
      g_autoptr(GError) dropped = NULL;
      g_autoptr(GError) cancelled = NULL;

      g_assert_false (verb->sync (dropping, NULL, &dropped));
      g_assert_error (dropped, SBX_ERROR, SBX_ERROR_UNANSWERED);

      g_idle_add (cancel_cb, cancellable);
      g_assert_false (verb->sync (honouring, cancellable, &cancelled));
      g_assert_error (cancelled, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    }
}

/* A start that was told stays so, even where its caller could not be told yet. */
static void
test_start_cancelled_late (void)
{
  for (const TestVerb *verb = test_verbs; verb->name != NULL; verb++)
    {
      g_autoptr(GCancellable) cancellable = g_cancellable_new ();
      g_autoptr(TestProvider) provider = NULL;
      g_auto(TestCall) call = { FALSE, };
      SbxInvocation *kept;

      if (!runs_command (verb) || is (verb, "exec") || is (verb, "run"))
        continue;

      provider = test_provider_new (test_start_and_keep);
      test_verb_begin (verb, provider, cancellable, &call);
      g_cancellable_cancel (cancellable);
      test_wait_for (call.result != NULL);
      test_verb_assert_success (verb, &call);
      test_run_ready ();

      kept = provider->session->kept;
      g_assert_false (g_cancellable_is_cancelled (sbx_invocation_get_cancellable (kept)));
      sbx_exec_invocation_return_exited (SBX_EXEC_INVOCATION (kept), 0);
      test_run_ready ();
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/core/calls/at-once", test_at_once);
  g_test_add_func ("/core/calls/later", test_later);
  g_test_add_func ("/core/calls/in-loop", test_in_loop);
  g_test_add_func ("/core/calls/twice", test_twice);
  g_test_add_func ("/core/calls/error", test_error);
  g_test_add_func ("/core/calls/gerror", test_gerror);
  g_test_add_func ("/core/calls/dropped", test_dropped);
  g_test_add_func ("/core/calls/dropped-at-once", test_dropped_at_once);
  g_test_add_func ("/core/calls/disposed", test_disposed);
  g_test_add_func ("/core/calls/refused", test_refused);
  g_test_add_func ("/core/calls/answered-and-refused", test_answered_and_refused);
  g_test_add_func ("/core/calls/missing", test_missing);
  g_test_add_func ("/core/calls/capabilities", test_capabilities);
  g_test_add_func ("/core/calls/cancelled-before", test_cancelled_before);
  g_test_add_func ("/core/calls/cancelled-during", test_cancelled_during);
  g_test_add_func ("/core/calls/cancelled-in-thread", test_cancelled_in_thread);
  g_test_add_func ("/core/calls/cancelled-and-broken", test_cancelled_and_broken);
  g_test_add_func ("/core/calls/cancelled-after", test_cancelled_after);
  g_test_add_func ("/core/calls/cancelled-in-vain", test_cancelled_in_vain);
  g_test_add_func ("/core/calls/sync", test_sync);
  g_test_add_func ("/core/calls/sync-errors", test_sync_errors);
  g_test_add_func ("/core/calls/start-cancelled-late", test_start_cancelled_late);

  return g_test_run ();
}
