/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "init/sbx-init-private.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#ifndef TIOCGPTPEER
#define TIOCGPTPEER _IO ('T', 0x41)
#endif

static struct winsize
get_size (const SbxInitSlot *slot)
{
  const uint32_t both = SBX_INIT_GET (slot->rows_and_columns);

  return (struct winsize) { .ws_row = (uint16_t) (both >> 16), .ws_col = (uint16_t) both };
}

/*
 * A terminal of the sandbox's own file system of terminals. Its slave is never opened by name: a
 * name leads whoever opens it to a terminal of theirs.
 *
 * Gives the master, or -1.
 */
int
_sbx_init_terminal_open (SbxInitSlot *slot,
                         int         *slave)
{
  const int master = openat (SBX_INIT_FD_PTS, "ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  struct winsize size;
  const int unlocked = 0;
  unsigned int number = 0;

  if (master < 0 || ioctl (master, TIOCSPTLCK, &unlocked) < 0 ||
      ioctl (master, TIOCGPTN, &number) < 0)
    return -1;

  *slave = ioctl (master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (*slave < 0)
    return -1;

  /* A resize that comes now finds either no terminal, and we see its size, or the terminal. */
  SBX_INIT_PUT (slot->terminal, (int) number);
  size = get_size (slot);
  ioctl (master, TIOCSWINSZ, &size);

  return master;
}

/* Process 1 does not keep the master, or closing it on the host would hang nothing up. The worst
 * that the number can lead to is another terminal of this sandbox. */
void
_sbx_init_terminal_resize (SbxInitSlot *slot,
                           uint16_t     rows,
                           uint16_t     columns)
{
  char name[16];
  struct winsize size;
  int fd;

  SBX_INIT_PUT (slot->rows_and_columns, (uint32_t) rows << 16 | columns);
  if (SBX_INIT_GET (slot->terminal) < 0)
    return;

  snprintf (name, sizeof name, "%d", SBX_INIT_GET (slot->terminal));
  fd = openat (SBX_INIT_FD_PTS, name, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return;

  size = get_size (slot);
  ioctl (fd, TIOCSWINSZ, &size);
  close (fd);
}
