/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-user-dirs-private.h"

#include <pwd.h>
#include <unistd.h>

#define ACCOUNT_SIZE 16384

/* A path that is not absolute would mean something else in each working directory, which may be one
 * that a sandbox can write. As the specification of these variables says, it counts as unset. */
static char *
absolute_or (const char *path,
             const char *below_home)
{
  g_autofree char *home = NULL;

  if (path != NULL && g_path_is_absolute (path))
    return g_strdup (path);

  home = _sbx_bwrap_dup_home ();

  return g_build_filename (home, below_home, NULL);
}

char *
_sbx_bwrap_dup_account_home (void)
{
  char buffer[ACCOUNT_SIZE];
  struct passwd account;
  struct passwd *found = NULL;

  if (getpwuid_r (getuid (), &account, buffer, sizeof buffer, &found) != 0 || found == NULL ||
      found->pw_dir == NULL || !g_path_is_absolute (found->pw_dir))
    return NULL;

  return g_strdup (found->pw_dir);
}

char *
_sbx_bwrap_dup_home (void)
{
  const char *home = g_get_home_dir ();
  char *account_home;

  if (home != NULL && g_path_is_absolute (home))
    return g_strdup (home);

  account_home = _sbx_bwrap_dup_account_home ();

  return account_home != NULL ? account_home : g_strdup ("/");
}

char *
_sbx_bwrap_dup_data_dir (void)
{
  g_autofree char *data = absolute_or (g_get_user_data_dir (), ".local/share");

  return g_build_filename (data, "libsbx", NULL);
}

char *
_sbx_bwrap_dup_cache_dir (void)
{
  return absolute_or (g_get_user_cache_dir (), ".cache");
}

char *
_sbx_bwrap_dup_config_dir (void)
{
  return absolute_or (g_get_user_config_dir (), ".config");
}
