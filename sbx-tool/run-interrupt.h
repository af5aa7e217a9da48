/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Cancelled when we are told to end, so that what was begun is ended in order; or NULL. */
GCancellable *tool_interrupt_watch (GError **error);

/* Ends the program by the signal that told it to, if one did; otherwise this does nothing. */
void          tool_interrupt_end   (void);

G_END_DECLS
