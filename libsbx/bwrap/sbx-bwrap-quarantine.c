/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-quarantine-struct-private.h"

#include "core/sbx-error.h"
#include "core/sbx-protection-private.h"
#include "core/sbx-source-private.h"
#include "core/sbx-text-private.h"
#include "files/sbx-fd-private.h"

#include <glib/gi18n-lib.h>

/*
 * When it is looked. Checks of one session are done one at a time, and in threads.
 */

/* To watch costs the end of the program several milliseconds, in which the kernel waits for
 * processors to be done with it: too much for one short command, after which it is looked anyhow.
 * Whoever runs a longer one, or several, is watched. */
#define SHORT_COMMAND_MS 10
#define SHORT_COMMANDS 3

/* For all sessions together; what a command left is looked for in others. */
#define MAX_THREADS 4

/* A sandbox that makes work without end gets this much of it done without a pause. */
#define MAX_CHECKS 100
#define PAUSE_US 1000

/* What the message of an error names, at most. */
#define MAX_NAMED 5

SbxBwrapQuarantineRoot *
_sbx_bwrap_quarantine_root_new (const char *path,
                                dev_t       device,
                                ino_t       inode)
{
  SbxBwrapQuarantineRoot *self = g_new0 (SbxBwrapQuarantineRoot, 1);

  self->path = g_strdup (path);
  self->device = device;
  self->inode = inode;

  return self;
}

void
_sbx_bwrap_quarantine_root_free (SbxBwrapQuarantineRoot *self)
{
  g_free (self->path);
  g_free (self);
}

SbxBwrapQuarantine *
_sbx_quarantine_alloc (const char *data_path,
                       const char *id)
{
  SbxBwrapQuarantine *self = g_new0 (SbxBwrapQuarantine, 1);

  g_atomic_ref_count_init (&self->ref_count);
  g_mutex_init (&self->check);
  g_mutex_init (&self->mutex);
  g_queue_init (&self->messages);
  g_weak_ref_init (&self->session, NULL);
  self->data_path = g_strdup (data_path);
  self->id = g_strdup (id);
  self->roots = g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_quarantine_node_free);
  self->git_dirs = g_ptr_array_new_with_free_func (g_free);
  self->business =
    g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_quarantine_business_free);
  self->trees = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->items = _sbx_quarantine_items_new ();
  self->stuck = g_ptr_array_new_with_free_func (g_free);
  self->place_fd = -1;

  return self;
}

