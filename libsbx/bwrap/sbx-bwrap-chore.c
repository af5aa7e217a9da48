/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-worktree-private.h"

#include "core/sbx-command.h"
#include "core/sbx-error.h"
#include "core/sbx-exec-result.h"
#include "core/sbx-protection-private.h"
#include "core/sbx-text-private.h"

#include <glib-unix.h>
#include <glib/gi18n-lib.h>
#include <string.h>

/*
 * Whatever makes git look at a working tree may run commands that the repository names: so it is
 * done in a sandbox of its own, which sees no more than that needs and ends before anybody else
 * gets to see what it did. It runs in a worker thread, and has a main context of its own.
 */

#define MAX_OUTPUT (64 * 1024)

/* Opening a sandbox takes many descriptors, so that not all can do it at once. */
#define MAX_CHORES 3
#define WAIT_US (100 * 1000)

static GMutex lock;
static GCond passed;
static guint n_chores;

static gboolean
take_turn (GCancellable  *cancellable,
           GError       **error)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);

  while (n_chores >= MAX_CHORES)
    {
      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;

      g_cond_wait_until (&passed, &lock, g_get_monotonic_time () + WAIT_US);
    }

  n_chores++;

  return TRUE;
}

static void
pass_turn (void)
{
  g_mutex_lock (&lock);
  n_chores--;
  g_cond_signal (&passed);
  g_mutex_unlock (&lock);
}

static const char * const variables[][2] = {
  { "LC_ALL", "C" },
  { "LANGUAGE", "C" },
  { "GIT_TERMINAL_PROMPT", "0" },
  { "GIT_OPTIONAL_LOCKS", "0" },
  { "GIT_ADVICE", "0" },
  { "GIT_ALLOW_PROTOCOL", "none" },
  { "GIT_ATTR_NOSYSTEM", "1" },
  { "GIT_CONFIG_NOSYSTEM", "1" },
};

static GPtrArray *
make_argv (const SbxBwrapChore *self)
{
  GPtrArray *argv = g_ptr_array_new ();

  g_ptr_array_add (argv, (gpointer) "/bin/sh");
  g_ptr_array_add (argv, (gpointer) "-c");
  g_ptr_array_add (argv, (gpointer) self->script);
  g_ptr_array_add (argv, (gpointer) "sh");
  for (gsize i = 0; self->arguments[i] != NULL; i++)
    g_ptr_array_add (argv, (gpointer) self->arguments[i]);
  g_ptr_array_add (argv, NULL);

  return argv;
}

static SbxBwrapOpening *
make_opening (const SbxBwrapChore *self)
{
  SbxBwrapOpening *opening = _sbx_bwrap_opening_new (self->settings);

  opening->settings.toolchain = FALSE;
  opening->settings.fresh_home = TRUE;
  opening->chore = TRUE;
  opening->group = g_strdup (self->group);
  opening->own_path = g_strdup (self->worktree);
  opening->reach = sbx_reach_new (self->worktree);
  sbx_reach_add_write (opening->reach, self->worktree);
  if (self->user_root != NULL)
    sbx_reach_add_read (opening->reach, self->user_root);
  for (gsize i = 0; i < G_N_ELEMENTS (variables); i++)
    sbx_reach_set_variable (opening->reach, variables[i][0], variables[i][1]);

  return opening;
}

static void
opened_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  GAsyncResult **stored = user_data;

  *stored = g_object_ref (result);
}

static SbxSession *
open_session (const SbxBwrapChore  *self,
              GMainContext         *context,
              GCancellable         *cancellable,
              GError              **error)
{
  g_autoptr(GAsyncResult) result = NULL;

  _sbx_bwrap_open_async (make_opening (self), cancellable, opened_cb, &result);
  while (result == NULL)
    g_main_context_iteration (context, TRUE);

  return _sbx_bwrap_open_finish (result, error);
}

static char *
bytes_to_text (GBytes *bytes)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  return g_strstrip (g_strndup (data, size));
}

