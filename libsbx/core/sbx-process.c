/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-process-private.h"

#include "core/sbx-command.h"
#include "core/sbx-exec-result-private.h"
#include "core/sbx-library-private.h"
#include "core/sbx-source-private.h"
#include "core/sbx-terminal-private.h"
#include "sbx-enum-types.h"


/**
 * SbxProcess:
 *
 * One execution of a command in a session.
 *
 * A process is made by [method@Session.create_process] before anything runs, so that its signals
 * can be connected first. [method@Process.run_async] runs it to its end;
 * [method@Process.start_async] comes back as soon as it runs.
 *
 * Output comes in one of two ways. Either it is emitted as it comes, with
 * [signal@Process::stdout] and [signal@Process::stderr], and the beginning of it is kept for the
 * [class@ExecResult]; or it is read from [method@Process.get_stdout_pipe], asked for before the
 * process starts, and then a command that writes faster than is read is made to wait.
 *
 * A process has ended when the command has ended *and* nothing that it started is left. What it
 * leaves in the background is ended with it.
 *
 * ## Threads and lifetime
 *
 * A process belongs to the context of its session. A running process stays alive and goes on when
 * nobody holds it; closing the session ends it.
 *
 * Since: 1.0
 */

G_DEFINE_FINAL_TYPE (SbxProcess, sbx_process, G_TYPE_OBJECT)

enum
{
  PROP_0,
  PROP_ID,
  PROP_STATE,
  N_PROPS
};

enum
{
  STARTED,
  STDOUT,
  STDERR,
  EXITED,
  N_SIGNALS
};

static GParamSpec *properties[N_PROPS];
static guint signals[N_SIGNALS];

static void
sbx_process_dispose (GObject *object)
{
  SbxProcess *self = SBX_PROCESS (object);

  _sbx_clear_source (&self->timeout);

  if (self->terminal != NULL)
    _sbx_terminal_detach (self->terminal);

  for (guint i = 0; i < SBX_N_STREAMS; i++)
    _sbx_output_clear (&self->outputs[i]);
  _sbx_input_clear (&self->input);

  G_OBJECT_CLASS (sbx_process_parent_class)->dispose (object);
}

static void
sbx_process_finalize (GObject *object)
{
  SbxProcess *self = SBX_PROCESS (object);

  /* Only now: a call in flight still answers after the dispose of a binding. */
  g_clear_weak_pointer (&self->invocation);
  _sbx_process_drop_early (self);
  g_clear_pointer (&self->waiters, g_ptr_array_unref);
  g_clear_object (&self->session);
  g_clear_object (&self->command);
  g_clear_object (&self->terminal);
  g_clear_object (&self->result);
  g_clear_object (&self->answer);
  g_clear_object (&self->denials);
  g_clear_pointer (&self->id, g_free);
  g_clear_error (&self->failure);
  g_clear_error (&self->no_input);

  G_OBJECT_CLASS (sbx_process_parent_class)->finalize (object);
}

