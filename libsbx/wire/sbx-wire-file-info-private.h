/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "wire/sbx-wire-member-private.h"
#include "wire/sbx-wire-message-private.h"

G_BEGIN_DECLS

/* Entries of one directory in one reply: as many as can become objects before the loop is late. */
#define SBX_WIRE_MAX_ENTRIES 15000

/* What is known of a file, as "stat" and "list_dir" have it. */

void       _sbx_wire_file_info_append (SbxWireMessage        *message,
                                       GFileInfo             *info);

/* @is_entry: of a directory, so that the name must be one that an entry can have. */
GFileInfo *_sbx_wire_file_info_parse  (const SbxWireMembers  *members,
                                       SbxWireLine           *line,
                                       gboolean               is_entry,
                                       GError               **error);

G_END_DECLS
