/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/*
 * Stop before you kill: a tree that forks faster than it is killed is first stopped, one process
 * after the other, until a walk over all of it finds nobody new. A process that was within a fork
 * while it was stopped may still add one; whoever kills a tree therefore looks again until it is
 * gone.
 */

#include "config.h"

#include "core/sbx-protection-private.h"
#include "init/sbx-init-private.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READ_SIZE 16384
#define PATIENCE_MS 30

/* Processes, in the order in which they were found; and where each is in that order, by a hash of
 * its number. Kept between walks. */
static struct
{
  pid_t    *pids;
  size_t    n;
  size_t    room;           /* a power of two */
  uint32_t *index;          /* twice the room; position + 1, or 0 */
} tree;

static size_t
find_place (pid_t pid)
{
  const size_t mask = tree.room * 2 - 1;
  size_t place = ((uint32_t) pid * 2654435761u) & mask;

  while (tree.index[place] != 0 && tree.pids[tree.index[place] - 1] != pid)
    place = (place + 1) & mask;

  return place;
}

static bool
grow (void)
{
  const size_t room = tree.room == 0 ? 256 : tree.room * 2;
  pid_t *pids = realloc (tree.pids, room * sizeof *pids);
  uint32_t *index = calloc (room * 2, sizeof *index);

  if (pids != NULL)
    tree.pids = pids;

  if (pids == NULL || index == NULL)
    {
      free (index);
      return false;
    }

  free (tree.index);
  tree.index = index;
  tree.room = room;

  for (size_t i = 0; i < tree.n; i++)
    tree.index[find_place (tree.pids[i])] = (uint32_t) i + 1;

  return true;
}

static void
clear (void)
{
  if (tree.n > 0)
    memset (tree.index, 0, tree.room * 2 * sizeof *tree.index);
  tree.n = 0;
}

/* Adds and stops a process that was not known. */
static bool
add (pid_t pid)
{
  size_t place;

  if (tree.n == tree.room && !grow ())
    return false;

  place = find_place (pid);
  if (tree.index[place] != 0)
    return true;

  tree.pids[tree.n++] = pid;
  tree.index[place] = (uint32_t) tree.n;
  kill (pid, SIGSTOP);

  return true;
}

/* Calls @found for each number in a list of children, until it gives FALSE. */
static bool
read_children (int    fd,
               bool (*found) (pid_t))
{
  static char buffer[READ_SIZE];
  pid_t pid = 0;
  off_t at = 0;
  ssize_t n;

  while ((n = pread (fd, buffer, sizeof buffer, at)) > 0)
    {
      for (ssize_t i = 0; i < n; i++)
        {
          if (buffer[i] >= '0' && buffer[i] <= '9')
            {
              pid = pid * 10 + (buffer[i] - '0');
              continue;
            }

          if (pid > 0 && !found (pid))
            {
              errno = ENOMEM;
              return false;
            }
          pid = 0;
        }
      at += n;
    }

  return n == 0;
}

static bool
is_gone (int error)
{
  return error == ENOENT || error == ESRCH;
}

static bool
add_children_of_thread (int         tasks,
                        const char *thread)
{
  char path[64];
  bool ok;
  int fd;

  snprintf (path, sizeof path, "%.32s/children", thread);
  fd = openat (tasks, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return is_gone (errno);

  ok = read_children (fd, add) || is_gone (errno);
  close (fd);

  return ok;
}

/* A child belongs to the thread that made it. */
static bool
add_children (pid_t pid)
{
  static char entries[READ_SIZE] __attribute__ ((aligned (8)));
  char path[32];
  bool ok = true;
  long n;
  int tasks;

  snprintf (path, sizeof path, "%d/task", (int) pid);
  tasks = openat (SBX_INIT_FD_PROC, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (tasks < 0)
    return is_gone (errno);

  while ((n = syscall (SYS_getdents64, tasks, entries, sizeof entries)) > 0)
    {
      for (long at = 0; at < n;)
        {
          const struct dirent64 *entry = (const void *) (entries + at);

          if (entry->d_name[0] != '.')
            ok = add_children_of_thread (tasks, entry->d_name) && ok;
          at += entry->d_reclen;
        }
    }

  ok = ok && (n == 0 || is_gone (errno));
  close (tasks);

  return ok;
}

/* Everything inside, in one call that no fork gets past. Neighbours are stopped with it, for as
 * long as the killing takes; what was stopped before goes on afterwards, too. */
static void
signal_everything (int signal_number)
{
  kill (-1, signal_number);
}

/* Stops all that comes from what is in the tree already, and kills it. Walking takes long when
 * there are thousands of them that all want to run: then nobody does. */
static bool
stop_and_kill (size_t *n_found)
{
  const int64_t patience_ends = _sbx_init_now_ms () + PATIENCE_MS;
  bool all_stopped = false;
  bool ok = true;
  size_t before;

  do
    {
      before = tree.n;
      for (size_t i = 0; i < tree.n; i++)
        {
          ok = add_children (tree.pids[i]) && ok;

          if (!all_stopped && i % 32 == 0 && _sbx_init_now_ms () > patience_ends)
            {
              all_stopped = true;
              signal_everything (SIGSTOP);
            }
        }

      /* Who was within a fork has a child by now. */
      if (all_stopped && tree.n > before)
        signal_everything (SIGSTOP);
    }
  while (tree.n > before);

  for (size_t i = 0; i < tree.n; i++)
    kill (tree.pids[i], SIGKILL);

  /* … but not if it all has to be. */
  if (all_stopped && !_sbx_init_freeze_is_on ())
    signal_everything (SIGCONT);

  *n_found = tree.n;
  clear ();
  return ok;
}

/* Kills what is below @root, but not @root itself, which is to reap it. If @group is one, many of
 * them are in that process group. FALSE when not all could be found. */
bool
_sbx_init_tree_kill_below (pid_t   root,
                           pid_t   group,
                           size_t *n_found)
{
  bool ok;

  if (group > 0)
    kill (-group, SIGSTOP);

  ok = add_children (root);

  return stop_and_kill (n_found) && ok;
}

static bool
add_stray (pid_t pid)
{
  return _sbx_init_execs_is_child (pid) || add (pid);
}

/* Kills each child of process 1 that is no supervisor, with all that is below it. */
bool
_sbx_init_tree_kill_strays (size_t *n_found)
{
  const bool ok = read_children (SBX_INIT_FD_CHILDREN, add_stray);

  return stop_and_kill (n_found) && ok;
}

/* FALSE, too, when the list cannot be read. */
bool
_sbx_init_tree_has_no_strays (void)
{
  return read_children (SBX_INIT_FD_CHILDREN, _sbx_init_execs_is_child);
}
