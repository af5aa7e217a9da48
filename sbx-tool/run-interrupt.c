/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "run-interrupt.h"

#include "run-signals.h"

#include <signal.h>

static GCancellable *cancellable;
static int interrupted_by;

static void
signal_cb (int      signal_number,
           gpointer user_data)
{
  if (signal_number == SIGTSTP)
    raise (SIGSTOP);
  if (signal_number == SIGTSTP || signal_number == SIGCONT || signal_number == SIGWINCH)
    return;

  interrupted_by = signal_number;
  g_cancellable_cancel (cancellable);
}

GCancellable *
tool_interrupt_watch (GError **error)
{
  cancellable = g_cancellable_new ();

  return tool_signals_watch (signal_cb, NULL, error) ? cancellable : NULL;
}

void
tool_interrupt_end (void)
{
  struct sigaction standard = { .sa_handler = SIG_DFL };

  if (interrupted_by == 0)
    return;

  sigaction (interrupted_by, &standard, NULL);
  raise (interrupted_by);
}
