/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance-report.h"

#include "tool-json.h"
#include "tool-text.h"

#include <glib/gi18n.h>
#include <stdio.h>
#include <unistd.h>

typedef struct
{
  const char *name;     /* in JSON */
  const char *label;    /* translatable */
  const char *colour;   /* of the label, on a terminal */
} Outcome;

static const Outcome outcomes[] = {
  [SBX_CONFORMANCE_OUTCOME_PENDING] = { "pending", NULL, NULL },
  [SBX_CONFORMANCE_OUTCOME_PASSED] = { "passed", N_("passed"), "\033[32m" },
  [SBX_CONFORMANCE_OUTCOME_FAILED] = { "failed", N_("FAILED"), "\033[1;31m" },
  [SBX_CONFORMANCE_OUTCOME_SKIPPED] = { "skipped", N_("skipped"), "\033[33m" },
};

static gboolean
use_colours (void)
{
  const char *no_color = g_getenv ("NO_COLOR");

  return isatty (STDOUT_FILENO) && (no_color == NULL || *no_color == '\0')
         && g_strcmp0 (g_getenv ("TERM"), "dumb") != 0;
}

/* A line of the wire as one line that a terminal can bear. */
static char *
quote_line (GBytes *line)
{
  gsize size;
  const char *data = g_bytes_get_data (line, &size);
  g_autofree char *text = NULL;

  /* A NUL would end the text and hide the rest. */
  text = g_strndup (data != NULL ? data : "", size);
  for (gsize i = 0; i < size; i++)
    if (text[i] == '\0')
      text[i] = '\001';

  return tool_quote (text);
}

static void
append_line (GString    *text,
             const char *label,
             GBytes     *line)
{
  g_autofree char *quoted = NULL;

  if (line == NULL)
    return;

  quoted = quote_line (line);
  g_string_append_printf (text, "      %s %s\n", label, quoted);
}

/* One line, and of a check that failed also what was exchanged. */
gboolean
tool_report_check (SbxConformanceCheck *check)
{
  const Outcome *outcome = &outcomes[sbx_conformance_check_get_outcome (check)];
  const gboolean colours = outcome->colour != NULL && use_colours ();
  const SbxConformanceLevel level = sbx_conformance_check_get_level (check);
  const char *detail = sbx_conformance_check_get_detail (check);
  g_autoptr(GString) text = g_string_new (NULL);

  g_string_append_printf (text, "%3u  %-12s  ", sbx_conformance_check_get_number (check),
                          sbx_conformance_level_to_string (level));
  if (outcome->label != NULL)
    g_string_append_printf (text, "%s%-8s%s  ", colours ? outcome->colour : "", _(outcome->label),
                            colours ? "\033[0m" : "");
  g_string_append_printf (text, "%s\n", sbx_conformance_check_get_title (check));

  if (detail != NULL)
    {
      g_autofree char *quoted = tool_quote (detail);

      g_string_append_printf (text, "      %s\n", quoted);
    }
  append_line (text, ">", sbx_conformance_check_get_sent (check));
  append_line (text, "<", sbx_conformance_check_get_received (check));

  return fputs (text->str, stdout) != EOF && fflush (stdout) != EOF;
}

static guint
count (GListModel            *checks,
       SbxConformanceOutcome  outcome)
{
  guint n = 0;

  for (guint i = 0; i < g_list_model_get_n_items (checks); i++)
    {
      g_autoptr(SbxConformanceCheck) check = g_list_model_get_item (checks, i);

      n += sbx_conformance_check_get_outcome (check) == outcome;
    }

  return n;
}

gboolean
tool_report_passed (GListModel *checks)
{
  return count (checks, SBX_CONFORMANCE_OUTCOME_FAILED) == 0
         && count (checks, SBX_CONFORMANCE_OUTCOME_PASSED) > 0;
}

gboolean
tool_report_summary (GListModel *checks)
{
  g_autofree char *text = NULL;

  text = g_strdup_printf (_("\n%u checks passed, %u failed, %u were skipped.\n"),
                          count (checks, SBX_CONFORMANCE_OUTCOME_PASSED),
                          count (checks, SBX_CONFORMANCE_OUTCOME_FAILED),
                          count (checks, SBX_CONFORMANCE_OUTCOME_SKIPPED));

  return tool_print (text);
}

static void
add_line (JsonBuilder *builder,
          const char  *name,
          GBytes      *line)
{
  g_autofree char *quoted = NULL;

  if (line == NULL)
    return;

  /* What is no UTF-8, or has a NUL, is escaped as it is for a terminal. */
  quoted = quote_line (line);
  json_builder_set_member_name (builder, name);
  tool_json_add_bytes (builder, quoted);
}

static void
add_check (JsonBuilder         *builder,
           SbxConformanceCheck *check)
{
  const char *detail = sbx_conformance_check_get_detail (check);

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "number");
  json_builder_add_int_value (builder, sbx_conformance_check_get_number (check));
  json_builder_set_member_name (builder, "level");
  json_builder_add_string_value (
    builder, sbx_conformance_level_to_string (sbx_conformance_check_get_level (check)));
  json_builder_set_member_name (builder, "title");
  json_builder_add_string_value (builder, sbx_conformance_check_get_title (check));
  json_builder_set_member_name (builder, "outcome");
  json_builder_add_string_value (builder,
                                 outcomes[sbx_conformance_check_get_outcome (check)].name);
  if (detail != NULL)
    {
      json_builder_set_member_name (builder, "detail");
      tool_json_add_bytes (builder, detail);
    }
  add_line (builder, "sent", sbx_conformance_check_get_sent (check));
  add_line (builder, "received", sbx_conformance_check_get_received (check));
  json_builder_end_object (builder);
}

gboolean
tool_report_json (GListModel          *checks,
                  SbxConformanceLevel  level)
{
  g_autoptr(JsonBuilder) builder = json_builder_new ();
  g_autofree char *text = NULL;

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "version");
  json_builder_add_int_value (builder, 1);
  json_builder_set_member_name (builder, "passed");
  json_builder_add_int_value (builder, count (checks, SBX_CONFORMANCE_OUTCOME_PASSED));
  json_builder_set_member_name (builder, "failed");
  json_builder_add_int_value (builder, count (checks, SBX_CONFORMANCE_OUTCOME_FAILED));
  json_builder_set_member_name (builder, "skipped");
  json_builder_add_int_value (builder, count (checks, SBX_CONFORMANCE_OUTCOME_SKIPPED));
  json_builder_set_member_name (builder, "checks");
  json_builder_begin_array (builder);

  for (guint i = 0; i < g_list_model_get_n_items (checks); i++)
    {
      g_autoptr(SbxConformanceCheck) check = g_list_model_get_item (checks, i);

      if (level == SBX_CONFORMANCE_LEVEL_ALL || level == sbx_conformance_check_get_level (check))
        add_check (builder, check);
    }

  json_builder_end_array (builder);
  json_builder_end_object (builder);
  text = tool_json_to_text (builder);

  return tool_print (text);
}
