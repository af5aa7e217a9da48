/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "run-denials.h"
#include "run-input.h"
#include "run-options.h"
#include "run-outcome.h"
#include "run-provider.h"
#include "run-pump.h"
#include "run-record.h"
#include "run-signals.h"
#include "run-streams.h"
#include "run-terminal.h"
#include "tool-text.h"
#include "tool.h"

#include <glib/gi18n.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long a killed command may take before the sandbox is ended. */
#define KILL_PATIENCE_MS 5000

typedef struct
{
  ToolRunOptions *options;
  ToolRecord     *record;        /* (nullable) */
  gboolean        terminal;
  GMainLoop      *loop;
  GCancellable   *cancellable;   /* of all up to the end of the command */

  SbxProvider    *provider;
  SbxSandboxSpec *spec;          /* (nullable) without one a profile decides */
  SbxResolver    *resolver;      /* (nullable) */
  SbxSession     *session;
  SbxProcess     *process;
  SbxExecResult  *result;
  ToolStreams    *streams;

  char           *message;       /* (nullable) what to tell the user at the end */
  int             status;
  int             interrupts;
  int             ended_by;      /* a signal that came before there was a command, or 0 */
  guint           overruled : 1; /* the status is not the command's */
  guint           closed : 1;
  guint           stopped : 1;   /* the command, with us */
} Run;

static void
finish_if_done (Run *self)
{
  if (self->closed && (self->streams == NULL || tool_streams_have_ended (self->streams)))
    g_main_loop_quit (self->loop);
}

/* The first of several reasons is the one that counts. */
static void
fail (Run        *self,
      int         status,
      const char *message)
{
  if (self->overruled)
    return;

  self->overruled = TRUE;
  self->status = status;
  g_free (self->message);
  self->message = g_strdup (message);
}

static void
fail_with_error (Run          *self,
                 const GError *error)
{
  if (self->ended_by != 0 && g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    fail (self, TOOL_STATUS_SIGNAL + self->ended_by, NULL);
  else
    fail (self, TOOL_STATUS_FAILED, error->message);
}

static void
provider_closed_cb (GObject      *object,
                    GAsyncResult *result,
                    gpointer      user_data)
{
  Run *self = user_data;
  g_autoptr(GError) error = NULL;

  if (!sbx_provider_client_close_finish (SBX_PROVIDER_CLIENT (object), result, &error) &&
      self->message == NULL)
    self->message = g_strdup (error->message);

  self->closed = TRUE;
  finish_if_done (self);
}

/* The sandbox is gone, or never was; now the provider has to go, if it is a process. */
static void
close_provider (Run *self)
{
  if (SBX_IS_PROVIDER_CLIENT (self->provider))
    {
      sbx_provider_client_close_async (SBX_PROVIDER_CLIENT (self->provider), NULL,
                                       provider_closed_cb, self);
      return;
    }

  self->closed = TRUE;
  finish_if_done (self);
}

static void
closed_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  Run *self = user_data;
  g_autoptr(GError) error = NULL;

  /* The command's status stands; that something was left behind is still to be said. */
  if (!sbx_session_close_finish (self->session, result, &error) && self->message == NULL)
    self->message = g_strdup (error->message);

  close_provider (self);
}

static void
ran_cb (GObject      *object,
        GAsyncResult *result,
        gpointer      user_data)
{
  Run *self = user_data;
  g_autoptr(GError) error = NULL;

  self->result = sbx_process_run_finish (self->process, result, &error);
  tool_streams_command_ended (self->streams, self->process);

  if (self->result == NULL)
    {
      fail_with_error (self, error);
    }
  else if (!self->overruled)
    {
      self->status = tool_outcome_get_status (self->result);
      self->message = tool_outcome_get_message (self->result, self->options);
    }

  /* What the command wrote is in our pipes. A slow reader does not keep the sandbox. */
  sbx_session_close_async (self->session, NULL, closed_cb, self);
}

