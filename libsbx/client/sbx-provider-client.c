/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "client/sbx-client-seat-private.h"
#include "client/sbx-provider-client-private.h"

#include "client/sbx-provider-info.h"
#include "core/sbx-library-private.h"
#include "core/sbx-session.h"
#include "core/sbx-sync-private.h"
#include "sbx-enum-types.h"
#include "wire/sbx-wire-reader-private.h"

#include <string.h>

/**
 * SbxProviderClient:
 *
 * Opens sandboxes with a provider that is another program.
 *
 * The program is started and spoken to over its standard input and output, in the protocol
 * `sandbox.v1`, one JSON object on each line. It may be written in any language.
 *
 * ```python
 * client = Sbx.ProviderClient.new_for_name("local-worktree")
 * request = Sbx.OpenRequest.new_for_profile("/home/me/project", "default")
 * session = client.open(request, None)
 * print(session.exec(Sbx.Command.new(["make", "test"]), None).get_exit_code())
 * session.close(None)
 * client.close(None)
 * ```
 *
 * ## Order
 *
 * A provider that does not say otherwise works on one call at a time: the others wait, in the order
 * in which they were made, and can be seen with [method@ProviderClient.dup_calls]. One that waits
 * and is cancelled goes away at once. One in flight that is cancelled ends at once for its caller;
 * the provider has [property@ProviderClient:grace] to end it too, and is ended itself if it does
 * not.
 *
 * A command whose output is read through a pipe, and slowly, holds up everything that the provider
 * says, so that nothing piles up.
 *
 * ## Failure
 *
 * What the provider says wrongly fails the call that it was said to. When the provider ends, or can
 * no longer be talked to, the client is broken: every call in flight and every later one fails at
 * once with the same %SBX_ERROR_LOST, which has the exit status and the provider's last words, and
 * its sessions are lost.
 *
 * ## Threads and lifetime
 *
 * A client belongs to the thread-default [struct@GLib.MainContext] that it was made in. Sessions
 * and calls in flight keep it alive. One that is dropped ends its provider: its input ends, and
 * soon after that its process and all that is in its process session.
 * [method@ProviderClient.close_async] is the better way, which tells how that went.
 *
 * ## Trust
 *
 * A provider runs with all rights of its caller. What it says is bounded, checked and escaped, so
 * that a broken one does no harm.
 *
 * Since: 1.0
 */

#define DEFAULT_OPEN_TIMEOUT_MS (15 * 60 * 1000)
#define DEFAULT_CALL_TIMEOUT_MS (2 * 60 * 1000)
#define DEFAULT_CLOSE_TIMEOUT_MS 5000
#define DEFAULT_GRACE_MS 5000
#define MIN_MESSAGE_SIZE 1024

