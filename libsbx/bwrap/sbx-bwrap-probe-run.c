/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-probe-run-private.h"

#include <unistd.h>

#define MAX_OUTPUT (64 * 1024)
#define DEADLINE_S 10

typedef struct
{
  GSubprocess *process;
  GString     *output;
  GSource     *deadline;
} Run;

static void
run_free (Run *self)
{
  if (self->deadline != NULL)
    g_source_destroy (self->deadline);

  g_clear_pointer (&self->deadline, g_source_unref);
  g_clear_object (&self->process);
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

  g_subprocess_force_exit (self->process);
  return G_SOURCE_REMOVE;
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
      g_subprocess_force_exit (self->process);
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }

  run = g_new0 (SbxBwrapRun, 1);
  run->succeeded = g_subprocess_get_successful (self->process);
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
      g_subprocess_force_exit (self->process);
      g_task_return_error (task, g_steal_pointer (&error));
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

  g_subprocess_wait_async (self->process, cancellable, wait_cb, g_steal_pointer (&task));
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

  g_task_set_source_tag (task, _sbx_bwrap_run_async);
  g_task_set_task_data (task, self, (GDestroyNotify) run_free);
  self->output = g_string_new (NULL);

  launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                                        G_SUBPROCESS_FLAGS_STDERR_MERGE);
  g_subprocess_launcher_set_environ (launcher, environment);
  g_subprocess_launcher_set_child_setup (launcher, setup_child, NULL, NULL);
  g_subprocess_launcher_set_cwd (launcher, "/");
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
