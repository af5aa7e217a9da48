/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "run-interrupt.h"
#include "tool-text.h"
#include "tool.h"

#include <errno.h>
#include <glib/gi18n.h>
#include <math.h>
#include <sbx.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_DIFFERENT 1
#define DEFAULT_SECONDS 10
#define MAX_SECONDS 3600
#define MAX_LINE (128 * 1024 * 1024)
#define READ_SIZE (64 * 1024)

static struct
{
  char   *workspace;
  double  seconds;
  GStrv   argv;
} options;

static const GOptionEntry replay_entries[] = {
  { "workspace", 0, 0, G_OPTION_ARG_FILENAME, &options.workspace,
    N_("Open sessions with this directory instead of a new one"), N_("DIRECTORY") },
  { "timeout", 0, 0, G_OPTION_ARG_DOUBLE, &options.seconds,
    N_("Wait this long for each answer instead of ten seconds"), N_("SECONDS") },
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.argv, NULL, NULL },
  { NULL }
};

static gboolean
write_all (GBytes *bytes)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  while (size > 0)
    {
      const ssize_t n = write (STDOUT_FILENO, data, size);

      if (n > 0)
        {
          data += n;
          size -= (gsize) n;
        }
      else if (errno != EINTR)
        {
          return FALSE;
        }
    }

  return TRUE;
}

static gboolean
is_blank (const char *text,
          gsize       size)
{
  for (gsize i = 0; i < size; i++)
    if (!g_ascii_isspace (text[i]))
      return FALSE;

  return TRUE;
}

/* Answers one line; FALSE when it was the last. */
static gboolean
answer (SbxConversationPlayer *player,
        const char            *text,
        gsize                  size)
{
  g_autoptr(GBytes) line = NULL;
  g_autoptr(GBytes) text_out = NULL;

  while (size > 0 && text[size - 1] == '\r')
    size--;
  if (is_blank (text, size))
    return TRUE;

  line = g_bytes_new_static (text, size);
  text_out = sbx_conversation_player_answer (player, line);

  return write_all (text_out) && !sbx_conversation_player_is_over (player);
}

/* One line after the other, as a plain provider does it. */
static int
play_provider (SbxConversation *conversation)
{
  g_autoptr(SbxConversationPlayer) player = sbx_conversation_player_new (conversation);
  g_autoptr(GByteArray) buffer = g_byte_array_new ();

  for (;;)
    {
      guint8 data[READ_SIZE];
      const ssize_t n = read (STDIN_FILENO, data, sizeof data);
      const guint8 *newline;
      guint start = 0;

      if (n == -1 && errno == EINTR)
        continue;
      if (n <= 0)
        break;

      g_byte_array_append (buffer, data, (guint) n);
      while ((newline = memchr (buffer->data + start, '\n', buffer->len - start)) != NULL)
        {
          const guint end = (guint) (newline - buffer->data);

          if (!answer (player, (const char *) buffer->data + start, end - start))
            return EXIT_SUCCESS;
          start = end + 1;
        }
      if (start > 0)
        g_byte_array_remove_range (buffer, 0, start);

      if (buffer->len > MAX_LINE)
        {
          tool_complain (_("the client sent a line of more than %d MiB"), MAX_LINE / 1024 / 1024);
          return TOOL_STATUS_FAILED;
        }
    }

  answer (player, (const char *) buffer->data, buffer->len);

  return EXIT_SUCCESS;
}

static int
play_client (SbxConversation     *conversation,
             const char * const  *argv)
{
  const double seconds = options.seconds != 0 ? options.seconds : DEFAULT_SECONDS;
  g_autofree char *workspace = NULL;
  g_autoptr(GString) text = g_string_new (NULL);
  g_autoptr(GError) error = NULL;
  g_auto(GStrv) differences = NULL;
  GCancellable *cancellable;

  if (!(seconds > 0 && seconds <= MAX_SECONDS))
    {
      tool_complain (_("--timeout needs a number of seconds, up to %d"), MAX_SECONDS);
      return TOOL_STATUS_FAILED;
    }

  if (options.workspace != NULL)
    workspace = g_canonicalize_filename (options.workspace, NULL);
  cancellable = tool_interrupt_watch (&error);
  if (cancellable != NULL)
    differences = sbx_conversation_replay (conversation, argv, workspace,
                                           (guint) ceil (seconds * 1000), cancellable, &error);
  if (differences == NULL)
    {
      tool_interrupt_end ();
      tool_complain ("%s", error->message);
      return TOOL_STATUS_FAILED;
    }

  for (gsize i = 0; differences[i] != NULL; i++)
    {
      g_autofree char *shown = tool_quote (differences[i]);

      g_string_append_printf (text, "%s\n", shown);
    }
  if (text->len == 0)
    g_string_append (text, _("The provider's answers have the shape that they had.\n"));

  if (!tool_print (text->str))
    return TOOL_STATUS_FAILED;

  return differences[0] != NULL ? STATUS_DIFFERENT : EXIT_SUCCESS;
}

static int
run (const ToolCommand  *command,
     int                 argc,
     char              **argv)
{
  g_autoptr(SbxConversation) conversation = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *path = NULL;
  char **provider;

  if (!tool_parse (command, argc, &argv))
    return TOOL_STATUS_FAILED;

  if (options.argv == NULL || options.argv[0] == NULL || *options.argv[0] == '\0')
    {
      tool_complain (_("no record was given to replay"));
      tool_hint (_("“sbx-tool %s --help” lists the options."), command->name);
      return TOOL_STATUS_FAILED;
    }

  path = g_canonicalize_filename (options.argv[0], NULL);
  conversation = sbx_conversation_load (path, &error);
  if (conversation == NULL)
    {
      g_autofree char *shown = tool_quote (options.argv[0]);

      tool_complain ("%s: %s", shown, error->message);
      return TOOL_STATUS_FAILED;
    }

  provider = options.argv + 1;
  if (g_strcmp0 (provider[0], "--") == 0)
    provider++;

  return provider[0] == NULL ? play_provider (conversation)
                             : play_client (conversation, (const char * const *) provider);
}

const ToolCommand tool_command_replay = {
  .name = "replay",
  .arguments = N_("FILE [-- PROVIDER serve]"),
  .summary = N_("Play one side of a recorded conversation"),
  .description = N_("Without a provider this is one, and answers as it is recorded. With one, it "
                    "asks what is recorded; the exit status is 0 if the answers are of the same "
                    "shape as those in the record, and 1 if not."),
  .options = replay_entries,
  .run = run,
};
