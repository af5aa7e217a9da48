/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "init/sbx-init-files-private.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct
{
  char   data[65536];
  size_t used;
} output;

static int
flush (void)
{
  const int error = _sbx_init_write_all (STDOUT_FILENO, output.data, output.used);

  output.used = 0;
  return error;
}

static int
put (const void *data,
     size_t      size)
{
  if (output.used + size > sizeof output.data)
    {
      const int error = flush ();

      if (error != 0)
        return error;
    }

  memcpy (output.data + output.used, data, size);
  output.used += size;
  return 0;
}

static int
put_record (const struct stat *status,
            const char        *name,
            const char        *link,
            size_t             link_length)
{
  const size_t name_length = strlen (name);
  const SbxInitFileRecord record = {
    .magic = SBX_INIT_FILE_MAGIC,
    .name_length = (uint16_t) name_length,
    .link_length = (uint16_t) link_length,
    .mode = status->st_mode,
    .uid = status->st_uid,
    .gid = status->st_gid,
    .mtime = status->st_mtim.tv_sec,
    .mtime_ns = (uint32_t) status->st_mtim.tv_nsec,
    .size = (uint64_t) status->st_size,
  };
  int error;

  /* Some file systems have longer names than Linux knows otherwise. */
  if (name_length > SBX_INIT_MAX_NAME)
    return ENAMETOOLONG;

  error = put (&record, sizeof record);
  if (error == 0)
    error = put (name, name_length);
  if (error == 0)
    error = put (link, link_length);

  return error;
}

static int
put_entry (int         directory,
           const char *path,
           const char *name)
{
  static char link[SBX_INIT_MAX_LINK + 1];
  struct stat status = { 0 };
  ssize_t n = 0;

  if (fstatat (directory, path, &status, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
    return errno;

  if (S_ISLNK (status.st_mode))
    {
      n = readlinkat (directory, path, link, SBX_INIT_MAX_LINK);
      if (n < 0)
        n = 0;
    }

  return put_record (&status, name, link, (size_t) n);
}

int
_sbx_init_list_dir (const char *path,
                    const char *limit)
{
  uint64_t max = 0;
  int error = _sbx_init_parse_number (limit, 10, &max);
  struct dirent *entry;
  DIR *directory;
  int fd;

  if (error != 0)
    return error;

  fd = open (path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
  directory = fd < 0 ? NULL : fdopendir (fd);
  if (directory == NULL)
    return errno;

  while (errno = 0, (entry = readdir (directory)) != NULL)
    {
      if (strcmp (entry->d_name, ".") == 0 || strcmp (entry->d_name, "..") == 0)
        continue;
      if (max-- == 0)
        return SBX_INIT_OVER_LIMIT;

      error = put_entry (fd, entry->d_name, entry->d_name);

      /* Gone meanwhile. */
      if (error != 0 && error != ENOENT)
        return error;
    }

  return errno != 0 ? errno : flush ();
}

int
_sbx_init_stat (const char *path)
{
  static char room[PATH_MAX + 2];
  const char *directory, *name;
  int error = _sbx_init_split_path (path, room, &directory, &name);

  if (error == 0)
    error = put_entry (AT_FDCWD, path, name[0] != '\0' ? name : ".");

  return error != 0 ? error : flush ();
}
