/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "bwrap/sbx-bwrap-arguments-private.h"
#include "bwrap/sbx-bwrap-plan-private.h"
#include "bwrap/sbx-bwrap-probe-private.h"
#include "bwrap/sbx-seccomp-private.h"
#include "test-util.h"

G_BEGIN_DECLS

/* The places that a session would have made, and a work directory for the test. */
typedef struct
{
  char *root;
  char *tmp;
  char *home;           /* of the sandbox */
  char *operator_home;
  char *data;
  char *work;
} TestPlace;

static inline char *
test_make_dir (const char *parent,
               const char *name)
{
  char *path = g_build_filename (parent, name, NULL);

  g_assert_cmpint (g_mkdir_with_parents (path, 0755), ==, 0);
  return path;
}

static inline void
test_place_init (TestPlace *self)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *config = NULL;

  self->root = g_dir_make_tmp ("sbx-plan-XXXXXX", &error);
  g_assert_no_error (error);
  self->data = test_make_dir (self->root, "data");
  self->tmp = test_make_dir (self->root, "data/session/tmp");
  self->home = test_make_dir (self->root, "data/home");
  self->operator_home = test_make_dir (self->root, "operator");
  self->work = test_make_dir (self->root, "work");
  config = g_build_filename (self->operator_home, ".gitconfig", NULL);
  g_file_set_contents (config, "[user]\nname = O\nemail = o@example.org\n", -1, &error);
  g_assert_no_error (error);
}

static inline void
test_place_clear (TestPlace *self)
{
  g_autoptr(GSubprocess) rm = g_subprocess_new (G_SUBPROCESS_FLAGS_NONE, NULL, "rm", "-rf",
                                                self->root, NULL);

  g_assert_true (g_subprocess_wait_check (rm, NULL, NULL));
  g_free (self->root);
  g_free (self->tmp);
  g_free (self->home);
  g_free (self->operator_home);
  g_free (self->data);
  g_free (self->work);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TestPlace, test_place_clear)

/* What a plan is made of, for @reach. */
static inline SbxReach *
test_resolve (TestPlace  *place,
              SbxReach   *reach,
              SbxRoots  **roots,
              GError    **error)
{
  *roots = _sbx_bwrap_roots_new (place->operator_home, place->data, NULL, reach, error);

  return *roots != NULL ? _sbx_bwrap_reach_resolve (*roots, reach, NULL, error) : NULL;
}

static inline SbxBwrapPlan *
test_plan_reach (TestPlace  *place,
                 SbxReach   *reach,
                 GError    **error)
{
  g_autoptr(SbxRoots) roots = NULL;
  g_autoptr(SbxReach) resolved = test_resolve (place, reach, &roots, error);
  g_autofree char *config_home = g_build_filename (place->operator_home, ".config", NULL);
  const SbxBwrapPlanInput input = {
    .reach = resolved,
    .roots = roots,
    .tmp_path = place->tmp,
    .home_path = place->home,
    .init_path = "/usr/bin/env",
    .config_home = config_home,

    /* These tests have nobody but bubblewrap to mount. */
    .max_mounts = G_MAXUINT,
  };

  return resolved != NULL ? _sbx_bwrap_plan_new (&input, NULL, error) : NULL;
}

static inline SbxBwrapPlan *
test_plan (TestPlace           *place,
           const char          *cwd,
           const char * const  *read,
           const char * const  *write,
           GError             **error)
{
  g_autoptr(SbxReach) reach = sbx_reach_new (cwd);

  for (gsize i = 0; read != NULL && read[i] != NULL; i++)
    sbx_reach_add_read (reach, read[i]);
  for (gsize i = 0; write != NULL && write[i] != NULL; i++)
    sbx_reach_add_write (reach, write[i]);

  return test_plan_reach (place, reach, error);
}

