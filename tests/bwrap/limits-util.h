/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "session-util.h"

#include <grp.h>

G_BEGIN_DECLS

/* "nobody", as whom a test that root runs runs itself again. */
#define TEST_UID 65534

/* Removes what the test has made with g_dir_make_tmp(). */
static inline void
remove_made (const char *path)
{
  g_autofree char *name = g_path_get_basename (path);

  g_assert_true (g_path_is_absolute (path));
  g_assert_true (g_str_has_prefix (name, "sbx-"));
  remove_tree (path);
}

static inline char *
get_try_limits (void)
{
  return g_test_build_filename (G_TEST_BUILT, "bwrap", "try-limits", NULL);
}

/* What the project may be used for, with the program that uses things up; limits are added. */
static inline SbxReach *
limits_reach (Place *place)
{
  SbxReach *reach = sbx_reach_new (place->project);
  g_autofree char *program = get_try_limits ();

  sbx_reach_add_write (reach, place->project);
  sbx_reach_add_read (reach, program);
  sbx_reach_set_variable (reach, "TRY", program);

  return reach;
}

static inline SbxSession *
try_open (Place     *place,
          SbxReach  *reach,
          GError   **error)
{
  g_autoptr(SbxOpenRequest) request = sbx_open_request_new (reach);

  return sbx_provider_open (SBX_PROVIDER (place->provider), request, NULL, error);
}

static inline SbxSession *
open_reach (Place    *place,
            SbxReach *reach)
{
  g_autoptr(GError) error = NULL;
  SbxSession *session = try_open (place, reach, &error);

  g_assert_no_error (error);

  return session;
}

static inline void
become_test_user (gpointer data)
{
  if (setgroups (0, NULL) < 0 || setresgid (TEST_UID, TEST_UID, TEST_UID) < 0 ||
      setresuid (TEST_UID, TEST_UID, TEST_UID) < 0)
    _exit (99);
}

/* Runs the tests of this program below @data as an ordinary user. */
static inline void
run_as_user (gconstpointer data)
{
  const char *path = data;
  g_autoptr(GSubprocessLauncher) launcher = NULL;
  g_autoptr(GSubprocess) process = NULL;
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *output = NULL;
  g_autoptr(GError) error = NULL;

  launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                                        G_SUBPROCESS_FLAGS_STDERR_MERGE);
  g_subprocess_launcher_set_child_setup (launcher, become_test_user, NULL, NULL);
  g_subprocess_launcher_set_cwd (launcher, "/");
  g_subprocess_launcher_unsetenv (launcher, "G_TEST_TMPDIR");
  g_subprocess_launcher_setenv (launcher, "TMPDIR", "/var/tmp", TRUE);
  process = g_subprocess_launcher_spawn (launcher, &error, self, "--tap", "-p", path,
                                         NULL);
  if (g_error_matches (error, G_SPAWN_ERROR, G_SPAWN_ERROR_ACCES))
    {
      g_test_skip ("This program lies where nobody else may read");
      return;
    }

  g_assert_no_error (error);
  g_subprocess_communicate_utf8 (process, NULL, NULL, &output, NULL, &error);
  g_assert_no_error (error);

  if (!g_subprocess_get_successful (process))
    g_error ("As an ordinary user: %s", output);

  g_test_message ("%s", output);
  /* It did run some. */
  g_assert_nonnull (strstr (output, "ok 1 "));
}

G_END_DECLS
