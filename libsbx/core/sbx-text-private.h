/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Foreign bytes, made fit for a message: control characters, what is not seen or changes the
 * direction, bytes that are not UTF-8 and the backslash itself are escaped as in C, and what is too
 * long is cut, with a mark where. */
char *_sbx_text_escape (const char *bytes);

/* The same between quotation marks. */
char *_sbx_text_quote  (const char *bytes);

G_END_DECLS
