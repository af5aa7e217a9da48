/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "test-files.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

static void
assert_deletes (int         dir_fd,
                const char *name)
{
  g_autoptr(GError) error = NULL;
  const gboolean deleted = _sbx_delete_tree (dir_fd, name, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (deleted);
  g_assert_false (test_exists (dir_fd, name));
}

static void
assert_fails (int          dir_fd,
              const char  *name,
              GIOErrorEnum code)
{
  g_autoptr(GError) error = NULL;

  g_assert_false (_sbx_delete_tree (dir_fd, name, NULL, &error));
  g_assert_error (error, G_IO_ERROR, (int) code);
}

/* "d" in "d" in "d"…, with a file in the innermost. */
static void
make_deep (int         dir_fd,
           const char *top,
           const char *name,
           guint       depth)
{
  sbx_autofd int fd = -1;

  test_make_dir (dir_fd, top);
  fd = openat (dir_fd, top, O_PATH | O_CLOEXEC);

  for (guint i = 0; i < depth; i++)
    {
      int next;

      test_make_dir (fd, name);
      next = openat (fd, name, O_PATH | O_CLOEXEC);
      g_assert_cmpint (next, >=, 0);
      _sbx_clear_fd (&fd);
      fd = next;
    }

  test_make_file (fd, "f", "x");
}

static void
test_simple (void)
{
  g_auto(TestDir) dir = test_dir_make ();

  test_make_file (dir.fd, "file", "x");
  test_make_dir (dir.fd, "empty");
  test_make_dir (dir.fd, "\xff\n -rf");
  test_make_dir (dir.fd, "\xff\n -rf/\xfe");
  test_make_file (dir.fd, "\xff\n -rf/\xfe/...", "x");
  test_make_file (dir.fd, "\xff\n -rf/..f", "x");

  assert_deletes (dir.fd, "missing");
  assert_deletes (dir.fd, "file");
  assert_deletes (dir.fd, "empty");
  assert_deletes (dir.fd, "\xff\n -rf");
  g_assert_cmpuint (test_count_entries (dir.path), ==, 0);
}

static void
test_names (void)
{
  static const char *const names[] = { "", ".", "..", "a/b", "/", "/tmp", "../x", "d/" };
  g_auto(TestDir) dir = test_dir_make ();

  test_make_dir (dir.fd, "d");

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    assert_fails (dir.fd, names[i], G_IO_ERROR_INVALID_FILENAME);

  g_assert_true (test_exists (dir.fd, "d"));
}

static void
make_socket (const TestDir *dir,
             const char    *name)
{
  sbx_autofd int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un address = { .sun_family = AF_UNIX };

  g_snprintf (address.sun_path, sizeof address.sun_path, "%s/%s", dir->path, name);
  g_assert_cmpint (bind (fd, (struct sockaddr *) &address, sizeof address), ==, 0);
}

/* Links, to whatever they lead, and what is no file are names alone. */
static void
test_kinds (void)
{
  g_auto(TestDir) dir = test_dir_make ();

  test_make_dir (dir.fd, "kept");
  test_make_file (dir.fd, "kept/f", "x");
  test_make_dir (dir.fd, "t");
  test_make_dir (dir.fd, "t/d");
  g_assert_cmpint (symlinkat ("../kept", dir.fd, "t/dir-link"), ==, 0);
  g_assert_cmpint (symlinkat ("../kept/f", dir.fd, "t/file-link"), ==, 0);
  g_assert_cmpint (symlinkat (dir.path, dir.fd, "t/d/absolute"), ==, 0);
  g_assert_cmpint (symlinkat ("missing", dir.fd, "t/dangling"), ==, 0);
  g_assert_cmpint (symlinkat ("loop", dir.fd, "t/loop"), ==, 0);
  g_assert_cmpint (symlinkat ("..", dir.fd, "t/d/up"), ==, 0);
  g_assert_cmpint (mkfifoat (dir.fd, "t/fifo", 0644), ==, 0);
  make_socket (&dir, "t/socket");
  g_assert_cmpint (linkat (dir.fd, "kept/f", dir.fd, "t/hard", 0), ==, 0);
  g_assert_cmpint (symlinkat ("kept", dir.fd, "top-link"), ==, 0);

  assert_deletes (dir.fd, "t");
  assert_deletes (dir.fd, "top-link");
  g_assert_true (test_exists (dir.fd, "kept/f"));
}

static void
test_wide (void)
{
  g_auto(TestDir) dir = test_dir_make ();

  test_make_dir (dir.fd, "t");

  for (int i = 0; i < 3000; i++)
    {
      g_autofree char *name = g_strdup_printf ("t/entry-with-a-long-name-%d", i);

      if (i % 3 == 0)
        {
          g_autofree char *inner = g_strconcat (name, "/f", NULL);

          test_make_dir (dir.fd, name);
          test_make_file (dir.fd, inner, "x");
        }
      else
        test_make_file (dir.fd, name, "x");
    }

  assert_deletes (dir.fd, "t");
}

/* A bush: deeper than streams are kept open, and with something to do on the way back. */
static void
make_bush (int   dir_fd,
           guint depth)
{
  sbx_autofd int fd = -1;

  test_make_file (dir_fd, "a", "x");
  test_make_file (dir_fd, "z", "x");
  test_make_dir (dir_fd, "e");

  if (depth == 0)
    return;

  for (int i = 0; i < 2; i++)
    {
      g_autofree char *name = g_strdup_printf ("d%d", i);

      test_make_dir (dir_fd, name);
      fd = openat (dir_fd, name, O_PATH | O_CLOEXEC);
      make_bush (fd, i == 0 ? depth - 1 : MIN (depth - 1, 1));
      _sbx_clear_fd (&fd);
    }
}

static void
test_bush (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  sbx_autofd int fd = -1;

  test_make_dir (dir.fd, "t");
  fd = openat (dir.fd, "t", O_PATH | O_CLOEXEC);
  make_bush (fd, 60);
  assert_deletes (dir.fd, "t");
}

/* Directories that nobody may read, enter or write are no obstacle to who owns them. */
static void
delete_closed (gpointer data)
{
  static const mode_t modes[] = { 0000, 0100, 0200, 0300, 0400, 0500, 0600 };
  const TestDir *dir = data;

  test_make_dir (dir->fd, "t");

  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autofree char *outer = g_strdup_printf ("t/%03o", modes[i]);
      g_autofree char *inner = g_build_filename (outer, "inner", NULL);
      g_autofree char *file = g_build_filename (inner, "f", NULL);
      g_autofree char *empty = g_build_filename (outer, "empty", NULL);

      test_make_dir (dir->fd, outer);
      test_make_dir (dir->fd, inner);
      test_make_dir (dir->fd, empty);
      test_make_file (dir->fd, file, "x");
      g_assert_cmpint (fchmodat (dir->fd, file, 0000, 0), ==, 0);
      g_assert_cmpint (fchmodat (dir->fd, empty, 0000, 0), ==, 0);
      g_assert_cmpint (fchmodat (dir->fd, inner, modes[i], 0), ==, 0);
      g_assert_cmpint (fchmodat (dir->fd, outer, modes[i], 0), ==, 0);
    }

  g_assert_cmpint (fchmodat (dir->fd, "t", 0000, 0), ==, 0);
  assert_deletes (dir->fd, "t");
}

