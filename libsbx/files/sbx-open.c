/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-path-private.h"

#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* openat2() may lose a race against renames and says so; nobody should win for ever. */
#define MAX_ATTEMPTS 64

static int
call_openat2 (int         dir_fd,
              const char *path,
              int         flags,
              mode_t      mode)
{
  const struct open_how how = {
    .flags = (guint64) (guint) flags,
    .mode = mode,
    .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
  };
  int fd;

  for (int i = 0; i < MAX_ATTEMPTS; i++)
    {
      fd = (int) syscall (SYS_openat2, dir_fd, path, &how, sizeof how);

      if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
        break;
    }

  return fd;
}

/* Old kernels say ENOSYS, the seccomp filters of old container runtimes EPERM. Asked once. */
static gboolean
have_openat2 (void)
{
  static gsize known = 0;

  if (g_once_init_enter (&known))
    {
      sbx_autofd int fd = call_openat2 (AT_FDCWD, ".", O_PATH | O_CLOEXEC, 0);
      const gboolean missing = fd < 0 && (errno == ENOSYS || errno == EPERM);

      g_once_init_leave (&known, missing ? 1 : 2);
    }

  return known == 2;
}

/* Both system calls want no mode where nothing is made. */
static mode_t
mode_for (int    flags,
          mode_t mode)
{
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? mode : 0;
}

/*
 * A link that is in the way looks like "no directory": tell the two apart, as openat2() does. If it
 * is a directory now, somebody swaps the two, and the next attempt may see either.
 */
static int
open_component (int         dir_fd,
                const char *name,
                int         flags,
                mode_t      mode)
{
  for (int i = 0; i < MAX_ATTEMPTS; i++)
    {
      const int fd = openat (dir_fd, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
      struct stat info;

      if (fd >= 0 || errno != ENOTDIR)
        return fd;

      if (fstatat (dir_fd, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
        return -1;

      if (!S_ISDIR (info.st_mode))
        {
          errno = S_ISLNK (info.st_mode) ? ELOOP : ENOTDIR;
          return -1;
        }
    }

  errno = EAGAIN;
  return -1;
}

/* O_PATH with O_NOFOLLOW opens a link itself, which is only what the caller wants if it said so. */
static int
refuse_link (int fd,
             int flags)
{
  sbx_autofd int owned = fd;
  struct stat info;

  if (owned < 0 || (flags & O_PATH) == 0 || (flags & O_NOFOLLOW) != 0)
    return g_steal_fd (&owned);

  if (fstat (owned, &info) < 0)
    return -1;

  if (S_ISLNK (info.st_mode))
    {
      errno = ELOOP;
      return -1;
    }

  return g_steal_fd (&owned);
}

static int
walk (int         dir_fd,
      const char *path,
      int         flags,
      mode_t      mode)
{
  g_autofree char *rest = g_strdup (path);
  sbx_autofd int held = -1;
  char *name = rest;
  int at = dir_fd;

  for (;;)
    {
      const gsize length = strcspn (name, "/");
      const gsize slashes = strspn (name + length, "/");
      char *next = name + length + slashes;

      name[length] = '\0';

      if (*next == '\0')
        {
          const int directory = slashes > 0 ? O_DIRECTORY : 0;

          /* As in the kernel, a file cannot be made under a name that says it is a directory. */
          if (slashes > 0 && (flags & O_CREAT) != 0)
            {
              errno = EISDIR;
              return -1;
            }

          return refuse_link (open_component (at, name, flags | directory, mode), flags);
        }

      at = open_component (at, name, O_PATH | O_DIRECTORY, 0);
      _sbx_clear_fd (&held);
      held = at;

      if (at < 0)
        return -1;

      name = next;
    }
}

int
_sbx_open_beneath_by_walk (int         dir_fd,
                           const char *path,
                           int         flags,
                           mode_t      mode,
                           GError    **error)
{
  int fd;

  if (!_sbx_path_check_beneath (path, error))
    return -1;

  fd = walk (dir_fd, path, flags | O_CLOEXEC, mode_for (flags, mode));
  if (fd < 0)
    _sbx_path_error (error, errno, path, _("Could not be opened"));

  return fd;
}

int
_sbx_open_beneath (int         dir_fd,
                   const char *path,
                   int         flags,
                   mode_t      mode,
                   GError    **error)
{
  int fd;

  if (!have_openat2 ())
    return _sbx_open_beneath_by_walk (dir_fd, path, flags, mode, error);

  if (!_sbx_path_check_beneath (path, error))
    return -1;

  fd = call_openat2 (dir_fd, path, flags | O_CLOEXEC, mode_for (flags, mode));
  if (fd < 0)
    _sbx_path_error (error, errno, path, _("Could not be opened"));

  return fd;
}

/* The name that the kernel has for @fd; a link of /proc has no length that stat() would tell. */
static char *
read_back (int fd)
{
  g_autofree char *link = g_strdup_printf ("/proc/self/fd/%d", fd);
  gsize size = 512;

  for (;;)
    {
      g_autofree char *name = g_malloc (size);
      const gssize length = readlink (link, name, size);

      if (length < 0)
        return NULL;

      if ((gsize) length < size)
        {
          name[length] = '\0';
          return g_steal_pointer (&name);
        }

      size *= 2;
    }
}

/* What was deleted or lies outside of our root has a name that leads elsewhere or nowhere. */
static gboolean
leads_to (const char *name,
          int         fd)
{
  struct stat by_name;
  struct stat by_fd;

  return name[0] == '/' && lstat (name, &by_name) == 0 && fstat (fd, &by_fd) == 0 &&
         by_name.st_dev == by_fd.st_dev && by_name.st_ino == by_fd.st_ino;
}

int
_sbx_open_real (const char *path,
                int         flags,
                char      **real_path,
                GError    **error)
{
  if (!g_path_is_absolute (path))
    {
      _sbx_path_error_code (error, G_IO_ERROR_INVALID_FILENAME, path,
                            _("The path must be absolute"));
      return -1;
    }

  for (int i = 0; i < MAX_ATTEMPTS; i++)
    {
      sbx_autofd int fd = open (path, flags | O_CLOEXEC);
      g_autofree char *name = NULL;

      if (fd < 0)
        {
          _sbx_path_error (error, errno, path, _("Could not be opened"));
          return -1;
        }

      name = read_back (fd);
      if (name == NULL)
        {
          _sbx_path_error (error, errno, path, _("Its real path could not be read from /proc"));
          return -1;
        }

      if (leads_to (name, fd))
        {
          *real_path = g_steal_pointer (&name);
          return g_steal_fd (&fd);
        }
    }

  _sbx_path_error_code (error, G_IO_ERROR_BUSY, path,
                        _("It is being renamed or deleted, or has no name in this file system"));
  return -1;
}
