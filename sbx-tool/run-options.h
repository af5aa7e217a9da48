/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "reach-options.h"
#include "tool.h"

G_BEGIN_DECLS

typedef enum
{
  TOOL_TTY_AUTO,
  TOOL_TTY_YES,
  TOOL_TTY_NO,
} ToolTty;

/* What was asked of "sbx-tool run". Paths are absolute, and any bytes. */
typedef struct
{
  ToolReachOptions reach;  /* its cwd is NULL only where the spec says it */
  GPtrArray *environment;  /* of "NAME=VALUE" */
  guint      timeout_ms;   /* 0 for none */
  gboolean   toolchain;
  gboolean   fresh;
  gboolean   explain_denials;
  ToolTty    tty;
  char      *json;         /* or NULL */
  char      *provider;          /* the name of one, or NULL */
  char      *provider_command;  /* a command line that starts it, or NULL: found by its name */
  char      *profile;           /* NULL without a provider */
  char      *group;             /* or NULL */
  GStrv      argv;         /* the command, never empty */
} ToolRunOptions;

extern const GOptionEntry tool_run_option_entries[];

ToolRunOptions *tool_run_options_parse (const ToolCommand  *command,
                                        int                 argc,
                                        char              **argv);
void            tool_run_options_free  (ToolRunOptions     *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ToolRunOptions, tool_run_options_free)

G_END_DECLS
