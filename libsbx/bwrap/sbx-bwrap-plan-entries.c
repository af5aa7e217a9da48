/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-plan-builder-private.h"
#include "core/sbx-protection-private.h"
#include "files/sbx-fd-private.h"

#include <glib/gi18n-lib.h>

/*
 * What a resolved reach asks for, as mounts. Which of them changes nothing is found out later, when
 * all are known.
 */

/* Nothing fits in there: what is hidden is not to be written either. */
#define HIDDEN_SIZE (G_GUINT64_CONSTANT (64) * 1024)

SbxBwrapMount *
_sbx_bwrap_builder_add_entry (SbxBwrapBuilder   *self,
                              SbxBwrapMountKind  kind,
                              SbxBwrapOrigin     origin,
                              SbxReachEntry     *entry,
                              const char        *reason)
{
  SbxBwrapMount *mount = _sbx_bwrap_builder_add (self, kind, origin, entry->path, entry->path,
                                                 reason);

  mount->device = entry->device;
  mount->inode = entry->inode;
  mount->is_directory = S_ISDIR (entry->mode);
  mount->entry = g_object_ref (entry);

  return mount;
}

SbxBwrapMount *
_sbx_bwrap_builder_add_seen (SbxBwrapBuilder   *self,
                             SbxBwrapMountKind  kind,
                             SbxBwrapOrigin     origin,
                             const char        *path,
                             int                fd,
                             SbxReachEntry     *entry,
                             const char        *reason)
{
  SbxBwrapMount *mount = _sbx_bwrap_builder_add (self, kind, origin, path, path, reason);
  struct stat st;

  mount->entry = g_object_ref (entry);
  if (fstat (fd, &st) == 0)
    {
      mount->device = st.st_dev;
      mount->inode = st.st_ino;
      mount->is_directory = S_ISDIR (st.st_mode);
    }

  return mount;
}

static void
add_hidden (SbxBwrapBuilder *self,
            SbxReachEntry   *entry,
            const char      *reason)
{
  SbxBwrapMount *mount;

  mount = _sbx_bwrap_builder_add (self, SBX_BWRAP_MOUNT_TMPFS, SBX_BWRAP_ORIGIN_HIDDEN, entry->path,
                                  NULL, reason);
  mount->size = HIDDEN_SIZE;
  mount->is_directory = TRUE;
  mount->entry = g_object_ref (entry);
  mount = _sbx_bwrap_builder_add (self, SBX_BWRAP_MOUNT_REMOUNT_RO, SBX_BWRAP_ORIGIN_HIDDEN,
                                  entry->path, NULL, reason);
  mount->is_directory = TRUE;
  mount->entry = g_object_ref (entry);
}

/* What is not there yet is not made: that is watched for in another way. */
static void
add_protected (SbxBwrapBuilder *self,
               SbxReachEntry   *entry)
{
  if (entry->inode != 0)
    _sbx_bwrap_builder_add_entry (self, SBX_BWRAP_MOUNT_RO_BIND, SBX_BWRAP_ORIGIN_PROTECTED, entry,
                                  N_("what programs on the host would run or follow"));
}

/* Also of what needs no mount of its own. */
static gboolean
is_still_there (const SbxReachEntry  *entry,
                GError              **error)
{
  sbx_autofd int fd = -1;

  if (entry->kind != SBX_REACH_CWD && entry->kind != SBX_REACH_READ &&
      entry->kind != SBX_REACH_WRITE && entry->kind != SBX_REACH_SOCKET)
    return TRUE;

  fd = _sbx_bwrap_open_same (entry->path, entry->device, entry->inode, error);

  return fd >= 0;
}

gboolean
_sbx_bwrap_entries_add (SbxBwrapBuilder  *self,
                        GError          **error)
{
  for (guint i = 0; i < self->entries->len; i++)
    {
      SbxReachEntry *entry = g_ptr_array_index (self->entries, i);

      if (!is_still_there (entry, error))
        return FALSE;

      switch (entry->kind)
        {
        case SBX_REACH_CWD:
          self->plan->cwd = g_strdup (entry->path);
          _sbx_bwrap_builder_add_entry (self, SBX_BWRAP_MOUNT_RO_BIND, SBX_BWRAP_ORIGIN_CWD, entry,
                                        N_("the working directory"));
          break;

        case SBX_REACH_READ:
          _sbx_bwrap_builder_add_entry (self, SBX_BWRAP_MOUNT_RO_BIND, SBX_BWRAP_ORIGIN_READ, entry,
                                        N_("asked for"));
          break;

        case SBX_REACH_WRITE:
          _sbx_bwrap_builder_add_entry (self, SBX_BWRAP_MOUNT_BIND, SBX_BWRAP_ORIGIN_WRITE, entry,
                                        N_("asked for"));
          break;

        case SBX_REACH_SOCKET:
          _sbx_bwrap_builder_add_entry (self, SBX_BWRAP_MOUNT_RO_BIND, SBX_BWRAP_ORIGIN_SOCKET,
                                        entry, N_("a socket that was asked for"));
          break;

        case SBX_REACH_GIT_DIR:
          if (g_cancellable_set_error_if_cancelled (self->cancellable, error) ||
              !_sbx_bwrap_git_dir_add (self, entry, error))
            return FALSE;
          break;

        case SBX_REACH_HIDDEN:
          add_hidden (self, entry, N_("where runs are kept"));
          break;

        case SBX_REACH_PROTECTED:
          if (SBX_PROTECTS (T28))
            add_protected (self, entry);
          break;

        case SBX_REACH_DOMAIN:
        default:
          break;
        }
    }

  return TRUE;
}
