/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "init/sbx-mount-private.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of mount(2), whose header does not go along with the one above. */
#define OLD_RDONLY  1ul
#define OLD_NOSUID  2ul
#define OLD_NODEV   4ul
#define OLD_REMOUNT 32ul
#define OLD_BIND    4096ul
#define OLD_REC     16384ul

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

#define NULL_DEVICE "/dev/null"
#define TMPFS_OPTIONS "mode=0555,size=4k,nr_inodes=2"

static int
result (long value)
{
  return value < 0 ? errno : 0;
}

static bool
is_read_only (uint32_t kind)
{
  return kind == SBX_MOUNT_READ_ONLY || kind == SBX_MOUNT_MASK;
}

static int
old_mount (const char    *source,
           const char    *target,
           const char    *type,
           unsigned long  flags,
           const char    *options)
{
  return result (syscall (SYS_mount, source, target, type, flags, options));
}

#ifndef SBX_MOUNT_WITHOUT_NEW_CALLS

/* Gives the new mount the attributes that it must have before anybody can see it. What is mounted
 * below comes along, and gets the same. */
static int
attach (int      tree,
        int      fd,
        uint64_t attributes,
        uint64_t cleared)
{
  struct mount_attr attr = { .attr_set = attributes, .attr_clr = cleared };
  int error;

  error = result (syscall (SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr,
                           sizeof attr));

  return error != 0 ? error
                    : result (syscall (SYS_move_mount, tree, "", fd, "",
                                       MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH));
}

static int
clone_and_attach (int         source,
                  const char *path,
                  int         fd,
                  uint64_t    attributes,
                  uint64_t    cleared)
{
  const unsigned int flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE |
                             (*path == '\0' ? AT_EMPTY_PATH : AT_SYMLINK_NOFOLLOW);
  const int tree = (int) syscall (SYS_open_tree, source, path, flags);
  int error;

  if (tree < 0)
    return errno;

  error = attach (tree, fd, attributes, cleared);
  close (tree);

  return error;
}

#endif

/* For kernels before 5.12, with the path: what came of it is looked at afterwards. */
static int
make_by_path (const char *path,
              uint32_t    kind,
              bool        is_directory)
{
  const char *source = kind == SBX_MOUNT_MASK ? NULL_DEVICE : path;
  const unsigned long read_only = is_read_only (kind) ? OLD_RDONLY : 0;
  int error;

  if (kind == SBX_MOUNT_MASK && is_directory)
    return old_mount ("tmpfs", path, "tmpfs", OLD_RDONLY | OLD_NOSUID | OLD_NODEV, TMPFS_OPTIONS);

  error = old_mount (source, path, NULL, OLD_BIND | OLD_REC, NULL);
  return error != 0 ? error
                    : old_mount (NULL, path, NULL, OLD_REMOUNT | OLD_BIND | OLD_NOSUID | OLD_NODEV |
                                                   read_only, NULL);
}

static int
check_by_path (const char *path,
               int         fd,
               uint32_t    kind,
               bool        is_directory)
{
  struct stat before, after, null_device;
  struct statfs file_system;
  const int now = _sbx_mount_open (path);
  int error = 0;

  if (now < 0)
    return errno;

  if (fstat (fd, &before) < 0 || fstat (now, &after) < 0 || fstatfs (now, &file_system) < 0 ||
      stat (NULL_DEVICE, &null_device) < 0)
    error = errno;
  else if (is_read_only (kind) && (file_system.f_flags & OLD_RDONLY) == 0)
    error = ESTALE;
  else if (kind != SBX_MOUNT_MASK &&
           (before.st_dev != after.st_dev || before.st_ino != after.st_ino))
    error = ESTALE;
  else if (kind == SBX_MOUNT_MASK && !is_directory &&
           (null_device.st_dev != after.st_dev || null_device.st_ino != after.st_ino))
    error = ESTALE;

  close (now);
  return error;
}

int
_sbx_mount_make (const char *path,
                 int         fd,
                 uint32_t    kind,
                 bool        is_directory)
{
  int error = ENOSYS;

#ifndef SBX_MOUNT_WITHOUT_NEW_CALLS
  const uint64_t attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
                              (is_read_only (kind) ? MOUNT_ATTR_RDONLY : 0);
  const uint64_t cleared = kind == SBX_MOUNT_WRITABLE ? MOUNT_ATTR_RDONLY : 0;

  /* An empty directory has nothing that could be mounted below it, nor anything to swap. */
  if (kind == SBX_MOUNT_MASK && !is_directory)
    error = clone_and_attach (AT_FDCWD, NULL_DEVICE, fd, attributes, 0);
  else if (kind != SBX_MOUNT_MASK)
    error = clone_and_attach (fd, "", fd, attributes, cleared);
#else
  (void) fd;
#endif

  if (error != ENOSYS)
    return error;

  error = make_by_path (path, kind, is_directory);
  return error != 0 ? error : check_by_path (path, fd, kind, is_directory);
}
