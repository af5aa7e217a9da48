/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Runs inside, and does to whoever watches it what a hostile program would. */

static char shared[4096];
static atomic_int over;

static void *
scribble (void *data)
{
  unsigned int n = 0;

  while (!atomic_load (&over))
    {
      memset (shared, 'a' + (int) (n++ % 26), sizeof shared - 1);
      shared[0] = '/';
      shared[n % (sizeof shared - 1)] = (n & 1) != 0 ? '\0' : '\n';
    }

  return data;
}

/* The path changes while it is read, has no end, or is nowhere. */
static int
race (int rounds)
{
  pthread_t thread;
  char *page = mmap (NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (page == MAP_FAILED || pthread_create (&thread, NULL, scribble, NULL) != 0)
    return 2;

  munmap (page + 4096, 4096);
  memset (page, 'x', 4096);

  for (int i = 0; i < rounds; i++)
    {
      const int fd = open (shared, O_RDONLY | O_CLOEXEC);

      if (fd >= 0)
        close (fd);
      if (open (page, O_RDONLY | O_CLOEXEC) >= 0 || open ((char *) 1, O_RDONLY | O_CLOEXEC) >= 0 ||
          openat (12345, "x", O_RDONLY | O_CLOEXEC) >= 0)
        return 3;
    }

  atomic_store (&over, 1);
  pthread_join (thread, NULL);

  return 1;
}

/* All of them different; those that the host has are below @directory. */
static int
flood (const char *directory,
       int         n)
{
  for (int i = 0; i < n; i++)
    {
      char path[256];

      snprintf (path, sizeof path, "%s/%d", directory, i);
      if (open (path, O_RDONLY | O_CLOEXEC) >= 0)
        return 3;
    }

  return 1;
}

int
main (int    argc,
      char **argv)
{
  if (argc == 3 && strcmp (argv[1], "race") == 0)
    return race ((int) strtol (argv[2], NULL, 10));
  if (argc == 4 && strcmp (argv[1], "flood") == 0)
    return flood (argv[2], (int) strtol (argv[3], NULL, 10));

  return 2;
}
