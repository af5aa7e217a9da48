/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-watch-parts-private.h"

#include "bwrap/sbx-bwrap-note-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Directories that are not the same ones any more, and whatever is gone.
 *
 * Everything inside stands still by now: what was not there when it was first looked, the host
 * makes. What was there may have been made inside, in the moment before, and somebody there may
 * have it open; so it does not stay, unless another session has put it there. The exception is the
 * directory of git's worktrees, which git on the host, and other sessions, use at any time: that
 * stays, but for what git does not put in.
 */

#define MAX_TRIES 50

/* Whoever opens two directories in one moment that know nothing of one another would replace the
 * other's for ever. */
#define MAX_FRESH 3

#define COMMON_DIR "../..\n"
#define MAX_POINTER 64

static int
open_host (SbxBwrapRepair *self,
           struct stat    *st)
{
  sbx_autofd int root = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  sbx_autofd int fd = _sbx_open_beneath (root, self->host + 1, O_PATH | O_NOFOLLOW, 0, NULL);

  if (fd < 0 || fstat (fd, st) != 0)
    return -1;

  return g_steal_fd (&fd);
}

static GDir *
open_names (int fd)
{
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", fd);

  return g_dir_open (path, 0, NULL);
}

static gboolean
is_empty (int fd)
{
  g_autoptr(GDir) dir = open_names (fd);

  return dir != NULL && g_dir_read_name (dir) == NULL;
}

static gboolean
adopt (SbxBwrapRepair    *self,
       const struct stat *st)
{
  self->device = st->st_dev;
  self->inode = st->st_ino;
  self->mode = st->st_mode & 07777;
  self->uid = st->st_uid;
  self->gid = st->st_gid;

  return TRUE;
}

/* Whether an entry of a worktree has something that sends git elsewhere, or that it would take for
 * a configuration. What sessions put there is empty. */
