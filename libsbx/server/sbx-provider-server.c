/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "server/sbx-provider-server.h"

#include "core/sbx-error.h"
#include "core/sbx-library-private.h"
#include "core/sbx-sync-private.h"
#include "core/sbx-task-private.h"
#include "server/sbx-server-private.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gfiledescriptorbased.h>
#include <gio/gunixinputstream.h>
#include <gio/gunixoutputstream.h>
#include <glib/gi18n-lib.h>
#include <unistd.h>

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

struct _SbxProviderServer
{
  GObject          parent_instance;

  SbxProvider     *provider;
  GInputStream    *input;
  GOutputStream   *output;
  SbxServerLimits  limits;
  guint            n_sessions;
  guint            n_pending;
  gboolean         has_run;
};

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

static int
duplicate (int          fd,
           const char  *what,
           GError     **error)
{
  const int copy = fd >= 0 ? fcntl (fd, F_DUPFD_CLOEXEC, 3) : -1;
  const int saved_errno = fd >= 0 ? errno : EBADF;

  if (copy < 0)
    g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID, _("The server cannot use its %s: %s"), what,
                 g_strerror (saved_errno));

  return copy;
}

/* What is at hand for whoever does not know that these two are taken. */
static gboolean
replace_stdio (GError **error)
{
  const int nothing = open ("/dev/null", O_RDONLY | O_CLOEXEC);
  gboolean replaced;
  int saved_errno;

  replaced = nothing >= 0 && dup2 (nothing, STDIN_FILENO) >= 0 &&
             dup2 (STDERR_FILENO, STDOUT_FILENO) >= 0;
  saved_errno = errno;
  if (nothing > STDIN_FILENO)
    close (nothing);

  if (!replaced)
    g_set_error (error, SBX_ERROR, SBX_ERROR_FAILED,
                 _("Standard input and output could not be replaced: %s"),
                 g_strerror (saved_errno));

  return replaced;
}

/**
 * sbx_provider_server_new_for_stdio:
 * @provider: what opens the sandboxes
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a server on the standard input and output of the process.
 *
 * The server takes both over. From then on whoever reads standard input finds nothing there, and
 * what is printed to standard output comes out of standard error, so that nothing can come between
 * the lines of the protocol. What was printed before should have been flushed.
 *
 * Returns: (transfer full): a new server
 *
 * Since: 1.0
 */
