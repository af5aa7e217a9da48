/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-command.h"

#include "core/sbx-environment-private.h"
#include "core/sbx-error.h"
#include "core/sbx-library-private.h"

#include <glib/gi18n-lib.h>

/**
 * SbxCommand:
 *
 * A description of something to run.
 *
 * It holds the command line, where it runs, what it reads and how long it may take. It can be used
 * any number of times: each process keeps a copy.
 *
 * There is no shell in between. For one, run `["sh", "-c", "…"]`.
 *
 * Arguments, paths and variables are bytes and need not be UTF-8.
 *
 * Since: 1.0
 */

#define DEFAULT_ROWS 24
#define DEFAULT_COLUMNS 80
#define MAX_TERMINAL_SIZE 65535

struct _SbxCommand
{
  GObject         parent_instance;

  GStrv           argv;
  char           *cwd;
  SbxEnvironment  environment;
  SbxStdin        stdin_source;
  GBytes         *stdin_bytes;
  guint64         collect_limit;
  guint           timeout_ms;
  guint           rows;
  guint           columns;
  gboolean        terminal;
  gboolean        watch_denials;
};

G_DEFINE_FINAL_TYPE (SbxCommand, sbx_command, G_TYPE_OBJECT)

static void
sbx_command_finalize (GObject *object)
{
  SbxCommand *self = SBX_COMMAND (object);

  g_clear_pointer (&self->argv, g_strfreev);
  g_clear_pointer (&self->cwd, g_free);
  g_clear_pointer (&self->stdin_bytes, g_bytes_unref);
  _sbx_environment_clear (&self->environment);

  G_OBJECT_CLASS (sbx_command_parent_class)->finalize (object);
}

static void
sbx_command_class_init (SbxCommandClass *klass)
{
  _sbx_library_init ();

  G_OBJECT_CLASS (klass)->finalize = sbx_command_finalize;
}

static void
sbx_command_init (SbxCommand *self)
{
  _sbx_environment_init (&self->environment);
  self->collect_limit = SBX_COMMAND_DEFAULT_COLLECT_LIMIT;
  self->rows = DEFAULT_ROWS;
  self->columns = DEFAULT_COLUMNS;
}

/**
 * sbx_command_new:
 * @argv: (array zero-terminated=1) (element-type filename): the program and its arguments
 *
 * Describes a command.
 *
 * A program without a “/” in its name is looked up in the `PATH` that the command has inside the
 * sandbox.
 *
 * Returns: (transfer full): a new command
 *
 * Since: 1.0
 */
SbxCommand *
sbx_command_new (const char * const *argv)
{
  SbxCommand *self;

  g_return_val_if_fail (argv != NULL, NULL);

  self = g_object_new (SBX_TYPE_COMMAND, NULL);
  self->argv = g_strdupv ((GStrv) argv);

  return self;
}

/**
 * sbx_command_copy:
 * @self: a command
 *
 * Copies a command.
 *
 * Returns: (transfer full): an equal command, which can be changed on its own
 *
 * Since: 1.0
 */
SbxCommand *
sbx_command_copy (SbxCommand *self)
{
  SbxCommand *copy;

  g_return_val_if_fail (SBX_IS_COMMAND (self), NULL);

  copy = g_object_new (SBX_TYPE_COMMAND, NULL);
  copy->argv = g_strdupv (self->argv);
  copy->cwd = g_strdup (self->cwd);
  _sbx_environment_copy (&copy->environment, &self->environment);
  copy->stdin_source = self->stdin_source;
  if (self->stdin_bytes != NULL)
    copy->stdin_bytes = g_bytes_ref (self->stdin_bytes);
  copy->collect_limit = self->collect_limit;
  copy->timeout_ms = self->timeout_ms;
  copy->rows = self->rows;
  copy->columns = self->columns;
  copy->terminal = self->terminal;
  copy->watch_denials = self->watch_denials;

  return copy;
}

