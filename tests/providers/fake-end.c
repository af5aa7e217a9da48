/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "fake.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* A process that keeps our pipes open when we are gone, though not for ever. */
void
fake_leave_heir (void)
{
  const pid_t pid = fork ();

  if (pid != 0)
    return;
  signal (SIGTERM, SIG_IGN);
  alarm (60);
  for (;;)
    pause ();
}

void
fake_die (void)
{
  const char *last_words = fake_option ("say");
  const int signal_number = (int) fake_option_number ("signal", 0);

  if (last_words != NULL)
    {
      fake_write (2, last_words, strlen (last_words));
      fake_write (2, "\n", 1);
    }
  if (fake_option ("heir") != NULL)
    fake_leave_heir ();
  if (signal_number != 0)
    {
      const struct rlimit none = { 0, 0 };

      setrlimit (RLIMIT_CORE, &none);
      signal (signal_number, SIG_DFL);
      raise (signal_number);
    }
  _exit ((int) fake_option_number ("status", 1));
}

void
fake_hang (void)
{
  for (;;)
    pause ();
}
