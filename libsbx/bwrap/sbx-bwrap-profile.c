/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-profile-private.h"

#include "core/sbx-error.h"
#include "core/sbx-text-private.h"
#include "json/sbx-json-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* The text of a profile. It is strict: what is misspelt would otherwise be left out unseen. */

typedef gboolean (*Setter) (SbxBwrapProfile *self,
                            JsonObject      *object,
                            const char      *name,
                            const char      *home,
                            GError         **error);

static gboolean
wrong (const char  *name,
       const char  *what,
       GError     **error)
{
  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID, _("“%s” has to be %s"), name, what);
  return FALSE;
}

static gboolean
set_workspace (SbxBwrapProfile  *self,
               JsonObject       *object,
               const char       *name,
               const char       *home,
               GError          **error)
{
  const char *value = NULL;

  if (_sbx_json_object_get_string (object, name, &value) != SBX_JSON_PRESENT)
    value = "";

  if (strcmp (value, "write") == 0)
    self->workspace = SBX_BWRAP_WORKSPACE_WRITE;
  else if (strcmp (value, "read") == 0)
    self->workspace = SBX_BWRAP_WORKSPACE_READ;
  else if (strcmp (value, "worktree") == 0)
    self->workspace = SBX_BWRAP_WORKSPACE_WORKTREE;
  else
    return wrong (name, _("“write”, “read” or “worktree”"), error);

  return TRUE;
}

static gboolean
set_keep (SbxBwrapProfile  *self,
          JsonObject       *object,
          const char       *name,
          const char       *home,
          GError          **error)
{
  const char *value = NULL;

  if (_sbx_json_object_get_string (object, name, &value) != SBX_JSON_PRESENT)
    value = "";

  self->keep_changed = strcmp (value, "when-changed") == 0;

  return self->keep_changed || strcmp (value, "never") == 0 ||
         wrong (name, _("“never” or “when-changed”"), error);
}

static gboolean
set_carry_changes (SbxBwrapProfile  *self,
                   JsonObject       *object,
                   const char       *name,
                   const char       *home,
                   GError          **error)
{
  return _sbx_json_object_get_boolean (object, name, &self->carry_changes) == SBX_JSON_PRESENT ||
         wrong (name, _("true or false"), error);
}

static gboolean
set_choice (SbxBwrapProfile  *self,
            JsonObject       *object,
            const char       *name,
            const char       *home,
            GError          **error)
{
  SbxBwrapChoice *choice = strcmp (name, "toolchain") == 0 ? &self->toolchain : &self->fresh_home;
  gboolean value = FALSE;

  if (_sbx_json_object_get_boolean (object, name, &value) != SBX_JSON_PRESENT)
    return wrong (name, _("true or false"), error);

  *choice = value ? SBX_BWRAP_CHOICE_YES : SBX_BWRAP_CHOICE_NO;
  return TRUE;
}

/* "~/x" is below the home directory. */
static gboolean
set_paths (SbxBwrapProfile  *self,
           JsonObject       *object,
           const char       *name,
           const char       *home,
           GError          **error)
{
  GStrv *paths = strcmp (name, "read") == 0 ? &self->read : &self->write;

  if (_sbx_json_object_get_strv (object, name, paths) != SBX_JSON_PRESENT)
    return wrong (name, _("a list of paths"), error);

  for (gsize i = 0; (*paths)[i] != NULL; i++)
    {
      char **path = &(*paths)[i];

      if (g_str_has_prefix (*path, "~/"))
        {
          char *full = g_build_filename (home, *path + strlen ("~/"), NULL);

          g_free (*path);
          *path = full;
        }
      else if ((*path)[0] != '/')
        return wrong (name, _("a list of paths that begin with “/” or “~/”"), error);
    }

  return TRUE;
}

static gboolean
set_environment (SbxBwrapProfile  *self,
                 JsonObject       *object,
                 const char       *name,
                 const char       *home,
                 GError          **error)
{
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new ();
  g_autoptr(GList) members = NULL;
  JsonObject *variables = NULL;

  if (_sbx_json_object_get_object (object, name, &variables) != SBX_JSON_PRESENT)
    return wrong (name, _("an object of strings"), error);

  members = json_object_get_members (variables);
  for (GList *l = members; l != NULL; l = l->next)
    {
      g_autofree char *variable = NULL;
      const char *key = l->data;
      const char *value = NULL;

      if (*key == '\0' || strchr (key, '=') != NULL ||
          _sbx_json_object_get_string (variables, key, &value) != SBX_JSON_PRESENT)
        return wrong (name, _("an object of strings, with names that a variable can have"), error);

      variable = g_strconcat (key, "=", value, NULL);
      g_strv_builder_add (builder, variable);
    }

  self->environment = g_strv_builder_end (builder);
  return TRUE;
}

