/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/*
 * Uses up what a sandbox may be limited in, and prints how far it came. It is bounded by itself: a
 * test may take the limits away.
 *
 *   fork N       starts up to N children, which wait; prints how many there were, and an errno
 *   bomb N       every process starts others, N in all; prints how many lived at a time
 *   hold N       as fork, but then waits until its standard input ends
 *   threads N    as fork, with threads
 *   memory N     takes N bytes and writes in each page
 *   pipes N      makes up to N pipes of 64 KiB, fills none, and waits as hold does
 */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 1000

typedef struct
{
  atomic_int started;
  atomic_int living;
  atomic_int most;
  atomic_int refused;
} Shared;

static void
wait_for_end_of_input (void)
{
  char byte;

  while (read (STDIN_FILENO, &byte, 1) > 0)
    ;
}

static int
fork_many (int  n,
           int  hold)
{
  pid_t children[MOST];
  int made = 0;
  int error = 0;

  while (made < n)
    {
      const pid_t pid = fork ();

      if (pid < 0)
        {
          error = errno;
          break;
        }

      if (pid == 0)
        {
          for (;;)
            pause ();
        }

      children[made++] = pid;
    }

  printf ("%d %d\n", made, error);
  fflush (stdout);
  if (hold)
    wait_for_end_of_input ();

  for (int i = 0; i < made; i++)
    kill (children[i], SIGKILL);
  while (wait (NULL) > 0)
    ;

  return 0;
}

static void
note_start (Shared *shared)
{
  const int living = atomic_fetch_add (&shared->living, 1) + 1;
  int most = atomic_load (&shared->most);

  while (living > most && !atomic_compare_exchange_weak (&shared->most, &most, living))
    ;
}

static void
explode (Shared *shared,
         int     n)
{
  while (atomic_fetch_add (&shared->started, 1) < n)
    {
      const pid_t pid = fork ();

      if (pid < 0)
        {
          atomic_fetch_add (&shared->refused, 1);
          return;
        }

      if (pid == 0)
        note_start (shared);
    }
}

static int
bomb (int n)
{
  const struct timespec pause_time = { 0, 200 * 1000 * 1000 };
  Shared *shared = mmap (NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                         -1, 0);
  const pid_t self = getpid ();

  if (shared == MAP_FAILED)
    return 1;

  note_start (shared);
  explode (shared, n);
  if (getpid () != self)
    {
      for (;;)
        pause ();
    }

  nanosleep (&pause_time, NULL);
  printf ("%d %d\n", atomic_load (&shared->most), atomic_load (&shared->refused) > 0);

  return 0;
}

static void *
idle (void *data)
{
  for (;;)
    pause ();

  return data;
}

static int
make_threads (int n)
{
  pthread_attr_t attributes;
  int made = 0;
  int error = 0;

  pthread_attr_init (&attributes);
  pthread_attr_setstacksize (&attributes, 64 * 1024);
  while (made < n && error == 0)
    {
      pthread_t thread;

      error = pthread_create (&thread, &attributes, idle, NULL);
      made += error == 0;
    }

  printf ("%d %d\n", made, error);
  fflush (stdout);
  _exit (0);
}

static int
take_memory (size_t size)
{
  char *data = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (data == MAP_FAILED)
    {
      printf ("refused %d\n", errno);
      return 0;
    }

  for (size_t i = 0; i < size; i += 4096)
    data[i] = 1;
  puts ("taken");

  return 0;
}

static int
make_pipes (int n)
{
  int made = 0;
  int fds[2];

  while (made < n && pipe (fds) == 0)
    made++;

  printf ("%d\n", made);
  fflush (stdout);
  wait_for_end_of_input ();

  return 0;
}

int
main (int    argc,
      char **argv)
{
  const long long n = argc > 2 ? strtoll (argv[2], NULL, 10) : 0;
  const int few = n < MOST ? (int) n : MOST;

  if (argc < 3)
    return 2;

  if (strcmp (argv[1], "fork") == 0)
    return fork_many (few, 0);
  if (strcmp (argv[1], "hold") == 0)
    return fork_many (few, 1);
  if (strcmp (argv[1], "bomb") == 0)
    return bomb (few);
  if (strcmp (argv[1], "threads") == 0)
    return make_threads (few);
  if (strcmp (argv[1], "memory") == 0)
    return take_memory ((size_t) n);
  if (strcmp (argv[1], "pipes") == 0)
    return make_pipes ((int) n);

  return 2;
}
