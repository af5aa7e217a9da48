/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "client/sbx-client-session-private.h"

#include "client/sbx-client-seat-private.h"
#include "client/sbx-provider-client-private.h"
#include "core/sbx-error.h"
#include "core/sbx-file-invocations.h"
#include "core/sbx-invocation-private.h"
#include "core/sbx-session-private.h"
#include "wire/sbx-wire-request-private.h"

struct _SbxClientSession
{
  SbxSession         parent_instance;

  SbxProviderClient *client;
  SbxClientSeat     *seat;        /* among the sessions of the client */
  GBytes            *text;        /* the session as the provider described it */
  SbxWireFeatures    features;
  guint              closed : 1;  /* the provider was asked to close it */
};

G_DEFINE_FINAL_TYPE (SbxClientSession, _sbx_client_session, SBX_TYPE_SESSION)

typedef struct
{
  SbxClientCall     call;
  SbxClientSession *session;
  SbxInvocation    *invocation;
} CloseCall;

static void
close_clear (SbxClientCall *call)
{
  CloseCall *self = (CloseCall *) call;

  _sbx_invocation_set_end_func (self->invocation, NULL, NULL);
  g_clear_object (&self->invocation);
  g_clear_object (&self->session);
}

static void
close_replied (SbxClientCall *call,
               SbxWireReply  *reply)
{
  CloseCall *self = (CloseCall *) call;

  _sbx_client_session_end_execs (self->session);
  if (!sbx_invocation_is_answered (self->invocation))
    sbx_close_invocation_return_done (SBX_CLOSE_INVOCATION (self->invocation));
}

static void
close_failed (SbxClientCall *call,
              const GError  *error)
{
  CloseCall *self = (CloseCall *) call;

  _sbx_client_session_end_execs (self->session);
  if (!sbx_invocation_is_answered (self->invocation))
    sbx_invocation_return_gerror (self->invocation, error);
}

static const SbxClientCallClass close_class = {
  .method = "close",
  .replied = close_replied,
  .failed = close_failed,
  .clear = close_clear,
  .insists = TRUE,
};

static void
close_end_cb (SbxInvocation *invocation,
              gpointer       user_data)
{
  _sbx_client_call_cancel (user_data);
}

static gboolean
_sbx_client_session_handle_close (SbxSession         *session,
                                  SbxCloseInvocation *invocation)
{
  SbxClientSession *self = SBX_CLIENT_SESSION (session);
  SbxClientConnection *connection =
    _sbx_client_session_get_connection (self, SBX_INVOCATION (invocation));
  CloseCall *call;
  guint64 number;

  g_hash_table_remove (self->client->sessions, self->seat);
  self->closed = TRUE;
  if (connection == NULL)
    return TRUE;

  number = _sbx_client_connection_next_number (connection);
  call = _sbx_client_call_new (sizeof *call, &close_class, number);
  call->session = g_object_ref (self);
  call->invocation = g_object_ref (SBX_INVOCATION (invocation));
  call->call.timeout_ms = self->client->call_timeout_ms;
  _sbx_invocation_set_end_func (call->invocation, close_end_cb, call);
  _sbx_client_connection_submit (connection, &call->call,
                                 _sbx_wire_request_close (number, self->text));

  return TRUE;
}

typedef struct
{
  SbxProviderClient *client;
  SbxClientSeat     *seat;
  GBytes            *text;      /* %NULL: nothing is left to close */
} Orphan;

static void
orphan_free (gpointer data)
{
  Orphan *orphan = data;

  _sbx_client_seat_unref (orphan->seat);
  g_clear_pointer (&orphan->text, g_bytes_unref);
  g_object_unref (orphan->client);
  g_free (orphan);
}

static gboolean
orphan_cb (gpointer user_data)
{
  Orphan *orphan = user_data;

  g_hash_table_remove (orphan->client->sessions, orphan->seat);
  if (orphan->text != NULL)
    _sbx_provider_client_close_orphan (orphan->client, orphan->text);

  return G_SOURCE_REMOVE;
}

