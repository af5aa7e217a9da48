/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-session-files.h"

#include "core/sbx-file-invocations.h"
#include "core/sbx-invocation-private.h"
#include "core/sbx-session-private.h"
#include "core/sbx-sync-private.h"

#include <glib/gi18n-lib.h>

/*
 * Parts of files. The verbs have the shape of those in sbx-session-files.c.
 */

#define DEFAULT_MODE 0644

/**
 * SbxSessionClass::handle_read_range:
 * @self: a session
 * @path: a file, absolute or relative to the working directory
 * @offset: where to begin, in bytes; perhaps after the end of the file
 * @length: how many bytes to answer with at the most
 * @invocation: the call to answer
 *
 * Reads a part of a file of the sandbox.
 *
 * Only a regular file is read. Answer with [method@ReadFileInvocation.return_range].
 *
 * Returns: %TRUE if the invocation was answered, or will be
 *
 * Since: 1.0
 */

/**
 * SbxSessionClass::handle_write_range:
 * @self: a session
 * @path: a file, absolute or relative to the working directory
 * @content: what to write
 * @offset: where to write it, in bytes; perhaps after the end of the file
 * @truncate: whether the file shall end with what is written
 * @mode: the permissions of a file that is new; never 0
 * @invocation: the call to answer
 *
 * Writes a part of a file of the sandbox, and makes the file and the directories above it.
 *
 * Only a regular file is written to.
 *
 * Returns: %TRUE if the invocation was answered, or will be
 *
 * Since: 1.0
 */

/* No file system counts further. An implementation need not look again. */
static gboolean
check_range (SbxInvocation *invocation,
             guint64        offset,
             guint64        length)
{
  if (offset <= G_MAXINT64 && length <= G_MAXINT64 - offset)
    return TRUE;

  sbx_invocation_return_error (invocation, SBX_ERROR_INVALID,
                               _("No file is that large; give a smaller offset"));
  _sbx_invocation_handled (invocation, TRUE);

  return FALSE;
}

/**
 * sbx_session_read_range_async:
 * @self: a session
 * @path: (type filename): a file of the sandbox
 * @offset: where to begin, in bytes
 * @length: how many bytes to read at the most
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when it is done
 * @user_data: data for @callback
 *
 * Reads a part of a file of the sandbox.
 *
 * Only a regular file is read. No more than %SBX_READ_FILE_DEFAULT_MAX_SIZE bytes come at once,
 * however large @length is, and what a provider answers may be less than that: the size of the file
 * tells whether there is more. At the end of the file, and after it, no bytes are read, which is no
 * error. What is written to the file meanwhile may be in there or not.
 *
 * It needs %SBX_CAPABILITIES_RANGES. Cancelling @cancellable stops the work inside the sandbox.
 *
 * Finish with [method@Session.read_range_finish].
 *
 * Since: 1.0
 */
void
sbx_session_read_range_async (SbxSession          *self,
                              const char          *path,
                              guint64              offset,
                              guint64              length,
                              GCancellable        *cancellable,
                              GAsyncReadyCallback  callback,
                              gpointer             user_data)
{
  g_autoptr(SbxInvocation) invocation = NULL;
  SbxSessionClass *klass;

  g_return_if_fail (SBX_IS_SESSION (self));
  g_return_if_fail (path != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  invocation = _sbx_session_begin_verb (self, SBX_TYPE_READ_FILE_INVOCATION,
                                        SBX_CAPABILITIES_RANGES, path,
                                        sbx_session_read_range_async,
                                        cancellable, callback, user_data);
  if (invocation == NULL)
    return;

  length = MIN (length, SBX_READ_FILE_DEFAULT_MAX_SIZE);
  _sbx_read_file_invocation_set_range (SBX_READ_FILE_INVOCATION (invocation), offset, length);

  klass = SBX_SESSION_GET_CLASS (self);
  if (klass->handle_read_range == NULL)
    _sbx_invocation_return_unsupported (invocation);
  else if (check_range (invocation, offset, length))
    _sbx_invocation_handled (invocation,
                             klass->handle_read_range (self, path, offset, length,
                                                       SBX_READ_FILE_INVOCATION (invocation)));

  _sbx_context_leave (G_OBJECT (self));
}

/**
 * sbx_session_read_range_finish:
 * @self: a session
 * @result: what the callback was given
 * @size: (out) (optional): return location for how many bytes the whole file has
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Session.read_range_async].
 *
 * An error is from [error@Error], or a %G_IO_ERROR that the sandbox's file system gave.
 *
 * Returns: (transfer full): the part of the file
 *
 * Since: 1.0
 */
GBytes *
sbx_session_read_range_finish (SbxSession    *self,
                               GAsyncResult  *result,
                               guint64       *size,
                               GError       **error)
{
  g_autoptr(SbxFileRange) range = NULL;

  g_return_val_if_fail (SBX_IS_SESSION (self), NULL);
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_session_read_range_async), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  range = g_task_propagate_pointer (G_TASK (result), error);
  if (size != NULL)
    *size = range != NULL ? range->size : 0;

  return range != NULL ? g_bytes_ref (range->bytes) : NULL;
}

