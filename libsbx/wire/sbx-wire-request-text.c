/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-request-text-private.h"

#include "core/sbx-error.h"
#include "core/sbx-text-private.h"

#include <glib/gi18n-lib.h>

/* Every request has one, and printf() would take longer than all the rest of it. */
static void
append_number (GString *text,
               guint64  number)
{
  char digits[20];
  gsize at = sizeof digits;

  do
    digits[--at] = (char) ('0' + number % 10);
  while ((number /= 10) > 0);

  g_string_append_len (text, digits + at, (gssize) (sizeof digits - at));
}

SbxWireMessage *
_sbx_wire_request_begin (guint64     number,
                         const char *method)
{
  SbxWireMessage *message = _sbx_wire_message_new ();
  GString *text = _sbx_wire_message_get_text (message);

  g_string_append (text, "{\"id\":\"req_");
  append_number (text, number);
  g_string_append (text, "\",\"method\":\"");
  g_string_append (text, method);
  g_string_append (text, "\",\"params\":{");

  return message;
}

SbxWireMessage *
_sbx_wire_request_begin_session (guint64     number,
                                 const char *method,
                                 GBytes     *session)
{
  SbxWireMessage *message = _sbx_wire_request_begin (number, method);
  GString *text = _sbx_wire_message_get_text (message);
  gsize size;
  const char *data = g_bytes_get_data (session, &size);

  g_string_append (text, "\"session\":");
  g_string_append_len (text, data, (gssize) size);

  return message;
}

SbxWireMessage *
_sbx_wire_request_end (SbxWireMessage *message)
{
  g_string_append (_sbx_wire_message_get_text (message), "}}");

  return message;
}

static const char *
explain (SbxWireText what)
{
  switch (what)
    {
    case SBX_WIRE_TEXT_PATH:
      return _("this path is not UTF-8, and cannot be sent to a provider; use a name that is");

    case SBX_WIRE_TEXT_PREFIX:
      return _("this prefix is not UTF-8, and cannot be sent to a provider; use one that is");

    case SBX_WIRE_TEXT_ARGUMENT:
      return _("this argument of the command is not UTF-8, and cannot be sent to a provider; pass "
               "such bytes by standard input or in a file");

    case SBX_WIRE_TEXT_VARIABLE:
      return _("this variable is not UTF-8, and cannot be sent to a provider; pass such bytes by "
               "standard input or in a file");

    case SBX_WIRE_TEXT_CWD:
      return _("this working directory is not UTF-8, and cannot be sent to a provider; use a "
               "directory whose name is");

    case SBX_WIRE_TEXT_PROFILE:
      return _("this name of a profile is not UTF-8, and no provider has such a one");

    case SBX_WIRE_TEXT_GROUP:
      return _("this name of a group is not UTF-8, and cannot be sent to a provider; use one that "
               "is");

    case SBX_WIRE_TEXT_REQUEST_ID:
      return _("this name of a request is not UTF-8, and cannot be sent to a provider; use one "
               "that is");

    case SBX_WIRE_TEXT_TAG:
      return _("this tag is not UTF-8, and cannot be sent to a provider; use one that is");

    default:
      g_assert_not_reached ();
    }
}

gboolean
_sbx_wire_text_check (SbxWireText   what,
                      const char   *value,
                      GError      **error)
{
  g_autofree char *quoted = NULL;

  if (g_utf8_validate (value, -1, NULL))
    return TRUE;

  quoted = _sbx_text_quote (value);
  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID, "%s: %s", quoted, explain (what));

  return FALSE;
}

gboolean
_sbx_wire_request_append (SbxWireMessage  *message,
                          const char      *head,
                          SbxWireText      what,
                          const char      *value,
                          GError         **error)
{
  if (!_sbx_wire_text_check (what, value, error))
    return FALSE;

  g_string_append (_sbx_wire_message_get_text (message), head);
  _sbx_wire_message_append_string (message, value);

  return TRUE;
}
