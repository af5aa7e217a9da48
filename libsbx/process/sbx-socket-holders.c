/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "process/sbx-socket-holders-private.h"

#include "files/sbx-fd-private.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

guint64
_sbx_socket_get_inode (int fd)
{
  struct stat info;

  return fstat (fd, &info) == 0 && S_ISSOCK (info.st_mode) ? info.st_ino : 0;
}

static gboolean
holds (const char *pid,
       guint64     inode,
       int         fd_number)
{
  g_autofree char *wanted = g_strdup_printf ("socket:[%" G_GUINT64_FORMAT "]", inode);
  g_autofree char *path = g_strdup_printf ("/proc/%s/fd/%d", pid, fd_number);
  char target[64];
  const gssize n = readlink (path, target, sizeof target - 1);

  if (n < 0)
    return FALSE;

  target[n] = '\0';

  return strcmp (target, wanted) == 0;
}

void
_sbx_socket_kill_holders (guint64 inode,
                          int     fd_number)
{
  DIR *proc = opendir ("/proc");
  struct dirent *entry;

  if (proc == NULL)
    return;

  while ((entry = readdir (proc)) != NULL)
    {
      const int pid = (int) g_ascii_strtoll (entry->d_name, NULL, 10);
      sbx_autofd int pidfd = -1;

      if (pid <= 0 || !holds (entry->d_name, inode, fd_number))
        continue;

      /* Looked at once more through the descriptor's lifetime: the number may be another's by
       * now. */
      pidfd = (int) syscall (SYS_pidfd_open, pid, 0);
      if (pidfd >= 0 && holds (entry->d_name, inode, fd_number))
        syscall (SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);

      /* Not in a kernel that has pidfds, but under valgrind. */
      if (pidfd < 0 && errno == ENOSYS)
        kill (pid, SIGKILL);
    }

  closedir (proc);
}
