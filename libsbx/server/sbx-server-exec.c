/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "server/sbx-server-private.h"

#include "core/sbx-command.h"
#include "core/sbx-error.h"
#include "core/sbx-exec-result-private.h"
#include "core/sbx-terminal.h"

#include <glib/gi18n-lib.h>

/*
 * Running commands. What a command writes is read from pipes, so that one that writes faster than
 * the client reads has to wait. Its end is told when it has ended and its output is through.
 */

/* Of each stream; and of both together no more than fits in the line of a result. */
#define MAX_RESULT (64 * 1024 * 1024)
#define MAX_RESULT_STDERR (28 * 1024 * 1024)

/* How long somebody who is not the command may keep an output open after its end, in silence. */
#define DRAIN_MS 1000

/* How many that have ended are remembered for who waits for them later, and how many may run. */
#define MAX_ENDED 256
#define MAX_PROCESSES 4096

static void process_check (SbxServerProcess *self);

SbxServerProcess *
_sbx_server_process_ref (SbxServerProcess *self)
{
  return g_rc_box_acquire (self);
}

static void
clear_drain (SbxServerProcess *self)
{
  if (self->drain != NULL)
    g_source_destroy (self->drain);
  g_clear_pointer (&self->drain, g_source_unref);
}

static void
process_uncount (SbxServerProcess *self)
{
  if (self->counted)
    self->connection->n_processes--;
  self->counted = FALSE;
}

static void
process_clear (gpointer data)
{
  SbxServerProcess *self = data;

  clear_drain (self);
  for (guint i = 0; i < G_N_ELEMENTS (self->outputs); i++)
    _sbx_server_output_clear (&self->outputs[i]);

  g_clear_signal_handler (&self->started_id, self->process);
  g_clear_signal_handler (&self->exited_id, self->process);
  g_queue_clear_full (&self->writes, (GDestroyNotify) _sbx_server_call_unref);
  g_clear_object (&self->process);
  g_clear_object (&self->result);
  g_clear_pointer (&self->id, g_free);
  g_clear_pointer (&self->call, _sbx_server_call_unref);
  g_clear_pointer (&self->session, _sbx_server_session_unref);
  process_uncount (self);
  g_clear_pointer (&self->connection, _sbx_server_connection_unref);
}

void
_sbx_server_process_unref (SbxServerProcess *self)
{
  g_rc_box_release_full (self, process_clear);
}

void
_sbx_server_process_stop (SbxServerProcess *self)
{
  g_autoptr(SbxServerProcess) keep G_GNUC_UNUSED = _sbx_server_process_ref (self);

  self->stopped = TRUE;
  clear_drain (self);
  for (guint i = 0; i < G_N_ELEMENTS (self->outputs); i++)
    _sbx_server_output_stop (&self->outputs[i]);

  process_check (self);
}

/* The id that the session gave, unless another one has it or it gave none. */
static void
process_enter (SbxServerProcess *self)
{
  SbxServerSession *session = self->session;
  const char *id = sbx_process_get_id (self->process);

  if (self->id != NULL)
    return;

  if (id != NULL && *id != '\0' && g_utf8_validate (id, -1, NULL) &&
      !g_hash_table_contains (session->processes, id))
    self->id = g_strdup (id);

  while (self->id == NULL)
    {
      g_autofree char *made_up = g_strdup_printf ("process-%u", ++session->n_made_up);

      if (!g_hash_table_contains (session->processes, made_up))
        self->id = g_steal_pointer (&made_up);
    }

  g_hash_table_insert (session->processes, self->id, _sbx_server_process_ref (self));
}

/* One that was spawned can still be waited for, for a while. */
static void
process_leave (SbxServerProcess *self)
{
  SbxServerSession *session = self->session;

  if (self->id == NULL || g_hash_table_lookup (session->processes, self->id) != self)
    return;

  if (!self->spawned)
    {
      g_hash_table_remove (session->processes, self->id);
      return;
    }

  g_queue_push_tail (&session->ended, g_strdup (self->id));
  if (session->ended.length > MAX_ENDED)
    {
      g_autofree char *oldest = g_queue_pop_head (&session->ended);

      g_hash_table_remove (session->processes, oldest);
    }
}

static void
output_ended_cb (SbxServerOutput *output,
                 gpointer         user_data)
{
  process_check (user_data);
}

