/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "bench.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

#define TIMER_MS 5

extern char **environ;

void
bench_sample_init (BenchSample *self)
{
  self->values = g_array_new (FALSE, FALSE, sizeof (double));
}

void
bench_sample_add (BenchSample *self,
                  double       value)
{
  g_array_append_val (self->values, value);
}

static int
compare (gconstpointer a,
         gconstpointer b)
{
  const double x = *(const double *) a;
  const double y = *(const double *) b;

  return x < y ? -1 : x > y;
}

double
bench_sample_median (BenchSample *self)
{
  g_assert_cmpuint (self->values->len, >, 0);
  g_array_sort (self->values, compare);

  return g_array_index (self->values, double, self->values->len / 2);
}

void
bench_sample_clear (BenchSample *self)
{
  g_clear_pointer (&self->values, g_array_unref);
}

double
bench_spawn (const char * const *argv,
             const int          *fds)
{
  posix_spawn_file_actions_t actions;
  const gint64 begin = g_get_monotonic_time ();
  int status;
  pid_t pid;

  posix_spawn_file_actions_init (&actions);
  posix_spawn_file_actions_addopen (&actions, 1, "/dev/null", O_WRONLY, 0);
  for (; fds != NULL && fds[0] >= 0; fds += 2)
    posix_spawn_file_actions_adddup2 (&actions, fds[0], fds[1]);

  if (posix_spawnp (&pid, argv[0], &actions, NULL, (char **) argv, environ) != 0)
    g_error ("%s cannot be started", argv[0]);
  while (waitpid (pid, &status, 0) < 0)
    ;
  posix_spawn_file_actions_destroy (&actions);

  if (!WIFEXITED (status) || WEXITSTATUS (status) != 0)
    g_error ("%s failed with status %d", argv[0], status);

  return (g_get_monotonic_time () - begin) / 1000.0;
}

void
bench_report (const char *what,
              double      ours,
              const char *peer,
              double      theirs,
              const char *unit,
              const char *goal)
{
  g_print ("%-38s %10.3f %s   %-34s %10.3f %s   ratio %6.2f   (goal: %s)\n",
           what, ours, unit, peer, theirs, unit, ours / theirs, goal);
}

static gboolean
tick_cb (gpointer user_data)
{
  BenchTimer *self = user_data;
  const gint64 now = g_get_monotonic_time ();

  self->worst_ms = MAX (self->worst_ms, (now - self->last) / 1000.0 - TIMER_MS);
  self->last = now;

  return G_SOURCE_CONTINUE;
}

void
bench_timer_start (BenchTimer *self)
{
  self->worst_ms = 0;
  self->last = g_get_monotonic_time ();
  self->source = g_timeout_source_new (TIMER_MS);
  g_source_set_callback (self->source, tick_cb, self, NULL);
  g_source_attach (self->source, NULL);
}

double
bench_timer_stop (BenchTimer *self)
{
  g_source_destroy (self->source);
  g_clear_pointer (&self->source, g_source_unref);

  return self->worst_ms;
}