static char *
read_result (SbxExecResult  *result,
             GError        **error)
{
  const char *message = sbx_exec_result_get_message (result);
  g_autofree char *complaint = NULL;
  g_autofree char *shown = NULL;

  if (sbx_exec_result_get_success (result))
    return bytes_to_text (sbx_exec_result_get_stdout (result));

  complaint = bytes_to_text (sbx_exec_result_get_stderr (result));
  if (*complaint == '\0' && message == NULL)
    message = _("it ended without a word");

  shown = _sbx_text_escape (*complaint != '\0' ? complaint : message);
  g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
               _("git could not do its part in the sandbox: %s"), shown);

  return NULL;
}

static char *
run_in_session (const SbxBwrapChore  *self,
                SbxSession           *session,
                GCancellable         *cancellable,
                GError              **error)
{
  g_autoptr(GPtrArray) argv = make_argv (self);
  g_autoptr(SbxCommand) command = sbx_command_new ((const char * const *) argv->pdata);
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) close_error = NULL;
  char *output = NULL;

  sbx_command_set_timeout (command, self->timeout_ms);
  sbx_command_set_collect_limit (command, MAX_OUTPUT);
  result = sbx_session_exec (session, command, cancellable, error);
  if (result != NULL)
    output = read_result (result, error);

  if (sbx_session_close (session, NULL, &close_error) || output == NULL)
    return output;

  g_propagate_error (error, g_steal_pointer (&close_error));
  g_free (output);

  return NULL;
}

/* What the sandbox is there against, for a test that shows that it is needed. */
static char *
run_outside (const SbxBwrapChore  *self,
             GError              **error)
{
  g_autoptr(GPtrArray) argv = make_argv (self);
  g_autoptr(GSubprocessLauncher) launcher = NULL;
  g_autoptr(GSubprocess) process = NULL;
  char *output = NULL;

  launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  g_subprocess_launcher_set_cwd (launcher, self->worktree);
  process = g_subprocess_launcher_spawnv (launcher, (const char * const *) argv->pdata, error);
  if (process == NULL ||
      !g_subprocess_communicate_utf8 (process, NULL, NULL, &output, NULL, error))
    return NULL;

  return g_strstrip (output);
}

static gboolean
cancelled_cb (int          fd,
              GIOCondition condition,
              gpointer     user_data)
{
  g_cancellable_cancel (user_data);

  return G_SOURCE_REMOVE;
}

/* The caller cancels in another thread, and a GCancellableSource that is freed at that moment is
 * lost (as of GLib 2.74). So what is cancelled in this thread is a cancellable of its own, which
 * follows the caller's by a descriptor. */
static GSource *
follow (GCancellable *outer,
        GCancellable *inner,
        GMainContext *context)
{
  const int fd = g_cancellable_get_fd (outer);
  GSource *source;

  if (fd == -1)
    return NULL;

  source = g_unix_fd_source_new (fd, G_IO_IN);
  g_source_set_callback (source, G_SOURCE_FUNC (cancelled_cb), g_object_ref (inner),
                         g_object_unref);
  g_source_attach (source, context);

  return source;
}

static void
stop_following (GCancellable *outer,
                GSource      *source)
{
  if (source == NULL)
    return;

  g_source_destroy (source);
  g_source_unref (source);
  g_cancellable_release_fd (outer);
}

char *
_sbx_bwrap_chore_run (const SbxBwrapChore  *self,
                      GCancellable         *cancellable,
                      GError              **error)
{
  g_autoptr(GCancellable) inner = g_cancellable_new ();
  g_autoptr(GMainContext) context = NULL;
  g_autoptr(SbxSession) session = NULL;
  GSource *following;
  char *output = NULL;

  if (!SBX_PROTECTS (T8))
    return run_outside (self, error);

  if (!take_turn (cancellable, error))
    return NULL;

  context = g_main_context_new ();
  g_main_context_push_thread_default (context);
  following = follow (cancellable, inner, context);

  session = open_session (self, context, inner, error);
  if (session != NULL)
    output = run_in_session (self, session, inner, error);
  g_clear_object (&session);
  stop_following (cancellable, following);

  /* What was started here also ends here. */
  while (g_main_context_iteration (context, FALSE))
    ;

  g_main_context_pop_thread_default (context);
  pass_turn ();

  return output;
}
