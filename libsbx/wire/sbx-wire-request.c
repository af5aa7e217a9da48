/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-request-private.h"

#include "core/sbx-error.h"
#include "core/sbx-text-private.h"
#include "wire/sbx-wire-request-text-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

SbxWireMessage *
_sbx_wire_request_capabilities (guint64 number)
{
  return _sbx_wire_request_end (_sbx_wire_request_begin (number, "capabilities"));
}

SbxWireMessage *
_sbx_wire_request_shutdown (guint64 number)
{
  return _sbx_wire_request_end (_sbx_wire_request_begin (number, "shutdown"));
}

static gboolean
append_tags (SbxWireMessage  *message,
             GHashTable      *tags,
             GError         **error)
{
  g_autoptr(GList) names = g_hash_table_get_keys (tags);
  const char *head = ",\"tags\":{";

  if (names == NULL)
    return TRUE;

  /* So that the same request is always the same text. */
  names = g_list_sort (names, (GCompareFunc) strcmp);

  for (GList *l = names; l != NULL; l = l->next)
    {
      if (!_sbx_wire_request_append (message, head, SBX_WIRE_TEXT_TAG, l->data, error) ||
          !_sbx_wire_request_append (message, ":", SBX_WIRE_TEXT_TAG,
                                     g_hash_table_lookup (tags, l->data), error))
        return FALSE;

      head = ",";
    }

  g_string_append_c (_sbx_wire_message_get_text (message), '}');

  return TRUE;
}

/* @request_id and @group are made up where there are none, @tags can be %NULL. */
static gboolean
append_metadata (SbxWireMessage  *message,
                 const char      *request_id,
                 const char      *group,
                 GHashTable      *tags,
                 GError         **error)
{
  g_autofree char *random_id = NULL;
  g_autofree char *random_group = NULL;
  g_autofree char *uuid = g_uuid_string_random ();

  if (request_id == NULL)
    request_id = random_id = g_strconcat ("req_", uuid, NULL);

  if (group == NULL)
    group = random_group = g_strconcat ("sbxgrp_", uuid, NULL);

  if (!_sbx_wire_request_append (message, "\"metadata\":{\"protocol_version\":\"sandbox.v1\","
                                 "\"request_id\":", SBX_WIRE_TEXT_REQUEST_ID, request_id, error) ||
      !_sbx_wire_request_append (message, ",\"sandbox_group_id\":", SBX_WIRE_TEXT_GROUP, group,
                                 error) ||
      (tags != NULL && !append_tags (message, tags, error)))
    return FALSE;

  g_string_append_c (_sbx_wire_message_get_text (message), '}');

  return TRUE;
}

SbxWireMessage *
_sbx_wire_request_open (guint64          number,
                        SbxOpenRequest  *request,
                        const char      *provider,
                        GError         **error)
{
  g_autoptr(SbxWireMessage) message = NULL;
  const char *cwd = sbx_open_request_get_cwd (request);

  if (sbx_open_request_get_profile (request) == NULL)
    {
      g_autofree char *quoted = _sbx_text_quote (provider);

      g_set_error (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED,
                   _("The provider %s opens sandboxes by the name of a profile only, not by what "
                     "they may reach; ask for one of its profiles"), quoted);
      return NULL;
    }

  message = _sbx_wire_request_begin (number, "open");

  if (!append_metadata (message, sbx_open_request_get_request_id (request),
                        sbx_open_request_get_group (request), sbx_open_request_get_tags (request),
                        error) ||
      !_sbx_wire_request_append (message, ",\"profile\":{\"provider\":", SBX_WIRE_TEXT_PROFILE,
                                 provider, error) ||
      !_sbx_wire_request_append (message, ",\"name\":", SBX_WIRE_TEXT_PROFILE,
                                 sbx_open_request_get_profile (request), error) ||
      !_sbx_wire_request_append (message, "},\"workspace_sync\":{\"host_path\":",
                                 SBX_WIRE_TEXT_PATH, sbx_open_request_get_workspace (request),
                                 error))
    return NULL;

  g_string_append_c (_sbx_wire_message_get_text (message), '}');

  if (cwd != NULL &&
      !_sbx_wire_request_append (message, ",\"cwd\":", SBX_WIRE_TEXT_CWD, cwd, error))
    return NULL;

  return _sbx_wire_request_end (g_steal_pointer (&message));
}

SbxWireMessage *
_sbx_wire_request_cleanup_group (guint64      number,
                                 const char  *group,
                                 GError     **error)
{
  g_autoptr(SbxWireMessage) message = _sbx_wire_request_begin (number, "cleanup_group");

  if (!append_metadata (message, NULL, group, NULL, error) ||
      !_sbx_wire_request_append (message, ",\"sandbox_group_id\":", SBX_WIRE_TEXT_GROUP, group,
                                 error))
    return NULL;

  return _sbx_wire_request_end (g_steal_pointer (&message));
}

