/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-resolver-private.h"

#include "core/sbx-error.h"
#include "core/sbx-reach-private.h"
#include "core/sbx-sync-private.h"
#include "files/sbx-path-private.h"
#include "spec/sbx-resolve-private.h"
#include "spec/sbx-sandbox-spec-private.h"

#include <glib/gi18n-lib.h>

typedef struct
{
  SbxRoots *roots;
  SbxReach *asked;
} Work;

static void
work_free (Work *self)
{
  g_clear_pointer (&self->roots, _sbx_roots_free);
  g_clear_object (&self->asked);
  g_free (self);
}

static void
resolve_in_thread (GTask        *task,
                   gpointer      source_object,
                   gpointer      task_data,
                   GCancellable *cancellable)
{
  Work *work = task_data;
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxRoots) roots = _sbx_roots_real (work->roots, &error);
  SbxReach *reach = NULL;

  if (roots != NULL)
    reach = _sbx_resolve (roots, work->asked, cancellable, &error);

  if (reach != NULL)
    g_task_return_pointer (task, reach, g_object_unref);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

/* Takes @asked, which nobody else has. */
static void
start (SbxResolver *self,
       GTask       *task,
       SbxReach    *asked)
{
  Work *work = g_new0 (Work, 1);

  work->asked = asked;
  work->roots = _sbx_roots_copy (self->roots);
  _sbx_roots_fill (work->roots);
  g_task_set_task_data (task, work, (GDestroyNotify) work_free);

  /* A disk that does not answer is no reason not to hear of being cancelled. */
  g_task_set_return_on_cancel (task, TRUE);
  g_task_run_in_thread (task, resolve_in_thread);
}

/* What the spec names stands below @cwd, unless it says where it is. */
static gboolean
set_cwd (SbxReach    *asked,
         const char  *cwd,
         GError     **error)
{
  char *joined;

  if (asked->cwd != NULL && (asked->cwd[0] == '/' || asked->cwd[0] == '~'))
    return TRUE;

  if (!g_path_is_absolute (cwd))
    {
      g_autofree char *shown = _sbx_path_show (cwd);

      g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                   _("cwd: “%s” is relative; an absolute path is needed"), shown);
      return FALSE;
    }

  /* An empty one stays what it is: there is a message for that. */
  if (asked->cwd != NULL && asked->cwd[0] == '\0')
    return TRUE;

  joined = asked->cwd != NULL ? g_build_filename (cwd, asked->cwd, NULL) : g_strdup (cwd);
  g_free (asked->cwd);
  asked->cwd = joined;

  return TRUE;
}

/**
 * sbx_resolver_resolve_async:
 * @self: a resolver
 * @spec: a spec
 * @cwd: (type filename): the working directory of a spec that names none, an absolute path; a
 *   relative one that it names is below this
 * @flags: how the spec is meant
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): what to call when it is done
 * @user_data: data for @callback
 *
 * Resolves a spec.
 *
 * Cancelling leaves nothing behind.
 *
 * Since: 1.0
 */
void
sbx_resolver_resolve_async (SbxResolver         *self,
                            SbxSandboxSpec      *spec,
                            const char          *cwd,
                            SbxResolveFlags      flags,
                            GCancellable        *cancellable,
                            GAsyncReadyCallback  callback,
                            gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;
  g_autoptr(SbxReach) asked = NULL;
  g_autoptr(GError) error = NULL;

  g_return_if_fail (SBX_IS_RESOLVER (self));
  g_return_if_fail (SBX_IS_SANDBOX_SPEC (spec));
  g_return_if_fail (cwd != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sbx_resolver_resolve_async);

  if (g_task_return_error_if_cancelled (task))
    return;

  asked = _sbx_sandbox_spec_to_asked (spec, self->providers,
                                      (flags & SBX_RESOLVE_INLINE) != 0, &error);
  if (asked == NULL || !_sbx_resolve_check_lengths (asked, &error) ||
      !set_cwd (asked, cwd, &error))
    g_task_return_error (task, g_steal_pointer (&error));
  else
    start (self, task, g_steal_pointer (&asked));
}

/**
 * sbx_resolver_resolve_finish:
 * @self: a resolver
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Resolver.resolve_async].
 *
 * The error is %G_IO_ERROR_CANCELLED, or one of [error@Error]; its message names the field and the
 * value, what is wrong, and what to do:
 *
 * * %SBX_ERROR_INVALID: it makes no sense
 * * %SBX_ERROR_NOT_FOUND: a path does not exist, or a provider is not there
 * * %SBX_ERROR_REFUSED: no sandbox may have it
 * * %SBX_ERROR_NOT_ENFORCEABLE: it cannot be had on this machine, or not by this user
 * * %SBX_ERROR_TOO_LARGE: there is too much of it
 *
 * Returns: (transfer full): a reach that is resolved
 *
 * Since: 1.0
 */
