/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "server/sbx-server-private.h"

#include "core/sbx-command.h"
#include "core/sbx-error.h"
#include "core/sbx-terminal.h"
#include "core/sbx-text-private.h"

#include <glib/gi18n-lib.h>

/*
 * What can be done with a command that runs. Its id is one that the session of the call knows: what
 * another session runs cannot be reached.
 */

/* %NULL when the call was answered with what is wrong. */
static SbxServerProcess *
find_process (SbxServerCall *call)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *quoted = NULL;
  g_autofree char *message = NULL;
  const char *id = _sbx_wire_call_get_process_id (&call->wire, &error);
  SbxServerProcess *process;

  if (id == NULL)
    {
      _sbx_server_call_fail (call, error);
      return NULL;
    }

  process = g_hash_table_lookup (call->session->processes, id);
  if (process != NULL)
    return process;

  quoted = _sbx_text_quote (id);
  message = g_strdup_printf (_("The session has no process %s, or has forgotten it"), quoted);
  _sbx_server_call_fail_code (call, "unknown_process", message);

  return NULL;
}

static void
waited_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  g_autoptr(SbxServerCall) call = user_data;
  g_autoptr(SbxExecResult) ended = NULL;
  g_autoptr(GError) error = NULL;

  ended = sbx_process_wait_finish (SBX_PROCESS (object), result, &error);
  if (ended == NULL)
    _sbx_server_call_fail (call, error);
  else
    _sbx_server_call_answer (call, _sbx_wire_answer_exec (call->wire.id, ended, FALSE));
}

void
_sbx_server_wait (SbxServerCall *call)
{
  SbxServerProcess *self = find_process (call);

  if (self != NULL)
    sbx_process_wait_async (self->process, call->cancellable, waited_cb,
                            _sbx_server_call_ref (call));
}

void
_sbx_server_kill (SbxServerCall *call)
{
  g_autoptr(SbxServerProcess) self = NULL;
  SbxServerProcess *found = find_process (call);
  g_autoptr(GError) error = NULL;
  int signal_number = 0;

  if (found == NULL)
    return;

  /* Who gets the signal may end at once. */
  self = _sbx_server_process_ref (found);
  if (!_sbx_wire_call_get_signal (&call->wire, &signal_number, &error) ||
      !sbx_process_kill (self->process, signal_number, &error))
    _sbx_server_call_fail (call, error);
  else
    _sbx_server_call_done (call);
}

void
_sbx_server_list_processes (SbxServerCall *call)
{
  g_autoptr(GPtrArray) ids = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer process;

  g_hash_table_iter_init (&iter, call->session->processes);
  while (g_hash_table_iter_next (&iter, NULL, &process))
    if (sbx_process_get_state (((SbxServerProcess *) process)->process) < SBX_PROCESS_STATE_ENDED)
      g_ptr_array_add (ids, ((SbxServerProcess *) process)->id);

  g_ptr_array_add (ids, NULL);
  _sbx_server_call_answer (call, _sbx_wire_answer_processes (call->wire.id,
                                                             (const char * const *) ids->pdata));
}

static GOutputStream *
get_input (SbxServerProcess *self)
{
  if (sbx_command_get_terminal (sbx_process_get_command (self->process)))
    return sbx_terminal_get_output_stream (sbx_process_get_terminal (self->process));

  return sbx_process_get_stdin_pipe (self->process);
}

static void write_next (SbxServerProcess *self);

/* The one that was being written, or was refused, is over. */
static void
take_first (SbxServerProcess *self,
            const GError     *error)
{
  g_autoptr(SbxServerCall) call = g_queue_pop_head (&self->writes);

  if (error != NULL)
    _sbx_server_call_fail (call, error);
  else
    _sbx_server_call_done (call);
}

static void
wrote_cb (GObject      *object,
          GAsyncResult *result,
          gpointer      user_data)
{
  g_autoptr(SbxServerProcess) self = user_data;
  g_autoptr(GError) error = NULL;

  g_output_stream_write_all_finish (G_OUTPUT_STREAM (object), result, NULL, &error);
  take_first (self, error);
  write_next (self);
}

/* The client gave up while it waited behind another one. */
static void
withdraw_cb (SbxServerCall *call)
{
  SbxServerProcess *self = call->place;

  if (g_queue_remove (&self->writes, call))
    _sbx_server_call_unref (call);
}

static void
write_next (SbxServerProcess *self)
{
  SbxServerCall *call;

  while ((call = g_queue_peek_head (&self->writes)) != NULL)
    {
      GOutputStream *input = get_input (self);
      g_autoptr(GError) error = NULL;

      call->withdraw = NULL;
      if (call->bytes != NULL)
        {
          g_output_stream_write_all_async (input, g_bytes_get_data (call->bytes, NULL),
                                           g_bytes_get_size (call->bytes), G_PRIORITY_DEFAULT,
                                           call->cancellable, wrote_cb,
                                           _sbx_server_process_ref (self));
          return;
        }

      g_output_stream_close (input, NULL, &error);
      take_first (self, error);
    }
}

/* The reply comes when the command's pipe has taken all: it is the credit for the next. */
static void
push_write (SbxServerCall    *call,
            SbxServerProcess *self)
{
  g_queue_push_tail (&self->writes, _sbx_server_call_ref (call));
  call->place = self;
  call->withdraw = withdraw_cb;

  if (self->writes.length == 1)
    write_next (self);
}

static gboolean
has_input (SbxServerCall    *call,
           SbxServerProcess *self)
{
  if (get_input (self) != NULL)
    return TRUE;

  _sbx_server_call_fail_code (call, "invalid_request",
                              _("The process has no standard input that can be written to; start "
                                "it with “open_stdin” or with a terminal"));

  return FALSE;
}

void
_sbx_server_write_stdin (SbxServerCall *call)
{
  SbxServerProcess *self = find_process (call);
  g_autoptr(GError) error = NULL;

  if (self == NULL || !has_input (call, self))
    return;

  call->bytes = _sbx_wire_call_get_data (&call->wire, &error);
  if (call->bytes == NULL)
    _sbx_server_call_fail (call, error);
  else
    push_write (call, self);
}

void
_sbx_server_close_stdin (SbxServerCall *call)
{
  SbxServerProcess *self = find_process (call);

  if (self == NULL || !has_input (call, self))
    return;

  /* To close our end would take the terminal away from under the command. */
  if (sbx_command_get_terminal (sbx_process_get_command (self->process)))
    _sbx_server_call_fail_code (call, "invalid_request",
                                _("A terminal has no end of input; write the character for it"));
  else
    push_write (call, self);
}

void
_sbx_server_resize_pty (SbxServerCall *call)
{
  SbxServerProcess *self = find_process (call);
  g_autoptr(GError) error = NULL;
  guint rows = 0;
  guint columns = 0;

  if (self == NULL)
    return;

  if (!sbx_command_get_terminal (sbx_process_get_command (self->process)))
    _sbx_server_call_fail_code (call, "invalid_request", _("The process has no terminal"));
  else if (!_sbx_wire_call_get_size (&call->wire, &rows, &columns, &error) ||
           !sbx_terminal_resize (sbx_process_get_terminal (self->process), rows, columns, &error))
    _sbx_server_call_fail (call, error);
  else
    _sbx_server_call_done (call);
}
