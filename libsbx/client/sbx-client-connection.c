/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "client/sbx-client-connection-struct-private.h"

#include "core/sbx-error.h"
#include "core/sbx-text-private.h"

#include <glib/gi18n-lib.h>

/* How long a provider whose client was dropped has to see that its input has ended. */
#define MAX_DROP_PATIENCE_MS 2000

static gboolean
timer_dispatch (GSource     *source,
                GSourceFunc  callback,
                gpointer     user_data)
{
  return callback (user_data);
}

static GSourceFuncs timer_funcs = { NULL, NULL, timer_dispatch, NULL, NULL, NULL };

static void
drop_call (gpointer data)
{
  SbxClientCall *call = data;

  call->connection = NULL;
  call->state = SBX_CLIENT_CALL_OVER;
  _sbx_client_call_unref (call);
}

static void
connection_clear (SbxClientConnection *self)
{
  g_weak_ref_clear (&self->owner);
  g_clear_pointer (&self->by_number, g_hash_table_unref);
  g_clear_pointer (&self->context, g_main_context_unref);
  g_clear_error (&self->failure);
  g_free (self->program);
  g_free (self->end_cause);
}

void
_sbx_client_connection_unref (SbxClientConnection *self)
{
  g_rc_box_release_full (self, (GDestroyNotify) connection_clear);
}

void
_sbx_client_connection_flush (SbxClientConnection *self)
{
  g_source_set_ready_time (self->flush, -1);
  if (!self->corked)
    return;

  self->corked = FALSE;
  if (self->writer != NULL)
    _sbx_wire_writer_uncork (self->writer);
}

static gboolean
flush_cb (gpointer user_data)
{
  _sbx_client_connection_flush (user_data);

  return G_SOURCE_CONTINUE;
}

/* A source that waits for its time, and for nothing else. */
static GSource *
add_timer (SbxClientConnection *self,
           GSourceFunc          func)
{
  GSource *source = g_source_new (&timer_funcs, sizeof (GSource));

  g_source_set_ready_time (source, -1);
  /* Whoever is told that time is over may run the loop, and time goes on. */
  g_source_set_can_recurse (source, TRUE);
  g_source_set_callback (source, func, self, NULL);
  g_source_attach (source, self->context);

  return source;
}

SbxClientConnection *
_sbx_client_connection_new (const SbxClientConnectionFuncs *funcs,
                            GObject                        *owner,
                            GMainContext                   *context)
{
  SbxClientConnection *self = g_rc_box_new0 (SbxClientConnection);

  self->funcs = funcs;
  g_weak_ref_init (&self->owner, owner);
  self->context = g_main_context_ref (context);
  self->by_number = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, drop_call);
  g_queue_init (&self->queue);
  g_queue_init (&self->in_flight);

  self->timer = add_timer (self, _sbx_client_connection_timer_cb);
  self->flush = add_timer (self, flush_cb);

  return self;
}

static void
free_here (SbxClientConnection *self)
{
  GList *link;

  self->funcs = NULL;
  g_source_destroy (self->timer);
  g_source_destroy (self->flush);
  g_clear_pointer (&self->timer, g_source_unref);
  g_clear_pointer (&self->flush, g_source_unref);
  g_clear_pointer (&self->reader, _sbx_wire_reader_free);
  g_clear_pointer (&self->writer, _sbx_wire_writer_free);
  g_clear_pointer (&self->errors, _sbx_client_stderr_free);

  while ((link = g_queue_pop_head_link (&self->queue)) != NULL)
    drop_call (link->data);
  while (g_queue_pop_head_link (&self->in_flight) != NULL)
    ;
  g_hash_table_remove_all (self->by_number);

  if (self->child != NULL)
    _sbx_provider_child_end (self->child, MIN (self->grace_ms, MAX_DROP_PATIENCE_MS));
  g_clear_pointer (&self->child, _sbx_provider_child_free);

  _sbx_client_connection_unref (self);
}

static gboolean
free_cb (gpointer user_data)
{
  free_here (user_data);

  return G_SOURCE_REMOVE;
}

/* A binding may collect its garbage in any thread; all else is done where the owner was at home. */
void
_sbx_client_connection_free (SbxClientConnection *self)
{
  g_autoptr(GSource) source = NULL;
  g_autoptr(GMainContext) context = g_main_context_ref (self->context);

  if (g_main_context_acquire (context))
    {
      free_here (self);
      g_main_context_release (context);
      return;
    }

  source = g_idle_source_new ();
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, free_cb, self, NULL);
  g_source_attach (source, context);
}

