/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sbx-error.h"
#include "core/sbx-reach-private.h"
#include "spec/sbx-resolve-private.h"

G_BEGIN_DECLS

/* A directory of the test's own, with a home in it, and what a spec comes to there. Paths are given
 * relative to it. */
typedef struct
{
  char     *root;
  char     *home;
  SbxRoots *roots;   /* real */
} TestPlace;

/* What the test itself runs: it must work. */
static inline void
test_run_in_place (TestPlace  *place,
                   const char *script)
{
  g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_NONE);
  g_autoptr(GSubprocess) process = NULL;
  g_autoptr(GError) error = NULL;

  g_subprocess_launcher_set_cwd (launcher, place->root);
  g_subprocess_launcher_setenv (launcher, "HOME", place->home, TRUE);
  g_subprocess_launcher_setenv (launcher, "GIT_CONFIG_NOSYSTEM", "1", TRUE);
  g_subprocess_launcher_setenv (launcher, "GIT_AUTHOR_NAME", "O", TRUE);
  g_subprocess_launcher_setenv (launcher, "GIT_AUTHOR_EMAIL", "o@example.org", TRUE);
  g_subprocess_launcher_setenv (launcher, "GIT_COMMITTER_NAME", "O", TRUE);
  g_subprocess_launcher_setenv (launcher, "GIT_COMMITTER_EMAIL", "o@example.org", TRUE);
  process = g_subprocess_launcher_spawn (launcher, &error, "sh", "-ec", script, NULL);
  g_assert_no_error (error);

  if (!g_subprocess_wait_check (process, NULL, &error))
    g_error ("“%s”: %s", script, error->message);
}

static inline void
test_place_init_in (TestPlace  *self,
                    const char *parent)
{
  g_autoptr(SbxRoots) roots = _sbx_roots_new ();
  g_autoptr(GError) error = NULL;
  g_autofree char *made = g_build_filename (parent, "sbx-resolve-XXXXXX", NULL);

  g_assert_nonnull (g_mkdtemp (made));
  self->root = realpath (made, NULL);
  self->home = g_build_filename (self->root, "home", NULL);
  g_assert_cmpint (g_mkdir (self->home, 0755), ==, 0);
  test_run_in_place (self, "mkdir -p home/.awf/sandboxes home/.ssh home/notes home/scratch "
                           "runs/a-run crafted");

  roots->home = g_strdup (self->home);
  roots->account_home = g_strdup (self->home);
  roots->run_root = g_build_filename (self->root, "runs", "a-run", NULL);
  roots->machine_root = g_build_filename (self->home, ".awf", NULL);
  self->roots = _sbx_roots_real (roots, &error);
  g_assert_no_error (error);
}

static inline void
test_place_init (TestPlace *self)
{
  test_place_init_in (self, g_get_tmp_dir ());
}

static inline void
test_place_clear (TestPlace *self)
{
  g_autofree char *script = g_strdup_printf ("chmod -R u+rwx . 2> /dev/null || true; cd /; "
                                             "rm -rf '%s'", self->root);

  g_assert_nonnull (strstr (self->root, "/sbx-resolve-"));
  test_run_in_place (self, script);
  g_clear_pointer (&self->roots, _sbx_roots_free);
  free (self->root);
  g_free (self->home);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TestPlace, test_place_clear)

/* @read and @write are separated by blanks, and %NULL for none. */
static inline SbxReach *
test_resolve_with (TestPlace     *place,
                   const char    *cwd,
                   const char    *read,
                   const char    *write,
                   SbxGitMode     git_mode,
                   GCancellable  *cancellable,
                   GError       **error)
{
  g_autofree char *path = g_build_filename (place->root, cwd, NULL);
  g_autoptr(SbxReach) asked = sbx_reach_new (path);
  g_auto(GStrv) reads = g_strsplit (read != NULL ? read : "", " ", -1);
  g_auto(GStrv) writes = g_strsplit (write != NULL ? write : "", " ", -1);

  for (guint i = 0; reads[i] != NULL; i++)
    {
      g_autofree char *one = g_build_filename (place->root, reads[i], NULL);

      sbx_reach_add_read (asked, one);
    }

  for (guint i = 0; writes[i] != NULL; i++)
    {
      g_autofree char *one = g_build_filename (place->root, writes[i], NULL);

      sbx_reach_add_write (asked, one);
    }

  sbx_reach_set_git_mode (asked, git_mode);

  return _sbx_resolve (place->roots, asked, cancellable, error);
}

