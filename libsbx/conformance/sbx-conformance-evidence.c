/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conformance-evidence-private.h"

#include "json/sbx-json-private.h"

#include <string.h>

#define MAX_STRING 256
#define MAX_TEXT 2048
#define MAX_EVIDENCE (1024 * 1024)

static JsonNode *cut_node (JsonNode   *node,
                           const char *name);

static void
cut_member_cb (JsonObject *object,
               const char *name,
               JsonNode   *node,
               gpointer    user_data)
{
  json_object_set_member (user_data, name, cut_node (node, name));
}

static void
cut_element_cb (JsonArray *array,
                guint      i,
                JsonNode  *node,
                gpointer   user_data)
{
  json_array_add_element (user_data, cut_node (node, ""));
}

static char *
cut_string (const char *text,
            const char *name)
{
  const gsize size = strlen (text);
  const char *end = text;

  if (strcmp (name, "provider_state_json") == 0)
    return g_strdup_printf ("[%" G_GSIZE_FORMAT " bytes cut]", size);
  if (size <= MAX_STRING)
    return g_strdup (text);

  while (end - text < MAX_STRING / 4)
    end = g_utf8_next_char (end);

  return g_strdup_printf ("%.*s[%" G_GSIZE_FORMAT " bytes cut]", (int) (end - text), text,
                          size - (gsize) (end - text));
}

static JsonNode *
cut_node (JsonNode   *node,
          const char *name)
{
  g_autoptr(JsonNode) copy = json_node_new (JSON_NODE_TYPE (node));
  g_autofree char *text = NULL;

  if (JSON_NODE_HOLDS_OBJECT (node))
    {
      json_node_take_object (copy, json_object_new ());
      json_object_foreach_member (json_node_get_object (node), cut_member_cb,
                                  json_node_get_object (copy));
    }
  else if (JSON_NODE_HOLDS_ARRAY (node))
    {
      json_node_take_array (copy, json_array_new ());
      json_array_foreach_element (json_node_get_array (node), cut_element_cb,
                                  json_node_get_array (copy));
    }
  else if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING)
    {
      text = cut_string (json_node_get_string (node), name);
      json_node_set_string (copy, text);
    }
  else
    {
      return json_node_ref (node);
    }

  return g_steal_pointer (&copy);
}

/* A line that is no JSON has the state all the same, if only by the looks of it. */
static void
cut_state (GString *text)
{
  static const char name[] = "\"provider_state_json\"";
  gsize at = 0;
  char *found;

  while ((found = memmem (text->str + at, text->len - at, name, sizeof name - 1)) != NULL)
    {
      gsize start = (gsize) (found - text->str) + sizeof name - 1;
      gsize end;

      while (start < text->len && text->str[start] != '"' && strchr (" \t:", text->str[start]))
        start++;
      for (end = start + 1; end < text->len && text->str[end] != '"'; end++)
        if (text->str[end] == '\\')
          end++;

      end = MIN (end, text->len);
      if (start + 1 < end)
        g_string_erase (text, (gssize) start + 1, (gssize) (end - start - 1));
      at = MIN (start + 1, text->len);
    }
}

/* A line that is no JSON: its beginning and its end. */
static GBytes *
cut_text (GBytes *line)
{
  gsize size;
  const char *text = g_bytes_get_data (line, &size);
  g_autoptr(GString) cut = NULL;

  if (size <= MAX_TEXT)
    {
      cut = g_string_new_len (text, (gssize) size);
    }
  else
    {
      cut = g_string_new_len (text, MAX_TEXT / 2);
      g_string_append_printf (cut, "[%" G_GSIZE_FORMAT " bytes cut]", size - MAX_TEXT / 2);
    }
  cut_state (cut);

  return g_string_free_to_bytes (g_steal_pointer (&cut));
}

GBytes *
_sbx_evidence_cut (GBytes *line)
{
  const SbxJsonLimits limits = {
    .max_size = 128 * 1024 * 1024,
    .max_depth = 64,
    .max_tokens = 10000,
    .max_members = 1000,
    .max_string = 128 * 1024 * 1024,
    .max_number = 128,
  };
  g_autoptr(JsonNode) node = NULL;
  g_autoptr(JsonNode) cut = NULL;
  g_autoptr(GBytes) trimmed = NULL;
  g_autoptr(GBytes) text = NULL;
  const char *data;
  gsize size;

  if (line == NULL)
    return NULL;

  data = g_bytes_get_data (line, &size);
  while (size > 0 && (data[size - 1] == '\n' || data[size - 1] == '\r'))
    size--;
  trimmed = g_bytes_new_from_bytes (line, 0, size);

  node = _sbx_json_parse (trimmed, &limits, NULL);
  if (node == NULL || JSON_NODE_HOLDS_NULL (node))
    return cut_text (trimmed);

  cut = cut_node (node, "");
  text = _sbx_json_to_bytes (cut, FALSE);

  return g_bytes_get_size (text) <= MAX_EVIDENCE ? g_steal_pointer (&text) : cut_text (text);
}