/**
 * sbx_command_get_argv:
 * @self: a command
 *
 * Gets the program and its arguments.
 *
 * Returns: (array zero-terminated=1) (element-type filename) (transfer none) (nullable): the
 *   command line
 *
 * Since: 1.0
 */
const char * const *
sbx_command_get_argv (SbxCommand *self)
{
  g_return_val_if_fail (SBX_IS_COMMAND (self), NULL);

  return (const char * const *) self->argv;
}

/**
 * sbx_command_set_cwd:
 * @self: a command
 * @cwd: (type filename) (nullable): a directory inside the sandbox, or %NULL for the session's own
 *
 * Sets where the command runs.
 *
 * A relative path is relative to the session's working directory.
 *
 * Since: 1.0
 */
void
sbx_command_set_cwd (SbxCommand *self,
                     const char *cwd)
{
  char *copy;

  g_return_if_fail (SBX_IS_COMMAND (self));

  /* It may be our own. */
  copy = g_strdup (cwd);
  g_free (self->cwd);
  self->cwd = copy;
}

/**
 * sbx_command_get_cwd:
 * @self: a command
 *
 * Gets where the command runs.
 *
 * Returns: (type filename) (transfer none) (nullable): a directory, or %NULL for the session's own
 *
 * Since: 1.0
 */
const char *
sbx_command_get_cwd (SbxCommand *self)
{
  g_return_val_if_fail (SBX_IS_COMMAND (self), NULL);

  return self->cwd;
}

/**
 * sbx_command_set_variable:
 * @self: a command
 * @name: (type filename): the name of an environment variable
 * @value: (type filename) (nullable): its value, or %NULL to take it away again
 *
 * Sets a variable for this command, over what the session sets.
 *
 * A name that is empty or has a “=” in it makes [method@Command.validate] fail.
 *
 * Since: 1.0
 */
void
sbx_command_set_variable (SbxCommand *self,
                          const char *name,
                          const char *value)
{
  g_return_if_fail (SBX_IS_COMMAND (self));
  g_return_if_fail (name != NULL);

  _sbx_environment_set (&self->environment, name, value);
}

/**
 * sbx_command_get_environment:
 * @self: a command
 *
 * Gets the variables of [method@Command.set_variable], each as `NAME=VALUE`.
 *
 * Returns: (array zero-terminated=1) (element-type filename) (transfer none): the variables
 *
 * Since: 1.0
 */
const char * const *
sbx_command_get_environment (SbxCommand *self)
{
  g_return_val_if_fail (SBX_IS_COMMAND (self), NULL);

  return _sbx_environment_get (&self->environment);
}

/**
 * sbx_command_set_stdin_bytes:
 * @self: a command
 * @bytes: (nullable): what the command reads, or %NULL for nothing
 *
 * Gives the command its input.
 *
 * This also sets [method@Command.set_stdin], to %SBX_STDIN_BYTES or %SBX_STDIN_NULL.
 *
 * Since: 1.0
 */
void
sbx_command_set_stdin_bytes (SbxCommand *self,
                             GBytes     *bytes)
{
  g_return_if_fail (SBX_IS_COMMAND (self));

  if (bytes != NULL)
    g_bytes_ref (bytes);

  g_clear_pointer (&self->stdin_bytes, g_bytes_unref);
  self->stdin_bytes = bytes;
  self->stdin_source = bytes != NULL ? SBX_STDIN_BYTES : SBX_STDIN_NULL;
}

/**
 * sbx_command_get_stdin_bytes:
 * @self: a command
 *
 * Gets what the command reads.
 *
 * Returns: (transfer none) (nullable): the bytes, if it reads any
 *
 * Since: 1.0
 */
GBytes *
sbx_command_get_stdin_bytes (SbxCommand *self)
{
  g_return_val_if_fail (SBX_IS_COMMAND (self), NULL);

  return self->stdin_bytes;
}