static gboolean
impatient_cb (gpointer user_data)
{
  Run *self = user_data;

  if (self->ended_by == 0)
    self->ended_by = SIGKILL;
  g_cancellable_cancel (self->cancellable);

  return G_SOURCE_REMOVE;
}

/* Ends the command and all that it started. Where nobody in the sandbox answers, as when somebody
 * has stopped its process 1, the whole sandbox has to go. */
static void
kill_command (Run *self)
{
  if (self->process == NULL || !sbx_process_kill (self->process, SIGKILL, NULL))
    g_cancellable_cancel (self->cancellable);
  else
    g_timeout_add (KILL_PATIENCE_MS, impatient_cb, self);
}

static void
streams_cb (ToolStreamsEvent  event,
            const char       *message,
            gpointer          user_data)
{
  Run *self = user_data;

  switch (event)
    {
    case TOOL_STREAMS_READER_GONE:
      /* As if SIGPIPE had ended us: quietly. */
      fail (self, TOOL_STATUS_SIGNAL + SIGPIPE, NULL);
      kill_command (self);
      break;

    case TOOL_STREAMS_FAILED:
      fail (self, TOOL_STATUS_FAILED, message);
      kill_command (self);
      break;

    case TOOL_STREAMS_HUNG_UP:
      sbx_process_kill (self->process, SIGHUP, NULL);
      break;

    case TOOL_STREAMS_ENDED:
    default:
      break;
    }

  finish_if_done (self);
}

static gboolean
can (Run             *self,
     SbxCapabilities  what)
{
  return (sbx_session_get_capabilities (self->session) & what) == what;
}

/* @input is what the command reads, where it cannot be given that while it runs. */
static void
start_command (Run    *self,
               GBytes *input)
{
  g_autoptr(SbxCommand) command = sbx_command_new ((const char * const *) self->options->argv);

  /* Where a profile decides, the sandbox has its own directory for the workspace. */
  if (self->options->profile == NULL && self->options->reach.cwd != NULL)
    sbx_command_set_cwd (command, self->options->reach.cwd);
  sbx_command_set_timeout (command, self->options->timeout_ms);
  sbx_command_set_collect_limit (command, 0);
  sbx_command_set_watch_denials (command, self->options->explain_denials);
  tool_streams_prepare (self->streams, command);
  tool_provider_set_variables (self->options, command);
  if (input != NULL)
    sbx_command_set_stdin_bytes (command, input);

  self->process = sbx_session_create_process (self->session, command);
  tool_streams_connect (self->streams, self->process);
  sbx_process_run_async (self->process, self->cancellable, ran_cb, self);
}

static void
gathered_cb (GObject      *object,
             GAsyncResult *result,
             gpointer      user_data)
{
  Run *self = user_data;
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) input = tool_input_gather_finish (result, &error);

  if (input == NULL)
    {
      fail_with_error (self, error);
      sbx_session_close_async (self->session, NULL, closed_cb, self);
      return;
    }

  tool_streams_set_no_input (self->streams);
  start_command (self, input);
}

/* A provider need not have terminals. One that was not asked for by name is not missed. */
static gboolean
suit_streams (Run     *self,
              GError **error)
{
  if (!self->terminal || self->options->tty == TOOL_TTY_YES
      || can (self, SBX_CAPABILITIES_TERMINAL))
    return TRUE;

  self->terminal = FALSE;
  g_clear_pointer (&self->streams, tool_streams_free);
  self->streams = tool_streams_new (FALSE, streams_cb, self, error);

  return self->streams != NULL;
}

/* What a person has to know of the sandbox, and the command does not say. */
static void
message_cb (SbxSession *session,
            const char *message,
            gpointer    user_data)
{
  tool_complain ("%s", message);
}

static void
opened_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  Run *self = user_data;
  g_autoptr(GError) error = NULL;

  self->session = sbx_provider_open_finish (SBX_PROVIDER (object), result, &error);
  if (self->session == NULL)
    {
      fail_with_error (self, error);
      close_provider (self);
      return;
    }

  g_signal_connect (self->session, "message", G_CALLBACK (message_cb), NULL);

  if (!suit_streams (self, &error))
    {
      fail_with_error (self, error);
      sbx_session_close_async (self->session, NULL, closed_cb, self);
      return;
    }

  if (tool_streams_has_input (self->streams) && !self->terminal
      && !can (self, SBX_CAPABILITIES_STDIN))
    tool_input_gather_async (self->cancellable, gathered_cb, self);
  else
    start_command (self, NULL);
}

