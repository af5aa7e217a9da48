/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-types.h"

G_BEGIN_DECLS

#define SBX_TYPE_DENIAL (sbx_denial_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxDenial, sbx_denial, SBX, DENIAL, GObject)

SBX_AVAILABLE_IN_1_0
const char *sbx_denial_get_field      (SbxDenial *self);
SBX_AVAILABLE_IN_1_0
const char *sbx_denial_get_path       (SbxDenial *self);
SBX_AVAILABLE_IN_1_0
const char *sbx_denial_get_text       (SbxDenial *self);
SBX_AVAILABLE_IN_1_0
const char *sbx_denial_get_suggestion (SbxDenial *self);

G_END_DECLS
