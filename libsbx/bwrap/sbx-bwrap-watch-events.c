/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-watch-parts-private.h"

#include "files/sbx-fd-private.h"

#include <errno.h>
#include <glib-unix.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Every directory that has the name of an entry is watched. Who inside or outside did something is
 * not told, but what is moved to a name in one piece, and not written to since, was written by who
 * moved it there.
 */

#define EVENTS (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY | IN_CLOSE_WRITE | \
                IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW)
#define GONE_EVENTS (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT)

/* Files that are being written in a watched directory, of which one may be moved to a name. */
#define MAX_TEMPORARIES 256

/* What can write there without an end must not keep us from everything else. */
#define BUFFER_SIZE (64 * 1024)
#define PAUSE_MS 20

/* To end a watch takes the kernel many milliseconds, which a short command does not wait for: it
 * begins a little later. What was done until then is not known to be of the host, if anything
 * ran. */
#define BEGIN_MS 10
#define STEP_US 10000

typedef struct
{
  GHashTable *entries;       /* name → SbxBwrapWatchEntry, not owned */
  GHashTable *temporaries;   /* owned name, of what was made since → how often it was closed after
                              * writing */
} Directory;

struct _SbxBwrapWatchEvents
{
  int                 fd;
  GPtrArray          *entries;
  GHashTable         *directories;    /* watch → owned Directory */
  SbxInitChannel     *channel;
  GMainContext       *context;
  GSource            *source;
  SbxBwrapWatchNoted  noted;
  gpointer            user_data;
  gint64              since;          /* in the file system's time, which goes in steps */
  gboolean            begun;
  gboolean            was_used;       /* when it began: somebody inside may have done something */
  gboolean            is_quiet;       /* when this many commands had been started, nobody was left
                                       * inside, and all that had happened was known */
  guint64             quiet_at;

  guint32             cookie;         /* of the last one that was moved away … */
  gboolean            was_mended;     /* … which more than one wrote to */
};

static void
directory_free (gpointer data)
{
  Directory *directory = data;

  g_hash_table_unref (directory->entries);
  g_hash_table_unref (directory->temporaries);
  g_free (directory);
}

/* Nothing is known any more of what happened. */
static void
lose_track (SbxBwrapWatchEvents *self)
{
  for (guint i = 0; i < self->entries->len; i++)
    ((SbxBwrapWatchEntry *) self->entries->pdata[i])->touched = TRUE;
}

static void
add_temporary (Directory  *directory,
               const char *name,
               guint       n)
{
  if (g_hash_table_size (directory->temporaries) >= MAX_TEMPORARIES)
    g_hash_table_remove_all (directory->temporaries);

  g_hash_table_insert (directory->temporaries, g_strdup (name), GUINT_TO_POINTER (n));
}

static void
handle_temporary (SbxBwrapWatchEvents *self,
                  Directory           *directory,
                  guint32              mask,
                  guint32              cookie,
                  const char          *name)
{
  const guint n = GPOINTER_TO_UINT (g_hash_table_lookup (directory->temporaries, name));
  const gboolean is_known = !self->was_used ||
                            g_hash_table_contains (directory->temporaries, name);

  if ((mask & IN_CLOSE_WRITE) != 0)
    {
      if (is_known)
        add_temporary (directory, name, n + 1);
    }
  else if ((mask & IN_MODIFY) != 0 && n > 0)
    {
      g_hash_table_insert (directory->temporaries, g_strdup (name), GUINT_TO_POINTER (n + 1));
    }
  else if ((mask & IN_MOVED_FROM) != 0)
    {
      self->cookie = cookie;
      self->was_mended = n > 1 || !is_known;
      g_hash_table_remove (directory->temporaries, name);
    }
  else if ((mask & IN_CREATE) != 0)
    {
      add_temporary (directory, name, 0);
    }
  else if ((mask & (IN_DELETE | IN_MOVED_TO)) != 0)
    {
      g_hash_table_remove (directory->temporaries, name);
    }
}

/* Whether whatever happens now is done by the host, since nothing runs inside. */
static gboolean
is_quiet (SbxBwrapWatchEvents *self)
{
  return self->is_quiet && _sbx_init_channel_get_n_started (self->channel) == self->quiet_at;
}

/* TRUE when it may not be what it was. The kernel tells of a move after it is done, so what was
 * written to the new file may be told of before: nothing is forgotten until all is right again. */
