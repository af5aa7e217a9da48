/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-call-members-private.h"

#include <glib/gi18n-lib.h>

#define MAX_SIGNAL 64
#define MAX_TERMINAL_SIZE 65535

static gboolean
parse_argv (SbxWireCall           *self,
            const SbxWireMembers  *members,
            SbxCommand           **command,
            GError               **error)
{
  g_auto(GStrv) argv = NULL;

  if (_sbx_json_object_get_strv (self->params, "argv", &argv) != SBX_JSON_PRESENT ||
      argv[0] == NULL || *argv[0] == '\0')
    return _sbx_wire_members_refuse (members, "argv",
                                     _("an array of strings that begins with a program"), error);

  *command = sbx_command_new ((const char * const *) argv);

  return TRUE;
}

static gboolean
parse_environment (SbxWireCall           *self,
                   const SbxWireMembers  *members,
                   SbxCommand            *command,
                   GError               **error)
{
  g_autoptr(GHashTable) table = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  JsonObject *object = NULL;
  GHashTableIter iter;
  gpointer name;
  gpointer value;

  if (!_sbx_wire_members_get_object (members, "env", SBX_WIRE_OPTIONAL, &object, error))
    return FALSE;

  if (object == NULL)
    return TRUE;

  if (!_sbx_wire_call_get_table (object, "params.env", table, error))
    return FALSE;

  g_hash_table_iter_init (&iter, table);
  while (g_hash_table_iter_next (&iter, &name, &value))
    sbx_command_set_variable (command, name, value);

  return TRUE;
}

static gboolean
parse_stdin (SbxWireCall           *self,
             const SbxWireMembers  *members,
             SbxCommand            *command,
             GError               **error)
{
  g_autoptr(GBytes) bytes = NULL;
  gboolean is_open = FALSE;

  if (!_sbx_wire_members_get_payload (members, self->line, "stdin_base64", SBX_WIRE_OPTIONAL,
                                      &bytes, error) ||
      !_sbx_wire_members_get_boolean (members, "open_stdin", &is_open, error))
    return FALSE;

  if (is_open && bytes != NULL)
    return _sbx_wire_members_refuse (members, "open_stdin",
                                     _("false where there is “stdin_base64”"), error);

  if (is_open)
    sbx_command_set_stdin (command, SBX_STDIN_PIPE);
  else
    sbx_command_set_stdin_bytes (command, bytes);

  return TRUE;
}

static gboolean
parse_size (const SbxWireMembers  *members,
            SbxWireNeed            need,
            guint                 *rows,
            guint                 *columns,
            GError               **error)
{
  gint64 height = *rows;
  gint64 width = *columns;

  if (!_sbx_wire_members_get_int (members, "rows", need, 1, MAX_TERMINAL_SIZE, &height, error) ||
      !_sbx_wire_members_get_int (members, "columns", need, 1, MAX_TERMINAL_SIZE, &width, error))
    return FALSE;

  *rows = (guint) height;
  *columns = (guint) width;

  return TRUE;
}

static gboolean
parse_pty (const SbxWireMembers  *members,
           SbxCommand            *command,
           GError               **error)
{
  SbxWireMembers pty = { NULL, "params.pty", SBX_ERROR_INVALID };
  guint rows = sbx_command_get_rows (command);
  guint columns = sbx_command_get_columns (command);

  if (!_sbx_wire_members_get_object (members, "pty", SBX_WIRE_OPTIONAL, &pty.object, error))
    return FALSE;

  if (pty.object == NULL)
    return TRUE;

  if (!parse_size (&pty, SBX_WIRE_OPTIONAL, &rows, &columns, error))
    return FALSE;

  sbx_command_set_terminal (command, TRUE);
  sbx_command_set_terminal_size (command, rows, columns);

  return TRUE;
}

static gboolean
parse_options (const SbxWireMembers  *members,
               SbxCommand            *command,
               SbxWireExecOptions    *options,
               GError               **error)
{
  gint64 timeout_ms = 0;
  gint64 limit = -1;

  options->collect = TRUE;
  options->follow = FALSE;

  if (!_sbx_wire_members_get_int (members, "timeout_ms", SBX_WIRE_OPTIONAL, 0, G_MAXUINT32,
                                  &timeout_ms, error) ||
      !_sbx_wire_members_get_boolean (members, "collect", &options->collect, error) ||
      !_sbx_wire_members_get_int (members, "collect_limit", SBX_WIRE_OPTIONAL, 0, G_MAXINT64,
                                  &limit, error) ||
      !_sbx_wire_members_get_boolean (members, "follow", &options->follow, error))
    return FALSE;

  options->collect_limit = limit >= 0 ? (guint64) limit : G_MAXUINT64;
  sbx_command_set_timeout (command, (guint) timeout_ms);

  return TRUE;
}

SbxCommand *
_sbx_wire_call_get_command (SbxWireCall         *self,
                            SbxWireExecOptions  *options,
                            GError             **error)
{
  const SbxWireMembers members = _sbx_wire_call_members (self);
  g_autoptr(SbxCommand) command = NULL;
  const char *cwd = NULL;

  if (!parse_argv (self, &members, &command, error) ||
      !_sbx_wire_members_get_string (&members, "cwd", SBX_WIRE_OPTIONAL, &cwd, error) ||
      !parse_environment (self, &members, command, error) ||
      !parse_stdin (self, &members, command, error) ||
      !parse_pty (&members, command, error) ||
      !parse_options (&members, command, options, error))
    return NULL;

  /* An empty one is the session's own: that is what clients mean by it. */
  if (cwd != NULL && *cwd != '\0')
    sbx_command_set_cwd (command, cwd);

  return sbx_command_validate (command, error) ? g_steal_pointer (&command) : NULL;
}

const char *
_sbx_wire_call_get_process_id (SbxWireCall  *self,
                               GError      **error)
{
  return _sbx_wire_call_get_string (self, "process_id", error);
}

const char *
_sbx_wire_call_get_request_id (SbxWireCall  *self,
                               GError      **error)
{
  return _sbx_wire_call_get_string (self, "request_id", error);
}

gboolean
_sbx_wire_call_get_signal (SbxWireCall  *self,
                           int          *signal_number,
                           GError      **error)
{
  const SbxWireMembers members = _sbx_wire_call_members (self);
  gint64 number = 0;

  if (!_sbx_wire_members_get_int (&members, "signal", SBX_WIRE_REQUIRED, 1, MAX_SIGNAL, &number,
                                  error))
    return FALSE;

  *signal_number = (int) number;

  return TRUE;
}

gboolean
_sbx_wire_call_get_size (SbxWireCall  *self,
                         guint        *rows,
                         guint        *columns,
                         GError      **error)
{
  const SbxWireMembers members = _sbx_wire_call_members (self);

  *rows = 0;
  *columns = 0;

  return parse_size (&members, SBX_WIRE_REQUIRED, rows, columns, error);
}
