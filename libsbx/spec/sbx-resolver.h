/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-provider-set.h"
#include "core/sbx-reach.h"
#include "spec/sbx-sandbox-spec.h"

G_BEGIN_DECLS

/**
 * SbxResolveFlags:
 * @SBX_RESOLVE_NONE: a sandbox of its own
 * @SBX_RESOLVE_INLINE: for one agent, or for a whole run: `key` and `cwd` cannot be named
 *
 * How a spec is meant.
 *
 * Since: 1.0
 */
typedef enum /*< flags >*/
{
  SBX_RESOLVE_NONE = 0,
  SBX_RESOLVE_INLINE = 1 << 0,
} SbxResolveFlags;

#define SBX_TYPE_RESOLVER (sbx_resolver_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxResolver, sbx_resolver, SBX, RESOLVER, GObject)

SBX_AVAILABLE_IN_1_0
SbxResolver *sbx_resolver_new                  (SbxProviderSet       *providers);
SBX_AVAILABLE_IN_1_0
void         sbx_resolver_resolve_async        (SbxResolver          *self,
                                                SbxSandboxSpec       *spec,
                                                const char           *cwd,
                                                SbxResolveFlags       flags,
                                                GCancellable         *cancellable,
                                                GAsyncReadyCallback   callback,
                                                gpointer              user_data);
SBX_AVAILABLE_IN_1_0
SbxReach    *sbx_resolver_resolve_finish       (SbxResolver          *self,
                                                GAsyncResult         *result,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
SbxReach    *sbx_resolver_resolve              (SbxResolver          *self,
                                                SbxSandboxSpec       *spec,
                                                const char           *cwd,
                                                SbxResolveFlags       flags,
                                                GCancellable         *cancellable,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
void         sbx_resolver_resolve_reach_async  (SbxResolver          *self,
                                                SbxReach             *reach,
                                                GCancellable         *cancellable,
                                                GAsyncReadyCallback   callback,
                                                gpointer              user_data);
SBX_AVAILABLE_IN_1_0
SbxReach    *sbx_resolver_resolve_reach_finish (SbxResolver          *self,
                                                GAsyncResult         *result,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
SbxReach    *sbx_resolver_resolve_reach        (SbxResolver          *self,
                                                SbxReach             *reach,
                                                GCancellable         *cancellable,
                                                GError              **error);

G_END_DECLS
