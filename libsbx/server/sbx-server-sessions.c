/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "server/sbx-server-private.h"

#include "core/sbx-error.h"
#include "core/sbx-open-request.h"
#include "core/sbx-text-private.h"

#include <glib/gi18n-lib.h>

/*
 * Opening and closing. A session is found by its id alone: what else a client sends of it says
 * nothing that the server does not know better.
 */

/* How many sessions that are closed are told from such as never were. */
#define MAX_REMEMBERED 4096

static SbxServerSession *
session_new (SbxServerConnection *connection,
             SbxSession          *session,
             const char          *group)
{
  SbxServerSession *self = g_rc_box_new0 (SbxServerSession);
  const char *id = sbx_session_get_id (session);

  self->connection = _sbx_server_connection_ref (connection);
  self->session = g_object_ref (session);
  self->group = g_strdup (group);
  self->processes = g_hash_table_new_full (g_str_hash, g_str_equal, NULL,
                                           (GDestroyNotify) _sbx_server_process_unref);
  g_queue_init (&self->ended);

  /* A name that another one has, or that JSON cannot carry, would be no name at all. */
  if (*id != '\0' && g_utf8_validate (id, -1, NULL) &&
      !g_hash_table_contains (connection->sessions, id))
    self->id = g_strdup (id);
  else
    self->id = g_uuid_string_random ();

  return self;
}

SbxServerSession *
_sbx_server_session_ref (SbxServerSession *self)
{
  return g_rc_box_acquire (self);
}

static void
session_clear (gpointer data)
{
  SbxServerSession *self = data;

  g_clear_pointer (&self->processes, g_hash_table_unref);
  g_queue_clear_full (&self->ended, g_free);
  g_clear_object (&self->session);
  g_clear_pointer (&self->id, g_free);
  g_clear_pointer (&self->group, g_free);
  g_clear_pointer (&self->connection, _sbx_server_connection_unref);
}

void
_sbx_server_session_unref (SbxServerSession *self)
{
  g_rc_box_release_full (self, session_clear);
}

static void
remember_closed (SbxServerConnection *connection,
                 const char          *id)
{
  char *copy;

  if (g_hash_table_contains (connection->closed, id))
    return;

  copy = g_strdup (id);
  g_hash_table_add (connection->closed, copy);
  g_queue_push_tail (&connection->closed_order, copy);

  if (connection->closed_order.length > MAX_REMEMBERED)
    g_hash_table_remove (connection->closed, g_queue_pop_head (&connection->closed_order));
}

static void
stop_processes (SbxServerSession *self)
{
  g_autoptr(GPtrArray) processes = NULL;
  GHashTableIter iter;
  gpointer process;

  /* One that is stopped may leave the table. */
  processes = g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_server_process_unref);
  g_hash_table_iter_init (&iter, self->processes);
  while (g_hash_table_iter_next (&iter, NULL, &process))
    g_ptr_array_add (processes, _sbx_server_process_ref (process));

  for (guint i = 0; i < processes->len; i++)
    _sbx_server_process_stop (g_ptr_array_index (processes, i));
}

void
_sbx_server_session_remove (SbxServerSession *self)
{
  g_autoptr(SbxServerSession) keep G_GNUC_UNUSED = _sbx_server_session_ref (self);
  SbxServerConnection *connection = self->connection;

  if (g_hash_table_lookup (connection->sessions, self->id) != self)
    return;

  g_hash_table_remove (connection->sessions, self->id);
  remember_closed (connection, self->id);

  /* They hold the session. */
  stop_processes (self);
  g_hash_table_remove_all (self->processes);
  _sbx_server_connection_count (connection);
}

SbxWireFeatures
_sbx_server_features (SbxCapabilities able)
{
  SbxWireFeatures features = SBX_WIRE_MULTIPLEX | SBX_WIRE_CANCEL;

  features |= _sbx_wire_features_of_capabilities (able);
  if (able & SBX_CAPABILITIES_EXEC)
    features |= SBX_WIRE_TIMEOUT | SBX_WIRE_SIGNALS | SBX_WIRE_QUIET_RESULT;

  return features;
}

