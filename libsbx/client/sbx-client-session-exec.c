/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "client/sbx-client-exec-private.h"

#include "core/sbx-error.h"
#include "core/sbx-exec-result-private.h"
#include "core/sbx-invocation-private.h"
#include "wire/sbx-wire-request-private.h"

#include <glib/gi18n-lib.h>
#include <signal.h>
#include <unistd.h>

/*
 * Commands. A plain provider tells of one by events and repeats its output in the result; one that
 * knows our extensions can be written to, sent signals, and tells of a command in the background
 * until its end.
 */

/* Of output that only the result has, in one go. */
#define TAIL_CHUNK (256 * 1024)

static void
exec_clear (SbxClientCall *call)
{
  SbxClientExec *self = (SbxClientExec *) call;

  _sbx_client_exec_unpause (self);
  _sbx_client_exec_stop_input (self);
  for (guint i = 0; i < G_N_ELEMENTS (self->handlers); i++)
    g_clear_signal_handler (&self->handlers[i], self->invocation);
  _sbx_invocation_set_end_func (SBX_INVOCATION (self->invocation), NULL, NULL);

  _sbx_wire_exec_end_clear (&self->end);
  g_clear_object (&self->invocation);
  g_clear_object (&self->session);
  g_free (self->process_id);
}

static gboolean
exec_is_cancelled (SbxClientExec *self)
{
  return _sbx_invocation_is_ending (SBX_INVOCATION (self->invocation));
}

gboolean
_sbx_client_exec_is_over (SbxClientExec *self)
{
  return sbx_invocation_is_answered (SBX_INVOCATION (self->invocation));
}

void
_sbx_client_exec_unpause (SbxClientExec *self)
{
  SbxClientConnection *connection = _sbx_client_session_peek_connection (self->session);

  if (!self->paused)
    return;

  self->paused = FALSE;
  if (connection != NULL)
    _sbx_client_connection_resume (connection);
}

static void
exec_pause (SbxClientExec *self)
{
  SbxClientConnection *connection = _sbx_client_session_peek_connection (self->session);

  /* One that is to end waits for nobody: its reader may be gone, and all others wait with it. */
  if (self->paused || connection == NULL || _sbx_client_exec_is_over (self) ||
      exec_is_cancelled (self) || sbx_exec_invocation_get_credit (self->invocation) > 0)
    return;

  self->paused = TRUE;
  _sbx_client_connection_pause (connection);
}

/* Whatever the provider still says of it, the caller was answered. */
static void
exec_settle (SbxClientExec *self)
{
  _sbx_client_exec_unpause (self);
  _sbx_client_exec_stop_input (self);
}

static void
exec_fail (SbxClientExec *self,
           const GError  *error)
{
  if (!_sbx_client_exec_is_over (self))
    sbx_invocation_return_gerror (SBX_INVOCATION (self->invocation), error);

  exec_settle (self);
}

static void
exec_cancelled (SbxClientExec *self)
{
  g_autoptr(GError) error = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED,
                                                 _("The operation was cancelled"));

  exec_fail (self, error);
}

static void
exec_failed (SbxClientCall *call,
             const GError  *error)
{
  exec_fail ((SbxClientExec *) call, error);
}

static void
return_end (SbxExecInvocation    *invocation,
            const SbxWireExecEnd *end)
{
  switch (end->outcome)
    {
    case SBX_EXEC_OUTCOME_EXITED:
      sbx_exec_invocation_return_exited (invocation, end->exit_code);
      break;

    case SBX_EXEC_OUTCOME_SIGNALLED:
      sbx_exec_invocation_return_signalled (invocation, end->signal_number, end->core_dumped);
      break;

    case SBX_EXEC_OUTCOME_TIMED_OUT:
      _sbx_invocation_return (SBX_INVOCATION (invocation), _sbx_exec_result_new_timed_out (),
                              g_object_unref);
      break;

    case SBX_EXEC_OUTCOME_NOT_STARTED:
      sbx_exec_invocation_return_not_started (invocation, end->not_started, end->error_number,
                                              end->message != NULL
                                                ? end->message
                                                : _("The provider could not start the command"));
      break;

    case SBX_EXEC_OUTCOME_LOST:
    default:
      sbx_exec_invocation_return_lost (invocation,
                                       end->message != NULL
                                         ? end->message
                                         : _("The provider could not say how the command ended"));
      break;
    }
}

