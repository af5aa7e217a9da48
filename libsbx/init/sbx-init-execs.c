/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-protection-private.h"
#include "init/sbx-init-private.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_PAUSE_MS 4
#define LAST_PAUSE_MS 64

typedef enum
{
  FREE,
  RUNNING,
  ENDING,       /* its tree is being killed; its supervisor reaps */
  ORPHANED,     /* its supervisor was killed; what it left is among the strays */
  ENDED,        /* but the host was not told yet */
} State;

/* What only process 1 knows of an exec. Its slot has the same number. */
typedef struct
{
  State    state;
  uint64_t id;
  pid_t    supervisor;
} Exec;

/* Something that is being killed: looked at again after a pause that grows, until the grace time
 * is over. */
typedef struct
{
  int64_t began;          /* this walk */
  int64_t next;
  int64_t deadline;
  int64_t pause;
  size_t  fewest;         /* that a walk has found */
} Hunt;

static Exec execs[SBX_INIT_MAX_EXECS];
static Hunt hunts[SBX_INIT_MAX_EXECS];
static size_t n_used;           /* no exec has this number or a higher one */
static size_t n_ending;
static size_t n_orphaned;
static size_t n_unsent;
static bool stray_hunt_on;
static Hunt stray_hunt;

static void
hunt_start (Hunt *hunt)
{
  const int64_t now = _sbx_init_now_ms ();

  *hunt = (Hunt) {
    .began = now,
    .deadline = now + SBX_INIT_GRACE_MS,
    .pause = FIRST_PAUSE_MS,
    .fewest = SIZE_MAX,
  };
}

/* After a walk: the kernel gets at least as much time to end what was killed as it took to find.
 * While they become fewer the grace time starts anew. */
static void
hunt_pause (Hunt   *hunt,
            size_t  n_found)
{
  const int64_t now = _sbx_init_now_ms ();
  const int64_t taken = now - hunt->began;

  hunt->next = now + (taken > hunt->pause ? taken : hunt->pause);
  hunt->pause = hunt->pause * 2 > LAST_PAUSE_MS ? LAST_PAUSE_MS : hunt->pause * 2;

  if (n_found < hunt->fewest)
    {
      hunt->fewest = n_found;
      hunt->deadline = now + SBX_INIT_GRACE_MS;
    }
}

/* TRUE when it is time to look again; @id is what the sandbox ends for when it took too long. */
static bool
hunt_due (Hunt     *hunt,
          uint64_t  id)
{
  const int64_t now = _sbx_init_now_ms ();

  if (now < hunt->next)
    return false;

  if (now >= hunt->deadline)
    _sbx_init_give_up (id, ETIMEDOUT);

  hunt->began = now;
  return true;
}

static Exec *
find (uint64_t id)
{
  for (size_t i = 0; i < n_used; i++)
    if (execs[i].state != FREE && execs[i].id == id)
      return &execs[i];

  return NULL;
}

static Exec *
find_supervisor (pid_t pid)
{
  for (size_t i = 0; i < n_used; i++)
    if ((execs[i].state == RUNNING || execs[i].state == ENDING) && execs[i].supervisor == pid)
      return &execs[i];

  return NULL;
}

/* How many supervisors there are. */
size_t
_sbx_init_execs_count (void)
{
  size_t n = 0;

  for (size_t i = 0; i < n_used; i++)
    n += execs[i].state == RUNNING || execs[i].state == ENDING;

  return n;
}

bool
_sbx_init_execs_is_child (pid_t pid)
{
  return find_supervisor (pid) != NULL;
}

static void
set_state (Exec  *exec,
           State  state)
{
  n_ending += (state == ENDING) - (exec->state == ENDING);
  n_orphaned += (state == ORPHANED) - (exec->state == ORPHANED);
  n_unsent += (state == ENDED) - (exec->state == ENDED);
  exec->state = state;

  if (state == FREE)
    while (n_used > 0 && execs[n_used - 1].state == FREE)
      n_used--;
}

