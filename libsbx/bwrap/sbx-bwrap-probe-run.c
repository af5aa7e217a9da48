/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-probe-run-private.h"

#include "files/sbx-fd-private.h"
#include "process/sbx-socket-holders-private.h"

#include <sys/socket.h>
#include <unistd.h>

#define MAX_OUTPUT (64 * 1024)
#define DEADLINE_S 10

/* Where all that is run has a socket that it is known by. */
#define MARK_FD 3

typedef struct
{
  GSubprocess *process;
  GString     *output;
  GSource     *deadline;
  GError      *error;
  guint64      mark;
  int          mark_fd;     /* ours: so that the number stays the socket's */
} Run;

static void
run_free (Run *self)
{
  if (self->deadline != NULL)
    g_source_destroy (self->deadline);

  g_clear_pointer (&self->deadline, g_source_unref);
  g_clear_object (&self->process);
  g_clear_error (&self->error);
  _sbx_clear_fd (&self->mark_fd);
  g_string_free (self->output, TRUE);
  g_free (self);
}

void
_sbx_bwrap_run_free (SbxBwrapRun *self)
{
  g_free (self->output);
  g_free (self);
}

static void
setup_child (gpointer user_data)
{
  setsid ();
}

static gboolean
deadline_cb (gpointer user_data)
{
  Run *self = user_data;

  /* It may have ended long since, and what it left keep the pipe open. */
  g_subprocess_force_exit (self->process);
  _sbx_socket_kill_holders (self->mark, MARK_FD);
  return G_SOURCE_REMOVE;
}

static void
killed_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  g_autoptr(GTask) task = G_TASK (user_data);
  Run *self = g_task_get_task_data (task);

  g_subprocess_wait_finish (G_SUBPROCESS (object), result, NULL);
  _sbx_socket_kill_holders (self->mark, MARK_FD);
  g_task_return_error (task, g_steal_pointer (&self->error));
}

/* Takes @task. What bubblewrap has forked may wait for it for ever, so that is ended as well. */
static void
give_up (GTask  *task,
         GError *error)
{
  Run *self = g_task_get_task_data (task);

  self->error = error;
  g_subprocess_force_exit (self->process);
  g_subprocess_wait_async (self->process, NULL, killed_cb, task);
}

static void
wait_cb (GObject      *object,
         GAsyncResult *result,
         gpointer      user_data)
{
  g_autoptr(GTask) task = G_TASK (user_data);
  g_autoptr(GError) error = NULL;
  Run *self = g_task_get_task_data (task);
  SbxBwrapRun *run;

  if (!g_subprocess_wait_finish (G_SUBPROCESS (object), result, &error))
    {
      give_up (g_steal_pointer (&task), g_steal_pointer (&error));
      return;
    }

  run = g_new0 (SbxBwrapRun, 1);
  run->succeeded = g_subprocess_get_successful (self->process);
  if (!run->succeeded)
    _sbx_socket_kill_holders (self->mark, MARK_FD);

  run->output = g_utf8_make_valid (self->output->str, self->output->len);
  g_task_return_pointer (task, run, (GDestroyNotify) _sbx_bwrap_run_free);
}

static void
read_cb (GObject      *object,
         GAsyncResult *result,
         gpointer      user_data)
{
  g_autoptr(GTask) task = G_TASK (user_data);
  g_autoptr(GError) error = NULL;
  GInputStream *stream = G_INPUT_STREAM (object);
  GCancellable *cancellable = g_task_get_cancellable (task);
  Run *self = g_task_get_task_data (task);
  g_autoptr(GBytes) bytes = g_input_stream_read_bytes_finish (stream, result, &error);

  if (bytes == NULL)
    {
      give_up (g_steal_pointer (&task), g_steal_pointer (&error));
      return;
    }

  g_string_append_len (self->output, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));

  if (g_bytes_get_size (bytes) > 0 && self->output->len < MAX_OUTPUT)
    {
      g_input_stream_read_bytes_async (stream, 4096, G_PRIORITY_DEFAULT, cancellable, read_cb,
                                       g_steal_pointer (&task));
      return;
    }

  /* One that has more to say than that is not what it should be. */
  if (g_bytes_get_size (bytes) > 0)
    g_subprocess_force_exit (self->process);

  /* Not with the cancellable: to cancel a wait at the moment of the end is not safe, and that is at
   * hand, or the deadline. */
  g_subprocess_wait_async (self->process, NULL, wait_cb, g_steal_pointer (&task));
}

void
_sbx_bwrap_run_async (const char * const  *argv,
                      GCancellable        *cancellable,
                      GAsyncReadyCallback  callback,
                      gpointer             user_data)
{
  g_autoptr(GSubprocessLauncher) launcher = NULL;
  g_autoptr(GTask) task = g_task_new (NULL, cancellable, callback, user_data);
  g_autoptr(GError) error = NULL;
  char *environment[] = { (char *) "LC_ALL=C", NULL };
  Run *self = g_new0 (Run, 1);
  int sockets[2];

  g_task_set_source_tag (task, _sbx_bwrap_run_async);
  g_task_set_task_data (task, self, (GDestroyNotify) run_free);
  self->output = g_string_new (NULL);
  self->mark_fd = -1;

  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    {
      g_task_return_new_error (task, G_IO_ERROR, g_io_error_from_errno (errno), "%s",
                               g_strerror (errno));
      return;
    }

  self->mark_fd = sockets[0];
  self->mark = _sbx_socket_get_inode (sockets[1]);

  launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                                        G_SUBPROCESS_FLAGS_STDERR_MERGE);
  g_subprocess_launcher_set_environ (launcher, environment);
  g_subprocess_launcher_set_child_setup (launcher, setup_child, NULL, NULL);
  g_subprocess_launcher_set_cwd (launcher, "/");
  g_subprocess_launcher_take_fd (launcher, sockets[1], MARK_FD);
  self->process = g_subprocess_launcher_spawnv (launcher, argv, &error);

  if (self->process == NULL)
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }

  self->deadline = g_timeout_source_new_seconds (DEADLINE_S);
  g_source_set_callback (self->deadline, deadline_cb, self, NULL);
  g_source_attach (self->deadline, g_task_get_context (task));

  g_input_stream_read_bytes_async (g_subprocess_get_stdout_pipe (self->process), 4096,
                                   G_PRIORITY_DEFAULT, cancellable, read_cb,
                                   g_steal_pointer (&task));
}

SbxBwrapRun *
_sbx_bwrap_run_finish (GAsyncResult  *result,
                       GError       **error)
{
  g_return_val_if_fail (g_task_is_valid (result, NULL), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, _sbx_bwrap_run_async), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}
