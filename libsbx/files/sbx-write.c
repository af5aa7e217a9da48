/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-path-private.h"
#include "files/sbx-write-private.h"

#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_ATTEMPTS 16

/* Makes a new file beside the final one, under a name that nobody can guess. */
static int
make_staging (int    dir_fd,
              char **name)
{
  int fd = -1;

  for (int i = 0; i < MAX_ATTEMPTS && fd < 0; i++)
    {
      g_autofree char *tried = g_strdup_printf (".sbx-%08x%08x", g_random_int (), g_random_int ());

      fd = openat (dir_fd, tried, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

      if (fd >= 0)
        *name = g_steal_pointer (&tried);
      else if (errno != EEXIST)
        break;
    }

  return fd;
}

static gboolean
write_all (int     fd,
           GBytes *content)
{
  gsize size;
  const char *data = g_bytes_get_data (content, &size);
  gsize done = 0;

  while (done < size)
    {
      const gssize n = write (fd, data + done, size - done);

      if (n < 0 && errno != EINTR)
        return FALSE;

      done += (gsize) MAX (n, 0);
    }

  return TRUE;
}

gboolean
_sbx_write_staged (int         dir_fd,
                   const char *name,
                   GBytes     *content,
                   mode_t      mode,
                   GError    **error)
{
  g_autofree char *staging = NULL;
  sbx_autofd int fd = -1;

  if (!_sbx_path_check_name (name, error))
    return FALSE;

  fd = make_staging (dir_fd, &staging);
  if (fd < 0)
    {
      _sbx_path_error (error, errno, name, _("Could not be made"));
      return FALSE;
    }

  /* The mode comes last: until then nobody else can read what is only half there. */
  if (!write_all (fd, content) || fchmod (fd, mode) < 0 ||
      renameat (dir_fd, staging, dir_fd, name) < 0)
    {
      const int errsv = errno;

      unlinkat (dir_fd, staging, 0);
      _sbx_path_error (error, errsv, name, _("Could not be written"));
      return FALSE;
    }

  return TRUE;
}

static int
open_directory (int         dir_fd,
                const char *name)
{
  return openat (dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/*
 * Gives a directory that was just made the exact mode. Who may write its parent could have put
 * another one there meanwhile, hence through the descriptor, and only if it is ours.
 */
static gboolean
set_mode (int    fd,
          mode_t mode)
{
  char self[64];
  struct stat info;

  if (fstat (fd, &info) < 0)
    return FALSE;

  if ((info.st_mode & 07777) == mode || info.st_uid != geteuid ())
    return TRUE;

  /* An O_PATH descriptor, which alone can be had of a directory that nobody may read. */
  snprintf (self, sizeof self, "/proc/self/fd/%d", fd);
  return chmod (self, mode) == 0;
}

/* Opens, or makes and opens, one directory. A link in the way is ENOTDIR to the kernel. */
static int
enter (int         dir_fd,
       const char *name,
       mode_t      mode)
{
  sbx_autofd int fd = open_directory (dir_fd, name);
  gboolean made = FALSE;

  if (fd < 0 && errno == ENOENT)
    {
      made = mkdirat (dir_fd, name, mode) == 0;

      /* Somebody else may have been faster, and then its mode is theirs. */
      if (!made && errno != EEXIST)
        return -1;

      fd = open_directory (dir_fd, name);
    }

  if (fd < 0 || (made && !set_mode (fd, mode)))
    return -1;

  return g_steal_fd (&fd);
}

int
_sbx_make_dirs_beneath (int         dir_fd,
                        const char *path,
                        mode_t      mode,
                        GError    **error)
{
  g_autofree char *rest = g_strdup (path);
  sbx_autofd int held = -1;
  char *name = rest;
  int fd;

  if (!_sbx_path_check_beneath (path, error))
    return -1;

  while (*name != '\0')
    {
      char *end = name + strcspn (name, "/");
      char *next = end + strspn (end, "/");
      int entered;

      *end = '\0';
      entered = enter (held >= 0 ? held : dir_fd, name, mode);

      if (entered < 0)
        {
          _sbx_path_error (error, errno, path, _("The directory could not be made"));
          return -1;
        }

      _sbx_clear_fd (&held);
      held = entered;
      name = next;
    }

  fd = openat (held, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    _sbx_path_error (error, errno, path, _("The directory could not be opened"));

  return fd;
}
