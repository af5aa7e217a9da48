/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "json/sbx-json-private.h"

#include <math.h>
#include <string.h>

typedef struct
{
  GString *text;
  gboolean pretty;
  guint depth;
} Writer;

static void write_node (Writer   *self,
                        JsonNode *node);

static void
write_string (Writer     *self,
              const char *string)
{
  g_autofree char *valid = NULL;

  /* A file name may be any bytes. */
  if (!g_utf8_validate (string, -1, NULL))
    string = valid = g_utf8_make_valid (string, -1);

  g_string_append_c (self->text, '"');

  while (*string != '\0')
    {
      gsize plain = 0;

      while ((guchar) string[plain] >= 0x20 && string[plain] != '"' && string[plain] != '\\' &&
             string[plain] != 0x7f)
        plain++;

      g_string_append_len (self->text, string, (gssize) plain);
      string += plain;

      if (*string == '\0')
        break;

      if (*string == '"' || *string == '\\')
        g_string_append_printf (self->text, "\\%c", *string);
      else if (*string == '\n')
        g_string_append (self->text, "\\n");
      else if (*string == '\t')
        g_string_append (self->text, "\\t");
      else
        g_string_append_printf (self->text, "\\u%04x", (guchar) *string);

      string++;
    }

  g_string_append_c (self->text, '"');
}

static void
write_double (Writer *self,
              double  value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  if (!isfinite (value))
    {
      g_string_append (self->text, "null");
      return;
    }

  /* As few digits as say the same: 0.1 rather than 0.10000000000000001. */
  g_ascii_formatd (digits, sizeof digits, "%.15g", value);
  if (g_ascii_strtod (digits, NULL) != value)
    g_ascii_dtostr (digits, sizeof digits, value);

  g_string_append (self->text, digits);

  /* Read again, it is to be a double again. */
  if (strpbrk (digits, ".e") == NULL)
    g_string_append (self->text, ".0");
}

static void
write_value (Writer   *self,
             JsonNode *node)
{
  const GType type = json_node_get_value_type (node);

  if (type == G_TYPE_STRING)
    write_string (self, json_node_get_string (node));
  else if (type == G_TYPE_DOUBLE)
    write_double (self, json_node_get_double (node));
  else if (type == G_TYPE_BOOLEAN)
    g_string_append (self->text, json_node_get_boolean (node) ? "true" : "false");
  else
    g_string_append_printf (self->text, "%" G_GINT64_FORMAT, json_node_get_int (node));
}

/* Between two entries, and around all of them. */
static void
write_line_break (Writer *self)
{
  if (!self->pretty)
    return;

  g_string_append_c (self->text, '\n');

  for (guint i = 0; i < self->depth; i++)
    g_string_append (self->text, "  ");
}

static void
write_array (Writer    *self,
             JsonArray *array)
{
  const guint length = json_array_get_length (array);

  g_string_append_c (self->text, '[');
  self->depth++;

  for (guint i = 0; i < length; i++)
    {
      if (i > 0)
        g_string_append_c (self->text, ',');

      write_line_break (self);
      write_node (self, json_array_get_element (array, i));
    }

  self->depth--;
  if (length > 0)
    write_line_break (self);

  g_string_append_c (self->text, ']');
}

static void
write_object (Writer     *self,
              JsonObject *object)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;
  gboolean first = TRUE;

  g_string_append_c (self->text, '{');
  self->depth++;

  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &name, &node))
    {
      if (!first)
        g_string_append_c (self->text, ',');

      write_line_break (self);
      write_string (self, name);
      g_string_append (self->text, self->pretty ? ": " : ":");
      write_node (self, node);
      first = FALSE;
    }

  self->depth--;
  if (!first)
    write_line_break (self);

  g_string_append_c (self->text, '}');
}

static void
write_node (Writer   *self,
            JsonNode *node)
{
  switch (json_node_get_node_type (node))
    {
    case JSON_NODE_OBJECT:
      write_object (self, json_node_get_object (node));
      break;

    case JSON_NODE_ARRAY:
      write_array (self, json_node_get_array (node));
      break;

    case JSON_NODE_VALUE:
      write_value (self, node);
      break;

    case JSON_NODE_NULL:
    default:
      g_string_append (self->text, "null");
    }
}

GBytes *
_sbx_json_to_bytes (JsonNode *node,
                    gboolean  pretty)
{
  Writer self = { .text = g_string_new (NULL), .pretty = pretty };

  g_return_val_if_fail (node != NULL, NULL);

  write_node (&self, node);
  if (pretty)
    g_string_append_c (self.text, '\n');

  return g_string_free_to_bytes (self.text);
}
