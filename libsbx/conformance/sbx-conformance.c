/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conformance.h"

#include "conformance/sbx-conformance-check-private.h"
#include "conformance/sbx-conformance-run-private.h"
#include "core/sbx-library-private.h"
#include "core/sbx-sync-private.h"

#include <glib/gi18n-lib.h>

/**
 * SbxConformance:
 *
 * A run of checks that tells whether a provider speaks `sandbox.v1`, and the features that it
 * advertises, as the protocol has them.
 *
 * The provider may be anybody's and in any language. It is started as a child, spoken to in bare
 * lines, and not trusted: every answer has a time-out, what it sends is bounded, and it is ended
 * with what it left in its process group. It is started several times in the course of a run.
 *
 * ```python
 * conformance = Sbx.Conformance.new(["/usr/local/bin/smol-sandbox-mine", "serve"])
 * conformance.connect("check-done", lambda _, check: print(check.get_number(), check.get_title()))
 * checks = conformance.run(None)
 * failed = [c for c in checks if c.get_outcome() == Sbx.ConformanceOutcome.FAILED]
 * ```
 *
 * ## Threads
 *
 * The checks are made in a thread of their own, so that the caller's main loop goes on. The signal
 * is emitted, and the run completes, in the context that the object belongs to.
 *
 * Since: 1.0
 */

#define DEFAULT_TIMEOUT_MS 10000
#define DEFAULT_PROFILE "default"

struct _SbxConformance
{
  GObject               parent_instance;

  char                **argv;
  SbxConformanceLevel   level;
  char                 *workspace;
  char                 *profile;
  guint                 timeout_ms;
};

G_DEFINE_FINAL_TYPE (SbxConformance, sbx_conformance, G_TYPE_OBJECT)

enum
{
  SIGNAL_CHECK_DONE,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

/* A run under way. It is the data of its task, and the thread's until that ends. */
typedef struct
{
  SbxConformancePlan  *plan;
  SbxConformanceLevel  level;
  GMainContext        *context;     /* of the caller */
  GThread             *thread;
  GListStore          *checks;      /* of the caller's thread */
  gboolean             done;
  GError              *error;
} Run;

/* A check on its way to the caller's thread. */
typedef struct
{
  GTask               *task;
  SbxConformanceCheck *check;
} Told;

static void
run_free (gpointer data)
{
  Run *run = data;

  _sbx_conformance_plan_free (run->plan);
  g_main_context_unref (run->context);
  g_clear_object (&run->checks);
  g_clear_error (&run->error);
  g_free (run);
}

static void
told_free (gpointer data)
{
  Told *told = data;

  g_object_unref (told->task);
  g_object_unref (told->check);
  g_free (told);
}

static void
attach (Run            *run,
        GSourceFunc     func,
        gpointer        data,
        GDestroyNotify  destroy)
{
  g_autoptr(GSource) source = g_idle_source_new ();

  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, func, data, destroy);
  g_source_attach (source, run->context);
}

static gboolean
told_cb (gpointer user_data)
{
  Told *told = user_data;
  Run *run = g_task_get_task_data (told->task);

  g_list_store_append (run->checks, told->check);
  g_signal_emit (g_task_get_source_object (told->task), signals[SIGNAL_CHECK_DONE], 0, told->check);

  return G_SOURCE_REMOVE;
}

static void
tell (SbxConformanceCheck *check,
      gpointer             user_data)
{
  Told *told = g_new0 (Told, 1);

  told->task = g_object_ref (user_data);
  told->check = check;
  attach (g_task_get_task_data (told->task), told_cb, told, told_free);
}

/* The thread has nothing to do any more, so that waiting for it takes no time. */
static gboolean
ended_cb (gpointer user_data)
{
  GTask *task = user_data;
  Run *run = g_task_get_task_data (task);

  g_thread_join (g_steal_pointer (&run->thread));
  if (run->done)
    g_task_return_pointer (task, g_object_ref (run->checks), g_object_unref);
  else
    g_task_return_error (task, g_steal_pointer (&run->error));

  return G_SOURCE_REMOVE;
}

static gpointer
thread_func (gpointer user_data)
{
  g_autoptr(GMainContext) context = g_main_context_new ();
  GTask *task = user_data;
  Run *run = g_task_get_task_data (task);

  g_main_context_push_thread_default (context);
  run->done = _sbx_conformance_go (run->plan, run->level, tell, task, &run->error);
  g_main_context_pop_thread_default (context);

  attach (run, ended_cb, task, g_object_unref);

  return NULL;
}

static void
sbx_conformance_finalize (GObject *object)
{
  SbxConformance *self = SBX_CONFORMANCE (object);

  g_strfreev (self->argv);
  g_free (self->workspace);
  g_free (self->profile);

  G_OBJECT_CLASS (sbx_conformance_parent_class)->finalize (object);
}

