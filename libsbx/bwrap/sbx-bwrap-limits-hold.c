/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-limits-private.h"

#include "bwrap/sbx-bwrap-scope-private.h"
#include "init/sbx-init-protocol-private.h"

/* A control group counts process 1, and a supervisor for each command that runs. So many are
 * allowed for: what a sandbox is asked to do at a time is rarely more. */
#define OWN_PROCESSES (1 + 16)

typedef struct
{
  SbxBwrapLimits *limits;
  SbxInitChannel *channel;
} Hold;

static void
hold_free (Hold *hold)
{
  _sbx_bwrap_limits_unref (hold->limits);
  g_object_unref (hold->channel);
  g_free (hold);
}

/* For what process 1 starts, which is told before the first command is asked for. */
static void
tell_process_1 (Hold *hold)
{
  static const guint32 which[] = {
    [SBX_LIMIT_MEMORY] = SBX_INIT_LIMIT_ADDRESS_SPACE,
    [SBX_LIMIT_PROCESSES] = SBX_INIT_LIMIT_PROCESSES,
    [SBX_LIMIT_CPU_TIME] = SBX_INIT_LIMIT_CPU_TIME,
    [SBX_LIMIT_FILE_SIZE] = SBX_INIT_LIMIT_FILE_SIZE,
    [SBX_LIMIT_OPEN_FILES] = SBX_INIT_LIMIT_OPEN_FILES,
  };
  GArray *limits = hold->limits->limits;

  for (guint i = 0; i < limits->len; i++)
    {
      const SbxBwrapLimit *entry = &g_array_index (limits, SbxBwrapLimit, i);

      if (entry->means == SBX_BWRAP_MEANS_RLIMIT || entry->means == SBX_BWRAP_MEANS_EACH)
        _sbx_init_channel_limit (hold->channel, which[entry->limit], entry->value);
    }
}

static void
scope_started_cb (GObject      *object,
                  GAsyncResult *result,
                  gpointer      user_data)
{
  g_autoptr(GTask) task = G_TASK (user_data);
  Hold *hold = g_task_get_task_data (task);
  g_autoptr(GError) reason = NULL;
  GError *error = NULL;

  if (!_sbx_bwrap_scope_start_finish (result, &reason))
    {
      if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        error = g_steal_pointer (&reason);
      else
        _sbx_bwrap_limits_weaken (hold->limits, reason, &error);
    }

  if (error != NULL)
    {
      g_task_return_error (task, error);
      return;
    }

  tell_process_1 (hold);
  g_task_return_boolean (task, TRUE);
}

static guint64
get_by_scope (const SbxBwrapLimits *limits,
              SbxLimit              limit)
{
  const SbxBwrapLimit *entry = _sbx_bwrap_limits_find (limits, limit);

  return entry != NULL && entry->means == SBX_BWRAP_MEANS_SCOPE ? entry->value : 0;
}

void
_sbx_bwrap_limits_hold_async (SbxBwrapLimits      *self,
                              SbxInitChannel      *channel,
                              const char          *id,
                              GCancellable        *cancellable,
                              GAsyncReadyCallback  callback,
                              gpointer             user_data)
{
  g_autoptr(GTask) task = g_task_new (NULL, cancellable, callback, user_data);
  Hold *hold = g_new0 (Hold, 1);
  SbxBwrapScope scope = {
    .id = id,
    .pid = _sbx_init_channel_get_pid (channel),
    .memory = get_by_scope (self, SBX_LIMIT_MEMORY),
    .processes = get_by_scope (self, SBX_LIMIT_PROCESSES),
  };

  g_task_set_source_tag (task, _sbx_bwrap_limits_hold_async);
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, hold, (GDestroyNotify) hold_free);
  hold->limits = _sbx_bwrap_limits_ref (self);
  hold->channel = g_object_ref (channel);

  if (_sbx_bwrap_limits_need_scope (self))
    {
      if (scope.processes != 0)
        scope.processes += OWN_PROCESSES;

      _sbx_bwrap_scope_start_async (&scope, cancellable, scope_started_cb,
                                    g_steal_pointer (&task));
      return;
    }

  tell_process_1 (hold);
  g_task_return_boolean (task, TRUE);
}

gboolean
_sbx_bwrap_limits_hold_finish (GAsyncResult  *result,
                               GError       **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}
