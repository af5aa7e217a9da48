/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* What the benchmarks share. A figure is the median of many runs; what is compared is measured in
 * turns, so that whatever else the machine does falls on both alike. */

typedef struct
{
  GArray *values;   /* of double */
} BenchSample;

void   bench_sample_init   (BenchSample        *self);
void   bench_sample_add    (BenchSample        *self,
                            double              value);
double bench_sample_median (BenchSample        *self);
void   bench_sample_clear  (BenchSample        *self);

/* Starts a program with its standard output on /dev/null, waits for it, and returns how long that
 * took, in milliseconds. Aborts when it fails. @fds (nullable) are pairs of own and target numbers,
 * ended by -1. */
double bench_spawn         (const char * const *argv,
                            const int          *fds);

/* Prints one line of the report: what, the figure, the floor or peer, and the goal for the
 * ratio. */
void   bench_report        (const char         *what,
                            double              ours,
                            const char         *peer,
                            double              theirs,
                            const char         *unit,
                            const char         *goal);

/* Watches a 5 ms timer in the default context. */
typedef struct
{
  GSource *source;
  gint64   last;
  double   worst_ms;   /* how late it was at the worst */
} BenchTimer;

void   bench_timer_start   (BenchTimer         *self);
double bench_timer_stop    (BenchTimer         *self);

G_END_DECLS
