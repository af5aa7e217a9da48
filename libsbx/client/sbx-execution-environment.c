/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "client/sbx-execution-environment.h"

#include "core/sbx-library-private.h"
#include "core/sbx-provider.h"
#include "core/sbx-sync-private.h"

/**
 * SbxExecutionEnvironment:
 *
 * A session and the provider that is there for it.
 *
 * This is for who wants one sandbox from a provider and nothing else: opening it starts the
 * provider, and closing it also ends the provider.
 *
 * ```python
 * client = Sbx.ProviderClient.new_for_program("/usr/bin/my-provider")
 * request = Sbx.OpenRequest.new_for_profile("/home/me/project", "default")
 * environment = Sbx.ExecutionEnvironment.open(client, request, None)
 * session = environment.get_session()
 * session.write_file("hello.txt", GLib.Bytes.new(b"hello"), 0o644, None)
 * environment.close(None)
 * ```
 *
 * It belongs to the thread-default [struct@GLib.MainContext] that it was made in. One that is
 * dropped drops its session and its client, which then end by themselves.
 *
 * Since: 1.0
 */

struct _SbxExecutionEnvironment
{
  GObject            parent_instance;

  SbxProviderClient *client;
  SbxSession        *session;
};

G_DEFINE_FINAL_TYPE (SbxExecutionEnvironment, sbx_execution_environment, G_TYPE_OBJECT)

static void
sbx_execution_environment_constructed (GObject *object)
{
  G_OBJECT_CLASS (sbx_execution_environment_parent_class)->constructed (object);

  _sbx_context_of (object);
}

static void
sbx_execution_environment_finalize (GObject *object)
{
  SbxExecutionEnvironment *self = SBX_EXECUTION_ENVIRONMENT (object);

  g_clear_object (&self->session);
  g_clear_object (&self->client);

  G_OBJECT_CLASS (sbx_execution_environment_parent_class)->finalize (object);
}

static void
sbx_execution_environment_class_init (SbxExecutionEnvironmentClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  _sbx_library_init ();

  object_class->constructed = sbx_execution_environment_constructed;
  object_class->finalize = sbx_execution_environment_finalize;
}

static void
sbx_execution_environment_init (SbxExecutionEnvironment *self)
{
}

/**
 * sbx_execution_environment_new:
 * @client: a client
 * @session: a session that the client has opened
 *
 * Makes an environment of a session that is open already.
 *
 * Returns: (transfer full): a new environment
 *
 * Since: 1.0
 */
SbxExecutionEnvironment *
sbx_execution_environment_new (SbxProviderClient *client,
                               SbxSession        *session)
{
  SbxExecutionEnvironment *self;

  g_return_val_if_fail (SBX_IS_PROVIDER_CLIENT (client), NULL);
  g_return_val_if_fail (SBX_IS_SESSION (session), NULL);

  self = g_object_new (SBX_TYPE_EXECUTION_ENVIRONMENT, NULL);
  self->client = g_object_ref (client);
  self->session = g_object_ref (session);

  return self;
}

/* Completes a task with the error that it keeps, if it keeps one. */
static void
client_closed_cb (GObject      *object,
                  GAsyncResult *result,
                  gpointer      user_data)
{
  g_autoptr(GTask) task = G_TASK (user_data);
  const GError *first = g_task_get_task_data (task);
  g_autoptr(GError) error = NULL;

  sbx_provider_client_close_finish (SBX_PROVIDER_CLIENT (object), result, &error);

  if (first != NULL)
    g_task_return_error (task, g_error_copy (first));
  else if (error != NULL)
    g_task_return_error (task, g_steal_pointer (&error));
  else
    g_task_return_boolean (task, TRUE);
}

/* Ends the provider, unless others use it too. Takes @task and @first, which is what went wrong
 * before. */
