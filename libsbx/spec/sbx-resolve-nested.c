/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-resolve-git-private.h"
#include "spec/sbx-resolve-private.h"
#include "spec/sbx-resolve-scan-private.h"

#include "core/sbx-error.h"
#include "files/sbx-path-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/*
 * Repositories below the paths that may be written: their git directories are protected as the
 * outer one's. A pointer among them could have been planted by an earlier sandbox, and so must not
 * lead to where nobody asked to write.
 */

/* Whether the scan of @outer comes to @path. */
static gboolean
is_covered (const char *path,
            const char *outer)
{
  g_auto(GStrv) between = NULL;

  if (strcmp (path, outer) == 0 || !_sbx_path_is_below (path, outer))
    return FALSE;

  between = g_strsplit (path + strlen (outer), "/", -1);

  return !g_strv_contains ((const char * const *) between, ".git") &&
         !g_strv_contains ((const char * const *) between, "node_modules");
}

static gboolean
is_covered_by_another (SbxGitSearch *self,
                       const char   *path)
{
  guint i;

  for (i = 0; i < self->entries->len; i++)
    {
      SbxReachEntry *entry = g_ptr_array_index (self->entries, i);

      if (entry->kind == SBX_REACH_WRITE && is_covered (path, entry->path))
        return TRUE;
    }

  return FALSE;
}

/* In some path that may be written, or part of a git directory that can be written anyway: that of
 * a submodule in a linked working tree is. */
static gboolean
is_inside (SbxGitSearch *self,
           const char   *path)
{
  guint i;

  for (i = 0; i < self->entries->len; i++)
    {
      SbxReachEntry *entry = g_ptr_array_index (self->entries, i);

      if (entry->kind == SBX_REACH_WRITE && _sbx_path_is_below (path, entry->path))
        return TRUE;
    }

  for (i = 0; i < self->git_dirs->len; i++)
    {
      const SbxGitDir *git_dir = g_ptr_array_index (self->git_dirs, i);

      if ((git_dir->own || git_dir->linked) && _sbx_path_is_below (path, git_dir->place.path))
        return TRUE;
    }

  return FALSE;
}

static gboolean
refuse_outside (const char        *write_root,
                const SbxGitTree  *tree,
                const char        *path,
                GError           **error)
{
  g_autofree char *shown_write = _sbx_path_show (write_root);
  g_autofree char *shown_root = _sbx_path_show (tree->root);
  g_autofree char *shown_path = _sbx_path_show (path);

  g_set_error (error, SBX_ERROR, SBX_ERROR_REFUSED,
               _("“%s”, below “%s” that may be written, has its git directory outside of all that "
                 "may be written, at “%s”; ask to write that as well, or remove “%s/.git”"),
               shown_root, shown_write, shown_path, shown_root);
  return FALSE;
}

static gboolean
add_nested (SbxGitSearch  *self,
            const char    *write_root,
            const char    *path,
            GError       **error)
{
  g_autoptr(SbxGitTree) tree = _sbx_git_tree_read (path, self->cancellable, NULL);

  if (g_cancellable_set_error_if_cancelled (self->cancellable, error))
    return FALSE;

  /* One that is broken, or gone by now, is none. */
  if (tree == NULL || tree->kind == SBX_GIT_TREE_NONE || tree->kind == SBX_GIT_TREE_BARE)
    return TRUE;

  if (!is_inside (self, tree->git.path))
    return refuse_outside (write_root, tree, tree->git.path, error);

  if (tree->common.path != NULL && !is_inside (self, tree->common.path))
    return refuse_outside (write_root, tree, tree->common.path, error);

  return _sbx_git_search_add_tree (self, tree, TRUE, error);
}

static int
compare_paths (gconstpointer a,
               gconstpointer b)
{
  return strcmp (*(const char * const *) a, *(const char * const *) b);
}

gboolean
_sbx_git_search_add_nested (SbxGitSearch  *self,
                            GError       **error)
{
  const guint n_entries = self->entries->len;
  guint i;

  for (i = 0; i < n_entries; i++)
    {
      SbxReachEntry *entry = g_ptr_array_index (self->entries, i);
      g_autoptr(GPtrArray) found = NULL;
      guint j;

      if (entry->kind != SBX_REACH_WRITE || !S_ISDIR (entry->mode) ||
          is_covered_by_another (self, entry->path))
        continue;

      found = g_ptr_array_new_with_free_func (g_free);
      if (!_sbx_scan_trees (entry->path, SBX_SCAN_MAX_DIRS, found, self->cancellable, error))
        return FALSE;

      /* A directory has its entries in no order: the same tree must come to the same. */
      g_ptr_array_sort (found, compare_paths);
      for (j = 0; j < found->len; j++)
        if (!add_nested (self, entry->path, g_ptr_array_index (found, j), error))
          return FALSE;
    }

  return TRUE;
}
