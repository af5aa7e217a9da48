/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "client/sbx-provider-client-private.h"

#include "core/sbx-error.h"
#include "core/sbx-sync-private.h"
#include "core/sbx-task-private.h"
#include "wire/sbx-wire-request-private.h"

#include <glib/gi18n-lib.h>

/*
 * The ways in which a provider ends. It is asked to shut down when all that it works on is done;
 * its input ends when it has answered; then it is waited for. Each of these may take the time that
 * the user gave, and when that is over the process is ended. Or it breaks, and then everybody is
 * told the same cause.
 */

/* From being asked to end to being gone, for one that does not end by itself. */
#define END_MS 3000

typedef struct
{
  SbxClientCall call;
  GWeakRef      client;
} ShutdownCall;

static void
clear_close_timer (SbxProviderClient *self)
{
  if (self->close_timer != NULL)
    g_source_destroy (self->close_timer);

  g_clear_pointer (&self->close_timer, g_source_unref);
}

/* The first error is the one that is reported. */
static void
sbx_provider_client_note (SbxProviderClient *self,
                          GError            *taken)
{
  if (self->close_error == NULL)
    self->close_error = taken;
  else
    g_clear_error (&taken);
}

static void
sbx_provider_client_return_closed (SbxProviderClient *self,
                                   const GError      *error)
{
  g_autoptr(GPtrArray) waiting = g_steal_pointer (&self->closing);

  self->closing = g_ptr_array_new_with_free_func (g_object_unref);

  for (guint i = 0; i < waiting->len; i++)
    if (error != NULL)
      g_task_return_error (g_ptr_array_index (waiting, i), g_error_copy (error));
    else
      g_task_return_boolean (g_ptr_array_index (waiting, i), TRUE);
}

static void
sbx_provider_client_conclude (SbxProviderClient *self)
{
  g_autoptr(GError) closed = g_error_new_literal (SBX_ERROR, SBX_ERROR_CLOSED,
                                                  _("The provider was closed meanwhile"));

  clear_close_timer (self);
  if (self->state != SBX_PROVIDER_CLIENT_STATE_CLOSING)
    return;

  if (self->close_error != NULL)
    self->failure = g_error_copy (self->close_error);
  _sbx_provider_client_set_state (self, SBX_PROVIDER_CLIENT_STATE_CLOSED);

  if (self->connection != NULL)
    _sbx_client_connection_fail_calls (self->connection, closed);
  _sbx_provider_client_fail_sessions (self, closed);
  sbx_provider_client_return_closed (self, self->close_error);
  _sbx_provider_client_emit_closed (self, self->close_error);
}

static void set_close_timer (SbxProviderClient *self,
                             guint              timeout_ms);

/* Its input ends, and so it should. */
static void
sbx_provider_client_end (SbxProviderClient *self,
                         guint              patience_ms)
{
  if (self->ending)
    return;

  self->ending = TRUE;
  set_close_timer (self, patience_ms);
  _sbx_client_connection_finish (self->connection);
  _sbx_client_connection_end_child (self->connection, patience_ms);
}

static gboolean
close_overdue_cb (gpointer user_data)
{
  g_autoptr(SbxProviderClient) self = g_object_ref (SBX_PROVIDER_CLIENT (user_data));

  clear_close_timer (self);
  if (self->overdue)
    {
      sbx_provider_client_note (self, g_error_new_literal (SBX_ERROR, SBX_ERROR_FAILED,
                                                           _("The provider could not be ended; "
                                                             "look for its process")));
      sbx_provider_client_conclude (self);
      return G_SOURCE_REMOVE;
    }

  self->overdue = TRUE;
  sbx_provider_client_note (self,
                            g_error_new (G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
                                         self->ending
                                           ? _("The provider did not exit within %u ms after it "
                                               "was to shut down, and was ended")
                                           : _("The provider did not shut down within %u ms, and "
                                               "was ended"),
                                         self->close_timeout_ms));
  sbx_provider_client_end (self, 0);
  set_close_timer (self, END_MS);

  return G_SOURCE_REMOVE;
}

