/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-answer-private.h"

#include "wire/sbx-wire-answer-text-private.h"
#include "wire/sbx-wire-errno-private.h"
#include "wire/sbx-wire-exec-private.h"

/* What a shell gives, for those that have nothing but an exit code to go by. */
#define SHELL_SIGNALLED 128
#define SHELL_NOT_FOUND 127
#define SHELL_NOT_EXECUTABLE 126
#define SHELL_TIMED_OUT 124
#define LOST (-1)

static int
get_exit_code (SbxExecResult *result)
{
  switch (sbx_exec_result_get_outcome (result))
    {
    case SBX_EXEC_OUTCOME_EXITED:
      return sbx_exec_result_get_exit_code (result);

    case SBX_EXEC_OUTCOME_SIGNALLED:
      return SHELL_SIGNALLED + sbx_exec_result_get_signal (result);

    case SBX_EXEC_OUTCOME_TIMED_OUT:
      return SHELL_TIMED_OUT;

    case SBX_EXEC_OUTCOME_NOT_STARTED:
      return sbx_exec_result_get_not_started (result) == SBX_NOT_STARTED_NOT_FOUND
               ? SHELL_NOT_FOUND
               : SHELL_NOT_EXECUTABLE;

    case SBX_EXEC_OUTCOME_LOST:
    default:
      return LOST;
    }
}

static void
append_message (SbxWireMessage *message,
                SbxExecResult  *result)
{
  const char *text = sbx_exec_result_get_message (result);
  g_autofree char *valid = text != NULL ? g_utf8_make_valid (text, -1) : NULL;

  if (valid == NULL)
    return;

  g_string_append (_sbx_wire_message_get_text (message), ",\"message\":");
  _sbx_wire_message_append_string (message, valid);
}

static void
append_not_started (SbxWireMessage *message,
                    SbxExecResult  *result)
{
  GString *text = _sbx_wire_message_get_text (message);
  const char *name = _sbx_wire_errno_to_name (sbx_exec_result_get_errno (result));

  g_string_append_printf (text, ",\"not_started\":{\"kind\":\"%s\"",
                          _sbx_wire_not_started_to_name (sbx_exec_result_get_not_started (result)));
  append_message (message, result);

  if (name != NULL)
    g_string_append_printf (text, ",\"errno\":\"%s\"", name);

  g_string_append_c (text, '}');
}

/* How it ended, where an exit code does not say it. */
static void
append_outcome (SbxWireMessage *message,
                SbxExecResult  *result)
{
  GString *text = _sbx_wire_message_get_text (message);

  switch (sbx_exec_result_get_outcome (result))
    {
    case SBX_EXEC_OUTCOME_SIGNALLED:
      g_string_append_printf (text, ",\"signal\":%d", sbx_exec_result_get_signal (result));
      if (sbx_exec_result_get_core_dumped (result))
        g_string_append (text, ",\"core_dumped\":true");
      break;

    case SBX_EXEC_OUTCOME_TIMED_OUT:
      g_string_append (text, ",\"timed_out\":true");
      break;

    case SBX_EXEC_OUTCOME_NOT_STARTED:
      append_not_started (message, result);
      break;

    case SBX_EXEC_OUTCOME_LOST:
      append_message (message, result);
      break;

    case SBX_EXEC_OUTCOME_EXITED:
    default:
      break;
    }
}

static void
append_output (SbxWireMessage *message,
               const char     *name,
               GBytes         *bytes,
               gboolean        collected)
{
  g_autoptr(GBytes) empty = g_bytes_new_static ("", 0);

  g_string_append_printf (_sbx_wire_message_get_text (message), ",\"%s\":", name);
  _sbx_wire_message_append_payload (message, collected ? bytes : empty);
}

static void
append_truncated (SbxWireMessage *message,
                  const char     *name,
                  guint64         count)
{
  if (count > 0)
    g_string_append_printf (_sbx_wire_message_get_text (message), ",\"%s\":%" G_GUINT64_FORMAT,
                            name, MIN (count, (guint64) G_MAXINT64));
}

SbxWireMessage *
_sbx_wire_answer_exec (const char    *id,
                       SbxExecResult *result,
                       gboolean       collected)
{
  SbxWireMessage *message = _sbx_wire_answer_begin (id, "result");

  g_string_append_printf (_sbx_wire_message_get_text (message), "{\"exit_code\":%d",
                          get_exit_code (result));
  append_output (message, "stdout_base64", sbx_exec_result_get_stdout (result), collected);
  append_output (message, "stderr_base64", sbx_exec_result_get_stderr (result), collected);

  if (collected)
    {
      append_truncated (message, "stdout_truncated", sbx_exec_result_get_stdout_truncated (result));
      append_truncated (message, "stderr_truncated", sbx_exec_result_get_stderr_truncated (result));
    }

  append_outcome (message, result);
  g_string_append_c (_sbx_wire_message_get_text (message), '}');

  return _sbx_wire_answer_end (message);
}

SbxWireMessage *
_sbx_wire_answer_spawn (const char *id,
                        const char *process_id)
{
  SbxWireMessage *message = _sbx_wire_answer_begin (id, "result");
  GString *text = _sbx_wire_message_get_text (message);

  if (process_id == NULL)
    {
      g_string_append (text, "{}");
      return _sbx_wire_answer_end (message);
    }

  g_string_append (text, "{\"process_id\":");
  _sbx_wire_message_append_string (message, process_id);
  g_string_append_c (text, '}');

  return _sbx_wire_answer_end (message);
}

SbxWireMessage *
_sbx_wire_event_started (const char *id,
                         const char *process_id)
{
  SbxWireMessage *message = _sbx_wire_answer_begin (id, "event");
  GString *text = _sbx_wire_message_get_text (message);

  g_string_append (text, "{\"type\":\"started\"");

  if (process_id != NULL)
    {
      g_string_append (text, ",\"process_id\":");
      _sbx_wire_message_append_string (message, process_id);
    }

  g_string_append_c (text, '}');

  return _sbx_wire_answer_end (message);
}

SbxWireMessage *
_sbx_wire_event_output (const char *id,
                        const char *type,
                        GBytes     *bytes)
{
  SbxWireMessage *message = _sbx_wire_answer_begin (id, "event");

  g_string_append_printf (_sbx_wire_message_get_text (message),
                          "{\"type\":\"%s\",\"data_base64\":", type);
  _sbx_wire_message_append_payload (message, bytes);
  g_string_append_c (_sbx_wire_message_get_text (message), '}');

  return _sbx_wire_answer_end (message);
}

SbxWireMessage *
_sbx_wire_event_exited (const char    *id,
                        SbxExecResult *result)
{
  SbxWireMessage *message = _sbx_wire_answer_begin (id, "event");

  g_string_append_printf (_sbx_wire_message_get_text (message),
                          "{\"type\":\"exited\",\"exit_code\":%d", get_exit_code (result));
  append_outcome (message, result);
  g_string_append_c (_sbx_wire_message_get_text (message), '}');

  return _sbx_wire_answer_end (message);
}

SbxWireMessage *
_sbx_wire_event_end (const char *id)
{
  SbxWireMessage *message = _sbx_wire_answer_begin (id, "event");

  g_string_append (_sbx_wire_message_get_text (message), "{\"type\":\"end\"}");

  return _sbx_wire_answer_end (message);
}
