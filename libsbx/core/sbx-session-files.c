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
 * SbxSessionClass::handle_read_file:
 * @self: a session
 * @path: a file, absolute or relative to the working directory
 * @max_size: how many bytes to answer with at the most
 * @invocation: the call to answer
 *
 * Reads a file of the sandbox.
 *
 * Only a regular file is read, and a larger one is %SBX_ERROR_TOO_LARGE.
 *
 * Returns: %TRUE if the invocation was answered, or will be
 *
 * Since: 1.0
 */

/**
 * SbxSessionClass::handle_write_file:
 * @self: a session
 * @path: a file, absolute or relative to the working directory
 * @content: what it shall contain
 * @mode: the permissions of a file that is new
 * @invocation: the call to answer
 *
 * Replaces the content of a file of the sandbox, and makes the directories above it.
 *
 * Returns: %TRUE if the invocation was answered, or will be
 *
 * Since: 1.0
 */

/**
 * SbxSessionClass::handle_remove:
 * @self: a session
 * @path: what to remove, absolute or relative to the working directory
 * @invocation: the call to answer
 *
 * Removes a file of the sandbox, or a directory and all in it.
 *
 * One that does not exist is no error.
 *
 * Returns: %TRUE if the invocation was answered, or will be
 *
 * Since: 1.0
 */

/**
 * SbxSessionClass::handle_stat:
 * @self: a session
 * @path: a file, absolute or relative to the working directory
 * @invocation: the call to answer
 *
 * Asks about a file of the sandbox, without following a link.
 *
 * Returns: %TRUE if the invocation was answered, or will be
 *
 * Since: 1.0
 */

/**
 * sbx_session_read_file_async:
 * @self: a session
 * @path: (type filename): a file of the sandbox
 * @max_size: how many bytes to read at the most, or 0 for
 *   %SBX_READ_FILE_DEFAULT_MAX_SIZE
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when it is done
 * @user_data: data for @callback
 *
 * Reads a file of the sandbox.
 *
 * Only a regular file is read: of a pipe or a device there might be no end. A file that is larger
 * than @max_size is %SBX_ERROR_TOO_LARGE, and nothing of it is returned.
 *
 * Cancelling @cancellable stops the work inside the sandbox.
 *
 * Finish with [method@Session.read_file_finish].
 *
 * Since: 1.0
 */
