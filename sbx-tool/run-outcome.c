/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "run-outcome.h"

#include "tool-text.h"

#include <glib/gi18n.h>

/* What a result is as an exit status. It says less than the result does: the record has it all. */
int
tool_outcome_get_status (SbxExecResult *result)
{
  switch (sbx_exec_result_get_outcome (result))
    {
    case SBX_EXEC_OUTCOME_EXITED:
      return sbx_exec_result_get_exit_code (result);

    case SBX_EXEC_OUTCOME_SIGNALLED:
      return TOOL_STATUS_SIGNAL + sbx_exec_result_get_signal (result);

    case SBX_EXEC_OUTCOME_TIMED_OUT:
      return TOOL_STATUS_TIMED_OUT;

    case SBX_EXEC_OUTCOME_NOT_STARTED:
      if (sbx_exec_result_get_not_started (result) == SBX_NOT_STARTED_NOT_FOUND)
        return TOOL_STATUS_NOT_FOUND;
      if (sbx_exec_result_get_not_started (result) == SBX_NOT_STARTED_BAD_CWD)
        return TOOL_STATUS_FAILED;
      return TOOL_STATUS_NOT_EXECUTABLE;

    case SBX_EXEC_OUTCOME_LOST:
    default:
      return TOOL_STATUS_FAILED;
    }
}

/* What the user is told, or NULL: a command that ended by itself has said what it had to say. */
char *
tool_outcome_get_message (SbxExecResult        *result,
                          const ToolRunOptions *options)
{
  const char *message = sbx_exec_result_get_message (result);

  switch (sbx_exec_result_get_outcome (result))
    {
    case SBX_EXEC_OUTCOME_TIMED_OUT:
      return g_strdup_printf (_("%s: its time of %.10g s was over (--timeout), and it was ended"),
                              options->argv[0], options->timeout_ms / 1000.0);

    case SBX_EXEC_OUTCOME_NOT_STARTED:
    case SBX_EXEC_OUTCOME_LOST:
      if (message != NULL)
        return g_strdup (message);
      return g_strdup_printf (_("%s: nobody can say what became of it"), options->argv[0]);

    case SBX_EXEC_OUTCOME_EXITED:
    case SBX_EXEC_OUTCOME_SIGNALLED:
    default:
      return NULL;
    }
}
