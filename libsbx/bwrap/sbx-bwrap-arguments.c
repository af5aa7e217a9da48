/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-arguments-private.h"
#include "core/sbx-error.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-memfd-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/*
 * Renders a plan to what bubblewrap understands. Nothing of it is on the command line, where every
 * user of the machine could read it.
 */

static void
append (GByteArray *data,
        const char *word)
{
  g_byte_array_append (data, (const guint8 *) word, strlen (word) + 1);
}

static void
append_words (GByteArray         *data,
              const char * const *words)
{
  for (; *words != NULL; words++)
    append (data, *words);
}

/* Process 1 has no environment but this, in a build in which protections can be taken out. */
static void
append_switches (GByteArray *data)
{
#ifdef SBX_PROTECTION_SWITCHES
  const char *off = g_getenv ("SBX_UNPROTECT");

  if (off != NULL)
    append_words (data, (const char * const []) { "--setenv", "SBX_UNPROTECT", off, NULL });
#endif
}

/* Has bwrap inherit @fd, which is taken, and returns the number it has there. */
static int
pass_fd (GArray *fds,
         int     fd)
{
  const SbxBwrapFd passed = { fd, SBX_BWRAP_FIRST_FD + (int) fds->len };

  g_array_append_val (fds, passed);
  return passed.target;
}

static void
append_fd (GByteArray *data,
           GArray     *fds,
           int         fd)
{
  g_autofree char *number = g_strdup_printf ("%d", pass_fd (fds, fd));

  append (data, number);
}

static gboolean
fail (GError     **error,
      const char  *destination)
{
  const int errsv = errno;
  g_autofree char *shown = g_strescape (destination, NULL);

  g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED, "“%s”: %s", shown, g_strerror (errsv));
  return FALSE;
}

static gboolean
render_bind (GByteArray             *data,
             GArray                 *fds,
             const SbxBwrapMount    *mount,
             const SbxBwrapProgram  *program,
             GError                **error)
{
  const gboolean read_only = mount->kind == SBX_BWRAP_MOUNT_RO_BIND;
  int fd;

  if (mount->source_fd < 0 || (program->options & SBX_BWRAP_OPTION_BIND_FD) == 0)
    {
      append (data, read_only ? "--ro-bind" : "--bind");
      append (data, mount->source);
      append (data, mount->destination);
      return TRUE;
    }

  fd = fcntl (mount->source_fd, F_DUPFD_CLOEXEC, 0);
  if (fd < 0)
    return fail (error, mount->destination);

  append (data, read_only ? "--ro-bind-fd" : "--bind-fd");
  append_fd (data, fds, fd);
  append (data, mount->destination);
  return TRUE;
}

static gboolean
render_file (GByteArray           *data,
             GArray               *fds,
             const SbxBwrapMount  *mount,
             GError              **error)
{
  int fd;

  if (mount->content != NULL)
    {
      gsize size;
      gconstpointer content = g_bytes_get_data (mount->content, &size);

      fd = _sbx_memfd_sealed ("sbx-file", content, size, error);
      if (fd < 0)
        return FALSE;
    }
  else
    {
      g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", mount->source_fd);

      /* A position of its own: bwrap reads from there on. */
      fd = open (path, O_RDONLY | O_CLOEXEC);
      if (fd < 0)
        return fail (error, mount->destination);
    }

  append_words (data, (const char * const []) { "--perms", "0444", "--file", NULL });
  append_fd (data, fds, fd);
  append (data, mount->destination);
  return TRUE;
}

static void
render_simple (GByteArray          *data,
               const SbxBwrapMount *mount)
{
  static const char * const options[] = {
    [SBX_BWRAP_MOUNT_TMPFS] = "--tmpfs",
    [SBX_BWRAP_MOUNT_PROC] = "--proc",
    [SBX_BWRAP_MOUNT_DEV] = "--dev",
    [SBX_BWRAP_MOUNT_DIR] = "--dir",
    [SBX_BWRAP_MOUNT_SYMLINK] = "--symlink",
    [SBX_BWRAP_MOUNT_REMOUNT_RO] = "--remount-ro",
  };

  if (mount->kind == SBX_BWRAP_MOUNT_TMPFS && mount->size > 0)
    {
      g_autofree char *size = g_strdup_printf ("%" G_GUINT64_FORMAT, mount->size);

      append_words (data, (const char * const []) { "--size", size, NULL });
    }

  if (mount->kind == SBX_BWRAP_MOUNT_DIR)
    append_words (data, (const char * const []) { "--perms", "0755", NULL });

  append (data, options[mount->kind]);
  if (mount->kind == SBX_BWRAP_MOUNT_SYMLINK)
    append (data, mount->source);
  append (data, mount->destination);
}