static gboolean
set_description (SbxBwrapProfile  *self,
                 JsonObject       *object,
                 const char       *name,
                 const char       *home,
                 GError          **error)
{
  const char *value = NULL;

  return _sbx_json_object_get_string (object, name, &value) == SBX_JSON_PRESENT ||
         wrong (name, _("a text"), error);
}

static const struct
{
  const char *name;
  Setter      set;
} members[] = {
  { "description", set_description },
  { "workspace", set_workspace },
  { "read", set_paths },
  { "write", set_paths },
  { "environment", set_environment },
  { "toolchain", set_choice },
  { "fresh-home", set_choice },
  { "keep", set_keep },
  { "carry-changes", set_carry_changes },
};

static gboolean
set_member (SbxBwrapProfile  *self,
            JsonObject       *object,
            const char       *name,
            const char       *home,
            GError          **error)
{
  g_autofree char *quoted = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (members); i++)
    if (strcmp (members[i].name, name) == 0)
      return members[i].set (self, object, name, home, error);

  quoted = _sbx_text_quote (name);
  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
               _("no profile has a member %s; there are description, workspace, read, write, "
                 "environment, toolchain, fresh-home, keep and carry-changes"), quoted);
  return FALSE;
}

SbxBwrapProfile *
_sbx_bwrap_profile_parse (const char  *name,
                          GBytes      *text,
                          const char  *home,
                          GError     **error)
{
  g_autoptr(SbxBwrapProfile) self = g_new0 (SbxBwrapProfile, 1);
  g_autoptr(JsonNode) root = _sbx_json_parse (text, NULL, error);
  g_autoptr(GList) names = NULL;
  JsonObject *object;

  if (root == NULL)
    return NULL;

  if (!JSON_NODE_HOLDS_OBJECT (root))
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_INVALID, _("it is not a JSON object"));
      return NULL;
    }

  self->name = g_strdup (name);
  object = json_node_get_object (root);
  names = json_object_get_members (object);

  for (GList *l = names; l != NULL; l = l->next)
    if (!set_member (self, object, l->data, home, error))
      return NULL;

  if (self->workspace != SBX_BWRAP_WORKSPACE_WORKTREE &&
      (json_object_has_member (object, "keep") || json_object_has_member (object, "carry-changes")))
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_INVALID,
                           _("“keep” and “carry-changes” are for a “workspace” that is "
                             "“worktree”"));
      return NULL;
    }

  return g_steal_pointer (&self);
}

void
_sbx_bwrap_profile_free (SbxBwrapProfile *self)
{
  g_free (self->name);
  g_free (self->path);
  g_strfreev (self->read);
  g_strfreev (self->write);
  g_strfreev (self->environment);
  g_free (self);
}

SbxReach *
_sbx_bwrap_profile_to_reach (const SbxBwrapProfile *self,
                             const char            *root,
                             const char            *cwd)
{
  SbxReach *reach = sbx_reach_new (cwd != NULL ? cwd : root);

  if (self->workspace == SBX_BWRAP_WORKSPACE_READ)
    sbx_reach_add_read (reach, root);
  else
    sbx_reach_add_write (reach, root);

  for (gsize i = 0; self->read != NULL && self->read[i] != NULL; i++)
    sbx_reach_add_read (reach, self->read[i]);
  for (gsize i = 0; self->write != NULL && self->write[i] != NULL; i++)
    sbx_reach_add_write (reach, self->write[i]);

  for (gsize i = 0; self->environment != NULL && self->environment[i] != NULL; i++)
    {
      const char *equals = strchr (self->environment[i], '=');
      g_autofree char *name = g_strndup (self->environment[i],
                                         (gsize) (equals - self->environment[i]));

      sbx_reach_set_variable (reach, name, equals + 1);
    }

  return reach;
}
