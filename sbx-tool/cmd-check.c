/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "reach-plan.h"
#include "tool-text.h"
#include "tool.h"

#include <glib/gi18n.h>
#include <stdlib.h>

static GStrv arguments;

static const GOptionEntry check_entries[] = {
  TOOL_REACH_OPTION_ENTRIES (N_("Let the command read PATH and all that is in it"),
                             N_("Let the command read and change PATH")),
  TOOL_PLAN_OPTION_ENTRIES,
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &arguments, NULL, N_("[SPEC]") },
  { NULL }
};

static void
clear_options (ToolReachOptions *options)
{
  tool_reach_options_clear (options);
  g_clear_pointer (&arguments, g_strfreev);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ToolReachOptions, clear_options)

/* How many things a plan has that were asked for, as the one line of those who look at it. */
static gboolean
print_fine (const ToolReachOptions *options,
            SbxPlan                *plan)
{
  const guint n = g_list_model_get_n_items (G_LIST_MODEL (plan));
  g_autofree char *name = NULL;
  g_autofree char *text = NULL;

  if (options->spec == NULL)
    name = g_strdup (_("what was asked for"));
  else if (g_strcmp0 (options->spec, "-") == 0)
    name = g_strdup (_("standard input"));
  else
    name = tool_quote (options->spec);

  text = g_strdup_printf (g_dngettext (GETTEXT_PACKAGE,
                                       "%s: fine; the sandbox is made of %u entry\n",
                                       "%s: fine; the sandbox is made of %u entries\n", n),
                          name, n);
  return tool_print (text);
}

static int
run (const ToolCommand  *command,
     int                 argc,
     char              **argv)
{
  g_auto(ToolReachOptions) options = { 0 };
  g_autoptr(SbxPlan) plan = NULL;
  g_autoptr(GError) error = NULL;
  const char * const *problems;
  gsize n_used;

  if (!tool_parse (command, argc, &argv) ||
      !tool_plan_take_options (&options, (const char * const *) arguments, &n_used))
    return TOOL_STATUS_WRONG;

  if (arguments != NULL && arguments[n_used] != NULL)
    {
      g_autofree char *extra = tool_quote (arguments[n_used]);

      tool_complain (_("%s: “sbx-tool %s” takes no such argument"), extra, command->name);
      return TOOL_STATUS_WRONG;
    }

  plan = tool_plan_make (&options, &error);
  if (plan == NULL)
    {
      tool_complain ("%s", error->message);
      return TOOL_STATUS_WRONG;
    }

  problems = sbx_plan_get_problems (plan);
  for (gsize i = 0; problems[i] != NULL; i++)
    tool_complain ("%s", problems[i]);
  if (problems[0] != NULL)
    return TOOL_STATUS_WRONG;

  return print_fine (&options, plan) ? EXIT_SUCCESS : TOOL_STATUS_FAILED;
}

const ToolCommand tool_command_check = {
  .name = "check",
  .summary = N_("Say what is wrong with a spec, without opening a sandbox"),
  .description = N_(
    "SPEC is a JSON file, or “-” for standard input. Without one, the options say what the\n"
    "sandbox reaches, as those of “run” do; --spec takes a file besides.\n"
    "\n"
    "The exit status is 0 if a sandbox can be opened so, and 2 if something is wrong, which is\n"
    "said."),
  .options = check_entries,
  .mixed = TRUE,
  .run = run,
};
