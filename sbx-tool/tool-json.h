/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

void  tool_json_add_bytes (JsonBuilder *builder,
                           const char  *bytes);
char *tool_json_to_text   (JsonBuilder *builder);

G_END_DECLS
