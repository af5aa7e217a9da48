/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "session-util.h"

G_BEGIN_DECLS

/* For tests of what a sandbox can reach: both sides of it, and real git on each. */

static inline void
outside (Place      *place,
         const char *script)
{
  g_autoptr(GSubprocessLauncher) launcher = NULL;
  g_autoptr(GSubprocess) process = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *output = NULL;

  launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                                        G_SUBPROCESS_FLAGS_STDERR_MERGE);
  g_subprocess_launcher_set_cwd (launcher, place->project);
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

/* The operator, after whom commits inside are named. */
static inline void
make_operator (void)
{
  g_autofree char *config = g_build_filename (g_get_home_dir (), ".gitconfig", NULL);

  g_assert_cmpint (g_mkdir_with_parents (g_get_home_dir (), 0700), ==, 0);
  g_assert_true (g_file_set_contents (config, "[user]\nname = O\nemail = o@example.org\n", -1,
                                      NULL));
}

static inline SbxSession *
open_reach (Place     *place,
            SbxReach  *reach,
            GError   **error)
{
  g_autoptr(SbxOpenRequest) request = sbx_open_request_new (reach);

  make_operator ();

  return sbx_provider_open (SBX_PROVIDER (place->provider), request, NULL, error);
}

static inline SbxSession *
must_open (Place    *place,
           SbxReach *reach)
{
  g_autoptr(GError) error = NULL;
  SbxSession *session = open_reach (place, reach, &error);

  g_assert_no_error (error);

  return session;
}

static inline void
inside_works (SbxSession *session,
              const char *script)
{
  g_autofree char *strict = g_strconcat ("set -e\n", script, NULL);
  g_autofree char *output G_GNUC_UNUSED = shell_output (session, strict);
}

static inline void
inside_fails (SbxSession *session,
              const char *script)
{
  g_autoptr(SbxExecResult) result = run_shell (session, script);
  g_autofree char *output = bytes_to_text (sbx_exec_result_get_stdout (result));

  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_EXITED);
  if (sbx_exec_result_get_success (result))
    g_error ("“%s” worked: %s", script, output);
}

/* A socket of the host that takes connections; the kernel does, for as long as it is open. An
 * abstract one has a name that begins with "@". */
static inline int
listen_at (const char *path)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  const socklen_t size = (socklen_t) (offsetof (struct sockaddr_un, sun_path) + strlen (path) +
                                      (*path == '@' ? 0 : 1));
  const int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpuint (strlen (path), <, sizeof address.sun_path);
  g_strlcpy (address.sun_path, path, sizeof address.sun_path);
  if (*path == '@')
    address.sun_path[0] = '\0';
  g_assert_cmpint (bind (fd, (const struct sockaddr *) &address, size), ==, 0);
  g_assert_cmpint (listen (fd, 64), ==, 0);

  return fd;
}

#define CONNECT \
  "connect() { /usr/bin/python3 -c 'import socket, sys; s = socket.socket (socket.AF_UNIX); " \
  "s.connect (sys.argv[1].replace (\"@\", \"\\0\", 1))' \"$1\" 2>/dev/null; }\n"

static inline void
assert_connects (SbxSession *session,
                 const char *path,
                 gboolean    expected)
{
  g_autofree char *quoted = g_shell_quote (path);
  g_autofree char *script = g_strconcat (CONNECT "connect ", quoted, NULL);
  g_autoptr(SbxExecResult) result = run_shell (session, script);

  if (sbx_exec_result_get_success (result) != expected)
    g_error ("%s could%s be connected to", path, expected ? " not" : "");
}

G_END_DECLS
