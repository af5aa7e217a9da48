/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-file-info-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>
#include <sys/stat.h>

#define NAME_FILE "file"
#define NAME_DIRECTORY "directory"
#define NAME_SYMLINK "symlink"
#define NAME_OTHER "other"

/* The end of the year 9999, where GDateTime ends. */
#define MAX_SECONDS G_GINT64_CONSTANT (253402300799)

static const char *
name_of_type (GFileType type)
{
  switch (type)
    {
    case G_FILE_TYPE_REGULAR:
      return NAME_FILE;

    case G_FILE_TYPE_DIRECTORY:
      return NAME_DIRECTORY;

    case G_FILE_TYPE_SYMBOLIC_LINK:
      return NAME_SYMLINK;

    case G_FILE_TYPE_SPECIAL:
    case G_FILE_TYPE_SHORTCUT:
    case G_FILE_TYPE_MOUNTABLE:
    case G_FILE_TYPE_UNKNOWN:
    default:
      return NAME_OTHER;
    }
}

/* Bytes that JSON cannot carry go along as base64, next to a text to look at. */
static void
append_bytes (SbxWireMessage *message,
              const char     *head,
              const char     *base64_head,
              const char     *bytes)
{
  g_autofree char *readable = NULL;
  g_autoptr(GBytes) copy = NULL;

  g_string_append (_sbx_wire_message_get_text (message), head);

  if (g_utf8_validate (bytes, -1, NULL))
    {
      _sbx_wire_message_append_string (message, bytes);
      return;
    }

  readable = g_utf8_make_valid (bytes, -1);
  _sbx_wire_message_append_string (message, readable);

  copy = g_bytes_new (bytes, strlen (bytes));
  g_string_append (_sbx_wire_message_get_text (message), base64_head);
  _sbx_wire_message_append_payload (message, copy);
}

static void
append_number (SbxWireMessage *message,
               GFileInfo      *info,
               const char     *attribute,
               const char     *name)
{
  if (g_file_info_has_attribute (info, attribute))
    g_string_append_printf (_sbx_wire_message_get_text (message), ",\"%s\":%u", name,
                            g_file_info_get_attribute_uint32 (info, attribute));
}

static void
append_time (SbxWireMessage *message,
             GFileInfo      *info)
{
  guint64 seconds;
  guint32 microseconds;

  if (!g_file_info_has_attribute (info, G_FILE_ATTRIBUTE_TIME_MODIFIED))
    return;

  seconds = g_file_info_get_attribute_uint64 (info, G_FILE_ATTRIBUTE_TIME_MODIFIED);
  microseconds = g_file_info_get_attribute_uint32 (info, G_FILE_ATTRIBUTE_TIME_MODIFIED_USEC);
  g_string_append_printf (_sbx_wire_message_get_text (message), ",\"mtime_us\":%" G_GUINT64_FORMAT,
                          MIN (seconds, (guint64) MAX_SECONDS) * G_USEC_PER_SEC +
                          MIN (microseconds, G_USEC_PER_SEC - 1));
}

void
_sbx_wire_file_info_append (SbxWireMessage *message,
                            GFileInfo      *info)
{
  const char *name = g_file_info_get_name (info);
  const char *target = g_file_info_get_attribute_byte_string (info,
                                                G_FILE_ATTRIBUTE_STANDARD_SYMLINK_TARGET);

  append_bytes (message, "{\"name\":", ",\"name_base64\":", name != NULL ? name : "");
  g_string_append_printf (_sbx_wire_message_get_text (message), ",\"type\":\"%s\"",
                          name_of_type (g_file_info_get_file_type (info)));

  if (g_file_info_has_attribute (info, G_FILE_ATTRIBUTE_STANDARD_SIZE))
    g_string_append_printf (_sbx_wire_message_get_text (message), ",\"size\":%" G_GINT64_FORMAT,
                            MAX (g_file_info_get_size (info), 0));

  append_number (message, info, G_FILE_ATTRIBUTE_UNIX_MODE, "mode");
  append_number (message, info, G_FILE_ATTRIBUTE_UNIX_UID, "uid");
  append_number (message, info, G_FILE_ATTRIBUTE_UNIX_GID, "gid");
  append_time (message, info);

  if (target != NULL)
    append_bytes (message, ",\"target\":", ",\"target_base64\":", target);

  g_string_append_c (_sbx_wire_message_get_text (message), '}');
}

/* The bytes of @name: those of @base64_name where that is there. %NULL in @value: neither is. */
static gboolean
parse_bytes (const SbxWireMembers  *members,
             SbxWireLine           *line,
             const char            *name,
             const char            *base64_name,
             SbxWireNeed            need,
             char                 **value,
             GError               **error)
{
  g_autoptr(GBytes) bytes = NULL;
  const char *string = NULL;
  const char *data;
  gsize size;

  if (!_sbx_wire_members_get_string (members, name, need, &string, error) ||
      !_sbx_wire_members_get_payload (members, line, base64_name, SBX_WIRE_OPTIONAL, &bytes, error))
    return FALSE;

  if (bytes == NULL)
    {
      *value = g_strdup (string);
      return TRUE;
    }

  data = g_bytes_get_data (bytes, &size);

  if (size > 0 && memchr (data, '\0', size) != NULL)
    return _sbx_wire_members_refuse (members, base64_name, _("bytes without a NUL"), error);

  *value = size > 0 ? g_strndup (data, size) : g_strdup ("");

  return TRUE;
}