static inline SbxBwrapProgram *
test_get_program (void)
{
  g_autoptr(GAsyncResult) result = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *path = _sbx_bwrap_probe_find (g_getenv ("SBX_TEST_BWRAP"), NULL, NULL, &error);
  SbxBwrapProgram *program;

  g_assert_no_error (error);
  _sbx_bwrap_probe_program_async (path, NULL, test_store_result, &result);
  test_wait_for (result != NULL);
  program = _sbx_bwrap_probe_program_finish (result, &error);
  g_assert_no_error (error);

  return program;
}

/* Runs @script in a sandbox of @plan, in @cwd, and returns both of its streams. */
static inline char *
test_run_in (SbxBwrapPlan *plan,
             const char   *cwd,
             const char   *script,
             int          *status)
{
  g_autoptr(GSubprocessLauncher) launcher = NULL;
  g_autoptr(GSubprocess) process = NULL;
  g_autoptr(SbxBwrapProgram) program = test_get_program ();
  g_autoptr(SbxBwrapArguments) arguments = NULL;
  g_autoptr(GError) error = NULL;
  char *output = NULL;
  guint i;

  _sbx_bwrap_plan_make_placeholders (plan, &error);
  g_assert_no_error (error);
  arguments = _sbx_bwrap_arguments_new (plan, program, _sbx_seccomp_open (&error), &error);
  g_assert_no_error (error);

  launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                                        G_SUBPROCESS_FLAGS_STDERR_MERGE);
  for (i = 0; i < arguments->fds->len; i++)
    {
      SbxBwrapFd *fd = &g_array_index (arguments->fds, SbxBwrapFd, i);

      g_subprocess_launcher_take_fd (launcher, g_steal_fd (&fd->source), fd->target);
    }

  process = g_subprocess_launcher_spawn (launcher, &error, program->path, "--args",
                                         arguments->argv[2],
                                         "--setenv", "PATH", "/usr/bin:/bin:/usr/sbin",
                                         "--setenv", "HOME", SBX_BWRAP_HOME,
                                         "--setenv", "GIT_CONFIG_GLOBAL", SBX_BWRAP_GIT_CONFIG,
                                         "--", "/bin/sh", "-c", "cd \"$1\" && eval \"$2\"", "sh",
                                         cwd, script, NULL);
  g_assert_no_error (error);
  g_subprocess_communicate_utf8 (process, NULL, NULL, &output, NULL, &error);
  g_assert_no_error (error);
  g_test_message ("%s -> %s", script, output);

  *status = g_subprocess_get_if_exited (process) ? g_subprocess_get_exit_status (process)
                                                 : 128 + g_subprocess_get_term_sig (process);
  return output;
}

/* Runs @script on the host in @cwd. */
static inline void
test_run_outside (const char *cwd,
                  const char *script)
{
  g_autoptr(GSubprocessLauncher) launcher = NULL;
  g_autoptr(GSubprocess) process = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *output = NULL;

  launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                                        G_SUBPROCESS_FLAGS_STDERR_MERGE);
  g_subprocess_launcher_set_cwd (launcher, cwd);
  g_subprocess_launcher_setenv (launcher, "GIT_CONFIG_GLOBAL", "/dev/null", TRUE);
  g_subprocess_launcher_setenv (launcher, "GIT_CONFIG_NOSYSTEM", "1", TRUE);
  g_subprocess_launcher_setenv (launcher, "GIT_AUTHOR_NAME", "A", TRUE);
  g_subprocess_launcher_setenv (launcher, "GIT_AUTHOR_EMAIL", "a@example.org", TRUE);
  g_subprocess_launcher_setenv (launcher, "GIT_COMMITTER_NAME", "A", TRUE);
  g_subprocess_launcher_setenv (launcher, "GIT_COMMITTER_EMAIL", "a@example.org", TRUE);
  process = g_subprocess_launcher_spawn (launcher, &error, "/bin/sh", "-e", "-c", script, NULL);
  g_assert_no_error (error);
  g_subprocess_communicate_utf8 (process, NULL, NULL, &output, NULL, &error);
  g_assert_no_error (error);

  if (!g_subprocess_get_successful (process))
    g_error ("On the host “%s” failed: %s", script, output);
}

G_END_DECLS
