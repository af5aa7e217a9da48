/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "run-streams.h"

#include "run-pump.h"
#include "run-terminal.h"

#include <errno.h>
#include <gio/gunixinputstream.h>
#include <gio/gunixoutputstream.h>
#include <glib/gi18n.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Connects our standard input, output and error with those of the command: either three pipes, or
 * one terminal. None of our own descriptors goes into the sandbox.
 */

#define END_OF_TRANSMISSION "\004"

struct _ToolStreams
{
  ToolStreamsFunc  func;
  gpointer         user_data;
  gboolean         terminal;
  gboolean         has_input;

  SbxTerminal     *pty;
  GInputStream    *stdout_pipe;
  GInputStream    *stderr_pipe;
  GOutputStream   *stdin_pipe;
  int              own_fds[3];     /* what the pumps use for ours; closed if above 2 */
  int              master_fd;      /* of the command's terminal, or -1 */

  ToolPump        *pumps[3];       /* by our descriptor; NULL where there is none */
};

static void
emit (ToolStreams      *self,
      ToolStreamsEvent  event)
{
  self->func (event, NULL, self->user_data);
}

static void
emit_failure (ToolStreams *self,
              const char  *what,
              int          error_number)
{
  g_autofree char *message = g_strdup_printf ("%s: %s", what, g_strerror (error_number));

  self->func (TOOL_STREAMS_FAILED, message, self->user_data);
}

/* Fails if standard input is something that nobody can read. */
ToolStreams *
tool_streams_new (gboolean          terminal,
                  ToolStreamsFunc   func,
                  gpointer          user_data,
                  GError          **error)
{
  ToolStreams *self;
  struct stat input, null;

  if (fstat (STDIN_FILENO, &input) == -1)
    input = (struct stat) { 0 };
  if (S_ISDIR (input.st_mode))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY,
                   _("standard input is a directory; give it a file, or </dev/null"));
      return NULL;
    }

  self = g_new0 (ToolStreams, 1);
  self->func = func;
  self->user_data = user_data;
  self->terminal = terminal;
  self->master_fd = -1;
  self->has_input = !(S_ISCHR (input.st_mode) && stat ("/dev/null", &null) == 0
                      && input.st_rdev == null.st_rdev);

  for (int fd = 0; fd <= 2; fd++)
    self->own_fds[fd] = !terminal && isatty (fd) ? tool_open_unblocked (fd) : fd;
  if (terminal)
    {
      self->own_fds[STDIN_FILENO] = tool_terminal_get_input_fd ();
      self->own_fds[STDOUT_FILENO] = tool_terminal_get_output_fd ();
    }

  return self;
}

void
tool_streams_prepare (ToolStreams *self,
                      SbxCommand  *command)
{
  guint rows, columns;

  if (self->terminal)
    {
      tool_terminal_get_size (&rows, &columns);
      sbx_command_set_terminal (command, TRUE);
      sbx_command_set_terminal_size (command, rows, columns);
    }
  else
    {
      sbx_command_set_stdin (command, self->has_input ? SBX_STDIN_PIPE : SBX_STDIN_NULL);
    }
}

gboolean
tool_streams_has_input (ToolStreams *self)
{
  return self->has_input;
}

/* The command does not read while it runs. */
void
tool_streams_set_no_input (ToolStreams *self)
{
  self->has_input = FALSE;
}

/* Where a terminal that is far away gets what it reads, or -1. */
static int
get_pty_input (ToolStreams *self)
{
  GOutputStream *input = sbx_terminal_get_output_stream (self->pty);

  return G_IS_UNIX_OUTPUT_STREAM (input)
           ? g_unix_output_stream_get_fd (G_UNIX_OUTPUT_STREAM (input)) : -1;
}

static int
get_master (ToolStreams *self)
{
  return self->master_fd != -1 ? self->master_fd : get_pty_input (self);
}

static void
end_input (ToolStreams *self)
{
  if (self->stdin_pipe != NULL)
    g_output_stream_close (self->stdin_pipe, NULL, NULL);
  else if (isatty (STDIN_FILENO))
    emit (self, TOOL_STREAMS_HUNG_UP);
  else if (write (get_master (self), END_OF_TRANSMISSION END_OF_TRANSMISSION, 2) == -1)
    /* Its queue is full, and so it will hardly wait for more. */
    return;
}

static void
input_ended_cb (ToolPump    *pump,
                ToolPumpEnd  end,
                int          error_number,
                gpointer     user_data)
{
  ToolStreams *self = user_data;

  /* A command need not read what it gets. */
  if (end == TOOL_PUMP_READ_FAILED)
    emit_failure (self, _("standard input cannot be read"), error_number);
  else if (end == TOOL_PUMP_END_OF_INPUT)
    end_input (self);
  else if (self->stdin_pipe != NULL)
    g_output_stream_close (self->stdin_pipe, NULL, NULL);
}

static void
output_ended_cb (ToolPump    *pump,
                 ToolPumpEnd  end,
                 int          error_number,
                 gpointer     user_data)
{
  ToolStreams *self = user_data;

  switch (end)
    {
    case TOOL_PUMP_READER_GONE:
      emit (self, TOOL_STREAMS_READER_GONE);
      break;

    case TOOL_PUMP_READ_FAILED:
      emit_failure (self, _("the command's output cannot be read"), error_number);
      break;

    case TOOL_PUMP_WRITE_FAILED:
      emit_failure (self, _("the command's output cannot be written"), error_number);
      break;

    case TOOL_PUMP_END_OF_INPUT:
    default:
      emit (self, TOOL_STREAMS_ENDED);
      break;
    }
}

