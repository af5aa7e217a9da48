/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "run-provider.h"

#include "tool-text.h"

#include <glib/gi18n.h>
#include <string.h>

/* Variables of ours that say how the user wants to see things, and nothing else. */
static const char * const passed_on[] = { "TERM", "COLORTERM", "LANG", "TZ", NULL };

typedef void (*SetVariableFunc) (gpointer    object,
                                 const char *name,
                                 const char *value);

static void
set_given_variables (const ToolRunOptions *options,
                     SetVariableFunc       set,
                     gpointer              object)
{
  for (guint i = 0; options->environment != NULL && i < options->environment->len; i++)
    {
      const char *variable = g_ptr_array_index (options->environment, i);
      const char *equals = strchr (variable, '=');
      g_autofree char *name = g_strndup (variable, equals - variable);

      set (object, name, equals + 1);
    }
}

static gboolean
is_passed_on (const char *name)
{
  return g_str_has_prefix (name, "LC_") || g_strv_contains (passed_on, name);
}

/* What providers write for people to read is for this user to read. */
void
tool_provider_log_cb (SbxProviderClient *client,
                      const char        *source,
                      const char        *message,
                      gpointer           user_data)
{
  g_autofree char *name = tool_escape (sbx_provider_client_get_provider_name (client));
  g_autofree char *text = tool_escape (message);

  g_printerr ("%s: %s\n", name, text);
}

static SbxProvider *
new_for_command (const ToolRunOptions  *options,
                 GError               **error)
{
  SbxProviderClient *client;
  g_auto(GStrv) argv = NULL;

  if (!g_shell_parse_argv (options->provider_command, NULL, &argv, error))
    {
      g_prefix_error (error, "%s: ", "--provider-command");
      return NULL;
    }

  client = sbx_provider_client_new ((const char * const *) argv);
  if (options->provider != NULL)
    sbx_provider_client_set_provider_name (client, options->provider);

  return SBX_PROVIDER (client);
}

/* The provider that was asked for, or else the one of the library. */
SbxProvider *
tool_provider_new (const ToolRunOptions  *options,
                   GError               **error)
{
  SbxProvider *provider;

  if (options->provider == NULL && options->provider_command == NULL)
    {
      SbxBwrapProvider *bwrap = sbx_bwrap_provider_new ();

      sbx_bwrap_provider_set_toolchain (bwrap, options->toolchain);
      sbx_bwrap_provider_set_fresh_home (bwrap, options->fresh);
      return SBX_PROVIDER (bwrap);
    }

  provider = options->provider_command != NULL
               ? new_for_command (options, error)
               : SBX_PROVIDER (sbx_provider_client_new_for_name (options->provider, error));

  if (provider != NULL)
    g_signal_connect (provider, "log", G_CALLBACK (tool_provider_log_cb), NULL);

  return provider;
}

/* @reach is resolved, or NULL where a profile decides. */
SbxOpenRequest *
tool_provider_make_request (const ToolRunOptions *options,
                            SbxReach             *reach)
{
  g_autoptr(SbxOpenRequest) request = NULL;
  g_auto(GStrv) names = g_listenv ();

  if (options->profile != NULL)
    {
      request = sbx_open_request_new_for_profile (options->reach.cwd, options->profile);
      sbx_open_request_set_group (request, options->group);
      return g_steal_pointer (&request);
    }

  for (gsize i = 0; names[i] != NULL; i++)
    if (is_passed_on (names[i]))
      sbx_reach_set_variable (reach, names[i], g_getenv (names[i]));
  set_given_variables (options, (SetVariableFunc) sbx_reach_set_variable, reach);

  request = sbx_open_request_new (reach);
  sbx_open_request_set_group (request, options->group);

  return g_steal_pointer (&request);
}

/* Where a profile decides what the sandbox is, the variables go along with the command. */
void
tool_provider_set_variables (const ToolRunOptions *options,
                             SbxCommand           *command)
{
  if (options->profile == NULL)
    return;

  if (sbx_command_get_terminal (command))
    for (gsize i = 0; i < 2; i++)
      if (g_getenv (passed_on[i]) != NULL)
        sbx_command_set_variable (command, passed_on[i], g_getenv (passed_on[i]));

  set_given_variables (options, (SetVariableFunc) sbx_command_set_variable, command);
}
