/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-sandbox-spec-struct-private.h"

#include "core/sbx-error.h"
#include "core/sbx-field-private.h"
#include "json/sbx-json-private.h"

#include <glib/gi18n-lib.h>

static const SbxJsonLimits limits =
{
  .max_size = 4 * 1024 * 1024,
  .max_depth = 32,
  .max_tokens = 100 * 1000,
  .max_members = 1024,
  .max_string = 64 * 1024,
  .max_number = 64,
};

static JsonNode *
parse (GBytes  *json,
       GError **error)
{
  g_autoptr(GError) local_error = NULL;
  g_autoptr(JsonNode) node = _sbx_json_parse (json, &limits, &local_error);

  if (node == NULL)
    {
      /* A file of the user's, and no peer that broke a promise. */
      g_set_error (error, SBX_ERROR,
                   g_error_matches (local_error, SBX_ERROR, SBX_ERROR_TOO_LARGE)
                     ? SBX_ERROR_TOO_LARGE : SBX_ERROR_INVALID,
                   _("The sandbox spec cannot be read: %s"), local_error->message);
      return NULL;
    }

  if (!JSON_NODE_HOLDS_OBJECT (node))
    {
      g_autofree char *shown = _sbx_field_show (node);

      g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                   _("A sandbox spec must be an object, not %s; write fields between “{” and “}”"),
                   shown);
      return NULL;
    }

  return g_steal_pointer (&node);
}

static gboolean
read_key (SbxSandboxSpec  *self,
          JsonNode        *value,
          GError         **error)
{
  g_autofree char *shown = NULL;

  if (JSON_NODE_HOLDS_VALUE (value) && json_node_get_value_type (value) == G_TYPE_STRING &&
      *json_node_get_string (value) != '\0')
    {
      sbx_sandbox_spec_set_key (self, json_node_get_string (value));
      return TRUE;
    }

  shown = _sbx_field_show (value);
  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
               _("%s must be a non-empty text, not %s; write a name for the sandbox"), "key",
               shown);

  return FALSE;
}

static void
read_environment (SbxSandboxSpec *self,
                  const char     *name,
                  JsonNode       *value)
{
  g_autoptr(GBytes) bytes = NULL;
  g_autofree char *settings = NULL;

  if (!JSON_NODE_HOLDS_NULL (value))
    {
      bytes = _sbx_json_to_bytes (value, FALSE);
      settings = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
    }

  _sbx_sandbox_spec_add_environment (self, name, settings);
}

/**
 * sbx_sandbox_spec_new_from_json:
 * @json: a JSON text in UTF-8
 * @error: return location for a [struct@GLib.Error]
 *
 * Reads a spec.
 *
 * Every field that there is has to have the right shape. What depends on the providers is checked
 * when the spec is resolved: whether a member that is no field is the environment of a provider,
 * and its settings.
 *
 * The error is %SBX_ERROR_INVALID, or %SBX_ERROR_TOO_LARGE for a text of more than 4 MiB, a list of
 * more than 10000 entries, or the like. It names the field, its value as JSON, and what to do.
 *
 * Returns: (transfer full): a new spec
 *
 * Since: 1.0
 */
SbxSandboxSpec *
sbx_sandbox_spec_new_from_json (GBytes  *json,
                                GError **error)
{
  g_autoptr(SbxSandboxSpec) self = NULL;
  g_autoptr(JsonNode) root = NULL;
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;

  g_return_val_if_fail (json != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  root = parse (json, error);
  if (root == NULL)
    return NULL;

  self = sbx_sandbox_spec_new ();
  json_object_iter_init_ordered (&iter, json_node_get_object (root));
  while (json_object_iter_next_ordered (&iter, &name, &value))
    {
      SbxFieldResult result = SBX_FIELD_TAKEN;

      if (g_str_equal (name, "key"))
        result = read_key (self, value, error) ? SBX_FIELD_TAKEN : SBX_FIELD_WRONG;
      else
        result = _sbx_field_read (self->reach, name, value, error);

      if (result == SBX_FIELD_WRONG)
        return NULL;

      if (result == SBX_FIELD_OTHER)
        read_environment (self, name, value);
    }

  return g_steal_pointer (&self);
}

/**
 * sbx_sandbox_spec_to_json:
 * @self: a spec
 * @error: return location for a [struct@GLib.Error]
 *
 * Writes a spec.
 *
 * [ctor@SandboxSpec.new_from_json] makes an equal one of that. A path that is not UTF-8 cannot be
 * written and is %SBX_ERROR_INVALID, as are settings that are no JSON.
 *
 * Returns: (transfer full): a JSON text, in lines for people to read
 *
 * Since: 1.0
 */
GBytes *
sbx_sandbox_spec_to_json (SbxSandboxSpec  *self,
                          GError         **error)
{
  g_autoptr(JsonNode) root = NULL;
  g_autoptr(JsonObject) object = NULL;

  g_return_val_if_fail (SBX_IS_SANDBOX_SPEC (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  object = json_object_new ();
  if (self->key != NULL)
    {
      if (!_sbx_field_check_utf8 ("key", self->key, error))
        return NULL;

      json_object_set_string_member (object, "key", self->key);
    }

  if (!_sbx_field_write_all (self->reach, object, error))
    return NULL;

  for (guint i = 0; i < self->environments->len; i++)
    {
      const SbxSpecEnvironment *environment = g_ptr_array_index (self->environments, i);

      if (!_sbx_field_write_settings (object, environment->key, environment->settings, error))
        return NULL;
    }

  root = json_node_new (JSON_NODE_OBJECT);
  json_node_set_object (root, object);

  return _sbx_json_to_bytes (root, TRUE);
}
