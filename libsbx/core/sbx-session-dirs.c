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
 * All verbs have one shape: check, make an invocation of the verb's kind, let the class handle it.
 * Paths are the sandbox's, absolute or relative to the session's working
 * directory.
 */

/**
 * SbxSessionClass::handle_create_dir_all:
 * @self: a session
 * @path: a directory, absolute or relative to the working directory
 * @invocation: the call to answer
 *
 * Makes a directory of the sandbox, and the missing ones above it.
 *
 * One that exists is no error.
 *
 * Returns: %TRUE if the invocation was answered, or will be
 *
 * Since: 1.0
 */

/**
 * SbxSessionClass::handle_create_temp_dir:
 * @self: a session
 * @prefix: what its name starts with; there is no “/” in it
 * @invocation: the call to answer
 *
 * Makes a new private directory in the sandbox.
 *
 * Returns: %TRUE if the invocation was answered, or will be
 *
 * Since: 1.0
 */

/**
 * SbxSessionClass::handle_list_dir:
 * @self: a session
 * @path: a directory, absolute or relative to the working directory
 * @invocation: the call to answer
 *
 * Lists a directory of the sandbox, in the order of the names' bytes.
 *
 * Returns: %TRUE if the invocation was answered, or will be
 *
 * Since: 1.0
 */

/**
 * sbx_session_create_dir_all_async:
 * @self: a session
 * @path: (type filename): a directory of the sandbox
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when it is done
 * @user_data: data for @callback
 *
 * Makes a directory of the sandbox, and the missing ones above it.
 *
 * One that exists is no error.
 *
 * Cancelling @cancellable stops the work inside the sandbox.
 *
 * Finish with [method@Session.create_dir_all_finish].
 *
 * Since: 1.0
 */