static void
close_client (SbxProviderClient *client,
              GTask             *task,
              GError            *first)
{
  if (sbx_provider_client_get_n_sessions (client) == 0)
    {
      if (first != NULL)
        g_task_set_task_data (task, first, (GDestroyNotify) g_error_free);
      sbx_provider_client_close_async (client, g_task_get_cancellable (task), client_closed_cb,
                                       task);
      return;
    }

  if (first != NULL)
    g_task_return_error (task, first);
  else
    g_task_return_boolean (task, TRUE);

  g_object_unref (task);
}

static void
opened_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  g_autoptr(GTask) task = G_TASK (user_data);
  g_autoptr(SbxSession) session = NULL;
  GError *error = NULL;

  session = sbx_provider_open_finish (SBX_PROVIDER (object), result, &error);
  if (session != NULL)
    g_task_return_pointer (task,
                           sbx_execution_environment_new (SBX_PROVIDER_CLIENT (object), session),
                           g_object_unref);
  else if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      /* Whoever gave up does not wait for the end, which takes back what was half open. */
      if (sbx_provider_client_get_n_sessions (SBX_PROVIDER_CLIENT (object)) == 0)
        sbx_provider_client_close_async (SBX_PROVIDER_CLIENT (object), NULL, NULL, NULL);
      g_task_return_error (task, error);
    }
  else
    close_client (SBX_PROVIDER_CLIENT (object), g_steal_pointer (&task), error);
}

/**
 * sbx_execution_environment_open_async:
 * @client: a client, which is started if need be
 * @request: what to open
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when the sandbox is open, or is not
 * @user_data: data for @callback
 *
 * Opens a sandbox. If that fails the client is closed, unless it has other sessions.
 *
 * Cancelling @cancellable gives up: the sandbox is not opened, or is closed again, and then the
 * client is closed, though nobody waits for that any more.
 *
 * Finish with [func@ExecutionEnvironment.open_finish].
 *
 * Since: 1.0
 */
void
sbx_execution_environment_open_async (SbxProviderClient   *client,
                                      SbxOpenRequest      *request,
                                      GCancellable        *cancellable,
                                      GAsyncReadyCallback  callback,
                                      gpointer             user_data)
{
  GTask *task;

  g_return_if_fail (SBX_IS_PROVIDER_CLIENT (client));
  g_return_if_fail (SBX_IS_OPEN_REQUEST (request));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (client, cancellable, callback, user_data);
  g_task_set_source_tag (task, sbx_execution_environment_open_async);
  g_task_set_check_cancellable (task, FALSE);

  sbx_provider_open_async (SBX_PROVIDER (client), request, cancellable, opened_cb, task);
}

/**
 * sbx_execution_environment_open_finish:
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [func@ExecutionEnvironment.open_async].
 *
 * Returns: (transfer full): the environment
 *
 * Since: 1.0
 */
