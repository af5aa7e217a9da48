/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "files/sbx-open-private.h"
#include "files/sbx-write-private.h"
#include "test-files.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>

static void
assert_writes (int         dir_fd,
               const char *name,
               const char *content,
               mode_t      mode)
{
  g_autoptr(GBytes) bytes = g_bytes_new_static (content, strlen (content));
  g_autoptr(GBytes) read_back = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_true (_sbx_write_staged (dir_fd, name, bytes, mode, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (test_mode (dir_fd, name), ==, mode);

  /* Whoever may read it. */
  g_assert_cmpint (fchmodat (dir_fd, name, 0600, 0), ==, 0);
  read_back = _sbx_read_beneath (dir_fd, name, 64 * 1024 * 1024, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_bytes_equal (bytes, read_back));
}

static void
assert_refuses (int          dir_fd,
                const char  *name,
                GIOErrorEnum code)
{
  g_autoptr(GBytes) bytes = g_bytes_new_static ("x", 1);
  g_autoptr(GError) error = NULL;

  g_assert_false (_sbx_write_staged (dir_fd, name, bytes, 0644, &error));
  g_assert_error (error, G_IO_ERROR, (int) code);
}

static void
test_write (void)
{
  static const mode_t masks[] = { 0000, 0022, 0077, 0777 };
  g_autofree char *large = g_strnfill (5 * 1024 * 1024, 'x');
  g_autofree char *longest = g_strnfill (255, 'n');
  g_auto(TestDir) dir = test_dir_make ();

  for (gsize i = 0; i < G_N_ELEMENTS (masks); i++)
    {
      const mode_t old_mask = umask (masks[i]);

      assert_writes (dir.fd, "f", "one", 0644);
      assert_writes (dir.fd, "f", "another", 0600);
      assert_writes (dir.fd, "f", "", 0777);
      assert_writes (dir.fd, "f", "nobody", 0000);
      umask (old_mask);
    }

  assert_writes (dir.fd, "large", large, 0640);
  assert_writes (dir.fd, longest, "x", 0644);
  assert_writes (dir.fd, "\xff\n ", "x", 0644);

  /* Nothing else is left. */
  g_assert_cmpuint (test_count_entries (dir.path), ==, 4);
}

static void
test_write_link (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  g_autoptr(GBytes) target = NULL;

  test_make_file (dir.fd, "target", "old");
  g_assert_cmpint (symlinkat ("target", dir.fd, "link"), ==, 0);
  g_assert_cmpint (symlinkat ("made", dir.fd, "dangling"), ==, 0);

  assert_writes (dir.fd, "link", "new", 0644);
  assert_writes (dir.fd, "dangling", "new", 0644);

  target = _sbx_read_beneath (dir.fd, "target", 10, NULL, NULL);
  g_assert_cmpmem (g_bytes_get_data (target, NULL), g_bytes_get_size (target), "old", 3);
  g_assert_false (test_exists (dir.fd, "made"));
}

static void
write_denied (gpointer data)
{
  const TestDir *dir = data;
  sbx_autofd int fd = openat (dir->fd, "closed", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  g_assert_cmpint (fd, >=, 0);
  assert_refuses (fd, "f", G_IO_ERROR_PERMISSION_DENIED);
}

static void
test_write_refused (void)
{
  static const char *const names[] = { "", ".", "..", "a/b", "/f", "../f", "d/" };
  g_auto(TestDir) dir = test_dir_make ();

  test_make_dir (dir.fd, "d");
  test_make_dir (dir.fd, "closed");
  g_assert_cmpint (fchmodat (dir.fd, "closed", 0555, 0), ==, 0);

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    assert_refuses (dir.fd, names[i], G_IO_ERROR_INVALID_FILENAME);

  assert_refuses (dir.fd, "d", G_IO_ERROR_IS_DIRECTORY);
  test_run_as_user (write_denied, &dir);
  g_assert_cmpuint (test_count_entries (dir.path), ==, 2);
}

static void
write_too_much (gpointer data)
{
  const TestDir *dir = data;
  const struct rlimit limit = { 64 * 1024, 64 * 1024 };
  g_autofree char *large = g_strnfill (1024 * 1024, 'x');
  g_autoptr(GBytes) bytes = g_bytes_new_static (large, 1024 * 1024);
  g_autoptr(GError) error = NULL;

  signal (SIGXFSZ, SIG_IGN);
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &limit), ==, 0);
  g_assert_false (_sbx_write_staged (dir->fd, "f", bytes, 0644, &error));
  g_assert_nonnull (error);
}

/* What cannot be written whole leaves the old file, and nothing beside it. */
static void
test_write_cut (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  g_autoptr(GBytes) old = NULL;

  test_make_file (dir.fd, "f", "old");
  test_run_in_child (write_too_much, &dir);

  old = _sbx_read_beneath (dir.fd, "f", 10, NULL, NULL);
  g_assert_cmpmem (g_bytes_get_data (old, NULL), g_bytes_get_size (old), "old", 3);
  g_assert_cmpuint (test_count_entries (dir.path), ==, 1);
}

#define BLOCK 20000

static gpointer
write_cb (gpointer data)
{
  const TestDir *dir = data;

  for (int i = 0; i < 300; i++)
    {
      g_autofree char *content = g_strnfill (BLOCK, 'a' + i % 26);
      g_autoptr(GBytes) bytes = g_bytes_new_static (content, BLOCK);

      g_assert_true (_sbx_write_staged (dir->fd, "f", bytes, 0644, NULL));
    }

  return NULL;
}

/* A reader gets one version or another, and never a part. */
static void
test_write_atomic (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  g_autofree char *first = g_strnfill (BLOCK, 'a');
  GThread *threads[2];

  test_make_file (dir.fd, "f", first);

  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("writer", write_cb, &dir);

  for (int i = 0; i < 300; i++)
    {
      g_autoptr(GBytes) bytes = _sbx_read_beneath (dir.fd, "f", BLOCK, NULL, NULL);
      const char *data = g_bytes_get_data (bytes, NULL);

      g_assert_cmpuint (g_bytes_get_size (bytes), ==, BLOCK);
      for (gsize at = 1; at < BLOCK; at++)
        if (data[at] != data[0])
          g_assert_not_reached ();
    }

  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);

  g_assert_cmpuint (test_count_entries (dir.path), ==, 1);
}

