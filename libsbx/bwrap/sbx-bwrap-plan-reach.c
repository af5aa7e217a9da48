/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-plan-builder-private.h"
#include "bwrap/sbx-bwrap-user-dirs-private.h"
#include "core/sbx-error.h"
#include "core/sbx-protection-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-path-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

/*
 * Resolves what was asked for, and refuses what no sandbox may have. Everything is compared by
 * components of real paths, and by device and inode as well, for trees that are mounted twice.
 */

#define MAX_ANCESTORS 4096

void
_sbx_bwrap_reach_path_free (SbxBwrapReachPath *self)
{
  _sbx_clear_fd (&self->fd);
  g_free (self->path);
  g_free (self);
}

/* @what is translated: what is wrong with @path, and what to do. */
static gboolean
refuse (GError     **error,
        SbxError     code,
        const char  *field,
        const char  *path,
        const char  *what)
{
  g_autofree char *shown = _sbx_path_show (path);

  g_set_error (error, SBX_ERROR, code, _("%s: “%s” %s"), field, shown, what);
  return FALSE;
}

/* Whether @ancestor, whatever its name, is @path or holds it. */
static gboolean
holds_by_inode (const char        *path,
                const struct stat *ancestor)
{
  g_autofree char *current = g_strdup (path);
  guint i;

  for (i = 0; i < MAX_ANCESTORS; i++)
    {
      struct stat st;
      char *slash;

      if (lstat (current, &st) == 0 && st.st_dev == ancestor->st_dev &&
          st.st_ino == ancestor->st_ino)
        return TRUE;

      slash = strrchr (current, '/');
      if (slash == NULL || strcmp (current, "/") == 0)
        return FALSE;

      slash[slash == current ? 1 : 0] = '\0';
    }

  return FALSE;
}

/* @path is @tree or below it, or @tree is below @path. */
static void
compare_with_tree (const char *path,
                   const char *tree,
                   gboolean   *is_inside,
                   gboolean   *contains)
{
  struct stat path_st, tree_st;

  *is_inside = _sbx_bwrap_path_is_below (path, tree);
  *contains = _sbx_bwrap_path_is_below (tree, path);

  if (!*is_inside && stat (tree, &tree_st) == 0)
    *is_inside = holds_by_inode (path, &tree_st);

  if (!*contains && stat (path, &path_st) == 0 && S_ISDIR (path_st.st_mode))
    *contains = holds_by_inode (tree, &path_st);
}

static gboolean
check_system (const char  *field,
              const char  *path,
              GError     **error)
{
  static const char * const own[] = { "/proc", "/sys", "/dev", "/run", "/sandbox" };
  static const char * const temporary[] = { "/tmp", "/var/tmp", "/var" };
  gsize i;

  if (strcmp (path, "/") == 0)
    return refuse (error, SBX_ERROR_REFUSED, field, path,
                   _("is the whole file system, which no sandbox may have; name the "
                     "directories that are needed"));

  for (i = 0; i < G_N_ELEMENTS (own); i++)
    if (_sbx_bwrap_path_is_below (path, own[i]))
      return refuse (error, SBX_ERROR_REFUSED, field, path,
                     _("cannot be given: a sandbox has its own /proc, /sys, /dev, /run and "
                       "/sandbox"));

  for (i = 0; i < G_N_ELEMENTS (temporary); i++)
    if (strcmp (path, temporary[i]) == 0)
      return refuse (error, SBX_ERROR_REFUSED, field, path,
                     _("cannot be given: a sandbox has its own; name the directory below it "
                       "that is needed"));

  return TRUE;
}

gboolean
_sbx_bwrap_reach_check (SbxBwrapBuilder  *self,
                        const char       *field,
                        const char       *path,
                        GError          **error)
{
  gboolean is_inside, contains;
  gboolean contains_account = FALSE;

  if (!check_system (field, path, error))
    return FALSE;

  compare_with_tree (path, self->home, &is_inside, &contains);
  if (self->account_home != NULL)
    compare_with_tree (path, self->account_home, &is_inside, &contains_account);
  if (contains || contains_account)
    return refuse (error, SBX_ERROR_REFUSED, field, path,
                   _("is or contains the home directory, with every key and token in it; "
                     "name the project directory that is needed"));

  if (self->input->own_path != NULL && _sbx_bwrap_path_is_below (path, self->input->own_path))
    return TRUE;

  compare_with_tree (path, self->data_path, &is_inside, &contains);
  if (is_inside || contains)
    return refuse (error, SBX_ERROR_REFUSED, field, path,
                   _("overlaps the directory where the sandboxes themselves are kept; name "
                     "another one"));

  return TRUE;
}