/* Whatever a terminal shows comes as standard output. */
static GInputStream *
get_stream (SbxServerProcess *self,
            guint             i)
{
  if (sbx_command_get_terminal (sbx_process_get_command (self->process)))
    return i == 0 ? sbx_terminal_get_input_stream (sbx_process_get_terminal (self->process)) : NULL;

  return i == 0 ? sbx_process_get_stdout_pipe (self->process)
                : sbx_process_get_stderr_pipe (self->process);
}

static void
process_begin_outputs (SbxServerProcess *self)
{
  static const char * const types[] = { "stdout", "stderr" };
  static const guint64 limits[] = { MAX_RESULT, MAX_RESULT_STDERR };

  if (self->flowing || self->stopped)
    return;

  self->flowing = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (self->outputs); i++)
    {
      const guint64 limit = self->options.collect ? MIN (self->options.collect_limit, limits[i])
                                                  : 0;

      if (!_sbx_server_output_begin (&self->outputs[i], self->connection, self->call->wire.id,
                                     types[i], get_stream (self, i), limit, output_ended_cb, self))
        self->outputs[i].ended = TRUE;
    }
}

static void
started_cb (SbxProcess *process,
            gpointer    user_data)
{
  SbxServerProcess *self = user_data;

  if (self->stopped || self->call->answered)
    return;

  process_enter (self);
  _sbx_server_connection_push (self->connection,
                               _sbx_wire_event_started (self->call->wire.id, self->id));

  /* What is spawned has its reply first. */
  if (!self->spawned)
    process_begin_outputs (self);
}

static gboolean
drain_cb (gpointer user_data)
{
  g_autoptr(SbxServerProcess) self = _sbx_server_process_ref (user_data);

  for (guint i = 0; i < G_N_ELEMENTS (self->outputs); i++)
    if (!_sbx_server_output_is_idle (&self->outputs[i]))
      return G_SOURCE_CONTINUE;

  for (guint i = 0; i < G_N_ELEMENTS (self->outputs); i++)
    _sbx_server_output_stop (&self->outputs[i]);
  process_check (self);

  return G_SOURCE_REMOVE;
}

static gboolean
process_is_drained (SbxServerProcess *self)
{
  return !self->flowing || (self->outputs[0].ended && self->outputs[1].ended);
}

/* The output as it goes into the result of an exec. */
static void
process_collect (SbxServerProcess *self)
{
  SbxServerOutput *outputs = self->outputs;

  if (self->flowing)
    _sbx_exec_result_take_output (self->result,
                                  _sbx_server_output_collect (&outputs[0]), outputs[0].truncated,
                                  _sbx_server_output_collect (&outputs[1]), outputs[1].truncated);
}

/* All that there is to tell has been told. */
static void
process_conclude (SbxServerProcess *self)
{
  g_autoptr(SbxServerProcess) keep G_GNUC_UNUSED = _sbx_server_process_ref (self);
  const char *id = self->call->wire.id;

  self->concluded = TRUE;
  clear_drain (self);
  process_uncount (self);
  process_leave (self);

  if (self->spawned && !self->call->followed)
    return;

  if (self->id != NULL)
    _sbx_server_connection_push (self->connection, _sbx_wire_event_exited (id, self->result));

  if (self->spawned)
    {
      _sbx_server_connection_push (self->connection, _sbx_wire_event_end (id));
      _sbx_server_call_unfollow (self->call);
      return;
    }

  process_collect (self);
  _sbx_server_call_answer (self->call, _sbx_wire_answer_exec (id, self->result,
                                                              self->options.collect));
}

static void
process_check (SbxServerProcess *self)
{
  if (self->result == NULL || self->concluded || (self->spawned && !self->call->answered))
    return;

  if (process_is_drained (self))
    {
      process_conclude (self);
      return;
    }

  if (self->drain != NULL)
    return;

  self->drain = g_timeout_source_new (DRAIN_MS);
  g_source_set_callback (self->drain, drain_cb, self, NULL);
  g_source_attach (self->drain, self->connection->context);
}

/* It could not be run, or was cancelled: what it wrote last is nobody's any more. */
static void
process_give_up (SbxServerProcess *self,
                 const GError     *error)
{
  self->concluded = TRUE;
  _sbx_server_process_stop (self);
  process_uncount (self);
  if (self->id != NULL)
    g_hash_table_remove (self->session->processes, self->id);

  _sbx_server_call_fail (self->call, error);
}

