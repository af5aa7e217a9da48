/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "run-denials.h"

#include "tool-json.h"
#include "tool-text.h"

#include <glib/gi18n.h>

static gboolean
has_failed (SbxExecResult *result)
{
  const SbxExecOutcome outcome = sbx_exec_result_get_outcome (result);

  return outcome == SBX_EXEC_OUTCOME_SIGNALLED || outcome == SBX_EXEC_OUTCOME_TIMED_OUT ||
         (outcome == SBX_EXEC_OUTCOME_EXITED && sbx_exec_result_get_exit_code (result) != 0);
}

static void
tell_one (SbxDenial *denial)
{
  const char *suggestion = sbx_denial_get_suggestion (denial);
  g_autofree char *shown = suggestion != NULL ? tool_escape (suggestion) : NULL;

  g_printerr ("  %s\n", sbx_denial_get_text (denial));
  if (shown != NULL)
    g_printerr (_("    to allow it: %s\n"), shown);
}

/* The texts are escaped already; the suggestions are JSON, in which names can be anything. */
void
tool_denials_tell (SbxExecResult *result)
{
  GListModel *denials = sbx_exec_result_get_denials (result);
  const guint n = g_list_model_get_n_items (denials);
  const guint64 more = sbx_exec_result_get_denials_truncated (result);

  if (n == 0 || !has_failed (result))
    return;

  tool_complain ("%s", _("refused while the command ran (it may have tried these for other "
                         "reasons):"));
  for (guint i = 0; i < n; i++)
    {
      g_autoptr(SbxDenial) denial = g_list_model_get_item (denials, i);

      tell_one (denial);
    }

  if (more > 0)
    {
      g_autofree char *times = g_strdup_printf ("%" G_GUINT64_FORMAT, more);

      /* A number, in digits. */
      g_printerr (_("  and more, %s times\n"), times);
    }
}

void
tool_denials_add (JsonBuilder   *builder,
                  SbxExecResult *result)
{
  GListModel *denials = result != NULL ? sbx_exec_result_get_denials (result) : NULL;
  const guint n = denials != NULL ? g_list_model_get_n_items (denials) : 0;

  json_builder_set_member_name (builder, "denials");
  json_builder_begin_array (builder);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr(SbxDenial) denial = g_list_model_get_item (denials, i);

      json_builder_begin_object (builder);
      tool_json_add_text (builder, "field", sbx_denial_get_field (denial));
      tool_json_add_text (builder, "path", sbx_denial_get_path (denial));
      tool_json_add_text (builder, "text", sbx_denial_get_text (denial));
      tool_json_add_text (builder, "suggestion", sbx_denial_get_suggestion (denial));
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
}
