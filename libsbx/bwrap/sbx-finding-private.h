/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "bwrap/sbx-finding.h"

G_BEGIN_DECLS

SbxFinding *_sbx_finding_new (const char      *id,
                              SbxFindingLevel  level,
                              const char      *summary,
                              const char      *remedy);

G_END_DECLS
