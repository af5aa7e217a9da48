/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-plan-builder-private.h"

/*
 * bubblewrap looks through all mounts for each that it makes. So of a plan with many of them it
 * gets those that others depend on; what only takes something away is mounted from outside, before
 * anything runs in the sandbox.
 */

/* What bubblewrap mounts for one entry: devices are single files. */
static guint
get_cost (const SbxBwrapMount *mount)
{
  switch (mount->kind)
    {
    case SBX_BWRAP_MOUNT_BIND:
    case SBX_BWRAP_MOUNT_RO_BIND:
    case SBX_BWRAP_MOUNT_MASK:
    case SBX_BWRAP_MOUNT_TMPFS:
    case SBX_BWRAP_MOUNT_PROC:
    case SBX_BWRAP_MOUNT_FILE:
      return 1;

    case SBX_BWRAP_MOUNT_DEV:
      return 9;

    case SBX_BWRAP_MOUNT_DIR:
    case SBX_BWRAP_MOUNT_SYMLINK:
    case SBX_BWRAP_MOUNT_REMOUNT_RO:
    default:
      return 0;
    }
}

/* What takes something away from what is there without it. */
static gboolean
can_be_late (const SbxBwrapMount *mount)
{
  if (!mount->on_itself)
    return FALSE;

  switch (mount->origin)
    {
    case SBX_BWRAP_ORIGIN_REPOSITORY:
    case SBX_BWRAP_ORIGIN_PROTECTED:
    case SBX_BWRAP_ORIGIN_PIN:
      return mount->kind == SBX_BWRAP_MOUNT_BIND || mount->kind == SBX_BWRAP_MOUNT_RO_BIND;

    case SBX_BWRAP_ORIGIN_SOCKET:
    case SBX_BWRAP_ORIGIN_HIDDEN:
      return mount->kind == SBX_BWRAP_MOUNT_MASK;

    case SBX_BWRAP_ORIGIN_BASE:
    case SBX_BWRAP_ORIGIN_SESSION:
    case SBX_BWRAP_ORIGIN_CWD:
    case SBX_BWRAP_ORIGIN_READ:
    case SBX_BWRAP_ORIGIN_WRITE:
    case SBX_BWRAP_ORIGIN_TOOLCHAIN:
    default:
      return FALSE;
    }
}

static void
note_above (GHashTable *above,
            const char *path)
{
  char *parent = g_path_get_dirname (path);

  while (g_hash_table_add (above, parent) && parent[1] != '\0')
    parent = g_path_get_dirname (parent);
}

void
_sbx_bwrap_plan_fold (SbxBwrapPlan *plan,
                      guint         max_mounts)
{
  /* Of directories with something below that is bubblewrap's: what is mounted there later would
   * come on top of it. */
  g_autoptr(GHashTable) above = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  guint cost = 0;

  for (guint i = 0; i < plan->mounts->len; i++)
    cost += get_cost (g_ptr_array_index (plan->mounts, i));

  if (cost <= max_mounts)
    return;

  /* The deepest are the last ones, so each is met after what lies below it. */
  for (guint i = plan->mounts->len; i > 0; i--)
    {
      SbxBwrapMount *mount = g_ptr_array_index (plan->mounts, i - 1);

      if (can_be_late (mount) && !g_hash_table_contains (above, mount->destination))
        mount->late = TRUE;
      else if (get_cost (mount) > 0)
        note_above (above, mount->destination);
    }
}
