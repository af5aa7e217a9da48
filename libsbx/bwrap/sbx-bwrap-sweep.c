/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-sweep-private.h"

#include "bwrap/sbx-bwrap-note-private.h"
#include "bwrap/sbx-bwrap-state-private.h"
#include "core/sbx-error.h"
#include "files/sbx-delete-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-lock-private.h"
#include "files/sbx-open-private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MARK_MAX_SIZE 128
#define RETIRED_PREFIX "retired-"

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

/* The homes that live sessions use. A dead one still counts until it is swept. */
static GHashTable *
list_used_homes (int sessions_fd)
{
  g_autoptr(GHashTable) used = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_auto(GStrv) sessions = sessions_fd >= 0 ? list_names (sessions_fd) : NULL;

  for (gsize i = 0; sessions != NULL && sessions[i] != NULL; i++)
    {
      g_autofree char *mark = g_build_filename (sessions[i], SBX_BWRAP_HOME_MARK, NULL);
      g_autoptr(GBytes) bytes = _sbx_read_beneath (sessions_fd, mark, MARK_MAX_SIZE, NULL, NULL);

      if (bytes != NULL)
        g_hash_table_add (used, g_strndup (g_bytes_get_data (bytes, NULL),
                                           g_bytes_get_size (bytes)));
    }

  return g_steal_pointer (&used);
}

/* Renames what is to go, so that a session that opens meanwhile makes a new one. What an earlier
 * sweep renamed and could not delete is listed again. */
static GStrv
retire_homes (int         homes_fd,
              int         sessions_fd,
              GError    **error)
{
  g_autoptr(GStrvBuilder) retired = g_strv_builder_new ();
  g_autoptr(GHashTable) used = NULL;
  g_auto(GStrv) names = NULL;
  sbx_autofd int lock = -1;

  if (sessions_fd >= 0 && (lock = _sbx_bwrap_note_lock (sessions_fd, error)) < 0)
    return NULL;

  used = list_used_homes (sessions_fd);
  names = list_names (homes_fd);
  for (gsize i = 0; names[i] != NULL; i++)
    {
      g_autofree char *retired_name = NULL;

      if (g_str_has_prefix (names[i], RETIRED_PREFIX))
        {
          g_strv_builder_add (retired, names[i]);
          continue;
        }

      retired_name = g_strconcat (RETIRED_PREFIX, names[i], NULL);
      if (!g_hash_table_contains (used, names[i]) &&
          renameat (homes_fd, names[i], homes_fd, retired_name) == 0)
        g_strv_builder_add (retired, retired_name);
    }

  return g_strv_builder_end (retired);
}

char **
_sbx_bwrap_sweep_homes (const char    *data_path,
                        GCancellable  *cancellable,
                        GError       **error)
{
  g_autoptr(GStrvBuilder) removed = g_strv_builder_new ();
  g_auto(GStrv) names = NULL;
  sbx_autofd int sessions_fd = open_below (data_path, "sessions", NULL);
  sbx_autofd int homes_fd = open_below (data_path, "homes", NULL);

  if (homes_fd < 0)
    return g_strv_builder_end (removed);

  names = retire_homes (homes_fd, sessions_fd, error);
  if (names == NULL)
    return NULL;

  for (gsize i = 0; names[i] != NULL; i++)
    {
      g_autofree char *path = g_build_filename (data_path, "homes",
                                                names[i] + strlen (RETIRED_PREFIX), NULL);

      if (!_sbx_delete_tree (homes_fd, names[i], cancellable, error))
        return NULL;

      g_strv_builder_add (removed, path);
    }

  return g_strv_builder_end (removed);
}