static void
sbx_process_get_property (GObject    *object,
                          guint       prop_id,
                          GValue     *value,
                          GParamSpec *pspec)
{
  SbxProcess *self = SBX_PROCESS (object);

  switch (prop_id)
    {
    case PROP_ID:
      g_value_set_string (value, self->id);
      break;

    case PROP_STATE:
      g_value_set_enum (value, self->state);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
install_signals (GType type)
{
  /**
   * SbxProcess::started:
   * @self: the process
   *
   * Emitted when the command runs. One that could not be started does not emit it.
   *
   * Since: 1.0
   */
  signals[STARTED] =
    g_signal_new ("started", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);

  /**
   * SbxProcess::stdout:
   * @self: the process
   * @bytes: what the command wrote; a character may be split between two emissions
   *
   * Emitted as the command writes to its standard output, unless that is read from a pipe.
   *
   * Since: 1.0
   */
  signals[STDOUT] =
    g_signal_new ("stdout", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                  G_TYPE_NONE, 1, G_TYPE_BYTES);

  /**
   * SbxProcess::stderr:
   * @self: the process
   * @bytes: what the command wrote; a character may be split between two emissions
   *
   * Emitted as the command writes to its standard error, unless that is read from a pipe.
   *
   * Since: 1.0
   */
  signals[STDERR] =
    g_signal_new ("stderr", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                  G_TYPE_NONE, 1, G_TYPE_BYTES);

  /**
   * SbxProcess::exited:
   * @self: the process
   * @result: how it ended
   *
   * Emitted once, after the last output, when the process has ended in whatever way.
   *
   * Since: 1.0
   */
  signals[EXITED] =
    g_signal_new ("exited", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                  G_TYPE_NONE, 1, SBX_TYPE_EXEC_RESULT);
}

static void
sbx_process_class_init (SbxProcessClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->dispose = sbx_process_dispose;
  object_class->finalize = sbx_process_finalize;
  object_class->get_property = sbx_process_get_property;

  _sbx_library_init ();

  /**
   * SbxProcess:id: (getter get_id)
   *
   * What the provider calls the process.
   *
   * Since: 1.0
   */
  properties[PROP_ID] =
    g_param_spec_string ("id", NULL, NULL, NULL,
                         G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);

  /**
   * SbxProcess:state: (getter get_state)
   *
   * Where the process is in its life.
   *
   * Since: 1.0
   */
  properties[PROP_STATE] =
    g_param_spec_enum ("state", NULL, NULL,
                       SBX_TYPE_PROCESS_STATE, SBX_PROCESS_STATE_NEW,
                       G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);

  g_object_class_install_properties (object_class, N_PROPS, properties);
  install_signals (G_TYPE_FROM_CLASS (klass));
}

static void
sbx_process_init (SbxProcess *self)
{
  self->waiters = g_ptr_array_new_with_free_func (g_object_unref);
  g_queue_init (&self->early);
}

void
_sbx_process_set_state (SbxProcess      *self,
                        SbxProcessState  state)
{
  if (state <= self->state)
    return;

  self->state = state;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_STATE]);
}

void
_sbx_process_emit_started (SbxProcess *self)
{
  g_signal_emit (self, signals[STARTED], 0);
}

void
_sbx_process_set_id (SbxProcess *self,
                     const char *id)
{
  if (id == NULL || self->id != NULL)
    return;

  self->id = g_strdup (id);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_ID]);
}

void
_sbx_process_emit_output (SbxProcess *self,
                          SbxStream   stream,
                          GBytes     *bytes)
{
  const guint id = signals[stream == SBX_STREAM_STDOUT ? STDOUT : STDERR];

  if (g_signal_has_handler_pending (self, id, 0, TRUE))
    g_signal_emit (self, id, 0, bytes);
}

void
_sbx_process_emit_exited (SbxProcess *self)
{
  g_signal_emit (self, signals[EXITED], 0, self->result);
}

SbxOutput *
_sbx_process_get_output (SbxProcess *self,
                         SbxStream   stream)
{
  return &self->outputs[stream];
}

SbxInput *
_sbx_process_get_input (SbxProcess *self)
{
  return &self->input;
}

/**
 * sbx_process_get_session:
 * @self: a process
 *
 * Gets the session that the process belongs to.
 *
 * Returns: (transfer none): the session
 *
 * Since: 1.0
 */
SbxSession *
sbx_process_get_session (SbxProcess *self)
{
  g_return_val_if_fail (SBX_IS_PROCESS (self), NULL);

  return self->session;
}

/**
 * sbx_process_get_command:
 * @self: a process
 *
 * Gets what is run.
 *
 * Returns: (transfer none): the process' own copy of the command; do not change it
 *
 * Since: 1.0
 */
SbxCommand *
sbx_process_get_command (SbxProcess *self)
{
  g_return_val_if_fail (SBX_IS_PROCESS (self), NULL);

  return self->command;
}

/**
 * sbx_process_get_id:
 * @self: a process
 *
 * Gets what the provider calls the process.
 *
 * Returns: (transfer none) (nullable): a name, or %NULL before it has started and where the
 *   provider does not say
 *
 * Since: 1.0
 */
