/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "client/sbx-client-connection-struct-private.h"

#include "core/sbx-error.h"
#include "core/sbx-text-private.h"
#include "wire/sbx-wire-request-private.h"

#include <glib/gi18n-lib.h>

/*
 * A call between its start and its end, of which there are three: its reply, its caller giving up,
 * and the end of the connection.
 */

typedef enum
{
  DROPPED_NO_MESSAGE = 1 << 0,
  DROPPED_FOREIGN    = 1 << 1,
  DROPPED_LATE       = 1 << 2,
} DroppedKind;

gpointer
_sbx_client_call_new (gsize                     size,
                      const SbxClientCallClass *klass,
                      guint64                   number)
{
  SbxClientCall *call = g_malloc0 (size);

  call->klass = klass;
  call->number = number;
  call->link.data = call;
  call->ref_count = 1;

  return call;
}

SbxClientCall *
_sbx_client_call_ref (SbxClientCall *call)
{
  call->ref_count++;

  return call;
}

void
_sbx_client_call_unref (SbxClientCall *call)
{
  if (--call->ref_count > 0)
    return;

  if (call->klass->clear != NULL)
    call->klass->clear (call);
  g_clear_pointer (&call->message, _sbx_wire_message_free);
  g_free (call);
}

static void
fail_call (SbxClientCall *call,
           const GError  *error)
{
  if (call->told)
    return;

  call->told = TRUE;
  call->klass->failed (call, error);
}

static void
ignore_reply (SbxClientCall *call,
              SbxWireReply  *reply)
{
}

static void
ignore_failure (SbxClientCall *call,
                const GError  *error)
{
}

static const SbxClientCallClass cancel_class = {
  .method = "cancel",
  .replied = ignore_reply,
  .failed = ignore_failure,
};

/* Asks the provider to end what it works on, where it understands that. */
static void
request_cancel (SbxClientConnection *self,
                SbxClientCall       *cancelled)
{
  const guint64 number = _sbx_client_connection_next_number (self);
  SbxClientCall *call = _sbx_client_call_new (sizeof *call, &cancel_class, number);

  call->told = TRUE;
  call->urgent = TRUE;
  _sbx_client_connection_submit (self, call,
                                 _sbx_wire_request_cancel (number, cancelled->number));
}

/* It must end within the grace time from now on. What has to be done at any rate keeps the time
 * that it has. */
static void
set_grace (SbxClientConnection *self,
           SbxClientCall       *call)
{
  const gint64 now = g_get_monotonic_time ();

  if (call->klass->insists && (call->deadline == 0 || call->deadline > now))
    return;

  call->deadline = now + (gint64) self->grace_ms * 1000;
  _sbx_client_connection_arm (self, call->deadline);
}

static void
ask_to_end (SbxClientConnection *self,
            SbxClientCall       *call)
{
  if (call->cancelling)
    return;

  call->cancelling = TRUE;
  set_grace (self, call);
  if ((self->features & SBX_WIRE_CANCEL) && !call->klass->insists)
    request_cancel (self, call);
}

void
_sbx_client_call_give_up (SbxClientCall *call,
                          const GError  *error)
{
  g_autoptr(SbxClientConnection) self = NULL;
  gboolean unsent;

  if (call->connection == NULL || call->told)
    return;

  self = g_rc_box_acquire (call->connection);
  unsent = call->state == SBX_CLIENT_CALL_QUEUED ||
           (call->state == SBX_CLIENT_CALL_SENT && self->writer != NULL &&
            !call->klass->insists && _sbx_wire_writer_withdraw (self->writer, call->writer_number));
  _sbx_client_call_ref (call);

  if ((unsent && !call->klass->insists) || call->state == SBX_CLIENT_CALL_FOLLOWED)
    {
      _sbx_client_call_unref (_sbx_client_connection_take_out (self, call));
      fail_call (call, error);
      _sbx_client_connection_pump (self);
    }
  else
    {
      if (call->state == SBX_CLIENT_CALL_SENT)
        {
          call->state = SBX_CLIENT_CALL_ABANDONED;
          ask_to_end (self, call);
        }
      fail_call (call, error);
    }

  _sbx_client_call_unref (call);
}

