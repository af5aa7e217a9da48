/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <sbx.h>

G_BEGIN_DECLS

/* All of these print; %FALSE where that could not be done. */
gboolean tool_report_check   (SbxConformanceCheck *check);
gboolean tool_report_summary (GListModel          *checks);
gboolean tool_report_json    (GListModel          *checks,
                              SbxConformanceLevel  level);

gboolean tool_report_passed  (GListModel          *checks);

G_END_DECLS
