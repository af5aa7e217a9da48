/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "bwrap/sbx-bwrap-limits-private.h"
#include "bwrap/sbx-bwrap-plan-private.h"
#include "core/sbx-plan-private.h"

G_BEGIN_DECLS

/* The public form of a plan: the same mounts in the same order. @reach, which is resolved, tells
 * which line asked for what. Blocks: it looks at the disk. */
SbxPlan *_sbx_bwrap_plan_show        (SbxBwrapPlan         *plan,
                                      SbxReach             *reach);

/* Adds what is in force of @limits, which may be %NULL. */
void     _sbx_bwrap_plan_show_limits (SbxPlan              *self,
                                      const SbxBwrapLimits *limits);

G_END_DECLS
