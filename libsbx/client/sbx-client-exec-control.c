/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "client/sbx-client-exec-private.h"

#include "core/sbx-session-private.h"
#include "wire/sbx-wire-request-private.h"

/*
 * What is said to a command while it runs: its input, signals and the size of its terminal.
 */

#define INPUT_CHUNK (64 * 1024)

/* A request about a command that runs. */
typedef struct
{
  SbxClientCall  call;
  SbxClientExec *exec;      /* owned */
} ControlCall;

static void read_input (SbxClientExec *self);

static void
control_clear (SbxClientCall *call)
{
  SbxClientExec *exec = ((ControlCall *) call)->exec;

  if (exec->writing == call)
    exec->writing = NULL;
  _sbx_client_call_unref (&exec->call);
}

static void
control_replied (SbxClientCall *call,
                 SbxWireReply  *reply)
{
}

static void
control_failed (SbxClientCall *call,
                const GError  *error)
{
}

/* That is the credit for the next. */
static void
input_replied (SbxClientCall *call,
               SbxWireReply  *reply)
{
  read_input (((ControlCall *) call)->exec);
}

/* The command does not read any more: whoever writes is told so. */
static void
input_failed (SbxClientCall *call,
              const GError  *error)
{
  SbxClientExec *exec = ((ControlCall *) call)->exec;

  if (exec->input != NULL)
    g_input_stream_close (exec->input, NULL, NULL);

  _sbx_client_exec_stop_input (exec);
}

static const SbxClientCallClass write_stdin_class = {
  .method = "write_stdin",
  .replied = input_replied,
  .failed = input_failed,
  .clear = control_clear,
};

static const SbxClientCallClass close_stdin_class = {
  .method = "close_stdin",
  .replied = control_replied,
  .failed = control_failed,
  .clear = control_clear,
};

static const SbxClientCallClass kill_class = {
  .method = "kill",
  .replied = control_replied,
  .failed = control_failed,
  .clear = control_clear,
};

static const SbxClientCallClass resize_class = {
  .method = "resize_pty",
  .replied = control_replied,
  .failed = control_failed,
  .clear = control_clear,
};

/* None of them can wait for the command that it is about. */
static ControlCall *
control_new (SbxClientExec            *exec,
             const SbxClientCallClass *klass)
{
  SbxClientConnection *connection = _sbx_client_session_peek_connection (exec->session);
  ControlCall *call;

  if (connection == NULL || exec->process_id == NULL ||
      _sbx_client_connection_get_failure (connection) != NULL)
    return NULL;

  call = _sbx_client_call_new (sizeof *call, klass,
                               _sbx_client_connection_next_number (connection));
  call->call.urgent = TRUE;
  call->call.timeout_ms = _sbx_client_session_get_timeout (exec->session);
  call->exec = exec;
  _sbx_client_call_ref (&exec->call);

  return call;
}

static void
control_submit (ControlCall    *call,
                SbxWireMessage *message)
{
  _sbx_client_connection_submit (_sbx_client_session_peek_connection (call->exec->session),
                                 &call->call, message);
}

gboolean
_sbx_client_exec_send_kill (SbxClientExec *self,
                            int            signal_number)
{
  ControlCall *call = control_new (self, &kill_class);

  if (call == NULL)
    return FALSE;

  control_submit (call, _sbx_wire_request_kill (call->call.number,
                                                _sbx_client_session_get_text (self->session),
                                                self->process_id, signal_number));

  return TRUE;
}

gboolean
_sbx_client_exec_kill_cb (SbxExecInvocation *invocation,
                          int                signal_number,
                          SbxClientExec     *self)
{
  return _sbx_client_exec_send_kill (self, signal_number);
}

gboolean
_sbx_client_exec_resize_cb (SbxExecInvocation *invocation,
                            guint              rows,
                            guint              columns,
                            SbxClientExec     *self)
{
  ControlCall *call = control_new (self, &resize_class);

  if (call == NULL)
    return FALSE;

  control_submit (call, _sbx_wire_request_resize_pty (call->call.number,
                                                      _sbx_client_session_get_text (self->session),
                                                      self->process_id, rows, columns));

  return TRUE;
}

static void
send_input (SbxClientExec *self,
            GBytes        *bytes)
{
  GBytes *session = _sbx_client_session_get_text (self->session);
  const gboolean ended = g_bytes_get_size (bytes) == 0;
  ControlCall *call = control_new (self, ended ? &close_stdin_class : &write_stdin_class);

  if (ended)
    _sbx_client_exec_stop_input (self);

  if (call == NULL)
    return;

  /* A command that does not read yet is no fault of the provider, as long as it runs. */
  call->call.timeout_ms = 0;
  self->writing = &call->call;
  control_submit (call,
                  ended ? _sbx_wire_request_close_stdin (call->call.number, session,
                                                         self->process_id)
                        : _sbx_wire_request_write_stdin (call->call.number, session,
                                                         self->process_id, bytes));
}

static void
input_read_cb (GObject      *object,
               GAsyncResult *result,
               gpointer      user_data)
{
  SbxClientExec *self = user_data;
  g_autoptr(GBytes) bytes = NULL;

  bytes = g_input_stream_read_bytes_finish (G_INPUT_STREAM (object), result, NULL);

  /* Where the command has ended, or the caller has closed its end in between, there is none. */
  if (bytes != NULL && self->input != NULL && !_sbx_client_exec_is_over (self))
    send_input (self, bytes);

  _sbx_client_call_unref (&self->call);
}

static void
read_input (SbxClientExec *self)
{
  GMainContext *context = _sbx_session_get_context (SBX_SESSION (self->session));

  if (self->input == NULL || _sbx_client_exec_is_over (self))
    return;

  _sbx_client_call_ref (&self->call);
  g_main_context_push_thread_default (context);
  g_input_stream_read_bytes_async (self->input, INPUT_CHUNK, G_PRIORITY_DEFAULT,
                                   self->input_cancellable, input_read_cb, self);
  g_main_context_pop_thread_default (context);
}

void
_sbx_client_exec_start_input (SbxClientExec *self)
{
  SbxCommand *command = sbx_exec_invocation_get_command (self->invocation);

  if (self->input_begun || self->process_id == NULL ||
      !(_sbx_client_session_get_features (self->session) & SBX_WIRE_STDIN) ||
      (sbx_command_get_stdin (command) != SBX_STDIN_PIPE && !sbx_command_get_terminal (command)))
    return;

  self->input_begun = TRUE;
  self->input = g_object_ref (sbx_exec_invocation_get_stdin (self->invocation));
  self->input_cancellable = g_cancellable_new ();
  read_input (self);
}

void
_sbx_client_exec_stop_input (SbxClientExec *self)
{
  if (self->input_cancellable != NULL)
    g_cancellable_cancel (self->input_cancellable);

  g_clear_object (&self->input_cancellable);
  g_clear_object (&self->input);

  if (self->writing != NULL && _sbx_client_exec_is_over (self))
    _sbx_client_call_limit (self->writing, _sbx_client_session_get_timeout (self->session));
}
