/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-protection-private.h"
#include "init/sbx-init-private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PASS_TERMINAL_TRIES 100
#define PASS_TERMINAL_PAUSE_MS 10

static _Noreturn void
not_started (SbxInitSlot    *slot,
             SbxInitFailure  failure)
{
  slot->kind = SBX_INIT_ENDED_UNSTARTED;
  slot->stage = failure.stage;
  slot->value = failure.error;
  SBX_INIT_PUT (slot->ended, 1);
  _exit (0);
}

static SbxInitFailure
prepare (SbxInitSpawn         *spawn,
         SbxInitSlot          *slot,
         const SbxInitMessage *message,
         const int            *fds,
         int                  *master)
{
  SbxInitFailure failure;

  /* A session of its own: no signal to a group of commands reaches it. */
  if (prctl (PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 || setsid () < 0)
    return _sbx_init_failed (SBX_INIT_AT_RESOURCES, errno);

  failure = _sbx_init_request_load (&spawn->request, message->verb, fds[0]);
  if (failure.stage != SBX_INIT_AT_NONE)
    return failure;

  spawn->slot = slot;
  spawn->terminal = -1;
  memcpy (spawn->standard, fds + 1, sizeof spawn->standard);
  spawn->notify = fds[4];

  if ((message->flags & SBX_INIT_TERMINAL) != 0)
    {
      *master = _sbx_init_terminal_open (slot, &spawn->terminal);
      if (*master < 0)
        return _sbx_init_failed (SBX_INIT_AT_RESOURCES, errno);
    }

  return _sbx_init_ok ();
}

/* Here waiting is allowed: process 1 does not wait for us. A host that does not read for ten
 * seconds is slow, not gone. */
static int
send_waiting (const struct msghdr *message)
{
  int tries = 0;

  while (sendmsg (SBX_INIT_FD_CONTROL, message, MSG_NOSIGNAL) < 0)
    {
      const struct timespec pause = { 0, PASS_TERMINAL_PAUSE_MS * 1000000L };

      if (errno == EAGAIN || errno == EINTR)
        continue;

      /* So many descriptors of this user are on their way that the kernel takes no more now. */
      if ((errno != ETOOMANYREFS && errno != ENOBUFS && errno != ENOMEM) ||
          ++tries == PASS_TERMINAL_TRIES)
        return errno;

      nanosleep (&pause, NULL);
    }

  return 0;
}

static int
tell_started (uint64_t id,
              int      pid,
              int      master)
{
  union { struct cmsghdr head; char room[CMSG_SPACE (sizeof (int))]; } control = { 0 };
  SbxInitReport report = {
    .head = { SBX_INIT_MAGIC, SBX_INIT_VERSION, SBX_INIT_STARTED, id },
    .pid = pid,
  };
  struct iovec vector = { &report, sizeof report };
  struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };

  if (master >= 0)
    {
      message.msg_control = &control;
      message.msg_controllen = sizeof control;
      control.head.cmsg_level = SOL_SOCKET;
      control.head.cmsg_type = SCM_RIGHTS;
      control.head.cmsg_len = CMSG_LEN (sizeof master);
      memcpy (CMSG_DATA (&control.head), &master, sizeof master);
    }

  return send_waiting (&message);
}

/* Signals that were asked for while there was no process group to send them to. */
static void
deliver_early_signals (SbxInitSlot *slot)
{
  uint64_t signals;

  SBX_INIT_PUT (slot->started, 1);
  if (_sbx_init_freeze_is_on ())
    return;

  signals = __atomic_exchange_n (&slot->signals, 0, __ATOMIC_SEQ_CST);

  for (int i = 0; signals != 0 && i < 64; i++)
    if ((signals & (1ull << i)) != 0)
      kill (-slot->main_pid, i + 1);
}

static void
note_end (SbxInitSlot     *slot,
          const siginfo_t *info)
{
  if (slot->stage != SBX_INIT_AT_NONE)
    {
      /* A file verb that went wrong wrote down how, and so did we. */
      slot->kind = SBX_INIT_ENDED_UNSTARTED;
    }
  else if (info->si_code != CLD_EXITED)
    {
      slot->kind = SBX_INIT_ENDED_SIGNALLED;
      slot->value = info->si_status;
      slot->core_dumped = info->si_code == CLD_DUMPED;
    }
  else
    {
      slot->kind = SBX_INIT_ENDED_EXITED;
      slot->value = info->si_status;
    }

  /* From here on nobody sends a signal to a number that may soon be somebody else's. */
  SBX_INIT_PUT (slot->ended, 1);
}

static void
call_process_1 (SbxInitSlot *slot)
{
  const uint64_t one = 1;

  SBX_INIT_PUT (slot->wants_kill, 1);
  if (write (SBX_INIT_FD_WAKE, &one, sizeof one) < 0)
    { /* The counter is full of other calls: it is awake. */ }
}

/* Reaps until nothing of the exec is left. */
static _Noreturn void
reap_all (SbxInitSlot *slot)
{
  bool called = false;

  for (;;)
    {
      siginfo_t info = { 0 };
      const bool ended = SBX_INIT_GET (slot->ended) != 0;
      /* The main process is noted before its number is free again. */
      const int how = !ended ? WNOWAIT : called ? 0 : WNOHANG;

      if (waitid (P_ALL, 0, &info, WEXITED | __WALL | how) < 0)
        {
          if (errno == EINTR)
            continue;
          _exit (ended ? 0 : 1);
        }

      if (ended && info.si_pid == 0)
        {
          if (!SBX_PROTECTS (T4))
            _exit (0);

          called = true;
          call_process_1 (slot);
        }

      if (ended)
        continue;

      if (info.si_pid == slot->main_pid)
        note_end (slot, &info);
      waitid (P_PID, (id_t) info.si_pid, &info, WEXITED | __WALL);
    }
}

_Noreturn void
_sbx_init_supervise (SbxInitSlot          *slot,
                     const SbxInitMessage *message,
                     const int            *fds)
{
  static SbxInitSpawn spawn;
  SbxInitFailure failure;
  int master = -1;
  int error;

  failure = prepare (&spawn, slot, message, fds, &master);
  if (failure.stage == SBX_INIT_AT_NONE)
    failure = _sbx_init_spawn (&spawn);
  if (failure.stage != SBX_INIT_AT_NONE)
    not_started (slot, failure);

  deliver_early_signals (slot);

  error = tell_started (message->head.id, slot->main_pid, master);
  if (error != 0)
    {
      /* A command on a terminal that nobody has. */
      kill (-slot->main_pid, SIGKILL);
      slot->stage = SBX_INIT_AT_RESOURCES;
      slot->value = error;
    }

  /* The ends of the pipes are the command's alone, or its closing them would go unseen. */
  _sbx_init_close_from (SBX_INIT_FD_FIRST_FREE);
  reap_all (slot);
}
