/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-watcher-private.h"

#include "files/sbx-fd-private.h"

#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>

#define BUFFER_SIZE (64 * 1024)

/* Who makes events as fast as it can gets the queue to overflow, which is told as well, and not all
 * of a processor of ours. */
#define MANY_BYTES (32 * 1024)
#define MANY_PAUSE_US 1000

struct _SbxBwrapWatcher
{
  SbxBwrapWatchFunc  func;
  gpointer           user_data;
  GHashTable        *watches;    /* of numbers; what of the table below is of this one */
};

/* That a watcher wants to know of a directory. */
typedef struct
{
  SbxBwrapWatcher *watcher;
  gpointer         place;
} Interest;

static GMutex mutex;
static int inotify_fd = -1;
static int stop_fd = -1;
static GHashTable *interests;   /* of numbers, to GArray of Interest */
static GPtrArray *watchers;

/* What the thread owns. */
typedef struct
{
  int inotify_fd;
  int stop_fd;
} Thread;

static void
tell_all (void)
{
  for (guint i = 0; i < watchers->len; i++)
    {
      SbxBwrapWatcher *watcher = g_ptr_array_index (watchers, i);

      watcher->func (NULL, NULL, watcher->user_data);
    }
}

static void
forget (int watch)
{
  GArray *list = g_hash_table_lookup (interests, GINT_TO_POINTER (watch));

  for (guint i = 0; list != NULL && i < list->len; i++)
    g_hash_table_remove (g_array_index (list, Interest, i).watcher->watches,
                         GINT_TO_POINTER (watch));

  g_hash_table_remove (interests, GINT_TO_POINTER (watch));
}

static void
tell (const struct inotify_event *event)
{
  GArray *list;

  if ((event->mask & IN_Q_OVERFLOW) != 0)
    {
      tell_all ();
      return;
    }

  /* The directory is gone: whoever waits for it to come again watches the one above it. */
  if ((event->mask & IN_IGNORED) != 0)
    {
      forget (event->wd);
      return;
    }

  list = event->len > 0 ? g_hash_table_lookup (interests, GINT_TO_POINTER (event->wd)) : NULL;

  for (guint i = 0; list != NULL && i < list->len; i++)
    {
      const Interest *interest = &g_array_index (list, Interest, i);

      interest->watcher->func (interest->place, event->name, interest->watcher->user_data);
    }
}

/* Tells one buffer full, and returns its size. */
static gsize
read_some (int fd)
{
  char buffer[BUFFER_SIZE] __attribute__ ((aligned (__alignof__ (struct inotify_event))));
  const gssize size = read (fd, buffer, sizeof buffer);
  gssize at = 0;

  while (at < size)
    {
      const struct inotify_event *event = (gconstpointer) (buffer + at);

      tell (event);
      at += (gssize) sizeof *event + event->len;
    }

  return (gsize) MAX (size, 0);
}

static gpointer
watch_in_thread (gpointer data)
{
  g_autofree Thread *thread = data;
  struct pollfd fds[] = { { thread->inotify_fd, POLLIN, 0 }, { thread->stop_fd, POLLIN, 0 } };

  for (;;)
    {
      gsize size = 0;

      if (poll (fds, G_N_ELEMENTS (fds), -1) < 0)
        continue;
      if (fds[1].revents != 0)
        break;

      /* Meanwhile the last watcher may have gone, and another have come with its own thread. */
      g_mutex_lock (&mutex);
      if (inotify_fd == thread->inotify_fd)
        size = read_some (inotify_fd);
      g_mutex_unlock (&mutex);

      if (size >= MANY_BYTES)
        g_usleep (MANY_PAUSE_US);
    }

  /* This takes the kernel a while. */
  close (thread->inotify_fd);
  close (thread->stop_fd);

  return NULL;
}

static gboolean
begin (void)
{
  sbx_autofd int new_fd = inotify_init1 (IN_CLOEXEC | IN_NONBLOCK);
  sbx_autofd int new_stop_fd = new_fd >= 0 ? eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
  Thread *thread;
  GThread *started;

  if (new_stop_fd < 0)
    return FALSE;

  thread = g_new0 (Thread, 1);
  thread->inotify_fd = new_fd;
  thread->stop_fd = new_stop_fd;
  started = g_thread_try_new ("sbx-watcher", watch_in_thread, thread, NULL);
  if (started == NULL)
    {
      g_free (thread);
      return FALSE;
    }

  g_thread_unref (started);
  inotify_fd = g_steal_fd (&new_fd);
  stop_fd = g_steal_fd (&new_stop_fd);
  interests = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref);
  watchers = g_ptr_array_new ();

  return TRUE;
}

