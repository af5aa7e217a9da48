/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-session-private.h"

#include "core/sbx-error.h"
#include "core/sbx-file-invocations.h"
#include "core/sbx-invocation-private.h"
#include "core/sbx-sync-private.h"
#include "core/sbx-text-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define FILE_GRACE_MS 2000

/* What is checked for every provider alike. A prefix is a piece of a name. */
static gboolean
check_path (GType         type,
            const char   *path,
            GError      **error)
{
  g_autofree char *quoted = NULL;

  if (type != SBX_TYPE_TEMP_DIR_INVOCATION)
    {
      if (*path == '\0')
        g_set_error_literal (error, SBX_ERROR, SBX_ERROR_INVALID,
                             _("A path cannot be empty; name a file of the sandbox"));

      return *path != '\0';
    }

  if (strchr (path, '/') == NULL)
    return TRUE;

  quoted = _sbx_text_quote (path);
  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
               _("%s cannot start the name of a directory: it has a “/” in it"), quoted);

  return FALSE;
}

SbxInvocation *
_sbx_session_begin_verb (SbxSession          *self,
                         GType                type,
                         SbxCapabilities      needed,
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

  if (!check_path (type, path, &error) ||
      !_sbx_session_admits (self, needed, &error) ||
      !_sbx_context_enter (G_OBJECT (self), &error))
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return NULL;
    }

  invocation = g_object_new (type, NULL);
  _sbx_invocation_adopt (invocation, g_steal_pointer (&task), FILE_GRACE_MS);
  _sbx_session_track (self, invocation);

  return invocation;
}
