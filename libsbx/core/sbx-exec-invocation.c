/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-exec-invocation.h"

#include "core/sbx-exec-result-private.h"
#include "core/sbx-invocation-private.h"
#include "core/sbx-process-private.h"

#include <errno.h>
#include <glib/gi18n-lib.h>
#include <unistd.h>

/**
 * SbxExecInvocation:
 *
 * A command that a session has to run.
 *
 * The implementation starts the command and says so with [method@ExecInvocation.started]. Output
 * goes one of two ways: the command is given descriptors to write to, with
 * [method@ExecInvocation.steal_stdout_fd], or the implementation passes on what the command writes
 * with [method@ExecInvocation.emit_stdout]. When the command has ended, with all that it had
 * started, the invocation is answered with how.
 *
 * ```python
 * def do_handle_exec(self, invocation):
 *     invocation.started(None)
 *     invocation.emit_stdout(GLib.Bytes.new(b"hello\n"))
 *     invocation.return_exited(0)
 *     return True
 * ```
 *
 * When [method@Invocation.get_cancellable] is cancelled the command must be ended; answer then with
 * how it ended. That is also how a time-out arrives, so that an implementation need not look at
 * the command's own. End it with `SIGKILL`: a command that exits when it is merely asked to has
 * ended by itself, and its caller is told so.
 *
 * See [class@Invocation] for what all invocations have in common.
 *
 * Since: 1.0
 */

struct _SbxExecInvocation
{
  SbxInvocation  parent_instance;

  SbxCommand    *command;
  SbxProcess    *process;     /* until the call is over: who keeps this keeps no more than this */
  GInputStream  *no_input;
};

G_DEFINE_FINAL_TYPE (SbxExecInvocation, sbx_exec_invocation, SBX_TYPE_INVOCATION)

