/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-resolve-protected-private.h"
#include "spec/sbx-resolve-private.h"

#include "core/sbx-error.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-path-private.h"

#include <dirent.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Links to what programs outside run or follow. Whoever can replace one of them, or what it leads
 * to, decides what is run: so each one on the way counts, and the end.
 */

#define MAX_LINKS 40      /* on one way, as the kernel has it */
#define MAX_DEPTH 3       /* in a protected directory: commands of agents have directories */
#define MAX_LISTED 65536  /* in all protected directories */

/* What lies in a protected directory is read-only with it. */
static gboolean
is_covered (SbxProtect *self,
            const char *path)
{
  g_autofree char *rest = g_strdup (path);
  char *slash;

  while ((slash = strrchr (rest, '/')) != NULL && slash != rest)
    {
      *slash = '\0';
      if (g_hash_table_contains (self->seen, rest))
        return TRUE;
    }

  return FALSE;
}

static gboolean
add_link (SbxProtect  *self,
          const char  *path,
          const char  *source,
          GError     **error)
{
  SbxReachEntry *entry;

  return !_sbx_protect_is_writable (self, path) || is_covered (self, path) ||
         _sbx_protect_insert (self, path, source, &entry, error);
}

static void
drop_last (GString *path)
{
  const char *slash = strrchr (path->str, '/');

  g_string_truncate (path, slash != NULL ? slash - path->str : 0);
}

/* Where @path leads; the end of it that is not there stays as it is written. %NULL without an
 * error: nowhere. */
static char *
walk (SbxProtect  *self,
      const char  *path,
      const char  *source,
      GError     **error)
{
  g_autoptr(GString) real = g_string_new (NULL);
  g_autofree char *rest = g_strdup (path);
  char *name = rest;
  guint n_links = 0;

  while (*(name += strspn (name, "/")) != '\0')
    {
      const gsize before = real->len;
      char *next = name + strcspn (name, "/");
      g_autofree char *text = NULL;
      g_autofree char *old = NULL;

      if (next == name + 1 && *name == '.')
        {
          name = next;
          continue;
        }
      if (next == name + 2 && strncmp (name, "..", 2) == 0)
        {
          drop_last (real);
          name = next;
          continue;
        }

      g_string_append_c (real, '/');
      g_string_append_len (real, name, next - name);
      name = next;

      text = g_file_read_link (real->str, NULL);
      if (text == NULL)
        continue;
      if (++n_links > MAX_LINKS)
        return NULL;
      if (!add_link (self, real->str, source, error))
        return NULL;

      g_string_truncate (real, *text == '/' ? 0 : before);
      old = g_steal_pointer (&rest);
      rest = g_strconcat (text, "/", name, NULL);
      name = rest;
    }

  return g_strdup (real->len > 0 ? real->str : "/");
}

static gboolean
follow (SbxProtect  *self,
        const char  *path,
        const char  *source,
        gboolean     inside,
        GError     **error)
{
  g_autofree char *shown = _sbx_path_show (path);
  g_autofree char *target_source = g_strdup_printf (_("what “%s” leads to"), shown);
  g_autoptr(GError) reason = NULL;
  g_autofree char *target = walk (self, path, source, &reason);

  if (reason != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&reason));
      return FALSE;
    }

  if (target == NULL || !_sbx_protect_is_writable (self, target))
    return TRUE;

  /* A link to all that is worked in does not make that read-only. */
  if (inside && (is_covered (self, target) || _sbx_path_is_below (path, target)))
    return TRUE;

  return _sbx_protect_add (self, target, target_source, error);
}

gboolean
_sbx_protect_follow (SbxProtect  *self,
                     const char  *path,
                     const char  *source,
                     GError     **error)
{
  return follow (self, path, source, FALSE, error);
}

static gboolean
set_too_many (const char  *directory,
              GError     **error)
{
  g_autofree char *shown = _sbx_path_show (directory);

  g_set_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE,
               _("“%s” and other directories that programs outside run or follow have more than "
                 "%d files; ask to write narrower paths"), shown, MAX_LISTED);
  return FALSE;
}

static gboolean
follow_inside (SbxProtect  *self,
               const char  *path,
               GError     **error)
{
  g_autofree char *shown = _sbx_path_show (path);
  g_autofree char *source = g_strdup_printf (_("on the way from “%s”"), shown);

  return follow (self, path, source, TRUE, error);
}

static gboolean
list_links (SbxProtect  *self,
            int          dir_fd,
            const char  *name,
            const char  *path,
            guint        depth,
            GError     **error)
{
  sbx_autofd int fd = openat (dir_fd, name,
                              O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  DIR *dir = fd >= 0 ? fdopendir (fd) : NULL;
  struct dirent *entry;
  gboolean ok = TRUE;

  /* What cannot be listed is empty. */
  if (dir == NULL)
    return TRUE;

  g_steal_fd (&fd);

  while (ok && (entry = readdir (dir)) != NULL)
    {
      g_autofree char *child = NULL;
      unsigned char type = entry->d_type;
      struct stat st;

      if (strcmp (entry->d_name, ".") == 0 || strcmp (entry->d_name, "..") == 0)
        continue;
      if (++self->n_listed > MAX_LISTED)
        {
          ok = set_too_many (path, error);
          break;
        }

      if (type == DT_UNKNOWN &&
          fstatat (dirfd (dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        type = IFTODT (st.st_mode);

      if (type == DT_REG && self->lenient == 0 &&
          fstatat (dirfd (dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_nlink > 1)
        {
          child = g_build_filename (path, entry->d_name, NULL);
          ok = _sbx_protect_check_links (self, child, &st, error);
          continue;
        }

      if (type != DT_LNK && (type != DT_DIR || depth == 0))
        continue;

      child = g_build_filename (path, entry->d_name, NULL);
      ok = type == DT_LNK ? follow_inside (self, child, error)
                          : list_links (self, dirfd (dir), entry->d_name, child, depth - 1, error);
    }

  closedir (dir);
  return ok;
}

/* Whole git directories, with thousands of objects. Their hooks are looked at one by one. */
static gboolean
is_modules (const char *directory)
{
  g_autofree char *parent = g_path_get_dirname (directory);
  g_autofree char *head = g_build_filename (parent, "HEAD", NULL);
  struct stat st;

  return g_str_has_suffix (directory, "/modules") && lstat (head, &st) == 0;
}

gboolean
_sbx_protect_add_links (SbxProtect  *self,
                        const char  *directory,
                        GError     **error)
{
  return is_modules (directory) ||
         list_links (self, AT_FDCWD, directory, directory, MAX_DEPTH, error);
}
