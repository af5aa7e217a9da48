/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/*
 * sbx-mount: mounts in a sandbox that runs.
 *
 * A sandbox has nobody inside who may mount. This joins its namespaces from outside, binds what is
 * listed, says how far it got, and ends. A path inside is whatever the sandbox made of it: nothing
 * is followed, and what is found must be the very file that the host looked up.
 */

#include "config.h"

#include "init/sbx-mount-private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NEEDED_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* The list, checked. */
typedef struct
{
  const SbxMountEntry *entries;
  const char          *paths;
  uint32_t             n_entries;
} List;

static int
answer (SbxMountReply *reply,
        uint32_t       stage,
        int            error)
{
  reply->stage = error != 0 ? stage : SBX_MOUNT_AT_NONE;
  reply->error = error;

  if (write (SBX_MOUNT_REPLY_FD, reply, sizeof *reply) != sizeof *reply)
    return 3;

  return error != 0 ? 1 : 0;
}

static bool
check_entries (List       *list,
               const char *end)
{
  const char *path = list->paths;

  for (uint32_t i = 0; i < list->n_entries; i++)
    {
      const SbxMountEntry *entry = &list->entries[i];
      const char *nul = memchr (path, '\0', (size_t) (end - path));

      if (nul == NULL || path[0] != '/' || entry->kind == 0 || entry->kind >= SBX_MOUNT_N_KINDS ||
          entry->reserved != 0 || entry->inode == 0)
        return false;

      path = nul + 1;
    }

  return path == end;
}

static int
load (List *list)
{
  const int seals = fcntl (SBX_MOUNT_LIST_FD, F_GET_SEALS);
  const SbxMountHead *head;
  struct stat status;
  const char *data;
  size_t size;

  if (seals < 0 || (seals & NEEDED_SEALS) != NEEDED_SEALS ||
      fstat (SBX_MOUNT_LIST_FD, &status) < 0 || status.st_size < (off_t) sizeof *head ||
      status.st_size > (off_t) SBX_MOUNT_MAX_LIST)
    return EINVAL;

  size = (size_t) status.st_size;
  data = mmap (NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, SBX_MOUNT_LIST_FD, 0);
  if (data == MAP_FAILED)
    return errno;

  head = (const void *) data;
  if (head->magic != SBX_MOUNT_MAGIC || head->version != SBX_MOUNT_VERSION ||
      head->size != size || head->n_entries == 0 || head->n_entries > SBX_MOUNT_MAX_ENTRIES ||
      size < sizeof *head + head->n_entries * sizeof *list->entries)
    return EINVAL;

  list->n_entries = head->n_entries;
  list->entries = (const void *) (data + sizeof *head);
  list->paths = data + sizeof *head + head->n_entries * sizeof *list->entries;

  return check_entries (list, data + size) ? 0 : EINVAL;
}

/* Gives 0 or an errno, and says in @stage where it came from. */
static int
mount_entry (const SbxMountEntry *entry,
             const char          *path,
             uint32_t            *stage)
{
  const int fd = _sbx_mount_open (path);
  struct stat status;
  int error;

  *stage = SBX_MOUNT_AT_OPEN;
  if (fd < 0)
    return errno;

  if (fstat (fd, &status) < 0)
    {
      error = errno;
    }
  else if (S_ISLNK (status.st_mode))
    {
      error = ELOOP;
    }
  else if (status.st_dev != entry->device || status.st_ino != entry->inode)
    {
      *stage = SBX_MOUNT_AT_COMPARE;
      error = ESTALE;
    }
  else
    {
      *stage = SBX_MOUNT_AT_MOUNT;
      error = _sbx_mount_make (path, fd, entry->kind, S_ISDIR (status.st_mode));
    }

  close (fd);
  return error;
}

int
main (int    argc,
      char **argv)
{
  SbxMountReply reply = { .magic = SBX_MOUNT_MAGIC, .version = SBX_MOUNT_VERSION };
  List list = { 0 };
  const char *path;
  int error;

  if (fcntl (SBX_MOUNT_PIDFD, F_GETFD) < 0 || fcntl (SBX_MOUNT_REPLY_FD, F_GETFD) < 0)
    {
      fputs ("sbx-mount mounts in a sandbox that runs, and is started by libsbx alone.\n", stderr);
      return 2;
    }

  syscall (SYS_close_range, SBX_MOUNT_REPLY_FD + 1u, ~0u, 0);

  error = load (&list);
  if (error != 0)
    return answer (&reply, SBX_MOUNT_AT_LIST, error);

  error = _sbx_mount_join ();
  if (error != 0)
    return answer (&reply, SBX_MOUNT_AT_JOIN, error);

  path = list.paths;
  for (uint32_t i = 0; i < list.n_entries; i++)
    {
      uint32_t stage = SBX_MOUNT_AT_NONE;

      error = mount_entry (&list.entries[i], path, &stage);
      if (error != 0)
        return answer (&reply, stage, error);

      reply.n_done++;
      path += strlen (path) + 1;
    }

  return answer (&reply, SBX_MOUNT_AT_NONE, 0);
}