static void
sbx_conformance_class_init (SbxConformanceClass *klass)
{
  _sbx_library_init ();

  G_OBJECT_CLASS (klass)->finalize = sbx_conformance_finalize;

  /**
   * SbxConformance::check-done:
   * @self: the run
   * @check: the check
   *
   * Emitted when a check was made, or was found not to apply.
   *
   * Since: 1.0
   */
  signals[SIGNAL_CHECK_DONE] =
    g_signal_new ("check-done", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST,
                  0, NULL, NULL, NULL, G_TYPE_NONE, 1, SBX_TYPE_CONFORMANCE_CHECK);
}

static void
sbx_conformance_init (SbxConformance *self)
{
  self->profile = g_strdup (DEFAULT_PROFILE);
  self->timeout_ms = DEFAULT_TIMEOUT_MS;
}

/**
 * sbx_conformance_new:
 * @argv: (array zero-terminated=1) (element-type filename): the command line of a provider, which
 *   usually ends in `serve`
 *
 * Makes a run of checks. Nothing is started yet.
 *
 * Returns: (transfer full): a new object
 *
 * Since: 1.0
 */
SbxConformance *
sbx_conformance_new (const char * const *argv)
{
  SbxConformance *self;

  g_return_val_if_fail (argv != NULL && argv[0] != NULL, NULL);

  self = g_object_new (SBX_TYPE_CONFORMANCE, NULL);
  self->argv = g_strdupv ((char **) argv);

  return self;
}

/**
 * sbx_conformance_list_checks:
 *
 * Lists the checks that there are, none of which was made.
 *
 * Returns: (transfer full): a list of [class@ConformanceCheck]
 *
 * Since: 1.0
 */
GListModel *
sbx_conformance_list_checks (void)
{
  g_autoptr(GListStore) checks = g_list_store_new (SBX_TYPE_CONFORMANCE_CHECK);

  for (gsize i = 0; _sbx_check_tables[i] != NULL; i++)
    for (const SbxCheckEntry *entry = _sbx_check_tables[i]; entry->number != 0; entry++)
      {
        g_autoptr(SbxConformanceCheck) check = NULL;

        check = _sbx_conformance_check_new (entry->number, entry->level, entry->title,
                                            SBX_CONFORMANCE_OUTCOME_PENDING, NULL, NULL, NULL);
        g_list_store_append (checks, check);
      }

  return G_LIST_MODEL (g_steal_pointer (&checks));
}

/**
 * sbx_conformance_set_level:
 * @self: a run
 * @level: what to check
 *
 * Chooses what is checked. The default is %SBX_CONFORMANCE_LEVEL_ALL.
 *
 * With that the checks of a feature that the provider does not advertise are skipped. A level that
 * is chosen by itself is one that the provider claims, so that they fail.
 *
 * Since: 1.0
 */
void
sbx_conformance_set_level (SbxConformance      *self,
                           SbxConformanceLevel  level)
{
  g_return_if_fail (SBX_IS_CONFORMANCE (self));
  g_return_if_fail (level <= SBX_CONFORMANCE_LEVEL_ROBUSTNESS);

  self->level = level;
}

/**
 * sbx_conformance_get_level:
 * @self: a run
 *
 * Gets what is checked.
 *
 * Returns: the level
 *
 * Since: 1.0
 */
SbxConformanceLevel
sbx_conformance_get_level (SbxConformance *self)
{
  g_return_val_if_fail (SBX_IS_CONFORMANCE (self), SBX_CONFORMANCE_LEVEL_ALL);

  return self->level;
}

/**
 * sbx_conformance_set_workspace:
 * @self: a run
 * @path: (type filename) (nullable): an absolute path of a directory, or %NULL for a new one
 *
 * Sets the workspace that sessions are opened with. The checks write into it.
 *
 * By default it is a new directory with a git repository of one commit, which is removed at the
 * end. Without a git in `PATH` it has no repository.
 *
 * Since: 1.0
 */
void
sbx_conformance_set_workspace (SbxConformance *self,
                               const char     *path)
{
  g_return_if_fail (SBX_IS_CONFORMANCE (self));
  g_return_if_fail (path == NULL || g_path_is_absolute (path));

  if (path != self->workspace)
    {
      g_free (self->workspace);
      self->workspace = g_strdup (path);
    }
}

/**
 * sbx_conformance_get_workspace:
 * @self: a run
 *
 * Gets the workspace that was set.
 *
 * Returns: (transfer none) (nullable) (type filename): a path, or %NULL for a new directory
 *
 * Since: 1.0
 */
const char *
sbx_conformance_get_workspace (SbxConformance *self)
{
  g_return_val_if_fail (SBX_IS_CONFORMANCE (self), NULL);

  return self->workspace;
}

