/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "client/sbx-client-session-private.h"
#include "client/sbx-provider-client-private.h"

#include "core/sbx-cleanup-invocation.h"
#include "core/sbx-error.h"
#include "core/sbx-invocation-private.h"
#include "core/sbx-open-invocation.h"
#include "core/sbx-open-request.h"
#include "wire/sbx-wire-request-private.h"

#include <glib/gi18n-lib.h>

/*
 * The calls of the provider itself. Each starts the provider if need be, and keeps the client: a
 * sandbox that was opened for somebody who gave up is closed again.
 */

typedef struct
{
  SbxClientCall      call;
  SbxProviderClient *client;
  SbxInvocation     *invocation;
  SbxOpenRequest    *request;
  char              *group;
} ProviderCall;

static void
provider_call_clear (SbxClientCall *call)
{
  ProviderCall *self = (ProviderCall *) call;

  _sbx_invocation_set_end_func (self->invocation, NULL, NULL);
  g_clear_object (&self->invocation);
  g_clear_object (&self->request);
  g_clear_object (&self->client);
  g_free (self->group);
}

static void
provider_call_failed (SbxClientCall *call,
                      const GError  *error)
{
  SbxInvocation *invocation = ((ProviderCall *) call)->invocation;

  if (!sbx_invocation_is_answered (invocation))
    sbx_invocation_return_gerror (invocation, error);
}

static void
open_replied (SbxClientCall *call,
              SbxWireReply  *reply)
{
  ProviderCall *self = (ProviderCall *) call;
  g_auto(SbxWireSession) wire = { 0, };
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(GError) error = NULL;

  if (!_sbx_wire_reply_get_session (reply, &wire, &error))
    provider_call_failed (call, error);
  else if (sbx_invocation_is_answered (self->invocation))
    _sbx_provider_client_close_orphan (self->client, wire.text);
  else
    {
      session = _sbx_client_session_new (self->client, &wire);
      sbx_open_invocation_return_session (SBX_OPEN_INVOCATION (self->invocation), session);
    }
}

static void
open_too_late (SbxClientCall *call,
               SbxWireReply  *reply)
{
  g_auto(SbxWireSession) wire = { 0, };

  if (_sbx_wire_reply_get_session (reply, &wire, NULL))
    _sbx_provider_client_close_orphan (((ProviderCall *) call)->client, wire.text);
}

static const SbxClientCallClass open_class = {
  .method = "open",
  .replied = open_replied,
  .failed = provider_call_failed,
  .too_late = open_too_late,
  .clear = provider_call_clear,
};

static void
cleanup_replied (SbxClientCall *call,
                 SbxWireReply  *reply)
{
  SbxInvocation *invocation = ((ProviderCall *) call)->invocation;
  g_autoptr(GError) error = NULL;
  guint count = 0;

  if (!_sbx_wire_reply_get_cleaned_count (reply, &count, &error))
    provider_call_failed (call, error);
  else if (!sbx_invocation_is_answered (invocation))
    sbx_cleanup_invocation_return_count (SBX_CLEANUP_INVOCATION (invocation), count);
}

static const SbxClientCallClass cleanup_class = {
  .method = "cleanup_group",
  .replied = cleanup_replied,
  .failed = provider_call_failed,
  .clear = provider_call_clear,
};

static void
end_cb (SbxInvocation *invocation,
        gpointer       user_data)
{
  _sbx_client_call_cancel (user_data);
}

/* The client has started, and what is asked for can be. Takes @self. */
static void
submit (ProviderCall *self)
{
  SbxClientConnection *connection = self->client->connection;
  g_autoptr(GError) error = NULL;
  SbxWireMessage *message;

  self->call.number = _sbx_client_connection_next_number (connection);
  if (self->request != NULL)
    {
      self->call.timeout_ms = self->client->open_timeout_ms;
      message = _sbx_wire_request_open (self->call.number, self->request,
                                        self->client->provider_name, &error);
    }
  else
    {
      self->call.timeout_ms = self->client->call_timeout_ms;
      message = _sbx_wire_request_cleanup_group (self->call.number, self->group, &error);
    }

  if (message == NULL)
    {
      provider_call_failed (&self->call, error);
      _sbx_client_call_unref (&self->call);
      return;
    }

  _sbx_invocation_set_end_func (self->invocation, end_cb, self);
  _sbx_client_connection_submit (connection, &self->call, message);
}

