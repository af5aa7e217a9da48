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
  g_free (self->moved_to);
  g_clear_pointer (&self->content, g_bytes_unref);
  g_free (self);
}

static gboolean
fail (SbxBwrapRepair  *self,
      GError         **error,
      const char      *reason)
{
  g_autofree char *quoted = _sbx_text_quote (self->path);

  g_set_error (error, SBX_ERROR, SBX_ERROR_LOST,
               _("The sandbox was ended, because %s, which it must not change, was replaced from "
                 "outside and cannot be protected again: %s. Open a new one."), quoted, reason);
  return FALSE;
}

static gboolean
is_empty_directory (int         parent,
                    const char *name)
{
  sbx_autofd int fd = openat (parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", fd);
  g_autoptr(GDir) dir = fd >= 0 ? g_dir_open (path, 0, NULL) : NULL;

  return dir != NULL && g_dir_read_name (dir) == NULL;
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

/* Makes the old file in @directory, and lets it and what is at @name in @parent change places, in
 * one step. Sets errno. */
static gboolean
exchange (SbxBwrapRepair *self,
          int             parent,
          const char     *name,
          int             directory,
          const char     *format,
          char          **other)
{
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  sbx_autofd int fd = -1;
  struct stat st;
  int errsv;

  for (guint i = 1; i <= MAX_TRIES && fd < 0; i++)
    {
      g_autofree char *suffix = g_strdup_printf ("%s%u", format, i);

      g_free (*other);
      *other = g_strconcat (name, suffix, NULL);
      fd = openat (directory, *other, flags, 0600);
      if (fd < 0 && errno != EEXIST)
        return FALSE;
    }

  if (fd >= 0 && write_old (self, fd, &st) &&
      renameat2 (directory, *other, parent, name, RENAME_EXCHANGE) == 0)
    {
      self->device = st.st_dev;
      self->inode = st.st_ino;
      return TRUE;
    }

  errsv = errno;
  if (fd >= 0)
    unlinkat (directory, *other, 0);
  errno = errsv;
  return FALSE;
}

/* The old content takes the place of what is there, which goes where the session keeps such; or,
 * where that is on another file system, beside. */
static gboolean
restore (SbxBwrapRepair  *self,
         const char      *quarantine_path,
         GError         **error)
{
  g_autofree char *directory = g_path_get_dirname (self->host);
  g_autofree char *name = g_path_get_basename (self->host);
  g_autofree char *other = NULL;
  sbx_autofd int root = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  sbx_autofd int parent = -1;
  sbx_autofd int quarantine = -1;

  if (self->content == NULL)
    return fail (self, error, _("it is too large for a copy of it to be kept"));

  parent = _sbx_open_beneath (root, directory + 1, O_RDONLY | O_DIRECTORY, 0, error);
  if (parent < 0)
    return FALSE;

  if (g_mkdir_with_parents (quarantine_path, 0700) == 0)
    quarantine = open (quarantine_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

  if (quarantine >= 0 && exchange (self, parent, name, quarantine, ".", &other))
    self->moved_to = g_build_filename (quarantine_path, other, NULL);
  else if ((quarantine < 0 || errno == EXDEV) &&
           exchange (self, parent, name, parent, ".sbx-quarantine.", &other))
    self->moved_to = g_build_filename (directory, other, NULL);
  else
    return fail (self, error, g_strerror (errno));

  return TRUE;
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
repair_file (SbxBwrapRepair     *self,
             const struct stat  *st,
             GBytes             *content,
             gboolean            writer,
             const char         *quarantine_path,
             GError            **error)
{
  const gboolean same = content != NULL && self->content != NULL &&
                        g_bytes_equal (content, self->content);

  /* Another name, or somebody who has it open: it would change although it is bound read-only. */
  const gboolean held = writer || st->st_nlink != 1;

  if (!S_ISREG (st->st_mode) ||
      (held && !self->may_change) || (!same && !self->clean && !self->may_change))
    return restore (self, quarantine_path, error);

  adopt (self, st, content);
  return TRUE;
}

/* An editor takes a file away before it puts the new one there. */
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

      if (_sbx_bwrap_watch_read (self->host, st, content, writer, &reason))
        return TRUE;

      if (i == MAX_ABSENT || !g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
        {
          g_propagate_error (error, g_steal_pointer (&reason));
          return FALSE;
        }

      g_usleep (ABSENT_US);
    }
}

gboolean
_sbx_bwrap_repair_run (SbxBwrapRepair  *self,
                       const char      *quarantine_path,
                       GError         **error)
{
  sbx_autofd int root = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  g_autoptr(GError) reason = NULL;
  g_autoptr(GBytes) content = NULL;
  gboolean writer = TRUE;
  struct stat st;

  if (!read_patiently (self, &st, &content, &writer, &reason))
    return fail (self, error, g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_FOUND)
                                ? _("it is not there any more") : reason->message);

  /* Only the mount is gone. */
  if (st.st_dev == self->device && st.st_ino == self->inode &&
      (content == NULL || self->content == NULL || g_bytes_equal (content, self->content)))
    return TRUE;

  if (!self->is_directory)
    return repair_file (self, &st, content, writer, quarantine_path, error);

  if (!S_ISDIR (st.st_mode) || !is_empty_directory (root, self->host + 1))
    return fail (self, error, _("it is not the same directory any more"));

  adopt (self, &st, NULL);
  return TRUE;
}
