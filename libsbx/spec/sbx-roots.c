/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-roots-guard-private.h"

#include "core/sbx-error.h"
#include "files/sbx-path-private.h"

#include <glib/gi18n-lib.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#define ACCOUNT_SIZE 16384
#define MAX_DOORS 4096

SbxRoots *
_sbx_roots_new (void)
{
  return g_new0 (SbxRoots, 1);
}

SbxRoots *
_sbx_roots_copy (const SbxRoots *self)
{
  SbxRoots *copy = _sbx_roots_new ();

  copy->home = g_strdup (self->home);
  copy->account_home = g_strdup (self->account_home);
  copy->run_root = g_strdup (self->run_root);
  copy->harness_states = g_strdupv (self->harness_states);
  copy->key_dirs = g_strdupv (self->key_dirs);
  copy->start_dirs = g_strdupv (self->start_dirs);
  copy->machine_root = g_strdup (self->machine_root);
  copy->config_dirs = g_strdupv (self->config_dirs);
  copy->control_root = g_strdup (self->control_root);
  copy->own_path = g_strdup (self->own_path);
  copy->allowed_sockets = g_strdupv (self->allowed_sockets);
  copy->escape_sockets = g_strdupv (self->escape_sockets);
  copy->home_is_default = self->home_is_default;

  return copy;
}

void
_sbx_roots_free (SbxRoots *self)
{
  g_free (self->home);
  g_free (self->account_home);
  g_free (self->run_root);
  g_strfreev (self->harness_states);
  g_strfreev (self->key_dirs);
  g_strfreev (self->start_dirs);
  g_free (self->machine_root);
  g_strfreev (self->config_dirs);
  g_free (self->control_root);
  g_free (self->own_path);
  g_strfreev (self->allowed_sockets);
  g_strfreev (self->escape_sockets);
  g_clear_pointer (&self->mounts, g_ptr_array_unref);
  g_clear_pointer (&self->guarded, g_ptr_array_unref);
  g_free (self);
}

/* The home directory that the list of accounts has, or %NULL. */
static char *
dup_account_home (void)
{
  char buffer[ACCOUNT_SIZE];
  struct passwd account;
  struct passwd *found = NULL;

  if (getpwuid_r (getuid (), &account, buffer, sizeof buffer, &found) != 0 || found == NULL ||
      found->pw_dir == NULL || !g_path_is_absolute (found->pw_dir))
    return NULL;

  return g_strdup (found->pw_dir);
}

static void
guard_all (SbxRoots           *self,
           SbxLooked          *looked,
           SbxRule             rule,
           const char * const *paths)
{
  for (gsize i = 0; paths != NULL && paths[i] != NULL; i++)
    _sbx_guarded_add (looked, self->guarded, rule, paths[i]);
}

static void
guard_account (SbxRoots  *self,
               SbxLooked *looked)
{
  g_auto(GStrv) harnesses = _sbx_roots_list_harnesses (self->account_home);
  g_auto(GStrv) keys = _sbx_roots_list_keys (self->account_home);
  g_auto(GStrv) starts = _sbx_roots_list_starts (self->account_home);

  _sbx_guarded_add (looked, self->guarded, SBX_RULE_HOME, self->account_home);
  guard_all (self, looked, SBX_RULE_HARNESS, (const char * const *) harnesses);
  guard_all (self, looked, SBX_RULE_KEYS, (const char * const *) keys);
  guard_all (self, looked, SBX_RULE_START, (const char * const *) starts);
}

