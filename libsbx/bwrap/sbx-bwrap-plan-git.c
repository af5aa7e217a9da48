/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-plan-builder-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "spec/sbx-resolve-private.h"

#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>

/* A git directory of the reach, as the mode for git says. */

#define HIDDEN_SIZE (G_GUINT64_CONSTANT (64) * 1024)
#define HIDDEN_REASON N_("git was not asked for")

static SbxBwrapMount *
add_hidden (SbxBwrapBuilder   *self,
            SbxReachEntry     *entry,
            SbxBwrapMountKind  kind,
            const char        *path)
{
  SbxBwrapMount *mount = _sbx_bwrap_builder_add (self, kind, SBX_BWRAP_ORIGIN_HIDDEN, path, NULL,
                                                 HIDDEN_REASON);

  mount->entry = g_object_ref (entry);
  mount->is_directory = kind != SBX_BWRAP_MOUNT_MASK;
  if (kind == SBX_BWRAP_MOUNT_TMPFS)
    mount->size = HIDDEN_SIZE;

  return mount;
}

/* The file that leads from a working tree that may be written to its git directory. */
static int
open_pointer (SbxBwrapBuilder *self,
              SbxReachEntry   *entry,
              char           **path)
{
  sbx_autofd int root_fd = -1;
  sbx_autofd int fd = -1;
  struct stat st;

  if (entry->worktree == NULL || entry->git_part == SBX_GIT_PART_COMMON)
    return -1;

  *path = g_build_filename (entry->worktree, ".git", NULL);
  root_fd = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  fd = _sbx_open_beneath (root_fd, *path + 1, O_PATH | O_NOFOLLOW, 0, NULL);

  return fd >= 0 && fstat (fd, &st) == 0 && S_ISREG (st.st_mode) ? g_steal_fd (&fd) : -1;
}

static void
hide (SbxBwrapBuilder *self,
      SbxReachEntry   *entry)
{
  g_autofree char *pointer = NULL;
  sbx_autofd int fd = open_pointer (self, entry, &pointer);
  struct stat st;

  add_hidden (self, entry, SBX_BWRAP_MOUNT_TMPFS, entry->path);
  add_hidden (self, entry, SBX_BWRAP_MOUNT_REMOUNT_RO, entry->path);
  if (fd >= 0 && fstat (fd, &st) == 0)
    {
      SbxBwrapMount *mask = add_hidden (self, entry, SBX_BWRAP_MOUNT_MASK, pointer);

      mask->device = st.st_dev;
      mask->inode = st.st_ino;
    }
}

/* What leads to the directory must stay what it is. */
static void
pin_pointer (SbxBwrapBuilder *self,
             SbxReachEntry   *entry)
{
  g_autofree char *path = NULL;
  sbx_autofd int fd = open_pointer (self, entry, &path);

  if (fd >= 0 && _sbx_entries_is_writable (self->entries, entry->worktree))
    _sbx_bwrap_builder_add_seen (self, SBX_BWRAP_MOUNT_RO_BIND, SBX_BWRAP_ORIGIN_REPOSITORY, path,
                                 fd, entry, N_("what git on the host would follow"));
}

gboolean
_sbx_bwrap_git_dir_add (SbxBwrapBuilder  *self,
                        SbxReachEntry    *entry,
                        GError          **error)
{
  const SbxGitMode mode = sbx_reach_get_git_mode (self->input->reach);
  sbx_autofd int fd = -1;

  if (mode == SBX_GIT_MODE_NONE)
    {
      hide (self, entry);
      return TRUE;
    }

  if (mode == SBX_GIT_MODE_FULL && entry->writable)
    {
      _sbx_bwrap_builder_add_entry (self, SBX_BWRAP_MOUNT_BIND, SBX_BWRAP_ORIGIN_WRITE, entry,
                                    N_("the git directory of what may be written"));
      return TRUE;
    }

  if (!entry->writable)
    {
      _sbx_bwrap_builder_add_entry (self, SBX_BWRAP_MOUNT_RO_BIND, SBX_BWRAP_ORIGIN_REPOSITORY,
                                    entry, N_("the git directory of what was asked for"));
      pin_pointer (self, entry);
      return TRUE;
    }

  fd = _sbx_bwrap_open_same (entry->path, entry->device, entry->inode, error);

  if (fd < 0 || !_sbx_bwrap_repository_guard (self, fd, entry, error))
    return FALSE;

  pin_pointer (self, entry);
  return TRUE;
}
