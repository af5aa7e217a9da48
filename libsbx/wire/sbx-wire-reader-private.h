/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "wire/sbx-wire-line-private.h"

G_BEGIN_DECLS

/* What a line may have at most, in bytes, where nobody says otherwise: 64 MiB as base64 fit. */
#define SBX_WIRE_DEFAULT_MAX_SIZE (128 * 1024 * 1024)

/*
 * SbxWireReader:
 *
 * Reads lines from a descriptor, as long as it is not paused. It never reads more in one go than
 * the main loop of a caller can bear. Blank lines are passed over, and so is a carriage return
 * before the newline.
 */
typedef struct _SbxWireReader SbxWireReader;

/* A line came. The function may pause or free the reader. */
typedef void (*SbxWireLineFunc) (SbxWireReader *self,
                                 SbxWireLine   *line,
                                 gpointer       user_data);

/* Nothing more comes: @error is %NULL at the end of the stream, %SBX_ERROR_TOO_LARGE for a line
 * over the limit, or else from %G_IO_ERROR. Called once, after the last line; a last line without a
 * newline is told as a line first. */
typedef void (*SbxWireEndFunc)  (SbxWireReader *self,
                                 const GError  *error,
                                 gpointer       user_data);

/* Takes @fd. Begins to read at the next turn of @context. */
SbxWireReader *_sbx_wire_reader_new    (int              fd,
                                        GMainContext    *context,
                                        gsize            max_size,
                                        SbxWireLineFunc  line_func,
                                        SbxWireEndFunc   end_func,
                                        gpointer         user_data);

/* No function is called after this. Safe within one of them. */
void           _sbx_wire_reader_free   (SbxWireReader   *self);

/* While it is paused no line is told, not even one that was read already. */
void           _sbx_wire_reader_pause  (SbxWireReader   *self);
void           _sbx_wire_reader_resume (SbxWireReader   *self);

/* The writer is gone though somebody else may hold its end of the pipe: tells what can be read
 * without waiting, which is bounded, and then the end. */
void           _sbx_wire_reader_finish (SbxWireReader   *self);

/* Whether the stream is at its end; a line that is told then had no newline, and may be half. */
gboolean       _sbx_wire_reader_has_ended (SbxWireReader *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxWireReader, _sbx_wire_reader_free)

G_END_DECLS
