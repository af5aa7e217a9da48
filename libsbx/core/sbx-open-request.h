/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-types.h"

G_BEGIN_DECLS

#define SBX_TYPE_OPEN_REQUEST (sbx_open_request_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxOpenRequest, sbx_open_request, SBX, OPEN_REQUEST, GObject)

SBX_AVAILABLE_IN_1_0
SbxOpenRequest *sbx_open_request_new       (SbxReach       *reach);
SBX_AVAILABLE_IN_1_0
SbxReach       *sbx_open_request_get_reach (SbxOpenRequest *self);

G_END_DECLS
