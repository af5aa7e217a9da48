/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-resolve-git-private.h"
#include "spec/sbx-resolve-private.h"

#include "core/sbx-error.h"
#include "files/sbx-path-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/*
 * Finds the git directories of what was asked for, without running git. A pointer that leads
 * elsewhere counts only when the place that it leads to names it back, so that nobody widens the
 * reach of a later sandbox by planting one.
 */

#define MODULES "modules"

static void
git_dir_free (SbxGitDir *self)
{
  g_free (self->place.path);
  g_free (self->worktree);
  g_free (self);
}

static SbxGitDir *
add_git_dir (SbxGitSearch      *self,
             const SbxGitPlace *place)
{
  SbxGitDir *git_dir = g_hash_table_lookup (self->by_path, place->path);

  if (git_dir == NULL)
    {
      git_dir = g_new0 (SbxGitDir, 1);
      git_dir->place.path = g_strdup (place->path);
      git_dir->place.st = place->st;
      g_ptr_array_add (self->git_dirs, git_dir);
      g_hash_table_insert (self->by_path, git_dir->place.path, git_dir);
    }

  return git_dir;
}

/* One of @root's own; the worktree that can be written is the one to name. */
static void
add_own (SbxGitSearch      *self,
         const SbxGitPlace *place,
         const char        *root,
         gboolean           writable)
{
  SbxGitDir *git_dir = add_git_dir (self, place);

  if (root != NULL && (!git_dir->is_direct || (writable && !git_dir->own)))
    {
      g_free (git_dir->worktree);
      git_dir->worktree = g_strdup (root);
    }

  git_dir->is_direct = TRUE;
  git_dir->own |= writable;
}

static void
add_common (SbxGitSearch      *self,
            const SbxGitPlace *place,
            const char        *root,
            gboolean           writable)
{
  SbxGitDir *git_dir = add_git_dir (self, place);

  if (git_dir->worktree == NULL && !git_dir->is_direct)
    git_dir->worktree = g_strdup (root);

  git_dir->linked |= writable;
}

gboolean
_sbx_git_search_is_given (SbxGitSearch *self,
                          const char   *path)
{
  guint i;

  for (i = 0; i < self->entries->len; i++)
    {
      SbxReachEntry *entry = g_ptr_array_index (self->entries, i);

      if (entry->kind <= SBX_REACH_WRITE && _sbx_path_is_below (path, entry->path))
        return TRUE;
    }

  return FALSE;
}

static gboolean
refuse_pointer (const SbxGitTree  *tree,
                GError           **error)
{
  g_autofree char *shown_root = _sbx_path_show (tree->root);
  g_autofree char *shown_git = _sbx_path_show (tree->git.path);

  g_set_error (error, SBX_ERROR, SBX_ERROR_REFUSED,
               _("“%s/.git” names “%s” as its git directory, which does not name it back; ask for "
                 "that directory as well, or remove the file"),
               shown_root, shown_git);
  return FALSE;
}

static gboolean
check_place (SbxGitSearch       *self,
             const SbxGitTree   *tree,
             const SbxGitPlace  *place,
             gboolean            writable,
             GError            **error)
{
  g_autofree char *shown = _sbx_path_show (tree->root);
  g_autofree char *label = g_strdup_printf (_("the git directory of “%s”"), shown);

  return place->path == NULL ||
         _sbx_roots_check (self->roots, writable ? SBX_ROOTS_WRITE : SBX_ROOTS_READ, label,
                           place->path, &place->st, error);
}

/* Who can write the directory could put another link, to hooks of their own, there: a bind protects
 * what a link leads to, and never a link. */
static gboolean
add_behind_link (SbxGitSearch      *self,
                 const SbxGitTree  *tree,
                 gboolean           writable,
                 GError           **error)
{
  if (writable)
    {
      g_autofree char *path = g_build_filename (tree->root, ".git", NULL);
      g_autofree char *shown = _sbx_path_show (path);

      g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
                   _("“%s” is a symbolic link, which cannot be protected in a directory that may "
                     "be written; ask to read the directory only, or put the git directory there"),
                   shown);
      return FALSE;
    }

  /* A directory does not name links: only one that is in reach anyway is added. */
  if (_sbx_git_search_is_given (self, tree->git.path))
    add_own (self, &tree->git, tree->root, FALSE);

  return TRUE;
}

static gboolean
add_pointed (SbxGitSearch      *self,
             const SbxGitTree  *tree,
             gboolean           writable,
             GError           **error)
{
  if (!tree->names_back && !_sbx_git_search_is_given (self, tree->git.path))
    return refuse_pointer (tree, error);

  /* One that may be read, and does not name the tree, does not become writable by being named. */
  add_own (self, &tree->git, tree->root,
           writable && (tree->names_back ||
                        _sbx_entries_is_writable (self->entries, tree->git.path)));
  return TRUE;
}

