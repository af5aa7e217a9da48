/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-exec-result.h"

G_BEGIN_DECLS

SbxExecResult *_sbx_exec_result_new_exited      (int             exit_code);
SbxExecResult *_sbx_exec_result_new_signalled   (int             signal_number,
                                                 gboolean        core_dumped);
SbxExecResult *_sbx_exec_result_new_timed_out   (void);
SbxExecResult *_sbx_exec_result_new_not_started (SbxNotStarted   reason,
                                                 int             error_number,
                                                 const char     *message);
SbxExecResult *_sbx_exec_result_new_lost        (const char     *message);

/* Completes a result before anybody outside sees it. Takes the bytes. */
void           _sbx_exec_result_take_output     (SbxExecResult  *self,
                                                 GBytes         *stdout_bytes,
                                                 guint64         stdout_truncated,
                                                 GBytes         *stderr_bytes,
                                                 guint64         stderr_truncated);

/* The same for what was refused while it ran: @denials, of SbxDenial, may be %NULL. */
void           _sbx_exec_result_set_denials     (SbxExecResult  *self,
                                                 GListModel     *denials,
                                                 guint64         truncated);

G_END_DECLS
