/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "session-util.h"

/*
 * Every asynchronous verb, cancelled before it is called, at every one of its steps, and after it
 * is over: the callback comes once, says what is true, and nothing is left.
 */

#define N_STEPS 60

typedef struct
{
  guint        n_done;
  GError      *error;
  gpointer     value;         /* an object, or NULL */
} Done;

static void
done_clear (Done *done)
{
  g_clear_error (&done->error);
  g_clear_object ((GObject **) &done->value);
  done->n_done = 0;
}

/* What is done at each step: starts the verb, and finishes it. */
typedef struct
{
  void     (*start)  (GObject             *object,
                      GCancellable        *cancellable,
                      GAsyncReadyCallback  callback,
                      gpointer             user_data);
  gpointer (*finish) (GObject             *object,
                      GAsyncResult        *result,
                      GError             **error);
  void     (*undo)   (GObject             *object,
                      gpointer             value);
} Verb;

typedef struct
{
  const Verb *verb;
  Done       *done;
} Call;

static void
verb_cb (GObject      *object,
         GAsyncResult *result,
         gpointer      user_data)
{
  Call *call = user_data;

  call->done->n_done++;
  g_assert_cmpint (call->done->n_done, ==, 1);
  call->done->value = call->verb->finish (object, result, &call->done->error);
  g_assert_true ((call->done->value == NULL) == (call->done->error != NULL));
}

/* Returns whether the verb was over before it was cancelled. */
static gboolean
cancel_after (const Verb *verb,
              GObject    *object,
              int         n_steps)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  Done done = { 0 };
  Call call = { verb, &done };
  gboolean over;

  if (n_steps < 0)
    g_cancellable_cancel (cancellable);

  verb->start (object, cancellable, verb_cb, &call);
  g_assert_cmpint (done.n_done, ==, 0);

  for (int i = 0; i < n_steps && done.n_done == 0; i++)
    g_main_context_iteration (NULL, TRUE);

  over = done.n_done > 0;
  g_cancellable_cancel (cancellable);
  test_wait_for (done.n_done > 0);

  if (over)
    g_assert_no_error (done.error);
  else if (done.error != NULL)
    g_assert_error (done.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  if (n_steps < 0 && verb->undo == NULL)
    g_assert_error (done.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);

  if (done.value != NULL && verb->undo != NULL)
    verb->undo (object, done.value);

  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_cmpint (done.n_done, ==, 1);
  done_clear (&done);

  return over;
}

static void
cancel_everywhere (const Verb *verb,
                   GObject    *object)
{
  guint n_over = 0;

  for (int n = -1; n < N_STEPS && n_over < 3; n++)
    n_over += cancel_after (verb, object, n);
}

static Place *current;

static void
start_open (GObject             *object,
            GCancellable        *cancellable,
            GAsyncReadyCallback  callback,
            gpointer             user_data)
{
  g_autoptr(SbxOpenRequest) request = place_request (current);

  sbx_provider_open_async (SBX_PROVIDER (object), request, cancellable, callback, user_data);
}

static gpointer
finish_open (GObject       *object,
             GAsyncResult  *result,
             GError       **error)
{
  return sbx_provider_open_finish (SBX_PROVIDER (object), result, error);
}

static void
undo_open (GObject  *object,
           gpointer  value)
{
  close_session (value);
}

