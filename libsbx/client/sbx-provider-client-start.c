/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "client/sbx-client-seat-private.h"
#include "client/sbx-provider-client-private.h"

#include "core/sbx-error.h"
#include "core/sbx-session.h"
#include "core/sbx-sync-private.h"
#include "core/sbx-task-private.h"
#include "core/sbx-text-private.h"
#include "wire/sbx-wire-request-private.h"

#include <glib/gi18n-lib.h>

/* The first request, which tells what can be asked at all. */
typedef struct
{
  SbxClientCall call;
  GWeakRef      client;
} CapabilitiesCall;

void
_sbx_provider_client_return_started (SbxProviderClient *self,
                                     const GError      *error)
{
  g_autoptr(GPtrArray) waiting = g_steal_pointer (&self->starting);

  self->starting = g_ptr_array_new_with_free_func (g_object_unref);

  for (guint i = 0; i < waiting->len; i++)
    if (error != NULL)
      g_task_return_error (g_ptr_array_index (waiting, i), g_error_copy (error));
    else
      g_task_return_boolean (g_ptr_array_index (waiting, i), TRUE);
}

void
_sbx_provider_client_fail_sessions (SbxProviderClient *self,
                                    const GError      *error)
{
  g_autoptr(GPtrArray) sessions = g_ptr_array_new_with_free_func (g_object_unref);
  GHashTableIter iter;
  gpointer seat;

  g_hash_table_iter_init (&iter, self->sessions);
  while (g_hash_table_iter_next (&iter, &seat, NULL))
    {
      SbxSession *session = _sbx_client_seat_get_session (seat);

      if (session != NULL)
        g_ptr_array_add (sessions, session);
    }

  g_hash_table_remove_all (self->sessions);

  for (guint i = 0; i < sessions->len; i++)
    sbx_session_fail (g_ptr_array_index (sessions, i), error);
}

static void
sbx_provider_client_become_ready (SbxProviderClient *self,
                                  gboolean           exec,
                                  SbxWireFeatures    features)
{
  if (self->state != SBX_PROVIDER_CLIENT_STATE_STARTING)
    return;

  self->exec = exec;
  _sbx_client_connection_set_features (self->connection, features);
  _sbx_provider_client_set_state (self, SBX_PROVIDER_CLIENT_STATE_READY);
  _sbx_provider_client_return_started (self, NULL);
}

/* A provider that cannot even say what it can do. */
static void
sbx_provider_client_fail_start (SbxProviderClient *self,
                                const GError      *error)
{
  if (self->state == SBX_PROVIDER_CLIENT_STATE_STARTING)
    _sbx_client_connection_break (self->connection, g_error_copy (error), 0);
}

static void
capabilities_replied (SbxClientCall *call,
                      SbxWireReply  *reply)
{
  g_autoptr(SbxProviderClient) self = g_weak_ref_get (&((CapabilitiesCall *) call)->client);
  g_autoptr(GError) error = NULL;
  SbxWireFeatures features = 0;
  gboolean exec = FALSE;

  if (self == NULL)
    return;

  if (_sbx_wire_reply_get_capabilities (reply, &exec, &features, &error))
    sbx_provider_client_become_ready (self, exec, features);
  else
    sbx_provider_client_fail_start (self, error);
}

/* Nothing of plain sandbox.v1 asks for the capabilities: a provider may not know the method. */
static gboolean
is_answer (const GError *error)
{
  return g_error_matches (error, SBX_ERROR, SBX_ERROR_PROVIDER) ||
         g_error_matches (error, SBX_ERROR, SBX_ERROR_PROVIDER_RETRYABLE) ||
         g_error_matches (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED) ||
         (error->domain == G_IO_ERROR && error->code != G_IO_ERROR_TIMED_OUT);
}

static void
capabilities_failed (SbxClientCall *call,
                     const GError  *error)
{
  g_autoptr(SbxProviderClient) self = g_weak_ref_get (&((CapabilitiesCall *) call)->client);

  if (self == NULL)
    return;

  if (is_answer (error))
    sbx_provider_client_become_ready (self, TRUE, 0);
  else
    sbx_provider_client_fail_start (self, error);
}

