/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec-file.h"

#include "tool-text.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gi18n.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As much as the library would parse. */
#define MAX_SIZE (16 * 1024 * 1024)

static void
set_errno (GError     **error,
           const char  *shown)
{
  const int saved = errno;

  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (saved),
               _("%s: the spec cannot be read: %s"), shown, g_strerror (saved));
}

static GBytes *
read_all (int          fd,
          const char  *shown,
          GError     **error)
{
  g_autoptr(GByteArray) content = g_byte_array_new ();
  guint8 buffer[16384];

  for (;;)
    {
      const ssize_t n = read (fd, buffer, sizeof buffer);

      if (n == 0)
        return g_byte_array_free_to_bytes (g_steal_pointer (&content));

      /* Somebody may have left our input so that it does not block. */
      if (n < 0 && errno == EAGAIN && fd == STDIN_FILENO)
        {
          struct pollfd waiting = { .fd = fd, .events = POLLIN };

          poll (&waiting, 1, -1);
          continue;
        }

      if (n < 0 && errno != EINTR)
        {
          set_errno (error, shown);
          return NULL;
        }

      if (n > 0)
        g_byte_array_append (content, buffer, (guint) n);

      if (content->len > MAX_SIZE)
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE,
                       _("%s: the spec is larger than %d MiB"), shown, MAX_SIZE >> 20);
          return NULL;
        }
    }
}

/* A pipe that somebody left there would be waited for without an end. */
static int
open_regular (const char  *path,
              const char  *shown,
              GError     **error)
{
  const int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat info;

  if (fd == -1 || fstat (fd, &info) == -1)
    {
      set_errno (error, shown);
      if (fd != -1)
        close (fd);
      return -1;
    }

  if (!S_ISREG (info.st_mode))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE,
                   _("%s: the spec is no regular file; “-” reads it from standard input"), shown);
      close (fd);
      return -1;
    }

  return fd;
}

SbxSandboxSpec *
tool_spec_file_read (const char  *path,
                     GError     **error)
{
  const gboolean is_input = strcmp (path, "-") == 0;
  g_autofree char *shown = is_input ? g_strdup (_("standard input")) : tool_quote (path);
  const int fd = is_input ? STDIN_FILENO : open_regular (path, shown, error);
  g_autoptr(SbxSandboxSpec) spec = NULL;
  g_autoptr(GBytes) content = NULL;

  if (fd == -1)
    return NULL;

  content = read_all (fd, shown, error);
  if (!is_input)
    close (fd);
  if (content == NULL)
    return NULL;

  spec = sbx_sandbox_spec_new_from_json (content, error);
  if (spec == NULL)
    g_prefix_error (error, "%s: ", shown);

  return g_steal_pointer (&spec);
}
