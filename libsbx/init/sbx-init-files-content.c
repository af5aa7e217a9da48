/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "init/sbx-init-files-private.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINKS 40
#define DEFAULT_MODE 0644

/* The place of a file that is to be written: links followed, as a command would. */
typedef struct
{
  int         directory;
  char        room[PATH_MAX + 2];
  const char *name;
  bool        exists;
  mode_t      mode;
  char        temporary[32];      /* its name below the directory, once it has one */
} Target;

static int
check_regular (int fd)
{
  struct stat status;

  if (fstat (fd, &status) < 0)
    return errno;

  return S_ISREG (status.st_mode) ? 0
         : S_ISDIR (status.st_mode) ? EISDIR : SBX_INIT_NOT_REGULAR;
}

int
_sbx_init_read_file (const char *path,
                     const char *limit)
{
  struct stat status;
  uint64_t max = 0;
  int error = _sbx_init_parse_number (limit, 10, &max);
  int fd;

  if (error != 0)
    return error;

  fd = open (path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0)
    return errno;

  error = check_regular (fd);
  if (error != 0)
    return error;

  if (fstat (fd, &status) == 0 && (uint64_t) status.st_size > max)
    return SBX_INIT_OVER_LIMIT;

  return _sbx_init_copy (fd, STDOUT_FILENO, max);
}