static void
assert_makes (int         dir_fd,
              const char *path,
              mode_t      mode)
{
  g_autoptr(GError) error = NULL;
  sbx_autofd int fd = _sbx_make_dirs_beneath (dir_fd, path, mode, &error);
  struct stat by_fd;
  struct stat by_path;

  g_assert_no_error (error);
  g_assert_cmpint (fcntl (fd, F_GETFD), ==, FD_CLOEXEC);
  g_assert_cmpint (fstat (fd, &by_fd), ==, 0);
  g_assert_cmpint (fstatat (dir_fd, path, &by_path, AT_SYMLINK_NOFOLLOW), ==, 0);
  g_assert_cmpuint (by_fd.st_ino, ==, by_path.st_ino);
}

static void
assert_makes_not (int          dir_fd,
                  const char  *path,
                  GIOErrorEnum code)
{
  g_autoptr(GError) error = NULL;

  g_assert_cmpint (_sbx_make_dirs_beneath (dir_fd, path, 0700, &error), ==, -1);
  g_assert_error (error, G_IO_ERROR, (int) code);
}

static void
make_dirs (gpointer data)
{
  static const mode_t masks[] = { 0000, 0077, 0777 };
  const TestDir *dir = data;

  for (gsize i = 0; i < G_N_ELEMENTS (masks); i++)
    {
      g_autofree char *base = g_strdup_printf ("made-%o", masks[i]);
      g_autofree char *path = g_build_filename (base, "\xff", "c", NULL);
      g_autofree char *slashes = g_strdup_printf ("%s//./d/", base);
      g_autofree char *middle = g_build_filename (base, "\xff", NULL);
      const mode_t old_mask = umask (masks[i]);

      assert_makes (dir->fd, path, 0750);
      g_assert_cmpuint (test_mode (dir->fd, base), ==, 0750);
      g_assert_cmpuint (test_mode (dir->fd, middle), ==, 0750);
      g_assert_cmpuint (test_mode (dir->fd, path), ==, 0750);

      /* What exists keeps its mode. */
      assert_makes (dir->fd, path, 0700);
      assert_makes (dir->fd, slashes, 0700);
      g_assert_cmpuint (test_mode (dir->fd, middle), ==, 0750);
      g_assert_cmpuint (test_mode (dir->fd, path), ==, 0750);
      umask (old_mask);
    }

  assert_makes (dir->fd, ".", 0700);
}

