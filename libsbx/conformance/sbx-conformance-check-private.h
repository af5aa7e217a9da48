/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "conformance/sbx-conformance-check.h"

G_BEGIN_DECLS

/* @title is a literal. @detail, @sent and @received may be %NULL. The object never changes. */
SbxConformanceCheck *_sbx_conformance_check_new (guint                  number,
                                                 SbxConformanceLevel    level,
                                                 const char            *title,
                                                 SbxConformanceOutcome  outcome,
                                                 const char            *detail,
                                                 GBytes                *sent,
                                                 GBytes                *received);

G_END_DECLS
