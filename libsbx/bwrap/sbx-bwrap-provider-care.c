/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-provider.h"

#include "bwrap/sbx-bwrap-init-program-private.h"
#include "bwrap/sbx-bwrap-probe-private.h"
#include "bwrap/sbx-bwrap-quarantine-private.h"
#include "bwrap/sbx-bwrap-sweep-private.h"
#include "bwrap/sbx-bwrap-worktree-private.h"
#include "bwrap/sbx-finding-private.h"
#include "core/sbx-sync-private.h"

#include <glib/gi18n-lib.h>

/*
 * What a provider does besides opening sandboxes: looking at the machine, and cleaning up.
 */

/* Without it nothing begins, whatever the machine allows. */
static void
append_init (GListStore *model)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *path = _sbx_bwrap_find_init_program (&error);
  g_autoptr(SbxFinding) finding = NULL;

  if (path != NULL)
    finding = _sbx_finding_new ("init", SBX_FINDING_LEVEL_GOOD,
                                _("The program that every sandbox begins with is there."), NULL);
  else
    finding = _sbx_finding_new ("init", SBX_FINDING_LEVEL_BLOCKING, error->message,
                                _("Install libsbx, or use it in the environment of “meson "
                                  "devenv”; SBX_INIT names the program elsewhere."));

  g_list_store_append (model, finding);
}

static GListModel *
to_model (GPtrArray *findings)
{
  GListStore *model = g_list_store_new (SBX_TYPE_FINDING);

  for (guint i = 0; i < findings->len; i++)
    {
      const SbxBwrapFinding *found = g_ptr_array_index (findings, i);
      const SbxFindingLevel level = found->ok ? SBX_FINDING_LEVEL_GOOD
                                    : found->required ? SBX_FINDING_LEVEL_BLOCKING
                                                      : SBX_FINDING_LEVEL_WEAKER;
      g_autoptr(SbxFinding) finding = _sbx_finding_new (found->id, level, found->summary,
                                                        found->remedy);

      g_list_store_append (model, finding);
    }

  append_init (model);

  return G_LIST_MODEL (model);
}

static void
probed_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  g_autoptr(GTask) task = G_TASK (user_data);
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) findings = _sbx_bwrap_probe_finish (result, &error);

  if (findings != NULL)
    g_task_return_pointer (task, to_model (findings), g_object_unref);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

/**
 * sbx_bwrap_provider_diagnose_async:
 * @self: a provider
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when all was looked at
 * @user_data: data for @callback
 *
 * Finds out what this machine can enforce, and what not.
 *
 * A trivial sandbox is opened and ended. Nothing else is changed.
 *
 * Finish with [method@BwrapProvider.diagnose_finish].
 *
 * Since: 1.0
 */
void
sbx_bwrap_provider_diagnose_async (SbxBwrapProvider    *self,
                                   GCancellable        *cancellable,
                                   GAsyncReadyCallback  callback,
                                   gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;

  g_return_if_fail (SBX_IS_BWRAP_PROVIDER (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sbx_bwrap_provider_diagnose_async);
  _sbx_bwrap_probe_async (sbx_bwrap_provider_get_program (self), cancellable,
                          probed_cb, g_steal_pointer (&task));
}

/**
 * sbx_bwrap_provider_diagnose_finish:
 * @self: a provider
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@BwrapProvider.diagnose_async].
 *
 * It fails only when it is cancelled: that something is missing is a finding.
 *
 * Returns: (transfer full): a list of [class@Finding]
 *
 * Since: 1.0
 */
GListModel *
sbx_bwrap_provider_diagnose_finish (SbxBwrapProvider  *self,
                                    GAsyncResult      *result,
                                    GError           **error)
{
  g_return_val_if_fail (SBX_IS_BWRAP_PROVIDER (self), NULL);
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_bwrap_provider_diagnose_async),
                        NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * sbx_bwrap_provider_diagnose:
 * @self: a provider
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Finds out what this machine can enforce, and waits for the answer.
 *
 * This is for scripts and tools; see [method@BwrapProvider.diagnose_async].
 *
 * Returns: (transfer full): a list of [class@Finding]
 *
 * Since: 1.0
 */
GListModel *
sbx_bwrap_provider_diagnose (SbxBwrapProvider  *self,
                             GCancellable      *cancellable,
                             GError           **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_BWRAP_PROVIDER (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return NULL;

  sbx_bwrap_provider_diagnose_async (self, cancellable, _sbx_sync_done_cb, sync);

  return sbx_bwrap_provider_diagnose_finish (self, _sbx_sync_wait (sync), error);
}

typedef struct
{
  SbxBwrapSettings  settings;
  gboolean          caches;
  GPtrArray        *kept;      /* (element-type SbxBwrapKept) */
  GTask            *outer;     /* what the caller waits for */
} Clean;

static void
clean_free (Clean *clean)
{
  g_clear_pointer (&clean->kept, g_ptr_array_unref);
  g_clear_object (&clean->outer);
  g_free (clean->settings.program);
  g_free (clean->settings.data_path);
  g_free (clean);
}

static void
clean_in_thread (GTask        *task,
                 gpointer      source_object,
                 gpointer      task_data,
                 GCancellable *cancellable)
{
  const Clean *clean = task_data;
  g_autoptr(GStrvBuilder) removed = g_strv_builder_new ();
  g_auto(GStrv) sessions = NULL;
  g_auto(GStrv) homes = NULL;
  g_auto(GStrv) expired = NULL;
  g_autoptr(GError) error = NULL;

  sessions = _sbx_bwrap_sweep (&clean->settings, clean->kept, cancellable, &error);
  if (sessions != NULL && clean->caches)
    homes = _sbx_bwrap_sweep_homes (clean->settings.data_path, cancellable, &error);
  if (homes != NULL)
    expired = _sbx_bwrap_quarantine_expire (clean->settings.data_path, cancellable, &error);

  if (error != NULL)
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }

  g_strv_builder_addv (removed, (const char **) sessions);
  if (homes != NULL)
    g_strv_builder_addv (removed, (const char **) homes);
  if (expired != NULL)
    g_strv_builder_addv (removed, (const char **) expired);

  g_task_return_pointer (task, g_strv_builder_end (removed), (GDestroyNotify) g_strfreev);
}

/* What stays is told before the caller hears that all is done. */
static void
cleaned_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  Clean *clean = g_task_get_task_data (G_TASK (result));
  g_autoptr(GTask) outer = g_steal_pointer (&clean->outer);
  g_autoptr(GError) error = NULL;
  char **removed = g_task_propagate_pointer (G_TASK (result), &error);

  _sbx_bwrap_provider_tell (object, g_steal_pointer (&clean->kept));

  if (error != NULL)
    g_task_return_error (outer, g_steal_pointer (&error));
  else
    g_task_return_pointer (outer, removed, (GDestroyNotify) g_strfreev);
}

