/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "explain-report.h"

#include "tool-json.h"
#include "tool-text.h"

#include <glib/gi18n.h>
#include <string.h>

/* How a plan, and what was asked about it, is shown. Every name in it may be anybody's. */

ToolQuestion *
tool_question_new (const char *text,
                   const char *path)
{
  ToolQuestion *self = g_new0 (ToolQuestion, 1);

  self->text = g_strdup (text);
  self->path = g_strdup (path);

  return self;
}

void
tool_question_free (ToolQuestion *self)
{
  g_free (self->text);
  g_free (self->path);
  g_free (self);
}

static const char *
get_kind (SbxPlanEntry *entry)
{
  g_autoptr(GEnumClass) klass = g_type_class_ref (SBX_TYPE_PLAN_KIND);
  const GEnumValue *value = g_enum_get_value (klass, (int) sbx_plan_entry_get_kind (entry));

  return value != NULL ? value->value_nick : "?";
}

/* "write      /a <- /b  (why; which line)" */
static void
append_entry (GString      *text,
              const char   *indent,
              SbxPlanEntry *entry)
{
  const char *path = sbx_plan_entry_get_path (entry);
  const char *source_path = sbx_plan_entry_get_source_path (entry);
  g_autofree char *name = tool_quote (path != NULL ? path : sbx_plan_entry_get_domain (entry));
  g_autofree char *reason = tool_quote (sbx_plan_entry_get_reason (entry));

  g_string_append_printf (text, "%s%-10s %s", indent, get_kind (entry), name);

  if (source_path != NULL && g_strcmp0 (source_path, path) != 0)
    {
      g_autofree char *shown = tool_quote (source_path);

      g_string_append_printf (text, sbx_plan_entry_get_kind (entry) == SBX_PLAN_LINK ? " -> %s"
                                                                                     : " <- %s",
                              shown);
    }

  g_string_append_printf (text, "  (%s", reason);
  if (sbx_plan_entry_get_source (entry) != NULL)
    {
      g_autofree char *source = tool_quote (sbx_plan_entry_get_source (entry));

      g_string_append_printf (text, "; %s", source);
    }
  g_string_append (text, ")\n");
}

static void
append_limits (GString *text,
               SbxPlan *plan)
{
  static const struct { const char *name; const char *unit; } limits[] = {
    [SBX_LIMIT_MEMORY] = { "memory", N_("bytes") },
    [SBX_LIMIT_PROCESSES] = { "processes", NULL },
    [SBX_LIMIT_CPU_TIME] = { "cpuTime", N_("seconds") },
    [SBX_LIMIT_FILE_SIZE] = { "fileSize", N_("bytes") },
    [SBX_LIMIT_OPEN_FILES] = { "openFiles", NULL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (limits); i++)
    {
      const guint64 value = sbx_plan_get_limit (plan, (SbxLimit) i);
      const char *means = sbx_plan_get_limit_means (plan, (SbxLimit) i);

      if (value != 0)
        g_string_append_printf (text, "limit      %s: %" G_GUINT64_FORMAT "%s%s  (%s)\n",
                                limits[i].name, value, limits[i].unit != NULL ? " " : "",
                                limits[i].unit != NULL ? _(limits[i].unit) : "",
                                means != NULL ? means : "?");
    }
}

static void
append_problems (GString *text,
                 SbxPlan *plan)
{
  const char * const *problems = sbx_plan_get_problems (plan);

  for (gsize i = 0; problems[i] != NULL; i++)
    {
      g_autofree char *problem = tool_escape (problems[i]);

      g_string_append_printf (text, "problem    %s\n", problem);
    }
}

gboolean
tool_explain_plan (SbxPlan *plan)
{
  g_autoptr(GString) text = g_string_new (NULL);
  g_autofree char *cwd = tool_quote (sbx_plan_get_cwd (plan));

  g_string_append_printf (text, "cwd        %s\n", cwd);

  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (plan)); i++)
    {
      g_autoptr(SbxPlanEntry) entry = g_list_model_get_item (G_LIST_MODEL (plan), i);

      append_entry (text, "", entry);
    }

  append_limits (text, plan);
  append_problems (text, plan);

  return tool_print (text->str);
}

