/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/*
 * sbx-init: process 1 of every sandbox.
 *
 * It waits for four things: the host asks for something, the host is gone, a child changed, a
 * mount came or went. It never waits for anything else, so that it can always kill. When it ends,
 * the kernel kills everything inside.
 */

#include "config.h"

#include "core/sbx-protection-private.h"
#include "init/sbx-init-private.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1U << 1)
#endif

static volatile sig_atomic_t child_changed;

void
_sbx_init_close_from (int first)
{
  if (syscall (SYS_close_range, (unsigned int) first, ~0U, 0) == 0)
    return;

  /* A kernel before 5.9. Nothing here holds more than a few. */
  for (int fd = first; fd < first + 64; fd++)
    close (fd);
}

int64_t
_sbx_init_now_ms (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

_Noreturn void
_sbx_init_give_up (uint64_t id,
                   int      error)
{
  const SbxInitReport report = {
    .head = { SBX_INIT_MAGIC, SBX_INIT_VERSION, SBX_INIT_FAILED, id },
    .value = error,
  };

  _sbx_init_control_send (&report);
  _exit (1);
}

static void
child_changed_cb (int signal_number)
{
  child_changed = 1;
}

/* Nothing that was ignored or blocked by whoever started us reaches a command, and only SIGCHLD
 * reaches us, only while we wait. */
static void
set_up_signals (sigset_t *while_waiting)
{
  struct sigaction action = { .sa_handler = SIG_DFL };
  sigset_t all;

  for (int i = 1; i < _NSIG; i++)
    sigaction (i, &action, NULL);

  action.sa_handler = child_changed_cb;
  sigaction (SIGCHLD, &action, NULL);

  sigfillset (&all);
  sigprocmask (SIG_SETMASK, &all, NULL);

  *while_waiting = all;
  sigdelset (while_waiting, SIGCHLD);
}

static int
get_timeout (void)
{
  const int execs = _sbx_init_execs_timeout ();
  const int watch = _sbx_init_watch_timeout ();

  if (execs < 0 || watch < 0)
    return execs < 0 ? watch : execs;

  return execs < watch ? execs : watch;
}

/* One round of waiting and doing. */
static void
iterate (const sigset_t *while_waiting)
{
  const bool unsent = _sbx_init_control_waiting () || _sbx_init_execs_waiting () ||
                      _sbx_init_watch_waiting ();
  struct pollfd fds[] = {
    /* What the host does not take, it gets no more of. */
    { .fd = SBX_INIT_FD_CONTROL, .events = unsent ? POLLOUT : POLLIN },
    { .fd = SBX_INIT_FD_WAKE, .events = POLLIN },
    { .fd = SBX_PROTECTS (T22) ? SBX_INIT_FD_HOST : -1, .events = POLLIN },
    { .fd = _sbx_init_watch_get_fd (), .events = POLLPRI },
  };
  const int timeout = get_timeout ();
  const struct timespec wait = { timeout / 1000, (timeout % 1000) * 1000000L };
  int n;

  n = ppoll (fds, sizeof fds / sizeof fds[0], timeout < 0 ? NULL : &wait, while_waiting);

  if (n < 0 && errno != EINTR)
    _sbx_init_give_up (0, errno);

  if (n > 0 && (fds[2].revents != 0 || (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0))
    _exit (0);

  /* First: as long as this takes, something inside may be what it should not be. */
  if (n > 0 && (fds[3].revents & POLLPRI) != 0)
    _sbx_init_watch_changed ();

  if (child_changed)
    {
      child_changed = 0;
      _sbx_init_execs_reap ();
    }

  if (n > 0 && (fds[1].revents & POLLIN) != 0)
    _sbx_init_execs_woken ();

  if (timeout >= 0)
    {
      _sbx_init_execs_tick ();
      _sbx_init_watch_tick ();
    }

  if (n > 0 && (fds[0].revents & POLLOUT) != 0)
    {
      _sbx_init_control_flush ();
      _sbx_init_execs_flush ();
      _sbx_init_watch_flush ();
    }

  if (n > 0 && (fds[0].revents & POLLIN) != 0 && !_sbx_init_control_read ())
    _exit (0);
}

int
main (int    argc,
      char **argv)
{
  sigset_t while_waiting;

  if (getpid () != 1)
    {
      fputs ("sbx-init is process 1 of a sandbox, and is started by libsbx alone.\n", stderr);
      return 2;
    }

  set_up_signals (&while_waiting);
  _sbx_init_prepare ();
  _sbx_init_set_up ();

  for (;;)
    iterate (&while_waiting);
}
