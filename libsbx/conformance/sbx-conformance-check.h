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
 * SbxConformanceLevel:
 * @SBX_CONFORMANCE_LEVEL_ALL: everything that the provider advertises
 * @SBX_CONFORMANCE_LEVEL_PLAIN: `sandbox.v1` itself
 * @SBX_CONFORMANCE_LEVEL_MULTIPLEX: the feature `multiplex`
 * @SBX_CONFORMANCE_LEVEL_CANCEL: the feature `cancel`
 * @SBX_CONFORMANCE_LEVEL_PROCESS: the feature `process`
 * @SBX_CONFORMANCE_LEVEL_STDIN: the feature `stdin`
 * @SBX_CONFORMANCE_LEVEL_PTY: the feature `pty`
 * @SBX_CONFORMANCE_LEVEL_SIGNALS: the feature `signals`
 * @SBX_CONFORMANCE_LEVEL_TIMEOUT: the feature `timeout`
 * @SBX_CONFORMANCE_LEVEL_QUIET_RESULT: the feature `quiet-result`
 * @SBX_CONFORMANCE_LEVEL_RANGES: the feature `ranges`
 * @SBX_CONFORMANCE_LEVEL_FILES: the feature `files`
 * @SBX_CONFORMANCE_LEVEL_ROBUSTNESS: what a provider has to stand from a client gone wrong
 *
 * What a [class@Conformance] run checks.
 *
 * Since: 1.0
 */
typedef enum /*< enum >*/
{
  SBX_CONFORMANCE_LEVEL_ALL,
  SBX_CONFORMANCE_LEVEL_PLAIN,
  SBX_CONFORMANCE_LEVEL_MULTIPLEX,
  SBX_CONFORMANCE_LEVEL_CANCEL,
  SBX_CONFORMANCE_LEVEL_PROCESS,
  SBX_CONFORMANCE_LEVEL_STDIN,
  SBX_CONFORMANCE_LEVEL_PTY,
  SBX_CONFORMANCE_LEVEL_SIGNALS,
  SBX_CONFORMANCE_LEVEL_TIMEOUT,
  SBX_CONFORMANCE_LEVEL_QUIET_RESULT,
  SBX_CONFORMANCE_LEVEL_RANGES,
  SBX_CONFORMANCE_LEVEL_FILES,
  SBX_CONFORMANCE_LEVEL_ROBUSTNESS,
} SbxConformanceLevel;

/**
 * SbxConformanceOutcome:
 * @SBX_CONFORMANCE_OUTCOME_PENDING: the check was not made yet
 * @SBX_CONFORMANCE_OUTCOME_PASSED: the provider does what is expected
 * @SBX_CONFORMANCE_OUTCOME_FAILED: the provider does something else
 * @SBX_CONFORMANCE_OUTCOME_SKIPPED: the check does not apply, or cannot be made from here
 *
 * How a [class@ConformanceCheck] went.
 *
 * Since: 1.0
 */
typedef enum /*< enum >*/
{
  SBX_CONFORMANCE_OUTCOME_PENDING,
  SBX_CONFORMANCE_OUTCOME_PASSED,
  SBX_CONFORMANCE_OUTCOME_FAILED,
  SBX_CONFORMANCE_OUTCOME_SKIPPED,
} SbxConformanceOutcome;

#define SBX_TYPE_CONFORMANCE_CHECK (sbx_conformance_check_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxConformanceCheck, sbx_conformance_check, SBX, CONFORMANCE_CHECK, GObject)

SBX_AVAILABLE_IN_1_0
const char            *sbx_conformance_level_to_string    (SbxConformanceLevel   level);
SBX_AVAILABLE_IN_1_0
gboolean               sbx_conformance_level_parse        (const char           *name,
                                                           SbxConformanceLevel  *level);

SBX_AVAILABLE_IN_1_0
guint                  sbx_conformance_check_get_number   (SbxConformanceCheck  *self);
SBX_AVAILABLE_IN_1_0
SbxConformanceLevel    sbx_conformance_check_get_level    (SbxConformanceCheck  *self);
SBX_AVAILABLE_IN_1_0
const char            *sbx_conformance_check_get_title    (SbxConformanceCheck  *self);
SBX_AVAILABLE_IN_1_0
SbxConformanceOutcome  sbx_conformance_check_get_outcome  (SbxConformanceCheck  *self);
SBX_AVAILABLE_IN_1_0
const char            *sbx_conformance_check_get_detail   (SbxConformanceCheck  *self);
SBX_AVAILABLE_IN_1_0
GBytes                *sbx_conformance_check_get_sent     (SbxConformanceCheck  *self);
SBX_AVAILABLE_IN_1_0
GBytes                *sbx_conformance_check_get_received (SbxConformanceCheck  *self);

G_END_DECLS
