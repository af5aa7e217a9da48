/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-reach-private.h"

#include "core/sbx-error.h"
#include "core/sbx-field-private.h"
#include "core/sbx-json-canonical-private.h"
#include "core/sbx-text-private.h"
#include "json/sbx-json-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

static const char *
name_kind (SbxReachKind kind)
{
  static const char * const names[] =
  {
    [SBX_REACH_CWD] = "cwd",
    [SBX_REACH_READ] = "read",
    [SBX_REACH_WRITE] = "write",
    [SBX_REACH_DOMAIN] = "domain",
    [SBX_REACH_SOCKET] = "socket",
    [SBX_REACH_GIT_DIR] = "gitDir",
    [SBX_REACH_HIDDEN] = "hidden",
    [SBX_REACH_PROTECTED] = "protected",
  };

  return names[kind];
}

static char *
node_to_text (JsonNode *node)
{
  g_autoptr(GBytes) bytes = _sbx_json_to_bytes (node, FALSE);

  return g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
}

static gboolean
write_environment (JsonObject  *object,
                   SbxReach    *self,
                   GError     **error)
{
  g_autoptr(JsonObject) environment = NULL;

  if (self->key == NULL)
    return TRUE;

  environment = json_object_new ();
  if (!_sbx_field_write_settings (environment, self->key,
                                  self->settings != NULL ? self->settings : "{}", error))
    return FALSE;

  json_object_set_object_member (object, "environment", g_steal_pointer (&environment));

  return TRUE;
}

/* Values may be secrets, which no message has. */
static gboolean
write_variables (JsonObject  *object,
                 SbxReach    *self,
                 GError     **error)
{
  const char * const *all = sbx_reach_get_environment (self);
  g_autoptr(JsonObject) variables = NULL;

  if (all[0] == NULL)
    return TRUE;

  variables = json_object_new ();
  for (gsize i = 0; all[i] != NULL; i++)
    {
      const char *value = strchr (all[i], '=') + 1;
      g_autofree char *name = g_strndup (all[i], value - all[i] - 1);

      if (!g_utf8_validate (all[i], -1, NULL))
        {
          g_autofree char *quoted = _sbx_text_quote (name);

          g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                       _("The variable %s is not UTF-8, and JSON can carry nothing else; leave it "
                         "out"),
                       quoted);
          return FALSE;
        }

      json_object_set_string_member (variables, name, value);
    }

  json_object_set_object_member (object, "variables", g_steal_pointer (&variables));

  return TRUE;
}

static JsonObject *
make_entry (SbxReachEntry  *entry,
            GError        **error)
{
  g_autoptr(JsonObject) object = json_object_new ();

  if ((entry->path != NULL && !_sbx_field_check_utf8 ("entries", entry->path, error)) ||
      (entry->worktree != NULL && !_sbx_field_check_utf8 ("entries", entry->worktree, error)))
    return NULL;

  json_object_set_string_member (object, "kind", name_kind (entry->kind));
  if (entry->path != NULL)
    json_object_set_string_member (object, "path", entry->path);
  if (entry->domain != NULL)
    json_object_set_string_member (object, "domain", entry->domain);
  if (entry->writable)
    json_object_set_boolean_member (object, "writable", TRUE);
  if (entry->worktree != NULL)
    json_object_set_string_member (object, "worktree", entry->worktree);
  json_object_set_string_member (object, "source", entry->source != NULL ? entry->source : "");

  return g_steal_pointer (&object);
}

static gboolean
write_entries (JsonObject  *object,
               SbxReach    *self,
               GError     **error)
{
  g_autoptr(JsonArray) array = NULL;
  guint n;

  if (self->entries == NULL)
    return TRUE;

  n = g_list_model_get_n_items (G_LIST_MODEL (self->entries));
  array = json_array_sized_new (n);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr(SbxReachEntry) entry = g_list_model_get_item (G_LIST_MODEL (self->entries), i);
      JsonObject *member = make_entry (entry, error);

      if (member == NULL)
        return FALSE;

      json_array_add_object_element (array, member);
    }

  json_object_set_array_member (object, "entries", g_steal_pointer (&array));

  return TRUE;
}

/**
 * sbx_reach_to_json:
 * @self: a reach
 * @error: return location for a [struct@GLib.Error]
 *
 * Writes a reach, for a record or for people.
 *
 * The members are those of a [class@SandboxSpec], and `environment`, an object of the one key with
 * its settings, and `variables`, an object of names with their values, which may be secrets. A
 * reach that is resolved also has `entries`.
 *
 * A path that is not UTF-8 cannot be written and is %SBX_ERROR_INVALID, as are settings that are no
 * JSON.
 *
 * Returns: (transfer full): a JSON text, in lines for people to read
 *
 * Since: 1.0
 */
