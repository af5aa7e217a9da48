/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "init/sbx-init-files-private.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_SIZE 65536

bool
_sbx_init_file_verb_known (uint32_t verb,
                           uint32_t argc)
{
  switch (verb)
    {
    case SBX_INIT_DO_READ_FILE:
    case SBX_INIT_DO_WRITE_FILE:
    case SBX_INIT_DO_LIST_DIR:
    case SBX_INIT_DO_RENAME:
    case SBX_INIT_DO_COPY:
      return argc == 2;

    case SBX_INIT_DO_READ_RANGE:
      return argc == 3;

    case SBX_INIT_DO_WRITE_RANGE:
      return argc == 5;

    case SBX_INIT_DO_CREATE_DIRS:
    case SBX_INIT_DO_CREATE_TEMP:
    case SBX_INIT_DO_REMOVE:
    case SBX_INIT_DO_STAT:
      return argc == 1;

    default:
      return false;
    }
}

int
_sbx_init_file_verb (const SbxInitRequest *request)
{
  char **argv = request->argv;

  switch (request->verb)
    {
    case SBX_INIT_DO_READ_FILE:
      return _sbx_init_read_file (argv[0], argv[1]);

    case SBX_INIT_DO_WRITE_FILE:
      return _sbx_init_write_file (argv[0], argv[1]);

    case SBX_INIT_DO_CREATE_DIRS:
      return _sbx_init_create_dirs (argv[0]);

    case SBX_INIT_DO_CREATE_TEMP:
      return _sbx_init_create_temp_dir (request);

    case SBX_INIT_DO_REMOVE:
      return _sbx_init_remove (argv[0]);

    case SBX_INIT_DO_LIST_DIR:
      return _sbx_init_list_dir (argv[0], argv[1]);

    case SBX_INIT_DO_READ_RANGE:
      return _sbx_init_read_range (argv[0], argv[1], argv[2]);

    case SBX_INIT_DO_WRITE_RANGE:
      return _sbx_init_write_range (argv);

    case SBX_INIT_DO_RENAME:
      return _sbx_init_rename (argv[0], argv[1]);

    case SBX_INIT_DO_COPY:
      return _sbx_init_copy_tree (argv[0], argv[1]);

    default:
      return _sbx_init_stat (argv[0]);
    }
}

int
_sbx_init_parse_number (const char *text,
                        int         base,
                        uint64_t   *number)
{
  char *end;

  errno = 0;
  *number = strtoull (text, &end, base);

  return text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 ? EINVAL : 0;
}

static void
wait_for (int   fd,
          short events)
{
  struct pollfd poll_fd = { .fd = fd, .events = events };

  poll (&poll_fd, 1, -1);
}

int
_sbx_init_write_all (int         fd,
                     const void *data,
                     size_t      size)
{
  const char *at = data;

  while (size > 0)
    {
      const ssize_t n = write (fd, at, size);

      if (n < 0 && errno == EAGAIN)
        wait_for (fd, POLLOUT);
      else if (n < 0 && errno != EINTR)
        return errno;

      if (n > 0)
        {
          at += n;
          size -= (size_t) n;
        }
    }

  return 0;
}

/* The way without splice(), which not every file can. */
static int
copy_some (int      from,
           int      to,
           size_t   size,
           ssize_t *n)
{
  static char buffer[COPY_SIZE];

  *n = read (from, buffer, size < sizeof buffer ? size : sizeof buffer);
  if (*n < 0)
    return errno;

  return _sbx_init_write_all (to, buffer, (size_t) *n);
}

int
_sbx_init_copy_part (int      from,
                     int      to,
                     uint64_t limit)
{
  bool can_splice = true;

  while (limit > 0)
    {
      const size_t size = limit < COPY_SIZE ? (size_t) limit : COPY_SIZE;
      int error = 0;
      ssize_t n;

      if (can_splice)
        {
          n = splice (from, NULL, to, NULL, size, SPLICE_F_MOVE);
          if (n < 0 && errno == EINVAL)
            {
              can_splice = false;
              continue;
            }
          error = n < 0 ? errno : 0;
        }
      else
        {
          error = copy_some (from, to, size, &n);
        }

      if (error == EAGAIN)
        {
          wait_for (from, POLLIN);
          wait_for (to, POLLOUT);
        }
      else if (error != 0 && error != EINTR)
        return error;

      if (n == 0)
        return 0;
      limit -= n > 0 ? (uint64_t) n : 0;
    }

  return 0;
}

int
_sbx_init_copy (int      from,
                int      to,
                uint64_t limit)
{
  const int error = _sbx_init_copy_part (from, to, limit);
  char more;

  if (error != 0)
    return error;

  /* It may have grown since somebody looked at its size. */
  return read (from, &more, 1) > 0 ? SBX_INIT_OVER_LIMIT : 0;
}

int
_sbx_init_split_path (const char  *path,
                      char        *room,
                      const char **directory,
                      const char **name)
{
  size_t length = strlen (path);
  char *slash;

  if (length == 0)
    return ENOENT;
  if (length >= PATH_MAX)
    return ENAMETOOLONG;

  while (length > 1 && path[length - 1] == '/')
    length--;

  memcpy (room, path, length);
  room[length] = '\0';

  slash = strrchr (room, '/');
  if (slash == NULL)
    {
      *directory = ".";
      *name = room;
    }
  else if (slash == room)
    {
      *directory = "/";
      *name = room + 1;
    }
  else
    {
      *slash = '\0';
      *directory = room;
      *name = slash + 1;
    }

  return 0;
}

int
_sbx_init_make_dirs (int         directory,
                     const char *path)
{
  static char part[PATH_MAX];
  const size_t length = strlen (path);
  struct stat status;

  if (length == 0)
    return ENOENT;
  if (length >= sizeof part)
    return ENAMETOOLONG;

  for (size_t i = 0; i <= length; i++)
    {
      part[i] = path[i];
      if (i == 0 || (path[i] != '/' && path[i] != '\0') || path[i - 1] == '/')
        continue;

      part[i] = '\0';
      if (mkdirat (directory, part, 0777) < 0 && errno != EEXIST)
        return errno;
      part[i] = path[i];
    }

  if (fstatat (directory, path, &status, 0) < 0)
    return errno;

  return S_ISDIR (status.st_mode) ? 0 : EEXIST;
}
