/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-session-files.h"

#include "core/sbx-file-invocations.h"
#include "core/sbx-invocation-private.h"
#include "core/sbx-session-private.h"
#include "core/sbx-sync-private.h"

/*
 * Renaming and copying. The verbs have the shape of those in sbx-session-files.c.
 */

/**
 * SbxSessionClass::handle_rename:
 * @self: a session
 * @path: what to rename, absolute or relative to the working directory
 * @new_path: what it shall be called
 * @invocation: the call to answer
 *
 * Gives a file or a tree of the sandbox another name, as rename(2) does.
 *
 * Returns: %TRUE if the invocation was answered, or will be
 *
 * Since: 1.0
 */

/**
 * SbxSessionClass::handle_copy:
 * @self: a session
 * @path: what to copy, absolute or relative to the working directory
 * @new_path: what the copy shall be called
 * @invocation: the call to answer
 *
 * Copies a file or a tree of the sandbox.
 *
 * Links are copied as links, permissions are kept. A regular file replaces one that exists;
 * anything else does not replace anything.
 *
 * Returns: %TRUE if the invocation was answered, or will be
 *
 * Since: 1.0
 */

/**
 * sbx_session_rename_async:
 * @self: a session
 * @path: (type filename): a file or directory of the sandbox
 * @new_path: (type filename): its new name
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when it is done
 * @user_data: data for @callback
 *
 * Gives a file or a tree of the sandbox another name.
 *
 * A file replaces what has the new name already, at once; a directory only replaces an empty one.
 * A symbolic link is renamed, not what it points to. Directories above @new_path are not made.
 * Where the two are on different file systems the error is %G_IO_ERROR_FAILED; copy the file then,
 * and remove the old one.
 *
 * It needs %SBX_CAPABILITIES_MOVING. Cancelling @cancellable stops the work inside the sandbox.
 *
 * Finish with [method@Session.rename_finish].
 *
 * Since: 1.0
 */
