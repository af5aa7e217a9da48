/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-git-private.h"

#include "core/sbx-error.h"
#include "core/sbx-text-private.h"
#include "files/sbx-delete-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-path-private.h"
#include "files/sbx-write-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The files of a branch and of a linked worktree, made and removed in the way of git's own. */

#define MAX_CONFIG (1024 * 1024)
#define MAX_PACKED (256 * 1024 * 1024)
#define LOCK_TRIES 100
#define LOCK_PAUSE_US 10000
#define MAKE_TRIES 16

/* Into an entry, which is removed as a whole. */
static gboolean
put (int          dir_fd,
     const char  *name,
     const char  *text,
     GError     **error)
{
  g_autoptr(GBytes) bytes = g_bytes_new (text, strlen (text));

  return _sbx_write_staged (dir_fd, name, bytes, 0644, error);
}

static gboolean
write_text (int         fd,
            const char *text)
{
  gsize left = strlen (text);

  while (left > 0)
    {
      const gssize n = write (fd, text, left);

      if (n < 0 && errno != EINTR)
        return FALSE;

      left -= (gsize) MAX (n, 0);
      text += MAX (n, 0);
    }

  return TRUE;
}

/* Everywhere else what a killed process leaves must be found by its name: so @staging is one that
 * whoever removes the branch knows. */
static gboolean
replace (int          dir_fd,
         const char  *staging,
         const char  *name,
         const char  *text,
         mode_t       mode,
         GError     **error)
{
  sbx_autofd int fd = openat (dir_fd, staging,
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

  if (fd >= 0 && write_text (fd, text) && fchmod (fd, mode) == 0 && fsync (fd) == 0 &&
      renameat (dir_fd, staging, dir_fd, name) == 0)
    return TRUE;

  _sbx_path_error (error, errno, name, _("It could not be written in the repository"));
  if (fd >= 0)
    unlinkat (dir_fd, staging, 0);

  return FALSE;
}

gboolean
_sbx_bwrap_git_make_branch (int          common_fd,
                            const char  *branch,
                            const char  *commit,
                            GError     **error)
{
  g_autofree char *line = g_strconcat (commit, "\n", NULL);
  g_autofree char *lock_name = g_strconcat (branch, ".lock", NULL);
  sbx_autofd int fd = _sbx_make_dirs_beneath (common_fd, "refs/heads", 0755, error);

  return fd >= 0 && replace (fd, lock_name, branch, line, 0644, error);
}

/* Another session's last entry may take the directory around all entries away with it. */
static int
make_entry_dir (int          common_fd,
                const char  *name,
                GError     **error)
{
  g_autofree char *path = g_build_filename ("worktrees", name, NULL);
  int fd = -1;

  for (guint i = 0; i < MAKE_TRIES && fd < 0; i++)
    {
      g_clear_error (error);
      fd = _sbx_make_dirs_beneath (common_fd, path, 0755, error);
    }

  return fd;
}

gboolean
_sbx_bwrap_git_make_entry (int          common_fd,
                           const char  *name,
                           const char  *worktree_path,
                           GError     **error)
{
  g_autofree char *head = g_strconcat ("ref: refs/heads/", name, "\n", NULL);
  g_autofree char *back = g_strconcat (worktree_path, "/.git\n", NULL);
  g_autoptr(GError) reason = NULL;
  sbx_autofd int fd = make_entry_dir (common_fd, name, &reason);

  if (fd < 0)
    {
      g_propagate_error (error, g_steal_pointer (&reason));
      return FALSE;
    }

  /* As git does it: while it is locked nobody takes what is not whole for a leftover. */
  if (!put (fd, "locked", "initializing\n", error) ||
      !put (fd, "commondir", "../..\n", error) ||
      !put (fd, "HEAD", head, error) ||
      !put (fd, "gitdir", back, error))
    return FALSE;

  unlinkat (fd, "locked", 0);

  return TRUE;
}

/* The session could not change these, but another one may have been able to. */
gboolean
_sbx_bwrap_git_mend_entry (int          common_fd,
                           const char  *name,
                           const char  *worktree_path,
                           GError     **error)
{
  static const char * const planted[] = { "config", "config.worktree", "hooks", "modules" };
  g_autofree char *path = g_build_filename ("worktrees", name, NULL);
  g_autofree char *back = g_strconcat (worktree_path, "/.git\n", NULL);
  sbx_autofd int fd = _sbx_open_beneath (common_fd, path, O_RDONLY | O_DIRECTORY, 0, NULL);

  if (fd < 0)
    return TRUE;

  for (gsize i = 0; i < G_N_ELEMENTS (planted); i++)
    if (!_sbx_delete_tree (fd, planted[i], NULL, error))
      return FALSE;

  return put (fd, "commondir", "../..\n", error) && put (fd, "gitdir", back, error);
}

static gboolean
remove_file (int          dir_fd,
             const char  *directory,
             const char  *name,
             GError     **error)
{
  sbx_autofd int fd = _sbx_open_beneath (dir_fd, directory, O_RDONLY | O_DIRECTORY, 0, NULL);

  if (fd < 0 || unlinkat (fd, name, 0) == 0 || errno == ENOENT)
    return TRUE;

  /* A branch of another name, which begins with this one, is somebody's. */
  if (errno == EISDIR)
    {
      unlinkat (fd, name, AT_REMOVEDIR);
      return TRUE;
    }

  _sbx_path_error (error, errno, name, _("It could not be removed from the repository"));
  return FALSE;
}

/* What git would not have made there has nothing of a branch in it. */
static gboolean
is_of_no_use (const GError *reason)
{
  return g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_FOUND) ||
         g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE) ||
         g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY) ||
         g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_TOO_MANY_LINKS);
}

