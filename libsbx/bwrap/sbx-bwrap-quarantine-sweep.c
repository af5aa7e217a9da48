/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-quarantine-struct-private.h"

#include "bwrap/sbx-bwrap-worktree-private.h"
#include "files/sbx-delete-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/*
 * What was put aside in the data directory, for whoever sweeps and cleans.
 */

#define KEEP_S (30 * 24 * 60 * 60)

static int
open_all (const char *data_path)
{
  sbx_autofd int data_fd = _sbx_bwrap_state_open_data (data_path, FALSE, NULL);

  return data_fd >= 0 ? _sbx_open_beneath (data_fd, "quarantine", O_RDONLY | O_DIRECTORY, 0, NULL)
                      : -1;
}

/* What the program put aside that was killed, and may not have told. */
static void
keep_earlier (const char *data_path,
              const char *id,
              GPtrArray  *kept)
{
  sbx_autofd int all_fd = open_all (data_path);
  sbx_autofd int fd = all_fd >= 0 ? _sbx_open_beneath (all_fd, id, O_RDONLY | O_DIRECTORY, 0, NULL)
                                  : -1;
  g_autoptr(GPtrArray) items = fd >= 0 ? _sbx_quarantine_items_read (fd) : NULL;
  struct stat info;

  for (guint i = 0; items != NULL && i < items->len; i++)
    {
      const SbxQuarantineItem *item = g_ptr_array_index (items, i);

      if (kept != NULL && lstat (item->place, &info) == 0)
        {
          g_autofree char *message = _sbx_quarantine_describe_item (item);

          _sbx_bwrap_kept_add_message (kept, message);
        }
    }
}

gboolean
_sbx_bwrap_quarantine_sweep (int          sessions_fd,
                             const char  *data_path,
                             const char  *id,
                             GPtrArray   *kept,
                             GError     **error)
{
  g_autoptr(GError) reason = NULL;
  g_autoptr(SbxBwrapQuarantine) self = _sbx_quarantine_note_read (sessions_fd, data_path, id,
                                                                  &reason);
  g_auto(GStrv) messages = NULL;
  gboolean ok;

  if (self == NULL)
    {
      if (reason != NULL)
        g_propagate_error (error, g_steal_pointer (&reason));
      return reason == NULL;
    }

  keep_earlier (data_path, id, kept);
  ok = _sbx_bwrap_quarantine_finish (self, error);
  messages = _sbx_bwrap_quarantine_steal (self);
  for (gsize i = 0; messages[i] != NULL; i++)
    if (kept != NULL)
      _sbx_bwrap_kept_add_message (kept, messages[i]);

  return ok;
}

/* Of what has no list the directory itself has to tell. */
static gint64
find_newest (int         all_fd,
             const char *id)
{
  sbx_autofd int fd = _sbx_open_beneath (all_fd, id, O_RDONLY | O_DIRECTORY, 0, NULL);
  g_autoptr(GPtrArray) items = fd >= 0 ? _sbx_quarantine_items_read (fd) : NULL;
  gint64 newest = 0;
  struct stat info;

  for (guint i = 0; items != NULL && i < items->len; i++)
    newest = MAX (newest, ((SbxQuarantineItem *) g_ptr_array_index (items, i))->time);

  if (newest == 0 && fd >= 0 && fstat (fd, &info) == 0)
    newest = info.st_mtime;

  return newest;
}

char **
_sbx_bwrap_quarantine_expire (const char    *data_path,
                              GCancellable  *cancellable,
                              GError       **error)
{
  g_autoptr(GStrvBuilder) removed = g_strv_builder_new ();
  sbx_autofd int fd = open_all (data_path);
  g_auto(GStrv) ids = fd >= 0 ? _sbx_bwrap_state_list (fd, error) : NULL;
  const gint64 now = g_get_real_time () / G_USEC_PER_SEC;

  if (fd >= 0 && ids == NULL)
    return NULL;

  for (gsize i = 0; ids != NULL && ids[i] != NULL; i++)
    {
      g_autofree char *path = g_build_filename (data_path, "quarantine", ids[i], NULL);
      g_autofree char *session = g_build_filename (data_path, "sessions", ids[i], NULL);

      if (find_newest (fd, ids[i]) > now - KEEP_S || access (session, F_OK) == 0)
        continue;

      if (!_sbx_delete_tree (fd, ids[i], cancellable, error))
        return NULL;

      g_strv_builder_add (removed, path);
    }

  return g_strv_builder_end (removed);
}
