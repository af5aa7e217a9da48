/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-resolve-protected-private.h"

#include "core/sbx-error.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-path-private.h"
#include "spec/sbx-git-tree-private.h"

#include <dirent.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * What git outside runs or follows of the git directories, and the files ".git" that lead to them.
 * Nothing here needs git; all of it may have been written by a sandbox.
 */

#define WORKTREES "worktrees"
#define MODULES "modules"
#define MAX_LISTED 16384   /* linked working trees, or submodules, of one repository */
#define MAX_DEPTH 16       /* of submodules of submodules, and of names with slashes */

/* In each git directory that can be written, there or not. */
static const char * const parts[] = {
  "hooks", "config", "config.worktree", "commondir", "gitdir", MODULES, "info",
};

/* In each one of another working tree. */
static const char * const state[] = { "index", "HEAD" };

static gboolean
add_in (SbxProtect          *self,
        const char          *directory,
        const char * const  *list,
        gsize                n_list,
        const char          *source,
        GError             **error)
{
  gboolean ok = TRUE;
  gsize i;

  /* Nothing is run by what the state says. */
  self->lenient += list == state;

  for (i = 0; i < n_list && ok; i++)
    {
      g_autofree char *path = g_build_filename (directory, list[i], NULL);

      ok = _sbx_protect_add (self, path, source, error);
    }

  self->lenient -= list == state;

  return ok;
}

/* @path is of a file ".git" in a working tree. */
static gboolean
add_pointer (SbxProtect  *self,
             const char  *path,
             const char  *git_path,
             GError     **error)
{
  g_autofree char *directory = g_path_get_dirname (path);
  g_autofree char *shown = _sbx_path_show (git_path);
  g_autofree char *source = g_strdup_printf (_("what leads git to “%s”"), shown);
  const guint n_before = self->added->len;

  if (strcmp (path, git_path) == 0)
    return TRUE;

  if (!_sbx_protect_add_writable (self, path, source, error))
    return FALSE;

  return self->added->len == n_before || _sbx_protect_add_names (self, directory, error);
}

/* The names of the directories in @name of @dir_fd. What cannot be listed is empty. */
static GPtrArray *
list_directories (int          dir_fd,
                  const char  *name)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (g_free);
  sbx_autofd int fd = openat (dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *dir = fd >= 0 ? fdopendir (fd) : NULL;
  struct dirent *entry;

  if (dir == NULL)
    return list;

  g_steal_fd (&fd);

  while (list->len <= MAX_LISTED && (entry = readdir (dir)) != NULL)
    if ((entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN) &&
        strcmp (entry->d_name, ".") != 0 && strcmp (entry->d_name, "..") != 0)
      g_ptr_array_add (list, g_strdup (entry->d_name));

  closedir (dir);
  return list;
}

static gboolean
check_listed (guint        n,
              const char  *directory,
              GError     **error)
{
  g_autofree char *shown = NULL;

  if (n <= MAX_LISTED)
    return TRUE;

  shown = _sbx_path_show (directory);
  g_set_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE,
               _("“%s” has more than %d directories; remove those that are not needed, or ask to "
                 "read only"), shown, MAX_LISTED);
  return FALSE;
}

