/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-invocation-private.h"

#include "core/sbx-library-private.h"
#include "core/sbx-source-private.h"

#include <glib/gi18n-lib.h>

/**
 * SbxInvocation:
 *
 * One call that an implementation has to answer.
 *
 * Whoever implements [iface@Provider] or [class@Session] is handed a kind of this for each call, in
 * the manner of [class@Gio.DBusMethodInvocation], and answers it once: at once or later, with one
 * of the functions of its kind, or with an error. An invocation that is dropped without an answer
 * is answered with %SBX_ERROR_UNANSWERED, so that no call can be lost.
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
  GCancellable             *cancellable;    /* the implementation's, once it asked for it */
  GSource                  *cancel_source;
  GSource                  *grace_source;
  GError                   *end_reason;     /* why the implementation was asked to end */
  guint                     grace_ms;
  guint                     answered : 1;   /* by the implementation */
  guint                     calling : 1;    /* the implementation's function has not returned */
  guint                     ending : 1;     /* the implementation was asked to end */

  GTask                    *held_task;      /* with its answer, while that is so */
  gpointer                  held_value;
  GDestroyNotify            held_free;
  GError                   *held_error;

  SbxInvocationSettledFunc  settled;
  gpointer                  settled_data;
  SbxInvocationEndFunc      end;
  gpointer                  end_data;
} SbxInvocationPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (SbxInvocation, sbx_invocation, G_TYPE_OBJECT)

/* Takes the task out of its one place: who has it is the only one who can return it. */
static GTask *
sbx_invocation_steal_task (SbxInvocation *self)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);
  SbxInvocationSettledFunc settled = g_steal_pointer (&priv->settled);

  _sbx_clear_source (&priv->cancel_source);
  _sbx_clear_source (&priv->grace_source);

  if (settled != NULL)
    settled (self, priv->settled_data);

  return g_steal_pointer (&priv->task);
}

/* Returns @task, which is taken as the rest is. */
static void
complete (GTask          *task,
          gpointer        value,
          GDestroyNotify  free_value,
          GError         *error)
{
  if (error != NULL)
    g_task_return_error (task, error);
  else if (free_value != NULL)
    g_task_return_pointer (task, value, free_value);
  else
    g_task_return_boolean (task, TRUE);

  g_object_unref (task);
}

/* Returns @task now, or once the implementation's function is through. */
static void
sbx_invocation_settle (SbxInvocation  *self,
                       GTask          *task,
                       gpointer        value,
                       GDestroyNotify  free_value,
                       GError         *error)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);

  if (!priv->calling)
    {
      complete (task, value, free_value, error);
      return;
    }

  priv->held_task = task;
  priv->held_value = value;
  priv->held_free = free_value;
  priv->held_error = error;
}

static void
sbx_invocation_return_held (SbxInvocation *self)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);
  GTask *task = g_steal_pointer (&priv->held_task);

  priv->calling = FALSE;
  if (task != NULL)
    complete (task, g_steal_pointer (&priv->held_value), priv->held_free,
              g_steal_pointer (&priv->held_error));
}

/* Whether the caller itself gave up. A close goes on nevertheless, and tells how it went. */
static gboolean
sbx_invocation_is_cancelled (SbxInvocation *self)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);

  return !SBX_IS_CLOSE_INVOCATION (self) &&
         g_error_matches (priv->end_reason, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static gboolean
dropped_cb (gpointer user_data)
{
  g_task_return_error (user_data, g_error_copy (g_task_get_task_data (user_data)));

  return G_SOURCE_REMOVE;
}

static void
sbx_invocation_drop (SbxInvocation *self)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);
  g_autoptr(GTask) task = sbx_invocation_steal_task (self);
  g_autoptr(GSource) source = NULL;
  GError *error;

  if (task == NULL)
    return;

  if (sbx_invocation_is_cancelled (self))
    error = g_error_copy (priv->end_reason);
  else
    error = g_error_new_literal (SBX_ERROR, SBX_ERROR_UNANSWERED,
                                 _("The provider dropped the call without an answer; this is a "
                                   "defect of the provider"));

  /* A binding may be collecting garbage: nobody must be called back from here. */
  g_task_set_task_data (task, error, (GDestroyNotify) g_error_free);
  source = g_idle_source_new ();
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, dropped_cb, g_object_ref (task), g_object_unref);
  g_source_attach (source, g_task_get_context (task));
}

static void
sbx_invocation_dispose (GObject *object)
{
  sbx_invocation_drop (SBX_INVOCATION (object));

  G_OBJECT_CLASS (sbx_invocation_parent_class)->dispose (object);
}

static void
sbx_invocation_finalize (GObject *object)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (SBX_INVOCATION (object));

  g_clear_object (&priv->cancellable);
  g_clear_error (&priv->end_reason);

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

  _sbx_library_init ();

  object_class->dispose = sbx_invocation_dispose;
  object_class->finalize = sbx_invocation_finalize;

  klass->discard = sbx_invocation_real_discard;
}

static void
sbx_invocation_init (SbxInvocation *self)
{
}

/* Asks the implementation to end, in the way in which it wants to be asked. */
static void
sbx_invocation_ask_to_end (SbxInvocation *self)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);

  priv->ending = TRUE;
  if (priv->cancellable != NULL)
    g_cancellable_cancel (priv->cancellable);
  if (priv->end != NULL)
    priv->end (self, priv->end_data);
}

