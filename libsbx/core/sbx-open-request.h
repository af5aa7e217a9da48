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
SbxOpenRequest *sbx_open_request_new             (SbxReach        *reach);
SBX_AVAILABLE_IN_1_0
SbxOpenRequest *sbx_open_request_new_for_profile (const char      *workspace,
                                                  const char      *profile);
SBX_AVAILABLE_IN_1_0
SbxReach       *sbx_open_request_get_reach       (SbxOpenRequest  *self);
SBX_AVAILABLE_IN_1_0
const char     *sbx_open_request_get_workspace   (SbxOpenRequest  *self);
SBX_AVAILABLE_IN_1_0
const char     *sbx_open_request_get_profile     (SbxOpenRequest  *self);
SBX_AVAILABLE_IN_1_0
void            sbx_open_request_set_cwd         (SbxOpenRequest  *self,
                                                  const char      *cwd);
SBX_AVAILABLE_IN_1_0
const char     *sbx_open_request_get_cwd         (SbxOpenRequest  *self);
SBX_AVAILABLE_IN_1_0
void            sbx_open_request_set_group       (SbxOpenRequest  *self,
                                                  const char      *group);
SBX_AVAILABLE_IN_1_0
const char     *sbx_open_request_get_group       (SbxOpenRequest  *self);
SBX_AVAILABLE_IN_1_0
void            sbx_open_request_set_request_id  (SbxOpenRequest  *self,
                                                  const char      *request_id);
SBX_AVAILABLE_IN_1_0
const char     *sbx_open_request_get_request_id  (SbxOpenRequest  *self);
SBX_AVAILABLE_IN_1_0
void            sbx_open_request_set_tag         (SbxOpenRequest  *self,
                                                  const char      *name,
                                                  const char      *value);
SBX_AVAILABLE_IN_1_0
GHashTable     *sbx_open_request_get_tags        (SbxOpenRequest  *self);

G_END_DECLS