static gboolean
add_linked (SbxGitSearch      *self,
            const SbxGitTree  *tree,
            gboolean           writable,
            gboolean           nested,
            GError           **error)
{
  /* A copy of a linked worktree below a write path is none, and gets nothing. */
  if (!tree->names_back && (!nested || tree->common.path == NULL))
    return nested || refuse_pointer (tree, error);

  add_own (self, &tree->git, tree->root, writable && tree->names_back);
  ((SbxGitDir *) g_hash_table_lookup (self->by_path, tree->git.path))->is_entry = TRUE;
  add_common (self, &tree->common, tree->root, writable && tree->names_back);

  return TRUE;
}

gboolean
_sbx_git_search_add_tree (SbxGitSearch      *self,
                          const SbxGitTree  *tree,
                          gboolean           nested,
                          GError           **error)
{
  const gboolean writable = _sbx_entries_is_writable (self->entries, tree->root);

  if (tree->kind != SBX_GIT_TREE_LINK &&
      (!check_place (self, tree, &tree->git, writable, error) ||
       !check_place (self, tree, &tree->common, writable, error)))
    return FALSE;

  switch (tree->kind)
    {
    case SBX_GIT_TREE_LINK:
      return add_behind_link (self, tree, writable, error);

    case SBX_GIT_TREE_MAIN:
      add_own (self, &tree->git, tree->root, writable);
      return TRUE;

    case SBX_GIT_TREE_BARE:
      add_own (self, &tree->git, NULL, writable);
      return TRUE;

    case SBX_GIT_TREE_POINTED:
      return add_pointed (self, tree, writable, error);

    case SBX_GIT_TREE_LINKED:
      return add_linked (self, tree, writable, nested, error);

    case SBX_GIT_TREE_NONE:
    default:
      return TRUE;
    }
}

/* Walks up from @entry to the repository that it belongs to. */
static gboolean
find_from (SbxGitSearch   *self,
           SbxReachEntry  *entry,
           GError        **error)
{
  g_autoptr(SbxGitTree) tree = NULL;
  g_autoptr(GError) local_error = NULL;
  g_autofree char *start = S_ISDIR (entry->mode) ? g_strdup (entry->path)
                                                 : g_path_get_dirname (entry->path);

  /* Above whichever of the two homes comes first there is nothing. */
  const char *home = self->roots->home;
  const char *account_home = self->roots->account_home;

  if (account_home != NULL && (home == NULL || _sbx_path_is_below (account_home, home)))
    home = account_home;

  tree = _sbx_git_tree_find (start, home, self->empty, self->cancellable, &local_error);
  if (local_error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local_error));
      return FALSE;
    }

  if (tree == NULL)
    return TRUE;

  if (tree->kind == SBX_GIT_TREE_BARE && strcmp (tree->root, entry->path) != 0)
    {
      g_autofree char *shown = NULL;

      if (entry->kind != SBX_REACH_WRITE)
        return TRUE;

      shown = _sbx_path_show (entry->path);
      g_set_error (error, SBX_ERROR, SBX_ERROR_REFUSED,
                   _("“%s” lies inside a git directory, where git on the host runs what it finds; "
                     "ask to write the repository instead"), shown);
      return FALSE;
    }

  return _sbx_git_search_add_tree (self, tree, FALSE, error);
}

/* A submodule's directory belongs to the repository around it, or to the entry of a linked working
 * tree, whether these were found or not. */
static gboolean
is_module (const SbxGitDir *git_dir)
{
  g_autofree char *path = g_strdup (git_dir->place.path);
  char *slash;

  if (strstr (path, "/.git/" MODULES "/") != NULL)
    return TRUE;

  while ((slash = strrchr (path, '/')) != NULL && slash != path)
    {
      const gboolean is_modules = strcmp (slash + 1, MODULES) == 0;

      *slash = '\0';

      if (is_modules)
        {
          g_autofree char *head = g_build_filename (path, "HEAD", NULL);

          if (g_file_test (head, G_FILE_TEST_IS_REGULAR))
            return TRUE;
        }
    }

  return FALSE;
}

static gboolean
may_be_written (SbxGitSearch    *self,
                const SbxGitDir *git_dir,
                SbxGitPart       part,
                SbxGitMode       git_mode)
{
  SbxReachEntry *asked = g_hash_table_lookup (self->asked, git_dir->place.path);

  if (git_mode == SBX_GIT_MODE_NONE || git_mode == SBX_GIT_MODE_READ ||
      (asked != NULL && asked->kind == SBX_REACH_READ))
    return FALSE;

  /* What is in modules/ is not looked at for what git would run, but where nothing is. */
  return (git_dir->own || git_dir->linked) &&
         (part != SBX_GIT_PART_MODULE || git_mode == SBX_GIT_MODE_FULL);
}

