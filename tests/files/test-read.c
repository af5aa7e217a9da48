/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "files/sbx-memfd-private.h"
#include "files/sbx-open-private.h"
#include "test-files.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

static void
assert_reads (int         dir_fd,
              const char *path,
              gsize       max_size,
              const char *content,
              gsize       length)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) bytes = _sbx_read_beneath (dir_fd, path, max_size, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), content, length);
}

static void
assert_refuses (int          dir_fd,
                const char  *path,
                gsize        max_size,
                GIOErrorEnum code)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) bytes = _sbx_read_beneath (dir_fd, path, max_size, NULL, &error);

  g_assert_error (error, G_IO_ERROR, (int) code);
  g_assert_null (bytes);
}

static void
test_sizes (void)
{
  static const gsize sizes[] = { 0, 1, 4095, 4096, 4097, 65535, 65536, 65537, 1024 * 1024 + 1 };
  g_auto(TestDir) dir = test_dir_make ();

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofree char *content = g_strnfill (sizes[i], 'x');

      if (sizes[i] > 0)
        content[sizes[i] / 2] = '\n';

      test_make_file (dir.fd, "f", content);
      assert_reads (dir.fd, "f", sizes[i], content, sizes[i]);
      assert_reads (dir.fd, "f", 16 * 1024 * 1024, content, sizes[i]);

      if (sizes[i] > 0)
        assert_refuses (dir.fd, "f", sizes[i] - 1, G_IO_ERROR_MESSAGE_TOO_LARGE);
    }
}

