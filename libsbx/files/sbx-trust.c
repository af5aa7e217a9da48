/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "files/sbx-trust-private.h"

#include "core/sbx-protection-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-path-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static gboolean
is_safe (const struct stat *st)
{
  if (!SBX_PROTECTS (F2))
    return TRUE;

  if (st->st_uid != 0 && st->st_uid != geteuid ())
    return FALSE;

  /* The mode of a link says nothing. */
  if (S_ISLNK (st->st_mode) || (st->st_mode & (S_IWGRP | S_IWOTH)) == 0)
    return TRUE;

  return S_ISDIR (st->st_mode) && (st->st_mode & S_ISVTX) != 0;
}

static gboolean
check_one (const char  *path,
           GError     **error)
{
  g_autofree char *shown = NULL;
  struct stat st;

  if (lstat (path, &st) != 0)
    {
      _sbx_path_error (error, errno, path, _("cannot be looked at"));
      return FALSE;
    }

  if (is_safe (&st))
    return TRUE;

  shown = _sbx_path_show (path);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED,
               _("“%s” belongs to somebody else, or others can write it; “chmod go-w” and “chown” "
                 "make it yours alone"), shown);
  return FALSE;
}

/* @path and all that is above it, by these very names. */
static gboolean
check_names (const char  *path,
             GError     **error)
{
  g_autofree char *current = g_strdup (path);
  char *slash = current;

  if (!check_one ("/", error))
    return FALSE;

  while ((slash = strchr (slash + 1, '/')) != NULL)
    {
      *slash = '\0';
      if (!check_one (current, error))
        return FALSE;

      *slash = '/';
    }

  return check_one (current, error);
}

gboolean
_sbx_trust_check (const char  *path,
                  char       **real_path,
                  GError     **error)
{
  g_autofree char *plain = g_canonicalize_filename (path, "/");
  g_autofree char *found = NULL;
  sbx_autofd int fd = -1;
  struct stat st;

  /* Of what is not there nothing else counts. */
  if (lstat (plain, &st) != 0)
    {
      _sbx_path_error (error, errno, plain, _("cannot be looked at"));
      return FALSE;
    }

  if (!check_names (plain, error))
    return FALSE;

  fd = _sbx_open_real (plain, O_PATH, &found, error);
  if (fd < 0 || (strcmp (found, plain) != 0 && !check_names (found, error)))
    return FALSE;

  if (real_path != NULL)
    *real_path = g_steal_pointer (&found);

  return TRUE;
}