/**
 * sbx_bwrap_provider_clean_async:
 * @self: a provider
 * @caches: whether the homes that are kept for projects go as well, and what was put aside more
 *   than 30 days ago
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when all is removed
 * @user_data: data for @callback
 *
 * Removes what sandboxes left that could not be closed, because their program was killed.
 *
 * What belongs to a sandbox that is still open stays. Cancelling leaves the rest for another time.
 *
 * Finish with [method@BwrapProvider.clean_finish].
 *
 * Since: 1.0
 */
void
sbx_bwrap_provider_clean_async (SbxBwrapProvider    *self,
                                gboolean             caches,
                                GCancellable        *cancellable,
                                GAsyncReadyCallback  callback,
                                gpointer             user_data)
{
  const SbxBwrapSettings *settings;
  g_autoptr(GTask) task = NULL;
  Clean *clean;

  g_return_if_fail (SBX_IS_BWRAP_PROVIDER (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  clean = g_new0 (Clean, 1);
  clean->outer = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (clean->outer, sbx_bwrap_provider_clean_async);

  settings = _sbx_bwrap_provider_get_settings (self);
  clean->settings = *settings;
  clean->settings.program = g_strdup (settings->program);
  clean->settings.data_path = g_strdup (settings->data_path);
  clean->caches = caches;
  clean->kept = _sbx_bwrap_kept_list_new ();

  task = g_task_new (self, cancellable, cleaned_cb, NULL);
  g_task_set_source_tag (task, clean_in_thread);
  g_task_set_task_data (task, clean, (GDestroyNotify) clean_free);
  g_task_run_in_thread (task, clean_in_thread);
}

/**
 * sbx_bwrap_provider_clean_finish:
 * @self: a provider
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@BwrapProvider.clean_async].
 *
 * Returns: (array zero-terminated=1) (element-type filename) (transfer full): the directories that
 *   were removed
 *
 * Since: 1.0
 */
char **
sbx_bwrap_provider_clean_finish (SbxBwrapProvider  *self,
                                 GAsyncResult      *result,
                                 GError           **error)
{
  g_return_val_if_fail (SBX_IS_BWRAP_PROVIDER (self), NULL);
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_bwrap_provider_clean_async), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * sbx_bwrap_provider_clean:
 * @self: a provider
 * @caches: whether the homes that are kept for projects go as well, and what was put aside more
 *   than 30 days ago
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Removes what sandboxes left that could not be closed, and waits until it is gone.
 *
 * This is for scripts and tools; see [method@BwrapProvider.clean_async].
 *
 * Returns: (array zero-terminated=1) (element-type filename) (transfer full): the directories that
 *   were removed
 *
 * Since: 1.0
 */
char **
sbx_bwrap_provider_clean (SbxBwrapProvider  *self,
                          gboolean           caches,
                          GCancellable      *cancellable,
                          GError           **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_BWRAP_PROVIDER (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return NULL;

  sbx_bwrap_provider_clean_async (self, caches, cancellable, _sbx_sync_done_cb, sync);

  return sbx_bwrap_provider_clean_finish (self, _sbx_sync_wait (sync), error);
}
