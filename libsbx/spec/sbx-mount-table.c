/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-mount-table-private.h"

#include "core/sbx-error.h"
#include "spec/sbx-resolve-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define MAX_SIZE (64 * 1024 * 1024)

/* Fields of a line of mountinfo. */
enum
{
  FIELD_ID,
  FIELD_PARENT,
  FIELD_DEVICE,
  FIELD_ROOT,
  FIELD_POINT,
  FIELD_OPTIONAL = 6,
};

static void
mount_free (gpointer data)
{
  SbxMount *self = data;

  g_free (self->device);
  g_free (self->root);
  g_free (self->point);
  g_free (self->type);
  g_free (self);
}

static gboolean
is_octal (char c)
{
  return c >= '0' && c <= '7';
}

/* Undoes the \ooo of the kernel. */
static char *
unescape (const char *text)
{
  g_autoptr(GString) plain = g_string_new (NULL);

  for (const char *from = text; *from != '\0'; from++)
    if (from[0] == '\\' && is_octal (from[1]) && is_octal (from[2]) && is_octal (from[3]))
      {
        g_string_append_c (plain, (char) (((from[1] - '0') << 6) | ((from[2] - '0') << 3) |
                                          (from[3] - '0')));
        from += 3;
      }
    else
      g_string_append_c (plain, *from);

  return g_string_free (g_steal_pointer (&plain), FALSE);
}

static void
add_line (GPtrArray  *table,
          const char *line)
{
  g_auto(GStrv) fields = g_strsplit (line, " ", -1);
  const guint n = g_strv_length (fields);
  guint end = FIELD_OPTIONAL;
  guint64 id;
  guint64 parent;
  SbxMount *mount;

  if (n < FIELD_OPTIONAL ||
      !g_ascii_string_to_unsigned (fields[FIELD_ID], 10, 0, G_MAXINT, &id, NULL) ||
      !g_ascii_string_to_unsigned (fields[FIELD_PARENT], 10, 0, G_MAXINT, &parent, NULL))
    return;

  while (end < n && strcmp (fields[end], "-") != 0)
    end++;

  mount = g_new0 (SbxMount, 1);
  mount->id = (int) id;
  mount->parent = (int) parent;
  mount->device = g_strdup (fields[FIELD_DEVICE]);
  mount->root = unescape (fields[FIELD_ROOT]);
  mount->point = unescape (fields[FIELD_POINT]);
  mount->type = end + 1 < n ? g_strdup (fields[end + 1]) : NULL;
  g_ptr_array_add (table, mount);
}

GPtrArray *
_sbx_mount_table_read (GError **error)
{
  g_autoptr(GPtrArray) table = g_ptr_array_new_with_free_func (mount_free);
  g_autofree char *content = NULL;
  g_autoptr(GError) reason = NULL;
  char *end;
  gsize size;

  if (!g_file_get_contents ("/proc/self/mountinfo", &content, &size, &reason) || size > MAX_SIZE)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
                   _("The list of mounts, without which other names of a directory cannot be "
                     "told, is not to be had: %s"),
                   reason != NULL ? reason->message : _("it is too long"));
      return NULL;
    }

  for (char *line = content; (end = strchr (line, '\n')) != NULL; line = end + 1)
    {
      *end = '\0';
      add_line (table, line);
    }

  return g_steal_pointer (&table);
}

static gboolean
has_id (GPtrArray *self,
        int        id)
{
  for (guint i = 0; i < self->len; i++)
    if (((SbxMount *) g_ptr_array_index (self, i))->id == id)
      return TRUE;

  return FALSE;
}

static const SbxMount *
find_first (GPtrArray *self)
{
  for (guint i = 0; i < self->len; i++)
    {
      const SbxMount *mount = g_ptr_array_index (self, i);

      if (strcmp (mount->point, "/") == 0 && !has_id (self, mount->parent))
        return mount;
    }

  return NULL;
}

/* The first mount on @parent that the way to @path comes past. */
static const SbxMount *
find_next (GPtrArray      *self,
           const SbxMount *parent,
           const char     *path)
{
  const SbxMount *next = NULL;

  for (guint i = 0; i < self->len; i++)
    {
      const SbxMount *mount = g_ptr_array_index (self, i);

      if (mount->parent == parent->id && mount != parent &&
          _sbx_path_is_below (path, mount->point) &&
          (next == NULL || strlen (mount->point) <= strlen (next->point)))
        next = mount;
    }

  return next;
}

void
_sbx_mount_table_locate (GPtrArray     *self,
                         const char    *path,
                         SbxMountPlace *place)
{
  const SbxMount *mount = NULL;
  const SbxMount *next = find_first (self);
  const char *rest;

  place->device = NULL;
  place->path = NULL;

  /* No way is longer than all mounts together, whatever the list says. */
  for (guint i = 0; next != NULL && i <= self->len; i++)
    {
      mount = next;
      next = find_next (self, mount, path);
    }

  if (mount == NULL)
    return;

  rest = strcmp (mount->point, "/") == 0 ? path : path + strlen (mount->point);
  place->device = g_strdup (mount->device);
  if (strcmp (mount->root, "/") == 0)
    place->path = g_strdup (*rest != '\0' ? rest : "/");
  else
    place->path = g_strconcat (mount->root, strcmp (rest, "/") != 0 ? rest : "", NULL);
}

gboolean
_sbx_mount_place_is_below (const SbxMountPlace *place,
                           const SbxMountPlace *ancestor)
{
  return place->device != NULL && g_strcmp0 (place->device, ancestor->device) == 0 &&
         _sbx_path_is_below (place->path, ancestor->path);
}

void
_sbx_mount_place_clear (SbxMountPlace *self)
{
  g_clear_pointer (&self->device, g_free);
  g_clear_pointer (&self->path, g_free);
}
