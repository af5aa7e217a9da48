/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-watch-parts-private.h"

#include "core/sbx-error.h"
#include "core/sbx-protection-private.h"
#include "core/sbx-text-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Numbers that are tried for a name that is free. */
#define MAX_TRIES 1000

/* What is not there is looked for again so often, after so long. */
#define MAX_ABSENT 40
#define ABSENT_US 5000

SbxBwrapWatchSession *
_sbx_bwrap_watch_session_new (const char *quarantine_path,
                              const char *id,
                              int         sessions_fd)
{
  SbxBwrapWatchSession *self = g_new0 (SbxBwrapWatchSession, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->quarantine_path = g_strdup (quarantine_path);
  self->id = g_strdup (id);
  self->sessions_fd = sessions_fd >= 0 ? fcntl (sessions_fd, F_DUPFD_CLOEXEC, 3) : -1;

  return self;
}

SbxBwrapWatchSession *
_sbx_bwrap_watch_session_ref (SbxBwrapWatchSession *self)
{
  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

void
_sbx_bwrap_watch_session_unref (SbxBwrapWatchSession *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  _sbx_clear_fd (&self->sessions_fd);
  g_free (self->quarantine_path);
  g_free (self->id);
  g_free (self);
}

SbxBwrapRepair *
_sbx_bwrap_repair_new (const SbxBwrapWatchEntry *entry,
                       guint                     number)
{
  SbxBwrapRepair *self = g_new0 (SbxBwrapRepair, 1);

  self->number = number;
  self->path = g_strdup (entry->path);
  self->host = g_strdup (entry->host);
  self->read_only = entry->read_only;
  self->is_directory = entry->is_directory;
  self->clean = !entry->free || (!entry->touched && !entry->unknown);
  self->may_change = entry->may_change;
  self->is_worktrees = entry->is_worktrees;
  self->n_fresh = entry->n_fresh;
  self->n_writes = entry->n_writes;
  self->device = entry->device;
  self->inode = entry->inode;
  self->content = entry->content != NULL ? g_bytes_ref (entry->content) : NULL;
  self->mode = entry->mode;
  self->uid = entry->uid;
  self->gid = entry->gid;

  return self;
}

void
_sbx_bwrap_repair_free (SbxBwrapRepair *self)
{
  if (self == NULL)
    return;

  g_free (self->path);
  g_free (self->host);
  g_free (self->moved_from);
  g_free (self->moved_to);
  g_clear_pointer (&self->content, g_bytes_unref);
  g_free (self);
}

gboolean
_sbx_bwrap_repair_fail (SbxBwrapRepair  *self,
                        GError         **error,
                        const char      *reason)
{
  g_autofree char *quoted = _sbx_text_quote (self->path);

  g_set_error (error, SBX_ERROR, SBX_ERROR_LOST,
               _("The sandbox was ended, because %s, which it must not change, was replaced from "
                 "outside and cannot be protected again: %s. Open a new one."), quoted, reason);
  return FALSE;
}

/* Fills the file of @fd with the old content, and makes it like the old one. */
static gboolean
write_old (SbxBwrapRepair *self,
           int             fd,
           struct stat    *st)
{
  gsize size, at = 0;
  const char *data = g_bytes_get_data (self->content, &size);

  while (at < size)
    {
      const gssize n = write (fd, data + at, size - at);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return FALSE;
      at += (gsize) n;
    }

  return (geteuid () != 0 || fchown (fd, self->uid, self->gid) == 0) &&
         fchmod (fd, self->mode) == 0 && fsync (fd) == 0 && fstat (fd, st) == 0;
}

/* Makes an empty one in @directory, under a name that is free. -1 with errno. */
static int
make_empty (SbxBwrapRepair  *self,
            int              directory,
            const char      *name,
            const char      *format,
            char           **other)
{
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

  for (guint i = 1; i <= MAX_TRIES; i++)
    {
      int fd = -1;

      g_free (*other);
      *other = g_strdup_printf ("%s%s%u", name, format, i);

      if (!self->is_directory)
        fd = openat (directory, *other, flags, 0600);
      else if (mkdirat (directory, *other, 0700) == 0)
        fd = openat (directory, *other, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

      if (fd >= 0 || errno != EEXIST)
        return fd;
    }

  return -1;
}

static gboolean
make_like_old (SbxBwrapRepair *self,
               int             fd,
               struct stat    *st)
{
  if (!self->is_directory)
    return write_old (self, fd, st);

  return fchmod (fd, self->mode != 0 ? self->mode : 0755) == 0 && fstat (fd, st) == 0;
}

/* Lets the like of the old one take the place of what is at @name in @parent, in one step. */
static gboolean
put (SbxBwrapRepair *self,
     int             parent,
     const char     *name,
     int             directory,
     const char     *format,
     guint           flags,
     char          **other)
{
  sbx_autofd int fd = make_empty (self, directory, name, format, other);
  struct stat st;
  gboolean ok;
  int errsv;

  if (fd < 0)
    return FALSE;

  ok = make_like_old (self, fd, &st);
  errsv = errno;
  _sbx_clear_fd (&fd);

  /* Closed before it has the name, or that would look as if somebody had written to it there. */
  if (ok && renameat2 (directory, *other, parent, name, flags) == 0)
    {
      self->device = st.st_dev;
      self->inode = st.st_ino;
      return TRUE;
    }

  errsv = ok ? errno : errsv;
  unlinkat (directory, *other, self->is_directory ? AT_REMOVEDIR : 0);
  errno = errsv;
  return FALSE;
}

/* What is there goes where the session keeps such; or, where that is on another file system,
 * beside. */
gboolean
_sbx_bwrap_repair_put (SbxBwrapRepair        *self,
                       SbxBwrapWatchSession  *session,
                       guint                  flags,
                       char                 **moved)
{
  g_autofree char *directory = g_path_get_dirname (self->host);
  g_autofree char *name = g_path_get_basename (self->host);
  g_autofree char *other = NULL;
  sbx_autofd int root = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  sbx_autofd int parent = _sbx_open_beneath (root, directory + 1, O_RDONLY | O_DIRECTORY, 0, NULL);
  sbx_autofd int quarantine = -1;

  if (parent < 0)
    {
      errno = ENOENT;
      return FALSE;
    }

  if (g_mkdir_with_parents (session->quarantine_path, 0700) == 0)
    quarantine = open (session->quarantine_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

  if (quarantine >= 0 && put (self, parent, name, quarantine, ".", flags, &other))
    *moved = g_build_filename (session->quarantine_path, other, NULL);
  else if ((quarantine < 0 || errno == EXDEV) &&
           put (self, parent, name, parent, ".sbx-quarantine.", flags, &other))
    *moved = g_build_filename (directory, other, NULL);

  return *moved != NULL;
}

/* The old content takes the place of what is there. */
static gboolean
restore (SbxBwrapRepair        *self,
         SbxBwrapWatchSession  *session,
         GError               **error)
{
  if (self->content == NULL)
    return _sbx_bwrap_repair_fail (self, error, _("it is too large for a copy of it to be kept"));

  return _sbx_bwrap_repair_put (self, session, RENAME_EXCHANGE, &self->moved_to) ||
         _sbx_bwrap_repair_fail (self, error, g_strerror (errno));
}

static void
adopt (SbxBwrapRepair    *self,
       const struct stat *st,
       GBytes            *content)
{
  self->device = st->st_dev;
  self->inode = st->st_ino;
  self->mode = st->st_mode & 07777;
  self->uid = st->st_uid;
  self->gid = st->st_gid;
  g_clear_pointer (&self->content, g_bytes_unref);
  self->content = content != NULL ? g_bytes_ref (content) : NULL;
}

static gboolean
repair_file (SbxBwrapRepair        *self,
             const struct stat     *st,
             GBytes                *content,
             gboolean               writer,
             SbxBwrapWatchSession  *session,
             GError               **error)
{
  const gboolean same = content != NULL && self->content != NULL &&
                        g_bytes_equal (content, self->content);

  /* Another name, or somebody who has it open: it would change although it is bound read-only. */
  const gboolean held = writer || st->st_nlink != 1;

  if (!S_ISREG (st->st_mode) ||
      (held && !self->may_change) || (!same && !self->clean && !self->may_change))
    return restore (self, session, error);

  adopt (self, st, content);
  return TRUE;
}

/* An editor takes a file away before it puts the new one there; and what has no name any more was
 * replaced once more while it was read. */
static gboolean
read_patiently (SbxBwrapRepair  *self,
                struct stat     *st,
                GBytes         **content,
                gboolean        *writer,
                GError         **error)
{
  for (guint i = 0;; i++)
    {
      g_autoptr(GError) reason = NULL;

      g_clear_pointer (content, g_bytes_unref);
      if (_sbx_bwrap_watch_read (self->host, st, content, writer, &reason))
        {
          if (!S_ISREG (st->st_mode) || st->st_nlink > 0 || i == MAX_ABSENT)
            return TRUE;
        }
      else if (i == MAX_ABSENT || !g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
        {
          g_propagate_error (error, g_steal_pointer (&reason));
          return FALSE;
        }

      g_usleep (ABSENT_US);
    }
}

gboolean
_sbx_bwrap_repair_run (SbxBwrapRepair        *self,
                       SbxBwrapWatchSession  *session,
                       GError               **error)
{
  g_autoptr(GError) reason = NULL;
  g_autoptr(GBytes) content = NULL;
  gboolean writer = TRUE;
  struct stat st;

  if (self->is_directory)
    return _sbx_bwrap_repair_directory (self, session, error);

  if (!read_patiently (self, &st, &content, &writer, &reason))
    return g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_FOUND)
             ? _sbx_bwrap_repair_absent (self, session, error)
             : _sbx_bwrap_repair_fail (self, error, reason->message);

  /* Only the mount is gone. */
  if (st.st_dev == self->device && st.st_ino == self->inode &&
      (content == NULL || self->content == NULL || g_bytes_equal (content, self->content)))
    return TRUE;

  return repair_file (self, &st, content, writer, session, error);
}
