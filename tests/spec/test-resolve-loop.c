/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "mounts-util.h"
#include "resolver-util.h"

#include <sys/stat.h>

/* The main loop goes on while a thread looks at as many directories as one may give. */

#define N_ABOVE 100
#define N_BELOW 990
#define TICK_MS 5
#define LATE_MS 50

/* A machine with other things to do is late by itself at times, and not each time. */
#define N_TRIES 5

typedef struct
{
  gint64 last;     /* when the timer was last heard */
  gint64 latest;   /* how late it was at worst, in microseconds */
  guint  n;
} Clock;

static void
make_tree (const char *path)
{
  const int top = open (path, O_PATH | O_DIRECTORY | O_CLOEXEC);

  for (guint i = 0; i < N_ABOVE; i++)
    {
      char name[16];
      int fd;

      g_snprintf (name, sizeof name, "%u", i);
      g_assert_cmpint (mkdirat (top, name, 0755), ==, 0);
      fd = openat (top, name, O_PATH | O_DIRECTORY | O_CLOEXEC);

      for (guint j = 0; j < N_BELOW; j++)
        {
          g_snprintf (name, sizeof name, "%u", j);
          g_assert_cmpint (mkdirat (fd, name, 0755), ==, 0);
        }

      close (fd);
    }

  close (top);
}

static gboolean
tick_cb (gpointer data)
{
  Clock *clock = data;
  const gint64 now = g_get_monotonic_time ();

  clock->latest = MAX (clock->latest, now - clock->last - TICK_MS * 1000);
  clock->last = now;
  clock->n++;

  return G_SOURCE_CONTINUE;
}

static SbxReach *
resolve_with_clock (Fixture       *fixture,
                    SbxReach      *asked,
                    GCancellable  *cancellable,
                    Clock         *clock,
                    GError       **error)
{
  g_autoptr(GAsyncResult) result = NULL;
  guint timer;

  *clock = (Clock) { .last = g_get_monotonic_time () };
  timer = g_timeout_add (TICK_MS, tick_cb, clock);
  sbx_resolver_resolve_reach_async (fixture->resolver, asked, cancellable, test_store_result,
                                    &result);

  if (cancellable != NULL)
    {
      test_wait_for (clock->n > 2);
      g_cancellable_cancel (cancellable);
    }

  test_wait_for (result != NULL);
  g_source_remove (timer);

  return sbx_resolver_resolve_reach_finish (fixture->resolver, result, error);
}

static void
check_late (Fixture  *fixture,
            SbxReach *asked)
{
  gint64 best = G_MAXINT64;

  for (guint i = 0; i < N_TRIES && best > LATE_MS * 1000; i++)
    {
      g_autoptr(SbxReach) reach = NULL;
      g_autoptr(GError) error = NULL;
      Clock clock;

      reach = resolve_with_clock (fixture, asked, NULL, &clock, &error);
      g_assert_no_error (error);
      fixture_assert (fixture, reach, SBX_REACH_WRITE, "@/home/repo/tree+");
      g_assert_cmpuint (clock.n, >, 3);
      g_printerr ("%u ticks, at worst %" G_GINT64_FORMAT " us late\n", clock.n, clock.latest);
      best = MIN (best, clock.latest);
    }

  g_assert_cmpint (best, <=, LATE_MS * 1000);
}

/* It is heard of at once, and the thread stops too: a resolver that it held is let go. */
static void
check_cancel (Fixture  *fixture,
              SbxReach *asked)
{
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  SbxResolver *resolver;
  Clock clock;

  reach = resolve_with_clock (fixture, asked, cancellable, &clock, &error);
  g_assert_null (reach);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);

  resolver = fixture->resolver;
  g_object_add_weak_pointer (G_OBJECT (resolver), (gpointer *) &resolver);
  g_clear_object (&fixture->resolver);
  for (guint i = 0; resolver != NULL && i < TEST_DEADLINE_S * 1000; i++)
    g_usleep (1000);
  g_assert_null (resolver);
}

/* In memory, where this user may mount: a disk takes minutes for so many. */
static void
check_all (gboolean in_memory)
{
  g_auto(Fixture) fixture = { 0 };
  g_autoptr(SbxReach) asked = NULL;
  g_autofree char *path = NULL;

  if (in_memory)
    g_assert_true (mounts_enter (FALSE));

  fixture_init (&fixture, NULL);
  path = fixture_path (&fixture, "@/home/repo/tree");
  g_assert_cmpint (g_mkdir (path, 0755), ==, 0);
  if (in_memory)
    g_assert_cmpint (mount ("tree", path, "tmpfs", 0, "mode=755"), ==, 0);

  make_tree (path);
  asked = fixture_ask (&fixture, "@/home/notes");
  sbx_reach_add_write (asked, "tree");
  check_late (&fixture, asked);
  check_cancel (&fixture, asked);

  if (in_memory)
    g_assert_cmpint (umount2 (path, MNT_DETACH), ==, 0);
}

static void
test_large (void)
{
  if (g_test_subprocess ())
    check_all (TRUE);
  else if (!mounts_can_enter (FALSE))
    check_all (FALSE);
  else
    {
      g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
      g_test_trap_assert_passed ();
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);

  g_test_add_func ("/resolve/loop/large", test_large);

  return g_test_run ();
}
