/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-sandbox-spec-private.h"

#include "core/sbx-error.h"
#include "core/sbx-field-private.h"
#include "core/sbx-json-canonical-private.h"
#include "core/sbx-text-private.h"
#include "spec/sbx-sandbox-spec-struct-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define DEFAULT_ENVIRONMENT "bwrap"

static void
set_not_inline (const char  *field,
                GError     **error)
{
  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
               _("An inline sandbox cannot name %s; to share one, open a sandbox with a key and "
                 "pass what that gives"),
               field);
}

static void
set_unknown (const char      *name,
             SbxProviderSet  *providers,
             gboolean         is_inline,
             GError         **error)
{
  g_autofree char *shown = _sbx_field_show_text (name);
  g_auto(GStrv) keys = providers != NULL ? sbx_provider_set_list_keys (providers)
                                         : g_strsplit (DEFAULT_ENVIRONMENT, ",", -1);
  g_autofree char *joined = g_strjoinv (", ", keys);
  g_autofree char *environments = _sbx_text_escape (joined);

  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
               _("Unknown field %s; a sandbox spec has %sread, write, network, sockets, webSearch, "
                 "git, limits, and one environment of: %s"),
               shown, is_inline ? "" : "key, cwd, ", environments);
}

/* The default is known even where it is not installed, so that the error says so. */
static gboolean
is_environment (SbxProviderSet *providers,
                const char     *name)
{
  return g_str_equal (name, DEFAULT_ENVIRONMENT) ||
         (providers != NULL && sbx_provider_set_has_key (providers, name));
}

static gboolean
check_names (SbxSandboxSpec  *self,
             SbxProviderSet  *providers,
             gboolean         is_inline,
             GError         **error)
{
  if (is_inline && (self->key != NULL || self->reach->cwd != NULL))
    {
      set_not_inline (self->key != NULL ? "key" : "cwd", error);
      return FALSE;
    }

  for (guint i = 0; i < self->environments->len; i++)
    {
      const SbxSpecEnvironment *environment = g_ptr_array_index (self->environments, i);

      if (is_environment (providers, environment->key))
        continue;

      if (is_inline && g_str_equal (environment->key, "provider"))
        set_not_inline ("provider", error);
      else
        set_unknown (environment->key, providers, is_inline, error);

      return FALSE;
    }

  return TRUE;
}

static gboolean
check_single (SbxSandboxSpec  *self,
              GError         **error)
{
  g_autofree char *escaped = NULL;
  g_autofree char *named = NULL;

  if (self->environments->len < 2)
    return TRUE;

  for (guint i = 0; i < self->environments->len; i++)
    {
      const SbxSpecEnvironment *environment = g_ptr_array_index (self->environments, i);
      g_autofree char *before = g_steal_pointer (&named);

      named = before == NULL ? g_strdup (environment->key)
              : i + 1 < self->environments->len ? g_strconcat (before, ", ", environment->key, NULL)
              : g_strdup_printf (_("%s and %s"), before, environment->key);
    }

  escaped = _sbx_text_escape (named);
  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
               _("A sandbox has one environment, and this spec has %s; leave one"), escaped);

  return FALSE;
}

static gboolean
is_object (const char *settings)
{
  return settings[strspn (settings, " \t\r\n")] == '{';
}

/* What the provider makes of the settings; %NULL with an error. */
static char *
check_settings (SbxProviderSet  *providers,
                const char      *key,
                const char      *settings,
                GError         **error)
{
  g_autoptr(SbxProvider) provider = NULL;
  g_autofree char *checked = NULL;
  SbxProvider *found;

  if (providers != NULL)
    {
      found = sbx_provider_set_lookup (providers, key, error);
      if (found == NULL)
        return NULL;

      /* Whatever it does, it is there until it has done it. */
      provider = g_object_ref (found);
    }

  if (!is_object (settings))
    {
      g_autofree char *start = g_strndup (settings, 200);
      g_autofree char *shown = _sbx_text_escape (start);

      g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                   _("%s: the settings of an environment must be an object, not %s; write {}"),
                   key, shown);
      return NULL;
    }

  checked = provider != NULL ? sbx_provider_check_settings (provider, settings, error)
                             : _sbx_json_object_canonical (settings, error);
  if (checked == NULL)
    g_prefix_error (error, "%s: ", key);

  return g_steal_pointer (&checked);
}

SbxReach *
_sbx_sandbox_spec_to_asked (SbxSandboxSpec  *self,
                            SbxProviderSet  *providers,
                            gboolean         is_inline,
                            GError         **error)
{
  const SbxSpecEnvironment *environment = NULL;
  g_autofree char *settings = NULL;
  g_autofree char *key = NULL;
  SbxReach *asked;

  if (!check_names (self, providers, is_inline, error) || !check_single (self, error))
    return NULL;

  if (self->environments->len > 0)
    environment = g_ptr_array_index (self->environments, 0);

  if (environment != NULL)
    key = g_strdup (environment->key);
  else if (providers != NULL)
    key = g_strdup (sbx_provider_set_get_default (providers));
  else
    key = g_strdup (DEFAULT_ENVIRONMENT);

  settings = check_settings (providers, key, environment != NULL ? environment->settings : "{}",
                             error);
  if (settings == NULL || !_sbx_field_check_all (self->reach, error))
    return NULL;

  asked = sbx_reach_copy (self->reach);
  sbx_reach_set_environment_key (asked, key, settings);

  return asked;
}
