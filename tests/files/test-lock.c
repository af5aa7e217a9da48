/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "files/sbx-lock-private.h"
#include "test-files.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>

static int
lock (int dir_fd)
{
  g_autoptr(GError) error = NULL;
  const int fd = _sbx_lock_try (dir_fd, "lock", TRUE, &error);

  g_assert_no_error (error);
  g_assert_cmpint (fcntl (fd, F_GETFD), ==, FD_CLOEXEC);
  return fd;
}

static void
assert_fails (int          dir_fd,
              const char  *name,
              gboolean     create,
              GIOErrorEnum code)
{
  g_autoptr(GError) error = NULL;

  g_assert_cmpint (_sbx_lock_try (dir_fd, name, create, &error), ==, -1);
  g_assert_error (error, G_IO_ERROR, (int) code);
}

static void
child_finds_busy (gpointer data)
{
  const TestDir *dir = data;

  /* More than once: what the first attempt closes must not free the lock. */
  for (int i = 0; i < 3; i++)
    assert_fails (dir->fd, "lock", FALSE, G_IO_ERROR_BUSY);
}

static void
child_finds_free (gpointer data)
{
  const TestDir *dir = data;
  const int fd = lock (dir->fd);

  _sbx_lock_release (fd);
}

static void
test_lock (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  guint open_fds;
  int fd;

  assert_fails (dir.fd, "lock", FALSE, G_IO_ERROR_NOT_FOUND);
  fd = lock (dir.fd);
  open_fds = test_count_entries ("/proc/self/fd");
  g_assert_cmpuint (test_mode (dir.fd, "lock"), ==, 0600);

  for (int i = 0; i < 3; i++)
    {
      assert_fails (dir.fd, "lock", TRUE, G_IO_ERROR_BUSY);
      test_run_in_child (child_finds_busy, &dir);
    }

  /* Trying costs nothing that is kept. */
  g_assert_cmpuint (test_count_entries ("/proc/self/fd"), ==, open_fds);

  _sbx_lock_release (fd);
  test_run_in_child (child_finds_free, &dir);
  fd = lock (dir.fd);
  test_run_in_child (child_finds_busy, &dir);
  _sbx_lock_release (fd);
}

static void
child_releases_copy (gpointer data)
{
  _sbx_lock_release (*(int *) data);
}

/* A forked child has a copy of the descriptor, and can do nothing to the lock with it. */
static void
test_fork (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  int fd = lock (dir.fd);

  test_run_in_child (child_releases_copy, &fd);
  test_run_in_child (child_finds_busy, &dir);
  assert_fails (dir.fd, "lock", TRUE, G_IO_ERROR_BUSY);
  _sbx_lock_release (fd);
}

/* What a child inherited of the list says nothing once the parent gave the lock back. */
static void
test_fork_later (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  const int fd = lock (dir.fd);
  int released[2];
  char byte = 'x';
  pid_t pid;

  g_assert_cmpint (pipe2 (released, O_CLOEXEC), ==, 0);
  pid = fork ();
  g_assert_cmpint (pid, >=, 0);

  if (pid == 0)
    {
      if (read (released[0], &byte, 1) != 1)
        _exit (1);

      child_finds_free (&dir);
      test_child_done ();
    }

  _sbx_lock_release (fd);
  g_assert_cmpint (write (released[1], &byte, 1), ==, 1);
  test_wait_child (pid);
  close (released[0]);
  close (released[1]);
}

/* The lock of a process that was killed is free, even while a child of it lives on. */
static void
test_killed (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  int ready[2];
  int end[2];
  char byte = 'x';
  pid_t pid;
  int status;

  g_assert_cmpint (pipe2 (ready, O_CLOEXEC), ==, 0);
  g_assert_cmpint (pipe2 (end, O_CLOEXEC), ==, 0);
  pid = fork ();
  g_assert_cmpint (pid, >=, 0);

  if (pid == 0)
    {
      close (end[1]);
      lock (dir.fd);

      /* This one keeps the descriptor until the test is over. */
      if (fork () == 0)
        {
          if (read (end[0], &byte, 1) < 0)
            _exit (1);

          test_child_done ();
        }

      if (write (ready[1], &byte, 1) != 1)
        _exit (1);

      for (;;)
        pause ();
    }

  g_assert_cmpint (read (ready[0], &byte, 1), ==, 1);
  assert_fails (dir.fd, "lock", FALSE, G_IO_ERROR_BUSY);
  g_assert_cmpint (kill (pid, SIGKILL), ==, 0);
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);

  _sbx_lock_release (lock (dir.fd));

  for (int i = 0; i < 2; i++)
    {
      close (ready[i]);
      close (end[i]);
    }
}

static void
test_refused (void)
{
  static const char *const names[] = { "", ".", "..", "a/b", "/lock" };
  g_auto(TestDir) dir = test_dir_make ();

  test_make_dir (dir.fd, "d");
  test_make_file (dir.fd, "f", "x");
  g_assert_cmpint (mkfifoat (dir.fd, "fifo", 0600), ==, 0);
  g_assert_cmpint (symlinkat ("f", dir.fd, "link"), ==, 0);
  g_assert_cmpint (symlinkat ("made", dir.fd, "dangling"), ==, 0);

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    assert_fails (dir.fd, names[i], TRUE, G_IO_ERROR_INVALID_FILENAME);

  assert_fails (dir.fd, "d", TRUE, G_IO_ERROR_IS_DIRECTORY);
  assert_fails (dir.fd, "fifo", TRUE, G_IO_ERROR_NOT_REGULAR_FILE);
  assert_fails (dir.fd, "link", TRUE, G_IO_ERROR_TOO_MANY_LINKS);
  assert_fails (dir.fd, "dangling", TRUE, G_IO_ERROR_TOO_MANY_LINKS);
  g_assert_false (test_exists (dir.fd, "made"));
}