static GFileType
type_of_name (const char *name)
{
  if (g_str_equal (name, NAME_FILE))
    return G_FILE_TYPE_REGULAR;

  if (g_str_equal (name, NAME_DIRECTORY))
    return G_FILE_TYPE_DIRECTORY;

  if (g_str_equal (name, NAME_SYMLINK))
    return G_FILE_TYPE_SYMBOLIC_LINK;

  return g_str_equal (name, NAME_OTHER) ? G_FILE_TYPE_SPECIAL : G_FILE_TYPE_UNKNOWN;
}

/* A mode that has permissions only gets the type as well, so that it is what stat() gives. */
static guint32
complete_mode (guint32   mode,
               GFileType type)
{
  if ((mode & S_IFMT) != 0)
    return mode;

  switch (type)
    {
    case G_FILE_TYPE_REGULAR:
      return mode | S_IFREG;

    case G_FILE_TYPE_DIRECTORY:
      return mode | S_IFDIR;

    case G_FILE_TYPE_SYMBOLIC_LINK:
      return mode | S_IFLNK;

    case G_FILE_TYPE_SPECIAL:
    case G_FILE_TYPE_SHORTCUT:
    case G_FILE_TYPE_MOUNTABLE:
    case G_FILE_TYPE_UNKNOWN:
    default:
      return mode;
    }
}

static gboolean
parse_numbers (const SbxWireMembers  *members,
               GFileInfo             *info,
               GError               **error)
{
  gint64 size = -1;
  gint64 mode = -1;
  gint64 uid = -1;
  gint64 gid = -1;
  gint64 mtime = -1;

  if (!_sbx_wire_members_get_int (members, "size", SBX_WIRE_OPTIONAL, 0, G_MAXINT64, &size,
                                  error) ||
      !_sbx_wire_members_get_int (members, "mode", SBX_WIRE_OPTIONAL, 0, 0177777, &mode, error) ||
      !_sbx_wire_members_get_int (members, "uid", SBX_WIRE_OPTIONAL, 0, G_MAXUINT32, &uid,
                                  error) ||
      !_sbx_wire_members_get_int (members, "gid", SBX_WIRE_OPTIONAL, 0, G_MAXUINT32, &gid,
                                  error) ||
      !_sbx_wire_members_get_int (members, "mtime_us", SBX_WIRE_OPTIONAL, 0,
                                  (MAX_SECONDS + 1) * G_USEC_PER_SEC - 1, &mtime, error))
    return FALSE;

  if (size >= 0)
    g_file_info_set_size (info, size);

  if (mode >= 0)
    g_file_info_set_attribute_uint32 (info, G_FILE_ATTRIBUTE_UNIX_MODE,
                                      complete_mode ((guint32) mode,
                                                     g_file_info_get_file_type (info)));

  if (uid >= 0)
    g_file_info_set_attribute_uint32 (info, G_FILE_ATTRIBUTE_UNIX_UID, (guint32) uid);

  if (gid >= 0)
    g_file_info_set_attribute_uint32 (info, G_FILE_ATTRIBUTE_UNIX_GID, (guint32) gid);

  if (mtime >= 0)
    {
      g_file_info_set_attribute_uint64 (info, G_FILE_ATTRIBUTE_TIME_MODIFIED,
                                        (guint64) (mtime / G_USEC_PER_SEC));
      g_file_info_set_attribute_uint32 (info, G_FILE_ATTRIBUTE_TIME_MODIFIED_USEC,
                                        (guint32) (mtime % G_USEC_PER_SEC));
    }

  return TRUE;
}

static gboolean
is_name (const char *name,
         gboolean    is_entry)
{
  if (!is_entry)
    return strchr (name, '/') == NULL || g_str_equal (name, "/");

  return name[0] != '\0' && strchr (name, '/') == NULL && strcmp (name, ".") != 0 &&
         strcmp (name, "..") != 0;
}

GFileInfo *
_sbx_wire_file_info_parse (const SbxWireMembers  *members,
                           SbxWireLine           *line,
                           gboolean               is_entry,
                           GError               **error)
{
  g_autoptr(GFileInfo) info = g_file_info_new ();
  g_autofree char *name = NULL;
  g_autofree char *target = NULL;
  g_autofree char *display_name = NULL;
  const char *type = NULL;

  if (!parse_bytes (members, line, "name", "name_base64", SBX_WIRE_REQUIRED, &name, error) ||
      !parse_bytes (members, line, "target", "target_base64", SBX_WIRE_OPTIONAL, &target, error) ||
      !_sbx_wire_members_get_string (members, "type", SBX_WIRE_REQUIRED, &type, error))
    return NULL;

  if (!is_name (name, is_entry))
    {
      _sbx_wire_members_refuse (members, "name", _("the name of a file in a directory"), error);
      return NULL;
    }

  display_name = g_filename_display_name (name);
  g_file_info_set_name (info, name);
  g_file_info_set_display_name (info, display_name);
  g_file_info_set_file_type (info, type_of_name (type));
  g_file_info_set_is_symlink (info, g_str_equal (type, NAME_SYMLINK));
  if (target != NULL && g_str_equal (type, NAME_SYMLINK))
    g_file_info_set_symlink_target (info, target);

  if (!parse_numbers (members, info, error))
    return NULL;

  return g_steal_pointer (&info);
}
