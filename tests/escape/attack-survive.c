/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "attack.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Ways to live on after one's exec has ended, or was to end. */

#define BOMB_SIZE 120

static void
ignore_everything (void)
{
  for (int i = 1; i < 64; i++)
    signal (i, SIG_IGN);
}

static void
live_on (void)
{
  ignore_everything ();

  for (;;)
    pause ();
}

/* A child in a session of its own, whose parent is gone, and which has none of our pipes. */
static void
leave_daemon (void)
{
  const pid_t child = fork ();

  if (child == 0)
    {
      setsid ();
      if (fork () > 0)
        _exit (0);

      close (0);
      close (1);
      close (2);
      live_on ();
    }

  waitpid (child, NULL, 0);
}

static int
daemons (int    argc,
         char **argv)
{
  for (int i = 0; i < 5; i++)
    leave_daemon ();

  return 0;
}

static int
kill_supervisor (int    argc,
                 char **argv)
{
  leave_daemon ();
  report ("kill", kill (getppid (), SIGKILL));
  live_on ();
  return 0;
}

/* The supervisor is to reap, so that stopping it would make the end of this go unseen. */
static int
stop_supervisor (int    argc,
                 char **argv)
{
  leave_daemon ();
  return report ("stop", kill (getppid (), SIGSTOP)) < 0;
}

static int
stop_supervisor_and_stay (int    argc,
                          char **argv)
{
  leave_daemon ();
  report ("stop", kill (getppid (), SIGSTOP));
  live_on ();
  return 0;
}

static int
other_reaper (int    argc,
              char **argv)
{
  prctl (PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  for (int i = 0; i < 3; i++)
    leave_daemon ();

  report_value ("ready", 0);
  live_on ();
  return 0;
}

/* Every process forks without a pause, and all ignore what can be ignored. Never more than some
 * hundred are alive, so that a machine survives a defect of ours. */
static int
bomb (int    argc,
      char **argv)
{
  int *alive = mmap (NULL, sizeof *alive, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                     -1, 0);

  if (alive == MAP_FAILED)
    return 1;

  ignore_everything ();
  for (;;)
    {
      const pid_t child = fork ();

      if (child < 0)
        usleep (1000);

      if (child == 0 && __atomic_add_fetch (alive, 1, __ATOMIC_SEQ_CST) > BOMB_SIZE)
        {
          __atomic_sub_fetch (alive, 1, __ATOMIC_SEQ_CST);
          _exit (0);
        }

      if (child == 0)
        {
          close (0);
          close (1);
          close (2);
        }
    }
}

/* The supervisors of the others: every child of process 1 but our own. Listed first, since what
 * they leave behind becomes a child of process 1, too. */
static int
kill_other_supervisors (int    argc,
                        char **argv)
{
  DIR *dir = opendir ("/proc");
  const struct dirent *entry;
  pid_t supervisors[64];
  size_t n_supervisors = 0;
  long n = 0;

  while (dir != NULL && (entry = readdir (dir)) != NULL)
    {
      const pid_t pid = parse_number (entry->d_name);
      char path[64];
      FILE *file;
      int parent = 0;

      if (pid <= 1 || pid == getppid () || n_supervisors == 64)
        continue;

      snprintf (path, sizeof path, "/proc/%d/stat", (int) pid);
      file = fopen (path, "re");
      if (file != NULL && fscanf (file, "%*d (%*[^)]) %*c %d", &parent) == 1 && parent == 1)
        supervisors[n_supervisors++] = pid;
      if (file != NULL)
        fclose (file);
    }

  for (size_t i = 0; i < n_supervisors; i++)
    n += kill (supervisors[i], SIGKILL) == 0;

  report_value ("killed", n);
  return 0;
}

const AttackMode attack_survive_modes[] = {
  { "daemons", daemons },
  { "kill-supervisor", kill_supervisor },
  { "stop-supervisor", stop_supervisor },
  { "stop-supervisor-and-stay", stop_supervisor_and_stay },
  { "other-reaper", other_reaper },
  { "bomb", bomb },
  { "kill-other-supervisors", kill_other_supervisors },
  { NULL, NULL }
};
