/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-note-private.h"

#include "core/sbx-error.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-lock-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-write-private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_NAME "notes.lock"
#define LOCK_TRIES 2000
#define LOCK_PAUSE_US 5000

#define NOTE_MAX_SIZE (1024 * 1024)

/* Path, whether it is a directory, content, device, inode. */
#define NOTE_TYPE "a(aybaytt)"

/* A record lock: a child that this program forks meanwhile must not keep it. */
int
_sbx_bwrap_note_lock (int      sessions_fd,
                      GError **error)
{
  g_autoptr(GError) reason = NULL;

  for (guint i = 0; i < LOCK_TRIES; i++)
    {
      int lock;

      g_clear_error (&reason);
      lock = _sbx_lock_try (sessions_fd, LOCK_NAME, TRUE, &reason);
      if (lock >= 0)
        return lock;
      if (!g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_BUSY))
        break;

      g_usleep (LOCK_PAUSE_US);
    }

  g_set_error (error, SBX_ERROR, SBX_ERROR_FAILED,
               _("The list of placeholders in libsbx's data directory cannot be locked: %s. "
                 "If another sandbox is just opening, try again."),
               reason->message);

  return -1;
}

void
_sbx_bwrap_note_unlock (int lock)
{
  _sbx_lock_release (lock);
}

static GVariant *
note_read (int         sessions_fd,
           const char *id)
{
  g_autofree char *name = g_build_filename (id, SBX_BWRAP_NOTE_NAME, NULL);
  g_autoptr(GBytes) bytes = _sbx_read_beneath (sessions_fd, name, NOTE_MAX_SIZE, NULL, NULL);
  g_autoptr(GVariant) note = NULL;

  if (bytes == NULL)
    return NULL;

  /* Not trusted to be whole: it may have been cut by a crash of the machine. */
  note = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (NOTE_TYPE), bytes, FALSE));

  return g_variant_get_normal_form (note);
}

static gboolean
note_mentions (GVariant   *note,
               const char *path)
{
  const gsize n = note != NULL ? g_variant_n_children (note) : 0;

  for (gsize i = 0; i < n; i++)
    {
      g_autoptr(GVariant) entry = g_variant_get_child_value (note, i);
      g_autoptr(GVariant) bytes = g_variant_get_child_value (entry, 0);

      if (strcmp (g_variant_get_bytestring (bytes), path) == 0)
        return TRUE;
    }

  return FALSE;
}

/* All notes but one; of sessions that are dead too, since those are swept one by one. */
static GPtrArray *
read_others (int         sessions_fd,
             const char *own_id)
{
  g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func ((GDestroyNotify) g_variant_unref);
  const int fd = openat (sessions_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = fd >= 0 ? fdopendir (fd) : NULL;
  struct dirent *entry;

  while (dir != NULL && (entry = readdir (dir)) != NULL)
    {
      GVariant *note;

      if (entry->d_name[0] == '.' || g_strcmp0 (entry->d_name, own_id) == 0)
        continue;

      note = note_read (sessions_fd, entry->d_name);
      if (note != NULL)
        g_ptr_array_add (notes, note);
    }

  if (dir != NULL)
    closedir (dir);
  else if (fd >= 0)
    close (fd);

  return g_steal_pointer (&notes);
}

static gboolean
others_mention (GPtrArray  *notes,
                const char *path)
{
  for (guint i = 0; i < notes->len; i++)
    if (note_mentions (g_ptr_array_index (notes, i), path))
      return TRUE;

  return FALSE;
}

/* Who takes the placeholder away later must find the one that is meant now: it may not be there
 * yet, and then nothing is known of it. */
static void
identify (const SbxBwrapPlaceholder *placeholder,
          guint64                   *device,
          guint64                   *inode)
{
  struct stat info;

  *device = *inode = 0;

  if (placeholder->made)
    {
      *device = placeholder->device;
      *inode = placeholder->inode;
    }
  else if (placeholder->exists && lstat (placeholder->path, &info) == 0)
    {
      *device = info.st_dev;
      *inode = info.st_ino;
    }
}

static void
add_to_note (GVariantBuilder *builder,
             const char      *path,
             gboolean         is_directory,
             const char      *content,
             guint64          device,
             guint64          inode)
{
  g_variant_builder_add (builder, "(@ayb@aytt)", g_variant_new_bytestring (path), is_directory,
                         g_variant_new_bytestring (content), device, inode);
}

gboolean
_sbx_bwrap_note_write (int            sessions_fd,
                       int            dir_fd,
                       SbxBwrapPlan  *plan,
                       gboolean      *noted,
                       GError       **error)
{
  g_autoptr(GPtrArray) others = read_others (sessions_fd, NULL);
  g_auto(GVariantBuilder) builder = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE (NOTE_TYPE));
  g_autoptr(GVariant) note = NULL;
  g_autoptr(GBytes) bytes = NULL;

  *noted = FALSE;

  for (guint i = 0; i < plan->placeholders->len; i++)
    {
      const SbxBwrapPlaceholder *placeholder = g_ptr_array_index (plan->placeholders, i);
      guint64 device;
      guint64 inode;

      if (placeholder->exists && !placeholder->made && !placeholder->marked &&
          !others_mention (others, placeholder->path))
        continue;

      *noted = TRUE;
      identify (placeholder, &device, &inode);
      add_to_note (&builder, placeholder->path, placeholder->is_directory,
                   placeholder->content != NULL ? placeholder->content : "", device, inode);
    }

  if (!*noted)
    return TRUE;

  note = g_variant_ref_sink (g_variant_builder_end (&builder));
  bytes = g_variant_get_data_as_bytes (note);

  return _sbx_write_staged (dir_fd, SBX_BWRAP_NOTE_NAME, bytes, 0600, error);
}

