/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-session.h"

#include "core/sbx-command.h"
#include "core/sbx-exec-result.h"
#include "core/sbx-process.h"
#include "core/sbx-sync-private.h"

/*
 * Running commands in a session in one call: create a process, and run or start it.
 */

/**
 * SbxSessionClass::handle_exec:
 * @self: a session
 * @invocation: the call to answer
 *
 * Runs a command in the sandbox.
 *
 * See [class@ExecInvocation] for what is to be told meanwhile.
 *
 * Returns: %TRUE if the invocation was answered, or will be
 *
 * Since: 1.0
 */

/**
 * SbxSessionClass::handle_close:
 * @self: a session
 * @invocation: the call to answer
 *
 * Ends the sandbox, and everything in it.
 *
 * Calls in flight were asked to end before. What of them is unanswered when this is answered is
 * ended then.
 *
 * Returns: %TRUE if the invocation was answered, or will be
 *
 * Since: 1.0
 */

static void
ran_cb (GObject      *object,
        GAsyncResult *result,
        gpointer      user_data)
{
  g_autoptr(GTask) task = G_TASK (user_data);
  g_autoptr(SbxExecResult) ended = NULL;
  g_autoptr(GError) error = NULL;

  ended = sbx_process_run_finish (SBX_PROCESS (object), result, &error);
  if (ended != NULL)
    g_task_return_pointer (task, g_steal_pointer (&ended), g_object_unref);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

/**
 * sbx_session_exec_async:
 * @self: a session
 * @command: what to run; it is copied
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when the command has ended
 * @user_data: data for @callback
 *
 * Runs a command to its end and collects its output.
 *
 * This is [method@Session.create_process] and [method@Process.run_async] in one. Cancelling
 * @cancellable ends the command with all that it started, and then completes.
 *
 * Finish with [method@Session.exec_finish].
 *
 * Since: 1.0
 */
void
sbx_session_exec_async (SbxSession          *self,
                        SbxCommand          *command,
                        GCancellable        *cancellable,
                        GAsyncReadyCallback  callback,
                        gpointer             user_data)
{
  g_autoptr(SbxProcess) process = NULL;
  GTask *task;

  g_return_if_fail (SBX_IS_SESSION (self));
  g_return_if_fail (SBX_IS_COMMAND (command));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sbx_session_exec_async);
  g_task_set_check_cancellable (task, FALSE);

  process = sbx_session_create_process (self, command);
  sbx_process_run_async (process, cancellable, ran_cb, task);
}

/**
 * sbx_session_exec_finish:
 * @self: a session
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Session.exec_async].
 *
 * That a command fails, is ended by a signal or cannot be started is a result, not an error. An
 * error is from [error@Error], or is %G_IO_ERROR_CANCELLED.
 *
 * Returns: (transfer full): how the command ended, and what it wrote
 *
 * Since: 1.0
 */
SbxExecResult *
sbx_session_exec_finish (SbxSession    *self,
                         GAsyncResult  *result,
                         GError       **error)
{
  g_return_val_if_fail (SBX_IS_SESSION (self), NULL);
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_session_exec_async), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * sbx_session_exec:
 * @self: a session
 * @command: what to run; it is copied
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Runs a command to its end, collects its output, and waits for that.
 *
 * This is for scripts and tools; see [method@Session.exec_async].
 *
 * Returns: (transfer full): how the command ended, and what it wrote
 *
 * Since: 1.0
 */
SbxExecResult *
sbx_session_exec (SbxSession    *self,
                  SbxCommand    *command,
                  GCancellable  *cancellable,
                  GError       **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_SESSION (self), NULL);
  g_return_val_if_fail (SBX_IS_COMMAND (command), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return NULL;

  sbx_session_exec_async (self, command, cancellable, _sbx_sync_done_cb, sync);

  return sbx_session_exec_finish (self, _sbx_sync_wait (sync), error);
}

static void
spawned_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  g_autoptr(GTask) task = G_TASK (user_data);
  g_autoptr(GError) error = NULL;

  if (sbx_process_start_finish (SBX_PROCESS (object), result, &error))
    g_task_return_pointer (task, g_object_ref (object), g_object_unref);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

/**
 * sbx_session_spawn_async:
 * @self: a session
 * @command: what to run; it is copied
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when the command runs, or cannot be started
 * @user_data: data for @callback
 *
 * Starts a command and lets it run.
 *
 * This is [method@Session.create_process] and [method@Process.start_async] in one. Connect to
 * [signal@Session::process-created], or make the process yourself, to miss nothing of its output.
 *
 * Finish with [method@Session.spawn_finish].
 *
 * Since: 1.0
 */
void
sbx_session_spawn_async (SbxSession          *self,
                         SbxCommand          *command,
                         GCancellable        *cancellable,
                         GAsyncReadyCallback  callback,
                         gpointer             user_data)
{
  g_autoptr(SbxProcess) process = NULL;
  GTask *task;

  g_return_if_fail (SBX_IS_SESSION (self));
  g_return_if_fail (SBX_IS_COMMAND (command));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sbx_session_spawn_async);
  g_task_set_check_cancellable (task, FALSE);

  process = sbx_session_create_process (self, command);
  sbx_process_start_async (process, cancellable, spawned_cb, task);
}

/**
 * sbx_session_spawn_finish:
 * @self: a session
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Session.spawn_async].
 *
 * Returns: (transfer full): the process, which runs or ran
 *
 * Since: 1.0
 */
SbxProcess *
sbx_session_spawn_finish (SbxSession    *self,
                          GAsyncResult  *result,
                          GError       **error)
{
  g_return_val_if_fail (SBX_IS_SESSION (self), NULL);
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_session_spawn_async), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * sbx_session_spawn:
 * @self: a session
 * @command: what to run; it is copied
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Starts a command, and waits until it runs.
 *
 * This is for scripts and tools; see [method@Session.spawn_async].
 *
 * Returns: (transfer full): the process, which runs or ran
 *
 * Since: 1.0
 */
SbxProcess *
sbx_session_spawn (SbxSession    *self,
                   SbxCommand    *command,
                   GCancellable  *cancellable,
                   GError       **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_SESSION (self), NULL);
  g_return_val_if_fail (SBX_IS_COMMAND (command), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return NULL;

  sbx_session_spawn_async (self, command, cancellable, _sbx_sync_done_cb, sync);

  return sbx_session_spawn_finish (self, _sbx_sync_wait (sync), error);
}
