/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "wire/sbx-wire-answer-private.h"

G_BEGIN_DECLS

/* Everything up to the value of @member. */
SbxWireMessage *_sbx_wire_answer_begin (const char      *id,
                                        const char      *member);
/* Ends a message whose value is complete. */
SbxWireMessage *_sbx_wire_answer_end   (SbxWireMessage  *message);

G_END_DECLS
