/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-types.h"

G_BEGIN_DECLS

#define SBX_TYPE_TERMINAL (sbx_terminal_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxTerminal, sbx_terminal, SBX, TERMINAL, GObject)

SBX_AVAILABLE_IN_1_0
GInputStream  *sbx_terminal_get_input_stream  (SbxTerminal  *self);
SBX_AVAILABLE_IN_1_0
GOutputStream *sbx_terminal_get_output_stream (SbxTerminal  *self);
SBX_AVAILABLE_IN_1_0
int            sbx_terminal_steal_fd          (SbxTerminal  *self);
SBX_AVAILABLE_IN_1_0
gboolean       sbx_terminal_resize            (SbxTerminal  *self,
                                               guint         rows,
                                               guint         columns,
                                               GError      **error);
SBX_AVAILABLE_IN_1_0
guint          sbx_terminal_get_rows          (SbxTerminal  *self);
SBX_AVAILABLE_IN_1_0
guint          sbx_terminal_get_columns       (SbxTerminal  *self);

G_END_DECLS