static void sbx_provider_client_init_async_initable (GAsyncInitableIface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (SbxProviderClient, sbx_provider_client, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (SBX_TYPE_PROVIDER,
                                                      _sbx_provider_client_init_provider)
                               G_IMPLEMENT_INTERFACE (G_TYPE_ASYNC_INITABLE,
                                                      sbx_provider_client_init_async_initable))

enum
{
  PROP_0,
  PROP_ARGV,
  PROP_PROVIDER_NAME,
  PROP_STATE,
  PROP_N_IN_FLIGHT,
  PROP_N_QUEUED,
  PROP_MAX_MESSAGE_SIZE,
  PROP_OPEN_TIMEOUT,
  PROP_CALL_TIMEOUT,
  PROP_CLOSE_TIMEOUT,
  PROP_GRACE,
  N_PROPS
};

enum
{
  LOG,
  CLOSED,
  N_SIGNALS
};

static GParamSpec *properties[N_PROPS];
static guint signals[N_SIGNALS];
static guint notify_signal;

static void
sbx_provider_client_init_async (GAsyncInitable      *initable,
                                int                  io_priority,
                                GCancellable        *cancellable,
                                GAsyncReadyCallback  callback,
                                gpointer             user_data)
{
  sbx_provider_client_start_async (SBX_PROVIDER_CLIENT (initable), cancellable, callback,
                                   user_data);
}

static gboolean
sbx_provider_client_init_finish (GAsyncInitable  *initable,
                                 GAsyncResult    *result,
                                 GError         **error)
{
  return sbx_provider_client_start_finish (SBX_PROVIDER_CLIENT (initable), result, error);
}

static void
sbx_provider_client_init_async_initable (GAsyncInitableIface *iface)
{
  iface->init_async = sbx_provider_client_init_async;
  iface->init_finish = sbx_provider_client_init_finish;
}

/* What a program is called as a provider, unless somebody says otherwise. Something that starts
 * another program, such as env(1) or "sbx-tool record", has that one's name behind its own. */
static char *
choose_name (char **argv)
{
  static const char * const prefixes[] = { "smol-sandbox-", "sbx-provider-" };

  for (gsize i = 0; argv[i] != NULL; i++)
    {
      g_autofree char *name = g_path_get_basename (argv[i]);

      for (gsize j = 0; j < G_N_ELEMENTS (prefixes); j++)
        if (g_str_has_prefix (name, prefixes[j]) && name[strlen (prefixes[j])] != '\0')
          return g_strdup (name + strlen (prefixes[j]));
    }

  return g_path_get_basename (argv[0]);
}

static void
sbx_provider_client_constructed (GObject *object)
{
  SbxProviderClient *self = SBX_PROVIDER_CLIENT (object);

  G_OBJECT_CLASS (sbx_provider_client_parent_class)->constructed (object);

  _sbx_context_of (object);
  if (self->argv == NULL || self->argv[0] == NULL)
    {
      g_strfreev (self->argv);
      self->argv = g_new0 (char *, 2);
      self->argv[0] = g_strdup ("");
    }

  if (self->provider_name == NULL)
    self->provider_name = choose_name (self->argv);
}

static void
sbx_provider_client_dispose (GObject *object)
{
  SbxProviderClient *self = SBX_PROVIDER_CLIENT (object);
  SbxClientConnection *connection = g_steal_pointer (&self->connection);

  if (self->close_timer != NULL)
    g_source_destroy (self->close_timer);
  g_clear_pointer (&self->close_timer, g_source_unref);

  if (connection != NULL)
    _sbx_client_connection_free (connection);

  /* Nobody is left to be told, unless it was disposed of by force: then nothing works any more. */
  self->state = MAX (self->state, SBX_PROVIDER_CLIENT_STATE_CLOSED);

  G_OBJECT_CLASS (sbx_provider_client_parent_class)->dispose (object);
}

static void
sbx_provider_client_finalize (GObject *object)
{
  SbxProviderClient *self = SBX_PROVIDER_CLIENT (object);

  g_clear_pointer (&self->argv, g_strfreev);
  g_clear_pointer (&self->environment, g_strfreev);
  g_clear_pointer (&self->provider_name, g_free);
  g_clear_pointer (&self->sessions, g_hash_table_unref);
  g_clear_pointer (&self->starting, g_ptr_array_unref);
  g_clear_pointer (&self->closing, g_ptr_array_unref);
  g_clear_error (&self->failure);
  g_clear_error (&self->close_error);

  G_OBJECT_CLASS (sbx_provider_client_parent_class)->finalize (object);
}

static void
sbx_provider_client_get_property (GObject    *object,
                                  guint       prop_id,
                                  GValue     *value,
                                  GParamSpec *pspec)
{
  SbxProviderClient *self = SBX_PROVIDER_CLIENT (object);

  switch (prop_id)
    {
    case PROP_ARGV:
      g_value_set_boxed (value, self->argv);
      break;

    case PROP_PROVIDER_NAME:
      g_value_set_string (value, self->provider_name);
      break;

    case PROP_STATE:
      g_value_set_enum (value, self->state);
      break;

    case PROP_N_IN_FLIGHT:
      g_value_set_uint (value, sbx_provider_client_get_n_in_flight (self));
      break;

    case PROP_N_QUEUED:
      g_value_set_uint (value, sbx_provider_client_get_n_queued (self));
      break;

    case PROP_MAX_MESSAGE_SIZE:
      g_value_set_uint64 (value, self->max_message_size);
      break;

    case PROP_OPEN_TIMEOUT:
      g_value_set_uint (value, self->open_timeout_ms);
      break;

    case PROP_CALL_TIMEOUT:
      g_value_set_uint (value, self->call_timeout_ms);
      break;

    case PROP_CLOSE_TIMEOUT:
      g_value_set_uint (value, self->close_timeout_ms);
      break;

    case PROP_GRACE:
      g_value_set_uint (value, self->grace_ms);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
sbx_provider_client_set_property (GObject      *object,
                                  guint         prop_id,
                                  const GValue *value,
                                  GParamSpec   *pspec)
{
  SbxProviderClient *self = SBX_PROVIDER_CLIENT (object);

  switch (prop_id)
    {
    case PROP_ARGV:
      self->argv = g_value_dup_boxed (value);
      break;

    case PROP_PROVIDER_NAME:
      if (g_value_get_string (value) != NULL)
        sbx_provider_client_set_provider_name (self, g_value_get_string (value));
      break;

    case PROP_MAX_MESSAGE_SIZE:
      sbx_provider_client_set_max_message_size (self, g_value_get_uint64 (value));
      break;

    case PROP_OPEN_TIMEOUT:
      sbx_provider_client_set_open_timeout (self, g_value_get_uint (value));
      break;

    case PROP_CALL_TIMEOUT:
      sbx_provider_client_set_call_timeout (self, g_value_get_uint (value));
      break;

    case PROP_CLOSE_TIMEOUT:
      sbx_provider_client_set_close_timeout (self, g_value_get_uint (value));
      break;

    case PROP_GRACE:
      sbx_provider_client_set_grace (self, g_value_get_uint (value));
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
install_state_properties (void)
{
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;

  /**
   * SbxProviderClient:argv: (getter get_argv)
   *
   * The command line of the provider.
   *
   * Since: 1.0
   */
  properties[PROP_ARGV] =
    g_param_spec_boxed ("argv", NULL, NULL, G_TYPE_STRV,
                        G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  /**
   * SbxProviderClient:provider-name: (getter get_provider_name) (setter set_provider_name)
   *
   * What the provider is called in what is asked of it. By default that is the name of its program
   * without `sbx-provider-` or `smol-sandbox-`, of the first one in the command line that has that.
   *
   * Since: 1.0
   */
  properties[PROP_PROVIDER_NAME] =
    g_param_spec_string ("provider-name", NULL, NULL, NULL,
                         G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);

  /**
   * SbxProviderClient:state: (getter get_state)
   *
   * Where the client is in its life.
   *
   * Since: 1.0
   */
  properties[PROP_STATE] =
    g_param_spec_enum ("state", NULL, NULL, SBX_TYPE_PROVIDER_CLIENT_STATE,
                       SBX_PROVIDER_CLIENT_STATE_NEW, flags);

  /**
   * SbxProviderClient:n-in-flight: (getter get_n_in_flight)
   *
   * How many calls the provider works on.
   *
   * Since: 1.0
   */
  properties[PROP_N_IN_FLIGHT] =
    g_param_spec_uint ("n-in-flight", NULL, NULL, 0, G_MAXUINT, 0, flags);

  /**
   * SbxProviderClient:n-queued: (getter get_n_queued)
   *
   * How many calls wait until the provider is through with others.
   *
   * Since: 1.0
   */
  properties[PROP_N_QUEUED] =
    g_param_spec_uint ("n-queued", NULL, NULL, 0, G_MAXUINT, 0, flags);
}

static void
install_limit_properties (void)
{
  const GParamFlags flags =
    G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;

  /**
   * SbxProviderClient:max-message-size: (getter get_max_message_size)
   *   (setter set_max_message_size)
   *
   * How many bytes a line of the provider may have. It counts from the next start.
   *
   * Since: 1.0
   */
  properties[PROP_MAX_MESSAGE_SIZE] =
    g_param_spec_uint64 ("max-message-size", NULL, NULL, MIN_MESSAGE_SIZE, G_MAXUINT64 / 4,
                         SBX_WIRE_DEFAULT_MAX_SIZE, flags);

  /**
   * SbxProviderClient:open-timeout: (getter get_open_timeout) (setter set_open_timeout)
   *
   * How long opening a sandbox may take, in milliseconds; 0 is for ever.
   *
   * Since: 1.0
   */
  properties[PROP_OPEN_TIMEOUT] =
    g_param_spec_uint ("open-timeout", NULL, NULL, 0, G_MAXUINT, DEFAULT_OPEN_TIMEOUT_MS, flags);

  /**
   * SbxProviderClient:call-timeout: (getter get_call_timeout) (setter set_call_timeout)
   *
   * How long the provider may work on another call, in milliseconds; 0 is for ever. The time that a
   * call waits for others does not count, and commands have their own time-out.
   *
   * Since: 1.0
   */
  properties[PROP_CALL_TIMEOUT] =
    g_param_spec_uint ("call-timeout", NULL, NULL, 0, G_MAXUINT, DEFAULT_CALL_TIMEOUT_MS, flags);

  /**
   * SbxProviderClient:close-timeout: (getter get_close_timeout) (setter set_close_timeout)
   *
   * How long each of shutting down and exiting may take, in milliseconds; 0 ends the provider at
   * once.
   *
   * Since: 1.0
   */
  properties[PROP_CLOSE_TIMEOUT] =
    g_param_spec_uint ("close-timeout", NULL, NULL, 0, G_MAXUINT, DEFAULT_CLOSE_TIMEOUT_MS, flags);

  /**
   * SbxProviderClient:grace: (getter get_grace) (setter set_grace)
   *
   * How long the provider may take to end a call that was cancelled, in milliseconds.
   *
   * Since: 1.0
   */
  properties[PROP_GRACE] =
    g_param_spec_uint ("grace", NULL, NULL, 0, G_MAXUINT, DEFAULT_GRACE_MS, flags);
}

static void
sbx_provider_client_class_init (SbxProviderClientClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  _sbx_library_init ();

  object_class->constructed = sbx_provider_client_constructed;
  object_class->dispose = sbx_provider_client_dispose;
  object_class->finalize = sbx_provider_client_finalize;
  object_class->get_property = sbx_provider_client_get_property;
  object_class->set_property = sbx_provider_client_set_property;

  notify_signal = g_signal_lookup ("notify", G_TYPE_OBJECT);
  install_state_properties ();
  install_limit_properties ();
  g_object_class_install_properties (object_class, N_PROPS, properties);

  /**
   * SbxProviderClient::log:
   * @self: the client
   * @source: `stderr` for what the provider wrote to its standard error, `protocol` for what it
   *   said that nobody could use
   * @text: a line of text, without control characters
   *
   * Emitted when there is something for a person to read.
   *
   * Of a flood only a part is emitted, with how much was left out. Of what nobody could use one
   * line of each kind is; [method@ProviderClient.get_n_dropped] counts all.
   *
   * Since: 1.0
   */
  signals[LOG] =
    g_signal_new ("log", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST,
                  0, NULL, NULL, NULL, G_TYPE_NONE, 2, G_TYPE_STRING, G_TYPE_STRING);

  /**
   * SbxProviderClient::closed:
   * @self: the client
   * @error: (nullable): why it ended, if that was not asked for or went wrong
   *
   * Emitted once, when no more calls can be made.
   *
   * Since: 1.0
   */
  signals[CLOSED] =
    g_signal_new ("closed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST,
                  0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_ERROR);
}

static void
sbx_provider_client_init (SbxProviderClient *self)
{
  self->max_message_size = SBX_WIRE_DEFAULT_MAX_SIZE;
  self->open_timeout_ms = DEFAULT_OPEN_TIMEOUT_MS;
  self->call_timeout_ms = DEFAULT_CALL_TIMEOUT_MS;
  self->close_timeout_ms = DEFAULT_CLOSE_TIMEOUT_MS;
  self->grace_ms = DEFAULT_GRACE_MS;
  self->sessions = g_hash_table_new_full (NULL, NULL, _sbx_client_seat_unref, NULL);
  self->starting = g_ptr_array_new_with_free_func (g_object_unref);
  self->closing = g_ptr_array_new_with_free_func (g_object_unref);
}

void
_sbx_provider_client_set_state (SbxProviderClient      *self,
                                SbxProviderClientState  state)
{
  g_assert (state > self->state);

  self->state = state;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_STATE]);
}

void
_sbx_provider_client_notify_numbers (SbxProviderClient *self,
                                     gboolean           in_flight,
                                     gboolean           queued)
{
  /* They change with every call, and mostly nobody looks. */
  if (!g_signal_has_handler_pending (self, notify_signal, 0, TRUE))
    return;

  if (in_flight)
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_N_IN_FLIGHT]);
  if (queued)
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_N_QUEUED]);
}

