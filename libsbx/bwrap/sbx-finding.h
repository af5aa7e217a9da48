/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-types.h"

G_BEGIN_DECLS

/**
 * SbxFindingLevel:
 * @SBX_FINDING_LEVEL_GOOD: as it should be
 * @SBX_FINDING_LEVEL_WEAKER: sandboxes can be opened, and something is weaker than it could be
 * @SBX_FINDING_LEVEL_BLOCKING: no sandbox can be opened before this is mended
 *
 * How much a [class@Finding] matters.
 *
 * Since: 1.0
 */
typedef enum /*< enum >*/
{
  SBX_FINDING_LEVEL_GOOD,
  SBX_FINDING_LEVEL_WEAKER,
  SBX_FINDING_LEVEL_BLOCKING,
} SbxFindingLevel;

#define SBX_TYPE_FINDING (sbx_finding_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxFinding, sbx_finding, SBX, FINDING, GObject)

SBX_AVAILABLE_IN_1_0
const char     *sbx_finding_get_id      (SbxFinding *self);
SBX_AVAILABLE_IN_1_0
SbxFindingLevel sbx_finding_get_level   (SbxFinding *self);
SBX_AVAILABLE_IN_1_0
const char     *sbx_finding_get_summary (SbxFinding *self);
SBX_AVAILABLE_IN_1_0
const char     *sbx_finding_get_remedy  (SbxFinding *self);

G_END_DECLS
