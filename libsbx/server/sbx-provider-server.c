/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "server/sbx-provider-server.h"

#include "core/sbx-library-private.h"
#include "core/sbx-sync-private.h"
#include "server/sbx-server-private.h"

/**
 * SbxProviderServer:
 *
 * Makes a provider of another process out of any [iface@Provider].
 *
 * A server reads requests of the protocol `sandbox.v1` from one stream and writes events and
 * replies to another. With standard input and output that is all that a program needs to be a
 * provider which [class@ProviderClient], and clients of others, can start:
 *
 * ```python
 * server = Sbx.ProviderServer.new_for_stdio(MyProvider())
 * server.set_provider_name("mine")
 * server.run(None)
 * ```
 *
 * Requests are worked on at the same time, and each is answered when it is done. Beyond
 * `sandbox.v1` a client is offered what the provider and its sessions are able to do, and nothing
 * else.
 *
 * A server ends when the client asks for that, when the stream of requests ends, or when it is
 * cancelled: then all calls are cancelled, all sessions are closed, with everything that runs in
 * them, and the run is over.
 *
 * ## Bounds
 *
 * A client that asks for too much is told so, see [property@ProviderServer:max-sessions] and
 * [property@ProviderServer:max-pending]. One that does not read what it asked for makes the
 * commands wait which write it, and is not listened to any more when even that is not enough.
 *
 * ## Threads and lifetime
 *
 * A server belongs to the thread-default [struct@GLib.MainContext] that it was made in, which
 * should be the one of the provider. A running server stays alive and goes on when nobody holds
 * it.
 *
 * ## Trust
 *
 * The client is who has the provider open sandboxes, and so may have it do all that the profiles
 * of the provider allow. It is not trusted with anything else: what it sends is checked, and
 * sessions and processes are found by their ids among those that this server opened.
 *
 * Since: 1.0
 */

G_DEFINE_FINAL_TYPE (SbxProviderServer, sbx_provider_server, G_TYPE_OBJECT)

enum
{
  PROP_0,
  PROP_PROVIDER,
  PROP_INPUT,
  PROP_OUTPUT,
  PROP_PROVIDER_NAME,
  PROP_MAX_MESSAGE_SIZE,
  PROP_MAX_SESSIONS,
  PROP_MAX_PENDING,
  PROP_N_SESSIONS,
  PROP_N_PENDING,
  N_PROPS
};

#define DEFAULT_MAX_SESSIONS 256
#define DEFAULT_MAX_PENDING 1024

/* Less could not even carry what a protocol error is answered with. */
#define MIN_MESSAGE_SIZE 1024

static GParamSpec *properties[N_PROPS];

static void
sbx_provider_server_constructed (GObject *object)
{
  G_OBJECT_CLASS (sbx_provider_server_parent_class)->constructed (object);

  _sbx_context_of (object);
}

static void
sbx_provider_server_finalize (GObject *object)
{
  SbxProviderServer *self = SBX_PROVIDER_SERVER (object);

  g_clear_object (&self->provider);
  g_clear_object (&self->input);
  g_clear_object (&self->output);
  g_clear_pointer (&self->limits.provider_name, g_free);

  G_OBJECT_CLASS (sbx_provider_server_parent_class)->finalize (object);
}

