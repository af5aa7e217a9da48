/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "run-options.h"

#include <sbx.h>

G_BEGIN_DECLS

SbxProvider    *tool_provider_new         (const ToolRunOptions  *options,
                                           GError               **error);
SbxOpenRequest *tool_provider_make_request (const ToolRunOptions  *options,
                                            SbxReach              *reach);
void            tool_provider_set_variables (const ToolRunOptions  *options,
                                             SbxCommand            *command);
void            tool_provider_log_cb      (SbxProviderClient     *client,
                                           const char            *source,
                                           const char            *message,
                                           gpointer               user_data);

G_END_DECLS
