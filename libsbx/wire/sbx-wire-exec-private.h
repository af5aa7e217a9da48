/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-exec-result.h"

G_BEGIN_DECLS

/* How a command ended, as it is said on the wire, in a result or in an "exited" event. */
typedef struct
{
  SbxExecOutcome  outcome;
  int             exit_code;
  int             signal_number;
  gboolean        core_dumped;
  SbxNotStarted   not_started;
  int             error_number;
  char           *message;
  GBytes         *stdout_bytes;       /* %NULL where the peer said nothing of it */
  GBytes         *stderr_bytes;
  guint64         stdout_truncated;
  guint64         stderr_truncated;
} SbxWireExecEnd;

void           _sbx_wire_exec_end_clear        (SbxWireExecEnd *self);

/* The names of why a command did not start. One that we do not know is "other". */
const char    *_sbx_wire_not_started_to_name   (SbxNotStarted   kind);
SbxNotStarted  _sbx_wire_not_started_from_name (const char     *name);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxWireExecEnd, _sbx_wire_exec_end_clear)

G_END_DECLS