GBytes *
sbx_reach_to_json (SbxReach  *self,
                   GError   **error)
{
  g_autoptr(JsonNode) root = NULL;
  g_autoptr(JsonObject) object = NULL;

  g_return_val_if_fail (SBX_IS_REACH (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  object = json_object_new ();
  if (!_sbx_environment_validate (&self->environment, error) ||
      !_sbx_field_write_all (self, object, error) ||
      !write_environment (object, self, error) ||
      !write_variables (object, self, error) ||
      !write_entries (object, self, error))
    return NULL;

  root = json_node_new (JSON_NODE_OBJECT);
  json_node_set_object (root, object);

  return _sbx_json_to_bytes (root, TRUE);
}

static gboolean
read_environment (SbxReach  *self,
                  JsonNode  *value,
                  GError   **error)
{
  g_autoptr(GList) keys = NULL;
  g_autofree char *shown = NULL;

  if (JSON_NODE_HOLDS_OBJECT (value))
    keys = json_object_get_members (json_node_get_object (value));

  if (keys != NULL && keys->next == NULL)
    {
      JsonNode *node = json_object_get_member (json_node_get_object (value), keys->data);
      g_autofree char *text = node_to_text (node);
      g_autofree char *settings = _sbx_json_object_canonical (text, error);

      if (settings == NULL)
        {
          g_prefix_error (error, "environment: ");
          return FALSE;
        }

      sbx_reach_set_environment_key (self, keys->data, settings);
      return TRUE;
    }

  shown = _sbx_field_show (value);
  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
               _("%s must be an object of one key, not %s; write {\"bwrap\": {}}"), "environment",
               shown);

  return FALSE;
}

static gboolean
read_variables (SbxReach  *self,
                JsonNode  *node,
                GError   **error)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;

  if (!JSON_NODE_HOLDS_OBJECT (node))
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                   _("%s must be an object of texts; write {\"NAME\": \"value\"}"), "variables");
      return FALSE;
    }

  json_object_iter_init_ordered (&iter, json_node_get_object (node));
  while (json_object_iter_next_ordered (&iter, &name, &value))
    {
      if (!JSON_NODE_HOLDS_VALUE (value) || json_node_get_value_type (value) != G_TYPE_STRING)
        {
          g_autofree char *shown = _sbx_field_show_text (name);

          g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                       _("variables: the value of %s must be a text; write it between quotation "
                         "marks"),
                       shown);
          return FALSE;
        }

      sbx_reach_set_variable (self, name, json_node_get_string (value));
    }

  return _sbx_environment_validate (&self->environment, error);
}

static gboolean
read_member (SbxReach    *self,
             const char  *name,
             JsonNode    *value,
             GError     **error)
{
  const SbxFieldResult result = _sbx_field_read (self, name, value, error);
  g_autofree char *shown = NULL;

  if (result != SBX_FIELD_OTHER)
    return result == SBX_FIELD_TAKEN;

  if (g_str_equal (name, "environment"))
    return read_environment (self, value, error);

  if (g_str_equal (name, "variables"))
    return read_variables (self, value, error);

  /* What somebody else says that it comes to on this machine has to be looked up again. */
  if (g_str_equal (name, "entries"))
    return TRUE;

  shown = _sbx_field_show_text (name);
  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
               _("Unknown field %s; a reach has cwd, read, write, network, sockets, webSearch, "
                 "git, limits, environment and variables"),
               shown);

  return FALSE;
}

/**
 * sbx_reach_new_from_json:
 * @json: a JSON text in UTF-8
 * @error: return location for a [struct@GLib.Error]
 *
 * Reads a reach.
 *
 * The reach is not resolved, whatever `entries` there are: nothing that a file says about this
 * machine is believed. Apart from that it is equal to the one that was written.
 *
 * The error is %SBX_ERROR_INVALID, or %SBX_ERROR_TOO_LARGE for a text of more than 16 MiB, a list
 * of more than 10000 texts, or the like.
 *
 * Returns: (transfer full): a new reach
 *
 * Since: 1.0
 */
SbxReach *
sbx_reach_new_from_json (GBytes  *json,
                         GError **error)
{
  g_autoptr(GError) local_error = NULL;
  g_autoptr(SbxReach) self = NULL;
  g_autoptr(JsonNode) root = NULL;
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;

  g_return_val_if_fail (json != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  root = _sbx_json_parse (json, NULL, &local_error);
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT (root))
    {
      const gboolean large = g_error_matches (local_error, SBX_ERROR, SBX_ERROR_TOO_LARGE);

      g_set_error (error, SBX_ERROR, large ? SBX_ERROR_TOO_LARGE : SBX_ERROR_INVALID,
                   _("The reach cannot be read: %s"),
                   local_error != NULL ? local_error->message : _("it is no JSON object"));
      return NULL;
    }

  self = g_object_new (SBX_TYPE_REACH, NULL);
  json_object_iter_init_ordered (&iter, json_node_get_object (root));
  while (json_object_iter_next_ordered (&iter, &name, &value))
    if (!read_member (self, name, value, error))
      return NULL;

  return g_steal_pointer (&self);
}
