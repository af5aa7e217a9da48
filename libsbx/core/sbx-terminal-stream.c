/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-terminal-private.h"

#include <gio/gunixinputstream.h>
#include <poll.h>

/*
 * The controlling end of a pseudo-terminal says with an error that the last one on the other side
 * has gone. For who reads it that is the end of the stream.
 */

#define SBX_TYPE_TERMINAL_STREAM (_sbx_terminal_stream_get_type ())

G_DECLARE_FINAL_TYPE (SbxTerminalStream, _sbx_terminal_stream, SBX, TERMINAL_STREAM,
                      GUnixInputStream)

struct _SbxTerminalStream
{
  GUnixInputStream parent_instance;
};

G_DEFINE_FINAL_TYPE (SbxTerminalStream, _sbx_terminal_stream, G_TYPE_UNIX_INPUT_STREAM)

static gboolean
is_hung_up (GInputStream *stream)
{
  struct pollfd poll_fd = {
    .fd = g_unix_input_stream_get_fd (G_UNIX_INPUT_STREAM (stream)),
  };

  return poll (&poll_fd, 1, 0) > 0 && (poll_fd.revents & POLLHUP) != 0;
}

static gssize
_sbx_terminal_stream_read (GInputStream  *stream,
                           void          *buffer,
                           gsize          count,
                           GCancellable  *cancellable,
                           GError       **error)
{
  g_autoptr(GError) failure = NULL;
  gssize n_read;

  n_read = G_INPUT_STREAM_CLASS (_sbx_terminal_stream_parent_class)->read_fn (stream, buffer, count,
                                                                            cancellable, &failure);
  if (n_read >= 0)
    return n_read;

  if (g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_FAILED) && is_hung_up (stream))
    return 0;

  g_propagate_error (error, g_steal_pointer (&failure));

  return -1;
}

static void
_sbx_terminal_stream_class_init (SbxTerminalStreamClass *klass)
{
  G_INPUT_STREAM_CLASS (klass)->read_fn = _sbx_terminal_stream_read;
}

static void
_sbx_terminal_stream_init (SbxTerminalStream *self)
{
}

GInputStream *
_sbx_terminal_stream_new (int fd)
{
  return g_object_new (SBX_TYPE_TERMINAL_STREAM, "fd", fd, "close-fd", TRUE, NULL);
}
