/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance-report.h"
#include "run-interrupt.h"
#include "tool-json.h"
#include "tool-text.h"
#include "tool.h"

#include <glib/gi18n.h>
#include <math.h>
#include <sbx.h>
#include <stdio.h>
#include <stdlib.h>

#define STATUS_NOT_CONFORMANT 1
#define MAX_SECONDS 3600

static struct
{
  gboolean   as_json;
  gboolean   list;
  char      *level;
  char      *workspace;
  char      *profile;
  double     seconds;
  GStrv      argv;
} options;

static const GOptionEntry conformance_entries[] = {
  { "level", 0, 0, G_OPTION_ARG_STRING, &options.level,
    N_("Check this level alone: “plain”, “robustness”, or a feature that the provider claims"),
    N_("LEVEL") },
  { "profile", 0, 0, G_OPTION_ARG_STRING, &options.profile,
    N_("Open sessions with this profile instead of “default”"), N_("[PROVIDER/]NAME") },
  { "workspace", 0, 0, G_OPTION_ARG_FILENAME, &options.workspace,
    N_("Use this directory, which is written to, instead of a new one"), N_("DIRECTORY") },
  { "timeout", 0, 0, G_OPTION_ARG_DOUBLE, &options.seconds,
    N_("Wait this long for each answer instead of ten seconds"), N_("SECONDS") },
  { "list", 0, 0, G_OPTION_ARG_NONE, &options.list, N_("List the checks and make none"), NULL },
  { "json", 0, 0, G_OPTION_ARG_NONE, &options.as_json, N_("Print the checks as JSON"), NULL },
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.argv, NULL, NULL },
  { NULL }
};

static gboolean
parse_level (SbxConformanceLevel *level)
{
  g_autofree char *shown = NULL;

  *level = SBX_CONFORMANCE_LEVEL_ALL;
  if (options.level == NULL || sbx_conformance_level_parse (options.level, level))
    return TRUE;

  shown = tool_quote (options.level);
  tool_complain (_("%s is no level; “sbx-tool conformance --list” lists them"), shown);

  return FALSE;
}

static SbxConformance *
make_conformance (SbxConformanceLevel level)
{
  g_autoptr(SbxConformance) self = NULL;

  if (options.argv == NULL || options.argv[0] == NULL)
    {
      tool_complain (_("no provider was given to check"));
      tool_hint (_("Give its command line behind “--”, as in: sbx-tool conformance -- "
                   "smol-sandbox-mine serve"));
      return NULL;
    }

  self = sbx_conformance_new ((const char * const *) options.argv);
  sbx_conformance_set_level (self, level);
  if (options.profile != NULL)
    sbx_conformance_set_profile (self, options.profile);

  if (options.workspace != NULL)
    {
      g_autofree char *path = g_canonicalize_filename (options.workspace, NULL);

      sbx_conformance_set_workspace (self, path);
    }

  if (options.seconds != 0)
    {
      if (!(options.seconds > 0 && options.seconds <= MAX_SECONDS))
        {
          tool_complain (_("--timeout needs a number of seconds, up to %d"), MAX_SECONDS);
          return NULL;
        }
      sbx_conformance_set_timeout (self, (guint) ceil (options.seconds * 1000));
    }

  return g_steal_pointer (&self);
}

static void
check_done_cb (SbxConformance      *conformance,
               SbxConformanceCheck *check,
               gpointer             user_data)
{
  tool_report_check (check);
}

static int
list_checks (SbxConformanceLevel level)
{
  g_autoptr(GListModel) checks = sbx_conformance_list_checks ();
  gboolean printed = TRUE;

  if (options.as_json)
    return tool_report_json (checks, level) ? EXIT_SUCCESS : TOOL_STATUS_FAILED;

  for (guint i = 0; printed && i < g_list_model_get_n_items (checks); i++)
    {
      g_autoptr(SbxConformanceCheck) check = g_list_model_get_item (checks, i);

      if (level == SBX_CONFORMANCE_LEVEL_ALL || level == sbx_conformance_check_get_level (check))
        printed = tool_report_check (check);
    }

  return printed ? EXIT_SUCCESS : TOOL_STATUS_FAILED;
}

static int
run (const ToolCommand  *command,
     int                 argc,
     char              **argv)
{
  g_autoptr(SbxConformance) conformance = NULL;
  g_autoptr(GListModel) checks = NULL;
  g_autoptr(GError) error = NULL;
  SbxConformanceLevel level;
  GCancellable *cancellable;
  gboolean printed;

  if (!tool_parse (command, argc, &argv) || !parse_level (&level))
    return TOOL_STATUS_FAILED;

  if (options.list)
    return list_checks (level);

  conformance = make_conformance (level);
  if (conformance == NULL)
    return TOOL_STATUS_FAILED;

  if (!options.as_json)
    g_signal_connect (conformance, "check-done", G_CALLBACK (check_done_cb), NULL);
  cancellable = tool_interrupt_watch (&error);
  if (cancellable != NULL)
    checks = sbx_conformance_run (conformance, cancellable, &error);
  if (checks == NULL)
    {
      tool_interrupt_end ();
      tool_complain ("%s", error->message);
      return TOOL_STATUS_FAILED;
    }

  printed = options.as_json ? tool_report_json (checks, level) : tool_report_summary (checks);
  if (!printed)
    return TOOL_STATUS_FAILED;

  return tool_report_passed (checks) ? EXIT_SUCCESS : STATUS_NOT_CONFORMANT;
}

const ToolCommand tool_command_conformance = {
  .name = "conformance",
  .arguments = N_("-- PROVIDER serve"),
  .summary = N_("Check whether a provider of sandboxes does as the protocol has it"),
  .description = N_("The exit status is 0 if no check failed, and 1 if one did."),
  .options = conformance_entries,
  .run = run,
};
