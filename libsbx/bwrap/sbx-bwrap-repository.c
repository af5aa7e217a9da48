/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-git-private.h"
#include "bwrap/sbx-bwrap-plan-builder-private.h"
#include "core/sbx-error.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-path-private.h"
#include "spec/sbx-resolve-private.h"

#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>

/* The repository that a worktree is made of: the one that a sandbox in its working tree could
 * read. */

static void
fail (GError     **error,
      SbxError     code,
      const char  *path,
      const char  *what)
{
  g_autofree char *shown = _sbx_path_show (path);

  g_set_error (error, SBX_ERROR, code, _("“%s” %s"), shown, what);
}

static gboolean
has_directory (int         dir_fd,
               const char *name)
{
  struct stat st;

  return fstatat (dir_fd, name, &st, 0) == 0 && S_ISDIR (st.st_mode);
}

void
_sbx_bwrap_repository_free (SbxBwrapRepository *self)
{
  _sbx_clear_fd (&self->git_fd);
  _sbx_clear_fd (&self->common_fd);
  g_free (self->root);
  g_free (self->common_path);
  g_free (self);
}

/* Of what lies around one directory there is one git directory, and for a linked working tree the
 * common one as well. */
static void
find_entries (SbxReach       *reach,
              SbxReachEntry **own,
              SbxReachEntry **common)
{
  GListModel *entries = sbx_reach_get_entries (reach);

  *own = *common = NULL;

  for (guint i = 0; i < g_list_model_get_n_items (entries); i++)
    {
      g_autoptr(SbxReachEntry) entry = g_list_model_get_item (entries, i);

      if (entry->kind != SBX_REACH_GIT_DIR)
        continue;

      /* The list keeps them. */
      if (entry->git_part != SBX_GIT_PART_COMMON && *own == NULL)
        *own = entry;
      if (entry->git_part != SBX_GIT_PART_WORKTREE && *common == NULL)
        *common = entry;
    }
}

static gboolean
check (const char     *cwd,
       SbxReachEntry  *own,
       SbxReachEntry  *common,
       GError        **error)
{
  if (own == NULL || common == NULL || own->worktree == NULL)
    {
      fail (error, SBX_ERROR_INVALID, cwd,
            _("is in no working tree of git, and a worktree needs one; use “git init”, or a "
              "profile that opens the directory itself"));
      return FALSE;
    }

  if (common->git_part == SBX_GIT_PART_MODULE)
    {
      fail (error, SBX_ERROR_INVALID, cwd,
            _("is in a submodule, which cannot have a worktree here; name the repository around "
              "it"));
      return FALSE;
    }

  return TRUE;
}

SbxBwrapRepository *
_sbx_bwrap_repository_locate (const char    *path,
                              const char    *data_path,
                              GCancellable  *cancellable,
                              GError       **error)
{
  g_autoptr(SbxReach) asked = sbx_reach_new (path);
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(SbxRoots) roots = _sbx_bwrap_roots_new (NULL, data_path, NULL, asked, error);
  g_autoptr(SbxBwrapRepository) self = NULL;
  SbxReachEntry *own, *common;

  reach = roots != NULL ? _sbx_resolve (roots, asked, cancellable, error) : NULL;
  if (reach == NULL)
    return NULL;

  find_entries (reach, &own, &common);
  if (!check (sbx_reach_get_cwd (reach), own, common, error))
    return NULL;

  self = g_new0 (SbxBwrapRepository, 1);
  self->root = g_strdup (own->worktree);
  self->common_path = g_strdup (common->path);
  self->device = common->device;
  self->inode = common->inode;
  self->common_fd = -1;
  self->git_fd = _sbx_bwrap_open_same (own->path, own->device, own->inode, error);
  if (self->git_fd >= 0)
    self->common_fd = _sbx_bwrap_open_same (common->path, common->device, common->inode, error);
  if (self->common_fd < 0)
    return NULL;

  if (!has_directory (self->common_fd, "reftable"))
    return g_steal_pointer (&self);

  fail (error, SBX_ERROR_UNSUPPORTED, common->path,
        _("keeps its references in tables, which libsbx cannot write; “git refs migrate "
          "--ref-format=files” changes that"));
  return NULL;
}
