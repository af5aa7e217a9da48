/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* Parses the JSON text of an object through the gate, and writes it again in the one way in which
 * equal texts are equal byte for byte: without blanks, the members of every object in the order of
 * their names. %SBX_ERROR_INVALID for what is no JSON, or no object; %SBX_ERROR_TOO_LARGE. */
char *_sbx_json_object_canonical (const char  *text,
                                  GError     **error);

G_END_DECLS