/* Nobody closed it: that is done by itself. The last reference may go in any thread, when a binding
 * collects its garbage; the rest is done where the session is at home. */
static void
leave_orphan (SbxClientSession *self)
{
  GMainContext *context = _sbx_session_get_context (SBX_SESSION (self));
  g_autoptr(GSource) source = NULL;
  Orphan *orphan = g_new0 (Orphan, 1);

  orphan->client = g_object_ref (self->client);
  orphan->seat = _sbx_client_seat_ref (self->seat);
  if (!self->closed && sbx_session_get_state (SBX_SESSION (self)) == SBX_SESSION_STATE_OPEN)
    orphan->text = g_bytes_ref (self->text);

  if (g_main_context_acquire (context))
    {
      orphan_cb (orphan);
      orphan_free (orphan);
      g_main_context_release (context);
      return;
    }

  source = g_idle_source_new ();
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, orphan_cb, orphan, orphan_free);
  g_source_attach (source, context);
}

static void
_sbx_client_session_dispose (GObject *object)
{
  SbxClientSession *self = SBX_CLIENT_SESSION (object);

  if (self->seat != NULL)
    {
      leave_orphan (self);
      g_clear_pointer (&self->seat, _sbx_client_seat_unref);
    }

  self->closed = TRUE;

  G_OBJECT_CLASS (_sbx_client_session_parent_class)->dispose (object);
}

static void
_sbx_client_session_finalize (GObject *object)
{
  SbxClientSession *self = SBX_CLIENT_SESSION (object);

  g_clear_object (&self->client);
  g_clear_pointer (&self->text, g_bytes_unref);

  G_OBJECT_CLASS (_sbx_client_session_parent_class)->finalize (object);
}

static void
_sbx_client_session_class_init (SbxClientSessionClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  SbxSessionClass *session_class = SBX_SESSION_CLASS (klass);

  object_class->dispose = _sbx_client_session_dispose;
  object_class->finalize = _sbx_client_session_finalize;

  session_class->handle_close = _sbx_client_session_handle_close;
  _sbx_client_session_init_exec (session_class);
  _sbx_client_session_init_files (session_class);
}

static void
_sbx_client_session_init (SbxClientSession *self)
{
}

SbxSession *
_sbx_client_session_new (SbxProviderClient    *client,
                         const SbxWireSession *wire)
{
  SbxClientSession *self;

  self = g_object_new (SBX_TYPE_CLIENT_SESSION,
                       "id", wire->id,
                       "cwd", wire->cwd,
                       "capabilities", _sbx_wire_features_to_capabilities (wire->exec,
                                                                           wire->features),
                       NULL);
  self->client = g_object_ref (client);
  self->text = g_bytes_ref (wire->text);
  self->features = wire->features;
  self->seat = _sbx_client_seat_new (SBX_SESSION (self));
  g_hash_table_add (client->sessions, _sbx_client_seat_ref (self->seat));

  return SBX_SESSION (self);
}

GBytes *
_sbx_client_session_get_text (SbxClientSession *self)
{
  return self->text;
}

SbxWireFeatures
_sbx_client_session_get_features (SbxClientSession *self)
{
  return self->features;
}

SbxClientConnection *
_sbx_client_session_get_connection (SbxClientSession *self,
                                    SbxInvocation    *invocation)
{
  g_autoptr(GError) error = NULL;

  if (!_sbx_provider_client_admits (self->client, &error))
    {
      sbx_invocation_return_gerror (invocation, error);
      return NULL;
    }

  if (self->client->connection == NULL)
    sbx_invocation_return_error (invocation, SBX_ERROR_CLOSED, "The client was disposed of");

  return self->client->connection;
}

guint
_sbx_client_session_get_timeout (SbxClientSession *self)
{
  return self->client->call_timeout_ms;
}

SbxClientConnection *
_sbx_client_session_peek_connection (SbxClientSession *self)
{
  return self->client->connection;
}
