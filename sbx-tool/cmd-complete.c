/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "tool-text.h"
#include "tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What the completion script of a shell asks: without an argument the words that may come first,
 * with a command its options. Each line has a word and what has to follow it: "none", "value",
 * "file" or "directory".
 */

static const GOptionEntry complete_entries[] = {
  { NULL }
};

static const char *
get_kind (const GOptionEntry *entry)
{
  if (entry->arg == G_OPTION_ARG_NONE)
    return "none";
  if (entry->arg != G_OPTION_ARG_FILENAME && entry->arg != G_OPTION_ARG_FILENAME_ARRAY)
    return "value";

  return strcmp (entry->long_name, "cwd") == 0 || strcmp (entry->long_name, "workspace") == 0
         ? "directory" : "file";
}

static int
run (const ToolCommand  *command,
     int                 argc,
     char              **argv)
{
  const ToolCommand *asked = argc > 1 ? tool_find_command (argv[1]) : NULL;
  g_autoptr(GString) text = g_string_new (NULL);

  if (argc == 1)
    {
      for (const ToolCommand * const *c = tool_get_commands (); *c != NULL; c++)
        if ((*c)->summary != NULL)
          g_string_append_printf (text, "%s none\n", (*c)->name);
      g_string_append (text, "--help none\n--version none\n");
    }
  else if (asked != NULL)
    {
      for (const GOptionEntry *entry = asked->options; entry->long_name != NULL; entry++)
        if (*entry->long_name != '\0')
          g_string_append_printf (text, "--%s %s\n", entry->long_name, get_kind (entry));
      g_string_append (text, "--help none\n");
    }

  return tool_print (text->str) ? EXIT_SUCCESS : TOOL_STATUS_FAILED;
}

const ToolCommand tool_command_complete = {
  .name = "complete",
  .options = complete_entries,
  .run = run,
};
