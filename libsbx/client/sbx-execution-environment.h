/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "client/sbx-provider-client.h"
#include "core/sbx-open-request.h"
#include "core/sbx-session.h"

G_BEGIN_DECLS

#define SBX_TYPE_EXECUTION_ENVIRONMENT (sbx_execution_environment_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxExecutionEnvironment, sbx_execution_environment, SBX,
                      EXECUTION_ENVIRONMENT, GObject)

SBX_AVAILABLE_IN_1_0
SbxExecutionEnvironment *sbx_execution_environment_new (SbxProviderClient *client,
                                                        SbxSession        *session);
SBX_AVAILABLE_IN_1_0
void                     sbx_execution_environment_open_async (SbxProviderClient   *client,
                                                               SbxOpenRequest      *request,
                                                               GCancellable        *cancellable,
                                                               GAsyncReadyCallback  callback,
                                                               gpointer             user_data);
SBX_AVAILABLE_IN_1_0
SbxExecutionEnvironment *sbx_execution_environment_open_finish (GAsyncResult  *result,
                                                                GError       **error);
SBX_AVAILABLE_IN_1_0
SbxExecutionEnvironment *sbx_execution_environment_open (SbxProviderClient  *client,
                                                         SbxOpenRequest     *request,
                                                         GCancellable       *cancellable,
                                                         GError            **error);
SBX_AVAILABLE_IN_1_0
SbxProviderClient       *sbx_execution_environment_get_client (SbxExecutionEnvironment *self);
SBX_AVAILABLE_IN_1_0
SbxSession              *sbx_execution_environment_get_session (SbxExecutionEnvironment *self);
SBX_AVAILABLE_IN_1_0
const char              *sbx_execution_environment_get_cwd (SbxExecutionEnvironment *self);
SBX_AVAILABLE_IN_1_0
void
sbx_execution_environment_close_async (SbxExecutionEnvironment *self,
                                       GCancellable            *cancellable,
                                       GAsyncReadyCallback      callback,
                                       gpointer                 user_data);
SBX_AVAILABLE_IN_1_0
gboolean                 sbx_execution_environment_close_finish (SbxExecutionEnvironment  *self,
                                                                 GAsyncResult             *result,
                                                                 GError                  **error);
SBX_AVAILABLE_IN_1_0
gboolean                 sbx_execution_environment_close (SbxExecutionEnvironment  *self,
                                                          GCancellable             *cancellable,
                                                          GError                  **error);

G_END_DECLS