static void
test_open (void)
{
  static const Verb verb = { start_open, finish_open, undo_open };
  g_autoptr(Place) place = place_new ();
  gint64 begin;

  current = place;
  cancel_everywhere (&verb, G_OBJECT (place->provider));
  assert_nothing_left (place->data);

  /* Also between the steps: at any moment of the time that an open takes. */
  begin = g_get_monotonic_time ();
  close_session (place_open (place));
  for (gint64 span = g_get_monotonic_time () - begin, at = 0; at < span; at += span / 60)
    {
      g_autoptr(GCancellable) cancellable = g_cancellable_new ();
      Done done = { 0 };
      Call call = { &verb, &done };
      const gint64 start = g_get_monotonic_time ();

      start_open (G_OBJECT (place->provider), cancellable, verb_cb, &call);
      while (g_get_monotonic_time () - start < at)
        g_main_context_iteration (NULL, FALSE);
      g_cancellable_cancel (cancellable);
      test_wait_for (done.n_done > 0);
      if (done.value != NULL)
        close_session (done.value);
      else
        g_assert_error (done.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      done_clear (&done);
    }

  assert_nothing_left (place->data);
}

static void
start_exec (GObject             *object,
            GCancellable        *cancellable,
            GAsyncReadyCallback  callback,
            gpointer             user_data)
{
  g_autoptr(SbxCommand) command = shell ("trap '' TERM; setsid sleep 60 & echo x; sleep 60");

  sbx_session_exec_async (SBX_SESSION (object), command, cancellable, callback, user_data);
}

static void
start_short_exec (GObject             *object,
                  GCancellable        *cancellable,
                  GAsyncReadyCallback  callback,
                  gpointer             user_data)
{
  g_autoptr(SbxCommand) command = shell ("true");

  sbx_session_exec_async (SBX_SESSION (object), command, cancellable, callback, user_data);
}

static gpointer
finish_exec (GObject       *object,
             GAsyncResult  *result,
             GError       **error)
{
  return sbx_session_exec_finish (SBX_SESSION (object), result, error);
}

static void
start_spawn (GObject             *object,
             GCancellable        *cancellable,
             GAsyncReadyCallback  callback,
             gpointer             user_data)
{
  g_autoptr(SbxCommand) command = shell ("sleep 60");

  sbx_session_spawn_async (SBX_SESSION (object), command, cancellable, callback, user_data);
}

static gpointer
finish_spawn (GObject       *object,
              GAsyncResult  *result,
              GError       **error)
{
  return sbx_session_spawn_finish (SBX_SESSION (object), result, error);
}

static void
undo_spawn (GObject  *object,
            gpointer  value)
{
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;

  sbx_process_kill (value, SIGKILL, &error);
  result = sbx_process_wait (value, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_SIGNALLED);
}

static void
start_wait (GObject             *object,
            GCancellable        *cancellable,
            GAsyncReadyCallback  callback,
            gpointer             user_data)
{
  sbx_process_wait_async (SBX_PROCESS (object), cancellable, callback, user_data);
}

static gpointer
finish_wait (GObject       *object,
             GAsyncResult  *result,
             GError       **error)
{
  return sbx_process_wait_finish (SBX_PROCESS (object), result, error);
}

static void
test_commands (void)
{
  static const Verb exec = { start_exec, finish_exec, NULL };
  static const Verb short_exec = { start_short_exec, finish_exec, NULL };
  static const Verb spawn = { start_spawn, finish_spawn, undo_spawn };
  static const Verb wait = { start_wait, finish_wait, NULL };
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autoptr(SbxCommand) command = shell ("sleep 60");
  g_autoptr(SbxProcess) process = NULL;

  /* One that has no end by itself is cancelled while it starts and while it runs. */
  for (int n = -1; n < 3; n++)
    cancel_after (&exec, G_OBJECT (session), n);
  cancel_everywhere (&short_exec, G_OBJECT (session));
  cancel_everywhere (&spawn, G_OBJECT (session));
  g_assert_cmpint (count_inside (session), ==, 0);

  /* Who waits no longer leaves the process alone. */
  process = sbx_session_spawn (session, command, NULL, NULL);
  cancel_after (&wait, G_OBJECT (process), -1);
  cancel_after (&wait, G_OBJECT (process), 0);
  g_assert_cmpint (sbx_process_get_state (process), ==, SBX_PROCESS_STATE_RUNNING);
  undo_spawn (NULL, process);
  close_session (session);
}

static gpointer
truth (gboolean ok)
{
  return ok ? g_object_new (G_TYPE_OBJECT, NULL) : NULL;
}

#define DEFINE_FILE_VERB(name, arguments) \
static void \
start_ ## name (GObject             *object, \
                GCancellable        *cancellable, \
                GAsyncReadyCallback  callback, \
                gpointer             user_data) \
{ \
  g_autoptr(GBytes) bytes = g_bytes_new_static ("some content", 12); \
  const char *path = "path"; \
\
  sbx_session_ ## name ## _async arguments; \
}

DEFINE_FILE_VERB (read_file, (SBX_SESSION (object), g_bytes_get_size (bytes) ? "/etc/passwd" : path,
                              0, cancellable, callback, user_data))
DEFINE_FILE_VERB (write_file, (SBX_SESSION (object), path, bytes, 0644, cancellable, callback,
                               user_data))
DEFINE_FILE_VERB (create_dir_all, (SBX_SESSION (object), g_bytes_get_size (bytes) ? "d/e" : path,
                                   cancellable, callback, user_data))
DEFINE_FILE_VERB (create_temp_dir, (SBX_SESSION (object), g_bytes_get_size (bytes) ? "t-" : path,
                                    cancellable, callback, user_data))
DEFINE_FILE_VERB (remove, (SBX_SESSION (object), g_bytes_get_size (bytes) ? "d" : path,
                           cancellable, callback, user_data))
DEFINE_FILE_VERB (list_dir, (SBX_SESSION (object), g_bytes_get_size (bytes) ? "/usr/bin" : path,
                             cancellable, callback, user_data))
DEFINE_FILE_VERB (stat, (SBX_SESSION (object), g_bytes_get_size (bytes) ? "/etc" : path,
                         cancellable, callback, user_data))

static gpointer
finish_read_file (GObject       *object,
                  GAsyncResult  *result,
                  GError       **error)
{
  g_autoptr(GBytes) bytes = sbx_session_read_file_finish (SBX_SESSION (object), result, error);

  return truth (bytes != NULL);
}

static gpointer
finish_create_temp_dir (GObject       *object,
                        GAsyncResult  *result,
                        GError       **error)
{
  g_autofree char *path = sbx_session_create_temp_dir_finish (SBX_SESSION (object), result, error);

  return truth (path != NULL);
}

