/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "process/sbx-child-private.h"

#include "core/sbx-protection-private.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#define OOM_SCORE_ADJ 500
#define MOST_OOM_SCORE_ADJ 1000

/* Nothing here allocates: it runs between fork and exec. What fails leaves the kernel with what it
 * had. */
static void
write_number (const char *path,
              int         number)
{
  const int fd = open (path, O_WRONLY | O_CLOEXEC);
  char text[16];
  gsize at = sizeof text;

  do
    text[--at] = (char) ('0' + number % 10);
  while ((number /= 10) > 0);

  if (fd >= 0 && write (fd, text + at, sizeof text - at) < 0)
    { /* See above. */ }
  if (fd >= 0)
    close (fd);
}

static int
read_number (const char *path)
{
  const int fd = open (path, O_RDONLY | O_CLOEXEC);
  char text[16] = "";
  const char *at = text;
  int number = 0;

  if (fd >= 0 && read (fd, text, sizeof text - 1) < 0)
    text[0] = '\0';
  if (fd >= 0)
    close (fd);

  for (at += *at == '-'; g_ascii_isdigit (*at); at++)
    number = number * 10 + (*at - '0');

  return text[0] == '-' ? -number : number;
}

/* When memory runs out a sandbox goes before the desktop does. */
static void
raise_oom_score (void)
{
  const int score = read_number ("/proc/self/oom_score_adj") + OOM_SCORE_ADJ;

  /* One who is that well protected is root's, and stays above the others without this. */
  if (score > 0)
    write_number ("/proc/self/oom_score_adj", MIN (score, MOST_OOM_SCORE_ADJ));
}

/* Between fork and exec: nothing but this. It is set out here, because no command inside may change
 * it, and what is in /proc cannot be written there. */
static void
child_setup_cb (gpointer user_data)
{
  /* Where the kernel pipes dumps to a program of root's, a limit of 0 does not stop it; 1 does. Who
   * has a hard limit of 0 cannot be given 1: then a dump has no memory in it. */
  const struct rlimit core = { 1, 1 };

  setsid ();
  if (SBX_PROTECTS (T14) && setrlimit (RLIMIT_CORE, &core) < 0)
    write_number ("/proc/self/coredump_filter", 0);
  if (SBX_PROTECTS (T6))
    raise_oom_score ();
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
