/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-plan-builder-private.h"
#include "bwrap/sbx-bwrap-probe-private.h"
#include "bwrap/sbx-bwrap-probe-run-private.h"
#include "bwrap/sbx-bwrap-user-dirs-private.h"
#include "core/sbx-error.h"
#include "core/sbx-protection-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-path-private.h"
#include "files/sbx-write-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Finds bubblewrap and what it can do. That is read out of its --help, never concluded from its
 * version: distributions add options to old ones.
 */

#define USUAL_PATH "/usr/bin/bwrap"
#define CACHE_NAME "bwrap-options"
#define MAX_CACHE 256

/* What makes a program the one that was asked. */
typedef struct
{
  guint64 device;
  guint64 inode;
  guint64 size;
  gint64  seconds;
  gint64  nanoseconds;
} Identity;

static GMutex known_lock;
static gboolean known;             /* whether the next two say something */
static Identity known_identity;
static SbxBwrapOptions known_options;

SbxBwrapProgram *
_sbx_bwrap_program_copy (const SbxBwrapProgram *self)
{
  SbxBwrapProgram *copy = g_new0 (SbxBwrapProgram, 1);

  copy->path = g_strdup (self->path);
  copy->options = self->options;

  return copy;
}

void
_sbx_bwrap_program_free (SbxBwrapProgram *self)
{
  g_free (self->path);
  g_free (self);
}

static gboolean
refuse (GError     **error,
        SbxError     code,
        const char  *path,
        const char  *what)
{
  g_autofree char *shown = _sbx_path_show (path);

  g_set_error (error, SBX_ERROR, code, _("The bubblewrap at “%s” %s"), shown, what);
  return FALSE;
}

/* One that a sandbox could have written, or that anybody can make root run in a way that was not
 * thought of, protects nothing. */
static gboolean
check_program (const char          *path,
               const char          *home,
               const char * const  *write,
               GError             **error)
{
  g_autofree char *real_path = NULL;
  g_autofree char *real_home = NULL;
  g_autoptr(GError) reason = NULL;
  sbx_autofd int fd = _sbx_open_real (path, O_PATH, &real_path, &reason);
  sbx_autofd int home_fd = _sbx_open_real (home, O_PATH, &real_home, NULL);
  struct stat st;
  gsize i;

  if (reason != NULL && !g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    {
      g_propagate_error (error, g_steal_pointer (&reason));
      return FALSE;
    }

  if (fd < 0 || fstat (fd, &st) < 0)
    return refuse (error, SBX_ERROR_NOT_FOUND, path, _("is not there"));

  if (!S_ISREG (st.st_mode) || access (path, X_OK) < 0)
    return refuse (error, SBX_ERROR_NOT_ENFORCEABLE, path, _("cannot be executed"));

  if (!SBX_PROTECTS (F12))
    return TRUE;

  if ((st.st_mode & (S_ISUID | S_ISGID)) != 0)
    return refuse (error, SBX_ERROR_NOT_ENFORCEABLE, path,
                   _("is installed setuid, which has known holes; take that away with “chmod u-s”, "
                     "and allow unprivileged user namespaces"));

  if (home_fd >= 0 && strcmp (real_home, "/") != 0 &&
      _sbx_bwrap_path_is_below (real_path, real_home))
    return refuse (error, SBX_ERROR_NOT_ENFORCEABLE, path,
                   _("lies below the home directory, where any program can replace it; install the "
                     "package “bubblewrap”"));

  for (i = 0; write != NULL && write[i] != NULL; i++)
    {
      g_autofree char *real_write = NULL;
      sbx_autofd int write_fd = _sbx_open_real (write[i], O_PATH, &real_write, NULL);

      if (write_fd >= 0 && _sbx_bwrap_path_is_below (real_path, real_write))
        return refuse (error, SBX_ERROR_NOT_ENFORCEABLE, path,
                       _("lies in a directory that the sandbox may write; install the package "
                         "“bubblewrap”"));
    }

  return TRUE;
}

char *
_sbx_bwrap_probe_find (const char          *explicit_path,
                       const char          *home,
                       const char * const  *write,
                       GError             **error)
{
  g_autofree char *own_home = NULL;
  g_autofree char *path = NULL;

  if (explicit_path != NULL)
    path = g_strdup (explicit_path);
  else if (access (USUAL_PATH, F_OK) == 0)
    path = g_strdup (USUAL_PATH);
  else
    path = g_find_program_in_path ("bwrap");

  if (path == NULL || path[0] != '/')
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
                   _("bubblewrap (bwrap) is not installed; install the package “bubblewrap”"));
      return NULL;
    }

  own_home = home == NULL ? _sbx_bwrap_dup_home () : NULL;
  if (!check_program (path, home != NULL ? home : own_home, write, error))
    return NULL;

  return g_steal_pointer (&path);
}

