/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <sbx.h>

#include "bench.h"

#include <glib/gstdio.h>
#include <stdlib.h>

/*
 * What a command costs in a sandbox that is open: against starting the same program with nothing
 * around it, and against starting bubblewrap for it.
 */

#define N_WARM_UP 20
#define N_RUNS 500
#define N_BWRAP_RUNS 60

static const char * const command[] = { "/bin/true", NULL };

static double
run_exec (SbxSession *session,
          SbxCommand *what)
{
  const gint64 begin = g_get_monotonic_time ();
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxExecResult) result = sbx_session_exec (session, what, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (sbx_exec_result_get_success (result));

  return (g_get_monotonic_time () - begin) / 1000.0;
}

int
main (int    argc,
      char **argv)
{
  const char * const bwrap[] = {
    "bwrap", "--unshare-all", "--cap-drop", "ALL", "--ro-bind", "/", "/", "--proc", "/proc",
    "--dev", "/dev", "--tmpfs", "/tmp", "/bin/true", NULL
  };
  g_autofree char *cwd = g_dir_make_tmp ("sbx-bench-XXXXXX", NULL);
  g_autoptr(SbxReach) reach = sbx_reach_new (cwd);
  g_autoptr(SbxOpenRequest) request = sbx_open_request_new (reach);
  g_autoptr(SbxBwrapProvider) provider = sbx_bwrap_provider_new ();
  g_autoptr(SbxCommand) what = sbx_command_new (command);
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(GError) error = NULL;
  BenchSample ours, bare, each;
  BenchTimer timer;
  double late;

  session = sbx_provider_open (SBX_PROVIDER (provider), request, NULL, &error);
  g_assert_no_error (error);

  bench_sample_init (&ours);
  bench_sample_init (&bare);
  bench_sample_init (&each);

  bench_timer_start (&timer);
  for (int i = 0; i < N_WARM_UP; i++)
    run_exec (session, what);
  for (int i = 0; i < N_RUNS; i++)
    {
      bench_sample_add (&ours, run_exec (session, what));
      bench_sample_add (&bare, bench_spawn (command, NULL));
    }
  late = bench_timer_stop (&timer);

  for (int i = 0; i < N_BWRAP_RUNS; i++)
    bench_sample_add (&each, bench_spawn (bwrap, NULL));

  bench_report ("exec of true, open session", bench_sample_median (&ours),
                "posix_spawn of true", bench_sample_median (&bare), "ms", "<= 2");
  bench_report ("bwrap for one command", bench_sample_median (&each),
                "exec of true, open session", bench_sample_median (&ours), "ms", ">= 4");
  g_print ("5 ms timer meanwhile: late by %.1f ms at the worst (goal: <= 50)\n", late);

  sbx_session_close (session, NULL, &error);
  g_assert_no_error (error);
  bench_sample_clear (&ours);
  bench_sample_clear (&bare);
  bench_sample_clear (&each);
  g_rmdir (cwd);

  return EXIT_SUCCESS;
}
