/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "files/sbx-file-id-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-path-private.h"
#include "test-files.h"

#include <stdio.h>
#include <string.h>

typedef int (*OpenFunc) (int dir_fd, const char *path, int flags, mode_t mode, GError **error);

/* Every case is one for the system call and for what stands in for it. */
static const OpenFunc variants[] = { _sbx_open_beneath, _sbx_open_beneath_by_walk };

static OpenFunc
variant (gconstpointer data)
{
  return variants[GPOINTER_TO_UINT (data)];
}

static void
assert_opens (OpenFunc    open_func,
              int         dir_fd,
              const char *path,
              int         flags)
{
  g_autoptr(GError) error = NULL;
  sbx_autofd int fd = open_func (dir_fd, path, flags, 0644, &error);

  g_assert_no_error (error);
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (fcntl (fd, F_GETFD), ==, FD_CLOEXEC);
}

static void
assert_fails (OpenFunc     open_func,
              int          dir_fd,
              const char  *path,
              int          flags,
              GIOErrorEnum code)
{
  g_autoptr(GError) error = NULL;
  sbx_autofd int fd = open_func (dir_fd, path, flags, 0644, &error);

  g_assert_cmpint (fd, ==, -1);
  g_assert_error (error, G_IO_ERROR, (int) code);
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
}

static void
test_plain (gconstpointer data)
{
  OpenFunc open_func = variant (data);
  g_auto(TestDir) dir = test_dir_make ();
  g_autofree char *long_name = g_strnfill (256, 'n');

  test_make_dir (dir.fd, "d");
  test_make_dir (dir.fd, "d/e");
  test_make_file (dir.fd, "d/e/f", "x");
  test_make_file (dir.fd, "d/\xff\n", "x");

  assert_opens (open_func, dir.fd, "d/e/f", O_RDONLY);
  assert_opens (open_func, dir.fd, "./d/.//e/./f", O_RDONLY);
  assert_opens (open_func, dir.fd, "d/e/", O_RDONLY);
  assert_opens (open_func, dir.fd, ".", O_RDONLY | O_DIRECTORY);
  assert_opens (open_func, dir.fd, "d/\xff\n", O_PATH);
  assert_opens (open_func, dir.fd, "d/new", O_WRONLY | O_CREAT | O_EXCL);

  assert_fails (open_func, dir.fd, "d/new", O_WRONLY | O_CREAT | O_EXCL, G_IO_ERROR_EXISTS);
  assert_fails (open_func, dir.fd, "d/missing", O_RDONLY, G_IO_ERROR_NOT_FOUND);
  assert_fails (open_func, dir.fd, "missing/f", O_RDONLY, G_IO_ERROR_NOT_FOUND);
  assert_fails (open_func, dir.fd, "...", O_RDONLY, G_IO_ERROR_NOT_FOUND);
  assert_fails (open_func, dir.fd, "d/..e\xff", O_RDONLY, G_IO_ERROR_NOT_FOUND);
  assert_fails (open_func, dir.fd, "d/e/f/", O_RDONLY, G_IO_ERROR_NOT_DIRECTORY);
  assert_fails (open_func, dir.fd, "d/e/f/g", O_RDONLY, G_IO_ERROR_NOT_DIRECTORY);
  assert_fails (open_func, dir.fd, "d/e/f", O_PATH | O_DIRECTORY, G_IO_ERROR_NOT_DIRECTORY);
  assert_fails (open_func, dir.fd, "d/made/", O_WRONLY | O_CREAT, G_IO_ERROR_IS_DIRECTORY);
  assert_fails (open_func, dir.fd, long_name, O_RDONLY, G_IO_ERROR_FILENAME_TOO_LONG);
}