static gboolean
identify (const char *path,
          Identity   *identity)
{
  struct stat st;

  if (stat (path, &st) < 0)
    return FALSE;

  memset (identity, 0, sizeof *identity);
  identity->device = st.st_dev;
  identity->inode = st.st_ino;
  identity->size = st.st_size;
  identity->seconds = st.st_mtim.tv_sec;
  identity->nanoseconds = st.st_mtim.tv_nsec;

  return TRUE;
}

static void
remember (const Identity  *identity,
          SbxBwrapOptions  options)
{
  g_mutex_lock (&known_lock);
  known = TRUE;
  known_identity = *identity;
  known_options = options;
  g_mutex_unlock (&known_lock);
}

static gboolean
recall (const Identity  *identity,
        SbxBwrapOptions *options)
{
  gboolean found;

  g_mutex_lock (&known_lock);
  found = known && memcmp (identity, &known_identity, sizeof *identity) == 0;
  if (found)
    *options = known_options;
  g_mutex_unlock (&known_lock);

  return found;
}

static int
open_cache_directory (gboolean make)
{
  g_autofree char *path = _sbx_bwrap_dup_cache_dir ();
  sbx_autofd int fd = -1;

  if (make)
    g_mkdir_with_parents (path, 0700);

  fd = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return -1;

  return make ? _sbx_make_dirs_beneath (fd, "libsbx", 0700, NULL)
              : _sbx_open_beneath (fd, "libsbx", O_RDONLY | O_DIRECTORY, 0, NULL);
}

/* The cache is one line of numbers. A file of somebody else's, or one that others may write, or
 * that says anything else, is not there. */
