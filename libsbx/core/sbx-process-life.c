/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-process-private.h"

#include "core/sbx-command.h"
#include "core/sbx-error.h"
#include "core/sbx-exec-result-private.h"
#include "core/sbx-invocation-private.h"
#include "core/sbx-session-private.h"
#include "core/sbx-source-private.h"
#include "core/sbx-sync-private.h"
#include "core/sbx-terminal-private.h"

#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <unistd.h>

/*
 * The life of a process, from the start to the one place where it ends: an invocation asks the
 * session's class to run the command; its answer says how the command ended; what is left in the
 * pipes is delivered; and then everybody who waits is told.
 */

#define END_GRACE_MS 5000
#define DRAIN_MS 1000

/* How much output may come before its start is told. */
#define MAX_EARLY_BYTES (256 * 1024)

typedef struct
{
  SbxStream  stream;
  GBytes    *bytes;
} EarlyOutput;

static void sbx_process_complete (SbxProcess *self);

static void
early_output_free (gpointer data)
{
  EarlyOutput *early = data;

  g_bytes_unref (early->bytes);
  g_free (early);
}

void
_sbx_process_drop_early (SbxProcess *self)
{
  g_queue_clear_full (&self->early, early_output_free);
  self->early_size = 0;
}

gboolean
_sbx_process_is_running (SbxProcess *self)
{
  return self->invocation != NULL &&
         !sbx_invocation_is_answered (SBX_INVOCATION (self->invocation));
}

gboolean
_sbx_process_is_out_of_reach (SbxProcess *self)
{
  return self->in_background && self->state != SBX_PROCESS_STATE_ENDED &&
         !(sbx_session_get_capabilities (self->session) & SBX_CAPABILITIES_SPAWN);
}

gboolean
_sbx_process_is_within (SbxProcess *self)
{
  return self->n_within > 0;
}

/* That a command runs and what it writes can be told by two descriptors, in any order. Whoever
 * listens is told of the start first. */
static void
output_cb (SbxOutput *output,
           GBytes    *bytes,
           gpointer   user_data)
{
  SbxProcess *self = user_data;
  const SbxStream stream = output == &self->outputs[SBX_STREAM_STDOUT] ? SBX_STREAM_STDOUT
                                                                       : SBX_STREAM_STDERR;
  EarlyOutput *early;

  if (self->has_started && g_queue_is_empty (&self->early))
    {
      _sbx_process_emit_output (self, stream, bytes);
      return;
    }

  early = g_new0 (EarlyOutput, 1);
  early->stream = stream;
  early->bytes = g_bytes_ref (bytes);
  g_queue_push_tail (&self->early, early);
  self->early_size += g_bytes_get_size (bytes);

  /* Nobody will tell, or nobody has for too long. */
  if (!_sbx_process_is_running (self) || self->early_size > MAX_EARLY_BYTES)
    _sbx_process_started (self, NULL);
}

static void
sbx_process_emit_early (SbxProcess *self)
{
  EarlyOutput *early;

  /* It stays in the queue meanwhile: what comes from within a handler comes after it. */
  while ((early = g_queue_peek_head (&self->early)) != NULL)
    {
      g_autoptr(GBytes) bytes = g_bytes_ref (early->bytes);

      if (self->outputs[early->stream].pipe != NULL)
        _sbx_output_push (&self->outputs[early->stream], bytes);
      else
        _sbx_process_emit_output (self, early->stream, bytes);

      if (g_queue_peek_head (&self->early) == early)
        early_output_free (g_queue_pop_head (&self->early));
    }

  self->early_size = 0;
}

static gboolean
sbx_process_is_drained (SbxProcess *self)
{
  for (guint i = 0; i < SBX_N_STREAMS; i++)
    if (self->outputs[i].pipe == NULL && !_sbx_output_is_drained (&self->outputs[i]))
      return FALSE;

  return TRUE;
}

/* An output ended, or has room again. */
static void
output_changed_cb (SbxOutput *output,
                   gpointer   user_data)
{
  SbxProcess *self = user_data;

  if (self->state != SBX_PROCESS_STATE_ENDED && self->drain != NULL &&
      sbx_process_is_drained (self))
    sbx_process_complete (self);
  else if (self->invocation != NULL && output->pipe != NULL)
    _sbx_exec_invocation_credit (self->invocation);
}

