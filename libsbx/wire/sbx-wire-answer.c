/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-answer-private.h"

#include "core/sbx-error.h"
#include "core/sbx-text-private.h"
#include "wire/sbx-wire-answer-text-private.h"
#include "wire/sbx-wire-file-info-private.h"
#include "wire/sbx-wire-lifter-private.h"

#include <glib/gi18n-lib.h>

#define END_SIZE 8

SbxWireMessage *
_sbx_wire_answer_begin (const char *id,
                        const char *member)
{
  SbxWireMessage *message = _sbx_wire_message_new ();
  GString *text = _sbx_wire_message_get_text (message);

  g_string_append (text, "{\"id\":");
  _sbx_wire_message_append_string (message, id);
  g_string_append (text, ",\"");
  g_string_append (text, member);
  g_string_append (text, "\":");

  return message;
}

SbxWireMessage *
_sbx_wire_answer_end (SbxWireMessage *message)
{
  g_string_append_c (_sbx_wire_message_get_text (message), '}');

  return message;
}

SbxWireMessage *
_sbx_wire_answer_done (const char *id)
{
  SbxWireMessage *message = _sbx_wire_answer_begin (id, "result");

  g_string_append (_sbx_wire_message_get_text (message), "{}");

  return _sbx_wire_answer_end (message);
}

SbxWireMessage *
_sbx_wire_answer_capabilities (const char      *id,
                               gboolean         exec,
                               SbxWireFeatures  features)
{
  SbxWireMessage *message = _sbx_wire_answer_begin (id, "result");

  _sbx_wire_features_append (_sbx_wire_message_get_text (message), exec, features);

  return _sbx_wire_answer_end (message);
}

/* JSON cannot carry it: an error instead, which names it. */
static SbxWireMessage *
answer_no_text (const char *id,
                const char *format,
                const char *bytes)
{
  g_autofree char *quoted = _sbx_text_quote (bytes);
  g_autoptr(GError) error =
    g_error_new (G_IO_ERROR, G_IO_ERROR_INVALID_FILENAME, "%s: %s", quoted, format);

  return _sbx_wire_answer_error (id, error);
}

SbxWireMessage *
_sbx_wire_answer_session (const char      *id,
                          const char      *session_id,
                          const char      *cwd,
                          gboolean         exec,
                          SbxWireFeatures  features,
                          const char      *state)
{
  SbxWireMessage *message = NULL;
  GString *text = NULL;

  if (cwd != NULL && !g_utf8_validate (cwd, -1, NULL))
    return answer_no_text (id, _("the working directory of the session is not UTF-8, and cannot "
                                 "be told to a client; choose another"), cwd);

  message = _sbx_wire_answer_begin (id, "result");
  text = _sbx_wire_message_get_text (message);

  g_string_append (text, "{\"id\":");
  _sbx_wire_message_append_string (message, session_id);

  if (cwd != NULL)
    {
      g_string_append (text, ",\"cwd\":");
      _sbx_wire_message_append_string (message, cwd);
    }

  g_string_append (text, ",\"capabilities\":");
  _sbx_wire_features_append (text, exec, features);

  if (state != NULL)
    {
      g_string_append (text, ",\"provider_state_json\":");
      _sbx_wire_message_append_string (message, state);
    }

  g_string_append_c (text, '}');

  return _sbx_wire_answer_end (message);
}

SbxWireMessage *
_sbx_wire_answer_cleaned_count (const char *id,
                                guint       count)
{
  SbxWireMessage *message = _sbx_wire_answer_begin (id, "result");

  g_string_append_printf (_sbx_wire_message_get_text (message), "{\"cleaned_count\":%u}", count);

  return _sbx_wire_answer_end (message);
}

SbxWireMessage *
_sbx_wire_answer_path (const char *id,
                       const char *path)
{
  SbxWireMessage *message = NULL;

  if (!g_utf8_validate (path, -1, NULL))
    return answer_no_text (id, _("the path of the new directory is not UTF-8, and cannot be told "
                                 "to a client; choose another prefix"), path);

  message = _sbx_wire_answer_begin (id, "result");
  g_string_append (_sbx_wire_message_get_text (message), "{\"path\":");
  _sbx_wire_message_append_string (message, path);
  g_string_append_c (_sbx_wire_message_get_text (message), '}');

  return _sbx_wire_answer_end (message);
}

SbxWireMessage *
_sbx_wire_answer_content (const char *id,
                          GBytes     *content,
                          gint64      size,
                          gboolean    eof)
{
  SbxWireMessage *message = _sbx_wire_answer_begin (id, "result");

  g_string_append (_sbx_wire_message_get_text (message), "{\"content_base64\":");
  _sbx_wire_message_append_payload (message, content);

  if (size >= 0)
    g_string_append_printf (_sbx_wire_message_get_text (message),
                            ",\"size\":%" G_GINT64_FORMAT ",\"eof\":%s", size,
                            eof ? "true" : "false");

  g_string_append_c (_sbx_wire_message_get_text (message), '}');

  return _sbx_wire_answer_end (message);
}

SbxWireMessage *
_sbx_wire_answer_info (const char *id,
                       GFileInfo  *info)
{
  SbxWireMessage *message = _sbx_wire_answer_begin (id, "result");

  _sbx_wire_file_info_append (message, info);

  return _sbx_wire_answer_end (message);
}

static SbxWireMessage *
answer_too_many (const char *id,
                 guint       n_infos)
{
  g_autofree char *text =
    g_strdup_printf (_("The directory has %u entries, which is more than one reply can carry; list "
                       "its parts, or run a command that does"), n_infos);

  return _sbx_wire_answer_code (id, "too_large", text);
}

SbxWireMessage *
_sbx_wire_answer_infos (const char *id,
                        GListModel *infos)
{
  g_autoptr(SbxWireMessage) message = _sbx_wire_answer_begin (id, "result");
  const guint n_infos = g_list_model_get_n_items (infos);

  if (n_infos > SBX_WIRE_MAX_ENTRIES)
    return answer_too_many (id, n_infos);

  g_string_append (_sbx_wire_message_get_text (message), "{\"entries\":[");

  for (guint i = 0; i < n_infos; i++)
    {
      g_autoptr(GFileInfo) info = g_list_model_get_item (infos, i);

      if (i > 0)
        g_string_append_c (_sbx_wire_message_get_text (message), ',');

      _sbx_wire_file_info_append (message, info);
    }

  if (_sbx_wire_message_get_size (message) > SBX_WIRE_MAX_TEXT - END_SIZE)
    return answer_too_many (id, n_infos);

  g_string_append (_sbx_wire_message_get_text (message), "]}");

  return _sbx_wire_answer_end (g_steal_pointer (&message));
}

SbxWireMessage *
_sbx_wire_answer_processes (const char         *id,
                            const char * const *process_ids)
{
  SbxWireMessage *message = _sbx_wire_answer_begin (id, "result");
  GString *text = _sbx_wire_message_get_text (message);

  g_string_append (text, "{\"process_ids\":[");

  for (gsize i = 0; process_ids[i] != NULL; i++)
    {
      if (i > 0)
        g_string_append_c (text, ',');

      _sbx_wire_message_append_string (message, process_ids[i]);
    }

  g_string_append (text, "]}");

  return _sbx_wire_answer_end (message);
}
