/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-denial.h"
#include "core/sbx-exec-result-private.h"

#include <glib/gi18n-lib.h>

/**
 * SbxExecResult:
 *
 * How an execution ended, and what it wrote.
 *
 * A command that a signal ended is told from one that exited with a large number, and one that
 * never ran from one that ran and failed. A program that wants a single number, as a shell does,
 * makes it from these.
 *
 * Results do not change.
 *
 * Since: 1.0
 */

struct _SbxExecResult
{
  GObject         parent_instance;

  SbxExecOutcome  outcome;
  int             exit_code;
  int             signal_number;
  gboolean        core_dumped;
  SbxNotStarted   not_started;
  int             error_number;
  char           *message;
  GBytes         *stdout_bytes;
  GBytes         *stderr_bytes;
  guint64         stdout_truncated;
  guint64         stderr_truncated;
  GListModel     *denials;
  guint64         denials_truncated;
};

G_DEFINE_FINAL_TYPE (SbxExecResult, sbx_exec_result, G_TYPE_OBJECT)

static void
sbx_exec_result_finalize (GObject *object)
{
  SbxExecResult *self = SBX_EXEC_RESULT (object);

  g_clear_pointer (&self->message, g_free);
  g_clear_pointer (&self->stdout_bytes, g_bytes_unref);
  g_clear_pointer (&self->stderr_bytes, g_bytes_unref);
  g_clear_object (&self->denials);

  G_OBJECT_CLASS (sbx_exec_result_parent_class)->finalize (object);
}

static void
sbx_exec_result_class_init (SbxExecResultClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sbx_exec_result_finalize;
}

static void
sbx_exec_result_init (SbxExecResult *self)
{
  self->exit_code = -1;
  self->stdout_bytes = g_bytes_new_static ("", 0);
  self->stderr_bytes = g_bytes_new_static ("", 0);
  self->denials = G_LIST_MODEL (g_list_store_new (SBX_TYPE_DENIAL));
}

static SbxExecResult *
result_new (SbxExecOutcome  outcome,
            const char     *message)
{
  SbxExecResult *self = g_object_new (SBX_TYPE_EXEC_RESULT, NULL);

  self->outcome = outcome;
  self->message = g_strdup (message);

  return self;
}

SbxExecResult *
_sbx_exec_result_new_exited (int exit_code)
{
  SbxExecResult *self = result_new (SBX_EXEC_OUTCOME_EXITED, NULL);

  self->exit_code = exit_code;

  return self;
}

SbxExecResult *
_sbx_exec_result_new_signalled (int      signal_number,
                                gboolean core_dumped)
{
  g_autofree char *message = g_strdup_printf (_("The command was ended by signal %d (%s)"),
                                              signal_number, g_strsignal (signal_number));
  SbxExecResult *self = result_new (SBX_EXEC_OUTCOME_SIGNALLED, message);

  self->signal_number = signal_number;
  self->core_dumped = core_dumped;

  return self;
}

SbxExecResult *
_sbx_exec_result_new_timed_out (void)
{
  return result_new (SBX_EXEC_OUTCOME_TIMED_OUT,
                     _("The command took longer than it may, and was ended"));
}

SbxExecResult *
_sbx_exec_result_new_not_started (SbxNotStarted  reason,
                                  int            error_number,
                                  const char    *message)
{
  SbxExecResult *self = result_new (SBX_EXEC_OUTCOME_NOT_STARTED, message);

  self->not_started = reason;
  self->error_number = error_number;

  return self;
}

SbxExecResult *
_sbx_exec_result_new_lost (const char *message)
{
  return result_new (SBX_EXEC_OUTCOME_LOST, message);
}

void
_sbx_exec_result_take_output (SbxExecResult *self,
                              GBytes        *stdout_bytes,
                              guint64        stdout_truncated,
                              GBytes        *stderr_bytes,
                              guint64        stderr_truncated)
{
  g_bytes_unref (self->stdout_bytes);
  g_bytes_unref (self->stderr_bytes);
  self->stdout_bytes = stdout_bytes;
  self->stderr_bytes = stderr_bytes;
  self->stdout_truncated = stdout_truncated;
  self->stderr_truncated = stderr_truncated;
}

void
_sbx_exec_result_set_denials (SbxExecResult *self,
                              GListModel    *denials,
                              guint64        truncated)
{
  if (denials != NULL)
    g_set_object (&self->denials, denials);
  self->denials_truncated = truncated;
}

/**
 * sbx_exec_result_get_outcome:
 * @self: a result
 *
 * Gets how the command ended.
 *
 * Returns: the outcome
 *
 * Since: 1.0
 */
SbxExecOutcome
sbx_exec_result_get_outcome (SbxExecResult *self)
{
  g_return_val_if_fail (SBX_IS_EXEC_RESULT (self), SBX_EXEC_OUTCOME_LOST);

  return self->outcome;
}

/**
 * sbx_exec_result_get_success:
 * @self: a result
 *
 * Tells whether the command ended by itself with exit code 0.
 *
 * Returns: %TRUE if it did
 *
 * Since: 1.0
 */
gboolean
sbx_exec_result_get_success (SbxExecResult *self)
{
  g_return_val_if_fail (SBX_IS_EXEC_RESULT (self), FALSE);

  return self->outcome == SBX_EXEC_OUTCOME_EXITED && self->exit_code == 0;
}

