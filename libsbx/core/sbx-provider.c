/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-provider.h"

#include "core/sbx-cleanup-invocation.h"
#include "core/sbx-error.h"
#include "core/sbx-invocation-private.h"
#include "core/sbx-open-invocation.h"
#include "core/sbx-open-request.h"
#include "core/sbx-reach.h"
#include "core/sbx-session.h"
#include "core/sbx-sync-private.h"

#include <glib/gi18n-lib.h>

/**
 * SbxProvider:
 *
 * Something that can open sandboxes.
 *
 * A provider is asked to open a sandbox with a [class@Reach], and answers with a
 * [class@Session] that holds the whole of it, or with an error that names what it cannot hold. It
 * never opens narrower or wider than asked.
 *
 * [class@BwrapProvider] is the one that comes with the library. An application implements the
 * interface itself by filling in `handle_open`, in C or in any language with bindings:
 *
 * ```python
 * class MyProvider(GObject.Object, Sbx.Provider):
 *     def do_handle_open(self, request, invocation):
 *         invocation.return_session(MySession(cwd=request.get_reach().get_cwd()))
 *         return True
 * ```
 *
 * ## Threads
 *
 * A provider, and every session that it opens, belongs to the thread-default
 * [struct@GLib.MainContext] that it was first used in. Everything completes and is emitted there.
 *
 * Since: 1.0
 */

/**
 * SbxProviderInterface::handle_open:
 * @self: a provider
 * @request: what to open; its reach was checked
 * @invocation: the call to answer
 *
 * Opens a sandbox.
 *
 * Returns: %TRUE if the invocation was answered, or will be
 *
 * Since: 1.0
 */

/**
 * SbxProviderInterface::handle_cleanup_group:
 * @self: a provider
 * @group: the name of a group, which need not be one that this process knows
 * @invocation: the call to answer
 *
 * Ends and removes what was opened for a group.
 *
 * Returns: %TRUE if the invocation was answered, or will be
 *
 * Since: 1.0
 */

#define GRACE_MS 5000

G_DEFINE_INTERFACE (SbxProvider, sbx_provider, G_TYPE_OBJECT)

static gboolean
validate_request (SbxOpenRequest  *request,
                  GError         **error)
{
  SbxReach *reach = sbx_open_request_get_reach (request);

  if (reach != NULL)
    return sbx_reach_validate (reach, error);

  if (*sbx_open_request_get_profile (request) == '\0')
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_INVALID,
                           _("The name of the profile is empty; give one that the provider has"));
      return FALSE;
    }

  if (!g_path_is_absolute (sbx_open_request_get_workspace (request)))
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_INVALID,
                           _("The path of the workspace is not absolute; give the whole path"));
      return FALSE;
    }

  return TRUE;
}

static void
sbx_provider_default_init (SbxProviderInterface *iface)
{
}

/**
 * sbx_provider_open_async:
 * @self: a provider
 * @request: what to open
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when the sandbox is open, or is not
 * @user_data: data for @callback
 *
 * Opens a sandbox.
 *
 * Cancelling @cancellable gives up: the sandbox is not opened, or is closed again.
 *
 * Finish with [method@Provider.open_finish].
 *
 * Since: 1.0
 */
void
sbx_provider_open_async (SbxProvider         *self,
                         SbxOpenRequest      *request,
                         GCancellable        *cancellable,
                         GAsyncReadyCallback  callback,
                         gpointer             user_data)
{
  g_autoptr(SbxOpenInvocation) invocation = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(GTask) task = NULL;
  SbxProviderInterface *iface;

  g_return_if_fail (SBX_IS_PROVIDER (self));
  g_return_if_fail (SBX_IS_OPEN_REQUEST (request));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sbx_provider_open_async);

  if (g_task_return_error_if_cancelled (task))
    return;

  /* A session that was opened must reach its owner, or nobody would close it. */
  g_task_set_check_cancellable (task, FALSE);

  if (!validate_request (request, &error) || !_sbx_context_enter (G_OBJECT (self), &error))
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }

  invocation = g_object_new (SBX_TYPE_OPEN_INVOCATION, NULL);
  _sbx_invocation_adopt (SBX_INVOCATION (invocation), g_steal_pointer (&task), GRACE_MS);

  iface = SBX_PROVIDER_GET_IFACE (self);
  if (iface->handle_open == NULL)
    _sbx_invocation_return_unsupported (SBX_INVOCATION (invocation));
  else
    _sbx_invocation_handled (SBX_INVOCATION (invocation),
                             iface->handle_open (self, request, invocation));

  _sbx_context_leave (G_OBJECT (self));
}

/**
 * sbx_provider_open_finish:
 * @self: a provider
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Provider.open_async].
 *
 * An error is from [error@Error], or is %G_IO_ERROR_CANCELLED.
 *
 * Returns: (transfer full): the open session
 *
 * Since: 1.0
 */
SbxSession *
sbx_provider_open_finish (SbxProvider   *self,
                          GAsyncResult  *result,
                          GError       **error)
{
  g_return_val_if_fail (SBX_IS_PROVIDER (self), NULL);
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_provider_open_async), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * sbx_provider_open:
 * @self: a provider
 * @request: what to open
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Opens a sandbox, and waits until it is open.
 *
 * This is for scripts and tools: meanwhile it iterates the context that the provider belongs to. In
 * another thread it fails with %SBX_ERROR_BUSY. All else is as with [method@Provider.open_async].
 *
 * Returns: (transfer full): the open session
 *
 * Since: 1.0
 */
