/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "wire/sbx-wire-message-private.h"

G_BEGIN_DECLS

/* How far a message was rendered. All zeros are its beginning. */
typedef struct
{
  gsize    text;
  gsize    payload;
  gsize    bytes;       /* of the payload */
  gboolean complete;    /* with the newline */
} SbxWireCursor;

/* Puts as much of the message as there is room for where it is told to, and returns how much that
 * was. With room for four there is always some. */
gsize _sbx_wire_message_render (SbxWireMessage *self,
                                SbxWireCursor  *cursor,
                                char           *output,
                                gsize           room);

G_END_DECLS