static void
test_outside (gconstpointer data)
{
  static const char *const paths[] = {
    "", "/", "/etc/passwd", "..", "../", "../x", "d/..", "d/../d", "d/../../x", "./..", "d//..",
  };
  g_auto(TestDir) dir = test_dir_make ();

  test_make_dir (dir.fd, "d");

  for (gsize i = 0; i < G_N_ELEMENTS (paths); i++)
    assert_fails (variant (data), dir.fd, paths[i], O_PATH, G_IO_ERROR_INVALID_FILENAME);
}

static void
test_links (gconstpointer data)
{
  static const char *const links[][2] = {
    { "to-file", "d/f" }, { "to-dir", "d" }, { "to-itself", "to-itself" }, { "dangling", "made" },
    { "absolute", "/etc" }, { "up", ".." }, { "to-link", "to-file" }, { "d/within", "f" },
  };
  OpenFunc open_func = variant (data);
  g_auto(TestDir) dir = test_dir_make ();

  test_make_dir (dir.fd, "d");
  test_make_file (dir.fd, "d/f", "x");

  for (gsize i = 0; i < G_N_ELEMENTS (links); i++)
    {
      g_autofree char *below = g_strconcat (links[i][0], "/f", NULL);
      g_autofree char *slash = g_strconcat (links[i][0], "/", NULL);

      g_assert_cmpint (symlinkat (links[i][1], dir.fd, links[i][0]), ==, 0);
      assert_fails (open_func, dir.fd, links[i][0], O_RDONLY, G_IO_ERROR_TOO_MANY_LINKS);
      assert_fails (open_func, dir.fd, links[i][0], O_PATH, G_IO_ERROR_TOO_MANY_LINKS);
      assert_fails (open_func, dir.fd, links[i][0], O_WRONLY | O_CREAT, G_IO_ERROR_TOO_MANY_LINKS);
      assert_fails (open_func, dir.fd, below, O_RDONLY, G_IO_ERROR_TOO_MANY_LINKS);
      assert_fails (open_func, dir.fd, slash, O_RDONLY, G_IO_ERROR_TOO_MANY_LINKS);
      assert_opens (open_func, dir.fd, links[i][0], O_PATH | O_NOFOLLOW);
    }

  g_assert_false (test_exists (dir.fd, "made"));
}

