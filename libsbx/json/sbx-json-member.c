/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "json/sbx-json-private.h"

/* Finds a member. @node is only set when it is there and not null. */
static SbxJsonFound
find (JsonObject *object,
      const char *name,
      JsonNode  **node)
{
  JsonNode *found = json_object_get_member (object, name);

  if (found == NULL)
    return SBX_JSON_ABSENT;

  if (JSON_NODE_HOLDS_NULL (found))
    return SBX_JSON_NULL;

  *node = found;
  return SBX_JSON_PRESENT;
}

static SbxJsonFound
find_value (JsonObject *object,
            const char *name,
            GType       type,
            JsonNode  **node)
{
  const SbxJsonFound found = find (object, name, node);

  if (found != SBX_JSON_PRESENT)
    return found;

  if (!JSON_NODE_HOLDS_VALUE (*node) || json_node_get_value_type (*node) != type)
    return SBX_JSON_WRONG_TYPE;

  return SBX_JSON_PRESENT;
}

SbxJsonFound
_sbx_json_object_get_int (JsonObject *object,
                          const char *name,
                          gint64     *value)
{
  JsonNode *node = NULL;
  const SbxJsonFound found = find_value (object, name, G_TYPE_INT64, &node);

  if (found == SBX_JSON_PRESENT)
    *value = json_node_get_int (node);

  return found;
}

SbxJsonFound
_sbx_json_object_get_double (JsonObject *object,
                             const char *name,
                             double     *value)
{
  JsonNode *node = NULL;
  gint64 integer = 0;
  SbxJsonFound found = find_value (object, name, G_TYPE_DOUBLE, &node);

  if (found == SBX_JSON_PRESENT)
    *value = json_node_get_double (node);
  else if (found == SBX_JSON_WRONG_TYPE)
    {
      found = _sbx_json_object_get_int (object, name, &integer);

      if (found == SBX_JSON_PRESENT)
        *value = (double) integer;
    }

  return found;
}

SbxJsonFound
_sbx_json_object_get_boolean (JsonObject *object,
                              const char *name,
                              gboolean   *value)
{
  JsonNode *node = NULL;
  const SbxJsonFound found = find_value (object, name, G_TYPE_BOOLEAN, &node);

  if (found == SBX_JSON_PRESENT)
    *value = json_node_get_boolean (node);

  return found;
}

SbxJsonFound
_sbx_json_object_get_string (JsonObject  *object,
                             const char  *name,
                             const char **value)
{
  JsonNode *node = NULL;
  const SbxJsonFound found = find_value (object, name, G_TYPE_STRING, &node);

  if (found == SBX_JSON_PRESENT)
    *value = json_node_get_string (node);

  return found;
}

SbxJsonFound
_sbx_json_object_get_object (JsonObject  *object,
                             const char  *name,
                             JsonObject **value)
{
  JsonNode *node = NULL;
  const SbxJsonFound found = find (object, name, &node);

  if (found != SBX_JSON_PRESENT)
    return found;

  if (!JSON_NODE_HOLDS_OBJECT (node))
    return SBX_JSON_WRONG_TYPE;

  *value = json_node_get_object (node);
  return SBX_JSON_PRESENT;
}

SbxJsonFound
_sbx_json_object_get_array (JsonObject *object,
                            const char *name,
                            JsonArray **value)
{
  JsonNode *node = NULL;
  const SbxJsonFound found = find (object, name, &node);

  if (found != SBX_JSON_PRESENT)
    return found;

  if (!JSON_NODE_HOLDS_ARRAY (node))
    return SBX_JSON_WRONG_TYPE;

  *value = json_node_get_array (node);
  return SBX_JSON_PRESENT;
}

SbxJsonFound
_sbx_json_object_get_strv (JsonObject *object,
                           const char *name,
                           char     ***value)
{
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new ();
  JsonArray *array = NULL;
  const SbxJsonFound found = _sbx_json_object_get_array (object, name, &array);

  if (found != SBX_JSON_PRESENT)
    return found;

  for (guint i = 0; i < json_array_get_length (array); i++)
    {
      JsonNode *node = json_array_get_element (array, i);

      if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_STRING)
        return SBX_JSON_WRONG_TYPE;

      g_strv_builder_add (builder, json_node_get_string (node));
    }

  *value = g_strv_builder_end (builder);
  return SBX_JSON_PRESENT;
}
