/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-sweep-private.h"

#include "bwrap/sbx-bwrap-note-private.h"
#include "bwrap/sbx-bwrap-quarantine-private.h"
#include "bwrap/sbx-bwrap-state-private.h"
#include "bwrap/sbx-bwrap-worktree-private.h"
#include "core/sbx-error.h"
#include "files/sbx-delete-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-lock-private.h"
#include "files/sbx-open-private.h"

#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK_MAX_SIZE 128
#define RETIRED_PREFIX "retired-"

/* Opens a directory below the data directory; a missing one is no error. */
static int
open_below (const char  *data_path,
            const char  *name,
            GError     **error)
{
  sbx_autofd int data_fd = _sbx_bwrap_state_open_data (data_path, FALSE, error);
  g_autoptr(GError) local_error = NULL;
  int fd;

  if (data_fd < 0)
    return -1;

  fd = _sbx_open_beneath (data_fd, name, O_RDONLY | O_DIRECTORY, 0, &local_error);
  if (fd < 0 && !g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    g_propagate_error (error, g_steal_pointer (&local_error));

  return fd;
}

/* The directories: a lock is none, and neither is what somebody else may have put there. */
static GStrv
list_names (int      fd,
            GError **error)
{
  g_autoptr(GStrvBuilder) directories = g_strv_builder_new ();
  g_auto(GStrv) names = _sbx_bwrap_state_list (fd, error);
  struct stat info;

  if (names == NULL)
    return NULL;

  for (gsize i = 0; names[i] != NULL; i++)
    if (fstatat (fd, names[i], &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR (info.st_mode))
      g_strv_builder_add (directories, names[i]);

  return g_strv_builder_end (directories);
}

int
_sbx_bwrap_sweep_open (const char  *data_path,
                       GError     **error)
{
  return open_below (data_path, "sessions", error);
}

SbxBwrapSwept
_sbx_bwrap_sweep_one (int                      sessions_fd,
                      const SbxBwrapSettings  *settings,
                      const char              *id,
                      GPtrArray               *kept,
                      GCancellable            *cancellable,
                      GError                 **error)
{
  g_autoptr(GError) local_error = NULL;
  sbx_autofd int dir_fd = _sbx_open_beneath (sessions_fd, id, O_RDONLY | O_DIRECTORY, 0,
                                             &local_error);
  gboolean alive;
  gboolean done;
  int lock = -1;

  if (dir_fd >= 0)
    lock = _sbx_lock_try (dir_fd, "lock", FALSE, &local_error);

  if (lock < 0)
    {
      /* Its owner died between making the directory and the lock, or is just there: an owner that
       * finds its directory gone takes another. */
      if (g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
        return unlinkat (sessions_fd, id, AT_REMOVEDIR) == 0 ? SBX_BWRAP_SWEPT_GONE
                                                             : SBX_BWRAP_SWEPT_FAILED;

      if (error != NULL && !g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_BUSY))
        g_propagate_error (error, g_steal_pointer (&local_error));

      return SBX_BWRAP_SWEPT_ALIVE;
    }

  /* While anything runs inside, what protects the host from it has to stay. */
  alive = _sbx_bwrap_state_is_alive (dir_fd);
  done = !alive &&
         _sbx_bwrap_note_undo (sessions_fd, id, &local_error) &&
         _sbx_bwrap_quarantine_sweep (sessions_fd, settings->data_path, id, kept, &local_error) &&
         _sbx_bwrap_worktree_settle (sessions_fd, settings, id, kept, cancellable, &local_error) &&
         _sbx_bwrap_state_delete (sessions_fd, id, cancellable, &local_error);
  _sbx_lock_release (lock);

  /* Another session needs what this one made: it goes later. */
  if (local_error != NULL && error != NULL &&
      !g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_BUSY))
    g_propagate_error (error, g_steal_pointer (&local_error));

  return done ? SBX_BWRAP_SWEPT_GONE : alive ? SBX_BWRAP_SWEPT_ALIVE : SBX_BWRAP_SWEPT_FAILED;
}

char **
_sbx_bwrap_sweep (const SbxBwrapSettings  *settings,
                  GPtrArray               *kept,
                  GCancellable            *cancellable,
                  GError                 **error)
{
  g_autoptr(GStrvBuilder) removed = g_strv_builder_new ();
  g_autoptr(GError) first_error = NULL;
  g_auto(GStrv) names = NULL;
  sbx_autofd int fd = _sbx_bwrap_sweep_open (settings->data_path, &first_error);

  names = fd >= 0 ? list_names (fd, &first_error) : NULL;
  for (gsize i = 0; names != NULL && names[i] != NULL; i++)
    {
      g_autofree char *path = g_build_filename (settings->data_path, "sessions", names[i], NULL);

      if (g_cancellable_is_cancelled (cancellable))
        break;
      if (_sbx_bwrap_sweep_one (fd, settings, names[i], kept, cancellable,
                                first_error == NULL ? &first_error : NULL) == SBX_BWRAP_SWEPT_GONE)
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

static GMutex sweep_mutex;   /* held for as long as that takes */
static GMutex swept_mutex;
static GHashTable *swept;

static gboolean
is_swept (const char *data_path)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&swept_mutex);

  return swept != NULL && g_hash_table_contains (swept, data_path);
}

static void
set_swept (const char *data_path)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&swept_mutex);

  if (swept == NULL)
    swept = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  g_hash_table_add (swept, g_strdup (data_path));
}