static int
open_directory (int         at,
                const char *path)
{
  return openat (at, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* One step: the directory of @path, below @at, made if it is missing. */
static int
go_to_directory (Target     *target,
                 int         at,
                 const char *path)
{
  const char *directory;
  int error;

  if (path[0] != '\0' && path[strlen (path) - 1] == '/')
    return EISDIR;

  error = _sbx_init_split_path (path, target->room, &directory, &target->name);
  if (error != 0)
    return error;

  if (target->name[0] == '\0' || strcmp (target->name, ".") == 0 ||
      strcmp (target->name, "..") == 0)
    return EISDIR;

  target->directory = open_directory (at, directory);
  if (target->directory < 0 && errno == ENOENT)
    {
      error = _sbx_init_make_dirs (at, directory);
      if (error != 0)
        return error == EEXIST ? ENOTDIR : error;
      target->directory = open_directory (at, directory);
    }

  return target->directory < 0 ? errno : 0;
}

static int
find_target (Target     *target,
             const char *path)
{
  static char link[PATH_MAX];
  int at = AT_FDCWD;

  for (int i = 0; i < MAX_LINKS; i++)
    {
      const int error = go_to_directory (target, at, path);
      ssize_t n;

      if (error != 0)
        return error;

      n = readlinkat (target->directory, target->name, link, sizeof link - 1);
      if (n < 0)
        return errno == EINVAL || errno == ENOENT ? 0 : errno;

      link[n] = '\0';
      path = link;
      at = target->directory;
    }

  return ELOOP;
}

/* A file that a command could not write is not replaced either. */
static int
check_target (Target *target)
{
  struct stat status;

  if (fstatat (target->directory, target->name, &status, AT_SYMLINK_NOFOLLOW) < 0)
    return errno == ENOENT ? 0 : errno;

  if (S_ISDIR (status.st_mode))
    return EISDIR;
  if (!S_ISREG (status.st_mode))
    return SBX_INIT_NOT_REGULAR;
  if (faccessat (target->directory, target->name, W_OK, 0) < 0)
    return errno;

  target->exists = true;
  target->mode = status.st_mode & 0777;
  return 0;
}

static int
name_temporary (Target *target)
{
  uint64_t number;

  if (getrandom (&number, sizeof number, 0) != sizeof number)
    return errno;

  snprintf (target->temporary, sizeof target->temporary, ".sbx-%016llx",
            (unsigned long long) number);
  return 0;
}

/* Without a name where that is possible, so that nothing is left of a write that is cut off. */
static int
open_temporary (Target *target,
                int    *fd)
{
  int error;

  *fd = openat (target->directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (*fd >= 0)
    return 0;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL)
    return errno;

  error = name_temporary (target);
  if (error != 0)
    return error;

  *fd = openat (target->directory, target->temporary,
                O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (*fd >= 0)
    return 0;

  target->temporary[0] = '\0';
  return errno;
}

/* Into the file that is there: it is a mount, or lies in a directory that cannot be written. */
static int
write_in_place (const Target *target,
                int           content)
{
  int error;
  const int fd = openat (target->directory, target->name,
                         O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

  if (fd < 0)
    return errno;

  error = check_regular (fd);
  if (error != 0)
    return error;

  if (lseek (content, 0, SEEK_SET) < 0 || ftruncate (fd, 0) < 0)
    return errno;

  return _sbx_init_copy_file (content, fd);
}

static int
put_in_place (Target *target,
              int     fd)
{
  char own[32];
  int error = 0;

  if (target->temporary[0] == '\0')
    {
      error = name_temporary (target);
      if (error != 0)
        return error;

      snprintf (own, sizeof own, "/proc/self/fd/%d", fd);
      if (linkat (AT_FDCWD, own, target->directory, target->temporary, AT_SYMLINK_FOLLOW) < 0)
        return errno;
    }

  if (renameat (target->directory, target->temporary, target->directory, target->name) == 0)
    return 0;

  error = errno;
  unlinkat (target->directory, target->temporary, 0);

  return error == EBUSY && target->exists ? write_in_place (target, fd) : error;
}

static int
write_beside (Target *target,
              int     from,
              int     fd)
{
  int error = _sbx_init_copy_file (from, fd);

  if (error == 0 && fchmod (fd, target->mode) < 0)
    error = errno;

  if (error == 0)
    return put_in_place (target, fd);

  if (target->temporary[0] != '\0')
    unlinkat (target->directory, target->temporary, 0);
  return error;
}

static int
write_through_memory (Target *target,
                      bool    mode_given)
{
  const int fd = memfd_create ("sbx-content", MFD_CLOEXEC);
  int error = fd < 0 ? errno : _sbx_init_copy (STDIN_FILENO, fd, UINT64_MAX);

  if (error == 0)
    error = write_in_place (target, fd);

  if (error == 0 && mode_given && fchmodat (target->directory, target->name, target->mode, 0) < 0)
    error = errno;

  return error;
}

/* A mode of 0 is that of the file that is replaced, or the usual one. */
int
_sbx_init_write_file (const char *path,
                      const char *mode)
{
  static Target target;
  uint64_t given = 0;
  int error = _sbx_init_parse_number (mode, 8, &given);
  int fd;

  if (error != 0)
    return error;
  if (given > 01777)
    return EPERM;

  error = find_target (&target, path);
  if (error == 0)
    error = check_target (&target);
  if (error != 0)
    return error;

  if (given != 0)
    target.mode = (mode_t) given;
  else if (!target.exists)
    target.mode = DEFAULT_MODE;

  error = open_temporary (&target, &fd);
  if ((error == EACCES || error == EPERM || error == EROFS) && target.exists)
    return write_through_memory (&target, given != 0);

  return error != 0 ? error : write_beside (&target, STDIN_FILENO, fd);
}

int
_sbx_init_put_file (int         from,
                    int         directory,
                    const char *name,
                    mode_t      mode)
{
  static Target target;
  int fd;
  int error;

  target.directory = directory;
  target.name = name;

  error = check_target (&target);
  if (error != 0)
    return error;

  target.mode = mode;
  error = open_temporary (&target, &fd);
  if ((error != EACCES && error != EPERM && error != EROFS) || !target.exists)
    return error != 0 ? error : write_beside (&target, from, fd);

  error = write_in_place (&target, from);
  if (error == 0 && fchmodat (directory, name, mode, 0) < 0)
    error = errno;

  return error;
}

int
_sbx_init_read_range (const char *path,
                      const char *offset,
                      const char *length)
{
  SbxInitRangeHead head = { .magic = SBX_INIT_FILE_MAGIC };
  struct stat status;
  uint64_t start = 0, max = 0;
  int error = _sbx_init_parse_number (offset, 10, &start);
  int fd;

  if (error == 0)
    error = _sbx_init_parse_number (length, 10, &max);
  if (error != 0 || start > INT64_MAX)
    return EINVAL;

  fd = open (path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0)
    return errno;

  error = check_regular (fd);
  if (error == 0 && fstat (fd, &status) < 0)
    error = errno;
  if (error != 0)
    return error;

  head.size = (uint64_t) status.st_size;
  error = _sbx_init_write_all (STDOUT_FILENO, &head, sizeof head);
  if (error != 0)
    return error;

  /* No file system has a place that far, and so no file an end after it. */
  if (lseek (fd, (off_t) start, SEEK_SET) < 0)
    return errno == EINVAL ? 0 : errno;
  if (max > INT64_MAX - start)
    max = INT64_MAX - start;

  return _sbx_init_copy_part (fd, STDOUT_FILENO, max);
}

/* Opens what find_target() found, or makes it. What is no regular file is not even opened where
 * that can be helped: opening a pipe or a device does something already. */
static int
open_target (Target *target,
             int    *fd)
{
  const int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  int error = check_target (target);

  if (error != 0)
    return error;

  if (!target->exists)
    {
      *fd = openat (target->directory, target->name, flags | O_CREAT | O_EXCL, 0600);
      if (*fd >= 0)
        return fchmod (*fd, target->mode) < 0 ? errno : 0;
      if (errno != EEXIST)
        return errno;
    }

  *fd = openat (target->directory, target->name, flags);
  if (*fd < 0)
    return errno == ENXIO ? SBX_INIT_NOT_REGULAR : errno;

  return check_regular (*fd);
}

/* The arguments are a path, an octal mode, where to begin, how many bytes will come, and whether
 * the file shall end with them. */
int
_sbx_init_write_range (char **arguments)
{
  static Target target;
  uint64_t mode = 0, start = 0, size = 0;
  const bool truncates = strcmp (arguments[4], "1") == 0;
  off_t end;
  int fd;
  int error;

  if (_sbx_init_parse_number (arguments[1], 8, &mode) != 0 ||
      _sbx_init_parse_number (arguments[2], 10, &start) != 0 ||
      _sbx_init_parse_number (arguments[3], 10, &size) != 0 ||
      start > INT64_MAX || size > INT64_MAX - start)
    return EINVAL;
  if (mode > 01777)
    return EPERM;

  error = find_target (&target, arguments[0]);
  target.mode = mode != 0 ? (mode_t) mode : DEFAULT_MODE;
  if (error == 0)
    error = open_target (&target, &fd);
  if (error != 0)
    return error;

  if (lseek (fd, (off_t) start, SEEK_SET) < 0)
    return errno == EINVAL ? EFBIG : errno;

  error = _sbx_init_copy (STDIN_FILENO, fd, UINT64_MAX);
  if (error != 0)
    return error;

  /* Whoever sent it may have died over it: what is behind must not be cut off then. */
  end = lseek (fd, 0, SEEK_CUR);
  if (end < 0 || (uint64_t) end != start + size)
    return EIO;

  return truncates && ftruncate (fd, end) < 0 ? (errno == EINVAL ? EFBIG : errno) : 0;
}
