/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "server/sbx-provider-server.h"

#include "core/sbx-error.h"
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

/*
 * The descriptors that a server works on, and its one run.
 */

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
  const int nothing = open ("/dev/null", O_RDWR | O_CLOEXEC);
  const int talk = fcntl (STDERR_FILENO, F_GETFD) >= 0 ? STDERR_FILENO : nothing;
  gboolean replaced;
  int saved_errno;

  replaced = nothing >= 0 && dup2 (nothing, STDIN_FILENO) >= 0 && dup2 (talk, STDOUT_FILENO) >= 0;
  saved_errno = errno;
  if (nothing > STDERR_FILENO)
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