static void
capabilities_clear (SbxClientCall *call)
{
  g_weak_ref_clear (&((CapabilitiesCall *) call)->client);
}

static const SbxClientCallClass capabilities_class = {
  .method = "capabilities",
  .replied = capabilities_replied,
  .failed = capabilities_failed,
  .clear = capabilities_clear,
};

static void
log_cb (GObject    *owner,
        const char *source,
        const char *text)
{
  g_autofree char *escaped = NULL;

  if (!g_signal_has_handler_pending (owner, g_signal_lookup ("log", G_OBJECT_TYPE (owner)), 0,
                                     FALSE))
    return;

  escaped = g_str_equal (source, "stderr") ? _sbx_text_escape (text) : g_strdup (text);
  g_signal_emit_by_name (owner, "log", source, escaped);
}

static void
changed_cb (GObject *owner)
{
  SbxProviderClient *self = SBX_PROVIDER_CLIENT (owner);
  const guint n_in_flight = sbx_provider_client_get_n_in_flight (self);
  const guint n_queued = sbx_provider_client_get_n_queued (self);

  const gboolean in_flight_changed = self->n_in_flight != n_in_flight;
  const gboolean queued_changed = self->n_queued != n_queued;

  self->n_in_flight = n_in_flight;
  self->n_queued = n_queued;
  _sbx_provider_client_notify_numbers (self, in_flight_changed, queued_changed);
}

const SbxClientConnectionFuncs *
_sbx_provider_client_get_funcs (void)
{
  static const SbxClientConnectionFuncs funcs = {
    .log = log_cb,
    .changed = changed_cb,
    .idle = _sbx_provider_client_idle,
    .broken = _sbx_provider_client_broken,
    .gone = _sbx_provider_client_gone,
  };

  return &funcs;
}

static GError *
describe_no_start (SbxProviderClient *self,
                   const GError      *error)
{
  g_autofree char *program = _sbx_text_quote (self->argv[0]);

  if (g_error_matches (error, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT))
    return g_error_new (SBX_ERROR, SBX_ERROR_NOT_FOUND,
                        _("There is no provider program %s; install it, or give the path of "
                          "another"), program);

  return g_error_new (SBX_ERROR, SBX_ERROR_FAILED,
                      _("The provider program %s could not be started: %s"), program,
                      error->message);
}

static gboolean
sbx_provider_client_launch (SbxProviderClient  *self,
                            GError            **error)
{
  g_autoptr(GError) cause = NULL;
  CapabilitiesCall *call;
  guint64 number;

  self->connection = _sbx_client_connection_new (_sbx_provider_client_get_funcs (),
                                                 G_OBJECT (self),
                                                 _sbx_context_of (G_OBJECT (self)));
  _sbx_client_connection_set_grace (self->connection, self->grace_ms);
  if (!_sbx_client_connection_start (self->connection, (const char * const *) self->argv,
                                     (const char * const *) self->environment,
                                     self->max_message_size, &cause))
    {
      self->failure = describe_no_start (self, cause);
      _sbx_provider_client_set_state (self, SBX_PROVIDER_CLIENT_STATE_BROKEN);
      _sbx_provider_client_emit_closed (self, self->failure);
      g_propagate_error (error, g_error_copy (self->failure));
      return FALSE;
    }

  number = _sbx_client_connection_next_number (self->connection);
  call = _sbx_client_call_new (sizeof *call, &capabilities_class, number);
  g_weak_ref_init (&call->client, self);
  /* It is a call like others, and the first part of opening. */
  call->call.timeout_ms = self->call_timeout_ms;
  if (self->open_timeout_ms != 0 && (self->call_timeout_ms == 0 ||
                                     self->open_timeout_ms < self->call_timeout_ms))
    call->call.timeout_ms = self->open_timeout_ms;
  _sbx_client_connection_submit (self->connection, &call->call,
                                 _sbx_wire_request_capabilities (number));

  return TRUE;
}

