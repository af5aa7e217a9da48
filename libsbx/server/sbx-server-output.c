/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "server/sbx-server-private.h"

#include <errno.h>
#include <gio/gunixinputstream.h>
#include <glib-unix.h>
#include <poll.h>
#include <unistd.h>

#define CHUNK_SIZE (64 * 1024)

/* What results that are not sent yet may hold in all. */
#define MAX_COLLECTED (256 * 1024 * 1024)

static void read_on (SbxServerOutput *self);

static void
clear_source (SbxServerOutput *self)
{
  if (self->source == NULL)
    return;

  g_source_destroy (self->source);
  g_clear_pointer (&self->source, g_source_unref);
}

static gboolean
is_client_slow (SbxServerOutput *self)
{
  return _sbx_server_connection_waiting (self->connection) >= SBX_SERVER_OUTPUT_HIGH;
}

static void
collect (SbxServerOutput *self,
         const guint8    *data,
         gsize            size)
{
  SbxServerConnection *connection = self->connection;
  const gsize have = self->collected != NULL ? self->collected->len : 0;
  guint64 room = self->limit > have ? self->limit - have : 0;

  if (connection->n_collected + size > MAX_COLLECTED)
    room = 0;

  room = MIN (room, size);
  self->truncated += size - room;
  if (room == 0)
    return;

  if (self->collected == NULL)
    self->collected = g_byte_array_new ();
  g_byte_array_append (self->collected, data, room);
  connection->n_collected += room;
}

/* Returns what was read, 0 at the end, or -1 when nothing is there. A terminal whose last user is
 * gone says that it is at its end with EIO. */
static gssize
read_chunk (SbxServerOutput *self)
{
  g_autofree guint8 *chunk = g_malloc (CHUNK_SIZE);
  g_autoptr(GBytes) bytes = NULL;
  gssize n_read;

  do
    n_read = read (self->fd, chunk, CHUNK_SIZE);
  while (n_read < 0 && errno == EINTR);

  if (n_read < 0)
    return errno == EAGAIN ? -1 : 0;
  if (n_read == 0)
    return 0;

  collect (self, chunk, n_read);
  if (n_read < CHUNK_SIZE / 2)
    chunk = g_realloc (chunk, n_read);
  bytes = g_bytes_new_take (g_steal_pointer (&chunk), n_read);
  _sbx_server_connection_push (self->connection,
                               _sbx_wire_event_output (self->call_id, self->type, bytes));

  return n_read;
}

static gboolean
readable_cb (int          fd,
             GIOCondition condition,
             gpointer     user_data)
{
  SbxServerOutput *self = user_data;
  SbxServerOutputFunc func = self->func;
  gpointer func_data = self->user_data;

  if (is_client_slow (self))
    {
      clear_source (self);
      return G_SOURCE_REMOVE;
    }

  if (read_chunk (self) != 0)
    return G_SOURCE_CONTINUE;

  _sbx_server_output_stop (self);
  func (self, func_data);

  return G_SOURCE_REMOVE;
}

static void
read_on (SbxServerOutput *self)
{
  self->source = g_unix_fd_source_new (self->fd, G_IO_IN | G_IO_HUP | G_IO_ERR);
  g_source_set_callback (self->source, G_SOURCE_FUNC (readable_cb), self, NULL);
  g_source_attach (self->source, self->connection->context);
}

gboolean
_sbx_server_output_begin (SbxServerOutput     *self,
                          SbxServerConnection *connection,
                          const char          *call_id,
                          const char          *type,
                          GInputStream        *stream,
                          guint64              limit,
                          SbxServerOutputFunc  func,
                          gpointer             user_data)
{
  if (!G_IS_UNIX_INPUT_STREAM (stream))
    return FALSE;

  self->connection = connection;
  self->call_id = call_id;
  self->type = type;
  self->stream = g_object_ref (stream);
  self->fd = g_unix_input_stream_get_fd (G_UNIX_INPUT_STREAM (stream));
  self->limit = limit;
  self->func = func;
  self->user_data = user_data;

  g_hash_table_add (connection->outputs, self);
  read_on (self);

  return TRUE;
}

void
_sbx_server_output_stop (SbxServerOutput *self)
{
  self->ended = TRUE;
  clear_source (self);
  if (self->connection != NULL)
    g_hash_table_remove (self->connection->outputs, self);
  g_clear_object (&self->stream);
}

void
_sbx_server_output_resume (SbxServerOutput *self)
{
  if (!self->ended && self->source == NULL)
    read_on (self);
}

gboolean
_sbx_server_output_is_idle (SbxServerOutput *self)
{
  struct pollfd poll_fd = { .fd = self->fd, .events = POLLIN };

  return self->ended || (self->source != NULL && poll (&poll_fd, 1, 0) == 0);
}

GBytes *
_sbx_server_output_collect (SbxServerOutput *self)
{
  if (self->collected == NULL)
    return g_bytes_new_static ("", 0);

  self->connection->n_collected -= self->collected->len;

  return g_byte_array_free_to_bytes (g_steal_pointer (&self->collected));
}

void
_sbx_server_output_clear (SbxServerOutput *self)
{
  _sbx_server_output_stop (self);

  if (self->collected != NULL)
    self->connection->n_collected -= self->collected->len;
  g_clear_pointer (&self->collected, g_byte_array_unref);
}
