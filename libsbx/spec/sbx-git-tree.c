/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-git-tree-private.h"

#include "core/sbx-error.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-path-private.h"
#include "spec/sbx-git-config-private.h"
#include "spec/sbx-resolve-private.h"

#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>

#define MAX_POINTER 4096

void
_sbx_git_tree_free (SbxGitTree *self)
{
  g_free (self->root);
  g_free (self->git.path);
  g_free (self->common.path);
  g_free (self);
}

static gboolean
fail (GError     **error,
      SbxError     code,
      const char  *path,
      const char  *what)
{
  g_autofree char *shown = _sbx_path_show (path);

  g_set_error (error, SBX_ERROR, code, _("“%s” %s"), shown, what);
  return FALSE;
}

char *
_sbx_git_read_line (int            dir_fd,
                    const char    *name,
                    GCancellable  *cancellable,
                    GError       **error)
{
  g_autoptr(GBytes) bytes = _sbx_read_beneath (dir_fd, name, MAX_POINTER, cancellable, error);
  const char *data;
  char *line;
  gsize size;

  if (bytes == NULL)
    return NULL;

  data = g_bytes_get_data (bytes, &size);
  line = g_strndup (data, size);
  line[strcspn (line, "\n")] = '\0';

  return g_strstrip (line);
}

/* Opens the directory that @pointer, found in @base, leads to. */
static int
follow (const char   *base,
        const char   *pointer,
        SbxGitPlace  *place)
{
  g_autofree char *path = NULL;
  g_autofree char *real_path = NULL;
  sbx_autofd int fd = -1;

  if (pointer[0] == '/')
    path = g_strdup (pointer);
  else
    path = g_build_filename (base, pointer, NULL);

  fd = _sbx_open_real (path, O_PATH | O_DIRECTORY, &real_path, NULL);
  if (fd < 0 || fstat (fd, &place->st) < 0)
    return -1;

  g_free (place->path);
  place->path = g_steal_pointer (&real_path);

  return g_steal_fd (&fd);
}

static gboolean
take_worktree (const char *section,
               const char *subsection,
               const char *key,
               const char *value,
               gpointer    data)
{
  char **worktree = data;

  if (strcmp (section, "core") == 0 && subsection == NULL && strcmp (key, "worktree") == 0)
    {
      g_free (*worktree);
      *worktree = g_strdup (value);
    }

  return TRUE;
}

char *
_sbx_git_read_worktree (int            git_fd,
                        const char    *git_path,
                        GCancellable  *cancellable)
{
  g_autoptr(GBytes) bytes = _sbx_git_config_read (git_fd, "config", cancellable, NULL);
  g_autofree char *value = NULL;
  const char *data;
  gsize size;

  if (bytes == NULL)
    return NULL;

  data = g_bytes_get_data (bytes, &size);
  _sbx_git_config_parse (data, size, take_worktree, &value);

  return value != NULL && value[0] != '\0' ? g_canonicalize_filename (value, git_path) : NULL;
}

/* By core.worktree, which git writes for a submodule. */
static gboolean
names_worktree (int            git_fd,
                const char    *git_path,
                const char    *root,
                GCancellable  *cancellable)
{
  g_autofree char *path = _sbx_git_read_worktree (git_fd, git_path, cancellable);
  struct stat named, here;

  return path != NULL && stat (path, &named) == 0 && stat (root, &here) == 0 &&
         named.st_dev == here.st_dev && named.st_ino == here.st_ino;
}

/* An entry of a linked worktree lies in worktrees/ of the common directory, and its file "gitdir"
 * names the ".git" that names it. */
static gboolean
entry_names_back (SbxGitTree        *self,
                  int                git_fd,
                  const struct stat *dot_git,
                  GCancellable      *cancellable)
{
  g_autofree char *parent = g_path_get_dirname (self->git.path);
  g_autofree char *back = _sbx_git_read_line (git_fd, "gitdir", cancellable, NULL);
  g_autofree char *worktrees = NULL;
  struct stat st;

  g_autofree char *back_path = NULL;

  if (self->common.path == NULL || back == NULL)
    return FALSE;

  worktrees = g_build_filename (self->common.path, "worktrees", NULL);
  back_path = back[0] == '/' ? g_strdup (back) : g_build_filename (self->git.path, back, NULL);

  return strcmp (worktrees, parent) == 0 && lstat (back_path, &st) == 0 &&
         st.st_dev == dot_git->st_dev && st.st_ino == dot_git->st_ino;
}