static void
sbx_provider_server_get_property (GObject    *object,
                                  guint       prop_id,
                                  GValue     *value,
                                  GParamSpec *pspec)
{
  SbxProviderServer *self = SBX_PROVIDER_SERVER (object);

  switch (prop_id)
    {
    case PROP_PROVIDER:
      g_value_set_object (value, self->provider);
      break;

    case PROP_INPUT:
      g_value_set_object (value, self->input);
      break;

    case PROP_OUTPUT:
      g_value_set_object (value, self->output);
      break;

    case PROP_PROVIDER_NAME:
      g_value_set_string (value, self->limits.provider_name);
      break;

    case PROP_MAX_MESSAGE_SIZE:
      g_value_set_uint64 (value, self->limits.max_message_size);
      break;

    case PROP_MAX_SESSIONS:
      g_value_set_uint (value, self->limits.max_sessions);
      break;

    case PROP_MAX_PENDING:
      g_value_set_uint (value, self->limits.max_pending);
      break;

    case PROP_N_SESSIONS:
      g_value_set_uint (value, self->n_sessions);
      break;

    case PROP_N_PENDING:
      g_value_set_uint (value, self->n_pending);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
sbx_provider_server_set_property (GObject      *object,
                                  guint         prop_id,
                                  const GValue *value,
                                  GParamSpec   *pspec)
{
  SbxProviderServer *self = SBX_PROVIDER_SERVER (object);

  switch (prop_id)
    {
    case PROP_PROVIDER:
      self->provider = g_value_dup_object (value);
      break;

    case PROP_INPUT:
      self->input = g_value_dup_object (value);
      break;

    case PROP_OUTPUT:
      self->output = g_value_dup_object (value);
      break;

    case PROP_PROVIDER_NAME:
      sbx_provider_server_set_provider_name (self, g_value_get_string (value));
      break;

    case PROP_MAX_MESSAGE_SIZE:
      sbx_provider_server_set_max_message_size (self, g_value_get_uint64 (value));
      break;

    case PROP_MAX_SESSIONS:
      sbx_provider_server_set_max_sessions (self, g_value_get_uint (value));
      break;

    case PROP_MAX_PENDING:
      sbx_provider_server_set_max_pending (self, g_value_get_uint (value));
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

#define READWRITE (G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS)
#define READABLE (G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS)
#define CONSTRUCT_ONLY (G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS)

static void
install_given (void)
{
  /**
   * SbxProviderServer:provider: (getter get_provider)
   *
   * What opens the sandboxes.
   *
   * Since: 1.0
   */
  properties[PROP_PROVIDER] =
    g_param_spec_object ("provider", NULL, NULL, SBX_TYPE_PROVIDER, CONSTRUCT_ONLY);

  /**
   * SbxProviderServer:input:
   *
   * Where requests are read from.
   *
   * Since: 1.0
   */
  properties[PROP_INPUT] =
    g_param_spec_object ("input", NULL, NULL, G_TYPE_INPUT_STREAM, CONSTRUCT_ONLY);

  /**
   * SbxProviderServer:output:
   *
   * Where events and replies are written to.
   *
   * Since: 1.0
   */
  properties[PROP_OUTPUT] =
    g_param_spec_object ("output", NULL, NULL, G_TYPE_OUTPUT_STREAM, CONSTRUCT_ONLY);

  /**
   * SbxProviderServer:provider-name: (getter get_provider_name) (setter set_provider_name)
   *
   * What clients call the provider. A session that is asked for by another name is refused.
   *
   * Since: 1.0
   */
  properties[PROP_PROVIDER_NAME] =
    g_param_spec_string ("provider-name", NULL, NULL, NULL, READWRITE);
}

static void
install_bounds (void)
{
  /**
   * SbxProviderServer:max-message-size: (getter get_max_message_size) (setter set_max_message_size)
   *
   * How many bytes a request may have.
   *
   * Since: 1.0
   */
  properties[PROP_MAX_MESSAGE_SIZE] =
    g_param_spec_uint64 ("max-message-size", NULL, NULL, MIN_MESSAGE_SIZE, G_MAXUINT32,
                         SBX_WIRE_DEFAULT_MAX_SIZE, READWRITE);

  /**
   * SbxProviderServer:max-sessions: (getter get_max_sessions) (setter set_max_sessions)
   *
   * How many sessions may be open at a time.
   *
   * Since: 1.0
   */
  properties[PROP_MAX_SESSIONS] =
    g_param_spec_uint ("max-sessions", NULL, NULL, 1, G_MAXUINT, DEFAULT_MAX_SESSIONS, READWRITE);

  /**
   * SbxProviderServer:max-pending: (getter get_max_pending) (setter set_max_pending)
   *
   * How many requests may be worked on at a time.
   *
   * Since: 1.0
   */
  properties[PROP_MAX_PENDING] =
    g_param_spec_uint ("max-pending", NULL, NULL, 1, G_MAXUINT, DEFAULT_MAX_PENDING, READWRITE);

  /**
   * SbxProviderServer:n-sessions: (getter get_n_sessions)
   *
   * How many sessions are open.
   *
   * Since: 1.0
   */
  properties[PROP_N_SESSIONS] =
    g_param_spec_uint ("n-sessions", NULL, NULL, 0, G_MAXUINT, 0, READABLE);

  /**
   * SbxProviderServer:n-pending: (getter get_n_pending)
   *
   * How many requests are being worked on.
   *
   * Since: 1.0
   */
  properties[PROP_N_PENDING] =
    g_param_spec_uint ("n-pending", NULL, NULL, 0, G_MAXUINT, 0, READABLE);
}

static void
sbx_provider_server_class_init (SbxProviderServerClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  _sbx_library_init ();

  object_class->constructed = sbx_provider_server_constructed;
  object_class->finalize = sbx_provider_server_finalize;
  object_class->get_property = sbx_provider_server_get_property;
  object_class->set_property = sbx_provider_server_set_property;

  install_given ();
  install_bounds ();
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
sbx_provider_server_init (SbxProviderServer *self)
{
  self->limits.max_message_size = SBX_WIRE_DEFAULT_MAX_SIZE;
  self->limits.max_sessions = DEFAULT_MAX_SESSIONS;
  self->limits.max_pending = DEFAULT_MAX_PENDING;
}

void
_sbx_provider_server_count (SbxProviderServer *self,
                            guint              n_sessions,
                            guint              n_pending)
{
  const gboolean sessions_changed = self->n_sessions != n_sessions;
  const gboolean pending_changed = self->n_pending != n_pending;

  self->n_sessions = n_sessions;
  self->n_pending = n_pending;

  if (sessions_changed)
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_N_SESSIONS]);
  if (pending_changed)
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_N_PENDING]);
}

/**
 * sbx_provider_server_new:
 * @provider: what opens the sandboxes
 * @input: where to read requests from
 * @output: where to write events and replies to
 *
 * Makes a server on a pair of streams.
 *
 * Both must have a descriptor, as [class@Gio.UnixInputStream] and the streams of a
 * [class@Gio.SocketConnection] do. The server works on duplicates of the descriptors, and does not
 * close the streams.
 *
 * Returns: (transfer full): a new server
 *
 * Since: 1.0
 */
SbxProviderServer *
sbx_provider_server_new (SbxProvider   *provider,
                         GInputStream  *input,
                         GOutputStream *output)
{
  g_return_val_if_fail (SBX_IS_PROVIDER (provider), NULL);
  g_return_val_if_fail (G_IS_INPUT_STREAM (input), NULL);
  g_return_val_if_fail (G_IS_OUTPUT_STREAM (output), NULL);

  return g_object_new (SBX_TYPE_PROVIDER_SERVER,
                       "provider", provider,
                       "input", input,
                       "output", output,
                       NULL);
}

/**
 * sbx_provider_server_get_provider:
 * @self: a server
 *
 * Gets what opens the sandboxes.
 *
 * Returns: (transfer none): the provider
 *
 * Since: 1.0
 */
SbxProvider *
sbx_provider_server_get_provider (SbxProviderServer *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_SERVER (self), NULL);

  return self->provider;
}

