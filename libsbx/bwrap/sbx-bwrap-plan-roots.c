/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-plan-private.h"
#include "bwrap/sbx-bwrap-reach-settings-private.h"
#include "bwrap/sbx-bwrap-user-dirs-private.h"
#include "core/sbx-error.h"
#include "spec/sbx-resolve-private.h"

#include <glib/gi18n-lib.h>

/*
 * What no sandbox of this provider may have, and what is left of a reach after that: one that
 * nobody resolved is resolved; one that was, by whomever, still gets nothing of what would undo the
 * sandbox itself.
 */

SbxRoots *
_sbx_bwrap_roots_new (const char  *home,
                      const char  *data_path,
                      const char  *own_path,
                      SbxReach    *reach,
                      GError     **error)
{
  g_autoptr(SbxBwrapReachSettings) settings = _sbx_bwrap_reach_settings_of (reach, error);
  g_autoptr(SbxRoots) roots = NULL;

  if (settings == NULL)
    return NULL;

  roots = _sbx_roots_new ();
  roots->home = home != NULL ? g_strdup (home) : _sbx_bwrap_dup_home ();
  roots->home_is_default = home == NULL;
  roots->account_home = _sbx_bwrap_dup_account_home ();
  roots->machine_root = data_path != NULL ? g_strdup (data_path) : _sbx_bwrap_dup_data_dir ();
  roots->own_path = g_strdup (own_path);
  roots->allowed_sockets = g_strdupv (settings->allow_sockets);

  return _sbx_roots_real (roots, error);
}

/* Home, and where sandboxes are kept; the rest was up to whoever resolved. */
static SbxRoots *
make_least_roots (const SbxRoots  *roots,
                  GError         **error)
{
  g_autoptr(SbxRoots) least = _sbx_roots_copy (roots);
  char ***lists[] = { &least->harness_states, &least->key_dirs, &least->start_dirs,
                      &least->config_dirs };

  g_clear_pointer (&least->run_root, g_free);
  for (gsize i = 0; i < G_N_ELEMENTS (lists); i++)
    {
      g_strfreev (*lists[i]);
      *lists[i] = g_new0 (char *, 1);
    }

  return _sbx_roots_real (least, error);
}

static gboolean
check_entry (const SbxRoots       *least,
             const SbxReachEntry  *entry,
             GError              **error)
{
  const struct stat st = {
    .st_dev = entry->device, .st_ino = entry->inode, .st_mode = entry->mode,
  };

  switch (entry->kind)
    {
    case SBX_REACH_CWD:
      return _sbx_roots_check (least, SBX_ROOTS_READ, "cwd", entry->path, &st, error);

    case SBX_REACH_READ:
      return _sbx_roots_check (least, SBX_ROOTS_READ, "read", entry->path, &st, error);

    case SBX_REACH_WRITE:
      return _sbx_roots_check (least, SBX_ROOTS_WRITE, "write", entry->path, &st, error);

    case SBX_REACH_SOCKET:
      return _sbx_roots_check (least, SBX_ROOTS_SOCKET, "sockets", entry->path, &st, error);

    case SBX_REACH_GIT_DIR:
      return _sbx_roots_check (least, entry->writable ? SBX_ROOTS_WRITE : SBX_ROOTS_READ,
                               _("git directory"), entry->path, &st, error);

    case SBX_REACH_DOMAIN:
    case SBX_REACH_HIDDEN:
    case SBX_REACH_PROTECTED:
    default:
      return TRUE;
    }
}

SbxReach *
_sbx_bwrap_reach_resolve (const SbxRoots  *roots,
                          SbxReach        *reach,
                          GCancellable    *cancellable,
                          GError         **error)
{
  GListModel *entries = sbx_reach_get_entries (reach);
  g_autoptr(SbxRoots) least = NULL;

  if (entries == NULL)
    return _sbx_resolve (roots, reach, cancellable, error);

  least = make_least_roots (roots, error);
  if (least == NULL)
    return NULL;

  for (guint i = 0; i < g_list_model_get_n_items (entries); i++)
    {
      g_autoptr(SbxReachEntry) entry = g_list_model_get_item (entries, i);

      if (g_cancellable_set_error_if_cancelled (cancellable, error) ||
          !check_entry (least, entry, error))
        return NULL;
    }

  return g_object_ref (reach);
}
