/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* What a shell cannot do, for the tests of process 1: init-helper MODE */

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void
say_ready (void)
{
  if (write (STDOUT_FILENO, "ready\n", 6) != 6)
    _exit (1);
}

static void *
fork_cb (void *unused)
{
  if (fork () == 0)
    {
      say_ready ();
      for (;;)
        pause ();
    }

  for (;;)
    pause ();
  return NULL;
}

/* A child that the main thread does not have. */
static int
child_of_thread (void)
{
  pthread_t thread;

  pthread_create (&thread, NULL, fork_cb, NULL);
  for (;;)
    pause ();
  return 0;
}

/* Processes that each end at once but for another that each started. */
static int
run_away (void)
{
  for (int i = 0;; i++)
    {
      if (i == 200)
        say_ready ();

      switch (fork ())
        {
        case 0:
          setsid ();
          continue;

        case -1:
          usleep (1000);
          continue;

        default:
          _exit (0);
        }
    }
}

#define BOMB_SIZE 300

static void
ignore_everything (void)
{
  for (int i = 1; i < 64; i++)
    signal (i, SIG_IGN);
}

/* A bomb that goes on and on: every process forks without a pause, and all ignore what can be
 * ignored. It never has more than a few hundred alive, so that a machine survives a defect of ours:
 * a child that is over the number exits, and its parent makes the next. */
static int
bomb (void)
{
  int *alive = mmap (NULL, sizeof *alive, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                     -1, 0);

  if (alive == MAP_FAILED)
    return 1;

  ignore_everything ();
  for (int i = 0;; i++)
    {
      pid_t child;

      if (i == 8)
        say_ready ();

      child = fork ();
      if (child == 0 && __atomic_add_fetch (alive, 1, __ATOMIC_SEQ_CST) > BOMB_SIZE)
        {
          __atomic_sub_fetch (alive, 1, __ATOMIC_SEQ_CST);
          _exit (0);
        }
      if (child < 0)
        usleep (1000);
    }
}

/* Its own children's reaper, and a session leader. */
static int
other_reaper (void)
{
  prctl (PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);

  for (int i = 0; i < 3; i++)
    if (fork () == 0)
      {
        setsid ();
        if (fork () > 0)
          _exit (0);
        ignore_everything ();
        say_ready ();
        for (;;)
          pause ();
      }

  for (;;)
    pause ();
  return 0;
}

int
main (int    argc,
      char **argv)
{
  const char *mode = argc == 2 ? argv[1] : "";

  if (strcmp (mode, "child-of-thread") == 0)
    return child_of_thread ();
  if (strcmp (mode, "run-away") == 0)
    return run_away ();
  if (strcmp (mode, "bomb") == 0)
    return bomb ();
  if (strcmp (mode, "orphaned-bomb") == 0)
    {
      kill (getppid (), SIGKILL);
      return bomb ();
    }
  if (strcmp (mode, "other-reaper") == 0)
    return other_reaper ();

  return 2;
}
