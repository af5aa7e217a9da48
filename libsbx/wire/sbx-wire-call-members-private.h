/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "wire/sbx-wire-call-private.h"
#include "wire/sbx-wire-member-private.h"

G_BEGIN_DECLS

/* The members of "params", and those of an object within them. */
static inline SbxWireMembers
_sbx_wire_call_members (SbxWireCall *self)
{
  return (SbxWireMembers) { self->params, "params", SBX_ERROR_INVALID };
}

/* A required string that says something, or %NULL. */
const char *_sbx_wire_call_get_string (SbxWireCall  *self,
                                       const char   *name,
                                       GError      **error);

/* Copies an object of strings into @table, which takes copies. */
gboolean    _sbx_wire_call_get_table  (JsonObject   *object,
                                       const char   *path,
                                       GHashTable   *table,
                                       GError      **error);

G_END_DECLS
