/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-exec-result.h"
#include "core/sbx-invocation.h"

G_BEGIN_DECLS

#define SBX_TYPE_EXEC_INVOCATION (sbx_exec_invocation_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxExecInvocation, sbx_exec_invocation, SBX, EXEC_INVOCATION, SbxInvocation)

SBX_AVAILABLE_IN_1_0
SbxCommand   *sbx_exec_invocation_get_command        (SbxExecInvocation *self);
SBX_AVAILABLE_IN_1_0
void          sbx_exec_invocation_started            (SbxExecInvocation *self,
                                                      const char        *process_id);
SBX_AVAILABLE_IN_1_0
void          sbx_exec_invocation_emit_stdout        (SbxExecInvocation *self,
                                                      GBytes            *bytes);
SBX_AVAILABLE_IN_1_0
void          sbx_exec_invocation_emit_stderr        (SbxExecInvocation *self,
                                                      GBytes            *bytes);
SBX_AVAILABLE_IN_1_0
gint64        sbx_exec_invocation_get_credit         (SbxExecInvocation *self);
SBX_AVAILABLE_IN_1_0
GInputStream *sbx_exec_invocation_get_stdin          (SbxExecInvocation *self);
SBX_AVAILABLE_IN_1_0
int           sbx_exec_invocation_steal_stdin_fd     (SbxExecInvocation *self);
SBX_AVAILABLE_IN_1_0
int           sbx_exec_invocation_steal_stdout_fd    (SbxExecInvocation *self);
SBX_AVAILABLE_IN_1_0
int           sbx_exec_invocation_steal_stderr_fd    (SbxExecInvocation *self);
SBX_AVAILABLE_IN_1_0
void          sbx_exec_invocation_take_terminal_fd   (SbxExecInvocation *self,
                                                      int                fd);
SBX_AVAILABLE_IN_1_0
void          sbx_exec_invocation_return_exited      (SbxExecInvocation *self,
                                                      int                exit_code);
SBX_AVAILABLE_IN_1_0
void          sbx_exec_invocation_return_signalled   (SbxExecInvocation *self,
                                                      int                signal_number,
                                                      gboolean           core_dumped);
SBX_AVAILABLE_IN_1_0
void          sbx_exec_invocation_return_not_started (SbxExecInvocation *self,
                                                      SbxNotStarted      reason,
                                                      int                error_number,
                                                      const char        *message);
SBX_AVAILABLE_IN_1_0
void          sbx_exec_invocation_return_lost        (SbxExecInvocation *self,
                                                      const char        *message);

G_END_DECLS
