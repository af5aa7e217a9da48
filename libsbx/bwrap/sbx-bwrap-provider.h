/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-plan.h"
#include "core/sbx-provider.h"

G_BEGIN_DECLS

#define SBX_TYPE_BWRAP_PROVIDER (sbx_bwrap_provider_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxBwrapProvider, sbx_bwrap_provider, SBX, BWRAP_PROVIDER, GObject)

SBX_AVAILABLE_IN_1_0
SbxBwrapProvider *sbx_bwrap_provider_new             (void);
SBX_AVAILABLE_IN_1_0
void              sbx_bwrap_provider_set_program     (SbxBwrapProvider     *self,
                                                      const char           *program);
SBX_AVAILABLE_IN_1_0
const char       *sbx_bwrap_provider_get_program     (SbxBwrapProvider     *self);
SBX_AVAILABLE_IN_1_0
void              sbx_bwrap_provider_set_data_dir    (SbxBwrapProvider     *self,
                                                      const char           *data_dir);
SBX_AVAILABLE_IN_1_0
const char       *sbx_bwrap_provider_get_data_dir    (SbxBwrapProvider     *self);
SBX_AVAILABLE_IN_1_0
void              sbx_bwrap_provider_set_toolchain   (SbxBwrapProvider     *self,
                                                      gboolean              toolchain);
SBX_AVAILABLE_IN_1_0
gboolean          sbx_bwrap_provider_get_toolchain   (SbxBwrapProvider     *self);
SBX_AVAILABLE_IN_1_0
void              sbx_bwrap_provider_set_fresh_home  (SbxBwrapProvider     *self,
                                                      gboolean              fresh_home);
SBX_AVAILABLE_IN_1_0
gboolean          sbx_bwrap_provider_get_fresh_home  (SbxBwrapProvider     *self);
SBX_AVAILABLE_IN_1_0
void              sbx_bwrap_provider_diagnose_async  (SbxBwrapProvider     *self,
                                                      GCancellable         *cancellable,
                                                      GAsyncReadyCallback   callback,
                                                      gpointer              user_data);
SBX_AVAILABLE_IN_1_0
GListModel       *sbx_bwrap_provider_diagnose_finish (SbxBwrapProvider     *self,
                                                      GAsyncResult         *result,
                                                      GError              **error);
SBX_AVAILABLE_IN_1_0
GListModel       *sbx_bwrap_provider_diagnose        (SbxBwrapProvider     *self,
                                                      GCancellable         *cancellable,
                                                      GError              **error);
SBX_AVAILABLE_IN_1_0
void              sbx_bwrap_provider_explain_async   (SbxBwrapProvider     *self,
                                                      SbxReach             *reach,
                                                      GCancellable         *cancellable,
                                                      GAsyncReadyCallback   callback,
                                                      gpointer              user_data);
SBX_AVAILABLE_IN_1_0
SbxPlan          *sbx_bwrap_provider_explain_finish  (SbxBwrapProvider     *self,
                                                      GAsyncResult         *result,
                                                      GError              **error);
SBX_AVAILABLE_IN_1_0
SbxPlan          *sbx_bwrap_provider_explain         (SbxBwrapProvider     *self,
                                                      SbxReach             *reach,
                                                      GCancellable         *cancellable,
                                                      GError              **error);
SBX_AVAILABLE_IN_1_0
void              sbx_bwrap_provider_clean_async     (SbxBwrapProvider     *self,
                                                      gboolean              caches,
                                                      GCancellable         *cancellable,
                                                      GAsyncReadyCallback   callback,
                                                      gpointer              user_data);
SBX_AVAILABLE_IN_1_0
char            **sbx_bwrap_provider_clean_finish    (SbxBwrapProvider     *self,
                                                      GAsyncResult         *result,
                                                      GError              **error);
SBX_AVAILABLE_IN_1_0
char            **sbx_bwrap_provider_clean           (SbxBwrapProvider     *self,
                                                      gboolean              caches,
                                                      GCancellable         *cancellable,
                                                      GError              **error);

G_END_DECLS
