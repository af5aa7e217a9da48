/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-session-private.h"

#include "core/sbx-error.h"
#include "core/sbx-file-invocations.h"
#include "core/sbx-invocation-private.h"
#include "core/sbx-process-private.h"
#include "core/sbx-sync-private.h"
#include "core/sbx-task-private.h"

#include <glib/gi18n-lib.h>

/*
 * The two ends of a session. Either its sandbox is gone by itself, which ends every call at once;
 * or it is closed, which first asks every call to end, then has the sandbox ended, and is over when
 * every call has ended and every process has told so.
 */

#define CLOSE_GRACE_MS 10000

static GPtrArray *
sbx_session_list_calls (SbxSession *self)
{
  SbxSessionPrivate *priv = _sbx_session_get_private (self);
  GPtrArray *calls = g_ptr_array_new_with_free_func (g_object_unref);
  GHashTableIter iter;
  gpointer invocation;

  /* Answering one may answer or start others: nothing is done while iterating. */
  g_hash_table_iter_init (&iter, priv->calls);
  while (g_hash_table_iter_next (&iter, &invocation, NULL))
    g_ptr_array_add (calls, g_object_ref (invocation));

  return calls;
}

/**
 * sbx_session_fail:
 * @self: a session
 * @error: why the sandbox is gone
 *
 * Says that the sandbox ended by itself.
 *
 * This is for a subclass. Every call in flight ends with @error, and the state becomes
 * %SBX_SESSION_STATE_LOST. Of a session that is closing or has ended it changes nothing.
 *
 * Since: 1.0
 */
void
sbx_session_fail (SbxSession   *self,
                  const GError *error)
{
  SbxSessionPrivate *priv = _sbx_session_get_private (self);
  g_autoptr(SbxSession) keep = NULL;
  g_autoptr(GPtrArray) calls = NULL;

  g_return_if_fail (SBX_IS_SESSION (self));
  g_return_if_fail (error != NULL);

  if (priv->state != SBX_SESSION_STATE_OPEN)
    return;

  keep = g_object_ref (self);
  priv->failure = g_error_copy (error);
  calls = sbx_session_list_calls (self);
  _sbx_session_set_state (self, SBX_SESSION_STATE_LOST);

  for (guint i = 0; i < calls->len; i++)
    _sbx_invocation_expire (g_ptr_array_index (calls, i), priv->failure);

  _sbx_session_emit_closed (self, priv->failure);
}

static GError *
closed_error (void)
{
  return g_error_new_literal (SBX_ERROR, SBX_ERROR_CLOSED,
                              _("The session was closed meanwhile"));
}

/* One that cannot end yet because of what is on the stack does not count: it is from there that
 * somebody closes and waits for it. */
static gboolean
sbx_session_has_running_process (SbxSession *self)
{
  SbxSessionPrivate *priv = _sbx_session_get_private (self);
  GHashTableIter iter;
  gpointer process;

  g_hash_table_iter_init (&iter, priv->processes);
  while (g_hash_table_iter_next (&iter, &process, NULL))
    if (!_sbx_process_is_within (process))
      return TRUE;

  return FALSE;
}

/* The one close is over: everybody who asked for it is told the same. */
static void
sbx_session_conclude (SbxSession *self)
{
  SbxSessionPrivate *priv = _sbx_session_get_private (self);
  g_autoptr(GPtrArray) waiting = NULL;

  if (!priv->close_answered || priv->close_done || g_hash_table_size (priv->calls) > 0 ||
      sbx_session_has_running_process (self))
    return;

  /* Those who wait hold the session. */
  waiting = g_steal_pointer (&priv->closing);
  priv->closing = g_ptr_array_new_with_free_func (g_object_unref);
  priv->close_done = TRUE;

  /* One that was lost stays so: closing it only cleans up after it. */
  if (priv->state == SBX_SESSION_STATE_CLOSING)
    {
      if (priv->close_error != NULL)
        priv->failure = g_error_copy (priv->close_error);

      _sbx_session_set_state (self, SBX_SESSION_STATE_CLOSED);
      _sbx_session_emit_closed (self, priv->close_error);
    }

  for (guint i = 0; i < waiting->len; i++)
    if (priv->close_error != NULL)
      g_task_return_error (g_ptr_array_index (waiting, i), g_error_copy (priv->close_error));
    else
      g_task_return_boolean (g_ptr_array_index (waiting, i), TRUE);
}

gboolean
_sbx_session_is_gone (SbxSession *self)
{
  SbxSessionPrivate *priv = _sbx_session_get_private (self);

  return priv->close_answered;
}

void
_sbx_session_add_process (SbxSession *self,
                          SbxProcess *process)
{
  SbxSessionPrivate *priv = _sbx_session_get_private (self);

  g_hash_table_add (priv->processes, process);
}

void
_sbx_session_remove_process (SbxSession *self,
                             SbxProcess *process)
{
  SbxSessionPrivate *priv = _sbx_session_get_private (self);

  g_hash_table_remove (priv->processes, process);
}

void
_sbx_session_process_ended (SbxSession *self)
{
  sbx_session_conclude (self);
}

/* The sandbox is gone. What has not ended by itself ends now. */
static void
sbx_session_end_calls (SbxSession *self)
{
  SbxSessionPrivate *priv = _sbx_session_get_private (self);
  g_autoptr(GPtrArray) calls = sbx_session_list_calls (self);
  g_autoptr(GPtrArray) processes = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr(GError) error = closed_error ();
  GHashTableIter iter;
  gpointer process;

  for (guint i = 0; i < calls->len; i++)
    _sbx_invocation_expire (g_ptr_array_index (calls, i), error);

  g_hash_table_iter_init (&iter, priv->processes);
  while (g_hash_table_iter_next (&iter, &process, NULL))
    g_ptr_array_add (processes, g_object_ref (process));
  for (guint i = 0; i < processes->len; i++)
    _sbx_process_hurry (g_ptr_array_index (processes, i));

  sbx_session_conclude (self);
}

