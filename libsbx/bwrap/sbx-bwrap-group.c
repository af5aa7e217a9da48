/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-group-private.h"

#include "bwrap/sbx-bwrap-record-private.h"
#include "bwrap/sbx-bwrap-sweep-private.h"
#include "bwrap/sbx-bwrap-worktree-private.h"
#include "core/sbx-error.h"
#include "core/sbx-session-private.h"
#include "files/sbx-fd-private.h"

#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <unistd.h>

/*
 * A clean-up closes what this process has of the group, each session in the context that it belongs
 * to, and then looks through what there is on disk: what a killed process left is removed; of what
 * another process has, process 1 is ended, upon which its owner removes the rest.
 */

/* How long another process may take for that, or for opening one that it is just opening. */
#define OWNER_TRIES 500
#define OWNER_PAUSE_US 10000

typedef struct
{
  GWeakRef  session;
  char     *data_path;
  char     *group;
} Member;

static GMutex members_mutex;
static GPtrArray *members;   /* (element-type Member) */

static void
member_free (Member *self)
{
  g_weak_ref_clear (&self->session);
  g_free (self->data_path);
  g_free (self->group);
  g_free (self);
}

/* Those that are gone are forgotten whenever one is added. */
static void
forget_gone (void)
{
  for (guint i = members->len; i > 0; i--)
    {
      Member *member = g_ptr_array_index (members, i - 1);
      g_autoptr(GObject) session = g_weak_ref_get (&member->session);

      if (session == NULL)
        g_ptr_array_remove_index_fast (members, i - 1);
    }
}

void
_sbx_bwrap_group_add (SbxSession *session,
                      const char *data_path,
                      const char *group)
{
  Member *member = g_new0 (Member, 1);

  g_weak_ref_init (&member->session, session);
  member->data_path = g_strdup (data_path);
  member->group = g_strdup (group);

  g_mutex_lock (&members_mutex);
  if (members == NULL)
    members = g_ptr_array_new_with_free_func ((GDestroyNotify) member_free);
  forget_gone ();
  g_ptr_array_add (members, member);
  g_mutex_unlock (&members_mutex);
}

static GPtrArray *
list_sessions (const char *data_path,
               const char *group)
{
  GPtrArray *sessions = g_ptr_array_new_with_free_func (g_object_unref);

  g_mutex_lock (&members_mutex);
  for (guint i = 0; members != NULL && i < members->len; i++)
    {
      Member *member = g_ptr_array_index (members, i);
      SbxSession *session = NULL;

      if (strcmp (member->group, group) == 0 && strcmp (member->data_path, data_path) == 0)
        session = g_weak_ref_get (&member->session);

      /* One that is closed is none that is left, though somebody holds it still. */
      if (session != NULL && sbx_session_get_state (session) == SBX_SESSION_STATE_CLOSED)
        g_clear_object (&session);
      if (session != NULL)
        g_ptr_array_add (sessions, session);
    }
  g_mutex_unlock (&members_mutex);

  return sessions;
}

typedef struct
{
  SbxCleanupInvocation *invocation;
  GMainContext         *context;
  GObject              *provider;
  SbxBwrapSettings      settings;
  char                 *group;
  GPtrArray            *kept;
  GError               *error;       /* the first one */
  guint                 n_closing;
  guint                 count;
} Cleanup;

static void
cleanup_free (Cleanup *self)
{
  g_clear_object (&self->invocation);
  g_clear_object (&self->provider);
  g_clear_pointer (&self->kept, g_ptr_array_unref);
  g_clear_error (&self->error);
  g_main_context_unref (self->context);
  g_free (self->settings.program);
  g_free (self->settings.data_path);
  g_free (self->group);
  g_free (self);
}

static GCancellable *
cleanup_get_cancellable (Cleanup *self)
{
  return sbx_invocation_get_cancellable (SBX_INVOCATION (self->invocation));
}

/* Whoever died before saying of which group a session is may have been of this one. */
static gboolean
is_of_group (Cleanup      *self,
             int           sessions_fd,
             const char   *id,
             gboolean     *chore,
             GCancellable *cancellable)
{
  g_autofree char *group = _sbx_bwrap_state_read_group (sessions_fd, id, chore);

  if (group == NULL)
    _sbx_bwrap_sweep_one (sessions_fd, &self->settings, id, self->kept, cancellable, NULL);

  return group != NULL && strcmp (group, self->group) == 0;
}

/* Ends one session, whoever has it, and removes it. */
static gboolean
end_session (Cleanup       *self,
             int            sessions_fd,
             const char    *id,
             GCancellable  *cancellable,
             GError       **error)
{
  gboolean killed = FALSE;

  for (guint i = 0; i < OWNER_TRIES; i++)
    {
      g_autoptr(GError) reason = NULL;
      SbxBwrapSwept swept;

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;

      swept = _sbx_bwrap_sweep_one (sessions_fd, &self->settings, id, self->kept, cancellable,
                                    &reason);
      if (swept == SBX_BWRAP_SWEPT_GONE || faccessat (sessions_fd, id, F_OK, 0) != 0)
        return TRUE;

      if (reason != NULL)
        {
          g_propagate_error (error, g_steal_pointer (&reason));
          return FALSE;
        }

      if (!killed)
        killed = _sbx_bwrap_record_kill (sessions_fd, id);

      g_usleep (OWNER_PAUSE_US);
    }

  g_set_error (error, SBX_ERROR, SBX_ERROR_BUSY,
               _("A sandbox of the group belongs to a program that does not let go of it; end that "
                 "program, and try again"));
  return FALSE;
}

