/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "bench.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What a reach costs when a sandbox is opened: the tool with a spec of 20 directories to read, 5 to
 * write and a git repository, against the tool with nothing but the working directory; and against
 * srt, npm's @anthropic-ai/sandbox-runtime, with a configuration that gives the same. SBX_SRT is
 * its program, or it is found on PATH.
 */

#define N_RUNS 40
#define N_PEER_RUNS 10
#define N_READ 20
#define N_WRITE 5

static char *
make_dir (const char *base,
          const char *name)
{
  char *path = g_build_filename (base, name, NULL);

  g_assert_cmpint (g_mkdir (path, 0755), ==, 0);

  return path;
}

/* A list of @n new directories, as both kinds of configuration write it. */
static char *
make_dirs (const char *base,
           const char *prefix,
           int         n)
{
  g_autoptr(GString) list = g_string_new (NULL);

  for (int i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("%s-%d", prefix, i);
      g_autofree char *path = make_dir (base, name);

      g_string_append_printf (list, "%s\"%s\"", i > 0 ? ", " : "", path);
    }

  return g_string_free (g_steal_pointer (&list), FALSE);
}

static void
make_repository (const char *project)
{
  const char *init[] = { "git", "init", "-q", project, NULL };
  const char *commit[] = {
    "git", "-C", project, "-c", "user.name=n", "-c", "user.email=e", "commit", "-q",
    "--allow-empty", "-m", "first", NULL,
  };

  bench_spawn (init, NULL);
  bench_spawn (commit, NULL);
}

static char *
write_file (const char *base,
            const char *name,
            const char *text)
{
  char *path = g_build_filename (base, name, NULL);
  g_autoptr(GError) error = NULL;

  g_file_set_contents (path, text, -1, &error);
  g_assert_no_error (error);

  return path;
}

static void
compare (const char         *what,
         const char * const *ours,
         const char         *peer,
         const char * const *theirs,
         int                 n_runs,
         const char         *goal)
{
  BenchSample one, other;

  bench_sample_init (&one);
  bench_sample_init (&other);
  bench_spawn (ours, NULL);
  bench_spawn (theirs, NULL);

  for (int i = 0; i < n_runs; i++)
    {
      bench_sample_add (&one, bench_spawn (ours, NULL));
      bench_sample_add (&other, bench_spawn (theirs, NULL));
    }

  bench_report (what, bench_sample_median (&one), peer, bench_sample_median (&other), "ms", goal);
  bench_sample_clear (&one);
  bench_sample_clear (&other);
}

static void
compare_with_srt (const char *base,
                  const char *read,
                  const char *write,
                  const char *spec)
{
  g_autofree char *found = g_find_program_in_path ("srt");
  const char *program = g_getenv ("SBX_SRT") != NULL ? g_getenv ("SBX_SRT") : found;
  g_autofree char *text = NULL;
  g_autofree char *settings = NULL;
  const char *ours[] = { g_getenv ("SBX_TOOL"), "run", "--spec", spec, "--", "true", NULL };
  const char *theirs[] = { program, "--settings", NULL, "true", NULL };

  if (program == NULL)
    {
      g_print ("# srt is not here, and was not measured: npm install "
               "@anthropic-ai/sandbox-runtime, and set SBX_SRT to its program\n");
      return;
    }

  text = g_strdup_printf ("{\"network\": {\"allowedDomains\": [], \"deniedDomains\": []}, "
                          "\"filesystem\": {\"denyRead\": [\"%s\"], \"allowRead\": [%s], "
                          "\"allowWrite\": [\".\", %s], \"denyWrite\": []}}",
                          base, read, write);
  settings = write_file (base, "srt.json", text);
  theirs[2] = settings;
  compare ("sbx-tool run --spec", ours, "srt", theirs, N_PEER_RUNS, "<= 0.05");
}

int
main (int    argc,
      char **argv)
{
  g_autofree char *base = g_dir_make_tmp ("sbx-bench-XXXXXX", NULL);
  g_autofree char *project = make_dir (base, "project");
  g_autofree char *read = make_dirs (base, "read", N_READ);
  g_autofree char *write = make_dirs (base, "write", N_WRITE - 1);
  g_autofree char *text = g_strdup_printf ("{\"read\": [%s], \"write\": [\".\", %s]}", read, write);
  g_autofree char *spec = write_file (base, "spec.json", text);
  const char *ours[] = { g_getenv ("SBX_TOOL"), "run", "--spec", spec, "--", "true", NULL };
  const char *plain[] = { g_getenv ("SBX_TOOL"), "run", "--write", ".", "--", "true", NULL };
  const char *clean[] = { "rm", "-rf", base, NULL };

  g_assert_nonnull (ours[0]);
  g_assert_nonnull (base);
  make_repository (project);
  g_chdir (project);

  compare ("sbx-tool run --spec, 20 read, 5 write, git", ours, "sbx-tool run --write .", plain,
           N_RUNS, "<= 1.5");
  compare_with_srt (base, read, write, spec);

  g_chdir ("/");
  bench_spawn (clean, NULL);

  return EXIT_SUCCESS;
}
