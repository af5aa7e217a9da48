/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "run-record.h"

#include "run-denials.h"
#include "tool-json.h"
#include "tool-text.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gi18n.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Writes what became of a command as one JSON object. Values of variables never get into it.
 *
 * The file may lie where the command can write. So its directory is opened before there is a
 * command, and what is written later goes into that very directory under a new name which is then
 * moved to the right place: no link that was put there meanwhile is followed, and nobody reads half
 * a record.
 */

struct _ToolRecord
{
  char   *shown;          /* the path, fit for messages */
  char   *name;           /* in the directory, NULL to write to the descriptor itself */
  int     fd;             /* of the directory, or of something that is no regular file */
  gint64  started_us;     /* when the command was asked for */
  gint64  monotonic_us;
};

static void
set_errno (GError     **error,
           ToolRecord  *self)
{
  const int saved = errno;

  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (saved),
               _("--json %s: the file cannot be written: %s"), self->shown, g_strerror (saved));
}

/* A descriptor of ours, a pipe or a terminal: it is written to, and never replaced. */
static gboolean
is_to_be_kept (const char *path)
{
  struct stat info;

  return g_str_has_prefix (path, "/dev/fd/") || g_str_has_prefix (path, "/dev/std")
         || g_str_has_prefix (path, "/proc/")
         || (stat (path, &info) == 0 && !S_ISREG (info.st_mode));
}

