/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "run-input.h"

#include <gio/gunixinputstream.h>
#include <glib/gi18n.h>
#include <unistd.h>

/*
 * Reads all of standard input, for a provider that has to know the input of a command before the
 * command runs.
 */

#define CHUNK_SIZE (64 * 1024)
#define MAX_SIZE (64 * 1024 * 1024)

static void read_more (GTask *task);

static void
read_cb (GObject      *object,
         GAsyncResult *result,
         gpointer      user_data)
{
  g_autoptr(GTask) task = user_data;
  g_autoptr(GError) error = NULL;
  GByteArray *gathered = g_task_get_task_data (task);
  g_autoptr(GBytes) chunk = g_input_stream_read_bytes_finish (G_INPUT_STREAM (object), result,
                                                              &error);
  gsize size;
  const guint8 *data;

  if (chunk == NULL)
    {
      g_prefix_error (&error, "%s: ", _("standard input cannot be read"));
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }

  data = g_bytes_get_data (chunk, &size);
  if (size == 0)
    {
      g_task_return_pointer (task, g_bytes_new (gathered->data, gathered->len),
                             (GDestroyNotify) g_bytes_unref);
      return;
    }

  if (gathered->len + size > MAX_SIZE)
    {
      g_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_NO_SPACE,
                               _("this provider has to be given a command's whole input "
                                 "beforehand, and standard input is over %d MiB; put it into a "
                                 "file"),
                               MAX_SIZE / 1024 / 1024);
      return;
    }

  g_byte_array_append (gathered, data, size);
  read_more (g_steal_pointer (&task));
}

static void
read_more (GTask *task)
{
  GInputStream *stream = g_task_get_source_object (task);

  g_input_stream_read_bytes_async (stream, CHUNK_SIZE, G_PRIORITY_DEFAULT,
                                   g_task_get_cancellable (task), read_cb, task);
}

void
tool_input_gather_async (GCancellable        *cancellable,
                         GAsyncReadyCallback  callback,
                         gpointer             user_data)
{
  g_autoptr(GInputStream) stream = g_unix_input_stream_new (STDIN_FILENO, FALSE);
  g_autoptr(GTask) task = g_task_new (stream, cancellable, callback, user_data);

  g_task_set_task_data (task, g_byte_array_new (), (GDestroyNotify) g_byte_array_unref);
  read_more (g_steal_pointer (&task));
}

GBytes *
tool_input_gather_finish (GAsyncResult  *result,
                          GError       **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}
