/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/*
 * Tries, from inside of a sandbox, what can be done with each of the paths that it reads, each
 * ended by a zero byte, and leaves everything as it was. Answers a line for each:
 *
 *   LETTERS DEVICE INODE
 *
 * r: it could be opened and read; the numbers are of what was
 * w: it could be opened for writing, or something be made in it
 * x: it could be renamed, and something be renamed over it; or made, if it was not there
 * c: it could be connected to
 * -: none of them
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* What was tried must not be left half-way: the rest would be about another tree. */
static void
must (int         result,
      const char *what,
      const char *path)
{
  if (result != 0)
    {
      fprintf (stderr, "%s: %s: %s\n", what, path, strerror (errno));
      exit (1);
    }
}

static int
try_read (const char  *path,
          struct stat *info)
{
  const int fd = open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  char byte;
  int done;

  if (fd == -1)
    return 0;

  if (fstat (fd, info) != 0)
    {
      done = 0;
    }
  else if (S_ISDIR (info->st_mode))
    {
      DIR *dir = opendir (path);

      done = dir != NULL && readdir (dir) != NULL;
      if (dir != NULL)
        closedir (dir);
    }
  else
    {
      done = read (fd, &byte, 1) >= 0;
    }

  close (fd);
  return done;
}

static int
try_write (const char *path)
{
  char name[PATH_MAX];
  struct stat info;
  int fd;

  if (stat (path, &info) != 0)
    return 0;

  if (!S_ISDIR (info.st_mode))
    {
      if (!S_ISREG (info.st_mode))
        return 0;
      fd = open (path, O_WRONLY | O_APPEND | O_CLOEXEC);
      if (fd != -1)
        close (fd);
      return fd != -1;
    }

  snprintf (name, sizeof name, "%.4000s/.made-by-probe", path);
  fd = open (name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd == -1)
    return 0;

  close (fd);
  must (unlink (name), "unlink", name);
  return 1;
}

static int
try_make (const char *path)
{
  const int fd = open (path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

  if (fd == -1)
    return 0;

  close (fd);
  /* Somebody outside may have put it aside already. */
  must (unlink (path) == 0 || errno == ENOENT ? 0 : -1, "unlink", path);
  return 1;
}

/* There is more than one way to take a name away. */
static int
try_unlink (const char *path,
            const char *aside)
{
  if (link (path, aside) != 0)
    return 0;

  if (unlink (path) != 0)
    {
      must (unlink (aside), "unlink", aside);
      return 0;
    }

  must (rename (aside, path), "rename", path);
  return 1;
}

/* Takes the name away, gives it to something else, and takes it back by renaming over that. */
static int
try_replace (const char *path)
{
  char aside[PATH_MAX];
  struct stat info;
  int fd;

  if (lstat (path, &info) != 0)
    return errno == ENOENT && try_make (path);

  snprintf (aside, sizeof aside, "%.4000s.probe", path);
  if (rename (path, aside) != 0)
    return !S_ISDIR (info.st_mode) && try_unlink (path, aside);

  if (!S_ISDIR (info.st_mode))
    {
      fd = open (path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      must (fd == -1 ? -1 : close (fd), "make", path);
    }

  must (rename (aside, path), "rename", path);
  return 1;
}

static int
try_connect (const char *path)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int fd, path_fd, done;

  /* By a name in /proc, so that a long path fits. */
  path_fd = open (path, O_PATH | O_CLOEXEC);
  if (path_fd == -1)
    return 0;

  snprintf (address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", path_fd);
  fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  done = fd != -1 && connect (fd, (const struct sockaddr *) &address, sizeof address) == 0;

  close (path_fd);
  if (fd != -1)
    close (fd);

  return done;
}

static void
probe (const char *path)
{
  struct stat info = { 0 };
  struct stat what;
  char letters[5];
  size_t n = 0;
  const int is_socket = stat (path, &what) == 0 && S_ISSOCK (what.st_mode);

  if (!is_socket && try_read (path, &info))
    letters[n++] = 'r';
  if (!is_socket && try_write (path))
    letters[n++] = 'w';
  if (try_replace (path))
    letters[n++] = 'x';
  if (is_socket && try_connect (path))
    letters[n++] = 'c';
  if (n == 0)
    letters[n++] = '-';
  letters[n] = '\0';

  printf ("%s %llu %llu\n", letters, (unsigned long long) info.st_dev,
          (unsigned long long) info.st_ino);
}

int
main (void)
{
  char *path = NULL;
  size_t size = 0;

  while (getdelim (&path, &size, '\0', stdin) > 0)
    probe (path);

  free (path);
  return fflush (stdout) == 0 ? 0 : 1;
}