/**
 * sbx_session_read_range:
 * @self: a session
 * @path: (type filename): a file of the sandbox
 * @offset: where to begin, in bytes
 * @length: how many bytes to read at the most
 * @size: (out) (optional): return location for how many bytes the whole file has
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Reads a part of a file of the sandbox, and waits for it.
 *
 * This is for scripts and tools; see [method@Session.read_range_async].
 *
 * Returns: (transfer full): the part of the file
 *
 * Since: 1.0
 */
GBytes *
sbx_session_read_range (SbxSession    *self,
                        const char    *path,
                        guint64        offset,
                        guint64        length,
                        guint64       *size,
                        GCancellable  *cancellable,
                        GError       **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_SESSION (self), NULL);
  g_return_val_if_fail (path != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (size != NULL)
    *size = 0;

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return NULL;

  sbx_session_read_range_async (self, path, offset, length, cancellable,
                                _sbx_sync_done_cb, sync);

  return sbx_session_read_range_finish (self, _sbx_sync_wait (sync), size, error);
}

/**
 * sbx_session_write_range_async:
 * @self: a session
 * @path: (type filename): a file of the sandbox
 * @content: what to write
 * @offset: where to write it, in bytes
 * @truncate: whether the file shall end with what is written
 * @mode: the permissions of a file that is new, or 0 for 0644
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when it is done
 * @user_data: data for @callback
 *
 * Writes a part of a file of the sandbox.
 *
 * A file that does not exist is made, and so are missing directories above it. Only a regular file
 * is written to. Where @offset is after the end of the file there are zeros in between, which take
 * no room on most file systems. The file keeps what it has around the part, unless @truncate says
 * that it shall end where the part does.
 *
 * The file is changed in place: who reads it meanwhile may find half of the part, and where this
 * fails or is cancelled half of it may have been written. See [method@Session.write_file_async] for
 * a whole file at once.
 *
 * It needs %SBX_CAPABILITIES_RANGES. Cancelling @cancellable stops the work inside the sandbox.
 *
 * Finish with [method@Session.write_range_finish].
 *
 * Since: 1.0
 */
void
sbx_session_write_range_async (SbxSession          *self,
                               const char          *path,
                               GBytes              *content,
                               guint64              offset,
                               gboolean             truncate,
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

  invocation = _sbx_session_begin_verb (self, SBX_TYPE_FILE_INVOCATION, SBX_CAPABILITIES_RANGES,
                                        path, sbx_session_write_range_async,
                                        cancellable, callback, user_data);
  if (invocation == NULL)
    return;

  klass = SBX_SESSION_GET_CLASS (self);
  if (klass->handle_write_range == NULL)
    _sbx_invocation_return_unsupported (invocation);
  else if (check_range (invocation, offset, g_bytes_get_size (content)))
    _sbx_invocation_handled (invocation,
                             klass->handle_write_range (self, path, content, offset, truncate,
                                                        mode != 0 ? mode : DEFAULT_MODE,
                                                        SBX_FILE_INVOCATION (invocation)));

  _sbx_context_leave (G_OBJECT (self));
}

/**
 * sbx_session_write_range_finish:
 * @self: a session
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Session.write_range_async].
 *
 * An error is from [error@Error], or a %G_IO_ERROR that the sandbox's file system gave.
 *
 * Returns: %TRUE if all of it was written
 *
 * Since: 1.0
 */
gboolean
sbx_session_write_range_finish (SbxSession    *self,
                                GAsyncResult  *result,
                                GError       **error)
{
  g_return_val_if_fail (SBX_IS_SESSION (self), FALSE);
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_session_write_range_async), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

/**
 * sbx_session_write_range:
 * @self: a session
 * @path: (type filename): a file of the sandbox
 * @content: what to write
 * @offset: where to write it, in bytes
 * @truncate: whether the file shall end with what is written
 * @mode: the permissions of a file that is new, or 0 for 0644
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Writes a part of a file of the sandbox, and waits until it is written.
 *
 * This is for scripts and tools; see [method@Session.write_range_async].
 *
 * Returns: %TRUE if all of it was written
 *
 * Since: 1.0
 */
gboolean
sbx_session_write_range (SbxSession    *self,
                         const char    *path,
                         GBytes        *content,
                         guint64        offset,
                         gboolean       truncate,
                         guint          mode,
                         GCancellable  *cancellable,
                         GError       **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_SESSION (self), FALSE);
  g_return_val_if_fail (path != NULL, FALSE);
  g_return_val_if_fail (content != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return FALSE;

  sbx_session_write_range_async (self, path, content, offset, truncate, mode, cancellable,
                                 _sbx_sync_done_cb, sync);

  return sbx_session_write_range_finish (self, _sbx_sync_wait (sync), error);
}
