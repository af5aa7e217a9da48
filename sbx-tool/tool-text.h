/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

gboolean  tool_is_dangerous (gunichar    c);
char     *tool_escape       (const char *text);
char     *tool_quote        (const char *name);
gboolean  tool_print        (const char *text);
void      tool_complain     (const char *format,
                             ...) G_GNUC_PRINTF (1, 2);
void      tool_hint         (const char *format,
                             ...) G_GNUC_PRINTF (1, 2);

G_END_DECLS
