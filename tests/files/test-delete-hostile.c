/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "test-files.h"

#include <sched.h>
#include <sys/mount.h>

/* What no attack may touch. */
#define PRECIOUS 20

/* More chains than one is through with at once, and deeper than streams are kept open. */
#define CHAINS 20
#define DEPTH 24

/*
 * Directories around the tree, more than there are levels in it. If what is tested ever breaks, it
 * may climb out of the tree and delete what it finds there: that must be these, as the user that
 * has nothing else, and not the directory of temporary files.
 */
#define NEST 64

static void
make_outside (const TestDir *dir)
{
  test_make_dir (dir->fd, "outside");

  for (int i = 0; i < PRECIOUS; i++)
    {
      g_autofree char *sub = g_strdup_printf ("outside/d%d", i);
      g_autofree char *file = g_build_filename (sub, "f", NULL);

      test_make_dir (dir->fd, sub);
      test_make_file (dir->fd, file, "precious");
    }
}

static void
assert_outside_whole (const TestDir *dir)
{
  for (int i = 0; i < PRECIOUS; i++)
    {
      g_autofree char *file = g_strdup_printf ("outside/d%d/f", i);

      g_assert_true (test_exists (dir->fd, file));
    }
}

/* The innermost of directories with a file each. */
static TestDir
make_nest (const TestDir *outer)
{
  g_autoptr(GString) path = g_string_new (outer->path);
  TestDir inner = { .fd = dup (outer->fd) };

  for (int i = 0; i < NEST; i++)
    {
      int next;

      test_make_file (inner.fd, "canary", "x");
      test_make_dir (inner.fd, "n");
      next = openat (inner.fd, "n", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      g_assert_cmpint (next, >=, 0);
      _sbx_clear_fd (&inner.fd);
      inner.fd = next;
      g_string_append (path, "/n");
    }

  inner.path = g_string_free (g_steal_pointer (&path), FALSE);
  return inner;
}

static void
assert_nest_whole (const TestDir *outer)
{
  g_autoptr(GString) path = g_string_new (NULL);

  for (int i = 0; i < NEST; i++)
    {
      g_autofree char *canary = g_strconcat (path->str, "canary", NULL);

      g_assert_true (test_exists (outer->fd, canary));
      g_string_append (path, "n/");
    }
}

/* "t" with chains of directories. */
static void
make_chains (const TestDir *dir,
             guint          depth)
{
  test_make_dir (dir->fd, "t");

  for (guint i = 0; i < CHAINS; i++)
    {
      g_autoptr(GString) path = g_string_new (NULL);

      g_string_printf (path, "t/c%u", i);
      test_make_dir (dir->fd, path->str);

      for (guint d = 0; d < depth; d++)
        {
          g_string_append (path, "/d");
          test_make_dir (dir->fd, path->str);
        }

      g_string_append (path, "/f");
      test_make_file (dir->fd, path->str, "x");
    }
}

typedef struct
{
  const TestDir *dir;
  GCancellable *cancellable;
  int stop;
  int done;
} Attack;

/* Swaps the directory that is deleted for a link to the outside, and back. */
static gpointer
swap_cb (gpointer data)
{
  Attack *self = data;

  while (!g_atomic_int_get (&self->stop))
    if (renameat2 (self->dir->fd, "t", self->dir->fd, "link", RENAME_EXCHANGE) == 0)
      g_atomic_int_inc (&self->done);

  return NULL;
}

/* Moves directories out of the tree, in between what is there, while somebody is in them. */
static gpointer
move_cb (gpointer data)
{
  Attack *self = data;

  for (guint i = 0; !g_atomic_int_get (&self->stop); i = (i + 1) % CHAINS)
    {
      g_autofree char *victim = g_strdup_printf ("t/c%u/d/d/d", i);
      g_autofree char *moved = g_strdup_printf ("outside/moved-%u", i);

      if (renameat (self->dir->fd, victim, self->dir->fd, moved) == 0)
        g_atomic_int_inc (&self->done);
    }

  return NULL;
}

/* Adds to the tree as fast as it can, for a while: a disk may take a millisecond for each. */
static gpointer
add_cb (gpointer data)
{
  Attack *self = data;

  for (guint i = 0; i < 1000 && !g_atomic_int_get (&self->stop); i++)
    {
      g_autofree char *name = g_strdup_printf ("t/c%u/new-%u", i % CHAINS, i);

      if (mkdirat (self->dir->fd, name, 0755) == 0)
        g_atomic_int_inc (&self->done);
    }

  return NULL;
}

/* One tree, one attacker. Returns how often that one was in time. */
static int
run_round (const TestDir *outer,
           GThreadFunc    func)
{
  TestDir dir = make_nest (outer);
  Attack attack = { .dir = &dir };
  GThread *thread;

  make_outside (&dir);
  make_chains (&dir, DEPTH);
  thread = g_thread_new ("attack", func, &attack);

  /* Whether that works is the attacker's choice. It ends, and harms nothing. */
  _sbx_delete_tree (dir.fd, "t", NULL, NULL);
  g_atomic_int_set (&attack.stop, 1);
  g_thread_join (thread);
  assert_outside_whole (&dir);
  assert_nest_whole (outer);

  _sbx_clear_fd (&dir.fd);
  g_free (dir.path);
  return attack.done;
}

typedef struct
{
  TestDir dir;
  GThreadFunc func;
} Rounds;

static void
run_rounds (gpointer data)
{
  const Rounds *self = data;
  const gint64 deadline = g_get_monotonic_time () + 5 * G_USEC_PER_SEC;
  int rounds = 0;
  int done = 0;

  /* A round in which the attacker came too late shows nothing. */
  while ((rounds < 5 || done < 10) && g_get_monotonic_time () < deadline)
    {
      g_autofree char *name = g_strdup_printf ("round-%d", rounds);
      g_autofree char *path = g_build_filename (self->dir.path, name, NULL);
      TestDir outer = { .path = path };

      test_make_dir (self->dir.fd, name);
      outer.fd = openat (self->dir.fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      done += run_round (&outer, self->func);
      _sbx_clear_fd (&outer.fd);
      rounds++;
    }

  g_assert_cmpint (done, >, 0);
}

static void
run_attack (GThreadFunc func)
{
  Rounds rounds = { .dir = test_dir_make (), .func = func };

  test_run_as_user (run_rounds, &rounds);
  test_dir_clear (&rounds.dir);
}

static void
delete_swapped (gpointer data)
{
  const TestDir *dir = data;
  const gint64 end = g_get_monotonic_time () + 2 * G_USEC_PER_SEC;
  Attack attack = { .dir = dir };
  GThread *thread;

  make_outside (dir);
  thread = g_thread_new ("attack", swap_cb, &attack);

  while (g_get_monotonic_time () < end)
    {
      test_make_dir (dir->fd, "made");
      test_make_file (dir->fd, "made/f", "x");
      g_assert_cmpint (symlinkat ("outside", dir->fd, "link"), ==, 0);
      g_assert_cmpint (renameat (dir->fd, "made", dir->fd, "t"), ==, 0);

      _sbx_delete_tree (dir->fd, "t", NULL, NULL);

      /* The other one is not where it was, which is between these two names. */
      while (test_exists (dir->fd, "t") || test_exists (dir->fd, "link"))
        {
          _sbx_delete_tree (dir->fd, "link", NULL, NULL);
          _sbx_delete_tree (dir->fd, "t", NULL, NULL);
        }

      assert_outside_whole (dir);
    }

  g_atomic_int_set (&attack.stop, 1);
  g_thread_join (thread);
  g_assert_cmpint (attack.done, >, 0);
}

/* A link that takes the place of the directory is deleted itself, or nothing is. */
static void
test_swaps (void)
{
  g_auto(TestDir) dir = test_dir_make ();

  test_run_as_user (delete_swapped, &dir);
}

static void
test_moves (void)
{
  run_attack (move_cb);
}

static void
test_adds (void)
{
  run_attack (add_cb);
}

static gpointer
delete_cb (gpointer data)
{
  Attack *self = data;
  g_autoptr(GError) error = NULL;

  g_assert_true (_sbx_delete_tree (self->dir->fd, "t", NULL, &error));
  g_assert_no_error (error);
  return NULL;
}

/* Several that delete the same tree are all right, and each is told that it is gone. */
static void
test_together (void)
{
  for (int round = 0; round < 5; round++)
    {
      g_auto(TestDir) dir = test_dir_make ();
      Attack attack = { .dir = &dir };
      GThread *threads[3];

      make_chains (&dir, DEPTH);

      for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
        threads[i] = g_thread_new ("delete", delete_cb, &attack);

      for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
        g_thread_join (threads[i]);

      g_assert_false (test_exists (dir.fd, "t"));
    }
}

static gpointer
cancel_cb (gpointer data)
{
  Attack *self = data;

  /* The first thing that goes says that it has begun. */
  while (test_exists (self->dir->fd, "t/c0") && test_exists (self->dir->fd, "t/c19"))
    g_thread_yield ();

  g_cancellable_cancel (self->cancellable);
  return NULL;
}

/* Cancelled in the middle, it leaves the rest, which can be deleted later. */
static void
test_cancelled (void)
{
  gboolean seen = FALSE;

  for (int round = 0; round < 50 && !seen; round++)
    {
      g_auto(TestDir) dir = test_dir_make ();
      g_autoptr(GCancellable) cancellable = g_cancellable_new ();
      g_autoptr(GError) error = NULL;
      Attack attack = { .dir = &dir, .cancellable = cancellable };
      GThread *thread;
      gboolean deleted;

      make_chains (&dir, 100);
      thread = g_thread_new ("cancel", cancel_cb, &attack);
      deleted = _sbx_delete_tree (dir.fd, "t", cancellable, &error);
      g_thread_join (thread);
      g_assert_true (deleted == !test_exists (dir.fd, "t"));

      if (deleted)
        continue;

      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_true (_sbx_delete_tree (dir.fd, "t", NULL, NULL));
      seen = TRUE;
    }

  g_assert_true (seen);
}

static gboolean
write_map (const char *path,
           const char *text)
{
  sbx_autofd int fd = open (path, O_WRONLY | O_CLOEXEC);

  return fd >= 0 && write (fd, text, strlen (text)) == (gssize) strlen (text);
}

/* Gets a mount namespace of its own, as root of a user namespace. */
static gboolean
enter_namespaces (void)
{
  g_autofree char *uid_map = g_strdup_printf ("0 %u 1", geteuid ());
  g_autofree char *gid_map = g_strdup_printf ("0 %u 1", getegid ());

  return unshare (CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
         write_map ("/proc/self/setgroups", "deny") && write_map ("/proc/self/uid_map", uid_map) &&
         write_map ("/proc/self/gid_map", gid_map);
}

static void
probe_namespaces (gpointer data)
{
  if (!enter_namespaces ())
    _exit (77);
}

static gboolean
have_namespaces (void)
{
  const pid_t pid = fork ();
  int status;

  g_assert_cmpint (pid, >=, 0);

  if (pid == 0)
    {
      probe_namespaces (NULL);
      test_child_done ();
    }

  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  return WIFEXITED (status) && WEXITSTATUS (status) == 0;
}

static void
mount_at (const char    *source,
          const TestDir *dir,
          const char    *target,
          const char    *type,
          unsigned long  flags)
{
  g_autofree char *from = source != NULL ? g_build_filename (dir->path, source, NULL) : NULL;
  g_autofree char *to = g_build_filename (dir->path, target, NULL);

  g_assert_cmpint (mount (from != NULL ? from : "tmpfs", to, type, flags, NULL), ==, 0);
}

static void
assert_busy (const TestDir *dir,
             const char    *name)
{
  g_autoptr(GError) error = NULL;

  g_assert_false (_sbx_delete_tree (dir->fd, name, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_BUSY);
}

/* Within: a bind of the same device, another device, a file; the outermost one is one itself. */
static void
delete_mounts (gpointer data)
{
  TestDir inside = *(const TestDir *) data;
  const TestDir *dir = &inside;

  /* A descriptor from before would lead to the mounts from before. */
  g_assert_true (enter_namespaces ());
  inside.fd = open (inside.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_assert_cmpint (inside.fd, >=, 0);

  mount_at ("outside", dir, "t/a/bind", "none", MS_BIND);
  mount_at (NULL, dir, "t/b/tmpfs", "tmpfs", 0);
  mount_at ("outside/d0/f", dir, "t/c/file", "none", MS_BIND);
  mount_at ("outside", dir, "top", "none", MS_BIND);
  test_make_dir (dir->fd, "t/b/tmpfs/d");
  test_make_file (dir->fd, "t/b/tmpfs/d/f", "x");

  for (int i = 0; i < 2; i++)
    {
      assert_busy (dir, "t");
      assert_busy (dir, "top");
      assert_outside_whole (dir);
      g_assert_true (test_exists (dir->fd, "t/b/tmpfs/d/f"));
      g_assert_true (test_exists (dir->fd, "t/c/file"));
    }

  /* All the rest is gone. */
  g_assert_false (test_exists (dir->fd, "t/a/f"));
  g_assert_false (test_exists (dir->fd, "t/z"));
}

static void
test_mounts (void)
{
  static const char *const dirs[] = {
    "t", "t/a", "t/a/bind", "t/b", "t/b/tmpfs", "t/c", "t/z", "top",
  };
  g_auto(TestDir) dir = test_dir_make ();

  if (!have_namespaces ())
    {
      g_test_skip ("This system has no user namespaces for us");
      return;
    }

  /* Nobody else exists in the namespace. */
  g_assert_cmpint (fchown (dir.fd, geteuid (), getegid ()), ==, 0);
  make_outside (&dir);

  for (gsize i = 0; i < G_N_ELEMENTS (dirs); i++)
    test_make_dir (dir.fd, dirs[i]);

  test_make_file (dir.fd, "t/a/f", "x");
  test_make_file (dir.fd, "t/c/file", "x");
  test_make_file (dir.fd, "t/z/f", "x");

  test_run_in_child (delete_mounts, &dir);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/delete-hostile/swaps", test_swaps);
  g_test_add_func ("/delete-hostile/moves", test_moves);
  g_test_add_func ("/delete-hostile/adds", test_adds);
  g_test_add_func ("/delete-hostile/together", test_together);
  g_test_add_func ("/delete-hostile/cancelled", test_cancelled);
  g_test_add_func ("/delete-hostile/mounts", test_mounts);

  return g_test_run ();
}