static gboolean
open_directory (ToolRecord *self,
                const char *path)
{
  char *real = realpath (path, NULL);
  g_autofree char *directory = g_path_get_dirname (real != NULL ? real : path);

  self->name = g_path_get_basename (real != NULL ? real : path);
  free (real);
  self->fd = open (directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  return self->fd != -1 && faccessat (self->fd, ".", W_OK, AT_EACCESS) == 0;
}

ToolRecord *
tool_record_open (const char  *path,
                  GError     **error)
{
  g_autoptr(ToolRecord) self = g_new0 (ToolRecord, 1);
  gboolean opened;

  self->shown = tool_quote (path);
  self->fd = -1;
  self->started_us = g_get_real_time ();
  self->monotonic_us = g_get_monotonic_time ();

  if (is_to_be_kept (path))
    {
      self->fd = open (path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
      opened = self->fd != -1;
    }
  else
    {
      opened = open_directory (self, path);
    }

  if (!opened)
    {
      set_errno (error, self);
      return NULL;
    }

  return g_steal_pointer (&self);
}

/* The command is asked for now: what came before is not its time. */
void
tool_record_start (ToolRecord *self)
{
  self->started_us = g_get_real_time ();
  self->monotonic_us = g_get_monotonic_time ();
}

static const char *
get_outcome (SbxExecResult *result)
{
  if (result == NULL)
    return "failed";

  switch (sbx_exec_result_get_outcome (result))
    {
    case SBX_EXEC_OUTCOME_EXITED:
      return "exited";
    case SBX_EXEC_OUTCOME_SIGNALLED:
      return "signalled";
    case SBX_EXEC_OUTCOME_TIMED_OUT:
      return "timed-out";
    case SBX_EXEC_OUTCOME_NOT_STARTED:
      return "not-started";
    case SBX_EXEC_OUTCOME_LOST:
    default:
      return "lost";
    }
}

static void
add_int (JsonBuilder *builder,
         const char  *name,
         gint64       value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_int_value (builder, value);
}

static void
add_time (JsonBuilder *builder,
          const char  *name,
          gint64       real_us)
{
  g_autoptr(GDateTime) seconds = g_date_time_new_from_unix_utc (real_us / G_USEC_PER_SEC);
  g_autofree char *date = g_date_time_format (seconds, "%Y-%m-%dT%H:%M:%S");
  g_autofree char *text = g_strdup_printf ("%s.%03dZ", date,
                                           (int) (real_us % G_USEC_PER_SEC / 1000));

  tool_json_add_text (builder, name, text);
}

/* Exactly one of both is a number when the command ran to an end of its own. */
static void
add_ending (JsonBuilder   *builder,
            SbxExecResult *result)
{
  const SbxExecOutcome outcome = result != NULL ? sbx_exec_result_get_outcome (result)
                                                : SBX_EXEC_OUTCOME_LOST;

  if (outcome == SBX_EXEC_OUTCOME_EXITED)
    add_int (builder, "exit_code", sbx_exec_result_get_exit_code (result));
  else
    tool_json_add_text (builder, "exit_code", NULL);

  if (outcome == SBX_EXEC_OUTCOME_SIGNALLED)
    add_int (builder, "signal", sbx_exec_result_get_signal (result));
  else
    tool_json_add_text (builder, "signal", NULL);
}

static char *
to_text (ToolRecord           *self,
         const ToolRunOptions *options,
         const ToolRecordEnd  *end)
{
  g_autoptr(JsonBuilder) builder = json_builder_new ();
  const gint64 duration_us = g_get_monotonic_time () - self->monotonic_us;

  json_builder_begin_object (builder);
  add_int (builder, "version", 1);
  tool_json_add_text (builder, "outcome", get_outcome (end->result));
  add_ending (builder, end->result);
  add_int (builder, "status", end->status);
  tool_json_add_text (builder, "message", end->message);
  tool_json_add_text (builder, "session", end->session_id);
  tool_json_add_texts (builder, "argv", (const char * const *) options->argv);
  tool_json_add_text (builder, "cwd", options->reach.cwd);
  tool_json_add_texts (builder, "read", (const char * const *) options->reach.read);
  tool_json_add_texts (builder, "write", (const char * const *) options->reach.write);
  json_builder_set_member_name (builder, "terminal");
  json_builder_add_boolean_value (builder, end->terminal);
  add_time (builder, "started", self->started_us);
  add_time (builder, "ended", self->started_us + duration_us);
  add_int (builder, "duration_ms", duration_us / 1000);
  add_int (builder, "stdin_bytes", end->stdin_bytes);
  add_int (builder, "stdout_bytes", end->stdout_bytes);
  add_int (builder, "stderr_bytes", end->stderr_bytes);
  if (options->explain_denials)
    tool_denials_add (builder, end->result);
  json_builder_end_object (builder);

  return tool_json_to_text (builder);
}

static gboolean
write_text (int         fd,
            const char *text)
{
  gsize left = strlen (text);

  while (left > 0)
    {
      const ssize_t n = write (fd, text, left);

      if (n == -1 && errno != EINTR)
        return FALSE;
      if (n > 0)
        {
          text += n;
          left -= n;
        }
    }

  return TRUE;
}

static gboolean
replace (ToolRecord *self,
         const char *text)
{
  g_autofree char *temporary = g_strdup_printf (".sbx-tool-%08x", g_random_int ());
  const int fd = openat (self->fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                         0666);
  gboolean written;
  int saved;

  if (fd == -1)
    return FALSE;

  written = write_text (fd, text);
  saved = errno;
  if (close (fd) == -1 && written)
    {
      written = FALSE;
      saved = errno;
    }
  if (written && renameat (self->fd, temporary, self->fd, self->name) == 0)
    return TRUE;

  if (written)
    saved = errno;
  unlinkat (self->fd, temporary, 0);
  errno = saved;
  return FALSE;
}

gboolean
tool_record_write (ToolRecord            *self,
                   const ToolRunOptions  *options,
                   const ToolRecordEnd   *end,
                   GError               **error)
{
  g_autofree char *text = to_text (self, options, end);

  if (self->name != NULL ? replace (self, text) : write_text (self->fd, text))
    return TRUE;

  set_errno (error, self);
  return FALSE;
}

void
tool_record_free (ToolRecord *self)
{
  if (self->fd != -1)
    close (self->fd);
  g_free (self->shown);
  g_free (self->name);
  g_free (self);
}
