/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "server/sbx-server-private.h"

#include "core/sbx-sync-private.h"

/*
 * The end of a run, whatever brought it about: all calls are cancelled, all sessions are closed,
 * what the client is still owed is written, and then the run is over.
 */

/* How long a client that does not read holds up a server that has nothing else to do. */
#define LINGER_MS 5000

/* Whoever calls this holds a reference of its own: that of the run is dropped. */
static void
conclude (SbxServerConnection *self)
{
  g_autoptr(GTask) task = g_steal_pointer (&self->task);

  self->state = SBX_SERVER_DONE;
  if (self->linger != NULL)
    g_source_destroy (self->linger);
  g_clear_pointer (&self->linger, g_source_unref);
  g_source_destroy (self->turn);
  g_clear_pointer (&self->reader, _sbx_wire_reader_free);
  g_clear_pointer (&self->writer, _sbx_wire_writer_free);
  g_hash_table_remove_all (self->calls);

  if (self->failure != NULL)
    g_task_return_error (task, g_error_copy (self->failure));
  else
    g_task_return_boolean (task, TRUE);

  _sbx_server_connection_unref (self);
}

static gboolean
linger_cb (gpointer user_data)
{
  g_autoptr(SbxServerConnection) self = _sbx_server_connection_ref (user_data);

  if (_sbx_context_enter (G_OBJECT (self->server), NULL))
    {
      conclude (self);
      _sbx_context_leave (G_OBJECT (self->server));
    }

  return G_SOURCE_REMOVE;
}

void
_sbx_server_connection_check_end (SbxServerConnection *self)
{
  if (self->state == SBX_SERVER_ENDING && g_hash_table_size (self->sessions) == 0 &&
      self->n_pending == (self->shutdown != NULL ? 1 : 0))
    {
      g_autoptr(SbxServerCall) shutdown = g_steal_pointer (&self->shutdown);

      /* The reply to a shutdown is the last line of all: no further request is answered. */
      self->state = SBX_SERVER_FLUSHING;
      g_clear_pointer (&self->reader, _sbx_wire_reader_free);
      if (shutdown != NULL)
        _sbx_server_call_done (shutdown);
    }

  if (self->state != SBX_SERVER_FLUSHING)
    return;

  if (_sbx_server_connection_waiting (self) == 0)
    {
      conclude (self);
    }
  else if (self->linger == NULL)
    {
      self->linger = g_timeout_source_new (LINGER_MS);
      g_source_set_callback (self->linger, linger_cb, self, NULL);
      g_source_attach (self->linger, self->context);
    }
}

static void
closed_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  g_autoptr(SbxServerSession) session = user_data;
  g_autoptr(SbxServerConnection) connection = _sbx_server_connection_ref (session->connection);
  g_autoptr(GError) error = NULL;

  if (!sbx_session_close_finish (SBX_SESSION (object), result, &error))
    g_info ("Session %s: %s", session->id, error->message);

  _sbx_server_session_remove (session);
  _sbx_server_connection_check_end (connection);
}

/* A close goes on: it is what is being waited for. */
static void
cancel_calls (SbxServerConnection *self)
{
  g_autoptr(GPtrArray) calls = NULL;
  GHashTableIter iter;
  gpointer call;

  calls = g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_server_call_unref);
  g_hash_table_iter_init (&iter, self->calls);
  while (g_hash_table_iter_next (&iter, NULL, &call))
    g_ptr_array_add (calls, _sbx_server_call_ref (call));

  for (guint i = 0; i < calls->len; i++)
    {
      SbxServerCall *one = g_ptr_array_index (calls, i);

      if (one->wire.method != SBX_WIRE_METHOD_CLOSE && one != self->shutdown)
        _sbx_server_call_cancel (one);
    }
}

static void
close_sessions (SbxServerConnection *self)
{
  g_autoptr(GPtrArray) sessions = NULL;
  GHashTableIter iter;
  gpointer session;

  sessions = g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_server_session_unref);
  g_hash_table_iter_init (&iter, self->sessions);
  while (g_hash_table_iter_next (&iter, NULL, &session))
    g_ptr_array_add (sessions, _sbx_server_session_ref (session));

  for (guint i = 0; i < sessions->len; i++)
    {
      SbxServerSession *one = g_ptr_array_index (sessions, i);

      sbx_session_close_async (one->session, NULL, closed_cb, _sbx_server_session_ref (one));
    }
}

void
_sbx_server_connection_end (SbxServerConnection *self,
                            GError              *failure)
{
  g_autoptr(GError) error = failure;

  if (self->state != SBX_SERVER_RUNNING)
    return;

  self->state = SBX_SERVER_ENDING;
  self->failure = g_steal_pointer (&error);
  cancel_calls (self);
  close_sessions (self);
  _sbx_server_connection_check_end (self);
}
