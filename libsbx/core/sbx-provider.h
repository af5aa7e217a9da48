/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-types.h"

G_BEGIN_DECLS

#define SBX_TYPE_PROVIDER (sbx_provider_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_INTERFACE (SbxProvider, sbx_provider, SBX, PROVIDER, GObject)

/**
 * SbxProviderInterface:
 * @g_iface: the parent interface
 * @handle_open: opens a sandbox and answers the invocation, now or later. %TRUE means that the
 *   invocation was answered or will be; %FALSE has it answered with an error there and then
 *
 * What an implementation of [iface@Provider] fills in.
 *
 * Since: 1.0
 */
struct _SbxProviderInterface
{
  GTypeInterface g_iface;

  gboolean (*handle_open) (SbxProvider       *self,
                           SbxOpenRequest    *request,
                           SbxOpenInvocation *invocation);

  /*< private >*/
  gpointer reserved[12];
};

SBX_AVAILABLE_IN_1_0
void        sbx_provider_open_async  (SbxProvider          *self,
                                      SbxOpenRequest       *request,
                                      GCancellable         *cancellable,
                                      GAsyncReadyCallback   callback,
                                      gpointer              user_data);
SBX_AVAILABLE_IN_1_0
SbxSession *sbx_provider_open_finish (SbxProvider          *self,
                                      GAsyncResult         *result,
                                      GError              **error);
SBX_AVAILABLE_IN_1_0
SbxSession *sbx_provider_open        (SbxProvider          *self,
                                      SbxOpenRequest       *request,
                                      GCancellable         *cancellable,
                                      GError              **error);

G_END_DECLS
