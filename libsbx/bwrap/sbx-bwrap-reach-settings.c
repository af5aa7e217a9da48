/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-reach-settings-private.h"

#include "core/sbx-error.h"
#include "core/sbx-text-private.h"
#include "json/sbx-json-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define MAX_SIZE (256 * 1024)
#define MAX_SOCKETS 256

/* The limits for which there is something weaker. */
static const struct
{
  const char *name;
  SbxLimit    limit;
} weaker[] = {
  { "memory", SBX_LIMIT_MEMORY },
  { "processes", SBX_LIMIT_PROCESSES },
};

void
_sbx_bwrap_reach_settings_free (SbxBwrapReachSettings *self)
{
  g_strfreev (self->allow_sockets);
  g_free (self);
}

static gboolean
wrong (const char  *name,
       const char  *what,
       GError     **error)
{
  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID, _("bwrap: “%s” has to be %s"), name, what);
  return FALSE;
}

static int
compare_texts (gconstpointer one,
               gconstpointer other)
{
  return strcmp (*(const char * const *) one, *(const char * const *) other);
}

static gboolean
set_allow_sockets (SbxBwrapReachSettings  *self,
                   JsonObject             *object,
                   const char             *name,
                   GError                **error)
{
  g_auto(GStrv) paths = NULL;
  gsize n, kept = 0;

  if (_sbx_json_object_get_strv (object, name, &paths) != SBX_JSON_PRESENT ||
      g_strv_length (paths) > MAX_SOCKETS)
    return wrong (name, _("a list of not too many paths"), error);

  n = g_strv_length (paths);
  for (gsize i = 0; i < n; i++)
    {
      char *path;

      if (paths[i][0] != '/')
        return wrong (name, _("a list of paths that begin with “/”"), error);

      path = g_canonicalize_filename (paths[i], "/");
      g_free (paths[i]);
      paths[i] = path;
    }

  qsort (paths, n, sizeof *paths, compare_texts);
  for (gsize i = 0; i < n; i++)
    {
      if (kept > 0 && g_str_equal (paths[kept - 1], paths[i]))
        g_free (paths[i]);
      else
        paths[kept++] = paths[i];
    }
  paths[kept] = NULL;

  g_strfreev (self->allow_sockets);
  self->allow_sockets = g_steal_pointer (&paths);
  return TRUE;
}

static gboolean
set_allow_weaker (SbxBwrapReachSettings  *self,
                  JsonObject             *object,
                  const char             *name,
                  GError                **error)
{
  g_auto(GStrv) limits = NULL;

  if (_sbx_json_object_get_strv (object, name, &limits) != SBX_JSON_PRESENT)
    return wrong (name, _("a list of “memory” and “processes”"), error);

  for (gsize i = 0; limits[i] != NULL; i++)
    {
      gsize known = 0;

      while (known < G_N_ELEMENTS (weaker) && !g_str_equal (limits[i], weaker[known].name))
        known++;

      if (known == G_N_ELEMENTS (weaker))
        {
          g_autofree char *quoted = _sbx_text_quote (limits[i]);

          g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                       _("bwrap: “%s” names %s, for which there is nothing weaker; it can name "
                         "“memory” and “processes”"), name, quoted);
          return FALSE;
        }

      self->allow_weaker |= 1u << weaker[known].limit;
    }

  return TRUE;
}

static gboolean
set_choice (SbxBwrapReachSettings  *self,
            JsonObject             *object,
            const char             *name,
            GError                **error)
{
  SbxBwrapChoice *choice = g_str_equal (name, "toolchain") ? &self->toolchain : &self->fresh_home;
  gboolean value = FALSE;

  if (_sbx_json_object_get_boolean (object, name, &value) != SBX_JSON_PRESENT)
    return wrong (name, _("true or false"), error);

  *choice = value ? SBX_BWRAP_CHOICE_YES : SBX_BWRAP_CHOICE_NO;
  return TRUE;
}

static const struct
{
  const char *name;
  gboolean  (*set) (SbxBwrapReachSettings  *self,
                    JsonObject             *object,
                    const char             *name,
                    GError                **error);
} members[] = {
  { "allowSockets", set_allow_sockets },
  { "allowWeaker", set_allow_weaker },
  { "freshHome", set_choice },
  { "toolchain", set_choice },
};