static gboolean
cancelled_cb (GCancellable *cancellable,
              gpointer      user_data)
{
  _sbx_invocation_request_end (user_data,
                               g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED,
                                                    _("The operation was cancelled")));

  return G_SOURCE_REMOVE;
}

static gboolean
grace_over_cb (gpointer user_data)
{
  g_autoptr(SbxInvocation) self = g_object_ref (SBX_INVOCATION (user_data));
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);

  _sbx_invocation_expire (self, priv->end_reason);

  return G_SOURCE_REMOVE;
}

/* From now on the implementation can be told to end. What it answers at once needs no source. */
static void
sbx_invocation_watch_cancellable (SbxInvocation *self)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);
  GCancellable *cancellable;

  if (priv->task == NULL || priv->cancel_source != NULL)
    return;

  cancellable = g_task_get_cancellable (priv->task);
  if (cancellable == NULL)
    return;

  /* The source is destroyed with the invocation, so that it needs no reference. */
  priv->cancel_source = g_cancellable_source_new (cancellable);
  g_source_set_callback (priv->cancel_source, G_SOURCE_FUNC (cancelled_cb), self, NULL);
  g_source_attach (priv->cancel_source, g_task_get_context (priv->task));
}

void
_sbx_invocation_adopt (SbxInvocation *self,
                       GTask         *task,
                       guint          grace_ms)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);

  priv->task = task;
  priv->grace_ms = grace_ms;
  priv->calling = TRUE;
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
_sbx_invocation_set_end_func (SbxInvocation        *self,
                              SbxInvocationEndFunc  func,
                              gpointer              user_data)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);

  priv->end = func;
  priv->end_data = user_data;

  if (func != NULL)
    sbx_invocation_watch_cancellable (self);
}

gboolean
_sbx_invocation_is_ending (SbxInvocation *self)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);

  return priv->ending;
}

void
_sbx_invocation_request_end (SbxInvocation *self,
                             GError        *reason)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);
  g_autoptr(SbxInvocation) keep G_GNUC_UNUSED = g_object_ref (self);
  g_autoptr(GError) taken = reason;

  if (priv->task == NULL)
    return;

  /* The first reason stands, unless the caller itself gives up. */
  if (priv->end_reason == NULL || g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_clear_error (&priv->end_reason);
      priv->end_reason = g_steal_pointer (&taken);
    }

  if (priv->grace_source != NULL)
    return;

  priv->grace_source = g_timeout_source_new (priv->grace_ms);
  g_source_set_callback (priv->grace_source, grace_over_cb, self, NULL);
  g_source_attach (priv->grace_source, g_task_get_context (priv->task));

  sbx_invocation_ask_to_end (self);
}

void
_sbx_invocation_expire (SbxInvocation *self,
                        const GError  *error)
{
  g_autoptr(SbxInvocation) keep G_GNUC_UNUSED = g_object_ref (self);
  GError *copy = g_error_copy (error);
  GTask *task = sbx_invocation_steal_task (self);

  /* Who answers because of this is late. */
  sbx_invocation_ask_to_end (self);

  if (task != NULL)
    sbx_invocation_settle (self, task, NULL, NULL, copy);
  else
    g_error_free (copy);
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

  sbx_invocation_watch_cancellable (self);
  sbx_invocation_return_held (self);
}

void
_sbx_invocation_return_unsupported (SbxInvocation *self)
{
  sbx_invocation_return_error (self, SBX_ERROR_UNSUPPORTED,
                               _("The provider of this session cannot do that"));
  sbx_invocation_return_held (self);
}

/* Whether an answer counts: it is the first, and somebody waits for it. */
static gboolean
sbx_invocation_answer (SbxInvocation *self,
                       gpointer       value)
{
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);

  if (priv->answered)
    {
      g_critical ("%s was answered twice", G_OBJECT_TYPE_NAME (self));
      return FALSE;
    }

  priv->answered = TRUE;
  if (priv->task != NULL)
    return TRUE;

  SBX_INVOCATION_GET_CLASS (self)->discard (self, value);

  return FALSE;
}

void
_sbx_invocation_return (SbxInvocation  *self,
                        gpointer        value,
                        GDestroyNotify  free_value)
{
  if (sbx_invocation_answer (self, value))
    sbx_invocation_settle (self, sbx_invocation_steal_task (self), value, free_value, NULL);
  else if (free_value != NULL)
    free_value (value);
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

  if (priv->cancellable == NULL)
    {
      priv->cancellable = g_cancellable_new ();
      if (priv->ending)
        g_cancellable_cancel (priv->cancellable);

      sbx_invocation_watch_cancellable (self);
    }

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
  SbxInvocationPrivate *priv = sbx_invocation_get_instance_private (self);
  GError *copy;

  g_return_if_fail (SBX_IS_INVOCATION (self));
  g_return_if_fail (error != NULL);

  if (!sbx_invocation_answer (self, NULL))
    return;

  /* A call that the caller has cancelled ends as cancelled, whatever broke on the way; and one that
   * the caller has not cancelled never does because the implementation was asked to end. */
  if (sbx_invocation_is_cancelled (self) ||
      (priv->end_reason != NULL && g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED)))
    error = priv->end_reason;

  copy = g_error_copy (error);
  sbx_invocation_settle (self, sbx_invocation_steal_task (self), NULL, NULL, copy);
}
