/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-invocation-private.h"

#include <glib/gi18n-lib.h>

/**
 * SbxInvocation:
 *
 * One call that an implementation has to answer.
 *
 * Whoever implements [iface@Provider] or [class@Session] is handed a kind of this for each call, in
 * the manner of [class@Gio.DBusMethodInvocation], and answers it once: at once or later, with one of
 * the functions of its kind, or with an error. An invocation that is dropped without an answer is
 * answered with %SBX_ERROR_UNANSWERED, so that no call can be lost.
 *
 * When the caller cancels, or has no more time, [method@Invocation.get_cancellable] is cancelled.
 * The implementation then stops what it is doing and answers. If it does not do so soon the caller
 * is told that the call was cancelled, and a later answer is undone: a session is closed again.
 *
 * ## Threads
 *
 * Answer in the context that the call came in.
 *
 * Since: 1.0
 */

typedef struct
{
  GTask                    *task;           /* %NULL once answered, or expired */
  GCancellable             *cancellable;    /* the implementation's */
  GSource                  *cancel_source;
  GSource                  *grace_source;
  guint                     grace_ms;
  guint                     answered : 1;   /* by the implementation */

  SbxInvocationSettledFunc  settled;
  gpointer                  settled_data;
} SbxInvocationPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (SbxInvocation, sbx_invocation, G_TYPE_OBJECT)

static void
clear_source (GSource **source)
{
  if (*source == NULL)
    return;

  g_source_destroy (*source);
  g_clear_pointer (source, g_source_unref);
}

/* Takes the task out of its one place: who has it is the only one who can return it. */
static GTask *
sbx_invocation_steal_task (SbxInvocation *self)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);
  SbxInvocationSettledFunc settled = g_steal_pointer (&priv->settled);

  clear_source (&priv->cancel_source);
  clear_source (&priv->grace_source);

  if (settled != NULL)
    settled (self, priv->settled_data);

  return g_steal_pointer (&priv->task);
}

static gboolean
dropped_cb (gpointer user_data)
{
  g_task_return_new_error (user_data, SBX_ERROR, SBX_ERROR_UNANSWERED,
                           _("The provider dropped the call without an answer; this is a defect "
                             "of the provider"));

  return G_SOURCE_REMOVE;
}

static void
sbx_invocation_dispose (GObject *object)
{
  SbxInvocation *self = SBX_INVOCATION (object);
  g_autoptr(GTask) task = sbx_invocation_steal_task (self);

  /* A binding may be collecting garbage: nobody must be called back from here. */
  if (task != NULL)
    {
      g_autoptr(GSource) source = g_idle_source_new ();

      g_source_set_priority (source, G_PRIORITY_DEFAULT);
      g_source_set_callback (source, dropped_cb, g_object_ref (task), g_object_unref);
      g_source_attach (source, g_task_get_context (task));
    }

  G_OBJECT_CLASS (sbx_invocation_parent_class)->dispose (object);
}

static void
sbx_invocation_finalize (GObject *object)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (SBX_INVOCATION (object));

  g_clear_object (&priv->cancellable);

  G_OBJECT_CLASS (sbx_invocation_parent_class)->finalize (object);
}

static void
sbx_invocation_real_discard (SbxInvocation *self,
                             gpointer       answer)
{
}

static void
sbx_invocation_class_init (SbxInvocationClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->dispose = sbx_invocation_dispose;
  object_class->finalize = sbx_invocation_finalize;

  klass->discard = sbx_invocation_real_discard;
}

static void
sbx_invocation_init (SbxInvocation *self)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);

  priv->cancellable = g_cancellable_new ();
}

static gboolean
cancelled_cb (GCancellable *cancellable,
              gpointer      user_data)
{
  _sbx_invocation_request_end (user_data);

  return G_SOURCE_REMOVE;
}

static gboolean
grace_over_cb (gpointer user_data)
{
  g_autoptr(SbxInvocation) self = g_object_ref (SBX_INVOCATION (user_data));
  g_autoptr(GError) error = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED,
                                                 _("The operation was cancelled"));

  _sbx_invocation_expire (self, error);

  return G_SOURCE_REMOVE;
}

void
_sbx_invocation_adopt (SbxInvocation *self,
                       GTask         *task,
                       guint          grace_ms)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);
  GCancellable *cancellable = g_task_get_cancellable (task);

  priv->task = task;
  priv->grace_ms = grace_ms;

  if (cancellable != NULL)
    {
      /* The source is destroyed with the invocation, so that it needs no reference. */
      priv->cancel_source = g_cancellable_source_new (cancellable);
      g_source_set_callback (priv->cancel_source, G_SOURCE_FUNC (cancelled_cb), self, NULL);
      g_source_attach (priv->cancel_source, g_task_get_context (task));
    }
}

