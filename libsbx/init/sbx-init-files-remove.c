/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/*
 * Deletes a tree with two descriptors, however deep it is, and without ever following a link or
 * entering another mount. It goes back up by "..", and is sure to be where it came from.
 */

#include "config.h"

#include "init/sbx-init-files-private.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A directory that others keep filling is not emptied for ever. */
#define MAX_RETRIES 1000

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x00001000U
#endif

typedef struct
{
  uint64_t mount;       /* 0 where the kernel does not say */
  uint64_t device;
  uint64_t inode;
} Identity;

typedef struct
{
  Identity identity;
  char     name[NAME_MAX + 1];
} Level;

typedef struct
{
  Level  *levels;       /* the directories that we are in, from the top */
  size_t  depth;
  size_t  room;
  int     parent;       /* of the top */
  int     current;      /* the lowest */
  int     retries;
} Walk;

static int
identify (int       fd,
          Identity *identity)
{
  struct statx status = { 0 };

  if (statx (fd, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &status) < 0)
    return errno;

  identity->mount = (status.stx_mask & STATX_MNT_ID) != 0 ? status.stx_mnt_id : 0;
  identity->device = (uint64_t) status.stx_dev_major << 32 | status.stx_dev_minor;
  identity->inode = status.stx_ino;
  return 0;
}

