/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-request-private.h"

#include "core/sbx-error.h"
#include "wire/sbx-wire-request-text-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

static gboolean
append_argv (SbxWireMessage      *message,
             const char * const  *argv,
             GError             **error)
{
  GString *text = _sbx_wire_message_get_text (message);

  g_string_append (text, ",\"argv\":[");

  for (gsize i = 0; argv[i] != NULL; i++)
    if (!_sbx_wire_request_append (message, i > 0 ? "," : "", SBX_WIRE_TEXT_ARGUMENT, argv[i],
                                   error))
      return FALSE;

  g_string_append_c (text, ']');

  return TRUE;
}

static gboolean
append_environment (SbxWireMessage      *message,
                    const char * const  *environment,
                    GError             **error)
{
  if (environment == NULL || environment[0] == NULL)
    return TRUE;

  for (gsize i = 0; environment[i] != NULL; i++)
    {
      const char *equals = strchr (environment[i], '=');
      g_autofree char *name = g_strndup (environment[i], equals - environment[i]);

      /* The value may be a secret: what is quoted in an error is the name alone. */
      if (!g_utf8_validate (equals + 1, -1, NULL))
        {
          g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                       _("The value of the variable %s is not UTF-8, and cannot be sent to a "
                         "provider; pass such bytes by standard input or in a file"),
                       g_utf8_validate (name, -1, NULL) ? name : "?");
          return FALSE;
        }

      if (!_sbx_wire_request_append (message, i > 0 ? "," : ",\"env\":{", SBX_WIRE_TEXT_VARIABLE,
                                     name, error) ||
          !_sbx_wire_request_append (message, ":", SBX_WIRE_TEXT_VARIABLE, equals + 1, error))
        return FALSE;
    }

  g_string_append_c (_sbx_wire_message_get_text (message), '}');

  return TRUE;
}

static gboolean
refuse (const char  *message,
        GError     **error)
{
  g_set_error_literal (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED, message);

  return FALSE;
}

/* Less than was asked is never sent. */
static gboolean
append_stdin (SbxWireMessage   *message,
              SbxCommand       *command,
              SbxWireFeatures   features,
              GError          **error)
{
  GString *text = _sbx_wire_message_get_text (message);

  switch (sbx_command_get_stdin (command))
    {
    case SBX_STDIN_BYTES:
      g_string_append (text, ",\"stdin_base64\":");
      _sbx_wire_message_append_payload (message, sbx_command_get_stdin_bytes (command));
      return TRUE;

    case SBX_STDIN_PIPE:
      if ((features & SBX_WIRE_STDIN) == 0)
        return refuse (_("This provider takes the whole input of a command at its start; give the "
                         "command bytes instead of a pipe"), error);

      g_string_append (text, ",\"open_stdin\":true");
      return TRUE;

    case SBX_STDIN_NULL:
    default:
      return TRUE;
    }
}

static gboolean
append_extensions (SbxWireMessage   *message,
                   const char       *method,
                   SbxCommand       *command,
                   SbxWireFeatures   features,
                   GError          **error)
{
  GString *text = _sbx_wire_message_get_text (message);
  const gboolean is_spawn = g_str_equal (method, "spawn");
  const guint timeout_ms = sbx_command_get_timeout (command);

  if (sbx_command_get_terminal (command) && (features & SBX_WIRE_PTY) == 0)
    return refuse (_("This provider has no terminals; run the command without one"), error);

  if (sbx_command_get_terminal (command))
    g_string_append_printf (text, ",\"pty\":{\"rows\":%u,\"columns\":%u}",
                            sbx_command_get_rows (command), sbx_command_get_columns (command));

  if (timeout_ms != 0 && (features & SBX_WIRE_TIMEOUT) != 0)
    g_string_append_printf (text, ",\"timeout_ms\":%u", timeout_ms);

  if (!is_spawn && (features & SBX_WIRE_QUIET_RESULT) != 0)
    g_string_append (text, ",\"collect\":false");

  if (is_spawn && (features & SBX_WIRE_PROCESS) != 0)
    g_string_append (text, ",\"follow\":true");

  return TRUE;
}

SbxWireMessage *
_sbx_wire_request_exec (guint64           number,
                        const char       *method,
                        GBytes           *session,
                        SbxCommand       *command,
                        SbxWireFeatures   features,
                        GError          **error)
{
  g_autoptr(SbxWireMessage) message = NULL;
  const char *cwd = sbx_command_get_cwd (command);

  if (!sbx_command_validate (command, error))
    return NULL;

  message = _sbx_wire_request_begin_session (number, method, session);

  if (!append_argv (message, sbx_command_get_argv (command), error) ||
      (cwd != NULL &&
       !_sbx_wire_request_append (message, ",\"cwd\":", SBX_WIRE_TEXT_CWD, cwd, error)) ||
      !append_environment (message, sbx_command_get_environment (command), error) ||
      !append_stdin (message, command, features, error) ||
      !append_extensions (message, method, command, features, error))
    return NULL;

  return _sbx_wire_request_end (g_steal_pointer (&message));
}

SbxWireMessage *
_sbx_wire_request_cancel (guint64 number,
                          guint64 cancelled_number)
{
  SbxWireMessage *message = _sbx_wire_request_begin (number, "cancel");

  g_string_append_printf (_sbx_wire_message_get_text (message),
                          "\"request_id\":\"req_%" G_GUINT64_FORMAT "\"", cancelled_number);

  return _sbx_wire_request_end (message);
}

/* A peer's id came through JSON, and so is UTF-8. */
static SbxWireMessage *
begin_process (guint64     number,
               const char *method,
               GBytes     *session,
               const char *process_id)
{
  SbxWireMessage *message = _sbx_wire_request_begin_session (number, method, session);

  g_string_append (_sbx_wire_message_get_text (message), ",\"process_id\":");
  _sbx_wire_message_append_string (message, process_id);

  return message;
}

SbxWireMessage *
_sbx_wire_request_kill (guint64     number,
                        GBytes     *session,
                        const char *process_id,
                        int         signal_number)
{
  SbxWireMessage *message = begin_process (number, "kill", session, process_id);

  g_string_append_printf (_sbx_wire_message_get_text (message), ",\"signal\":%d", signal_number);

  return _sbx_wire_request_end (message);
}

SbxWireMessage *
_sbx_wire_request_write_stdin (guint64     number,
                               GBytes     *session,
                               const char *process_id,
                               GBytes     *bytes)
{
  SbxWireMessage *message = begin_process (number, "write_stdin", session, process_id);

  g_string_append (_sbx_wire_message_get_text (message), ",\"data_base64\":");
  _sbx_wire_message_append_payload (message, bytes);

  return _sbx_wire_request_end (message);
}

SbxWireMessage *
_sbx_wire_request_close_stdin (guint64     number,
                               GBytes     *session,
                               const char *process_id)
{
  return _sbx_wire_request_end (begin_process (number, "close_stdin", session, process_id));
}

SbxWireMessage *
_sbx_wire_request_resize_pty (guint64     number,
                              GBytes     *session,
                              const char *process_id,
                              guint       rows,
                              guint       columns)
{
  SbxWireMessage *message = begin_process (number, "resize_pty", session, process_id);

  g_string_append_printf (_sbx_wire_message_get_text (message), ",\"rows\":%u,\"columns\":%u", rows,
                          columns);

  return _sbx_wire_request_end (message);
}