/**
 * sbx_command_set_stdin:
 * @self: a command
 * @stdin_source: where the input comes from
 *
 * Sets what the command finds on its standard input.
 *
 * The default is %SBX_STDIN_NULL: a command that waits for input that never comes would hang.
 *
 * Since: 1.0
 */
void
sbx_command_set_stdin (SbxCommand *self,
                       SbxStdin    stdin_source)
{
  g_return_if_fail (SBX_IS_COMMAND (self));

  self->stdin_source = stdin_source;
}

/**
 * sbx_command_get_stdin:
 * @self: a command
 *
 * Gets what the command finds on its standard input.
 *
 * Returns: where the input comes from
 *
 * Since: 1.0
 */
SbxStdin
sbx_command_get_stdin (SbxCommand *self)
{
  g_return_val_if_fail (SBX_IS_COMMAND (self), SBX_STDIN_NULL);

  return self->stdin_source;
}

/**
 * sbx_command_set_timeout:
 * @self: a command
 * @timeout_ms: how long it may take, in milliseconds, or 0 for as long as it likes
 *
 * Limits how long the command may take.
 *
 * When the time is over the command is ended with all that it started, and its outcome is
 * %SBX_EXEC_OUTCOME_TIMED_OUT.
 *
 * Since: 1.0
 */
void
sbx_command_set_timeout (SbxCommand *self,
                         guint       timeout_ms)
{
  g_return_if_fail (SBX_IS_COMMAND (self));

  self->timeout_ms = timeout_ms;
}

/**
 * sbx_command_get_timeout:
 * @self: a command
 *
 * Gets how long the command may take.
 *
 * Returns: milliseconds, or 0
 *
 * Since: 1.0
 */
guint
sbx_command_get_timeout (SbxCommand *self)
{
  g_return_val_if_fail (SBX_IS_COMMAND (self), 0);

  return self->timeout_ms;
}

/**
 * sbx_command_set_terminal:
 * @self: a command
 * @terminal: whether the command has a terminal
 *
 * Gives the command a pseudo-terminal instead of pipes.
 *
 * Its input, output and errors are then one stream, [method@Process.get_terminal]. If nobody asks
 * for that, the output comes as [signal@Process::stdout].
 *
 * Since: 1.0
 */
void
sbx_command_set_terminal (SbxCommand *self,
                          gboolean    terminal)
{
  g_return_if_fail (SBX_IS_COMMAND (self));

  self->terminal = terminal;
}

/**
 * sbx_command_get_terminal:
 * @self: a command
 *
 * Tells whether the command has a terminal.
 *
 * Returns: %TRUE if it has
 *
 * Since: 1.0
 */
gboolean
sbx_command_get_terminal (SbxCommand *self)
{
  g_return_val_if_fail (SBX_IS_COMMAND (self), FALSE);

  return self->terminal;
}

/**
 * sbx_command_set_terminal_size:
 * @self: a command
 * @rows: lines, 1 to 65535
 * @columns: characters in a line, 1 to 65535
 *
 * Sets how large the terminal is when the command starts. The default is 24 lines of 80.
 *
 * Since: 1.0
 */
void
sbx_command_set_terminal_size (SbxCommand *self,
                               guint       rows,
                               guint       columns)
{
  g_return_if_fail (SBX_IS_COMMAND (self));
  g_return_if_fail (rows > 0 && rows <= MAX_TERMINAL_SIZE);
  g_return_if_fail (columns > 0 && columns <= MAX_TERMINAL_SIZE);

  self->rows = rows;
  self->columns = columns;
}

/**
 * sbx_command_get_rows:
 * @self: a command
 *
 * Gets how many lines the terminal has at the start.
 *
 * Returns: lines
 *
 * Since: 1.0
 */
guint
sbx_command_get_rows (SbxCommand *self)
{
  g_return_val_if_fail (SBX_IS_COMMAND (self), 0);

  return self->rows;
}

/**
 * sbx_command_get_columns:
 * @self: a command
 *
 * Gets how many characters a line of the terminal has at the start.
 *
 * Returns: characters
 *
 * Since: 1.0
 */
