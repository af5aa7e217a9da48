/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conversation-private.h"
#include "core/sbx-sync-private.h"

#include <glib/gi18n-lib.h>

/* A replay under way, in a thread of its own, which waits for the provider. */
typedef struct
{
  char         **argv;
  char          *workspace;
  guint          timeout_ms;
  GMainContext  *context;
  GThread       *thread;
  GPtrArray     *differences;
  GError        *error;
} Replay;

static void
replay_free (gpointer data)
{
  Replay *replay = data;

  g_strfreev (replay->argv);
  g_free (replay->workspace);
  g_main_context_unref (replay->context);
  g_clear_pointer (&replay->differences, g_ptr_array_unref);
  g_clear_error (&replay->error);
  g_free (replay);
}

static gboolean
ended_cb (gpointer user_data)
{
  GTask *task = user_data;
  Replay *replay = g_task_get_task_data (task);
  char **differences;

  g_thread_join (g_steal_pointer (&replay->thread));
  if (replay->differences == NULL)
    {
      g_task_return_error (task, g_steal_pointer (&replay->error));
      return G_SOURCE_REMOVE;
    }

  g_ptr_array_add (replay->differences, NULL);
  differences = g_strdupv ((char **) replay->differences->pdata);
  g_task_return_pointer (task, differences, (GDestroyNotify) g_strfreev);

  return G_SOURCE_REMOVE;
}

static gpointer
thread_func (gpointer user_data)
{
  g_autoptr(GMainContext) context = g_main_context_new ();
  g_autoptr(GSource) source = g_idle_source_new ();
  GTask *task = user_data;
  Replay *replay = g_task_get_task_data (task);

  g_main_context_push_thread_default (context);
  replay->differences = _sbx_conversation_play (g_task_get_source_object (task),
                                                (const char * const *) replay->argv,
                                                replay->workspace, replay->timeout_ms,
                                                g_task_get_cancellable (task), &replay->error);
  g_main_context_pop_thread_default (context);

  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, ended_cb, task, g_object_unref);
  g_source_attach (source, replay->context);

  return NULL;
}

/**
 * sbx_conversation_replay_async:
 * @self: a conversation
 * @argv: (array zero-terminated=1) (element-type filename): the command line of a provider
 * @workspace: (type filename) (nullable): an absolute path of the directory to open sessions with,
 *   or %NULL for a new one
 * @timeout_ms: how long to wait for each answer, in milliseconds
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): called when all was asked
 * @user_data: data for @callback
 *
 * Asks a provider what the client asked in the record, and compares the answers.
 *
 * Two answers are alike when they have the same members of the same kinds, and the same codes. What
 * they hold does not count. The sessions, processes and directories of the record stand for those
 * that the provider opens now.
 *
 * Cancelling @cancellable ends the provider.
 *
 * Finish with [method@Conversation.replay_finish].
 *
 * Since: 1.0
 */
void
sbx_conversation_replay_async (SbxConversation     *self,
                               const char * const  *argv,
                               const char          *workspace,
                               guint                timeout_ms,
                               GCancellable        *cancellable,
                               GAsyncReadyCallback  callback,
                               gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;
  g_autoptr(GError) error = NULL;
  GThread *thread;
  Replay *replay;

  g_return_if_fail (SBX_IS_CONVERSATION (self));
  g_return_if_fail (argv != NULL && argv[0] != NULL);
  g_return_if_fail (workspace == NULL || g_path_is_absolute (workspace));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sbx_conversation_replay_async);
  g_task_set_check_cancellable (task, FALSE);
  if (g_cancellable_is_cancelled (cancellable))
    {
      g_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_CANCELLED, "%s", _("Cancelled"));
      return;
    }

  replay = g_new0 (Replay, 1);
  replay->argv = g_strdupv ((char **) argv);
  replay->workspace = g_strdup (workspace);
  replay->timeout_ms = timeout_ms;
  replay->context = g_main_context_ref (g_task_get_context (task));
  g_task_set_task_data (task, replay, replay_free);

  thread = g_thread_try_new ("sbx-replay", thread_func, g_object_ref (task), &error);
  if (thread == NULL)
    {
      g_object_unref (task);
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }
  /* Only read in the end, in this thread. */
  replay->thread = thread;
}

/**
 * sbx_conversation_replay_finish:
 * @self: a conversation
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Conversation.replay_async].
 *
 * An error is %G_IO_ERROR_CANCELLED, or tells why the provider cannot be started.
 *
 * Returns: (transfer full) (array zero-terminated=1): what differs, in English, with foreign bytes
 *   escaped; nothing where the provider answers as it did
 *
 * Since: 1.0
 */
char **
sbx_conversation_replay_finish (SbxConversation  *self,
                                GAsyncResult     *result,
                                GError          **error)
{
  g_return_val_if_fail (SBX_IS_CONVERSATION (self), NULL);
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_conversation_replay_async), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * sbx_conversation_replay:
 * @self: a conversation
 * @argv: (array zero-terminated=1) (element-type filename): the command line of a provider
 * @workspace: (type filename) (nullable): an absolute path of the directory to open sessions with,
 *   or %NULL for a new one
 * @timeout_ms: how long to wait for each answer, in milliseconds
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Asks a provider what the client asked in the record, and waits for all answers.
 *
 * This is for scripts and tools; see [method@Conversation.replay_async].
 *
 * Returns: (transfer full) (array zero-terminated=1): what differs, in English, with foreign bytes
 *   escaped; nothing where the provider answers as it did
 *
 * Since: 1.0
 */
char **
sbx_conversation_replay (SbxConversation     *self,
                         const char * const  *argv,
                         const char          *workspace,
                         guint                timeout_ms,
                         GCancellable        *cancellable,
                         GError             **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_CONVERSATION (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return NULL;

  sbx_conversation_replay_async (self, argv, workspace, timeout_ms, cancellable, _sbx_sync_done_cb,
                                 sync);

  return sbx_conversation_replay_finish (self, _sbx_sync_wait (sync), error);
}
