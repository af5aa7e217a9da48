/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-git-private.h"
#include "bwrap/sbx-bwrap-plan-builder-private.h"
#include "core/sbx-error.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-path-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <unistd.h>

/*
 * Finds the git directories of what was asked for. All of this may have been written by a sandbox:
 * it is read in bounds, and a pointer that leads elsewhere counts only when the place that it leads
 * to names it back, so that nobody widens the reach of a later sandbox by planting one.
 */

#define MAX_POINTER 4096
#define MAX_CONFIG (1024 * 1024)

typedef struct
{
  char     *path;      /* real */
  int       fd;        /* O_PATH */
  gboolean  entry;     /* of a linked worktree */
  gboolean  own;       /* the first one of a writable worktree */
  gboolean  linked;    /* the common one of a writable linked worktree */
} GitDir;

typedef struct
{
  SbxBwrapBuilder *builder;
  GPtrArray       *git_dirs;   /* (element-type GitDir) */
  char            *root;       /* of the last repository that was found */
} Search;

static void
git_dir_free (GitDir *self)
{
  _sbx_clear_fd (&self->fd);
  g_free (self->path);
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

/* Takes @fd. */
static GitDir *
add_git_dir (Search     *self,
             const char *path,
             int         fd)
{
  GitDir *git_dir;
  guint i;

  for (i = 0; i < self->git_dirs->len; i++)
    {
      git_dir = g_ptr_array_index (self->git_dirs, i);

      if (strcmp (git_dir->path, path) == 0)
        {
          close (fd);
          return git_dir;
        }
    }

  git_dir = g_new0 (GitDir, 1);
  git_dir->path = g_strdup (path);
  git_dir->fd = fd;
  g_ptr_array_add (self->git_dirs, git_dir);

  return git_dir;
}

/* The first line of a small file, without space around it. */
static char *
read_line (int           dir_fd,
           const char   *name,
           GCancellable *cancellable,
           GError      **error)
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

/* Opens what @pointer, found in @base, leads to. */
static int
follow (const char  *base,
        const char  *pointer,
        char       **real_path,
        GError     **error)
{
  g_autofree char *path = NULL;

  if (pointer[0] == '/')
    path = g_strdup (pointer);
  else
    path = g_build_filename (base, pointer, NULL);

  return _sbx_open_real (path, O_PATH, real_path, error);
}

static gboolean
is_same (int         fd,
         const char *path)
{
  struct stat first, second;

  return fstat (fd, &first) == 0 && lstat (path, &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/* The value of core.worktree, which git writes for a submodule and which leads back. */
static gboolean
names_worktree (int           git_fd,
                const char   *git_path,
                const char   *root,
                GCancellable *cancellable)
{
  g_autoptr(GBytes) bytes = _sbx_read_beneath (git_fd, "config", MAX_CONFIG, cancellable, NULL);
  g_autofree char *content = NULL;
  const char *data;
  char *rest = NULL;
  char *line;
  gsize size;

  if (bytes == NULL)
    return FALSE;

  data = g_bytes_get_data (bytes, &size);
  content = g_strndup (data, size);

  for (line = strtok_r (content, "\n", &rest); line != NULL; line = strtok_r (NULL, "\n", &rest))
    {
      g_autofree char *real_path = NULL;
      sbx_autofd int fd = -1;
      char *value = strchr (g_strstrip (line), '=');

      if (value == NULL || g_ascii_strncasecmp (line, "worktree", strlen ("worktree")) != 0)
        continue;

      value = g_strstrip (value + 1);
      if (value[0] == '"' && strlen (value) > 1 && g_str_has_suffix (value, "\""))
        {
          value[strlen (value) - 1] = '\0';
          value++;
        }

      fd = follow (git_path, value, &real_path, NULL);
      if (fd >= 0)
        return strcmp (real_path, root) == 0;
    }

  return FALSE;
}

/* Whether @path was given anyhow. */
static gboolean
is_given (Search     *self,
          const char *path)
{
  guint i;

  for (i = 0; i < self->builder->reach->len; i++)
    {
      const SbxBwrapReachPath *reach = g_ptr_array_index (self->builder->reach, i);

      if (_sbx_bwrap_path_is_below (path, reach->path))
        return TRUE;
    }

  return FALSE;
}

static gboolean
refuse_pointer (const char  *root,
                const char  *git_path,
                GError     **error)
{
  g_autofree char *shown_root = _sbx_path_show (root);
  g_autofree char *shown_git = _sbx_path_show (git_path);

  g_set_error (error, SBX_ERROR, SBX_ERROR_REFUSED,
               _("“%s/.git” names “%s” as its git directory, which does not name it back; ask for "
                 "that directory as well, or remove the file"),
               shown_root, shown_git);
  return FALSE;
}

/* A linked worktree: its entry lies in worktrees/ of the common directory, and names it back. */
static gboolean
add_linked (Search      *self,
            int          root_fd,
            const char  *root,
            int          git_fd,
            const char  *git_path,
            const char  *common,
            gboolean     writable,
            GError     **error)
{
  g_autofree char *common_path = NULL;
  g_autofree char *worktrees = NULL;
  g_autofree char *parent = g_path_get_dirname (git_path);
  g_autofree char *back = read_line (git_fd, "gitdir", self->builder->cancellable, NULL);
  sbx_autofd int dot_git_fd = openat (root_fd, ".git", O_PATH | O_NOFOLLOW | O_CLOEXEC);
  sbx_autofd int common_fd = follow (git_path, common, &common_path, NULL);
  GitDir *entry;

  if (common_fd >= 0)
    worktrees = g_build_filename (common_path, "worktrees", NULL);

  if (worktrees == NULL || strcmp (worktrees, parent) != 0 || back == NULL || dot_git_fd < 0 ||
      !is_same (dot_git_fd, back))
    {
      close (git_fd);
      return refuse_pointer (root, git_path, error);
    }

  entry = add_git_dir (self, git_path, git_fd);
  entry->entry = TRUE;
  entry->own |= writable;
  add_git_dir (self, common_path, g_steal_fd (&common_fd))->linked |= writable;

  return TRUE;
}

/* @root has a file .git that says where the git directory is. */
static gboolean
add_pointed (Search      *self,
             int          root_fd,
             const char  *root,
             gboolean     writable,
             GError     **error)
{
  GCancellable *cancellable = self->builder->cancellable;
  g_autofree char *dot_git = g_build_filename (root, ".git", NULL);
  g_autofree char *pointer = read_line (root_fd, ".git", cancellable, error);
  g_autofree char *git_path = NULL;
  g_autofree char *common = NULL;
  sbx_autofd int git_fd = -1;
  struct stat st;

  if (pointer == NULL)
    return FALSE;

  if (!g_str_has_prefix (pointer, "gitdir:"))
    return fail (error, SBX_ERROR_INVALID, dot_git,
                 _("is a file that names no git directory; remove it"));

  git_fd = follow (root, g_strstrip (pointer + strlen ("gitdir:")), &git_path, NULL);
  if (git_fd < 0 || fstat (git_fd, &st) < 0 || !S_ISDIR (st.st_mode))
    return fail (error, SBX_ERROR_NOT_FOUND, dot_git,
                 _("names a git directory that is gone; “git worktree prune” in its repository "
                   "tidies up"));

  /* "./" is what a sandbox has there for want of anything else. */
  common = read_line (git_fd, "commondir", cancellable, NULL);
  if (common != NULL && strcmp (common, "./") != 0)
    return add_linked (self, root_fd, root, g_steal_fd (&git_fd), git_path, common, writable,
                       error);

  if (!is_given (self, git_path) && !names_worktree (git_fd, git_path, root, cancellable))
    return refuse_pointer (root, git_path, error);

  add_git_dir (self, git_path, g_steal_fd (&git_fd))->own |= writable;
  return TRUE;
}

/* The pointer of a writable worktree must stay what it is. */
static gboolean
pin_pointer (Search      *self,
             int          root_fd,
             const char  *root,
             GError     **error)
{
  g_autofree char *path = g_build_filename (root, ".git", NULL);
  const int fd = openat (root_fd, ".git", O_PATH | O_NOFOLLOW | O_CLOEXEC);

  if (fd < 0)
    return fail (error, SBX_ERROR_SETUP_FAILED, path, g_strerror (errno));

  _sbx_bwrap_builder_add_fd (self->builder, SBX_BWRAP_MOUNT_RO_BIND, SBX_BWRAP_ORIGIN_REPOSITORY,
                             path, path, fd, "what git on the host would follow");
  return TRUE;
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

/* Looks at one directory on the way up from @reach; *done ends the walk. */
static gboolean
look_at (Search                   *self,
         const SbxBwrapReachPath  *reach,
         const char               *root,
         int                       root_fd,
         gboolean                 *done,
         GError                  **error)
{
  const gboolean writable = _sbx_bwrap_reach_is_writable (self->builder, root);
  g_autofree char *dot_git = g_build_filename (root, ".git", NULL);
  struct stat st;

  *done = TRUE;

  if (fstatat (root_fd, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0)
    {
      if (S_ISLNK (st.st_mode) && writable)
        return fail (error, SBX_ERROR_NOT_ENFORCEABLE, dot_git,
                     _("is a symbolic link, which cannot be protected in a directory that may be "
                       "written; ask to read the directory only, or put the git directory there"));

      if (S_ISDIR (st.st_mode))
        {
          const int fd = openat (root_fd, ".git", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

          if (fd < 0)
            return fail (error, SBX_ERROR_SETUP_FAILED, dot_git, g_strerror (errno));

          add_git_dir (self, dot_git, fd)->own |= writable;
          return TRUE;
        }

      if (S_ISREG (st.st_mode))
        return add_pointed (self, root_fd, root, writable, error) &&
               (!writable || pin_pointer (self, root_fd, root, error));

      return TRUE;
    }

  if (is_git_dir (root_fd))
    {
      if (strcmp (root, reach->path) == 0)
        add_git_dir (self, root, fcntl (root_fd, F_DUPFD_CLOEXEC, 0))->own |= writable;
      else if (reach->origin == SBX_BWRAP_ORIGIN_WRITE)
        return fail (error, SBX_ERROR_REFUSED, reach->path,
                     _("lies inside a git directory, where git on the host runs what it finds; ask "
                       "to write the repository instead"));

      return TRUE;
    }

  *done = FALSE;
  return TRUE;
}

/* Walks up from @reach to the repository that it belongs to, but not up to the home directory, nor
 * above it. */
static gboolean
find_from (Search                   *self,
           const SbxBwrapReachPath  *reach,
           GError                  **error)
{
  g_autofree char *root = S_ISDIR (reach->st.st_mode) ? g_strdup (reach->path)
                                                      : g_path_get_dirname (reach->path);
  gboolean done = FALSE;

  while (!done && strcmp (root, "/") != 0 &&
         !_sbx_bwrap_path_is_below (self->builder->home, root))
    {
      g_autofree char *real_path = NULL;
      g_autofree char *parent = NULL;
      sbx_autofd int fd = _sbx_open_real (root, O_PATH | O_DIRECTORY, &real_path, error);

      if (fd < 0)
        return FALSE;

      if (g_cancellable_set_error_if_cancelled (self->builder->cancellable, error))
        return FALSE;

      if (strcmp (real_path, root) != 0)
        return fail (error, SBX_ERROR_SETUP_FAILED, root, _("was moved while it was looked at"));

      if (!look_at (self, reach, root, fd, &done, error))
        return FALSE;

      if (done)
        {
          g_free (self->root);
          self->root = g_strdup (root);
        }

      parent = g_path_get_dirname (root);
      g_free (root);
      root = g_steal_pointer (&parent);
    }

  return TRUE;
}

/* A submodule's directory belongs to the repository around it. */
static gboolean
is_module (Search       *self,
           const GitDir *git_dir)
{
  guint i;

  if (strstr (git_dir->path, "/.git/modules/") != NULL)
    return TRUE;

  for (i = 0; i < self->git_dirs->len; i++)
    {
      const GitDir *other = g_ptr_array_index (self->git_dirs, i);
      g_autofree char *modules = g_build_filename (other->path, "modules", NULL);

      if (_sbx_bwrap_path_is_below (git_dir->path, modules))
        return TRUE;
    }

  return FALSE;
}

static gboolean
is_for_reading (Search       *self,
                const GitDir *git_dir)
{
  gboolean reading = FALSE;
  guint i;

  for (i = 0; i < self->builder->reach->len; i++)
    {
      const SbxBwrapReachPath *reach = g_ptr_array_index (self->builder->reach, i);

      if (reach->origin != SBX_BWRAP_ORIGIN_CWD && strcmp (reach->path, git_dir->path) == 0)
        reading = reach->origin == SBX_BWRAP_ORIGIN_READ;
    }

  return reading;
}

static void
search_clear (Search *self)
{
  g_ptr_array_unref (self->git_dirs);
  g_free (self->root);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Search, search_clear)

gboolean
_sbx_bwrap_repository_add (SbxBwrapBuilder  *self,
                           GError          **error)
{
  GPtrArray *git_dirs = g_ptr_array_new_with_free_func ((GDestroyNotify) git_dir_free);
  g_auto(Search) search = { self, git_dirs, NULL };
  guint i;

  for (i = 0; i < self->reach->len; i++)
    if (!find_from (&search, g_ptr_array_index (self->reach, i), error))
      return FALSE;

  for (i = 0; i < git_dirs->len; i++)
    {
      GitDir *git_dir = g_ptr_array_index (git_dirs, i);

      if (!_sbx_bwrap_reach_check (self, "git directory", git_dir->path, error))
        return FALSE;

      if ((git_dir->own || git_dir->linked) && !is_module (&search, git_dir) &&
          !is_for_reading (&search, git_dir))
        {
          if (!_sbx_bwrap_repository_guard (self, git_dir->fd, git_dir->path, !git_dir->own,
                                            git_dir->entry, error))
            return FALSE;
        }
      else
        _sbx_bwrap_builder_add_fd (self, SBX_BWRAP_MOUNT_RO_BIND, SBX_BWRAP_ORIGIN_REPOSITORY,
                                   git_dir->path, git_dir->path, g_steal_fd (&git_dir->fd),
                                   "the git directory of what was asked for");
    }

  return TRUE;
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

static SbxBwrapRepository *
make_repository (Search  *search,
                 GError **error)
{
  SbxBwrapRepository *self;
  GitDir *own = search->git_dirs->len > 0 ? g_ptr_array_index (search->git_dirs, 0) : NULL;
  GitDir *common = own != NULL && own->entry ? g_ptr_array_index (search->git_dirs, 1) : own;
  const char *cwd = ((SbxBwrapReachPath *) g_ptr_array_index (search->builder->reach, 0))->path;
  struct stat st;

  if (own == NULL || strcmp (own->path, search->root) == 0)
    {
      fail (error, SBX_ERROR_INVALID, cwd,
            _("is in no working tree of git, and a worktree needs one; use “git init”, or a "
              "profile that opens the directory itself"));
      return NULL;
    }

  if (is_module (search, common))
    {
      fail (error, SBX_ERROR_INVALID, cwd,
            _("is in a submodule, which cannot have a worktree here; name the repository around "
              "it"));
      return NULL;
    }

  if (has_kind (common->fd, "reftable", S_IFDIR))
    {
      fail (error, SBX_ERROR_UNSUPPORTED, common->path,
            _("keeps its references in tables, which libsbx cannot write; “git refs migrate "
              "--ref-format=files” changes that"));
      return NULL;
    }

  self = g_new0 (SbxBwrapRepository, 1);
  self->root = g_strdup (search->root);
  self->common_path = g_strdup (common->path);
  self->git_fd = fcntl (own->fd, F_DUPFD_CLOEXEC, 0);
  self->common_fd = fcntl (common->fd, F_DUPFD_CLOEXEC, 0);
  if (fstat (common->fd, &st) == 0)
    {
      self->device = st.st_dev;
      self->inode = st.st_ino;
    }

  return self;
}

SbxBwrapRepository *
_sbx_bwrap_repository_locate (const char    *path,
                              const char    *data_path,
                              GCancellable  *cancellable,
                              GError       **error)
{
  const SbxBwrapPlanInput input = { .cwd = path, .data_path = data_path };
  g_auto(SbxBwrapBuilder) builder = { &input, cancellable, NULL };
  g_auto(Search) search = { &builder, NULL, NULL };

  builder.reach = g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_bwrap_reach_path_free);
  search.git_dirs = g_ptr_array_new_with_free_func ((GDestroyNotify) git_dir_free);

  if (!_sbx_bwrap_reach_resolve (&builder, error) ||
      !find_from (&search, g_ptr_array_index (builder.reach, 0), error))
    return NULL;

  return make_repository (&search, error);
}
