/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-watch-private.h"

#include "bwrap/sbx-bwrap-mounter-private.h"
#include "bwrap/sbx-bwrap-watch-parts-private.h"
#include "core/sbx-error.h"
#include "core/sbx-protection-private.h"
#include "core/sbx-text-private.h"
#include "init/sbx-init-protocol-private.h"

#include <glib/gi18n-lib.h>

/*
 * What happens after process 1 has stopped everything:
 *
 *   check    process 1 says what is at each place;
 *   look     a thread reads the mounts, and decides what stays at the places that changed;
 *   mount    sbx-mount binds them again;
 *   check    again, and a thread reads the mounts again;
 *   resume   if all is as it should be; else from the start.
 */

/* So often it is begun anew without having been through once. */
#define MAX_ROUNDS 200
#define MOUNT_LIMIT_MS 8000

struct _SbxBwrapWatch
{
  GObject              parent_instance;

  GPtrArray           *entries;         /* (element-type SbxBwrapWatchEntry) */
  SbxBwrapWatchSession *session;
  SbxInitChannel      *channel;
  gulong               changed_handler;
  gulong          idle_handler;
  SbxBwrapWatchEvents *events;
  GHashTable          *places;          /* of what the plan mounts */
  GHashTable          *mounts;          /* that there were when everything was right */
  GArray              *made;            /* (element-type SbxLateMount) what we mounted since */
  guint                rounds;
  guint                busy    : 1;
  guint                again   : 1;     /* something happened while that was looked at */
};

G_DEFINE_FINAL_TYPE (SbxBwrapWatch, _sbx_bwrap_watch, G_TYPE_OBJECT)

enum
{
  MESSAGE,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

/* What one thread does. */
typedef struct
{
  pid_t       pid;
  int         pidfd;           /* of the channel, which lives as long */
  SbxBwrapWatchSession *session;
  GHashTable *before;          /* (nullable) the mounts that are known */
  GHashTable *now;
  GArray     *late;            /* (element-type SbxLateMount) what was mounted, or is to be */
  GArray     *made;            /* the same, before */
  GPtrArray  *repairs;         /* (element-type SbxBwrapRepair) */
  gboolean   *broken;          /* for each entry, whether it does not show what it should */
  GHashTable *places;
} Work;

static void begin (SbxBwrapWatch *self);

static void
clear_late_mount (gpointer data)
{
  _sbx_late_mount_clear (data);
}

static GArray *
late_new (void)
{
  GArray *late = g_array_new (FALSE, FALSE, sizeof (SbxLateMount));

  g_array_set_clear_func (late, clear_late_mount);
  return late;
}

static Work *
work_new (SbxBwrapWatch *self)
{
  Work *work = g_new0 (Work, 1);

  work->pid = _sbx_init_channel_get_pid (self->channel);
  work->pidfd = _sbx_init_channel_get_pidfd (self->channel);
  work->session = _sbx_bwrap_watch_session_ref (self->session);
  work->before = self->mounts != NULL ? g_hash_table_ref (self->mounts) : NULL;
  work->repairs = g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_bwrap_repair_free);
  work->late = late_new ();
  work->made = g_array_ref (self->made);
  work->places = g_hash_table_ref (self->places);

  return work;
}

static void
work_free (gpointer data)
{
  Work *work = data;

  _sbx_bwrap_watch_session_unref (work->session);
  g_free (work->broken);
  g_clear_pointer (&work->before, g_hash_table_unref);
  g_clear_pointer (&work->now, g_hash_table_unref);
  g_ptr_array_unref (work->repairs);
  g_array_unref (work->late);
  g_array_unref (work->made);
  g_hash_table_unref (work->places);
  g_free (work);
}

static void
run_in_thread (SbxBwrapWatch       *self,
               Work                *work,
               GTaskThreadFunc      func,
               GAsyncReadyCallback  callback)
{
  g_autoptr(GTask) task = g_task_new (self, NULL, callback, NULL);

  g_task_set_source_tag (task, run_in_thread);
  g_task_set_task_data (task, work, work_free);
  g_task_run_in_thread (task, func);
}

