/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/*
 * SbxWireMessage:
 *
 * One line on its way out: text, and bytes that stand in it as base64. The bytes are encoded a
 * block at a time while they are written, never all of them at once.
 */
typedef struct _SbxWireMessage SbxWireMessage;

SbxWireMessage *_sbx_wire_message_new            (void);
void            _sbx_wire_message_free           (SbxWireMessage *self);

/* Where text is added. What is added must be JSON, without a newline. */
GString        *_sbx_wire_message_get_text       (SbxWireMessage *self);

/* Adds a JSON string, with its quotation marks. @value must be UTF-8. */
void            _sbx_wire_message_append_string  (SbxWireMessage *self,
                                                  const char     *value);

/* Adds a JSON string that is the base64 of @bytes. */
void            _sbx_wire_message_append_payload (SbxWireMessage *self,
                                                  GBytes         *bytes);

/* Bytes on the wire, with the newline that the writer adds. */
gsize           _sbx_wire_message_get_size       (SbxWireMessage *self);

/* The whole line as bytes, with its newline: for tests and records. */
GBytes         *_sbx_wire_message_to_bytes       (SbxWireMessage *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxWireMessage, _sbx_wire_message_free)

G_END_DECLS
