/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/*
 * Exit statuses that are the tool's own. 126 and 127 are what shells use, 124 is what timeout(1)
 * uses, and 125 is what env(1), timeout(1) and container tools use for "I failed, not the command".
 */
#define TOOL_STATUS_TIMED_OUT 124
#define TOOL_STATUS_FAILED 125
#define TOOL_STATUS_NOT_EXECUTABLE 126
#define TOOL_STATUS_NOT_FOUND 127
#define TOOL_STATUS_SIGNAL 128

typedef struct _ToolCommand ToolCommand;

/* One subcommand. Keep the man page in step: the completion script asks the tool for this table. */
struct _ToolCommand
{
  const char         *name;
  const char         *arguments;    /* what stands behind the options, or NULL; translatable */
  const char         *summary;      /* translatable */
  const char         *description;  /* what --help adds at its end, or NULL; translatable */
  const GOptionEntry *options;
  gboolean            mixed;        /* options may stand behind arguments, too */
  int               (*run) (const ToolCommand  *self,
                            int                 argc,
                            char              **argv);
};

extern const ToolCommand tool_command_check;
extern const ToolCommand tool_command_clean;
extern const ToolCommand tool_command_cleanup;
extern const ToolCommand tool_command_complete;
extern const ToolCommand tool_command_conformance;
extern const ToolCommand tool_command_doctor;
extern const ToolCommand tool_command_explain;
extern const ToolCommand tool_command_providers;
extern const ToolCommand tool_command_record;
extern const ToolCommand tool_command_replay;
extern const ToolCommand tool_command_run;

const ToolCommand * const *tool_get_commands (void);
const ToolCommand         *tool_find_command (const char           *name);
gboolean                   tool_parse        (const ToolCommand    *command,
                                              int                   argc,
                                              char               ***argv);

G_END_DECLS
