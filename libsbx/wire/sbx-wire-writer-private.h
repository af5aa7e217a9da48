/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "wire/sbx-wire-message-private.h"

G_BEGIN_DECLS

/*
 * SbxWireWriter:
 *
 * Writes messages to a descriptor in the order in which they were pushed, as fast as the peer reads
 * and without ever waiting for it.
 */
typedef struct _SbxWireWriter SbxWireWriter;

/* With @error: nothing can be written any more; told once. Without: all that waited is written. It
 * is never called from within one of the functions below. */
typedef void (*SbxWireWriterFunc) (SbxWireWriter *self,
                                   const GError  *error,
                                   gpointer       user_data);

/* Takes @fd. */
SbxWireWriter *_sbx_wire_writer_new         (int                fd,
                                             GMainContext      *context,
                                             SbxWireWriterFunc  func,
                                             gpointer           user_data);

/* Closes the descriptor; what was not written is dropped. */
void           _sbx_wire_writer_free        (SbxWireWriter     *self);

/* Takes @message. Returns a number by which it can be withdrawn. After an error or the end of the
 * writer it goes nowhere. */
guint64        _sbx_wire_writer_push        (SbxWireWriter     *self,
                                             SbxWireMessage    *message);

/* %TRUE when nothing of the message was written, and nothing will be. */
gboolean       _sbx_wire_writer_withdraw    (SbxWireWriter     *self,
                                             guint64            number);

/* Whether the whole message has been written. */
gboolean       _sbx_wire_writer_is_written  (SbxWireWriter     *self,
                                             guint64            number);

/* Bytes that wait, as they will be on the wire. */
gsize          _sbx_wire_writer_get_waiting (SbxWireWriter     *self);

/* Between these two, which nest, messages are gathered instead of each being written at once. */
void           _sbx_wire_writer_cork        (SbxWireWriter     *self);
void           _sbx_wire_writer_uncork      (SbxWireWriter     *self);

/* Closes the descriptor when all that waits is written. */
void           _sbx_wire_writer_finish      (SbxWireWriter     *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxWireWriter, _sbx_wire_writer_free)

G_END_DECLS
