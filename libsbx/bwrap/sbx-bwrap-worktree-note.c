/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-worktree-note-private.h"

#include "core/sbx-error.h"
#include "files/sbx-open-private.h"
#include "files/sbx-path-private.h"
#include "files/sbx-write-private.h"

#include <glib/gi18n-lib.h>
#include <unistd.h>

#define NAME "worktree"
#define MAX_SIZE (64 * 1024)
#define NOTE_TYPE "(ayttaysbs)"

gboolean
_sbx_bwrap_worktree_note_write (int                          dir_fd,
                                const SbxBwrapWorktreeNote  *self,
                                GError                     **error)
{
  g_autoptr(GVariant) note = NULL;
  g_autoptr(GBytes) bytes = NULL;

  note = g_variant_ref_sink (g_variant_new ("(@aytt@aysbs)",
                                            g_variant_new_bytestring (self->common_path),
                                            self->device, self->inode,
                                            g_variant_new_bytestring (self->user_root),
                                            self->base, self->keep, self->tree));
  bytes = g_variant_get_data_as_bytes (note);

  return _sbx_write_staged (dir_fd, NAME, bytes, 0600, error);
}

SbxBwrapWorktreeNote *
_sbx_bwrap_worktree_note_read (int          sessions_fd,
                               const char  *id,
                               GError     **error)
{
  g_autofree char *name = g_build_filename (id, NAME, NULL);
  g_autoptr(GError) reason = NULL;
  g_autoptr(GBytes) bytes = _sbx_read_beneath (sessions_fd, name, MAX_SIZE, NULL, &reason);
  g_autoptr(GVariant) note = NULL;
  g_autofree char *shown = NULL;
  SbxBwrapWorktreeNote *self;

  if (bytes == NULL)
    {
      if (!g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
        g_propagate_error (error, g_steal_pointer (&reason));
      return NULL;
    }

  note = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (NOTE_TYPE), bytes, FALSE));

  /* It may have been cut by a crash of the machine; then nobody knows whether there is work. */
  if (!g_variant_is_normal_form (note))
    {
      shown = _sbx_path_show (id);
      g_set_error (error, SBX_ERROR, SBX_ERROR_FAILED,
                   _("What is known of the worktree of the session “%s” was damaged, so that it "
                     "stays; look into “worktrees/%s” in libsbx's data directory, and remove it "
                     "together with “sessions/%s”"), shown, shown, shown);
      return NULL;
    }

  self = g_new0 (SbxBwrapWorktreeNote, 1);
  g_variant_get (note, "(^aytt^aysbs)", &self->common_path, &self->device, &self->inode,
                 &self->user_root, &self->base, &self->keep, &self->tree);

  return self;
}

void
_sbx_bwrap_worktree_note_remove (int         sessions_fd,
                                 const char *id)
{
  g_autofree char *name = g_build_filename (id, NAME, NULL);

  unlinkat (sessions_fd, name, 0);
}

void
_sbx_bwrap_worktree_note_free (SbxBwrapWorktreeNote *self)
{
  g_free (self->common_path);
  g_free (self->user_root);
  g_free (self->base);
  g_free (self->tree);
  g_free (self);
}

char *
_sbx_bwrap_worktree_dup_branch (const char *id)
{
  return g_strconcat ("sbx-", id, NULL);
}