static SbxWireMessage *
answer_session (const char       *request_id,
                SbxServerSession *self)
{
  const SbxCapabilities able = sbx_session_get_capabilities (self->session);
  const char *cwd = sbx_session_get_cwd (self->session);

  if (cwd != NULL && !g_utf8_validate (cwd, -1, NULL))
    cwd = NULL;

  return _sbx_wire_answer_session (request_id, self->id, cwd, (able & SBX_CAPABILITIES_EXEC) != 0,
                                   _sbx_server_features (able), NULL);
}

static void
discarded_cb (GObject      *object,
              GAsyncResult *result,
              gpointer      user_data)
{
  g_autoptr(SbxServerSession) session = user_data;
  g_autoptr(SbxServerConnection) connection = _sbx_server_connection_ref (session->connection);

  sbx_session_close_finish (SBX_SESSION (object), result, NULL);
  _sbx_server_session_remove (session);
  _sbx_server_connection_check_end (connection);
}

static void
opened_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  g_autoptr(SbxServerCall) call = user_data;
  SbxServerConnection *connection = call->connection;
  g_autoptr(SbxServerSession) self = NULL;
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(GError) error = NULL;

  connection->n_opening--;
  session = sbx_provider_open_finish (SBX_PROVIDER (object), result, &error);
  if (session == NULL)
    {
      _sbx_server_call_fail (call, error);
      return;
    }

  self = session_new (connection, session, call->group);
  g_hash_table_insert (connection->sessions, self->id, _sbx_server_session_ref (self));
  _sbx_server_connection_count (connection);

  if (connection->state == SBX_SERVER_RUNNING)
    {
      _sbx_server_call_answer (call, answer_session (call->wire.id, self));
      return;
    }

  /* Nobody will ever close it. */
  sbx_session_close_async (session, NULL, discarded_cb, _sbx_server_session_ref (self));
  _sbx_server_call_fail_code (call, "cancelled", _("The provider is shutting down"));
}

static gboolean
is_our_name (SbxServerCall *call,
             const char    *name)
{
  const char *ours = call->connection->limits.provider_name;
  g_autofree char *quoted = NULL;
  g_autofree char *message = NULL;

  if (ours == NULL || g_strcmp0 (ours, name) == 0)
    return TRUE;

  quoted = _sbx_text_quote (name != NULL ? name : "");
  message = g_strdup_printf (_("The profile is one of the provider %s; this is “%s”"), quoted,
                             ours);
  _sbx_server_call_fail_code (call, "bad_profile", message);

  return FALSE;
}

void
_sbx_server_open (SbxServerCall *call)
{
  SbxServerConnection *connection = call->connection;
  g_autoptr(SbxOpenRequest) request = NULL;
  g_autoptr(GError) error = NULL;
  const char *provider = NULL;

  request = _sbx_wire_call_get_open (&call->wire, &provider, &error);
  if (request == NULL)
    {
      _sbx_server_call_fail (call, error);
      return;
    }

  if (!is_our_name (call, provider))
    return;

  if (g_hash_table_size (connection->sessions) + connection->n_opening >=
      connection->limits.max_sessions)
    {
      _sbx_server_call_fail_code (call, "too_many_sessions",
                                  _("As many sessions are open as there may be; close one"));
      return;
    }

  connection->n_opening++;
  call->group = g_strdup (sbx_open_request_get_group (request));
  sbx_provider_open_async (connection->provider, request, call->cancellable, opened_cb,
                           _sbx_server_call_ref (call));
}

static void
closed_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  g_autoptr(SbxServerCall) call = user_data;
  g_autoptr(GError) error = NULL;

  sbx_session_close_finish (SBX_SESSION (object), result, &error);
  _sbx_server_session_remove (call->session);

  if (error != NULL)
    _sbx_server_call_fail (call, error);
  else
    _sbx_server_call_done (call);
}