static void
set_close_timer (SbxProviderClient *self,
                 guint              timeout_ms)
{
  clear_close_timer (self);

  /* It goes with the client, and needs no reference. */
  self->close_timer = g_timeout_source_new (timeout_ms);
  g_source_set_callback (self->close_timer, close_overdue_cb, self, NULL);
  g_source_attach (self->close_timer, _sbx_context_of (G_OBJECT (self)));
}

static void
shutdown_replied (SbxClientCall *call,
                  SbxWireReply  *reply)
{
  g_autoptr(SbxProviderClient) self = g_weak_ref_get (&((ShutdownCall *) call)->client);

  if (self != NULL && self->state == SBX_PROVIDER_CLIENT_STATE_CLOSING)
    sbx_provider_client_end (self, self->close_timeout_ms);
}

static void
shutdown_failed (SbxClientCall *call,
                 const GError  *error)
{
  g_autoptr(SbxProviderClient) self = g_weak_ref_get (&((ShutdownCall *) call)->client);

  if (self == NULL || self->state != SBX_PROVIDER_CLIENT_STATE_CLOSING)
    return;

  sbx_provider_client_note (self, g_error_copy (error));
  sbx_provider_client_end (self, self->close_timeout_ms);
}

static void
shutdown_clear (SbxClientCall *call)
{
  g_weak_ref_clear (&((ShutdownCall *) call)->client);
}

static const SbxClientCallClass shutdown_class = {
  .method = "shutdown",
  .replied = shutdown_replied,
  .failed = shutdown_failed,
  .clear = shutdown_clear,
};

void
_sbx_provider_client_idle (GObject *owner)
{
  SbxProviderClient *self = SBX_PROVIDER_CLIENT (owner);
  ShutdownCall *call;
  guint64 number;

  if (self->shut_down || self->ending)
    return;

  self->shut_down = TRUE;
  number = _sbx_client_connection_next_number (self->connection);
  call = _sbx_client_call_new (sizeof *call, &shutdown_class, number);
  call->call.urgent = TRUE;
  g_weak_ref_init (&call->client, self);
  _sbx_client_connection_submit (self->connection, &call->call,
                                 _sbx_wire_request_shutdown (number));
}

void
_sbx_provider_client_broken (GObject      *owner,
                             const GError *error)
{
  SbxProviderClient *self = SBX_PROVIDER_CLIENT (owner);

  if (self->state == SBX_PROVIDER_CLIENT_STATE_CLOSING)
    {
      /* How it exited is judged when it is gone, unless it ended before it was asked to. */
      if (!self->ending)
        sbx_provider_client_note (self, g_error_copy (error));
      _sbx_client_connection_fail_calls (self->connection, error);
      self->ending = TRUE;
      return;
    }

  if (self->state > SBX_PROVIDER_CLIENT_STATE_CLOSING)
    return;

  self->failure = g_error_copy (error);
  _sbx_provider_client_set_state (self, SBX_PROVIDER_CLIENT_STATE_BROKEN);
  _sbx_provider_client_return_started (self, self->failure);
  _sbx_client_connection_fail_calls (self->connection, self->failure);
  _sbx_provider_client_fail_sessions (self, self->failure);
  _sbx_provider_client_emit_closed (self, self->failure);
}

void
_sbx_provider_client_gone (GObject *owner)
{
  SbxProviderClient *self = SBX_PROVIDER_CLIENT (owner);
  GError *error;

  if (self->state == SBX_PROVIDER_CLIENT_STATE_BROKEN)
    {
      sbx_provider_client_return_closed (self, self->failure);
      return;
    }

  error = _sbx_client_connection_judge_end (self->connection);
  if (error != NULL)
    sbx_provider_client_note (self, error);
  sbx_provider_client_conclude (self);
}

static gboolean
close_cancelled_cb (GCancellable *cancellable,
                    gpointer      user_data)
{
  SbxProviderClient *self = g_task_get_source_object (user_data);

  if (self->state != SBX_PROVIDER_CLIENT_STATE_CLOSING || self->connection == NULL)
    return G_SOURCE_REMOVE;

  g_clear_error (&self->close_error);
  sbx_provider_client_note (self,
                            g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED,
                                                 _("The operation was cancelled, and the provider "
                                                   "was killed")));
  _sbx_client_connection_kill (self->connection);
  self->ending = TRUE;
  self->overdue = TRUE;
  set_close_timer (self, END_MS);

  return G_SOURCE_REMOVE;
}