SbxProviderServer *
sbx_provider_server_new_for_stdio (SbxProvider  *provider,
                                   GError      **error)
{
  g_autoptr(GOutputStream) output = NULL;
  g_autoptr(GInputStream) input = NULL;
  int output_fd;
  int input_fd;

  g_return_val_if_fail (SBX_IS_PROVIDER (provider), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  input_fd = duplicate (STDIN_FILENO, _("standard input"), error);
  if (input_fd < 0)
    return NULL;
  input = g_unix_input_stream_new (input_fd, TRUE);

  output_fd = duplicate (STDOUT_FILENO, _("standard output"), error);
  if (output_fd < 0)
    return NULL;
  output = g_unix_output_stream_new (output_fd, TRUE);

  if (!replace_stdio (error))
    return NULL;

  return sbx_provider_server_new (provider, input, output);
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

static int
duplicate_stream (gpointer     stream,
                  const char  *what,
                  GError     **error)
{
  if (G_IS_FILE_DESCRIPTOR_BASED (stream))
    return duplicate (g_file_descriptor_based_get_fd (stream), what, error);

  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
               _("A %s has no descriptor and cannot be the server's %s; use a pipe or a socket"),
               G_OBJECT_TYPE_NAME (stream), what);

  return -1;
}

static gboolean
cancelled_cb (GCancellable *cancellable,
              gpointer      user_data)
{
  SbxServerConnection *connection = g_task_get_task_data (user_data);
  g_autoptr(GError) error = NULL;

  if (!_sbx_context_enter (G_OBJECT (connection->server), NULL))
    return G_SOURCE_REMOVE;

  g_cancellable_set_error_if_cancelled (cancellable, &error);
  _sbx_server_connection_end (connection, g_steal_pointer (&error));
  _sbx_context_leave (G_OBJECT (connection->server));

  return G_SOURCE_REMOVE;
}

/* The task to go on with, or %NULL when it was returned. */
static GTask *
begin_run (SbxProviderServer   *self,
           GCancellable        *cancellable,
           GAsyncReadyCallback  callback,
           gpointer             user_data)
{
  g_autoptr(GTask) task = g_task_new (self, cancellable, callback, user_data);
  g_autoptr(GError) error = NULL;

  g_task_set_source_tag (task, sbx_provider_server_run_async);
  if (g_task_return_error_if_cancelled (task))
    return NULL;

  g_task_set_check_cancellable (task, FALSE);
  if (self->has_run)
    g_set_error_literal (&error, SBX_ERROR, SBX_ERROR_BUSY,
                         _("The server runs already, or has run; make another one"));
  else if (_sbx_context_enter (G_OBJECT (self), &error))
    {
      _sbx_context_leave (G_OBJECT (self));
      return g_steal_pointer (&task);
    }

  g_task_return_error (task, g_steal_pointer (&error));

  return NULL;
}

/**
 * sbx_provider_server_run_async:
 * @self: a server that did not run yet
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when all is over
 * @user_data: data for @callback
 *
 * Serves the one client that is on the other side of the streams.
 *
 * It is done when the client has asked for a shutdown, or its stream has ended, or it is gone, and
 * when then all sessions are closed. Cancelling @cancellable has the same happen.
 *
 * Finish with [method@ProviderServer.run_finish].
 *
 * Since: 1.0
 */
void
sbx_provider_server_run_async (SbxProviderServer   *self,
                               GCancellable        *cancellable,
                               GAsyncReadyCallback  callback,
                               gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;
  g_autoptr(GError) error = NULL;
  SbxServerConnection *connection;
  int output_fd;
  int input_fd;

  g_return_if_fail (SBX_IS_PROVIDER_SERVER (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = begin_run (self, cancellable, callback, user_data);
  if (task == NULL)
    return;

  input_fd = duplicate_stream (self->input, _("input"), &error);
  output_fd = input_fd >= 0 ? duplicate_stream (self->output, _("output"), &error) : -1;
  if (output_fd < 0)
    {
      if (input_fd >= 0)
        close (input_fd);
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }

  self->has_run = TRUE;
  connection = _sbx_server_connection_new (task, self->provider, &self->limits, input_fd,
                                           output_fd);
  g_task_set_task_data (task, _sbx_server_connection_ref (connection),
                        (GDestroyNotify) _sbx_server_connection_unref);
  _sbx_task_watch_cancellable (task, cancelled_cb);
}

/**
 * sbx_provider_server_run_finish:
 * @self: a server
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@ProviderServer.run_async].
 *
 * That a client went away without a word is no error. One is from [error@Error] or
 * [error@Gio.IOErrorEnum]: %SBX_ERROR_INVALID for streams without a descriptor,
 * %SBX_ERROR_TOO_LARGE for a request over the limit, %G_IO_ERROR_CANCELLED, or what reading or
 * writing failed with.
 *
 * Returns: %TRUE if the client ended it
 *
 * Since: 1.0
 */
gboolean
sbx_provider_server_run_finish (SbxProviderServer  *self,
                                GAsyncResult       *result,
                                GError            **error)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_SERVER (self), FALSE);
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_provider_server_run_async), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

/**
 * sbx_provider_server_run:
 * @self: a server that did not run yet
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Serves the one client that is on the other side of the streams, until all is over.
 *
 * This is for programs that do nothing else: meanwhile it iterates the context that the server
 * belongs to. All else is as with [method@ProviderServer.run_async].
 *
 * Returns: %TRUE if the client ended it
 *
 * Since: 1.0
 */
gboolean
sbx_provider_server_run (SbxProviderServer  *self,
                         GCancellable       *cancellable,
                         GError            **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_PROVIDER_SERVER (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return FALSE;

  sbx_provider_server_run_async (self, cancellable, _sbx_sync_done_cb, sync);

  return sbx_provider_server_run_finish (self, _sbx_sync_wait (sync), error);
}