SbxProcess *
_sbx_process_new (SbxSession *session,
                  SbxCommand *command)
{
  SbxProcess *self = g_object_new (SBX_TYPE_PROCESS, NULL);
  GMainContext *context = _sbx_session_get_context (session);

  self->session = g_object_ref (session);
  self->command = sbx_command_copy (command);

  for (guint i = 0; i < SBX_N_STREAMS; i++)
    _sbx_output_init (&self->outputs[i], G_OBJECT (self), context,
                      sbx_command_get_collect_limit (command), output_cb, output_changed_cb, self);

  /* What a terminal reads may have to be passed on, where there is no pseudo-terminal of ours. */
  _sbx_input_init (&self->input, context,
                   sbx_command_get_terminal (command) ? SBX_STDIN_PIPE
                                                      : sbx_command_get_stdin (command),
                   sbx_command_get_stdin_bytes (command), &self->no_input);

  if (sbx_command_get_terminal (command))
    self->terminal = _sbx_terminal_new (sbx_command_get_rows (command),
                                        sbx_command_get_columns (command));

  return self;
}

static gboolean
resize_cb (guint    rows,
           guint    columns,
           gpointer user_data)
{
  SbxProcess *self = user_data;
  g_autoptr(SbxExecInvocation) invocation = NULL;

  if (!_sbx_process_is_running (self))
    return TRUE;

  invocation = g_object_ref (self->invocation);

  return _sbx_exec_invocation_resize (invocation, rows, columns);
}

void
_sbx_process_take_terminal_fd (SbxProcess *self,
                               int         fd)
{
  int reading = -1;

  if (self->terminal == NULL || _sbx_terminal_has_fd (self->terminal))
    {
      close (fd);
      return;
    }

  _sbx_input_clear (&self->input);

  /* Nobody asked for the terminal: its output is the standard output. */
  if (!self->terminal_claimed)
    reading = fcntl (fd, F_DUPFD_CLOEXEC, 3);

  _sbx_terminal_take_fd (self->terminal, fd, self->terminal_claimed);
  if (reading >= 0)
    _sbx_output_take_fd (&self->outputs[SBX_STREAM_STDOUT], reading);
}

static void
sbx_process_return_started (SbxProcess *self)
{
  g_autoptr(GTask) task = NULL;

  /* Nobody is called back before the call has returned, nor, where it was cancelled, before all has
   * ended. */
  if (self->starting || self->cancelled || self->start_task == NULL)
    return;

  task = g_steal_pointer (&self->start_task);
  g_task_return_boolean (task, TRUE);
}

void
_sbx_process_started (SbxProcess *self,
                      const char *id)
{
  g_autoptr(SbxProcess) keep G_GNUC_UNUSED = g_object_ref (self);

  if (self->state == SBX_PROCESS_STATE_ENDED)
    return;

  _sbx_process_set_id (self, id);
  if (self->has_started)
    return;

  self->has_started = TRUE;
  if (self->terminal != NULL && !_sbx_terminal_has_fd (self->terminal))
    _sbx_terminal_set_pipes (self->terminal,
                             self->terminal_claimed
                               ? _sbx_output_get_pipe (&self->outputs[SBX_STREAM_STDOUT]) : NULL,
                             self->input.pipe, resize_cb, self);

  _sbx_process_set_state (self, SBX_PROCESS_STATE_RUNNING);
  _sbx_process_emit_started (self);
  sbx_process_emit_early (self);
  sbx_process_return_started (self);
}

static gboolean
has_outcome (SbxExecResult  *answer,
             SbxExecOutcome  outcome)
{
  return answer != NULL && sbx_exec_result_get_outcome (answer) == outcome;
}

static gboolean
is_final (const GError *failure)
{
  return g_error_matches (failure, SBX_ERROR, SBX_ERROR_LOST) ||
         g_error_matches (failure, SBX_ERROR, SBX_ERROR_CLOSED) ||
         g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* What the result is, now that the output is complete. Who ran the command may have to be told
 * something else, which is @error. */
static SbxExecResult *
sbx_process_judge (SbxProcess  *self,
                   GError     **error)
{
  g_autoptr(SbxExecResult) answer = g_steal_pointer (&self->answer);
  g_autoptr(GError) failure = g_steal_pointer (&self->failure);

  /* Whatever was asked of it meanwhile, this is what it did by itself. */
  if (has_outcome (answer, SBX_EXEC_OUTCOME_EXITED) ||
      (has_outcome (answer, SBX_EXEC_OUTCOME_NOT_STARTED) && !self->cancelled))
    return g_steal_pointer (&answer);

  if (self->timed_out)
    return _sbx_exec_result_new_timed_out ();

  if (self->cancelled)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED,
                         _("The command was cancelled, and ended"));

  if (answer != NULL)
    return g_steal_pointer (&answer);

  if (self->cancelled)
    return _sbx_exec_result_new_lost (_("The command was cancelled"));

  /* Where the sandbox went away under the command that is how it ended, not a failure to run it.
   * All else everybody is told, also who asks later. */
  if (!is_final (failure))
    {
      self->failure = g_error_copy (failure);
      g_propagate_error (error, g_error_copy (failure));
    }

  return _sbx_exec_result_new_lost (failure->message);
}

