/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "server/sbx-server-private.h"

#include "core/sbx-error.h"
#include "core/sbx-sync-private.h"

/*
 * Lines in, and when to stop reading them.
 *
 * Many lines come in one read. They are begun one after another, and replies are gathered and
 * written in one go at the next turn of the main loop. After a number of lines the reader rests
 * until that turn, so that calls which are over quickly are over before the next are begun. Where
 * calls pile up nevertheless it rests longer, for who cannot keep up should slow down before he is
 * refused; but it never stops for them, since a request to cancel would not get through.
 */

#define LINES_PER_TURN 64
#define LINES_WHEN_PILED_UP 16
#define REST_USEC (20 * 1000)

static gboolean
is_piled_up (SbxServerConnection *self)
{
  return self->n_pending >= self->limits.max_pending / 2 &&
         self->n_pending < self->limits.max_pending;
}

static gboolean
may_read (SbxServerConnection *self)
{
  if (_sbx_server_connection_waiting (self) >= SBX_SERVER_REQUESTS_HIGH)
    return FALSE;
  if (self->n_lines >= LINES_PER_TURN)
    return FALSE;

  return self->resume_at == 0 || !is_piled_up (self) ||
         g_source_get_time (self->turn) >= self->resume_at;
}

void
_sbx_server_connection_regulate (SbxServerConnection *self)
{
  gboolean may;

  if (self->reader == NULL)
    return;

  may = may_read (self);
  if (may != self->paused)
    return;

  self->paused = !may;
  if (may)
    {
      self->resume_at = 0;
      _sbx_wire_reader_resume (self->reader);
    }
  else
    {
      _sbx_wire_reader_pause (self->reader);
    }
}

/* Its time, unlike that it is due, can only be set at the cost of waking the loop. */
typedef struct
{
  GSource  source;
  gboolean due;
} Turn;

static gboolean
turn_prepare (GSource *source,
              int     *timeout)
{
  *timeout = -1;

  return ((Turn *) source)->due;
}

static gboolean
turn_dispatch (GSource     *source,
               GSourceFunc  callback,
               gpointer     user_data)
{
  ((Turn *) source)->due = FALSE;
  if (g_source_get_ready_time (source) >= 0)
    g_source_set_ready_time (source, -1);

  return callback (user_data);
}

static GSourceFuncs turn_funcs = {
  .prepare = turn_prepare,
  .dispatch = turn_dispatch,
};

static gboolean
turn_cb (gpointer user_data)
{
  g_autoptr(SbxServerConnection) self = _sbx_server_connection_ref (user_data);

  self->n_lines = 0;
  if (self->gathering)
    {
      self->gathering = FALSE;
      if (self->writer != NULL)
        _sbx_wire_writer_uncork (self->writer);
    }

  _sbx_server_connection_regulate (self);
  if (self->paused && self->resume_at > g_source_get_time (self->turn))
    g_source_set_ready_time (self->turn, self->resume_at);

  return G_SOURCE_CONTINUE;
}

/* What is pushed from now on is written at the next turn, in one go. */
static void
gather (SbxServerConnection *self)
{
  if (self->gathering || self->writer == NULL)
    return;

  self->gathering = TRUE;
  _sbx_wire_writer_cork (self->writer);
  ((Turn *) self->turn)->due = TRUE;
}

void
_sbx_server_connection_push (SbxServerConnection *self,
                             SbxWireMessage      *message)
{
  if (self->writer == NULL)
    {
      _sbx_wire_message_free (message);
      return;
    }

  if (self->n_pending > 0)
    gather (self);

  _sbx_wire_writer_push (self->writer, message);

  /* The last of the replies that are owed need not wait for a turn, unless lines still come. */
  if (self->n_pending == 0 && self->gathering && self->n_lines == 0)
    {
      self->gathering = FALSE;
      _sbx_wire_writer_uncork (self->writer);
    }
}

gsize
_sbx_server_connection_waiting (SbxServerConnection *self)
{
  return self->writer != NULL ? _sbx_wire_writer_get_waiting (self->writer) : 0;
}

void
_sbx_server_connection_count (SbxServerConnection *self)
{
  _sbx_provider_server_count (self->server, g_hash_table_size (self->sessions), self->n_pending);
}

/* Whether the reader should rest for a while; lines that are done with need no rest. */
static gboolean
needs_rest (SbxServerConnection *self,
            guint                n_pending_before)
{
  if (!is_piled_up (self) || self->n_pending <= n_pending_before)
    return FALSE;

  return ++self->n_piled_up >= LINES_WHEN_PILED_UP;
}

static void
line_cb (SbxWireReader *reader,
         SbxWireLine   *line,
         gpointer       user_data)
{
  g_autoptr(SbxServerConnection) self = _sbx_server_connection_ref (user_data);
  const guint n_pending = self->n_pending;

  if (!_sbx_context_enter (G_OBJECT (self->server), NULL))
    return;

  gather (self);
  self->n_lines++;
  _sbx_server_call_begin (self, line);

  if (needs_rest (self, n_pending))
    {
      self->n_piled_up = 0;
      self->n_lines = LINES_PER_TURN;
      self->resume_at = g_get_monotonic_time () + REST_USEC;
    }

  _sbx_server_connection_regulate (self);
  _sbx_context_leave (G_OBJECT (self->server));
}

