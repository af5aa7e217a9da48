/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "bench.h"

#include "core/sbx-reach-private.h"
#include "spec/sbx-resolve-private.h"

#include <glib/gstdio.h>
#include <stdlib.h>

/*
 * A spec with three paths to write, of 100,000 directories together, against find with the same
 * three, and nothing to print but directories. Everything is in the cache of the kernel. The second
 * figure is what one repository with 300 linked working trees and 40 submodules costs.
 */

#define N_RUNS 15
#define N_ROOTS 3
#define N_DIRS 100000
#define N_WIDE 30           /* directories of a directory, and files of some */
#define FILES_EVERY 3
#define N_WORKTREES 300
#define N_MODULES 40

static void
make_dir (const char *path)
{
  if (g_mkdir (path, 0755) < 0)
    g_error ("%s cannot be made", path);
}

static void
make_file (const char *path,
           const char *content)
{
  g_autoptr(GError) error = NULL;

  g_file_set_contents (path, content, -1, &error);
  g_assert_no_error (error);
}

/* Makes @n directories below @path, each with some in it until there are enough. */
static void
make_tree (const char *path,
           guint       n)
{
  g_autoptr(GPtrArray) made = g_ptr_array_new_with_free_func (g_free);

  make_dir (path);
  g_ptr_array_add (made, g_strdup (path));

  for (guint i = 0; made->len < n; i++)
    for (guint j = 0; j < N_WIDE && made->len < n; j++)
      {
        char *sub = g_strdup_printf ("%s/d%u", (char *) g_ptr_array_index (made, i), j);

        make_dir (sub);
        g_ptr_array_add (made, sub);

        if (made->len % FILES_EVERY == 0)
          {
            g_autofree char *file = g_strconcat (sub, "/file", NULL);

            make_file (file, "");
          }
      }
}

static void
make_git_dir (const char *path)
{
  static const char * const dirs[] = { "", "/objects", "/refs", "/hooks", "/info" };
  g_autofree char *head = g_strconcat (path, "/HEAD", NULL);
  g_autofree char *config = g_strconcat (path, "/config", NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (dirs); i++)
    {
      g_autofree char *dir = g_strconcat (path, dirs[i], NULL);

      make_dir (dir);
    }

  make_file (head, "ref: refs/heads/main\n");
  make_file (config, "[core]\n\trepositoryformatversion = 0\n");
}

static void
make_worktree (const char *root,
               guint       i)
{
  g_autofree char *worktree = g_strdup_printf ("%s/trees/t%u", root, i);
  g_autofree char *pointer = g_strconcat (worktree, "/.git", NULL);
  g_autofree char *entry = g_strdup_printf ("%s/.git/worktrees/t%u", root, i);
  g_autofree char *common = g_strconcat (entry, "/commondir", NULL);
  g_autofree char *back = g_strconcat (entry, "/gitdir", NULL);
  g_autofree char *pointer_line = g_strdup_printf ("gitdir: %s\n", entry);
  g_autofree char *back_line = g_strconcat (pointer, "\n", NULL);

  make_dir (worktree);
  make_dir (entry);
  make_file (pointer, pointer_line);
  make_file (common, "../..\n");
  make_file (back, back_line);
}

static void
make_module (const char *root,
             guint       i)
{
  g_autofree char *worktree = g_strdup_printf ("%s/m%u", root, i);
  g_autofree char *pointer = g_strconcat (worktree, "/.git", NULL);
  g_autofree char *module = g_strdup_printf ("%s/.git/modules/m%u", root, i);
  g_autofree char *config = g_strconcat (module, "/config", NULL);
  g_autofree char *pointer_line = g_strdup_printf ("gitdir: ../.git/modules/m%u\n", i);
  g_autofree char *config_text = g_strdup_printf ("[core]\n\tworktree = ../../../m%u\n", i);

  make_dir (worktree);
  make_git_dir (module);
  make_file (pointer, pointer_line);
  make_file (config, config_text);
}

static void
make_repository (const char *root)
{
  static const char * const dirs[] = { ".git/worktrees", ".git/modules", "trees" };
  g_autofree char *git = g_build_filename (root, ".git", NULL);

  make_dir (root);
  make_git_dir (git);
  for (gsize i = 0; i < G_N_ELEMENTS (dirs); i++)
    {
      g_autofree char *dir = g_build_filename (root, dirs[i], NULL);

      make_dir (dir);
    }

  for (guint i = 0; i < N_WORKTREES; i++)
    make_worktree (root, i);
  for (guint i = 0; i < N_MODULES; i++)
    make_module (root, i);
}

static double
resolve (const SbxRoots      *roots,
         const char * const  *write)
{
  g_autoptr(SbxReach) asked = sbx_reach_new (write[0]);
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(GError) error = NULL;
  gint64 begin;

  for (gsize i = 0; write[i] != NULL; i++)
    sbx_reach_add_write (asked, write[i]);

  begin = g_get_monotonic_time ();
  reach = _sbx_resolve (roots, asked, NULL, &error);
  g_assert_no_error (error);

  return (g_get_monotonic_time () - begin) / 1000.0;
}

static void
compare (const SbxRoots      *roots,
         const char          *what,
         const char * const  *write,
         const char          *goal)
{
  g_autoptr(GPtrArray) find = g_ptr_array_new ();
  BenchSample ours, theirs;

  g_ptr_array_add (find, (gpointer) "find");
  for (gsize i = 0; write[i] != NULL; i++)
    g_ptr_array_add (find, (gpointer) write[i]);
  g_ptr_array_add (find, (gpointer) "-type");
  g_ptr_array_add (find, (gpointer) "d");
  g_ptr_array_add (find, NULL);

  bench_sample_init (&ours);
  bench_sample_init (&theirs);
  bench_spawn ((const char * const *) find->pdata, NULL);
  resolve (roots, write);

  for (guint i = 0; i < N_RUNS; i++)
    {
      bench_sample_add (&ours, resolve (roots, write));
      bench_sample_add (&theirs, bench_spawn ((const char * const *) find->pdata, NULL));
    }

  bench_report (what, bench_sample_median (&ours), "find -type d",
                bench_sample_median (&theirs), "ms", goal);
  bench_sample_clear (&ours);
  bench_sample_clear (&theirs);
}

int
main (int    argc,
      char **argv)
{
  g_autofree char *made = g_dir_make_tmp ("sbx-bench-XXXXXX", NULL);
  g_autofree char *dir = g_canonicalize_filename (made, NULL);
  g_autofree char *repository = g_build_filename (dir, "repository", NULL);
  g_autoptr(SbxRoots) given = _sbx_roots_new ();
  g_autoptr(SbxRoots) roots = _sbx_roots_real (given, NULL);
  char *write[N_ROOTS + 1] = { NULL };
  const char *remove[] = { "rm", "-rf", dir, NULL };

  for (guint i = 0; i < N_ROOTS; i++)
    {
      write[i] = g_strdup_printf ("%s/w%u", dir, i);
      make_tree (write[i], N_DIRS / N_ROOTS + (i == 0 ? N_DIRS % N_ROOTS : 0));
    }
  make_repository (repository);

  compare (roots, "resolve, 100,000 directories", (const char * const *) write, "<= 1.3");
  compare (roots, "resolve, 300 worktrees, 40 modules", (const char *[]) { repository, NULL },
           "none");

  bench_spawn (remove, NULL);
  for (guint i = 0; i < N_ROOTS; i++)
    g_free (write[i]);

  return EXIT_SUCCESS;
}
