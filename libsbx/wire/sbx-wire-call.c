/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-call-private.h"

#include "core/sbx-error.h"
#include "wire/sbx-wire-call-members-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* Each event and reply repeats the id: a long one would have much written for little. */
#define MAX_ID 1024

static const char * const methods[] = {
  [SBX_WIRE_METHOD_CAPABILITIES] = "capabilities",
  [SBX_WIRE_METHOD_OPEN] = "open",
  [SBX_WIRE_METHOD_CLOSE] = "close",
  [SBX_WIRE_METHOD_CLEANUP_GROUP] = "cleanup_group",
  [SBX_WIRE_METHOD_CREATE_TEMP_DIR] = "create_temp_dir",
  [SBX_WIRE_METHOD_CREATE_DIR_ALL] = "create_dir_all",
  [SBX_WIRE_METHOD_WRITE_FILE] = "write_file",
  [SBX_WIRE_METHOD_READ_FILE] = "read_file",
  [SBX_WIRE_METHOD_REMOVE] = "remove",
  [SBX_WIRE_METHOD_EXEC] = "exec",
  [SBX_WIRE_METHOD_SPAWN] = "spawn",
  [SBX_WIRE_METHOD_SHUTDOWN] = "shutdown",
  [SBX_WIRE_METHOD_CANCEL] = "cancel",
  [SBX_WIRE_METHOD_WAIT] = "wait",
  [SBX_WIRE_METHOD_KILL] = "kill",
  [SBX_WIRE_METHOD_LIST_PROCESSES] = "list_processes",
  [SBX_WIRE_METHOD_WRITE_STDIN] = "write_stdin",
  [SBX_WIRE_METHOD_CLOSE_STDIN] = "close_stdin",
  [SBX_WIRE_METHOD_RESIZE_PTY] = "resize_pty",
  [SBX_WIRE_METHOD_LIST_DIR] = "list_dir",
  [SBX_WIRE_METHOD_STAT] = "stat",
  [SBX_WIRE_METHOD_RENAME] = "rename",
  [SBX_WIRE_METHOD_COPY] = "copy",
};

static SbxWireMethod
method_of_name (const char *name)
{
  for (gsize i = SBX_WIRE_METHOD_CAPABILITIES; i < G_N_ELEMENTS (methods); i++)
    if (g_str_equal (methods[i], name))
      return (SbxWireMethod) i;

  return SBX_WIRE_METHOD_UNKNOWN;
}

/* What stands for params that are not there. */
static JsonObject *
no_params (void)
{
  static gsize object = 0;

  if (g_once_init_enter (&object))
    {
      JsonObject *empty = json_object_new ();

      json_object_seal (empty);
      g_once_init_leave (&object, (gsize) empty);
    }

  return (JsonObject *) object;
}

static gboolean
parse_line_error (SbxWireCall  *self,
                  GError      **error)
{
  const GError *reason = _sbx_wire_line_get_error (self->line);
  const char *id = _sbx_wire_line_guess_id (self->line);

  if (id != NULL && *id != '\0' && strlen (id) <= MAX_ID && g_utf8_validate (id, -1, NULL))
    self->id = g_strdup (id);

  g_set_error (error, SBX_ERROR,
               g_error_matches (reason, SBX_ERROR, SBX_ERROR_TOO_LARGE) ? SBX_ERROR_TOO_LARGE
                                                                        : SBX_ERROR_INVALID,
               _("The line is no request: %s"), reason->message);

  return FALSE;
}

static gboolean
parse_id (SbxWireCall           *self,
          const SbxWireMembers  *members,
          GError               **error)
{
  const char *id = NULL;

  if (!_sbx_wire_members_get_string (members, "id", SBX_WIRE_REQUIRED, &id, error))
    return FALSE;

  if (strlen (id) > MAX_ID)
    return _sbx_wire_members_refuse (members, "id", _("a string of at most 1024 bytes"), error);

  g_free (self->id);
  self->id = g_strdup (id);

  return TRUE;
}

static gboolean
parse_envelope (SbxWireCall  *self,
                GError      **error)
{
  const SbxWireMembers members = {
    _sbx_wire_line_get_object (self->line), "", SBX_ERROR_INVALID
  };

  if (members.object == NULL)
    return parse_line_error (self, error);

  if (!parse_id (self, &members, error) ||
      !_sbx_wire_members_get_string (&members, "method", SBX_WIRE_NOT_EMPTY, &self->method_name,
                                     error) ||
      !_sbx_wire_members_get_object (&members, "params", SBX_WIRE_OPTIONAL, &self->params, error))
    return FALSE;

  self->method = method_of_name (self->method_name);

  return TRUE;
}

