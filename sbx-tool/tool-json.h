/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

void  tool_json_add_bytes (JsonBuilder        *builder,
                           const char         *bytes);
/* A member; @value may be %NULL, which is null. */
void  tool_json_add_text  (JsonBuilder        *builder,
                           const char         *name,
                           const char         *value);
/* A member; @values may be %NULL, for an empty list. */
void  tool_json_add_texts (JsonBuilder        *builder,
                           const char         *name,
                           const char * const *values);
char *tool_json_to_text   (JsonBuilder        *builder);
/* What is dangerous on a terminal can only stand within strings, and is written as JSON allows. */
char *tool_json_make_safe (const char         *text);

G_END_DECLS
