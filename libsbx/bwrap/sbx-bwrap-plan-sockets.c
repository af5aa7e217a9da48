/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-plan-builder-private.h"
#include "core/sbx-error.h"
#include "core/sbx-protection-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-path-private.h"
#include "spec/sbx-resolve-private.h"
#include "spec/sbx-resolve-scan-private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Neither a mount that is read-only nor a network of its own keeps anybody from connecting to a
 * socket that has a name, and who listens there acts with the rights of the host. So those that lie
 * in what the sandbox sees, and were not asked for, are covered.
 *
 * They are looked for in two ways. What may be written is gone through, and so is what may be read
 * as far as that is quick: whatever a socket was called when it was bound, its file is found. So
 * are those that nobody listens at any more, and what an earlier sandbox left. And the kernel
 * lists the names that sockets got when they were bound, for what is too large. Some programs link
 * or rename theirs afterwards: so of each directory with one in it every socket counts.
 */

#define UNIX_SOCKETS "/proc/net/unix"
#define MAX_LINES 1000000
#define MAX_MASKS 1024
#define N_FIELDS_BEFORE_PATH 7

/* How far is quick: for one path, and for all that are only read. */
#define QUICK_MAX_DIRS 20000
#define QUICK_TIME (G_TIME_SPAN_MILLISECOND * 200)
#define QUICK_TIME_FOR_ALL G_TIME_SPAN_SECOND

typedef struct
{
  SbxBwrapBuilder *builder;
  GHashTable      *done;         /* of owned paths, that were asked for or are covered */
  GHashTable      *looked_at;    /* of owned paths of directories */
  guint            n_masks;
} Search;

/* Where the name is in a line, or %NULL if it has none that is a path. */
static const char *
find_path (const char *line)
{
  guint i;

  for (i = 0; i < N_FIELDS_BEFORE_PATH && line != NULL; i++)
    {
      line = strchr (line, ' ');
      if (line != NULL)
        line += strspn (line, " ");
    }

  return line != NULL && *line == '/' ? line : NULL;
}

/* Where the sandbox sees the directory at the real @path, or %NULL if it does not; also when the
 * host has it mounted under another name too. */
static char *
find_inside (Search     *self,
             const char *path)
{
  g_autofree char *above = g_strdup (path);

  for (;;)
    {
      struct stat st;
      const gboolean is_there = lstat (above, &st) == 0;
      char *slash;

      for (guint i = 0; is_there && i < self->builder->entries->len; i++)
        {
          const SbxReachEntry *entry = g_ptr_array_index (self->builder->entries, i);

          if ((entry->kind <= SBX_REACH_WRITE || entry->kind == SBX_REACH_GIT_DIR) &&
              entry->device == st.st_dev && entry->inode == st.st_ino)
            return g_strconcat (entry->path, path + strlen (above), NULL);
        }

      slash = strrchr (above, '/');
      if (slash == NULL || strcmp (above, "/") == 0)
        return NULL;

      slash[slash == above ? 1 : 0] = '\0';
    }
}

static gboolean
add_mask (Search             *self,
          const char         *path,
          const struct stat  *st,
          GError            **error)
{
  SbxBwrapMount *mount;
  g_autofree char *shown = NULL;

  if (!g_hash_table_add (self->done, g_strdup (path)))
    return TRUE;

  if (++self->n_masks > MAX_MASKS)
    {
      g_autofree char *directory = g_path_get_dirname (path);

      shown = _sbx_path_show (directory);
      g_set_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE,
                   _("“%s” and other directories that were asked for have more than %d sockets of "
                     "this machine in them; name narrower ones"), shown, MAX_MASKS);
      return FALSE;
    }

  mount = _sbx_bwrap_builder_add (self->builder, SBX_BWRAP_MOUNT_MASK, SBX_BWRAP_ORIGIN_SOCKET,
                                  path, NULL, N_("a socket that was not asked for"));
  mount->device = st->st_dev;
  mount->inode = st->st_ino;

  return TRUE;
}

/* Covers every socket in the directory that @fd, which is taken, has open. */
static gboolean
mask_all (Search      *self,
          int          fd,
          const char  *inside,
          GError     **error)
{
  DIR *dir = fdopendir (fd);
  const struct dirent *entry;
  gboolean ok = TRUE;

  if (dir == NULL)
    {
      _sbx_clear_fd (&fd);
      return TRUE;
    }

  while (ok && (entry = readdir (dir)) != NULL)
    {
      g_autofree char *path = NULL;
      struct stat st;

      if ((entry->d_type != DT_SOCK && entry->d_type != DT_UNKNOWN) ||
          fstatat (dirfd (dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
          !S_ISSOCK (st.st_mode))
        continue;

      path = g_build_filename (inside, entry->d_name, NULL);
      ok = add_mask (self, path, &st, error);
    }

  closedir (dir);
  return ok;
}

static gboolean
look_at (Search      *self,
         const char  *path,
         GError     **error)
{
  g_autofree char *directory = g_path_get_dirname (path);
  g_autofree char *real_path = NULL;
  g_autofree char *inside = NULL;
  sbx_autofd int fd = -1;

  if (g_hash_table_contains (self->looked_at, directory))
    return TRUE;

  fd = _sbx_open_real (directory, O_RDONLY | O_DIRECTORY | O_NONBLOCK, &real_path, NULL);
  g_hash_table_add (self->looked_at, g_steal_pointer (&directory));
  inside = fd >= 0 ? find_inside (self, real_path) : NULL;

  return inside == NULL || mask_all (self, g_steal_fd (&fd), inside, error);
}

static gboolean
look_through (Search  *self,
              FILE    *list,
              GError **error)
{
  char *line = NULL;
  gsize size = 0;
  gboolean ok = TRUE;
  guint n = 0;

  while (ok && getline (&line, &size, list) >= 0)
    {
      const char *path = find_path (line);

      line[strcspn (line, "\n")] = '\0';

      if (n++ == MAX_LINES)
        {
          g_set_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE,
                       _("This machine has more than %d sockets, and those in what a sandbox sees "
                         "cannot be told apart"), MAX_LINES);
          ok = FALSE;
        }
      else if (g_cancellable_set_error_if_cancelled (self->builder->cancellable, error))
        ok = FALSE;
      else if (path != NULL)
        ok = look_at (self, path, error);
    }

  free (line);
  return ok;
}

static gboolean
look_through_list (Search  *self,
                   GError **error)
{
  FILE *list = fopen (UNIX_SOCKETS, "re");
  gboolean ok;

  if (list == NULL)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
                   _("The sockets of this machine cannot be listed in “%s”: %s"), UNIX_SOCKETS,
                   g_strerror (errno));
      return FALSE;
    }

  ok = look_through (self, list, error);
  fclose (list);

  return ok;
}

