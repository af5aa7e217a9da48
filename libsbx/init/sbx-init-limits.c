/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-protection-private.h"
#include "init/sbx-init-private.h"

#include <sys/resource.h>

/*
 * What commands, and the workers of file verbs, may use of the machine. They are limited when they
 * are started, and nobody else is: process 1 and the supervisors have to be able to do their work
 * whatever a command does.
 */

static const int resources[] = {
  [SBX_INIT_LIMIT_ADDRESS_SPACE] = RLIMIT_AS,
  [SBX_INIT_LIMIT_PROCESSES] = RLIMIT_NPROC,
  [SBX_INIT_LIMIT_CPU_TIME] = RLIMIT_CPU,
  [SBX_INIT_LIMIT_FILE_SIZE] = RLIMIT_FSIZE,
  [SBX_INIT_LIMIT_OPEN_FILES] = RLIMIT_NOFILE,
};

_Static_assert (sizeof resources / sizeof resources[0] == SBX_INIT_N_LIMITS, "one for each limit");

static uint64_t limits[SBX_INIT_N_LIMITS];      /* 0: as it is */
static struct rlimit max_files;

/* Inside, the hard limit of descriptors is what the host says, if it is not lower already: so that
 * descriptors on their way through sockets inside cannot use up what is the whole user's. */
bool
_sbx_init_limits_set_up (uint64_t max_descriptors)
{
  if (getrlimit (RLIMIT_NOFILE, &max_files) < 0)
    return false;

  if (SBX_PROTECTS (T7) && max_files.rlim_max > max_descriptors)
    max_files.rlim_max = max_descriptors;

  if (max_files.rlim_cur > max_files.rlim_max)
    max_files.rlim_cur = max_files.rlim_max;

  return true;
}

void
_sbx_init_limits_note (uint32_t which,
                       uint64_t value)
{
  if (which < SBX_INIT_N_LIMITS)
    limits[which] = value;
}

/* The kernel counts us as well, and a supervisor for each exec; the one that calls this is not
 * among those that process 1 knew when it made it. */
static uint64_t
get_limit (int which)
{
  if (which != SBX_INIT_LIMIT_PROCESSES || limits[which] == 0)
    return limits[which];

  return SBX_PROTECTS (T6) ? limits[which] + 2 + _sbx_init_execs_count () : 0;
}

/* Never above what is in force. */
static int
apply (int which)
{
  const uint64_t value = get_limit (which);
  struct rlimit limit;

  if (value == 0)
    return 0;

  if (getrlimit (resources[which], &limit) < 0)
    return errno;

  /* A process is told by a signal first, and killed a second later. */
  if (limit.rlim_max > value + (which == SBX_INIT_LIMIT_CPU_TIME))
    limit.rlim_max = value + (which == SBX_INIT_LIMIT_CPU_TIME);
  limit.rlim_cur = limit.rlim_max < value ? limit.rlim_max : value;

  return setrlimit (resources[which], &limit) < 0 ? errno : 0;
}

/* For the caller, and all that it starts. Gives 0 or an errno. */
int
_sbx_init_limits_apply (void)
{
  const struct rlimit core = { 1, 1 };
  struct rlimit old;

  /* Who started us may have a hard limit of 0, and has seen to it then. */
  if (SBX_PROTECTS (T14) && getrlimit (RLIMIT_CORE, &old) == 0 && old.rlim_max >= 1 &&
      setrlimit (RLIMIT_CORE, &core) < 0)
    return errno;

  if (setrlimit (RLIMIT_NOFILE, &max_files) < 0)
    return errno;

  for (int i = 0; i < SBX_INIT_N_LIMITS; i++)
    {
      const int error = apply (i);

      if (error != 0)
        return error;
    }

  return 0;
}
