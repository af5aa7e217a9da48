/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-reply-members-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* It goes along with every request. */
#define MAX_SIZE (1024 * 1024)

/* The session as it came: it may have any member, and the provider wants each of them back. */
static GBytes *
write_session (SbxWireLine *line,
               JsonObject  *session)
{
  g_autoptr(JsonNode) node = json_node_alloc ();

  _sbx_wire_line_put_back (line);
  json_node_init_object (node, session);

  return _sbx_json_to_bytes (node, FALSE);
}

gboolean
_sbx_wire_reply_get_session (SbxWireReply    *self,
                             SbxWireSession  *session,
                             GError         **error)
{
  SbxWireMembers members;
  JsonObject *capabilities = NULL;
  const char *id = NULL;
  const char *cwd = NULL;

  memset (session, 0, sizeof *session);

  if (!_sbx_wire_reply_get_members (self, &members, error) ||
      !_sbx_wire_members_get_string (&members, "id", SBX_WIRE_NOT_EMPTY, &id, error) ||
      !_sbx_wire_members_get_string (&members, "cwd", SBX_WIRE_OPTIONAL, &cwd, error) ||
      !_sbx_wire_members_get_object (&members, "capabilities", SBX_WIRE_OPTIONAL, &capabilities,
                                     error) ||
      !_sbx_wire_features_parse (capabilities, &session->exec, &session->features, error))
    return FALSE;

  if (_sbx_wire_line_get_size (self->line) > MAX_SIZE)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE,
                   _("The provider's session has more than %d bytes"), MAX_SIZE);
      return FALSE;
    }

  session->text = write_session (self->line, self->result);
  session->id = g_strdup (id);
  session->cwd = cwd != NULL && *cwd != '\0' ? g_strdup (cwd) : NULL;

  return TRUE;
}

void
_sbx_wire_session_clear (SbxWireSession *session)
{
  g_clear_pointer (&session->id, g_free);
  g_clear_pointer (&session->cwd, g_free);
  g_clear_pointer (&session->text, g_bytes_unref);
}
