/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "init-fixture.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void
test_ends (void)
{
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) good = run_argv (sandbox, SBX_INIT_VERB_EXEC,
                                  (const char * const[]) { "true", NULL });
  g_autoptr(Run) bad = run_shell (sandbox, "exit 7");
  g_autoptr(Run) killed = run_shell (sandbox, "kill -TERM $$");
  g_autoptr(Run) output = run_shell (sandbox, "echo out; echo err >&2; exit 255");

  g_test_summary ("Exit codes, signals and output arrive as they were");
  run_wait (good);
  assert_exited (good, 0);
  g_assert_cmpint (good->n_started, ==, 1);
  g_assert_cmpint (good->pid, >, 1);

  run_wait (bad);
  assert_exited (bad, 7);

  run_wait (killed);
  assert_end (killed, SBX_INIT_END_SIGNALLED, SBX_INIT_STAGE_NONE, SIGTERM);
  g_assert_false (killed->end.core_dumped);

  run_wait (output);
  assert_exited (output, 255);
  g_assert_cmpstr (output->output[0]->str, ==, "out\n");
  g_assert_cmpstr (output->output[1]->str, ==, "err\n");
  g_assert_cmpint (sandbox_count_others (sandbox), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/init/exec/ends", test_ends);

  return g_test_run ();
}
