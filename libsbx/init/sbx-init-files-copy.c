/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "init/sbx-init-files-private.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* What one call copies, so that a worker that shall end does so soon. */
#define CHUNK_SIZE ((size_t) 8 << 20)

/* Copies what lies between two places, and tells where it came to: the file may be shorter than it
 * says. The kernel does it by itself where both file systems can. */
static int
copy_stretch (int    from,
              int    to,
              off_t  start,
              off_t  end,
              off_t *reached)
{
  loff_t in = start;
  loff_t out = start;
  int error;

  while (in < end)
    {
      const size_t left = (size_t) (end - in);
      const ssize_t n = copy_file_range (from, &in, to, &out,
                                         left < CHUNK_SIZE ? left : CHUNK_SIZE, 0);

      if (n > 0 || (n < 0 && errno == EINTR))
        continue;
      if (n < 0 && errno != EXDEV && errno != EINVAL && errno != EOPNOTSUPP && errno != ENOSYS &&
          errno != EPERM)
        return errno;

      /* What some file systems make up as it is read looks empty that way. */
      if (lseek (from, in, SEEK_SET) < 0 || lseek (to, out, SEEK_SET) < 0)
        return errno;
      error = _sbx_init_copy_part (from, to, (uint64_t) (end - in));
      *reached = lseek (to, 0, SEEK_CUR);
      return error;
    }

  *reached = end;
  return 0;
}

/* Where the file has no holes that can be asked for, as one of /proc, it is read to its end. */
int
_sbx_init_copy_file (int from,
                     int to)
{
  struct stat status;
  off_t at = 0;

  if (fstat (from, &status) < 0)
    return errno;
  if (!S_ISREG (status.st_mode) || status.st_size == 0)
    return _sbx_init_copy (from, to, UINT64_MAX);

  while (at < status.st_size)
    {
      const off_t start = lseek (from, at, SEEK_DATA);
      off_t end;
      int error;

      if (start < 0 && errno == ENXIO)
        break;
      if (start < 0)
        return lseek (from, at, SEEK_SET) < 0 ? errno : _sbx_init_copy (from, to, UINT64_MAX);

      end = lseek (from, start, SEEK_HOLE);
      if (end < 0)
        return errno;
      if (end > status.st_size)
        end = status.st_size;

      error = copy_stretch (from, to, start, end, &at);
      if (error != 0)
        return error;
      if (at < end)
        return ftruncate (to, at) < 0 ? errno : 0;
    }

  return ftruncate (to, status.st_size) < 0 ? errno : 0;
}