void
_sbx_client_connection_log (SbxClientConnection *self,
                            const char          *source,
                            const char          *text)
{
  g_autoptr(GObject) owner = g_weak_ref_get (&self->owner);

  if (owner != NULL && self->funcs != NULL)
    self->funcs->log (owner, source, text);
}

void
_sbx_client_connection_changed (SbxClientConnection *self)
{
  g_autoptr(GObject) owner = NULL;

  if (self->told_in_flight == self->in_flight.length && self->told_queued == self->queue.length)
    return;

  self->told_in_flight = self->in_flight.length;
  self->told_queued = self->queue.length;
  owner = g_weak_ref_get (&self->owner);
  if (owner != NULL && self->funcs != NULL)
    self->funcs->changed (owner);
}

static void
stderr_cb (const char *line,
           gpointer    user_data)
{
  _sbx_client_connection_log (user_data, "stderr", line);
}

gboolean
_sbx_client_connection_start (SbxClientConnection  *self,
                              const char * const   *argv,
                              const char * const   *environment,
                              gsize                 max_size,
                              GError              **error)
{
  g_autofree char *name = g_path_get_basename (argv[0]);
  SbxProviderPipes pipes;

  self->program = _sbx_text_quote (name);
  self->max_size = max_size;
  self->child = _sbx_provider_child_new (argv, environment, &pipes,
                                         _sbx_client_connection_exited_cb, self, error);
  if (self->child == NULL)
    return FALSE;

  self->writer = _sbx_wire_writer_new (pipes.stdin_fd, self->context,
                                       _sbx_client_connection_writer_cb, self);
  self->reader = _sbx_wire_reader_new (pipes.stdout_fd, self->context, max_size,
                                       _sbx_client_connection_line_cb,
                                       _sbx_client_connection_end_cb, self);
  self->errors = _sbx_client_stderr_new (pipes.stderr_fd, self->context, stderr_cb, self);

  return TRUE;
}

void
_sbx_client_connection_set_features (SbxClientConnection *self,
                                     SbxWireFeatures      features)
{
  self->features = features;
}

void
_sbx_client_connection_set_grace (SbxClientConnection *self,
                                  guint                grace_ms)
{
  self->grace_ms = grace_ms;
}

guint64
_sbx_client_connection_next_number (SbxClientConnection *self)
{
  return ++self->last_number;
}

void
_sbx_client_connection_arm (SbxClientConnection *self,
                            gint64               deadline)
{
  const gint64 ready = g_source_get_ready_time (self->timer);

  /* Time stands still. */
  if (self->paused_at != 0)
    return;

  if (ready < 0 || ready > deadline)
    g_source_set_ready_time (self->timer, deadline);
}

SbxClientCall *
_sbx_client_connection_take_out (SbxClientConnection *self,
                                 SbxClientCall       *call)
{
  const SbxClientCallState state = call->state;

  call->state = SBX_CLIENT_CALL_OVER;
  call->connection = NULL;

  if (state == SBX_CLIENT_CALL_QUEUED)
    {
      g_queue_unlink (&self->queue, &call->link);
      return call;
    }

  if (state != SBX_CLIENT_CALL_FOLLOWED)
    g_queue_unlink (&self->in_flight, &call->link);
  g_hash_table_steal (self->by_number, &call->number);

  return call;
}

static void
send_call (SbxClientConnection *self,
           SbxClientCall       *call)
{
  guint timeout_ms = call->timeout_ms;

  if (call->told && !call->klass->insists)
    timeout_ms = self->grace_ms;
  call->state = call->told ? SBX_CLIENT_CALL_ABANDONED : SBX_CLIENT_CALL_SENT;

  g_queue_push_tail_link (&self->in_flight, &call->link);
  g_hash_table_insert (self->by_number, &call->number, call);
  if (timeout_ms > 0)
    {
      call->deadline = g_get_monotonic_time () + (gint64) timeout_ms * 1000;
      _sbx_client_connection_arm (self, call->deadline);
    }

  /* Where many are asked at once, they are written at once. */
  if (self->in_flight.length > 1 && !self->corked)
    {
      self->corked = TRUE;
      _sbx_wire_writer_cork (self->writer);
      g_source_set_ready_time (self->flush, 0);
    }

  call->writer_number = _sbx_wire_writer_push (self->writer, g_steal_pointer (&call->message));
}

static gboolean
may_send (SbxClientConnection *self)
{
  return self->failure == NULL && self->writer != NULL &&
         (self->in_flight.length == 0 || (self->features & SBX_WIRE_MULTIPLEX));
}