static void
input_end_cb (SbxWireReader *reader,
              const GError  *error,
              gpointer       user_data)
{
  g_autoptr(SbxServerConnection) self = _sbx_server_connection_ref (user_data);

  if (!_sbx_context_enter (G_OBJECT (self->server), NULL))
    return;

  /* Where the next request begins cannot be told any more. */
  if (g_error_matches (error, SBX_ERROR, SBX_ERROR_TOO_LARGE))
    _sbx_server_connection_push (self, _sbx_wire_answer_code ("unknown", "too_large",
                                                              error->message));

  _sbx_server_connection_end (self, error != NULL ? g_error_copy (error) : NULL);
  _sbx_context_leave (G_OBJECT (self->server));
}

/* Those who were held back, now that all that waited is written. */
static void
resume_outputs (SbxServerConnection *self)
{
  g_autoptr(GList) outputs = g_hash_table_get_keys (self->outputs);

  for (GList *l = outputs; l != NULL; l = l->next)
    _sbx_server_output_resume (l->data);
}

static gboolean
is_gone (const GError *error)
{
  return g_error_matches (error, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE) ||
         g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED);
}

static void
written_cb (SbxWireWriter *writer,
            const GError  *error,
            gpointer       user_data)
{
  g_autoptr(SbxServerConnection) self = _sbx_server_connection_ref (user_data);

  if (!_sbx_context_enter (G_OBJECT (self->server), NULL))
    return;

  if (error != NULL)
    {
      g_autoptr(GError) failure = is_gone (error) ? NULL : g_error_copy (error);

      /* A client that is gone needs nothing any more, as one that closed its end. */
      g_clear_pointer (&self->writer, _sbx_wire_writer_free);
      self->gathering = FALSE;
      _sbx_server_connection_end (self, g_steal_pointer (&failure));
      _sbx_server_connection_check_end (self);
    }
  else
    {
      resume_outputs (self);
      _sbx_server_reads_go_on (self);
      _sbx_server_connection_regulate (self);
      _sbx_server_connection_check_end (self);
    }

  _sbx_context_leave (G_OBJECT (self->server));
}

SbxServerConnection *
_sbx_server_connection_new (GTask                 *task,
                            SbxProvider           *provider,
                            const SbxServerLimits *limits,
                            int                    input_fd,
                            int                    output_fd)
{
  SbxServerConnection *self = g_rc_box_new0 (SbxServerConnection);

  self->server = g_object_ref (g_task_get_source_object (task));
  self->task = g_object_ref (task);
  self->provider = g_object_ref (provider);
  self->context = g_main_context_ref (_sbx_context_of (G_OBJECT (self->server)));
  self->limits = *limits;
  self->limits.provider_name = g_strdup (limits->provider_name);

  self->calls = g_hash_table_new_full (g_str_hash, g_str_equal, NULL,
                                       (GDestroyNotify) _sbx_server_call_unref);
  self->sessions = g_hash_table_new_full (g_str_hash, g_str_equal, NULL,
                                          (GDestroyNotify) _sbx_server_session_unref);
  self->closed = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->outputs = g_hash_table_new (NULL, NULL);
  g_queue_init (&self->closed_order);
  g_queue_init (&self->reads);
  g_queue_init (&self->large_reads);
  g_queue_init (&self->lists);

  self->turn = g_source_new (&turn_funcs, sizeof (Turn));
  g_source_set_callback (self->turn, turn_cb, self, NULL);
  g_source_attach (self->turn, self->context);

  self->writer = _sbx_wire_writer_new (output_fd, self->context, written_cb, self);
  self->reader = _sbx_wire_reader_new (input_fd, self->context, limits->max_message_size, line_cb,
                                       input_end_cb, self);

  return self;
}

SbxServerConnection *
_sbx_server_connection_ref (SbxServerConnection *self)
{
  return g_rc_box_acquire (self);
}

/* When it is done nothing but memory is left. */
static void
connection_clear (gpointer data)
{
  SbxServerConnection *self = data;

  g_clear_pointer (&self->reader, _sbx_wire_reader_free);
  g_clear_pointer (&self->writer, _sbx_wire_writer_free);
  if (self->turn != NULL)
    g_source_destroy (self->turn);
  g_clear_pointer (&self->turn, g_source_unref);
  g_clear_pointer (&self->calls, g_hash_table_unref);
  g_clear_pointer (&self->sessions, g_hash_table_unref);
  g_clear_pointer (&self->closed, g_hash_table_unref);
  g_queue_clear (&self->closed_order);
  g_clear_pointer (&self->outputs, g_hash_table_unref);
  g_clear_pointer (&self->context, g_main_context_unref);
  g_clear_pointer (&self->limits.provider_name, g_free);
  g_clear_object (&self->provider);
  g_clear_object (&self->server);
  g_clear_object (&self->task);
  g_clear_error (&self->failure);
}

void
_sbx_server_connection_unref (SbxServerConnection *self)
{
  g_rc_box_release_full (self, connection_clear);
}
