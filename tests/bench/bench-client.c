/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "bench.h"

#include <sbx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/*
 * The client of sandbox.v1 against a provider that does nothing but answer, and in turn the least
 * that a client can be against the same one. Each case runs in a process of its own, so that its
 * peak of memory is known.
 */

#define MIB (1024 * 1024)
#define STREAM_MIB 256
#define LARGE_MIB 64
#define N_RUNS 5

typedef struct
{
  GMainLoop  *loop;
  SbxSession *session;
  GBytes     *content;
  guint       left;
  guint64     received;
} Case;

static SbxSession *
open_session (SbxProviderClient **client)
{
  const char *argv[] = { g_getenv ("SBX_FLOOR_PROVIDER"), "serve", NULL };
  g_autoptr(SbxOpenRequest) request = sbx_open_request_new_for_profile ("/", "default");
  g_autoptr(GError) error = NULL;
  SbxSession *session;

  *client = sbx_provider_client_new (argv);
  session = sbx_provider_open (SBX_PROVIDER (*client), request, NULL, &error);
  if (session == NULL)
    g_error ("no session: %s", error->message);

  return session;
}

static void
stdout_cb (SbxProcess *process,
           GBytes     *bytes,
           gpointer    user_data)
{
  ((Case *) user_data)->received += g_bytes_get_size (bytes);
}

static void
run_exec (Case *self)
{
  const char *argv[] = { "x", NULL };
  g_autoptr(SbxCommand) command = sbx_command_new (argv);
  g_autoptr(SbxProcess) process = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;

  sbx_command_set_collect_limit (command, 0);
  process = sbx_session_create_process (self->session, command);
  g_signal_connect (process, "stdout", G_CALLBACK (stdout_cb), self);
  result = sbx_process_run (process, NULL, &error);
  if (result == NULL)
    g_error ("exec: %s", error->message);
}

static void read_next (Case *self);

static void
read_cb (GObject      *object,
         GAsyncResult *result,
         gpointer      user_data)
{
  g_autoptr(GBytes) bytes = sbx_session_read_file_finish (SBX_SESSION (object), result, NULL);

  g_assert_nonnull (bytes);
  read_next (user_data);
}

static void
read_next (Case *self)
{
  if (self->left-- == 0)
    g_main_loop_quit (self->loop);
  else
    sbx_session_read_file_async (self->session, "f", 0, NULL, read_cb, self);
}

static GBytes *
make_content (void)
{
  char *data = g_malloc (LARGE_MIB * MIB);

  memset (data, 'x', LARGE_MIB * MIB);

  return g_bytes_new_take (data, LARGE_MIB * MIB);
}

static void
run_pair (Case *self)
{
  g_autoptr(GBytes) read = NULL;
  g_autoptr(GError) error = NULL;

  if (!sbx_session_write_file (self->session, "f", self->content, 0, NULL, &error))
    g_error ("write_file: %s", error->message);
  read = sbx_session_read_file (self->session, "f", 0, NULL, &error);
  if (read == NULL)
    g_error ("read_file: %s", error->message);
  g_assert_cmpuint (g_bytes_get_size (read), ==, LARGE_MIB * MIB);
}

/* In a process of its own: prints how long the case took, how late the timer was, and the peak of
 * this process's memory. */
static int
run_case (const char *name)
{
  g_autoptr(SbxProviderClient) client = NULL;
  Case self = { 0 };
  BenchTimer timer;
  struct rusage usage;
  double seconds;
  gint64 begin;

  self.session = open_session (&client);
  self.loop = g_main_loop_new (NULL, FALSE);
  if (strcmp (name, "pair") == 0)
    self.content = make_content ();
  bench_timer_start (&timer);
  begin = g_get_monotonic_time ();

  if (strcmp (name, "exec") == 0)
    run_exec (&self);
  else if (strcmp (name, "pair") == 0)
    run_pair (&self);
  else
    {
      self.left = (guint) g_ascii_strtoull (name, NULL, 10);
      read_next (&self);
      g_main_loop_run (self.loop);
    }

  seconds = (g_get_monotonic_time () - begin) / 1e6;
  getrusage (RUSAGE_SELF, &usage);
  printf ("%.6f %.3f %.1f\n", seconds, bench_timer_stop (&timer), usage.ru_maxrss / 1024.0);
  sbx_session_close (self.session, NULL, NULL);
  sbx_provider_client_close (client, NULL, NULL);
  g_object_unref (self.session);
  g_main_loop_unref (self.loop);
  g_clear_pointer (&self.content, g_bytes_unref);

  return EXIT_SUCCESS;
}

typedef struct
{
  BenchSample seconds;
  double      worst_ms;
  double      peak_mib;
} Figures;

