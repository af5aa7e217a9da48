/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "session-util.h"

G_BEGIN_DECLS

/* A tree of directories, files, links, sockets and git repositories, made by chance. */
typedef struct
{
  char      *root;
  GRand     *rand;
  GPtrArray *directories;   /* of paths */
  GPtrArray *files;
  GPtrArray *sockets;
  GArray    *listening;     /* of descriptors */
  GString   *story;         /* what was made, for whoever has to find out what went wrong */
} RandomTree;

#define MAX_DEPTH 3

static inline gboolean
tree_chance (RandomTree *self,
             int         of)
{
  return g_rand_int_range (self->rand, 0, of) == 0;
}

static inline const char *
tree_pick (RandomTree *self,
           GPtrArray  *from)
{
  return g_ptr_array_index (from, g_rand_int_range (self->rand, 0, (int) from->len));
}

static inline void
tree_make_file (RandomTree *self,
                const char *directory,
                const char *name)
{
  char *path = g_build_filename (directory, name, NULL);
  g_autofree char *parent = g_path_get_dirname (path);
  g_autoptr(GError) error = NULL;

  g_assert_cmpint (g_mkdir_with_parents (parent, 0755), ==, 0);
  g_file_set_contents (path, path, -1, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_chmod (path, 0644), ==, 0);
  g_ptr_array_add (self->files, path);
}

static inline void
tree_make_socket (RandomTree *self,
                  const char *directory)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  char *path = g_build_filename (directory, "s", NULL);
  const int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  g_assert_cmpuint (g_strlcpy (address.sun_path, path, sizeof address.sun_path), <,
                    sizeof address.sun_path);
  g_assert_cmpint (bind (fd, (const struct sockaddr *) &address, sizeof address), ==, 0);
  g_assert_cmpint (listen (fd, 64), ==, 0);
  g_array_append_val (self->listening, fd);
  g_ptr_array_add (self->sockets, path);
}

/* To somewhere in the tree, by one of the ways to name it, or out of it, or to nothing. */
static inline void
tree_make_link (RandomTree *self,
                const char *directory)
{
  g_autofree char *path = g_build_filename (directory, "l", NULL);
  g_autofree char *target = NULL;

  switch (g_rand_int_range (self->rand, 0, 6))
    {
    case 0:
      target = g_strdup ("/usr/share");
      break;
    case 1:
      target = g_strdup ("missing");
      break;
    case 2:
      target = g_strdup ("../f");
      break;
    case 3:
      target = g_strdup ("..");
      break;
    default:
      target = g_strdup (tree_pick (self, tree_chance (self, 2) ? self->directories
                                                                : self->files));
      break;
    }

  g_assert_cmpint (symlink (target, path), ==, 0);
  g_string_append_printf (self->story, "link %s -> %s\n", path, target);
}

/* Names that programs outside would run or follow. */
static inline void
tree_make_protected (RandomTree *self,
                     const char *directory)
{
  static const char * const names[] = {
    ".vscode/tasks.json", ".mcp.json", ".bashrc", ".claude/settings.json", ".idea/x",
  };

  tree_make_file (self, directory, names[g_rand_int_range (self->rand, 0, G_N_ELEMENTS (names))]);
}

static inline void
tree_fill (RandomTree *self,
           const char *directory,
           int         depth)
{
  static const char * const names[] = { "a", "b", "c" };

  g_ptr_array_add (self->directories, g_strdup (directory));
  tree_make_file (self, directory, "f");
  if (tree_chance (self, 3))
    tree_make_protected (self, directory);
  if (tree_chance (self, 4))
    tree_make_socket (self, directory);

  for (gsize i = 0; depth < MAX_DEPTH && i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (directory, names[i], NULL);

      if (depth > 0 && tree_chance (self, 2))
        continue;

      g_assert_cmpint (g_mkdir (path, 0755), ==, 0);
      tree_fill (self, path, depth + 1);
    }

  if (tree_chance (self, 4))
    tree_make_link (self, directory);
}

static inline void
tree_git (RandomTree *self,
          const char *script,
          const char *directory,
          const char *other)
{
  g_autoptr(GSubprocessLauncher) launcher = NULL;
  g_autoptr(GSubprocess) process = NULL;
  g_autoptr(GError) error = NULL;

  launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_NONE);
  g_subprocess_launcher_setenv (launcher, "GIT_CONFIG_GLOBAL", "/dev/null", TRUE);
  g_subprocess_launcher_setenv (launcher, "GIT_CONFIG_SYSTEM", "/dev/null", TRUE);
  g_subprocess_launcher_set_cwd (launcher, directory);
  process = g_subprocess_launcher_spawn (launcher, &error, "sh", "-ec", script, "sh", other, NULL);
  g_assert_no_error (error);
  g_subprocess_wait_check (process, NULL, &error);
  g_assert_no_error (error);
  g_string_append_printf (self->story, "in %s (%s): %s\n", directory, other, script);
}

/* One or two repositories, one maybe in the other, with working trees elsewhere. */
static inline void
tree_make_repositories (RandomTree *self)
{
  const int n = g_rand_int_range (self->rand, 0, 3);

  for (int i = 0; i < n; i++)
    {
      const char *directory = tree_pick (self, self->directories);
      const char *parent = tree_pick (self, self->directories);
      g_autofree char *dot_git = g_build_filename (directory, ".git", NULL);
      g_autofree char *name = g_strdup_printf ("wt%d", i);
      g_autofree char *worktree = g_build_filename (parent, name, NULL);

      if (g_file_test (dot_git, G_FILE_TEST_EXISTS))
        continue;

      tree_git (self, tree_chance (self, 2) ? "git init -q --template=" : "git init -q",
                directory, ".");
      tree_git (self, "git -c user.name=n -c user.email=e commit -q --allow-empty -m x", directory,
                ".");
      if (tree_chance (self, 3))
        tree_git (self, "git config core.hooksPath a/hooks", directory, ".");
      if (tree_chance (self, 2))
        {
          tree_git (self, "git worktree add -q \"$1\" 2>/dev/null", directory, worktree);
          g_ptr_array_add (self->directories, g_strdup (worktree));
          tree_make_file (self, worktree, "f");
        }
    }
}

static inline RandomTree *
random_tree_new (const char *root,
                 guint32     seed)
{
  RandomTree *self = g_new0 (RandomTree, 1);

  self->root = g_strdup (root);
  self->rand = g_rand_new_with_seed (seed);
  self->directories = g_ptr_array_new_with_free_func (g_free);
  self->files = g_ptr_array_new_with_free_func (g_free);
  self->sockets = g_ptr_array_new_with_free_func (g_free);
  self->listening = g_array_new (FALSE, FALSE, sizeof (int));
  self->story = g_string_new (NULL);

  g_assert_cmpint (g_mkdir (root, 0755), ==, 0);
  tree_fill (self, root, 0);
  tree_make_repositories (self);

  return self;
}

static inline void
random_tree_free (RandomTree *self)
{
  for (guint i = 0; i < self->listening->len; i++)
    close (g_array_index (self->listening, int, i));

  remove_tree (self->root);
  g_free (self->root);
  g_rand_free (self->rand);
  g_ptr_array_unref (self->directories);
  g_ptr_array_unref (self->files);
  g_ptr_array_unref (self->sockets);
  g_array_unref (self->listening);
  g_string_free (self->story, TRUE);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (RandomTree, random_tree_free)

G_END_DECLS