static gboolean
read_cache (const Identity  *identity,
            SbxBwrapOptions *options)
{
  g_autoptr(GBytes) bytes = NULL;
  g_autofree char *text = NULL;
  sbx_autofd int fd = open_cache_directory (FALSE);
  Identity found = { 0 };
  struct stat st;
  unsigned int value;
  char end;

  if (fd < 0 || fstatat (fd, CACHE_NAME, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
      st.st_uid != geteuid () || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return FALSE;

  bytes = _sbx_read_beneath (fd, CACHE_NAME, MAX_CACHE, NULL, NULL);
  if (bytes == NULL)
    return FALSE;

  text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  if (sscanf (text, "1 %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
              " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %u%c", &found.device, &found.inode,
              &found.size, &found.seconds, &found.nanoseconds, &value, &end) != 7 || end != '\n' ||
      (value & ~SBX_BWRAP_OPTION_BIND_FD) != 0 || memcmp (identity, &found, sizeof found) != 0)
    return FALSE;

  *options = value;
  return TRUE;
}

static void
write_cache (const Identity  *identity,
             SbxBwrapOptions  options)
{
  sbx_autofd int fd = open_cache_directory (TRUE);
  char *text = g_strdup_printf ("1 %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
                                " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %u\n", identity->device,
                                identity->inode, identity->size, identity->seconds,
                                identity->nanoseconds, (unsigned int) options);
  g_autoptr(GBytes) bytes = g_bytes_new_take (text, strlen (text));

  /* Without a cache it is asked again next time. */
  if (fd >= 0)
    _sbx_write_staged (fd, CACHE_NAME, bytes, 0600, NULL);
}

static SbxBwrapProgram *
program_new (const char      *path,
             SbxBwrapOptions  options)
{
  const SbxBwrapProgram program = { (char *) path, options };

  return _sbx_bwrap_program_copy (&program);
}

SbxBwrapProgram *
_sbx_bwrap_probe_peek (const char *path)
{
  SbxBwrapOptions options;
  Identity identity;

  if (!identify (path, &identity))
    return NULL;

  if (!recall (&identity, &options))
    {
      if (!read_cache (&identity, &options))
        return NULL;

      remember (&identity, options);
    }

  return program_new (path, options);
}

/* Whether @help has a line that starts with @option. */
static gboolean
lists (const char *help,
       const char *option)
{
  const gsize length = strlen (option);
  const char *at = help;

  while ((at = strstr (at, option)) != NULL)
    {
      if (at > help && g_ascii_isspace (at[-1]) &&
          (at[length] == '\0' || g_ascii_isspace (at[length])))
        return TRUE;

      at += length;
    }

  return FALSE;
}

/* Names what is missing, or %NULL. */
static char *
find_missing (const char *help)
{
  static const char * const needed[] = {
    "--args", "--as-pid-1", "--bind", "--cap-drop", "--chdir", "--clearenv", "--dev", "--dir",
    "--file", "--hostname", "--perms", "--proc", "--remount-ro", "--ro-bind", "--seccomp",
    "--size", "--symlink", "--tmpfs", "--unshare-cgroup", "--unshare-ipc", "--unshare-net",
    "--unshare-pid", "--unshare-user", "--unshare-uts",
  };
  g_autoptr(GString) missing = g_string_new (NULL);
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (needed); i++)
    if (!lists (help, needed[i]))
      g_string_append_printf (missing, "%s%s", missing->len > 0 ? ", " : "", needed[i]);

  return missing->len > 0 ? g_string_free (g_steal_pointer (&missing), FALSE) : NULL;
}

static void
help_cb (GObject      *object,
         GAsyncResult *result,
         gpointer      user_data)
{
  g_autoptr(GTask) task = G_TASK (user_data);
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxBwrapRun) run = _sbx_bwrap_run_finish (result, &error);
  g_autofree char *missing = NULL;
  const char *path = g_task_get_task_data (task);
  SbxBwrapOptions options = SBX_BWRAP_OPTION_NONE;
  Identity identity;

  if (run == NULL)
    {
      /* All else is ours: cancelled, or no descriptor or process was to be had. */
      if (error->domain == G_SPAWN_ERROR && error->code != G_SPAWN_ERROR_FAILED)
        {
          g_clear_error (&error);
          refuse (&error, SBX_ERROR_NOT_ENFORCEABLE, path, _("cannot be executed"));
        }

      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }

  missing = find_missing (run->output);
  if (missing != NULL)
    {
      g_autofree char *shown = _sbx_path_show (path);

      g_task_return_new_error (task, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
                               _("The bubblewrap at “%s” is too old: it has no %s; bubblewrap 0.8 "
                                 "has all that is needed"), shown, missing);
      return;
    }

  if (lists (run->output, "--bind-fd") && lists (run->output, "--ro-bind-fd"))
    options |= SBX_BWRAP_OPTION_BIND_FD;

  if (identify (path, &identity))
    {
      remember (&identity, options);
      write_cache (&identity, options);
    }

  g_task_return_pointer (task, program_new (path, options),
                         (GDestroyNotify) _sbx_bwrap_program_free);
}

void
_sbx_bwrap_probe_program_async (const char          *path,
                                GCancellable        *cancellable,
                                GAsyncReadyCallback  callback,
                                gpointer             user_data)
{
  g_autoptr(GTask) task = g_task_new (NULL, cancellable, callback, user_data);
  SbxBwrapProgram *program = NULL;

  g_task_set_source_tag (task, _sbx_bwrap_probe_program_async);
  g_task_set_task_data (task, g_strdup (path), g_free);

  if (g_task_return_error_if_cancelled (task))
    return;

  program = _sbx_bwrap_probe_peek (path);
  if (program != NULL)
    {
      g_task_return_pointer (task, program, (GDestroyNotify) _sbx_bwrap_program_free);
      return;
    }

  _sbx_bwrap_run_async ((const char * const []) { path, "--help", NULL }, cancellable, help_cb,
                        g_steal_pointer (&task));
}

SbxBwrapProgram *
_sbx_bwrap_probe_program_finish (GAsyncResult  *result,
                                 GError       **error)
{
  g_return_val_if_fail (g_task_is_valid (result, NULL), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, _sbx_bwrap_probe_program_async), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}
