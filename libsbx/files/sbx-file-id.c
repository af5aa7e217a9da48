/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "files/sbx-fd-private.h"
#include "files/sbx-file-id-private.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define MOUNT_KEY "mnt_id:"

gboolean
_sbx_file_id_read_mount (int      fd,
                         guint64 *mount)
{
  char path[64];
  char text[1024];
  const char *line;
  sbx_autofd int info_fd = -1;
  gssize length;

  snprintf (path, sizeof path, "/proc/self/fdinfo/%d", fd);
  info_fd = open (path, O_RDONLY | O_CLOEXEC);
  length = info_fd >= 0 ? read (info_fd, text, sizeof text - 1) : -1;

  if (length < 0)
    return FALSE;

  text[length] = '\0';
  line = strstr (text, MOUNT_KEY);

  if (line == NULL)
    {
      errno = ENOTSUP;
      return FALSE;
    }

  *mount = strtoull (line + strlen (MOUNT_KEY), NULL, 10);
  return TRUE;
}

gboolean
_sbx_file_id_get (int        fd,
                  SbxFileId *id)
{
  struct statx info = { 0 };

  if (statx (fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_MNT_ID, &info) < 0)
    return FALSE;

  id->device = makedev (info.stx_dev_major, info.stx_dev_minor);
  id->inode = info.stx_ino;
  id->mode = info.stx_mode;
  id->mount = info.stx_mnt_id;

  return (info.stx_mask & STATX_MNT_ID) != 0 || _sbx_file_id_read_mount (fd, &id->mount);
}

gboolean
_sbx_file_id_same_file (const SbxFileId *a,
                        const SbxFileId *b)
{
  return a->device == b->device && a->inode == b->inode;
}

gboolean
_sbx_file_id_same_mount (const SbxFileId *a,
                         const SbxFileId *b)
{
  return a->device == b->device && a->mount == b->mount;
}