static void
started_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  ProviderCall *self = user_data;
  g_autoptr(GError) error = NULL;

  if (sbx_provider_client_start_finish (SBX_PROVIDER_CLIENT (object), result, &error) &&
      _sbx_provider_client_admits (SBX_PROVIDER_CLIENT (object), &error) &&
      !sbx_invocation_is_answered (self->invocation))
    {
      submit (self);
      return;
    }

  if (error != NULL)
    provider_call_failed (&self->call, error);
  _sbx_client_call_unref (&self->call);
}

/* Takes @self. */
static void
start (ProviderCall *self)
{
  if (self->client->state == SBX_PROVIDER_CLIENT_STATE_READY)
    submit (self);
  else
    sbx_provider_client_start_async (self->client,
                                     sbx_invocation_get_cancellable (self->invocation),
                                     started_cb, self);
}

static ProviderCall *
provider_call_new (SbxProvider              *provider,
                   const SbxClientCallClass *klass,
                   gpointer                  invocation)
{
  ProviderCall *self = _sbx_client_call_new (sizeof *self, klass, 0);

  self->client = g_object_ref (SBX_PROVIDER_CLIENT (provider));
  self->invocation = g_object_ref (invocation);

  return self;
}

static gboolean
sbx_provider_client_handle_open (SbxProvider       *provider,
                                 SbxOpenRequest    *request,
                                 SbxOpenInvocation *invocation)
{
  ProviderCall *call;

  if (sbx_open_request_get_reach (request) != NULL)
    {
      sbx_invocation_return_error (SBX_INVOCATION (invocation), SBX_ERROR_UNSUPPORTED,
                                   _("What a sandbox of this provider may reach is said by its "
                                     "profile; ask for one by its name"));
      return TRUE;
    }

  call = provider_call_new (provider, &open_class, invocation);
  call->request = g_object_ref (request);
  start (call);

  return TRUE;
}

static gboolean
sbx_provider_client_handle_cleanup_group (SbxProvider          *provider,
                                          const char           *group,
                                          SbxCleanupInvocation *invocation)
{
  ProviderCall *call = provider_call_new (provider, &cleanup_class, invocation);

  call->group = g_strdup (group);
  start (call);

  return TRUE;
}

static SbxCapabilities
sbx_provider_client_get_capabilities (SbxProvider *provider)
{
  SbxProviderClient *self = SBX_PROVIDER_CLIENT (provider);

  SbxWireFeatures features;

  if (self->state != SBX_PROVIDER_CLIENT_STATE_READY)
    return SBX_CAPABILITIES_EXEC | SBX_CAPABILITIES_FILES;

  features = _sbx_client_connection_get_features (self->connection);

  return _sbx_wire_features_to_capabilities (self->exec, features);
}

void
_sbx_provider_client_init_provider (SbxProviderInterface *iface)
{
  iface->handle_open = sbx_provider_client_handle_open;
  iface->handle_cleanup_group = sbx_provider_client_handle_cleanup_group;
  iface->get_capabilities = sbx_provider_client_get_capabilities;
}

typedef struct
{
  SbxClientCall      call;
  SbxProviderClient *client;
} OrphanCall;

static void
orphan_clear (SbxClientCall *call)
{
  g_clear_object (&((OrphanCall *) call)->client);
}

static void
orphan_replied (SbxClientCall *call,
                SbxWireReply  *reply)
{
}

static void
orphan_failed (SbxClientCall *call,
               const GError  *error)
{
}

static const SbxClientCallClass orphan_class = {
  .method = "close",
  .replied = orphan_replied,
  .failed = orphan_failed,
  .clear = orphan_clear,
  .insists = TRUE,
};

void
_sbx_provider_client_close_orphan (SbxProviderClient *self,
                                   GBytes            *text)
{
  OrphanCall *call;
  guint64 number;

  if (self->connection == NULL || self->shut_down ||
      _sbx_client_connection_get_failure (self->connection) != NULL)
    return;

  number = _sbx_client_connection_next_number (self->connection);
  call = _sbx_client_call_new (sizeof *call, &orphan_class, number);
  call->client = g_object_ref (self);
  call->call.told = TRUE;
  call->call.timeout_ms = self->call_timeout_ms;
  _sbx_client_connection_submit (self->connection, &call->call,
                                 _sbx_wire_request_close (number, text));
}
