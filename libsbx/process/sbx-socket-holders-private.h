/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The inode of a socket, by which the kernel names it in every process that has it open; or 0. */
guint64 _sbx_socket_get_inode    (int      fd);

/* Kills every process that has the socket with that inode open as descriptor @fd_number. This finds
 * a child that was started with the socket and whose own parent was killed before it could say who
 * it is; a process is known by what it holds, never by a number. Blocks on /proc. */
void    _sbx_socket_kill_holders (guint64  inode,
                                  int      fd_number);

G_END_DECLS