static void
return_start (SbxProcess   *self,
              const GError *error)
{
  g_autoptr(GTask) task = g_steal_pointer (&self->start_task);
  const SbxExecOutcome outcome = sbx_exec_result_get_outcome (self->result);
  SbxError code = SBX_ERROR_FAILED;

  if (task == NULL)
    return;

  if (error != NULL)
    {
      g_task_return_error (task, g_error_copy (error));
      return;
    }

  if (outcome != SBX_EXEC_OUTCOME_NOT_STARTED &&
      (outcome != SBX_EXEC_OUTCOME_LOST || self->has_started))
    {
      g_task_return_boolean (task, TRUE);
      return;
    }

  if (outcome == SBX_EXEC_OUTCOME_LOST)
    code = SBX_ERROR_LOST;
  else if (sbx_exec_result_get_not_started (self->result) == SBX_NOT_STARTED_NOT_FOUND)
    code = SBX_ERROR_NOT_FOUND;

  g_task_return_new_error (task, SBX_ERROR, code, "%s",
                           sbx_exec_result_get_message (self->result));
}

/* Whoever only waits did not cancel, and is told how the process ended. */
static void
return_end (SbxProcess   *self,
            GTask        *task,
            const GError *run_error)
{
  const GError *error =
    g_task_get_source_tag (task) == sbx_process_run_async ? run_error : self->failure;

  if (error != NULL)
    g_task_return_error (task, g_error_copy (error));
  else
    g_task_return_pointer (task, g_object_ref (self->result), g_object_unref);
}

static void
sbx_process_complete (SbxProcess *self)
{
  g_autoptr(SbxProcess) keep G_GNUC_UNUSED = g_object_ref (self);
  g_autoptr(GPtrArray) waiters = NULL;
  g_autoptr(GError) error = NULL;
  SbxOutput *outputs = self->outputs;

  _sbx_clear_source (&self->timeout);
  _sbx_clear_source (&self->drain);

  self->result = sbx_process_judge (self, &error);
  for (guint i = 0; i < SBX_N_STREAMS; i++)
    if (outputs[i].pipe == NULL)
      _sbx_output_stop (&outputs[i]);

  _sbx_exec_result_take_output (self->result,
                                _sbx_output_collected (&outputs[SBX_STREAM_STDOUT]),
                                outputs[SBX_STREAM_STDOUT].truncated,
                                _sbx_output_collected (&outputs[SBX_STREAM_STDERR]),
                                outputs[SBX_STREAM_STDERR].truncated);
  _sbx_exec_result_set_denials (self->result, self->denials, self->denials_truncated);

  waiters = g_steal_pointer (&self->waiters);
  self->waiters = g_ptr_array_new_with_free_func (g_object_unref);

  /* Before anybody is told, since they may close the session and wait for that. */
  _sbx_session_remove_process (self->session, self);
  _sbx_process_set_state (self, SBX_PROCESS_STATE_ENDED);
  _sbx_process_emit_exited (self);

  return_start (self, error);
  for (guint i = 0; i < waiters->len; i++)
    return_end (self, g_ptr_array_index (waiters, i), error);

  _sbx_session_process_ended (self->session);
}

/* Delivers what is there and completes, whatever may still be written. */
static void
sbx_process_cut_short (SbxProcess *self)
{
  g_autoptr(SbxProcess) keep G_GNUC_UNUSED = g_object_ref (self);

  self->n_within++;
  for (guint i = 0; i < SBX_N_STREAMS; i++)
    _sbx_output_drain (&self->outputs[i]);
  self->n_within--;

  /* A handler may have done so. */
  if (self->state != SBX_PROCESS_STATE_ENDED)
    sbx_process_complete (self);
}

static gboolean
drain_over_cb (gpointer user_data)
{
  sbx_process_cut_short (user_data);

  return G_SOURCE_REMOVE;
}

void
_sbx_process_hurry (SbxProcess *self)
{
  if (self->drain != NULL)
    sbx_process_cut_short (self);
}

static void
answered_cb (GObject      *object,
             GAsyncResult *result,
             gpointer      user_data)
{
  SbxProcess *self = SBX_PROCESS (object);

  if (self->invocation != NULL)
    _sbx_exec_invocation_release (self->invocation);
  g_clear_weak_pointer (&self->invocation);

  self->answer = g_task_propagate_pointer (G_TASK (result), &self->failure);

  /* What has exited, or written, was started, whether that was told or not. */
  self->n_within++;
  if (!g_queue_is_empty (&self->early) || has_outcome (self->answer, SBX_EXEC_OUTCOME_EXITED) ||
      has_outcome (self->answer, SBX_EXEC_OUTCOME_SIGNALLED))
    _sbx_process_started (self, NULL);
  self->n_within--;

  for (guint i = 0; i < SBX_N_STREAMS; i++)
    _sbx_output_finish (&self->outputs[i]);
  _sbx_input_finish (&self->input);

  if (sbx_process_is_drained (self))
    {
      sbx_process_complete (self);
      return;
    }

  if (_sbx_session_is_gone (self->session))
    {
      sbx_process_cut_short (self);
      return;
    }

  /* All that was written sits in the pipes, and nobody is left who could write more. Where that is
   * not so, because a provider keeps its end open, do not wait for ever. */
  self->drain = g_timeout_source_new (DRAIN_MS);
  g_source_set_callback (self->drain, drain_over_cb, g_object_ref (self), g_object_unref);
  g_source_attach (self->drain, _sbx_session_get_context (self->session));
}