static void
emit (SbxClientExec *self,
      SbxStream      stream,
      GBytes        *bytes)
{
  self->n_emitted[stream] += g_bytes_get_size (bytes);

  if (stream == SBX_STREAM_STDOUT)
    sbx_exec_invocation_emit_stdout (self->invocation, bytes);
  else
    sbx_exec_invocation_emit_stderr (self->invocation, bytes);
}

/* Of one that is to end, what its reader does not take is left out, with all that comes after. */
static gboolean
is_unread (SbxClientExec *self)
{
  if (exec_is_cancelled (self) && sbx_exec_invocation_get_credit (self->invocation) <= 0)
    self->unread = TRUE;

  return self->unread;
}

static GBytes *
get_result (SbxClientExec *self,
            SbxStream      stream)
{
  return stream == SBX_STREAM_STDOUT ? self->end.stdout_bytes : self->end.stderr_bytes;
}

/* Emits what the events did not deliver, as far as its reader takes it. %FALSE while there is
 * more. */
static gboolean
emit_tail (SbxClientExec *self,
           SbxStream      stream)
{
  GBytes *whole = get_result (self, stream);
  const gsize size = whole != NULL ? g_bytes_get_size (whole) : 0;

  while (self->n_emitted[stream] < size && !_sbx_client_exec_is_over (self))
    {
      g_autoptr(GBytes) part = NULL;

      if (self->unread || sbx_exec_invocation_get_credit (self->invocation) <= 0)
        return FALSE;

      part = g_bytes_new_from_bytes (whole, self->n_emitted[stream],
                                     MIN (TAIL_CHUNK, size - self->n_emitted[stream]));
      emit (self, stream, part);
    }

  return TRUE;
}

/* The provider has said all of the command that it ever will. */
static void
exec_conclude (SbxClientExec *self)
{
  if (_sbx_client_exec_is_over (self))
    return;

  for (guint i = 0; i < SBX_N_STREAMS; i++)
    if (!emit_tail (self, i) && !exec_is_cancelled (self))
      {
        /* It goes on when its reader has read. */
        self->concluding = TRUE;
        return;
      }

  if (_sbx_client_exec_is_over (self))
    return;

  for (guint i = 0; i < SBX_N_STREAMS; i++)
    if (get_result (self, i) != NULL && g_bytes_get_size (get_result (self, i)) > 0)
      _sbx_exec_invocation_set_collected (self->invocation, i, get_result (self, i));

  self->concluding = FALSE;
  return_end (self->invocation, &self->end);
  exec_settle (self);
}

static void
credit_cb (SbxExecInvocation *invocation,
           SbxClientExec     *self)
{
  _sbx_client_call_ref (&self->call);

  if (sbx_exec_invocation_get_credit (invocation) > 0)
    {
      _sbx_client_exec_unpause (self);
      if (self->concluding)
        {
          self->concluding = FALSE;
          exec_conclude (self);
          /* It is in no table any more: that was its own reference. */
          if (!self->concluding)
            _sbx_client_call_unref (&self->call);
        }
    }

  _sbx_client_call_unref (&self->call);
}

static void
exec_set_id (SbxClientExec *self,
             const char    *process_id)
{
  if (process_id != NULL && self->process_id == NULL)
    self->process_id = g_strdup (process_id);
}

static void
exec_started (SbxClientExec *self,
              const char    *process_id)
{
  exec_set_id (self, process_id);
  sbx_exec_invocation_started (self->invocation, self->process_id);
  if (!_sbx_client_exec_is_over (self))
    _sbx_client_exec_start_input (self);
}