/* Closing what is closed is no error. What never was here is one: for a client that got lost
 * between two providers, “closed” would be a lie. */
void
_sbx_server_close (SbxServerCall *call)
{
  g_autoptr(GError) error = NULL;
  const char *id = _sbx_wire_call_get_session_id (&call->wire, &error);
  SbxServerSession *session;

  if (id == NULL)
    {
      _sbx_server_call_fail (call, error);
      return;
    }

  session = g_hash_table_lookup (call->connection->sessions, id);
  if (session == NULL && g_hash_table_contains (call->connection->closed, id))
    {
      _sbx_server_call_done (call);
      return;
    }

  if (!_sbx_server_call_find_session (call))
    return;

  sbx_session_close_async (call->session->session, call->cancellable, closed_cb,
                           _sbx_server_call_ref (call));
}

static void
group_cleaned_cb (GObject      *object,
                  GAsyncResult *result,
                  gpointer      user_data)
{
  g_autoptr(SbxServerCall) call = user_data;
  g_autoptr(GError) error = NULL;
  guint count = 0;

  /* A provider that keeps no records has no more than what was closed here. */
  if (!sbx_provider_cleanup_group_finish (SBX_PROVIDER (object), result, &count, &error) &&
      !g_error_matches (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED))
    {
      _sbx_server_call_fail (call, error);
      return;
    }

  count = count <= G_MAXUINT - call->count ? count + call->count : G_MAXUINT;
  _sbx_server_call_answer (call, _sbx_wire_answer_cleaned_count (call->wire.id, count));
}

/* The records that others left, when what is open here is gone, so that nothing counts twice. */
static void
clean_others (SbxServerCall *call)
{
  sbx_provider_cleanup_group_async (call->connection->provider, call->group, call->cancellable,
                                    group_cleaned_cb, _sbx_server_call_ref (call));
}

typedef struct
{
  SbxServerCall    *call;
  SbxServerSession *session;
} GroupClose;

static void
group_closed_cb (GObject      *object,
                 GAsyncResult *result,
                 gpointer      user_data)
{
  GroupClose *data = user_data;
  g_autoptr(SbxServerCall) call = data->call;
  g_autoptr(SbxServerSession) session = data->session;
  g_autoptr(GError) error = NULL;

  g_free (data);
  if (!sbx_session_close_finish (SBX_SESSION (object), result, &error))
    g_info ("Session %s: %s", session->id, error->message);

  /* Whoever else closed it meanwhile was told, and does not count it. */
  if (g_hash_table_lookup (call->connection->sessions, session->id) == session)
    call->count++;
  _sbx_server_session_remove (session);

  if (--call->n_left == 0)
    clean_others (call);
}

void
_sbx_server_cleanup_group (SbxServerCall *call)
{
  g_autoptr(GPtrArray) sessions = NULL;
  g_autoptr(GError) error = NULL;
  const char *group = _sbx_wire_call_get_group (&call->wire, &error);
  GHashTableIter iter;
  gpointer session;

  if (group == NULL)
    {
      _sbx_server_call_fail (call, error);
      return;
    }

  call->group = g_strdup (group);
  sessions = g_ptr_array_new ();
  g_hash_table_iter_init (&iter, call->connection->sessions);
  while (g_hash_table_iter_next (&iter, NULL, &session))
    if (g_strcmp0 (((SbxServerSession *) session)->group, group) == 0)
      g_ptr_array_add (sessions, _sbx_server_session_ref (session));

  call->n_left = sessions->len;
  if (sessions->len == 0)
    clean_others (call);

  for (guint i = 0; i < sessions->len; i++)
    {
      GroupClose *data = g_new0 (GroupClose, 1);

      data->call = _sbx_server_call_ref (call);
      data->session = g_ptr_array_index (sessions, i);
      sbx_session_close_async (data->session->session, NULL, group_closed_cb, data);
    }
}