/* Takes what is not wanted out of a text; %NULL when there is nothing of it. */
typedef char *(*Filter) (const char *text,
                         const char *branch);

static char *
read_and_filter (int            common_fd,
                 const char    *name,
                 gsize          max_size,
                 Filter         filter,
                 const char    *branch,
                 GCancellable  *cancellable,
                 GError       **error)
{
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GError) reason = NULL;
  g_autofree char *text = NULL;
  const char *data;
  gsize size;

  bytes = _sbx_read_beneath (common_fd, name, max_size, cancellable, &reason);
  if (bytes == NULL)
    {
      if (!is_of_no_use (reason))
        g_propagate_error (error, g_steal_pointer (&reason));
      return NULL;
    }

  /* A NUL is in neither of these files. */
  data = g_bytes_get_data (bytes, &size);
  if (data == NULL || memmem (data, size, branch, strlen (branch)) == NULL ||
      memchr (data, '\0', size) != NULL)
    return NULL;

  text = g_strndup (data, size);

  return filter (text, branch);
}

/* Who made a lock is written in it, from the first moment on: it gets its name when it is whole.
 * FALSE with errno. */
static gboolean
make_lock (int         common_fd,
           const char *lock_name,
           const char *branch)
{
  g_autofree char *path = NULL;
  sbx_autofd int fd = openat (common_fd, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0644);

  if (fd >= 0)
    {
      path = g_strdup_printf ("/proc/self/fd/%d", fd);

      return write_text (fd, branch) &&
             linkat (AT_FDCWD, path, common_fd, lock_name, AT_SYMLINK_FOLLOW) == 0;
    }

  /* Not every file system has files without a name. */
  fd = openat (common_fd, lock_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

  return fd >= 0 && write_text (fd, branch);
}

/* The owner of a branch is who removes it now: one before it was killed. */
static gboolean
is_own_lock (int         common_fd,
             const char *lock_name,
             const char *branch)
{
  g_autoptr(GBytes) bytes = _sbx_read_beneath (common_fd, lock_name, strlen (branch), NULL, NULL);

  return bytes != NULL && g_bytes_get_size (bytes) == strlen (branch) &&
         memcmp (g_bytes_get_data (bytes, NULL), branch, strlen (branch)) == 0;
}

/* Git's own lock: a file that is made new. */
static gboolean
take_lock (int            common_fd,
           const char    *lock_name,
           const char    *branch,
           GCancellable  *cancellable,
           GError       **error)
{
  for (guint i = 0; i < LOCK_TRIES; i++)
    {
      int errsv;

      if (make_lock (common_fd, lock_name, branch))
        return TRUE;

      errsv = errno;
      if (is_own_lock (common_fd, lock_name, branch))
        return TRUE;

      if (errsv != EEXIST || g_cancellable_is_cancelled (cancellable))
        break;

      g_usleep (LOCK_PAUSE_US);
    }

  if (!g_cancellable_set_error_if_cancelled (cancellable, error))
    g_set_error (error, SBX_ERROR, SBX_ERROR_BUSY,
                 _("“%s” is in the way in the repository; if no git runs there, remove it"),
                 lock_name);

  return FALSE;
}

static gboolean
rewrite_locked (int            common_fd,
                const char    *name,
                gsize          max_size,
                Filter         filter,
                const char    *branch,
                GCancellable  *cancellable,
                GError       **error)
{
  g_autofree char *lock_name = g_strconcat (name, ".lock", NULL);
  g_autofree char *staging = g_strconcat (name, ".", branch, NULL);
  g_autofree char *text = NULL;
  g_autoptr(GError) reason = NULL;
  struct stat st;

  if (!_sbx_delete_tree (common_fd, staging, cancellable, error))
    return FALSE;

  text = read_and_filter (common_fd, name, max_size, filter, branch, cancellable, &reason);
  if ((text != NULL || is_own_lock (common_fd, lock_name, branch)) &&
      take_lock (common_fd, lock_name, branch, cancellable, &reason))
    {
      /* It may have changed until it was locked. */
      g_free (text);
      text = read_and_filter (common_fd, name, max_size, filter, branch, cancellable, &reason);
      if (text != NULL && fstatat (common_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        replace (common_fd, staging, name, text, st.st_mode & 0777, &reason);

      unlinkat (common_fd, lock_name, 0);
    }

  if (reason == NULL)
    return TRUE;

  g_propagate_error (error, g_steal_pointer (&reason));
  return FALSE;
}

static char *
filter_packed (const char *text,
               const char *branch)
{
  g_autofree char *ending = g_strconcat (" refs/heads/", branch, "\n", NULL);
  const char *found = strstr (text, ending);
  const char *start = found;

  if (found == NULL)
    return NULL;

  while (start > text && start[-1] != '\n')
    start--;

  return g_strdup_printf ("%.*s%s", (int) (start - text), text, found + strlen (ending));
}

/* The sections of the branch, which only the user can have made. */
static char *
filter_config (const char *text,
               const char *branch)
{
  g_autofree char *header = g_strconcat ("[branch \"", branch, "\"]", NULL);
  GString *left = g_string_new (NULL);
  gboolean continued = FALSE;
  gboolean within = FALSE;
  gboolean found = FALSE;

  while (*text != '\0')
    {
      const char *newline = strchr (text, '\n');
      const gsize length = newline != NULL ? (gsize) (newline - text) + 1 : strlen (text);
      const char *start = text + strspn (text, " \t");

      if (*start == '[' && !continued)
        within = g_str_has_prefix (start, header);
      if (!within)
        g_string_append_len (left, text, (gssize) length);

      found |= within;
      continued = newline > text && newline[-1] == '\\';
      text += length;
    }

  return g_string_free (left, !found);
}

gboolean
_sbx_bwrap_git_remove_branch (int            common_fd,
                              const char    *branch,
                              GCancellable  *cancellable,
                              GError       **error)
{
  g_autofree char *lock_name = g_strconcat (branch, ".lock", NULL);
  gboolean done;

  /* The packed one first, or it would come back for a moment. What cannot be removed keeps nothing
   * else from being. */
  done = rewrite_locked (common_fd, "packed-refs", MAX_PACKED, filter_packed, branch, cancellable,
                         error);
  done &= remove_file (common_fd, "refs/heads", branch, done ? error : NULL);
  done &= remove_file (common_fd, "refs/heads", lock_name, done ? error : NULL);
  done &= remove_file (common_fd, "logs/refs/heads", branch, done ? error : NULL);
  done &= rewrite_locked (common_fd, "config", MAX_CONFIG, filter_config, branch, cancellable,
                          done ? error : NULL);

  return done;
}

/* As git does it: with the last entry goes the place for them, which others keep. But a sandbox in
 * which it is read-only could make it anew. */
static void
remove_place (int common_fd)
{
  sbx_autofd int lock_fd = openat (common_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  if (lock_fd < 0 || flock (lock_fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
    unlinkat (common_fd, "worktrees", AT_REMOVEDIR);
}

gboolean
_sbx_bwrap_git_remove_entry (int            common_fd,
                             const char    *name,
                             GCancellable  *cancellable,
                             GError       **error)
{
  sbx_autofd int fd = _sbx_open_beneath (common_fd, "worktrees", O_RDONLY | O_DIRECTORY, 0, NULL);

  if (fd < 0)
    return TRUE;

  if (!_sbx_delete_tree (fd, name, cancellable, error))
    return FALSE;

  remove_place (common_fd);

  return TRUE;
}