SbxExecutionEnvironment *
sbx_execution_environment_open_finish (GAsyncResult  *result,
                                       GError       **error)
{
  g_return_val_if_fail (G_IS_TASK (result), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_execution_environment_open_async),
                        NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * sbx_execution_environment_open:
 * @client: a client, which is started if need be
 * @request: what to open
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Opens a sandbox, and waits until it is open.
 *
 * This is for scripts and tools; see [func@ExecutionEnvironment.open_async].
 *
 * Returns: (transfer full): the environment
 *
 * Since: 1.0
 */
SbxExecutionEnvironment *
sbx_execution_environment_open (SbxProviderClient  *client,
                                SbxOpenRequest     *request,
                                GCancellable       *cancellable,
                                GError            **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_PROVIDER_CLIENT (client), NULL);
  g_return_val_if_fail (SBX_IS_OPEN_REQUEST (request), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  sync = _sbx_sync_begin (G_OBJECT (client), error);
  if (sync == NULL)
    return NULL;

  sbx_execution_environment_open_async (client, request, cancellable, _sbx_sync_done_cb, sync);

  return sbx_execution_environment_open_finish (_sbx_sync_wait (sync), error);
}

/**
 * sbx_execution_environment_get_client:
 * @self: an environment
 *
 * Gets the client.
 *
 * Returns: (transfer none): the client
 *
 * Since: 1.0
 */
SbxProviderClient *
sbx_execution_environment_get_client (SbxExecutionEnvironment *self)
{
  g_return_val_if_fail (SBX_IS_EXECUTION_ENVIRONMENT (self), NULL);

  return self->client;
}

/**
 * sbx_execution_environment_get_session:
 * @self: an environment
 *
 * Gets the session, which has the verbs.
 *
 * Returns: (transfer none): the session
 *
 * Since: 1.0
 */
SbxSession *
sbx_execution_environment_get_session (SbxExecutionEnvironment *self)
{
  g_return_val_if_fail (SBX_IS_EXECUTION_ENVIRONMENT (self), NULL);

  return self->session;
}

/**
 * sbx_execution_environment_get_cwd:
 * @self: an environment
 *
 * Gets the directory that commands start in, inside the sandbox.
 *
 * Returns: (type filename) (transfer none) (nullable): a path, or %NULL if the provider did not say
 *
 * Since: 1.0
 */
const char *
sbx_execution_environment_get_cwd (SbxExecutionEnvironment *self)
{
  g_return_val_if_fail (SBX_IS_EXECUTION_ENVIRONMENT (self), NULL);

  return sbx_session_get_cwd (self->session);
}

static void
session_closed_cb (GObject      *object,
                   GAsyncResult *result,
                   gpointer      user_data)
{
  GTask *task = user_data;
  SbxExecutionEnvironment *self = g_task_get_source_object (task);
  GError *error = NULL;

  sbx_session_close_finish (SBX_SESSION (object), result, &error);
  close_client (self->client, task, error);
}

/**
 * sbx_execution_environment_close_async:
 * @self: an environment
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data) (nullable): called when all is gone
 * @user_data: data for @callback
 *
 * Closes the session, and then the client, whether the former went well or not. A client that has
 * other sessions open is left to them.
 *
 * Cancelling @cancellable makes the end abrupt.
 *
 * Finish with [method@ExecutionEnvironment.close_finish].
 *
 * Since: 1.0
 */
void
sbx_execution_environment_close_async (SbxExecutionEnvironment *self,
                                       GCancellable            *cancellable,
                                       GAsyncReadyCallback      callback,
                                       gpointer                 user_data)
{
  GTask *task;

  g_return_if_fail (SBX_IS_EXECUTION_ENVIRONMENT (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sbx_execution_environment_close_async);
  g_task_set_check_cancellable (task, FALSE);

  sbx_session_close_async (self->session, cancellable, session_closed_cb, task);
}

/**
 * sbx_execution_environment_close_finish:
 * @self: an environment
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@ExecutionEnvironment.close_async].
 *
 * An error is the first thing that went wrong; the provider is gone all the same.
 *
 * Returns: %TRUE if all ended as it should
 *
 * Since: 1.0
 */
gboolean
sbx_execution_environment_close_finish (SbxExecutionEnvironment  *self,
                                        GAsyncResult             *result,
                                        GError                  **error)
{
  g_return_val_if_fail (SBX_IS_EXECUTION_ENVIRONMENT (self), FALSE);
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_execution_environment_close_async),
                        FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

/**
 * sbx_execution_environment_close:
 * @self: an environment
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Closes the session and the client, and waits until all is gone.
 *
 * This is for scripts and tools; see [method@ExecutionEnvironment.close_async].
 *
 * Returns: %TRUE if all ended as it should
 *
 * Since: 1.0
 */
gboolean
sbx_execution_environment_close (SbxExecutionEnvironment  *self,
                                 GCancellable             *cancellable,
                                 GError                  **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_EXECUTION_ENVIRONMENT (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return FALSE;

  sbx_execution_environment_close_async (self, cancellable, _sbx_sync_done_cb, sync);

  return sbx_execution_environment_close_finish (self, _sbx_sync_wait (sync), error);
}
