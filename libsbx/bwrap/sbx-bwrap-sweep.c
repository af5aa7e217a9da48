/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-sweep-private.h"

#include "bwrap/sbx-bwrap-note-private.h"
#include "core/sbx-error.h"
#include "files/sbx-delete-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-lock-private.h"
#include "files/sbx-open-private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <unistd.h>

/* Opens a directory below the data directory; a missing one is no error. */
static int
open_below (const char  *data_path,
            const char  *name,
            GError     **error)
{
  sbx_autofd int data_fd = open (data_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_autoptr(GError) local_error = NULL;
  int fd;

  if (data_fd < 0)
    return -1;

  fd = _sbx_open_beneath (data_fd, name, O_RDONLY | O_DIRECTORY, 0, &local_error);
  if (fd < 0 && !g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    g_propagate_error (error, g_steal_pointer (&local_error));

  return fd;
}

static GStrv
list_names (int fd)
{
  g_autoptr(GStrvBuilder) names = g_strv_builder_new ();
  const int own_fd = openat (fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = own_fd >= 0 ? fdopendir (own_fd) : NULL;
  struct dirent *entry;

  while (dir != NULL && (entry = readdir (dir)) != NULL)
    if (entry->d_name[0] != '.' && entry->d_type != DT_REG)
      g_strv_builder_add (names, entry->d_name);

  if (dir != NULL)
    closedir (dir);
  else if (own_fd >= 0)
    close (own_fd);

  return g_strv_builder_end (names);
}

/* TRUE when the session is dead and nothing of it is left. */
static gboolean
sweep_one (int            sessions_fd,
           const char    *id,
           GCancellable  *cancellable,
           GError       **error)
{
  sbx_autofd int dir_fd = _sbx_open_beneath (sessions_fd, id, O_RDONLY | O_DIRECTORY, 0, NULL);
  g_autoptr(GError) local_error = NULL;
  gboolean done;
  int lock;

  if (dir_fd < 0)
    return FALSE;

  lock = _sbx_lock_try (dir_fd, "lock", FALSE, &local_error);
  if (lock < 0)
    {
      /* Its owner died between making the directory and the lock, or is just there: an owner that
       * finds its directory gone takes another. */
      return g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND) &&
             unlinkat (sessions_fd, id, AT_REMOVEDIR) == 0;
    }

  done = _sbx_bwrap_note_undo (sessions_fd, id, error) &&
         _sbx_delete_tree (sessions_fd, id, cancellable, error);
  _sbx_lock_release (lock);

  return done;
}

char **
_sbx_bwrap_sweep (const char    *data_path,
                  GCancellable  *cancellable,
                  GError       **error)
{
  g_autoptr(GStrvBuilder) removed = g_strv_builder_new ();
  g_autoptr(GError) first_error = NULL;
  g_auto(GStrv) names = NULL;
  sbx_autofd int fd = open_below (data_path, "sessions", &first_error);

  names = fd >= 0 ? list_names (fd) : NULL;
  for (gsize i = 0; names != NULL && names[i] != NULL; i++)
    {
      g_autofree char *path = g_build_filename (data_path, "sessions", names[i], NULL);

      if (g_cancellable_is_cancelled (cancellable))
        break;
      if (sweep_one (fd, names[i], cancellable, first_error == NULL ? &first_error : NULL))
        g_strv_builder_add (removed, path);
    }

  if (first_error == NULL)
    g_cancellable_set_error_if_cancelled (cancellable, &first_error);

  if (first_error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&first_error));
      return NULL;
    }

  return g_strv_builder_end (removed);
}

void
_sbx_bwrap_sweep_once (const char   *data_path,
                       GCancellable *cancellable)
{
  static GMutex mutex;
  static GHashTable *swept;
  g_autoptr(GMutexLocker) locker = g_mutex_locker_new (&mutex);
  g_auto(GStrv) removed = NULL;

  if (swept == NULL)
    swept = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  if (g_hash_table_add (swept, g_strdup (data_path)))
    removed = _sbx_bwrap_sweep (data_path, cancellable, NULL);
}

static gboolean
home_in_use (int           data_fd,
             const char   *name)
{
  return FALSE;
}
