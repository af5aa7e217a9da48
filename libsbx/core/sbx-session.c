/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-session-private.h"

#include "core/sbx-error.h"
#include "core/sbx-invocation-private.h"
#include "core/sbx-library-private.h"
#include "core/sbx-process-private.h"
#include "core/sbx-sync-private.h"
#include "sbx-enum-types.h"

#include <glib/gi18n-lib.h>

/**
 * SbxSession:
 *
 * An open sandbox.
 *
 * A session is made by [method@Provider.open_async]. Commands run in it with
 * [method@Session.exec_async], or with [method@Session.create_process] for one whose output is
 * followed as it comes; files in it are read and written with
 * [method@Session.read_file_async] and its like, through the sandbox's own eyes. All that runs in
 * one session sees the same files, processes and ports.
 *
 * A session ends with [method@Session.close_async]. One that is dropped without that is ended too,
 * with everything in it; only close tells when it is done.
 *
 * ## Threads and lifetime
 *
 * A session belongs to the thread-default [struct@GLib.MainContext] that it was made in. Call it
 * from there; signals are emitted and calls complete there. A call in flight keeps the session
 * alive.
 *
 * ## Trust
 *
 * What comes out of a sandbox is written by whatever runs there. Output is handed over as it came,
 * never interpreted.
 *
 * ## Implementing a session
 *
 * A provider subclasses this and fills in the functions of [struct@SessionClass]. When its sandbox
 * ends by itself it calls [method@Session.fail].
 *
 * Since: 1.0
 */

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (SbxSession, sbx_session, G_TYPE_OBJECT)

enum
{
  PROP_0,
  PROP_ID,
  PROP_CWD,
  PROP_CAPABILITIES,
  PROP_STATE,
  N_PROPS
};

enum
{
  PROCESS_CREATED,
  MESSAGE,
  CLOSED,
  N_SIGNALS
};

static GParamSpec *properties[N_PROPS];
static guint signals[N_SIGNALS];

static void
sbx_session_constructed (GObject *object)
{
  SbxSessionPrivate *priv = sbx_session_get_instance_private (SBX_SESSION (object));

  G_OBJECT_CLASS (sbx_session_parent_class)->constructed (object);

  _sbx_context_of (object);
  if (priv->id == NULL)
    priv->id = g_uuid_string_random ();
}

static void
forget_call (gpointer key,
             gpointer value,
             gpointer user_data)
{
  _sbx_invocation_set_settled_func (key, NULL, NULL);
}

static void
sbx_session_finalize (GObject *object)
{
  SbxSessionPrivate *priv = sbx_session_get_instance_private (SBX_SESSION (object));

  g_hash_table_foreach (priv->calls, forget_call, NULL);
  g_clear_pointer (&priv->calls, g_hash_table_unref);
  g_clear_pointer (&priv->processes, g_hash_table_unref);
  g_clear_weak_pointer (&priv->close_call);
  g_clear_pointer (&priv->closing, g_ptr_array_unref);
  g_clear_pointer (&priv->id, g_free);
  g_clear_pointer (&priv->cwd, g_free);
  g_clear_object (&priv->plan);
  g_clear_error (&priv->failure);
  g_clear_error (&priv->close_error);

  G_OBJECT_CLASS (sbx_session_parent_class)->finalize (object);
}

