/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "bench.h"

#include "bwrap/sbx-bwrap-arguments-private.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * The tool from its start to its end, against bubblewrap alone with the very same mounts: the plan
 * that the library makes, handed to bwrap without the library, and with true as the command.
 */

#define N_RUNS 60
#define FIRST_FREE_FD 200

static SbxBwrapPlan *
make_plan (const char *dir)
{
  g_autofree char *tmp = g_build_filename (dir, "tmp", NULL);
  g_autofree char *home = g_build_filename (dir, "home", NULL);
  g_autofree char *project = g_build_filename (dir, "project", NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxReach) asked = sbx_reach_new (project);
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(SbxRoots) roots = NULL;
  SbxBwrapPlanInput input = {
    .tmp_path = tmp, .home_path = home, .init_path = g_getenv ("SBX_INIT"),
  };
  SbxBwrapPlan *plan;

  g_mkdir (tmp, 0700);
  g_mkdir (home, 0700);
  g_mkdir (project, 0700);
  roots = _sbx_bwrap_roots_new (NULL, NULL, NULL, asked, &error);
  g_assert_no_error (error);
  reach = _sbx_bwrap_reach_resolve (roots, asked, NULL, &error);
  g_assert_no_error (error);
  input.reach = reach;
  input.roots = roots;
  plan = _sbx_bwrap_plan_new (&input, NULL, &error);
  g_assert_no_error (error);

  return plan;
}

/* bwrap reads its arguments and copies files from where the offset of a descriptor is, so that
 * every run needs them rewound. */
static double
run_bare (SbxBwrapArguments *arguments,
          const int         *fds)
{
  const char *argv[] = { arguments->argv[0], "--args", arguments->argv[2], "/bin/true", NULL };

  for (const int *fd = fds; *fd >= 0; fd += 2)
    lseek (*fd, 0, SEEK_SET);

  return bench_spawn (argv, fds);
}

static int *
collect_fds (SbxBwrapArguments *arguments)
{
  int *fds = g_new (int, 2 * arguments->fds->len + 1);

  for (guint i = 0; i < arguments->fds->len; i++)
    {
      const SbxBwrapFd *fd = &g_array_index (arguments->fds, SbxBwrapFd, i);

      /* Out of the way of the numbers that they go to. */
      fds[2 * i] = fcntl (fd->source, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
      fds[2 * i + 1] = fd->target;
    }
  fds[2 * arguments->fds->len] = -1;

  return fds;
}

int
main (int    argc,
      char **argv)
{
  const char *tool[] = { g_getenv ("SBX_TOOL"), "run", "--", "/bin/true", NULL };
  g_autofree char *dir = g_dir_make_tmp ("sbx-bench-XXXXXX", NULL);
  g_autoptr(SbxBwrapPlan) plan = make_plan (dir);
  g_autofree char *path = _sbx_bwrap_probe_find (NULL, g_get_home_dir (), NULL, NULL);
  g_autofree char *project = g_build_filename (dir, "project", NULL);
  g_autoptr(SbxBwrapArguments) arguments = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree int *fds = NULL;
  SbxBwrapProgram program = { path, SBX_BWRAP_OPTION_BIND_FD };
  BenchSample ours, bare;

  g_assert_nonnull (tool[0]);
  arguments = _sbx_bwrap_arguments_new (plan, &program, -1, &error);
  g_assert_no_error (error);
  fds = collect_fds (arguments);
  g_chdir (project);

  bench_sample_init (&ours);
  bench_sample_init (&bare);
  bench_spawn (tool, NULL);
  run_bare (arguments, fds);
  for (int i = 0; i < N_RUNS; i++)
    {
      bench_sample_add (&ours, bench_spawn (tool, NULL));
      bench_sample_add (&bare, run_bare (arguments, fds));
    }

  bench_report ("sbx-tool run -- true", bench_sample_median (&ours),
                "bwrap with the same mounts", bench_sample_median (&bare), "ms", "<= 2.5");
  bench_sample_clear (&ours);
  bench_sample_clear (&bare);

  return EXIT_SUCCESS;
}
