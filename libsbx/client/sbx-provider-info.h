/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-types.h"

G_BEGIN_DECLS

#define SBX_TYPE_PROVIDER_INFO (sbx_provider_info_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxProviderInfo, sbx_provider_info, SBX, PROVIDER_INFO, GObject)

SBX_AVAILABLE_IN_1_0
GListModel         *sbx_provider_info_list            (void);
SBX_AVAILABLE_IN_1_0
SbxProviderInfo    *sbx_provider_info_find            (const char       *name,
                                                       GError          **error);
SBX_AVAILABLE_IN_1_0
const char         *sbx_provider_info_get_name        (SbxProviderInfo  *self);
SBX_AVAILABLE_IN_1_0
const char * const *sbx_provider_info_get_argv        (SbxProviderInfo  *self);
SBX_AVAILABLE_IN_1_0
const char * const *sbx_provider_info_get_environment (SbxProviderInfo  *self);
SBX_AVAILABLE_IN_1_0
const char         *sbx_provider_info_get_origin      (SbxProviderInfo  *self);
SBX_AVAILABLE_IN_1_0
const GError       *sbx_provider_info_get_problem     (SbxProviderInfo  *self);

G_END_DECLS