SbxWireMessage *
_sbx_wire_request_close (guint64  number,
                         GBytes  *session)
{
  return _sbx_wire_request_end (_sbx_wire_request_begin_session (number, "close", session));
}

SbxWireMessage *
_sbx_wire_request_create_temp_dir (guint64      number,
                                   GBytes      *session,
                                   const char  *prefix,
                                   GError     **error)
{
  g_autoptr(SbxWireMessage) message =
    _sbx_wire_request_begin_session (number, "create_temp_dir", session);

  if (!_sbx_wire_request_append (message, ",\"prefix\":", SBX_WIRE_TEXT_PREFIX, prefix, error))
    return NULL;

  return _sbx_wire_request_end (g_steal_pointer (&message));
}

static SbxWireMessage *
begin_path (guint64      number,
            const char  *method,
            GBytes      *session,
            const char  *path,
            GError     **error)
{
  g_autoptr(SbxWireMessage) message = NULL;

  if (!_sbx_wire_text_check (SBX_WIRE_TEXT_PATH, path, error))
    return NULL;

  message = _sbx_wire_request_begin_session (number, method, session);
  g_string_append (_sbx_wire_message_get_text (message), ",\"path\":");
  _sbx_wire_message_append_string (message, path);

  return g_steal_pointer (&message);
}

SbxWireMessage *
_sbx_wire_request_path (guint64      number,
                        const char  *method,
                        GBytes      *session,
                        const char  *path,
                        GError     **error)
{
  SbxWireMessage *message = begin_path (number, method, session, path, error);

  return message != NULL ? _sbx_wire_request_end (message) : NULL;
}

SbxWireMessage *
_sbx_wire_request_two_paths (guint64      number,
                             const char  *method,
                             GBytes      *session,
                             const char  *path,
                             const char  *new_path,
                             GError     **error)
{
  g_autoptr(SbxWireMessage) message = begin_path (number, method, session, path, error);

  if (message == NULL ||
      !_sbx_wire_request_append (message, ",\"new_path\":", SBX_WIRE_TEXT_PATH, new_path, error))
    return NULL;

  return _sbx_wire_request_end (g_steal_pointer (&message));
}

static gboolean
append_offset (SbxWireMessage  *message,
               guint64          offset,
               GError         **error)
{
  if (offset > G_MAXINT64)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_INVALID,
                           _("No file is that long; ask for an offset below 2^63"));
      return FALSE;
    }

  g_string_append_printf (_sbx_wire_message_get_text (message), ",\"offset\":%" G_GUINT64_FORMAT,
                          offset);

  return TRUE;
}

SbxWireMessage *
_sbx_wire_request_read_range (guint64      number,
                              GBytes      *session,
                              const char  *path,
                              guint64      offset,
                              guint64      length,
                              GError     **error)
{
  g_autoptr(SbxWireMessage) message = begin_path (number, "read_file", session, path, error);

  if (message == NULL || !append_offset (message, offset, error))
    return NULL;

  /* More than a file can have is all of it. */
  if (length <= G_MAXINT64)
    g_string_append_printf (_sbx_wire_message_get_text (message),
                            ",\"length\":%" G_GUINT64_FORMAT, length);

  return _sbx_wire_request_end (g_steal_pointer (&message));
}

static void
append_content (SbxWireMessage *message,
                GBytes         *content,
                guint           mode)
{
  g_string_append (_sbx_wire_message_get_text (message), ",\"content_base64\":");
  _sbx_wire_message_append_payload (message, content);

  if (mode != 0)
    g_string_append_printf (_sbx_wire_message_get_text (message), ",\"mode\":%u", mode);
}

SbxWireMessage *
_sbx_wire_request_write_file (guint64      number,
                              GBytes      *session,
                              const char  *path,
                              GBytes      *content,
                              guint        mode,
                              GError     **error)
{
  g_autoptr(SbxWireMessage) message = begin_path (number, "write_file", session, path, error);

  if (message == NULL)
    return NULL;

  append_content (message, content, mode);

  return _sbx_wire_request_end (g_steal_pointer (&message));
}

SbxWireMessage *
_sbx_wire_request_write_range (guint64      number,
                               GBytes      *session,
                               const char  *path,
                               GBytes      *content,
                               guint64      offset,
                               gboolean     truncate,
                               guint        mode,
                               GError     **error)
{
  g_autoptr(SbxWireMessage) message = begin_path (number, "write_file", session, path, error);

  if (message == NULL || !append_offset (message, offset, error))
    return NULL;

  g_string_append_printf (_sbx_wire_message_get_text (message), ",\"truncate\":%s",
                          truncate ? "true" : "false");
  append_content (message, content, mode);

  return _sbx_wire_request_end (g_steal_pointer (&message));
}
