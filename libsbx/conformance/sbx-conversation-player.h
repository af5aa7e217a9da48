/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "conformance/sbx-conversation.h"

G_BEGIN_DECLS

#define SBX_TYPE_CONVERSATION_PLAYER (sbx_conversation_player_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxConversationPlayer, sbx_conversation_player, SBX, CONVERSATION_PLAYER,
                      GObject)

SBX_AVAILABLE_IN_1_0
SbxConversationPlayer *sbx_conversation_player_new     (SbxConversation        *conversation);
SBX_AVAILABLE_IN_1_0
GBytes                *sbx_conversation_player_answer  (SbxConversationPlayer  *self,
                                                        GBytes                 *line);
SBX_AVAILABLE_IN_1_0
gboolean               sbx_conversation_player_is_over (SbxConversationPlayer  *self);

G_END_DECLS
