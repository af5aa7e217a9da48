/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "client/sbx-provider-trust-private.h"

#include "core/sbx-error.h"
#include "core/sbx-text-private.h"

#include <errno.h>
#include <glib/gi18n-lib.h>
#include <limits.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINKS 40

/* A path as it is followed, part by part. */
typedef struct
{
  GString *done;        /* without a link in it; empty for the root */
  GQueue   left;        /* of owned parts */
  guint    n_links;
  char    *workspace;   /* or %NULL */
} Walk;

static void
walk_clear (Walk *walk)
{
  g_string_free (walk->done, TRUE);
  g_queue_clear_full (&walk->left, g_free);
  g_free (walk->workspace);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Walk, walk_clear)

static gboolean
is_within (const char *path,
           const char *directory)
{
  const gsize length = strlen (directory);

  return strncmp (path, directory, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* The home that the system knows, not the one that the environment does. */
static char *
find_home (void)
{
  const long size = sysconf (_SC_GETPW_R_SIZE_MAX);
  const gsize room = size > 0 ? (gsize) size : 16384;
  g_autofree char *buffer = g_malloc (room);
  struct passwd entry;
  struct passwd *found = NULL;

  if (getpwuid_r (geteuid (), &entry, buffer, room, &found) != 0 || found == NULL)
    return NULL;

  return realpath (found->pw_dir, NULL);
}

/* Who works in the home itself has not said which part of it is the work. */
static char *
find_workspace (void)
{
  g_autofree char *current = g_get_current_dir ();
  g_autofree char *real = realpath (current, NULL);
  g_autofree char *home = NULL;

  if (real == NULL || strcmp (real, "/") == 0)
    return NULL;

  home = find_home ();
  if (home != NULL && is_within (home, real))
    return NULL;

  return g_steal_pointer (&real);
}

static void
push_parts (Walk       *walk,
            const char *path)
{
  g_auto(GStrv) parts = g_strsplit (path, "/", -1);

  for (guint i = g_strv_length (parts); i > 0; i--)
    if (*parts[i - 1] != '\0' && strcmp (parts[i - 1], ".") != 0)
      g_queue_push_head (&walk->left, g_strdup (parts[i - 1]));
}

G_GNUC_PRINTF (4, 5)
static gboolean
refuse (GError     **error,
        const char  *whole,
        const char  *path,
        const char  *format,
        ...)
{
  g_autofree char *reason = NULL;
  g_autofree char *quoted_whole = _sbx_text_quote (whole);
  g_autofree char *quoted = _sbx_text_quote (path);
  va_list arguments;

  va_start (arguments, format);
  reason = g_strdup_vprintf (format, arguments);
  va_end (arguments);

  /* Translators: the first is a file, the second is that file or one on the way to it, the last
   * says what is wrong with the second. */
  g_set_error (error, SBX_ERROR, SBX_ERROR_REFUSED, _("%s is not used: %s %s"),
               quoted_whole, quoted, reason);

  return FALSE;
}

static gboolean
check_status (const Walk         *walk,
              const char         *whole,
              const char         *path,
              const struct stat  *status,
              GError            **error)
{
  if (status->st_uid != 0 && status->st_uid != geteuid ())
    return refuse (error, whole, path,
                   _("belongs to another user (%u); have it belong to you or to root"),
                   status->st_uid);

  if (walk->workspace != NULL && is_within (path, walk->workspace))
    return refuse (error, whole, path,
                   _("is in the current directory, where what runs in a sandbox may have put it; "
                     "put it elsewhere, or go to another directory"));

  /* The mode of a link says nothing. */
  if (S_ISLNK (status->st_mode))
    return TRUE;

  /* Nobody would want another /tmp. */
  if ((status->st_mode & (S_IWOTH | S_ISVTX)) == (S_IWOTH | S_ISVTX))
    return refuse (error, whole, path,
                   _("is for everybody to put files in; put this one elsewhere"));

  if ((status->st_mode & S_IWOTH) != 0)
    return refuse (error, whole, path,
                   _("can be changed by everybody; put the file elsewhere, or use "
                     "“chmod o-w”"));

  if ((status->st_mode & S_IWGRP) != 0 && (status->st_uid != 0 || status->st_gid != 0))
    return refuse (error, whole, path,
                   _("can be changed by its group; put the file elsewhere, or use "
                     "“chmod g-w”"));

  return TRUE;
}

static gboolean
follow_link (Walk        *walk,
             const char  *whole,
             const char  *path,
             GError     **error)
{
  char target[PATH_MAX];
  const ssize_t n = readlink (path, target, sizeof target - 1);

  if (n <= 0 || ++walk->n_links > MAX_LINKS)
    return refuse (error, whole, path, _("is a link that leads nowhere; remove it"));

  target[n] = '\0';
  if (target[0] == '/')
    g_string_truncate (walk->done, 0);
  push_parts (walk, target);

  return TRUE;
}

static gboolean
walk_step (Walk        *walk,
           const char  *whole,
           GError     **error)
{
  g_autofree char *part = g_queue_pop_head (&walk->left);
  g_autofree char *path = NULL;
  g_autofree char *quoted = NULL;
  struct stat status;

  if (strcmp (part, "..") == 0)
    {
      const char *slash = strrchr (walk->done->str, '/');

      g_string_truncate (walk->done, slash != NULL ? (gsize) (slash - walk->done->str) : 0);
      return TRUE;
    }

  path = g_strconcat (walk->done->str, "/", part, NULL);
  if (lstat (path, &status) != 0)
    {
      const int saved = errno;

      quoted = _sbx_text_quote (path);
      g_set_error (error, SBX_ERROR,
                   saved == ENOENT || saved == ENOTDIR ? SBX_ERROR_NOT_FOUND : SBX_ERROR_REFUSED,
                   _("%s cannot be looked at: %s"), quoted, g_strerror (saved));
      return FALSE;
    }

  if (!check_status (walk, whole, path, &status, error))
    return FALSE;

  if (S_ISLNK (status.st_mode))
    return follow_link (walk, whole, path, error);

  g_string_assign (walk->done, path);
  return TRUE;
}

gboolean
_sbx_provider_trust (const char  *path,
                     GError     **error)
{
  g_auto(Walk) walk = { g_string_new (NULL), G_QUEUE_INIT, 0, find_workspace () };
  struct stat status;

  g_assert (g_path_is_absolute (path));

  push_parts (&walk, path);
  if (stat ("/", &status) == 0 && !check_status (&walk, path, "/", &status, error))
    return FALSE;

  while (!g_queue_is_empty (&walk.left))
    if (!walk_step (&walk, path, error))
      return FALSE;

  return TRUE;
}
