/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-provider.h"

G_BEGIN_DECLS

#define SBX_TYPE_PROVIDER_SERVER (sbx_provider_server_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxProviderServer, sbx_provider_server, SBX, PROVIDER_SERVER, GObject)

SBX_AVAILABLE_IN_1_0
SbxProviderServer *sbx_provider_server_new                  (SbxProvider          *provider,
                                                             GInputStream         *input,
                                                             GOutputStream        *output);
SBX_AVAILABLE_IN_1_0
SbxProviderServer *sbx_provider_server_new_for_stdio        (SbxProvider          *provider,
                                                             GError              **error);
SBX_AVAILABLE_IN_1_0
SbxProvider       *sbx_provider_server_get_provider         (SbxProviderServer    *self);
SBX_AVAILABLE_IN_1_0
void               sbx_provider_server_set_provider_name    (SbxProviderServer    *self,
                                                             const char           *name);
SBX_AVAILABLE_IN_1_0
const char        *sbx_provider_server_get_provider_name    (SbxProviderServer    *self);
SBX_AVAILABLE_IN_1_0
void               sbx_provider_server_set_max_message_size (SbxProviderServer    *self,
                                                             guint64               bytes);
SBX_AVAILABLE_IN_1_0
guint64            sbx_provider_server_get_max_message_size (SbxProviderServer    *self);
SBX_AVAILABLE_IN_1_0
void               sbx_provider_server_set_max_sessions     (SbxProviderServer    *self,
                                                             guint                 max_sessions);
SBX_AVAILABLE_IN_1_0
guint              sbx_provider_server_get_max_sessions     (SbxProviderServer    *self);
SBX_AVAILABLE_IN_1_0
void               sbx_provider_server_set_max_pending      (SbxProviderServer    *self,
                                                             guint                 max_pending);
SBX_AVAILABLE_IN_1_0
guint              sbx_provider_server_get_max_pending      (SbxProviderServer    *self);
SBX_AVAILABLE_IN_1_0
guint              sbx_provider_server_get_n_sessions       (SbxProviderServer    *self);
SBX_AVAILABLE_IN_1_0
guint              sbx_provider_server_get_n_pending        (SbxProviderServer    *self);
SBX_AVAILABLE_IN_1_0
void               sbx_provider_server_run_async            (SbxProviderServer    *self,
                                                             GCancellable         *cancellable,
                                                             GAsyncReadyCallback   callback,
                                                             gpointer              user_data);
SBX_AVAILABLE_IN_1_0
gboolean           sbx_provider_server_run_finish           (SbxProviderServer    *self,
                                                             GAsyncResult         *result,
                                                             GError              **error);
SBX_AVAILABLE_IN_1_0
gboolean           sbx_provider_server_run                  (SbxProviderServer    *self,
                                                             GCancellable         *cancellable,
                                                             GError              **error);

G_END_DECLS