/* @reach is NULL where a profile decides. */
static void
open_sandbox (Run      *self,
              SbxReach *reach)
{
  g_autoptr(SbxOpenRequest) request = tool_provider_make_request (self->options, reach);

  sbx_provider_open_async (self->provider, request, self->cancellable, opened_cb, self);
}

static void
resolved_cb (GObject      *object,
             GAsyncResult *result,
             gpointer      user_data)
{
  Run *self = user_data;
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxReach) reach = NULL;

  reach = sbx_resolver_resolve_finish (SBX_RESOLVER (object), result, &error);
  if (reach != NULL)
    {
      open_sandbox (self, reach);
      return;
    }

  fail_with_error (self, error);
  close_provider (self);
}

static void
begin (Run *self)
{
  const ToolReachOptions *options = &self->options->reach;

  if (self->spec == NULL)
    {
      open_sandbox (self, NULL);
      return;
    }

  self->resolver = tool_resolver_new (SBX_BWRAP_PROVIDER (self->provider));
  sbx_resolver_resolve_async (self->resolver, self->spec, options->base, SBX_RESOLVE_NONE,
                              self->cancellable, resolved_cb, self);
}

/* Ends or signals the command, or us if there is none any more. */
static void
pass_signal (Run *self,
             int  signal_number)
{
  /* Nothing is left to be signalled, and somebody does not want to wait for what is. */
  if (self->result != NULL || self->ended_by != 0)
    exit (TOOL_STATUS_SIGNAL + signal_number);

  if (signal_number == SIGINT && ++self->interrupts == 2)
    {
      kill_command (self);
      return;
    }

  if (self->interrupts > 2 || self->process == NULL ||
      !sbx_process_kill (self->process, signal_number, NULL))
    {
      self->ended_by = signal_number;
      g_cancellable_cancel (self->cancellable);
    }
}

/* One that has not started yet could not be told the two in their order. */
static void
stop (Run *self)
{
  self->stopped = self->process != NULL
                  && sbx_process_get_state (self->process) == SBX_PROCESS_STATE_RUNNING
                  && sbx_process_kill (self->process, SIGSTOP, NULL);
  tool_terminal_suspend ();
  raise (SIGSTOP);
}

static void
go_on (Run *self)
{
  tool_terminal_resume ();
  tool_streams_resize (self->streams);
  if (self->stopped)
    sbx_process_kill (self->process, SIGCONT, NULL);
  self->stopped = FALSE;
}

static void
signal_cb (int      signal_number,
           gpointer user_data)
{
  Run *self = user_data;

  switch (signal_number)
    {
    case SIGWINCH:
      tool_streams_resize (self->streams);
      break;

    case SIGTSTP:
      stop (self);
      break;

    case SIGCONT:
      go_on (self);
      break;

    default:
      pass_signal (self, signal_number);
      break;
    }
}

static int
report (Run *self)
{
  const ToolRecordEnd end = {
    .result = self->result,
    .message = self->message,
    .session_id = self->session != NULL ? sbx_session_get_id (self->session) : NULL,
    .status = self->status,
    .terminal = self->terminal,
    .stdin_bytes = tool_streams_get_moved (self->streams, STDIN_FILENO),
    .stdout_bytes = tool_streams_get_moved (self->streams, STDOUT_FILENO),
    .stderr_bytes = tool_streams_get_moved (self->streams, STDERR_FILENO),
  };
  g_autoptr(GError) error = NULL;

  if (self->message != NULL)
    tool_complain ("%s", self->message);
  if (self->options->explain_denials && self->result != NULL)
    tool_denials_tell (self->result);
  if (self->session == NULL && self->options->provider_command != NULL
      && self->options->provider == NULL && self->ended_by == 0)
    tool_hint (_("If the provider has another name than its program, give that with --provider as "
                 "well."));

  if (self->record != NULL && !tool_record_write (self->record, self->options, &end, &error))
    {
      tool_complain ("%s", error->message);
      return TOOL_STATUS_FAILED;
    }

  return self->status;
}

