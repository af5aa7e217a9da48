/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-session-environment-private.h"

#include "bwrap/sbx-bwrap-plan-private.h"
#include "core/sbx-environment-private.h"

/* Passed on from the caller, since they say nothing but how to talk to a person. */
static const char * const inherited[] = {
  "LANG", "LANGUAGE", "LC_ALL", "LC_ADDRESS", "LC_COLLATE", "LC_CTYPE", "LC_IDENTIFICATION",
  "LC_MEASUREMENT", "LC_MESSAGES", "LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER",
  "LC_TELEPHONE", "LC_TIME", "TZ",
};

GStrv
_sbx_bwrap_session_environment (SbxBwrapToolchain  *toolchain,
                                const char * const *own)
{
  g_autofree char *path = _sbx_bwrap_toolchain_get_path (toolchain);
  SbxEnvironment environment;
  GStrv merged;

  _sbx_environment_init (&environment);
  _sbx_environment_set (&environment, "PATH", path);
  _sbx_environment_set (&environment, "HOME", SBX_BWRAP_HOME);
  _sbx_environment_set (&environment, "USER", g_get_user_name ());
  _sbx_environment_set (&environment, "LOGNAME", g_get_user_name ());
  _sbx_environment_set (&environment, "SHELL", "/bin/sh");

  /* A here-document needs one of these to be writable, each shell another. */
  _sbx_environment_set (&environment, "TMPDIR", "/tmp");
  _sbx_environment_set (&environment, "TMP", "/tmp");
  _sbx_environment_set (&environment, "TEMP", "/tmp");
  _sbx_environment_set (&environment, "TMPPREFIX", "/tmp/zsh");
  _sbx_environment_set (&environment, "GIT_CONFIG_GLOBAL", SBX_BWRAP_GIT_CONFIG);

  /* What lies above the working directory may be a mount of its own. */
  _sbx_environment_set (&environment, "GIT_DISCOVERY_ACROSS_FILESYSTEM", "1");

  for (gsize i = 0; i < G_N_ELEMENTS (inherited); i++)
    _sbx_environment_set (&environment, inherited[i], g_getenv (inherited[i]));

  merged = _sbx_environment_merge (_sbx_environment_get (&environment), own);
  _sbx_environment_clear (&environment);

  return merged;
}