static gboolean
is_in_group (gid_t gid)
{
  gid_t groups[NGROUPS_MAX];
  const int n = getgroups (G_N_ELEMENTS (groups), groups);
  int i;

  if (getegid () == gid)
    return TRUE;

  for (i = 0; i < n; i++)
    if (groups[i] == gid)
      return TRUE;

  return FALSE;
}

/* What @st's mode lets this user do without any capability, as inside. */
static gboolean
allows_without_capabilities (const struct stat *st,
                             int                access_mode)
{
  const mode_t wanted = (mode_t) access_mode;
  mode_t mode = st->st_mode;

  if (st->st_uid == geteuid ())
    mode >>= 6;
  else if (is_in_group (st->st_gid))
    mode >>= 3;

  return (mode & wanted) == wanted;
}

/* This runs in worker threads, where the answer of getpwuid() would be shared. */
static char *
dup_user_name (uid_t uid)
{
  char buffer[4096];
  struct passwd entry;
  struct passwd *found = NULL;

  if (getpwuid_r (uid, &entry, buffer, sizeof buffer, &found) == 0 && found != NULL)
    return g_strdup (found->pw_name);

  return g_strdup_printf ("%u", (guint) uid);
}

/* An access control list may say more than the mode: asked of the kernel where it knows. */
static gboolean
may_access (const SbxBwrapReachPath *path,
            int                      access_mode)
{
  g_autofree char *proc_path = g_strdup_printf ("/proc/self/fd/%d", path->fd);

  /* A directory is of no use without what lies in it. */
  if (S_ISDIR (path->st.st_mode))
    access_mode |= X_OK;

  return geteuid () != 0 ? faccessat (AT_FDCWD, proc_path, access_mode, AT_EACCESS) == 0
                         : allows_without_capabilities (&path->st, access_mode);
}

/* Opening narrower than asked is not an option. Root outside is not root inside. */
static gboolean
check_readable (const SbxBwrapReachPath  *path,
                GError                  **error)
{
  g_autofree char *shown = NULL;
  g_autofree char *owner = NULL;

  if (may_access (path, R_OK))
    return TRUE;

  shown = _sbx_path_show (path->path);
  owner = dup_user_name (path->st.st_uid);

  if (geteuid () == 0)
    g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
                 _("%s: “%s” belongs to %s, and in a sandbox root has no rights beyond those of an "
                   "owner: run this as that user, with “sudo -u %s”"),
                 path->field, shown, owner, owner);
  else
    g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
                 _("%s: “%s” belongs to %s and is not yours to read"),
                 path->field, shown, owner);

  return FALSE;
}

static gboolean
check_writable (const SbxBwrapReachPath  *path,
                GError                  **error)
{
  g_autofree char *proc_path = g_strdup_printf ("/proc/self/fd/%d", path->fd);
  g_autofree char *shown = _sbx_path_show (path->path);
  g_autofree char *owner = NULL;

  if (faccessat (AT_FDCWD, proc_path, W_OK, AT_EACCESS) < 0 && errno == EROFS)
    return refuse (error, SBX_ERROR_NOT_ENFORCEABLE, path->field, path->path,
                   _("is on a file system that is mounted read-only"));

  if (!SBX_PROTECTS (T29))
    return TRUE;

  if (may_access (path, W_OK))
    return TRUE;

  owner = dup_user_name (path->st.st_uid);

  if (geteuid () == 0)
    g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
                 _("%s: “%s” belongs to %s, and in a sandbox root has no rights beyond those of an "
                   "owner: run this as that user, with “sudo -u %s”"),
                 path->field, shown, owner, owner);
  else
    g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
                 _("%s: “%s” belongs to %s and is not yours to write"),
                 path->field, shown, owner);

  return FALSE;
}

static gboolean
explain_failure (const char    *field,
                 const char    *path,
                 const GError  *reason,
                 GError       **error)
{
  if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    return refuse (error, SBX_ERROR_NOT_FOUND, field, path, _("does not exist"));

  if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_DIRECTORY))
    return refuse (error, SBX_ERROR_NOT_FOUND, field, path,
                   _("does not exist: a part of it is not a directory"));

  if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_TOO_MANY_LINKS))
    return refuse (error, SBX_ERROR_INVALID, field, path,
                   _("leads through a loop of symbolic links"));

  if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED))
    return refuse (error, SBX_ERROR_NOT_ENFORCEABLE, field, path,
                   _("cannot be looked at: a directory above it is not open to you"));

  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID, "%s: %s", field, reason->message);
  return FALSE;
}

