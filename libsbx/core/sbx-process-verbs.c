/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-process-private.h"

#include "core/sbx-error.h"
#include "core/sbx-exec-result.h"
#include "core/sbx-invocation-private.h"
#include "core/sbx-sync-private.h"
#include "core/sbx-task-private.h"

#include <glib/gi18n-lib.h>
#include <signal.h>

/* The caller of run or start gave up: the command ends, and then the caller is told. */
static gboolean
run_cancelled_cb (GCancellable *cancellable,
                  gpointer      user_data)
{
  SbxProcess *self = g_task_get_source_object (user_data);

  /* A start that has succeeded is merely not told yet. */
  if (g_task_get_source_tag (user_data) == sbx_process_start_async && self->has_started)
    return G_SOURCE_REMOVE;

  if (!_sbx_process_is_running (self))
    return G_SOURCE_REMOVE;

  self->cancelled = TRUE;
  _sbx_invocation_request_end (SBX_INVOCATION (self->invocation),
                               g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED,
                                                    _("The operation was cancelled")));

  return G_SOURCE_REMOVE;
}

/* The caller of wait gave up: only the waiting ends. */
static gboolean
wait_cancelled_cb (GCancellable *cancellable,
                   gpointer      user_data)
{
  SbxProcess *self = g_task_get_source_object (user_data);
  g_autoptr(GTask) task = g_object_ref (user_data);

  if (g_ptr_array_remove (self->waiters, task))
    g_task_return_error_if_cancelled (task);

  return G_SOURCE_REMOVE;
}

/* What run and start have in common. */
static GTask *
sbx_process_launch (SbxProcess          *self,
                    gpointer             tag,
                    SbxCapabilities      needed,
                    GCancellable        *cancellable,
                    GAsyncReadyCallback  callback,
                    gpointer             user_data)
{
  g_autoptr(GTask) task = g_task_new (self, cancellable, callback, user_data);
  g_autoptr(GError) error = NULL;

  g_task_set_source_tag (task, tag);
  if (g_task_return_error_if_cancelled (task))
    return NULL;

  g_task_set_check_cancellable (task, FALSE);
  if (!_sbx_process_may_start (self, needed, &error))
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return NULL;
    }

  _sbx_task_watch_cancellable (task, run_cancelled_cb);

  return g_steal_pointer (&task);
}

/**
 * sbx_process_run_async:
 * @self: a process that was not started
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when the process has ended
 * @user_data: data for @callback
 *
 * Runs the command to its end.
 *
 * It is done when the command has ended, nothing that it started is left, and all output was
 * emitted. Cancelling @cancellable ends the command with all that it started, and then completes.
 *
 * Finish with [method@Process.run_finish].
 *
 * Since: 1.0
 */
