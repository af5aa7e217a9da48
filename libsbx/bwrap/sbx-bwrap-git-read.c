/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-git-private.h"

#include "core/sbx-error.h"
#include "core/sbx-text-private.h"
#include "files/sbx-open-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* Where a reference of git's points. All of it may have been written by a sandbox. */

#define MAX_REF 4096
#define MAX_PACKED (256 * 1024 * 1024)
#define MAX_LINKS 5
#define SHA1_LENGTH 40
#define SHA256_LENGTH 64

gboolean
_sbx_bwrap_git_is_object_name (const char *text)
{
  const gsize length = strspn (text, "0123456789abcdef");

  return text[length] == '\0' && (length == SHA1_LENGTH || length == SHA256_LENGTH);
}

static char *
read_first_line (int            dir_fd,
                 const char    *path,
                 GCancellable  *cancellable,
                 GError       **error)
{
  g_autoptr(GBytes) bytes = _sbx_read_beneath (dir_fd, path, MAX_REF, cancellable, error);
  const char *data;
  char *line;
  gsize size;

  if (bytes == NULL)
    return NULL;

  data = g_bytes_get_data (bytes, &size);
  line = g_strndup (data, size);
  line[strcspn (line, "\n")] = '\0';

  return g_strchomp (line);
}

/* The lines are sorted, but nobody has to rely on that. */
static char *
find_packed (int           common_fd,
             const char   *ref,
             GCancellable *cancellable)
{
  g_autoptr(GBytes) bytes = _sbx_read_beneath (common_fd, "packed-refs", MAX_PACKED, cancellable,
                                               NULL);
  const gsize ref_length = strlen (ref);
  const char *data;
  const char *end;
  gsize size = 0;

  data = bytes != NULL ? g_bytes_get_data (bytes, &size) : NULL;

  for (end = data != NULL ? data + size : NULL; data != NULL && data < end;)
    {
      const char *newline = memchr (data, '\n', (gsize) (end - data));
      const char *line_end = newline != NULL ? newline : end;
      const char *space = memchr (data, ' ', (gsize) (line_end - data));

      if (space != NULL && (gsize) (line_end - space - 1) == ref_length &&
          memcmp (space + 1, ref, ref_length) == 0)
        return g_strndup (data, (gsize) (space - data));

      data = line_end + 1;
    }

  return NULL;
}

static void
set_unreadable (GError     **error,
                const char  *ref)
{
  g_autofree char *quoted = _sbx_text_quote (ref);

  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
               _("The repository has nothing at %s that a worktree could begin with; make a first "
                 "commit, or check out a branch that has one"), quoted);
}

/* HEAD and what is no branch lies with the worktree, the rest is common. */
static char *
resolve (int            git_fd,
         int            common_fd,
         const char    *name,
         GCancellable  *cancellable,
         GError       **error)
{
  g_autofree char *ref = g_strdup (name);

  for (guint i = 0; i < MAX_LINKS; i++)
    {
      const int dir_fd = g_str_has_prefix (ref, "refs/") ? common_fd : git_fd;
      g_autofree char *line = read_first_line (dir_fd, ref, cancellable, NULL);

      if (line == NULL && dir_fd == common_fd)
        line = find_packed (common_fd, ref, cancellable);

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return NULL;

      if (line == NULL)
        break;

      if (_sbx_bwrap_git_is_object_name (line))
        return g_steal_pointer (&line);

      if (!g_str_has_prefix (line, "ref:"))
        break;

      g_free (ref);
      ref = g_strdup (g_strchug (line + strlen ("ref:")));
      if (!g_str_has_prefix (ref, "refs/"))
        break;
    }

  set_unreadable (error, ref);

  return NULL;
}

char *
_sbx_bwrap_git_read_head (int            git_fd,
                          int            common_fd,
                          GCancellable  *cancellable,
                          GError       **error)
{
  return resolve (git_fd, common_fd, "HEAD", cancellable, error);
}

char *
_sbx_bwrap_git_read_branch (int            common_fd,
                            const char    *branch,
                            GCancellable  *cancellable,
                            GError       **error)
{
  g_autofree char *ref = g_strconcat ("refs/heads/", branch, NULL);

  return resolve (common_fd, common_fd, ref, cancellable, error);
}
