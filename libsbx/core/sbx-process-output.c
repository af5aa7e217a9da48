/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-process-output-private.h"

#include "core/sbx-source-private.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixinputstream.h>
#include <glib-unix.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_SIZE (64 * 1024)

/* How much may wait for a slow reader before the implementation should pause, and how much before
 * it is taken for one that never will. */
#define CREDIT_BYTES (1024 * 1024)
#define MAX_QUEUED_BYTES (64 * 1024 * 1024)

/* A GByteArray takes no more than 4 GiB, and doubles on the way there. */
#define MAX_COLLECTED_BYTES (1024 * 1024 * 1024)

static void
close_fd (int *fd)
{
  if (*fd >= 0)
    close (*fd);
  *fd = -1;
}

void
_sbx_output_init (SbxOutput            *self,
                  GObject              *owner,
                  GMainContext         *context,
                  guint64               limit,
                  SbxOutputFunc         deliver,
                  SbxOutputChangedFunc  changed,
                  gpointer              user_data)
{
  self->owner = owner;
  self->context = context;
  self->limit = limit;
  self->deliver = deliver;
  self->changed = changed;
  self->user_data = user_data;
  self->write_fd = -1;
  self->read_fd = -1;
  g_queue_init (&self->queue);
}

/* Opens the pipe; only our own ends never block. */
static gboolean
open_pipe (int     *read_fd,
           int     *write_fd,
           GError **error)
{
  int fds[2];

  if (pipe2 (fds, O_CLOEXEC) != 0)
    {
      const int saved = errno;

      g_set_error_literal (error, G_IO_ERROR, g_io_error_from_errno (saved), g_strerror (saved));
      errno = saved;
      return FALSE;
    }

  *read_fd = fds[0];
  *write_fd = fds[1];
  g_unix_set_fd_nonblocking (fds[0], TRUE, NULL);

  return TRUE;
}

GInputStream *
_sbx_output_get_pipe (SbxOutput *self)
{
  g_autoptr(GError) error = NULL;
  int read_fd = -1;

  if (self->pipe != NULL || self->finished)
    return self->pipe;

  if (open_pipe (&read_fd, &self->write_fd, &error))
    self->pipe = g_unix_input_stream_new (read_fd, TRUE);
  else
    g_debug ("No pipe: %s", error->message);

  return self->pipe;
}

static void
collect (SbxOutput *self,
         GBytes    *bytes)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  const gsize have = self->collected != NULL ? self->collected->len : 0;
  const guint64 limit = MIN (self->limit, MAX_COLLECTED_BYTES);
  const gsize room = limit > have ? MIN (limit - have, size) : 0;

  self->truncated += size - room;
  if (room == 0)
    return;

  if (self->collected == NULL)
    self->collected = g_byte_array_new ();
  g_byte_array_append (self->collected, data, room);
}

static void
deliver (SbxOutput *self,
         GBytes    *bytes)
{
  collect (self, bytes);
  self->deliver (self, bytes, self->user_data);
}

/* Reads and delivers once: how much that was, 0 at the end, or -1 when nothing is there yet. A
 * terminal whose last user is gone says that it is at its end with EIO. */
static gssize
read_chunk (SbxOutput *self)
{
  g_autoptr(GBytes) bytes = NULL;
  guint8 chunk[CHUNK_SIZE];
  gssize n_read;

  do
    n_read = read (self->read_fd, chunk, sizeof chunk);
  while (n_read < 0 && errno == EINTR);

  if (n_read < 0)
    return errno == EAGAIN ? -1 : 0;

  if (n_read > 0)
    {
      bytes = g_bytes_new (chunk, n_read);
      deliver (self, bytes);
    }

  return n_read;
}

static void
end_reading (SbxOutput *self)
{
  _sbx_clear_source (&self->reader);
  close_fd (&self->read_fd);
}

static gboolean
readable_cb (int          fd,
             GIOCondition condition,
             gpointer     user_data)
{
  SbxOutput *self = user_data;
  g_autoptr(GObject) keep G_GNUC_UNUSED = g_object_ref (self->owner);

  if (read_chunk (self) != 0)
    return G_SOURCE_CONTINUE;

  end_reading (self);
  self->changed (self, self->user_data);

  return G_SOURCE_REMOVE;
}

void
_sbx_output_drain (SbxOutput *self)
{
  g_autoptr(GObject) keep G_GNUC_UNUSED = g_object_ref (self->owner);
  gssize left;
  gssize n_read;

  if (self->reader == NULL)
    return;

  /* No more than can have been there when this began: somebody may go on writing. */
  left = fcntl (self->read_fd, F_GETPIPE_SZ);
  left = MAX (left, CHUNK_SIZE);

  while (left > 0 && self->reader != NULL && (n_read = read_chunk (self)) > 0)
    left -= n_read;

  if (self->reader != NULL)
    end_reading (self);
}

void
_sbx_output_take_fd (SbxOutput *self,
                     int        fd)
{
  if (self->finished || self->reader != NULL)
    {
      close (fd);
      return;
    }

  self->read_fd = fd;
  self->reader = g_unix_fd_source_new (fd, G_IO_IN | G_IO_HUP | G_IO_ERR);
  g_source_set_callback (self->reader, G_SOURCE_FUNC (readable_cb), self, NULL);
  g_source_attach (self->reader, self->context);
}

int
_sbx_output_steal_fd (SbxOutput  *self,
                      GError    **error)
{
  int read_fd = -1;
  int write_fd = -1;

  errno = EBADF;
  if (self->finished || self->reader != NULL)
    return -1;

  if (self->pipe != NULL)
    return g_steal_fd (&self->write_fd);

  if (!open_pipe (&read_fd, &write_fd, error))
    return -1;

  _sbx_output_take_fd (self, read_fd);

  return write_fd;
}

