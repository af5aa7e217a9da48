/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "init-fixture.h"

#include <fcntl.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define wait_for_output(run, text) test_wait_for (strstr ((run)->output[0]->str, text) != NULL)

static void
assert_killed (Run *run)
{
  run_wait (run);
  assert_end (run, SBX_INIT_END_SIGNALLED, SBX_INIT_STAGE_NONE, SIGKILL);
  g_assert_cmpint (sandbox_count_others (run->sandbox), ==, 0);
}

static void
test_left_behind (void)
{
  static const char * const scripts[] = {
    "sleep 60 & echo hi",
    "setsid sleep 60 & echo hi",
    "(setsid sh -c 'sleep 60 & sleep 61' &) & echo hi",
    "setsid setsid sh -c '(sleep 60 &) & exec setsid -f sleep 61' ; echo hi",
    "trap '' TERM HUP INT; sleep 60 & (trap '' TERM; exec setsid sleep 61) & echo hi",
    "nohup sleep 60 > /dev/null 2>&1 & sleep 61 > /dev/null 2>&1 & kill -STOP $!; echo hi",
    "/run/helper run-away > /tmp/x & while ! test -s /tmp/x; do :; done; echo hi",
    "/run/helper other-reaper > /tmp/y & while ! test -s /tmp/y; do :; done; echo hi",
  };
  g_autoptr(Sandbox) sandbox = sandbox_new ();

  g_test_summary ("What a command leaves running ends with it, however it went into hiding");

  for (guint i = 0; i < G_N_ELEMENTS (scripts); i++)
    {
      const gint64 begin = g_get_monotonic_time ();
      g_autoptr(Run) run = run_shell_wait (sandbox, scripts[i]);

      g_test_message ("%s: %s", scripts[i], run->output[1]->str);
      assert_exited (run, 0);
      g_assert_cmpstr (run->output[0]->str, ==, "hi\n");
      g_assert_cmpint (sandbox_count_others (sandbox), ==, 0);

      /* Nobody waited for a grace time. */
      g_assert_cmpint (g_get_monotonic_time () - begin, <, 4 * G_USEC_PER_SEC);
    }
}

static void
test_end (void)
{
  static const char * const scripts[] = {
    "echo ready; sleep 60",
    "trap '' TERM INT HUP QUIT; echo ready; while :; do sleep 60; done",
    "setsid sleep 60 & (trap '' TERM; setsid sleep 60) & echo ready; wait",
    "kill -STOP $$; echo not this",
  };
  static const char * const busy[] = {
    "/run/helper child-of-thread", "/run/helper run-away; sleep 60", "/run/helper bomb",
    "/run/helper other-reaper",
  };
  g_autoptr(Sandbox) sandbox = sandbox_new ();

  g_test_summary ("Ending an exec kills all of its tree, whatever that does meanwhile");

  for (guint i = 0; i < G_N_ELEMENTS (scripts); i++)
    {
      g_autoptr(Run) run = run_shell (sandbox, scripts[i]);

      if (i < 3)
        wait_for_output (run, "ready");
      else
        test_wait_for (run->n_started);
      _sbx_init_channel_end (sandbox->channel, run->id);
      _sbx_init_channel_end (sandbox->channel, run->id);
      assert_killed (run);
    }

  for (guint i = 0; i < G_N_ELEMENTS (busy); i++)
    {
      g_autoptr(Run) run = run_shell (sandbox, busy[i]);
      gint64 begin;

      wait_for_output (run, "ready");
      begin = g_get_monotonic_time ();
      _sbx_init_channel_end (sandbox->channel, run->id);
      assert_killed (run);
      g_test_message ("%s: ended in %d ms", busy[i],
                      (int) (g_get_monotonic_time () - begin) / 1000);
    }

  g_assert_no_error (sandbox->lost);
}

static void
test_bomb (void)
{
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) made G_GNUC_UNUSED = run_shell_wait (sandbox, "mkfifo /tmp/fifo");
  g_autoptr(Run) neighbour = run_shell (sandbox, "echo ready; read x < /tmp/fifo; exit 6");
  g_autoptr(Run) bomb = run_shell (sandbox, "/run/helper bomb");
  g_autoptr(Run) told = NULL;

  g_test_summary ("A bomb that goes on and on is ended, and a neighbour goes on");
  wait_for_output (bomb, "ready");
  _sbx_init_channel_end (sandbox->channel, bomb->id);
  run_wait (bomb);
  assert_end (bomb, SBX_INIT_END_SIGNALLED, SBX_INIT_STAGE_NONE, SIGKILL);

  g_assert_cmpint (neighbour->n_ended, ==, 0);
  told = run_shell_wait (sandbox, "echo > /tmp/fifo");
  run_wait (neighbour);
  assert_exited (neighbour, 6);
  g_assert_cmpint (sandbox_count_others (sandbox), ==, 0);
  g_assert_no_error (sandbox->lost);
}

