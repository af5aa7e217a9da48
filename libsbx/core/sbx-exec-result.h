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
 * SbxExecOutcome:
 * @SBX_EXEC_OUTCOME_EXITED: the command ended by itself, with an exit code
 * @SBX_EXEC_OUTCOME_SIGNALLED: a signal ended the command
 * @SBX_EXEC_OUTCOME_TIMED_OUT: the command and all that it had started were ended when its time
 *   was over
 * @SBX_EXEC_OUTCOME_NOT_STARTED: the command could not be started; nothing of it ever ran
 * @SBX_EXEC_OUTCOME_LOST: nobody can say how the command ended, because it ended what watched it,
 *   or because the sandbox ended meanwhile; nothing of it is left
 *
 * How an execution ended.
 *
 * Since: 1.0
 */
typedef enum /*< enum >*/
{
  SBX_EXEC_OUTCOME_EXITED,
  SBX_EXEC_OUTCOME_SIGNALLED,
  SBX_EXEC_OUTCOME_TIMED_OUT,
  SBX_EXEC_OUTCOME_NOT_STARTED,
  SBX_EXEC_OUTCOME_LOST,
} SbxExecOutcome;

/**
 * SbxNotStarted:
 * @SBX_NOT_STARTED_OTHER: for a reason that only the message tells
 * @SBX_NOT_STARTED_NOT_FOUND: there is no such program in the sandbox
 * @SBX_NOT_STARTED_NOT_EXECUTABLE: the program is there and cannot be executed
 * @SBX_NOT_STARTED_BAD_CWD: the working directory does not exist in the sandbox, or cannot be
 *   entered
 * @SBX_NOT_STARTED_TOO_LARGE: arguments and environment are more than the kernel takes
 * @SBX_NOT_STARTED_RESOURCES: no process, descriptor, terminal or memory was to be had
 *
 * Why a command could not be started.
 *
 * Since: 1.0
 */
typedef enum /*< enum >*/
{
  SBX_NOT_STARTED_OTHER,
  SBX_NOT_STARTED_NOT_FOUND,
  SBX_NOT_STARTED_NOT_EXECUTABLE,
  SBX_NOT_STARTED_BAD_CWD,
  SBX_NOT_STARTED_TOO_LARGE,
  SBX_NOT_STARTED_RESOURCES,
} SbxNotStarted;

#define SBX_TYPE_EXEC_RESULT (sbx_exec_result_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxExecResult, sbx_exec_result, SBX, EXEC_RESULT, GObject)

SBX_AVAILABLE_IN_1_0
SbxExecOutcome sbx_exec_result_get_outcome          (SbxExecResult *self);
SBX_AVAILABLE_IN_1_0
gboolean       sbx_exec_result_get_success          (SbxExecResult *self);
SBX_AVAILABLE_IN_1_0
int            sbx_exec_result_get_exit_code        (SbxExecResult *self);
SBX_AVAILABLE_IN_1_0
int            sbx_exec_result_get_signal           (SbxExecResult *self);
SBX_AVAILABLE_IN_1_0
gboolean       sbx_exec_result_get_core_dumped      (SbxExecResult *self);
SBX_AVAILABLE_IN_1_0
SbxNotStarted  sbx_exec_result_get_not_started      (SbxExecResult *self);
SBX_AVAILABLE_IN_1_0
int            sbx_exec_result_get_errno            (SbxExecResult *self);
SBX_AVAILABLE_IN_1_0
const char    *sbx_exec_result_get_message          (SbxExecResult *self);
SBX_AVAILABLE_IN_1_0
GBytes        *sbx_exec_result_get_stdout           (SbxExecResult *self);
SBX_AVAILABLE_IN_1_0
GBytes        *sbx_exec_result_get_stderr           (SbxExecResult *self);
SBX_AVAILABLE_IN_1_0
guint64        sbx_exec_result_get_stdout_truncated (SbxExecResult *self);
SBX_AVAILABLE_IN_1_0
guint64        sbx_exec_result_get_stderr_truncated (SbxExecResult *self);
SBX_AVAILABLE_IN_1_0
GListModel    *sbx_exec_result_get_denials          (SbxExecResult *self);
SBX_AVAILABLE_IN_1_0
guint64        sbx_exec_result_get_denials_truncated (SbxExecResult *self);

G_END_DECLS