/* A followed command is over; what it is answered with came with its last "exited". */
static void
exec_ended (SbxClientExec *self)
{
  if (!self->has_end)
    {
      self->end.outcome = SBX_EXEC_OUTCOME_LOST;
      self->has_end = TRUE;
    }

  self->ended = TRUE;
  if (self->call.state != SBX_CLIENT_CALL_FOLLOWED)
    return;

  exec_conclude (self);
  if (self->concluding)
    _sbx_client_call_ref (&self->call);
  _sbx_client_call_end (&self->call);
}

static const SbxClientCallClass spawn_class;

static void
exec_event (SbxClientCall      *call,
            const SbxWireEvent *event)
{
  SbxClientExec *self = (SbxClientExec *) call;

  if (_sbx_client_exec_is_over (self))
    {
      if (event->type == SBX_WIRE_EVENT_END)
        _sbx_client_call_end (call);
      return;
    }

  switch (event->type)
    {
    case SBX_WIRE_EVENT_STARTED:
      /* Whether a command in the background runs is for the reply to say. */
      if (call->klass == &spawn_class)
        exec_set_id (self, event->process_id);
      else
        exec_started (self, event->process_id);
      break;

    case SBX_WIRE_EVENT_STDOUT:
    case SBX_WIRE_EVENT_STDERR:
      if (is_unread (self))
        break;
      emit (self, event->type == SBX_WIRE_EVENT_STDOUT ? SBX_STREAM_STDOUT : SBX_STREAM_STDERR,
            event->data);
      exec_pause (self);
      break;

    case SBX_WIRE_EVENT_EXITED:
      if (call->follows)
        {
          _sbx_wire_exec_end_clear (&self->end);
          self->end = event->end;
          self->end.message = g_strdup (event->end.message);
          self->end.stdout_bytes = self->end.stderr_bytes = NULL;
          self->has_end = TRUE;
        }
      break;

    case SBX_WIRE_EVENT_END:
      if (call->follows)
        exec_ended (self);
      break;

    case SBX_WIRE_EVENT_UNKNOWN:
    default:
      break;
    }
}

static void
exec_replied (SbxClientCall *call,
              SbxWireReply  *reply)
{
  SbxClientExec *self = (SbxClientExec *) call;
  g_autoptr(GError) error = NULL;

  if (!_sbx_wire_reply_get_exec_end (reply, &self->end, &error))
    {
      exec_fail (self, error);
      return;
    }

  /* Until the rest of its output is read it lives on in the handler of its invocation. */
  exec_conclude (self);
  if (self->concluding)
    _sbx_client_call_ref (call);
}

static void
spawn_replied (SbxClientCall *call,
               SbxWireReply  *reply)
{
  SbxClientExec *self = (SbxClientExec *) call;
  g_autofree char *process_id = NULL;
  g_autoptr(GError) error = NULL;

  if (!_sbx_wire_reply_get_spawned (reply, &process_id, &error))
    {
      _sbx_client_call_end (call);
      exec_fail (self, error);
      return;
    }

  if (_sbx_client_exec_is_over (self))
    {
      _sbx_client_call_end (call);
      return;
    }

  if (!call->follows && exec_is_cancelled (self))
    {
      exec_cancelled (self);
      return;
    }

  exec_started (self, process_id);

  if (call->follows && self->ended)
    exec_ended (self);
  else if (call->follows && exec_is_cancelled (self))
    _sbx_client_exec_send_kill (self, SIGKILL);
  else if (!call->follows && !_sbx_client_exec_is_over (self))
    {
      /* Nothing more is heard of it: it runs until the session is closed. */
      self->detached = TRUE;
      _sbx_client_call_ref (call);
    }
}

static const SbxClientCallClass exec_class = {
  .method = "exec",
  .event = exec_event,
  .replied = exec_replied,
  .failed = exec_failed,
  .clear = exec_clear,
};

