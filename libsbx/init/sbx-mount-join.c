/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "init/sbx-mount-private.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Which process a pidfd is of, as it is called here. */
static int
get_pid (void)
{
  char text[512] = "";
  char path[64];
  const char *line;
  ssize_t n;
  int fd;

  snprintf (path, sizeof path, "/proc/self/fdinfo/%d", SBX_MOUNT_PIDFD);
  fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return -1;

  n = read (fd, text, sizeof text - 1);
  close (fd);

  line = n > 0 ? strstr (text, "\nPid:") : NULL;
  return line != NULL ? (int) strtol (line + strlen ("\nPid:"), NULL, 10) : -1;
}

/* An open descriptor of its mount namespace. The process may have ended, and its number be another
 * one's; while it lives the number is its own. */
static int
open_mount_namespace (void)
{
  struct pollfd ended = { .fd = SBX_MOUNT_PIDFD, .events = POLLIN };
  const int pid = get_pid ();
  char path[64];
  int fd;

  if (pid <= 0)
    {
      errno = ESRCH;
      return -1;
    }

  snprintf (path, sizeof path, "/proc/%d/ns/mnt", pid);
  fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd >= 0 && poll (&ended, 1, 0) != 0)
    {
      close (fd);
      errno = ESRCH;
      return -1;
    }

  return fd;
}

/* Joins the mount namespace of process 1, and before that the user namespace that owns it: only
 * there does anybody have the right to mount. Process 1 itself may be in one below. */
int
_sbx_mount_join (void)
{
  const int mounts = open_mount_namespace ();
  const int users = mounts >= 0 ? ioctl (mounts, NS_GET_USERNS) : -1;
  int error = 0;

  if (users < 0 || setns (users, CLONE_NEWUSER) < 0 || setns (mounts, CLONE_NEWNS) < 0)
    error = errno;

  /* That also made the sandbox's root ours. */
  if (error == 0 && chdir ("/") < 0)
    error = errno;

  if (users >= 0)
    close (users);
  if (mounts >= 0)
    close (mounts);

  return error;
}