static void
sbx_session_get_property (GObject    *object,
                          guint       prop_id,
                          GValue     *value,
                          GParamSpec *pspec)
{
  SbxSessionPrivate *priv = sbx_session_get_instance_private (SBX_SESSION (object));

  switch (prop_id)
    {
    case PROP_ID:
      g_value_set_string (value, priv->id);
      break;

    case PROP_CWD:
      g_value_set_string (value, priv->cwd);
      break;

    case PROP_CAPABILITIES:
      g_value_set_flags (value, priv->capabilities);
      break;

    case PROP_STATE:
      g_value_set_enum (value, priv->state);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
sbx_session_set_property (GObject      *object,
                          guint         prop_id,
                          const GValue *value,
                          GParamSpec   *pspec)
{
  SbxSessionPrivate *priv = sbx_session_get_instance_private (SBX_SESSION (object));

  switch (prop_id)
    {
    case PROP_ID:
      priv->id = g_value_dup_string (value);
      break;

    case PROP_CWD:
      priv->cwd = g_value_dup_string (value);
      break;

    case PROP_CAPABILITIES:
      priv->capabilities = g_value_get_flags (value);
      if (priv->capabilities & SBX_CAPABILITIES_SPAWN)
        priv->capabilities |= SBX_CAPABILITIES_START;
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
install_properties (GObjectClass *object_class)
{
  /**
   * SbxSession:id: (getter get_id)
   *
   * The name of the session. One is made up where a provider gives none.
   *
   * Since: 1.0
   */
  properties[PROP_ID] =
    g_param_spec_string ("id", NULL, NULL, NULL,
                         G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  /**
   * SbxSession:cwd: (getter get_cwd)
   *
   * The directory that commands start in, inside the sandbox.
   *
   * Since: 1.0
   */
  properties[PROP_CWD] =
    g_param_spec_string ("cwd", NULL, NULL, NULL,
                         G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  /**
   * SbxSession:capabilities: (getter get_capabilities)
   *
   * What the session can do.
   *
   * With %SBX_CAPABILITIES_SPAWN comes %SBX_CAPABILITIES_START.
   *
   * Since: 1.0
   */
  properties[PROP_CAPABILITIES] =
    g_param_spec_flags ("capabilities", NULL, NULL,
                        SBX_TYPE_CAPABILITIES, SBX_CAPABILITIES_EXEC,
                        G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  /**
   * SbxSession:state: (getter get_state)
   *
   * Where the session is in its life.
   *
   * Since: 1.0
   */
  properties[PROP_STATE] =
    g_param_spec_enum ("state", NULL, NULL,
                       SBX_TYPE_SESSION_STATE, SBX_SESSION_STATE_OPEN,
                       G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
sbx_session_class_init (SbxSessionClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  _sbx_library_init ();

  object_class->constructed = sbx_session_constructed;
  object_class->finalize = sbx_session_finalize;
  object_class->get_property = sbx_session_get_property;
  object_class->set_property = sbx_session_set_property;

  install_properties (object_class);

  /**
   * SbxSession::process-created:
   * @self: the session
   * @process: the new process, not started yet
   *
   * Emitted for every execution, before it starts, so that an observer misses nothing of it.
   *
   * Since: 1.0
   */
  signals[PROCESS_CREATED] =
    g_signal_new ("process-created", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST,
                  0, NULL, NULL, NULL, G_TYPE_NONE, 1, SBX_TYPE_PROCESS);

  /**
   * SbxSession::message:
   * @self: the session
   * @message: what happened, for people
   *
   * Something happened to the sandbox, or to what it was given, that its user should know and that
   * is no error of any call: a file was put aside that a program outside would have run, say.
   *
   * Since: 1.0
   */
  signals[MESSAGE] =
    g_signal_new ("message", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                  G_TYPE_NONE, 1, G_TYPE_STRING);

  /**
   * SbxSession::closed:
   * @self: the session
   * @error: (nullable): why it ended, if that was not asked for or went wrong
   *
   * Emitted once, when the session has ended in whatever way.
   *
   * Since: 1.0
   */
  signals[CLOSED] =
    g_signal_new ("closed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST,
                  0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_ERROR);
}

static void
sbx_session_init (SbxSession *self)
{
  SbxSessionPrivate *priv = sbx_session_get_instance_private (self);

  priv->calls = g_hash_table_new (NULL, NULL);
  priv->processes = g_hash_table_new (NULL, NULL);
  priv->closing = g_ptr_array_new_with_free_func (g_object_unref);
}

SbxSessionPrivate *
_sbx_session_get_private (SbxSession *self)
{
  return sbx_session_get_instance_private (self);
}

void
_sbx_session_set_state (SbxSession      *self,
                        SbxSessionState  state)
{
  SbxSessionPrivate *priv = sbx_session_get_instance_private (self);

  g_assert (state > priv->state);

  priv->state = state;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_STATE]);
}

void
_sbx_session_emit_closed (SbxSession   *self,
                          const GError *error)
{
  g_signal_emit (self, signals[CLOSED], 0, error);
}

GMainContext *
_sbx_session_get_context (SbxSession *self)
{
  return _sbx_context_of (G_OBJECT (self));
}

/* Names what a session lacks of what is needed. */
static const char *
describe_lack (SbxCapabilities lacking)
{
  if (lacking & SBX_CAPABILITIES_EXEC)
    return _("The provider of this session cannot run commands");
  if (lacking & SBX_CAPABILITIES_START)
    return _("The provider of this session cannot run commands in the background; run them to "
             "their end");
  if (lacking & SBX_CAPABILITIES_SPAWN)
    return _("The provider of this session cannot end a command in the background, so that a "
             "time-out cannot be kept; run it to its end, or without a time-out");
  if (lacking & SBX_CAPABILITIES_STDIN)
    return _("The provider of this session cannot write to a command that runs; give it its whole "
             "input beforehand");
  if (lacking & SBX_CAPABILITIES_TERMINAL)
    return _("The provider of this session cannot give a command a terminal");
  if (lacking & SBX_CAPABILITIES_FILES)
    return _("The provider of this session cannot read or write files; use a command");
  if (lacking & SBX_CAPABILITIES_RANGES)
    return _("The provider of this session cannot read or write parts of files; read or write the "
             "whole file");
  if (lacking & SBX_CAPABILITIES_MOVING)
    return _("The provider of this session cannot rename or copy files; use a command");

  return _("The provider of this session cannot list directories or look at files; use a command");
}

gboolean
_sbx_session_admits (SbxSession       *self,
                     SbxCapabilities   needed,
                     GError          **error)
{
  SbxSessionPrivate *priv = sbx_session_get_instance_private (self);
  const SbxCapabilities lacking = needed & ~priv->capabilities;

  if (priv->state == SBX_SESSION_STATE_LOST)
    g_set_error (error, SBX_ERROR, SBX_ERROR_CLOSED,
                 _("The sandbox has ended (%s); open a new one"), priv->failure->message);
  else if (priv->state != SBX_SESSION_STATE_OPEN)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_CLOSED,
                         _("The session is closed; open a new one"));
  else if (lacking != 0)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED, describe_lack (lacking));
  else
    return TRUE;

  return FALSE;
}

static void
settled_cb (SbxInvocation *invocation,
            gpointer       user_data)
{
  SbxSessionPrivate *priv = sbx_session_get_instance_private (user_data);

  g_hash_table_remove (priv->calls, invocation);
}

void
_sbx_session_track (SbxSession    *self,
                    SbxInvocation *invocation)
{
  SbxSessionPrivate *priv = sbx_session_get_instance_private (self);

  g_hash_table_add (priv->calls, invocation);
  _sbx_invocation_set_settled_func (invocation, settled_cb, self);
}

/**
 * sbx_session_get_id:
 * @self: a session
 *
 * Gets the name of the session.
 *
 * Returns: (transfer none): the name
 *
 * Since: 1.0
 */
const char *
sbx_session_get_id (SbxSession *self)
{
  SbxSessionPrivate *priv = sbx_session_get_instance_private (self);

  g_return_val_if_fail (SBX_IS_SESSION (self), NULL);

  return priv->id;
}

/**
 * sbx_session_get_cwd:
 * @self: a session
 *
 * Gets the directory that commands start in, inside the sandbox.
 *
 * Returns: (type filename) (transfer none) (nullable): an absolute path, or %NULL if the provider
 *   did not say
 *
 * Since: 1.0
 */
const char *
sbx_session_get_cwd (SbxSession *self)
{
  SbxSessionPrivate *priv = sbx_session_get_instance_private (self);

  g_return_val_if_fail (SBX_IS_SESSION (self), NULL);

  return priv->cwd;
}

/**
 * sbx_session_get_capabilities:
 * @self: a session
 *
 * Gets what the session can do.
 *
 * Returns: the capabilities
 *
 * Since: 1.0
 */
SbxCapabilities
sbx_session_get_capabilities (SbxSession *self)
{
  SbxSessionPrivate *priv = sbx_session_get_instance_private (self);

  g_return_val_if_fail (SBX_IS_SESSION (self), SBX_CAPABILITIES_NONE);

  return priv->capabilities;
}

/**
 * sbx_session_get_state:
 * @self: a session
 *
 * Gets where the session is in its life.
 *
 * Returns: the state
 *
 * Since: 1.0
 */
SbxSessionState
sbx_session_get_state (SbxSession *self)
{
  SbxSessionPrivate *priv = sbx_session_get_instance_private (self);

  g_return_val_if_fail (SBX_IS_SESSION (self), SBX_SESSION_STATE_LOST);

  return priv->state;
}

/**
 * sbx_session_get_failure:
 * @self: a session
 *
 * Gets why the session was lost, or what was left behind when it closed.
 *
 * Returns: (transfer none) (nullable): the error, or %NULL if all went well so far
 *
 * Since: 1.0
 */
const GError *
sbx_session_get_failure (SbxSession *self)
{
  SbxSessionPrivate *priv = sbx_session_get_instance_private (self);

  g_return_val_if_fail (SBX_IS_SESSION (self), NULL);

  return priv->failure;
}

void
_sbx_session_set_plan (SbxSession *self,
                       SbxPlan    *plan)
{
  SbxSessionPrivate *priv = sbx_session_get_instance_private (self);

  g_set_object (&priv->plan, plan);
}

/**
 * sbx_session_get_plan:
 * @self: a session
 *
 * Gets what the sandbox is made of: exactly what its provider enforces.
 *
 * Returns: (transfer none) (nullable): the plan, or %NULL if the provider does not say
 *
 * Since: 1.0
 */
SbxPlan *
sbx_session_get_plan (SbxSession *self)
{
  SbxSessionPrivate *priv = sbx_session_get_instance_private (self);

  g_return_val_if_fail (SBX_IS_SESSION (self), NULL);

  return priv->plan;
}

/**
 * sbx_session_create_process:
 * @self: a session
 * @command: what to run; it is copied
 *
 * Makes a process that has not started yet.
 *
 * Connect to its signals, or ask for its pipes, and then start it with
 * [method@Process.run_async] or [method@Process.start_async].
 *
 * Returns: (transfer full): a new process
 *
 * Since: 1.0
 */
SbxProcess *
sbx_session_create_process (SbxSession *self,
                            SbxCommand *command)
{
  SbxProcess *process;

  g_return_val_if_fail (SBX_IS_SESSION (self), NULL);
  g_return_val_if_fail (SBX_IS_COMMAND (command), NULL);

  process = _sbx_process_new (self, command);
  g_signal_emit (self, signals[PROCESS_CREATED], 0, process);

  return process;
}
