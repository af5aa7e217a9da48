/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-process-input-private.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixinputstream.h>
#include <gio/gunixoutputstream.h>
#include <glib-unix.h>
#include <unistd.h>

static void
close_fd (int *fd)
{
  if (*fd >= 0)
    close (*fd);
  *fd = -1;
}

gboolean
_sbx_input_init (SbxInput      *self,
                 GMainContext  *context,
                 SbxStdin       source,
                 GBytes        *bytes,
                 GError       **error)
{
  int fds[2];

  self->context = context;
  self->read_fd = -1;
  self->write_fd = -1;

  if (source == SBX_STDIN_NULL || (source == SBX_STDIN_BYTES && bytes == NULL))
    return TRUE;

  if (!g_unix_open_pipe (fds, FD_CLOEXEC, error))
    return FALSE;

  self->read_fd = fds[0];
  self->write_fd = fds[1];
  if (!g_unix_set_fd_nonblocking (self->write_fd, TRUE, error))
    return FALSE;

  if (source == SBX_STDIN_PIPE)
    self->pipe = g_unix_output_stream_new (g_steal_fd (&self->write_fd), TRUE);
  else
    self->bytes = g_bytes_ref (bytes);

  return TRUE;
}

static void
stop_writing (SbxInput *self)
{
  if (self->writer != NULL)
    g_source_destroy (self->writer);

  g_clear_pointer (&self->writer, g_source_unref);
  g_clear_pointer (&self->bytes, g_bytes_unref);
  close_fd (&self->write_fd);
}

void
_sbx_input_clear (SbxInput *self)
{
  stop_writing (self);
  close_fd (&self->read_fd);
  g_clear_object (&self->pipe);
  g_clear_object (&self->reader);
}

/* %FALSE when all is written, or nobody reads any more. */
static gboolean
flush (SbxInput *self)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (self->bytes, &size);

  while (self->written < size)
    {
      const gssize n = write (self->write_fd, data + self->written, size - self->written);

      if (n < 0 && errno == EAGAIN)
        return TRUE;
      if (n < 0 && errno != EINTR)
        return FALSE;
      if (n > 0)
        self->written += n;
    }

  return FALSE;
}

static gboolean
writable_cb (int          fd,
             GIOCondition condition,
             gpointer     user_data)
{
  SbxInput *self = user_data;

  if (flush (self))
    return G_SOURCE_CONTINUE;

  stop_writing (self);

  return G_SOURCE_REMOVE;
}

void
_sbx_input_start (SbxInput *self)
{
  if (self->bytes == NULL)
    return;

  if (!flush (self))
    {
      stop_writing (self);
      return;
    }

  self->writer = g_unix_fd_source_new (self->write_fd, G_IO_OUT | G_IO_ERR);
  g_source_set_callback (self->writer, G_SOURCE_FUNC (writable_cb), self, NULL);
  g_source_attach (self->writer, self->context);
}

int
_sbx_input_steal_fd (SbxInput *self)
{
  return g_steal_fd (&self->read_fd);
}

GInputStream *
_sbx_input_get_reader (SbxInput *self)
{
  if (self->reader == NULL && self->read_fd >= 0)
    {
      g_unix_set_fd_nonblocking (self->read_fd, TRUE, NULL);
      self->reader = g_unix_input_stream_new (g_steal_fd (&self->read_fd), TRUE);
    }

  if (self->reader == NULL)
    self->reader = g_memory_input_stream_new ();

  return self->reader;
}

void
_sbx_input_finish (SbxInput *self)
{
  stop_writing (self);
  close_fd (&self->read_fd);

  /* Where the implementation reads at this moment, this fails and it closes with its last user. */
  if (self->reader != NULL)
    g_input_stream_close (self->reader, NULL, NULL);
}
