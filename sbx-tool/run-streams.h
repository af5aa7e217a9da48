/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <sbx.h>

G_BEGIN_DECLS

typedef struct _ToolStreams ToolStreams;

typedef enum
{
  TOOL_STREAMS_ENDED,         /* one stream came to its end */
  TOOL_STREAMS_READER_GONE,   /* nobody reads our output any more */
  TOOL_STREAMS_HUNG_UP,       /* our terminal is gone */
  TOOL_STREAMS_FAILED,        /* and the message says how */
} ToolStreamsEvent;

typedef void (*ToolStreamsFunc) (ToolStreamsEvent  event,
                                 const char       *message,
                                 gpointer          user_data);

ToolStreams *tool_streams_new           (gboolean          terminal,
                                         ToolStreamsFunc   func,
                                         gpointer          user_data,
                                         GError          **error);
void         tool_streams_prepare       (ToolStreams      *self,
                                         SbxCommand       *command);
gboolean     tool_streams_has_input     (ToolStreams      *self);
void         tool_streams_set_no_input  (ToolStreams      *self);
void         tool_streams_connect       (ToolStreams      *self,
                                         SbxProcess       *process);
void         tool_streams_resize        (ToolStreams      *self);
void         tool_streams_command_ended (ToolStreams      *self,
                                         SbxProcess       *process);
gboolean     tool_streams_have_ended    (ToolStreams      *self);
guint64      tool_streams_get_moved     (ToolStreams      *self,
                                         int               fd);
void         tool_streams_free          (ToolStreams      *self);

G_END_DECLS
