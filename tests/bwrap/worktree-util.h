/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "session-util.h"

G_BEGIN_DECLS

#define GIT_IDENTITY \
  "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=A " \
  "GIT_COMMITTER_EMAIL=a@example.org; "
#define GIT_ENVIRONMENT \
  GIT_IDENTITY "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1; set -e; "

#define MAKE_REPOSITORY \
  "git init -q -b main; echo one > file; mkdir sub; echo two > sub/deep; " \
  "printf '*.o\\n' > .gitignore; git add .; git commit -q -m first; "

/* Runs @script in @directory on the host; it must succeed. Returns what it wrote. */
static inline char *
on_host (const char *directory,
         const char *script)
{
  g_autoptr(GSubprocessLauncher) launcher = NULL;
  g_autoptr(GSubprocess) process = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *whole = g_strconcat (GIT_ENVIRONMENT, script, NULL);
  char *output = NULL;

  launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  g_subprocess_launcher_set_cwd (launcher, directory);
  process = g_subprocess_launcher_spawn (launcher, &error, "/bin/sh", "-c", whole, NULL);
  g_assert_no_error (error);
  g_subprocess_communicate_utf8 (process, NULL, NULL, &output, NULL, &error);
  g_assert_no_error (error);
  if (!g_subprocess_get_successful (process))
    g_error ("On the host “%s” failed: %s", script, output);

  return output;
}

static inline void
do_on_host (const char *directory,
            const char *script)
{
  g_autofree char *output = on_host (directory, script);

  g_test_message ("%s -> %s", script, output);
}

/* The same in a sandbox. */
static inline char *
inside (SbxSession *session,
        const char *script)
{
  g_autofree char *whole = g_strconcat (GIT_IDENTITY, script, NULL);

  return shell_output (session, whole);
}

/* All names in a repository but for objects and logs of the user's own branches, with what is in
 * the files: what must be the same before and after. */
static inline char *
take_picture (const char *repository)
{
  return on_host (repository,
                  "find . -path ./.git/objects -prune -o -print | LC_ALL=C sort; "
                  "find . -path ./.git/objects -prune -o -type f -print0 | LC_ALL=C sort -z | "
                  "xargs -0 sha256sum; git worktree list; git branch -a; git for-each-ref");
}

static inline SbxOpenRequest *
profile_request (const char *workspace,
                 const char *profile,
                 const char *cwd,
                 const char *group)
{
  SbxOpenRequest *request = sbx_open_request_new_for_profile (workspace, profile);

  sbx_open_request_set_cwd (request, cwd);
  sbx_open_request_set_group (request, group);

  return request;
}

static inline SbxSession *
open_profile (Place      *place,
              const char *workspace,
              const char *profile,
              const char *cwd)
{
  g_autoptr(SbxOpenRequest) request = profile_request (workspace, profile, cwd, NULL);
  g_autoptr(GError) error = NULL;
  SbxSession *session = sbx_provider_open (SBX_PROVIDER (place->provider), request, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (SBX_IS_SESSION (session));

  return session;
}

/* Opening must fail, and @text be in the message. */
static inline void
assert_not_opened (Place      *place,
                   const char *workspace,
                   const char *profile,
                   const char *cwd,
                   SbxError    code,
                   const char *text)
{
  g_autoptr(SbxOpenRequest) request = profile_request (workspace, profile, cwd, NULL);
  g_autoptr(GError) error = NULL;
  SbxSession *session = sbx_provider_open (SBX_PROVIDER (place->provider), request, NULL, &error);

  g_assert_null (session);
  g_test_message ("%s", error->message);
  g_assert_error (error, SBX_ERROR, (int) code);
  if (strstr (error->message, text) == NULL)
    g_error ("“%s” is not in “%s”", text, error->message);
}

static inline void
write_text (const char *directory,
            const char *name,
            const char *text)
{
  g_autofree char *path = g_build_filename (directory, name, NULL);
  g_autofree char *parent = g_path_get_dirname (path);
  g_autoptr(GError) error = NULL;

  g_assert_cmpint (g_mkdir_with_parents (parent, 0700), ==, 0);
  g_file_set_contents (path, text, -1, &error);
  g_assert_no_error (error);
}

/* What the data directory has of worktrees. */
static inline guint
count_worktrees (const char *data)
{
  g_autofree char *path = g_build_filename (data, "worktrees", NULL);
  g_autoptr(GDir) dir = g_dir_open (path, 0, NULL);
  guint n = 0;

  while (dir != NULL && g_dir_read_name (dir) != NULL)
    n++;

  return n;
}

/* The directories that libsbx looks for profiles in: must come before anything asks GLib. */
static inline char *
make_config_home (void)
{
  g_autoptr(GError) error = NULL;
  char *path = g_dir_make_tmp ("sbx-config-XXXXXX", &error);

  g_assert_no_error (error);
  g_setenv ("XDG_CONFIG_HOME", path, TRUE);

  return path;
}

static inline void
write_profile (const char *config_home,
               const char *name,
               const char *text)
{
  g_autofree char *file = g_strconcat ("libsbx/profiles/", name, ".json", NULL);

  write_text (config_home, file, text);
}

G_END_DECLS