/* Only the waiting ends; others may wait, or may want to use it. */
static gboolean
start_cancelled_cb (GCancellable *cancellable,
                    gpointer      user_data)
{
  SbxProviderClient *self = g_task_get_source_object (user_data);
  g_autoptr(GTask) task = g_object_ref (user_data);

  if (g_ptr_array_remove (self->starting, task))
    g_task_return_error_if_cancelled (task);

  return G_SOURCE_REMOVE;
}

gboolean
_sbx_provider_client_admits (SbxProviderClient  *self,
                             GError            **error)
{
  if (self->failure != NULL && self->state == SBX_PROVIDER_CLIENT_STATE_BROKEN)
    g_propagate_error (error, g_error_copy (self->failure));
  else if (self->state >= SBX_PROVIDER_CLIENT_STATE_CLOSING)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_CLOSED,
                         _("The provider was closed; start another one"));
  else
    return TRUE;

  return FALSE;
}

/**
 * sbx_provider_client_start_async:
 * @self: a client
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when the provider takes calls, or cannot
 * @user_data: data for @callback
 *
 * Starts the provider, and asks what it can do.
 *
 * Opening a sandbox does that by itself. Any number of callers may start a client; there is one
 * start. Cancelling @cancellable ends the waiting, not the provider: close the client for that, or
 * drop it.
 *
 * Finish with [method@ProviderClient.start_finish].
 *
 * Since: 1.0
 */
void
sbx_provider_client_start_async (SbxProviderClient   *self,
                                 GCancellable        *cancellable,
                                 GAsyncReadyCallback  callback,
                                 gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;
  g_autoptr(GError) error = NULL;

  g_return_if_fail (SBX_IS_PROVIDER_CLIENT (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sbx_provider_client_start_async);

  if (g_task_return_error_if_cancelled (task))
    return;

  g_task_set_check_cancellable (task, FALSE);
  if (!_sbx_provider_client_admits (self, &error) ||
      !_sbx_context_enter (G_OBJECT (self), &error))
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }

  if (self->state == SBX_PROVIDER_CLIENT_STATE_READY)
    g_task_return_boolean (task, TRUE);
  else if (self->state == SBX_PROVIDER_CLIENT_STATE_NEW &&
           !sbx_provider_client_launch (self, &error))
    g_task_return_error (task, g_steal_pointer (&error));
  else
    {
      const gboolean is_new = self->state == SBX_PROVIDER_CLIENT_STATE_NEW;

      _sbx_task_watch_cancellable (task, start_cancelled_cb);
      g_ptr_array_add (self->starting, g_steal_pointer (&task));
      if (is_new)
        _sbx_provider_client_set_state (self, SBX_PROVIDER_CLIENT_STATE_STARTING);
    }

  _sbx_context_leave (G_OBJECT (self));
}

/**
 * sbx_provider_client_start_finish:
 * @self: a client
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@ProviderClient.start_async].
 *
 * %SBX_ERROR_NOT_FOUND is for a program that does not exist, %SBX_ERROR_LOST for a provider that
 * ended at once, %G_IO_ERROR_TIMED_OUT for one that did not answer in time.
 *
 * Returns: %TRUE if the provider takes calls
 *
 * Since: 1.0
 */
gboolean
sbx_provider_client_start_finish (SbxProviderClient  *self,
                                  GAsyncResult       *result,
                                  GError            **error)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_CLIENT (self), FALSE);
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_provider_client_start_async), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

/**
 * sbx_provider_client_start:
 * @self: a client
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Starts the provider, and waits until it takes calls.
 *
 * This is for scripts and tools; see [method@ProviderClient.start_async].
 *
 * Returns: %TRUE if the provider takes calls
 *
 * Since: 1.0
 */
gboolean
sbx_provider_client_start (SbxProviderClient  *self,
                           GCancellable       *cancellable,
                           GError            **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_PROVIDER_CLIENT (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return FALSE;

  sbx_provider_client_start_async (self, cancellable, _sbx_sync_done_cb, sync);

  return sbx_provider_client_start_finish (self, _sbx_sync_wait (sync), error);
}