gboolean
_sbx_wire_call_parse (SbxWireCall  *self,
                      SbxWireLine  *line,
                      GError      **error)
{
  gboolean parsed;

  memset (self, 0, sizeof *self);
  self->line = _sbx_wire_line_ref (line);
  parsed = parse_envelope (self, error);

  if (self->id == NULL)
    self->id = g_strdup ("unknown");

  if (self->params == NULL)
    self->params = no_params ();

  return parsed;
}

void
_sbx_wire_call_forget (SbxWireCall *self)
{
  g_clear_pointer (&self->line, _sbx_wire_line_unref);
  self->method_name = NULL;
  self->params = no_params ();
}

void
_sbx_wire_call_clear (SbxWireCall *self)
{
  g_clear_pointer (&self->line, _sbx_wire_line_unref);
  g_clear_pointer (&self->id, g_free);
  memset (self, 0, sizeof *self);
}

const char *
_sbx_wire_call_get_string (SbxWireCall  *self,
                           const char   *name,
                           GError      **error)
{
  const SbxWireMembers members = _sbx_wire_call_members (self);
  const char *string = NULL;

  return _sbx_wire_members_get_string (&members, name, SBX_WIRE_NOT_EMPTY, &string, error)
           ? string
           : NULL;
}

const char *
_sbx_wire_call_get_session_id (SbxWireCall  *self,
                               GError      **error)
{
  const SbxWireMembers members = _sbx_wire_call_members (self);
  SbxWireMembers session = { NULL, "params.session", SBX_ERROR_INVALID };
  const char *id = NULL;

  if (!_sbx_wire_members_get_object (&members, "session", SBX_WIRE_REQUIRED, &session.object,
                                     error) ||
      !_sbx_wire_members_get_string (&session, "id", SBX_WIRE_NOT_EMPTY, &id, error))
    return NULL;

  return id;
}

const char *
_sbx_wire_call_get_path (SbxWireCall  *self,
                         GError      **error)
{
  return _sbx_wire_call_get_string (self, "path", error);
}

const char *
_sbx_wire_call_get_new_path (SbxWireCall  *self,
                             GError      **error)
{
  return _sbx_wire_call_get_string (self, "new_path", error);
}

const char *
_sbx_wire_call_get_prefix (SbxWireCall  *self,
                           GError      **error)
{
  const SbxWireMembers members = _sbx_wire_call_members (self);
  const char *prefix = "sbx-";

  return _sbx_wire_members_get_string (&members, "prefix", SBX_WIRE_OPTIONAL, &prefix, error)
           ? prefix
           : NULL;
}

gboolean
_sbx_wire_call_get_range (SbxWireCall   *self,
                          SbxWireRange  *range,
                          GError       **error)
{
  const SbxWireMembers members = _sbx_wire_call_members (self);
  gint64 offset = -1;
  gint64 length = -1;
  gint64 mode = 0;
  gboolean truncate = -1;

  if (!_sbx_wire_members_get_int (&members, "offset", SBX_WIRE_OPTIONAL, 0, G_MAXINT64, &offset,
                                  error) ||
      !_sbx_wire_members_get_int (&members, "length", SBX_WIRE_OPTIONAL, 0, G_MAXINT64, &length,
                                  error) ||
      !_sbx_wire_members_get_boolean (&members, "truncate", &truncate, error) ||
      !_sbx_wire_members_get_int (&members, "mode", SBX_WIRE_OPTIONAL, 0, 07777, &mode, error))
    return FALSE;

  range->has_range = offset >= 0 || length >= 0 || truncate != -1;
  range->offset = offset >= 0 ? (guint64) offset : 0;
  range->length = length >= 0 ? (guint64) length : G_MAXUINT64;
  range->truncate = truncate != FALSE;
  range->mode = (guint) mode;

  return TRUE;
}

static GBytes *
get_payload (SbxWireCall  *self,
             const char   *name,
             GError      **error)
{
  const SbxWireMembers members = _sbx_wire_call_members (self);
  GBytes *bytes = NULL;

  return _sbx_wire_members_get_payload (&members, self->line, name, SBX_WIRE_REQUIRED, &bytes,
                                        error)
           ? bytes
           : NULL;
}

GBytes *
_sbx_wire_call_get_content (SbxWireCall  *self,
                            GError      **error)
{
  return get_payload (self, "content_base64", error);
}

GBytes *
_sbx_wire_call_get_data (SbxWireCall  *self,
                         GError      **error)
{
  return get_payload (self, "data_base64", error);
}
