/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-types.h"

G_BEGIN_DECLS

#define SBX_TYPE_REACH (sbx_reach_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxReach, sbx_reach, SBX, REACH, GObject)

SBX_AVAILABLE_IN_1_0
SbxReach           *sbx_reach_new             (const char  *cwd);
SBX_AVAILABLE_IN_1_0
SbxReach           *sbx_reach_copy            (SbxReach    *self);
SBX_AVAILABLE_IN_1_0
const char         *sbx_reach_get_cwd         (SbxReach    *self);
SBX_AVAILABLE_IN_1_0
void                sbx_reach_add_read        (SbxReach    *self,
                                               const char  *path);
SBX_AVAILABLE_IN_1_0
const char * const *sbx_reach_get_read        (SbxReach    *self);
SBX_AVAILABLE_IN_1_0
void                sbx_reach_add_write       (SbxReach    *self,
                                               const char  *path);
SBX_AVAILABLE_IN_1_0
const char * const *sbx_reach_get_write       (SbxReach    *self);
SBX_AVAILABLE_IN_1_0
void                sbx_reach_set_variable    (SbxReach    *self,
                                               const char  *name,
                                               const char  *value);
SBX_AVAILABLE_IN_1_0
const char * const *sbx_reach_get_environment (SbxReach    *self);
SBX_AVAILABLE_IN_1_0
gboolean            sbx_reach_equal           (SbxReach    *self,
                                               SbxReach    *other);
SBX_AVAILABLE_IN_1_0
gboolean            sbx_reach_validate        (SbxReach    *self,
                                               GError     **error);

G_END_DECLS
