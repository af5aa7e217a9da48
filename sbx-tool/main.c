/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "tool.h"

#include "tool-text.h"

#include <fcntl.h>
#include <glib/gi18n.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const ToolCommand * const commands[] = {
  &tool_command_run,
  &tool_command_explain,
  &tool_command_check,
  &tool_command_doctor,
  &tool_command_providers,
  &tool_command_cleanup,
  &tool_command_clean,
  &tool_command_conformance,
  &tool_command_record,
  &tool_command_replay,
  &tool_command_complete,
  NULL,
};

const ToolCommand * const *
tool_get_commands (void)
{
  return commands;
}

const ToolCommand *
tool_find_command (const char *name)
{
  for (gsize i = 0; commands[i] != NULL; i++)
    if (strcmp (commands[i]->name, name) == 0)
      return commands[i];

  return NULL;
}

/*
 * Takes the options of @command out of @argv, whose first element is the command's name. What is
 * wrong is told to the user. The first argument that is no option ends the options, where it starts
 * the command line that is to be run. --help prints and ends the program.
 */
gboolean
tool_parse (const ToolCommand   *command,
            int                  argc,
            char              ***argv)
{
  g_autoptr(GOptionContext) context = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *program = g_strconcat ("sbx-tool ", command->name, NULL);

  g_set_prgname (program);
  context = g_option_context_new (command->arguments != NULL ? _(command->arguments) : NULL);
  g_option_context_set_strict_posix (context, !command->mixed);
  g_option_context_set_translation_domain (context, GETTEXT_PACKAGE);
  g_option_context_set_summary (context, command->summary);
  g_option_context_set_description (context, command->description);
  g_option_context_add_main_entries (context, command->options, GETTEXT_PACKAGE);

  if (!g_option_context_parse (context, &argc, argv, &error))
    {
      tool_complain ("%s", error->message);
      tool_hint (_("“sbx-tool %s --help” lists the options."), command->name);
      return FALSE;
    }

  if (argc > 1)
    {
      g_autofree char *extra = tool_quote ((*argv)[1]);

      tool_complain (_("%s: “sbx-tool %s” takes no such argument"), extra, command->name);
      tool_hint (_("“sbx-tool %s --help” lists the options."), command->name);
      return FALSE;
    }

  return TRUE;
}

static char *
make_help (void)
{
  g_autoptr(GString) text = g_string_new (NULL);

  g_string_append_printf (text, "%s\n  sbx-tool %s\n\n%s\n\n%s\n", _("Usage:"),
                          _("COMMAND [OPTION…]"),
                          _("Runs commands inside of sandboxes."), _("Commands:"));
  for (gsize i = 0; commands[i] != NULL; i++)
    if (commands[i]->summary != NULL)
      g_string_append_printf (text, "  %-11s %s\n", commands[i]->name, _(commands[i]->summary));

  g_string_append_printf (text, "\n%s\n  %-11s %s\n  %-11s %s\n\n%s\n", _("Options:"),
                          "--help", _("Show this help, or that of a command"),
                          "--version", _("Show the version"),
                          _("“sbx-tool COMMAND --help” lists the options of a command."));

  return g_string_free (g_steal_pointer (&text), FALSE);
}

static int
run_global (const char *argument)
{
  if (g_strcmp0 (argument, "--help") == 0 || g_strcmp0 (argument, "-h") == 0 ||
      g_strcmp0 (argument, "help") == 0)
    {
      g_autofree char *help = make_help ();

      return tool_print (help) ? EXIT_SUCCESS : TOOL_STATUS_FAILED;
    }

  if (g_strcmp0 (argument, "--version") == 0)
    return tool_print ("sbx-tool " PACKAGE_VERSION "\n") ? EXIT_SUCCESS : TOOL_STATUS_FAILED;

  if (argument == NULL)
    {
      tool_complain (_("no command was given"));
    }
  else
    {
      g_autofree char *name = tool_quote (argument);

      tool_complain (argument[0] == '-' ? _("%s is no option of sbx-tool")
                                        : _("%s is no command of sbx-tool"), name);
    }
  tool_hint (_("“sbx-tool --help” lists the commands."));

  return TOOL_STATUS_FAILED;
}

/* A descriptor that we open must not become our standard output because that was closed. */
static void
open_standard_descriptors (void)
{
  for (int fd = 0; fd <= 2; fd++)
    if (fcntl (fd, F_GETFD) == -1 && open ("/dev/null", O_RDWR) == -1)
      abort ();
}

int
main (int    argc,
      char **argv)
{
  const ToolCommand *command;

  open_standard_descriptors ();
  signal (SIGPIPE, SIG_IGN);

  setlocale (LC_ALL, "");
  bindtextdomain (GETTEXT_PACKAGE, LOCALEDIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  textdomain (GETTEXT_PACKAGE);

  command = argc > 1 ? tool_find_command (argv[1]) : NULL;
  if (command == NULL)
    return run_global (argc > 1 ? argv[1] : NULL);

  return command->run (command, argc - 1, argv + 1);
}
