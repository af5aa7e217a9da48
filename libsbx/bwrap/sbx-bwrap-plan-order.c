/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-plan-builder-private.h"

#include <string.h>

/*
 * The deepest path wins, so shorter ones are mounted first. A mount costs bubblewrap more the more
 * there are, so one that would change nothing is left out.
 */

/* Of two entries for one place the stronger one stays. */
static int
get_strength (const SbxBwrapMount *mount)
{
  static const int strengths[] = {
    [SBX_BWRAP_ORIGIN_BASE] = 0,
    [SBX_BWRAP_ORIGIN_SESSION] = 1,
    [SBX_BWRAP_ORIGIN_CWD] = 2,
    [SBX_BWRAP_ORIGIN_TOOLCHAIN] = 3,
    [SBX_BWRAP_ORIGIN_READ] = 4,
    [SBX_BWRAP_ORIGIN_WRITE] = 5,
    [SBX_BWRAP_ORIGIN_REPOSITORY] = 6,
  };

  return strengths[mount->origin];
}

static guint
get_depth (const char *path)
{
  guint depth = 0;

  for (; *path != '\0'; path++)
    if (path[0] == '/' && path[1] != '\0')
      depth++;

  return depth;
}

static int
compare_mounts (gconstpointer a,
                gconstpointer b)
{
  const SbxBwrapMount *first = *(const SbxBwrapMount * const *) a;
  const SbxBwrapMount *second = *(const SbxBwrapMount * const *) b;
  const gboolean first_is_last = first->kind == SBX_BWRAP_MOUNT_REMOUNT_RO;
  const gboolean second_is_last = second->kind == SBX_BWRAP_MOUNT_REMOUNT_RO;
  const guint first_depth = get_depth (first->destination);
  const guint second_depth = get_depth (second->destination);
  int order;

  /* What is sealed is sealed at the end, the root after all. */
  if (first_is_last != second_is_last)
    return first_is_last ? 1 : -1;

  if (first_depth != second_depth)
    {
      order = first_depth < second_depth ? -1 : 1;
      return first_is_last ? -order : order;
    }

  order = strcmp (first->destination, second->destination);
  if (order != 0)
    return order;

  /* A directory is needed only where nothing else is. */
  if ((first->kind == SBX_BWRAP_MOUNT_DIR) != (second->kind == SBX_BWRAP_MOUNT_DIR))
    return first->kind == SBX_BWRAP_MOUNT_DIR ? 1 : -1;

  return get_strength (first) - get_strength (second);
}

static gboolean
is_bind (const SbxBwrapMount *mount)
{
  return mount->kind == SBX_BWRAP_MOUNT_BIND || mount->kind == SBX_BWRAP_MOUNT_RO_BIND;
}

/* The deepest entry so far that holds @destination, itself included. */
static const SbxBwrapMount *
find_cover (GPtrArray  *kept,
            const char *destination)
{
  guint i;

  for (i = kept->len; i > 0; i--)
    {
      const SbxBwrapMount *mount = g_ptr_array_index (kept, i - 1);

      if (mount->kind != SBX_BWRAP_MOUNT_FILE &&
          mount->kind != SBX_BWRAP_MOUNT_SYMLINK &&
          _sbx_bwrap_path_is_below (destination, mount->destination))
        return mount;
    }

  return NULL;
}

/* Whether @cover shows at @mount's place what @mount would show there. */
static gboolean
shows_the_same (const SbxBwrapMount *cover,
                const SbxBwrapMount *mount)
{
  const gsize length = strlen (cover->destination);

  return is_bind (cover) && cover->source != NULL && mount->source != NULL &&
         g_str_has_prefix (mount->source, cover->source) &&
         strcmp (mount->source + strlen (cover->source), mount->destination + length) == 0;
}

static gboolean
is_needless (GPtrArray           *kept,
             const SbxBwrapMount *mount)
{
  const SbxBwrapMount *cover = find_cover (kept, mount->destination);

  if (cover == NULL || mount->kind == SBX_BWRAP_MOUNT_REMOUNT_RO)
    return FALSE;

  switch (mount->kind)
    {
    case SBX_BWRAP_MOUNT_FILE:
    case SBX_BWRAP_MOUNT_SYMLINK:
      /* Nothing is made in what belongs to the host. */
      return is_bind (cover);

    case SBX_BWRAP_MOUNT_DIR:
      return is_bind (cover) || strcmp (cover->destination, mount->destination) == 0;

    case SBX_BWRAP_MOUNT_RO_BIND:
      /* These may be read; that takes no right away. */
      if (mount->origin == SBX_BWRAP_ORIGIN_CWD || mount->origin == SBX_BWRAP_ORIGIN_TOOLCHAIN)
        return shows_the_same (cover, mount);

      return cover->kind == SBX_BWRAP_MOUNT_RO_BIND && shows_the_same (cover, mount);

    case SBX_BWRAP_MOUNT_BIND:
      /* A bind of a repository on itself pins it. */
      return mount->origin != SBX_BWRAP_ORIGIN_REPOSITORY &&
             cover->kind == SBX_BWRAP_MOUNT_BIND && shows_the_same (cover, mount);

    case SBX_BWRAP_MOUNT_MASK:
    case SBX_BWRAP_MOUNT_TMPFS:
    case SBX_BWRAP_MOUNT_PROC:
    case SBX_BWRAP_MOUNT_DEV:
    case SBX_BWRAP_MOUNT_REMOUNT_RO:
    default:
      return FALSE;
    }
}

/* Of two binds at one place the later, stronger one is all that would be seen. */
static void
drop_hidden (GPtrArray           *kept,
             const SbxBwrapMount *mount)
{
  const SbxBwrapMount *last;

  if (kept->len == 0 || !is_bind (mount))
    return;

  last = g_ptr_array_index (kept, kept->len - 1);
  if (is_bind (last) && strcmp (last->destination, mount->destination) == 0)
    g_ptr_array_remove_index (kept, kept->len - 1);
}

/* bubblewrap makes missing parents too, but for nobody else's eyes. */
static void
add_parents (SbxBwrapPlan *plan)
{
  const guint n = plan->mounts->len;
  guint i;

  for (i = 0; i < n; i++)
    {
      const SbxBwrapMount *mount = g_ptr_array_index (plan->mounts, i);
      g_autofree char *parent = g_path_get_dirname (mount->destination);

      while (strcmp (parent, "/") != 0)
        {
          char *next = g_path_get_dirname (parent);

          g_ptr_array_add (plan->mounts,
                           _sbx_bwrap_mount_new (SBX_BWRAP_MOUNT_DIR, SBX_BWRAP_ORIGIN_BASE, parent,
                                                 NULL, "the way to what lies below"));
          g_free (parent);
          parent = next;
        }
    }
}

void
_sbx_bwrap_plan_order (SbxBwrapPlan *plan)
{
  g_autofree gpointer *all = NULL;
  gsize n, i;

  add_parents (plan);
  g_ptr_array_sort (plan->mounts, compare_mounts);
  all = g_ptr_array_steal (plan->mounts, &n);

  for (i = 0; i < n; i++)
    {
      SbxBwrapMount *mount = all[i];

      if (is_needless (plan->mounts, mount))
        {
          _sbx_bwrap_mount_free (mount);
          continue;
        }

      drop_hidden (plan->mounts, mount);
      g_ptr_array_add (plan->mounts, mount);
    }
}