static gboolean
handle_entry (SbxBwrapWatchEvents *self,
              SbxBwrapWatchEntry  *entry,
              guint32              mask,
              guint32              cookie)
{
  const gboolean by_host = is_quiet (self);

  if ((mask & (IN_MODIFY | IN_CLOSE_WRITE)) != 0)
    {
      entry->touched = entry->touched || !by_host;
      entry->stale = TRUE;
      entry->n_writes++;
      return FALSE;
    }

  /* The first one can only be the host's, since it was bound until then. Whoever inside has waited
   * for that can do the next one. */
  entry->replaced = TRUE;
  if (by_host)
    return TRUE;

  if ((mask & IN_CREATE) != 0 || ++entry->n_moves > 1 ||
      ((mask & IN_MOVED_TO) != 0 && cookie == self->cookie && self->was_mended))
    entry->touched = TRUE;

  return TRUE;
}

static gboolean
handle (SbxBwrapWatchEvents        *self,
        const struct inotify_event *event)
{
  Directory *directory = g_hash_table_lookup (self->directories, GINT_TO_POINTER (event->wd));
  SbxBwrapWatchEntry *entry;

  if ((event->mask & IN_Q_OVERFLOW) != 0 || (event->mask & GONE_EVENTS) != 0)
    {
      lose_track (self);
      return TRUE;
    }

  if (directory == NULL || event->len == 0)
    return FALSE;

  entry = g_hash_table_lookup (directory->entries, event->name);
  if (entry != NULL)
    return handle_entry (self, entry, event->mask, event->cookie);

  handle_temporary (self, directory, event->mask, event->cookie, event->name);
  return FALSE;
}

/* One buffer full. */
static gboolean
read_some (SbxBwrapWatchEvents *self,
           gboolean            *changed)
{
  char buffer[BUFFER_SIZE] __attribute__ ((aligned (8)));
  gssize n;

  do
    n = read (self->fd, buffer, sizeof buffer);
  while (n < 0 && errno == EINTR);

  for (gssize at = 0; at < n;)
    {
      const struct inotify_event *event = (gconstpointer) (buffer + at);

      *changed = handle (self, event) || *changed;
      at += (gssize) (sizeof *event + event->len);
    }

  return n > 0;
}

static void
set_unknown (SbxBwrapWatchEvents *self,
             gboolean             unknown)
{
  for (guint i = 0; i < self->entries->len; i++)
    ((SbxBwrapWatchEntry *) self->entries->pdata[i])->unknown = unknown;
}

gboolean
_sbx_bwrap_watch_events_drain (SbxBwrapWatchEvents *self)
{
  gboolean changed = FALSE;

  /* Before, all was done by the host, for as long as nobody inside could do anything. */
  if (!self->begun)
    set_unknown (self, _sbx_init_channel_was_used (self->channel));

  /* Everything inside stands still, so that this ends; the kernel keeps no more than it likes. */
  for (guint i = 0; self->fd >= 0 && i < 64 && read_some (self, &changed); i++)
    ;

  return changed;
}

void
_sbx_bwrap_watch_events_note_idle (SbxBwrapWatchEvents *self)
{
  gboolean changed = FALSE;

  if (!self->begun || self->fd < 0)
    return;

  changed = _sbx_bwrap_watch_events_drain (self);
  self->is_quiet = TRUE;
  self->quiet_at = _sbx_init_channel_get_n_started (self->channel);

  /* Last, since it may free us. */
  if (changed)
    self->noted (TRUE, self->user_data);
}

static void arm (SbxBwrapWatchEvents *self);

static void
disarm (SbxBwrapWatchEvents *self)
{
  if (self->source == NULL)
    return;

  g_source_destroy (self->source);
  g_clear_pointer (&self->source, g_source_unref);
}

static gboolean
paused_cb (gpointer user_data)
{
  SbxBwrapWatchEvents *self = user_data;

  disarm (self);
  arm (self);

  return G_SOURCE_REMOVE;
}

static gboolean
readable_cb (int          fd,
             GIOCondition condition,
             gpointer     user_data)
{
  SbxBwrapWatchEvents *self = user_data;
  gboolean changed = FALSE;

  read_some (self, &changed);
  disarm (self);

  self->source = g_timeout_source_new (PAUSE_MS);
  g_source_set_callback (self->source, paused_cb, self, NULL);
  g_source_attach (self->source, self->context);

  /* Last, since it may free us. */
  self->noted (changed, self->user_data);

  return G_SOURCE_REMOVE;
}

static void
arm (SbxBwrapWatchEvents *self)
{
  self->source = g_unix_fd_source_new (self->fd, G_IO_IN);
  g_source_set_callback (self->source, G_SOURCE_FUNC (readable_cb), self, NULL);
  g_source_attach (self->source, self->context);
}

