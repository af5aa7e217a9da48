/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-plan-entry.h"
#include "core/sbx-reach.h"
#include "core/sbx-types.h"

G_BEGIN_DECLS

/**
 * SbxPlanAccess:
 * @SBX_PLAN_ACCESS_NONE: nothing
 * @SBX_PLAN_ACCESS_READ: it can be read, or a directory listed
 * @SBX_PLAN_ACCESS_WRITE: what is in it can be changed; in a directory, things can be made
 * @SBX_PLAN_ACCESS_REPLACE: its name can be made, removed, or given to something else
 * @SBX_PLAN_ACCESS_CONNECT: it is a socket that can be connected to
 *
 * What can be done with a path in a sandbox.
 *
 * Since: 1.0
 */
typedef enum /*< flags >*/
{
  SBX_PLAN_ACCESS_NONE = 0,
  SBX_PLAN_ACCESS_READ = 1 << 0,
  SBX_PLAN_ACCESS_WRITE = 1 << 1,
  SBX_PLAN_ACCESS_REPLACE = 1 << 2,
  SBX_PLAN_ACCESS_CONNECT = 1 << 3,
} SbxPlanAccess;

#define SBX_TYPE_PLAN (sbx_plan_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxPlan, sbx_plan, SBX, PLAN, GObject)

SBX_AVAILABLE_IN_1_0
const char         *sbx_plan_get_cwd         (SbxPlan        *self);
SBX_AVAILABLE_IN_1_0
SbxReach           *sbx_plan_get_reach       (SbxPlan        *self);
SBX_AVAILABLE_IN_1_0
guint64             sbx_plan_get_limit       (SbxPlan        *self,
                                              SbxLimit        limit);
SBX_AVAILABLE_IN_1_0
const char         *sbx_plan_get_limit_means (SbxPlan        *self,
                                              SbxLimit        limit);
SBX_AVAILABLE_IN_1_0
const char * const *sbx_plan_get_problems    (SbxPlan        *self);
SBX_AVAILABLE_IN_1_0
SbxPlanEntry       *sbx_plan_check_path      (SbxPlan        *self,
                                              const char     *path,
                                              SbxPlanAccess  *access);
SBX_AVAILABLE_IN_1_0
SbxPlanEntry       *sbx_plan_check_domain    (SbxPlan        *self,
                                              const char     *domain,
                                              gboolean       *allowed);
SBX_AVAILABLE_IN_1_0
GBytes             *sbx_plan_to_json         (SbxPlan        *self,
                                              GError        **error);

G_END_DECLS
