/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <fcntl.h>
#include <gio/gio.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/sbx-delete-private.h"
#include "files/sbx-fd-private.h"

G_BEGIN_DECLS

/* Some user that is not root and has nothing. */
#define TEST_USER 65534

/* A fresh directory, and a descriptor of it. */
typedef struct
{
  char *path;
  int fd;
} TestDir;

static inline void
test_dir_clear (TestDir *self)
{
  g_autofree char *name = g_path_get_basename (self->path);
  g_autofree char *parent = g_path_get_dirname (self->path);
  g_autoptr(GError) error = NULL;
  sbx_autofd int parent_fd = open (parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  _sbx_clear_fd (&self->fd);
  _sbx_delete_tree (parent_fd, name, NULL, &error);
  g_assert_no_error (error);
  g_free (self->path);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TestDir, test_dir_clear)

/* Where the user that is not root can write as well. */
static inline TestDir
test_dir_make (void)
{
  g_autoptr(GError) error = NULL;
  TestDir self = { .path = g_dir_make_tmp ("sbx-files-XXXXXX", &error), .fd = -1 };

  g_assert_no_error (error);
  self.fd = open (self.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_assert_cmpint (self.fd, >=, 0);

  if (geteuid () == 0)
    g_assert_cmpint (fchown (self.fd, TEST_USER, TEST_USER), ==, 0);

  return self;
}

static inline void
test_make_file (int         dir_fd,
                const char *path,
                const char *content)
{
  sbx_autofd int fd = openat (dir_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (write (fd, content, strlen (content)), ==, (gssize) strlen (content));
}

static inline void
test_make_dir (int         dir_fd,
               const char *path)
{
  g_assert_cmpint (mkdirat (dir_fd, path, 0755), ==, 0);
}

static inline gboolean
test_exists (int         dir_fd,
             const char *path)
{
  struct stat info;

  return fstatat (dir_fd, path, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

static inline mode_t
test_mode (int         dir_fd,
           const char *path)
{
  struct stat info;

  g_assert_cmpint (fstatat (dir_fd, path, &info, AT_SYMLINK_NOFOLLOW), ==, 0);
  return info.st_mode & 07777;
}

static inline guint
test_count_entries (const char *path)
{
  g_autoptr(GDir) dir = g_dir_open (path, 0, NULL);
  guint count = 0;

  g_assert_nonnull (dir);
  while (g_dir_read_name (dir) != NULL)
    count++;

  return count;
}

/* A child process must end well. */
static inline void
test_wait_child (pid_t pid)
{
  int status;

  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 0);
}

/*
 * The good end of a child process. At an ordinary one a checker of memory would take for leaks what
 * the parent goes on to use.
 */
G_NORETURN static inline void
test_child_done (void)
{
  execl ("/bin/true", "true", NULL);
  _exit (1);
}

typedef void (*TestFunc) (gpointer data);

/* Runs @func in a child process, which is no root. Its assertions count. */
static inline void
test_run_as_user (TestFunc func,
                  gpointer data)
{
  const pid_t pid = fork ();

  g_assert_cmpint (pid, >=, 0);

  if (pid == 0)
    {
      if (geteuid () == 0 && (setgroups (0, NULL) < 0 || setgid (TEST_USER) < 0 ||
                              setuid (TEST_USER) < 0))
        _exit (1);

      func (data);
      test_child_done ();
    }

  test_wait_child (pid);
}

/* As before, but with the same rights. */
static inline void
test_run_in_child (TestFunc func,
                   gpointer data)
{
  const pid_t pid = fork ();

  g_assert_cmpint (pid, >=, 0);

  if (pid == 0)
    {
      func (data);
      test_child_done ();
    }

  test_wait_child (pid);
}

G_END_DECLS
