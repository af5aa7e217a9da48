/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <json-glib/json-glib.h>

#include "conformance/sbx-conversation.h"

G_BEGIN_DECLS

/* With its markers, (transfer full); %NULL for what was no JSON. */
JsonNode *_sbx_conversation_get_node   (SbxConversation  *self,
                                        guint             message);
/* The same with something in the place of the markers, as far as @budget goes. */
JsonNode *_sbx_conversation_fill_node  (SbxConversation  *self,
                                        guint             message,
                                        gsize            *budget);

/* The "id" of a message, or %NULL. */
const char *_sbx_message_get_id        (JsonNode         *message);
gboolean  _sbx_message_is_final        (JsonNode         *message);

/* Adds to @differences what is not alike in two values: kinds and members, not what they hold. */
void      _sbx_conversation_compare    (JsonNode         *recorded,
                                        JsonNode         *real,
                                        const char       *where,
                                        GPtrArray        *differences);

/* Plays the client's side, waiting for the provider: this is what a thread does. */
GPtrArray *_sbx_conversation_play      (SbxConversation     *self,
                                        const char * const  *argv,
                                        const char          *workspace,
                                        guint                timeout_ms,
                                        GCancellable        *cancellable,
                                        GError             **error);

G_END_DECLS