void
_sbx_bwrap_sweep_once (const SbxBwrapSettings *settings,
                       GPtrArray              *kept,
                       GCancellable           *cancellable)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&sweep_mutex);
  g_auto(GStrv) removed = NULL;

  if (is_swept (settings->data_path))
    return;

  removed = _sbx_bwrap_sweep (settings, kept, cancellable, NULL);
  if (removed != NULL)
    set_swept (settings->data_path);
}

void
_sbx_bwrap_sweep_again (const char *data_path)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&swept_mutex);

  if (swept != NULL)
    g_hash_table_remove (swept, data_path);
}

/* The homes that live sessions use. A dead one still counts until it is swept. */
static GHashTable *
list_used_homes (int      sessions_fd,
                 GError **error)
{
  g_autoptr(GHashTable) used = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_auto(GStrv) sessions = NULL;

  if (sessions_fd < 0)
    return g_steal_pointer (&used);

  sessions = list_names (sessions_fd, error);
  if (sessions == NULL)
    return NULL;

  for (gsize i = 0; sessions[i] != NULL; i++)
    {
      g_autofree char *mark = g_build_filename (sessions[i], SBX_BWRAP_HOME_MARK, NULL);
      g_autoptr(GError) reason = NULL;
      g_autoptr(GBytes) bytes = _sbx_read_beneath (sessions_fd, mark, MARK_MAX_SIZE, NULL, &reason);

      if (bytes != NULL)
        g_hash_table_add (used, g_strndup (g_bytes_get_data (bytes, NULL),
                                           g_bytes_get_size (bytes)));
      else if (!g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
        {
          g_propagate_error (error, g_steal_pointer (&reason));
          return NULL;
        }
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
  g_auto(SbxBwrapNoteLock) lock = -1;

  if (sessions_fd >= 0 && (lock = _sbx_bwrap_note_lock (sessions_fd, error)) < 0)
    return NULL;

  used = list_used_homes (sessions_fd, error);
  names = used != NULL ? list_names (homes_fd, error) : NULL;
  if (names == NULL)
    return NULL;

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
  g_autoptr(GError) reason = NULL;
  g_auto(GStrv) names = NULL;
  sbx_autofd int sessions_fd = open_below (data_path, "sessions", &reason);
  sbx_autofd int homes_fd = reason == NULL ? open_below (data_path, "homes", &reason) : -1;

  if (reason != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&reason));
      return NULL;
    }

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
