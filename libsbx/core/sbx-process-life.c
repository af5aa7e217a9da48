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
#include "core/sbx-terminal-private.h"

#include <fcntl.h>
#include <glib/gi18n-lib.h>

/*
 * The life of a process, from the start to the one place where it ends: an invocation asks the
 * session's class to run the command; its answer says how the command ended; what is left in the
 * pipes is delivered; and then everybody who waits is told.
 */

#define END_GRACE_MS 5000
#define DRAIN_MS 1000

static void sbx_process_complete (SbxProcess *self);

static void
clear_source (GSource **source)
{
  if (*source == NULL)
    return;

  g_source_destroy (*source);
  g_clear_pointer (source, g_source_unref);
}

static void
output_cb (SbxOutput *output,
           GBytes    *bytes,
           gpointer   user_data)
{
  SbxProcess *self = user_data;

  _sbx_process_emit_output (self, output == &self->outputs[SBX_STREAM_STDOUT] ? SBX_STREAM_STDOUT
                                                                             : SBX_STREAM_STDERR,
                            bytes);
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

  if (self->state != SBX_PROCESS_STATE_ENDED && self->drain != NULL && sbx_process_is_drained (self))
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

  _sbx_input_init (&self->input, context, sbx_command_get_stdin (command),
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

  return self->invocation != NULL &&
         _sbx_exec_invocation_resize (self->invocation, rows, columns);
}

void
_sbx_process_take_terminal_fd (SbxProcess *self,
                               int         fd)
{
  int reading;

  if (self->terminal == NULL)
    return;

  if (self->terminal_claimed)
    {
      _sbx_terminal_take_fd (self->terminal, fd);
      return;
    }

  /* Nobody asked for the terminal: its output is the standard output. */
  reading = fcntl (fd, F_DUPFD_CLOEXEC, 3);
  _sbx_terminal_take_fd (self->terminal, fd);
  if (reading >= 0)
    _sbx_output_take_fd (&self->outputs[SBX_STREAM_STDOUT], reading);
}

void
_sbx_process_started (SbxProcess *self,
                      const char *id)
{
  g_autoptr(SbxProcess) keep = g_object_ref (self);
  g_autoptr(GTask) task = g_steal_pointer (&self->start_task);

  if (self->has_started || self->state == SBX_PROCESS_STATE_ENDED)
    return;

  self->has_started = TRUE;
  g_free (self->id);
  self->id = g_strdup (id);

  if (self->terminal_claimed && sbx_terminal_get_input_stream (self->terminal) == NULL)
    _sbx_terminal_set_pipes (self->terminal,
                             _sbx_output_get_pipe (&self->outputs[SBX_STREAM_STDOUT]),
                             self->input.pipe, resize_cb, self);

  _sbx_process_set_state (self, SBX_PROCESS_STATE_RUNNING);
  _sbx_process_emit_started (self);

  if (task != NULL)
    g_task_return_boolean (task, TRUE);
}

/* What the result is, now that the output is complete. */
static SbxExecResult *
sbx_process_judge (SbxProcess  *self,
                   GError     **error)
{
  g_autoptr(SbxExecResult) answer = g_steal_pointer (&self->answer);
  const gboolean by_itself =
    answer != NULL && (sbx_exec_result_get_outcome (answer) == SBX_EXEC_OUTCOME_EXITED ||
                       sbx_exec_result_get_outcome (answer) == SBX_EXEC_OUTCOME_NOT_STARTED);

  if (by_itself)
    return g_steal_pointer (&answer);

  if (self->timed_out)
    return _sbx_exec_result_new_timed_out ();

  if (self->cancelled)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED,
                           _("The command was cancelled, and ended"));
      return answer != NULL ? g_steal_pointer (&answer)
                            : _sbx_exec_result_new_lost (_("The command was cancelled"));
    }

  if (answer != NULL)
    return g_steal_pointer (&answer);

  /* The sandbox went away under the command: that is how it ended, not a failure to run it. */
  if (!g_error_matches (self->failure, SBX_ERROR, SBX_ERROR_LOST) &&
      !g_error_matches (self->failure, SBX_ERROR, SBX_ERROR_CLOSED) &&
      !g_error_matches (self->failure, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_propagate_error (error, g_error_copy (self->failure));

  return _sbx_exec_result_new_lost (self->failure->message);
}

static void
return_start (SbxProcess   *self,
              const GError *error)
{
  g_autoptr(GTask) task = g_steal_pointer (&self->start_task);

  if (task == NULL)
    return;

  if (error != NULL)
    g_task_return_error (task, g_error_copy (error));
  else if (sbx_exec_result_get_outcome (self->result) != SBX_EXEC_OUTCOME_NOT_STARTED)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_new_error (task, SBX_ERROR,
                             sbx_exec_result_get_not_started (self->result) ==
                               SBX_NOT_STARTED_NOT_FOUND ? SBX_ERROR_NOT_FOUND : SBX_ERROR_FAILED,
                             "%s", sbx_exec_result_get_message (self->result));
}

static void
sbx_process_complete (SbxProcess *self)
{
  g_autoptr(SbxProcess) keep = g_object_ref (self);
  g_autoptr(GPtrArray) waiters = NULL;
  g_autoptr(GError) error = NULL;
  SbxOutput *outputs = self->outputs;

  clear_source (&self->timeout);
  clear_source (&self->drain);

  self->result = sbx_process_judge (self, &error);
  for (guint i = 0; i < SBX_N_STREAMS; i++)
    if (outputs[i].pipe == NULL)
      _sbx_output_stop (&outputs[i]);

  _sbx_exec_result_take_output (self->result,
                                _sbx_output_collected (&outputs[SBX_STREAM_STDOUT]),
                                outputs[SBX_STREAM_STDOUT].truncated,
                                _sbx_output_collected (&outputs[SBX_STREAM_STDERR]),
                                outputs[SBX_STREAM_STDERR].truncated);

  waiters = g_steal_pointer (&self->waiters);
  self->waiters = g_ptr_array_new_with_free_func (g_object_unref);

  _sbx_process_set_state (self, SBX_PROCESS_STATE_ENDED);
  _sbx_process_emit_exited (self);

  return_start (self, error);
  for (guint i = 0; i < waiters->len; i++)
    if (error != NULL)
      g_task_return_error (g_ptr_array_index (waiters, i), g_error_copy (error));
    else
      g_task_return_pointer (g_ptr_array_index (waiters, i), g_object_ref (self->result),
                             g_object_unref);
}

static gboolean
drain_over_cb (gpointer user_data)
{
  sbx_process_complete (user_data);

  return G_SOURCE_REMOVE;
}

static void
answered_cb (GObject      *object,
             GAsyncResult *result,
             gpointer      user_data)
{
  SbxProcess *self = SBX_PROCESS (object);

  g_clear_weak_pointer (&self->invocation);
  self->answer = g_task_propagate_pointer (G_TASK (result), &self->failure);

  for (guint i = 0; i < SBX_N_STREAMS; i++)
    _sbx_output_finish (&self->outputs[i]);
  _sbx_input_finish (&self->input);

  if (sbx_process_is_drained (self))
    {
      sbx_process_complete (self);
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

  clear_source (&self->timeout);
  self->timed_out = TRUE;
  if (self->invocation != NULL)
    _sbx_invocation_request_end (SBX_INVOCATION (self->invocation));

  return G_SOURCE_REMOVE;
}

gboolean
_sbx_process_may_start (SbxProcess  *self,
                        GError     **error)
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

  return sbx_command_validate (self->command, error) && _sbx_session_admits (self->session, error);
}

void
_sbx_process_begin (SbxProcess *self)
{
  SbxSessionClass *klass = SBX_SESSION_GET_CLASS (self->session);
  g_autoptr(SbxExecInvocation) invocation = _sbx_exec_invocation_new (self);
  const guint timeout_ms = sbx_command_get_timeout (self->command);
  GTask *task;

  _sbx_process_set_state (self, SBX_PROCESS_STATE_STARTING);

  task = g_task_new (self, NULL, answered_cb, NULL);
  g_task_set_source_tag (task, _sbx_process_begin);
  _sbx_invocation_adopt (SBX_INVOCATION (invocation), task, END_GRACE_MS);
  _sbx_session_track (self->session, SBX_INVOCATION (invocation));
  g_set_weak_pointer (&self->invocation, invocation);

  if (timeout_ms > 0)
    {
      self->timeout = g_timeout_source_new (timeout_ms);
      g_source_set_callback (self->timeout, timeout_cb, self, NULL);
      g_source_attach (self->timeout, _sbx_session_get_context (self->session));
    }

  if (klass->handle_exec == NULL)
    _sbx_invocation_return_unsupported (SBX_INVOCATION (invocation));
  else
    _sbx_invocation_handled (SBX_INVOCATION (invocation),
                             klass->handle_exec (self->session, invocation));

  _sbx_input_start (&self->input);
}