static const SbxClientCallClass spawn_class = {
  .method = "spawn",
  .event = exec_event,
  .replied = spawn_replied,
  .failed = exec_failed,
  .clear = exec_clear,
};

static void
end_exec (SbxClientCall *call,
          gpointer       user_data)
{
  if (call->klass == &spawn_class && ((SbxClientExec *) call)->session == user_data)
    exec_ended ((SbxClientExec *) call);
}

void
_sbx_client_session_end_execs (SbxClientSession *self)
{
  SbxClientConnection *connection = _sbx_client_session_peek_connection (self);

  if (connection != NULL)
    _sbx_client_connection_foreach_followed (connection, end_exec, self);
}

/* The caller, the session or the time-out wants it to end. */
static void
end_cb (SbxInvocation *invocation,
        gpointer       user_data)
{
  SbxClientExec *self = user_data;

  _sbx_client_call_ref (&self->call);
  _sbx_client_exec_unpause (self);

  if (self->detached || self->concluding)
    {
      self->detached = self->concluding = FALSE;
      exec_cancelled (self);
      _sbx_client_call_unref (&self->call);
    }
  else if (self->call.state == SBX_CLIENT_CALL_FOLLOWED)
    _sbx_client_exec_send_kill (self, SIGKILL);
  else
    _sbx_client_call_cancel (&self->call);

  _sbx_client_call_unref (&self->call);
}

static void
watch (SbxClientExec *self)
{
  _sbx_invocation_set_end_func (SBX_INVOCATION (self->invocation), end_cb, self);
  self->handlers[0] = g_signal_connect (self->invocation, "credit", G_CALLBACK (credit_cb), self);
  if (_sbx_client_session_get_features (self->session) & SBX_WIRE_PROCESS)
    self->handlers[1] = g_signal_connect (self->invocation, "kill",
                                          G_CALLBACK (_sbx_client_exec_kill_cb), self);
  if (_sbx_client_session_get_features (self->session) & SBX_WIRE_PTY)
    self->handlers[2] = g_signal_connect (self->invocation, "resize",
                                          G_CALLBACK (_sbx_client_exec_resize_cb), self);
}

static gboolean
handle_exec (SbxSession        *session,
             SbxExecInvocation *invocation)
{
  SbxClientSession *self = SBX_CLIENT_SESSION (session);
  SbxClientConnection *connection =
    _sbx_client_session_get_connection (self, SBX_INVOCATION (invocation));
  const SbxWireFeatures features = _sbx_client_session_get_features (self);
  const gboolean spawns = _sbx_exec_invocation_is_background (invocation);
  SbxCommand *command = sbx_exec_invocation_get_command (invocation);
  const SbxClientCallClass *klass = spawns ? &spawn_class : &exec_class;
  g_autoptr(GError) error = NULL;
  SbxWireMessage *message;
  SbxClientExec *exec;
  guint64 number;

  if (connection == NULL)
    return TRUE;

  number = _sbx_client_connection_next_number (connection);
  message = _sbx_wire_request_exec (number, klass->method, _sbx_client_session_get_text (self),
                                    command, features, &error);
  if (message == NULL)
    {
      sbx_invocation_return_gerror (SBX_INVOCATION (invocation), error);
      return TRUE;
    }

  exec = _sbx_client_call_new (sizeof *exec, klass, number);
  exec->session = g_object_ref (self);
  exec->invocation = g_object_ref (invocation);
  exec->call.follows = spawns && (features & SBX_WIRE_PROCESS);

  /* The whole of it goes along: nobody needs the pipe that stands for it. */
  if (sbx_command_get_stdin (command) == SBX_STDIN_BYTES)
    {
      const int fd = sbx_exec_invocation_steal_stdin_fd (invocation);

      if (fd >= 0)
        close (fd);
    }

  watch (exec);
  _sbx_client_connection_submit (connection, &exec->call, message);

  return TRUE;
}

void
_sbx_client_session_init_exec (SbxSessionClass *klass)
{
  klass->handle_exec = handle_exec;
}