static void
add_pump (ToolStreams *self,
          int          own_fd,
          int          other_fd)
{
  const int fd = self->own_fds[own_fd];

  if (own_fd == STDIN_FILENO)
    self->pumps[own_fd] = tool_pump_new (fd, other_fd, input_ended_cb, self);
  else
    self->pumps[own_fd] = tool_pump_new (other_fd, fd, output_ended_cb, self);
}

static void
started_cb (SbxProcess *process,
            gpointer    user_data)
{
  ToolStreams *self = user_data;
  GInputStream *output = sbx_terminal_get_input_stream (self->pty);
  int input_fd = -1;
  int output_fd = -1;

  /* The terminal itself is here, or far away, and then what it reads and writes comes in pipes. */
  self->master_fd = sbx_terminal_steal_fd (self->pty);
  if (self->master_fd != -1)
    input_fd = output_fd = self->master_fd;
  else if (G_IS_UNIX_INPUT_STREAM (output) && get_pty_input (self) != -1)
    {
      input_fd = get_pty_input (self);
      output_fd = g_unix_input_stream_get_fd (G_UNIX_INPUT_STREAM (output));
    }
  else
    {
      self->func (TOOL_STREAMS_FAILED, _("the command got no terminal; try --no-tty"),
                  self->user_data);
      return;
    }

  tool_terminal_enter ();
  add_pump (self, STDIN_FILENO, input_fd);
  add_pump (self, STDOUT_FILENO, output_fd);
  tool_pump_set_tap (self->pumps[STDOUT_FILENO], tool_terminal_see_output);
  tool_pump_start (self->pumps[STDIN_FILENO]);
  tool_pump_start (self->pumps[STDOUT_FILENO]);
}

/* Before the process is run. */
void
tool_streams_connect (ToolStreams *self,
                      SbxProcess  *process)
{
  if (self->terminal)
    {
      g_set_object (&self->pty, sbx_process_get_terminal (process));
      g_signal_connect (process, "started", G_CALLBACK (started_cb), self);
      return;
    }

  g_set_object (&self->stdout_pipe, sbx_process_get_stdout_pipe (process));
  g_set_object (&self->stderr_pipe, sbx_process_get_stderr_pipe (process));
  if (self->stdout_pipe == NULL || self->stderr_pipe == NULL)
    {
      emit_failure (self, _("the command's output cannot be read"), EMFILE);
      return;
    }

  add_pump (self, STDOUT_FILENO,
            g_unix_input_stream_get_fd (G_UNIX_INPUT_STREAM (self->stdout_pipe)));
  add_pump (self, STDERR_FILENO,
            g_unix_input_stream_get_fd (G_UNIX_INPUT_STREAM (self->stderr_pipe)));
  if (self->has_input)
    {
      g_set_object (&self->stdin_pipe, sbx_process_get_stdin_pipe (process));
      add_pump (self, STDIN_FILENO,
                g_unix_output_stream_get_fd (G_UNIX_OUTPUT_STREAM (self->stdin_pipe)));
    }

  for (int fd = 0; fd <= 2; fd++)
    if (self->pumps[fd] != NULL)
      tool_pump_start (self->pumps[fd]);
}

void
tool_streams_resize (ToolStreams *self)
{
  guint rows, columns;

  if (self->pty == NULL)
    return;

  tool_terminal_get_size (&rows, &columns);
  sbx_terminal_resize (self->pty, rows, columns, NULL);
}

/*
 * Nobody reads our input any more. What the command wrote is all in the pipes, and follows to its
 * end; the pipes of a command that was never asked for have no end.
 */
void
tool_streams_command_ended (ToolStreams *self,
                            SbxProcess  *process)
{
  if (self->pumps[STDIN_FILENO] != NULL)
    tool_pump_stop (self->pumps[STDIN_FILENO]);

  if (sbx_process_get_state (process) != SBX_PROCESS_STATE_ENDED)
    for (int fd = 1; fd <= 2; fd++)
      g_clear_pointer (&self->pumps[fd], tool_pump_free);
}

gboolean
tool_streams_have_ended (ToolStreams *self)
{
  for (int fd = 1; fd <= 2; fd++)
    if (self->pumps[fd] != NULL && !tool_pump_has_ended (self->pumps[fd]))
      return FALSE;

  return TRUE;
}

guint64
tool_streams_get_moved (ToolStreams *self,
                        int          fd)
{
  return self->pumps[fd] != NULL ? tool_pump_get_moved (self->pumps[fd]) : 0;
}

void
tool_streams_free (ToolStreams *self)
{
  for (int fd = 0; fd <= 2; fd++)
    {
      g_clear_pointer (&self->pumps[fd], tool_pump_free);
      if (!self->terminal && self->own_fds[fd] > 2)
        close (self->own_fds[fd]);
    }

  if (self->master_fd != -1)
    close (self->master_fd);
  g_clear_object (&self->pty);
  g_clear_object (&self->stdin_pipe);
  g_clear_object (&self->stdout_pipe);
  g_clear_object (&self->stderr_pipe);
  g_free (self);
}
