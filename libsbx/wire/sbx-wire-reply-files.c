/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-reply-members-private.h"

#include "wire/sbx-wire-file-info-private.h"

#include <glib/gi18n-lib.h>

char *
_sbx_wire_reply_get_path (SbxWireReply  *self,
                          GError       **error)
{
  SbxWireMembers members;
  const char *path = NULL;

  if (!_sbx_wire_reply_get_members (self, &members, error) ||
      !_sbx_wire_members_get_string (&members, "path", SBX_WIRE_NOT_EMPTY, &path, error))
    return NULL;

  return g_strdup (path);
}

GBytes *
_sbx_wire_reply_get_content (SbxWireReply  *self,
                             gint64        *size,
                             GError       **error)
{
  SbxWireMembers members;
  GBytes *content = NULL;

  *size = -1;

  if (!_sbx_wire_reply_get_members (self, &members, error) ||
      !_sbx_wire_members_get_payload (&members, self->line, "content_base64", SBX_WIRE_REQUIRED,
                                      &content, error))
    return NULL;

  /* Of an extension, so that another use of the name is no harm. */
  if (_sbx_json_object_get_int (members.object, "size", size) != SBX_JSON_PRESENT || *size < 0)
    *size = -1;

  return content;
}

GFileInfo *
_sbx_wire_reply_get_info (SbxWireReply  *self,
                          GError       **error)
{
  SbxWireMembers members;

  if (!_sbx_wire_reply_get_members (self, &members, error))
    return NULL;

  return _sbx_wire_file_info_parse (&members, self->line, FALSE, error);
}

GListStore *
_sbx_wire_reply_get_infos (SbxWireReply  *self,
                           GError       **error)
{
  g_autoptr(GListStore) list = g_list_store_new (G_TYPE_FILE_INFO);
  g_autoptr(GPtrArray) infos = g_ptr_array_new_with_free_func (g_object_unref);
  SbxWireMembers members;
  SbxWireMembers entry = { NULL, "result.entries", SBX_ERROR_PROTOCOL };
  JsonArray *entries = NULL;

  if (!_sbx_wire_reply_get_members (self, &members, error))
    return NULL;

  if (members.object == NULL ||
      _sbx_json_object_get_array (members.object, "entries", &entries) != SBX_JSON_PRESENT)
    {
      _sbx_wire_members_refuse (&members, "entries", _("an array"), error);
      return NULL;
    }

  if (json_array_get_length (entries) > SBX_WIRE_MAX_ENTRIES)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE,
                   _("The directory has %u entries, which is more than one reply can carry; list "
                     "its parts, or run a command that does"), json_array_get_length (entries));
      return NULL;
    }

  for (guint i = 0; i < json_array_get_length (entries); i++)
    {
      JsonNode *node = json_array_get_element (entries, i);
      GFileInfo *info = NULL;

      if (!JSON_NODE_HOLDS_OBJECT (node))
        {
          _sbx_wire_members_refuse (&members, "entries", _("an array of objects"), error);
          return NULL;
        }

      entry.object = json_node_get_object (node);
      info = _sbx_wire_file_info_parse (&entry, self->line, TRUE, error);
      if (info == NULL)
        return NULL;

      g_ptr_array_add (infos, info);
    }

  g_list_store_splice (list, 0, 0, infos->pdata, infos->len);

  return g_steal_pointer (&list);
}
