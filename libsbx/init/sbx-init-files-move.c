/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/*
 * Renames, and copies trees. A copy keeps to what it found: it never follows a link, never opens
 * what is no regular file where that can be helped, and makes nothing where there is something
 * already. How deep a tree can be is limited by the descriptors that it takes, two for each level.
 */

#include "config.h"

#include "init/sbx-init-files-private.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_DEPTH 200
#define ENTRIES_SIZE 4096

typedef struct
{
  dev_t device;
  ino_t inode;
} Identity;

/* A directory that is being copied. */
typedef struct
{
  int    from;
  int    to;
  mode_t mode;        /* of the copy, when it is complete */
  long   filled;      /* bytes in the entries */
  long   at;          /* the next of them */
  char   entries[ENTRIES_SIZE] __attribute__ ((aligned (8)));
} Level;

static Level levels[MAX_DEPTH];
static size_t depth;
static Identity top;      /* of the copy: it is not copied into itself */

static bool
is_same (const struct stat *status,
         Identity           identity)
{
  return status->st_dev == identity.device && status->st_ino == identity.inode;
}

int
_sbx_init_rename (const char *path,
                  const char *new_path)
{
  return rename (path, new_path) < 0 ? errno : 0;
}

/* That the copy is gone must not look as if there was nothing to copy. */
static int
error_of_copy (void)
{
  return errno == ENOENT ? ESTALE : errno;
}

static int
copy_link (int         from,
           const char *path,
           int         to,
           const char *name)
{
  static char link[PATH_MAX];
  const ssize_t n = readlinkat (from, path, link, sizeof link - 1);

  if (n < 0)
    return errno;

  link[n] = '\0';
  return symlinkat (link, to, name) < 0 ? error_of_copy () : 0;
}

