/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "files/sbx-path-private.h"

#include <errno.h>
#include <glib/gi18n-lib.h>
#include <string.h>

/* Longer names are cut: an error message is no place for four kilobytes. */
#define MAX_SHOWN 512

static gboolean
is_plain (gunichar c)
{
  return c != '\\' && g_unichar_isprint (c) && !(g_unichar_isspace (c) && c != ' ');
}

char *
_sbx_path_show (const char *path)
{
  g_autoptr(GString) shown = g_string_new (NULL);
  const char *at = path;

  while (*at != '\0' && shown->len < MAX_SHOWN)
    {
      const gunichar c = g_utf8_get_char_validated (at, -1);

      if (c == (gunichar) -1 || c == (gunichar) -2)
        {
          g_string_append_printf (shown, "\\x%02x", (guchar) *at);
          at++;
          continue;
        }

      if (is_plain (c))
        g_string_append_unichar (shown, c);
      else if (c == '\\')
        g_string_append (shown, "\\\\");
      else if (c < 0x80)
        g_string_append_printf (shown, "\\x%02x", c);
      else
        g_string_append_printf (shown, "\\u{%x}", c);

      at = g_utf8_next_char (at);
    }

  if (*at != '\0')
    g_string_append (shown, "…");

  return g_string_free (g_steal_pointer (&shown), FALSE);
}

void
_sbx_path_error (GError    **error,
                 int         errsv,
                 const char *path,
                 const char *sentence)
{
  g_autofree char *shown = _sbx_path_show (path);

  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errsv), "%s: %s: %s", shown, sentence,
               g_strerror (errsv));
  errno = errsv;
}

void
_sbx_path_error_code (GError     **error,
                      GIOErrorEnum code,
                      const char  *path,
                      const char  *sentence)
{
  g_autofree char *shown = _sbx_path_show (path);

  g_set_error (error, G_IO_ERROR, code, "%s: %s", shown, sentence);
}

gboolean
_sbx_path_check_beneath (const char *path,
                         GError    **error)
{
  const char *at = path;

  if (*path == '\0')
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_FILENAME,
                           _("The path is empty"));
      return FALSE;
    }

  if (*path == '/')
    {
      _sbx_path_error_code (error, G_IO_ERROR_INVALID_FILENAME, path,
                            _("The path must be relative"));
      return FALSE;
    }

  while (*at != '\0')
    {
      const gsize length = strcspn (at, "/");

      if (length == 2 && strncmp (at, "..", 2) == 0)
        {
          _sbx_path_error_code (error, G_IO_ERROR_INVALID_FILENAME, path,
                                _("The path must not contain “..”"));
          return FALSE;
        }

      at += length;
      at += strspn (at, "/");
    }

  return TRUE;
}

gboolean
_sbx_path_check_name (const char *name,
                      GError    **error)
{
  if (!_sbx_path_check_beneath (name, error))
    return FALSE;

  if (strchr (name, '/') != NULL || strcmp (name, ".") == 0)
    {
      _sbx_path_error_code (error, G_IO_ERROR_INVALID_FILENAME, name,
                            _("This must be the name of one entry of a directory"));
      return FALSE;
    }

  return TRUE;
}
