/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conversation-private.h"

#include "core/sbx-text-private.h"
#include "json/sbx-json-private.h"

#include <string.h>

const char *
_sbx_message_get_id (JsonNode *message)
{
  const char *id = NULL;

  if (message != NULL && JSON_NODE_HOLDS_OBJECT (message))
    _sbx_json_object_get_string (json_node_get_object (message), "id", &id);

  return id;
}

gboolean
_sbx_message_is_final (JsonNode *message)
{
  JsonObject *event;

  return message != NULL && JSON_NODE_HOLDS_OBJECT (message)
         && _sbx_json_object_get_object (json_node_get_object (message), "event", &event)
            != SBX_JSON_PRESENT;
}

static const char *
get_type (JsonNode *node)
{
  if (node == NULL)
    return "nothing";
  if (JSON_NODE_HOLDS_OBJECT (node))
    return "an object";
  if (JSON_NODE_HOLDS_ARRAY (node))
    return "a list";
  if (JSON_NODE_HOLDS_NULL (node))
    return "null";

  switch (json_node_get_value_type (node))
    {
    case G_TYPE_STRING:
      return "a string";

    case G_TYPE_BOOLEAN:
      return "true or false";

    case G_TYPE_INT64:
      return "an integer";

    default:
      return "a number";
    }
}

/* Whose value is part of the shape: what a program goes by. */
static gboolean
is_code (const char *name)
{
  return strcmp (name, "code") == 0 || strcmp (name, "errno") == 0 || strcmp (name, "kind") == 0
         || strcmp (name, "type") == 0;
}

static void
compare_member (JsonObject *recorded,
                JsonObject *real,
                const char *name,
                const char *where,
                GPtrArray  *differences)
{
  g_autofree char *safe = _sbx_text_escape (name);
  g_autofree char *place = g_strdup_printf ("%s.%s", where, safe);
  JsonNode *one = json_object_get_member (recorded, name);
  JsonNode *other = json_object_get_member (real, name);
  const char *code = NULL;
  const char *real_code = NULL;

  _sbx_conversation_compare (one, other, place, differences);

  if (is_code (name) && _sbx_json_object_get_string (recorded, name, &code) == SBX_JSON_PRESENT &&
      _sbx_json_object_get_string (real, name, &real_code) == SBX_JSON_PRESENT &&
      strcmp (code, real_code) != 0 && !g_str_has_prefix (code, "x"))
    {
      g_autofree char *quoted = _sbx_text_quote (code);
      g_autofree char *real_quoted = _sbx_text_quote (real_code);

      g_ptr_array_add (differences, g_strdup_printf ("%s: %s, was %s", place, real_quoted, quoted));
    }
}

void
_sbx_conversation_compare (JsonNode   *recorded,
                           JsonNode   *real,
                           const char *where,
                           GPtrArray  *differences)
{
  JsonObjectIter iter;
  const char *name;

  if (strcmp (get_type (recorded), get_type (real)) != 0)
    {
      g_ptr_array_add (differences, g_strdup_printf ("%s: %s, was %s", where, get_type (real),
                                                     get_type (recorded)));
      return;
    }

  if (recorded == NULL)
    return;

  if (JSON_NODE_HOLDS_ARRAY (recorded))
    {
      JsonArray *one = json_node_get_array (recorded);
      JsonArray *other = json_node_get_array (real);

      /* How many there are is what is held; of what kind they are shows in the first. */
      if (json_array_get_length (one) > 0 && json_array_get_length (other) > 0)
        {
          g_autofree char *place = g_strconcat (where, "[0]", NULL);

          _sbx_conversation_compare (json_array_get_element (one, 0),
                                     json_array_get_element (other, 0), place, differences);
        }
      return;
    }

  if (!JSON_NODE_HOLDS_OBJECT (recorded))
    return;

  json_object_iter_init_ordered (&iter, json_node_get_object (recorded));
  while (json_object_iter_next_ordered (&iter, &name, NULL))
    compare_member (json_node_get_object (recorded), json_node_get_object (real), name, where,
                    differences);

  json_object_iter_init_ordered (&iter, json_node_get_object (real));
  while (json_object_iter_next_ordered (&iter, &name, NULL))
    if (!json_object_has_member (json_node_get_object (recorded), name))
      compare_member (json_node_get_object (recorded), json_node_get_object (real), name, where,
                      differences);
}
