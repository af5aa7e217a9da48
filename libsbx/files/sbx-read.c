/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-path-private.h"

#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <sys/stat.h>

#define CHUNK (64 * 1024)
#define SMALL_CHUNK 4096

/* Opening is harmless for each of these: nothing is waited for and no terminal is taken. */
static int
open_regular (int         dir_fd,
              const char *path,
              gsize       max_size,
              gsize      *expected,
              GError    **error)
{
  g_autoptr(GError) local_error = NULL;
  sbx_autofd int fd = -1;
  struct stat info;

  fd = _sbx_open_beneath (dir_fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0,
                          &local_error);

  if (fd < 0 && g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
    {
      _sbx_path_error_code (error, G_IO_ERROR_BUSY, path,
                            _("Another process holds a lease on this file"));
      return -1;
    }

  if (fd < 0 && errno != ENXIO)
    {
      g_propagate_error (error, g_steal_pointer (&local_error));
      return -1;
    }

  /* A socket and a device without a driver cannot even be opened. */
  if (fd < 0 || fstat (fd, &info) < 0 || !(S_ISREG (info.st_mode) || S_ISDIR (info.st_mode)))
    {
      _sbx_path_error_code (error, G_IO_ERROR_NOT_REGULAR_FILE, path,
                            _("This is no regular file, so it is not read"));
      return -1;
    }

  if (S_ISDIR (info.st_mode))
    {
      _sbx_path_error_code (error, G_IO_ERROR_IS_DIRECTORY, path,
                            _("This is a directory, not a file"));
      return -1;
    }

  *expected = info.st_size > 0 ? MIN ((guint64) info.st_size, (guint64) max_size + 1) : 0;
  return g_steal_fd (&fd);
}

/* Adds up to @size bytes to @content; 0 at the end of the file, -1 with errno. */
static gssize
read_more (int         fd,
           GByteArray *content,
           gsize       size)
{
  const guint old_length = content->len;
  gssize n;

  g_byte_array_set_size (content, old_length + (guint) size);

  do
    n = read (fd, content->data + old_length, size);
  while (n < 0 && errno == EINTR);

  g_byte_array_set_size (content, old_length + (guint) MAX (n, 0));
  return n;
}

GBytes *
_sbx_read_beneath (int           dir_fd,
                   const char   *path,
                   gsize         max_size,
                   GCancellable *cancellable,
                   GError      **error)
{
  g_autoptr(GByteArray) content = NULL;
  sbx_autofd int fd = -1;
  gsize expected = 0;
  gssize n;

  /* The array counts in guint. */
  g_return_val_if_fail (max_size <= G_MAXINT - 2 * CHUNK, NULL);

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;

  fd = open_regular (dir_fd, path, max_size, &expected, error);
  if (fd < 0)
    return NULL;

  content = g_byte_array_sized_new (expected <= max_size ? (guint) expected + SMALL_CHUNK : 0);

  /* What the file system said of the size is a hint: a file can grow, and /proc says 0. */
  do
    {
      const gsize hint = expected > content->len ? expected - content->len : 1;

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return NULL;

      if (expected > max_size || content->len > max_size)
        {
          _sbx_path_error_code (error, G_IO_ERROR_MESSAGE_TOO_LARGE, path,
                                _("The file is larger than what may be read of it"));
          return NULL;
        }

      n = read_more (fd, content, MIN (MAX (hint, SMALL_CHUNK), CHUNK));

      if (n < 0)
        {
          _sbx_path_error (error, errno, path, _("Could not be read"));
          return NULL;
        }
    }
  while (n > 0);

  return g_byte_array_free_to_bytes (g_steal_pointer (&content));
}