/* The links of /proc lead anywhere without being looked up. */
static void
test_magic (gconstpointer data)
{
  sbx_autofd int proc = open ("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
  sbx_autofd int root = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  g_autofree char *fd_path = g_strdup_printf ("fd/%d/etc", root);

  assert_fails (variant (data), proc, "root/etc", O_PATH, G_IO_ERROR_TOO_MANY_LINKS);
  assert_fails (variant (data), proc, "exe", O_RDONLY, G_IO_ERROR_TOO_MANY_LINKS);
  assert_fails (variant (data), proc, "cwd", O_PATH, G_IO_ERROR_TOO_MANY_LINKS);
  assert_fails (variant (data), proc, fd_path, O_PATH, G_IO_ERROR_TOO_MANY_LINKS);
  assert_opens (variant (data), proc, "status", O_RDONLY);
}

static void
open_denied (gpointer data)
{
  const TestDir *dir = data;

  for (gsize i = 0; i < G_N_ELEMENTS (variants); i++)
    {
      assert_fails (variants[i], dir->fd, "closed/f", O_RDONLY, G_IO_ERROR_PERMISSION_DENIED);
      assert_fails (variants[i], dir->fd, "closed", O_RDONLY, G_IO_ERROR_PERMISSION_DENIED);
    }
}

static void
test_denied (void)
{
  g_auto(TestDir) dir = test_dir_make ();

  test_make_dir (dir.fd, "closed");
  test_make_file (dir.fd, "closed/f", "x");
  g_assert_cmpint (fchmodat (dir.fd, "closed", 0000, 0), ==, 0);
  test_run_as_user (open_denied, &dir);
}

/* Swaps a directory for a link to another one, as fast as it can. */
typedef struct
{
  int dir_fd;
  int stop;
} Swapper;

static gpointer
swap_cb (gpointer data)
{
  Swapper *self = data;

  while (!g_atomic_int_get (&self->stop))
    g_assert_cmpint (renameat2 (self->dir_fd, "d", self->dir_fd, "other", RENAME_EXCHANGE), ==, 0);

  return NULL;
}

static void
test_race (gconstpointer data)
{
  g_auto(TestDir) dir = test_dir_make ();
  const gint64 deadline = g_get_monotonic_time () + 5 * G_USEC_PER_SEC;
  Swapper swapper = { .dir_fd = dir.fd };
  struct stat inside;
  guint opened = 0;
  guint refused = 0;
  GThread *thread;

  test_make_dir (dir.fd, "d");
  test_make_dir (dir.fd, "outside");
  test_make_file (dir.fd, "d/f", "inside");
  test_make_file (dir.fd, "outside/f", "outside");
  g_assert_cmpint (symlinkat ("outside", dir.fd, "other"), ==, 0);
  g_assert_cmpint (fstatat (dir.fd, "d/f", &inside, 0), ==, 0);
  thread = g_thread_new ("swapper", swap_cb, &swapper);

  while ((opened < 2000 || refused < 2000) && g_get_monotonic_time () < deadline)
    {
      g_autoptr(GError) error = NULL;
      sbx_autofd int fd = variant (data) (dir.fd, "d/f", O_RDONLY, 0, &error);
      struct stat info;

      /* Where threads take turns, the other one has often done an even number of swaps. */
      if ((opened + refused) % 64 == 0)
        g_assert_cmpint (renameat2 (dir.fd, "d", dir.fd, "other", RENAME_EXCHANGE), ==, 0);

      if (fd >= 0)
        {
          g_assert_cmpint (fstat (fd, &info), ==, 0);
          g_assert_cmpuint (info.st_ino, ==, inside.st_ino);
          opened++;
        }
      else
        {
          g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TOO_MANY_LINKS);
          refused++;
        }
    }

  g_atomic_int_set (&swapper.stop, 1);
  g_thread_join (thread);

  /* Both outcomes, or there was no race. */
  g_assert_cmpuint (opened, >, 0);
  g_assert_cmpuint (refused, >, 0);
}

static void
test_real (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  g_autofree char *base = g_canonicalize_filename (dir.path, "/");
  g_autofree char *plain = g_build_filename (base, "d", "f\xff \n", NULL);
  g_autofree char *linked = g_build_filename (base, "l", "f\xff \n", NULL);
  g_autofree char *slashes = g_strconcat (base, "//d/../d/", NULL);
  g_autofree char *expected = g_build_filename (base, "d", NULL);
  const struct { const char *path; const char *real; } cases[] = {
    { plain, plain }, { linked, plain }, { slashes, expected }, { "/", "/" },
  };

  test_make_dir (dir.fd, "d");
  test_make_file (dir.fd, "d/f\xff \n", "x");
  g_assert_cmpint (symlinkat ("d", dir.fd, "l"), ==, 0);

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *real = NULL;
      g_autoptr(GError) error = NULL;
      sbx_autofd int fd = _sbx_open_real (cases[i].path, O_PATH, &real, &error);

      g_assert_no_error (error);
      g_assert_cmpstr (real, ==, cases[i].real);
      g_assert_cmpint (fcntl (fd, F_GETFD), ==, FD_CLOEXEC);
    }
}

static void
assert_no_real (const char  *path,
                GIOErrorEnum code)
{
  g_autofree char *real = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_cmpint (_sbx_open_real (path, O_PATH, &real, &error), ==, -1);
  g_assert_error (error, G_IO_ERROR, (int) code);
  g_assert_null (real);
}