static gboolean
prepare (Run     *self,
         GError **error)
{
  if (self->options->tty != TOOL_TTY_NO)
    {
      const gboolean whole = isatty (STDIN_FILENO) && isatty (STDOUT_FILENO);

      if (self->options->tty == TOOL_TTY_YES || whole)
        self->terminal = tool_terminal_open ();
      if (self->options->tty == TOOL_TTY_YES && !self->terminal)
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                       _("--tty: neither standard input nor standard output is a terminal; "
                         "run it in one, or leave --tty out"));
          return FALSE;
        }
    }

  if (self->options->json != NULL)
    {
      self->record = tool_record_open (self->options->json, error);
      if (self->record == NULL)
        return FALSE;
    }

  /* Before anything else reads the input, of which the spec may be the first part. */
  if (self->options->profile == NULL)
    {
      self->spec = tool_reach_options_make_spec (&self->options->reach, error);
      if (self->spec == NULL)
        return FALSE;
    }

  self->streams = tool_streams_new (self->terminal, streams_cb, self, error);

  if (self->streams == NULL)
    return FALSE;

  self->provider = tool_provider_new (self->options, error);

  return self->provider != NULL && tool_signals_watch (signal_cb, self, error);
}

static void
run_clear (Run *self)
{
  g_clear_pointer (&self->streams, tool_streams_free);
  g_clear_object (&self->result);
  g_clear_object (&self->process);
  g_clear_object (&self->session);
  g_clear_object (&self->resolver);
  g_clear_object (&self->spec);
  g_clear_object (&self->provider);
  g_clear_object (&self->cancellable);
  g_clear_pointer (&self->loop, g_main_loop_unref);
  g_clear_pointer (&self->record, tool_record_free);
  g_clear_pointer (&self->options, tool_run_options_free);
  g_free (self->message);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Run, run_clear)

static int
run (const ToolCommand  *command,
     int                 argc,
     char              **argv)
{
  g_auto(Run) self = { 0 };
  g_autoptr(GError) error = NULL;

  self.options = tool_run_options_parse (command, argc, argv);
  if (self.options == NULL)
    return TOOL_STATUS_FAILED;
  if (!prepare (&self, &error))
    {
      tool_complain ("%s", error->message);
      return TOOL_STATUS_FAILED;
    }

  self.loop = g_main_loop_new (NULL, FALSE);
  self.cancellable = g_cancellable_new ();
  begin (&self);
  g_main_loop_run (self.loop);
  tool_terminal_leave ();

  return report (&self);
}

const ToolCommand tool_command_run = {
  .name = "run",
  .summary = N_("Run a command in a new sandbox"),
  .description = N_(
    "The command sees the system read-only, the current directory read-only, and what --read and\n"
    "--write name. It has no network, and a home directory and environment of its own.\n"
    "\n"
    "The exit status is the command's; 128+n if signal n ended it; 124 after the time-out; 125 if\n"
    "the sandbox could not be opened or the options make no sense; 126 if the command cannot be\n"
    "executed; 127 if it was not found.\n"
    "\n"
    "With --provider or --provider-command another program opens the sandbox, with a profile of\n"
    "its own and the current directory as its workspace. That program has all of your rights.\n"
    "\n"
    "The record of --json is an object with “outcome” (exited, signalled, timed-out, not-started,\n"
    "lost or failed), “exit_code”, “signal”, “status”, “message”, “argv”, times and byte counts.\n"
    "An argument or path that is not UTF-8 is {\"escaped\": …} instead of a string, with \\xNN\n"
    "for a byte that is not ASCII and \\\\ for a backslash. Values of variables are never in it."),
  .options = tool_run_option_entries,
  .run = run,
};
