/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "server/sbx-server-private.h"

#include "core/sbx-error.h"
#include "core/sbx-text-private.h"

#include <glib/gi18n-lib.h>

/*
 * One request, from the line that it came in to its reply.
 */

/* What requests with content may hold in memory while they are worked on, in lines of the greatest
 * size. */
#define MAX_PAYLOAD_LINES 2

/* From what size on a line counts as one with content. */
#define PAYLOAD_SIZE (64 * 1024)

static void _sbx_server_capabilities (SbxServerCall *call);
static void _sbx_server_cancel       (SbxServerCall *call);
static void _sbx_server_shutdown     (SbxServerCall *call);

typedef struct
{
  SbxServerCallFunc begin;
  gboolean          with_session;
  gboolean          always;         /* also where too much is going on already */
} Method;

static const Method methods[] = {
  [SBX_WIRE_METHOD_CAPABILITIES] = { _sbx_server_capabilities },
  [SBX_WIRE_METHOD_OPEN] = { _sbx_server_open },
  [SBX_WIRE_METHOD_CLOSE] = { _sbx_server_close },
  [SBX_WIRE_METHOD_CLEANUP_GROUP] = { _sbx_server_cleanup_group },
  [SBX_WIRE_METHOD_CREATE_TEMP_DIR] = { _sbx_server_create_temp_dir, TRUE },
  [SBX_WIRE_METHOD_CREATE_DIR_ALL] = { _sbx_server_create_dir_all, TRUE },
  [SBX_WIRE_METHOD_WRITE_FILE] = { _sbx_server_write_file, TRUE },
  [SBX_WIRE_METHOD_READ_FILE] = { _sbx_server_read_file, TRUE },
  [SBX_WIRE_METHOD_REMOVE] = { _sbx_server_remove, TRUE },
  [SBX_WIRE_METHOD_EXEC] = { _sbx_server_exec, TRUE },
  [SBX_WIRE_METHOD_SPAWN] = { _sbx_server_spawn, TRUE },
  [SBX_WIRE_METHOD_SHUTDOWN] = { _sbx_server_shutdown, FALSE, TRUE },
  [SBX_WIRE_METHOD_CANCEL] = { _sbx_server_cancel, FALSE, TRUE },
  [SBX_WIRE_METHOD_WAIT] = { _sbx_server_wait, TRUE },
  [SBX_WIRE_METHOD_KILL] = { _sbx_server_kill, TRUE, TRUE },
  [SBX_WIRE_METHOD_LIST_PROCESSES] = { _sbx_server_list_processes, TRUE },
  [SBX_WIRE_METHOD_WRITE_STDIN] = { _sbx_server_write_stdin, TRUE },
  [SBX_WIRE_METHOD_CLOSE_STDIN] = { _sbx_server_close_stdin, TRUE },
  [SBX_WIRE_METHOD_RESIZE_PTY] = { _sbx_server_resize_pty, TRUE },
  [SBX_WIRE_METHOD_LIST_DIR] = { _sbx_server_list_dir, TRUE },
  [SBX_WIRE_METHOD_STAT] = { _sbx_server_stat, TRUE },
  [SBX_WIRE_METHOD_RENAME] = { _sbx_server_rename, TRUE },
  [SBX_WIRE_METHOD_COPY] = { _sbx_server_copy, TRUE },
};

static SbxServerCall *
call_new (SbxServerConnection *connection)
{
  SbxServerCall *self = g_rc_box_new0 (SbxServerCall);

  self->connection = _sbx_server_connection_ref (connection);
  self->cancellable = g_cancellable_new ();

  return self;
}

SbxServerCall *
_sbx_server_call_ref (SbxServerCall *self)
{
  return g_rc_box_acquire (self);
}

static void
call_clear (gpointer data)
{
  SbxServerCall *self = data;

  _sbx_wire_call_clear (&self->wire);
  g_clear_object (&self->cancellable);
  g_clear_pointer (&self->bytes, g_bytes_unref);
  g_clear_pointer (&self->path, g_free);
  g_clear_pointer (&self->group, g_free);
  g_clear_pointer (&self->session, _sbx_server_session_unref);
  g_clear_pointer (&self->connection, _sbx_server_connection_unref);
}

void
_sbx_server_call_unref (SbxServerCall *self)
{
  g_rc_box_release_full (self, call_clear);
}

/* A reply to what was never begun. */
static void
refuse (SbxServerCall *self,
        const char    *code,
        const char    *message)
{
  _sbx_server_connection_push (self->connection,
                               _sbx_wire_answer_code (self->wire.id, code, message));
}

void
_sbx_server_call_answer (SbxServerCall  *self,
                         SbxWireMessage *message)
{
  g_autoptr(SbxServerCall) keep G_GNUC_UNUSED = _sbx_server_call_ref (self);
  SbxServerConnection *connection = self->connection;

  if (self->answered)
    {
      _sbx_wire_message_free (message);
      return;
    }

  self->answered = TRUE;
  connection->n_pending--;
  connection->n_payload -= self->payload;
  if (!self->followed)
    g_hash_table_remove (connection->calls, self->wire.id);

  _sbx_server_connection_push (connection, message);
  _sbx_server_connection_count (connection);
  _sbx_server_connection_regulate (connection);
  _sbx_server_connection_check_end (connection);
}

void
_sbx_server_call_done (SbxServerCall *self)
{
  _sbx_server_call_answer (self, _sbx_wire_answer_done (self->wire.id));
}

