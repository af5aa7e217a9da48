/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-terminal-private.h"

#include "core/sbx-error.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixinputstream.h>
#include <gio/gunixoutputstream.h>
#include <glib-unix.h>
#include <glib/gi18n-lib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/**
 * SbxTerminal:
 *
 * The terminal of a command, seen from the side of whoever looks at it.
 *
 * Get it with [method@Process.get_terminal] before the process starts. From
 * [signal@Process::started] on it can be read and written, or its descriptor handed to a widget
 * such as VTE's.
 *
 * What is read from it was written by the command and is not to be trusted: a real terminal that is
 * shown it does what it says.
 *
 * Since: 1.0
 */

struct _SbxTerminal
{
  GObject                parent_instance;

  int                    fd;           /* for steal_fd(); each stream has one of its own */
  int                    resize_fd;    /* a second one, which stays */
  gboolean               with_output;
  GInputStream          *input;
  GOutputStream         *output;
  guint                  rows;
  guint                  columns;
  SbxTerminalResizeFunc  resize;
  gpointer               resize_data;
};

G_DEFINE_FINAL_TYPE (SbxTerminal, sbx_terminal, G_TYPE_OBJECT)

static void
close_fd (int *fd)
{
  if (*fd >= 0)
    close (*fd);
  *fd = -1;
}

static void
sbx_terminal_finalize (GObject *object)
{
  SbxTerminal *self = SBX_TERMINAL (object);

  g_clear_object (&self->input);
  g_clear_object (&self->output);
  close_fd (&self->fd);
  close_fd (&self->resize_fd);

  G_OBJECT_CLASS (sbx_terminal_parent_class)->finalize (object);
}

static void
sbx_terminal_class_init (SbxTerminalClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sbx_terminal_finalize;
}

static void
sbx_terminal_init (SbxTerminal *self)
{
  self->fd = -1;
  self->resize_fd = -1;
}

SbxTerminal *
_sbx_terminal_new (guint rows,
                   guint columns)
{
  SbxTerminal *self = g_object_new (SBX_TYPE_TERMINAL, NULL);

  self->rows = rows;
  self->columns = columns;

  return self;
}

/* Says the size to the kernel, which tells the command. */
static gboolean
set_size (SbxTerminal *self)
{
  const struct winsize size = {
    .ws_row = (unsigned short) self->rows,
    .ws_col = (unsigned short) self->columns,
  };

  return ioctl (self->resize_fd, TIOCSWINSZ, &size) == 0;
}

void
_sbx_terminal_take_fd (SbxTerminal *self,
                       int          fd,
                       gboolean     with_output)
{
  self->with_output = with_output;
  g_unix_set_fd_nonblocking (fd, TRUE, NULL);
  self->fd = fd;
  self->resize_fd = fcntl (fd, F_DUPFD_CLOEXEC, 3);
  set_size (self);
}

gboolean
_sbx_terminal_has_fd (SbxTerminal *self)
{
  return self->fd >= 0 || self->resize_fd >= 0;
}

void
_sbx_terminal_set_pipes (SbxTerminal           *self,
                         GInputStream          *input,
                         GOutputStream         *output,
                         SbxTerminalResizeFunc  resize,
                         gpointer               user_data)
{
  g_set_object (&self->input, input);
  g_set_object (&self->output, output);
  self->resize = resize;
  self->resize_data = user_data;
}

void
_sbx_terminal_detach (SbxTerminal *self)
{
  self->resize = NULL;
}

/**
 * sbx_terminal_get_input_stream:
 * @self: a terminal
 *
 * Gets what the command writes.
 *
 * Returns: (transfer none) (nullable): a stream that ends when the command does, or %NULL before it
 *   has started, after [method@Terminal.steal_fd], and where the terminal was not asked for before
 *   the start, so that [signal@Process::stdout] has the output
 *
 * Since: 1.0
 */