static void
sbx_provider_client_begin_close (SbxProviderClient *self)
{
  g_autoptr(GError) closed = g_error_new_literal (SBX_ERROR, SBX_ERROR_CLOSED,
                                                  _("The provider was closed meanwhile"));

  _sbx_provider_client_set_state (self, SBX_PROVIDER_CLIENT_STATE_CLOSING);
  if (self->connection == NULL)
    {
      sbx_provider_client_conclude (self);
      return;
    }

  set_close_timer (self, self->close_timeout_ms);
  _sbx_provider_client_return_started (self, closed);
  _sbx_client_connection_drain (self->connection, closed);
}

/**
 * sbx_provider_client_close_async:
 * @self: a client
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data) (nullable): called when the provider is gone
 * @user_data: data for @callback
 *
 * Ends the provider.
 *
 * No call is taken any more, and those that wait fail with %SBX_ERROR_CLOSED. Those in flight may
 * end; then the provider is asked to shut down, its input is ended, and it is waited for. Each may
 * take [property@ProviderClient:close-timeout]; after that the provider's process group is ended.
 * Close the sessions first: those that are open are lost by this.
 *
 * However often this is called there is one close, and every caller is told how that one went.
 * Cancelling @cancellable kills the provider at once, and the close is then %G_IO_ERROR_CANCELLED.
 *
 * Finish with [method@ProviderClient.close_finish].
 *
 * Since: 1.0
 */
void
sbx_provider_client_close_async (SbxProviderClient   *self,
                                 GCancellable        *cancellable,
                                 GAsyncReadyCallback  callback,
                                 gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;
  g_autoptr(GError) error = NULL;

  g_return_if_fail (SBX_IS_PROVIDER_CLIENT (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sbx_provider_client_close_async);
  g_task_set_check_cancellable (task, FALSE);

  if (!_sbx_context_enter (G_OBJECT (self), &error))
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }

  if (self->state == SBX_PROVIDER_CLIENT_STATE_CLOSED && self->close_error != NULL)
    g_task_return_error (task, g_error_copy (self->close_error));
  else if (self->state == SBX_PROVIDER_CLIENT_STATE_CLOSED)
    g_task_return_boolean (task, TRUE);
  else if (self->state == SBX_PROVIDER_CLIENT_STATE_BROKEN &&
           _sbx_client_connection_is_gone (self->connection))
    g_task_return_error (task, g_error_copy (self->failure));
  else
    {
      _sbx_task_watch_cancellable (task, close_cancelled_cb);
      g_ptr_array_add (self->closing, g_steal_pointer (&task));
      if (self->state < SBX_PROVIDER_CLIENT_STATE_CLOSING)
        sbx_provider_client_begin_close (self);
    }

  _sbx_context_leave (G_OBJECT (self));
}

/**
 * sbx_provider_client_close_finish:
 * @self: a client
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@ProviderClient.close_async].
 *
 * An error is the first thing that went wrong: what the provider answered, that it did not end in
 * time, or its exit status. Its process is gone all the same.
 *
 * Returns: %TRUE if the provider ended as it should
 *
 * Since: 1.0
 */
gboolean
sbx_provider_client_close_finish (SbxProviderClient  *self,
                                  GAsyncResult       *result,
                                  GError            **error)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_CLIENT (self), FALSE);
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_provider_client_close_async), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

/**
 * sbx_provider_client_close:
 * @self: a client
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Ends the provider, and waits until it is gone.
 *
 * This is for scripts and tools; see [method@ProviderClient.close_async].
 *
 * Returns: %TRUE if the provider ended as it should
 *
 * Since: 1.0
 */
gboolean
sbx_provider_client_close (SbxProviderClient  *self,
                           GCancellable       *cancellable,
                           GError            **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_PROVIDER_CLIENT (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return FALSE;

  sbx_provider_client_close_async (self, cancellable, _sbx_sync_done_cb, sync);

  return sbx_provider_client_close_finish (self, _sbx_sync_wait (sync), error);
}