static SbxGitPart
find_part (const SbxGitDir *git_dir)
{
  if (is_module (git_dir))
    return SBX_GIT_PART_MODULE;

  if (git_dir->is_entry)
    return SBX_GIT_PART_WORKTREE;

  /* The main working tree may be in reach, but for reading. */
  if (git_dir->own || (git_dir->is_direct && !git_dir->linked))
    return SBX_GIT_PART_OWN;

  return SBX_GIT_PART_COMMON;
}

static void
add_entry (SbxGitSearch    *self,
           const SbxGitDir *git_dir,
           SbxGitMode       git_mode)
{
  g_autofree char *shown = _sbx_path_show (git_dir->worktree != NULL ? git_dir->worktree
                                                                     : git_dir->place.path);
  g_autofree char *source = g_strdup_printf (_("git directory of “%s”"), shown);
  SbxReachEntry *entry = _sbx_reach_entry_new (SBX_REACH_GIT_DIR, git_dir->place.path, source);

  entry->git_part = find_part (git_dir);
  entry->writable = may_be_written (self, git_dir, entry->git_part, git_mode);
  entry->worktree = g_strdup (git_dir->worktree);
  entry->device = git_dir->place.st.st_dev;
  entry->inode = git_dir->place.st.st_ino;
  entry->mode = git_dir->place.st.st_mode;
  g_ptr_array_add (self->entries, entry);
}

/* Who asks for commits, and gets none of any repository, is told so now. */
static gboolean
check_mode (GPtrArray   *entries,
            guint        first,
            SbxGitMode   git_mode,
            GError     **error)
{
  const char *name = git_mode == SBX_GIT_MODE_FULL ? "full" : "commit";
  g_autofree char *shown = NULL;
  SbxReachEntry *entry;
  guint i;

  if (git_mode != SBX_GIT_MODE_COMMIT && git_mode != SBX_GIT_MODE_FULL)
    return TRUE;

  for (i = first; i < entries->len; i++)
    if (((SbxReachEntry *) g_ptr_array_index (entries, i))->writable)
      return TRUE;

  if (first == entries->len)
    return TRUE;

  entry = g_ptr_array_index (entries, first);
  shown = _sbx_path_show (entry->worktree != NULL ? entry->worktree : entry->path);

  if (entry->git_part == SBX_GIT_PART_MODULE)
    g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                 _("git: “%s” was asked for, but “%s” is a submodule, whose git directory cannot "
                   "be written; ask for “read”"), name, shown);
  else
    g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                 _("git: “%s” was asked for, but “%s” may not be written; ask to write it as well, "
                   "or for “read”"), name, shown);
  return FALSE;
}

static void
search_clear (SbxGitSearch *self)
{
  g_ptr_array_unref (self->git_dirs);
  g_hash_table_unref (self->by_path);
  g_hash_table_unref (self->asked);
  g_hash_table_unref (self->empty);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxGitSearch, search_clear)

gboolean
_sbx_resolve_git (const SbxRoots  *roots,
                  GPtrArray       *entries,
                  SbxGitMode       git_mode,
                  GCancellable    *cancellable,
                  GError         **error)
{
  g_auto(SbxGitSearch) search = {
    .roots = roots,
    .entries = entries,
    .cancellable = cancellable,
    .git_dirs = g_ptr_array_new_with_free_func ((GDestroyNotify) git_dir_free),
    .by_path = g_hash_table_new (g_str_hash, g_str_equal),
    .asked = g_hash_table_new (g_str_hash, g_str_equal),
    .empty = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
  };
  const guint n_asked = entries->len;
  guint i;

  for (i = 0; i < n_asked; i++)
    {
      SbxReachEntry *entry = g_ptr_array_index (entries, i);

      if (entry->kind == SBX_REACH_READ || entry->kind == SBX_REACH_WRITE)
        g_hash_table_insert (search.asked, entry->path, entry);
    }

  for (i = 0; i < n_asked; i++)
    {
      SbxReachEntry *entry = g_ptr_array_index (entries, i);

      if (entry->kind <= SBX_REACH_WRITE && !find_from (&search, entry, error))
        return FALSE;
    }

  if (!_sbx_git_search_add_nested (&search, error))
    return FALSE;

  for (i = 0; i < search.git_dirs->len; i++)
    add_entry (&search, g_ptr_array_index (search.git_dirs, i), git_mode);

  return check_mode (entries, n_asked, git_mode, error);
}