SbxInitFailure
_sbx_init_execs_begin (const SbxInitMessage *message,
                       const int            *fds)
{
  SbxInitSlot *slot;
  size_t number = 0;
  pid_t pid;

  if (find (message->head.id) != NULL)
    return _sbx_init_failed (SBX_INIT_AT_REQUEST, EEXIST);

  while (number < SBX_INIT_MAX_EXECS && execs[number].state != FREE)
    number++;
  if (number == SBX_INIT_MAX_EXECS)
    return _sbx_init_failed (SBX_INIT_AT_RESOURCES, EAGAIN);

  slot = &_sbx_init_slots[number];
  *slot = (SbxInitSlot) {
    .terminal = -1,
    .rows_and_columns = (uint32_t) message->rows << 16 | message->columns,
  };

  pid = fork ();
  if (pid < 0)
    return _sbx_init_failed (SBX_INIT_AT_RESOURCES, errno);
  if (pid == 0)
    _sbx_init_supervise (slot, message, fds);

  execs[number] = (Exec) { FREE, message->head.id, pid };
  if (number >= n_used)
    n_used = number + 1;
  set_state (&execs[number], RUNNING);

  return _sbx_init_ok ();
}

static void
tell_end (Exec *exec)
{
  const SbxInitSlot *slot = &_sbx_init_slots[exec - execs];
  const SbxInitReport report = {
    .head = { SBX_INIT_MAGIC, SBX_INIT_VERSION, SBX_INIT_ENDED, exec->id },
    .kind = slot->kind,
    .stage = slot->stage,
    .value = slot->value,
    .core_dumped = slot->core_dumped,
  };

  set_state (exec, _sbx_init_control_send (&report) ? FREE : ENDED);
}

/* What a walk did not find now is found by the next one, or the sandbox ends. */
static void
kill_strays (void)
{
  size_t n_found = 0;

  _sbx_init_tree_kill_strays (&n_found);
  hunt_pause (&stray_hunt, n_found);
}

static void
kill_tree (Exec *exec)
{
  SbxInitSlot *slot = &_sbx_init_slots[exec - execs];
  const bool has_group = SBX_INIT_GET (slot->started) && !SBX_INIT_GET (slot->ended);
  size_t n_found = 0;

  _sbx_init_tree_kill_below (exec->supervisor, has_group ? slot->main_pid : 0, &n_found);
  hunt_pause (&hunts[exec - execs], n_found);
}

/* What a killed supervisor left is among the strays of all such, so all of these end together. */
static void
look_for_strays (void)
{
  if (_sbx_init_tree_has_no_strays ())
    {
      stray_hunt_on = false;
      for (size_t i = 0; n_orphaned > 0 && i < n_used; i++)
        if (execs[i].state == ORPHANED)
          tell_end (&execs[i]);
    }
  else if (!stray_hunt_on)
    {
      stray_hunt_on = true;
      hunt_start (&stray_hunt);
      kill_strays ();
    }
}

static void
begin_end (Exec *exec)
{
  SbxInitSlot *slot = &_sbx_init_slots[exec - execs];

  if (exec->state != RUNNING)
    return;

  if (!SBX_PROTECTS (T4))
    {
      if (SBX_INIT_GET (slot->started))
        kill (-slot->main_pid, SIGKILL);
      return;
    }

  set_state (exec, ENDING);
  hunt_start (&hunts[exec - execs]);
  kill_tree (exec);
}

static void
supervisor_ended (Exec *exec,
                  bool  in_order)
{
  SbxInitSlot *slot = &_sbx_init_slots[exec - execs];

  if (in_order)
    {
      tell_end (exec);
      return;
    }

  /* How the main process ended is known, if the supervisor lived to see it. */
  if (!SBX_INIT_GET (slot->ended))
    {
      slot->kind = SBX_INIT_ENDED_LOST;
      slot->stage = SBX_INIT_AT_NONE;
      slot->value = 0;
    }

  if (SBX_PROTECTS (T4))
    set_state (exec, ORPHANED);
  else
    tell_end (exec);
}

/* Children of process 1 are supervisors, or what a killed supervisor left. */
void
_sbx_init_execs_reap (void)
{
  for (;;)
    {
      siginfo_t info = { 0 };
      Exec *exec;

      if (waitid (P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | __WALL) < 0 || info.si_pid == 0)
        break;

      exec = find_supervisor (info.si_pid);
      if (exec == NULL)
        continue;

      if (info.si_code == CLD_STOPPED || info.si_code == CLD_TRAPPED)
        {
          if (SBX_PROTECTS (T4))
            kill (info.si_pid, SIGCONT);
        }
      else
        {
          supervisor_ended (exec, info.si_code == CLD_EXITED && info.si_status == 0);
        }
    }

  if (n_orphaned > 0 || stray_hunt_on)
    look_for_strays ();
}