/* A second name of the same file is the same lock. */
static void
test_second_name (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  const int fd = lock (dir.fd);

  g_assert_cmpint (linkat (dir.fd, "lock", dir.fd, "other", 0), ==, 0);
  assert_fails (dir.fd, "other", FALSE, G_IO_ERROR_BUSY);
  test_run_in_child (child_finds_busy, &dir);
  _sbx_lock_release (fd);
}

/* A lock file that was deleted is no lock any more, and the new one is free. */
static void
test_replaced (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  const int old_fd = lock (dir.fd);
  int new_fd;

  g_assert_cmpint (unlinkat (dir.fd, "lock", 0), ==, 0);
  assert_fails (dir.fd, "lock", FALSE, G_IO_ERROR_NOT_FOUND);
  new_fd = lock (dir.fd);
  g_assert_cmpint (new_fd, !=, old_fd);
  test_run_in_child (child_finds_busy, &dir);

  _sbx_lock_release (old_fd);
  test_run_in_child (child_finds_busy, &dir);
  _sbx_lock_release (new_fd);
}

typedef struct
{
  TestDir *dir;
  int holders;
  int won;
  int stop;
} Contest;

static gpointer
contest_cb (gpointer data)
{
  Contest *self = data;

  for (int i = 0; i < 2000; i++)
    {
      g_autoptr(GError) error = NULL;
      const int fd = _sbx_lock_try (self->dir->fd, "lock", TRUE, &error);

      if (fd < 0)
        {
          g_assert_error (error, G_IO_ERROR, G_IO_ERROR_BUSY);
          continue;
        }

      g_assert_cmpint (g_atomic_int_add (&self->holders, 1), ==, 0);
      g_atomic_int_inc (&self->won);
      g_assert_true (g_atomic_int_dec_and_test (&self->holders));
      _sbx_lock_release (fd);
    }

  return NULL;
}

/* Of the threads of one process one has it at a time. */
static void
test_threads (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  Contest contest = { .dir = &dir };
  GThread *threads[4];

  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("contest", contest_cb, &contest);

  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);

  g_assert_cmpint (contest.won, >, 0);
}

/* As a sweep does: whoever has the lock deletes the file, then gives the lock back. */
static void
lock_and_delete (const TestDir *dir,
                 int           *shared)
{
  int won = 0;

  for (int i = 0; i < 3000; i++)
    {
      const int fd = _sbx_lock_try (dir->fd, "lock", TRUE, NULL);

      if (fd < 0)
        continue;

      g_assert_cmpint (g_atomic_int_add (shared, 1), ==, 0);
      won++;
      g_assert_true (g_atomic_int_dec_and_test (shared));

      /* From here on the next one may have a new file, and have that locked. */
      g_assert_cmpint (unlinkat (dir->fd, "lock", 0), ==, 0);
      _sbx_lock_release (fd);
    }

  g_assert_cmpint (won, >, 0);
}

/* A lock on a file that was deleted in between is nothing to believe in. */
static void
test_deleted_race (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  int *shared = mmap (NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                      -1, 0);
  pid_t pids[3];

  g_assert_true (shared != MAP_FAILED);

  for (gsize i = 0; i < G_N_ELEMENTS (pids); i++)
    {
      pids[i] = fork ();
      g_assert_cmpint (pids[i], >=, 0);

      if (pids[i] == 0)
        {
          lock_and_delete (&dir, shared);
          test_child_done ();
        }
    }

  for (gsize i = 0; i < G_N_ELEMENTS (pids); i++)
    test_wait_child (pids[i]);

  munmap (shared, sizeof *shared);
}

static gpointer
replace_cb (gpointer data)
{
  Contest *self = data;

  while (!g_atomic_int_get (&self->stop))
    {
      test_make_file (self->dir->fd, "new", "");
      g_assert_cmpint (renameat (self->dir->fd, "new", self->dir->fd, "lock"), ==, 0);
    }

  return NULL;
}

/* While somebody replaces the file all the time nothing hangs, and no descriptor is lost. */
static void
test_replaced_race (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  Contest contest = { .dir = &dir };
  const guint before = test_count_entries ("/proc/self/fd");
  GThread *thread = g_thread_new ("replace", replace_cb, &contest);

  for (int i = 0; i < 2000; i++)
    {
      g_autoptr(GError) error = NULL;
      const int fd = _sbx_lock_try (dir.fd, "lock", TRUE, &error);

      if (fd >= 0)
        _sbx_lock_release (fd);
      else
        g_assert_error (error, G_IO_ERROR, G_IO_ERROR_BUSY);
    }

  g_atomic_int_set (&contest.stop, 1);
  g_thread_join (thread);
  g_assert_cmpuint (test_count_entries ("/proc/self/fd"), ==, before);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/lock/lock", test_lock);
  g_test_add_func ("/lock/fork", test_fork);
  g_test_add_func ("/lock/fork-later", test_fork_later);
  g_test_add_func ("/lock/killed", test_killed);
  g_test_add_func ("/lock/refused", test_refused);
  g_test_add_func ("/lock/second-name", test_second_name);
  g_test_add_func ("/lock/replaced", test_replaced);
  g_test_add_func ("/lock/threads", test_threads);
  g_test_add_func ("/lock/deleted-race", test_deleted_race);
  g_test_add_func ("/lock/replaced-race", test_replaced_race);

  return g_test_run ();
}
