/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "conformance/sbx-conversation.h"

G_BEGIN_DECLS

#define SBX_TYPE_CONVERSATION_RECORDER (sbx_conversation_recorder_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxConversationRecorder, sbx_conversation_recorder, SBX,
                      CONVERSATION_RECORDER, GObject)

SBX_AVAILABLE_IN_1_0
SbxConversationRecorder *sbx_conversation_recorder_new    (void);
SBX_AVAILABLE_IN_1_0
void                     sbx_conversation_recorder_feed   (SbxConversationRecorder  *self,
                                                           SbxConversationSide       side,
                                                           GBytes                   *bytes);
SBX_AVAILABLE_IN_1_0
void                     sbx_conversation_recorder_finish (SbxConversationRecorder  *self,
                                                           SbxConversationSide       side);
SBX_AVAILABLE_IN_1_0
GBytes                  *sbx_conversation_recorder_take   (SbxConversationRecorder  *self);

G_END_DECLS