static void
clean_in_thread (GTask        *task,
                 gpointer      source_object,
                 gpointer      task_data,
                 GCancellable *cancellable)
{
  Cleanup *self = task_data;
  g_autoptr(GError) error = NULL;
  g_auto(GStrv) ids = NULL;
  sbx_autofd int sessions_fd = _sbx_bwrap_sweep_open (self->settings.data_path, &error);

  if (sessions_fd >= 0)
    ids = _sbx_bwrap_state_list (sessions_fd, &error);

  for (gsize i = 0; ids != NULL && ids[i] != NULL; i++)
    {
      g_autoptr(GError) reason = NULL;
      gboolean chore = FALSE;

      if (!is_of_group (self, sessions_fd, ids[i], &chore, cancellable))
        continue;

      if (end_session (self, sessions_fd, ids[i], cancellable, &reason))
        self->count += chore ? 0 : 1;
      else if (error == NULL)
        error = g_steal_pointer (&reason);
    }

  if (error != NULL)
    g_task_return_error (task, g_steal_pointer (&error));
  else
    g_task_return_boolean (task, TRUE);
}

static void
cleaned_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  Cleanup *self = g_task_get_task_data (G_TASK (result));
  GError *error = NULL;

  if (!g_task_propagate_boolean (G_TASK (result), &error))
    {
      g_clear_error (&self->error);
      self->error = error;
    }

  _sbx_bwrap_provider_tell (self->provider, g_steal_pointer (&self->kept));

  if (self->error == NULL)
    sbx_cleanup_invocation_return_count (self->invocation, self->count);
  else
    sbx_invocation_return_gerror (SBX_INVOCATION (self->invocation), self->error);
}

/* What is left is on disk. Takes @self. */
static void
clean_disk (Cleanup *self)
{
  g_autoptr(GTask) task = g_task_new (NULL, cleanup_get_cancellable (self), cleaned_cb, NULL);

  g_task_set_source_tag (task, clean_disk);
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, self, (GDestroyNotify) cleanup_free);
  g_task_run_in_thread (task, clean_in_thread);
}

/* --- What this process has. --- */

typedef struct
{
  Cleanup    *cleanup;
  SbxSession *session;
  GError     *error;
} Closing;

static void
closing_free (gpointer data)
{
  Closing *closing = data;

  g_clear_object (&closing->session);
  g_clear_error (&closing->error);
  g_free (closing);
}

static void
invoke (GMainContext *context,
        GSourceFunc   func,
        Closing      *closing)
{
  g_autoptr(GSource) source = g_idle_source_new ();

  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, func, closing, NULL);
  g_source_attach (source, context);
}

static gboolean
closed_here_cb (gpointer data)
{
  Closing *closing = data;
  Cleanup *self = closing->cleanup;

  if (closing->error == NULL)
    self->count++;
  else if (self->error == NULL)
    self->error = g_steal_pointer (&closing->error);

  closing_free (closing);
  if (--self->n_closing == 0)
    {
      g_main_context_push_thread_default (self->context);
      clean_disk (self);
      g_main_context_pop_thread_default (self->context);
    }

  return G_SOURCE_REMOVE;
}

static void
closed_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  Closing *closing = user_data;

  sbx_session_close_finish (SBX_SESSION (object), result, &closing->error);
  g_clear_object (&closing->session);
  invoke (closing->cleanup->context, closed_here_cb, closing);
}

/* In the context that the session belongs to. */
static gboolean
close_there_cb (gpointer data)
{
  Closing *closing = data;

  sbx_session_close_async (closing->session, NULL, closed_cb, closing);

  return G_SOURCE_REMOVE;
}

void
_sbx_bwrap_group_cleanup (const SbxBwrapSettings *settings,
                          GObject                *provider,
                          const char             *group,
                          SbxCleanupInvocation   *invocation)
{
  g_autoptr(GPtrArray) sessions = list_sessions (settings->data_path, group);
  Cleanup *self = g_new0 (Cleanup, 1);

  self->invocation = g_object_ref (invocation);
  self->context = g_main_context_ref_thread_default ();
  self->provider = g_object_ref (provider);
  self->settings = *settings;
  self->settings.program = g_strdup (settings->program);
  self->settings.data_path = g_strdup (settings->data_path);
  self->group = g_strdup (group);
  self->kept = _sbx_bwrap_kept_list_new ();
  self->n_closing = sessions->len;

  for (guint i = 0; i < sessions->len; i++)
    {
      Closing *closing = g_new0 (Closing, 1);

      closing->cleanup = self;
      closing->session = g_object_ref (g_ptr_array_index (sessions, i));
      invoke (_sbx_session_get_context (closing->session), close_there_cb, closing);
    }

  if (sessions->len == 0)
    clean_disk (self);
}
