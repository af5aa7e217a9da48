/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <fcntl.h>
#include <glib.h>
#include <grp.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

G_BEGIN_DECLS

/* Mounts of a test's own, which nobody else sees and which go with its process. */

static inline gboolean
mounts_write (const char *path,
              const char *text)
{
  const int fd = open (path, O_WRONLY | O_CLOEXEC);
  const gboolean is_written = fd >= 0 && write (fd, text, strlen (text)) > 0;

  if (fd >= 0)
    close (fd);

  return is_written;
}

static inline gboolean
mounts_become_nobody (void)
{
  const uid_t nobody = 65534;

  return setgroups (0, NULL) == 0 && setresgid (nobody, nobody, nobody) == 0 &&
         setresuid (nobody, nobody, nobody) == 0 && prctl (PR_SET_DUMPABLE, 1) == 0;
}

/* For a process with one thread. As @as_nobody, or without any rights, in a user namespace too. */
static inline gboolean
mounts_enter (gboolean as_nobody)
{
  char users[64];
  char groups[64];

  if (as_nobody && !mounts_become_nobody ())
    return FALSE;

  if (geteuid () == 0)
    return unshare (CLONE_NEWNS) == 0 &&
           mount ("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0;

  g_snprintf (users, sizeof users, "%u %u 1\n", geteuid (), geteuid ());
  g_snprintf (groups, sizeof groups, "%u %u 1\n", getegid (), getegid ());
  if (unshare (CLONE_NEWNS | CLONE_NEWUSER) < 0 || !mounts_write ("/proc/self/setgroups", "deny") ||
      !mounts_write ("/proc/self/uid_map", users) || !mounts_write ("/proc/self/gid_map", groups))
    return FALSE;

  return mount ("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0;
}

static inline gboolean
mounts_can_enter (gboolean as_nobody)
{
  const pid_t pid = fork ();
  int status;

  if (pid == 0)
    _exit (mounts_enter (as_nobody) ? 0 : 1);

  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  return status == 0;
}

G_END_DECLS
