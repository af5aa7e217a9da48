/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <errno.h>
#include <glib.h>
#include <unistd.h>

G_BEGIN_DECLS

/* Closes *@fd, if there is one, and leaves -1 there; errno stays as it was. */
static inline void
_sbx_clear_fd (int *fd)
{
  const int errsv = errno;

  if (*fd >= 0)
    close (g_steal_fd (fd));

  errno = errsv;
}

/* sbx_autofd int fd = -1; is closed at the end of its scope; g_steal_fd() hands it on. */
#define sbx_autofd __attribute__ ((cleanup (_sbx_clear_fd)))

G_END_DECLS