/* What may be written is small enough for the second way: nested repositories were looked for in
 * the same directories. */
static gboolean
find_sockets (Search               *self,
              const SbxReachEntry  *entry,
              gint64                deadline,
              GPtrArray            *sockets,
              gboolean             *is_complete,
              GError              **error)
{
  GCancellable *cancellable = self->builder->cancellable;
  const gint64 quick = MIN (deadline, g_get_monotonic_time () + QUICK_TIME);
  g_autofree char *shown = NULL;

  if (!_sbx_scan_sockets (entry->path, QUICK_MAX_DIRS, quick, TRUE, sockets, is_complete,
                          cancellable, error))
    return FALSE;

  if (*is_complete || entry->kind != SBX_REACH_WRITE)
    return TRUE;

  g_ptr_array_set_size (sockets, 0);
  if (!_sbx_scan_sockets (entry->path, SBX_SCAN_MAX_DIRS, 0, FALSE, sockets, is_complete,
                          cancellable, error))
    return FALSE;

  if (*is_complete)
    return TRUE;

  shown = _sbx_path_show (entry->path);
  g_set_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE,
               _("“%s” cannot be looked through for sockets of this machine: it has too many "
                 "directories or sockets, or is being changed; ask to write narrower paths, or try "
                 "again"), shown);
  return FALSE;
}

static gboolean
look_below (Search               *self,
            const SbxReachEntry  *entry,
            gint64                deadline,
            gboolean             *is_complete,
            GError              **error)
{
  g_autoptr(GPtrArray) sockets = g_ptr_array_new_with_free_func (g_free);

  if (!find_sockets (self, entry, deadline, sockets, is_complete, error))
    return FALSE;

  for (guint i = 0; i < sockets->len; i++)
    {
      const char *path = g_ptr_array_index (sockets, i);
      struct stat st;

      if (lstat (path, &st) == 0 && S_ISSOCK (st.st_mode) && !add_mask (self, path, &st, error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
is_below_any (GPtrArray  *paths,
              const char *path)
{
  for (guint i = 0; i < paths->len; i++)
    if (_sbx_path_is_below (path, g_ptr_array_index (paths, i)))
      return TRUE;

  return FALSE;
}

/* First what may be written, then the rest: each part once. */
static gboolean
look_below_all (Search     *self,
                gboolean    writable,
                gint64      deadline,
                GPtrArray  *complete,
                GError    **error)
{
  for (guint i = 0; i < self->builder->entries->len; i++)
    {
      const SbxReachEntry *entry = g_ptr_array_index (self->builder->entries, i);
      gboolean is_complete = FALSE;

      if ((entry->kind > SBX_REACH_WRITE && entry->kind != SBX_REACH_GIT_DIR) ||
          (entry->kind == SBX_REACH_WRITE) != writable || !S_ISDIR (entry->mode) ||
          is_below_any (complete, entry->path))
        continue;

      if (!look_below (self, entry, writable ? G_MAXINT64 : deadline, &is_complete, error))
        return FALSE;

      if (is_complete)
        g_ptr_array_add (complete, entry->path);
    }

  return TRUE;
}

gboolean
_sbx_bwrap_sockets_mask (SbxBwrapBuilder  *self,
                         GError          **error)
{
  g_autoptr(GHashTable) done = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GHashTable) looked_at = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GPtrArray) complete = g_ptr_array_new ();
  Search search = { self, done, looked_at, 0 };

  if (!SBX_PROTECTS (T31))
    return TRUE;

  for (guint i = 0; i < self->entries->len; i++)
    {
      const SbxReachEntry *entry = g_ptr_array_index (self->entries, i);

      if (entry->kind == SBX_REACH_SOCKET)
        g_hash_table_add (done, g_strdup (entry->path));
    }

  return look_below_all (&search, TRUE, 0, complete, error) &&
         look_below_all (&search, FALSE, g_get_monotonic_time () + QUICK_TIME_FOR_ALL, complete,
                         error) &&
         look_through_list (&search, error);
}
