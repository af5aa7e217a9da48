/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-invocation.h"

G_BEGIN_DECLS

#define SBX_TYPE_OPEN_INVOCATION (sbx_open_invocation_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxOpenInvocation, sbx_open_invocation, SBX, OPEN_INVOCATION, SbxInvocation)

SBX_AVAILABLE_IN_1_0
void sbx_open_invocation_return_session (SbxOpenInvocation *self,
                                         SbxSession        *session);

G_END_DECLS
