/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "client/sbx-provider-client-private.h"

/*
 * What can be asked of a client and set of it, without talking to the provider.
 */

/**
 * sbx_provider_client_get_argv: (get-property argv)
 * @self: a client
 *
 * Gets the command line of the provider.
 *
 * Returns: (array zero-terminated=1) (element-type filename) (transfer none): the command line
 *
 * Since: 1.0
 */
const char * const *
sbx_provider_client_get_argv (SbxProviderClient *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_CLIENT (self), NULL);

  return (const char * const *) self->argv;
}

/**
 * sbx_provider_client_set_provider_name: (set-property provider-name)
 * @self: a client
 * @name: a name
 *
 * Sets what the provider is called in what is asked of it.
 *
 * Since: 1.0
 */
void
sbx_provider_client_set_provider_name (SbxProviderClient *self,
                                       const char        *name)
{
  g_autofree char *old = NULL;

  g_return_if_fail (SBX_IS_PROVIDER_CLIENT (self));
  g_return_if_fail (name != NULL);

  if (g_strcmp0 (self->provider_name, name) == 0)
    return;

  old = g_steal_pointer (&self->provider_name);
  self->provider_name = g_strdup (name);
  g_object_notify (G_OBJECT (self), "provider-name");
}

/**
 * sbx_provider_client_get_provider_name: (get-property provider-name)
 * @self: a client
 *
 * Gets what the provider is called in what is asked of it.
 *
 * Returns: (transfer none): the name
 *
 * Since: 1.0
 */
const char *
sbx_provider_client_get_provider_name (SbxProviderClient *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_CLIENT (self), NULL);

  return self->provider_name;
}

/**
 * sbx_provider_client_set_variable:
 * @self: a client that was not started
 * @name: (type filename): the name of an environment variable
 * @value: (type filename) (nullable): its value, or %NULL for none
 *
 * Sets a variable in the environment of the provider, which is otherwise that of the caller.
 *
 * Since: 1.0
 */
void
sbx_provider_client_set_variable (SbxProviderClient *self,
                                  const char        *name,
                                  const char        *value)
{
  g_return_if_fail (SBX_IS_PROVIDER_CLIENT (self));
  g_return_if_fail (name != NULL && *name != '\0');

  if (self->environment == NULL)
    self->environment = g_get_environ ();

  self->environment = value != NULL ? g_environ_setenv (self->environment, name, value, TRUE)
                                    : g_environ_unsetenv (self->environment, name);
}

/**
 * sbx_provider_client_set_max_message_size: (set-property max-message-size)
 * @self: a client
 * @bytes: bytes
 *
 * Sets how many bytes a line of the provider may have, from the next start on.
 *
 * Since: 1.0
 */
void
sbx_provider_client_set_max_message_size (SbxProviderClient *self,
                                          guint64            bytes)
{
  g_return_if_fail (SBX_IS_PROVIDER_CLIENT (self));
  g_return_if_fail (bytes >= 1024 && bytes <= G_MAXUINT64 / 4);

  if (self->max_message_size == bytes)
    return;

  self->max_message_size = bytes;
  g_object_notify (G_OBJECT (self), "max-message-size");
}

/**
 * sbx_provider_client_get_max_message_size: (get-property max-message-size)
 * @self: a client
 *
 * Gets how many bytes a line of the provider may have.
 *
 * Returns: bytes
 *
 * Since: 1.0
 */
guint64
sbx_provider_client_get_max_message_size (SbxProviderClient *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_CLIENT (self), 0);

  return self->max_message_size;
}

/**
 * sbx_provider_client_set_open_timeout: (set-property open-timeout)
 * @self: a client
 * @timeout_ms: milliseconds; 0 is for ever
 *
 * Sets how long opening a sandbox may take.
 *
 * Since: 1.0
 */
void
sbx_provider_client_set_open_timeout (SbxProviderClient *self,
                                      guint              timeout_ms)
{
  g_return_if_fail (SBX_IS_PROVIDER_CLIENT (self));

  if (self->open_timeout_ms == timeout_ms)
    return;

  self->open_timeout_ms = timeout_ms;
  g_object_notify (G_OBJECT (self), "open-timeout");
}

/**
 * sbx_provider_client_get_open_timeout: (get-property open-timeout)
 * @self: a client
 *
 * Gets how long opening a sandbox may take.
 *
 * Returns: milliseconds; 0 is for ever
 *
 * Since: 1.0
 */
guint
sbx_provider_client_get_open_timeout (SbxProviderClient *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_CLIENT (self), 0);

  return self->open_timeout_ms;
}

/**
 * sbx_provider_client_set_call_timeout: (set-property call-timeout)
 * @self: a client
 * @timeout_ms: milliseconds; 0 is for ever
 *
 * Sets how long the provider may work on a call that is neither opening a sandbox nor a command.
 *
 * Since: 1.0
 */
void
sbx_provider_client_set_call_timeout (SbxProviderClient *self,
                                      guint              timeout_ms)
{
  g_return_if_fail (SBX_IS_PROVIDER_CLIENT (self));

  if (self->call_timeout_ms == timeout_ms)
    return;

  self->call_timeout_ms = timeout_ms;
  g_object_notify (G_OBJECT (self), "call-timeout");
}

/**
 * sbx_provider_client_get_call_timeout: (get-property call-timeout)
 * @self: a client
 *
 * Gets how long the provider may work on a call that is neither opening a sandbox nor a command.
 *
 * Returns: milliseconds; 0 is for ever
 *
 * Since: 1.0
 */
guint
sbx_provider_client_get_call_timeout (SbxProviderClient *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_CLIENT (self), 0);

  return self->call_timeout_ms;
}