/**
 * sbx_provider_server_set_provider_name:
 * @self: a server
 * @name: (nullable): a name, such as “bwrap”, or %NULL
 *
 * Sets what clients call the provider.
 *
 * A client names the provider whose profile it means. Where that is another one the session is not
 * opened. Without a name any is accepted.
 *
 * Since: 1.0
 */
void
sbx_provider_server_set_provider_name (SbxProviderServer *self,
                                       const char        *name)
{
  g_return_if_fail (SBX_IS_PROVIDER_SERVER (self));

  if (g_strcmp0 (self->limits.provider_name, name) == 0)
    return;

  g_free (self->limits.provider_name);
  self->limits.provider_name = g_strdup (name);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_PROVIDER_NAME]);
}

/**
 * sbx_provider_server_get_provider_name:
 * @self: a server
 *
 * Gets what clients call the provider.
 *
 * Returns: (transfer none) (nullable): a name, or %NULL if any is accepted
 *
 * Since: 1.0
 */
const char *
sbx_provider_server_get_provider_name (SbxProviderServer *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_SERVER (self), NULL);

  return self->limits.provider_name;
}

/**
 * sbx_provider_server_set_max_message_size:
 * @self: a server
 * @bytes: how many, at least 1024
 *
 * Sets how many bytes a request may have, with all that is in it.
 *
 * The default is 128 MiB, in which a file of 64 MiB has room. A longer one is answered with an
 * error, and ends the run: where the next one begins cannot be told. What is set during a run is
 * for the next server.
 *
 * Since: 1.0
 */