void
_sbx_provider_client_emit_closed (SbxProviderClient *self,
                                  const GError      *error)
{
  g_signal_emit (self, signals[CLOSED], 0, error);
}

/**
 * sbx_provider_client_new:
 * @argv: (array zero-terminated=1) (element-type filename): the provider's program and its
 *   arguments
 *
 * Makes a client. The provider is started by [method@ProviderClient.start_async], or when the first
 * sandbox is opened; it is looked up in `PATH` where its name has no slash.
 *
 * Returns: (transfer full): a new client
 *
 * Since: 1.0
 */
SbxProviderClient *
sbx_provider_client_new (const char * const *argv)
{
  g_return_val_if_fail (argv != NULL && argv[0] != NULL, NULL);

  return g_object_new (SBX_TYPE_PROVIDER_CLIENT, "argv", argv, NULL);
}

/**
 * sbx_provider_client_new_for_program:
 * @program: (type filename): the provider's program
 *
 * Makes a client for a program that is started with the one argument `serve`.
 *
 * Returns: (transfer full): a new client
 *
 * Since: 1.0
 */
SbxProviderClient *
sbx_provider_client_new_for_program (const char *program)
{
  const char *argv[] = { program, "serve", NULL };

  g_return_val_if_fail (program != NULL, NULL);

  return sbx_provider_client_new (argv);
}

/**
 * sbx_provider_client_new_for_name:
 * @name: the name of a provider
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a client for a provider that is found by its name; see [func@ProviderInfo.find].
 *
 * Returns: (transfer full): a new client
 *
 * Since: 1.0
 */
SbxProviderClient *
sbx_provider_client_new_for_name (const char  *name,
                                  GError     **error)
{
  g_autoptr(SbxProviderInfo) info = NULL;
  SbxProviderClient *self;
  const char * const *environment;

  g_return_val_if_fail (name != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  info = sbx_provider_info_find (name, error);
  if (info == NULL)
    return NULL;

  self = sbx_provider_client_new (sbx_provider_info_get_argv (info));
  sbx_provider_client_set_provider_name (self, name);

  environment = sbx_provider_info_get_environment (info);
  for (gsize i = 0; environment != NULL && environment[i] != NULL; i++)
    {
      g_auto(GStrv) parts = g_strsplit (environment[i], "=", 2);

      if (parts[0] != NULL && parts[1] != NULL)
        sbx_provider_client_set_variable (self, parts[0], parts[1]);
    }

  return self;
}
