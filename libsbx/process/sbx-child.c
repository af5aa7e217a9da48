/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "process/sbx-child-private.h"

#include "core/sbx-protection-private.h"

#include <sys/resource.h>
#include <unistd.h>

/* Between fork and exec: nothing but this. */
static void
child_setup_cb (gpointer user_data)
{
  /* Where the kernel pipes dumps to a program of root's, a limit of 0 does not stop it; 1 does. It
   * is set out here because no command inside may change it. */
  const struct rlimit core = { 1, 1 };

  setsid ();
  if (SBX_PROTECTS (T14))
    setrlimit (RLIMIT_CORE, &core);
}

static GSubprocessFlags
choose_flags (void)
{
  /* What a child finds at 0, 1 or 2 might be the caller's terminal, and bwrap would show that to
   * the sandbox as /dev/console. */
  if (!SBX_PROTECTS (T2))
    return G_SUBPROCESS_FLAGS_STDIN_INHERIT | G_SUBPROCESS_FLAGS_STDERR_PIPE;

  return G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_PIPE;
}

GSubprocess *
_sbx_child_spawn (const char * const  *argv,
                  SbxChildFd          *fds,
                  gsize                n_fds,
                  GError             **error)
{
  g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new (choose_flags ());
  char *empty[] = { NULL };

  g_subprocess_launcher_set_environ (launcher, empty);
  g_subprocess_launcher_set_child_setup (launcher, child_setup_cb, NULL, NULL);

  for (gsize i = 0; i < n_fds; i++)
    g_subprocess_launcher_take_fd (launcher, g_steal_fd (&fds[i].source), fds[i].target);

  return g_subprocess_launcher_spawnv (launcher, argv, error);
}
