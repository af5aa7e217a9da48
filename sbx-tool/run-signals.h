/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Called from the main loop for each signal that came. */
typedef void (*ToolSignalFunc) (int      signal_number,
                                gpointer user_data);

gboolean tool_signals_watch (ToolSignalFunc  func,
                             gpointer        user_data,
                             GError        **error);

G_END_DECLS
