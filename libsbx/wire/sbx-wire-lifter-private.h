/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "wire/sbx-base64-private.h"
#include "wire/sbx-wire-line-private.h"

G_BEGIN_DECLS

/* Strings that are lifted out of one line; those that come after them stay in it. */
#define SBX_WIRE_MAX_PAYLOADS 8

typedef struct
{
  gsize     offset;   /* of the empty string that was left in its place */
  GBytes   *bytes;
  JsonNode *node;     /* belongs to the root */
} SbxWirePayload;

/*
 * SbxWireLifter:
 *
 * Makes lines of bytes that come in pieces. Each byte is looked at once: what stands in a member of
 * a member of the root, under a name that ends in "_base64", is decoded there and then; the rest is
 * what the gate gets to see. What is not base64 goes back into the text, so that nothing is lost.
 */
typedef struct
{
  /* Bytes of the line so far, as they came. */
  gsize             size;

  GString          *text;
  gboolean          too_long;
  int               state;
  /* What was seen of a name and its colon; how many brackets are open. */
  int               name;
  guint             depth;

  SbxWirePayload    payloads[SBX_WIRE_MAX_PAYLOADS];
  gsize             n_payloads;

  /* The payload that is coming in: the last of those. */
  SbxBase64Decoder  decoder;
  guint8           *bytes;
  gsize             n_bytes;
  gsize             room;
  /* An escape in it, after the backslash. */
  char              escape[5];
  gsize             n_escape;
} SbxWireLifter;

void         _sbx_wire_lifter_init   (SbxWireLifter *self);
void         _sbx_wire_lifter_clear  (SbxWireLifter *self);

/* Takes bytes up to a newline, which is taken as well, or all of them. Returns how many. */
gsize        _sbx_wire_lifter_feed   (SbxWireLifter *self,
                                      const guint8  *bytes,
                                      gsize          n_bytes,
                                      gboolean      *ended);

/* The line that came in, or NULL for a blank one. What comes next begins another. One with more
 * text than @max_text is to be parsed yet. */
SbxWireLine *_sbx_wire_lifter_finish (SbxWireLifter *self,
                                      gsize          max_text);

/* Takes the bytes of @payloads. */
SbxWireLine *_sbx_wire_line_new_lifted (const GString  *text,
                                        gboolean        too_long,
                                        gsize           size,
                                        SbxWirePayload *payloads,
                                        gsize           n_payloads);

/* Takes @text as well. */
SbxWireLine *_sbx_wire_line_new_unparsed (GString        *text,
                                          gboolean        too_long,
                                          gsize           size,
                                          SbxWirePayload *payloads,
                                          gsize           n_payloads);

/* What is lifted is of no use once the text is longer than the gate takes. */
#define SBX_WIRE_MAX_TEXT (16 * 1024 * 1024)

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxWireLifter, _sbx_wire_lifter_clear)

G_END_DECLS
