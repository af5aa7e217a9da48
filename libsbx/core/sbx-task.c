/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-task-private.h"

static void
source_free (gpointer  source,
             GClosure *closure)
{
  g_source_destroy (source);
  g_source_unref (source);
}

/* The source holds the task and is destroyed when the task is completed, so that a cancellable that
 * lives on does not collect calls that are over. */
static void
completed_cb (GObject    *task,
              GParamSpec *pspec,
              gpointer    source)
{
  g_source_destroy (source);
}

void
_sbx_task_watch_cancellable (GTask                  *task,
                             GCancellableSourceFunc  func)
{
  GCancellable *cancellable = g_task_get_cancellable (task);
  GSource *source;

  if (cancellable == NULL)
    return;

  source = g_cancellable_source_new (cancellable);
  g_source_set_callback (source, G_SOURCE_FUNC (func), g_object_ref (task), g_object_unref);
  g_source_attach (source, g_task_get_context (task));
  g_signal_connect_data (task, "notify::completed", G_CALLBACK (completed_cb), source,
                         source_free, 0);
}
