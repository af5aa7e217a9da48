/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conformance-run-private.h"

#include "files/sbx-delete-private.h"
#include "files/sbx-write-private.h"

#include <fcntl.h>
#include <unistd.h>

/* git in an empty directory of ours: nothing of the user's configuration, and no hooks. */
static gboolean
run_git (const char          *git,
         const char          *path,
         const char * const  *arguments,
         GCancellable        *cancellable)
{
  g_autoptr(GSubprocessLauncher) launcher = NULL;
  g_autoptr(GSubprocess) child = NULL;
  g_autoptr(GPtrArray) argv = g_ptr_array_new ();
  char *environment[] = {
    (char *) "GIT_CONFIG_NOSYSTEM=1", (char *) "GIT_CONFIG_GLOBAL=/dev/null",
    (char *) "GIT_CONFIG_SYSTEM=/dev/null", (char *) "HOME=/nonexistent",
    (char *) "PATH=/usr/bin:/bin",
    (char *) "GIT_AUTHOR_DATE=2000-01-01T00:00:00Z",
    (char *) "GIT_COMMITTER_DATE=2000-01-01T00:00:00Z", NULL,
  };

  launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_SILENCE
                                        | G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  g_subprocess_launcher_set_environ (launcher, environment);

  g_ptr_array_add (argv, (gpointer) git);
  g_ptr_array_add (argv, (gpointer) "-C");
  g_ptr_array_add (argv, (gpointer) path);
  for (gsize i = 0; arguments[i] != NULL; i++)
    g_ptr_array_add (argv, (gpointer) arguments[i]);
  g_ptr_array_add (argv, NULL);

  child = g_subprocess_launcher_spawnv (launcher, (const char * const *) argv->pdata, NULL);

  return child != NULL && g_subprocess_wait_check (child, cancellable, NULL);
}

static void
make_repository (const char   *path,
                 GCancellable *cancellable)
{
  static const char * const init[] = { "init", "--quiet", "--template=", NULL };
  static const char * const add[] = { "add", "README", NULL };
  static const char * const commit[] = {
    "-c", "user.name=Conformance", "-c", "user.email=conformance@localhost",
    "commit", "--quiet", "--message=A workspace", NULL,
  };
  g_autofree char *git = g_find_program_in_path ("git");

  if (git != NULL)
    (void) (run_git (git, path, init, cancellable) && run_git (git, path, add, cancellable) &&
            run_git (git, path, commit, cancellable));
}

char *
_sbx_workspace_make (GCancellable  *cancellable,
                     GError       **error)
{
  static const char content[] = "A workspace for the checks of a provider.\n";
  g_autofree char *path = g_dir_make_tmp ("sbx-conformance-XXXXXX", error);
  g_autoptr(GBytes) bytes = g_bytes_new_static (content, sizeof content - 1);
  int fd;
  gboolean written;

  if (path == NULL)
    return NULL;

  fd = open (path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  written = fd != -1 && _sbx_write_staged (fd, "README", bytes, 0644, error);
  if (fd != -1)
    close (fd);
  if (!written)
    {
      _sbx_workspace_remove (path);
      if (error != NULL && *error == NULL)
        g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s", path);
      return NULL;
    }

  make_repository (path, cancellable);

  return g_steal_pointer (&path);
}

void
_sbx_workspace_remove (const char *path)
{
  g_autofree char *parent = g_path_get_dirname (path);
  g_autofree char *name = g_path_get_basename (path);
  const int fd = open (parent, O_PATH | O_DIRECTORY | O_CLOEXEC);

  if (fd == -1)
    return;

  _sbx_delete_tree (fd, name, NULL, NULL);
  close (fd);
}
