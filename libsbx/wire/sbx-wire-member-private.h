/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-error.h"
#include "wire/sbx-wire-line-private.h"

G_BEGIN_DECLS

/*
 * The members of an object that a peer sent. Those that must be there and are not, and those of
 * another type than the protocol has, become an error that names the member. An explicit null is
 * the same as a member that is not there.
 */
typedef struct
{
  JsonObject *object;     /* %NULL stands for {} */
  const char *path;       /* for the message: "session", or "" */
  SbxError    code;       /* of the error */
} SbxWireMembers;

typedef enum
{
  SBX_WIRE_OPTIONAL,
  SBX_WIRE_REQUIRED,
  SBX_WIRE_NOT_EMPTY,     /* required, and a string that says something */
} SbxWireNeed;

/* Where a member is not there, these leave @value alone. */
gboolean _sbx_wire_members_get_string  (const SbxWireMembers  *self,
                                        const char            *name,
                                        SbxWireNeed            need,
                                        const char           **value,
                                        GError               **error);
gboolean _sbx_wire_members_get_int     (const SbxWireMembers  *self,
                                        const char            *name,
                                        SbxWireNeed            need,
                                        gint64                 min,
                                        gint64                 max,
                                        gint64                *value,
                                        GError               **error);
gboolean _sbx_wire_members_get_boolean (const SbxWireMembers  *self,
                                        const char            *name,
                                        gboolean              *value,
                                        GError               **error);
gboolean _sbx_wire_members_get_object  (const SbxWireMembers  *self,
                                        const char            *name,
                                        SbxWireNeed            need,
                                        JsonObject           **value,
                                        GError               **error);
/* (transfer full) */
gboolean _sbx_wire_members_get_payload (const SbxWireMembers  *self,
                                        SbxWireLine           *line,
                                        const char            *name,
                                        SbxWireNeed            need,
                                        GBytes               **value,
                                        GError               **error);

/* Sets the error that @name must be something else; @what says what, translated. Gives %FALSE. */
gboolean _sbx_wire_members_refuse      (const SbxWireMembers  *self,
                                        const char            *name,
                                        const char            *what,
                                        GError               **error);

G_END_DECLS