static gboolean
set_member (SbxBwrapReachSettings  *self,
            JsonObject             *object,
            const char             *name,
            GError                **error)
{
  g_autofree char *quoted = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (members); i++)
    if (g_str_equal (name, members[i].name))
      return members[i].set (self, object, members[i].name, error);

  quoted = _sbx_text_quote (name);
  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
               _("bwrap: there is no setting %s; there are “allowSockets”, “allowWeaker”, "
                 "“freshHome” and “toolchain”"), quoted);
  return FALSE;
}

SbxBwrapReachSettings *
_sbx_bwrap_reach_settings_parse (const char  *text,
                                 GError     **error)
{
  const SbxJsonLimits limits = {
    .max_size = MAX_SIZE,
    .max_depth = 4,
    .max_tokens = 4 * MAX_SOCKETS,
    .max_members = 16,
    .max_string = MAX_SIZE,
    .max_number = 16,
  };
  g_autoptr(SbxBwrapReachSettings) self = g_new0 (SbxBwrapReachSettings, 1);
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(JsonNode) root = NULL;
  g_autoptr(GList) names = NULL;

  self->allow_sockets = g_new0 (char *, 1);
  if (text == NULL)
    return g_steal_pointer (&self);

  bytes = g_bytes_new (text, strlen (text));
  root = _sbx_json_parse (bytes, &limits, error);
  if (root == NULL)
    {
      g_prefix_error (error, _("bwrap: the settings are no JSON: "));
      return NULL;
    }

  if (!JSON_NODE_HOLDS_OBJECT (root))
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_INVALID,
                           _("bwrap: the settings have to be an object, such as “{}”"));
      return NULL;
    }

  names = json_object_get_members (json_node_get_object (root));
  for (const GList *at = names; at != NULL; at = at->next)
    if (!set_member (self, json_node_get_object (root), at->data, error))
      return NULL;

  return g_steal_pointer (&self);
}

SbxBwrapReachSettings *
_sbx_bwrap_reach_settings_of (SbxReach  *reach,
                              GError   **error)
{
  const char *key = sbx_reach_get_environment_key (reach);
  g_autofree char *quoted = NULL;

  if (key == NULL || g_str_equal (key, SBX_BWRAP_ENVIRONMENT_KEY))
    return _sbx_bwrap_reach_settings_parse (key != NULL ? sbx_reach_get_settings (reach) : NULL,
                                            error);

  quoted = _sbx_text_quote (key);
  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
               _("The reach is for the provider %s, and this is “bwrap”; open it with that one"),
               quoted);
  return NULL;
}

static void
add_choice (JsonObject     *object,
            const char     *name,
            SbxBwrapChoice  choice)
{
  if (choice != SBX_BWRAP_CHOICE_UNSET)
    json_object_set_boolean_member (object, name, choice == SBX_BWRAP_CHOICE_YES);
}

char *
_sbx_bwrap_reach_settings_to_text (const SbxBwrapReachSettings *self)
{
  g_autoptr(JsonNode) root = json_node_new (JSON_NODE_OBJECT);
  g_autoptr(JsonObject) object = json_object_new ();
  g_autoptr(GBytes) bytes = NULL;
  gconstpointer data;
  gsize size;

  if (self->allow_sockets[0] != NULL)
    {
      JsonArray *array = json_array_new ();

      for (gsize i = 0; self->allow_sockets[i] != NULL; i++)
        json_array_add_string_element (array, self->allow_sockets[i]);
      json_object_set_array_member (object, "allowSockets", array);
    }

  if (self->allow_weaker != 0)
    {
      JsonArray *array = json_array_new ();

      for (gsize i = 0; i < G_N_ELEMENTS (weaker); i++)
        if ((self->allow_weaker & (1u << weaker[i].limit)) != 0)
          json_array_add_string_element (array, weaker[i].name);
      json_object_set_array_member (object, "allowWeaker", array);
    }

  add_choice (object, "freshHome", self->fresh_home);
  add_choice (object, "toolchain", self->toolchain);

  json_node_set_object (root, object);
  bytes = _sbx_json_to_bytes (root, FALSE);
  data = g_bytes_get_data (bytes, &size);

  return g_strndup (data, size);
}

gboolean
_sbx_bwrap_reach_settings_allow_socket (const SbxBwrapReachSettings *self,
                                        const char                  *path)
{
  return g_strv_contains ((const char * const *) self->allow_sockets, path);
}
