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

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>

/*
 * Opens what is bound. Its path was real when it was resolved, and somebody who can write a part of
 * it, another sandbox perhaps, may have put something else there since.
 */

static void
refuse_replaced (const char  *path,
                 GError     **error)
{
  g_autofree char *shown = _sbx_path_show (path);

  g_set_error (error, SBX_ERROR, SBX_ERROR_REFUSED,
               _("“%s” was replaced since it was resolved; look at what is there now, and try "
                 "again"), shown);
}

/* For want of descriptors, say, of which nobody else is the cause. */
static void
refuse_unopened (const char   *path,
                 int           error_number,
                 const GError *reason,
                 GError      **error)
{
  g_autofree char *shown = _sbx_path_show (path);

  if (reason == NULL)
    g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED, "%s: %s", shown,
                 g_strerror (error_number));
  else if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_FOUND) ||
           g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_DIRECTORY) ||
           g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_TOO_MANY_LINKS))
    refuse_replaced (path, error);
  else
    g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED, "%s", reason->message);
}

int
_sbx_bwrap_open_same (const char  *path,
                      dev_t        device,
                      ino_t        inode,
                      GError     **error)
{
  sbx_autofd int root_fd = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  const int root_error = errno;
  g_autoptr(GError) reason = NULL;
  sbx_autofd int fd = -1;
  struct stat st;

  if (!SBX_PROTECTS (T9))
    {
      fd = open (path, O_PATH | O_CLOEXEC);
      if (fd >= 0)
        return g_steal_fd (&fd);
    }
  else if (root_fd >= 0)
    {
      fd = _sbx_open_beneath (root_fd, path + 1, O_PATH, 0, &reason);
      if (fd >= 0 && fstat (fd, &st) == 0 && st.st_dev == device && st.st_ino == inode)
        return g_steal_fd (&fd);
    }

  if (fd >= 0 || (root_fd >= 0 && reason == NULL))
    refuse_replaced (path, error);
  else
    refuse_unopened (path, root_error, reason, error);

  return -1;
}

/* What is there now: of what is bound on itself, nothing else can come into the sandbox by that. -1
 * without an error: it is a link, which cannot be bound. */
static int
open_present (SbxBwrapMount  *mount,
              GError        **error)
{
  sbx_autofd int root_fd = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  const int root_error = errno;
  g_autoptr(GError) reason = NULL;
  sbx_autofd int fd = root_fd >= 0 ? _sbx_open_beneath (root_fd, mount->source + 1,
                                                        O_PATH | O_NOFOLLOW, 0, &reason)
                                   : -1;
  struct stat st;

  if (fd < 0 && mount->origin == SBX_BWRAP_ORIGIN_PROTECTED &&
      g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_TOO_MANY_LINKS))
    return -1;

  if (fd < 0)
    {
      refuse_unopened (mount->source, root_error, reason, error);
      return -1;
    }

  if (fstat (fd, &st) < 0)
    {
      refuse_replaced (mount->source, error);
      return -1;
    }

  if (S_ISLNK (st.st_mode) && mount->origin == SBX_BWRAP_ORIGIN_PROTECTED)
    return -1;

  if (S_ISLNK (st.st_mode) ||
      (mount->origin == SBX_BWRAP_ORIGIN_PIN && !S_ISDIR (st.st_mode)))
    {
      refuse_replaced (mount->source, error);
      return -1;
    }

  mount->device = st.st_dev;
  mount->inode = st.st_ino;
  mount->is_directory = S_ISDIR (st.st_mode);

  return g_steal_fd (&fd);
}

static gboolean
needs_source (const SbxBwrapMount *mount)
{
  if ((mount->kind != SBX_BWRAP_MOUNT_BIND && mount->kind != SBX_BWRAP_MOUNT_RO_BIND) ||
      mount->source_fd >= 0)
    return FALSE;

  switch (mount->origin)
    {
    case SBX_BWRAP_ORIGIN_CWD:
    case SBX_BWRAP_ORIGIN_READ:
    case SBX_BWRAP_ORIGIN_WRITE:
    case SBX_BWRAP_ORIGIN_SOCKET:
    case SBX_BWRAP_ORIGIN_PROTECTED:
    case SBX_BWRAP_ORIGIN_PIN:
      return TRUE;

    case SBX_BWRAP_ORIGIN_REPOSITORY:
      /* Placeholders are yet to be made. */
      return mount->inode != 0;

    case SBX_BWRAP_ORIGIN_BASE:
    case SBX_BWRAP_ORIGIN_SESSION:
    case SBX_BWRAP_ORIGIN_TOOLCHAIN:
    case SBX_BWRAP_ORIGIN_HIDDEN:
    default:
      return FALSE;
    }
}

gboolean
_sbx_bwrap_plan_open (SbxBwrapPlan  *plan,
                      GError       **error)
{
  guint i = 0;

  while (i < plan->mounts->len)
    {
      SbxBwrapMount *mount = g_ptr_array_index (plan->mounts, i);
      const gboolean by_itself = mount->origin == SBX_BWRAP_ORIGIN_PROTECTED ||
                                 mount->origin == SBX_BWRAP_ORIGIN_PIN;
      g_autoptr(GError) reason = NULL;
      sbx_autofd int fd = -1;
      struct stat st;

      if (!needs_source (mount))
        {
          i++;
          continue;
        }

      fd = by_itself ? open_present (mount, &reason)
                     : _sbx_bwrap_open_same (mount->source, mount->device, mount->inode, &reason);
      if (reason != NULL)
        {
          g_propagate_error (error, g_steal_pointer (&reason));
          return FALSE;
        }

      if (fd < 0)
        {
          g_ptr_array_remove_index (plan->mounts, i);
          continue;
        }

      if (fstat (fd, &st) == 0)
        {
          mount->device = st.st_dev;
          mount->inode = st.st_ino;
        }

      /* Those that are late are looked up again, inside. */
      if (!mount->late)
        mount->source_fd = g_steal_fd (&fd);
      i++;
    }

  return TRUE;
}