guint
sbx_command_get_columns (SbxCommand *self)
{
  g_return_val_if_fail (SBX_IS_COMMAND (self), 0);

  return self->columns;
}

/**
 * sbx_command_set_collect_limit:
 * @self: a command
 * @limit: bytes, or 0 to keep no output
 *
 * Sets how much of each of standard output and standard error the result keeps.
 *
 * The first bytes are kept, and the result tells how many more there were. Signals and pipes carry
 * the whole output whatever the limit. What is read from a pipe is not kept, and never is more
 * than 1 GiB.
 *
 * Since: 1.0
 */
void
sbx_command_set_collect_limit (SbxCommand *self,
                               guint64     limit)
{
  g_return_if_fail (SBX_IS_COMMAND (self));

  self->collect_limit = limit;
}

/**
 * sbx_command_get_collect_limit:
 * @self: a command
 *
 * Gets how much of each output the result keeps.
 *
 * Returns: bytes
 *
 * Since: 1.0
 */
guint64
sbx_command_get_collect_limit (SbxCommand *self)
{
  g_return_val_if_fail (SBX_IS_COMMAND (self), 0);

  return self->collect_limit;
}

/**
 * sbx_command_set_watch_denials:
 * @self: a command
 * @watch_denials: whether to find out what is refused
 *
 * Asks for [method@ExecResult.get_denials]: what the sandbox refused while the command ran. The
 * default is %FALSE.
 *
 * This is help for people, and decides nothing: the command can do what it could do before, at less
 * speed. A provider that cannot find out says nothing, and neither does a kernel older than Linux
 * 5.9. A command that is watched cannot watch system calls itself with a listener of seccomp.
 *
 * Since: 1.0
 */
void
sbx_command_set_watch_denials (SbxCommand *self,
                               gboolean    watch_denials)
{
  g_return_if_fail (SBX_IS_COMMAND (self));

  self->watch_denials = watch_denials;
}

/**
 * sbx_command_get_watch_denials:
 * @self: a command
 *
 * Tells whether it is to be found out what is refused.
 *
 * Returns: %TRUE if it is
 *
 * Since: 1.0
 */
gboolean
sbx_command_get_watch_denials (SbxCommand *self)
{
  g_return_val_if_fail (SBX_IS_COMMAND (self), FALSE);

  return self->watch_denials;
}

static gboolean
validate_stdin (SbxCommand  *self,
                GError     **error)
{
  if (self->terminal && self->stdin_source != SBX_STDIN_NULL)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_INVALID,
                           _("A command with a terminal reads from the terminal; give it no other "
                             "standard input"));
      return FALSE;
    }

  if (self->stdin_source == SBX_STDIN_BYTES && self->stdin_bytes == NULL)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_INVALID,
                           _("The command is to read bytes and was given none; set them, be they "
                             "empty"));
      return FALSE;
    }

  return TRUE;
}

/**
 * sbx_command_validate:
 * @self: a command
 * @error: return location for a [struct@GLib.Error]
 *
 * Checks what can be checked before the command is run.
 *
 * There must be a program, every variable must have a name that a variable can have, a working
 * directory cannot be empty, a command with a terminal reads from that, and one that reads bytes
 * was given some. An error is %SBX_ERROR_INVALID.
 *
 * Returns: %TRUE if the command makes sense
 *
 * Since: 1.0
 */
gboolean
sbx_command_validate (SbxCommand  *self,
                      GError     **error)
{
  g_return_val_if_fail (SBX_IS_COMMAND (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (self->argv == NULL || self->argv[0] == NULL || *self->argv[0] == '\0')
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_INVALID,
                           _("The command is empty; name a program to run"));
      return FALSE;
    }

  if (self->cwd != NULL && *self->cwd == '\0')
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_INVALID,
                           _("The working directory of the command is empty; name one, or none for "
                             "the session's own"));
      return FALSE;
    }

  return validate_stdin (self, error) && _sbx_environment_validate (&self->environment, error);
}
