/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-file-invocations.h"

#include "core/sbx-invocation-private.h"

#include <glib/gi18n-lib.h>

/**
 * SbxCloseInvocation:
 *
 * A call of [method@Session.close_async] that a session has to answer.
 *
 * See [class@Invocation] for what all invocations have in common.
 *
 * Since: 1.0
 */

struct _SbxCloseInvocation
{
  SbxInvocation parent_instance;
};

G_DEFINE_FINAL_TYPE (SbxCloseInvocation, sbx_close_invocation, SBX_TYPE_INVOCATION)

static void
sbx_close_invocation_class_init (SbxCloseInvocationClass *klass)
{
}

static void
sbx_close_invocation_init (SbxCloseInvocation *self)
{
}

/**
 * sbx_close_invocation_return_done:
 * @self: an invocation
 *
 * Answers that the sandbox has ended, with everything in it.
 *
 * Since: 1.0
 */
void
sbx_close_invocation_return_done (SbxCloseInvocation *self)
{
  g_return_if_fail (SBX_IS_CLOSE_INVOCATION (self));

  _sbx_invocation_return (SBX_INVOCATION (self), NULL, NULL);
}

/**
 * SbxFileInvocation:
 *
 * A call of [method@Session.write_file_async], [method@Session.create_dir_all_async],
 * [method@Session.remove_async], [method@Session.write_range_async], [method@Session.rename_async]
 * or [method@Session.copy_async] that a session has to answer.
 *
 * See [class@Invocation] for what all invocations have in common.
 *
 * Since: 1.0
 */

struct _SbxFileInvocation
{
  SbxInvocation parent_instance;
};

G_DEFINE_FINAL_TYPE (SbxFileInvocation, sbx_file_invocation, SBX_TYPE_INVOCATION)

static void
sbx_file_invocation_class_init (SbxFileInvocationClass *klass)
{
}

static void
sbx_file_invocation_init (SbxFileInvocation *self)
{
}

/**
 * sbx_file_invocation_return_done:
 * @self: an invocation
 *
 * Answers that it was done.
 *
 * Since: 1.0
 */
void
sbx_file_invocation_return_done (SbxFileInvocation *self)
{
  g_return_if_fail (SBX_IS_FILE_INVOCATION (self));

  _sbx_invocation_return (SBX_INVOCATION (self), NULL, NULL);
}

/**
 * SbxReadFileInvocation:
 *
 * A call of [method@Session.read_file_async] or [method@Session.read_range_async] that a session
 * has to answer.
 *
 * See [class@Invocation] for what all invocations have in common.
 *
 * Since: 1.0
 */

struct _SbxReadFileInvocation
{
  SbxInvocation parent_instance;

  guint64       max_size;
  guint64       offset;
  gboolean      is_range;
};

G_DEFINE_FINAL_TYPE (SbxReadFileInvocation, sbx_read_file_invocation, SBX_TYPE_INVOCATION)

static void
sbx_read_file_invocation_class_init (SbxReadFileInvocationClass *klass)
{
}

static void
sbx_read_file_invocation_init (SbxReadFileInvocation *self)
{
  self->max_size = G_MAXUINT64;
}

void
_sbx_read_file_invocation_set_max_size (SbxReadFileInvocation *self,
                                        guint64                max_size)
{
  self->max_size = max_size;
}

void
_sbx_read_file_invocation_set_range (SbxReadFileInvocation *self,
                                     guint64                offset,
                                     guint64                length)
{
  self->is_range = TRUE;
  self->offset = offset;
  self->max_size = length;
}

void
_sbx_file_range_free (SbxFileRange *range)
{
  g_bytes_unref (range->bytes);
  g_free (range);
}

static void
sbx_read_file_invocation_return (SbxReadFileInvocation *self,
                                 GBytes                *bytes,
                                 guint64                size)
{
  SbxFileRange *range;

  /* What the caller would not have, whoever the provider is. */
  if (g_bytes_get_size (bytes) > self->max_size)
    {
      sbx_invocation_return_error (SBX_INVOCATION (self), SBX_ERROR_TOO_LARGE,
                                   self->is_range
                                     ? _("The provider answered with more of the file than was "
                                         "asked for; this is a defect of the provider")
                                     : _("The file is larger than the limit that was given"));
      return;
    }

  if (!self->is_range)
    {
      _sbx_invocation_return (SBX_INVOCATION (self), g_bytes_ref (bytes),
                              (GDestroyNotify) g_bytes_unref);
      return;
    }

  range = g_new0 (SbxFileRange, 1);
  range->bytes = g_bytes_ref (bytes);
  range->size = size;
  _sbx_invocation_return (SBX_INVOCATION (self), range, (GDestroyNotify) _sbx_file_range_free);
}

/**
 * sbx_read_file_invocation_return_bytes:
 * @self: an invocation
 * @bytes: the content of the file
 *
 * Answers with the content of a file.
 *
 * More than the caller's limit is answered with %SBX_ERROR_TOO_LARGE instead. Of a call of
 * [method@Session.read_range_async] these are the bytes that were asked for, and the file is taken
 * to end with them; better answer it with [method@ReadFileInvocation.return_range].
 *
 * Since: 1.0
 */
