/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "process/sbx-process-session-private.h"

#include "files/sbx-fd-private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What forks while it is looked for is found the next time. One that was killed while it forked may
 * be long about it where there is much to do. */
#define WALK_PAUSE_US (5 * 1000)
#define MAX_WALKS 1000

static gboolean
is_of_session (const char *pid,
               pid_t       leader)
{
  g_autofree char *path = g_strdup_printf ("/proc/%s/stat", pid);
  sbx_autofd int fd = open (path, O_RDONLY | O_CLOEXEC);
  char stat[512];
  const char *end;
  char state;
  int parent, group, session;
  gssize n;

  n = fd >= 0 ? read (fd, stat, sizeof stat - 1) : -1;
  if (n <= 0)
    return FALSE;

  /* The name of the program stands in brackets, and may have brackets. */
  stat[n] = '\0';
  end = strrchr (stat, ')');

  return end != NULL && sscanf (end + 1, " %c %d %d %d", &state, &parent, &group, &session) == 4 &&
         session == leader && state != 'Z' && state != 'X';
}

/* Whether there was one. */
static gboolean
kill_one (const char *name,
          pid_t       leader)
{
  const pid_t pid = (pid_t) g_ascii_strtoll (name, NULL, 10);
  sbx_autofd int pidfd = -1;

  if (pid <= 1 || !is_of_session (name, leader))
    return FALSE;

  /* Looked at once more through the descriptor's lifetime: the number may be another's by now. */
  pidfd = (int) syscall (SYS_pidfd_open, pid, 0);
  if (pidfd >= 0 && is_of_session (name, leader))
    return syscall (SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) == 0;

  /* Not in a kernel that has pidfds, but under valgrind. */
  return pidfd < 0 && errno == ENOSYS && kill (pid, SIGKILL) == 0;
}

/* Whether there was any. */
static gboolean
walk (pid_t leader)
{
  DIR *proc = opendir ("/proc");
  struct dirent *entry;
  gboolean found = FALSE;

  if (proc == NULL)
    return FALSE;

  while ((entry = readdir (proc)) != NULL)
    found |= kill_one (entry->d_name, leader);

  closedir (proc);

  return found;
}

/* Twice, because what was forked after the names were read is in no list, and the one that forked
 * it may have died before it was looked at. */
static gboolean
kill_all (pid_t leader)
{
  return walk (leader) || walk (leader);
}

static gpointer
kill_thread (gpointer data)
{
  const pid_t leader = GPOINTER_TO_INT (data);

  for (guint i = 0; i < MAX_WALKS; i++)
    {
      g_usleep (WALK_PAUSE_US);
      if (!kill_all (leader))
        break;
    }

  return NULL;
}

void
_sbx_process_session_kill (pid_t leader)
{
  g_autoptr(GThread) thread G_GNUC_UNUSED = NULL;

  /* As long as the session has members, the kernel gives its number to nobody else: where there is
   * a process with that number, none is left of ours. */
  if (leader <= 1 || kill (leader, 0) == 0 || errno != ESRCH)
    return;

  /* Most have left nothing. */
  if (kill_all (leader))
    thread = g_thread_try_new ("sbx-session-end", kill_thread, GINT_TO_POINTER (leader), NULL);
}