static void
test_end_early (void)
{
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) killed = run_shell (sandbox, "sleep 60");
  g_autoptr(Run) signalled = NULL;
  g_autoptr(Run) done = run_shell_wait (sandbox, "exit 4");

  g_test_summary ("An exec may be ended or signalled before it has started and after it has ended");
  _sbx_init_channel_end (sandbox->channel, killed->id);
  run_wait (killed);
  g_assert_no_error (killed->error);
  g_assert_cmpint (killed->end.kind, !=, SBX_INIT_END_EXITED);

  signalled = run_shell (sandbox, "sleep 60");
  _sbx_init_channel_signal (sandbox->channel, signalled->id, SIGTERM);
  run_wait (signalled);
  assert_end (signalled, SBX_INIT_END_SIGNALLED, SBX_INIT_STAGE_NONE, SIGTERM);

  _sbx_init_channel_end (sandbox->channel, done->id);
  _sbx_init_channel_signal (sandbox->channel, done->id, SIGTERM);
  _sbx_init_channel_signal (sandbox->channel, 12345, SIGTERM);
  g_assert_cmpint (sandbox_count_others (sandbox), ==, 0);
}

static void
test_signal (void)
{
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) trapped = run_shell (sandbox, "trap 'echo got; exit 9' USR1; echo ready; "
                                               "while :; do sleep 0.01; done");
  g_autoptr(Run) group = run_shell (sandbox, "(trap 'echo child; exit 0' USR2; echo ready; "
                                             "while :; do sleep 0.01; done) & trap : USR2; "
                                             "wait; wait; exit 8");

  g_test_summary ("A signal reaches the command's whole process group");
  wait_for_output (trapped, "ready");
  _sbx_init_channel_signal (sandbox->channel, trapped->id, SIGUSR1);
  run_wait (trapped);
  assert_exited (trapped, 9);
  g_assert_cmpstr (trapped->output[0]->str, ==, "ready\ngot\n");

  wait_for_output (group, "ready");
  _sbx_init_channel_signal (sandbox->channel, group->id, SIGUSR2);
  run_wait (group);
  assert_exited (group, 8);
  g_assert_cmpstr (group->output[0]->str, ==, "ready\nchild\n");
}

static void
test_kill_supervisor (void)
{
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) bystander = run_shell (sandbox, "echo ready; read x; exit 6");
  g_autoptr(Run) own = run_shell (sandbox, "setsid sleep 60 & (trap '' TERM; exec sleep 61) & "
                                           "kill -9 $PPID; sleep 62");
  g_autoptr(Run) self = NULL;

  g_test_summary ("Who kills its supervisor dies with all it started; the exec is lost");
  run_wait (own);
  assert_end (own, SBX_INIT_END_LOST, SBX_INIT_STAGE_NONE, 0);

  self = run_argv (sandbox, SBX_INIT_VERB_EXEC,
                   (const char * const[]) { "/run/helper", "orphaned-bomb", NULL });
  run_wait (self);
  assert_end (self, SBX_INIT_END_LOST, SBX_INIT_STAGE_NONE, 0);

  /* The other one has /dev/null as its input. */
  run_wait (bystander);
  assert_exited (bystander, 6);
  g_assert_cmpint (sandbox_count_others (sandbox), ==, 0);
  g_assert_no_error (sandbox->lost);
}

static void
test_kill_everything (void)
{
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) run_free);
  g_autoptr(Run) killer = NULL;
  g_autoptr(Run) after = NULL;

  g_test_summary ("A command that kills all it can reach costs its neighbours, not the sandbox");

  for (guint i = 0; i < 10; i++)
    {
      g_ptr_array_add (runs, run_shell (sandbox, "setsid sleep 60 & echo ready; sleep 61"));
      wait_for_output ((Run *) runs->pdata[i], "ready");
    }

  killer = run_shell (sandbox, "kill -9 -1; sleep 60");
  for (guint i = 0; i < runs->len; i++)
    {
      Run *run = runs->pdata[i];

      run_wait (run);
      g_assert_no_error (run->error);
      g_assert_cmpint (run->end.kind, !=, SBX_INIT_END_EXITED);
    }

  /* kill -1 leaves out who calls it, who then is a stray. */
  run_wait (killer);
  assert_end (killer, SBX_INIT_END_LOST, SBX_INIT_STAGE_NONE, 0);

  after = run_shell_wait (sandbox, "exit 5");
  assert_exited (after, 5);
  g_assert_cmpint (sandbox_count_others (sandbox), ==, 0);
}

static void
test_stop_supervisor (void)
{
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) own = run_shell (sandbox, "sleep 60 & kill -STOP $PPID; exit 5");
  g_autoptr(Run) again = run_shell (sandbox, "echo ready; while :; do kill -STOP $PPID; done");

  g_test_summary ("Who stops its supervisor gains nothing");
  run_wait (own);
  assert_exited (own, 5);

  wait_for_output (again, "ready");
  _sbx_init_channel_end (sandbox->channel, again->id);
  assert_killed (again);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/init/tree/left-behind", test_left_behind);
  g_test_add_func ("/init/tree/end", test_end);
  g_test_add_func ("/init/tree/bomb", test_bomb);
  g_test_add_func ("/init/tree/end-early", test_end_early);
  g_test_add_func ("/init/tree/signal", test_signal);
  g_test_add_func ("/init/tree/kill-supervisor", test_kill_supervisor);
  g_test_add_func ("/init/tree/kill-everything", test_kill_everything);
  g_test_add_func ("/init/tree/stop-supervisor", test_stop_supervisor);

  return g_test_run ();
}