void
sbx_read_file_invocation_return_bytes (SbxReadFileInvocation *self,
                                       GBytes                *bytes)
{
  g_return_if_fail (SBX_IS_READ_FILE_INVOCATION (self));
  g_return_if_fail (bytes != NULL);

  sbx_read_file_invocation_return (self, bytes, self->offset + g_bytes_get_size (bytes));
}

/**
 * sbx_read_file_invocation_return_range:
 * @self: an invocation
 * @bytes: the part of the file that was asked for
 * @size: how many bytes the whole file has
 *
 * Answers with a part of a file.
 *
 * Fewer bytes than were asked for are an answer, even before the end of the file; none at all mean
 * that the part starts at the end or after it. More than were asked for are answered with
 * %SBX_ERROR_TOO_LARGE instead. Of a call of [method@Session.read_file_async] @size is not used.
 *
 * Since: 1.0
 */
void
sbx_read_file_invocation_return_range (SbxReadFileInvocation *self,
                                       GBytes                *bytes,
                                       guint64                size)
{
  g_return_if_fail (SBX_IS_READ_FILE_INVOCATION (self));
  g_return_if_fail (bytes != NULL);

  sbx_read_file_invocation_return (self, bytes, size);
}

/**
 * SbxTempDirInvocation:
 *
 * A call of [method@Session.create_temp_dir_async] that a session has to answer.
 *
 * See [class@Invocation] for what all invocations have in common.
 *
 * Since: 1.0
 */

struct _SbxTempDirInvocation
{
  SbxInvocation parent_instance;
};

G_DEFINE_FINAL_TYPE (SbxTempDirInvocation, sbx_temp_dir_invocation, SBX_TYPE_INVOCATION)

static void
sbx_temp_dir_invocation_class_init (SbxTempDirInvocationClass *klass)
{
}

static void
sbx_temp_dir_invocation_init (SbxTempDirInvocation *self)
{
}

/**
 * sbx_temp_dir_invocation_return_path:
 * @self: an invocation
 * @path: (type filename): where the directory is, inside the sandbox
 *
 * Answers with the path of the new directory.
 *
 * Since: 1.0
 */
void
sbx_temp_dir_invocation_return_path (SbxTempDirInvocation *self,
                                     const char           *path)
{
  g_return_if_fail (SBX_IS_TEMP_DIR_INVOCATION (self));
  g_return_if_fail (path != NULL);

  _sbx_invocation_return (SBX_INVOCATION (self), g_strdup (path), g_free);
}

/**
 * SbxListDirInvocation:
 *
 * A call of [method@Session.list_dir_async] that a session has to answer.
 *
 * See [class@Invocation] for what all invocations have in common.
 *
 * Since: 1.0
 */

struct _SbxListDirInvocation
{
  SbxInvocation parent_instance;
};

G_DEFINE_FINAL_TYPE (SbxListDirInvocation, sbx_list_dir_invocation, SBX_TYPE_INVOCATION)

static void
sbx_list_dir_invocation_class_init (SbxListDirInvocationClass *klass)
{
}

static void
sbx_list_dir_invocation_init (SbxListDirInvocation *self)
{
}

/**
 * sbx_list_dir_invocation_return_infos:
 * @self: an invocation
 * @infos: a list of [class@Gio.FileInfo]
 *
 * Answers with what is in a directory.
 *
 * Since: 1.0
 */
void
sbx_list_dir_invocation_return_infos (SbxListDirInvocation *self,
                                      GListModel           *infos)
{
  g_return_if_fail (SBX_IS_LIST_DIR_INVOCATION (self));
  g_return_if_fail (G_IS_LIST_MODEL (infos));

  _sbx_invocation_return (SBX_INVOCATION (self), g_object_ref (infos), g_object_unref);
}

/**
 * SbxStatInvocation:
 *
 * A call of [method@Session.stat_async] that a session has to answer.
 *
 * See [class@Invocation] for what all invocations have in common.
 *
 * Since: 1.0
 */

struct _SbxStatInvocation
{
  SbxInvocation parent_instance;
};

G_DEFINE_FINAL_TYPE (SbxStatInvocation, sbx_stat_invocation, SBX_TYPE_INVOCATION)

static void
sbx_stat_invocation_class_init (SbxStatInvocationClass *klass)
{
}

static void
sbx_stat_invocation_init (SbxStatInvocation *self)
{
}

/**
 * sbx_stat_invocation_return_info:
 * @self: an invocation
 * @info: what is known of the file
 *
 * Answers with what is known of a file.
 *
 * Since: 1.0
 */
void
sbx_stat_invocation_return_info (SbxStatInvocation *self,
                                 GFileInfo         *info)
{
  g_return_if_fail (SBX_IS_STAT_INVOCATION (self));
  g_return_if_fail (G_IS_FILE_INFO (info));

  _sbx_invocation_return (SBX_INVOCATION (self), g_object_ref (info), g_object_unref);
}