SbxReach *
sbx_resolver_resolve_finish (SbxResolver   *self,
                             GAsyncResult  *result,
                             GError       **error)
{
  g_return_val_if_fail (SBX_IS_RESOLVER (self), NULL);
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_resolver_resolve_async), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * sbx_resolver_resolve:
 * @self: a resolver
 * @spec: a spec
 * @cwd: (type filename): the working directory of a spec that names none, an absolute path; a
 *   relative one that it names is below this
 * @flags: how the spec is meant
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Resolves a spec, and waits until that is done.
 *
 * Errors are those of [method@Resolver.resolve_finish]. %SBX_ERROR_BUSY: the resolver belongs to
 * another thread.
 *
 * Returns: (transfer full): a reach that is resolved
 *
 * Since: 1.0
 */
SbxReach *
sbx_resolver_resolve (SbxResolver      *self,
                      SbxSandboxSpec   *spec,
                      const char       *cwd,
                      SbxResolveFlags   flags,
                      GCancellable     *cancellable,
                      GError          **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_RESOLVER (self), NULL);
  g_return_val_if_fail (SBX_IS_SANDBOX_SPEC (spec), NULL);
  g_return_val_if_fail (cwd != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return NULL;

  sbx_resolver_resolve_async (self, spec, cwd, flags, cancellable, _sbx_sync_done_cb, sync);

  return sbx_resolver_resolve_finish (self, _sbx_sync_wait (sync), error);
}

/**
 * sbx_resolver_resolve_reach_async:
 * @self: a resolver
 * @reach: what is asked for: an absolute cwd, and paths that may be relative to it, or begin with
 *   `~/`
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): what to call when it is done
 * @user_data: data for @callback
 *
 * Resolves a reach that was not made from a spec. Its settings are not checked.
 *
 * Cancelling leaves nothing behind.
 *
 * Since: 1.0
 */
void
sbx_resolver_resolve_reach_async (SbxResolver         *self,
                                  SbxReach            *reach,
                                  GCancellable        *cancellable,
                                  GAsyncReadyCallback  callback,
                                  gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;
  g_autoptr(GError) error = NULL;

  g_return_if_fail (SBX_IS_RESOLVER (self));
  g_return_if_fail (SBX_IS_REACH (reach));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sbx_resolver_resolve_reach_async);

  if (g_task_return_error_if_cancelled (task))
    return;

  if (!_sbx_resolve_check_lengths (reach, &error))
    g_task_return_error (task, g_steal_pointer (&error));
  else
    start (self, task, sbx_reach_copy (reach));
}

/**
 * sbx_resolver_resolve_reach_finish:
 * @self: a resolver
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Resolver.resolve_reach_async].
 *
 * Errors are those of [method@Resolver.resolve_finish].
 *
 * Returns: (transfer full): a reach that is resolved
 *
 * Since: 1.0
 */
SbxReach *
sbx_resolver_resolve_reach_finish (SbxResolver   *self,
                                   GAsyncResult  *result,
                                   GError       **error)
{
  g_return_val_if_fail (SBX_IS_RESOLVER (self), NULL);
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_resolver_resolve_reach_async), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * sbx_resolver_resolve_reach:
 * @self: a resolver
 * @reach: what is asked for: an absolute cwd, and paths that may be relative to it, or begin with
 *   `~/`
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Resolves a reach that was not made from a spec, and waits until that is done. Its settings are
 * not checked.
 *
 * Errors are those of [method@Resolver.resolve_finish]. %SBX_ERROR_BUSY: the resolver belongs to
 * another thread.
 *
 * Returns: (transfer full): a reach that is resolved
 *
 * Since: 1.0
 */
SbxReach *
sbx_resolver_resolve_reach (SbxResolver   *self,
                            SbxReach      *reach,
                            GCancellable  *cancellable,
                            GError       **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_RESOLVER (self), NULL);
  g_return_val_if_fail (SBX_IS_REACH (reach), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return NULL;

  sbx_resolver_resolve_reach_async (self, reach, cancellable, _sbx_sync_done_cb, sync);

  return sbx_resolver_resolve_reach_finish (self, _sbx_sync_wait (sync), error);
}