static void
test_closed (void)
{
  g_auto(TestDir) dir = test_dir_make ();

  test_run_as_user (delete_closed, &dir);
  test_run_in_child (delete_closed, &dir);
}

static void
delete_foreign (gpointer data)
{
  const TestDir *dir = data;

  assert_fails (dir->fd, "t", G_IO_ERROR_PERMISSION_DENIED);
}

/* What cannot go stays, is named, and does not keep the rest. */
static void
test_foreign (void)
{
  g_auto(TestDir) dir = test_dir_make ();

  if (geteuid () != 0)
    {
      g_test_skip ("Only root can make what another user cannot delete");
      return;
    }

  test_make_dir (dir.fd, "t");
  test_make_dir (dir.fd, "t/ours");
  test_make_dir (dir.fd, "t/theirs");
  test_make_file (dir.fd, "t/theirs/f", "x");
  test_make_file (dir.fd, "t/a", "x");
  test_make_file (dir.fd, "t/ours/f", "x");
  g_assert_cmpint (fchownat (dir.fd, "t", TEST_USER, TEST_USER, 0), ==, 0);
  g_assert_cmpint (fchownat (dir.fd, "t/ours", TEST_USER, TEST_USER, 0), ==, 0);

  test_run_as_user (delete_foreign, &dir);
  g_assert_true (test_exists (dir.fd, "t/theirs/f"));
  g_assert_false (test_exists (dir.fd, "t/ours"));
  g_assert_false (test_exists (dir.fd, "t/a"));
}

