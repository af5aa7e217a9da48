/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-capabilities.h"
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
 * @handle_cleanup_group: ends and removes what was opened for a group, by whomever, and answers
 *   with how many sandboxes that were
 * @get_capabilities: what the sessions of this provider can do, as far as that is known before one
 *   is open; left out, it is running commands and the file verbs
 * @check_settings: what the provider makes of settings, the JSON text of an object: the same in the
 *   form in which they are kept and compared, or an error; left out, it takes none
 *
 * What an implementation of [iface@Provider] fills in.
 *
 * Since: 1.0
 */
struct _SbxProviderInterface
{
  GTypeInterface g_iface;

  gboolean        (*handle_open)          (SbxProvider          *self,
                                           SbxOpenRequest       *request,
                                           SbxOpenInvocation    *invocation);
  gboolean        (*handle_cleanup_group) (SbxProvider          *self,
                                           const char           *group,
                                           SbxCleanupInvocation *invocation);
  SbxCapabilities (*get_capabilities)     (SbxProvider          *self);
  char           *(*check_settings)       (SbxProvider          *self,
                                           const char           *settings,
                                           GError              **error);

  /*< private >*/
  gpointer reserved[9];
};

SBX_AVAILABLE_IN_1_0
SbxCapabilities  sbx_provider_get_capabilities     (SbxProvider          *self);
SBX_AVAILABLE_IN_1_0
char            *sbx_provider_check_settings       (SbxProvider          *self,
                                                    const char           *settings,
                                                    GError              **error);
SBX_AVAILABLE_IN_1_0
void             sbx_provider_open_async           (SbxProvider          *self,
                                                    SbxOpenRequest       *request,
                                                    GCancellable         *cancellable,
                                                    GAsyncReadyCallback   callback,
                                                    gpointer              user_data);
SBX_AVAILABLE_IN_1_0
SbxSession      *sbx_provider_open_finish          (SbxProvider          *self,
                                                    GAsyncResult         *result,
                                                    GError              **error);
SBX_AVAILABLE_IN_1_0
SbxSession      *sbx_provider_open                 (SbxProvider          *self,
                                                    SbxOpenRequest       *request,
                                                    GCancellable         *cancellable,
                                                    GError              **error);
SBX_AVAILABLE_IN_1_0
void             sbx_provider_cleanup_group_async  (SbxProvider          *self,
                                                    const char           *group,
                                                    GCancellable         *cancellable,
                                                    GAsyncReadyCallback   callback,
                                                    gpointer              user_data);
SBX_AVAILABLE_IN_1_0
gboolean         sbx_provider_cleanup_group_finish (SbxProvider          *self,
                                                    GAsyncResult         *result,
                                                    guint                *cleaned_count,
                                                    GError              **error);
SBX_AVAILABLE_IN_1_0
gboolean         sbx_provider_cleanup_group        (SbxProvider          *self,
                                                    const char           *group,
                                                    GCancellable         *cancellable,
                                                    guint                *cleaned_count,
                                                    GError              **error);

G_END_DECLS
