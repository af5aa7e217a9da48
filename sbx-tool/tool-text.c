/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "tool-text.h"

#include "core/sbx-protection-private.h"

#include <errno.h>
#include <glib/gi18n.h>
#include <stdio.h>

/*
 * A terminal takes these for orders, or shows what follows in another order than it stands there: a
 * path that has them could forge what the tool says.
 */
gboolean
tool_is_dangerous (gunichar c)
{
  return c < 0x20 || (c >= 0x7f && c <= 0x9f)     /* the two sets of control characters */
         || (c >= 0x200b && c <= 0x200f)          /* not seen at all, and marks of direction */
         || (c >= 0x2028 && c <= 0x202e)          /* line ends, embeddings and overrides */
         || (c >= 0x2060 && c <= 0x2069)          /* isolates */
         || c == 0x061c || c == 0xfeff;
}

static char *
escape (const char *text,
        const char *harmless)
{
  g_autoptr(GString) safe = g_string_new (NULL);
  const char *p = text;

  if (!SBX_PROTECTS (T17))
    return g_strdup (text);

  while (*p != '\0')
    {
      const gunichar c = g_utf8_get_char_validated (p, -1);

      if (c == (gunichar) -1 || c == (gunichar) -2)
        {
          g_string_append_printf (safe, "\\x%02x", (guchar) *p++);
          continue;
        }

      if (!tool_is_dangerous (c) || (c < 0x80 && strchr (harmless, (int) c) != NULL))
        g_string_append_unichar (safe, c);
      else if (c == '\n')
        g_string_append (safe, "\\n");
      else if (c < 0x80)
        g_string_append_printf (safe, "\\x%02x", c);
      else
        g_string_append_printf (safe, "\\u%04x", c);

      p = g_utf8_next_char (p);
    }

  return g_string_free (g_steal_pointer (&safe), FALSE);
}

/* What a terminal shows as it stands there. A text may have several lines. */
char *
tool_escape (const char *text)
{
  return escape (text, "\n");
}

/* The same for a path, a name or an argument, which has one line. */
char *
tool_quote (const char *name)
{
  return escape (name, "");
}

/* Writes @text to standard output and says so if that cannot be done. */
gboolean
tool_print (const char *text)
{
  g_autofree char *safe = tool_escape (text);

  if (fputs (safe, stdout) != EOF && fflush (stdout) != EOF)
    return TRUE;

  /* Whoever closed the pipe has seen enough. */
  if (errno != EPIPE)
    tool_complain (_("cannot write the output: %s"), g_strerror (errno));

  return FALSE;
}

G_GNUC_PRINTF (2, 0)
static void
print_error (const char *prefix,
             const char *format,
             va_list     arguments)
{
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  g_autofree char *safe = tool_escape (text);

  fprintf (stderr, "%s%s\n", prefix, safe);
}

/* Says what went wrong. A name in the message must have gone through tool_quote(). */
void
tool_complain (const char *format,
               ...)
{
  va_list arguments;

  va_start (arguments, format);
  print_error ("sbx-tool: ", format, arguments);
  va_end (arguments);
}

/* Says what to do about it, below what went wrong. */
void
tool_hint (const char *format,
           ...)
{
  va_list arguments;

  va_start (arguments, format);
  print_error ("", format, arguments);
  va_end (arguments);
}
