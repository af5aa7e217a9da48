/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "run-options.h"

#include "tool-text.h"

#include <errno.h>
#include <glib/gi18n.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* GOption writes to these while it parses; afterwards they are moved into a ToolRunOptions. */
static struct
{
  GPtrArray *environment;
  guint      timeout_ms;
  gboolean   toolchain;
  gboolean   fresh;
  gboolean   explain_denials;
  gboolean   tty;
  gboolean   no_tty;
  char      *json;
  char      *provider;
  char      *provider_command;
  char      *profile;
  char      *group;
  GStrv      argv;
} parsed;

static gboolean
parse_variable (const char  *option_name,
                const char  *value,
                gpointer     data,
                GError     **error)
{
  const char *equals = strchr (value, '=');
  g_autofree char *name = equals != NULL ? g_strndup (value, equals - value) : g_strdup (value);
  g_autofree char *shown = tool_quote (name);

  if (*name == '\0')
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   _("--env needs a name: --env NAME or --env NAME=VALUE"));
      return FALSE;
    }

  if (equals == NULL && g_getenv (name) == NULL)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   _("--env %s: there is no such variable here; give it a value: --env %s=VALUE"),
                   shown, shown);
      return FALSE;
    }

  if (parsed.environment == NULL)
    parsed.environment = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (parsed.environment, equals != NULL ? g_strdup (value)
                                                      : g_strdup_printf ("%s=%s", name,
                                                                         g_getenv (name)));
  return TRUE;
}

static gboolean
parse_timeout (const char  *option_name,
               const char  *value,
               gpointer     data,
               GError     **error)
{
  char *end = NULL;
  const double seconds = g_ascii_strtod (value, &end);
  g_autofree char *shown = tool_quote (value);

  if (end == value || *end != '\0' || !isfinite (seconds) || seconds <= 0)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   _("--timeout %s: this is not a number of seconds above 0"), shown);
      return FALSE;
    }
  if (seconds > G_MAXINT / 1000)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   _("--timeout %s: the longest time is %d seconds"), shown, G_MAXINT / 1000);
      return FALSE;
    }

  parsed.timeout_ms = MAX (1, (guint) ceil (seconds * 1000));
  return TRUE;
}

/* The completion script shows these as they stand here; keep the man page in step. */
const GOptionEntry tool_run_option_entries[] = {
  TOOL_REACH_OPTION_ENTRIES (N_("Let the command read PATH and all that is in it"),
                             N_("Let the command read and change PATH")),
  { "cwd", 0, 0, G_OPTION_ARG_FILENAME, &tool_reach_parsed.cwd,
    N_("Start the command in DIRECTORY instead of here"), N_("DIRECTORY") },
  { "env", 0, G_OPTION_FLAG_FILENAME, G_OPTION_ARG_CALLBACK, parse_variable,
    N_("Set a variable, or pass one of yours on"), N_("NAME[=VALUE]") },
  { "timeout", 0, G_OPTION_FLAG_FILENAME, G_OPTION_ARG_CALLBACK, parse_timeout,
    N_("End the command after so many seconds"), N_("SECONDS") },
  { "toolchain", 0, 0, G_OPTION_ARG_NONE, &parsed.toolchain,
    N_("Let the command use programs that are installed in your home directory"), NULL },
  { "fresh", 0, 0, G_OPTION_ARG_NONE, &parsed.fresh,
    N_("Start with an empty home directory instead of the project's"), NULL },
  { "tty", 0, 0, G_OPTION_ARG_NONE, &parsed.tty,
    N_("Give the command a terminal, even if only input or output is one"), NULL },
  { "no-tty", 0, 0, G_OPTION_ARG_NONE, &parsed.no_tty,
    N_("Give the command pipes, even on a terminal"), NULL },
  { "explain-denials", 0, 0, G_OPTION_ARG_NONE, &parsed.explain_denials,
    N_("If the command fails, list what it was refused, and what to add to a spec"), NULL },
  { "json", 0, 0, G_OPTION_ARG_FILENAME, &parsed.json,
    N_("Write how the command ended to FILE"), N_("FILE") },
  { "provider", 0, 0, G_OPTION_ARG_STRING, &parsed.provider,
    N_("Let the provider of this name open the sandbox, as its profile says"),
    N_("NAME[/PROFILE]") },
  { "provider-command", 0, 0, G_OPTION_ARG_STRING, &parsed.provider_command,
    N_("Start the provider with this command line instead of looking for one by its name"),
    N_("COMMAND-LINE") },
  { "profile", 0, 0, G_OPTION_ARG_STRING, &parsed.profile,
    N_("Use this profile of the provider instead of “default”"), N_("NAME") },
  { "group", 0, 0, G_OPTION_ARG_STRING, &parsed.group,
    N_("Let the sandbox belong to a group, for “sbx-tool cleanup”"), N_("GROUP") },
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &parsed.argv,
    NULL, N_("-- COMMAND [ARGUMENT…]") },
  { NULL }
};