SbxSession *
sbx_provider_open (SbxProvider     *self,
                   SbxOpenRequest  *request,
                   GCancellable    *cancellable,
                   GError         **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_PROVIDER (self), NULL);
  g_return_val_if_fail (SBX_IS_OPEN_REQUEST (request), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return NULL;

  sbx_provider_open_async (self, request, cancellable, _sbx_sync_done_cb, sync);

  return sbx_provider_open_finish (self, _sbx_sync_wait (sync), error);
}

/**
 * sbx_provider_get_capabilities:
 * @self: a provider
 *
 * Tells what the sessions of a provider can do, as far as that is known before one is open.
 *
 * Returns: the capabilities
 *
 * Since: 1.0
 */
SbxCapabilities
sbx_provider_get_capabilities (SbxProvider *self)
{
  SbxProviderInterface *iface;

  g_return_val_if_fail (SBX_IS_PROVIDER (self), SBX_CAPABILITIES_NONE);

  iface = SBX_PROVIDER_GET_IFACE (self);
  if (iface->get_capabilities == NULL)
    return SBX_CAPABILITIES_EXEC | SBX_CAPABILITIES_FILES;

  return iface->get_capabilities (self);
}

/**
 * sbx_provider_cleanup_group_async:
 * @self: a provider
 * @group: the name of a group
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when nothing of the group is left
 * @user_data: data for @callback
 *
 * Ends and removes all sandboxes that were opened for a group, by whatever process.
 *
 * That is for what a killed program left. A group that nobody knows is none that needs cleaning,
 * and no error. Cancelling @cancellable gives up; what was removed by then stays removed.
 *
 * Finish with [method@Provider.cleanup_group_finish].
 *
 * Since: 1.0
 */
void
sbx_provider_cleanup_group_async (SbxProvider         *self,
                                  const char          *group,
                                  GCancellable        *cancellable,
                                  GAsyncReadyCallback  callback,
                                  gpointer             user_data)
{
  g_autoptr(SbxCleanupInvocation) invocation = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(GTask) task = NULL;
  SbxProviderInterface *iface;

  g_return_if_fail (SBX_IS_PROVIDER (self));
  g_return_if_fail (group != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sbx_provider_cleanup_group_async);

  if (g_task_return_error_if_cancelled (task))
    return;

  g_task_set_check_cancellable (task, FALSE);

  if (!_sbx_context_enter (G_OBJECT (self), &error))
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }

  invocation = g_object_new (SBX_TYPE_CLEANUP_INVOCATION, NULL);
  _sbx_invocation_adopt (SBX_INVOCATION (invocation), g_steal_pointer (&task), GRACE_MS);

  iface = SBX_PROVIDER_GET_IFACE (self);
  if (iface->handle_cleanup_group == NULL)
    _sbx_invocation_return_unsupported (SBX_INVOCATION (invocation));
  else
    _sbx_invocation_handled (SBX_INVOCATION (invocation),
                             iface->handle_cleanup_group (self, group, invocation));

  _sbx_context_leave (G_OBJECT (self));
}

/**
 * sbx_provider_cleanup_group_finish:
 * @self: a provider
 * @result: what the callback was given
 * @cleaned_count: (out) (optional): return location for how many sandboxes were ended or removed
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Provider.cleanup_group_async].
 *
 * An error is from [error@Error], or is %G_IO_ERROR_CANCELLED.
 *
 * Returns: %TRUE if nothing of the group is left
 *
 * Since: 1.0
 */
gboolean
sbx_provider_cleanup_group_finish (SbxProvider   *self,
                                   GAsyncResult  *result,
                                   guint         *cleaned_count,
                                   GError       **error)
{
  g_autofree guint *count = NULL;

  g_return_val_if_fail (SBX_IS_PROVIDER (self), FALSE);
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_provider_cleanup_group_async), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  count = g_task_propagate_pointer (G_TASK (result), error);

  if (cleaned_count != NULL)
    *cleaned_count = count != NULL ? *count : 0;

  return count != NULL;
}

/**
 * sbx_provider_cleanup_group:
 * @self: a provider
 * @group: the name of a group
 * @cancellable: (nullable): a cancellable
 * @cleaned_count: (out) (optional): return location for how many sandboxes were ended or removed
 * @error: return location for a [struct@GLib.Error]
 *
 * Ends and removes all sandboxes that were opened for a group, and waits until they are gone.
 *
 * This is for scripts and tools: meanwhile it iterates the context that the provider belongs to. In
 * another thread it fails with %SBX_ERROR_BUSY. All else is as with
 * [method@Provider.cleanup_group_async].
 *
 * Returns: %TRUE if nothing of the group is left
 *
 * Since: 1.0
 */
gboolean
sbx_provider_cleanup_group (SbxProvider   *self,
                            const char    *group,
                            GCancellable  *cancellable,
                            guint         *cleaned_count,
                            GError       **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_PROVIDER (self), FALSE);
  g_return_val_if_fail (group != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return FALSE;

  sbx_provider_cleanup_group_async (self, group, cancellable, _sbx_sync_done_cb, sync);

  return sbx_provider_cleanup_group_finish (self, _sbx_sync_wait (sync), cleaned_count, error);
}
