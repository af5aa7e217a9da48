/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-record-private.h"

#include "core/sbx-error.h"
#include "core/sbx-protection-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-write-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAME "process"
#define MAX_SIZE 256
#define MAX_PROC 4096
#define COMMAND "sbx-init"
#define BOOT_ID "/proc/sys/kernel/random/boot_id"

/* The fields of /proc/PID/stat that come after the name. */
#define FIELD_START_TIME 19

/* A number of a process and when it started, in ticks since the machine did. */
typedef struct
{
  int     pid;
  guint64 start_time;
} Identity;

static char *
read_proc (const char *path)
{
  sbx_autofd int fd = open (path, O_RDONLY | O_CLOEXEC);
  char buffer[MAX_PROC];
  const gssize n = fd >= 0 ? read (fd, buffer, sizeof buffer - 1) : -1;

  if (n < 0)
    return NULL;

  buffer[n] = '\0';

  return g_strstrip (g_strdup (buffer));
}

/* Only of a process that is process 1 of a sandbox, by its name. */
static gboolean
read_identity (int       pid,
               Identity *identity)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/stat", pid);
  g_autofree char *text = read_proc (path);
  g_auto(GStrv) fields = NULL;
  const char *open_bracket = text != NULL ? strchr (text, '(') : NULL;
  const char *close_bracket = text != NULL ? strrchr (text, ')') : NULL;

  if (open_bracket == NULL || close_bracket == NULL || close_bracket[1] == '\0' ||
      (gsize) (close_bracket - open_bracket - 1) != strlen (COMMAND) ||
      strncmp (open_bracket + 1, COMMAND, strlen (COMMAND)) != 0)
    return FALSE;

  fields = g_strsplit (close_bracket + 2, " ", -1);
  if (g_strv_length (fields) <= FIELD_START_TIME)
    return FALSE;

  identity->pid = pid;
  identity->start_time = g_ascii_strtoull (fields[FIELD_START_TIME], NULL, 10);

  return TRUE;
}

/* Bubblewrap has one child, which is process 1. */
static int
find_child (const char *bwrap)
{
  g_autofree char *path = g_strdup_printf ("/proc/%s/task/%s/children", bwrap, bwrap);
  g_autofree char *text = read_proc (path);

  return text != NULL ? (int) g_ascii_strtoll (text, NULL, 10) : 0;
}

gboolean
_sbx_bwrap_record_write (int          sessions_fd,
                         const char  *id,
                         const char  *bwrap,
                         GError     **error)
{
  g_autofree char *boot_id = read_proc (BOOT_ID);
  g_autofree char *text = NULL;
  g_autoptr(GBytes) bytes = NULL;
  Identity identity = { 0, 0 };
  sbx_autofd int dir_fd = -1;

  if (bwrap == NULL || boot_id == NULL || !read_identity (find_child (bwrap), &identity))
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
                   _("The process of the sandbox could not be found in /proc"));
      return FALSE;
    }

  dir_fd = _sbx_open_beneath (sessions_fd, id, O_RDONLY | O_DIRECTORY, 0, error);
  if (dir_fd < 0)
    return FALSE;

  text = g_strdup_printf ("%s %d %" G_GUINT64_FORMAT "\n", boot_id, identity.pid,
                          identity.start_time);
  bytes = g_bytes_new (text, strlen (text));

  return _sbx_write_staged (dir_fd, NAME, bytes, 0600, error);
}

static gboolean
read_record (int         sessions_fd,
             const char *id,
             Identity   *identity)
{
  g_autofree char *name = g_build_filename (id, NAME, NULL);
  g_autofree char *boot_id = read_proc (BOOT_ID);
  g_autoptr(GBytes) bytes = _sbx_read_beneath (sessions_fd, name, MAX_SIZE, NULL, NULL);
  g_autofree char *text = NULL;
  g_auto(GStrv) fields = NULL;
  gint64 pid;

  if (bytes == NULL || boot_id == NULL)
    return FALSE;

  text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  fields = g_strsplit (g_strstrip (text), " ", 3);
  if (g_strv_length (fields) != 3)
    return FALSE;

  pid = g_ascii_strtoll (fields[1], NULL, 10);
  if (pid <= 1 || pid > G_MAXINT || strcmp (fields[0], boot_id) != 0)
    return FALSE;

  identity->pid = (int) pid;
  identity->start_time = g_ascii_strtoull (fields[2], NULL, 10);

  return TRUE;
}

gboolean
_sbx_bwrap_record_kill (int         sessions_fd,
                        const char *id)
{
  Identity recorded;
  Identity found;
  sbx_autofd int pidfd = -1;

  if (!read_record (sessions_fd, id, &recorded))
    return FALSE;

  /* What the descriptor means is fixed before it is looked at. */
  pidfd = (int) syscall (SYS_pidfd_open, recorded.pid, 0);
  if (pidfd < 0)
    return TRUE;

  if (!SBX_PROTECTS (F10) || (read_identity (recorded.pid, &found) &&
                              found.start_time == recorded.start_time))
    syscall (SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);

  return TRUE;
}
