/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "conformance/sbx-conformance-check.h"

G_BEGIN_DECLS

#define SBX_TYPE_CONFORMANCE (sbx_conformance_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxConformance, sbx_conformance, SBX, CONFORMANCE, GObject)

SBX_AVAILABLE_IN_1_0
SbxConformance      *sbx_conformance_new            (const char * const   *argv);
SBX_AVAILABLE_IN_1_0
GListModel          *sbx_conformance_list_checks    (void);
SBX_AVAILABLE_IN_1_0
void                 sbx_conformance_set_level      (SbxConformance       *self,
                                                     SbxConformanceLevel   level);
SBX_AVAILABLE_IN_1_0
SbxConformanceLevel  sbx_conformance_get_level      (SbxConformance       *self);
SBX_AVAILABLE_IN_1_0
void                 sbx_conformance_set_workspace  (SbxConformance       *self,
                                                     const char           *path);
SBX_AVAILABLE_IN_1_0
const char          *sbx_conformance_get_workspace  (SbxConformance       *self);
SBX_AVAILABLE_IN_1_0
void                 sbx_conformance_set_profile    (SbxConformance       *self,
                                                     const char           *profile);
SBX_AVAILABLE_IN_1_0
const char          *sbx_conformance_get_profile    (SbxConformance       *self);
SBX_AVAILABLE_IN_1_0
void                 sbx_conformance_set_timeout    (SbxConformance       *self,
                                                     guint                 timeout_ms);
SBX_AVAILABLE_IN_1_0
guint                sbx_conformance_get_timeout    (SbxConformance       *self);

SBX_AVAILABLE_IN_1_0
void                 sbx_conformance_run_async      (SbxConformance       *self,
                                                     GCancellable         *cancellable,
                                                     GAsyncReadyCallback   callback,
                                                     gpointer              user_data);
SBX_AVAILABLE_IN_1_0
GListModel          *sbx_conformance_run_finish     (SbxConformance       *self,
                                                     GAsyncResult         *result,
                                                     GError              **error);
SBX_AVAILABLE_IN_1_0
GListModel          *sbx_conformance_run            (SbxConformance       *self,
                                                     GCancellable         *cancellable,
                                                     GError              **error);

G_END_DECLS