/* Ten gigabytes of nothing: refused for what it says of itself, without reading. */
static void
test_sparse (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  sbx_autofd int fd = openat (dir.fd, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

  g_assert_cmpint (ftruncate (fd, 10 * G_GINT64_CONSTANT (1024) * 1024 * 1024), ==, 0);
  assert_refuses (dir.fd, "f", 1024 * 1024, G_IO_ERROR_MESSAGE_TOO_LARGE);
}

/* Files of /proc say that they are empty. */
static void
test_proc (void)
{
  sbx_autofd int proc = open ("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) bytes = _sbx_read_beneath (proc, "status", 65536, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (bytes), >, 100);
  assert_refuses (proc, "status", 10, G_IO_ERROR_MESSAGE_TOO_LARGE);
}

static void
test_not_regular (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  sbx_autofd int dev = open ("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);
  sbx_autofd int socket_fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un address = { .sun_family = AF_UNIX };

  g_snprintf (address.sun_path, sizeof address.sun_path, "%s/socket", dir.path);
  g_assert_cmpint (bind (socket_fd, (struct sockaddr *) &address, sizeof address), ==, 0);
  g_assert_cmpint (mkfifoat (dir.fd, "fifo", 0644), ==, 0);
  g_assert_cmpint (symlinkat ("f", dir.fd, "link"), ==, 0);
  g_assert_cmpint (symlinkat ("missing", dir.fd, "dangling"), ==, 0);
  test_make_file (dir.fd, "f", "x");
  test_make_dir (dir.fd, "d");

  assert_refuses (dir.fd, "fifo", 100, G_IO_ERROR_NOT_REGULAR_FILE);
  assert_refuses (dir.fd, "socket", 100, G_IO_ERROR_NOT_REGULAR_FILE);
  assert_refuses (dev, "zero", 100, G_IO_ERROR_NOT_REGULAR_FILE);
  assert_refuses (dev, "null", 100, G_IO_ERROR_NOT_REGULAR_FILE);
  assert_refuses (dir.fd, "d", 100, G_IO_ERROR_IS_DIRECTORY);
  assert_refuses (dir.fd, ".", 100, G_IO_ERROR_IS_DIRECTORY);
  assert_refuses (dir.fd, "link", 100, G_IO_ERROR_TOO_MANY_LINKS);
  assert_refuses (dir.fd, "dangling", 100, G_IO_ERROR_TOO_MANY_LINKS);
  assert_refuses (dir.fd, "missing", 100, G_IO_ERROR_NOT_FOUND);
  assert_refuses (dir.fd, "../f", 100, G_IO_ERROR_INVALID_FILENAME);
}

static void
test_cancelled (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;

  test_make_file (dir.fd, "f", "x");
  g_cancellable_cancel (cancellable);
  g_assert_null (_sbx_read_beneath (dir.fd, "f", 10, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
read_denied (gpointer data)
{
  const TestDir *dir = data;

  assert_refuses (dir->fd, "f", 10, G_IO_ERROR_PERMISSION_DENIED);
}

static void
test_denied (void)
{
  g_auto(TestDir) dir = test_dir_make ();

  test_make_file (dir.fd, "f", "x");
  g_assert_cmpint (fchmodat (dir.fd, "f", 0000, 0), ==, 0);
  test_run_as_user (read_denied, &dir);
}

/* Holds a lease on the file until the other end of the pipe is closed. */
static pid_t
hold_lease (int       dir_fd,
            int      *release,
            gboolean *held)
{
  int there[2];
  int back[2];
  char answer = '\0';
  pid_t pid;

  g_assert_cmpint (pipe2 (there, O_CLOEXEC), ==, 0);
  g_assert_cmpint (pipe2 (back, O_CLOEXEC), ==, 0);
  pid = fork ();
  g_assert_cmpint (pid, >=, 0);

  if (pid == 0)
    {
      const int fd = openat (dir_fd, "f", O_RDWR | O_CLOEXEC);

      signal (SIGIO, SIG_IGN);
      close (there[1]);
      answer = fcntl (fd, F_SETLEASE, F_WRLCK) == 0 ? 'y' : 'n';
      if (write (back[1], &answer, 1) != 1 || read (there[0], &answer, 1) != 0)
        _exit (1);

      test_child_done ();
    }

  close (there[0]);
  close (back[1]);
  g_assert_cmpint (read (back[0], &answer, 1), ==, 1);
  close (back[0]);
  *release = there[1];
  *held = answer == 'y';

  return pid;
}

/* Who holds a lease could make an ordinary reader wait for 45 seconds. */
static void
test_lease (void)
{
  g_auto(TestDir) dir = test_dir_make ();
  sbx_autofd int pipe_fd = -1;
  gboolean held = FALSE;
  pid_t pid;

  test_make_file (dir.fd, "f", "x");
  g_assert_cmpint (fchownat (dir.fd, "f", geteuid (), getegid (), 0), ==, 0);
  pid = hold_lease (dir.fd, &pipe_fd, &held);

  if (held)
    assert_refuses (dir.fd, "f", 10, G_IO_ERROR_BUSY);
  else
    g_test_skip ("This file system has no leases");

  _sbx_clear_fd (&pipe_fd);
  test_wait_child (pid);
}

typedef struct
{
  int dir_fd;
  int stop;
} Writer;

static gpointer
grow_cb (gpointer data)
{
  Writer *self = data;
  sbx_autofd int fd = openat (self->dir_fd, "f", O_WRONLY | O_APPEND | O_CLOEXEC);
  g_autofree char *block = g_strnfill (16384, 'x');

  while (!g_atomic_int_get (&self->stop))
    {
      g_assert_cmpint (write (fd, block, 16384), ==, 16384);

      /* The disk is not what is tested. */
      if (lseek (fd, 0, SEEK_END) > 64 * 1024 * 1024)
        g_assert_cmpint (ftruncate (fd, 0), ==, 0);
    }

  return NULL;
}

/* A file that grows while it is read does not take more than was said. */
static void
test_growing (void)
{
  const gsize max_size = 256 * 1024;
  g_auto(TestDir) dir = test_dir_make ();
  Writer writer = { .dir_fd = dir.fd };
  GThread *thread;

  test_make_file (dir.fd, "f", "x");
  thread = g_thread_new ("grow", grow_cb, &writer);

  for (int i = 0; i < 200; i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(GBytes) bytes = _sbx_read_beneath (dir.fd, "f", max_size, NULL, &error);

      if (bytes != NULL)
        g_assert_cmpuint (g_bytes_get_size (bytes), <=, max_size);
      else
        g_assert_error (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE);
    }

  g_atomic_int_set (&writer.stop, 1);
  g_thread_join (thread);
}

static gpointer
swap_cb (gpointer data)
{
  Writer *self = data;

  while (!g_atomic_int_get (&self->stop))
    {
      g_assert_cmpint (renameat (self->dir_fd, "fifo", self->dir_fd, "f"), ==, 0);
      g_assert_cmpint (mkfifoat (self->dir_fd, "fifo", 0644), ==, 0);
      test_make_file (self->dir_fd, "new", "content");
      g_assert_cmpint (renameat (self->dir_fd, "new", self->dir_fd, "f"), ==, 0);
    }

  return NULL;
}

/* Nobody can make a reader wait by putting a FIFO where a file was. */
static void
test_swapped (void)
{
  const gint64 deadline = g_get_monotonic_time () + 5 * G_USEC_PER_SEC;
  g_auto(TestDir) dir = test_dir_make ();
  Writer writer = { .dir_fd = dir.fd };
  guint files = 0;
  guint others = 0;
  GThread *thread;

  test_make_file (dir.fd, "f", "content");
  g_assert_cmpint (mkfifoat (dir.fd, "fifo", 0644), ==, 0);
  thread = g_thread_new ("swap", swap_cb, &writer);

  while ((files < 500 || others < 500) && g_get_monotonic_time () < deadline)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(GBytes) bytes = _sbx_read_beneath (dir.fd, "f", 100, NULL, &error);

      if (bytes != NULL)
        {
          g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), "content", 7);
          files++;
        }
      else
        {
          g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE);
          others++;
        }

      g_thread_yield ();
    }

  g_atomic_int_set (&writer.stop, 1);
  g_thread_join (thread);
  g_test_message ("met the file %u times, the FIFO %u times", files, others);
  g_assert_cmpuint (files + others, >, 0);
}

static void
test_memfd (void)
{
  static const gsize sizes[] = { 0, 1, 3 * 1024 * 1024 + 7 };

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofree char *content = g_strnfill (sizes[i], 'x');
      g_autofree char *read_back = g_malloc (sizes[i] + 1);
      g_autoptr(GError) error = NULL;
      sbx_autofd int fd = _sbx_memfd_sealed ("test", content, sizes[i], &error);

      g_assert_no_error (error);
      g_assert_cmpint (fcntl (fd, F_GETFD), ==, FD_CLOEXEC);
      g_assert_cmpint (lseek (fd, 0, SEEK_CUR), ==, 0);
      g_assert_cmpint (read (fd, read_back, sizes[i] + 1), ==, (gssize) sizes[i]);
      g_assert_cmpmem (read_back, sizes[i], content, sizes[i]);

      /* Neither we nor who gets it can change it, or make it changeable. */
      g_assert_cmpint (pwrite (fd, "y", 1, 0), ==, -1);
      g_assert_cmpint (ftruncate (fd, 0), ==, sizes[i] == 0 ? 0 : -1);
      g_assert_cmpint (ftruncate (fd, 1024 * 1024 * 1024), ==, -1);
      g_assert_true (mmap (NULL, 4096, PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
      g_assert_cmpint (fcntl (fd, F_ADD_SEALS, 0), ==, -1);
    }
}

static void
test_memfd_fails (void)
{
  g_autofree char *long_name = g_strnfill (300, 'n');
  g_autoptr(GError) error = NULL;

  g_assert_cmpint (_sbx_memfd_sealed (long_name, "x", 1, &error), ==, -1);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/read/sizes", test_sizes);
  g_test_add_func ("/read/sparse", test_sparse);
  g_test_add_func ("/read/proc", test_proc);
  g_test_add_func ("/read/not-regular", test_not_regular);
  g_test_add_func ("/read/cancelled", test_cancelled);
  g_test_add_func ("/read/denied", test_denied);
  g_test_add_func ("/read/lease", test_lease);
  g_test_add_func ("/read/growing", test_growing);
  g_test_add_func ("/read/swapped", test_swapped);
  g_test_add_func ("/memfd/sealed", test_memfd);
  g_test_add_func ("/memfd/fails", test_memfd_fails);

  return g_test_run ();
}