static gboolean
is_planted (int         fd,
            const char *name)
{
  static const char * const neutral[] = { "config", "config.worktree", "hooks", "modules", "info" };
  g_autofree char *pointer = g_build_filename (name, "commondir", NULL);
  g_autoptr(GError) reason = NULL;
  g_autoptr(GBytes) content = _sbx_read_beneath (fd, pointer, MAX_POINTER, NULL, &reason);
  sbx_autofd int entry = openat (fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

  /* Nothing of the kind, or git has not come so far. */
  if (entry < 0)
    return errno != ENOENT;
  if (content == NULL && !g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    return TRUE;
  if (content != NULL && g_bytes_get_size (content) > 0 &&
      (g_bytes_get_size (content) != strlen (COMMON_DIR) ||
       memcmp (g_bytes_get_data (content, NULL), COMMON_DIR, strlen (COMMON_DIR)) != 0))
    return TRUE;

  for (gsize i = 0; i < G_N_ELEMENTS (neutral); i++)
    {
      sbx_autofd int part = openat (entry, neutral[i], O_PATH | O_NOFOLLOW | O_CLOEXEC);
      struct stat st;

      if (part >= 0 && (fstat (part, &st) != 0 ||
                        (S_ISDIR (st.st_mode) ? !is_empty (part)
                                              : !S_ISREG (st.st_mode) || st.st_size > 0)))
        return TRUE;
    }

  return FALSE;
}

static gboolean
move_entry (SbxBwrapRepair       *self,
            SbxBwrapWatchSession *session,
            int                   fd,
            const char           *name)
{
  g_autofree char *above = g_path_get_dirname (self->host);
  const char *places[] = { session->quarantine_path, above };

  g_mkdir_with_parents (session->quarantine_path, 0700);
  for (guint i = 0; i < 2 * MAX_TRIES; i++)
    {
      const char *prefix = i < MAX_TRIES ? "worktree" : ".sbx-quarantine-worktree";
      g_autofree char *to = g_strdup_printf ("%s/%s-%s.%u", places[i / MAX_TRIES], prefix, name,
                                             i % MAX_TRIES + 1);

      if (renameat2 (fd, name, AT_FDCWD, to, RENAME_NOREPLACE) != 0)
        continue;

      g_free (self->moved_from);
      self->moved_from = g_build_filename (self->host, name, NULL);
      g_free (self->moved_to);
      self->moved_to = g_steal_pointer (&to);
      return TRUE;
    }

  return FALSE;
}

static gboolean
accept_worktrees (SbxBwrapRepair        *self,
                  SbxBwrapWatchSession  *session,
                  int                    fd,
                  const struct stat     *st,
                  GError               **error)
{
  g_autoptr(GDir) dir = open_names (fd);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (is_planted (fd, name) && !move_entry (self, session, fd, name))
      return _sbx_bwrap_repair_fail (self, error, g_strerror (errno));

  return dir != NULL ? adopt (self, st)
                     : _sbx_bwrap_repair_fail (self, error, _("it cannot be read"));
}

/* An empty one of ours takes the place of what is there. */
static gboolean
replace (SbxBwrapRepair        *self,
         SbxBwrapWatchSession  *session,
         GError               **error)
{
  g_autofree char *moved = NULL;

  if (!_sbx_bwrap_repair_put (self, session, RENAME_EXCHANGE, &moved))
    return _sbx_bwrap_repair_fail (self, error, g_strerror (errno));

  self->n_fresh++;
  if (rmdir (moved) != 0)
    self->moved_to = g_steal_pointer (&moved);

  return TRUE;
}

static gboolean
note (SbxBwrapRepair        *self,
      SbxBwrapWatchSession  *session,
      dev_t                  device,
      ino_t                  inode,
      GError               **error)
{
  gsize size = 0;
  const char *data = self->content != NULL ? g_bytes_get_data (self->content, &size) : NULL;
  g_autofree char *content = g_strndup (data != NULL ? data : "", size);

  return session->sessions_fd < 0 ||
         _sbx_bwrap_note_add (session->sessions_fd, session->id, self->host, self->is_directory,
                              content, device, inode, error);
}

/* Makes it again, as a placeholder that is noted before; a file that is none of ours without.
 * FALSE without an error: the host was faster. */
static gboolean
make_again (SbxBwrapRepair        *self,
            SbxBwrapWatchSession  *session,
            GError               **error)
{
  const gboolean noted = self->is_directory ||
                         (session->sessions_fd >= 0 &&
                          _sbx_bwrap_note_has (session->sessions_fd, session->id, self->host));
  g_autofree char *moved = NULL;

  if (noted && !note (self, session, 0, 0, error))
    return FALSE;

  if (!_sbx_bwrap_repair_put (self, session, RENAME_NOREPLACE, &moved))
    {
      if (errno != EEXIST)
        _sbx_bwrap_repair_fail (self, error, errno == ENOENT ? _("it is not there any more")
                                                             : g_strerror (errno));
      return FALSE;
    }

  self->is_back = !noted;
  return !noted || note (self, session, self->device, self->inode, error);
}

static gboolean
examine (SbxBwrapRepair        *self,
         SbxBwrapWatchSession  *session,
         gboolean               was_absent,
         int                    fd,
         const struct stat     *st,
         GError               **error)
{
  const gboolean empty = is_empty (fd);

  if (was_absent ||
      (session->sessions_fd >= 0 &&
       _sbx_bwrap_note_others_have (session->sessions_fd, session->id, self->host, st->st_dev,
                                    st->st_ino)) ||
      (empty && self->n_fresh >= MAX_FRESH))
    return adopt (self, st);

  if (self->is_worktrees && !empty)
    return accept_worktrees (self, session, fd, st, error);

  return note (self, session, 0, 0, error) && replace (self, session, error) &&
         note (self, session, self->device, self->inode, error);
}

gboolean
_sbx_bwrap_repair_directory (SbxBwrapRepair        *self,
                             SbxBwrapWatchSession  *session,
                             GError               **error)
{
  gboolean was_absent = FALSE;

  for (guint i = 0; i < MAX_TRIES; i++)
    {
      g_auto(SbxBwrapNoteLock) lock = -1;
      g_autoptr(GError) reason = NULL;
      struct stat st;
      sbx_autofd int fd = open_host (self, &st);

      /* Only the mount is gone. */
      if (fd >= 0 && st.st_dev == self->device && st.st_ino == self->inode)
        return TRUE;

      if (fd >= 0 && !S_ISDIR (st.st_mode))
        break;

      if (session->sessions_fd >= 0 &&
          (lock = _sbx_bwrap_note_lock (session->sessions_fd, error)) < 0)
        return FALSE;
      if (g_atomic_int_get (&session->is_over))
        break;

      if (fd >= 0)
        return examine (self, session, was_absent, fd, &st, error);

      was_absent = TRUE;
      if (make_again (self, session, &reason))
        return TRUE;
      if (reason != NULL)
        {
          g_propagate_error (error, g_steal_pointer (&reason));
          return FALSE;
        }
    }

  return _sbx_bwrap_repair_fail (self, error, _("it is not the same directory any more"));
}

gboolean
_sbx_bwrap_repair_absent (SbxBwrapRepair        *self,
                          SbxBwrapWatchSession  *session,
                          GError               **error)
{
  g_auto(SbxBwrapNoteLock) lock = -1;
  g_autoptr(GError) reason = NULL;

  if (self->content == NULL)
    return _sbx_bwrap_repair_fail (self, error, _("it is not there any more"));

  if (session->sessions_fd >= 0 &&
      (lock = _sbx_bwrap_note_lock (session->sessions_fd, error)) < 0)
    return FALSE;

  if (!g_atomic_int_get (&session->is_over) && make_again (self, session, &reason))
    return TRUE;
  if (reason == NULL)
    return _sbx_bwrap_repair_fail (self, error, _("it changes all the time"));

  g_propagate_error (error, g_steal_pointer (&reason));
  return FALSE;
}
