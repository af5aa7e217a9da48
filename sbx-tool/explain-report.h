/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <sbx.h>

G_BEGIN_DECLS

/* One thing that was asked about a plan. */
typedef struct
{
  char     *text;        /* as it was given */
  char     *path;        /* absolute, or NULL: it is a domain */
} ToolQuestion;

ToolQuestion *tool_question_new  (const char    *text,
                                  const char    *path);
void          tool_question_free (ToolQuestion  *self);

/* All of these print; %FALSE where that could not be done. */
gboolean tool_explain_plan    (SbxPlan    *plan);
gboolean tool_explain_answers (SbxPlan    *plan,
                               GPtrArray  *questions);
gboolean tool_explain_json    (SbxPlan    *plan,
                               GPtrArray  *questions);

G_END_DECLS