enum
{
  KILL,
  RESIZE,
  CREDIT,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

static void
sbx_exec_invocation_dispose (GObject *object)
{
  /* The call is dropped by that, and has what it needs. */
  G_OBJECT_CLASS (sbx_exec_invocation_parent_class)->dispose (object);

  g_clear_object (&SBX_EXEC_INVOCATION (object)->process);
}

static void
sbx_exec_invocation_finalize (GObject *object)
{
  SbxExecInvocation *self = SBX_EXEC_INVOCATION (object);

  g_clear_object (&self->command);
  g_clear_object (&self->no_input);

  G_OBJECT_CLASS (sbx_exec_invocation_parent_class)->finalize (object);
}

static void
sbx_exec_invocation_class_init (SbxExecInvocationClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = sbx_exec_invocation_dispose;
  G_OBJECT_CLASS (klass)->finalize = sbx_exec_invocation_finalize;

  /**
   * SbxExecInvocation::kill:
   * @self: the invocation
   * @signal_number: the signal to send
   *
   * Emitted when a signal is to be sent to the command's process group.
   *
   * An implementation that does not connect to this can only end a command.
   *
   * Returns: %TRUE if the signal was sent
   *
   * Since: 1.0
   */
  signals[KILL] =
    g_signal_new ("kill", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST,
                  0, g_signal_accumulator_true_handled, NULL, NULL,
                  G_TYPE_BOOLEAN, 1, G_TYPE_INT);

  /**
   * SbxExecInvocation::resize:
   * @self: the invocation
   * @rows: lines
   * @columns: characters in a line
   *
   * Emitted when the terminal of the command is to have another size, if the implementation gave no
   * descriptor for it.
   *
   * Returns: %TRUE if the size was changed
   *
   * Since: 1.0
   */
  signals[RESIZE] =
    g_signal_new ("resize", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST,
                  0, g_signal_accumulator_true_handled, NULL, NULL,
                  G_TYPE_BOOLEAN, 2, G_TYPE_UINT, G_TYPE_UINT);

  /**
   * SbxExecInvocation::credit:
   * @self: the invocation
   *
   * Emitted when output that waited for a slow reader is through.
   *
   * Since: 1.0
   */
  signals[CREDIT] =
    g_signal_new ("credit", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST,
                  0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
sbx_exec_invocation_init (SbxExecInvocation *self)
{
}

SbxExecInvocation *
_sbx_exec_invocation_new (SbxProcess *process)
{
  SbxExecInvocation *self = g_object_new (SBX_TYPE_EXEC_INVOCATION, NULL);

  self->process = g_object_ref (process);
  self->command = g_object_ref (sbx_process_get_command (process));

  return self;
}

void
_sbx_exec_invocation_set_collected (SbxExecInvocation *self,
                                    SbxStream          stream,
                                    GBytes            *bytes)
{
  if (!sbx_invocation_is_answered (SBX_INVOCATION (self)))
    _sbx_output_set_collected (_sbx_process_get_output (self->process, stream), bytes);
}

void
_sbx_exec_invocation_set_denials (SbxExecInvocation *self,
                                  GListModel        *denials,
                                  guint64            truncated)
{
  if (sbx_invocation_is_answered (SBX_INVOCATION (self)))
    return;

  g_set_object (&self->process->denials, denials);
  self->process->denials_truncated = truncated;
}

void
_sbx_exec_invocation_release (SbxExecInvocation *self)
{
  g_clear_object (&self->process);
}

gboolean
_sbx_exec_invocation_is_background (SbxExecInvocation *self)
{
  return self->process != NULL && self->process->start_task != NULL;
}

gboolean
_sbx_exec_invocation_kill (SbxExecInvocation *self,
                           int                signal_number)
{
  gboolean sent = FALSE;

  g_signal_emit (self, signals[KILL], 0, signal_number, &sent);

  return sent;
}

gboolean
_sbx_exec_invocation_resize (SbxExecInvocation *self,
                             guint              rows,
                             guint              columns)
{
  gboolean resized = FALSE;

  g_signal_emit (self, signals[RESIZE], 0, rows, columns, &resized);

  return resized;
}

void
_sbx_exec_invocation_credit (SbxExecInvocation *self)
{
  g_signal_emit (self, signals[CREDIT], 0);
}

/**
 * sbx_exec_invocation_get_command:
 * @self: an invocation
 *
 * Gets what is to be run.
 *
 * Returns: (transfer none): the command; do not change it
 *
 * Since: 1.0
 */
SbxCommand *
sbx_exec_invocation_get_command (SbxExecInvocation *self)
{
  g_return_val_if_fail (SBX_IS_EXEC_INVOCATION (self), NULL);

  return self->command;
}

/**
 * sbx_exec_invocation_started:
 * @self: an invocation
 * @process_id: (nullable): what to call the process, or %NULL
 *
 * Says that the command runs.
 *
 * Output that comes before is held back until then. A command that is answered without it is taken
 * to have been started.
 *
 * Since: 1.0
 */
void
sbx_exec_invocation_started (SbxExecInvocation *self,
                             const char        *process_id)
{
  g_return_if_fail (SBX_IS_EXEC_INVOCATION (self));

  if (!sbx_invocation_is_answered (SBX_INVOCATION (self)))
    _sbx_process_started (self->process, process_id);
}

static void
emit_output (SbxExecInvocation *self,
             SbxStream          stream,
             GBytes            *bytes)
{
  g_autoptr(SbxExecInvocation) keep G_GNUC_UNUSED = g_object_ref (self);
  g_autoptr(SbxProcess) process = NULL;
  g_autoptr(GError) error = NULL;

  if (sbx_invocation_is_answered (SBX_INVOCATION (self)))
    return;

  process = g_object_ref (self->process);
  if (_sbx_output_push (_sbx_process_get_output (process, stream), bytes))
    return;

  error = g_error_new_literal (SBX_ERROR, SBX_ERROR_TOO_LARGE,
                               _("The command wrote more than was read, and the provider did not "
                                 "wait; read faster, or collect the output"));
  _sbx_invocation_expire (SBX_INVOCATION (self), error);
}

/**
 * sbx_exec_invocation_emit_stdout:
 * @self: an invocation
 * @bytes: what the command wrote
 *
 * Passes on what the command wrote to its standard output, or to its terminal.
 *
 * Look at [method@ExecInvocation.get_credit] where a command may write much.
 *
 * Since: 1.0
 */
void
sbx_exec_invocation_emit_stdout (SbxExecInvocation *self,
                                 GBytes            *bytes)
{
  g_return_if_fail (SBX_IS_EXEC_INVOCATION (self));
  g_return_if_fail (bytes != NULL);

  emit_output (self, SBX_STREAM_STDOUT, bytes);
}

/**
 * sbx_exec_invocation_emit_stderr:
 * @self: an invocation
 * @bytes: what the command wrote
 *
 * Passes on what the command wrote to its standard error.
 *
 * Since: 1.0
 */
void
sbx_exec_invocation_emit_stderr (SbxExecInvocation *self,
                                 GBytes            *bytes)
{
  g_return_if_fail (SBX_IS_EXEC_INVOCATION (self));
  g_return_if_fail (bytes != NULL);

  emit_output (self, SBX_STREAM_STDERR, bytes);
}

/**
 * sbx_exec_invocation_get_credit:
 * @self: an invocation
 *
 * Tells how much more output may be passed on before the implementation should pause.
 *
 * Nothing is lost when it is overdrawn by a little. When it is at 0 or below, wait for
 * [signal@ExecInvocation::credit]. An implementation that never waits has its call ended once
 * 64 MiB wait for a reader.
 *
 * Returns: bytes; negative when overdrawn, 0 when the call is over
 *
 * Since: 1.0
 */
gint64
sbx_exec_invocation_get_credit (SbxExecInvocation *self)
{
  g_return_val_if_fail (SBX_IS_EXEC_INVOCATION (self), 0);

  if (self->process == NULL)
    return 0;

  return MIN (_sbx_output_get_credit (_sbx_process_get_output (self->process, SBX_STREAM_STDOUT)),
              _sbx_output_get_credit (_sbx_process_get_output (self->process, SBX_STREAM_STDERR)));
}

/**
 * sbx_exec_invocation_get_stdin:
 * @self: an invocation
 *
 * Gets what the command is to read.
 *
 * Returns: (transfer none): a stream, which is at its end at once where there is no input
 *
 * Since: 1.0
 */
GInputStream *
sbx_exec_invocation_get_stdin (SbxExecInvocation *self)
{
  g_return_val_if_fail (SBX_IS_EXEC_INVOCATION (self), NULL);

  if (self->process != NULL)
    return _sbx_input_get_reader (_sbx_process_get_input (self->process));

  if (self->no_input == NULL)
    self->no_input = g_memory_input_stream_new ();

  return self->no_input;
}

/**
 * sbx_exec_invocation_steal_stdin_fd:
 * @self: an invocation
 *
 * Takes the descriptor that the command is to read from.
 *
 * It is one end of a pipe that was made for this command. The caller closes it.
 *
 * Returns: a descriptor, or -1 if the command has no input, or if it was taken already
 *
 * Since: 1.0
 */
int
sbx_exec_invocation_steal_stdin_fd (SbxExecInvocation *self)
{
  g_return_val_if_fail (SBX_IS_EXEC_INVOCATION (self), -1);

  if (self->process == NULL)
    return -1;

  return _sbx_input_steal_fd (_sbx_process_get_input (self->process));
}

static int
steal_output (SbxExecInvocation *self,
              SbxStream          stream)
{
  g_autoptr(GError) error = NULL;
  int fd;

  if (self->process == NULL)
    {
      errno = EBADF;
      return -1;
    }

  fd = _sbx_output_steal_fd (_sbx_process_get_output (self->process, stream), &error);
  if (error != NULL)
    {
      const int saved = errno;

      g_debug ("No pipe for a command: %s", error->message);
      errno = saved;
    }

  return fd;
}

/**
 * sbx_exec_invocation_steal_stdout_fd:
 * @self: an invocation
 *
 * Takes a descriptor for the command to write its standard output to.
 *
 * It is one end of a pipe that was made for this command; the other end is read here. The caller
 * closes it when the command has it.
 *
 * Returns: a descriptor, or -1 with `errno` set if no pipe could be made, or if it was taken
 *   already
 *
 * Since: 1.0
 */
int
sbx_exec_invocation_steal_stdout_fd (SbxExecInvocation *self)
{
  g_return_val_if_fail (SBX_IS_EXEC_INVOCATION (self), -1);

  return steal_output (self, SBX_STREAM_STDOUT);
}

/**
 * sbx_exec_invocation_steal_stderr_fd:
 * @self: an invocation
 *
 * Takes a descriptor for the command to write its standard error to.
 *
 * All else is as with [method@ExecInvocation.steal_stdout_fd].
 *
 * Returns: a descriptor, or -1 with `errno` set if no pipe could be made, or if it was taken
 *   already
 *
 * Since: 1.0
 */
int
sbx_exec_invocation_steal_stderr_fd (SbxExecInvocation *self)
{
  g_return_val_if_fail (SBX_IS_EXEC_INVOCATION (self), -1);

  return steal_output (self, SBX_STREAM_STDERR);
}

/**
 * sbx_exec_invocation_take_terminal_fd:
 * @self: an invocation
 * @fd: the controlling end of a pseudo-terminal; it is closed here
 *
 * Gives the terminal of a command that is to have one.
 *
 * Call it before [method@ExecInvocation.started].
 *
 * Since: 1.0
 */
void
sbx_exec_invocation_take_terminal_fd (SbxExecInvocation *self,
                                      int                fd)
{
  g_return_if_fail (SBX_IS_EXEC_INVOCATION (self));
  g_return_if_fail (fd >= 0);

  if (sbx_invocation_is_answered (SBX_INVOCATION (self)))
    close (fd);
  else
    _sbx_process_take_terminal_fd (self->process, fd);
}

static void
return_result (SbxExecInvocation *self,
               SbxExecResult     *taken)
{
  _sbx_invocation_return (SBX_INVOCATION (self), taken, g_object_unref);
}

/**
 * sbx_exec_invocation_return_exited:
 * @self: an invocation
 * @exit_code: 0 to 255
 *
 * Answers that the command ended by itself.
 *
 * Since: 1.0
 */
void
sbx_exec_invocation_return_exited (SbxExecInvocation *self,
                                   int                exit_code)
{
  g_return_if_fail (SBX_IS_EXEC_INVOCATION (self));
  g_return_if_fail (exit_code >= 0 && exit_code <= 255);

  return_result (self, _sbx_exec_result_new_exited (exit_code));
}

/**
 * sbx_exec_invocation_return_signalled:
 * @self: an invocation
 * @signal_number: the signal
 * @core_dumped: whether the memory of the command was dumped
 *
 * Answers that a signal ended the command.
 *
 * Since: 1.0
 */
void
sbx_exec_invocation_return_signalled (SbxExecInvocation *self,
                                      int                signal_number,
                                      gboolean           core_dumped)
{
  g_return_if_fail (SBX_IS_EXEC_INVOCATION (self));
  g_return_if_fail (signal_number > 0);

  return_result (self, _sbx_exec_result_new_signalled (signal_number, core_dumped));
}

/**
 * sbx_exec_invocation_return_not_started:
 * @self: an invocation
 * @reason: why
 * @error_number: the `errno` of the call that failed, or 0
 * @message: what a person can read about it
 *
 * Answers that the command could not be started, and that nothing of it ever ran.
 *
 * Since: 1.0
 */
void
sbx_exec_invocation_return_not_started (SbxExecInvocation *self,
                                        SbxNotStarted      reason,
                                        int                error_number,
                                        const char        *message)
{
  g_return_if_fail (SBX_IS_EXEC_INVOCATION (self));
  g_return_if_fail (message != NULL);

  return_result (self, _sbx_exec_result_new_not_started (reason, error_number, message));
}

/**
 * sbx_exec_invocation_return_lost:
 * @self: an invocation
 * @message: what a person can read about it
 *
 * Answers that the command is gone and that nobody can say how it ended.
 *
 * Since: 1.0
 */
void
sbx_exec_invocation_return_lost (SbxExecInvocation *self,
                                 const char        *message)
{
  g_return_if_fail (SBX_IS_EXEC_INVOCATION (self));
  g_return_if_fail (message != NULL);

  return_result (self, _sbx_exec_result_new_lost (message));
}