static void
ran_cb (GObject      *object,
        GAsyncResult *result,
        gpointer      user_data)
{
  g_autoptr(SbxServerProcess) self = user_data;
  g_autoptr(GError) error = NULL;
  SbxExecResult *ended = sbx_process_run_finish (SBX_PROCESS (object), result, &error);

  if (ended == NULL)
    {
      process_give_up (self, error);
      return;
    }

  /* Its session was closed under it before it could be cancelled. */
  if (sbx_exec_result_get_outcome (ended) == SBX_EXEC_OUTCOME_LOST &&
      g_cancellable_is_cancelled (self->call->cancellable))
    {
      g_set_error_literal (&error, G_IO_ERROR, G_IO_ERROR_CANCELLED,
                           _("The command was cancelled, and ended"));
      process_give_up (self, error);
      g_object_unref (ended);
      return;
    }

  self->result = ended;
  process_check (self);
}

static SbxServerProcess *
process_new (SbxServerCall *call,
             gboolean       spawned)
{
  g_autoptr(SbxServerProcess) self = g_rc_box_new0 (SbxServerProcess);
  g_autoptr(SbxCommand) command = NULL;
  g_autoptr(GError) error = NULL;

  self->connection = _sbx_server_connection_ref (call->connection);
  self->connection->n_processes++;
  self->counted = TRUE;
  self->session = _sbx_server_session_ref (call->session);
  self->call = _sbx_server_call_ref (call);
  self->spawned = spawned;
  g_queue_init (&self->writes);

  command = _sbx_wire_call_get_command (&call->wire, &self->options, &error);
  if (command == NULL)
    {
      _sbx_server_call_fail (call, error);
      return NULL;
    }

  if (self->connection->n_processes > MAX_PROCESSES)
    {
      _sbx_server_call_fail_code (call, "too_many_requests",
                                  _("Too many commands are running; wait for some"));
      return NULL;
    }

  sbx_command_set_collect_limit (command, 0);
  self->process = sbx_session_create_process (call->session->session, command);
  self->started_id = g_signal_connect (self->process, "started", G_CALLBACK (started_cb), self);

  return g_steal_pointer (&self);
}

/* Has the output come through pipes of ours; %FALSE when the call was answered with why not. */
static gboolean
process_claim_outputs (SbxServerProcess *self)
{
  if (sbx_command_get_terminal (sbx_process_get_command (self->process)))
    {
      sbx_process_get_terminal (self->process);
      return TRUE;
    }

  if (sbx_process_get_stdout_pipe (self->process) != NULL &&
      sbx_process_get_stderr_pipe (self->process) != NULL)
    return TRUE;

  _sbx_server_call_fail_code (self->call, "failed",
                              _("The provider has no descriptors left; close some sessions"));

  return FALSE;
}

void
_sbx_server_exec (SbxServerCall *call)
{
  g_autoptr(SbxServerProcess) self = process_new (call, FALSE);

  if (self != NULL && process_claim_outputs (self))
    sbx_process_run_async (self->process, call->cancellable, ran_cb,
                           _sbx_server_process_ref (self));
}

static void
exited_cb (SbxProcess    *process,
           SbxExecResult *result,
           gpointer       user_data)
{
  SbxServerProcess *self = user_data;

  g_set_object (&self->result, result);
  process_check (self);
}

static void
spawned_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  g_autoptr(SbxServerProcess) self = user_data;
  SbxServerCall *call = self->call;
  g_autoptr(GError) error = NULL;

  if (!sbx_process_start_finish (SBX_PROCESS (object), result, &error))
    {
      process_give_up (self, error);
      return;
    }

  process_enter (self);
  call->followed = self->options.follow;
  _sbx_server_call_answer (call, _sbx_wire_answer_spawn (call->wire.id, self->id));

  if (self->options.follow)
    process_begin_outputs (self);
  process_check (self);
}

void
_sbx_server_spawn (SbxServerCall *call)
{
  g_autoptr(SbxServerProcess) self = process_new (call, TRUE);

  if (self == NULL || (self->options.follow && !process_claim_outputs (self)))
    return;

  self->options.collect = FALSE;
  self->exited_id = g_signal_connect (self->process, "exited", G_CALLBACK (exited_cb), self);
  sbx_process_start_async (self->process, call->cancellable, spawned_cb,
                           _sbx_server_process_ref (self));
}
