/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "explain-report.h"
#include "reach-plan.h"
#include "tool-path.h"
#include "tool-text.h"
#include "tool.h"

#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>

static GStrv paths;
static GStrv domains;
static GStrv arguments;
static gboolean as_json;

static const GOptionEntry explain_entries[] = {
  TOOL_REACH_OPTION_ENTRIES (N_("Let the command read PATH and all that is in it"),
                             N_("Let the command read and change PATH")),
  TOOL_PLAN_OPTION_ENTRIES,
  { "path", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &paths,
    N_("Say what can be done with PATH, whatever it looks like"), N_("PATH") },
  { "domain", 0, 0, G_OPTION_ARG_STRING_ARRAY, &domains,
    N_("Say whether DOMAIN can be reached, whatever it looks like"), N_("DOMAIN") },
  { "json", 0, 0, G_OPTION_ARG_NONE, &as_json, N_("Print the plan and the answers as JSON"), NULL },
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &arguments, NULL,
    N_("[SPEC] [PATH|DOMAIN…]") },
  { NULL }
};

typedef struct
{
  ToolReachOptions  options;
  GPtrArray        *questions;   /* (element-type ToolQuestion) */
  char             *base;        /* (nullable) what relative paths are relative to */
} Explain;

static void
explain_clear (Explain *self)
{
  tool_reach_options_clear (&self->options);
  g_clear_pointer (&self->questions, g_ptr_array_unref);
  g_clear_pointer (&self->base, g_free);
  g_clear_pointer (&paths, g_strfreev);
  g_clear_pointer (&domains, g_strfreev);
  g_clear_pointer (&arguments, g_strfreev);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Explain, explain_clear)

/* What the shell would have made of it, had it stood there without quotes. */
static char *
expand_tilde (const char *path)
{
  if (path[0] == '~' && (path[1] == '\0' || path[1] == '/'))
    return g_strconcat (g_get_home_dir (), path + 1, NULL);

  return g_strdup (path);
}

static gboolean
ask_path (Explain    *self,
          const char *text)
{
  g_autofree char *expanded = expand_tilde (text);
  g_autofree char *absolute = NULL;

  if (*text == '\0')
    {
      tool_complain (_("%s needs a path, and got an empty one"), "--path");
      return FALSE;
    }

  if (!g_path_is_absolute (expanded) && self->base == NULL)
    {
      self->base = tool_path_get_base ();
      if (self->base == NULL)
        return FALSE;
    }

  absolute = tool_path_make_absolute (expanded, self->base);
  g_ptr_array_add (self->questions, tool_question_new (text, absolute));
  return TRUE;
}

static void
ask_domain (Explain    *self,
            const char *text)
{
  g_ptr_array_add (self->questions, tool_question_new (text, NULL));
}

static gboolean
looks_like_path (const char *text)
{
  return *text == '.' || *text == '~' || strchr (text, '/') != NULL ||
         g_file_test (text, G_FILE_TEST_EXISTS);
}

static gboolean
take_questions (Explain *self,
                gsize    first)
{
  self->questions = g_ptr_array_new_with_free_func ((GDestroyNotify) tool_question_free);

  for (gsize i = first; arguments != NULL && arguments[i] != NULL; i++)
    if (!looks_like_path (arguments[i]))
      ask_domain (self, arguments[i]);
    else if (!ask_path (self, arguments[i]))
      return FALSE;

  for (gsize i = 0; paths != NULL && paths[i] != NULL; i++)
    if (!ask_path (self, paths[i]))
      return FALSE;

  for (gsize i = 0; domains != NULL && domains[i] != NULL; i++)
    ask_domain (self, domains[i]);

  return TRUE;
}

static int
run (const ToolCommand  *command,
     int                 argc,
     char              **argv)
{
  g_auto(Explain) self = { 0 };
  g_autoptr(SbxPlan) plan = NULL;
  g_autoptr(GError) error = NULL;
  gboolean printed;
  gsize n_used;

  if (!tool_parse (command, argc, &argv) ||
      !tool_plan_take_options (&self.options, (const char * const *) arguments, &n_used) ||
      !take_questions (&self, n_used))
    return TOOL_STATUS_WRONG;

  plan = tool_plan_make (&self.options, &error);
  if (plan == NULL)
    {
      tool_complain ("%s", error->message);
      return TOOL_STATUS_WRONG;
    }

  if (as_json)
    printed = tool_explain_json (plan, self.questions);
  else if (self.questions->len > 0)
    printed = tool_explain_answers (plan, self.questions);
  else
    printed = tool_explain_plan (plan);

  return printed ? EXIT_SUCCESS : TOOL_STATUS_FAILED;
}

const ToolCommand tool_command_explain = {
  .name = "explain",
  .summary = N_("Show what a sandbox would be made of, and why"),
  .description = N_(
    "SPEC is a JSON file, or “-” for standard input. Where an option says what the sandbox\n"
    "reaches, as those of “run” do, there is no SPEC before the questions; --spec takes a file\n"
    "besides.\n"
    "\n"
    "With a PATH, it says whether that can be read, written, replaced or connected to, and which\n"
    "entry decides; with a DOMAIN, whether it can be reached. What has a “/” in it, or begins\n"
    "with “.” or “~”, is a path. Nothing is opened, and nothing made.\n"
    "\n"
    "The exit status is 0, or 2 if the spec is wrong."),
  .options = explain_entries,
  .mixed = TRUE,
  .run = run,
};