/* Adds the pointers of the submodules below @fd, which is @path. A name may have slashes. */
static gboolean
add_modules (SbxProtect  *self,
             int          dir_fd,
             const char  *name,
             const char  *path,
             guint        depth,
             guint       *n_seen,
             GError     **error)
{
  g_autoptr(GPtrArray) list = list_directories (dir_fd, name);
  sbx_autofd int fd = openat (dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  guint i;

  *n_seen += list->len;
  if (!check_listed (*n_seen, path, error))
    return FALSE;

  for (i = 0; fd >= 0 && depth < MAX_DEPTH && i < list->len; i++)
    {
      const char *one = g_ptr_array_index (list, i);
      g_autofree char *one_path = g_build_filename (path, one, NULL);
      sbx_autofd int one_fd = openat (fd, one, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      g_autofree char *worktree = NULL;
      struct stat st;

      if (one_fd < 0)
        continue;

      if (fstatat (one_fd, "HEAD", &st, AT_SYMLINK_NOFOLLOW) < 0)
        {
          if (!add_modules (self, fd, one, one_path, depth + 1, n_seen, error))
            return FALSE;
          continue;
        }

      worktree = _sbx_git_read_worktree (one_fd, one_path, self->cancellable);
      if (worktree != NULL)
        {
          g_autofree char *pointer = g_build_filename (worktree, ".git", NULL);

          if (!add_pointer (self, pointer, one_path, error))
            return FALSE;
        }

      g_free (one_path);
      one_path = g_build_filename (path, one, "hooks", NULL);
      if (!_sbx_protect_add_links (self, one_path, error))
        return FALSE;

      g_free (one_path);
      one_path = g_build_filename (path, one, MODULES, NULL);
      if (!add_modules (self, one_fd, MODULES, one_path, depth + 1, n_seen, error))
        return FALSE;
    }

  return TRUE;
}

/* The file ".git" that the entry of a linked working tree names. */
static char *
read_back (SbxProtect *self,
           int         fd,
           const char *path)
{
  g_autofree char *line = _sbx_git_read_line (fd, "gitdir", self->cancellable, NULL);
  char *pointer;

  if (line == NULL || line[0] == '\0')
    return NULL;

  pointer = g_canonicalize_filename (line, path);
  if (g_str_has_suffix (pointer, "/.git"))
    return pointer;

  g_free (pointer);
  return NULL;
}

/* One entry in worktrees/ of a git directory that is @writable. */
static gboolean
add_linked (SbxProtect  *self,
            int          fd,
            const char  *path,
            gboolean     writable,
            GPtrArray   *roots,
            GError     **error)
{
  g_autofree char *pointer = read_back (self, fd, path);
  g_autofree char *shown = _sbx_path_show (path);
  g_autofree char *source = NULL;

  if (pointer != NULL)
    {
      g_ptr_array_add (roots, g_path_get_dirname (pointer));
      if (!add_pointer (self, pointer, path, error))
        return FALSE;
    }

  if (writable)
    {
      source = g_strdup_printf (_("what git outside runs or follows in “%s”"), shown);
      if (!add_in (self, path, parts, G_N_ELEMENTS (parts), source, error))
        return FALSE;

      g_free (source);
      source = g_strdup_printf (_("the state of another working tree, in “%s”"), shown);
      if (!g_hash_table_contains (self->writable, path) &&
          !add_in (self, path, state, G_N_ELEMENTS (state), source, error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
add_all_linked (SbxProtect           *self,
                const SbxReachEntry  *entry,
                int                   git_fd,
                GPtrArray            *roots,
                GError              **error)
{
  g_autoptr(GPtrArray) list = list_directories (git_fd, WORKTREES);
  guint i;

  if (!check_listed (list->len, entry->path, error))
    return FALSE;

  for (i = 0; i < list->len; i++)
    {
      g_autofree char *name = g_build_filename (WORKTREES, g_ptr_array_index (list, i), NULL);
      g_autofree char *path = g_build_filename (entry->path, name, NULL);
      sbx_autofd int fd = _sbx_open_beneath (git_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0,
                                             NULL);

      if (fd >= 0 && (!add_linked (self, fd, path, entry->writable, roots, error) ||
                      !_sbx_protect_add_config (self, fd, path, "config.worktree", roots, error)))
        return FALSE;
    }

  return TRUE;
}

static int
open_git_dir (const SbxReachEntry  *entry,
              GError              **error)
{
  g_autofree char *real_path = NULL;
  g_autofree char *shown = NULL;
  sbx_autofd int fd = _sbx_open_real (entry->path, O_PATH | O_DIRECTORY, &real_path, error);
  struct stat st;

  if (fd < 0)
    return -1;

  if (fstat (fd, &st) == 0 && st.st_dev == entry->device && st.st_ino == entry->inode)
    return g_steal_fd (&fd);

  shown = _sbx_path_show (entry->path);
  g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED, _("“%s” %s"), shown,
               _("was moved while it was looked at"));
  return -1;
}

/* The working trees that relative paths of its configuration are relative to. */
static GPtrArray *
list_roots (const SbxReachEntry *entry)
{
  GPtrArray *roots = g_ptr_array_new_with_free_func (g_free);
  const gboolean is_inside = g_str_has_suffix (entry->path, "/.git");

  if (entry->worktree != NULL)
    g_ptr_array_add (roots, g_strdup (entry->worktree));

  if (is_inside && entry->git_part == SBX_GIT_PART_COMMON)
    g_ptr_array_add (roots, g_path_get_dirname (entry->path));

  if (!is_inside && entry->worktree == NULL)
    g_ptr_array_add (roots, g_strdup (entry->path));

  return roots;
}

static gboolean
add_own_parts (SbxProtect           *self,
               const SbxReachEntry  *entry,
               GError              **error)
{
  g_autofree char *shown = _sbx_path_show (entry->path);
  g_autofree char *source = NULL;

  if (entry->worktree != NULL)
    {
      g_autofree char *pointer = g_build_filename (entry->worktree, ".git", NULL);

      if (entry->git_part != SBX_GIT_PART_COMMON &&
          (!add_pointer (self, pointer, entry->path, error) ||
           !_sbx_protect_add_names (self, entry->worktree, error)))
        return FALSE;
    }

  if (!entry->writable)
    return TRUE;

  source = g_strdup_printf (_("what git outside runs or follows in “%s”"), shown);
  if (!add_in (self, entry->path, parts, G_N_ELEMENTS (parts), source, error))
    return FALSE;

  g_free (source);
  source = g_strdup_printf (_("the state of another working tree, in “%s”"), shown);
  return entry->git_part != SBX_GIT_PART_COMMON ||
         add_in (self, entry->path, state, G_N_ELEMENTS (state), source, error);
}

static gboolean
add_git_dir (SbxProtect           *self,
             const SbxReachEntry  *entry,
             GError              **error)
{
  g_autoptr(GPtrArray) roots = list_roots (entry);
  g_autofree char *modules = g_build_filename (entry->path, MODULES, NULL);
  sbx_autofd int fd = open_git_dir (entry, error);
  guint n_modules = 0;
  guint i;

  if (fd < 0 ||
      !add_own_parts (self, entry, error) ||
      !add_all_linked (self, entry, fd, roots, error) ||
      !add_modules (self, fd, MODULES, modules, 0, &n_modules, error) ||
      !_sbx_protect_add_config (self, fd, entry->path, "config", roots, error) ||
      !_sbx_protect_add_config (self, fd, entry->path, "config.worktree", roots, error))
    return FALSE;

  for (i = 0; i < roots->len; i++)
    g_hash_table_add (self->roots, g_strdup (g_ptr_array_index (roots, i)));

  return TRUE;
}

gboolean
_sbx_protect_add_git (SbxProtect  *self,
                      GError     **error)
{
  guint i;

  for (i = 0; i < self->entries->len; i++)
    {
      const SbxReachEntry *entry = g_ptr_array_index (self->entries, i);

      if (entry->kind != SBX_REACH_GIT_DIR)
        continue;

      /* What is put there may be run: that was asked for. */
      if (self->git_mode == SBX_GIT_MODE_FULL)
        {
          if (entry->worktree != NULL && entry->git_part != SBX_GIT_PART_COMMON &&
              !_sbx_protect_add_names (self, entry->worktree, error))
            return FALSE;
        }
      else if (!add_git_dir (self, entry, error))
        return FALSE;
    }

  return self->git_mode == SBX_GIT_MODE_FULL || _sbx_protect_add_global (self, error);
}
