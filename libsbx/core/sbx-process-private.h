/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-capabilities.h"
#include "core/sbx-exec-invocation.h"
#include "core/sbx-process-input-private.h"
#include "core/sbx-process-output-private.h"
#include "core/sbx-process.h"

G_BEGIN_DECLS

typedef enum
{
  SBX_STREAM_STDOUT,
  SBX_STREAM_STDERR,
  SBX_N_STREAMS,
} SbxStream;

struct _SbxProcess
{
  GObject            parent_instance;

  SbxSession        *session;
  SbxCommand        *command;
  char              *id;
  SbxProcessState    state;
  SbxExecResult     *result;

  SbxExecInvocation *invocation;      /* not owned: a dropped one is an answer */
  SbxInput           input;
  SbxOutput          outputs[SBX_N_STREAMS];
  SbxTerminal       *terminal;
  GError            *no_input;        /* why there is no standard input */

  GTask             *start_task;      /* until the command has started */
  GPtrArray         *waiters;         /* of owned GTask, until it has ended */
  GSource           *timeout;
  GSource           *drain;

  SbxExecResult     *answer;          /* before the output is complete */
  GListModel        *denials;         /* (nullable) what was refused meanwhile */
  guint64            denials_truncated;
  GError            *failure;         /* why there is none; after the end: why it could not run */
  GQueue             early;           /* of owned output from before the start was told */
  gsize              early_size;
  guint              n_within;        /* frames on the stack that it cannot end below of */
  guint              starting         : 1;    /* within the implementation's function */
  guint              terminal_claimed : 1;
  guint              has_started      : 1;
  guint              cancelled        : 1;
  guint              timed_out        : 1;
  guint              in_background    : 1;    /* started, rather than run */
};

SbxProcess *_sbx_process_new              (SbxSession  *session,
                                           SbxCommand  *command);

/* What an invocation passes on from whoever runs the command. */
void        _sbx_process_started          (SbxProcess  *self,
                                           const char  *id);
SbxOutput  *_sbx_process_get_output       (SbxProcess  *self,
                                           SbxStream    stream);
SbxInput   *_sbx_process_get_input        (SbxProcess  *self);
void        _sbx_process_take_terminal_fd (SbxProcess  *self,
                                           int          fd);

SbxExecInvocation *_sbx_exec_invocation_new     (SbxProcess        *process);
/* Whether the command is to run in the background, and its caller goes on when it has started. */
gboolean           _sbx_exec_invocation_is_background (SbxExecInvocation *self);
/* FALSE when the implementation does not do it. */
gboolean           _sbx_exec_invocation_kill    (SbxExecInvocation *self,
                                                 int                signal_number);
gboolean           _sbx_exec_invocation_resize  (SbxExecInvocation *self,
                                                 guint              rows,
                                                 guint              columns);
void               _sbx_exec_invocation_credit  (SbxExecInvocation *self);
/* The word of whoever runs the command on what it wrote to @stream in all. It takes the place of
 * what was collected, cut at the same limit; nothing of it is emitted. It has to come before the
 * answer. */
void               _sbx_exec_invocation_set_collected (SbxExecInvocation *self,
                                                       SbxStream          stream,
                                                       GBytes            *bytes);
/* What was refused while the command ran, of SbxDenial. It has to come before the answer. */
void               _sbx_exec_invocation_set_denials (SbxExecInvocation *self,
                                                     GListModel        *denials,
                                                     guint64            truncated);
/* The call is over, and the process is no longer needed. */
void               _sbx_exec_invocation_release (SbxExecInvocation *self);

/* Between the files of the class. */
void               _sbx_process_set_state       (SbxProcess        *self,
                                                 SbxProcessState    state);
void               _sbx_process_set_id          (SbxProcess        *self,
                                                 const char        *id);
void               _sbx_process_emit_started    (SbxProcess        *self);
void               _sbx_process_emit_output     (SbxProcess        *self,
                                                 SbxStream          stream,
                                                 GBytes            *bytes);
void               _sbx_process_emit_exited     (SbxProcess        *self);
void               _sbx_process_drop_early      (SbxProcess        *self);
gboolean           _sbx_process_may_start       (SbxProcess        *self,
                                                 SbxCapabilities    needed,
                                                 GError           **error);
void               _sbx_process_begin           (SbxProcess        *self);
/* Whether nothing is heard of it any more, so that nobody can wait for it or end it. */
gboolean           _sbx_process_is_out_of_reach (SbxProcess        *self);
/* Whether somebody still has to say how it ended. */
gboolean           _sbx_process_is_running      (SbxProcess        *self);
/* Whether it cannot end before what is called at this moment has returned. */
gboolean           _sbx_process_is_within       (SbxProcess        *self);
/* The sandbox is gone: what is in the pipes is all that ever will be. */
void               _sbx_process_hurry           (SbxProcess        *self);

G_END_DECLS