void
sbx_session_rename_async (SbxSession          *self,
                          const char          *path,
                          const char          *new_path,
                          GCancellable        *cancellable,
                          GAsyncReadyCallback  callback,
                          gpointer             user_data)
{
  g_autoptr(SbxInvocation) invocation = NULL;
  SbxSessionClass *klass;

  g_return_if_fail (SBX_IS_SESSION (self));
  g_return_if_fail (path != NULL);
  g_return_if_fail (new_path != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  invocation = _sbx_session_begin_verb (self, SBX_TYPE_FILE_INVOCATION, SBX_CAPABILITIES_MOVING,
                                        *new_path != '\0' ? path : new_path,
                                        sbx_session_rename_async,
                                        cancellable, callback, user_data);
  if (invocation == NULL)
    return;

  klass = SBX_SESSION_GET_CLASS (self);
  if (klass->handle_rename == NULL)
    _sbx_invocation_return_unsupported (invocation);
  else
    _sbx_invocation_handled (invocation,
                             klass->handle_rename (self, path, new_path,
                                                   SBX_FILE_INVOCATION (invocation)));

  _sbx_context_leave (G_OBJECT (self));
}

/**
 * sbx_session_rename_finish:
 * @self: a session
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Session.rename_async].
 *
 * An error is from [error@Error], or a %G_IO_ERROR that the sandbox's file system gave.
 *
 * Returns: %TRUE if it has its new name
 *
 * Since: 1.0
 */
gboolean
sbx_session_rename_finish (SbxSession    *self,
                           GAsyncResult  *result,
                           GError       **error)
{
  g_return_val_if_fail (SBX_IS_SESSION (self), FALSE);
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_session_rename_async), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

/**
 * sbx_session_rename:
 * @self: a session
 * @path: (type filename): a file or directory of the sandbox
 * @new_path: (type filename): its new name
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Gives a file or a tree of the sandbox another name, and waits until it has it.
 *
 * This is for scripts and tools; see [method@Session.rename_async].
 *
 * Returns: %TRUE if it has its new name
 *
 * Since: 1.0
 */
gboolean
sbx_session_rename (SbxSession    *self,
                    const char    *path,
                    const char    *new_path,
                    GCancellable  *cancellable,
                    GError       **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_SESSION (self), FALSE);
  g_return_val_if_fail (path != NULL, FALSE);
  g_return_val_if_fail (new_path != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return FALSE;

  sbx_session_rename_async (self, path, new_path, cancellable,
                            _sbx_sync_done_cb, sync);

  return sbx_session_rename_finish (self, _sbx_sync_wait (sync), error);
}

/**
 * sbx_session_copy_async:
 * @self: a session
 * @path: (type filename): a file or directory of the sandbox
 * @new_path: (type filename): the name of the copy
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when it is done
 * @user_data: data for @callback
 *
 * Copies a file or a tree of the sandbox.
 *
 * The copy has the permissions and the content, not the owner and the times. Symbolic links are
 * copied as links, and never followed below @path. A regular file replaces, at once, a regular file
 * that has the new name already. A link or a directory replaces nothing: the error is
 * %G_IO_ERROR_EXISTS. Only regular files, directories and symbolic links are copied; anything else
 * is an error. Directories above @new_path are not made.
 *
 * Where copying a tree fails or is cancelled what was copied until then stays.
 *
 * It needs %SBX_CAPABILITIES_MOVING. Cancelling @cancellable stops the work inside the sandbox.
 *
 * Finish with [method@Session.copy_finish].
 *
 * Since: 1.0
 */
void
sbx_session_copy_async (SbxSession          *self,
                        const char          *path,
                        const char          *new_path,
                        GCancellable        *cancellable,
                        GAsyncReadyCallback  callback,
                        gpointer             user_data)
{
  g_autoptr(SbxInvocation) invocation = NULL;
  SbxSessionClass *klass;

  g_return_if_fail (SBX_IS_SESSION (self));
  g_return_if_fail (path != NULL);
  g_return_if_fail (new_path != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  invocation = _sbx_session_begin_verb (self, SBX_TYPE_FILE_INVOCATION, SBX_CAPABILITIES_MOVING,
                                        *new_path != '\0' ? path : new_path,
                                        sbx_session_copy_async,
                                        cancellable, callback, user_data);
  if (invocation == NULL)
    return;

  klass = SBX_SESSION_GET_CLASS (self);
  if (klass->handle_copy == NULL)
    _sbx_invocation_return_unsupported (invocation);
  else
    _sbx_invocation_handled (invocation,
                             klass->handle_copy (self, path, new_path,
                                                 SBX_FILE_INVOCATION (invocation)));

  _sbx_context_leave (G_OBJECT (self));
}

/**
 * sbx_session_copy_finish:
 * @self: a session
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Session.copy_async].
 *
 * An error is from [error@Error], or a %G_IO_ERROR that the sandbox's file system gave.
 *
 * Returns: %TRUE if all of it was copied
 *
 * Since: 1.0
 */
gboolean
sbx_session_copy_finish (SbxSession    *self,
                         GAsyncResult  *result,
                         GError       **error)
{
  g_return_val_if_fail (SBX_IS_SESSION (self), FALSE);
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_session_copy_async), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

/**
 * sbx_session_copy:
 * @self: a session
 * @path: (type filename): a file or directory of the sandbox
 * @new_path: (type filename): the name of the copy
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Copies a file or a tree of the sandbox, and waits until it is copied.
 *
 * This is for scripts and tools; see [method@Session.copy_async].
 *
 * Returns: %TRUE if all of it was copied
 *
 * Since: 1.0
 */
gboolean
sbx_session_copy (SbxSession    *self,
                  const char    *path,
                  const char    *new_path,
                  GCancellable  *cancellable,
                  GError       **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_SESSION (self), FALSE);
  g_return_val_if_fail (path != NULL, FALSE);
  g_return_val_if_fail (new_path != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return FALSE;

  sbx_session_copy_async (self, path, new_path, cancellable,
                          _sbx_sync_done_cb, sync);

  return sbx_session_copy_finish (self, _sbx_sync_wait (sync), error);
}