gboolean
_sbx_bwrap_note_add (int          sessions_fd,
                     const char  *id,
                     const char  *path,
                     gboolean     is_directory,
                     const char  *content,
                     dev_t        device,
                     ino_t        inode,
                     GError     **error)
{
  sbx_autofd int dir_fd = _sbx_open_beneath (sessions_fd, id, O_RDONLY | O_DIRECTORY, 0, error);
  g_auto(GVariantBuilder) builder = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE (NOTE_TYPE));
  g_autoptr(GVariant) old = dir_fd >= 0 ? note_read (sessions_fd, id) : NULL;
  g_autoptr(GVariant) note = NULL;
  g_autoptr(GBytes) bytes = NULL;

  if (dir_fd < 0)
    return FALSE;

  for (gsize i = 0; old != NULL && i < g_variant_n_children (old); i++)
    {
      g_autoptr(GVariant) entry = g_variant_get_child_value (old, i);
      g_autoptr(GVariant) other = g_variant_get_child_value (entry, 0);

      if (strcmp (g_variant_get_bytestring (other), path) != 0)
        g_variant_builder_add_value (&builder, entry);
    }

  add_to_note (&builder, path, is_directory, content, device, inode);
  note = g_variant_ref_sink (g_variant_builder_end (&builder));
  bytes = g_variant_get_data_as_bytes (note);

  return _sbx_write_staged (dir_fd, SBX_BWRAP_NOTE_NAME, bytes, 0600, error);
}

gboolean
_sbx_bwrap_note_has (int         sessions_fd,
                     const char *id,
                     const char *path)
{
  g_autoptr(GVariant) note = note_read (sessions_fd, id);

  return note_mentions (note, path);
}

gboolean
_sbx_bwrap_note_others_have (int         sessions_fd,
                             const char *id,
                             const char *path,
                             dev_t       device,
                             ino_t       inode)
{
  g_autoptr(GPtrArray) others = read_others (sessions_fd, id);

  for (guint i = 0; i < others->len; i++)
    {
      GVariant *note = g_ptr_array_index (others, i);

      for (gsize j = 0; j < g_variant_n_children (note); j++)
        {
          g_autoptr(GVariant) other = NULL;
          guint64 its_device, its_inode;

          g_variant_get_child (note, j, "(@ayb@aytt)", &other, NULL, NULL, &its_device, &its_inode);
          if (its_device == device && its_inode == inode &&
              strcmp (g_variant_get_bytestring (other), path) == 0)
            return TRUE;
        }
    }

  return FALSE;
}

gboolean
_sbx_bwrap_note_undo (int          sessions_fd,
                      const char  *id,
                      GError     **error)
{
  g_autoptr(GVariant) note = note_read (sessions_fd, id);
  g_autoptr(GPtrArray) others = NULL;
  g_auto(SbxBwrapNoteLock) lock = -1;
  gboolean ok = TRUE;

  if (note == NULL)
    return TRUE;

  lock = _sbx_bwrap_note_lock (sessions_fd, error);
  if (lock < 0)
    return FALSE;

  others = read_others (sessions_fd, id);

  for (gsize i = 0; i < g_variant_n_children (note); i++)
    {
      g_autoptr(GVariant) path = NULL;
      g_autoptr(GVariant) content = NULL;
      gboolean is_directory;
      guint64 device;
      guint64 inode;

      g_variant_get_child (note, i, "(@ayb@aytt)", &path, &is_directory, &content,
                           &device, &inode);
      if (others_mention (others, g_variant_get_bytestring (path)))
        continue;

      ok &= _sbx_bwrap_placeholder_remove (g_variant_get_bytestring (path), is_directory,
                                           g_variant_get_bytestring (content),
                                           device, inode, ok ? error : NULL);
    }

  /* Whatever is left is no longer this session's. */
  if (ok)
    {
      g_autofree char *name = g_build_filename (id, SBX_BWRAP_NOTE_NAME, NULL);

      unlinkat (sessions_fd, name, 0);
    }

  return ok;
}
