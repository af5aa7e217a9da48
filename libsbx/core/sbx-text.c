/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-text-private.h"

#include <string.h>

#define MAX_BYTES 1024

/* What changes the direction of text, or is not seen at all, could make a message say something
 * else than it does (Unicode TR 36). */
static gboolean
is_deceptive (gunichar c)
{
  const GUnicodeType type = g_unichar_type (c);

  return type == G_UNICODE_CONTROL || type == G_UNICODE_FORMAT ||
         type == G_UNICODE_LINE_SEPARATOR || type == G_UNICODE_PARAGRAPH_SEPARATOR ||
         type == G_UNICODE_PRIVATE_USE || type == G_UNICODE_UNASSIGNED;
}

static gsize
append_escaped (GString    *out,
                const char *text)
{
  const gunichar c = g_utf8_get_char_validated (text, -1);
  gsize length;

  if (c == (gunichar) -1 || c == (gunichar) -2)
    {
      g_string_append_printf (out, "\\x%02x", (guchar) *text);
      return 1;
    }

  length = g_utf8_skip[(guchar) *text];

  if (c == '\n')
    g_string_append (out, "\\n");
  else if (c == '\t')
    g_string_append (out, "\\t");
  else if (c == '\\')
    g_string_append (out, "\\\\");
  else if (is_deceptive (c))
    g_string_append_printf (out, c < 0x80 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
  else
    g_string_append_len (out, text, length);

  return length;
}

char *
_sbx_text_escape (const char *bytes)
{
  GString *out = g_string_new (NULL);
  gsize i = 0;

  while (bytes[i] != '\0' && i < MAX_BYTES)
    i += append_escaped (out, bytes + i);

  if (bytes[i] != '\0')
    g_string_append (out, "…");

  return g_string_free (out, FALSE);
}

char *
_sbx_text_quote (const char *bytes)
{
  g_autofree char *escaped = _sbx_text_escape (bytes);

  return g_strconcat ("“", escaped, "”", NULL);
}
