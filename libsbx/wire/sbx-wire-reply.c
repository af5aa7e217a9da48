/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-reply-private.h"

#include "core/sbx-text-private.h"
#include "wire/sbx-wire-errno-private.h"
#include "wire/sbx-wire-member-private.h"
#include "wire/sbx-wire-reply-members-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define MAX_DIGITS 20

/* The number of an id as we write them: "req_" and a decimal number without zeros at its front. */
static guint64
parse_number (const char *id)
{
  const char *digits = id + strlen ("req_");
  guint64 number = 0;

  if (!g_str_has_prefix (id, "req_") || *digits < '1' || *digits > '9' ||
      strspn (digits, "0123456789") != strlen (digits) || strlen (digits) > MAX_DIGITS ||
      !g_ascii_string_to_unsigned (digits, 10, 1, G_MAXUINT64, &number, NULL))
    return 0;

  return number;
}

static void
parse_result (SbxWireReply *self,
              JsonObject   *root)
{
  switch (_sbx_json_object_get_object (root, "result", &self->result))
    {
    case SBX_JSON_WRONG_TYPE:
      self->is_odd = TRUE;
      self->has_result = TRUE;
      break;

    case SBX_JSON_PRESENT:
    case SBX_JSON_NULL:
      self->has_result = TRUE;
      break;

    case SBX_JSON_ABSENT:
    default:
      break;
    }
}

gboolean
_sbx_wire_reply_parse (SbxWireReply  *self,
                       SbxWireLine   *line,
                       GError       **error)
{
  SbxWireMembers members = { _sbx_wire_line_get_object (line), "", SBX_ERROR_PROTOCOL };

  memset (self, 0, sizeof *self);
  self->line = line;

  if (members.object == NULL)
    {
      g_propagate_error (error, g_error_copy (_sbx_wire_line_get_error (line)));
      return FALSE;
    }

  if (!_sbx_wire_members_get_string (&members, "id", SBX_WIRE_REQUIRED, &self->id, error))
    return FALSE;

  self->number = parse_number (self->id);

  if (!_sbx_wire_members_get_object (&members, "event", SBX_WIRE_OPTIONAL, &self->event, error) ||
      !_sbx_wire_members_get_object (&members, "error", SBX_WIRE_OPTIONAL, &self->error, error))
    return FALSE;

  parse_result (self, members.object);
  self->is_final = self->has_result || self->error != NULL || self->event == NULL;

  return TRUE;
}

/* Providers have several words for that they cannot do something at all. */
static SbxError
choose_code (const char *code,
             gboolean    retryable)
{
  static const char * const unsupported[] = {
    "unsupported_method", "unknown_method", "unsupported", NULL,
  };

  if (g_strv_contains (unsupported, code))
    return SBX_ERROR_UNSUPPORTED;

  return retryable ? SBX_ERROR_PROVIDER_RETRYABLE : SBX_ERROR_PROVIDER;
}

GError *
_sbx_wire_reply_get_error (SbxWireReply *self)
{
  SbxWireMembers members = { self->error, "error", SBX_ERROR_PROTOCOL };
  g_autofree char *escaped_code = NULL;
  g_autofree char *escaped = NULL;
  GError *malformed = NULL;
  const char *code = NULL;
  const char *message = NULL;
  const char *name = NULL;
  gboolean retryable = FALSE;

  if (!_sbx_wire_members_get_string (&members, "code", SBX_WIRE_NOT_EMPTY, &code, &malformed) ||
      !_sbx_wire_members_get_string (&members, "message", SBX_WIRE_REQUIRED, &message,
                                     &malformed) ||
      !_sbx_wire_members_get_boolean (&members, "retryable", &retryable, &malformed))
    return malformed;

  escaped_code = _sbx_text_escape (code);
  escaped = _sbx_text_escape (message);

  if (g_str_equal (code, "cancelled"))
    return g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED, escaped);

  /* An extension: a provider that has another use for the name is not one of ours. */
  if (_sbx_json_object_get_string (self->error, "errno", &name) == SBX_JSON_PRESENT &&
      _sbx_wire_errno_is_known (name))
    return g_error_new_literal (G_IO_ERROR, (int) _sbx_wire_errno_to_io_error (name),
                                *escaped != '\0' ? escaped : escaped_code);

  return g_error_new (SBX_ERROR, choose_code (code, retryable), "%s: %s", escaped_code, escaped);
}

gboolean
_sbx_wire_reply_get_members (SbxWireReply    *self,
                             SbxWireMembers  *members,
                             GError         **error)
{
  *members = (SbxWireMembers) { self->result, "result", SBX_ERROR_PROTOCOL };

  if (!self->is_odd)
    return TRUE;

  members->path = "";

  return _sbx_wire_members_refuse (members, "result", _("an object"), error);
}

gboolean
_sbx_wire_reply_get_capabilities (SbxWireReply     *self,
                                  gboolean         *exec,
                                  SbxWireFeatures  *features,
                                  GError          **error)
{
  SbxWireMembers members;

  return _sbx_wire_reply_get_members (self, &members, error) &&
         _sbx_wire_features_parse (members.object, exec, features, error);
}

gboolean
_sbx_wire_reply_get_cleaned_count (SbxWireReply  *self,
                                   guint         *count,
                                   GError       **error)
{
  SbxWireMembers members;
  gint64 number = 0;

  if (!_sbx_wire_reply_get_members (self, &members, error) ||
      !_sbx_wire_members_get_int (&members, "cleaned_count", SBX_WIRE_REQUIRED, 0, G_MAXUINT32,
                                  &number, error))
    return FALSE;

  *count = (guint) number;

  return TRUE;
}
