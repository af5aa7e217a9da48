/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "bench.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/*
 * 1 GiB of output through the tool, against the same bytes through a pipe and nothing else.
 */

#define FILE_SIZE (G_GUINT64_CONSTANT (1) << 30)
#define N_RUNS 5

static char *
make_file (const char *dir)
{
  g_autofree char *block = g_malloc (1 << 20);
  char *path = g_build_filename (dir, "large", NULL);
  FILE *file = fopen (path, "we");

  g_assert_nonnull (file);
  memset (block, 'x', 1 << 20);
  for (guint64 i = 0; i < FILE_SIZE >> 20; i++)
    g_assert_cmpuint (fwrite (block, 1, 1 << 20, file), ==, 1 << 20);
  fclose (file);

  return path;
}

int
main (int    argc,
      char **argv)
{
  g_autofree char *dir = g_dir_make_tmp ("sbx-bench-XXXXXX", NULL);
  g_autofree char *path = make_file (dir);
  g_autofree char *pipeline = g_strdup_printf ("cat '%s' | cat > /dev/null", path);
  const char *tool[] = { g_getenv ("SBX_TOOL"), "run", "--cwd", dir, "--", "cat", path, NULL };
  const char *bare[] = { "sh", "-c", pipeline, NULL };
  BenchSample ours, theirs;
  struct rusage usage;

  g_assert_nonnull (tool[0]);
  bench_sample_init (&ours);
  bench_sample_init (&theirs);
  bench_spawn (bare, NULL);
  for (int i = 0; i < N_RUNS; i++)
    {
      bench_sample_add (&ours, FILE_SIZE / (double) (1 << 20) / bench_spawn (tool, NULL));
      bench_sample_add (&theirs, FILE_SIZE / (double) (1 << 20) / bench_spawn (bare, NULL));
    }

  bench_report ("1 GiB through sbx-tool run", bench_sample_median (&ours),
                "cat FILE | cat > /dev/null", bench_sample_median (&theirs), "MiB/ms", ">= 0.5");
  getrusage (RUSAGE_CHILDREN, &usage);
  g_print ("the largest of these processes had %ld MiB in memory (goal: flat, below 32)\n",
           usage.ru_maxrss / 1024);

  bench_sample_clear (&ours);
  bench_sample_clear (&theirs);
  g_unlink (path);
  g_rmdir (dir);

  return EXIT_SUCCESS;
}