void
_sbx_init_execs_woken (void)
{
  uint64_t count;

  if (read (SBX_INIT_FD_WAKE, &count, sizeof count) < 0)
    return;

  for (size_t i = 0; i < n_used; i++)
    if (execs[i].state == RUNNING && SBX_INIT_GET (_sbx_init_slots[i].wants_kill))
      begin_end (&execs[i]);
}

/* Of a stop and a continuation that wait the later one counts, as in the kernel: see signal(7). */
static uint64_t
get_undone_signals (uint32_t signal_number)
{
  const uint64_t stops = (1ull << (SIGSTOP - 1)) | (1ull << (SIGTSTP - 1)) |
                         (1ull << (SIGTTIN - 1)) | (1ull << (SIGTTOU - 1));

  if (signal_number == SIGCONT)
    return stops;

  return (stops & (1ull << (signal_number - 1))) != 0 ? 1ull << (SIGCONT - 1) : 0;
}

void
_sbx_init_execs_signal (uint64_t id,
                        uint32_t signal_number)
{
  Exec *exec = find (id);
  SbxInitSlot *slot;
  uint64_t bit;

  if (exec == NULL || exec->state != RUNNING || signal_number == 0 || signal_number > 64)
    return;

  slot = &_sbx_init_slots[exec - execs];
  bit = 1ull << (signal_number - 1);

  /* Whoever takes the bit out sends it: the supervisor when it has started the command, or we. */
  __atomic_fetch_and (&slot->signals, ~get_undone_signals (signal_number), __ATOMIC_SEQ_CST);
  __atomic_fetch_or (&slot->signals, bit, __ATOMIC_SEQ_CST);
  if (!_sbx_init_freeze_is_on () && SBX_INIT_GET (slot->started) && !SBX_INIT_GET (slot->ended) &&
      (__atomic_fetch_and (&slot->signals, ~bit, __ATOMIC_SEQ_CST) & bit) != 0)
    kill (-slot->main_pid, (int) signal_number);
}

void
_sbx_init_execs_deliver (void)
{
  for (size_t i = 0; i < n_used; i++)
    {
      SbxInitSlot *slot = &_sbx_init_slots[i];
      uint64_t signals;

      if (execs[i].state != RUNNING || !SBX_INIT_GET (slot->started) || SBX_INIT_GET (slot->ended))
        continue;

      signals = __atomic_exchange_n (&slot->signals, 0, __ATOMIC_SEQ_CST);
      for (int number = 1; signals != 0 && number <= 64; number++)
        if ((signals & (1ull << (number - 1))) != 0)
          kill (-slot->main_pid, number);
    }
}

void
_sbx_init_execs_continue_supervisors (void)
{
  for (size_t i = 0; i < n_used; i++)
    if (execs[i].state == RUNNING || execs[i].state == ENDING)
      kill (execs[i].supervisor, SIGCONT);
}

void
_sbx_init_execs_end (uint64_t id)
{
  Exec *exec = find (id);

  if (exec != NULL)
    begin_end (exec);
}

void
_sbx_init_execs_resize (uint64_t id,
                        uint16_t rows,
                        uint16_t columns)
{
  const Exec *exec = find (id);

  if (exec != NULL)
    _sbx_init_terminal_resize (&_sbx_init_slots[exec - execs], rows, columns);
}

/* In milliseconds, or -1 when nothing is being killed. */
int
_sbx_init_execs_timeout (void)
{
  int64_t next = INT64_MAX;
  int64_t now;

  if (n_ending == 0 && !stray_hunt_on)
    return -1;

  for (size_t i = 0; i < n_used; i++)
    if (execs[i].state == ENDING && hunts[i].next < next)
      next = hunts[i].next;

  if (stray_hunt_on && stray_hunt.next < next)
    next = stray_hunt.next;

  now = _sbx_init_now_ms ();
  return next > now ? (int) (next - now) : 0;
}

void
_sbx_init_execs_tick (void)
{
  for (size_t i = 0; n_ending > 0 && i < n_used; i++)
    if (execs[i].state == ENDING && hunt_due (&hunts[i], execs[i].id))
      kill_tree (&execs[i]);

  if (stray_hunt_on && hunt_due (&stray_hunt, 0))
    kill_strays ();
}

bool
_sbx_init_execs_waiting (void)
{
  return n_unsent > 0;
}

void
_sbx_init_execs_flush (void)
{
  for (size_t i = 0; n_unsent > 0 && i < n_used; i++)
    if (execs[i].state == ENDED)
      {
        tell_end (&execs[i]);
        if (execs[i].state == ENDED)
          return;
      }
}
