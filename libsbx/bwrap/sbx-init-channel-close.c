/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-init-channel-struct-private.h"
#include "core/sbx-error.h"

#include <glib-unix.h>
#include <glib/gi18n-lib.h>
#include <sys/socket.h>

/* Process 1 is gone, and so is everything that was inside. */
static gboolean
gone_cb (int          fd,
         GIOCondition condition,
         gpointer     user_data)
{
  SbxInitChannel *self = user_data;
  g_autoptr(SbxInitChannel) keep G_GNUC_UNUSED = g_object_ref (self);
  g_autoptr(GPtrArray) tasks = NULL;
  g_autoptr(GError) error = g_error_new_literal (SBX_ERROR, SBX_ERROR_CLOSED,
                                                 _("The sandbox was closed"));

  _sbx_init_channel_clear_source (&self->gone);
  _sbx_init_channel_clear_source (&self->grace);

  /* What ended before is still told as it was. */
  while (self->input != NULL && _sbx_init_channel_read_one (self))
    ;
  _sbx_init_channel_lose (self, error);

  tasks = g_steal_pointer (&self->close_tasks);
  self->close_tasks = g_ptr_array_new_with_free_func (g_object_unref);
  for (guint i = 0; i < tasks->len; i++)
    g_task_return_boolean (tasks->pdata[i], TRUE);

  return G_SOURCE_REMOVE;
}

static gboolean
grace_over_cb (gpointer user_data)
{
  SbxInitChannel *self = user_data;

  _sbx_init_channel_clear_source (&self->grace);
  _sbx_init_channel_kill (self);

  return G_SOURCE_REMOVE;
}

static gboolean
close_cancelled_cb (GCancellable *cancellable,
                    gpointer      user_data)
{
  _sbx_init_channel_kill (user_data);
  return G_SOURCE_REMOVE;
}

/* Nothing is known that could be waited for. */
static gboolean
close_unknown_cb (gpointer user_data)
{
  SbxInitChannel *self = g_task_get_source_object (user_data);
  g_autoptr(GError) error = g_error_new_literal (SBX_ERROR, SBX_ERROR_CLOSED,
                                                 _("The sandbox was closed"));

  _sbx_init_channel_lose (self, error);
  g_task_return_boolean (user_data, TRUE);

  return G_SOURCE_REMOVE;
}

static void
ask_to_end (SbxInitChannel *self)
{
  const SbxInitMessage message = _sbx_init_channel_message (SBX_INIT_CLOSE, 0);

  switch (self->state)
    {
    case SBX_INIT_CHANNEL_READY:
      self->state = SBX_INIT_CHANNEL_CLOSING;
      _sbx_init_channel_send (self, &message, NULL, 0);
      break;

    case SBX_INIT_CHANNEL_NEW:
    case SBX_INIT_CHANNEL_SETTING_UP:
      /* It does not listen to such messages yet, but it notices this, and what it says meanwhile
       * is of no interest any more. */
      self->state = SBX_INIT_CHANNEL_CLOSING;
      _sbx_init_channel_clear_source (&self->input);
      shutdown (self->fd, SHUT_RDWR);
      break;

    case SBX_INIT_CHANNEL_CLOSING:
    case SBX_INIT_CHANNEL_LOST:
    default:
      break;
    }
}

static void
destroy_source (GSource *source)
{
  g_source_destroy (source);
  g_source_unref (source);
}

/* Lives as long as the task does, and does not keep it. */
static void
watch_cancellable (SbxInitChannel *self,
                   GTask          *task,
                   GCancellable   *cancellable)
{
  GSource *source = g_cancellable_source_new (cancellable);

  _sbx_init_channel_attach (self, source, G_SOURCE_FUNC (close_cancelled_cb), self, NULL);
  g_task_set_task_data (task, source, (GDestroyNotify) destroy_source);
}

void
_sbx_init_channel_close_async (SbxInitChannel      *self,
                               guint                grace_ms,
                               GCancellable        *cancellable,
                               GAsyncReadyCallback  callback,
                               gpointer             user_data)
{
  g_autoptr(GTask) task = g_task_new (self, cancellable, callback, user_data);

  g_task_set_source_tag (task, _sbx_init_channel_close_async);
  g_task_set_check_cancellable (task, FALSE);

  ask_to_end (self);

  if (self->pidfd < 0)
    {
      g_autoptr(GSource) source = g_idle_source_new ();

      _sbx_init_channel_attach (self, source, close_unknown_cb,
                                g_steal_pointer (&task), g_object_unref);
      return;
    }

  if (cancellable != NULL)
    watch_cancellable (self, task, cancellable);

  if (self->gone == NULL)
    self->gone =
      _sbx_init_channel_attach (self, g_unix_fd_source_new (self->pidfd, G_IO_IN),
                                G_SOURCE_FUNC (gone_cb), self, NULL);

  /* The first call decides; who is in more of a hurry cancels. */
  if (self->grace == NULL)
    self->grace =
      _sbx_init_channel_attach (self, g_timeout_source_new (grace_ms), grace_over_cb, self, NULL);

  g_ptr_array_add (self->close_tasks, g_steal_pointer (&task));
}

gboolean
_sbx_init_channel_close_finish (SbxInitChannel  *self,
                                GAsyncResult    *result,
                                GError         **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, _sbx_init_channel_close_async), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}