static inline SbxReach *
test_resolve (TestPlace  *place,
              const char *cwd,
              const char *read,
              const char *write)
{
  g_autoptr(GError) error = NULL;
  SbxReach *reach = test_resolve_with (place, cwd, read, write, SBX_GIT_MODE_DEFAULT, NULL, &error);

  g_assert_no_error (error);
  return reach;
}

/* Must fail with @code, in words that have each of @says, separated by "|". */
static inline void
test_resolve_fails (TestPlace  *place,
                    const char *cwd,
                    const char *read,
                    const char *write,
                    int         code,
                    const char *says)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxReach) reach = test_resolve_with (place, cwd, read, write, SBX_GIT_MODE_DEFAULT,
                                                 NULL, &error);
  g_auto(GStrv) words = g_strsplit (says, "|", -1);

  g_assert_null (reach);
  g_assert_error (error, SBX_ERROR, code);

  for (guint i = 0; words[i] != NULL; i++)
    if (strstr (error->message, words[i]) == NULL)
      g_error ("“%s” does not say “%s”", error->message, words[i]);
}

static inline SbxReachEntry *
test_find_entry (TestPlace    *place,
                 SbxReach     *reach,
                 SbxReachKind  kind,
                 const char   *relative)
{
  g_autofree char *path = g_build_filename (place->root, relative, NULL);
  GListModel *entries = G_LIST_MODEL (reach->entries);

  for (guint i = 0; i < g_list_model_get_n_items (entries); i++)
    {
      g_autoptr(SbxReachEntry) entry = g_list_model_get_item (entries, i);

      if (entry->kind == kind && g_strcmp0 (entry->path, path) == 0)
        return entry;
    }

  return NULL;
}

/* The git directories of @reach, in order: "path", "path+" for one that can be written. */
static inline char *
test_list_git_dirs (TestPlace *place,
                    SbxReach  *reach)
{
  GListModel *entries = G_LIST_MODEL (reach->entries);
  GString *list = g_string_new (NULL);

  for (guint i = 0; i < g_list_model_get_n_items (entries); i++)
    {
      g_autoptr(SbxReachEntry) entry = g_list_model_get_item (entries, i);

      if (entry->kind == SBX_REACH_GIT_DIR)
        g_string_append_printf (list, "%s%s%s", list->len > 0 ? " " : "",
                                entry->path + strlen (place->root) + 1,
                                entry->writable ? "+" : "");
    }

  return g_string_free (list, FALSE);
}

#define test_assert_git_dirs(place, reach, expected) \
  G_STMT_START { \
    g_autofree char *test_git_dirs = test_list_git_dirs (place, reach); \
    g_assert_cmpstr (test_git_dirs, ==, expected); \
  } G_STMT_END

/* Each of the paths, which are separated by blanks. */
static inline void
test_assert_protected (TestPlace  *place,
                       SbxReach   *reach,
                       const char *paths)
{
  g_auto(GStrv) list = g_strsplit (paths, " ", -1);

  for (guint i = 0; list[i] != NULL; i++)
    if (test_find_entry (place, reach, SBX_REACH_PROTECTED, list[i]) == NULL)
      g_error ("“%s” is not protected", list[i]);
}

static inline void
test_assert_not_protected (TestPlace  *place,
                           SbxReach   *reach,
                           const char *paths)
{
  g_auto(GStrv) list = g_strsplit (paths, " ", -1);

  for (guint i = 0; list[i] != NULL; i++)
    if (test_find_entry (place, reach, SBX_REACH_PROTECTED, list[i]) != NULL)
      g_error ("“%s” is protected", list[i]);
}

G_END_DECLS
