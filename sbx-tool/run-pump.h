/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _ToolPump ToolPump;

typedef enum
{
  TOOL_PUMP_END_OF_INPUT,
  TOOL_PUMP_READER_GONE,   /* nobody reads the target any more */
  TOOL_PUMP_READ_FAILED,
  TOOL_PUMP_WRITE_FAILED,
} ToolPumpEnd;

/* Called once, from the main loop; @error_number belongs to the two last ones. */
typedef void (*ToolPumpEndFunc) (ToolPump    *pump,
                                 ToolPumpEnd  end,
                                 int          error_number,
                                 gpointer     user_data);

/* Sees every byte that was read. */
typedef void (*ToolPumpTapFunc) (const guint8 *data,
                                 gsize         size);

ToolPump *tool_pump_new       (int              source_fd,
                               int              target_fd,
                               ToolPumpEndFunc  func,
                               gpointer         user_data);
void      tool_pump_set_tap   (ToolPump        *self,
                               ToolPumpTapFunc  tap);
void      tool_pump_start     (ToolPump        *self);
void      tool_pump_stop      (ToolPump        *self);
gboolean  tool_pump_has_ended (ToolPump        *self);
guint64   tool_pump_get_moved (ToolPump        *self);
void      tool_pump_free      (ToolPump        *self);

int       tool_open_unblocked (int              fd);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ToolPump, tool_pump_free)

G_END_DECLS
