/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "tool-text.h"
#include "tool.h"

#include <glib/gi18n.h>
#include <sbx.h>
#include <stdlib.h>

static gboolean caches;

static const GOptionEntry clean_entries[] = {
  { "caches", 0, 0, G_OPTION_ARG_NONE, &caches,
    N_("Also remove the home directories that are kept for projects, and what was put aside more "
       "than 30 days ago"), NULL },
  { NULL }
};

static void
message_cb (SbxBwrapProvider *provider,
            const char       *message,
            gpointer          user_data)
{
  tool_complain ("%s", message);
}

static void
worktree_kept_cb (SbxBwrapProvider *provider,
                  const char       *path,
                  const char       *branch,
                  const char       *message,
                  gpointer          user_data)
{
  tool_complain ("%s", message);
}

static int
run (const ToolCommand  *command,
     int                 argc,
     char              **argv)
{
  g_autoptr(SbxBwrapProvider) provider = NULL;
  g_autoptr(GString) text = g_string_new (NULL);
  g_autoptr(GError) error = NULL;
  g_auto(GStrv) removed = NULL;

  if (!tool_parse (command, argc, &argv))
    return TOOL_STATUS_FAILED;

  provider = sbx_bwrap_provider_new ();
  g_signal_connect (provider, "worktree-kept", G_CALLBACK (worktree_kept_cb), NULL);
  g_signal_connect (provider, "message", G_CALLBACK (message_cb), NULL);
  removed = sbx_bwrap_provider_clean (provider, caches, NULL, &error);
  if (removed == NULL)
    {
      tool_complain ("%s", error->message);
      return TOOL_STATUS_FAILED;
    }

  for (gsize i = 0; removed[i] != NULL; i++)
    {
      g_autofree char *shown = tool_quote (removed[i]);

      g_string_append_printf (text, _("Removed %s\n"), shown);
    }
  if (text->len == 0)
    g_string_append (text, _("There was nothing to remove.\n"));

  return tool_print (text->str) ? EXIT_SUCCESS : TOOL_STATUS_FAILED;
}

const ToolCommand tool_command_clean = {
  .name = "clean",
  .summary = N_("Remove what is left of sandboxes whose program was killed"),
  .description = N_("A sandbox that is in use is not touched."),
  .options = clean_entries,
  .run = run,
};