/* What a profile decides cannot be asked for besides. */
static gboolean
check_provider_options (const ToolRunOptions *self)
{
  const char *surplus = tool_reach_options_name_used (&self->reach);

  if (surplus == NULL)
    surplus = self->toolchain ? "--toolchain" : self->fresh ? "--fresh"
              : self->explain_denials ? "--explain-denials" : NULL;

  if (self->profile == NULL)
    return TRUE;

  if (self->provider == NULL && self->provider_command == NULL)
    {
      tool_complain (_("--profile is for --provider and --provider-command"));
      return FALSE;
    }
  if (surplus != NULL)
    {
      tool_complain (_("%s cannot be used with a provider, whose profile decides that; choose "
                       "another profile"), surplus);
      return FALSE;
    }

  return TRUE;
}

/* "NAME/PROFILE" is split at its first slash, as sandbox.v1 has it. */
static gboolean
take_provider (ToolRunOptions *self)
{
  char *slash = parsed.provider != NULL ? strchr (parsed.provider, '/') : NULL;

  self->provider = parsed.provider;
  self->provider_command = parsed.provider_command;
  self->profile = parsed.profile;
  self->group = parsed.group;

  if (slash != NULL)
    {
      if (self->profile != NULL)
        {
          tool_complain (_("the profile was given twice: with --provider and with --profile"));
          return FALSE;
        }

      self->profile = g_strdup (slash + 1);
      *slash = '\0';
    }

  if (self->profile == NULL && (self->provider != NULL || self->provider_command != NULL))
    self->profile = g_strdup ("default");

  return check_provider_options (self);
}

/* What is wrong is told to the user, and NULL returned. */
ToolRunOptions *
tool_run_options_parse (const ToolCommand  *command,
                        int                 argc,
                        char              **argv)
{
  g_autoptr(ToolRunOptions) self = g_new0 (ToolRunOptions, 1);

  if (!tool_parse (command, argc, &argv))
    return NULL;

  self->environment = parsed.environment;
  self->timeout_ms = parsed.timeout_ms;
  self->toolchain = parsed.toolchain;
  self->fresh = parsed.fresh;
  self->explain_denials = parsed.explain_denials;
  self->tty = parsed.tty ? TOOL_TTY_YES : parsed.no_tty ? TOOL_TTY_NO : TOOL_TTY_AUTO;
  self->json = parsed.json;
  self->argv = parsed.argv;

  if (self->argv == NULL || self->argv[0] == NULL)
    {
      tool_complain (_("no command was given to run"));
      tool_hint (_("“sbx-tool %s --help” lists the options."), command->name);
      return NULL;
    }
  if (parsed.tty && parsed.no_tty)
    {
      tool_complain (_("--tty and --no-tty exclude each other"));
      return NULL;
    }
  if (self->json != NULL && *self->json == '\0')
    {
      tool_complain (_("%s needs a path, and got an empty one"), "--json");
      return NULL;
    }

  if (!tool_reach_options_take (&self->reach) || !take_provider (self))
    return NULL;

  /* Where the command starts is known: without a spec, nothing else can say so. */
  if (self->reach.spec == NULL && self->reach.cwd == NULL)
    self->reach.cwd = g_strdup (self->reach.base);

  return g_steal_pointer (&self);
}

void
tool_run_options_free (ToolRunOptions *self)
{
  tool_reach_options_clear (&self->reach);
  g_clear_pointer (&self->environment, g_ptr_array_unref);
  g_free (self->json);
  g_free (self->provider);
  g_free (self->provider_command);
  g_free (self->profile);
  g_free (self->group);
  g_strfreev (self->argv);
  g_free (self);
}
