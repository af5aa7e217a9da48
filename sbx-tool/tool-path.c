/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "tool-path.h"

#include "tool-text.h"

#include <errno.h>
#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Makes a path absolute without a look at the file system: what it leads to is the library's
 * question. A ".." stays, since taking it out by text is wrong behind a symbolic link.
 */
char *
tool_path_make_absolute (const char *path,
                         const char *here)
{
  g_autoptr(GString) whole = g_string_new (NULL);
  g_auto(GStrv) parts = g_strsplit (path, "/", -1);

  if (!g_path_is_absolute (path))
    g_string_assign (whole, strcmp (here, "/") == 0 ? "" : here);

  for (gsize i = 0; parts[i] != NULL; i++)
    if (*parts[i] != '\0' && strcmp (parts[i], ".") != 0)
      g_string_append_printf (whole, "/%s", parts[i]);

  if (whole->len == 0)
    g_string_assign (whole, "/");

  return g_string_free (g_steal_pointer (&whole), FALSE);
}

gboolean
tool_path_make_all_absolute (GStrv       paths,
                             const char *option,
                             const char *here)
{
  for (gsize i = 0; paths != NULL && paths[i] != NULL; i++)
    {
      char *absolute;

      if (*paths[i] == '\0')
        {
          tool_complain (_("%s needs a path, and got an empty one"), option);
          return FALSE;
        }

      absolute = tool_path_make_absolute (paths[i], here);
      g_free (paths[i]);
      paths[i] = absolute;
    }

  return TRUE;
}

/* A directory that was deleted under us has no path, and must not be taken for "/". */
char *
tool_path_get_base (void)
{
  char *here = getcwd (NULL, 0);
  char *copy;

  if (here == NULL || *here != '/')
    {
      tool_complain (_("the current directory cannot be found: %s"),
                     here == NULL ? g_strerror (errno) : _("it is outside of the root directory"));
      tool_hint (_("Change to a directory that exists, or give one with --cwd."));
      free (here);
      return NULL;
    }

  copy = g_strdup (here);
  free (here);
  return copy;
}

gboolean
tool_path_needs_base (GStrv paths)
{
  for (gsize i = 0; paths != NULL && paths[i] != NULL; i++)
    if (!g_path_is_absolute (paths[i]))
      return TRUE;

  return FALSE;
}