static void
end_pipe (SbxOutput *self)
{
  _sbx_clear_source (&self->writer);
  g_queue_clear_full (&self->queue, (GDestroyNotify) g_bytes_unref);
  self->queued = 0;
  self->written = 0;
  close_fd (&self->write_fd);
}

typedef enum
{
  WRITTEN,    /* nothing waits any more */
  WAITING,    /* the pipe is full */
  UNREAD,     /* nobody reads any more: what comes now goes nowhere */
} WriteState;

/* Writes what waits, as far as the pipe takes it. */
static WriteState
write_queue (int     fd,
             GQueue *queue,
             gsize  *written,
             gsize  *queued)
{
  GBytes *first;

  while ((first = g_queue_peek_head (queue)) != NULL)
    {
      gsize size;
      const guint8 *data = g_bytes_get_data (first, &size);
      const gssize n = write (fd, data + *written, size - *written);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return errno == EAGAIN ? WAITING : UNREAD;

      *written += n;
      *queued -= n;
      if (*written == size)
        {
          g_bytes_unref (g_queue_pop_head (queue));
          *written = 0;
        }
    }

  return WRITTEN;
}

/* %FALSE when nothing waits any more. */
static gboolean
flush (SbxOutput *self)
{
  const WriteState state = write_queue (self->write_fd, &self->queue, &self->written,
                                        &self->queued);

  if (state == UNREAD || (state == WRITTEN && self->finished))
    end_pipe (self);

  return state == WAITING;
}

/* What still waits for the reader of a pipe when the process itself is gone. */
typedef struct
{
  int    fd;
  GQueue queue;
  gsize  written;
  gsize  queued;
} Remainder;

static void
remainder_free (gpointer data)
{
  Remainder *rest = data;

  g_queue_clear_full (&rest->queue, (GDestroyNotify) g_bytes_unref);
  close_fd (&rest->fd);
  g_free (rest);
}

static gboolean
remainder_cb (int          fd,
              GIOCondition condition,
              gpointer     user_data)
{
  Remainder *rest = user_data;

  return write_queue (fd, &rest->queue, &rest->written, &rest->queued) == WAITING;
}

/* It goes when it is read, or when the reading end is closed. */
static void
leave_remainder (SbxOutput *self)
{
  g_autoptr(GSource) source = g_unix_fd_source_new (self->write_fd, G_IO_OUT | G_IO_ERR);
  Remainder *rest = g_new0 (Remainder, 1);

  rest->fd = g_steal_fd (&self->write_fd);
  rest->queue = self->queue;
  rest->written = self->written;
  rest->queued = self->queued;
  g_queue_init (&self->queue);

  g_source_set_callback (source, G_SOURCE_FUNC (remainder_cb), rest, remainder_free);
  g_source_attach (source, self->context);
}

static gboolean
writable_cb (int          fd,
             GIOCondition condition,
             gpointer     user_data)
{
  SbxOutput *self = user_data;
  g_autoptr(GObject) keep G_GNUC_UNUSED = g_object_ref (self->owner);

  if (flush (self))
    return G_SOURCE_CONTINUE;

  _sbx_clear_source (&self->writer);
  self->changed (self, self->user_data);

  return G_SOURCE_REMOVE;
}

gboolean
_sbx_output_push (SbxOutput *self,
                  GBytes    *bytes)
{
  if (self->finished || g_bytes_get_size (bytes) == 0)
    return TRUE;

  if (self->pipe == NULL)
    {
      deliver (self, bytes);
      return TRUE;
    }

  if (self->write_fd < 0)
    return TRUE;

  if (self->queued + g_bytes_get_size (bytes) > MAX_QUEUED_BYTES)
    return FALSE;

  g_unix_set_fd_nonblocking (self->write_fd, TRUE, NULL);
  g_queue_push_tail (&self->queue, g_bytes_ref (bytes));
  self->queued += g_bytes_get_size (bytes);

  if (self->writer == NULL && flush (self))
    {
      self->writer = g_unix_fd_source_new (self->write_fd, G_IO_OUT | G_IO_ERR);
      g_source_set_callback (self->writer, G_SOURCE_FUNC (writable_cb), self, NULL);
      g_source_attach (self->writer, self->context);
    }

  return TRUE;
}

gint64
_sbx_output_get_credit (SbxOutput *self)
{
  return (gint64) CREDIT_BYTES - (gint64) self->queued;
}

void
_sbx_output_finish (SbxOutput *self)
{
  self->finished = TRUE;

  if (self->writer == NULL)
    end_pipe (self);
}

gboolean
_sbx_output_is_drained (SbxOutput *self)
{
  return self->reader == NULL && self->writer == NULL;
}

void
_sbx_output_stop (SbxOutput *self)
{
  self->finished = TRUE;
  end_pipe (self);
  _sbx_clear_source (&self->reader);
  close_fd (&self->read_fd);
}

GBytes *
_sbx_output_collected (SbxOutput *self)
{
  if (self->collected == NULL)
    return g_bytes_new_static ("", 0);

  return g_byte_array_free_to_bytes (g_steal_pointer (&self->collected));
}

void
_sbx_output_set_collected (SbxOutput *self,
                           GBytes    *bytes)
{
  /* Who reads from a pipe has it all, and is given nothing besides. */
  if (self->pipe != NULL)
    return;

  g_clear_pointer (&self->collected, g_byte_array_unref);
  self->truncated = 0;
  collect (self, bytes);
}

void
_sbx_output_clear (SbxOutput *self)
{
  if (self->writer != NULL)
    leave_remainder (self);

  _sbx_output_stop (self);
  g_clear_object (&self->pipe);
  g_clear_pointer (&self->collected, g_byte_array_unref);
}