/**
 * sbx_provider_client_set_close_timeout: (set-property close-timeout)
 * @self: a client
 * @timeout_ms: milliseconds; 0 ends the provider at once
 *
 * Sets how long each of shutting down and exiting may take.
 *
 * Since: 1.0
 */
void
sbx_provider_client_set_close_timeout (SbxProviderClient *self,
                                       guint              timeout_ms)
{
  g_return_if_fail (SBX_IS_PROVIDER_CLIENT (self));

  if (self->close_timeout_ms == timeout_ms)
    return;

  self->close_timeout_ms = timeout_ms;
  g_object_notify (G_OBJECT (self), "close-timeout");
}

/**
 * sbx_provider_client_get_close_timeout: (get-property close-timeout)
 * @self: a client
 *
 * Gets how long each of shutting down and exiting may take.
 *
 * Returns: milliseconds; 0 ends the provider at once
 *
 * Since: 1.0
 */
guint
sbx_provider_client_get_close_timeout (SbxProviderClient *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_CLIENT (self), 0);

  return self->close_timeout_ms;
}

/**
 * sbx_provider_client_set_grace: (set-property grace)
 * @self: a client
 * @grace_ms: milliseconds
 *
 * Sets how long the provider may take to end a call that was cancelled.
 *
 * Since: 1.0
 */
void
sbx_provider_client_set_grace (SbxProviderClient *self,
                               guint              grace_ms)
{
  g_return_if_fail (SBX_IS_PROVIDER_CLIENT (self));

  if (self->grace_ms == grace_ms)
    return;

  self->grace_ms = grace_ms;
  if (self->connection != NULL)
    _sbx_client_connection_set_grace (self->connection, grace_ms);
  g_object_notify (G_OBJECT (self), "grace");
}

/**
 * sbx_provider_client_get_grace: (get-property grace)
 * @self: a client
 *
 * Gets how long the provider may take to end a call that was cancelled.
 *
 * Returns: milliseconds
 *
 * Since: 1.0
 */
guint
sbx_provider_client_get_grace (SbxProviderClient *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_CLIENT (self), 0);

  return self->grace_ms;
}

/**
 * sbx_provider_client_get_state: (get-property state)
 * @self: a client
 *
 * Gets where the client is in its life.
 *
 * Returns: the state
 *
 * Since: 1.0
 */
SbxProviderClientState
sbx_provider_client_get_state (SbxProviderClient *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_CLIENT (self), SBX_PROVIDER_CLIENT_STATE_BROKEN);

  return self->state;
}

/**
 * sbx_provider_client_get_failure:
 * @self: a client
 *
 * Gets why the client is broken, or what went wrong when it was closed.
 *
 * Returns: (transfer none) (nullable): the error, or %NULL if all went well so far
 *
 * Since: 1.0
 */
const GError *
sbx_provider_client_get_failure (SbxProviderClient *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_CLIENT (self), NULL);

  return self->failure;
}

/**
 * sbx_provider_client_dup_features:
 * @self: a client
 *
 * Gets what the provider can beyond plain `sandbox.v1`, by the names of the protocol.
 *
 * Returns: (array zero-terminated=1) (element-type utf8) (transfer full): the names; none before it
 *   has started
 *
 * Since: 1.0
 */
char **
sbx_provider_client_dup_features (SbxProviderClient *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_CLIENT (self), NULL);

  return _sbx_wire_features_to_names (self->connection != NULL
                                        ? _sbx_client_connection_get_features (self->connection)
                                        : 0);
}

/**
 * sbx_provider_client_get_n_in_flight: (get-property n-in-flight)
 * @self: a client
 *
 * Gets how many calls the provider works on, also such as were cancelled and have not ended.
 *
 * Returns: the number
 *
 * Since: 1.0
 */
guint
sbx_provider_client_get_n_in_flight (SbxProviderClient *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_CLIENT (self), 0);

  return self->connection != NULL ? _sbx_client_connection_n_in_flight (self->connection) : 0;
}

/**
 * sbx_provider_client_get_n_queued: (get-property n-queued)
 * @self: a client
 *
 * Gets how many calls wait until the provider is through with others.
 *
 * Returns: the number
 *
 * Since: 1.0
 */
guint
sbx_provider_client_get_n_queued (SbxProviderClient *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_CLIENT (self), 0);

  return self->connection != NULL ? _sbx_client_connection_n_queued (self->connection) : 0;
}

/**
 * sbx_provider_client_dup_calls:
 * @self: a client
 *
 * Describes the calls that have not ended, each as in `req_7 exec in flight` or
 * `req_8 read_file queued`, in the order in which the provider gets them.
 *
 * Returns: (array zero-terminated=1) (element-type utf8) (transfer full): the descriptions
 *
 * Since: 1.0
 */
char **
sbx_provider_client_dup_calls (SbxProviderClient *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_CLIENT (self), NULL);

  return self->connection != NULL ? _sbx_client_connection_dup_calls (self->connection)
                                  : g_new0 (char *, 1);
}

/**
 * sbx_provider_client_get_n_sessions:
 * @self: a client
 *
 * Gets how many sessions of the client are open.
 *
 * Returns: the number
 *
 * Since: 1.0
 */
guint
sbx_provider_client_get_n_sessions (SbxProviderClient *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_CLIENT (self), 0);

  return g_hash_table_size (self->sessions);
}

/**
 * sbx_provider_client_get_n_dropped:
 * @self: a client
 *
 * Gets how many lines of the provider were dropped, because they were no messages or nobody waited
 * for them.
 *
 * Returns: the number
 *
 * Since: 1.0
 */
guint64
sbx_provider_client_get_n_dropped (SbxProviderClient *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_CLIENT (self), 0);

  return self->connection != NULL ? _sbx_client_connection_n_dropped (self->connection) : 0;
}
