/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-init-records-private.h"

#include "core/sbx-error.h"
#include "init/sbx-init-protocol-private.h"

#include <string.h>
#include <sys/stat.h>

typedef struct
{
  const char *at;
  gsize       left;
} Cursor;

static gboolean
take (Cursor   *cursor,
      gpointer  to,
      gsize     size)
{
  if (size > cursor->left)
    return FALSE;

  memcpy (to, cursor->at, size);
  cursor->at += size;
  cursor->left -= size;

  return TRUE;
}

/* A string without its end, which must not have one within either. */
static char *
take_string (Cursor *cursor,
             gsize   size)
{
  char *string;

  if (size > cursor->left || memchr (cursor->at, '\0', size) != NULL)
    return NULL;

  string = g_strndup (cursor->at, size);
  cursor->at += size;
  cursor->left -= size;

  return string;
}

static GFileType
type_of_mode (guint32 mode)
{
  switch (mode & S_IFMT)
    {
    case S_IFREG:
      return G_FILE_TYPE_REGULAR;

    case S_IFDIR:
      return G_FILE_TYPE_DIRECTORY;

    case S_IFLNK:
      return G_FILE_TYPE_SYMBOLIC_LINK;

    case S_IFIFO:
    case S_IFSOCK:
    case S_IFCHR:
    case S_IFBLK:
      return G_FILE_TYPE_SPECIAL;

    default:
      return G_FILE_TYPE_UNKNOWN;
    }
}

static void
set_time (GFileInfo               *info,
          const SbxInitFileRecord *record)
{
  /* GFileInfo has no sign for it, and GDateTime ends with the year 9999. */
  const gint64 seconds = CLAMP (record->mtime, 0, G_GINT64_CONSTANT (253402300799));

  g_file_info_set_attribute_uint64 (info, G_FILE_ATTRIBUTE_TIME_MODIFIED, (guint64) seconds);
  g_file_info_set_attribute_uint32 (info, G_FILE_ATTRIBUTE_TIME_MODIFIED_USEC,
                                    record->mtime_ns / 1000);
}

static GFileInfo *
make_info (const SbxInitFileRecord *record,
           const char              *name,
           const char              *link)
{
  GFileInfo *info = g_file_info_new ();
  g_autofree char *display_name = g_filename_display_name (name);

  g_file_info_set_name (info, name);
  g_file_info_set_display_name (info, display_name);
  g_file_info_set_file_type (info, type_of_mode (record->mode));
  g_file_info_set_size (info, (goffset) MIN (record->size, (guint64) G_MAXINT64));
  g_file_info_set_is_symlink (info, S_ISLNK (record->mode));
  if (S_ISLNK (record->mode))
    g_file_info_set_symlink_target (info, link);
  set_time (info, record);
  g_file_info_set_attribute_uint32 (info, G_FILE_ATTRIBUTE_UNIX_MODE, record->mode);
  g_file_info_set_attribute_uint32 (info, G_FILE_ATTRIBUTE_UNIX_UID, record->uid);
  g_file_info_set_attribute_uint32 (info, G_FILE_ATTRIBUTE_UNIX_GID, record->gid);

  return info;
}

static gboolean
is_name (const char *name)
{
  return name[0] != '\0' && strchr (name, '/') == NULL && strcmp (name, ".") != 0 &&
         strcmp (name, "..") != 0;
}

static GFileInfo *
take_record (Cursor    *cursor,
             gboolean   any_name,
             GError   **error)
{
  SbxInitFileRecord record;
  g_autofree char *name = NULL;
  g_autofree char *link = NULL;

  if (take (cursor, &record, sizeof record) && record.magic == SBX_INIT_FILE_MAGIC &&
      record.name_length <= SBX_INIT_MAX_NAME && record.link_length <= SBX_INIT_MAX_LINK &&
      record.mtime_ns < 1000000000 && (record.link_length == 0 || S_ISLNK (record.mode)))
    {
      name = take_string (cursor, record.name_length);
      link = take_string (cursor, record.link_length);
    }

  if (name == NULL || link == NULL || (!any_name && !is_name (name)))
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_LOST,
                           "The sandbox described a file in a way that makes no sense");
      return NULL;
    }

  return make_info (&record, name, link);
}

GListStore *
_sbx_init_records_parse_list (GBytes  *data,
                              GError **error)
{
  g_autoptr(GListStore) list = g_list_store_new (G_TYPE_FILE_INFO);
  g_autoptr(GPtrArray) infos = g_ptr_array_new_with_free_func (g_object_unref);
  Cursor cursor;

  cursor.at = g_bytes_get_data (data, &cursor.left);

  while (cursor.left > 0)
    {
      GFileInfo *info = take_record (&cursor, FALSE, error);

      if (info == NULL)
        return NULL;

      g_ptr_array_add (infos, info);
    }

  g_list_store_splice (list, 0, 0, infos->pdata, infos->len);
  return g_steal_pointer (&list);
}

GFileInfo *
_sbx_init_records_parse_stat (GBytes  *data,
                              GError **error)
{
  g_autoptr(GFileInfo) info = NULL;
  Cursor cursor;

  cursor.at = g_bytes_get_data (data, &cursor.left);
  info = take_record (&cursor, TRUE, error);

  if (info != NULL && (cursor.left > 0 || strchr (g_file_info_get_name (info), '/') != NULL))
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_LOST,
                           "The sandbox described more than one file");
      return NULL;
    }

  return g_steal_pointer (&info);
}
