/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

void    tool_input_gather_async  (GCancellable         *cancellable,
                                  GAsyncReadyCallback   callback,
                                  gpointer              user_data);
GBytes *tool_input_gather_finish (GAsyncResult         *result,
                                  GError              **error);

G_END_DECLS
