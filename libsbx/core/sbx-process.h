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
 * SbxProcessState:
 * @SBX_PROCESS_STATE_NEW: not started yet
 * @SBX_PROCESS_STATE_STARTING: asked to start
 * @SBX_PROCESS_STATE_RUNNING: the command runs
 * @SBX_PROCESS_STATE_ENDED: the command ended, and all that it had started; this is final
 *
 * Where an execution is in its life.
 *
 * A process only ever moves down this list.
 *
 * Since: 1.0
 */
typedef enum /*< enum >*/
{
  SBX_PROCESS_STATE_NEW,
  SBX_PROCESS_STATE_STARTING,
  SBX_PROCESS_STATE_RUNNING,
  SBX_PROCESS_STATE_ENDED,
} SbxProcessState;

#define SBX_TYPE_PROCESS (sbx_process_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxProcess, sbx_process, SBX, PROCESS, GObject)

SBX_AVAILABLE_IN_1_0
SbxSession     *sbx_process_get_session     (SbxProcess           *self);
SBX_AVAILABLE_IN_1_0
SbxCommand     *sbx_process_get_command     (SbxProcess           *self);
SBX_AVAILABLE_IN_1_0
const char     *sbx_process_get_id          (SbxProcess           *self);
SBX_AVAILABLE_IN_1_0
SbxProcessState sbx_process_get_state       (SbxProcess           *self);
SBX_AVAILABLE_IN_1_0
SbxExecResult  *sbx_process_get_result      (SbxProcess           *self);
SBX_AVAILABLE_IN_1_0
GInputStream   *sbx_process_get_stdout_pipe (SbxProcess           *self);
SBX_AVAILABLE_IN_1_0
GInputStream   *sbx_process_get_stderr_pipe (SbxProcess           *self);
SBX_AVAILABLE_IN_1_0
GOutputStream  *sbx_process_get_stdin_pipe  (SbxProcess           *self);
SBX_AVAILABLE_IN_1_0
SbxTerminal    *sbx_process_get_terminal    (SbxProcess           *self);
SBX_AVAILABLE_IN_1_0
void            sbx_process_run_async       (SbxProcess           *self,
                                             GCancellable         *cancellable,
                                             GAsyncReadyCallback   callback,
                                             gpointer              user_data);
SBX_AVAILABLE_IN_1_0
SbxExecResult  *sbx_process_run_finish      (SbxProcess           *self,
                                             GAsyncResult         *result,
                                             GError              **error);
SBX_AVAILABLE_IN_1_0
SbxExecResult  *sbx_process_run             (SbxProcess           *self,
                                             GCancellable         *cancellable,
                                             GError              **error);
SBX_AVAILABLE_IN_1_0
void            sbx_process_start_async     (SbxProcess           *self,
                                             GCancellable         *cancellable,
                                             GAsyncReadyCallback   callback,
                                             gpointer              user_data);
SBX_AVAILABLE_IN_1_0
gboolean        sbx_process_start_finish    (SbxProcess           *self,
                                             GAsyncResult         *result,
                                             GError              **error);
SBX_AVAILABLE_IN_1_0
gboolean        sbx_process_start           (SbxProcess           *self,
                                             GCancellable         *cancellable,
                                             GError              **error);
SBX_AVAILABLE_IN_1_0
void            sbx_process_wait_async      (SbxProcess           *self,
                                             GCancellable         *cancellable,
                                             GAsyncReadyCallback   callback,
                                             gpointer              user_data);
SBX_AVAILABLE_IN_1_0
SbxExecResult  *sbx_process_wait_finish     (SbxProcess           *self,
                                             GAsyncResult         *result,
                                             GError              **error);
SBX_AVAILABLE_IN_1_0
SbxExecResult  *sbx_process_wait            (SbxProcess           *self,
                                             GCancellable         *cancellable,
                                             GError              **error);
SBX_AVAILABLE_IN_1_0
gboolean        sbx_process_kill            (SbxProcess           *self,
                                             int                   signal_number,
                                             GError              **error);

G_END_DECLS
