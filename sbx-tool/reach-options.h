/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <sbx.h>

G_BEGIN_DECLS

#define TOOL_N_LIMITS (SBX_LIMIT_OPEN_FILES + 1)

/* What a sandbox is to reach, as it was asked for. Paths are absolute, and any bytes. */
typedef struct
{
  char       *spec;      /* a file, "-" for standard input, or NULL */
  GStrv       read;
  GStrv       write;
  GStrv       sockets;
  char       *cwd;       /* NULL: the spec's, which is by default the one of base */
  char       *base;      /* what the spec's cwd is relative to */
  SbxGitMode  git_mode;
  guint64     limits[TOOL_N_LIMITS];
} ToolReachOptions;

/* What the options write to while they are parsed, paths as they stand there;
 * tool_reach_options_take() moves it away. */
extern ToolReachOptions tool_reach_parsed;

gboolean        tool_reach_parse_git         (const char              *option_name,
                                              const char              *value,
                                              gpointer                 data,
                                              GError                 **error);
gboolean        tool_reach_parse_limit       (const char              *option_name,
                                              const char              *value,
                                              gpointer                 data,
                                              GError                 **error);

/* The options that all commands have for this; keep the man page in step. */
#define TOOL_REACH_OPTION_ENTRIES(read_text, write_text) \
  { "spec", 0, 0, G_OPTION_ARG_FILENAME, &tool_reach_parsed.spec, \
    N_("Take what the sandbox reaches from FILE, and from the other options besides"), \
    N_("FILE") }, \
  { "read", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &tool_reach_parsed.read, read_text, N_("PATH") }, \
  { "write", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &tool_reach_parsed.write, write_text, \
    N_("PATH") }, \
  { "socket", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &tool_reach_parsed.sockets, \
    N_("Let the command connect to the Unix socket at PATH"), N_("PATH") }, \
  { "git", 0, G_OPTION_FLAG_FILENAME, G_OPTION_ARG_CALLBACK, tool_reach_parse_git, \
    N_("What may be done with git repositories: none, read, commit or full"), N_("MODE") }, \
  { "limit", 0, G_OPTION_FLAG_FILENAME, G_OPTION_ARG_CALLBACK, tool_reach_parse_limit, \
    N_("Limit memory, processes, cpuTime, fileSize or openFiles"), N_("NAME=VALUE") }

/* Which of the options was given, as it is written, or NULL. */
const char     *tool_reach_options_name_used (const ToolReachOptions  *self);

/* Moves what was parsed into @self. What is wrong is told to the user, and FALSE returned. */
gboolean        tool_reach_options_take      (ToolReachOptions        *self);
void            tool_reach_options_clear     (ToolReachOptions        *self);

/* Reads the spec, if there is one, and adds the options to it. */
SbxSandboxSpec *tool_reach_options_make_spec (const ToolReachOptions  *self,
                                              GError                 **error);

/* What resolves it for @provider, the one of the library. */
SbxResolver    *tool_resolver_new            (SbxBwrapProvider        *provider);

G_END_DECLS
