/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "run-signals.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <signal.h>
#include <unistd.h>

/*
 * Brings signals into the main loop, through a pipe. GLib's own sources know neither QUIT nor TSTP,
 * and a signalfd needs the signals blocked, which every program that we start would inherit.
 */

static int pipe_fds[2] = { -1, -1 };

static struct
{
  ToolSignalFunc func;
  gpointer       user_data;
} watcher;

static void
handle (int signal_number)
{
  const int saved_errno = errno;
  const guint8 byte = signal_number;

  /* A full pipe means that the main loop has plenty to look at already. */
  if (write (pipe_fds[1], &byte, 1) == -1)
    errno = saved_errno;
  errno = saved_errno;
}

static gboolean
signalled_cb (int          fd,
              GIOCondition condition,
              gpointer     user_data)
{
  guint8 numbers[64];
  const ssize_t n = read (fd, numbers, sizeof numbers);

  for (ssize_t i = 0; i < n; i++)
    watcher.func (numbers[i], watcher.user_data);

  return G_SOURCE_CONTINUE;
}

/* A signal that the caller has ignored, as nohup(1) does, stays ignored. */
gboolean
tool_signals_watch (ToolSignalFunc   func,
                    gpointer         user_data,
                    GError         **error)
{
  static const int watched[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH };
  struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
  g_autoptr(GSource) source = NULL;

  if (!g_unix_open_pipe (pipe_fds, FD_CLOEXEC, error)
      || !g_unix_set_fd_nonblocking (pipe_fds[0], TRUE, error)
      || !g_unix_set_fd_nonblocking (pipe_fds[1], TRUE, error))
    return FALSE;

  watcher.func = func;
  watcher.user_data = user_data;
  source = g_unix_fd_source_new (pipe_fds[0], G_IO_IN);
  g_source_set_priority (source, G_PRIORITY_HIGH);
  g_source_set_callback (source, G_SOURCE_FUNC (signalled_cb), NULL, NULL);
  g_source_attach (source, NULL);

  sigfillset (&action.sa_mask);
  for (gsize i = 0; i < G_N_ELEMENTS (watched); i++)
    {
      struct sigaction before;

      if (sigaction (watched[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction (watched[i], &action, NULL);
    }

  return TRUE;
}
