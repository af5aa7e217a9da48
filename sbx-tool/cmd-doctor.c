/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "tool-json.h"
#include "tool-text.h"
#include "tool.h"

#include <glib/gi18n.h>
#include <sbx.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STATUS_BLOCKED 1

typedef struct
{
  const char *name;     /* in JSON */
  const char *label;    /* translatable */
  const char *colour;   /* of the label, on a terminal */
} Level;

static const Level levels[] = {
  [SBX_FINDING_LEVEL_GOOD] = { "good", N_("good"), "\033[32m" },
  [SBX_FINDING_LEVEL_WEAKER] = { "weaker", N_("weaker"), "\033[33m" },
  [SBX_FINDING_LEVEL_BLOCKING] = { "blocking", N_("blocking"), "\033[1;31m" },
};

static gboolean as_json;

static const GOptionEntry doctor_entries[] = {
  { "json", 0, 0, G_OPTION_ARG_NONE, &as_json, N_("Print the findings as JSON"), NULL },
  { NULL }
};

static gboolean
use_colours (void)
{
  const char *no_color = g_getenv ("NO_COLOR");

  return isatty (STDOUT_FILENO) && (no_color == NULL || *no_color == '\0')
         && g_strcmp0 (g_getenv ("TERM"), "dumb") != 0;
}

/* A text of several lines, each set off by @indent. */
static void
append_indented (GString    *text,
                 const char *indent,
                 const char *paragraph)
{
  g_autofree char *safe = tool_escape (paragraph);
  g_auto(GStrv) lines = g_strsplit (safe, "\n", -1);

  for (gsize i = 0; lines[i] != NULL; i++)
    g_string_append_printf (text, "%s%s\n", *lines[i] != '\0' ? indent : "", lines[i]);
}

static void
print_finding (SbxFinding *finding,
               gboolean    colours)
{
  const Level *level = &levels[sbx_finding_get_level (finding)];
  g_autoptr(GString) text = g_string_new (NULL);
  g_autofree char *summary = tool_escape (sbx_finding_get_summary (finding));

  g_string_append_printf (text, "%s%s%s: %s\n", colours ? level->colour : "", _(level->label),
                          colours ? "\033[0m" : "", summary);
  if (sbx_finding_get_remedy (finding) != NULL)
    append_indented (text, "  ", sbx_finding_get_remedy (finding));

  fputs (text->str, stdout);
}

static int
print_findings (GListModel *findings,
                gboolean    blocked)
{
  const gboolean colours = use_colours ();

  for (guint i = 0; i < g_list_model_get_n_items (findings); i++)
    {
      g_autoptr(SbxFinding) finding = g_list_model_get_item (findings, i);

      print_finding (finding, colours);
    }

  return tool_print (blocked ? _("\nNo sandbox can be opened on this machine.\n")
                             : _("\nSandboxes can be opened on this machine.\n"));
}

static gboolean
print_json (GListModel *findings,
            gboolean    blocked)
{
  g_autoptr(JsonBuilder) builder = json_builder_new ();
  g_autofree char *text = NULL;

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "version");
  json_builder_add_int_value (builder, 1);
  json_builder_set_member_name (builder, "blocked");
  json_builder_add_boolean_value (builder, blocked);
  json_builder_set_member_name (builder, "findings");
  json_builder_begin_array (builder);

  for (guint i = 0; i < g_list_model_get_n_items (findings); i++)
    {
      g_autoptr(SbxFinding) finding = g_list_model_get_item (findings, i);
      const char *remedy = sbx_finding_get_remedy (finding);

      json_builder_begin_object (builder);
      json_builder_set_member_name (builder, "id");
      json_builder_add_string_value (builder, sbx_finding_get_id (finding));
      json_builder_set_member_name (builder, "level");
      json_builder_add_string_value (builder, levels[sbx_finding_get_level (finding)].name);
      json_builder_set_member_name (builder, "summary");
      tool_json_add_bytes (builder, sbx_finding_get_summary (finding));
      json_builder_set_member_name (builder, "remedy");
      if (remedy != NULL)
        tool_json_add_bytes (builder, remedy);
      else
        json_builder_add_null_value (builder);
      json_builder_end_object (builder);
    }

  json_builder_end_array (builder);
  json_builder_end_object (builder);
  text = tool_json_to_text (builder);

  return tool_print (text);
}

static int
run (const ToolCommand  *command,
     int                 argc,
     char              **argv)
{
  g_autoptr(SbxBwrapProvider) provider = NULL;
  g_autoptr(GListModel) findings = NULL;
  g_autoptr(GError) error = NULL;
  gboolean blocked = FALSE;

  if (!tool_parse (command, argc, &argv))
    return TOOL_STATUS_FAILED;

  provider = sbx_bwrap_provider_new ();
  findings = sbx_bwrap_provider_diagnose (provider, NULL, &error);
  if (findings == NULL)
    {
      tool_complain ("%s", error->message);
      return TOOL_STATUS_FAILED;
    }

  for (guint i = 0; i < g_list_model_get_n_items (findings); i++)
    {
      g_autoptr(SbxFinding) finding = g_list_model_get_item (findings, i);

      blocked |= sbx_finding_get_level (finding) == SBX_FINDING_LEVEL_BLOCKING;
    }

  if (!(as_json ? print_json (findings, blocked) : print_findings (findings, blocked)))
    return TOOL_STATUS_FAILED;

  return blocked ? STATUS_BLOCKED : EXIT_SUCCESS;
}

const ToolCommand tool_command_doctor = {
  .name = "doctor",
  .summary = N_("Show what this machine can enforce, and what to do about the rest"),
  .description = N_("The exit status is 0 if sandboxes can be opened, and 1 if not."),
  .options = doctor_entries,
  .run = run,
};
