/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "wire/sbx-wire-message-private.h"

G_BEGIN_DECLS

/* What a text is, for the message that tells why it cannot be sent. */
typedef enum
{
  SBX_WIRE_TEXT_PATH,
  SBX_WIRE_TEXT_PREFIX,
  SBX_WIRE_TEXT_ARGUMENT,
  SBX_WIRE_TEXT_VARIABLE,
  SBX_WIRE_TEXT_CWD,
  SBX_WIRE_TEXT_PROFILE,
  SBX_WIRE_TEXT_GROUP,
  SBX_WIRE_TEXT_REQUEST_ID,
  SBX_WIRE_TEXT_TAG,
} SbxWireText;

/* Everything before the first member of "params". */
SbxWireMessage *_sbx_wire_request_begin         (guint64          number,
                                                 const char      *method);
/* The same with "session" as the first member. */
SbxWireMessage *_sbx_wire_request_begin_session (guint64          number,
                                                 const char      *method,
                                                 GBytes          *session);
SbxWireMessage *_sbx_wire_request_end           (SbxWireMessage  *message);

/* Whether JSON can carry it. */
gboolean        _sbx_wire_text_check            (SbxWireText      what,
                                                 const char      *value,
                                                 GError         **error);

/* Adds @head, which is text as it is, and @value as a string. */
gboolean        _sbx_wire_request_append        (SbxWireMessage  *message,
                                                 const char      *head,
                                                 SbxWireText      what,
                                                 const char      *value,
                                                 GError         **error);

G_END_DECLS
