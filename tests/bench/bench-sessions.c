/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <sbx.h>

#include "bench.h"

#include <glib/gstdio.h>
#include <malloc.h>
#include <stdlib.h>

/*
 * 100 sessions open at once in one process: what each costs in memory of ours, that none has a
 * thread, and what the caller's main loop feels of it.
 */

#define N_SESSIONS 100

static void
store_cb (GObject      *object,
          GAsyncResult *result,
          gpointer      user_data)
{
  GPtrArray *sessions = user_data;
  g_autoptr(GError) error = NULL;
  SbxSession *session = sbx_provider_open_finish (SBX_PROVIDER (object), result, &error);

  g_assert_no_error (error);
  g_ptr_array_add (sessions, session);
}

static void
count_cb (GObject      *object,
          GAsyncResult *result,
          gpointer      user_data)
{
  guint *left = user_data;
  g_autoptr(GError) error = NULL;

  if (SBX_IS_SESSION (object) && g_async_result_is_tagged (result, sbx_session_close_async))
    sbx_session_close_finish (SBX_SESSION (object), result, &error);
  else
    g_object_unref (sbx_session_exec_finish (SBX_SESSION (object), result, &error));

  g_assert_no_error (error);
  (*left)--;
}

static guint
count_threads (void)
{
  g_autoptr(GDir) dir = g_dir_open ("/proc/self/task", 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;

  return n;
}

static void
exec_everywhere (GPtrArray *sessions)
{
  const char *argv[] = { "/bin/true", NULL };
  g_autoptr(SbxCommand) command = sbx_command_new (argv);
  guint left = sessions->len;

  for (guint i = 0; i < sessions->len; i++)
    sbx_session_exec_async (g_ptr_array_index (sessions, i), command, NULL, count_cb, &left);
  while (left > 0)
    g_main_context_iteration (NULL, TRUE);
}

int
main (int    argc,
      char **argv)
{
  g_autofree char *cwd = g_dir_make_tmp ("sbx-bench-XXXXXX", NULL);
  g_autoptr(SbxReach) reach = sbx_reach_new (cwd);
  g_autoptr(SbxOpenRequest) request = sbx_open_request_new (reach);
  g_autoptr(SbxBwrapProvider) provider = sbx_bwrap_provider_new ();
  g_autoptr(GPtrArray) sessions = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr(SbxSession) first = sbx_provider_open (SBX_PROVIDER (provider), request, NULL, NULL);
  struct mallinfo2 before, after;
  BenchTimer timer;
  guint threads;
  guint left;
  gint64 begin;

  g_assert_nonnull (first);
  threads = count_threads ();
  before = mallinfo2 ();

  bench_timer_start (&timer);
  begin = g_get_monotonic_time ();
  for (guint i = 0; i < N_SESSIONS; i++)
    sbx_provider_open_async (SBX_PROVIDER (provider), request, NULL, store_cb, sessions);
  while (sessions->len < N_SESSIONS)
    g_main_context_iteration (NULL, TRUE);

  after = mallinfo2 ();
  g_print ("%d sessions open: %.1f ms each, %.1f KiB of memory each (goal: <= 200)\n", N_SESSIONS,
           (g_get_monotonic_time () - begin) / 1000.0 / N_SESSIONS,
           (after.uordblks + after.hblkhd - before.uordblks - before.hblkhd)
             / 1024.0 / N_SESSIONS);

  exec_everywhere (sessions);
  g_print ("threads: %u with one session, %u with %d (a pool of workers comes and goes; "
           "goal: none per session)\n", threads, count_threads (), N_SESSIONS + 1);

  left = N_SESSIONS;
  for (guint i = 0; i < N_SESSIONS; i++)
    sbx_session_close_async (g_ptr_array_index (sessions, i), NULL, count_cb, &left);
  while (left > 0)
    g_main_context_iteration (NULL, TRUE);

  g_print ("5 ms timer meanwhile: late by %.1f ms at the worst (goal: <= 50)\n",
           bench_timer_stop (&timer));
  sbx_session_close (first, NULL, NULL);
  g_rmdir (cwd);

  return EXIT_SUCCESS;
}