/**
 * sbx_exec_result_get_exit_code:
 * @self: a result
 *
 * Gets the exit code of a command that ended by itself.
 *
 * Returns: 0 to 255, or -1 if it did not end by itself
 *
 * Since: 1.0
 */
int
sbx_exec_result_get_exit_code (SbxExecResult *self)
{
  g_return_val_if_fail (SBX_IS_EXEC_RESULT (self), -1);

  return self->exit_code;
}

/**
 * sbx_exec_result_get_signal:
 * @self: a result
 *
 * Gets the signal that ended the command.
 *
 * Returns: a signal number, or 0 if no signal ended it
 *
 * Since: 1.0
 */
int
sbx_exec_result_get_signal (SbxExecResult *self)
{
  g_return_val_if_fail (SBX_IS_EXEC_RESULT (self), 0);

  return self->signal_number;
}

/**
 * sbx_exec_result_get_core_dumped:
 * @self: a result
 *
 * Tells whether the kernel dumped the memory of a command that a signal ended.
 *
 * Returns: %TRUE if it did
 *
 * Since: 1.0
 */
gboolean
sbx_exec_result_get_core_dumped (SbxExecResult *self)
{
  g_return_val_if_fail (SBX_IS_EXEC_RESULT (self), FALSE);

  return self->core_dumped;
}

/**
 * sbx_exec_result_get_not_started:
 * @self: a result
 *
 * Gets why the command could not be started.
 *
 * Returns: the reason; %SBX_NOT_STARTED_OTHER also if it was started
 *
 * Since: 1.0
 */
SbxNotStarted
sbx_exec_result_get_not_started (SbxExecResult *self)
{
  g_return_val_if_fail (SBX_IS_EXEC_RESULT (self), SBX_NOT_STARTED_OTHER);

  return self->not_started;
}

/**
 * sbx_exec_result_get_errno:
 * @self: a result
 *
 * Gets the error of the system call that could not start the command.
 *
 * Returns: an `errno` value, or 0
 *
 * Since: 1.0
 */
int
sbx_exec_result_get_errno (SbxExecResult *self)
{
  g_return_val_if_fail (SBX_IS_EXEC_RESULT (self), 0);

  return self->error_number;
}

/**
 * sbx_exec_result_get_message:
 * @self: a result
 *
 * Gets what there is to say about the outcome, for a person to read.
 *
 * Returns: (transfer none) (nullable): a message, or %NULL if the command ended by itself
 *
 * Since: 1.0
 */
const char *
sbx_exec_result_get_message (SbxExecResult *self)
{
  g_return_val_if_fail (SBX_IS_EXEC_RESULT (self), NULL);

  return self->message;
}

/**
 * sbx_exec_result_get_stdout:
 * @self: a result
 *
 * Gets the first bytes that the command wrote to its standard output.
 *
 * Returns: (transfer none): the bytes, up to the command's collect limit
 *
 * Since: 1.0
 */
GBytes *
sbx_exec_result_get_stdout (SbxExecResult *self)
{
  g_return_val_if_fail (SBX_IS_EXEC_RESULT (self), NULL);

  return self->stdout_bytes;
}

/**
 * sbx_exec_result_get_stderr:
 * @self: a result
 *
 * Gets the first bytes that the command wrote to its standard error.
 *
 * Returns: (transfer none): the bytes, up to the command's collect limit
 *
 * Since: 1.0
 */
GBytes *
sbx_exec_result_get_stderr (SbxExecResult *self)
{
  g_return_val_if_fail (SBX_IS_EXEC_RESULT (self), NULL);

  return self->stderr_bytes;
}

/**
 * sbx_exec_result_get_stdout_truncated:
 * @self: a result
 *
 * Gets how many bytes of standard output the result did not keep.
 *
 * Returns: bytes
 *
 * Since: 1.0
 */
guint64
sbx_exec_result_get_stdout_truncated (SbxExecResult *self)
{
  g_return_val_if_fail (SBX_IS_EXEC_RESULT (self), 0);

  return self->stdout_truncated;
}

/**
 * sbx_exec_result_get_stderr_truncated:
 * @self: a result
 *
 * Gets how many bytes of standard error the result did not keep.
 *
 * Returns: bytes
 *
 * Since: 1.0
 */
guint64
sbx_exec_result_get_stderr_truncated (SbxExecResult *self)
{
  g_return_val_if_fail (SBX_IS_EXEC_RESULT (self), 0);

  return self->stderr_truncated;
}

/**
 * sbx_exec_result_get_denials:
 * @self: a result
 *
 * Gets what the sandbox is likely to have refused while the command ran, in the order in which it
 * was first tried.
 *
 * This is empty without [method@Command.set_watch_denials]. It is help for people and no record:
 * the command decides what it tries, and can have more or something else appear here than it did.
 * What is here may also have failed for another reason, or not have mattered.
 *
 * Returns: (transfer none): a list of [class@Denial], at most 200
 *
 * Since: 1.0
 */
GListModel *
sbx_exec_result_get_denials (SbxExecResult *self)
{
  g_return_val_if_fail (SBX_IS_EXEC_RESULT (self), NULL);

  return self->denials;
}

/**
 * sbx_exec_result_get_denials_truncated:
 * @self: a result
 *
 * Gets how often something was refused that the list has no room for.
 *
 * Returns: how often; the same may be counted more than once
 *
 * Since: 1.0
 */
guint64
sbx_exec_result_get_denials_truncated (SbxExecResult *self)
{
  g_return_val_if_fail (SBX_IS_EXEC_RESULT (self), 0);

  return self->denials_truncated;
}