void
sbx_process_run_async (SbxProcess          *self,
                       GCancellable        *cancellable,
                       GAsyncReadyCallback  callback,
                       gpointer             user_data)
{
  GTask *task;

  g_return_if_fail (SBX_IS_PROCESS (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = sbx_process_launch (self, sbx_process_run_async, SBX_CAPABILITIES_EXEC,
                             cancellable, callback, user_data);
  if (task == NULL)
    return;

  g_ptr_array_add (self->waiters, task);
  _sbx_process_begin (self);
}

/**
 * sbx_process_run_finish:
 * @self: a process
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Process.run_async].
 *
 * That a command fails, is ended by a signal or cannot be started is a result, not an error. An
 * error is from [error@Error], or is %G_IO_ERROR_CANCELLED.
 *
 * Returns: (transfer full): how the process ended
 *
 * Since: 1.0
 */
SbxExecResult *
sbx_process_run_finish (SbxProcess    *self,
                        GAsyncResult  *result,
                        GError       **error)
{
  g_return_val_if_fail (SBX_IS_PROCESS (self), NULL);
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_process_run_async), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * sbx_process_run:
 * @self: a process that was not started
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Runs the command to its end, and waits for that.
 *
 * This is for scripts and tools; see [method@Process.run_async]. Signals are emitted meanwhile.
 *
 * Returns: (transfer full): how the process ended
 *
 * Since: 1.0
 */
SbxExecResult *
sbx_process_run (SbxProcess    *self,
                 GCancellable  *cancellable,
                 GError       **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_PROCESS (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  sync = _sbx_sync_begin (G_OBJECT (self->session), error);
  if (sync == NULL)
    return NULL;

  sbx_process_run_async (self, cancellable, _sbx_sync_done_cb, sync);

  return sbx_process_run_finish (self, _sbx_sync_wait (sync), error);
}

/**
 * sbx_process_start_async:
 * @self: a process that was not started
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when the command runs, or cannot be started
 * @user_data: data for @callback
 *
 * Starts the command, and lets it run.
 *
 * Wait for its end with [method@Process.wait_async] or [signal@Process::exited]. Cancelling
 * @cancellable before the command runs ends it; afterwards it does nothing.
 *
 * Where a session has %SBX_CAPABILITIES_START and not %SBX_CAPABILITIES_SPAWN nothing more is heard
 * of the command: its state stays %SBX_PROCESS_STATE_RUNNING until the session is closed, which
 * ends it, and its outcome is then %SBX_EXEC_OUTCOME_LOST. Waiting for it, and sending it a signal,
 * is %SBX_ERROR_UNSUPPORTED.
 *
 * Finish with [method@Process.start_finish].
 *
 * Since: 1.0
 */
void
sbx_process_start_async (SbxProcess          *self,
                         GCancellable        *cancellable,
                         GAsyncReadyCallback  callback,
                         gpointer             user_data)
{
  GTask *task;

  g_return_if_fail (SBX_IS_PROCESS (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = sbx_process_launch (self, sbx_process_start_async, SBX_CAPABILITIES_START,
                             cancellable, callback, user_data);
  if (task == NULL)
    return;

  self->in_background = TRUE;
  self->start_task = task;
  _sbx_process_begin (self);
}

/**
 * sbx_process_start_finish:
 * @self: a process
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Process.start_async].
 *
 * A command that could not be started is an error here, %SBX_ERROR_NOT_FOUND if there is no such
 * program, and %SBX_ERROR_LOST if nobody can say whether it was started;
 * [method@Process.get_result] has the details.
 *
 * Returns: %TRUE if the command runs, or ran
 *
 * Since: 1.0
 */
gboolean
sbx_process_start_finish (SbxProcess    *self,
                          GAsyncResult  *result,
                          GError       **error)
{
  g_return_val_if_fail (SBX_IS_PROCESS (self), FALSE);
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_process_start_async), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

/**
 * sbx_process_start:
 * @self: a process that was not started
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Starts the command, and waits until it runs.
 *
 * This is for scripts and tools; see [method@Process.start_async].
 *
 * Returns: %TRUE if the command runs, or ran
 *
 * Since: 1.0
 */
gboolean
sbx_process_start (SbxProcess    *self,
                   GCancellable  *cancellable,
                   GError       **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_PROCESS (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  sync = _sbx_sync_begin (G_OBJECT (self->session), error);
  if (sync == NULL)
    return FALSE;

  sbx_process_start_async (self, cancellable, _sbx_sync_done_cb, sync);

  return sbx_process_start_finish (self, _sbx_sync_wait (sync), error);
}

/**
 * sbx_process_wait_async:
 * @self: a process that was started
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when the process has ended
 * @user_data: data for @callback
 *
 * Waits for the end of the process.
 *
 * Any number of callers may wait, also after the end. Cancelling @cancellable ends the waiting, not
 * the process. Where a provider starts commands and tells no more of them this is
 * %SBX_ERROR_UNSUPPORTED, see [method@Process.start_async].
 *
 * Finish with [method@Process.wait_finish].
 *
 * Since: 1.0
 */
void
sbx_process_wait_async (SbxProcess          *self,
                        GCancellable        *cancellable,
                        GAsyncReadyCallback  callback,
                        gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;

  g_return_if_fail (SBX_IS_PROCESS (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sbx_process_wait_async);

  if (g_task_return_error_if_cancelled (task))
    return;

  g_task_set_check_cancellable (task, FALSE);

  if (self->state == SBX_PROCESS_STATE_ENDED && self->failure != NULL)
    g_task_return_error (task, g_error_copy (self->failure));
  else if (self->state == SBX_PROCESS_STATE_ENDED)
    g_task_return_pointer (task, g_object_ref (self->result), g_object_unref);
  else if (self->state == SBX_PROCESS_STATE_NEW)
    g_task_return_new_error (task, SBX_ERROR, SBX_ERROR_INVALID,
                             _("The process was not started; start it before you wait for it"));
  else if (_sbx_process_is_out_of_reach (self))
    g_task_return_new_error (task, SBX_ERROR, SBX_ERROR_UNSUPPORTED,
                             _("The provider of this session starts commands in the background "
                               "and cannot wait for them; run the command to its end instead"));
  else
    {
      _sbx_task_watch_cancellable (task, wait_cancelled_cb);
      g_ptr_array_add (self->waiters, g_steal_pointer (&task));
    }
}

/**
 * sbx_process_wait_finish:
 * @self: a process
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Process.wait_async].
 *
 * That the process was cancelled by who ran it is a result here. An error says that the provider
 * could not run the command, or that the waiting was cancelled.
 *
 * Returns: (transfer full): how the process ended
 *
 * Since: 1.0
 */
SbxExecResult *
sbx_process_wait_finish (SbxProcess    *self,
                         GAsyncResult  *result,
                         GError       **error)
{
  g_return_val_if_fail (SBX_IS_PROCESS (self), NULL);
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_process_wait_async), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * sbx_process_wait:
 * @self: a process that was started
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Waits for the end of the process.
 *
 * This is for scripts and tools; see [method@Process.wait_async].
 *
 * Returns: (transfer full): how the process ended
 *
 * Since: 1.0
 */
SbxExecResult *
sbx_process_wait (SbxProcess    *self,
                  GCancellable  *cancellable,
                  GError       **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_PROCESS (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  sync = _sbx_sync_begin (G_OBJECT (self->session), error);
  if (sync == NULL)
    return NULL;

  sbx_process_wait_async (self, cancellable, _sbx_sync_done_cb, sync);

  return sbx_process_wait_finish (self, _sbx_sync_wait (sync), error);
}

/**
 * sbx_process_kill:
 * @self: a process
 * @signal_number: a signal, such as 15 for `SIGTERM`
 * @error: return location for a [struct@GLib.Error]
 *
 * Sends a signal to the command.
 *
 * The command's process group gets it. `SIGKILL` ends everything that the command started as well,
 * also what left its group. A process that has ended already is no error.
 *
 * Where a provider cannot send the signal the error is %SBX_ERROR_UNSUPPORTED.
 *
 * Returns: %TRUE if the signal was sent, or the process has ended
 *
 * Since: 1.0
 */
gboolean
sbx_process_kill (SbxProcess  *self,
                  int          signal_number,
                  GError     **error)
{
  g_autoptr(SbxExecInvocation) invocation = NULL;

  g_return_val_if_fail (SBX_IS_PROCESS (self), FALSE);
  g_return_val_if_fail (signal_number > 0 && signal_number < 65, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (self->state == SBX_PROCESS_STATE_NEW)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_INVALID,
                           _("The process was not started; there is nothing to send a signal to"));
      return FALSE;
    }

  if (!_sbx_process_is_running (self))
    return TRUE;

  if (_sbx_process_is_out_of_reach (self))
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED,
                           _("The provider of this session starts commands in the background and "
                             "cannot end them; close the session, which ends all of them"));
      return FALSE;
    }

  /* Who gets the signal may answer and be gone. */
  invocation = g_object_ref (self->invocation);
  if (_sbx_exec_invocation_kill (invocation, signal_number))
    return TRUE;

  if (signal_number == SIGKILL)
    {
      _sbx_invocation_request_end (SBX_INVOCATION (invocation),
                                   g_error_new_literal (SBX_ERROR, SBX_ERROR_LOST,
                                                        _("The command was killed, and its end "
                                                          "was never told")));
      return TRUE;
    }

  g_set_error (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED,
               _("The provider cannot send signal %d; it can only end a process (SIGKILL)"),
               signal_number);

  return FALSE;
}
