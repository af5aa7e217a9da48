/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "tool-json.h"
#include "tool-text.h"
#include "tool.h"

#include <glib/gi18n.h>
#include <sbx.h>
#include <stdlib.h>

/* A provider that does not say within this time what it can do is not asked any further. */
#define PATIENCE_MS 10000

static gboolean json;
static gboolean no_ask;

static const GOptionEntry providers_entries[] = {
  { "json", 0, 0, G_OPTION_ARG_NONE, &json, N_("Print the list as JSON"), NULL },
  { "no-ask", 0, 0, G_OPTION_ARG_NONE, &no_ask,
    N_("Do not start the providers to ask what they can do"), NULL },
  { NULL }
};

typedef struct
{
  SbxProviderInfo *info;
  GError          *problem;    /* (nullable) why it cannot be used */
  GStrv            features;   /* (nullable) */
  gboolean         exec;
  gboolean         asked;
} Entry;

static void
entry_free (gpointer data)
{
  Entry *self = data;

  g_clear_object (&self->info);
  g_clear_error (&self->problem);
  g_strfreev (self->features);
  g_free (self);
}

/* Starts the provider, since only it can tell. */
static void
ask (Entry *self)
{
  g_autoptr(SbxProviderClient) client = NULL;

  client = sbx_provider_client_new_for_name (sbx_provider_info_get_name (self->info),
                                             &self->problem);
  if (client == NULL)
    return;

  sbx_provider_client_set_call_timeout (client, PATIENCE_MS);
  if (!sbx_provider_client_start (client, NULL, &self->problem))
    return;

  self->asked = TRUE;
  self->features = sbx_provider_client_dup_features (client);
  self->exec = (sbx_provider_get_capabilities (SBX_PROVIDER (client)) & SBX_CAPABILITIES_EXEC) != 0;
  sbx_provider_client_close (client, NULL, NULL);
}

static GPtrArray *
list_entries (void)
{
  g_autoptr(GListModel) infos = sbx_provider_info_list ();
  g_autoptr(GPtrArray) entries = g_ptr_array_new_with_free_func (entry_free);

  for (guint i = 0; i < g_list_model_get_n_items (infos); i++)
    {
      Entry *entry = g_new0 (Entry, 1);
      const GError *problem;

      entry->info = g_list_model_get_item (infos, i);
      problem = sbx_provider_info_get_problem (entry->info);
      g_ptr_array_add (entries, entry);

      if (problem != NULL)
        entry->problem = g_error_copy (problem);
      else if (!no_ask)
        ask (entry);
    }

  return g_steal_pointer (&entries);
}

/* The words of a command line as somebody could type them. */
static char *
show_argv (const char * const *argv)
{
  g_autoptr(GString) text = g_string_new (NULL);

  for (gsize i = 0; argv != NULL && argv[i] != NULL; i++)
    {
      g_autofree char *quoted = g_shell_quote (argv[i]);
      g_autofree char *shown = tool_escape (quoted);

      g_string_append_printf (text, "%s%s", i > 0 ? " " : "", shown);
    }

  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
print_entry (GString *text,
             Entry   *entry)
{
  g_autofree char *name = tool_escape (sbx_provider_info_get_name (entry->info));
  g_autofree char *origin = tool_escape (sbx_provider_info_get_origin (entry->info));
  g_autofree char *argv = show_argv (sbx_provider_info_get_argv (entry->info));

  g_string_append_printf (text, "%s\n", name);
  g_string_append_printf (text, _("  found as: %s\n"), origin);
  if (*argv != '\0')
    g_string_append_printf (text, _("  started as: %s\n"), argv);

  if (entry->problem != NULL)
    {
      g_autofree char *problem = tool_escape (entry->problem->message);

      g_string_append_printf (text, _("  cannot be used: %s\n"), problem);
    }
  else if (entry->asked)
    {
      g_autofree char *features = g_strjoinv (", ", entry->features);

      g_string_append_printf (text, _("  runs commands: %s\n"), entry->exec ? _("yes") : _("no"));
      g_string_append_printf (text, _("  beyond sandbox.v1: %s\n"),
                              *features != '\0' ? features : _("nothing"));
    }
}

static void
build_entry (JsonBuilder *builder,
             Entry       *entry)
{
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "name");
  json_builder_add_string_value (builder, sbx_provider_info_get_name (entry->info));
  json_builder_set_member_name (builder, "origin");
  tool_json_add_bytes (builder, sbx_provider_info_get_origin (entry->info));
  tool_json_add_texts (builder, "argv", sbx_provider_info_get_argv (entry->info));
  json_builder_set_member_name (builder, "problem");
  if (entry->problem != NULL)
    tool_json_add_bytes (builder, entry->problem->message);
  else
    json_builder_add_null_value (builder);
  if (entry->asked)
    {
      json_builder_set_member_name (builder, "exec");
      json_builder_add_boolean_value (builder, entry->exec);
      tool_json_add_texts (builder, "features", (const char * const *) entry->features);
    }
  json_builder_end_object (builder);
}

static char *
to_json (GPtrArray *entries)
{
  g_autoptr(JsonBuilder) builder = json_builder_new ();

  json_builder_begin_array (builder);
  for (guint i = 0; i < entries->len; i++)
    build_entry (builder, g_ptr_array_index (entries, i));
  json_builder_end_array (builder);

  return tool_json_to_text (builder);
}

static int
run (const ToolCommand  *command,
     int                 argc,
     char              **argv)
{
  g_autoptr(GPtrArray) entries = NULL;
  g_autoptr(GString) text = g_string_new (NULL);
  g_autofree char *json_text = NULL;

  if (!tool_parse (command, argc, &argv))
    return TOOL_STATUS_FAILED;

  entries = list_entries ();

  if (json)
    {
      json_text = to_json (entries);
      return tool_print (json_text) ? EXIT_SUCCESS : TOOL_STATUS_FAILED;
    }

  for (guint i = 0; i < entries->len; i++)
    print_entry (text, g_ptr_array_index (entries, i));
  if (entries->len == 0)
    g_string_append (text, _("There are no providers besides the built-in one.\n"));

  return tool_print (text->str) ? EXIT_SUCCESS : TOOL_STATUS_FAILED;
}

const ToolCommand tool_command_providers = {
  .name = "providers",
  .summary = N_("List the providers that are found, and what they can do"),
  .description = N_(
    "A provider is a program with all of your rights; what it says of itself is a claim."),
  .options = providers_entries,
  .run = run,
};