static void
tell_idle (SbxClientConnection *self)
{
  g_autoptr(GObject) owner = g_weak_ref_get (&self->owner);

  self->idle_told = TRUE;
  if (owner != NULL)
    self->funcs->idle (owner);
}

void
_sbx_client_connection_send_waiting (SbxClientConnection *self)
{
  while (self->queue.length > 0 && may_send (self))
    send_call (self, g_queue_pop_head_link (&self->queue)->data);
}

void
_sbx_client_connection_pump (SbxClientConnection *self)
{
  g_autoptr(SbxClientConnection) keep G_GNUC_UNUSED = g_rc_box_acquire (self);

  _sbx_client_connection_send_waiting (self);
  _sbx_client_connection_changed (self);

  if (self->draining && !self->idle_told && self->funcs != NULL && self->failure == NULL &&
      self->queue.length == 0 && self->in_flight.length == 0)
    tell_idle (self);
}

void
_sbx_client_connection_submit (SbxClientConnection *self,
                               SbxClientCall       *call,
                               SbxWireMessage      *message)
{
  call->message = message;

  if (self->failure != NULL || self->funcs == NULL)
    {
      call->state = SBX_CLIENT_CALL_OVER;
      if (self->failure != NULL && !call->told)
        call->klass->failed (call, self->failure);
      _sbx_client_call_unref (call);
      return;
    }

  call->connection = self;
  if (call->urgent)
    {
      send_call (self, call);
      _sbx_client_connection_changed (self);
      return;
    }

  g_queue_push_tail_link (&self->queue, &call->link);
  _sbx_client_connection_pump (self);
}

/* Deadlines stand still meanwhile: what is not read is not the provider's fault. */
void
_sbx_client_connection_pause (SbxClientConnection *self)
{
  if (self->n_pauses++ > 0 || self->exited || self->reader == NULL)
    return;

  self->paused_at = g_get_monotonic_time ();
  g_source_set_ready_time (self->timer, -1);
  _sbx_wire_reader_pause (self->reader);
}

static void
unpause (SbxClientConnection *self)
{
  const gint64 passed = g_get_monotonic_time () - self->paused_at;

  if (self->paused_at == 0 || self->reader == NULL)
    return;

  self->paused_at = 0;
  for (GList *link = self->in_flight.head; link != NULL; link = link->next)
    {
      SbxClientCall *call = link->data;

      if (call->deadline != 0)
        call->deadline += passed;
    }

  g_source_set_ready_time (self->timer, 0);
  _sbx_wire_reader_resume (self->reader);
}

void
_sbx_client_connection_resume (SbxClientConnection *self)
{
  g_return_if_fail (self->n_pauses > 0);

  if (--self->n_pauses == 0)
    unpause (self);
}

void
_sbx_client_connection_unpause (SbxClientConnection *self)
{
  unpause (self);
}

const GError *
_sbx_client_connection_get_failure (SbxClientConnection *self)
{
  return self->failure;
}

gboolean
_sbx_client_connection_is_gone (SbxClientConnection *self)
{
  return self->child == NULL || self->exited;
}

SbxWireFeatures
_sbx_client_connection_get_features (SbxClientConnection *self)
{
  return self->features;
}

guint
_sbx_client_connection_n_in_flight (SbxClientConnection *self)
{
  return self->in_flight.length;
}

guint
_sbx_client_connection_n_queued (SbxClientConnection *self)
{
  return self->queue.length;
}

guint64
_sbx_client_connection_n_dropped (SbxClientConnection *self)
{
  return self->n_dropped;
}

static void
describe_calls (GQueue     *calls,
                const char *state,
                GPtrArray  *lines)
{
  for (GList *link = calls->head; link != NULL; link = link->next)
    {
      SbxClientCall *call = link->data;

      g_ptr_array_add (lines,
                       g_strdup_printf ("req_%" G_GUINT64_FORMAT " %s %s", call->number,
                                        call->klass->method, call->told ? "cancelled" : state));
    }
}

GStrv
_sbx_client_connection_dup_calls (SbxClientConnection *self)
{
  g_autoptr(GPtrArray) lines = g_ptr_array_new ();

  describe_calls (&self->in_flight, "in flight", lines);
  describe_calls (&self->queue, "queued", lines);
  g_ptr_array_add (lines, NULL);

  return (GStrv) g_ptr_array_free (g_steal_pointer (&lines), FALSE);
}
