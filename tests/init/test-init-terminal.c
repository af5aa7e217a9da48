/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "init-fixture.h"

#include <errno.h>
#include <glib-unix.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static gboolean
terminal_readable_cb (int          fd,
                      GIOCondition condition,
                      gpointer     user_data)
{
  Run *run = user_data;
  char buffer[4096];
  const gssize n = read (fd, buffer, sizeof buffer);

  if (n > 0)
    g_string_append_len (run->output[0], buffer, n);
  if (n > 0 || (n < 0 && errno == EAGAIN))
    return G_SOURCE_CONTINUE;

  /* Nobody has the other side. */
  run->readers[0] = 0;
  return G_SOURCE_REMOVE;
}

static Run *
run_on_terminal (Sandbox    *sandbox,
                 const char *script)
{
  const char *argv[] = { "/bin/sh", "-c", script, NULL };
  SbxInitRequest request = { .argv = argv, .terminal = TRUE, .rows = 31, .columns = 97 };
  Run *run = run_new (sandbox);

  run_start (run, &request);
  test_wait_for (run->n_started + run->n_ended > 0);
  g_assert_cmpint (run->n_started, ==, 1);
  g_assert_cmpint (run->terminal, >=, 0);

  g_assert_true (g_unix_set_fd_nonblocking (run->terminal, TRUE, NULL));
  run->readers[0] = g_unix_fd_add (run->terminal, G_IO_IN | G_IO_HUP, terminal_readable_cb, run);
  return run;
}

#define wait_for_output(run, text) test_wait_for (strstr ((run)->output[0]->str, text) != NULL)

static void
test_is_one (void)
{
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) size = run_on_terminal (sandbox, "stty size; test -t 0 && test -t 1 && test -t 2 "
                                                  "&& echo tty; echo to-tty > /dev/tty; tty; "
                                                  "exit 3");
  g_autoptr(Run) leader = run_on_terminal (sandbox, "ps -o tty=,pgid=,tpgid= -p $$; echo $$");
  g_autoptr(Run) failed = run_new (sandbox);
  const char *argv[] = { "/no/such", NULL };
  SbxInitRequest request = { .argv = argv, .terminal = TRUE, .rows = 1, .columns = 1 };
  int group, foreground, pid;

  g_test_summary ("A command on a terminal has it as its controlling terminal, in the right size");
  run_wait (size);
  assert_exited (size, 3);
  g_assert_true (g_str_has_prefix (size->output[0]->str, "31 97\r\ntty\r\nto-tty\r\n/dev/pts/"));

  run_wait (leader);
  g_assert_cmpint (sscanf (leader->output[0]->str, "pts/%*d %d %d %d", &group, &foreground, &pid),
                   ==, 3);
  g_assert_cmpint (group, ==, pid);
  g_assert_cmpint (foreground, ==, pid);

  run_start (failed, &request);
  run_wait (failed);
  assert_not_started (failed, EXEC, ENOENT);
  g_assert_cmpint (failed->terminal, ==, -1);
}

static void
test_interrupt (void)
{
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) run = run_on_terminal (sandbox, "trap 'echo got; exit 7' INT; echo ready; "
                                                 "while :; do sleep 0.01; done");

  g_test_summary ("The interrupt character interrupts, and input arrives");
  wait_for_output (run, "ready");
  g_assert_cmpint (write (run->terminal, "\003", 1), ==, 1);
  run_wait (run);
  assert_exited (run, 7);
  g_assert_nonnull (strstr (run->output[0]->str, "got"));
}

static void
test_resize (void)
{
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) run = run_on_terminal (sandbox, "trap 'stty size' WINCH; echo ready; "
                                                 "while :; do sleep 0.01; done");
  struct winsize size = { 0 };

  g_test_summary ("A new size arrives, with the signal that tells of it");
  wait_for_output (run, "ready");
  _sbx_init_channel_resize (sandbox->channel, run->id, 33, 111);
  wait_for_output (run, "33 111\r\n");
  g_assert_cmpint (ioctl (run->terminal, TIOCGWINSZ, &size), ==, 0);
  g_assert_cmpint (size.ws_row, ==, 33);
  g_assert_cmpint (size.ws_col, ==, 111);

  _sbx_init_channel_end (sandbox->channel, run->id);
  run_wait (run);
}

static void
test_resize_early (void)
{
  const char *argv[] = { "/bin/sh", "-c", "stty size; sleep 60", NULL };
  SbxInitRequest request = { .argv = argv, .terminal = TRUE, .rows = 1, .columns = 1 };
  struct winsize size = { 0 };
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) run = run_new (sandbox);

  g_test_summary ("A size that comes before the terminal is there is not lost");
  run_start (run, &request);
  _sbx_init_channel_resize (sandbox->channel, run->id, 44, 222);
  test_wait_for (run->n_started);

  /* The messages were in one queue; what comes after it has been read, when this has ended. */
  g_assert_cmpint (sandbox_count_others (sandbox), >, 0);
  g_assert_cmpint (ioctl (run->terminal, TIOCGWINSZ, &size), ==, 0);
  g_assert_cmpint (size.ws_row, ==, 44);
  g_assert_cmpint (size.ws_col, ==, 222);

  _sbx_init_channel_end (sandbox->channel, run->id);
  run_wait (run);
}

static void
test_hang_up (void)
{
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) run = run_on_terminal (sandbox, "echo ready; sleep 60");

  g_test_summary ("Closing the terminal hangs up");
  wait_for_output (run, "ready");
  g_clear_handle_id (&run->readers[0], g_source_remove);
  close (g_steal_fd (&run->terminal));
  run_wait (run);
  assert_end (run, SBX_INIT_END_SIGNALLED, SBX_INIT_STAGE_NONE, SIGHUP);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/init/terminal/is-one", test_is_one);
  g_test_add_func ("/init/terminal/interrupt", test_interrupt);
  g_test_add_func ("/init/terminal/resize", test_resize);
  g_test_add_func ("/init/terminal/resize-early", test_resize_early);
  g_test_add_func ("/init/terminal/hang-up", test_hang_up);

  return g_test_run ();
}
