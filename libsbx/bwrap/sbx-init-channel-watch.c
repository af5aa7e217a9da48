/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-init-channel-struct-private.h"
#include "bwrap/sbx-init-pack-private.h"
#include "core/sbx-error.h"
#include "files/sbx-fd-private.h"

#include <glib/gi18n-lib.h>

void
_sbx_init_channel_hold (SbxInitChannel     *self,
                        SbxInitChannelHeld  held,
                        gpointer            user_data)
{
  g_assert (self->state == SBX_INIT_CHANNEL_NEW);

  self->held = held;
  self->held_data = user_data;
}

void
_sbx_init_channel_go (SbxInitChannel *self)
{
  const SbxInitMessage message = _sbx_init_channel_message (SBX_INIT_GO, 0);

  if (self->state == SBX_INIT_CHANNEL_SETTING_UP)
    _sbx_init_channel_send (self, &message, NULL, 0);
}

void
_sbx_init_channel_give_up (SbxInitChannel *self,
                           const GError   *error)
{
  _sbx_init_channel_lose (self, error);
}

int
_sbx_init_channel_get_pidfd (SbxInitChannel *self)
{
  return self->pidfd;
}

pid_t
_sbx_init_channel_get_pid (SbxInitChannel *self)
{
  return self->pid;
}

GTask *
_sbx_init_channel_take_check (SbxInitChannel *self)
{
  return g_steal_pointer (&self->check_task);
}

gboolean
_sbx_init_channel_is_stopped (SbxInitChannel *self)
{
  return self->stopped;
}

gboolean
_sbx_init_channel_was_used (SbxInitChannel *self)
{
  return self->last_id > 0;
}

guint64
_sbx_init_channel_get_n_started (SbxInitChannel *self)
{
  return self->last_id;
}

void
_sbx_init_channel_look (SbxInitChannel *self)
{
  const SbxInitMessage message = _sbx_init_channel_message (SBX_INIT_LOOK, 0);

  /* Process 1 takes no notice when it has stopped everything just now. */
  if (self->state == SBX_INIT_CHANNEL_READY && !self->stopped)
    _sbx_init_channel_send (self, &message, NULL, 0);
}

void
_sbx_init_channel_resume (SbxInitChannel *self)
{
  const SbxInitMessage message = _sbx_init_channel_message (SBX_INIT_RESUME, 0);

  if (self->state != SBX_INIT_CHANNEL_READY || !self->stopped)
    return;

  self->stopped = FALSE;
  _sbx_init_channel_send (self, &message, NULL, 0);
}

void
_sbx_init_channel_check_async (SbxInitChannel           *self,
                               const SbxInitExpectation *expectations,
                               gsize                     n_expectations,
                               GAsyncReadyCallback       callback,
                               gpointer                  user_data)
{
  const SbxInitMessage message = _sbx_init_channel_message (SBX_INIT_CHECK, 0);
  g_autoptr(GTask) task = g_task_new (self, NULL, callback, user_data);
  g_autoptr(GError) error = NULL;
  sbx_autofd int paths = -1;

  g_task_set_source_tag (task, _sbx_init_channel_check_async);

  if (self->state != SBX_INIT_CHANNEL_READY || !self->stopped || self->check_task != NULL)
    {
      g_task_return_new_error (task, SBX_ERROR, SBX_ERROR_CLOSED,
                               self->state == SBX_INIT_CHANNEL_READY
                                 ? "The sandbox runs, and cannot be checked"
                                 : _("The sandbox was closed"));
      return;
    }

  paths = _sbx_init_pack_expectations (expectations, n_expectations, &error);
  if (paths < 0)
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }

  g_clear_pointer (&self->checked, g_array_unref);
  self->checked = g_array_new (FALSE, FALSE, sizeof (SbxInitMount));
  self->n_to_check = n_expectations;
  self->check_task = g_steal_pointer (&task);
  _sbx_init_channel_send (self, &message, &paths, 1);
}

GArray *
_sbx_init_channel_check_finish (SbxInitChannel  *self,
                                GAsyncResult    *result,
                                GError         **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, _sbx_init_channel_check_async), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

gboolean
_sbx_init_channel_is_watch (const SbxInitHead *head)
{
  return head->type == SBX_INIT_CHANGED || head->type == SBX_INIT_MOUNTS ||
         head->type == SBX_INIT_CHECKED;
}

static gboolean
handle_mounts (SbxInitChannel      *self,
               const SbxInitMounts *mounts)
{
  if (self->check_task == NULL || mounts->count > self->n_to_check - self->checked->len)
    return FALSE;

  for (guint i = 0; i < mounts->count; i++)
    {
      if (mounts->mounts[i].index != self->checked->len)
        return FALSE;

      g_array_append_val (self->checked, mounts->mounts[i]);
    }

  return TRUE;
}

static gboolean
handle_checked (SbxInitChannel *self)
{
  g_autoptr(GTask) task = NULL;

  if (self->check_task == NULL || self->checked->len != self->n_to_check)
    return FALSE;

  task = _sbx_init_channel_take_check (self);
  g_task_return_pointer (task, g_steal_pointer (&self->checked), (GDestroyNotify) g_array_unref);
  return TRUE;
}

static gboolean
handle_changed (SbxInitChannel *self)
{
  /* Nothing can change again in what is stopped. */
  if (self->stopped)
    return FALSE;

  self->stopped = TRUE;
  if (self->state == SBX_INIT_CHANNEL_READY)
    _sbx_init_channel_emit_changed (self);
  return TRUE;
}

gboolean
_sbx_init_channel_handle_watch (SbxInitChannel         *self,
                                const SbxInitIncoming  *incoming,
                                GError                **error)
{
  gboolean ok;

  if (incoming->head.type == SBX_INIT_CHANGED)
    ok = handle_changed (self);
  else if (incoming->head.type == SBX_INIT_MOUNTS)
    ok = handle_mounts (self, &incoming->mounts);
  else
    ok = handle_checked (self);

  if (!ok)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_LOST,
                         "Process 1 of the sandbox spoke of its mounts out of turn");

  return ok;
}