static void
watch_entry (SbxBwrapWatchEvents *self,
             SbxBwrapWatchEntry  *entry)
{
  g_autofree char *path = g_path_get_dirname (entry->host);
  const int watch = inotify_add_watch (self->fd, path, EVENTS);
  Directory *directory = g_hash_table_lookup (self->directories, GINT_TO_POINTER (watch));

  /* Without it nothing can be said for what is put there. */
  if (watch < 0)
    return;

  if (directory == NULL)
    {
      directory = g_new0 (Directory, 1);
      directory->entries = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
      directory->temporaries = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
      g_hash_table_insert (self->directories, GINT_TO_POINTER (watch), directory);
    }

  g_hash_table_insert (directory->entries, g_path_get_basename (entry->host), entry);
  entry->unknown = FALSE;
}

/* What was done before the watch began: an entry may be another one, or have been written to. */
static gboolean
catch_up (SbxBwrapWatchEvents *self,
          SbxBwrapWatchEntry  *entry)
{
  struct stat st;

  if (lstat (entry->host, &st) < 0 || st.st_dev != entry->device || st.st_ino != entry->inode)
    {
      entry->replaced = TRUE;
      entry->touched = entry->touched || self->was_used;

      return TRUE;
    }

  if (st.st_ctim.tv_sec * G_USEC_PER_SEC + st.st_ctim.tv_nsec / 1000 >= self->since)
    {
      entry->touched = entry->touched || self->was_used;
      entry->stale = TRUE;
      entry->n_writes++;
    }

  return FALSE;
}

static gboolean
begin_cb (gpointer user_data)
{
  SbxBwrapWatchEvents *self = user_data;
  gboolean changed = FALSE;

  disarm (self);
  self->begun = TRUE;
  self->was_used = _sbx_init_channel_was_used (self->channel);
  self->is_quiet = !self->was_used;
  set_unknown (self, TRUE);
  self->fd = inotify_init1 (IN_CLOEXEC | IN_NONBLOCK);
  if (self->fd < 0)
    return G_SOURCE_REMOVE;

  for (guint i = 0; i < self->entries->len; i++)
    {
      SbxBwrapWatchEntry *entry = g_ptr_array_index (self->entries, i);

      if (entry->host == NULL)
        continue;

      watch_entry (self, entry);
      changed = catch_up (self, entry) || changed;
    }

  arm (self);

  /* Last, since it may free us. */
  self->noted (changed, self->user_data);

  return G_SOURCE_REMOVE;
}

SbxBwrapWatchEvents *
_sbx_bwrap_watch_events_new (GPtrArray          *entries,
                             SbxInitChannel     *channel,
                             GMainContext       *context,
                             SbxBwrapWatchNoted  noted,
                             gpointer            user_data)
{
  SbxBwrapWatchEvents *self = g_new0 (SbxBwrapWatchEvents, 1);
  gboolean any = FALSE;

  self->fd = -1;
  self->entries = g_ptr_array_ref (entries);
  self->channel = g_object_ref (channel);
  self->context = g_main_context_ref (context);
  self->directories = g_hash_table_new_full (NULL, NULL, NULL, directory_free);
  self->noted = noted;
  self->user_data = user_data;
  self->since = g_get_real_time () - STEP_US;

  for (guint i = 0; i < entries->len; i++)
    any = any || ((const SbxBwrapWatchEntry *) entries->pdata[i])->host != NULL;

  /* An open session that has nothing of the kind has no descriptor for it. */
  if (any)
    {
      self->source = g_timeout_source_new (BEGIN_MS);
      g_source_set_callback (self->source, begin_cb, self, NULL);
      g_source_attach (self->source, self->context);
    }

  return self;
}

static gpointer
close_in_thread (gpointer data)
{
  close (GPOINTER_TO_INT (data));

  return NULL;
}

/* For the kernel to be done with a watch takes longer than a main loop may stand still. */
static void
end_watch (int fd)
{
  GThread *thread = g_thread_try_new ("sbx-unwatch", close_in_thread, GINT_TO_POINTER (fd), NULL);

  if (thread != NULL)
    g_thread_unref (thread);
  else
    close (fd);
}

void
_sbx_bwrap_watch_events_free (SbxBwrapWatchEvents *self)
{
  disarm (self);
  if (self->fd >= 0)
    end_watch (g_steal_fd (&self->fd));
  g_hash_table_unref (self->directories);
  g_ptr_array_unref (self->entries);
  g_object_unref (self->channel);
  g_main_context_unref (self->context);
  g_free (self);
}
