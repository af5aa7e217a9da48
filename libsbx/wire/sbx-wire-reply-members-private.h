/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "wire/sbx-wire-member-private.h"
#include "wire/sbx-wire-reply-private.h"

G_BEGIN_DECLS

/* The members of the result. %FALSE when it is something that has none. */
gboolean _sbx_wire_reply_get_members (SbxWireReply    *self,
                                      SbxWireMembers  *members,
                                      GError         **error);

G_END_DECLS
