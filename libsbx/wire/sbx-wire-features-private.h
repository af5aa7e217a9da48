/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-capabilities.h"
#include "json/sbx-json-private.h"

G_BEGIN_DECLS

/* What a peer can beyond plain sandbox.v1; the names are in docs/protocol.md. */
typedef enum
{
  SBX_WIRE_MULTIPLEX    = 1 << 0,
  SBX_WIRE_CANCEL       = 1 << 1,
  SBX_WIRE_PROCESS      = 1 << 2,
  SBX_WIRE_STDIN        = 1 << 3,
  SBX_WIRE_PTY          = 1 << 4,
  SBX_WIRE_SIGNALS      = 1 << 5,
  SBX_WIRE_TIMEOUT      = 1 << 6,
  SBX_WIRE_QUIET_RESULT = 1 << 7,
  SBX_WIRE_RANGES       = 1 << 8,
  SBX_WIRE_FILES        = 1 << 9,
} SbxWireFeatures;

/* Reads {"exec":bool,"features":[…]}, bare or wrapped in "capabilities". What it does not know it
 * passes over; %FALSE only when a member has a type that cannot be. */
gboolean         _sbx_wire_features_parse           (JsonObject       *object,
                                                     gboolean         *exec,
                                                     SbxWireFeatures  *features,
                                                     GError          **error);

/* Adds {"exec":true,"features":["multiplex",…]}. */
void             _sbx_wire_features_append          (GString          *text,
                                                     gboolean          exec,
                                                     SbxWireFeatures   features);

/* The names, in the order of the table. */
GStrv            _sbx_wire_features_to_names        (SbxWireFeatures   features);

/* What a session over the wire can do, and the other way round what a server can promise of what
 * it serves. A server adds multiplex, cancel, timeout, signals and quiet-result, which it brings
 * itself. */
SbxCapabilities  _sbx_wire_features_to_capabilities (gboolean          exec,
                                                     SbxWireFeatures   features);
SbxWireFeatures  _sbx_wire_features_of_capabilities (SbxCapabilities   capabilities);

G_END_DECLS
