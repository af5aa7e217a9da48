/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-provider.h"

G_BEGIN_DECLS

/**
 * SbxProviderClientState:
 * @SBX_PROVIDER_CLIENT_STATE_NEW: the provider was not started yet
 * @SBX_PROVIDER_CLIENT_STATE_STARTING: the provider was started and has not answered yet
 * @SBX_PROVIDER_CLIENT_STATE_READY: the provider takes calls
 * @SBX_PROVIDER_CLIENT_STATE_CLOSING: the provider is being ended
 * @SBX_PROVIDER_CLIENT_STATE_CLOSED: the provider has ended as it was asked to; this is final
 * @SBX_PROVIDER_CLIENT_STATE_BROKEN: the provider ended by itself, or could not be talked to any
 *   more and was ended; this is final
 *
 * Where a client is in its life.
 *
 * A client only ever moves down this list.
 *
 * Since: 1.0
 */
typedef enum /*< enum >*/
{
  SBX_PROVIDER_CLIENT_STATE_NEW,
  SBX_PROVIDER_CLIENT_STATE_STARTING,
  SBX_PROVIDER_CLIENT_STATE_READY,
  SBX_PROVIDER_CLIENT_STATE_CLOSING,
  SBX_PROVIDER_CLIENT_STATE_CLOSED,
  SBX_PROVIDER_CLIENT_STATE_BROKEN,
} SbxProviderClientState;

#define SBX_TYPE_PROVIDER_CLIENT (sbx_provider_client_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxProviderClient, sbx_provider_client, SBX, PROVIDER_CLIENT, GObject)

SBX_AVAILABLE_IN_1_0
SbxProviderClient      *sbx_provider_client_new                  (const char * const   *argv);
SBX_AVAILABLE_IN_1_0
SbxProviderClient      *sbx_provider_client_new_for_program      (const char           *program);
SBX_AVAILABLE_IN_1_0
SbxProviderClient      *sbx_provider_client_new_for_name         (const char           *name,
                                                                  GError              **error);

SBX_AVAILABLE_IN_1_0
const char * const     *sbx_provider_client_get_argv             (SbxProviderClient    *self);
SBX_AVAILABLE_IN_1_0
void                    sbx_provider_client_set_provider_name    (SbxProviderClient    *self,
                                                                  const char           *name);
SBX_AVAILABLE_IN_1_0
const char             *sbx_provider_client_get_provider_name    (SbxProviderClient    *self);
SBX_AVAILABLE_IN_1_0
void                    sbx_provider_client_set_variable         (SbxProviderClient    *self,
                                                                  const char           *name,
                                                                  const char           *value);
SBX_AVAILABLE_IN_1_0
void                    sbx_provider_client_set_max_message_size (SbxProviderClient    *self,
                                                                  guint64               bytes);
SBX_AVAILABLE_IN_1_0
guint64                 sbx_provider_client_get_max_message_size (SbxProviderClient    *self);
SBX_AVAILABLE_IN_1_0
void                    sbx_provider_client_set_open_timeout     (SbxProviderClient    *self,
                                                                  guint                 timeout_ms);
SBX_AVAILABLE_IN_1_0
guint                   sbx_provider_client_get_open_timeout     (SbxProviderClient    *self);
SBX_AVAILABLE_IN_1_0
void                    sbx_provider_client_set_call_timeout     (SbxProviderClient    *self,
                                                                  guint                 timeout_ms);
SBX_AVAILABLE_IN_1_0
guint                   sbx_provider_client_get_call_timeout     (SbxProviderClient    *self);
SBX_AVAILABLE_IN_1_0
void                    sbx_provider_client_set_close_timeout    (SbxProviderClient    *self,
                                                                  guint                 timeout_ms);
SBX_AVAILABLE_IN_1_0
guint                   sbx_provider_client_get_close_timeout    (SbxProviderClient    *self);
SBX_AVAILABLE_IN_1_0
void                    sbx_provider_client_set_grace            (SbxProviderClient    *self,
                                                                  guint                 grace_ms);
SBX_AVAILABLE_IN_1_0
guint                   sbx_provider_client_get_grace            (SbxProviderClient    *self);

SBX_AVAILABLE_IN_1_0
SbxProviderClientState  sbx_provider_client_get_state            (SbxProviderClient    *self);
SBX_AVAILABLE_IN_1_0
const GError           *sbx_provider_client_get_failure          (SbxProviderClient    *self);
SBX_AVAILABLE_IN_1_0
char                  **sbx_provider_client_dup_features         (SbxProviderClient    *self);
SBX_AVAILABLE_IN_1_0
guint                   sbx_provider_client_get_n_in_flight      (SbxProviderClient    *self);
SBX_AVAILABLE_IN_1_0
guint                   sbx_provider_client_get_n_queued         (SbxProviderClient    *self);
SBX_AVAILABLE_IN_1_0
char                  **sbx_provider_client_dup_calls            (SbxProviderClient    *self);
SBX_AVAILABLE_IN_1_0
guint                   sbx_provider_client_get_n_sessions       (SbxProviderClient    *self);
SBX_AVAILABLE_IN_1_0
guint64                 sbx_provider_client_get_n_dropped        (SbxProviderClient    *self);

SBX_AVAILABLE_IN_1_0
void                    sbx_provider_client_start_async          (SbxProviderClient    *self,
                                                                  GCancellable         *cancellable,
                                                                  GAsyncReadyCallback   callback,
                                                                  gpointer              user_data);
SBX_AVAILABLE_IN_1_0
gboolean                sbx_provider_client_start_finish         (SbxProviderClient    *self,
                                                                  GAsyncResult         *result,
                                                                  GError              **error);
SBX_AVAILABLE_IN_1_0
gboolean                sbx_provider_client_start                (SbxProviderClient    *self,
                                                                  GCancellable         *cancellable,
                                                                  GError              **error);
SBX_AVAILABLE_IN_1_0
void                    sbx_provider_client_close_async          (SbxProviderClient    *self,
                                                                  GCancellable         *cancellable,
                                                                  GAsyncReadyCallback   callback,
                                                                  gpointer              user_data);
SBX_AVAILABLE_IN_1_0
gboolean                sbx_provider_client_close_finish         (SbxProviderClient    *self,
                                                                  GAsyncResult         *result,
                                                                  GError              **error);
SBX_AVAILABLE_IN_1_0
gboolean                sbx_provider_client_close                (SbxProviderClient    *self,
                                                                  GCancellable         *cancellable,
                                                                  GError              **error);

G_END_DECLS
