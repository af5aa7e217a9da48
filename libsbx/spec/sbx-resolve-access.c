/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-resolve-path-private.h"

#include "core/sbx-error.h"
#include "core/sbx-protection-private.h"
#include "files/sbx-path-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

/*
 * Whether what was asked for is this user's to give. Opening narrower than asked is not an option,
 * and root outside is not root inside.
 */

static gboolean
is_in_group (gid_t gid)
{
  gid_t groups[NGROUPS_MAX];
  const int n = getgroups (G_N_ELEMENTS (groups), groups);

  if (getegid () == gid)
    return TRUE;

  for (int i = 0; i < n; i++)
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
may_access (int                fd,
            const struct stat *st,
            int                access_mode)
{
  g_autofree char *proc_path = g_strdup_printf ("/proc/self/fd/%d", fd);

  /* A directory is of no use without what lies in it. */
  if (S_ISDIR (st->st_mode))
    access_mode |= X_OK;

  return geteuid () != 0 ? faccessat (AT_FDCWD, proc_path, access_mode, AT_EACCESS) == 0
                         : allows_without_capabilities (st, access_mode);
}

/* @what is translated, with the label, the path and its owner: what cannot be done with it. */
static gboolean
fail_foreign (const char         *label,
              const char         *path,
              const struct stat  *st,
              const char         *what,
              GError            **error)
{
  g_autofree char *shown = _sbx_path_show (path);
  g_autofree char *owner = dup_user_name (st->st_uid);

  if (geteuid () == 0)
    g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
                 _("%s: “%s” belongs to %s, and in a sandbox root has no rights beyond those of an "
                   "owner: run this as that user, with “sudo -u %s”"),
                 label, shown, owner, owner);
  else
    g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE, _("%s: “%s” belongs to %s and %s"),
                 label, shown, owner, what);

  return FALSE;
}

gboolean
_sbx_resolve_check_readable (const char         *label,
                             const char         *path,
                             int                 fd,
                             const struct stat  *st,
                             GError            **error)
{
  return may_access (fd, st, R_OK) ||
         fail_foreign (label, path, st, _("is not yours to read"), error);
}

gboolean
_sbx_resolve_check_writable (const char         *label,
                             const char         *path,
                             int                 fd,
                             const struct stat  *st,
                             GError            **error)
{
  g_autofree char *proc_path = g_strdup_printf ("/proc/self/fd/%d", fd);

  /* A socket on such a file system can be connected to all the same. */
  if (!S_ISSOCK (st->st_mode) && faccessat (AT_FDCWD, proc_path, W_OK, AT_EACCESS) < 0 &&
      errno == EROFS)
    return _sbx_resolve_fail (error, SBX_ERROR_NOT_ENFORCEABLE, label, path,
                              _("is on a file system that is mounted read-only; ask to read it "
                                "only, or mount it otherwise"));

  if (!SBX_PROTECTS (T29) || may_access (fd, st, W_OK))
    return TRUE;

  return fail_foreign (label, path, st,
                       S_ISSOCK (st->st_mode) ? _("is not yours to connect to")
                                              : _("is not yours to write"),
                       error);
}
