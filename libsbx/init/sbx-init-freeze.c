/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/*
 * Stops everything inside but the supervisors, and continues it later.
 *
 * One call stops all that there is; no fork gets past it. What a supervisor starts afterwards waits
 * by itself before it does anything, see _sbx_init_freeze_wait(). A process that was stopped before
 * stays so: the kernel keeps the second stop pending for it, and that is how it is told from the
 * others.
 */

#include "config.h"

#include "init/sbx-init-private.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READ_SIZE 8192

typedef struct
{
  pid_t  *pids;
  size_t  n;
  size_t  room;
} Pids;

/* Shared with supervisors and what they start, until it executes something. */
static int *frozen;

static Pids kept;       /* were stopped before */
static Pids all;

bool
_sbx_init_freeze_prepare (void)
{
  frozen = mmap (NULL, sizeof *frozen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

  return frozen != MAP_FAILED;
}

bool
_sbx_init_freeze_is_on (void)
{
  return SBX_INIT_GET (*frozen) != 0;
}

/* In what is about to become a command. */
void
_sbx_init_freeze_wait (void)
{
  while (SBX_INIT_GET (*frozen) != 0)
    syscall (SYS_futex, frozen, FUTEX_WAIT, 1, NULL, NULL, 0);
}

static bool
append (Pids  *pids,
        pid_t  pid)
{
  if (pids->n == pids->room)
    {
      const size_t room = pids->room == 0 ? 256 : pids->room * 2;
      pid_t *grown = realloc (pids->pids, room * sizeof *grown);

      if (grown == NULL)
        return false;

      pids->pids = grown;
      pids->room = room;
    }

  pids->pids[pids->n++] = pid;
  return true;
}

typedef bool (*FoundNumber) (int    directory,
                             pid_t  number,
                             void  *data);

/* Calls @found for the number of each directory in @directory, until it gives false. */
static bool
each_number (int          directory,
             FoundNumber  found,
             void        *data)
{
  char entries[READ_SIZE] __attribute__ ((aligned (8)));
  long n;

  lseek (directory, 0, SEEK_SET);
  while ((n = syscall (SYS_getdents64, directory, entries, sizeof entries)) > 0)
    {
      for (long at = 0; at < n;)
        {
          const struct dirent64 *entry = (const void *) (entries + at);

          at += entry->d_reclen;
          if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
              !found (directory, (pid_t) strtol (entry->d_name, NULL, 10), data))
            return false;
        }
    }

  return n == 0;
}

static bool
read_file (int         directory,
           pid_t       number,
           const char *name,
           char       *text,
           size_t      size)
{
  char path[48];
  ssize_t n;
  int fd;

  snprintf (path, sizeof path, "%d/%s", (int) number, name);
  fd = openat (directory, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;

  n = read (fd, text, size - 1);
  close (fd);
  text[n > 0 ? n : 0] = '\0';

  return n > 0;
}

typedef struct
{
  bool runs;        /* a thread does, or may in a moment */
  bool waits;       /* a thread is within the kernel, where no signal reaches it yet */
  bool stopped;
} States;

/* Who waits for what it has started with vfork() does nothing else until that goes on. Everybody
 * else may be about to open something, and has it when it comes out. */
static bool
waits_for_child (int   tasks,
                 pid_t thread)
{
  static const char * const names[] = { "kernel_clone", "wait_for_vfork_done", "_do_fork" };
  char text[64];

  if (!read_file (tasks, thread, "wchan", text, sizeof text))
    return false;

  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp (text, names[i]) == 0)
      return true;

  return false;
}

static bool
add_state (int    tasks,
           pid_t  thread,
           void  *data)
{
  States *states = data;
  char text[256];
  const char *end;

  if (!read_file (tasks, thread, "stat", text, sizeof text))
    return true;

  end = strrchr (text, ')');
  if (end == NULL || end[1] == '\0')
    return true;

  switch (end[2])
    {
    case 'T':
    case 't':
      states->stopped = true;
      break;

    case 'D':
      states->waits = states->waits || !waits_for_child (tasks, thread);
      break;

    case 'Z':
    case 'X':
    case 'x':
      break;

    default:
      states->runs = true;
      break;
    }

  return true;
}

static States
get_states (pid_t pid)
{
  States states = { false, false, false };
  char path[32];
  int tasks;

  snprintf (path, sizeof path, "%d/task", (int) pid);
  tasks = openat (SBX_INIT_FD_PROC, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (tasks < 0)
    return states;

  if (!each_number (tasks, add_state, &states) && errno != ENOENT && errno != ESRCH)
    states.runs = true;
  close (tasks);

  return states;
}

/* Only right for one that was seen stopped before, and was sent one SIGSTOP by us. */
static bool
was_stopped_before (pid_t pid)
{
  char text[4096];
  const char *line;

  if (!read_file (SBX_INIT_FD_PROC, pid, "status", text, sizeof text))
    return false;

  line = strstr (text, "\nShdPnd:");
  return line != NULL &&
         (strtoull (line + strlen ("\nShdPnd:"), NULL, 16) & (1ull << (SIGSTOP - 1))) != 0;
}

typedef struct
{
  bool first;
  bool ok;
  bool quiet;
} Look;

static bool
look_at (int    directory,
         pid_t  pid,
         void  *data)
{
  Look *look = data;
  States states;

  if (pid == 1 || _sbx_init_execs_is_child (pid))
    return true;

  states = get_states (pid);

  if (look->first && states.stopped && !states.runs && !states.waits && was_stopped_before (pid))
    look->ok = append (&kept, pid) && look->ok;

  if (states.runs)
    {
      /* Somebody who was stopped a moment later may have continued it. */
      if (!look->first)
        kill (pid, SIGSTOP);
      look->quiet = false;
    }

  look->quiet = look->quiet && !states.waits;
  return true;
}

void
_sbx_init_freeze_begin (void)
{
  kept.n = 0;
  SBX_INIT_PUT (*frozen, 1);
  kill (-1, SIGSTOP);
  _sbx_init_execs_continue_supervisors ();
}

/* Whether everything stands still. The first look after the beginning is @first. */
bool
_sbx_init_freeze_look (bool first)
{
  Look look = { first, true, true };

  if (!each_number (SBX_INIT_FD_PROC, look_at, &look) || !look.ok)
    _sbx_init_give_up (0, ENOMEM);

  return look.quiet;
}

static bool
collect (int    directory,
         pid_t  pid,
         void  *data)
{
  return pid == 1 || _sbx_init_execs_is_child (pid) || append (&all, pid);
}

static bool
is_kept (pid_t pid)
{
  for (size_t i = 0; i < kept.n; i++)
    if (kept.pids[i] == pid)
      return true;

  return false;
}

/* Children first, as far as numbers tell: a shell that goes on must not find that its child is
 * stopped. */
void
_sbx_init_freeze_end (void)
{
  all.n = 0;
  if (!each_number (SBX_INIT_FD_PROC, collect, NULL))
    _sbx_init_give_up (0, ENOMEM);

  SBX_INIT_PUT (*frozen, 0);
  syscall (SYS_futex, frozen, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);

  for (size_t i = all.n; i > 0; i--)
    if (!is_kept (all.pids[i - 1]))
      kill (all.pids[i - 1], SIGCONT);

  _sbx_init_execs_deliver ();
}
