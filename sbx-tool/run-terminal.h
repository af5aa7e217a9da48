/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

gboolean tool_terminal_open           (void);
int      tool_terminal_get_input_fd   (void);
int      tool_terminal_get_output_fd  (void);
void     tool_terminal_get_size       (guint        *rows,
                                       guint        *columns);
void     tool_terminal_enter          (void);
void     tool_terminal_see_output     (const guint8 *data,
                                       gsize         size);
void     tool_terminal_suspend        (void);
void     tool_terminal_resume         (void);
void     tool_terminal_leave          (void);

G_END_DECLS
