/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-invocation.h"

G_BEGIN_DECLS

#define SBX_TYPE_CLEANUP_INVOCATION (sbx_cleanup_invocation_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxCleanupInvocation, sbx_cleanup_invocation, SBX, CLEANUP_INVOCATION,
                      SbxInvocation)

SBX_AVAILABLE_IN_1_0
void sbx_cleanup_invocation_return_count (SbxCleanupInvocation *self,
                                          guint                 cleaned_count);

G_END_DECLS
