/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-plan-builder-private.h"
#include "spec/sbx-mount-table-private.h"

#include <string.h>

/* Binds are recursive: what the host has mounted below a directory comes along. */

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

gboolean
_sbx_bwrap_plan_find_submounts (SbxBwrapPlan  *plan,
                                GError       **error)
{
  g_autoptr(GPtrArray) table = _sbx_mount_table_read (error);

  if (table == NULL)
    return FALSE;

  for (guint i = 0; i < table->len; i++)
    {
      SbxMount *mount = g_ptr_array_index (table, i);
      SbxBwrapSubmount *submount;

      if (mount->type == NULL || !comes_along (plan, mount->point))
        continue;

      submount = g_new0 (SbxBwrapSubmount, 1);
      submount->path = g_steal_pointer (&mount->point);
      submount->type = g_steal_pointer (&mount->type);
      g_ptr_array_add (plan->submounts, submount);
    }

  return TRUE;
}