/* Appends @path, resolved, or fails by name. */
static gboolean
add_path (SbxBwrapBuilder  *self,
          const char       *field,
          SbxBwrapOrigin    origin,
          const char       *path,
          GError          **error)
{
  g_autoptr(GError) reason = NULL;
  SbxBwrapReachPath *resolved;

  if (g_cancellable_set_error_if_cancelled (self->cancellable, error))
    return FALSE;

  if (path[0] == '\0')
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID, _("%s: an empty path"), field);
      return FALSE;
    }

  if (path[0] != '/')
    return refuse (error, SBX_ERROR_INVALID, field, path,
                   _("is relative; an absolute path is needed"));

  resolved = g_new0 (SbxBwrapReachPath, 1);
  resolved->field = field;
  resolved->origin = origin;
  resolved->fd = _sbx_open_real (path, O_PATH, &resolved->path, &reason);
  g_ptr_array_add (self->reach, resolved);

  if (resolved->fd < 0)
    return explain_failure (field, path, reason, error);

  if (fstat (resolved->fd, &resolved->st) < 0)
    return refuse (error, SBX_ERROR_FAILED, field, path, _("cannot be looked at"));

  if (origin == SBX_BWRAP_ORIGIN_CWD && !S_ISDIR (resolved->st.st_mode))
    return refuse (error, SBX_ERROR_INVALID, field, path, _("is not a directory"));

  if (!S_ISDIR (resolved->st.st_mode) && !S_ISREG (resolved->st.st_mode))
    return refuse (error, SBX_ERROR_INVALID, field, path,
                   _("is neither a directory nor a regular file"));

  return _sbx_bwrap_reach_check (self, field, resolved->path, error) &&
         check_readable (resolved, error) &&
         (origin != SBX_BWRAP_ORIGIN_WRITE || check_writable (resolved, error));
}

static gboolean
add_paths (SbxBwrapBuilder     *self,
           const char          *field,
           SbxBwrapOrigin       origin,
           const char * const  *paths,
           GError             **error)
{
  gsize i;

  for (i = 0; paths != NULL && paths[i] != NULL; i++)
    if (!add_path (self, field, origin, paths[i], error))
      return FALSE;

  return TRUE;
}

/* A real path, or the given one where nothing is there yet. */
static char *
resolve_own (const char *path)
{
  char *real_path = NULL;
  sbx_autofd int fd = _sbx_open_real (path, O_PATH, &real_path, NULL);

  return fd >= 0 ? real_path : g_canonicalize_filename (path, "/");
}

gboolean
_sbx_bwrap_reach_resolve (SbxBwrapBuilder  *self,
                          GError          **error)
{
  const SbxBwrapPlanInput *input = self->input;
  g_autofree char *data_path = NULL;
  g_autofree char *home = NULL;
  g_autofree char *account_home = _sbx_bwrap_dup_account_home ();

  data_path = input->data_path != NULL ? g_strdup (input->data_path) : _sbx_bwrap_dup_data_dir ();
  home = input->operator_home != NULL ? g_strdup (input->operator_home) : _sbx_bwrap_dup_home ();
  self->data_path = resolve_own (data_path);
  self->home = resolve_own (home);
  self->account_home = account_home != NULL ? resolve_own (account_home) : NULL;

  return add_path (self, "cwd", SBX_BWRAP_ORIGIN_CWD, input->cwd, error) &&
         add_paths (self, "read", SBX_BWRAP_ORIGIN_READ, input->read, error) &&
         add_paths (self, "write", SBX_BWRAP_ORIGIN_WRITE, input->write, error);
}

gboolean
_sbx_bwrap_reach_is_writable (SbxBwrapBuilder *self,
                              const char      *path)
{
  const SbxBwrapReachPath *best = NULL;
  guint i;

  for (i = 0; i < self->reach->len; i++)
    {
      const SbxBwrapReachPath *reach = g_ptr_array_index (self->reach, i);

      /* Of a path that is in both lists the later one, of write, counts. */
      if (reach->origin != SBX_BWRAP_ORIGIN_CWD && _sbx_bwrap_path_is_below (path, reach->path) &&
          (best == NULL || strlen (reach->path) >= strlen (best->path)))
        best = reach;
    }

  return best != NULL && best->origin == SBX_BWRAP_ORIGIN_WRITE;
}
