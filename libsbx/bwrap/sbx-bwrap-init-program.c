/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-init-program-private.h"
#include "core/sbx-error.h"
#include "core/sbx-text-private.h"

#include <errno.h>
#include <glib/gi18n-lib.h>
#include <unistd.h>

static gboolean
may_be_run (const char *path)
{
  if (!g_path_is_absolute (path))
    {
      errno = EINVAL;
      return FALSE;
    }

  return access (path, X_OK) == 0;
}

char *
_sbx_bwrap_find_init_program (GError **error)
{
  const char *from_environment = g_getenv ("SBX_INIT");
  g_autofree char *path = from_environment != NULL
                            ? g_strdup (from_environment)
                            : g_build_filename (SBX_LIBEXECDIR, "sbx-init", NULL);
  g_autofree char *quoted = NULL;
  int saved_errno;

  if (may_be_run (path))
    return g_steal_pointer (&path);

  saved_errno = errno;
  quoted = _sbx_text_quote (path);
  g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
               _("The program %s, which every sandbox begins with, cannot be executed: %s. Install "
                 "libsbx, or use it in the environment of “meson devenv”."),
               quoted, g_strerror (saved_errno));

  return NULL;
}

char *
_sbx_bwrap_find_mount_program (GError **error)
{
  const char *from_environment = g_getenv ("SBX_MOUNT");
  const char *init = g_getenv ("SBX_INIT");
  g_autofree char *directory = init != NULL ? g_path_get_dirname (init)
                                            : g_strdup (SBX_LIBEXECDIR);
  g_autofree char *path = from_environment != NULL ? g_strdup (from_environment)
                                                   : g_build_filename (directory, "sbx-mount",
                                                                       NULL);
  g_autofree char *quoted = NULL;
  int saved_errno;

  if (may_be_run (path))
    return g_steal_pointer (&path);

  saved_errno = errno;
  quoted = _sbx_text_quote (path);
  g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
               _("The program %s, which protects files in a running sandbox, cannot be executed: "
                 "%s. Install libsbx, or use it in the environment of “meson devenv”."),
               quoted, g_strerror (saved_errno));

  return NULL;
}