void
_sbx_server_call_fail (SbxServerCall *self,
                       const GError  *error)
{
  self->followed = FALSE;

  /* At the end of a run a call is cancelled and its session closed: whichever was first. */
  if (g_cancellable_is_cancelled (self->cancellable) &&
      (g_error_matches (error, SBX_ERROR, SBX_ERROR_CLOSED) ||
       g_error_matches (error, SBX_ERROR, SBX_ERROR_LOST)))
    _sbx_server_call_fail_code (self, "cancelled", _("The request was cancelled"));
  else
    _sbx_server_call_answer (self, _sbx_wire_answer_error (self->wire.id, error));
}

void
_sbx_server_call_fail_code (SbxServerCall *self,
                            const char    *code,
                            const char    *message)
{
  self->followed = FALSE;
  _sbx_server_call_answer (self, _sbx_wire_answer_code (self->wire.id, code, message));
}

void
_sbx_server_call_cancel (SbxServerCall *self)
{
  g_autoptr(SbxServerCall) keep G_GNUC_UNUSED = _sbx_server_call_ref (self);
  SbxServerCallFunc withdraw = g_steal_pointer (&self->withdraw);

  if (self->answered)
    return;

  g_cancellable_cancel (self->cancellable);
  if (withdraw != NULL)
    {
      withdraw (self);
      _sbx_server_call_fail_code (self, "cancelled", _("The request was cancelled"));
    }
}

void
_sbx_server_call_unfollow (SbxServerCall *self)
{
  if (!self->followed)
    return;

  self->followed = FALSE;
  g_hash_table_remove (self->connection->calls, self->wire.id);
}

static void
_sbx_server_capabilities (SbxServerCall *call)
{
  const SbxCapabilities able = sbx_provider_get_capabilities (call->connection->provider);

  _sbx_server_call_answer (call,
                           _sbx_wire_answer_capabilities (call->wire.id,
                                                          (able & SBX_CAPABILITIES_EXEC) != 0,
                                                          _sbx_server_features (able)));
}

static void
_sbx_server_cancel (SbxServerCall *call)
{
  g_autoptr(GError) error = NULL;
  const char *id = _sbx_wire_call_get_request_id (&call->wire, &error);
  SbxServerCall *other;

  if (id == NULL)
    {
      _sbx_server_call_fail (call, error);
      return;
    }

  /* One that is over is no error, nor is one that never was: who cancels cannot know. */
  other = g_hash_table_lookup (call->connection->calls, id);
  if (other != NULL && other != call)
    _sbx_server_call_cancel (other);

  _sbx_server_call_done (call);
}

/* The first one is answered when all has ended; for another it is over already. */
static void
_sbx_server_shutdown (SbxServerCall *call)
{
  call->connection->shutdown = _sbx_server_call_ref (call);
  _sbx_server_connection_end (call->connection, NULL);
}

gboolean
_sbx_server_call_find_session (SbxServerCall *self)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *quoted = NULL;
  g_autofree char *message = NULL;
  const char *id = _sbx_wire_call_get_session_id (&self->wire, &error);
  SbxServerSession *session;

  if (id == NULL)
    {
      _sbx_server_call_fail (self, error);
      return FALSE;
    }

  session = g_hash_table_lookup (self->connection->sessions, id);
  if (session != NULL)
    {
      self->session = _sbx_server_session_ref (session);
      return TRUE;
    }

  quoted = _sbx_text_quote (id);
  message = g_strdup_printf (_("There is no session %s here; open one"), quoted);
  _sbx_server_call_fail_code (self, "unknown_session", message);

  return FALSE;
}

static gboolean
is_too_much (SbxServerCall *self,
             const Method  *method)
{
  SbxServerConnection *connection = self->connection;

  if (method->always)
    return FALSE;

  return connection->n_pending >= connection->limits.max_pending ||
         (self->payload > 0 && connection->n_payload + self->payload >
                           MAX_PAYLOAD_LINES * connection->limits.max_message_size);
}

/* %FALSE when the request was refused, and the reply says why. */
static gboolean
may_begin (SbxServerCall *self,
           const Method  *method)
{
  g_autofree char *quoted = NULL;
  g_autofree char *message = NULL;

  if (self->connection->state != SBX_SERVER_RUNNING)
    refuse (self, "closed", _("The provider is shutting down and takes no more requests"));
  else if (g_hash_table_contains (self->connection->calls, self->wire.id))
    refuse (self, "invalid_request",
            _("A request with this id is being worked on; choose another id"));
  else if (method->begin == NULL)
    {
      quoted = _sbx_text_quote (self->wire.method_name);
      message = g_strdup_printf (_("This provider has no method %s"), quoted);
      refuse (self, "unsupported_method", message);
    }
  else if (is_too_much (self, method))
    refuse (self, "too_many_requests", _("Too many requests are being worked on; wait for some"));
  else
    return TRUE;

  return FALSE;
}

void
_sbx_server_call_begin (SbxServerConnection *connection,
                        SbxWireLine         *line)
{
  g_autoptr(SbxServerCall) self = call_new (connection);
  g_autoptr(GError) error = NULL;
  const gsize size = _sbx_wire_line_get_size (line);
  const Method *method;

  if (!_sbx_wire_call_parse (&self->wire, line, &error))
    {
      refuse (self, "invalid_request", error->message);
      return;
    }

  self->payload = size >= PAYLOAD_SIZE ? size : 0;
  method = &methods[self->wire.method];
  if (!may_begin (self, method))
    return;

  g_hash_table_insert (connection->calls, self->wire.id, _sbx_server_call_ref (self));
  connection->n_pending++;
  connection->n_payload += self->payload;
  _sbx_server_connection_count (connection);

  if (!method->with_session || _sbx_server_call_find_session (self))
    method->begin (self);

  /* A line can be a tree of a million values, and the reply may be long in coming. */
  _sbx_wire_call_forget (&self->wire);
}