SbxBwrapQuarantine *
_sbx_bwrap_quarantine_ref (SbxBwrapQuarantine *self)
{
  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

void
_sbx_bwrap_quarantine_unref (SbxBwrapQuarantine *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  g_clear_pointer (&self->watcher, _sbx_bwrap_watcher_free);
  _sbx_clear_source (&self->flush);
  _sbx_clear_source (&self->arming);
  g_clear_pointer (&self->context, g_main_context_unref);
  g_weak_ref_clear (&self->session);
  g_queue_clear_full (&self->messages, g_free);
  g_ptr_array_unref (self->roots);
  g_ptr_array_unref (self->git_dirs);
  g_ptr_array_unref (self->business);
  g_hash_table_unref (self->trees);
  g_ptr_array_unref (self->items);
  g_ptr_array_unref (self->stuck);
  g_mutex_clear (&self->check);
  g_mutex_clear (&self->mutex);
  g_free (self->data_path);
  g_free (self->id);
  g_free (self->boot_id);
  g_free (self);
}

gboolean
_sbx_quarantine_is_empty (SbxBwrapQuarantine *self)
{
  return self->roots->len == 0 && self->git_dirs->len == 0;
}

SbxBwrapQuarantine *
_sbx_bwrap_quarantine_new (const SbxBwrapQuarantineInput  *input,
                           GError                        **error)
{
  g_autoptr(SbxBwrapQuarantine) self = _sbx_quarantine_alloc (input->data_path, input->id);

  if (!_sbx_quarantine_build (self, input, error))
    return NULL;

  for (guint i = 0; input->git_dirs != NULL && i < input->git_dirs->len; i++)
    g_ptr_array_add (self->git_dirs, g_strdup (g_ptr_array_index (input->git_dirs, i)));

  if (_sbx_quarantine_is_empty (self))
    return NULL;

  for (guint i = 0; input->trees != NULL && i < input->trees->len; i++)
    g_hash_table_add (self->trees, g_strdup (g_ptr_array_index (input->trees, i)));

  self->opened = g_get_real_time ();
  g_ptr_array_unref (self->business);
  self->business = _sbx_quarantine_find_business (self->git_dirs);

  if (!_sbx_quarantine_note_write (self, input->sessions_fd, error))
    return NULL;

  return g_steal_pointer (&self);
}

static gboolean
flush_cb (gpointer user_data)
{
  SbxBwrapQuarantine *self = user_data;

  g_mutex_lock (&self->mutex);
  _sbx_clear_source (&self->flush);
  g_mutex_unlock (&self->mutex);

  _sbx_bwrap_quarantine_tell (self);

  return G_SOURCE_REMOVE;
}

/* Has what there is to tell be told, from a thread. */
static void
flush (SbxBwrapQuarantine *self)
{
  g_mutex_lock (&self->mutex);

  if (self->context != NULL && self->flush == NULL && !self->disarmed &&
      self->messages.length > 0)
    {
      self->flush = g_idle_source_new ();
      g_source_set_priority (self->flush, G_PRIORITY_DEFAULT);
      g_source_set_callback (self->flush, flush_cb, _sbx_bwrap_quarantine_ref (self),
                             (GDestroyNotify) _sbx_bwrap_quarantine_unref);
      g_source_attach (self->flush, self->context);
    }

  g_mutex_unlock (&self->mutex);
}

/* A check, under its lock, for all reasons so far. */
static void
check (SbxBwrapQuarantine *self,
       gboolean            is_last)
{
  guint64 wanted;

  g_mutex_lock (&self->mutex);
  wanted = self->wanted;
  g_mutex_unlock (&self->mutex);

  _sbx_quarantine_check (self, is_last);

  g_mutex_lock (&self->mutex);
  self->done = wanted;
  self->armed = !self->blind && self->stuck->len == 0;
  g_mutex_unlock (&self->mutex);
}

static gboolean
is_done (SbxBwrapQuarantine *self)
{
  gboolean done;

  g_mutex_lock (&self->mutex);
  done = self->done == self->wanted;
  if (done)
    {
      self->queued = FALSE;
      self->n_checks = 0;
    }
  g_mutex_unlock (&self->mutex);

  return done;
}

/* Under the lock of the check; and of the other one, since that is enough to ask the watcher. */
static void
drop_watcher (SbxBwrapQuarantine *self)
{
  SbxBwrapWatcher *watcher;

  g_mutex_lock (&self->mutex);
  watcher = g_steal_pointer (&self->watcher);
  self->armed = FALSE;
  g_mutex_unlock (&self->mutex);

  g_clear_pointer (&watcher, _sbx_bwrap_watcher_free);
}

static void want (SbxBwrapQuarantine *self);

static void
seen_cb (gpointer    place,
         const char *name,
         gpointer    user_data)
{
  if (name == NULL || _sbx_quarantine_node_mentions (place, name))
    want (user_data);
}

static void
make_watcher (SbxBwrapQuarantine *self)
{
  SbxBwrapWatcher *watcher = _sbx_bwrap_watcher_new (seen_cb, self);

  g_mutex_lock (&self->mutex);
  self->watcher = watcher;
  self->arm_wanted = FALSE;
  g_mutex_unlock (&self->mutex);

  if (watcher == NULL)
    _sbx_quarantine_say (self,
                         g_strdup (_("This machine lets nobody watch any more directories (see "
                                     "fs.inotify.max_user_instances), so that what a command "
                                     "makes that programs outside would run is put aside when "
                                     "it ends, and not before")));
}

static GThreadPool *get_pool (void);

/* Begins to watch, or ends to, and checks once, for what came before that as well. While there are
 * reasons it is done again, after it was the turn of others. */
static void
work_in_thread (gpointer data,
                gpointer user_data)
{
  g_autoptr(SbxBwrapQuarantine) self = data;
  gboolean disarmed;
  gboolean arm;

  g_mutex_lock (&self->check);

  g_mutex_lock (&self->mutex);
  disarmed = self->disarmed;
  arm = self->arm_wanted && self->watcher == NULL;
  if (disarmed)
    self->done = self->wanted;
  g_mutex_unlock (&self->mutex);

  if (disarmed)
    drop_watcher (self);
  else
    {
      if (arm)
        make_watcher (self);
      check (self, FALSE);
    }

  g_mutex_unlock (&self->check);
  flush (self);

  if (is_done (self))
    return;

  if (++self->n_checks > MAX_CHECKS)
    g_usleep (PAUSE_US);
  g_thread_pool_push (get_pool (), _sbx_bwrap_quarantine_ref (self), NULL);
}

static GThreadPool *
get_pool (void)
{
  static gsize pool = 0;

  if (g_once_init_enter (&pool))
    g_once_init_leave (&pool, (gsize) g_thread_pool_new (work_in_thread, NULL, MAX_THREADS, FALSE,
                                                         NULL));

  return (GThreadPool *) pool;
}

static void
want (SbxBwrapQuarantine *self)
{
  gboolean push;

  g_mutex_lock (&self->mutex);
  self->wanted++;
  push = !self->queued;
  self->queued = TRUE;
  g_mutex_unlock (&self->mutex);

  if (push)
    g_thread_pool_push (get_pool (), _sbx_bwrap_quarantine_ref (self), NULL);
}

static gboolean
arm_cb (gpointer user_data)
{
  SbxBwrapQuarantine *self = user_data;

  g_mutex_lock (&self->mutex);
  _sbx_clear_source (&self->arming);
  self->n_begun = G_MAXUINT;
  self->arm_wanted = self->roots->len > 0;
  g_mutex_unlock (&self->mutex);

  want (self);

  return G_SOURCE_REMOVE;
}

void
_sbx_bwrap_quarantine_listen (SbxBwrapQuarantine *self,
                              GMainContext       *context,
                              SbxSession         *session)
{
  g_mutex_lock (&self->mutex);
  self->context = g_main_context_ref (context);
  g_weak_ref_set (&self->session, session);
  g_mutex_unlock (&self->mutex);
}

void
_sbx_bwrap_quarantine_begin (SbxBwrapQuarantine *self)
{
  gboolean now = FALSE;

  g_mutex_lock (&self->mutex);
  self->n_running++;
  self->used = TRUE;

  /* The first command of many, or of one: nobody knows yet. */
  if (self->n_begun < SHORT_COMMANDS && !self->disarmed && self->context != NULL)
    {
      self->n_begun++;
      if (self->n_begun == SHORT_COMMANDS)
        now = TRUE;
      else if (self->arming == NULL)
        {
          self->arming = g_timeout_source_new (SHORT_COMMAND_MS);
          g_source_set_callback (self->arming, arm_cb, _sbx_bwrap_quarantine_ref (self),
                                 (GDestroyNotify) _sbx_bwrap_quarantine_unref);
          g_source_attach (self->arming, self->context);
        }
    }

  g_mutex_unlock (&self->mutex);

  if (now)
    arm_cb (self);
}

static void
settle_in_thread (GTask        *task,
                  gpointer      source_object,
                  gpointer      task_data,
                  GCancellable *cancellable)
{
  SbxBwrapQuarantine *self = task_data;
  gboolean needed;

  g_mutex_lock (&self->check);

  if (self->watcher != NULL)
    _sbx_bwrap_watcher_drain (self->watcher);

  g_mutex_lock (&self->mutex);
  needed = !self->armed || self->done != self->wanted;
  g_mutex_unlock (&self->mutex);

  if (needed)
    check (self, FALSE);

  g_mutex_unlock (&self->check);
  g_task_return_boolean (task, TRUE);
}

gboolean
_sbx_bwrap_quarantine_settle (SbxBwrapQuarantine  *self,
                              GAsyncReadyCallback  callback,
                              gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;
  gboolean quiet;

  g_mutex_lock (&self->mutex);

  /* Whoever ran a short command pays nothing more. */
  self->n_running -= MIN (self->n_running, 1);
  if (self->n_running == 0)
    _sbx_clear_source (&self->arming);

  quiet = self->roots->len == 0 ||
          (self->armed && self->done == self->wanted && self->messages.length == 0 &&
           _sbx_bwrap_watcher_is_quiet (self->watcher));
  g_mutex_unlock (&self->mutex);

  if (quiet)
    return TRUE;

  task = g_task_new (NULL, NULL, callback, user_data);
  g_task_set_source_tag (task, _sbx_bwrap_quarantine_settle);
  g_task_set_task_data (task, _sbx_bwrap_quarantine_ref (self),
                        (GDestroyNotify) _sbx_bwrap_quarantine_unref);
  g_task_run_in_thread (task, settle_in_thread);

  return FALSE;
}

void
_sbx_bwrap_quarantine_disarm (SbxBwrapQuarantine *self)
{
  gboolean has_watcher;

  g_mutex_lock (&self->mutex);
  _sbx_clear_source (&self->arming);
  _sbx_clear_source (&self->flush);
  self->disarmed = TRUE;
  has_watcher = self->watcher != NULL || self->queued;
  g_mutex_unlock (&self->mutex);

  /* A check may be using it. */
  if (has_watcher)
    want (self);
}

gboolean
_sbx_bwrap_quarantine_finish (SbxBwrapQuarantine  *self,
                              GError             **error)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->check);
  g_autoptr(GString) names = g_string_new (NULL);

  drop_watcher (self);
  check (self, TRUE);
  _sbx_quarantine_say_business (self);
  _sbx_quarantine_say_repositories (self);

  if (self->stuck->len == 0)
    return TRUE;

  for (guint i = 0; i < MIN (self->stuck->len, MAX_NAMED); i++)
    {
      g_autofree char *quoted = _sbx_text_quote (g_ptr_array_index (self->stuck, i));

      g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", quoted);
    }

  g_set_error (error, SBX_ERROR, SBX_ERROR_FAILED,
               _("The sandbox has made what programs outside run or follow, and it could not be "
                 "put aside (%u): %s. Remove it before you work there."),
               self->stuck->len, names->str);
  return FALSE;
}