#define DEFINE_FINISH(name, convert) \
static gpointer \
finish_ ## name (GObject       *object, \
                 GAsyncResult  *result, \
                 GError       **error) \
{ \
  return convert (sbx_session_ ## name ## _finish (SBX_SESSION (object), result, error)); \
}

DEFINE_FINISH (write_file, truth)
DEFINE_FINISH (create_dir_all, truth)
DEFINE_FINISH (remove, truth)
DEFINE_FINISH (list_dir, )
DEFINE_FINISH (stat, )

static void
test_files (void)
{
  static const Verb verbs[] = {
    { start_read_file, finish_read_file, NULL },
    { start_write_file, finish_write_file, NULL },
    { start_create_dir_all, finish_create_dir_all, NULL },
    { start_create_temp_dir, finish_create_temp_dir, NULL },
    { start_list_dir, finish_list_dir, NULL },
    { start_stat, finish_stat, NULL },
    { start_remove, finish_remove, NULL },
  };
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autofree char *left = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    cancel_everywhere (&verbs[i], G_OBJECT (session));

  /* No half-written file is left under any name. A whole one may be, if the kill came between its
   * two names. */
  g_assert_cmpint (count_inside (session), ==, 0);
  left = shell_output (session, "ls -A | grep -v -x -e path -e '\\.sbx-[0-9a-f]*'; true");
  g_assert_cmpstr (left, ==, "");
  close_session (session);
}

static void
start_close (GObject             *object,
             GCancellable        *cancellable,
             GAsyncReadyCallback  callback,
             gpointer             user_data)
{
  sbx_session_close_async (SBX_SESSION (object), cancellable, callback, user_data);
}

DEFINE_FINISH (close, truth)

/* A close goes on, and says how that went. */
static void
test_close (void)
{
  static const Verb verb = { start_close, finish_close, undo_spawn };
  g_autoptr(Place) place = place_new ();
  guint n_over = 0;

  for (int n = -1; n < N_STEPS && n_over < 3; n++)
    {
      g_autoptr(SbxSession) session = place_open (place);
      g_autoptr(SbxCommand) command = shell ("trap '' TERM; sleep 60");
      g_autoptr(SbxProcess) process = sbx_session_spawn (session, command, NULL, NULL);
      g_autoptr(GCancellable) cancellable = g_cancellable_new ();
      Done done = { 0 };
      Call call = { &verb, &done };

      if (n < 0)
        g_cancellable_cancel (cancellable);
      start_close (G_OBJECT (session), cancellable, verb_cb, &call);
      for (int i = 0; i < n && done.n_done == 0; i++)
        g_main_context_iteration (NULL, TRUE);
      n_over += done.n_done;
      g_cancellable_cancel (cancellable);
      test_wait_for (done.n_done > 0);
      g_assert_no_error (done.error);
      g_assert_cmpint (sbx_session_get_state (session), ==, SBX_SESSION_STATE_CLOSED);
      g_assert_cmpint (sbx_process_get_state (process), ==, SBX_PROCESS_STATE_ENDED);
      g_assert_cmpint (count_sessions (place->data), ==, 0);
      done_clear (&done);
    }
}

static void
start_diagnose (GObject             *object,
                GCancellable        *cancellable,
                GAsyncReadyCallback  callback,
                gpointer             user_data)
{
  sbx_bwrap_provider_diagnose_async (SBX_BWRAP_PROVIDER (object), cancellable, callback, user_data);
}

static gpointer
finish_diagnose (GObject       *object,
                 GAsyncResult  *result,
                 GError       **error)
{
  return sbx_bwrap_provider_diagnose_finish (SBX_BWRAP_PROVIDER (object), result, error);
}

static void
start_clean (GObject             *object,
             GCancellable        *cancellable,
             GAsyncReadyCallback  callback,
             gpointer             user_data)
{
  sbx_bwrap_provider_clean_async (SBX_BWRAP_PROVIDER (object), TRUE, cancellable, callback,
                                  user_data);
}

static gpointer
finish_clean (GObject       *object,
              GAsyncResult  *result,
              GError       **error)
{
  g_auto(GStrv) removed = sbx_bwrap_provider_clean_finish (SBX_BWRAP_PROVIDER (object), result,
                                                           error);

  return truth (removed != NULL);
}

static void
test_care (void)
{
  static const Verb diagnose = { start_diagnose, finish_diagnose, NULL };
  static const Verb clean = { start_clean, finish_clean, NULL };
  g_autoptr(Place) place = place_new ();

  cancel_everywhere (&diagnose, G_OBJECT (place->provider));
  assert_nothing_left (place->data);
  cancel_everywhere (&clean, G_OBJECT (place->provider));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  adopt_orphans ();

  g_test_add_func ("/session/cancel/open", test_open);
  g_test_add_func ("/session/cancel/commands", test_commands);
  g_test_add_func ("/session/cancel/files", test_files);
  g_test_add_func ("/session/cancel/close", test_close);
  g_test_add_func ("/session/cancel/care", test_care);

  return g_test_run ();
}
