/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What the library needs once in a process, before any of its types is used. Called by the class of
 * every type that a program can begin with. */
void _sbx_library_init (void);

G_END_DECLS