/* By descriptor, so that what is changed is the directory that was looked at. */
static int
make_accessible (int         directory,
                 const char *name)
{
  char own[32];
  const int fd = openat (directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  int error = 0;

  if (fd < 0)
    return errno;

  snprintf (own, sizeof own, "/proc/self/fd/%d", fd);
  if (chmod (own, 0700) < 0)
    error = errno;
  close (fd);

  return error;
}

static int
enter (Walk       *walk,
       int         directory,
       const char *name)
{
  const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  Identity identity, above;
  int fd, error;

  /* Some file systems have longer names than Linux knows otherwise. */
  if (strlen (name) > NAME_MAX)
    return ENAMETOOLONG;

  fd = openat (directory, name, flags);
  if (fd < 0 && errno == EACCES && make_accessible (directory, name) == 0)
    fd = openat (directory, name, flags);
  if (fd < 0)
    return errno;

  error = identify (fd, &identity);
  if (error == 0)
    error = identify (directory, &above);
  if (error == 0 && (identity.mount != above.mount || identity.device != above.device))
    error = EBUSY;

  if (error == 0 && walk->depth == walk->room)
    {
      const size_t room = walk->room == 0 ? 64 : walk->room * 2;
      Level *levels = realloc (walk->levels, room * sizeof *levels);

      error = levels == NULL ? ENOMEM : 0;
      walk->levels = levels != NULL ? levels : walk->levels;
      walk->room = levels != NULL ? room : walk->room;
    }

  if (error != 0)
    {
      close (fd);
      return error;
    }

  walk->levels[walk->depth].identity = identity;
  snprintf (walk->levels[walk->depth].name, NAME_MAX + 1, "%s", name);
  walk->depth++;

  if (walk->current >= 0)
    close (walk->current);
  walk->current = fd;
  return 0;
}

static bool
is_gone (int result)
{
  return result == 0 || errno == ENOENT;
}

/* Gives ENOTEMPTY for a directory that has to be entered first. */
static int
unlink_one (int            directory,
            const char    *name,
            unsigned char  type)
{
  int error;

  if (type != DT_DIR)
    {
      if (is_gone (unlinkat (directory, name, 0)))
        return 0;
      if (errno != EISDIR && errno != EPERM)
        return errno;
    }

  error = errno;
  if (is_gone (unlinkat (directory, name, AT_REMOVEDIR)))
    return 0;

  /* It was EPERM, and for a reason of its own. */
  if (errno == ENOTDIR)
    return type != DT_DIR ? error : EAGAIN;

  return errno == EEXIST ? ENOTEMPTY : errno;
}

static int
unlink_or_enter (Walk                  *walk,
                 const struct dirent64 *entry,
                 bool                  *entered)
{
  int error = unlink_one (walk->current, entry->d_name, entry->d_type);

  if (error == EACCES && fchmod (walk->current, 0700) == 0)
    error = unlink_one (walk->current, entry->d_name, entry->d_type);

  /* It is something else than it was a moment ago. */
  if (error == EAGAIN)
    return ++walk->retries > MAX_RETRIES ? EBUSY : 0;

  if (error == ENOTEMPTY)
    {
      error = enter (walk, walk->current, entry->d_name);
      *entered = error == 0;
      if (error == ENOENT || error == ENOTDIR || error == ELOOP)
        return ++walk->retries > MAX_RETRIES ? EBUSY : 0;
    }

  return error;
}

/* Deletes what is in the current directory, up to the first that has to be entered. */
static int
empty (Walk *walk,
       bool *entered)
{
  static char entries[32768] __attribute__ ((aligned (8)));
  long n;

  *entered = false;
  if (lseek (walk->current, 0, SEEK_SET) < 0)
    return errno;

  while ((n = syscall (SYS_getdents64, walk->current, entries, sizeof entries)) > 0)
    {
      for (long at = 0; at < n;)
        {
          const struct dirent64 *entry = (const void *) (entries + at);
          int error = 0;

          if (strcmp (entry->d_name, ".") != 0 && strcmp (entry->d_name, "..") != 0)
            error = unlink_or_enter (walk, entry, entered);
          if (error != 0 || *entered)
            return error;

          at += entry->d_reclen;
        }
    }

  return n < 0 ? errno : 0;
}

/* Goes up, and deletes the directory that was left. */
static int
leave (Walk *walk)
{
  const Level *left = &walk->levels[walk->depth - 1];
  Identity identity;
  int above = walk->parent;
  int error;

  if (walk->depth > 1)
    {
      above = openat (walk->current, "..", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
      if (above < 0 && errno == EACCES && fchmod (walk->current, 0700) == 0)
        above = openat (walk->current, "..", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
      if (above < 0)
        return errno;

      /* Somebody moved it: going on would delete what nobody asked for. */
      error = identify (above, &identity);
      if (error != 0)
        return error;
      if (memcmp (&identity, &walk->levels[walk->depth - 2].identity, sizeof identity) != 0)
        return EBUSY;
    }

  error = is_gone (unlinkat (above, left->name, AT_REMOVEDIR)) ? 0 : errno;
  if (error == ENOTEMPTY || error == EEXIST)
    {
      if (above != walk->parent)
        close (above);
      return ++walk->retries > MAX_RETRIES ? ENOTEMPTY : 0;
    }

  if (error != 0)
    return error;

  close (walk->current);
  walk->current = walk->depth > 1 ? above : -1;
  walk->depth--;
  return 0;
}

int
_sbx_init_remove (const char *path)
{
  static char room[PATH_MAX + 2];
  Walk walk = { .current = -1 };
  const char *directory, *name;
  int error = _sbx_init_split_path (path, room, &directory, &name);

  if (error != 0)
    return error;
  if (name[0] == '\0' || strcmp (name, ".") == 0 || strcmp (name, "..") == 0)
    return EBUSY;

  walk.parent = open (directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (walk.parent < 0)
    return errno == ENOENT || errno == ENOTDIR ? 0 : errno;

  /* A read-only file system says that it is one before it looks whether there is anything. */
  if (faccessat (walk.parent, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
    return 0;

  error = unlink_one (walk.parent, name, DT_UNKNOWN);
  if (error != ENOTEMPTY)
    return error;

  error = enter (&walk, walk.parent, name);

  while (error == 0 && walk.depth > 0)
    {
      bool entered;

      error = empty (&walk, &entered);
      if (error == 0 && !entered)
        error = leave (&walk);
    }

  return error;
}
