/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "run-provider.h"
#include "tool-text.h"
#include "tool.h"

#include <glib/gi18n.h>
#include <sbx.h>
#include <stdlib.h>

static char *provider_name;
static char *provider_command;
static GStrv groups;

static const GOptionEntry cleanup_entries[] = {
  { "provider", 0, 0, G_OPTION_ARG_STRING, &provider_name,
    N_("Ask the provider of this name instead of the built-in one"), N_("NAME") },
  { "provider-command", 0, 0, G_OPTION_ARG_STRING, &provider_command,
    N_("Start the provider with this command line instead of looking for one by its name"),
    N_("COMMAND-LINE") },
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &groups, NULL, N_("GROUP…") },
  { NULL }
};

static gboolean
clean_up (SbxProvider *provider,
          const char  *group)
{
  g_autofree char *shown = tool_quote (group);
  g_autofree char *text = NULL;
  g_autoptr(GError) error = NULL;
  guint count = 0;

  if (!sbx_provider_cleanup_group (provider, group, NULL, &count, &error))
    {
      tool_complain ("%s: %s", shown, error->message);
      return FALSE;
    }

  text = g_strdup_printf (ngettext ("%s: removed %u sandbox\n", "%s: removed %u sandboxes\n",
                                    count), shown, count);
  return tool_print (text);
}

static int
run (const ToolCommand  *command,
     int                 argc,
     char              **argv)
{
  ToolRunOptions options = { 0 };
  g_autoptr(SbxProvider) provider = NULL;
  g_autoptr(GError) error = NULL;
  gboolean all = TRUE;

  if (!tool_parse (command, argc, &argv))
    return TOOL_STATUS_FAILED;

  if (groups == NULL || groups[0] == NULL)
    {
      tool_complain (_("no group was given"));
      tool_hint (_("“sbx-tool %s --help” lists the options."), command->name);
      return TOOL_STATUS_FAILED;
    }

  options.provider = provider_name;
  options.provider_command = provider_command;
  provider = tool_provider_new (&options, &error);

  for (gsize i = 0; provider != NULL && groups[i] != NULL; i++)
    all = clean_up (provider, groups[i]) && all;

  if (SBX_IS_PROVIDER_CLIENT (provider) &&
      !sbx_provider_client_close (SBX_PROVIDER_CLIENT (provider), NULL, &error))
    all = FALSE;

  if (error != NULL)
    tool_complain ("%s", error->message);

  return error == NULL && all ? EXIT_SUCCESS : TOOL_STATUS_FAILED;
}

const ToolCommand tool_command_cleanup = {
  .name = "cleanup",
  .summary = N_("End and remove all sandboxes of a group"),
  .description = N_("A group that nobody knows is none that needs cleaning, and no error."),
  .options = cleanup_entries,
  .run = run,
};
