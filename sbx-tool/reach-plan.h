/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "reach-options.h"

G_BEGIN_DECLS

/* What is wrong with what "check" and "explain" were asked about. */
#define TOOL_STATUS_WRONG 2

/* A provider as the options of "run" would make it. */
extern gboolean tool_plan_toolchain;

#define TOOL_PLAN_OPTION_ENTRIES \
  { "cwd", 0, 0, G_OPTION_ARG_FILENAME, &tool_reach_parsed.cwd, \
    N_("Start in DIRECTORY instead of here"), N_("DIRECTORY") }, \
  { "toolchain", 0, 0, G_OPTION_ARG_NONE, &tool_plan_toolchain, \
    N_("With programs that are installed in your home directory"), NULL }

/* Moves what was parsed into @self. The first of @arguments is the spec, where nothing else says
 * what the sandbox reaches; @n_used tells if it was taken. */
gboolean  tool_plan_take_options (ToolReachOptions        *self,
                                  const char * const      *arguments,
                                  gsize                   *n_used);

/* What opening would enforce; nothing is opened. */
SbxPlan  *tool_plan_make         (const ToolReachOptions  *options,
                                  GError                 **error);

G_END_DECLS