/* Those that are there: under another name such a child would not be seen to be one. */
static void
guard_doors (SbxRoots  *self,
             SbxLooked *looked)
{
  g_autoptr(GDir) dir = g_dir_open (self->control_root, 0, NULL);
  const char *name;
  guint n = 0;

  while (dir != NULL && n < MAX_DOORS && (name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_prefix (name, "sbx-") || g_str_has_prefix (name, "awf-"))
      {
        g_autofree char *path = g_build_filename (self->control_root, name, NULL);

        _sbx_guarded_add (looked, self->guarded, SBX_RULE_DOOR, path);
        n++;
      }
}

static void
guard (SbxRoots       *self,
       const SbxRoots *given,
       SbxLooked      *looked)
{
  self->guarded = g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_guarded_free);

  /* Of each the path that was given too, for the links on the way to it. */
  _sbx_guarded_add (looked, self->guarded, SBX_RULE_HOME, given->home);
  if (self->run_root != NULL)
    _sbx_guarded_add (looked, self->guarded, SBX_RULE_RUN_ROOT, self->run_root);

  guard_all (self, looked, SBX_RULE_HARNESS, (const char * const *) given->harness_states);
  guard_all (self, looked, SBX_RULE_KEYS, (const char * const *) given->key_dirs);
  guard_all (self, looked, SBX_RULE_START, (const char * const *) given->start_dirs);
  _sbx_guarded_add (looked, self->guarded, SBX_RULE_MACHINE, given->machine_root);
  guard_all (self, looked, SBX_RULE_CONFIG, (const char * const *) given->config_dirs);

  guard_all (self, looked, SBX_RULE_ESCAPE, (const char * const *) given->escape_sockets);

  if (self->account_home != NULL)
    guard_account (self, looked);

  if (self->control_root != NULL)
    {
      _sbx_guarded_add (looked, self->guarded, SBX_RULE_CONTROL, given->control_root);
      guard_doors (self, looked);
    }

  for (guint i = 0; i < self->guarded->len; i++)
    {
      SbxGuarded *guarded = g_ptr_array_index (self->guarded, i);

      _sbx_mount_table_locate (self->mounts, guarded->path, &guarded->place);
    }
}

static void
make_real (char      **path,
           SbxLooked  *looked)
{
  char *end;

  if (*path == NULL)
    return;

  end = _sbx_places_end (looked, *path);
  g_free (*path);
  *path = end;
}

static void
make_all_real (char      **paths,
               SbxLooked  *looked)
{
  for (gsize i = 0; paths != NULL && paths[i] != NULL; i++)
    make_real (&paths[i], looked);
}

/* @what is how the root is called in a message. */
static gboolean
check_there (const char  *path,
             const char  *what,
             GError     **error)
{
  g_autofree char *shown = NULL;
  struct stat st;

  if (stat (path, &st) == 0 && S_ISDIR (st.st_mode))
    return TRUE;

  shown = _sbx_path_show (path);
  g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_FOUND,
               _("%s: “%s” is no directory that is there; make it, or name another one"), what,
               shown);
  return FALSE;
}

static gboolean
check_absolute (const SbxRoots  *self,
                GError         **error)
{
  const char * const single[] = { self->home, self->run_root, self->machine_root,
                                  self->control_root };
  char * const * const lists[] = { self->harness_states, self->key_dirs, self->start_dirs,
                                   self->config_dirs };
  const char *bad = NULL;
  g_autofree char *shown = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (single); i++)
    if (bad == NULL && single[i] != NULL && !g_path_is_absolute (single[i]))
      bad = single[i];

  for (gsize i = 0; i < G_N_ELEMENTS (lists); i++)
    for (gsize j = 0; lists[i] != NULL && lists[i][j] != NULL; j++)
      if (bad == NULL && !g_path_is_absolute (lists[i][j]))
        bad = lists[i][j];

  if (bad == NULL)
    return TRUE;

  shown = _sbx_path_show (bad);
  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
               _("“%s” is to be kept from sandboxes, but is relative; an absolute path is needed"),
               shown);
  return FALSE;
}

SbxRoots *
_sbx_roots_real (const SbxRoots  *self,
                 GError         **error)
{
  g_autoptr(SbxRoots) given = _sbx_roots_copy (self);
  g_autoptr(SbxRoots) real = NULL;
  g_autoptr(GHashTable) looked = _sbx_looked_new ();

  _sbx_roots_fill (given);
  if (!check_absolute (given, error))
    return NULL;

  real = _sbx_roots_copy (given);
  if (real->account_home == NULL)
    real->account_home = dup_account_home ();
  make_real (&real->home, looked);
  make_real (&real->account_home, looked);
  if (g_strcmp0 (real->home, real->account_home) == 0)
    g_clear_pointer (&real->account_home, g_free);
  make_real (&real->run_root, looked);
  make_real (&real->machine_root, looked);
  make_real (&real->control_root, looked);
  make_all_real (real->harness_states, looked);
  make_all_real (real->key_dirs, looked);
  make_all_real (real->start_dirs, looked);
  make_all_real (real->config_dirs, looked);

  if (!given->home_is_default && !check_there (real->home, _("home"), error))
    return NULL;
  if (real->run_root != NULL && !check_there (real->run_root, _("run root"), error))
    return NULL;

  real->mounts = _sbx_mount_table_read (error);
  if (real->mounts == NULL)
    return NULL;

  guard (real, given, looked);

  return g_steal_pointer (&real);
}