static void
test_make_dirs (void)
{
  g_auto(TestDir) dir = test_dir_make ();

  test_run_as_user (make_dirs, &dir);
  test_run_in_child (make_dirs, &dir);
}

static void
test_make_dirs_refused (void)
{
  g_auto(TestDir) dir = test_dir_make ();

  test_make_dir (dir.fd, "d");
  test_make_file (dir.fd, "f", "x");
  g_assert_cmpint (symlinkat ("d", dir.fd, "link"), ==, 0);
  g_assert_cmpint (symlinkat ("missing", dir.fd, "dangling"), ==, 0);

  assert_makes_not (dir.fd, "", G_IO_ERROR_INVALID_FILENAME);
  assert_makes_not (dir.fd, "/tmp/x", G_IO_ERROR_INVALID_FILENAME);
  assert_makes_not (dir.fd, "..", G_IO_ERROR_INVALID_FILENAME);
  assert_makes_not (dir.fd, "d/../e", G_IO_ERROR_INVALID_FILENAME);
  assert_makes_not (dir.fd, "f", G_IO_ERROR_NOT_DIRECTORY);
  assert_makes_not (dir.fd, "f/x", G_IO_ERROR_NOT_DIRECTORY);
  assert_makes_not (dir.fd, "link", G_IO_ERROR_NOT_DIRECTORY);
  assert_makes_not (dir.fd, "link/x", G_IO_ERROR_NOT_DIRECTORY);
  assert_makes_not (dir.fd, "dangling", G_IO_ERROR_NOT_DIRECTORY);

  g_assert_cmpuint (test_count_entries (dir.path), ==, 4);
  g_assert_false (test_exists (dir.fd, "d/x"));
  g_assert_false (test_exists (dir.fd, "e"));
}

static gpointer
make_cb (gpointer data)
{
  const TestDir *dir = data;

  for (int i = 0; i < 200; i++)
    {
      g_autofree char *path = g_strdup_printf ("%d/a/b/c", i);

      assert_makes (dir->fd, path, 0711);
      g_assert_cmpuint (test_mode (dir->fd, path) & 0700, ==, 0700);
    }

  return NULL;
}

/* Two that make the same directories both have them. */
static void
test_make_dirs_race (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  GThread *threads[3];

  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("maker", make_cb, &dir);

  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);

  g_assert_cmpuint (test_count_entries (dir.path), ==, 200);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/write/write", test_write);
  g_test_add_func ("/write/link", test_write_link);
  g_test_add_func ("/write/refused", test_write_refused);
  g_test_add_func ("/write/cut", test_write_cut);
  g_test_add_func ("/write/atomic", test_write_atomic);
  g_test_add_func ("/make-dirs/make", test_make_dirs);
  g_test_add_func ("/make-dirs/refused", test_make_dirs_refused);
  g_test_add_func ("/make-dirs/race", test_make_dirs_race);

  return g_test_run ();
}
