/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/*
 * The watch over the mounts. When the kernel says that one came or went, everything inside is
 * stopped before the host is told. The host looks at what there is, puts it right, has it checked,
 * and lets everything go on. Until then all else is obeyed as ever.
 */

#include "config.h"

#include "core/sbx-protection-private.h"
#include "init/sbx-init-private.h"

#include <poll.h>

#define FIRST_PAUSE_MS 1
#define LAST_PAUSE_MS 8

/* Who does not stand still after so long ends, with everything. */
#define STOP_LIMIT_MS 5000

typedef enum
{
  WATCHING,
  STOPPING,
  STOPPED,
} State;

static State state;
static int64_t began;         /* to stop */
static int64_t next;          /* look; when everything is stopped, the end of the host's time */
static int64_t pause_ms;
static bool unsent;

/* TRUE once after a change. */
static bool
has_changed (void)
{
  struct pollfd mounts = { .fd = SBX_INIT_FD_MOUNTS, .events = POLLPRI };

  return poll (&mounts, 1, 0) > 0;
}

/* What changed before is part of what is reported from now on. */
void
_sbx_init_watch_reset (void)
{
  has_changed ();
}

/* A descriptor to poll, or -1. */
int
_sbx_init_watch_get_fd (void)
{
  return state == WATCHING && SBX_PROTECTS (T27) ? SBX_INIT_FD_MOUNTS : -1;
}

static void
tell (void)
{
  const SbxInitReport report = {
    .head = { SBX_INIT_MAGIC, SBX_INIT_VERSION, SBX_INIT_CHANGED, 0 },
  };

  state = STOPPED;
  next = _sbx_init_now_ms () + SBX_INIT_REPAIR_MS;
  unsent = !_sbx_init_control_send (&report);
}

static void
look (bool first)
{
  const int64_t now = _sbx_init_now_ms ();

  if (_sbx_init_freeze_look (first))
    {
      tell ();
      return;
    }

  if (now >= began + STOP_LIMIT_MS)
    _sbx_init_give_up (0, ETIMEDOUT);

  next = now + pause_ms;
  pause_ms = pause_ms * 2 > LAST_PAUSE_MS ? LAST_PAUSE_MS : pause_ms * 2;
}

/* Also when the host asks for it. */
void
_sbx_init_watch_changed (void)
{
  if (state != WATCHING)
    return;

  state = STOPPING;
  began = _sbx_init_now_ms ();
  pause_ms = FIRST_PAUSE_MS;
  _sbx_init_freeze_begin ();
  look (true);
}

/* @fd is what SETUP has, too. */
void
_sbx_init_watch_check (int fd)
{
  const SbxInitReport report = {
    .head = { SBX_INIT_MAGIC, SBX_INIT_VERSION, SBX_INIT_CHECKED, 0 },
  };
  int error;

  if (state != STOPPED || unsent)
    return;

  has_changed ();
  error = _sbx_init_report_mounts (fd);
  if (error != 0)
    _sbx_init_give_up (0, error);

  next = _sbx_init_now_ms () + SBX_INIT_REPAIR_MS;
  _sbx_init_control_send_waiting (&report);
}

void
_sbx_init_watch_resume (void)
{
  if (state != STOPPED || unsent)
    return;

  /* Again, since it was checked; or the kernel continued somebody, as it does for the members of a
   * session whose terminal is gone. */
  if (has_changed () || !_sbx_init_freeze_look (false))
    {
      state = STOPPING;
      began = _sbx_init_now_ms ();
      pause_ms = FIRST_PAUSE_MS;
      look (false);
      return;
    }

  state = WATCHING;
  _sbx_init_freeze_end ();
}

/* In milliseconds, or -1. */
int
_sbx_init_watch_timeout (void)
{
  int64_t now;

  if (state == WATCHING)
    return -1;

  now = _sbx_init_now_ms ();
  return next > now ? (int) (next - now) : 0;
}

void
_sbx_init_watch_tick (void)
{
  if (state == WATCHING || _sbx_init_now_ms () < next)
    return;

  if (state == STOPPING)
    look (false);
  else
    _sbx_init_give_up (0, ETIME);
}

bool
_sbx_init_watch_waiting (void)
{
  return unsent;
}

void
_sbx_init_watch_flush (void)
{
  if (unsent)
    tell ();
}
