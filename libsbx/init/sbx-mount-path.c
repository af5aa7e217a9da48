/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "init/sbx-mount-private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int
open_step (int         directory,
           const char *name)
{
  const int fd = openat (directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  struct stat status;

  if (fd >= 0 && (fstat (fd, &status) < 0 || S_ISLNK (status.st_mode)))
    {
      close (fd);
      errno = ELOOP;
      return -1;
    }

  return fd;
}

/* For kernels before 5.6. */
static int
walk (int   root,
      char *rest)
{
  char *save = NULL;
  int fd = fcntl (root, F_DUPFD_CLOEXEC, 0);

  for (char *name = strtok_r (rest, "/", &save); name != NULL && fd >= 0;
       name = strtok_r (NULL, "/", &save))
    {
      const int next = strcmp (name, "..") != 0 ? open_step (fd, name) : -1;
      const int error = errno;

      close (fd);
      fd = next;
      errno = error;
    }

  return fd;
}

int
_sbx_mount_open (const char *path)
{
  const struct open_how how = {
    .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
    .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_IN_ROOT,
  };
  const int root = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  char copy[PATH_MAX];
  int fd = -1;
  int error;

  if (root < 0)
    return -1;

  if (path[0] != '/' || strlen (path) >= sizeof copy)
    {
      errno = path[0] != '/' ? EINVAL : ENAMETOOLONG;
    }
  else
    {
#ifndef SBX_MOUNT_WITHOUT_NEW_CALLS
      fd = (int) syscall (SYS_openat2, root, path, &how, sizeof how);
#else
      (void) how;
      errno = ENOSYS;
#endif
      if (fd < 0 && errno == ENOSYS)
        {
          errno = EINVAL;
          memcpy (copy, path, strlen (path) + 1);
          fd = walk (root, copy);
        }
    }

  error = errno;
  close (root);
  errno = error;

  return fd;
}
