/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "bench.h"

#include <sbx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Our provider as a process, driven by the least that a client can be; and what a command costs
 * through our client and that process, against the same in this process.
 */

#define N_RUNS 5
#define N_EXECS 300

static double
measure (const char * const *argv)
{
  g_autofree char *text = NULL;
  g_autoptr(GError) error = NULL;
  double seconds = 0;

  if (!g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &text, NULL, NULL,
                     &error))
    g_error ("%s: %s", argv[0], error->message);
  if (sscanf (text, "%lf", &seconds) != 1)
    g_error ("%s printed no time", argv[0]);

  return seconds;
}

/* Microseconds for each of @count. */
static double
drive (const char *name,
       const char *count,
       const char *provider)
{
  const char *argv[] = { g_getenv ("SBX_FLOOR_CLIENT"), name, count, provider, "serve", NULL };

  return measure (argv) / g_ascii_strtod (count, NULL) * 1e6;
}

static void
compare_cases (const char *what,
               const char *name,
               const char *count,
               const char *program,
               const char *peer,
               const char *peer_name,
               const char *peer_program,
               const char *goal)
{
  BenchSample ours, theirs;

  bench_sample_init (&ours);
  bench_sample_init (&theirs);
  for (int i = 0; i < N_RUNS; i++)
    {
      bench_sample_add (&ours, drive (name, count, program));
      bench_sample_add (&theirs, drive (peer_name, count, peer_program));
    }

  bench_report (what, bench_sample_median (&ours), peer, bench_sample_median (&theirs), "us", goal);
  bench_sample_clear (&ours);
  bench_sample_clear (&theirs);
}

static double
exec_once (SbxSession *session)
{
  const char *argv[] = { "true", NULL };
  g_autoptr(SbxCommand) command = sbx_command_new (argv);
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;
  const gint64 begin = g_get_monotonic_time ();

  result = sbx_session_exec (session, command, NULL, &error);
  if (result == NULL || !sbx_exec_result_get_success (result))
    g_error ("true failed: %s", error != NULL ? error->message : "");

  return (g_get_monotonic_time () - begin) / 1000.0;
}

static SbxSession *
open_session (SbxProvider *provider,
              const char  *workspace)
{
  g_autoptr(SbxOpenRequest) request = sbx_open_request_new_for_profile (workspace, "default");
  g_autoptr(GError) error = NULL;
  SbxSession *session = sbx_provider_open (provider, request, NULL, &error);

  if (session == NULL)
    g_error ("no session: %s", error->message);

  return session;
}

static void
compare_exec (const char *workspace)
{
  const char *argv[] = { g_getenv ("SBX_PROVIDER_BWRAP"), "serve", NULL };
  g_autoptr(SbxProviderClient) client = sbx_provider_client_new (argv);
  g_autoptr(SbxBwrapProvider) bwrap = sbx_bwrap_provider_new ();
  g_autoptr(SbxSession) far = NULL;
  g_autoptr(SbxSession) near = open_session (SBX_PROVIDER (bwrap), workspace);
  BenchSample ours, theirs;

  sbx_provider_client_set_provider_name (client, "bwrap");
  far = open_session (SBX_PROVIDER (client), workspace);
  bench_sample_init (&ours);
  bench_sample_init (&theirs);
  for (int i = 0; i < N_EXECS; i++)
    {
      bench_sample_add (&ours, exec_once (far));
      bench_sample_add (&theirs, exec_once (near));
    }

  bench_report ("exec of true, client and server", bench_sample_median (&ours),
                "the same in this process", bench_sample_median (&theirs), "ms", "<= 1.6");
  bench_sample_clear (&ours);
  bench_sample_clear (&theirs);
  sbx_session_close (far, NULL, NULL);
  sbx_session_close (near, NULL, NULL);
  sbx_provider_client_close (client, NULL, NULL);
}

int
main (int    argc,
      char **argv)
{
  g_autofree char *dir = g_dir_make_tmp ("sbx-bench-XXXXXX", NULL);
  g_autofree char *remove = g_strdup_printf ("rm -rf '%s'", dir);
  const char *floor = g_getenv ("SBX_FLOOR_PROVIDER");
  const char *bwrap = g_getenv ("SBX_PROVIDER_BWRAP");
  const char *memory = g_getenv ("SBX_MEMORY_PROVIDER");

  g_setenv ("FLOOR_WORKSPACE", dir, TRUE);
  compare_cases ("a small request", "read", "20000", memory, "the least provider", "read", floor,
                 "well below the reference's 6.6");
  compare_cases ("read_file, 64 in flight", "ahead", "20000", memory, "one at a time", "read",
                 memory, "<= 0.33");
  compare_cases ("the same in a sandbox", "ahead", "1000", bwrap, "one at a time", "read", bwrap,
                 "<= 0.33");
  compare_cases ("write_file of 64 MiB, each MiB", "write", "64", memory, "the least provider",
                 "write", floor, "well below the reference's 12");
  compare_exec (dir);

  return g_spawn_command_line_sync (remove, NULL, NULL, NULL, NULL) ? EXIT_SUCCESS : EXIT_FAILURE;
}