static void
close_answered_cb (GObject      *object,
                   GAsyncResult *result,
                   gpointer      user_data)
{
  SbxSession *self = SBX_SESSION (object);
  SbxSessionPrivate *priv = _sbx_session_get_private (self);

  priv->close_answered = TRUE;
  g_task_propagate_boolean (G_TASK (result), &priv->close_error);
  sbx_session_end_calls (self);
}

/* Of a caller that came later; the first one's is the invocation's own. */
static gboolean
close_cancelled_cb (GCancellable *cancellable,
                    gpointer      user_data)
{
  SbxSessionPrivate *priv =
    _sbx_session_get_private (g_task_get_source_object (user_data));

  if (priv->close_call != NULL)
    _sbx_invocation_request_end (priv->close_call,
                                 g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED,
                                                      _("The operation was cancelled")));

  return G_SOURCE_REMOVE;
}

static void
sbx_session_start_close (SbxSession   *self,
                         GCancellable *cancellable)
{
  SbxSessionPrivate *priv = _sbx_session_get_private (self);
  g_autoptr(SbxCloseInvocation) invocation = NULL;
  g_autoptr(GPtrArray) calls = sbx_session_list_calls (self);
  SbxSessionClass *klass = SBX_SESSION_GET_CLASS (self);
  GTask *task;

  priv->close_started = TRUE;
  if (priv->state == SBX_SESSION_STATE_OPEN)
    _sbx_session_set_state (self, SBX_SESSION_STATE_CLOSING);

  for (guint i = 0; i < calls->len; i++)
    _sbx_invocation_request_end (g_ptr_array_index (calls, i), closed_error ());

  task = g_task_new (self, cancellable, close_answered_cb, NULL);
  g_task_set_source_tag (task, sbx_session_start_close);
  g_task_set_check_cancellable (task, FALSE);

  invocation = g_object_new (SBX_TYPE_CLOSE_INVOCATION, NULL);
  g_set_weak_pointer (&priv->close_call, SBX_INVOCATION (invocation));
  _sbx_invocation_adopt (SBX_INVOCATION (invocation), task, CLOSE_GRACE_MS);

  if (klass->handle_close == NULL)
    sbx_close_invocation_return_done (invocation);

  _sbx_invocation_handled (SBX_INVOCATION (invocation),
                           klass->handle_close == NULL || klass->handle_close (self, invocation));
}

/**
 * sbx_session_close_async:
 * @self: a session
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data) (nullable): called when the sandbox is gone
 * @user_data: data for @callback
 *
 * Ends the sandbox, with everything that runs in it.
 *
 * Calls in flight end first. However often this is called there is one close, and every caller is
 * told how that one went. Cancelling @cancellable does not keep the sandbox: it makes the end
 * abrupt.
 *
 * Finish with [method@Session.close_finish].
 *
 * Since: 1.0
 */
void
sbx_session_close_async (SbxSession          *self,
                         GCancellable        *cancellable,
                         GAsyncReadyCallback  callback,
                         gpointer             user_data)
{
  SbxSessionPrivate *priv = _sbx_session_get_private (self);
  g_autoptr(GTask) task = NULL;
  g_autoptr(GError) error = NULL;

  g_return_if_fail (SBX_IS_SESSION (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sbx_session_close_async);
  g_task_set_check_cancellable (task, FALSE);

  if (priv->close_done && priv->close_error != NULL)
    g_task_return_error (task, g_error_copy (priv->close_error));
  else if (priv->close_done)
    g_task_return_boolean (task, TRUE);
  else if (!_sbx_context_enter (G_OBJECT (self), &error))
    g_task_return_error (task, g_steal_pointer (&error));
  else
    {
      if (priv->close_started)
        _sbx_task_watch_cancellable (task, close_cancelled_cb);
      g_ptr_array_add (priv->closing, g_steal_pointer (&task));

      /* What is told of the end may wait for it: then all that is left ends below of that. */
      if (!priv->close_started)
        sbx_session_start_close (self, cancellable);
      else if (priv->close_answered)
        sbx_session_end_calls (self);
      _sbx_context_leave (G_OBJECT (self));
    }
}

/**
 * sbx_session_close_finish:
 * @self: a session
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Session.close_async].
 *
 * An error says what could not be removed; the processes of the sandbox are gone all the same.
 *
 * Returns: %TRUE if nothing of the sandbox is left
 *
 * Since: 1.0
 */
gboolean
sbx_session_close_finish (SbxSession    *self,
                          GAsyncResult  *result,
                          GError       **error)
{
  g_return_val_if_fail (SBX_IS_SESSION (self), FALSE);
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_session_close_async), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

/**
 * sbx_session_close:
 * @self: a session
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Ends the sandbox, and waits until it is gone.
 *
 * This is for scripts and tools; see [method@Session.close_async].
 *
 * Returns: %TRUE if nothing of the sandbox is left
 *
 * Since: 1.0
 */
gboolean
sbx_session_close (SbxSession    *self,
                   GCancellable  *cancellable,
                   GError       **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_SESSION (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return FALSE;

  sbx_session_close_async (self, cancellable, _sbx_sync_done_cb, sync);

  return sbx_session_close_finish (self, _sbx_sync_wait (sync), error);
}