/* Runs a program that prints seconds and perhaps a lateness; with "pinned" on one core. */
static void
measure (const char * const *argv,
         gboolean            pinned,
         Figures            *figures)
{
  g_autoptr(GPtrArray) whole = g_ptr_array_new ();
  g_autofree char *text = NULL;
  g_autoptr(GError) error = NULL;
  double seconds = 0, late = 0, peak = 0;

  if (pinned)
    for (gsize i = 0; i < 3; i++)
      g_ptr_array_add (whole, (gpointer) ((const char *[]) { "taskset", "-c", "0" })[i]);
  for (gsize i = 0; argv[i] != NULL; i++)
    g_ptr_array_add (whole, (gpointer) argv[i]);
  g_ptr_array_add (whole, NULL);

  if (!g_spawn_sync (NULL, (char **) whole->pdata, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &text,
                     NULL, NULL, &error))
    g_error ("%s: %s", argv[0], error->message);
  if (sscanf (text, "%lf %lf %lf", &seconds, &late, &peak) < 1)
    g_error ("%s printed no time", argv[0]);

  bench_sample_add (&figures->seconds, seconds);
  figures->worst_ms = MAX (figures->worst_ms, late);
  figures->peak_mib = MAX (figures->peak_mib, peak);
}

static void
compare (const char *self,
         const char *what,
         const char *name,
         const char *floor_case,
         const char *floor_count,
         gboolean    pinned,
         const char *goal)
{
  const char *ours[] = { self, "case", name, NULL };
  const char *floor[] = { g_getenv ("SBX_FLOOR_CLIENT"), floor_case, floor_count,
                          g_getenv ("SBX_FLOOR_PROVIDER"), "serve", NULL };
  Figures our_figures = { 0 }, floor_figures = { 0 };

  bench_sample_init (&our_figures.seconds);
  bench_sample_init (&floor_figures.seconds);
  for (int i = 0; i < N_RUNS; i++)
    {
      measure (ours, pinned, &our_figures);
      measure (floor, pinned, &floor_figures);
    }

  bench_report (what, bench_sample_median (&our_figures.seconds) * 1000, "the least client",
                bench_sample_median (&floor_figures.seconds) * 1000, "ms", goal);
  g_print ("  timer at most %.1f ms late\n", our_figures.worst_ms);
  bench_sample_clear (&our_figures.seconds);
  bench_sample_clear (&floor_figures.seconds);
}

static void
report_peak (const char *self,
             const char *what,
             const char *name,
             const char *goal)
{
  const char *ours[] = { self, "case", name, NULL };
  Figures figures = { 0 };

  bench_sample_init (&figures.seconds);
  for (int i = 0; i < N_RUNS; i++)
    measure (ours, FALSE, &figures);

  g_print ("%-38s %6.0f MiB at the peak, timer at most %.1f ms late (goal: %s)\n", what,
           figures.peak_mib, figures.worst_ms, goal);
  bench_sample_clear (&figures.seconds);
}

int
main (int    argc,
      char **argv)
{
  const char *stream = G_STRINGIFY (STREAM_MIB);

  if (argc == 3)
    return run_case (argv[2]);

  g_setenv ("FLOOR_STREAM", stream, TRUE);
  compare (argv[0], "256 MiB of output, 64 KiB events", "exec", "exec", "1", FALSE,
           "<= 0.18 s where the floor takes 0.1");
  report_peak (argv[0], "the same", "exec", "flat");
  g_setenv ("FLOOR_CHUNK", "8192", TRUE);
  compare (argv[0], "256 MiB of output, 8 KiB events", "exec", "exec", "1", FALSE,
           "<= 0.24 s where the floor takes 0.07");
  report_peak (argv[0], "the same", "exec", "flat");

  g_setenv ("FLOOR_CHUNK", "65536", TRUE);
  g_setenv ("FLOOR_STREAM", G_STRINGIFY (LARGE_MIB), TRUE);
  g_setenv ("FLOOR_REPEAT", "1", TRUE);
  report_peak (argv[0], "64 MiB of output, repeated in the result", "exec",
               "<= 80 MiB");
  g_unsetenv ("FLOOR_REPEAT");

  compare (argv[0], "20,000 reads of 100 bytes, pinned", "20000", "read", "20000", TRUE, "<= 3");

  g_setenv ("FLOOR_PAYLOAD", G_STRINGIFY (67108864), TRUE);
  compare (argv[0], "write and read 64 MiB", "pair", "write", "64", FALSE, "<= 0.19 s");
  report_peak (argv[0], "the same", "pair", "<= 160 MiB");

  return EXIT_SUCCESS;
}