/* It cannot be put right: everything inside ends. */
static void
give_up (SbxBwrapWatch *self,
         const GError  *error)
{
  g_autoptr(SbxInitChannel) channel = g_steal_pointer (&self->channel);

  self->busy = FALSE;
  if (channel == NULL)
    return;

  g_clear_signal_handler (&self->changed_handler, channel);
  g_clear_pointer (&self->events, _sbx_bwrap_watch_events_free);
  if (g_error_matches (error, SBX_ERROR, SBX_ERROR_LOST))
    {
      _sbx_init_channel_give_up (channel, error);
    }
  else
    {
      g_autoptr(GError) lost = g_error_new (SBX_ERROR, SBX_ERROR_LOST,
                                            _("The sandbox was ended, because what is mounted in "
                                              "it changed and could not be put right: %s"),
                                            error->message);

      _sbx_init_channel_give_up (channel, lost);
    }
}

static gboolean
check_new_mounts (Work    *work,
                  GArray  *late,
                  GError **error)
{
  const char *path = work->before != NULL
                       ? _sbx_bwrap_watch_mounts_find_new (work->before, work->now, late)
                       : _sbx_bwrap_watch_mounts_find_foreign (work->now, work->places);
  g_autofree char *quoted = NULL;

  if (path == NULL || !SBX_PROTECTS (T10))
    return TRUE;

  quoted = _sbx_text_quote (path);
  g_set_error (error, SBX_ERROR, SBX_ERROR_LOST,
               _("The sandbox was ended, because something was mounted at %s, which it would have "
                 "seen without your having let it. Mount it elsewhere, or before a sandbox is "
                 "opened whose paths hold it."), quoted);
  return FALSE;
}

