/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "run-options.h"

#include <sbx.h>

G_BEGIN_DECLS

int   tool_outcome_get_status  (SbxExecResult        *result);
char *tool_outcome_get_message (SbxExecResult        *result,
                                const ToolRunOptions *options);

G_END_DECLS
