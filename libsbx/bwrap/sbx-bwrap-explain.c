/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-provider.h"

#include "bwrap/sbx-bwrap-open-private.h"
#include "bwrap/sbx-bwrap-plan-show-private.h"
#include "core/sbx-sync-private.h"

/* What opening would enforce, told without opening. */

typedef struct
{
  SbxBwrapOpening  *opening;
  SbxBwrapPrepared  prepared;
} Explain;

static void
explain_free (gpointer data)
{
  Explain *explain = data;

  g_clear_pointer (&explain->opening, _sbx_bwrap_opening_free);
  _sbx_bwrap_prepared_clear (&explain->prepared);
  g_free (explain);
}

static void
explain_in_thread (GTask        *task,
                   gpointer      source_object,
                   gpointer      task_data,
                   GCancellable *cancellable)
{
  Explain *explain = task_data;
  const SbxBwrapPrepared *prepared = &explain->prepared;
  g_autoptr(SbxPlan) plan = NULL;
  GError *error = NULL;

  if (!_sbx_bwrap_prepare (explain->opening, &explain->prepared, cancellable, &error))
    {
      g_task_return_error (task, error);
      return;
    }

  plan = _sbx_bwrap_plan_show (prepared->plan, prepared->reach);
  _sbx_bwrap_plan_show_limits (plan, prepared->limits);
  for (guint i = 0; i < prepared->problems->len; i++)
    _sbx_plan_add_problem (plan, g_ptr_array_index (prepared->problems, i));

  g_task_return_pointer (task, g_steal_pointer (&plan), g_object_unref);
}

/**
 * sbx_bwrap_provider_explain_async:
 * @self: a provider
 * @reach: what would be asked for; it is copied
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when the plan is made
 * @user_data: data for @callback
 *
 * Finds out what a sandbox with this reach would be made of.
 *
 * It does what opening does up to the plan, which it gives back instead of enforcing it. Nothing is
 * started, and nothing made or changed on disk; so what is made for a sandbox when it is opened has
 * no source path in the plan. What this machine cannot enforce is a problem that the plan lists,
 * where opening fails.
 *
 * Finish with [method@BwrapProvider.explain_finish].
 *
 * Since: 1.0
 */
void
sbx_bwrap_provider_explain_async (SbxBwrapProvider    *self,
                                  SbxReach            *reach,
                                  GCancellable        *cancellable,
                                  GAsyncReadyCallback  callback,
                                  gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;
  g_autoptr(GError) error = NULL;
  Explain *explain;

  g_return_if_fail (SBX_IS_BWRAP_PROVIDER (self));
  g_return_if_fail (SBX_IS_REACH (reach));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sbx_bwrap_provider_explain_async);

  if (!sbx_reach_validate (reach, &error))
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }

  explain = g_new0 (Explain, 1);
  explain->opening = _sbx_bwrap_opening_new (_sbx_bwrap_provider_get_settings (self));
  explain->opening->reach = sbx_reach_copy (reach);
  explain->opening->explain = TRUE;
  g_task_set_task_data (task, explain, explain_free);
  g_task_run_in_thread (task, explain_in_thread);
}

/**
 * sbx_bwrap_provider_explain_finish:
 * @self: a provider
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@BwrapProvider.explain_async].
 *
 * What is wrong with the reach itself is the same error that opening would fail with.
 *
 * Returns: (transfer full): the plan
 *
 * Since: 1.0
 */
SbxPlan *
sbx_bwrap_provider_explain_finish (SbxBwrapProvider  *self,
                                   GAsyncResult      *result,
                                   GError           **error)
{
  g_return_val_if_fail (SBX_IS_BWRAP_PROVIDER (self), NULL);
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_bwrap_provider_explain_async), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * sbx_bwrap_provider_explain:
 * @self: a provider
 * @reach: what would be asked for
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Finds out what a sandbox with this reach would be made of, and waits for the answer.
 *
 * This is for scripts and tools; see [method@BwrapProvider.explain_async].
 *
 * Returns: (transfer full): the plan
 *
 * Since: 1.0
 */
SbxPlan *
sbx_bwrap_provider_explain (SbxBwrapProvider  *self,
                            SbxReach          *reach,
                            GCancellable      *cancellable,
                            GError           **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_BWRAP_PROVIDER (self), NULL);
  g_return_val_if_fail (SBX_IS_REACH (reach), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return NULL;

  sbx_bwrap_provider_explain_async (self, reach, cancellable, _sbx_sync_done_cb, sync);

  return sbx_bwrap_provider_explain_finish (self, _sbx_sync_wait (sync), error);
}
