/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-plan-builder-private.h"
#include "core/sbx-error.h"

#include <stdlib.h>
#include <string.h>

/* Binds are recursive: what the host has mounted below a directory comes along. */

#define MAX_MOUNTINFO (16 * 1024 * 1024)

/* Fields of a line of mountinfo. */
enum
{
  FIELD_MOUNT_POINT = 4,
  FIELD_OPTIONAL = 6,
};

/* Undoes the \ooo of the kernel in place. */
static void
unescape (char *text)
{
  const char *from = text;
  char *to = text;

  while (*from != '\0')
    {
      if (from[0] == '\\' && g_ascii_isdigit (from[1]) && g_ascii_isdigit (from[2]) &&
          g_ascii_isdigit (from[3]))
        {
          *to++ = (char) (((from[1] - '0') << 6) | ((from[2] - '0') << 3) | (from[3] - '0'));
          from += 4;
        }
      else
        *to++ = *from++;
    }

  *to = '\0';
}

static gboolean
comes_along (SbxBwrapPlan *plan,
             const char   *path)
{
  guint i;

  for (i = 0; i < plan->mounts->len; i++)
    {
      const SbxBwrapMount *mount = g_ptr_array_index (plan->mounts, i);

      if ((mount->kind == SBX_BWRAP_MOUNT_BIND || mount->kind == SBX_BWRAP_MOUNT_RO_BIND) &&
          mount->is_directory && strcmp (mount->source, path) != 0 &&
          _sbx_bwrap_path_is_below (path, mount->source))
        return TRUE;
    }

  return FALSE;
}

static void
add_line (SbxBwrapPlan *plan,
          const char   *line)
{
  g_auto(GStrv) fields = g_strsplit (line, " ", -1);
  const guint n = g_strv_length (fields);
  SbxBwrapSubmount *submount;
  guint i = FIELD_OPTIONAL;

  while (i < n && strcmp (fields[i], "-") != 0)
    i++;

  if (i + 1 >= n)
    return;

  unescape (fields[FIELD_MOUNT_POINT]);
  if (!comes_along (plan, fields[FIELD_MOUNT_POINT]))
    return;

  submount = g_new0 (SbxBwrapSubmount, 1);
  submount->path = g_strdup (fields[FIELD_MOUNT_POINT]);
  submount->type = g_strdup (fields[i + 1]);
  g_ptr_array_add (plan->submounts, submount);
}

gboolean
_sbx_bwrap_plan_find_submounts (SbxBwrapPlan  *plan,
                                GError       **error)
{
  g_autofree char *content = NULL;
  g_autoptr(GError) reason = NULL;
  char *line;
  char *end;
  gsize size;

  if (!g_file_get_contents ("/proc/self/mountinfo", &content, &size, &reason) ||
      size > MAX_MOUNTINFO)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED, "The list of mounts cannot be read: "
                                                             "%s",
                   reason != NULL ? reason->message : "it is too long");
      return FALSE;
    }

  for (line = content; (end = strchr (line, '\n')) != NULL; line = end + 1)
    {
      *end = '\0';
      add_line (plan, line);
    }

  return TRUE;
}
