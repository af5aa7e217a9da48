/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "files/sbx-fd-private.h"
#include "files/sbx-memfd-private.h"

#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <sys/mman.h>

/* Kernel 6.3; some systems refuse memory files without it. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

static int
make (const char *name)
{
  int fd = memfd_create (name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

  if (fd < 0 && errno == EINVAL)
    fd = memfd_create (name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

  return fd;
}

static gboolean
fill (int         fd,
      const char *data,
      gsize       size)
{
  gsize done = 0;

  while (done < size)
    {
      const gssize n = pwrite (fd, data + done, size - done, (off_t) done);

      if (n < 0 && errno != EINTR)
        return FALSE;

      done += (gsize) MAX (n, 0);
    }

  return TRUE;
}

int
_sbx_memfd_sealed (const char *name,
                   const void *data,
                   gsize       size,
                   GError    **error)
{
  sbx_autofd int fd = make (name);

  if (fd < 0 || !fill (fd, data, size) ||
      fcntl (fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
    {
      const int errsv = errno;

      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errsv),
                   _("A memory file could not be made: %s"), g_strerror (errsv));
      return -1;
    }

  return g_steal_fd (&fd);
}
