/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-watch-parts-private.h"

#include "bwrap/sbx-bwrap-plan-builder-private.h"
#include "core/sbx-error.h"

#include <poll.h>
#include <string.h>

/* The numbers of mounts are given out again: a key is the number, the number of the mount that it
 * is in, and the device. */

#define MAX_MOUNTINFO (16 * 1024 * 1024)

enum
{
  FIELD_DEVICE = 2,
  FIELD_MOUNT_POINT = 4,
};

static void
add_line (GHashTable *mounts,
          const char *line)
{
  g_auto(GStrv) fields = g_strsplit (line, " ", FIELD_MOUNT_POINT + 2);

  if (g_strv_length (fields) <= FIELD_MOUNT_POINT)
    return;

  g_hash_table_insert (mounts,
                       g_strjoin (" ", fields[0], fields[1], fields[FIELD_DEVICE], NULL),
                       g_strcompress (fields[FIELD_MOUNT_POINT]));
}

GHashTable *
_sbx_bwrap_watch_mounts_read (pid_t    pid,
                              int      pidfd,
                              GError **error)
{
  g_autoptr(GHashTable) mounts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autofree char *path = g_strdup_printf ("/proc/%d/mountinfo", (int) pid);
  g_autofree char *content = NULL;
  struct pollfd gone = { .fd = pidfd, .events = POLLIN };
  gsize size;
  char *end;

  if (!g_file_get_contents (path, &content, &size, error))
    return NULL;

  /* Its number may be another process's by now. */
  if (poll (&gone, 1, 0) != 0 || size > MAX_MOUNTINFO)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_LOST,
                           "The mounts of the sandbox cannot be read");
      return NULL;
    }

  for (char *line = content; (end = strchr (line, '\n')) != NULL; line = end + 1)
    {
      *end = '\0';
      add_line (mounts, line);
    }

  return g_steal_pointer (&mounts);
}

static void
add_submounts (GHashTable          *places,
               SbxBwrapPlan        *plan,
               const SbxBwrapMount *mount)
{
  for (guint i = 0; i < plan->submounts->len; i++)
    {
      const SbxBwrapSubmount *submount = g_ptr_array_index (plan->submounts, i);

      if (_sbx_bwrap_path_is_below (submount->path, mount->source))
        g_hash_table_add (places, g_build_filename (mount->destination,
                                                    submount->path + strlen (mount->source), NULL));
    }
}

/* What bubblewrap makes in these by itself is a place, too: they have a slash at the end. */
GHashTable *
_sbx_bwrap_watch_places_new (SbxBwrapPlan *plan)
{
  GHashTable *places = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  g_hash_table_add (places, g_strdup ("/"));
  for (guint i = 0; i < plan->mounts->len; i++)
    {
      const SbxBwrapMount *mount = g_ptr_array_index (plan->mounts, i);

      g_hash_table_add (places, g_strdup (mount->destination));
      if (mount->kind == SBX_BWRAP_MOUNT_PROC || mount->kind == SBX_BWRAP_MOUNT_DEV)
        g_hash_table_add (places, g_strconcat (mount->destination, "/", NULL));
      if (mount->kind == SBX_BWRAP_MOUNT_BIND || mount->kind == SBX_BWRAP_MOUNT_RO_BIND)
        add_submounts (places, plan, mount);
    }

  return places;
}

static gboolean
is_place (GHashTable *places,
          const char *path)
{
  GHashTableIter iter;
  gpointer place;

  if (g_hash_table_contains (places, path))
    return TRUE;

  g_hash_table_iter_init (&iter, places);
  while (g_hash_table_iter_next (&iter, &place, NULL))
    if (strlen (place) > 1 && g_str_has_suffix (place, "/") && g_str_has_prefix (path, place))
      return TRUE;

  return FALSE;
}

const char *
_sbx_bwrap_watch_mounts_find_foreign (GHashTable *mounts,
                                      GHashTable *places)
{
  GHashTableIter iter;
  gpointer path;

  g_hash_table_iter_init (&iter, mounts);
  while (g_hash_table_iter_next (&iter, NULL, &path))
    if (!is_place (places, path))
      return path;

  return NULL;
}

static gboolean
is_late (GArray     *late,
         const char *path)
{
  for (guint i = 0; late != NULL && i < late->len; i++)
    if (_sbx_bwrap_path_is_below (path, g_array_index (late, SbxLateMount, i).path))
      return TRUE;

  return FALSE;
}

const char *
_sbx_bwrap_watch_mounts_find_new (GHashTable *before,
                                  GHashTable *now,
                                  GArray     *late)
{
  GHashTableIter iter;
  gpointer key, path;

  g_hash_table_iter_init (&iter, now);
  while (g_hash_table_iter_next (&iter, &key, &path))
    if (!g_hash_table_contains (before, key) && !is_late (late, path))
      return path;

  return NULL;
}

gboolean
_sbx_bwrap_watch_mounts_has (GHashTable *mounts,
                             const char *path)
{
  GHashTableIter iter;
  gpointer at;

  g_hash_table_iter_init (&iter, mounts);
  while (g_hash_table_iter_next (&iter, NULL, &at))
    if (g_str_equal (at, path))
      return TRUE;

  return FALSE;
}
