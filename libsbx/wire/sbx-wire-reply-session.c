/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-reply-members-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

static gboolean
has_payload (SbxWireLine *line,
             JsonNode    *node)
{
  if (JSON_NODE_HOLDS_VALUE (node))
    return _sbx_wire_line_is_payload (line, node);

  if (JSON_NODE_HOLDS_OBJECT (node))
    {
      JsonObjectIter iter;
      JsonNode *child;

      json_object_iter_init (&iter, json_node_get_object (node));
      while (json_object_iter_next (&iter, NULL, &child))
        if (has_payload (line, child))
          return TRUE;
    }

  if (JSON_NODE_HOLDS_ARRAY (node))
    {
      JsonArray *array = json_node_get_array (node);

      for (guint i = 0; i < json_array_get_length (array); i++)
        if (has_payload (line, json_array_get_element (array, i)))
          return TRUE;
    }

  return FALSE;
}

static JsonNode *copy_node (SbxWireLine  *line,
                            JsonNode     *node,
                            GError      **error);

static JsonNode *
copy_payload (SbxWireLine  *line,
              JsonObject   *object,
              const char   *name,
              GError      **error)
{
  g_autoptr(GBytes) bytes = NULL;
  g_autofree char *text = NULL;
  JsonNode *copy;

  if (_sbx_wire_line_get_payload (line, object, name, &bytes) != SBX_JSON_PRESENT)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_PROTOCOL,
                           _("The session has bytes in it that are no base64"));
      return NULL;
    }

  text = g_base64_encode (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  copy = json_node_alloc ();

  return json_node_init_string (copy, text);
}

static JsonNode *
copy_object (SbxWireLine  *line,
             JsonObject   *object,
             GError      **error)
{
  g_autoptr(JsonObject) copy = json_object_new ();
  JsonNode *node = json_node_alloc ();
  JsonObjectIter iter;
  const char *name;
  JsonNode *child;

  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &name, &child))
    {
      JsonNode *child_copy = _sbx_wire_line_is_payload (line, child)
                               ? copy_payload (line, object, name, error)
                               : copy_node (line, child, error);

      if (child_copy == NULL)
        {
          json_node_unref (node);
          return NULL;
        }

      json_object_set_member (copy, name, child_copy);
    }

  return json_node_init_object (node, copy);
}

static JsonNode *
copy_array (SbxWireLine  *line,
            JsonArray    *array,
            GError      **error)
{
  g_autoptr(JsonArray) copy = json_array_new ();
  JsonNode *node = json_node_alloc ();

  for (guint i = 0; i < json_array_get_length (array); i++)
    {
      JsonNode *child_copy = copy_node (line, json_array_get_element (array, i), error);

      if (child_copy == NULL)
        {
          json_node_unref (node);
          return NULL;
        }

      json_array_add_element (copy, child_copy);
    }

  return json_node_init_array (node, copy);
}

/* The gate has bounded how deep this can go. */
static JsonNode *
copy_node (SbxWireLine  *line,
           JsonNode     *node,
           GError      **error)
{
  if (JSON_NODE_HOLDS_OBJECT (node))
    return copy_object (line, json_node_get_object (node), error);

  if (JSON_NODE_HOLDS_ARRAY (node))
    return copy_array (line, json_node_get_array (node), error);

  return json_node_copy (node);
}

/* The session as it came. What was lifted out of the line as base64 is put back into it: a session
 * may have any member. */
static GBytes *
write_session (SbxWireLine  *line,
               JsonObject   *session,
               GError      **error)
{
  g_autoptr(JsonNode) node = json_node_alloc ();
  g_autoptr(JsonNode) copy = NULL;

  json_node_init_object (node, session);

  if (!has_payload (line, node))
    return _sbx_json_to_bytes (node, FALSE);

  copy = copy_node (line, node, error);

  return copy != NULL ? _sbx_json_to_bytes (copy, FALSE) : NULL;
}

gboolean
_sbx_wire_reply_get_session (SbxWireReply    *self,
                             SbxWireSession  *session,
                             GError         **error)
{
  SbxWireMembers members;
  JsonObject *capabilities = NULL;
  const char *id = NULL;
  const char *cwd = NULL;

  memset (session, 0, sizeof *session);

  if (!_sbx_wire_reply_get_members (self, &members, error) ||
      !_sbx_wire_members_get_string (&members, "id", SBX_WIRE_NOT_EMPTY, &id, error) ||
      !_sbx_wire_members_get_string (&members, "cwd", SBX_WIRE_OPTIONAL, &cwd, error) ||
      !_sbx_wire_members_get_object (&members, "capabilities", SBX_WIRE_OPTIONAL, &capabilities,
                                     error) ||
      !_sbx_wire_features_parse (capabilities, &session->exec, &session->features, error))
    return FALSE;

  session->text = write_session (self->line, self->result, error);
  if (session->text == NULL)
    return FALSE;

  session->id = g_strdup (id);
  session->cwd = cwd != NULL && *cwd != '\0' ? g_strdup (cwd) : NULL;

  return TRUE;
}

void
_sbx_wire_session_clear (SbxWireSession *session)
{
  g_clear_pointer (&session->id, g_free);
  g_clear_pointer (&session->cwd, g_free);
  g_clear_pointer (&session->text, g_bytes_unref);
}