void
_sbx_invocation_set_settled_func (SbxInvocation            *self,
                                  SbxInvocationSettledFunc  func,
                                  gpointer                  user_data)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);

  priv->settled = func;
  priv->settled_data = user_data;
}

void
_sbx_invocation_request_end (SbxInvocation *self)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);

  if (priv->task == NULL || priv->grace_source != NULL)
    return;

  priv->grace_source = g_timeout_source_new (priv->grace_ms);
  g_source_set_callback (priv->grace_source, grace_over_cb, self, NULL);
  g_source_attach (priv->grace_source, g_task_get_context (priv->task));

  g_object_ref (self);
  g_cancellable_cancel (priv->cancellable);
  g_object_unref (self);
}

void
_sbx_invocation_expire (SbxInvocation *self,
                        const GError  *error)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);
  g_autoptr(SbxInvocation) keep = g_object_ref (self);
  g_autoptr(GTask) task = sbx_invocation_steal_task (self);

  g_cancellable_cancel (priv->cancellable);

  if (task != NULL)
    g_task_return_error (task, g_error_copy (error));
}

void
_sbx_invocation_handled (SbxInvocation *self,
                         gboolean       handled)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);

  if (!handled && !priv->answered)
    sbx_invocation_return_error (self, SBX_ERROR_UNANSWERED,
                                 _("The provider could not handle the call; look for its own "
                                   "message, an exception perhaps"));
}

void
_sbx_invocation_return_unsupported (SbxInvocation *self)
{
  sbx_invocation_return_error (self, SBX_ERROR_UNSUPPORTED,
                               _("The provider of this session cannot do that"));
}

GTask *
_sbx_invocation_take_task (SbxInvocation *self,
                           gpointer       answer)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);
  GTask *task;

  if (priv->answered)
    {
      g_critical ("%s was answered twice", G_OBJECT_TYPE_NAME (self));
      return NULL;
    }

  priv->answered = TRUE;
  task = sbx_invocation_steal_task (self);
  if (task == NULL)
    SBX_INVOCATION_GET_CLASS (self)->discard (self, answer);

  return task;
}

/**
 * sbx_invocation_get_cancellable:
 * @self: an invocation
 *
 * Gets what is cancelled when the implementation should stop and answer.
 *
 * It is the invocation's own, so that it can be handed to any asynchronous call.
 *
 * Returns: (transfer none): a cancellable
 *
 * Since: 1.0
 */
GCancellable *
sbx_invocation_get_cancellable (SbxInvocation *self)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);

  g_return_val_if_fail (SBX_IS_INVOCATION (self), NULL);

  return priv->cancellable;
}

/**
 * sbx_invocation_is_answered:
 * @self: an invocation
 *
 * Tells whether the invocation was answered.
 *
 * Returns: %TRUE if it was, or if the caller no longer waits for an answer
 *
 * Since: 1.0
 */
gboolean
sbx_invocation_is_answered (SbxInvocation *self)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);

  g_return_val_if_fail (SBX_IS_INVOCATION (self), FALSE);

  return priv->task == NULL;
}

/**
 * sbx_invocation_return_error:
 * @self: an invocation
 * @code: a code
 * @message: what went wrong, for a person to read
 *
 * Answers with an error of [error@Error].
 *
 * Since: 1.0
 */
void
sbx_invocation_return_error (SbxInvocation *self,
                             SbxError       code,
                             const char    *message)
{
  g_autoptr(GError) error = NULL;

  g_return_if_fail (SBX_IS_INVOCATION (self));
  g_return_if_fail (message != NULL);

  error = g_error_new_literal (SBX_ERROR, code, message);
  sbx_invocation_return_gerror (self, error);
}

/**
 * sbx_invocation_return_gerror:
 * @self: an invocation
 * @error: what went wrong
 *
 * Answers with an error of any domain.
 *
 * Since: 1.0
 */
void
sbx_invocation_return_gerror (SbxInvocation *self,
                              const GError  *error)
{
  g_autoptr(GTask) task = NULL;

  g_return_if_fail (SBX_IS_INVOCATION (self));
  g_return_if_fail (error != NULL);

  task = _sbx_invocation_take_task (self, NULL);
  if (task != NULL)
    g_task_return_error (task, g_error_copy (error));
}