void
_sbx_client_call_cancel (SbxClientCall *call)
{
  SbxClientConnection *self = call->connection;
  g_autoptr(GError) error = NULL;

  if (self == NULL || call->told)
    return;

  /* Its own reply tells how it ended, unless the provider never began. */
  if (call->state == SBX_CLIENT_CALL_SENT && (self->features & SBX_WIRE_CANCEL) &&
      !call->klass->insists && _sbx_wire_writer_is_written (self->writer, call->writer_number))
    {
      ask_to_end (self, call);
      return;
    }

  error = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED, _("The operation was cancelled"));
  _sbx_client_call_give_up (call, error);
}

void
_sbx_client_call_limit (SbxClientCall *call,
                        guint          timeout_ms)
{
  call->timeout_ms = timeout_ms;
  if (call->connection == NULL || call->state != SBX_CLIENT_CALL_SENT || timeout_ms == 0)
    return;

  call->deadline = g_get_monotonic_time () + (gint64) timeout_ms * 1000;
  _sbx_client_connection_arm (call->connection, call->deadline);
}

void
_sbx_client_call_end (SbxClientCall *call)
{
  if (call->connection == NULL || call->state != SBX_CLIENT_CALL_FOLLOWED)
    return;

  _sbx_client_call_unref (_sbx_client_connection_take_out (call->connection, call));
}

static void
drop_line (SbxClientConnection *self,
           DroppedKind          kind,
           const char          *text)
{
  self->n_dropped++;
  if (self->dropped_kinds & kind)
    return;

  self->dropped_kinds |= kind;
  _sbx_client_connection_log (self, "protocol", text);
}

static void
drop_reply (SbxClientConnection *self,
            SbxWireReply        *reply)
{
  const gboolean late = reply->number > 0 && reply->number <= self->last_number;
  g_autofree char *quoted = NULL;
  g_autofree char *text = NULL;

  /* An id as bytes is only looked at when it is told of. */
  if (self->dropped_kinds & (late ? DROPPED_LATE : DROPPED_FOREIGN))
    {
      self->n_dropped++;
      return;
    }

  quoted = _sbx_text_quote (reply->id);
  text = late ? g_strdup_printf (_("A message for %s, which is over, was dropped"), quoted)
              : g_strdup_printf (_("A message for %s, which was never asked, was dropped"), quoted);
  drop_line (self, late ? DROPPED_LATE : DROPPED_FOREIGN, text);
}

/* The provider is through with a call whose caller was told otherwise. */
static void
finish_abandoned (SbxClientConnection *self,
                  SbxClientCall       *call,
                  SbxWireReply        *reply)
{
  _sbx_client_connection_take_out (self, call);

  /* What has to be asked because of it comes before the end of all. */
  if (reply != NULL && reply->has_result && reply->error == NULL && call->klass->too_late != NULL)
    call->klass->too_late (call, reply);

  if (self->funcs != NULL)
    _sbx_client_connection_pump (self);
  _sbx_client_call_unref (call);
}