/* Names that lead to what is not there, or that say nothing about where it is. */
static void
test_real_fails (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  g_autofree char *missing = g_build_filename (dir.path, "missing", NULL);
  g_autofree char *loop = g_build_filename (dir.path, "loop", NULL);
  g_autofree char *deleted = NULL;
  g_autofree char *replaced = NULL;
  sbx_autofd int fd = -1;

  test_make_file (dir.fd, "f", "x");
  fd = openat (dir.fd, "f", O_PATH | O_CLOEXEC);
  deleted = g_strdup_printf ("/proc/self/fd/%d", fd);
  replaced = g_strconcat (dir.path, "/f (deleted)", NULL);
  g_assert_cmpint (unlinkat (dir.fd, "f", 0), ==, 0);
  g_assert_cmpint (symlinkat ("loop", dir.fd, "loop"), ==, 0);

  assert_no_real ("relative", G_IO_ERROR_INVALID_FILENAME);
  assert_no_real ("", G_IO_ERROR_INVALID_FILENAME);
  assert_no_real (missing, G_IO_ERROR_NOT_FOUND);
  assert_no_real (loop, G_IO_ERROR_TOO_MANY_LINKS);
  assert_no_real (deleted, G_IO_ERROR_BUSY);

  /* Who makes a file of the name that the kernel has for the deleted one deceives nobody. */
  test_make_file (dir.fd, "f (deleted)", "y");
  assert_no_real (deleted, G_IO_ERROR_BUSY);
  g_assert_cmpint (access (replaced, F_OK), ==, 0);
}

static void
test_show (void)
{
  static const char *const cases[][2] = {
    { "plain é €/😀 x", "plain é €/😀 x" },
    { "a\nb\x1b[31m\x7f", "a\\x0ab\\x1b[31m\\x7f" },
    { "caf\xe9\xff", "caf\\xe9\\xff" },
    { "back\\slash", "back\\\\slash" },
    { "a\u202eb\u2066c\u200bd", "a\\u{202e}b\\u{2066}c\\u{200b}d" },
    { "c1\xc2\x9b" "d", "c1\\u{9b}d" },
    { "line\u2028x", "line\\u{2028}x" },
  };
  g_autofree char *long_name = g_strnfill (4000, 'x');
  g_autofree char *cut = _sbx_path_show (long_name);

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *shown = _sbx_path_show (cases[i][0]);

      g_assert_cmpstr (shown, ==, cases[i][1]);
    }

  g_assert_cmpuint (strlen (cut), <, 600);
  g_assert_true (g_str_has_suffix (cut, "x…"));
}

/* The two ways to learn the mount agree, and /proc is another one than this directory. */
static void
test_file_id (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  sbx_autofd int proc = open ("/proc", O_PATH | O_CLOEXEC);
  SbxFileId id;
  SbxFileId other;
  guint64 mount = 0;

  g_assert_true (_sbx_file_id_get (dir.fd, &id));
  g_assert_true (_sbx_file_id_read_mount (dir.fd, &mount));
  g_assert_cmpuint (mount, ==, id.mount);
  g_assert_true (S_ISDIR (id.mode));

  g_assert_true (_sbx_file_id_get (proc, &other));
  g_assert_false (_sbx_file_id_same_file (&id, &other));
  g_assert_false (_sbx_file_id_same_mount (&id, &other));
  g_assert_false (_sbx_file_id_get (-1, &id));
}

int
main (int   argc,
      char *argv[])
{
  static const struct { const char *name; GTestDataFunc func; } both[] = {
    { "plain", test_plain }, { "outside", test_outside }, { "links", test_links },
    { "magic", test_magic }, { "race", test_race },
  };

  g_test_init (&argc, &argv, NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (both); i++)
    for (guint v = 0; v < G_N_ELEMENTS (variants); v++)
      {
        g_autofree char *path = g_strdup_printf ("/open/%s/%s", both[i].name,
                                                 v == 0 ? "openat2" : "walk");

        g_test_add_data_func (path, GUINT_TO_POINTER (v), both[i].func);
      }

  g_test_add_func ("/open/denied", test_denied);
  g_test_add_func ("/open/real", test_real);
  g_test_add_func ("/open/real-fails", test_real_fails);
  g_test_add_func ("/open/show", test_show);
  g_test_add_func ("/open/file-id", test_file_id);

  return g_test_run ();
}