GInputStream *
sbx_terminal_get_input_stream (SbxTerminal *self)
{
  int fd;

  g_return_val_if_fail (SBX_IS_TERMINAL (self), NULL);

  if (self->input == NULL && self->fd >= 0 && self->with_output)
    {
      fd = fcntl (self->fd, F_DUPFD_CLOEXEC, 3);
      self->input = fd >= 0 ? _sbx_terminal_stream_new (fd) : NULL;
    }

  return self->input;
}

/**
 * sbx_terminal_get_output_stream:
 * @self: a terminal
 *
 * Gets a stream to what the command reads.
 *
 * Returns: (transfer none) (nullable): a stream, or %NULL before the command has started and after
 *   [method@Terminal.steal_fd]
 *
 * Since: 1.0
 */
GOutputStream *
sbx_terminal_get_output_stream (SbxTerminal *self)
{
  int fd;

  g_return_val_if_fail (SBX_IS_TERMINAL (self), NULL);

  if (self->output == NULL && self->fd >= 0)
    {
      fd = fcntl (self->fd, F_DUPFD_CLOEXEC, 3);
      self->output = fd >= 0 ? g_unix_output_stream_new (fd, TRUE) : NULL;
    }

  return self->output;
}

/**
 * sbx_terminal_steal_fd:
 * @self: a terminal
 *
 * Takes the controlling end of the pseudo-terminal, for a widget or a loop of the caller's own.
 *
 * It does not block. The caller closes it. The streams are closed, and [method@Terminal.resize]
 * still works.
 *
 * Returns: a descriptor, or -1 if the command has not started, if the provider has none to give, or
 *   where the terminal was not asked for before the start
 *
 * Since: 1.0
 */
int
sbx_terminal_steal_fd (SbxTerminal *self)
{
  g_return_val_if_fail (SBX_IS_TERMINAL (self), -1);

  if (self->fd < 0 || !self->with_output)
    return -1;

  if (self->input != NULL)
    g_input_stream_close (self->input, NULL, NULL);
  if (self->output != NULL)
    g_output_stream_close (self->output, NULL, NULL);

  g_clear_object (&self->input);
  g_clear_object (&self->output);

  return g_steal_fd (&self->fd);
}

/**
 * sbx_terminal_resize:
 * @self: a terminal
 * @rows: lines, 1 to 65535
 * @columns: characters in a line, 1 to 65535
 * @error: return location for a [struct@GLib.Error]
 *
 * Changes the size of the terminal, and tells the command.
 *
 * Before the command starts this is the size that it starts with.
 *
 * Returns: %TRUE if it was changed
 *
 * Since: 1.0
 */
gboolean
sbx_terminal_resize (SbxTerminal  *self,
                     guint         rows,
                     guint         columns,
                     GError      **error)
{
  g_return_val_if_fail (SBX_IS_TERMINAL (self), FALSE);
  g_return_val_if_fail (rows > 0 && rows <= G_MAXUINT16, FALSE);
  g_return_val_if_fail (columns > 0 && columns <= G_MAXUINT16, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  self->rows = rows;
  self->columns = columns;

  if (self->resize_fd >= 0 && set_size (self))
    return TRUE;

  /* Before the start, or when all is over. */
  if (self->resize_fd < 0 && self->resize == NULL)
    return TRUE;

  if (self->resize != NULL && self->resize (rows, columns, self->resize_data))
    return TRUE;

  g_set_error_literal (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED,
                       _("The size of this terminal cannot be changed"));

  return FALSE;
}

/**
 * sbx_terminal_get_rows:
 * @self: a terminal
 *
 * Gets how many lines the terminal was last given.
 *
 * Returns: lines
 *
 * Since: 1.0
 */
guint
sbx_terminal_get_rows (SbxTerminal *self)
{
  g_return_val_if_fail (SBX_IS_TERMINAL (self), 0);

  return self->rows;
}

/**
 * sbx_terminal_get_columns:
 * @self: a terminal
 *
 * Gets how many characters a line of the terminal was last given.
 *
 * Returns: characters
 *
 * Since: 1.0
 */
guint
sbx_terminal_get_columns (SbxTerminal *self)
{
  g_return_val_if_fail (SBX_IS_TERMINAL (self), 0);

  return self->columns;
}
