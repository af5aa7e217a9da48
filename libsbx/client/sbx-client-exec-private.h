/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "client/sbx-client-session-private.h"
#include "core/sbx-exec-invocation.h"
#include "core/sbx-process-private.h"

G_BEGIN_DECLS

/* One command that a provider runs. */
typedef struct
{
  SbxClientCall      call;
  SbxClientSession  *session;
  SbxExecInvocation *invocation;
  char              *process_id;      /* once the provider has told */
  guint64            n_emitted[SBX_N_STREAMS];
  SbxWireExecEnd     end;
  gulong             handlers[3];

  GInputStream      *input;           /* while it is passed on */
  GCancellable      *input_cancellable;
  SbxClientCall     *writing;         /* not owned; a piece of it that is not acknowledged */

  guint              has_end      : 1;
  guint              ended        : 1;    /* and all of it was told */
  guint              paused       : 1;    /* the connection waits for the reader of the output */
  guint              concluding   : 1;    /* and only the reader is waited for; it owns itself */
  guint              detached     : 1;    /* nothing more is heard of it; it owns itself */
  guint              input_begun  : 1;
  guint              unread       : 1;    /* output was left out: no more of it is passed on */
} SbxClientExec;

gboolean _sbx_client_exec_is_over     (SbxClientExec      *self);
void     _sbx_client_exec_unpause     (SbxClientExec      *self);

/* Passes on what the command is to read, piece by piece, as fast as the provider takes it. */
void     _sbx_client_exec_start_input (SbxClientExec      *self);
void     _sbx_client_exec_stop_input  (SbxClientExec      *self);

/* %FALSE when the provider has not told what the process is called. */
gboolean _sbx_client_exec_send_kill   (SbxClientExec      *self,
                                       int                 signal_number);
gboolean _sbx_client_exec_kill_cb     (SbxExecInvocation  *invocation,
                                       int                 signal_number,
                                       SbxClientExec      *self);
gboolean _sbx_client_exec_resize_cb   (SbxExecInvocation  *invocation,
                                       guint               rows,
                                       guint               columns,
                                       SbxClientExec      *self);

G_END_DECLS