void
sbx_provider_server_set_max_message_size (SbxProviderServer *self,
                                          guint64            bytes)
{
  g_return_if_fail (SBX_IS_PROVIDER_SERVER (self));
  g_return_if_fail (bytes >= MIN_MESSAGE_SIZE && bytes <= G_MAXUINT32);

  if (self->limits.max_message_size == bytes)
    return;

  self->limits.max_message_size = bytes;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_MAX_MESSAGE_SIZE]);
}

/**
 * sbx_provider_server_get_max_message_size:
 * @self: a server
 *
 * Gets how many bytes a request may have.
 *
 * Returns: bytes
 *
 * Since: 1.0
 */
guint64
sbx_provider_server_get_max_message_size (SbxProviderServer *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_SERVER (self), 0);

  return self->limits.max_message_size;
}

/**
 * sbx_provider_server_set_max_sessions:
 * @self: a server
 * @max_sessions: how many, at least 1
 *
 * Sets how many sessions may be open at a time.
 *
 * The default is 256. One more is answered with the error `too_many_sessions`.
 *
 * Since: 1.0
 */
void
sbx_provider_server_set_max_sessions (SbxProviderServer *self,
                                      guint              max_sessions)
{
  g_return_if_fail (SBX_IS_PROVIDER_SERVER (self));
  g_return_if_fail (max_sessions > 0);

  if (self->limits.max_sessions == max_sessions)
    return;

  self->limits.max_sessions = max_sessions;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_MAX_SESSIONS]);
}

/**
 * sbx_provider_server_get_max_sessions:
 * @self: a server
 *
 * Gets how many sessions may be open at a time.
 *
 * Returns: how many
 *
 * Since: 1.0
 */
guint
sbx_provider_server_get_max_sessions (SbxProviderServer *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_SERVER (self), 0);

  return self->limits.max_sessions;
}

/**
 * sbx_provider_server_set_max_pending:
 * @self: a server
 * @max_pending: how many, at least 1
 *
 * Sets how many requests may be worked on at a time.
 *
 * The default is 1024. One more is answered at once, with the error `too_many_requests`.
 *
 * Since: 1.0
 */
void
sbx_provider_server_set_max_pending (SbxProviderServer *self,
                                     guint              max_pending)
{
  g_return_if_fail (SBX_IS_PROVIDER_SERVER (self));
  g_return_if_fail (max_pending > 0);

  if (self->limits.max_pending == max_pending)
    return;

  self->limits.max_pending = max_pending;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_MAX_PENDING]);
}

/**
 * sbx_provider_server_get_max_pending:
 * @self: a server
 *
 * Gets how many requests may be worked on at a time.
 *
 * Returns: how many
 *
 * Since: 1.0
 */
guint
sbx_provider_server_get_max_pending (SbxProviderServer *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_SERVER (self), 0);

  return self->limits.max_pending;
}

/**
 * sbx_provider_server_get_n_sessions:
 * @self: a server
 *
 * Gets how many sessions are open.
 *
 * Returns: how many
 *
 * Since: 1.0
 */
guint
sbx_provider_server_get_n_sessions (SbxProviderServer *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_SERVER (self), 0);

  return self->n_sessions;
}

/**
 * sbx_provider_server_get_n_pending:
 * @self: a server
 *
 * Gets how many requests are being worked on.
 *
 * Returns: how many
 *
 * Since: 1.0
 */
guint
sbx_provider_server_get_n_pending (SbxProviderServer *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_SERVER (self), 0);

  return self->n_pending;
}