static gboolean
timeout_cb (gpointer user_data)
{
  SbxProcess *self = user_data;

  _sbx_clear_source (&self->timeout);
  if (!_sbx_process_is_running (self))
    return G_SOURCE_REMOVE;

  self->timed_out = TRUE;
  _sbx_invocation_request_end (SBX_INVOCATION (self->invocation),
                               g_error_new_literal (G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
                                                    _("The command took longer than it may")));

  return G_SOURCE_REMOVE;
}

gboolean
_sbx_process_may_start (SbxProcess       *self,
                        SbxCapabilities   needed,
                        GError          **error)
{
  if (self->state != SBX_PROCESS_STATE_NEW)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_BUSY,
                           _("The process was started already; create another one"));
      return FALSE;
    }

  if (self->no_input != NULL)
    {
      g_propagate_error (error, g_error_copy (self->no_input));
      return FALSE;
    }

  /* A time-out is no more than a wish where nobody can end the command. */
  if ((needed & SBX_CAPABILITIES_START) && sbx_command_get_timeout (self->command) > 0)
    needed |= SBX_CAPABILITIES_SPAWN;
  if (sbx_command_get_terminal (self->command))
    needed |= SBX_CAPABILITIES_TERMINAL;
  if (sbx_command_get_stdin (self->command) == SBX_STDIN_PIPE)
    needed |= SBX_CAPABILITIES_STDIN;

  if (!sbx_command_validate (self->command, error) ||
      !_sbx_session_admits (self->session, needed, error) ||
      !_sbx_context_enter (G_OBJECT (self->session), error))
    return FALSE;

  _sbx_context_leave (G_OBJECT (self->session));

  return TRUE;
}

static SbxExecInvocation *
sbx_process_invoke (SbxProcess *self)
{
  SbxExecInvocation *invocation = _sbx_exec_invocation_new (self);
  const guint timeout_ms = sbx_command_get_timeout (self->command);
  GTask *task = g_task_new (self, NULL, answered_cb, NULL);

  g_task_set_source_tag (task, sbx_process_invoke);
  _sbx_invocation_adopt (SBX_INVOCATION (invocation), task, END_GRACE_MS);
  _sbx_session_track (self->session, SBX_INVOCATION (invocation));
  _sbx_session_add_process (self->session, self);
  g_set_weak_pointer (&self->invocation, invocation);

  if (timeout_ms > 0)
    {
      self->timeout = g_timeout_source_new (timeout_ms);
      g_source_set_callback (self->timeout, timeout_cb, self, NULL);
      g_source_attach (self->timeout, _sbx_session_get_context (self->session));
    }

  return invocation;
}

void
_sbx_process_begin (SbxProcess *self)
{
  g_autoptr(SbxProcess) keep G_GNUC_UNUSED = g_object_ref (self);
  SbxSessionClass *klass = SBX_SESSION_GET_CLASS (self->session);
  g_autoptr(SbxExecInvocation) invocation = NULL;

  if (self->terminal != NULL)
    sbx_command_set_terminal_size (self->command, sbx_terminal_get_rows (self->terminal),
                                   sbx_terminal_get_columns (self->terminal));

  /* It was just tried, and nothing of anybody else ran since. */
  _sbx_context_enter (G_OBJECT (self->session), NULL);
  invocation = sbx_process_invoke (self);
  self->starting = TRUE;
  self->n_within++;
  _sbx_process_set_state (self, SBX_PROCESS_STATE_STARTING);

  /* Who was told of the state may have closed the session. */
  if (sbx_invocation_is_answered (SBX_INVOCATION (invocation)))
    _sbx_invocation_handled (SBX_INVOCATION (invocation), TRUE);
  else if (klass->handle_exec == NULL)
    _sbx_invocation_return_unsupported (SBX_INVOCATION (invocation));
  else
    _sbx_invocation_handled (SBX_INVOCATION (invocation),
                             klass->handle_exec (self->session, invocation));

  _sbx_input_start (&self->input);
  self->n_within--;
  self->starting = FALSE;
  if (self->has_started)
    sbx_process_return_started (self);
  _sbx_context_leave (G_OBJECT (self->session));
}
