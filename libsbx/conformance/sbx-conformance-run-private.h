/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "conformance/sbx-conformance-checks-private.h"

G_BEGIN_DECLS

SbxConformancePlan *_sbx_conformance_plan_new  (const char * const  *argv,
                                                const char          *profile,
                                                const char          *workspace,
                                                guint                timeout_ms,
                                                GCancellable        *cancellable);
void                _sbx_conformance_plan_free (SbxConformancePlan  *self);

/* Called in the thread of the checks; takes @check. */
typedef void (*SbxConformanceTellFunc) (SbxConformanceCheck *check,
                                        gpointer             user_data);

/* Goes through the checks of @level, waiting for each: this is what the thread of a run does.
 * %FALSE with %G_IO_ERROR_CANCELLED, or where there is no workspace. */
gboolean            _sbx_conformance_go        (SbxConformancePlan     *plan,
                                                SbxConformanceLevel     level,
                                                SbxConformanceTellFunc  tell,
                                                gpointer                user_data,
                                                GError                **error);

/* A new directory with a small git repository, where there is a git, and without where there is
 * none. */
char               *_sbx_workspace_make        (GCancellable        *cancellable,
                                                GError             **error);
void                _sbx_workspace_remove      (const char          *path);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxConformancePlan, _sbx_conformance_plan_free)

G_END_DECLS