static void
delete_foreign_deep (gpointer data)
{
  const TestDir *dir = data;
  g_autoptr(GError) error = NULL;

  g_assert_false (_sbx_delete_tree (dir->fd, "t", NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED);
  g_assert_true (g_str_has_prefix (error->message, "t/d/d/"));
}

/* A long way of directories that all stay is gone once, and the rest goes. */
static void
test_foreign_deep (void)
{
  g_auto(TestDir) dir = test_dir_make ();

  if (geteuid () != 0)
    {
      g_test_skip ("Only root can make what another user cannot delete");
      return;
    }

  test_make_dir (dir.fd, "t");
  g_assert_cmpint (fchownat (dir.fd, "t", TEST_USER, TEST_USER, 0), ==, 0);

  for (int i = 0; i < 20; i++)
    {
      g_autofree char *name = g_strdup_printf ("t/f%d", i);

      if (i == 10)
        make_deep (dir.fd, "t/d", "d", 200);

      test_make_file (dir.fd, name, "x");
    }

  test_run_as_user (delete_foreign_deep, &dir);
  g_assert_true (test_exists (dir.fd, "t/d/d/d"));

  for (int i = 0; i < 20; i++)
    {
      g_autofree char *name = g_strdup_printf ("t/f%d", i);

      g_assert_false (test_exists (dir.fd, name));
    }
}

/* The soft limit alone: a checker of memory has the hard one for itself. */
static void
allow_few_descriptors (void)
{
  struct rlimit limit;

  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &limit), ==, 0);
  limit.rlim_cur = 64;
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &limit), ==, 0);
}

static void
delete_with_few_descriptors (gpointer data)
{
  const TestDir *dir = data;

  allow_few_descriptors ();
  assert_deletes (dir->fd, "deep");
  assert_deletes (dir->fd, "deeper");
}

/* Deeper than a path can say, deeper than descriptors reach, deeper than is remembered. */
static void
test_deep (void)
{
  g_autofree char *long_name = g_strnfill (200, 'n');
  g_auto(TestDir) dir = test_dir_make ();

  make_deep (dir.fd, "deep", "d", 5000);
  make_deep (dir.fd, "deeper", long_name, 1500);
  test_run_in_child (delete_with_few_descriptors, &dir);
}

static void
test_deep_as_user (void)
{
  g_auto(TestDir) dir = test_dir_make ();

  make_deep (dir.fd, "deep", "d", 1500);

  if (geteuid () == 0)
    {
      sbx_autofd int fd = openat (dir.fd, "deep", O_PATH | O_CLOEXEC);

      /* All of it is the user's, and the directories of one level may not be written. */
      for (guint i = 0; i < 1500; i++)
        {
          int next;

          g_assert_cmpint (fchownat (fd, ".", TEST_USER, TEST_USER, 0), ==, 0);
          if (i % 100 == 50)
            g_assert_cmpint (fchmodat (fd, ".", 0100, 0), ==, 0);

          next = openat (fd, "d", O_PATH | O_CLOEXEC);
          g_assert_cmpint (next, >=, 0);
          _sbx_clear_fd (&fd);
          fd = next;
        }

      g_assert_cmpint (fchownat (fd, ".", TEST_USER, TEST_USER, 0), ==, 0);
    }

  test_run_as_user (delete_with_few_descriptors, &dir);
}

/* With all but a handful of descriptors in use it gets on with those. */
static void
delete_starved (gpointer data)
{
  const TestDir *dir = data;
  int fds[64];
  guint count = 0;

  allow_few_descriptors ();

  while ((fds[count] = open ("/", O_PATH | O_CLOEXEC)) >= 0)
    count++;

  for (int i = 0; i < 6; i++)
    close (fds[--count]);

  assert_deletes (dir->fd, "t");
}

static void
test_starved (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  sbx_autofd int fd = -1;

  test_make_dir (dir.fd, "t");
  fd = openat (dir.fd, "t", O_PATH | O_CLOEXEC);
  make_bush (fd, 30);
  test_run_in_child (delete_starved, &dir);
}

static void
test_cancelled (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;

  test_make_dir (dir.fd, "t");
  g_cancellable_cancel (cancellable);
  g_assert_false (_sbx_delete_tree (dir.fd, "t", cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_true (test_exists (dir.fd, "t"));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/delete/simple", test_simple);
  g_test_add_func ("/delete/names", test_names);
  g_test_add_func ("/delete/kinds", test_kinds);
  g_test_add_func ("/delete/wide", test_wide);
  g_test_add_func ("/delete/bush", test_bush);
  g_test_add_func ("/delete/closed", test_closed);
  g_test_add_func ("/delete/foreign", test_foreign);
  g_test_add_func ("/delete/foreign-deep", test_foreign_deep);
  g_test_add_func ("/delete/deep", test_deep);
  g_test_add_func ("/delete/deep-as-user", test_deep_as_user);
  g_test_add_func ("/delete/starved", test_starved);
  g_test_add_func ("/delete/cancelled", test_cancelled);

  return g_test_run ();
}