static void
end (void)
{
  (void) !eventfd_write (stop_fd, 1);
  inotify_fd = stop_fd = -1;
  g_clear_pointer (&interests, g_hash_table_unref);
  g_clear_pointer (&watchers, g_ptr_array_unref);
}

SbxBwrapWatcher *
_sbx_bwrap_watcher_new (SbxBwrapWatchFunc func,
                        gpointer          user_data)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&mutex);
  SbxBwrapWatcher *self;

  if (inotify_fd < 0 && !begin ())
    return NULL;

  self = g_new0 (SbxBwrapWatcher, 1);
  self->func = func;
  self->user_data = user_data;
  self->watches = g_hash_table_new (NULL, NULL);
  g_ptr_array_add (watchers, self);

  return self;
}

static void
remove_interest (SbxBwrapWatcher *self,
                 int              watch,
                 gpointer         place)
{
  GArray *list = g_hash_table_lookup (interests, GINT_TO_POINTER (watch));
  gboolean others = FALSE;

  for (guint i = list != NULL ? list->len : 0; i > 0; i--)
    {
      const Interest *interest = &g_array_index (list, Interest, i - 1);

      if (interest->watcher != self)
        continue;
      if (place == NULL || interest->place == place)
        g_array_remove_index_fast (list, i - 1);
      else
        others = TRUE;
    }

  if (!others)
    g_hash_table_remove (self->watches, GINT_TO_POINTER (watch));

  if (list != NULL && list->len == 0)
    {
      g_hash_table_remove (interests, GINT_TO_POINTER (watch));
      inotify_rm_watch (inotify_fd, watch);
    }
}

void
_sbx_bwrap_watcher_free (SbxBwrapWatcher *self)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&mutex);
  g_autoptr(GList) watches = g_hash_table_get_keys (self->watches);

  /* With the last one goes the whole instance. */
  g_ptr_array_remove_fast (watchers, self);
  if (watchers->len == 0)
    end ();
  else
    for (GList *l = watches; l != NULL; l = l->next)
      remove_interest (self, GPOINTER_TO_INT (l->data), NULL);

  g_hash_table_unref (self->watches);
  g_free (self);
}

int
_sbx_bwrap_watcher_add (SbxBwrapWatcher *self,
                        int              dir_fd,
                        gboolean         removals,
                        gpointer         place)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&mutex);
  const guint mask = IN_CREATE | IN_MOVED_TO | IN_ONLYDIR | IN_MASK_ADD |
                     (removals ? IN_DELETE | IN_MOVED_FROM : 0);
  const Interest interest = { self, place };
  char path[64];
  GArray *list;
  int watch;

  snprintf (path, sizeof path, "/proc/self/fd/%d", dir_fd);
  watch = inotify_add_watch (inotify_fd, path, mask);
  if (watch < 0)
    return -1;

  list = g_hash_table_lookup (interests, GINT_TO_POINTER (watch));
  if (list == NULL)
    {
      list = g_array_new (FALSE, FALSE, sizeof (Interest));
      g_hash_table_insert (interests, GINT_TO_POINTER (watch), list);
    }

  for (guint i = 0; i < list->len; i++)
    if (g_array_index (list, Interest, i).watcher == self &&
        g_array_index (list, Interest, i).place == place)
      return watch;

  g_array_append_val (list, interest);
  g_hash_table_add (self->watches, GINT_TO_POINTER (watch));

  return watch;
}

void
_sbx_bwrap_watcher_remove (SbxBwrapWatcher *self,
                           int              watch,
                           gpointer         place)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&mutex);

  remove_interest (self, watch, place);
}

gboolean
_sbx_bwrap_watcher_is_quiet (SbxBwrapWatcher *self)
{
  gboolean quiet;
  int size;

  /* Who has it may be just telling. */
  if (!g_mutex_trylock (&mutex))
    return FALSE;

  quiet = ioctl (inotify_fd, FIONREAD, &size) == 0 && size == 0;
  g_mutex_unlock (&mutex);

  return quiet;
}

void
_sbx_bwrap_watcher_drain (SbxBwrapWatcher *self)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&mutex);
  gsize done = 0;
  gsize size;
  int waiting;

  if (ioctl (inotify_fd, FIONREAD, &waiting) != 0)
    return;

  /* What comes meanwhile is left for the thread. */
  while (done < (gsize) waiting && (size = read_some (inotify_fd)) > 0)
    done += size;
}