/* The error that a provider answered with, for the caller of @call. */
static GError *
get_error (SbxClientCall *call,
           SbxWireReply  *reply)
{
  g_autoptr(GError) error = _sbx_wire_reply_get_error (reply);

  /* Nobody but the caller cancels. */
  if (!call->cancelling && g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return g_error_new (SBX_ERROR, SBX_ERROR_PROVIDER, "cancelled: %s", error->message);

  return g_steal_pointer (&error);
}

static void
finish_call (SbxClientConnection *self,
             SbxClientCall       *call,
             SbxWireReply        *reply)
{
  const gboolean ok = reply->has_result && reply->error == NULL;
  g_autoptr(GError) error = NULL;

  if (ok && call->follows)
    {
      g_queue_unlink (&self->in_flight, &call->link);
      call->state = SBX_CLIENT_CALL_FOLLOWED;
      call->deadline = 0;
      _sbx_client_call_ref (call);
    }
  else
    _sbx_client_connection_take_out (self, call);

  if (!ok)
    error = reply->error != NULL
              ? get_error (call, reply)
              : g_error_new (SBX_ERROR, SBX_ERROR_PROTOCOL,
                             _("The provider answered %s with neither a result nor an error; this "
                               "is a defect of the provider"), call->klass->method);

  /* The provider gets its next work first. */
  _sbx_client_connection_send_waiting (self);

  if (ok)
    call->klass->replied (call, reply);
  else
    fail_call (call, error);

  if (self->funcs != NULL)
    _sbx_client_connection_pump (self);
  _sbx_client_call_unref (call);
}

/* %FALSE when the call is over by that. */
static gboolean
take_event (SbxClientConnection *self,
            SbxClientCall       *call,
            SbxWireReply        *reply)
{
  g_auto(SbxWireEvent) event = { 0, };
  g_autoptr(GError) error = NULL;

  if (call->klass->event == NULL)
    return TRUE;

  if (_sbx_wire_reply_get_event (reply, &event, &error))
    {
      call->klass->event (call, &event);
      return call->state == SBX_CLIENT_CALL_SENT;
    }

  if (!reply->is_final || call->state == SBX_CLIENT_CALL_FOLLOWED)
    {
      _sbx_client_call_give_up (call, error);
      return FALSE;
    }

  /* Its reply is on the same line: nothing is to come. */
  _sbx_client_connection_take_out (self, call);
  _sbx_client_connection_pump (self);
  fail_call (call, error);
  _sbx_client_call_unref (call);

  return FALSE;
}

static void
take_reply (SbxClientConnection *self,
            SbxWireReply        *reply)
{
  SbxClientCall *call = g_hash_table_lookup (self->by_number, &reply->number);
  gboolean goes_on = TRUE;

  if (call == NULL || (call->state == SBX_CLIENT_CALL_FOLLOWED && reply->event == NULL))
    {
      drop_reply (self, reply);
      return;
    }

  /* What made us think that it is over was not its reply. */
  if (call->guessed)
    {
      call->guessed = FALSE;
      set_grace (self, call);
    }

  _sbx_client_call_ref (call);
  if (reply->event != NULL && call->state != SBX_CLIENT_CALL_ABANDONED)
    goes_on = take_event (self, call, reply);

  /* Whoever was told of the event may have ended it, or all. */
  if (reply->is_final && self->funcs != NULL)
    {
      if (call->state == SBX_CLIENT_CALL_ABANDONED)
        finish_abandoned (self, call, reply);
      else if (goes_on && call->state == SBX_CLIENT_CALL_SENT)
        finish_call (self, call, reply);
    }

  _sbx_client_call_unref (call);
}

static guint64
guess_number (const char *id)
{
  guint64 number = 0;

  if (id == NULL || !g_str_has_prefix (id, "req_") ||
      !g_ascii_string_to_unsigned (id + 4, 10, 1, G_MAXUINT64, &number, NULL))
    return 0;

  return number;
}

/* A line that is no message may still be one for a call, which then fails alone. */
static void
take_bad_line (SbxClientConnection *self,
               SbxWireLine         *line,
               SbxWireReply        *reply,
               const GError        *error)
{
  JsonObject *object = _sbx_wire_line_get_object (line);
  const gboolean final = object != NULL && (json_object_has_member (object, "result") ||
                                            json_object_has_member (object, "error"));
  const guint64 number = reply->number > 0 ? reply->number
                                           : guess_number (_sbx_wire_line_guess_id (line));
  SbxClientCall *call = g_hash_table_lookup (self->by_number, &number);
  g_autofree char *text = NULL;

  /* Half a line is how it ended, not what it said. */
  if (call == NULL || _sbx_wire_reader_has_ended (self->reader))
    {
      text = g_strdup_printf (_("A line that is no message was dropped: %s"), error->message);
      drop_line (self, DROPPED_NO_MESSAGE, text);
      return;
    }

  _sbx_client_call_ref (call);
  if (call->state == SBX_CLIENT_CALL_FOLLOWED ||
      (call->klass->event != NULL && !final && object != NULL))
    _sbx_client_call_give_up (call, error);
  else if (call->klass->event != NULL && !final)
    {
      /* An event, or the reply: if nothing else comes it was the reply. */
      call->guessed = TRUE;
      _sbx_client_call_give_up (call, error);
    }
  else
    {
      _sbx_client_connection_take_out (self, call);
      _sbx_client_connection_pump (self);
      fail_call (call, error);
      _sbx_client_call_unref (call);
    }

  _sbx_client_call_unref (call);
}

void
_sbx_client_connection_line_cb (SbxWireReader *reader,
                                SbxWireLine   *line,
                                gpointer       user_data)
{
  g_autoptr(SbxClientConnection) self = g_rc_box_acquire ((SbxClientConnection *) user_data);
  g_autoptr(GError) error = NULL;
  SbxWireReply reply;

  if (_sbx_wire_reply_parse (&reply, line, &error))
    take_reply (self, &reply);
  else
    take_bad_line (self, line, &reply, error);
}

static void
time_out (SbxClientCall *call)
{
  g_autoptr(GError) error = NULL;

  error = g_error_new (G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
                       _("The provider did not answer %s within %u ms; give it more time, or look "
                         "at what it writes to its standard error"),
                       call->klass->method, call->timeout_ms);
  _sbx_client_call_give_up (call, error);
}

static void
overdue (SbxClientConnection *self,
         SbxClientCall       *call)
{
  g_autofree char *cause = NULL;
  g_autofree char *id = NULL;

  if (call->state == SBX_CLIENT_CALL_SENT && !call->cancelling)
    {
      time_out (call);
      return;
    }

  if (call->guessed)
    {
      finish_abandoned (self, call, NULL);
      return;
    }

  id = g_strdup_printf ("req_%" G_GUINT64_FORMAT, call->number);
  cause = g_strdup_printf (_("The provider %s did not come to an end with %s (%s), for which "
                             "nobody waits any more, and was ended"),
                           self->program, call->klass->method, id);
  _sbx_client_connection_give_up (self, cause, 0);
}

gboolean
_sbx_client_connection_timer_cb (gpointer user_data)
{
  g_autoptr(SbxClientConnection) self = g_rc_box_acquire ((SbxClientConnection *) user_data);
  const gint64 now = g_get_monotonic_time ();
  g_autoptr(GPtrArray) late = NULL;

  g_source_set_ready_time (self->timer, -1);
  if (self->end_by != 0 && self->end_by <= now)
    {
      _sbx_client_connection_give_up (self, self->end_cause, 0);
      return G_SOURCE_CONTINUE;
    }

  if (self->end_by != 0)
    _sbx_client_connection_arm (self, self->end_by);

  late = g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_client_call_unref);
  for (GList *link = self->in_flight.head; link != NULL; link = link->next)
    {
      SbxClientCall *call = link->data;

      if (call->deadline != 0 && call->deadline <= now)
        g_ptr_array_add (late, _sbx_client_call_ref (call));
      else if (call->deadline != 0)
        _sbx_client_connection_arm (self, call->deadline);
    }

  for (guint i = 0; i < late->len; i++)
    {
      SbxClientCall *call = g_ptr_array_index (late, i);

      /* What became of one may have put an end to others, or have given them more time. */
      if (call->connection == self && self->funcs != NULL && call->deadline <= now)
        overdue (self, call);
    }

  return G_SOURCE_CONTINUE;
}
