/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spec/sbx-git-tree-private.h"

#include "core/sbx-error.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

/* ".git" of a working tree, and the files of the git directory "g" in it that lead elsewhere. */
static const char * const names[] = { ".git", "g/commondir", "g/gitdir", "g/config" };

static char *root;

static void
remove_root (void)
{
  static const char * const all[] = { ".git", "g/commondir", "g/gitdir", "g/config", "g", "" };

  for (gsize i = 0; i < G_N_ELEMENTS (all); i++)
    {
      g_autofree char *path = g_build_filename (root, all[i], NULL);

      g_remove (path);
    }

  g_free (root);
}

static void
make_root (void)
{
  const char *parent = g_access ("/dev/shm", W_OK) == 0 ? "/dev/shm" : g_get_tmp_dir ();
  g_autofree char *made = g_build_filename (parent, "sbx-fuzz-XXXXXX", NULL);
  g_autofree char *git_dir = NULL;
  char *real_path;

  g_assert_nonnull (g_mkdtemp (made));
  real_path = realpath (made, NULL);
  root = g_strdup (real_path);
  free (real_path);
  git_dir = g_build_filename (root, "g", NULL);
  g_assert_cmpint (g_mkdir (git_dir, 0700), ==, 0);
  atexit (remove_root);
}

static void
write_file (const char   *name,
            const guint8 *data,
            size_t        size)
{
  g_autofree char *path = g_build_filename (root, name, NULL);
  const int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (write (fd, data, size), ==, (gssize) size);
  close (fd);
}

/* The first byte says where the parts of the rest begin; the first part is ".git", or, since few
 * pointers lead anywhere, a good one. */
int
LLVMFuzzerTestOneInput (const guint8 *data,
                        size_t        size)
{
  g_autoptr(SbxGitTree) tree = NULL;
  g_autoptr(GError) error = NULL;
  const char *good = "gitdir: g\n";
  size_t part;

  if (root == NULL)
    make_root ();

  if (size < 1)
    return 0;

  part = (size - 1) / G_N_ELEMENTS (names);
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    write_file (names[i], data + 1 + i * part, part);
  if (data[0] % 4 != 0)
    write_file (".git", (const guint8 *) good, strlen (good));

  tree = _sbx_git_tree_read (root, NULL, &error);
  g_assert_true ((tree != NULL) != (error != NULL));
  if (tree == NULL)
    return 0;

  g_assert_true (tree->kind == SBX_GIT_TREE_POINTED || tree->kind == SBX_GIT_TREE_LINKED);
  g_assert_cmpstr (tree->root, ==, root);
  g_assert_true (g_path_is_absolute (tree->git.path));
  g_assert_true (S_ISDIR (tree->git.st.st_mode));

  /* Nothing here is in worktrees/, so that none can be named back by an entry. */
  g_assert_false (tree->kind == SBX_GIT_TREE_LINKED && tree->names_back);

  return 0;
}