static void
append_path_answer (GString            *text,
                    SbxPlan            *plan,
                    const ToolQuestion *question)
{
  g_autofree char *shown = tool_quote (question->path);
  SbxPlanAccess access;
  SbxPlanEntry *entry = sbx_plan_check_path (plan, question->path, &access);
  g_autoptr(GString) words = g_string_new (NULL);

  if (entry == NULL)
    {
      g_string_append_printf (text, _("%s: is not there, and cannot be made\n"), shown);
      return;
    }

  if (access & SBX_PLAN_ACCESS_READ)
    g_string_append_printf (words, ", %s", _("read"));
  if (access & SBX_PLAN_ACCESS_WRITE)
    g_string_append_printf (words, ", %s", _("written"));
  if (access & SBX_PLAN_ACCESS_REPLACE)
    g_string_append_printf (words, ", %s", _("replaced"));
  if (access & SBX_PLAN_ACCESS_CONNECT)
    g_string_append_printf (words, ", %s", _("connected to"));

  if (words->len > 0)
    g_string_append_printf (text, _("%s: can be %s\n"), shown, words->str + 2);
  else
    g_string_append_printf (text, _("%s: can neither be read nor written\n"), shown);

  append_entry (text, "  ", entry);
}

static void
append_domain_answer (GString            *text,
                      SbxPlan            *plan,
                      const ToolQuestion *question)
{
  g_autofree char *shown = tool_quote (question->text);
  gboolean allowed;
  SbxPlanEntry *entry = sbx_plan_check_domain (plan, question->text, &allowed);

  g_string_append_printf (text, allowed ? _("%s: can be reached\n") : _("%s: cannot be reached\n"),
                          shown);
  if (entry != NULL)
    append_entry (text, "  ", entry);
}

gboolean
tool_explain_answers (SbxPlan   *plan,
                      GPtrArray *questions)
{
  g_autoptr(GString) text = g_string_new (NULL);

  for (guint i = 0; i < questions->len; i++)
    {
      const ToolQuestion *question = g_ptr_array_index (questions, i);

      if (question->path != NULL)
        append_path_answer (text, plan, question);
      else
        append_domain_answer (text, plan, question);
    }

  append_problems (text, plan);

  return tool_print (text->str);
}

static void
add_boolean (JsonBuilder *builder,
             const char  *name,
             gboolean     value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_boolean_value (builder, value);
}

static void
add_by (JsonBuilder  *builder,
        SbxPlanEntry *entry)
{
  json_builder_set_member_name (builder, "by");
  if (entry == NULL)
    {
      json_builder_add_null_value (builder);
      return;
    }

  json_builder_begin_object (builder);
  tool_json_add_text (builder, "kind", get_kind (entry));
  if (sbx_plan_entry_get_domain (entry) != NULL)
    tool_json_add_text (builder, "domain", sbx_plan_entry_get_domain (entry));
  else
    tool_json_add_text (builder, "path", sbx_plan_entry_get_path (entry));
  tool_json_add_text (builder, "reason", sbx_plan_entry_get_reason (entry));
  tool_json_add_text (builder, "source", sbx_plan_entry_get_source (entry));
  json_builder_end_object (builder);
}

static void
add_answer (JsonBuilder        *builder,
            SbxPlan            *plan,
            const ToolQuestion *question)
{
  json_builder_begin_object (builder);

  if (question->path != NULL)
    {
      SbxPlanAccess access;
      SbxPlanEntry *entry = sbx_plan_check_path (plan, question->path, &access);

      tool_json_add_text (builder, "path", question->path);
      add_boolean (builder, "read", (access & SBX_PLAN_ACCESS_READ) != 0);
      add_boolean (builder, "write", (access & SBX_PLAN_ACCESS_WRITE) != 0);
      add_boolean (builder, "replace", (access & SBX_PLAN_ACCESS_REPLACE) != 0);
      add_boolean (builder, "connect", (access & SBX_PLAN_ACCESS_CONNECT) != 0);
      add_by (builder, entry);
    }
  else
    {
      gboolean allowed;
      SbxPlanEntry *entry = sbx_plan_check_domain (plan, question->text, &allowed);

      tool_json_add_text (builder, "domain", question->text);
      add_boolean (builder, "reach", allowed);
      add_by (builder, entry);
    }

  json_builder_end_object (builder);
}

/* The plan is a JSON text already, which is put where it belongs as it is. */
gboolean
tool_explain_json (SbxPlan   *plan,
                   GPtrArray *questions)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) plan_json = sbx_plan_to_json (plan, &error);
  g_autoptr(JsonBuilder) builder = json_builder_new ();
  g_autofree char *answers = NULL;
  g_autofree char *whole = NULL;
  g_autofree char *safe = NULL;
  gconstpointer data;
  gsize size;

  if (plan_json == NULL)
    {
      tool_complain ("%s", error->message);
      return FALSE;
    }

  json_builder_begin_array (builder);
  for (guint i = 0; i < questions->len; i++)
    add_answer (builder, plan, g_ptr_array_index (questions, i));
  json_builder_end_array (builder);

  data = g_bytes_get_data (plan_json, &size);
  answers = tool_json_to_text (builder);
  whole = g_strdup_printf ("{\n\"version\": 1,\n\"plan\": %.*s,\n\"answers\": %s}\n", (int) size,
                           (const char *) data, answers);
  safe = tool_json_make_safe (whole);

  return tool_print (safe);
}
