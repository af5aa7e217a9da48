/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-answer-private.h"

#include "core/sbx-error.h"
#include "wire/sbx-wire-answer-text-private.h"
#include "wire/sbx-wire-errno-private.h"

#include <string.h>

#define MAX_CODE 64

/* A code is what another provider calls it: anything that looks like a name. */
#define CODE_CHARACTERS \
  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

static SbxWireMessage *
answer (const char *id,
        const char *code,
        const char *message,
        gboolean    retryable,
        const char *errno_name)
{
  SbxWireMessage *answer = _sbx_wire_answer_begin (id, "error");
  GString *text = _sbx_wire_message_get_text (answer);
  g_autofree char *valid = g_utf8_make_valid (message, -1);

  g_string_append (text, "{\"code\":");
  _sbx_wire_message_append_string (answer, code);
  g_string_append (text, ",\"message\":");
  _sbx_wire_message_append_string (answer, valid);
  g_string_append_printf (text, ",\"retryable\":%s", retryable ? "true" : "false");

  if (errno_name != NULL)
    g_string_append_printf (text, ",\"errno\":\"%s\"", errno_name);

  g_string_append_c (text, '}');

  return _sbx_wire_answer_end (answer);
}

SbxWireMessage *
_sbx_wire_answer_code (const char *id,
                       const char *code,
                       const char *message)
{
  const gboolean retryable = g_str_equal (code, "too_many_requests") ||
                             g_str_equal (code, "too_many_sessions") || g_str_equal (code, "busy");

  return answer (id, code, message, retryable, NULL);
}

/* An error that a provider behind us answered with has its code in front: "bad_profile: …". */
static SbxWireMessage *
answer_foreign (const char *id,
                const char *message,
                gboolean    retryable)
{
  const gsize length = strspn (message, CODE_CHARACTERS);
  g_autofree char *code = NULL;

  if (length == 0 || length > MAX_CODE || !g_str_has_prefix (message + length, ": "))
    return answer (id, "failed", message, retryable, NULL);

  code = g_strndup (message, length);

  return answer (id, code, message + length + strlen (": "), retryable, NULL);
}

static SbxWireMessage *
answer_ours (const char *id,
             SbxError    code,
             const char *message)
{
  switch (code)
    {
    case SBX_ERROR_INVALID:
      return _sbx_wire_answer_code (id, "invalid_request", message);

    case SBX_ERROR_NOT_FOUND:
      return answer (id, "file_io_failed", message, FALSE, "ENOENT");

    case SBX_ERROR_REFUSED:
      return _sbx_wire_answer_code (id, "refused", message);

    case SBX_ERROR_UNSUPPORTED:
      return _sbx_wire_answer_code (id, "unsupported_method", message);

    case SBX_ERROR_NOT_ENFORCEABLE:
      return _sbx_wire_answer_code (id, "not_enforceable", message);

    case SBX_ERROR_SETUP_FAILED:
      return _sbx_wire_answer_code (id, "setup_failed", message);

    case SBX_ERROR_CLOSED:
      return _sbx_wire_answer_code (id, "closed", message);

    case SBX_ERROR_LOST:
      return _sbx_wire_answer_code (id, "lost", message);

    case SBX_ERROR_TOO_LARGE:
      return _sbx_wire_answer_code (id, "too_large", message);

    case SBX_ERROR_BUSY:
      return _sbx_wire_answer_code (id, "busy", message);

    case SBX_ERROR_PROVIDER:
    case SBX_ERROR_PROVIDER_RETRYABLE:
      return answer_foreign (id, message, code == SBX_ERROR_PROVIDER_RETRYABLE);

    case SBX_ERROR_FAILED:
    case SBX_ERROR_UNANSWERED:
    case SBX_ERROR_PROTOCOL:
    default:
      return _sbx_wire_answer_code (id, "failed", message);
    }
}

SbxWireMessage *
_sbx_wire_answer_error (const char   *id,
                        const GError *error)
{
  if (error->domain == SBX_ERROR)
    return answer_ours (id, (SbxError) error->code, error->message);

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return _sbx_wire_answer_code (id, "cancelled", error->message);

  if (error->domain == G_IO_ERROR)
    return answer (id, "file_io_failed", error->message, FALSE,
                   _sbx_wire_errno_of_io_error ((GIOErrorEnum) error->code));

  return _sbx_wire_answer_code (id, "failed", error->message);
}