void
sbx_session_create_dir_all_async (SbxSession          *self,
                                  const char          *path,
                                  GCancellable        *cancellable,
                                  GAsyncReadyCallback  callback,
                                  gpointer             user_data)
{
  g_autoptr(SbxInvocation) invocation = NULL;
  SbxSessionClass *klass;

  g_return_if_fail (SBX_IS_SESSION (self));
  g_return_if_fail (path != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  invocation = _sbx_session_begin_verb (self, SBX_TYPE_FILE_INVOCATION, SBX_CAPABILITIES_FILES,
                                        path, sbx_session_create_dir_all_async,
                                        cancellable, callback, user_data);
  if (invocation == NULL)
    return;

  klass = SBX_SESSION_GET_CLASS (self);
  if (klass->handle_create_dir_all == NULL)
    _sbx_invocation_return_unsupported (invocation);
  else
    _sbx_invocation_handled (invocation,
                             klass->handle_create_dir_all (self, path,
                                                           SBX_FILE_INVOCATION (invocation)));

  _sbx_context_leave (G_OBJECT (self));
}

/**
 * sbx_session_create_dir_all_finish:
 * @self: a session
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Session.create_dir_all_async].
 *
 * An error is from [error@Error], or a %G_IO_ERROR that the sandbox's file system gave.
 *
 * Returns: %TRUE if the directory is there
 *
 * Since: 1.0
 */
gboolean
sbx_session_create_dir_all_finish (SbxSession    *self,
                                   GAsyncResult  *result,
                                   GError       **error)
{
  g_return_val_if_fail (SBX_IS_SESSION (self), FALSE);
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_session_create_dir_all_async), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

/**
 * sbx_session_create_dir_all:
 * @self: a session
 * @path: (type filename): a directory of the sandbox
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a directory of the sandbox, and waits until it is there.
 *
 * This is for scripts and tools; see [method@Session.create_dir_all_async].
 *
 * Returns: %TRUE if the directory is there
 *
 * Since: 1.0
 */
gboolean
sbx_session_create_dir_all (SbxSession    *self,
                            const char    *path,
                            GCancellable  *cancellable,
                            GError       **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_SESSION (self), FALSE);
  g_return_val_if_fail (path != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return FALSE;

  sbx_session_create_dir_all_async (self, path, cancellable,
                                    _sbx_sync_done_cb, sync);

  return sbx_session_create_dir_all_finish (self, _sbx_sync_wait (sync), error);
}

/**
 * sbx_session_create_temp_dir_async:
 * @self: a session
 * @prefix: (type filename): what its name starts with; no “/” in it
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when it is done
 * @user_data: data for @callback
 *
 * Makes a new directory below the sandbox's own directory for temporary files.
 *
 * It is new and private, and goes with the session. A prefix with a “/” in it is
 * %SBX_ERROR_INVALID.
 *
 * Cancelling @cancellable stops the work inside the sandbox.
 *
 * Finish with [method@Session.create_temp_dir_finish].
 *
 * Since: 1.0
 */
void
sbx_session_create_temp_dir_async (SbxSession          *self,
                                   const char          *prefix,
                                   GCancellable        *cancellable,
                                   GAsyncReadyCallback  callback,
                                   gpointer             user_data)
{
  g_autoptr(SbxInvocation) invocation = NULL;
  SbxSessionClass *klass;

  g_return_if_fail (SBX_IS_SESSION (self));
  g_return_if_fail (prefix != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  invocation = _sbx_session_begin_verb (self, SBX_TYPE_TEMP_DIR_INVOCATION, SBX_CAPABILITIES_FILES,
                                        prefix, sbx_session_create_temp_dir_async,
                                        cancellable, callback, user_data);
  if (invocation == NULL)
    return;

  klass = SBX_SESSION_GET_CLASS (self);
  if (klass->handle_create_temp_dir == NULL)
    _sbx_invocation_return_unsupported (invocation);
  else
    _sbx_invocation_handled (invocation,
                             klass->handle_create_temp_dir (self, prefix,
                                                            SBX_TEMP_DIR_INVOCATION (invocation)));

  _sbx_context_leave (G_OBJECT (self));
}

/**
 * sbx_session_create_temp_dir_finish:
 * @self: a session
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Session.create_temp_dir_async].
 *
 * An error is from [error@Error], or a %G_IO_ERROR that the sandbox's file system gave.
 *
 * Returns: (transfer full) (type filename): its path, inside the sandbox
 *
 * Since: 1.0
 */
char *
sbx_session_create_temp_dir_finish (SbxSession    *self,
                                    GAsyncResult  *result,
                                    GError       **error)
{
  g_return_val_if_fail (SBX_IS_SESSION (self), NULL);
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_session_create_temp_dir_async), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * sbx_session_create_temp_dir:
 * @self: a session
 * @prefix: (type filename): what its name starts with; no “/” in it
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a new temporary directory in the sandbox, and waits until it is there.
 *
 * This is for scripts and tools; see [method@Session.create_temp_dir_async].
 *
 * Returns: (transfer full) (type filename): its path, inside the sandbox
 *
 * Since: 1.0
 */
char *
sbx_session_create_temp_dir (SbxSession    *self,
                             const char    *prefix,
                             GCancellable  *cancellable,
                             GError       **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_SESSION (self), NULL);
  g_return_val_if_fail (prefix != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return NULL;

  sbx_session_create_temp_dir_async (self, prefix, cancellable,
                                     _sbx_sync_done_cb, sync);

  return sbx_session_create_temp_dir_finish (self, _sbx_sync_wait (sync), error);
}

/**
 * sbx_session_list_dir_async:
 * @self: a session
 * @path: (type filename): a directory of the sandbox
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when it is done
 * @user_data: data for @callback
 *
 * Lists a directory of the sandbox.
 *
 * Each item is a [class@Gio.FileInfo] with a name, type, size, mode, owner and time of last
 * modification. Links are not followed. They come in the order of their names' bytes.
 *
 * Cancelling @cancellable stops the work inside the sandbox.
 *
 * Finish with [method@Session.list_dir_finish].
 *
 * Since: 1.0
 */
void
sbx_session_list_dir_async (SbxSession          *self,
                            const char          *path,
                            GCancellable        *cancellable,
                            GAsyncReadyCallback  callback,
                            gpointer             user_data)
{
  g_autoptr(SbxInvocation) invocation = NULL;
  SbxSessionClass *klass;

  g_return_if_fail (SBX_IS_SESSION (self));
  g_return_if_fail (path != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  invocation = _sbx_session_begin_verb (self, SBX_TYPE_LIST_DIR_INVOCATION,
                                        SBX_CAPABILITIES_LISTING,
                                        path, sbx_session_list_dir_async,
                                        cancellable, callback, user_data);
  if (invocation == NULL)
    return;

  klass = SBX_SESSION_GET_CLASS (self);
  if (klass->handle_list_dir == NULL)
    _sbx_invocation_return_unsupported (invocation);
  else
    _sbx_invocation_handled (invocation,
                             klass->handle_list_dir (self, path,
                                                     SBX_LIST_DIR_INVOCATION (invocation)));

  _sbx_context_leave (G_OBJECT (self));
}

/**
 * sbx_session_list_dir_finish:
 * @self: a session
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Session.list_dir_async].
 *
 * A directory with more entries than the provider lists is %SBX_ERROR_TOO_LARGE. Other errors are
 * from [error@Error], or are a %G_IO_ERROR that the sandbox's file system gave.
 *
 * Returns: (transfer full): a list of [class@Gio.FileInfo]
 *
 * Since: 1.0
 */
GListModel *
sbx_session_list_dir_finish (SbxSession    *self,
                             GAsyncResult  *result,
                             GError       **error)
{
  g_return_val_if_fail (SBX_IS_SESSION (self), NULL);
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_session_list_dir_async), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * sbx_session_list_dir:
 * @self: a session
 * @path: (type filename): a directory of the sandbox
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Lists a directory of the sandbox, and waits for the list.
 *
 * This is for scripts and tools; see [method@Session.list_dir_async].
 *
 * Returns: (transfer full): a list of [class@Gio.FileInfo]
 *
 * Since: 1.0
 */
GListModel *
sbx_session_list_dir (SbxSession    *self,
                      const char    *path,
                      GCancellable  *cancellable,
                      GError       **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_SESSION (self), NULL);
  g_return_val_if_fail (path != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return NULL;

  sbx_session_list_dir_async (self, path, cancellable,
                              _sbx_sync_done_cb, sync);

  return sbx_session_list_dir_finish (self, _sbx_sync_wait (sync), error);
}
