/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "run-pump.h"
#include "run-signals.h"
#include "tool-text.h"
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <glib/gi18n.h>
#include <poll.h>
#include <sbx.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Stands between a client and its provider, passes on what both say as it comes, and writes the
 * record beside. The conversation goes on whatever becomes of the record.
 */

#define LOOK_MS 50

static struct
{
  char  *output;
  GStrv  argv;
} options;

static const GOptionEntry record_entries[] = {
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
    N_("Write the record to this file"), N_("FILE") },
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.argv, NULL, NULL },
  { NULL }
};

/* One conversation, and this is the only one of the process. */
static struct
{
  SbxConversationRecorder *recorder;
  int                      record_fd;     /* -1 once it could not be written to */
  GSubprocess             *provider;
  GMainLoop               *loop;
  ToolPump                *asked;         /* from the client to the provider */
  ToolPump                *answered;
  int                      provider_in;
  int                      provider_out;
  int                      client_in;
  gboolean                 exited;
  guint64                  seen;          /* what was answered when we last looked */
} session = { .record_fd = -1, .provider_in = -1, .provider_out = -1, .client_in = -1 };

static void
write_record (void)
{
  g_autoptr(GBytes) entries = sbx_conversation_recorder_take (session.recorder);
  gsize size;
  const char *data = g_bytes_get_data (entries, &size);

  while (session.record_fd != -1 && size > 0)
    {
      const ssize_t n = write (session.record_fd, data, size);

      if (n > 0)
        {
          data += n;
          size -= (gsize) n;
        }
      else if (errno != EINTR)
        {
          tool_complain (_("the record cannot be written, and ends here: %s"), g_strerror (errno));
          close (g_steal_fd (&session.record_fd));
        }
    }
}

static void
feed (SbxConversationSide  side,
      const guint8        *data,
      gsize                size)
{
  g_autoptr(GBytes) bytes = g_bytes_new_static (data, size);

  if (session.record_fd == -1)
    return;

  sbx_conversation_recorder_feed (session.recorder, side, bytes);
  write_record ();
}

static void
asked_tap (const guint8 *data,
           gsize         size)
{
  feed (SBX_CONVERSATION_SIDE_CLIENT, data, size);
}

static void
answered_tap (const guint8 *data,
              gsize         size)
{
  feed (SBX_CONVERSATION_SIDE_PROVIDER, data, size);
}

static void
maybe_end (void)
{
  if (session.exited && tool_pump_has_ended (session.answered))
    g_main_loop_quit (session.loop);
}

/* The client has said all, or the provider does not listen any more: it is told so either way. */
static void
asked_ended_cb (ToolPump    *pump,
                ToolPumpEnd  end,
                int          error_number,
                gpointer     user_data)
{
  if (session.provider_in != -1)
    close (g_steal_fd (&session.provider_in));
}

/* The same the other way; a client that is gone is told to the provider by its pipe. */
static void
answered_ended_cb (ToolPump    *pump,
                   ToolPumpEnd  end,
                   int          error_number,
                   gpointer     user_data)
{
  if (session.provider_out != -1)
    close (g_steal_fd (&session.provider_out));
  if (session.client_in > STDERR_FILENO)
    close (session.client_in);
  session.client_in = -1;
  close (STDOUT_FILENO);
  maybe_end ();
}

/* The provider has exited, and something that it left may hold its output open for ever: what can
 * be read is passed on, and then it is over. */
static gboolean
look_cb (gpointer user_data)
{
  struct pollfd fd = { .fd = session.provider_out, .events = POLLIN };
  const guint64 moved = tool_pump_get_moved (session.answered);

  if (!tool_pump_has_ended (session.answered) && moved == session.seen && poll (&fd, 1, 0) == 0)
    {
      g_main_loop_quit (session.loop);
      return G_SOURCE_REMOVE;
    }

  session.seen = moved;
  return G_SOURCE_CONTINUE;
}

static void
exited_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  g_subprocess_wait_finish (G_SUBPROCESS (object), result, NULL);
  session.exited = TRUE;
  g_timeout_add (LOOK_MS, look_cb, NULL);
  maybe_end ();
}

static void
signal_cb (int      signal_number,
           gpointer user_data)
{
  if (signal_number != SIGTSTP && signal_number != SIGCONT && signal_number != SIGWINCH)
    g_subprocess_send_signal (session.provider, signal_number);
}