const char *
sbx_process_get_id (SbxProcess *self)
{
  g_return_val_if_fail (SBX_IS_PROCESS (self), NULL);

  return self->id;
}

/**
 * sbx_process_get_state:
 * @self: a process
 *
 * Gets where the process is in its life.
 *
 * Returns: the state
 *
 * Since: 1.0
 */
SbxProcessState
sbx_process_get_state (SbxProcess *self)
{
  g_return_val_if_fail (SBX_IS_PROCESS (self), SBX_PROCESS_STATE_ENDED);

  return self->state;
}

/**
 * sbx_process_get_result:
 * @self: a process
 *
 * Gets how the process ended.
 *
 * Returns: (transfer none) (nullable): the result, or %NULL before the end
 *
 * Since: 1.0
 */
SbxExecResult *
sbx_process_get_result (SbxProcess *self)
{
  g_return_val_if_fail (SBX_IS_PROCESS (self), NULL);

  return self->result;
}

static GInputStream *
get_pipe (SbxProcess *self,
          SbxStream   stream)
{
  if (self->state == SBX_PROCESS_STATE_NEW)
    return _sbx_output_get_pipe (&self->outputs[stream]);

  return self->outputs[stream].pipe;
}

/**
 * sbx_process_get_stdout_pipe:
 * @self: a process
 *
 * Gets a pipe to read standard output from, instead of [signal@Process::stdout].
 *
 * Ask for it before the process starts. A command that writes faster than is read then waits. The
 * stream is a [class@Gio.UnixInputStream], so that its descriptor can be used as well.
 *
 * Returns: (transfer none) (nullable): the pipe, or %NULL if it was not asked for before the start
 *   or if no descriptor was left
 *
 * Since: 1.0
 */
GInputStream *
sbx_process_get_stdout_pipe (SbxProcess *self)
{
  g_return_val_if_fail (SBX_IS_PROCESS (self), NULL);

  return get_pipe (self, SBX_STREAM_STDOUT);
}

/**
 * sbx_process_get_stderr_pipe:
 * @self: a process
 *
 * Gets a pipe to read standard error from, instead of [signal@Process::stderr].
 *
 * All else is as with [method@Process.get_stdout_pipe].
 *
 * Returns: (transfer none) (nullable): the pipe, or %NULL if it was not asked for before the start
 *   or if no descriptor was left
 *
 * Since: 1.0
 */
GInputStream *
sbx_process_get_stderr_pipe (SbxProcess *self)
{
  g_return_val_if_fail (SBX_IS_PROCESS (self), NULL);

  return get_pipe (self, SBX_STREAM_STDERR);
}

/**
 * sbx_process_get_stdin_pipe:
 * @self: a process
 *
 * Gets a pipe to write standard input to.
 *
 * Closing it is the end of the input. The stream is a [class@Gio.UnixOutputStream] that does not
 * block.
 *
 * Returns: (transfer none) (nullable): the pipe, or %NULL if the command does not read from one;
 *   see [method@Command.set_stdin]
 *
 * Since: 1.0
 */
GOutputStream *
sbx_process_get_stdin_pipe (SbxProcess *self)
{
  g_return_val_if_fail (SBX_IS_PROCESS (self), NULL);

  /* That of a terminal is the terminal's. */
  return self->terminal == NULL ? self->input.pipe : NULL;
}

/**
 * sbx_process_get_terminal:
 * @self: a process
 *
 * Gets the terminal of the command.
 *
 * Ask for it before the process starts; otherwise the output is emitted as
 * [signal@Process::stdout].
 *
 * Returns: (transfer none) (nullable): the terminal, or %NULL if the command has none; see
 *   [method@Command.set_terminal]
 *
 * Since: 1.0
 */
SbxTerminal *
sbx_process_get_terminal (SbxProcess *self)
{
  g_return_val_if_fail (SBX_IS_PROCESS (self), NULL);

  if (self->state == SBX_PROCESS_STATE_NEW)
    self->terminal_claimed = self->terminal != NULL;

  return self->terminal;
}
