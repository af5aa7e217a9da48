/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-roots-guard-private.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

/* Where a path leads, and past what. Unlike realpath() this goes on where nothing is yet. */

#define MAX_LINKS 40

typedef struct
{
  gboolean   exists;
  gboolean   is_directory;
  SbxFileId  id;
  char      *target;         /* (nullable) of a symbolic link */
} Look;

static void
look_free (gpointer data)
{
  Look *self = data;

  g_free (self->target);
  g_free (self);
}

SbxLooked *
_sbx_looked_new (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, look_free);
}

/* The text of the symbolic link at @path, or %NULL if there is none. */
static char *
read_link (const char *path)
{
  char target[PATH_MAX];
  const gssize length = readlink (path, target, sizeof target);

  if (length <= 0 || (gsize) length >= sizeof target)
    return NULL;

  return g_strndup (target, length);
}

/* Whether nothing can be at @path, since nothing is where it would lie. */
static gboolean
is_below_nothing (SbxLooked  *looked,
                  const char *path)
{
  const char *slash = strrchr (path, '/');
  g_autofree char *parent = slash != NULL ? g_strndup (path, slash - path) : NULL;
  const Look *above = parent != NULL ? g_hash_table_lookup (looked, parent) : NULL;

  return above != NULL && (!above->exists || (!above->is_directory && above->target == NULL));
}

static const Look *
look (SbxLooked  *looked,
      const char *path)
{
  Look *self = g_hash_table_lookup (looked, path);
  struct stat st;

  if (self != NULL)
    return self;

  self = g_new0 (Look, 1);
  if (!is_below_nothing (looked, path) && lstat (path, &st) == 0)
    {
      self->exists = TRUE;
      self->is_directory = S_ISDIR (st.st_mode);
      self->id.device = st.st_dev;
      self->id.inode = st.st_ino;
      self->target = S_ISLNK (st.st_mode) ? read_link (path) : NULL;
    }
  g_hash_table_insert (looked, g_strdup (path), self);

  return self;
}

static void
go_up (GString *at)
{
  const char *slash = strrchr (at->str, '/');

  g_string_truncate (at, slash == NULL ? 0 : slash - at->str);
}

/* Appends one component to @at, and gives where it leads if it is a link. */
static const char *
step (SbxLooked  *looked,
      GString    *at,
      const char *name,
      gsize       length)
{
  if (length == 0 || (length == 1 && name[0] == '.'))
    return NULL;

  if (length == 2 && name[0] == '.' && name[1] == '.')
    {
      go_up (at);
      return NULL;
    }

  g_string_append_c (at, '/');
  g_string_append_len (at, name, length);

  return look (looked, at->str)->target;
}

void
_sbx_places_follow (SbxLooked  *looked,
                    const char *path,
                    GPtrArray  *places)
{
  g_autoptr(GString) at = g_string_new (NULL);
  g_autofree char *rest = g_strdup (path);
  const char *next = rest;
  int n_links = 0;

  while (*next != '\0')
    {
      const gsize length = strcspn (next, "/");
      const char *target = step (looked, at, next, length);

      next += length;
      next += strspn (next, "/");

      if (target != NULL && n_links++ < MAX_LINKS)
        {
          char *joined = g_strconcat (target, "/", next, NULL);

          g_ptr_array_add (places, g_strdup (at->str));
          if (target[0] == '/')
            g_string_truncate (at, 0);
          else
            go_up (at);

          g_free (rest);
          rest = joined;
          next = rest;
        }
    }

  g_ptr_array_add (places, g_strdup (at->len > 0 ? at->str : "/"));
}

char *
_sbx_places_end (SbxLooked  *looked,
                 const char *path)
{
  g_autoptr(GPtrArray) places = g_ptr_array_new_with_free_func (g_free);

  _sbx_places_follow (looked, path, places);

  return g_strdup (g_ptr_array_index (places, places->len - 1));
}

GArray *
_sbx_file_ids_upwards (SbxLooked  *looked,
                       const char *path)
{
  GArray *ids = g_array_new (FALSE, FALSE, sizeof (SbxFileId));
  g_autofree char *current = g_strdup (path);

  for (;;)
    {
      const Look *found = look (looked, current);
      char *slash;

      if (found->exists)
        g_array_append_val (ids, found->id);

      slash = strrchr (current, '/');
      if (slash == NULL || strcmp (current, "/") == 0)
        return ids;

      slash[slash == current ? 1 : 0] = '\0';
    }
}

void
_sbx_guarded_free (SbxGuarded *self)
{
  g_free (self->path);
  g_array_unref (self->above);
  _sbx_mount_place_clear (&self->place);
  g_free (self);
}

static void
add_place (SbxLooked  *looked,
           GPtrArray  *guarded,
           SbxRule     rule,
           const char *place)
{
  SbxGuarded *self = g_new0 (SbxGuarded, 1);
  const Look *found = look (looked, place);
  g_autofree char *parent = g_path_get_dirname (place);

  self->rule = rule;
  self->path = g_strdup (place);
  self->exists = found->exists;
  self->id = found->id;
  self->above = _sbx_file_ids_upwards (looked, parent);
  g_ptr_array_add (guarded, self);
}

void
_sbx_guarded_add (SbxLooked  *looked,
                  GPtrArray  *guarded,
                  SbxRule     rule,
                  const char *path)
{
  g_autoptr(GPtrArray) places = g_ptr_array_new_with_free_func (g_free);

  _sbx_places_follow (looked, path, places);

  for (guint i = 0; i < places->len; i++)
    add_place (looked, guarded, rule, g_ptr_array_index (places, i));
}
