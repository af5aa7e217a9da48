/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "json/sbx-json-private.h"

G_BEGIN_DECLS

/*
 * SbxWireLine:
 *
 * One line that a peer sent. Values of members whose name ends in "_base64" were decoded while the
 * line came in, straight into the bytes that a caller gets; the gate saw what was left of the line.
 */
typedef struct _SbxWireLine SbxWireLine;

/* Takes a whole line as bytes, without its newline: for tests, fuzzing and records. */
SbxWireLine  *_sbx_wire_line_new         (GBytes       *text);
SbxWireLine  *_sbx_wire_line_ref         (SbxWireLine  *self);
void          _sbx_wire_line_unref       (SbxWireLine  *self);

/* Where a line was not parsed yet: until it is there is nothing to be had of it. In any thread. */
gboolean      _sbx_wire_line_is_parsed   (SbxWireLine  *self);
void          _sbx_wire_line_parse       (SbxWireLine  *self);

/* The root, or %NULL when the line is no JSON object, and then why. */
JsonObject   *_sbx_wire_line_get_object  (SbxWireLine  *self);
const GError *_sbx_wire_line_get_error   (SbxWireLine  *self);

/* What a line that the gate refused gives as its "id" by the looks of it, or %NULL. It serves to
 * fail the one call that the line was meant for, and for nothing else. */
const char   *_sbx_wire_line_guess_id    (SbxWireLine  *self);

/* Bytes on the wire. */
gsize         _sbx_wire_line_get_size    (SbxWireLine  *self);

/* The decoded value of a member that is base64. %SBX_JSON_WRONG_TYPE also stands for bad base64.
 * @bytes is (transfer full). */
SbxJsonFound  _sbx_wire_line_get_payload (SbxWireLine  *self,
                                          JsonObject   *object,
                                          const char   *name,
                                          GBytes      **bytes);

/* Whether @node stands for bytes that were lifted out, which is for tests to know. */
gboolean      _sbx_wire_line_is_payload  (SbxWireLine  *self,
                                          JsonNode     *node);

/* Gives what was lifted out its text again, for an object that is to be written as it came: the
 * session of a provider may have members of its own, and they may be base64. */
void          _sbx_wire_line_put_back    (SbxWireLine  *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxWireLine, _sbx_wire_line_unref)

G_END_DECLS
