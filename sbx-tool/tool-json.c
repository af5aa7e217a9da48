/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "tool-json.h"

#include "tool-text.h"

#include <string.h>

/* Only ever writes: nothing that is foreign is parsed here. */

/*
 * A JSON string holds Unicode, and a path or an argument holds any bytes. What is UTF-8 becomes a
 * string and is exact. What is not becomes {"escaped": …}, where a byte that is not ASCII is \xNN
 * and a backslash is \\, so that nobody takes the one for the other.
 */
void
tool_json_add_bytes (JsonBuilder *builder,
                     const char  *bytes)
{
  g_autoptr(GString) escaped = NULL;

  if (g_utf8_validate (bytes, -1, NULL))
    {
      json_builder_add_string_value (builder, bytes);
      return;
    }

  escaped = g_string_new (NULL);
  for (const char *p = bytes; *p != '\0'; p++)
    {
      if (*p == '\\')
        g_string_append (escaped, "\\\\");
      else if (*p & 0x80)
        g_string_append_printf (escaped, "\\x%02x", (guchar) *p);
      else
        g_string_append_c (escaped, *p);
    }

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "escaped");
  json_builder_add_string_value (builder, escaped->str);
  json_builder_end_object (builder);
}

void
tool_json_add_text (JsonBuilder *builder,
                    const char  *name,
                    const char  *value)
{
  json_builder_set_member_name (builder, name);
  if (value != NULL)
    tool_json_add_bytes (builder, value);
  else
    json_builder_add_null_value (builder);
}

void
tool_json_add_texts (JsonBuilder        *builder,
                     const char         *name,
                     const char * const *values)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_array (builder);
  for (gsize i = 0; values != NULL && values[i] != NULL; i++)
    tool_json_add_bytes (builder, values[i]);
  json_builder_end_array (builder);
}

char *
tool_json_make_safe (const char *text)
{
  g_autoptr(GString) safe = g_string_new (NULL);

  for (const char *p = text; *p != '\0'; p = g_utf8_next_char (p))
    {
      const gunichar c = g_utf8_get_char (p);

      if (c != '\n' && tool_is_dangerous (c))
        g_string_append_printf (safe, "\\u%04x", c);
      else
        g_string_append_unichar (safe, c);
    }

  return g_string_free (g_steal_pointer (&safe), FALSE);
}

/* One text, with a newline at its end. It may be shown on a terminal. */
char *
tool_json_to_text (JsonBuilder *builder)
{
  g_autoptr(JsonNode) root = json_builder_get_root (builder);
  g_autofree char *text = json_to_string (root, TRUE);
  g_autofree char *line = g_strconcat (text, "\n", NULL);

  return tool_json_make_safe (line);
}