/* self->root has a file ".git" that says where the git directory is. */
static gboolean
read_pointer (SbxGitTree         *self,
              int                 root_fd,
              const struct stat  *dot_git,
              GCancellable       *cancellable,
              GError            **error)
{
  g_autofree char *path = g_build_filename (self->root, ".git", NULL);
  g_autofree char *pointer = _sbx_git_read_line (root_fd, ".git", cancellable, error);
  g_autofree char *common = NULL;
  sbx_autofd int git_fd = -1;
  sbx_autofd int common_fd = -1;

  if (pointer == NULL)
    return FALSE;

  if (!g_str_has_prefix (pointer, "gitdir:"))
    return fail (error, SBX_ERROR_INVALID, path,
                 _("is a file that names no git directory; remove it"));

  git_fd = follow (self->root, g_strstrip (pointer + strlen ("gitdir:")), &self->git);
  if (git_fd < 0)
    return fail (error, SBX_ERROR_NOT_FOUND, path,
                 _("names a git directory that is gone; “git worktree prune” in its repository "
                   "tidies up"));

  /* "./" is what a sandbox has there for want of anything else. */
  common = _sbx_git_read_line (git_fd, "commondir", cancellable, NULL);
  if (common != NULL && strcmp (common, "./") != 0)
    {
      self->kind = SBX_GIT_TREE_LINKED;
      common_fd = follow (self->git.path, common, &self->common);
      self->names_back = entry_names_back (self, git_fd, dot_git, cancellable);
    }
  else
    {
      self->kind = SBX_GIT_TREE_POINTED;
      self->names_back = names_worktree (git_fd, self->git.path, self->root, cancellable);
    }

  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

static gboolean
has_kind (int         dir_fd,
          const char *name,
          mode_t      kind)
{
  struct stat st;

  return fstatat (dir_fd, name, &st, 0) == 0 && (st.st_mode & S_IFMT) == kind;
}

/* What git would take for a repository when it stands in @dir_fd. */
static gboolean
is_git_dir (int dir_fd)
{
  return has_kind (dir_fd, "HEAD", S_IFREG) && has_kind (dir_fd, "objects", S_IFDIR) &&
         has_kind (dir_fd, "refs", S_IFDIR);
}

static gboolean
look_at (SbxGitTree    *self,
         int            root_fd,
         GCancellable  *cancellable,
         GError       **error)
{
  sbx_autofd int fd = -1;
  struct stat st;

  if (fstatat (root_fd, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0)
    {
      if (S_ISREG (st.st_mode))
        return read_pointer (self, root_fd, &st, cancellable, error);

      if (S_ISDIR (st.st_mode) || S_ISLNK (st.st_mode))
        {
          fd = follow (self->root, ".git", &self->git);
          if (fd >= 0)
            self->kind = S_ISLNK (st.st_mode) ? SBX_GIT_TREE_LINK : SBX_GIT_TREE_MAIN;
        }

      if (S_ISDIR (st.st_mode) && (fd < 0 || st.st_ino != self->git.st.st_ino))
        {
          g_autofree char *path = g_build_filename (self->root, ".git", NULL);

          return fail (error, SBX_ERROR_SETUP_FAILED, path,
                       _("could not be opened, or was moved while it was looked at"));
        }
    }

  if (self->kind == SBX_GIT_TREE_NONE && is_git_dir (root_fd))
    {
      self->kind = SBX_GIT_TREE_BARE;
      self->git.path = g_strdup (self->root);
      return fstat (root_fd, &self->git.st) == 0;
    }

  return TRUE;
}

SbxGitTree *
_sbx_git_tree_read (const char    *root,
                    GCancellable  *cancellable,
                    GError       **error)
{
  g_autoptr(SbxGitTree) self = NULL;
  g_autofree char *real_path = NULL;
  sbx_autofd int fd = _sbx_open_real (root, O_PATH | O_DIRECTORY, &real_path, error);

  if (fd < 0 || g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;

  if (strcmp (real_path, root) != 0)
    {
      fail (error, SBX_ERROR_SETUP_FAILED, root, _("was moved while it was looked at"));
      return NULL;
    }

  self = g_new0 (SbxGitTree, 1);
  self->root = g_steal_pointer (&real_path);

  if (!look_at (self, fd, cancellable, error))
    return NULL;

  return g_steal_pointer (&self);
}

SbxGitTree *
_sbx_git_tree_find (const char    *path,
                    const char    *home,
                    GHashTable    *empty,
                    GCancellable  *cancellable,
                    GError       **error)
{
  g_autofree char *root = g_strdup (path);

  while (strcmp (root, "/") != 0 && (home == NULL || !_sbx_path_is_below (home, root)))
    {
      g_autofree char *level = g_steal_pointer (&root);

      root = g_path_get_dirname (level);

      if (empty == NULL || !g_hash_table_contains (empty, level))
        {
          SbxGitTree *tree = _sbx_git_tree_read (level, cancellable, error);

          if (tree == NULL || tree->kind != SBX_GIT_TREE_NONE)
            return tree;

          _sbx_git_tree_free (tree);
          if (empty != NULL)
            g_hash_table_add (empty, g_steal_pointer (&level));
        }
    }

  return NULL;
}
