/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "mounts-util.h"
#include "resolver-util.h"

#include <errno.h>

/* What no sandbox gets, under the names that bind mounts give it. Each test is a process of its
 * own, in mounts of its own. */

static void
bind_to (Fixture    *fixture,
         const char *source,
         const char *target)
{
  g_autofree char *from = fixture_path (fixture, source);
  g_autofree char *to = fixture_path (fixture, target);

  if (mount (from, to, "none", MS_BIND, NULL) < 0)
    g_error ("Mounting %s at %s: %s", from, to, g_strerror (errno));
}

/* Before anything is removed: what is mounted is not the test's to remove under that name. */
static void
unmount (Fixture    *fixture,
         const char *target)
{
  g_autofree char *path = fixture_path (fixture, target);

  g_assert_cmpint (umount2 (path, MNT_DETACH), ==, 0);
}

static void
ask (Fixture    *fixture,
     const char *path,
     const char *says)
{
  g_autoptr(SbxReach) asked = fixture_ask (fixture, path);
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(GError) error = NULL;

  if (says != NULL)
    {
      fixture_reach_refuses (fixture, path, SBX_ERROR_REFUSED, says);
      return;
    }

  reach = sbx_resolver_resolve_reach (fixture->resolver, asked, NULL, &error);
  g_assert_no_error (error);
}

/* The directory itself, one above it, and one below it. */
static void
check_aliases (Fixture *fixture)
{
  bind_to (fixture, "@/home", "@/alias");
  bind_to (fixture, "@/home/.ssh", "@/keys");
  bind_to (fixture, "@/home/.ssh/inner", "@/inner");
  bind_to (fixture, "@/home/.netrc", "@/file");

  ask (fixture, "@/alias", "@/alias” is or contains the home directory");
  ask (fixture, "@/alias/.ssh", "@/alias/.ssh” overlaps “@/home/.ssh”");
  ask (fixture, "@/alias/.ssh/inner", "keys");
  ask (fixture, "@/alias/.claude", "coding agent");
  ask (fixture, "@/alias/.awf/sandboxes", "sandboxes themselves are kept");
  ask (fixture, "@/alias/notes", NULL);
  ask (fixture, "@/keys", "keys");
  ask (fixture, "@/inner", "@/inner” overlaps “@/home/.ssh”");
  ask (fixture, "@/file", "keys");

  unmount (fixture, "@/file");
  unmount (fixture, "@/inner");
  unmount (fixture, "@/keys");
  unmount (fixture, "@/alias");
  ask (fixture, "@/alias", NULL);
}

/* Binding a directory takes along what is mounted below it. */
static void
check_below (Fixture *fixture)
{
  static const struct { const char *source; const char *says; } rows[] = {
    { "@/home", "@/project” is or contains the home directory" },
    { "@/home/.ssh", "@/project” overlaps “@/home/.ssh”" },
    { "@/home/.ssh/inner", "@/project” overlaps “@/home/.ssh”" },
    { "@/home/.claude", "coding agent" },
    { "@/home/.awf", "sandboxes themselves are kept" },
    { "@/runs", "the run root" },
    { "@/runs/a-run", "the run root" },
    { "@/home/notes", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_test_message ("%s", rows[i].source);
      bind_to (fixture, rows[i].source, "@/project/sub/deep");
      ask (fixture, "@/project", rows[i].says);
      ask (fixture, "@/project/other", NULL);
      unmount (fixture, "@/project/sub/deep");
    }

  /* Of several mounts at one place the last one is seen, and all come along. */
  bind_to (fixture, "@/home/.ssh", "@/project/sub/deep");
  bind_to (fixture, "@/home/notes", "@/project/sub/deep");
  ask (fixture, "@/project/sub", "keys");
  ask (fixture, "@/project/sub/deep", NULL);
  unmount (fixture, "@/project/sub/deep");
  unmount (fixture, "@/project/sub/deep");
}

/* A mount of its own is no alias: neither for what is kept nor for the project around it. */
static void
check_own_mounts (Fixture *fixture)
{
  g_autoptr(SbxReach) asked = fixture_ask (fixture, "@/home/notes");
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(GError) error = NULL;

  bind_to (fixture, "@/home/repo", "@/home/repo");
  bind_to (fixture, "@/home/repo/.awf/runs", "@/home/repo/.awf/runs");
  fixture_set (fixture, "run-root", "@/home/repo/.awf/runs");

  reach = sbx_resolver_resolve_reach (fixture->resolver, asked, NULL, &error);
  g_assert_no_error (error);
  fixture_assert (fixture, reach, SBX_REACH_HIDDEN, "@/home/repo/.awf/runs");
  ask (fixture, "@/home/repo/.awf/runs", "the run root");

  unmount (fixture, "@/home/repo/.awf/runs");
  unmount (fixture, "@/home/repo");
  fixture_set (fixture, "run-root", "@/runs");
}

static void
check_all (gboolean as_nobody)
{
  g_auto(Fixture) fixture = { 0 };

  /* That of the caller may not be this user's. */
  if (as_nobody)
    g_setenv ("TMPDIR", "/var/tmp", TRUE);

  g_assert_true (mounts_enter (as_nobody));
  fixture_init (&fixture, NULL);
  fixture_run (&fixture, "mkdir -p alias keys inner project/sub/deep project/other "
                         "home/.ssh/inner home/repo/.awf/runs; > file; > home/.netrc");
  fixture_set_list (&fixture, "config-dirs", "@/home/.config/libsbx");

  check_aliases (&fixture);
  check_below (&fixture);
  check_own_mounts (&fixture);
}

static void
test_in_namespace (gconstpointer data)
{
  const gboolean as_nobody = GPOINTER_TO_INT (data);

  if (g_test_subprocess ())
    {
      check_all (as_nobody);
      return;
    }

  if (!mounts_can_enter (as_nobody))
    {
      g_test_skip ("This user can have no mounts of its own here");
      return;
    }

  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_data_func ("/roots/F4/aliases", GINT_TO_POINTER (FALSE), test_in_namespace);
  if (geteuid () == 0)
    g_test_add_data_func ("/roots/F4/nobody", GINT_TO_POINTER (TRUE), test_in_namespace);

  return g_test_run ();
}