static gboolean
render_mount (GByteArray             *data,
              GArray                 *fds,
              const SbxBwrapMount    *mount,
              const SbxBwrapProgram  *program,
              GError                **error)
{
  switch (mount->kind)
    {
    case SBX_BWRAP_MOUNT_BIND:
    case SBX_BWRAP_MOUNT_RO_BIND:
      return render_bind (data, fds, mount, program, error);

    case SBX_BWRAP_MOUNT_FILE:
      return render_file (data, fds, mount, error);

    case SBX_BWRAP_MOUNT_MASK:
      /* A device that is bound like this cannot be opened. */
      append_words (data, (const char * const []) { "--ro-bind", "/dev/null", NULL });
      append (data, mount->destination);
      return TRUE;

    case SBX_BWRAP_MOUNT_TMPFS:
    case SBX_BWRAP_MOUNT_PROC:
    case SBX_BWRAP_MOUNT_DEV:
    case SBX_BWRAP_MOUNT_DIR:
    case SBX_BWRAP_MOUNT_SYMLINK:
    case SBX_BWRAP_MOUNT_REMOUNT_RO:
    default:
      render_simple (data, mount);
      return TRUE;
    }
}

static void
clear_fd (gpointer data)
{
  SbxBwrapFd *fd = data;

  _sbx_clear_fd (&fd->source);
}

SbxBwrapArguments *
_sbx_bwrap_arguments_new (SbxBwrapPlan           *plan,
                          const SbxBwrapProgram  *program,
                          int                     seccomp_fd,
                          GError                **error)
{
  /* --unshare-all would go on without the ones that it cannot have. */
  static const char * const fixed[] = {
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net",
    "--unshare-cgroup", "--cap-drop", "ALL", "--clearenv", "--hostname", SBX_BWRAP_HOSTNAME,
    "--as-pid-1", NULL,
  };
  g_autoptr(SbxBwrapArguments) self = g_new0 (SbxBwrapArguments, 1);
  g_autoptr(GByteArray) data = g_byte_array_new ();
  g_autofree char *number = NULL;
  int fd;
  guint i;

  self->fds = g_array_new (FALSE, FALSE, sizeof (SbxBwrapFd));
  g_array_set_clear_func (self->fds, clear_fd);
  append_words (data, fixed);
  append_switches (data);

  if (seccomp_fd >= 0)
    {
      append (data, "--seccomp");
      append_fd (data, self->fds, seccomp_fd);
    }

  for (i = 0; i < plan->mounts->len; i++)
    {
      const SbxBwrapMount *mount = g_ptr_array_index (plan->mounts, i);

      if (!mount->late && !render_mount (data, self->fds, mount, program, error))
        return NULL;
    }

  append_words (data, (const char * const []) { "--chdir", "/", NULL });

  fd = _sbx_memfd_sealed ("sbx-arguments", data->data, data->len, error);
  if (fd < 0)
    return NULL;

  number = g_strdup_printf ("%d", pass_fd (self->fds, fd));
  self->data = g_byte_array_free_to_bytes (g_steal_pointer (&data));
  self->argv = g_strdupv ((char *[]) { program->path, (char *) "--args", number, (char *) "--",
                                       (char *) SBX_BWRAP_INIT, NULL });

  return g_steal_pointer (&self);
}

void
_sbx_bwrap_arguments_free (SbxBwrapArguments *self)
{
  g_clear_pointer (&self->argv, g_strfreev);
  g_clear_pointer (&self->fds, g_array_unref);
  g_clear_pointer (&self->data, g_bytes_unref);
  g_free (self);
}
