/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "files/sbx-trust-private.h"

#include "core/sbx-protection-private.h"
#include "files/sbx-path-private.h"

#include <errno.h>
#include <glib/gi18n-lib.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINKS 40

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

static void
push_parts (GQueue     *left,
            const char *path)
{
  g_auto(GStrv) parts = g_strsplit (path, "/", -1);

  for (guint i = g_strv_length (parts); i > 0; i--)
    if (*parts[i - 1] != '\0' && strcmp (parts[i - 1], ".") != 0)
      g_queue_push_head (left, g_strdup (parts[i - 1]));
}

/* TRUE also for what is no link. */
static gboolean
follow (const char  *path,
        GString     *done,
        GQueue      *left,
        guint       *n_links,
        GError     **error)
{
  char target[PATH_MAX];
  const gssize n = readlink (path, target, sizeof target - 1);

  if (n < 0 && errno == EINVAL)
    {
      g_string_assign (done, path);
      return TRUE;
    }

  if (n <= 0 || ++*n_links > MAX_LINKS)
    {
      _sbx_path_error (error, n <= 0 ? errno : ELOOP, path, _("cannot be followed"));
      return FALSE;
    }

  target[n] = '\0';
  if (target[0] == '/')
    g_string_truncate (done, 0);
  push_parts (left, target);

  return TRUE;
}

/* Part by part, since what a link leads through counts as well. @done is without links. */
static gboolean
walk (GString      *done,
      GQueue       *left,
      GPtrArray    *passed,
      GError      **error)
{
  guint n_links = 0;
  char *next;

  if (!check_one ("/", error))
    return FALSE;

  while ((next = g_queue_pop_head (left)) != NULL)
    {
      g_autofree char *part = next;
      g_autofree char *path = NULL;

      if (strcmp (part, "..") == 0)
        {
          const char *slash = strrchr (done->str, '/');

          g_string_truncate (done, slash != NULL ? (gsize) (slash - done->str) : 0);
          continue;
        }

      path = g_strconcat (done->str, "/", part, NULL);
      if (!check_one (path, error) || !follow (path, done, left, &n_links, error))
        return FALSE;

      g_ptr_array_add (passed, g_steal_pointer (&path));
    }

  return TRUE;
}

GPtrArray *
_sbx_trust_check (const char  *path,
                  char       **real_path,
                  GError     **error)
{
  g_autofree char *plain = g_canonicalize_filename (path, "/");
  g_autoptr(GPtrArray) passed = g_ptr_array_new_with_free_func (g_free);
  g_autoptr(GString) done = g_string_new (NULL);
  g_autoptr(GError) reason = NULL;
  GQueue left = G_QUEUE_INIT;
  gboolean trusted;
  struct stat st;

  /* Of what is not there nothing else counts. */
  if (lstat (plain, &st) != 0)
    {
      _sbx_path_error (error, errno, plain, _("cannot be looked at"));
      return NULL;
    }

  push_parts (&left, plain);
  trusted = walk (done, &left, passed, &reason);
  g_queue_clear_full (&left, g_free);

  if (trusted)
    {
      *real_path = g_strdup (done->len > 0 ? done->str : "/");
      return g_steal_pointer (&passed);
    }

  /* Somebody put a link here, and so does not want what else there may be in its place. */
  if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_FOUND) ||
      g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_DIRECTORY))
    _sbx_path_error_code (error, G_IO_ERROR_INVALID_FILENAME, plain,
                          _("is a symbolic link that leads nowhere; remove it"));
  else
    g_propagate_error (error, g_steal_pointer (&reason));

  return NULL;
}