/* The second half, when everything is bound. */
static void
compare_in_thread (GTask        *task,
                   gpointer      source_object,
                   gpointer      task_data,
                   GCancellable *cancellable)
{
  Work *work = task_data;
  GError *error = NULL;

  work->now = _sbx_bwrap_watch_mounts_read (work->pid, work->pidfd, &error);
  if (work->now != NULL && check_new_mounts (work, work->late, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
compared_cb (GObject      *object,
             GAsyncResult *result,
             gpointer      user_data)
{
  SbxBwrapWatch *self = SBX_BWRAP_WATCH (object);
  Work *work = g_task_get_task_data (G_TASK (result));
  g_autoptr(GError) error = NULL;

  if (!g_task_propagate_boolean (G_TASK (result), &error))
    {
      give_up (self, error);
      return;
    }

  g_clear_pointer (&self->mounts, g_hash_table_unref);
  self->mounts = g_hash_table_ref (work->now);
  g_array_unref (self->made);
  self->made = late_new ();

  if (self->channel == NULL)
    {
      self->busy = FALSE;
      return;
    }

  /* While it was checked the kernel said nothing of a file that was only moved away. */
  if (_sbx_bwrap_watch_events_drain (self->events) || self->again)
    {
      begin (self);
      return;
    }

  self->busy = FALSE;
  self->rounds = 0;
  _sbx_init_channel_resume (self->channel);
}

static GArray *
list_expectations (SbxBwrapWatch *self)
{
  GArray *expectations = g_array_new (FALSE, FALSE, sizeof (SbxInitExpectation));

  for (guint i = 0; i < self->entries->len; i++)
    {
      const SbxBwrapWatchEntry *entry = g_ptr_array_index (self->entries, i);
      const SbxInitExpectation expectation = {
        entry->path, entry->device, entry->inode, entry->read_only
      };

      g_array_append_val (expectations, expectation);
    }

  return expectations;
}

static gboolean
is_broken (const SbxBwrapWatchEntry *entry,
           const SbxInitMount       *mount)
{
  return mount->error != 0 || mount->device != (guint64) entry->device ||
         mount->inode != (guint64) entry->inode ||
         (mount->read_only != 0) != (entry->read_only != FALSE);
}

static void
checked_again_cb (GObject      *object,
                  GAsyncResult *result,
                  gpointer      user_data)
{
  g_autoptr(GTask) task = user_data;
  SbxBwrapWatch *self = g_task_get_source_object (task);
  g_autoptr(GArray) mounts = NULL;
  g_autoptr(GError) error = NULL;
  Work *done = g_task_get_task_data (task);
  Work *work;

  mounts = _sbx_init_channel_check_finish (SBX_INIT_CHANNEL (object), result, &error);
  if (mounts == NULL || self->channel == NULL)
    {
      self->busy = FALSE;
      return;
    }

  for (guint i = 0; i < mounts->len; i++)
    if (is_broken (self->entries->pdata[i], &g_array_index (mounts, SbxInitMount, i)))
      {
        begin (self);
        return;
      }

  work = work_new (self);
  g_array_unref (work->late);
  work->late = g_array_ref (done->late);
  g_clear_pointer (&work->before, g_hash_table_unref);
  work->before = g_hash_table_ref (done->now);
  run_in_thread (self, work, compare_in_thread, compared_cb);
}

static void
mounted_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  g_autoptr(GTask) task = user_data;
  SbxBwrapWatch *self = g_task_get_source_object (task);
  g_autoptr(GArray) expectations = NULL;
  g_autoptr(GError) error = NULL;

  if (self->channel == NULL)
    {
      self->busy = FALSE;
      return;
    }

  if (!_sbx_bwrap_mounter_run_finish (result, &error))
    {
      /* Replaced once more. */
      if (self->rounds < MAX_ROUNDS && g_error_matches (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED))
        begin (self);
      else
        give_up (self, error);
      return;
    }

  /* What we did ourselves is nothing to be told of, and nobody inside did anything meanwhile. */
  _sbx_bwrap_watch_events_drain (self->events);
  self->again = FALSE;
  for (guint i = 0; i < self->entries->len; i++)
    {
      SbxBwrapWatchEntry *entry = g_ptr_array_index (self->entries, i);

      entry->replaced = entry->touched = entry->stale = FALSE;
      entry->n_moves = 0;
    }

  expectations = list_expectations (self);
  _sbx_init_channel_check_async (self->channel, (gconstpointer) expectations->data,
                                 expectations->len, checked_again_cb, g_steal_pointer (&task));
}

static void
tell (SbxBwrapWatch        *self,
      const SbxBwrapRepair *repair)
{
  g_autofree char *path = _sbx_text_quote (repair->moved_from != NULL ? repair->moved_from
                                                                      : repair->path);
  g_autofree char *moved_to = NULL;
  g_autofree char *text = NULL;

  if (repair->is_back)
    {
      text = g_strdup_printf (_("%s was removed while a sandbox was open that could put something "
                                "else there, and is back as it was. Remove it when no sandbox is "
                                "open that can write beside it."), path);
      g_signal_emit (self, signals[MESSAGE], 0, text);
    }

  if (repair->moved_to == NULL)
    return;

  moved_to = _sbx_text_quote (repair->moved_to);
  text = g_strdup_printf (_("%s was replaced while a sandbox was open that could write beside it, "
                            "and nothing shows that what is there now did not come from inside. It "
                            "was moved to %s; what was there before is back. If it was you who "
                            "changed it, copy it back."), path, moved_to);
  g_signal_emit (self, signals[MESSAGE], 0, text);
}

static void
apply (SbxBwrapWatch        *self,
       const SbxBwrapRepair *repair)
{
  SbxBwrapWatchEntry *entry = g_ptr_array_index (self->entries, repair->number);

  entry->device = repair->device;
  entry->inode = repair->inode;
  entry->mode = repair->mode;
  entry->uid = repair->uid;
  entry->gid = repair->gid;
  entry->n_fresh = repair->n_fresh;
  g_clear_pointer (&entry->content, g_bytes_unref);
  entry->content = repair->content != NULL ? g_bytes_ref (repair->content) : NULL;
}

/* It is not known of what has to be begun anew how far it came. */
static void
note_mounts (SbxBwrapWatch *self,
             GArray        *late)
{
  for (guint i = 0; i < late->len; i++)
    {
      SbxLateMount mount = g_array_index (late, SbxLateMount, i);

      mount.path = g_strdup (mount.path);
      g_array_append_val (self->made, mount);
    }
}

static void
looked_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  SbxBwrapWatch *self = SBX_BWRAP_WATCH (object);
  g_autoptr(SbxBwrapWatch) keep G_GNUC_UNUSED = g_object_ref (self);
  Work *work = g_task_get_task_data (G_TASK (result));
  g_autoptr(GError) error = NULL;
  const gboolean ok = g_task_propagate_boolean (G_TASK (result), &error);

  for (guint i = 0; i < work->repairs->len; i++)
    {
      apply (self, g_ptr_array_index (work->repairs, i));
      tell (self, g_ptr_array_index (work->repairs, i));
    }

  if (!ok)
    give_up (self, error);
  else if (self->channel == NULL)
    self->busy = FALSE;
  else
    {
      note_mounts (self, work->late);
      _sbx_bwrap_mounter_run_async (_sbx_init_channel_get_pidfd (self->channel),
                                    (gconstpointer) work->late->data, work->late->len,
                                    MOUNT_LIMIT_MS, NULL, mounted_cb, g_object_ref (result));
    }
}

static gboolean
repair_all (Work    *work,
            GError **error)
{
  guint n_done = 0;

  for (; n_done < work->repairs->len; n_done++)
    {
      SbxBwrapRepair *repair = g_ptr_array_index (work->repairs, n_done);
      SbxLateMount late;

      if (!_sbx_bwrap_repair_run (repair, work->session, error))
        break;

      late.path = g_strdup (repair->path);
      late.kind = repair->read_only ? SBX_LATE_MOUNT_READ_ONLY : SBX_LATE_MOUNT_PIN;
      late.device = repair->device;
      late.inode = repair->inode;
      g_array_append_val (work->late, late);
    }

  if (n_done == work->repairs->len)
    return TRUE;

  g_ptr_array_set_size (work->repairs, (int) n_done);
  return FALSE;
}

/* Entries whose mount is gone, but that look the same, are broken too: nothing pins them. */
static gboolean
choose_repairs (Work    *work,
                GError **error)
{
  g_autoptr(GPtrArray) wanted = g_ptr_array_new_with_free_func (
    (GDestroyNotify) _sbx_bwrap_repair_free);

  for (guint i = 0; i < work->repairs->len; i++)
    {
      SbxBwrapRepair *repair = g_ptr_array_index (work->repairs, i);
      g_autofree char *quoted = NULL;

      if (!work->broken[repair->number] && _sbx_bwrap_watch_mounts_has (work->now, repair->path))
        continue;

      if (repair->host == NULL)
        {
          quoted = _sbx_text_quote (repair->path);
          g_set_error (error, SBX_ERROR, SBX_ERROR_LOST,
                       _("The sandbox was ended, because %s does not show any more what it showed "
                         "when the sandbox was opened. Open a new one."), quoted);
          return FALSE;
        }

      g_ptr_array_add (wanted, repair);
      work->repairs->pdata[i] = NULL;
    }

  g_ptr_array_set_size (work->repairs, 0);
  while (wanted->len > 0)
    g_ptr_array_add (work->repairs, g_ptr_array_steal_index (wanted, 0));

  return TRUE;
}

static void
look_in_thread (GTask        *task,
                gpointer      source_object,
                gpointer      task_data,
                GCancellable *cancellable)
{
  Work *work = task_data;
  GError *error = NULL;
  gboolean ok = FALSE;

  work->now = _sbx_bwrap_watch_mounts_read (work->pid, work->pidfd, &error);
  if (work->now != NULL && check_new_mounts (work, work->made, &error) &&
      choose_repairs (work, &error))
    ok = repair_all (work, &error);
  else
    g_ptr_array_set_size (work->repairs, 0);

  if (ok)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
checked_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  g_autoptr(SbxBwrapWatch) self = user_data;
  g_autoptr(GArray) mounts = NULL;
  g_autoptr(GError) error = NULL;
  Work *work;

  mounts = _sbx_init_channel_check_finish (SBX_INIT_CHANNEL (object), result, &error);
  if (mounts == NULL || self->channel == NULL)
    {
      self->busy = FALSE;
      return;
    }

  /* All that was done inside is known by now. */
  _sbx_bwrap_watch_events_drain (self->events);

  work = work_new (self);
  work->broken = g_new0 (gboolean, self->entries->len + 1);
  for (guint i = 0; i < self->entries->len; i++)
    {
      work->broken[i] = is_broken (self->entries->pdata[i],
                                   &g_array_index (mounts, SbxInitMount, i));
      g_ptr_array_add (work->repairs, _sbx_bwrap_repair_new (self->entries->pdata[i], i));
    }

  run_in_thread (self, work, look_in_thread, looked_cb);
}

static void
begin (SbxBwrapWatch *self)
{
  g_autoptr(GArray) expectations = list_expectations (self);

  if (++self->rounds > MAX_ROUNDS)
    {
      g_autoptr(GError) error = g_error_new_literal (SBX_ERROR, SBX_ERROR_FAILED,
                                                     _("it changes all the time"));

      give_up (self, error);
      return;
    }

  self->busy = TRUE;
  _sbx_init_channel_check_async (self->channel, (gconstpointer) expectations->data,
                                 expectations->len, checked_cb, g_object_ref (self));
}

static void
changed_cb (SbxInitChannel *channel,
            SbxBwrapWatch  *self)
{
  if (!self->busy)
    begin (self);
}

static void
refreshed_cb (GObject      *object,
              GAsyncResult *result,
              gpointer      user_data)
{
  SbxBwrapWatch *self = SBX_BWRAP_WATCH (object);
  Work *work = g_task_get_task_data (G_TASK (result));

  for (guint i = 0; i < work->repairs->len; i++)
    {
      const SbxBwrapRepair *repair = g_ptr_array_index (work->repairs, i);
      SbxBwrapWatchEntry *entry = g_ptr_array_index (self->entries, repair->number);

      /* That was the host, in what is bound: nobody else can. */
      if (self->busy || entry->replaced || repair->content == NULL ||
          entry->n_writes != repair->n_writes ||
          entry->device != repair->device || entry->inode != repair->inode)
        continue;

      entry->touched = FALSE;

      g_clear_pointer (&entry->content, g_bytes_unref);
      entry->content = g_bytes_ref (repair->content);
    }
}

/* The host wrote to what is bound: the copy is of what it was before. */
static void
refresh_in_thread (GTask        *task,
                   gpointer      source_object,
                   gpointer      task_data,
                   GCancellable *cancellable)
{
  Work *work = task_data;

  for (guint i = 0; i < work->repairs->len; i++)
    {
      SbxBwrapRepair *repair = g_ptr_array_index (work->repairs, i);
      g_autoptr(GBytes) content = NULL;
      struct stat st;

      g_clear_pointer (&repair->content, g_bytes_unref);
      if (_sbx_bwrap_watch_read (repair->host, &st, &content, NULL, NULL) &&
          st.st_dev == repair->device && st.st_ino == repair->inode)
        repair->content = g_steal_pointer (&content);
    }

  g_task_return_boolean (task, TRUE);
}

static void
refresh (SbxBwrapWatch *self)
{
  Work *work = work_new (self);

  for (guint i = 0; i < self->entries->len; i++)
    {
      SbxBwrapWatchEntry *entry = g_ptr_array_index (self->entries, i);

      if (entry->stale && !entry->replaced && entry->host != NULL && entry->content != NULL)
        g_ptr_array_add (work->repairs, _sbx_bwrap_repair_new (entry, i));
      entry->stale = FALSE;
    }

  if (work->repairs->len > 0)
    run_in_thread (self, work, refresh_in_thread, refreshed_cb);
  else
    work_free (work);
}

static void
noted_cb (gboolean changed,
          gpointer user_data)
{
  SbxBwrapWatch *self = user_data;

  refresh (self);

  if (changed && self->busy)
    self->again = TRUE;
  else if (changed && self->channel != NULL && SBX_PROTECTS (T27))
    _sbx_init_channel_look (self->channel);
}

static void
began_cb (GObject      *object,
          GAsyncResult *result,
          gpointer      user_data)
{
  SbxBwrapWatch *self = SBX_BWRAP_WATCH (object);
  Work *work = g_task_get_task_data (G_TASK (result));
  g_autoptr(GError) error = NULL;

  if (!g_task_propagate_boolean (G_TASK (result), &error))
    {
      give_up (self, error);
      return;
    }

  self->mounts = g_hash_table_ref (work->now);
  self->busy = FALSE;
  if (self->channel != NULL && _sbx_init_channel_is_stopped (self->channel))
    begin (self);
  else if (self->again)
    noted_cb (TRUE, self);
}

static void
idle_cb (SbxInitChannel *channel,
         gpointer        user_data)
{
  SbxBwrapWatch *self = user_data;

  if (self->events != NULL)
    _sbx_bwrap_watch_events_note_idle (self->events);
}

static void
_sbx_bwrap_watch_dispose (GObject *object)
{
  SbxBwrapWatch *self = SBX_BWRAP_WATCH (object);

  _sbx_bwrap_watch_stop (self);

  G_OBJECT_CLASS (_sbx_bwrap_watch_parent_class)->dispose (object);
}

static void
_sbx_bwrap_watch_finalize (GObject *object)
{
  SbxBwrapWatch *self = SBX_BWRAP_WATCH (object);

  g_ptr_array_unref (self->entries);
  g_hash_table_unref (self->places);
  g_array_unref (self->made);
  g_clear_pointer (&self->mounts, g_hash_table_unref);
  _sbx_bwrap_watch_session_unref (self->session);

  G_OBJECT_CLASS (_sbx_bwrap_watch_parent_class)->finalize (object);
}

static void
_sbx_bwrap_watch_class_init (SbxBwrapWatchClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->dispose = _sbx_bwrap_watch_dispose;
  object_class->finalize = _sbx_bwrap_watch_finalize;

  signals[MESSAGE] = g_signal_new ("message", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void
_sbx_bwrap_watch_init (SbxBwrapWatch *self)
{
  self->made = late_new ();
}

SbxBwrapWatch *
_sbx_bwrap_watch_new (SbxBwrapPlan *plan,
                      const char   *quarantine_path,
                      const char   *id,
                      int           sessions_fd)
{
  SbxBwrapWatch *self = g_object_new (SBX_TYPE_BWRAP_WATCH, NULL);

  self->entries = _sbx_bwrap_watch_list_new (plan);
  self->places = _sbx_bwrap_watch_places_new (plan);
  self->session = _sbx_bwrap_watch_session_new (quarantine_path, id, sessions_fd);

  return self;
}

void
_sbx_bwrap_watch_start (SbxBwrapWatch  *self,
                        SbxInitChannel *channel)
{
  g_autoptr(GMainContext) context = g_main_context_ref_thread_default ();

  g_set_object (&self->channel, channel);
  self->changed_handler =
    g_signal_connect (channel, "changed", G_CALLBACK (changed_cb), self);
  self->idle_handler =
    g_signal_connect (channel, "idle", G_CALLBACK (idle_cb), self);
  self->events = _sbx_bwrap_watch_events_new (self->entries, channel, context, noted_cb, self);
  self->busy = TRUE;
  run_in_thread (self, work_new (self), compare_in_thread, began_cb);
}

void
_sbx_bwrap_watch_stop (SbxBwrapWatch *self)
{
  if (self->channel != NULL)
    {
      g_clear_signal_handler (&self->changed_handler, self->channel);
      g_clear_signal_handler (&self->idle_handler, self->channel);
    }

  self->busy = FALSE;
  g_atomic_int_set (&self->session->is_over, TRUE);
  g_clear_pointer (&self->events, _sbx_bwrap_watch_events_free);
  g_clear_object (&self->channel);
}
