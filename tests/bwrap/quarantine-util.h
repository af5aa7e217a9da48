/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bwrap/sbx-bwrap-quarantine-private.h"
#include "bwrap/sbx-bwrap-worktree-private.h"
#include "test-util.h"

G_BEGIN_DECLS

#define SESSION "0123456789abcdef"

/* A project, a data directory with a session in it, and a place outside of both. */
typedef struct
{
  char *root;
  char *data;
  char *project;
  char *outside;
  int   sessions_fd;
} Ground;

static inline char *
make_dir (const char *parent,
          const char *name)
{
  char *path = g_build_filename (parent, name, NULL);

  g_assert_cmpint (g_mkdir_with_parents (path, 0700), ==, 0);
  return path;
}

/* @data is where the data directory is, or NULL: beside the project. */
static inline void
ground_init (Ground     *self,
             const char *data)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *session = NULL;
  g_autofree char *sessions = NULL;

  self->root = g_dir_make_tmp ("sbx-quarantine-XXXXXX", &error);
  g_assert_no_error (error);
  self->data = data != NULL ? g_strdup (data) : make_dir (self->root, "data");
  self->project = make_dir (self->root, "project");
  self->outside = make_dir (self->root, "outside");
  session = make_dir (self->data, "sessions/" SESSION);
  sessions = g_build_filename (self->data, "sessions", NULL);
  self->sessions_fd = open (sessions, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_assert_cmpint (self->sessions_fd, >=, 0);
}

/* Nothing but what tests make. */
static inline void
remove_all (const char *path)
{
  g_autoptr(GSubprocess) rm = NULL;
  g_autoptr(GSubprocess) chmod_process = NULL;

  g_assert_true (strstr (path, "/sbx-quarantine-") != NULL);
  chmod_process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDERR_SILENCE, NULL,
                                    "chmod", "-R", "u+rwx", path, NULL);
  g_subprocess_wait (chmod_process, NULL, NULL);
  rm = g_subprocess_new (G_SUBPROCESS_FLAGS_NONE, NULL,
                         "rm", "-rf", "--one-file-system", path, NULL);
  g_assert_true (g_subprocess_wait_check (rm, NULL, NULL));
}

/* Of one that ground_init() was not called for there is nothing. */
#define GROUND_NONE { NULL, NULL, NULL, NULL, -1 }

static inline void
ground_clear (Ground *self)
{
  if (self->root == NULL)
    return;

  close (self->sessions_fd);
  remove_all (self->data);
  remove_all (self->root);
  g_free (self->root);
  g_free (self->data);
  g_free (self->project);
  g_free (self->outside);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Ground, ground_clear)

static inline GPtrArray *
to_paths (const char  *parent,
          const char **names)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (g_free);

  for (gsize i = 0; names != NULL && names[i] != NULL; i++)
    g_ptr_array_add (list, g_build_filename (parent, names[i], NULL));

  return list;
}

/* Looks after @names, which are not there, and @present, which are. */
static inline SbxBwrapQuarantine *
try_quarantine (Ground      *ground,
                const char **names,
                const char **present,
                const char **git_dirs,
                GError     **error)
{
  g_autoptr(GPtrArray) roots =
    g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_bwrap_quarantine_root_free);
  g_autoptr(GPtrArray) name_list = to_paths (ground->project, names);
  g_autoptr(GPtrArray) present_list = to_paths (ground->project, present);
  g_autoptr(GPtrArray) git_list = to_paths (ground->project, git_dirs);
  const SbxBwrapQuarantineInput input = {
    .sessions_fd = ground->sessions_fd,
    .data_path = ground->data,
    .id = SESSION,
    .roots = roots,
    .names = name_list,
    .present = present_list,
    .git_dirs = git_list,
  };
  struct stat info;

  g_assert_cmpint (stat (ground->project, &info), ==, 0);
  g_ptr_array_add (roots, _sbx_bwrap_quarantine_root_new (ground->project, info.st_dev,
                                                          info.st_ino));

  return _sbx_bwrap_quarantine_new (&input, error);
}

static inline SbxBwrapQuarantine *
look_after (Ground      *ground,
            const char **names,
            const char **present)
{
  g_autoptr(GError) error = NULL;
  SbxBwrapQuarantine *quarantine = try_quarantine (ground, names, present, NULL, &error);

  g_assert_no_error (error);
  g_assert_nonnull (quarantine);
  return quarantine;
}

static inline void
assert_finishes (SbxBwrapQuarantine *quarantine)
{
  g_autoptr(GError) error = NULL;

  _sbx_bwrap_quarantine_finish (quarantine, &error);
  g_assert_no_error (error);
}

static inline gboolean
is_there (const char *parent,
          const char *name)
{
  g_autofree char *path = g_build_filename (parent, name, NULL);
  struct stat info;

  return lstat (path, &info) == 0;
}

static inline void
put_file (const char *parent,
          const char *name,
          const char *content)
{
  g_autofree char *path = g_build_filename (parent, name, NULL);
  g_autofree char *above = g_path_get_dirname (path);
  g_autoptr(GError) error = NULL;

  g_assert_cmpint (g_mkdir_with_parents (above, 0755), ==, 0);
  g_file_set_contents (path, content, -1, &error);
  g_assert_no_error (error);
}

static inline void
put_link (const char *parent,
          const char *name,
          const char *target)
{
  g_autofree char *path = g_build_filename (parent, name, NULL);

  g_assert_cmpint (symlink (target, path), ==, 0);
}

/* What was put aside for the project, in no order; the list of it is left out. */
static inline GPtrArray *
list_aside (Ground *ground)
{
  g_autofree char *path = g_build_filename (ground->data, "quarantine", SESSION, NULL);
  GPtrArray *list = g_ptr_array_new_with_free_func (g_free);
  g_autoptr(GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (strcmp (name, "items") != 0)
      g_ptr_array_add (list, g_build_filename (path, name, NULL));

  return list;
}

static inline guint
count_aside (Ground *ground)
{
  g_autoptr(GPtrArray) list = list_aside (ground);

  return list->len;
}

/* The one thing whose new name ends in @suffix. */
static inline char *
find_aside (Ground     *ground,
            const char *suffix)
{
  g_autoptr(GPtrArray) list = list_aside (ground);
  char *found = NULL;

  for (guint i = 0; i < list->len; i++)
    if (g_str_has_suffix (g_ptr_array_index (list, i), suffix))
      {
        g_assert_null (found);
        found = g_strdup (g_ptr_array_index (list, i));
      }

  return found;
}

static inline char *
read_text (const char *path)
{
  char *text = NULL;
  g_autoptr(GError) error = NULL;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  return text;
}

G_END_DECLS
