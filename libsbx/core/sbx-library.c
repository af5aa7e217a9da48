/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-library-private.h"

#include <glib/gi18n-lib.h>
#include <signal.h>

/* A command could kill us by closing its standard input. Who handles the signal knows why. */
static void
ignore_sigpipe (void)
{
  struct sigaction action;

  if (sigaction (SIGPIPE, NULL, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
      action.sa_handler == SIG_DFL)
    signal (SIGPIPE, SIG_IGN);
}

void
_sbx_library_init (void)
{
  static gsize once = 0;

  if (!g_once_init_enter (&once))
    return;

  bindtextdomain (GETTEXT_PACKAGE, LOCALEDIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");

  ignore_sigpipe ();

  g_once_init_leave (&once, 1);
}
