/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-types.h"

G_BEGIN_DECLS

/**
 * SbxConversationSide:
 * @SBX_CONVERSATION_SIDE_CLIENT: who asks
 * @SBX_CONVERSATION_SIDE_PROVIDER: who answers
 *
 * Who said something in a [class@Conversation].
 *
 * Since: 1.0
 */
typedef enum /*< enum >*/
{
  SBX_CONVERSATION_SIDE_CLIENT,
  SBX_CONVERSATION_SIDE_PROVIDER,
} SbxConversationSide;

#define SBX_TYPE_CONVERSATION (sbx_conversation_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxConversation, sbx_conversation, SBX, CONVERSATION, GObject)

SBX_AVAILABLE_IN_1_0
SbxConversation     *sbx_conversation_load            (const char           *path,
                                                       GError              **error);
SBX_AVAILABLE_IN_1_0
SbxConversation     *sbx_conversation_new_for_bytes   (GBytes               *record,
                                                       GError              **error);
SBX_AVAILABLE_IN_1_0
GBytes              *sbx_conversation_cut_line        (GBytes               *line);

SBX_AVAILABLE_IN_1_0
guint                sbx_conversation_get_n_messages  (SbxConversation      *self);
SBX_AVAILABLE_IN_1_0
SbxConversationSide  sbx_conversation_get_side        (SbxConversation      *self,
                                                       guint                 message);
SBX_AVAILABLE_IN_1_0
gint64               sbx_conversation_get_time        (SbxConversation      *self,
                                                       guint                 message);
SBX_AVAILABLE_IN_1_0
GBytes              *sbx_conversation_get_cut_line    (SbxConversation      *self,
                                                       guint                 message);
SBX_AVAILABLE_IN_1_0
GBytes              *sbx_conversation_get_line        (SbxConversation      *self,
                                                       guint                 message);

SBX_AVAILABLE_IN_1_0
void                 sbx_conversation_replay_async    (SbxConversation      *self,
                                                       const char * const   *argv,
                                                       const char           *workspace,
                                                       guint                 timeout_ms,
                                                       GCancellable         *cancellable,
                                                       GAsyncReadyCallback   callback,
                                                       gpointer              user_data);
SBX_AVAILABLE_IN_1_0
char               **sbx_conversation_replay_finish   (SbxConversation      *self,
                                                       GAsyncResult         *result,
                                                       GError              **error);
SBX_AVAILABLE_IN_1_0
char               **sbx_conversation_replay          (SbxConversation      *self,
                                                       const char * const   *argv,
                                                       const char           *workspace,
                                                       guint                 timeout_ms,
                                                       GCancellable         *cancellable,
                                                       GError              **error);

G_END_DECLS
