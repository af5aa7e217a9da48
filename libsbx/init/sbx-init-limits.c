/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-protection-private.h"
#include "init/sbx-init-private.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * What commands, and the workers of file verbs, may use of the machine. They are limited when they
 * are started, and nobody else is: process 1 and the supervisors have to be able to do their work
 * whatever a command does.
 */

#define OOM_SCORE_ADJ 500

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
static bool can_limit_core;

static void
write_own (const char *path,
           const char *text)
{
  const int fd = open (path, O_WRONLY | O_CLOEXEC);

  if (fd < 0)
    return;

  if (write (fd, text, strlen (text)) < 0)
    { /* The kernel keeps what it had. */ }

  close (fd);
}

/* When memory runs out a sandbox goes before the desktop does. All of it inherits this. */
static void
raise_oom_score (void)
{
  char text[32] = "";
  const int fd = open ("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
  long score;

  if (fd < 0)
    return;

  if (read (fd, text, sizeof text - 1) < 0)
    text[0] = '\0';
  close (fd);

  score = strtol (text, NULL, 10) + OOM_SCORE_ADJ;
  snprintf (text, sizeof text, "%ld", score > 1000 ? 1000 : score);
  write_own ("/proc/self/oom_score_adj", text);
}

/* A piped core_pattern takes a limit of 0 for no limit at all; only 1 makes the kernel give up. Who
 * started us with a hard limit of 0 cannot be given 1: then a dump has no memory in it. */
static void
look_at_core_limit (void)
{
  struct rlimit limit;

  can_limit_core = getrlimit (RLIMIT_CORE, &limit) == 0 && limit.rlim_max >= 1;
  if (!can_limit_core && SBX_PROTECTS (T14))
    write_own ("/proc/self/coredump_filter", "0");
}

void
_sbx_init_limits_prepare (void)
{
  if (SBX_PROTECTS (T6))
    raise_oom_score ();

  look_at_core_limit ();
}

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

  if (SBX_PROTECTS (T14) && can_limit_core && setrlimit (RLIMIT_CORE, &core) < 0)
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
