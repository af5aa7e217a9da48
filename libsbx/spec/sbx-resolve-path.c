/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-resolve-path-private.h"

#include "core/sbx-text-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-path-private.h"

#include <fcntl.h>
#include <glib/gi18n-lib.h>

/* One path that was asked for, made real, or refused by name. */

gboolean
_sbx_resolve_fail (GError     **error,
                   SbxError     code,
                   const char  *label,
                   const char  *path,
                   const char  *what)
{
  g_autofree char *shown = _sbx_path_show (path);

  g_set_error (error, SBX_ERROR, code, _("%s: “%s” %s"), label, shown, what);
  return FALSE;
}

static const char *
get_field (SbxReachKind kind)
{
  switch (kind)
    {
    case SBX_REACH_CWD:
      return "cwd";
    case SBX_REACH_READ:
      return "read";
    case SBX_REACH_WRITE:
      return "write";
    case SBX_REACH_SOCKET:
      return "sockets";
    case SBX_REACH_DOMAIN:
    case SBX_REACH_GIT_DIR:
    case SBX_REACH_HIDDEN:
    case SBX_REACH_PROTECTED:
    default:
      g_assert_not_reached ();
    }
}

static SbxRootsUse
get_use (SbxReachKind kind)
{
  switch (kind)
    {
    case SBX_REACH_WRITE:
      return SBX_ROOTS_WRITE;
    case SBX_REACH_SOCKET:
      return SBX_ROOTS_SOCKET;
    case SBX_REACH_CWD:
    case SBX_REACH_READ:
    case SBX_REACH_DOMAIN:
    case SBX_REACH_GIT_DIR:
    case SBX_REACH_HIDDEN:
    case SBX_REACH_PROTECTED:
    default:
      return SBX_ROOTS_READ;
    }
}

static char *
make_source (SbxReachKind  kind,
             guint         index,
             const char   *asked)
{
  g_autofree char *escaped = _sbx_text_escape (asked);

  return kind == SBX_REACH_CWD ? g_strdup_printf ("cwd: \"%s\"", escaped)
                               : g_strdup_printf ("%s[%u]: \"%s\"", get_field (kind), index,
                                                  escaped);
}

/* From “/” on, but not looked up yet. */
static char *
expand (const SbxRoots  *roots,
        const char      *field,
        const char      *asked,
        const char      *base,
        GError         **error)
{
  if (asked[0] == '\0')
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                   _("%s: an empty path; “.” is the working directory"), field);
      return NULL;
    }

  if (asked[0] == '/')
    return g_strdup (asked);

  if (asked[0] == '~' && (asked[1] == '\0' || asked[1] == '/'))
    return g_strconcat (roots->home, asked + 1, NULL);

  if (asked[0] == '~')
    _sbx_resolve_fail (error, SBX_ERROR_INVALID, field, asked,
                       _("is not expanded: only “~” and “~/” are, to your home directory; write "
                         "the path from “/” on, or “./~…” for a name that begins so"));
  else if (base == NULL)
    _sbx_resolve_fail (error, SBX_ERROR_INVALID, field, asked,
                       _("is relative; an absolute path is needed"));
  else
    return g_build_filename (base, asked, NULL);

  return NULL;
}

static gboolean
explain_failure (const char    *field,
                 const char    *asked,
                 const GError  *reason,
                 GError       **error)
{
  if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    return _sbx_resolve_fail (error, SBX_ERROR_NOT_FOUND, field, asked,
                              _("does not exist; make it first, or name another one"));

  if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_DIRECTORY))
    return _sbx_resolve_fail (error, SBX_ERROR_NOT_FOUND, field, asked,
                              _("does not exist: a part of it is not a directory"));

  if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_TOO_MANY_LINKS))
    return _sbx_resolve_fail (error, SBX_ERROR_INVALID, field, asked,
                              _("leads through a loop of symbolic links; correct these, or name "
                                "another path"));

  if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_FILENAME_TOO_LONG))
    return _sbx_resolve_fail (error, SBX_ERROR_INVALID, field, asked,
                              _("is longer than a path can be; name a directory above it"));

  if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED))
    return _sbx_resolve_fail (error, SBX_ERROR_NOT_ENFORCEABLE, field, asked,
                              _("cannot be looked at: a directory above it is not open to you"));

  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID, "%s: %s", field, reason->message);
  return FALSE;
}

static gboolean
check_kind (SbxReachKind        kind,
            const char         *path,
            const struct stat  *st,
            GError            **error)
{
  const char *field = get_field (kind);

  if (kind == SBX_REACH_SOCKET)
    return S_ISSOCK (st->st_mode) ||
           _sbx_resolve_fail (error, SBX_ERROR_INVALID, field, path,
                              _("is not a socket; name one that a program listens on"));

  if (kind == SBX_REACH_CWD && !S_ISDIR (st->st_mode))
    return _sbx_resolve_fail (error, SBX_ERROR_INVALID, field, path, _("is not a directory"));

  if (S_ISSOCK (st->st_mode))
    return _sbx_resolve_fail (error, SBX_ERROR_INVALID, field, path,
                              _("is neither a directory nor a regular file, but a socket; name it "
                                "in “sockets”"));

  return S_ISDIR (st->st_mode) || S_ISREG (st->st_mode) ||
         _sbx_resolve_fail (error, SBX_ERROR_INVALID, field, path,
                            _("is neither a directory nor a regular file"));
}

static gboolean
check (const SbxRoots       *roots,
       const SbxReachEntry  *entry,
       int                   fd,
       const struct stat    *st,
       GError              **error)
{
  const char *field = get_field (entry->kind);
  const char *path = entry->path;

  if (!check_kind (entry->kind, path, st, error) ||
      !_sbx_roots_check (roots, get_use (entry->kind), field, path, st, error))
    return FALSE;

  if (entry->kind == SBX_REACH_SOCKET)
    return _sbx_resolve_check_escape (roots, path, st, error) &&
           _sbx_resolve_check_writable (field, path, fd, st, error);

  return _sbx_resolve_check_readable (field, path, fd, st, error) &&
         (entry->kind != SBX_REACH_WRITE ||
          _sbx_resolve_check_writable (field, path, fd, st, error));
}

SbxReachEntry *
_sbx_resolve_path (const SbxRoots  *roots,
                   SbxReachKind     kind,
                   guint            index,
                   const char      *asked,
                   const char      *base,
                   GError         **error)
{
  g_autoptr(SbxReachEntry) entry = NULL;
  g_autoptr(GError) reason = NULL;
  g_autofree char *path = expand (roots, get_field (kind), asked, base, error);
  g_autofree char *real_path = NULL;
  g_autofree char *source = NULL;
  sbx_autofd int fd = -1;
  struct stat st;

  if (path == NULL)
    return NULL;

  fd = _sbx_open_real (path, O_PATH, &real_path, &reason);
  if (fd < 0)
    {
      explain_failure (get_field (kind), asked, reason, error);
      return NULL;
    }

  if (fstat (fd, &st) < 0)
    {
      _sbx_resolve_fail (error, SBX_ERROR_FAILED, get_field (kind), asked,
                         _("cannot be looked at"));
      return NULL;
    }

  source = make_source (kind, index, asked);
  entry = _sbx_reach_entry_new (kind, real_path, source);
  entry->writable = kind == SBX_REACH_WRITE;
  entry->device = st.st_dev;
  entry->inode = st.st_ino;
  entry->mode = st.st_mode;

  return check (roots, entry, fd, &st, error) ? g_steal_pointer (&entry) : NULL;
}
