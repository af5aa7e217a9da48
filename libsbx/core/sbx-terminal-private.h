/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-terminal.h"

G_BEGIN_DECLS

typedef gboolean (*SbxTerminalResizeFunc) (guint     rows,
                                           guint     columns,
                                           gpointer  user_data);

SbxTerminal *_sbx_terminal_new      (guint                   rows,
                                     guint                   columns);
/* Takes @fd, the controlling end of a pseudo-terminal. Where the output goes elsewhere only input
 * and size are left for the terminal. */
void         _sbx_terminal_take_fd  (SbxTerminal            *self,
                                     int                     fd,
                                     gboolean                with_output);
gboolean     _sbx_terminal_has_fd   (SbxTerminal            *self);
/* For an implementation without a pseudo-terminal of ours. */
void         _sbx_terminal_set_pipes (SbxTerminal           *self,
                                     GInputStream           *input,
                                     GOutputStream          *output,
                                     SbxTerminalResizeFunc   resize,
                                     gpointer                user_data);
void         _sbx_terminal_detach   (SbxTerminal            *self);

/* Reads from a pseudo-terminal, which it takes, and ends where that ends. */
GInputStream *_sbx_terminal_stream_new (int fd);

G_END_DECLS
