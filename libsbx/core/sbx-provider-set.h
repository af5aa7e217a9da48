/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-provider.h"

G_BEGIN_DECLS

#define SBX_TYPE_PROVIDER_SET (sbx_provider_set_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxProviderSet, sbx_provider_set, SBX, PROVIDER_SET, GObject)

SBX_AVAILABLE_IN_1_0
SbxProviderSet  *sbx_provider_set_new              (void);
SBX_AVAILABLE_IN_1_0
void             sbx_provider_set_add              (SbxProviderSet  *self,
                                                    const char      *key,
                                                    SbxProvider     *provider);
SBX_AVAILABLE_IN_1_0
void             sbx_provider_set_add_unavailable  (SbxProviderSet  *self,
                                                    const char      *key,
                                                    const char      *reason);
SBX_AVAILABLE_IN_1_0
void             sbx_provider_set_set_default      (SbxProviderSet  *self,
                                                    const char      *key);
SBX_AVAILABLE_IN_1_0
const char      *sbx_provider_set_get_default      (SbxProviderSet  *self);
SBX_AVAILABLE_IN_1_0
char           **sbx_provider_set_list_keys        (SbxProviderSet  *self);
SBX_AVAILABLE_IN_1_0
gboolean         sbx_provider_set_has_key          (SbxProviderSet  *self,
                                                    const char      *key);
SBX_AVAILABLE_IN_1_0
SbxProvider     *sbx_provider_set_lookup           (SbxProviderSet  *self,
                                                    const char      *key,
                                                    GError         **error);

G_END_DECLS