void
sbx_session_read_file_async (SbxSession          *self,
                             const char          *path,
                             guint64              max_size,
                             GCancellable        *cancellable,
                             GAsyncReadyCallback  callback,
                             gpointer             user_data)
{
  g_autoptr(SbxInvocation) invocation = NULL;
  SbxSessionClass *klass;

  g_return_if_fail (SBX_IS_SESSION (self));
  g_return_if_fail (path != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  invocation = _sbx_session_begin_verb (self, SBX_TYPE_READ_FILE_INVOCATION, SBX_CAPABILITIES_FILES,
                                        path, sbx_session_read_file_async,
                                        cancellable, callback, user_data);
  if (invocation == NULL)
    return;

  if (max_size == 0)
    max_size = SBX_READ_FILE_DEFAULT_MAX_SIZE;
  _sbx_read_file_invocation_set_max_size (SBX_READ_FILE_INVOCATION (invocation), max_size);

  klass = SBX_SESSION_GET_CLASS (self);
  if (klass->handle_read_file == NULL)
    _sbx_invocation_return_unsupported (invocation);
  else
    _sbx_invocation_handled (invocation,
                             klass->handle_read_file (self, path,
                                                      max_size,
                                                      SBX_READ_FILE_INVOCATION (invocation)));

  _sbx_context_leave (G_OBJECT (self));
}

/**
 * sbx_session_read_file_finish:
 * @self: a session
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Session.read_file_async].
 *
 * An error is from [error@Error], or a %G_IO_ERROR that the sandbox's file system gave.
 *
 * Returns: (transfer full): the content
 *
 * Since: 1.0
 */
GBytes *
sbx_session_read_file_finish (SbxSession    *self,
                              GAsyncResult  *result,
                              GError       **error)
{
  g_return_val_if_fail (SBX_IS_SESSION (self), NULL);
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_session_read_file_async), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * sbx_session_read_file:
 * @self: a session
 * @path: (type filename): a file of the sandbox
 * @max_size: how many bytes to read at the most, or 0 for
 *   %SBX_READ_FILE_DEFAULT_MAX_SIZE
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Reads a file of the sandbox, and waits for it.
 *
 * This is for scripts and tools; see [method@Session.read_file_async].
 *
 * Returns: (transfer full): the content
 *
 * Since: 1.0
 */
GBytes *
sbx_session_read_file (SbxSession    *self,
                       const char    *path,
                       guint64        max_size,
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

  sbx_session_read_file_async (self, path, max_size, cancellable,
                               _sbx_sync_done_cb, sync);

  return sbx_session_read_file_finish (self, _sbx_sync_wait (sync), error);
}

/**
 * sbx_session_write_file_async:
 * @self: a session
 * @path: (type filename): a file of the sandbox
 * @content: what it shall contain
 * @mode: the permissions of a file that is new, such as 0644
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when it is done
 * @user_data: data for @callback
 *
 * Writes a file of the sandbox.
 *
 * Missing directories above it are made. A file that exists is replaced as a whole: who reads it
 * meanwhile finds the old content or the new, never half of one. It keeps its permissions.
 *
 * Cancelling @cancellable stops the work inside the sandbox.
 *
 * Finish with [method@Session.write_file_finish].
 *
 * Since: 1.0
 */
void
sbx_session_write_file_async (SbxSession          *self,
                              const char          *path,
                              GBytes              *content,
                              guint                mode,
                              GCancellable        *cancellable,
                              GAsyncReadyCallback  callback,
                              gpointer             user_data)
{
  g_autoptr(SbxInvocation) invocation = NULL;
  SbxSessionClass *klass;

  g_return_if_fail (SBX_IS_SESSION (self));
  g_return_if_fail (path != NULL);
  g_return_if_fail (content != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  invocation = _sbx_session_begin_verb (self, SBX_TYPE_FILE_INVOCATION, SBX_CAPABILITIES_FILES,
                                        path, sbx_session_write_file_async,
                                        cancellable, callback, user_data);
  if (invocation == NULL)
    return;

  klass = SBX_SESSION_GET_CLASS (self);
  if (klass->handle_write_file == NULL)
    _sbx_invocation_return_unsupported (invocation);
  else
    _sbx_invocation_handled (invocation,
                             klass->handle_write_file (self, path, content, mode,
                                                       SBX_FILE_INVOCATION (invocation)));

  _sbx_context_leave (G_OBJECT (self));
}

/**
 * sbx_session_write_file_finish:
 * @self: a session
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Session.write_file_async].
 *
 * An error is from [error@Error], or a %G_IO_ERROR that the sandbox's file system gave.
 *
 * Returns: %TRUE if it was written
 *
 * Since: 1.0
 */
gboolean
sbx_session_write_file_finish (SbxSession    *self,
                               GAsyncResult  *result,
                               GError       **error)
{
  g_return_val_if_fail (SBX_IS_SESSION (self), FALSE);
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_session_write_file_async), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

/**
 * sbx_session_write_file:
 * @self: a session
 * @path: (type filename): a file of the sandbox
 * @content: what it shall contain
 * @mode: the permissions of a file that is new, such as 0644
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Writes a file of the sandbox, and waits until it is written.
 *
 * This is for scripts and tools; see [method@Session.write_file_async].
 *
 * Returns: %TRUE if it was written
 *
 * Since: 1.0
 */
gboolean
sbx_session_write_file (SbxSession    *self,
                        const char    *path,
                        GBytes        *content,
                        guint          mode,
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

  sbx_session_write_file_async (self, path, content, mode, cancellable,
                                _sbx_sync_done_cb, sync);

  return sbx_session_write_file_finish (self, _sbx_sync_wait (sync), error);
}

/**
 * sbx_session_remove_async:
 * @self: a session
 * @path: (type filename): a file or directory of the sandbox
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when it is done
 * @user_data: data for @callback
 *
 * Removes a file of the sandbox, or a directory and all in it.
 *
 * One that does not exist is no error. A symbolic link is removed, not what it points to.
 *
 * Cancelling @cancellable stops the work inside the sandbox.
 *
 * Finish with [method@Session.remove_finish].
 *
 * Since: 1.0
 */
void
sbx_session_remove_async (SbxSession          *self,
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
                                        path, sbx_session_remove_async,
                                        cancellable, callback, user_data);
  if (invocation == NULL)
    return;

  klass = SBX_SESSION_GET_CLASS (self);
  if (klass->handle_remove == NULL)
    _sbx_invocation_return_unsupported (invocation);
  else
    _sbx_invocation_handled (invocation,
                             klass->handle_remove (self, path,
                                                   SBX_FILE_INVOCATION (invocation)));

  _sbx_context_leave (G_OBJECT (self));
}

/**
 * sbx_session_remove_finish:
 * @self: a session
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Session.remove_async].
 *
 * An error is from [error@Error], or a %G_IO_ERROR that the sandbox's file system gave.
 *
 * Returns: %TRUE if nothing is there any more
 *
 * Since: 1.0
 */
gboolean
sbx_session_remove_finish (SbxSession    *self,
                           GAsyncResult  *result,
                           GError       **error)
{
  g_return_val_if_fail (SBX_IS_SESSION (self), FALSE);
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_session_remove_async), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

/**
 * sbx_session_remove:
 * @self: a session
 * @path: (type filename): a file or directory of the sandbox
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Removes a file or a tree of the sandbox, and waits until it is gone.
 *
 * This is for scripts and tools; see [method@Session.remove_async].
 *
 * Returns: %TRUE if nothing is there any more
 *
 * Since: 1.0
 */
gboolean
sbx_session_remove (SbxSession    *self,
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

  sbx_session_remove_async (self, path, cancellable,
                            _sbx_sync_done_cb, sync);

  return sbx_session_remove_finish (self, _sbx_sync_wait (sync), error);
}

/**
 * sbx_session_stat_async:
 * @self: a session
 * @path: (type filename): a file of the sandbox
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when it is done
 * @user_data: data for @callback
 *
 * Asks about a file of the sandbox.
 *
 * A link is not followed: the answer is about the link, and has its target.
 *
 * Cancelling @cancellable stops the work inside the sandbox.
 *
 * Finish with [method@Session.stat_finish].
 *
 * Since: 1.0
 */
void
sbx_session_stat_async (SbxSession          *self,
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

  invocation = _sbx_session_begin_verb (self, SBX_TYPE_STAT_INVOCATION, SBX_CAPABILITIES_LISTING,
                                        path, sbx_session_stat_async,
                                        cancellable, callback, user_data);
  if (invocation == NULL)
    return;

  klass = SBX_SESSION_GET_CLASS (self);
  if (klass->handle_stat == NULL)
    _sbx_invocation_return_unsupported (invocation);
  else
    _sbx_invocation_handled (invocation,
                             klass->handle_stat (self, path,
                                                 SBX_STAT_INVOCATION (invocation)));

  _sbx_context_leave (G_OBJECT (self));
}

/**
 * sbx_session_stat_finish:
 * @self: a session
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Session.stat_async].
 *
 * An error is from [error@Error], or a %G_IO_ERROR that the sandbox's file system gave.
 *
 * Returns: (transfer full): what is known of the file
 *
 * Since: 1.0
 */
GFileInfo *
sbx_session_stat_finish (SbxSession    *self,
                         GAsyncResult  *result,
                         GError       **error)
{
  g_return_val_if_fail (SBX_IS_SESSION (self), NULL);
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_session_stat_async), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * sbx_session_stat:
 * @self: a session
 * @path: (type filename): a file of the sandbox
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Asks about a file of the sandbox, and waits for the answer.
 *
 * This is for scripts and tools; see [method@Session.stat_async].
 *
 * Returns: (transfer full): what is known of the file
 *
 * Since: 1.0
 */
GFileInfo *
sbx_session_stat (SbxSession    *self,
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

  sbx_session_stat_async (self, path, cancellable,
                          _sbx_sync_done_cb, sync);

  return sbx_session_stat_finish (self, _sbx_sync_wait (sync), error);
}
