/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-session-private.h"

#include "core/sbx-error.h"
#include "core/sbx-invocation-private.h"

#include <glib/gi18n-lib.h>

#define FILE_GRACE_MS 2000

SbxInvocation *
_sbx_session_begin_verb (SbxSession          *self,
                         GType                type,
                         const char          *path,
                         gpointer             tag,
                         GCancellable        *cancellable,
                         GAsyncReadyCallback  callback,
                         gpointer             user_data)
{
  g_autoptr(GTask) task = g_task_new (self, cancellable, callback, user_data);
  g_autoptr(GError) error = NULL;
  SbxInvocation *invocation;

  g_task_set_source_tag (task, tag);
  if (g_task_return_error_if_cancelled (task))
    return NULL;

  g_task_set_check_cancellable (task, FALSE);

  if (*path == '\0')
    {
      g_task_return_new_error (task, SBX_ERROR, SBX_ERROR_INVALID,
                               _("A path cannot be empty; name a file of the sandbox"));
      return NULL;
    }

  if (!_sbx_session_admits (self, &error))
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return NULL;
    }

  invocation = g_object_new (type, NULL);
  _sbx_invocation_adopt (invocation, g_steal_pointer (&task), FILE_GRACE_MS);
  _sbx_session_track (self, invocation);

  return invocation;
}
