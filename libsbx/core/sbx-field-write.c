/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-field-private.h"

#include "core/sbx-error.h"
#include "core/sbx-text-private.h"
#include "json/sbx-json-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define MAX_SHOWN 200

static char *
show_json (JsonNode *value)
{
  g_autoptr(GBytes) bytes = _sbx_json_to_bytes (value, FALSE);
  g_autofree char *text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  const gboolean cut = strlen (text) > MAX_SHOWN;
  g_auto(GStrv) pieces = NULL;
  g_autofree char *shown = NULL;

  if (cut)
    *g_utf8_find_prev_char (text, text + MAX_SHOWN + 1) = '\0';

  /* What is left to escape is what a message would be deceptive with. The backslashes are those of
   * JSON, so they stay. */
  pieces = g_strsplit (text, "\\", -1);
  for (gsize i = 0; pieces[i] != NULL; i++)
    {
      char *escaped = _sbx_text_escape (pieces[i]);

      g_free (pieces[i]);
      pieces[i] = escaped;
    }

  shown = g_strjoinv ("\\", pieces);

  return g_strconcat (shown, cut ? "…" : NULL, NULL);
}

char *
_sbx_field_show (JsonNode *value)
{
  return show_json (value);
}

char *
_sbx_field_show_text (const char *text)
{
  g_autoptr(JsonNode) node = json_node_new (JSON_NODE_VALUE);
  /* As much as is shown of it, and then some: it may be large. */
  g_autofree char *start = g_strndup (text, 2 * MAX_SHOWN);

  json_node_set_string (node, start);

  return show_json (node);
}

gboolean
_sbx_field_check_utf8 (const char  *field,
                       const char  *text,
                       GError     **error)
{
  g_autofree char *quoted = NULL;

  if (g_utf8_validate (text, -1, NULL))
    return TRUE;

  quoted = _sbx_text_quote (text);
  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
               _("%s: %s is not UTF-8, and JSON can carry nothing else; give it another name"),
               field, quoted);

  return FALSE;
}

gboolean
_sbx_field_write_settings (JsonObject  *object,
                           const char  *key,
                           const char  *settings,
                           GError     **error)
{
  g_autoptr(GBytes) bytes = g_bytes_new_static (settings, strlen (settings));
  g_autoptr(GError) local_error = NULL;
  g_autoptr(JsonNode) node = NULL;

  if (!_sbx_field_check_utf8 ("environment", key, error))
    return FALSE;

  node = _sbx_json_parse (bytes, NULL, &local_error);
  if (node == NULL)
    {
      g_autofree char *shown = _sbx_field_show_text (key);

      g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                   _("The settings of the environment %s cannot be written: %s"), shown,
                   local_error->message);
      return FALSE;
    }

  json_object_set_member (object, key, g_steal_pointer (&node));

  return TRUE;
}

static gboolean
write_list (JsonObject    *object,
            const char    *field,
            SbxReachList  *list,
            GError       **error)
{
  g_autoptr(JsonArray) array = NULL;
  const char * const *texts = _sbx_reach_list_get (list);

  if (texts[0] == NULL)
    return TRUE;

  array = json_array_sized_new (list->texts->len - 1);
  for (gsize i = 0; texts[i] != NULL; i++)
    {
      if (!_sbx_field_check_utf8 (field, texts[i], error))
        return FALSE;

      json_array_add_string_element (array, texts[i]);
    }

  json_object_set_array_member (object, field, g_steal_pointer (&array));

  return TRUE;
}

static void
write_limits (JsonObject *object,
              SbxReach   *reach)
{
  g_autoptr(JsonObject) limits = json_object_new ();

  for (guint i = 0; i < SBX_N_LIMITS; i++)
    if (reach->limits[i] != 0)
      json_object_set_int_member (limits, _sbx_field_name_limit ((SbxLimit) i),
                                  (gint64) reach->limits[i]);

  if (json_object_get_size (limits) > 0)
    json_object_set_object_member (object, "limits", g_steal_pointer (&limits));
}

gboolean
_sbx_field_write_all (SbxReach    *reach,
                      JsonObject  *object,
                      GError     **error)
{
  if (!_sbx_field_check_limits (reach, error))
    return FALSE;

  if (reach->cwd != NULL)
    {
      if (!_sbx_field_check_utf8 ("cwd", reach->cwd, error))
        return FALSE;

      json_object_set_string_member (object, "cwd", reach->cwd);
    }

  if (!write_list (object, "read", &reach->read, error) ||
      !write_list (object, "write", &reach->write, error) ||
      !write_list (object, "network", &reach->network, error) ||
      !write_list (object, "sockets", &reach->sockets, error))
    return FALSE;

  if (reach->web_search)
    json_object_set_boolean_member (object, "webSearch", TRUE);

  if (reach->git_mode != SBX_GIT_MODE_DEFAULT)
    json_object_set_string_member (object, "git", _sbx_field_name_git_mode (reach->git_mode));

  write_limits (object, reach);

  return TRUE;
}
