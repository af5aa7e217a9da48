/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-json-canonical-private.h"

#include "core/sbx-error.h"
#include "json/sbx-json-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

static const SbxJsonLimits limits =
{
  .max_size = 1024 * 1024,
  .max_depth = 32,
  .max_tokens = 50 * 1000,
  .max_members = 1024,
  .max_string = 64 * 1024,
  .max_number = 64,
};

static JsonNode *sort_node (JsonNode *node);

static JsonNode *
sort_object (JsonObject *object)
{
  g_autoptr(JsonNode) node = json_node_new (JSON_NODE_OBJECT);
  g_autoptr(JsonObject) sorted = json_object_new ();
  g_autoptr(GList) names = g_list_sort (json_object_get_members (object), (GCompareFunc) strcmp);

  for (GList *l = names; l != NULL; l = l->next)
    json_object_set_member (sorted, l->data, sort_node (json_object_get_member (object, l->data)));

  json_node_set_object (node, sorted);

  return g_steal_pointer (&node);
}

static JsonNode *
sort_array (JsonArray *array)
{
  const guint length = json_array_get_length (array);
  g_autoptr(JsonNode) node = json_node_new (JSON_NODE_ARRAY);
  g_autoptr(JsonArray) sorted = json_array_sized_new (length);

  for (guint i = 0; i < length; i++)
    json_array_add_element (sorted, sort_node (json_array_get_element (array, i)));

  json_node_set_array (node, sorted);

  return g_steal_pointer (&node);
}

/* As deep as the gate allows. */
static JsonNode *
sort_node (JsonNode *node)
{
  if (JSON_NODE_HOLDS_OBJECT (node))
    return sort_object (json_node_get_object (node));

  if (JSON_NODE_HOLDS_ARRAY (node))
    return sort_array (json_node_get_array (node));

  return json_node_copy (node);
}

char *
_sbx_json_object_canonical (const char  *text,
                            GError     **error)
{
  g_autoptr(GBytes) bytes = g_bytes_new (text, strlen (text));
  g_autoptr(GError) local_error = NULL;
  g_autoptr(JsonNode) node = _sbx_json_parse (bytes, &limits, &local_error);
  g_autoptr(JsonNode) sorted = NULL;
  g_autoptr(GBytes) written = NULL;

  if (node == NULL)
    {
      const gboolean large = g_error_matches (local_error, SBX_ERROR, SBX_ERROR_TOO_LARGE);

      g_set_error (error, SBX_ERROR, large ? SBX_ERROR_TOO_LARGE : SBX_ERROR_INVALID,
                   _("The settings of a provider cannot be read as JSON: %s"),
                   local_error->message);
      return NULL;
    }

  if (!JSON_NODE_HOLDS_OBJECT (node))
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_INVALID,
                           _("The settings of a provider must be an object; write {…}"));
      return NULL;
    }

  sorted = sort_node (node);
  written = _sbx_json_to_bytes (sorted, FALSE);

  return g_strndup (g_bytes_get_data (written, NULL), g_bytes_get_size (written));
}
