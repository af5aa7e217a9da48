/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-call-members-private.h"

#include "core/sbx-text-private.h"

#include <glib/gi18n-lib.h>

#define VERSION "sandbox.v1"

gboolean
_sbx_wire_call_get_table (JsonObject  *object,
                          const char  *path,
                          GHashTable  *table,
                          GError     **error)
{
  const SbxWireMembers members = { object, path, SBX_ERROR_INVALID };
  JsonObjectIter iter;
  const char *name;

  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &name, NULL))
    {
      const char *value = NULL;
      g_autofree char *escaped = NULL;

      if (_sbx_json_object_get_string (object, name, &value) == SBX_JSON_PRESENT)
        {
          g_hash_table_replace (table, g_strdup (name), g_strdup (value));
          continue;
        }

      escaped = _sbx_text_escape (name);

      return _sbx_wire_members_refuse (&members, escaped, _("a string"), error);
    }

  return TRUE;
}

static gboolean
parse_metadata (SbxWireCall     *self,
                SbxOpenRequest  *request,
                GError         **error)
{
  const SbxWireMembers members = _sbx_wire_call_members (self);
  SbxWireMembers metadata = { NULL, "params.metadata", SBX_ERROR_INVALID };
  g_autoptr(GHashTable) tags = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  const char *version = NULL;
  const char *request_id = NULL;
  const char *group = NULL;
  JsonObject *tags_object = NULL;
  GHashTableIter iter;
  gpointer name;
  gpointer value;

  if (!_sbx_wire_members_get_object (&members, "metadata", SBX_WIRE_REQUIRED, &metadata.object,
                                     error) ||
      !_sbx_wire_members_get_string (&metadata, "protocol_version", SBX_WIRE_REQUIRED, &version,
                                     error) ||
      !_sbx_wire_members_get_string (&metadata, "request_id", SBX_WIRE_REQUIRED, &request_id,
                                     error) ||
      !_sbx_wire_members_get_string (&metadata, "sandbox_group_id", SBX_WIRE_NOT_EMPTY, &group,
                                     error) ||
      !_sbx_wire_members_get_object (&metadata, "tags", SBX_WIRE_OPTIONAL, &tags_object, error) ||
      (tags_object != NULL &&
       !_sbx_wire_call_get_table (tags_object, "params.metadata.tags", tags, error)))
    return FALSE;

  if (!g_str_equal (version, VERSION))
    return _sbx_wire_members_refuse (&metadata, "protocol_version", "“" VERSION "”", error);

  sbx_open_request_set_request_id (request, request_id);
  sbx_open_request_set_group (request, group);

  g_hash_table_iter_init (&iter, tags);
  while (g_hash_table_iter_next (&iter, &name, &value))
    sbx_open_request_set_tag (request, name, value);

  return TRUE;
}

SbxOpenRequest *
_sbx_wire_call_get_open (SbxWireCall  *self,
                         const char  **provider,
                         GError      **error)
{
  const SbxWireMembers members = _sbx_wire_call_members (self);
  SbxWireMembers profile = { NULL, "params.profile", SBX_ERROR_INVALID };
  SbxWireMembers sync = { NULL, "params.workspace_sync", SBX_ERROR_INVALID };
  g_autoptr(SbxOpenRequest) request = NULL;
  const char *name = NULL;
  const char *host_path = NULL;
  const char *cwd = NULL;

  if (!_sbx_wire_members_get_object (&members, "profile", SBX_WIRE_REQUIRED, &profile.object,
                                     error) ||
      !_sbx_wire_members_get_string (&profile, "provider", SBX_WIRE_REQUIRED, provider, error) ||
      !_sbx_wire_members_get_string (&profile, "name", SBX_WIRE_NOT_EMPTY, &name, error) ||
      !_sbx_wire_members_get_object (&members, "workspace_sync", SBX_WIRE_REQUIRED, &sync.object,
                                     error) ||
      !_sbx_wire_members_get_string (&sync, "host_path", SBX_WIRE_NOT_EMPTY, &host_path, error) ||
      !_sbx_wire_members_get_string (&members, "cwd", SBX_WIRE_OPTIONAL, &cwd, error))
    return NULL;

  request = sbx_open_request_new_for_profile (host_path, name);
  if (!parse_metadata (self, request, error))
    return NULL;

  /* An empty one is the session's own, as elsewhere. */
  if (cwd != NULL && *cwd != '\0')
    sbx_open_request_set_cwd (request, cwd);

  return g_steal_pointer (&request);
}

/* The group is said twice. Two groups would be one too many to remove. */
const char *
_sbx_wire_call_get_group (SbxWireCall  *self,
                          GError      **error)
{
  const SbxWireMembers members = _sbx_wire_call_members (self);
  SbxWireMembers metadata = { NULL, "params.metadata", SBX_ERROR_INVALID };
  const char *group = _sbx_wire_call_get_string (self, "sandbox_group_id", error);
  const char *again = NULL;

  if (group == NULL ||
      !_sbx_wire_members_get_object (&members, "metadata", SBX_WIRE_OPTIONAL, &metadata.object,
                                     error) ||
      !_sbx_wire_members_get_string (&metadata, "sandbox_group_id", SBX_WIRE_OPTIONAL, &again,
                                     error))
    return NULL;

  if (again != NULL && !g_str_equal (again, group))
    {
      _sbx_wire_members_refuse (&metadata, "sandbox_group_id",
                                _("the same as “params.sandbox_group_id”"), error);
      return NULL;
    }

  return group;
}