/* It may have become something else since it was looked at. */
static int
open_regular (int          from,
              const char  *path,
              struct stat *status,
              int         *fd)
{
  *fd = openat (from, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (*fd < 0)
    return errno;

  if (fstat (*fd, status) < 0 || !S_ISREG (status->st_mode))
    {
      close (*fd);
      return SBX_INIT_NOT_COPIED;
    }

  return 0;
}

static int
copy_regular (int         from,
              const char *path,
              int         to,
              const char *name)
{
  struct stat status;
  int source;
  int copy;
  int error = open_regular (from, path, &status, &source);

  if (error != 0)
    return error;

  copy = openat (to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (copy < 0)
    error = error_of_copy ();
  if (error == 0)
    error = _sbx_init_copy_file (source, copy);
  if (error == 0 && fchmod (copy, status.st_mode & 0777) < 0)
    error = errno;

  if (copy >= 0)
    close (copy);
  close (source);
  return error;
}

/* Makes the copy of a directory, and goes into both. */
static int
enter (int         from,
       const char *path,
       int         to,
       const char *name)
{
  const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  struct stat status;
  Level *level;
  int source;

  if (depth == MAX_DEPTH)
    return ENAMETOOLONG;

  source = openat (from, path, flags);
  if (source < 0)
    return errno;
  if (fstat (source, &status) < 0)
    return errno;
  if (depth > 0 && is_same (&status, top))
    return SBX_INIT_WITHIN_ITSELF;

  if (mkdirat (to, name, 0700) < 0)
    return error_of_copy ();

  level = &levels[depth];
  level->from = source;
  level->mode = status.st_mode & 01777;
  level->filled = level->at = 0;
  level->to = openat (to, name, flags);
  if (level->to < 0 || fstat (level->to, &status) < 0)
    return error_of_copy ();

  if (depth == 0)
    top = (Identity) { status.st_dev, status.st_ino };
  depth++;

  return 0;
}

static int
leave (void)
{
  Level *level = &levels[--depth];
  const int error = fchmod (level->to, level->mode) < 0 ? errno : 0;

  close (level->from);
  close (level->to);
  return error;
}

static int
copy_entry (const Level *level,
            const char  *name)
{
  struct stat status;
  int error;

  if (strcmp (name, ".") == 0 || strcmp (name, "..") == 0)
    return 0;

  if (fstatat (level->from, name, &status, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
    error = errno;
  else if (S_ISDIR (status.st_mode))
    error = enter (level->from, name, level->to, name);
  else if (S_ISLNK (status.st_mode))
    error = copy_link (level->from, name, level->to, name);
  else if (S_ISREG (status.st_mode))
    error = copy_regular (level->from, name, level->to, name);
  else
    error = SBX_INIT_NOT_COPIED;

  /* Gone meanwhile. */
  return error == ENOENT ? 0 : error;
}

static int
copy_next (void)
{
  Level *level = &levels[depth - 1];
  const struct dirent64 *entry;

  if (level->at >= level->filled)
    {
      level->at = 0;
      level->filled = syscall (SYS_getdents64, level->from, level->entries, sizeof level->entries);
      if (level->filled < 0)
        return errno;
      if (level->filled == 0)
        return leave ();
    }

  entry = (const void *) (level->entries + level->at);
  level->at += entry->d_reclen;

  return copy_entry (level, entry->d_name);
}

/* Whether @directory is the one of @status, or somewhere below it. */
static bool
is_within (int                directory,
           const struct stat *status)
{
  const Identity looked_for = { status->st_dev, status->st_ino };
  Identity last = { 0, 0 };
  struct stat above;
  int fd = openat (directory, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

  while (fd >= 0 && fstat (fd, &above) == 0 && !is_same (&above, last))
    {
      const int lower = fd;

      if (is_same (&above, looked_for))
        return true;

      last = (Identity) { above.st_dev, above.st_ino };
      fd = openat (lower, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
      close (lower);
    }

  return false;
}

static int
copy_directory (const char        *path,
                const struct stat *status,
                int                to,
                const char        *name)
{
  int error;

  if (is_within (to, status))
    return SBX_INIT_WITHIN_ITSELF;

  error = enter (AT_FDCWD, path, to, name);
  while (error == 0 && depth > 0)
    error = copy_next ();

  return error;
}

/* A regular file takes the place of another, as if it was written. */
static int
copy_top_regular (const char        *path,
                  int                to,
                  const char        *name,
                  const struct stat *old)
{
  struct stat status;
  int fd;
  int error = open_regular (AT_FDCWD, path, &status, &fd);

  if (error != 0)
    return error;

  if (old != NULL && is_same (&status, (Identity) { old->st_dev, old->st_ino }))
    return SBX_INIT_WITHIN_ITSELF;

  return _sbx_init_put_file (fd, to, name, status.st_mode & 0777);
}

int
_sbx_init_copy_tree (const char *path,
                     const char *new_path)
{
  static char room[PATH_MAX + 2];
  const char *directory, *name;
  struct stat status, old;
  bool exists;
  int to;
  int error = _sbx_init_split_path (new_path, room, &directory, &name);

  if (error == 0 && fstatat (AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) < 0)
    error = errno;
  if (error != 0)
    return error;

  if (name[0] == '\0' || strcmp (name, ".") == 0 || strcmp (name, "..") == 0)
    return EEXIST;
  if (!S_ISDIR (status.st_mode) && new_path[strlen (new_path) - 1] == '/')
    return ENOTDIR;

  to = open (directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (to < 0)
    return errno;

  exists = fstatat (to, name, &old, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && (!S_ISREG (status.st_mode) || !S_ISREG (old.st_mode)))
    return is_same (&old, (Identity) { status.st_dev, status.st_ino }) ? SBX_INIT_WITHIN_ITSELF
                                                                      : EEXIST;

  if (S_ISDIR (status.st_mode))
    return copy_directory (path, &status, to, name);
  if (S_ISLNK (status.st_mode))
    return copy_link (AT_FDCWD, path, to, name);
  if (S_ISREG (status.st_mode))
    return copy_top_regular (path, to, name, exists ? &old : NULL);

  return SBX_INIT_NOT_COPIED;
}