/**
 * sbx_conformance_set_profile:
 * @self: a run
 * @profile: the name of a profile, alone or behind the provider's name and a slash
 *
 * Sets the profile that sessions are opened with. The default is `default`.
 *
 * Without a provider's name, that is taken from the name of the program: what follows
 * `sbx-provider-` or `smol-sandbox-`, or what stands before `-provider`.
 *
 * Since: 1.0
 */
void
sbx_conformance_set_profile (SbxConformance *self,
                             const char     *profile)
{
  g_return_if_fail (SBX_IS_CONFORMANCE (self));
  g_return_if_fail (profile != NULL);

  if (profile != self->profile)
    {
      g_free (self->profile);
      self->profile = g_strdup (profile);
    }
}

/**
 * sbx_conformance_get_profile:
 * @self: a run
 *
 * Gets the profile that sessions are opened with, as it was set.
 *
 * Returns: (transfer none): a name
 *
 * Since: 1.0
 */
const char *
sbx_conformance_get_profile (SbxConformance *self)
{
  g_return_val_if_fail (SBX_IS_CONFORMANCE (self), NULL);

  return self->profile;
}

/**
 * sbx_conformance_set_timeout:
 * @self: a run
 * @timeout_ms: milliseconds, more than 0
 *
 * Sets how long the provider has for each answer. The default is ten seconds.
 *
 * Since: 1.0
 */
void
sbx_conformance_set_timeout (SbxConformance *self,
                             guint           timeout_ms)
{
  g_return_if_fail (SBX_IS_CONFORMANCE (self));
  g_return_if_fail (timeout_ms > 0);

  self->timeout_ms = timeout_ms;
}

/**
 * sbx_conformance_get_timeout:
 * @self: a run
 *
 * Gets how long the provider has for each answer.
 *
 * Returns: milliseconds
 *
 * Since: 1.0
 */
guint
sbx_conformance_get_timeout (SbxConformance *self)
{
  g_return_val_if_fail (SBX_IS_CONFORMANCE (self), 0);

  return self->timeout_ms;
}

/**
 * sbx_conformance_run_async:
 * @self: a run
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when all checks were made
 * @user_data: data for @callback
 *
 * Makes the checks. That may be asked for again, also while they are being made.
 *
 * Cancelling @cancellable ends the provider; the run then fails.
 *
 * Finish with [method@Conformance.run_finish].
 *
 * Since: 1.0
 */
void
sbx_conformance_run_async (SbxConformance      *self,
                           GCancellable        *cancellable,
                           GAsyncReadyCallback  callback,
                           gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;
  g_autoptr(GError) error = NULL;
  GThread *thread;
  Run *run;

  g_return_if_fail (SBX_IS_CONFORMANCE (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sbx_conformance_run_async);
  g_task_set_check_cancellable (task, FALSE);
  if (g_cancellable_is_cancelled (cancellable))
    {
      g_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_CANCELLED, "%s", _("Cancelled"));
      return;
    }

  run = g_new0 (Run, 1);
  run->plan = _sbx_conformance_plan_new ((const char * const *) self->argv, self->profile,
                                         self->workspace, self->timeout_ms, cancellable);
  run->level = self->level;
  run->context = g_main_context_ref (g_task_get_context (task));
  run->checks = g_list_store_new (SBX_TYPE_CONFORMANCE_CHECK);
  g_task_set_task_data (task, run, run_free);

  thread = g_thread_try_new ("sbx-conformance", thread_func, g_object_ref (task), &error);
  if (thread == NULL)
    {
      g_object_unref (task);
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }
  /* Only read in the end, in this thread. */
  run->thread = thread;
}

/**
 * sbx_conformance_run_finish:
 * @self: a run
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Conformance.run_async].
 *
 * That a check failed is no error. An error is %G_IO_ERROR_CANCELLED, or tells why the program
 * cannot be started, or why there is no workspace.
 *
 * Returns: (transfer full): a list of [class@ConformanceCheck], in the order of their numbers
 *
 * Since: 1.0
 */
GListModel *
sbx_conformance_run_finish (SbxConformance  *self,
                            GAsyncResult    *result,
                            GError         **error)
{
  g_return_val_if_fail (SBX_IS_CONFORMANCE (self), NULL);
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_conformance_run_async), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * sbx_conformance_run:
 * @self: a run
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes the checks, and waits until all were made.
 *
 * This is for scripts and tools; see [method@Conformance.run_async].
 *
 * Returns: (transfer full): a list of [class@ConformanceCheck], in the order of their numbers
 *
 * Since: 1.0
 */
GListModel *
sbx_conformance_run (SbxConformance  *self,
                     GCancellable    *cancellable,
                     GError         **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_CONFORMANCE (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return NULL;

  sbx_conformance_run_async (self, cancellable, _sbx_sync_done_cb, sync);

  return sbx_conformance_run_finish (self, _sbx_sync_wait (sync), error);
}
