/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/*
 * Locks the file @name of @dir_fd for this process, without waiting, and returns the descriptor
 * that holds the lock. %G_IO_ERROR_BUSY: another process has it, or this one has it already.
 * Without @create a missing file is %G_IO_ERROR_NOT_FOUND.
 *
 * The lock is a POSIX record lock: it goes with the process, however that ends, and a forked child
 * does not have it. The other side of that: closing *any* descriptor of the file in this process
 * would drop it, so nothing but these two functions may open a lock file.
 */
int _sbx_lock_try (int         dir_fd,
                   const char *name,
                   gboolean    create,
                   GError    **error);

/* Gives the lock back and closes @fd. Only for what _sbx_lock_try() returned. */
void _sbx_lock_release (int fd);

G_END_DECLS