static gboolean
open_record (void)
{
  g_autofree char *made = NULL;
  g_autofree char *shown = NULL;
  const char *path = options.output;

  if (path == NULL)
    {
      g_autoptr(GDateTime) now = g_date_time_new_now_local ();
      g_autofree char *date = g_date_time_format (now, "%Y%m%d-%H%M%S");

      path = made = g_strdup_printf ("sbx-conversation-%s-%d.jsonl", date, (int) getpid ());
    }

  session.record_fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600);
  shown = tool_quote (path);
  if (session.record_fd == -1)
    {
      tool_complain ("%s: %s", shown, g_strerror (errno));
      return FALSE;
    }
  if (options.output == NULL)
    tool_hint (_("sbx-tool: recording to %s"), shown);

  return TRUE;
}

static gboolean
start_provider (GError **error)
{
  g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_NONE);
  int in[2] = { -1, -1 };
  int out[2] = { -1, -1 };

  if (!g_unix_open_pipe (in, FD_CLOEXEC, error))
    return FALSE;
  session.provider_in = in[1];
  g_subprocess_launcher_take_stdin_fd (launcher, in[0]);

  if (!g_unix_open_pipe (out, FD_CLOEXEC, error))
    return FALSE;
  session.provider_out = out[0];
  g_subprocess_launcher_take_stdout_fd (launcher, out[1]);

  /* These ends are ours alone. */
  if (!g_unix_set_fd_nonblocking (session.provider_in, TRUE, error) ||
      !g_unix_set_fd_nonblocking (session.provider_out, TRUE, error) ||
      !tool_signals_watch (signal_cb, NULL, error))
    return FALSE;

  session.provider = g_subprocess_launcher_spawnv (launcher,
                                                   (const char * const *) options.argv, error);

  return session.provider != NULL;
}

/* Our standard output through a description of our own, so that a write that cannot wait need not
 * be small. Not for reading as well: then it would never be seen that the client is gone. */
static int
open_output (void)
{
  const int fd = open ("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

  return fd != -1 ? fd : STDOUT_FILENO;
}

static void
converse (void)
{
  session.client_in = open_output ();
  session.asked = tool_pump_new (STDIN_FILENO, session.provider_in, asked_ended_cb, NULL);
  session.answered = tool_pump_new (session.provider_out, session.client_in, answered_ended_cb,
                                    NULL);
  tool_pump_set_tap (session.asked, asked_tap);
  tool_pump_set_tap (session.answered, answered_tap);

  g_subprocess_wait_async (session.provider, NULL, exited_cb, NULL);
  tool_pump_start (session.asked);
  tool_pump_start (session.answered);
  g_main_loop_run (session.loop);

  sbx_conversation_recorder_finish (session.recorder, SBX_CONVERSATION_SIDE_CLIENT);
  sbx_conversation_recorder_finish (session.recorder, SBX_CONVERSATION_SIDE_PROVIDER);
  write_record ();
}

/* What the provider ended with is what we end with. */
static int
pass_on_status (void)
{
  struct sigaction standard = { .sa_handler = SIG_DFL };
  int signal_number;

  if (g_subprocess_get_if_exited (session.provider))
    return g_subprocess_get_exit_status (session.provider);

  signal_number = g_subprocess_get_term_sig (session.provider);
  sigaction (signal_number, &standard, NULL);
  raise (signal_number);

  return TOOL_STATUS_SIGNAL + signal_number;
}

static int
run (const ToolCommand  *command,
     int                 argc,
     char              **argv)
{
  g_autoptr(GError) error = NULL;

  if (!tool_parse (command, argc, &argv))
    return TOOL_STATUS_FAILED;

  if (options.argv == NULL || options.argv[0] == NULL)
    {
      tool_complain (_("no provider was given to record"));
      tool_hint (_("“sbx-tool %s --help” lists the options."), command->name);
      return TOOL_STATUS_FAILED;
    }

  session.recorder = sbx_conversation_recorder_new ();
  session.loop = g_main_loop_new (NULL, FALSE);
  if (!open_record ())
    return TOOL_STATUS_FAILED;

  if (!start_provider (&error))
    {
      tool_complain ("%s", error->message);
      return TOOL_STATUS_FAILED;
    }

  converse ();

  return pass_on_status ();
}

const ToolCommand tool_command_record = {
  .name = "record",
  .arguments = N_("-- PROVIDER serve"),
  .summary = N_("Be a provider that is another one, and record the conversation"),
  .description = N_("Secrets and payloads are not in the record; look through it all the same "
                    "before you send it to anybody."),
  .options = record_entries,
  .run = run,
};
