/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-session-private.h"

#include "bwrap/sbx-bwrap-open-private.h"
#include "bwrap/sbx-bwrap-quarantine-private.h"
#include "core/sbx-error.h"
#include "core/sbx-file-invocations.h"
#include "core/sbx-session-private.h"

struct _SbxBwrapSession
{
  SbxSession          parent_instance;

  SbxBwrapSandbox    *sandbox;
  GStrv               environment;
  GObject            *provider;          /* (nullable) */
  SbxCloseInvocation *waiting;           /* for the end of a close that began before */
  GError             *close_error;
  guint               closed : 1;        /* the sandbox was asked to end */
  guint               ended : 1;         /* and has */
  guint               close_when_lost : 1;
  gulong              lost_handler;
  gulong              message_handler;
};

G_DEFINE_FINAL_TYPE (SbxBwrapSession, _sbx_bwrap_session, SBX_TYPE_SESSION)

static void
answer (SbxBwrapSession *self)
{
  g_autoptr(SbxCloseInvocation) invocation = g_steal_pointer (&self->waiting);

  if (invocation == NULL)
    return;

  if (self->close_error == NULL)
    sbx_close_invocation_return_done (invocation);
  else
    sbx_invocation_return_gerror (SBX_INVOCATION (invocation), self->close_error);
}

static void
closed_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  g_autoptr(SbxBwrapSession) self = user_data;
  SbxBwrapSandbox *sandbox = SBX_BWRAP_SANDBOX (object);

  _sbx_bwrap_sandbox_close_finish (sandbox, result, &self->close_error);
  self->ended = TRUE;
  if (_sbx_bwrap_sandbox_get_quarantine (sandbox) != NULL)
    _sbx_bwrap_quarantine_tell (_sbx_bwrap_sandbox_get_quarantine (sandbox));
  _sbx_bwrap_provider_tell (self->provider, _sbx_bwrap_sandbox_steal_kept (sandbox));
  answer (self);
}

static void
begin_close (SbxBwrapSession *self,
             GCancellable    *cancellable)
{
  self->closed = TRUE;
  _sbx_bwrap_sandbox_close_async (self->sandbox, cancellable, closed_cb, g_object_ref (self));
}

static gboolean
_sbx_bwrap_session_handle_close (SbxSession         *session,
                                 SbxCloseInvocation *invocation)
{
  SbxBwrapSession *self = SBX_BWRAP_SESSION (session);

  self->waiting = g_object_ref (invocation);

  if (!self->closed)
    begin_close (self, sbx_invocation_get_cancellable (SBX_INVOCATION (invocation)));
  else if (self->ended)
    answer (self);

  return TRUE;
}

static void
lost_cb (SbxInitChannel  *channel,
         const GError    *error,
         SbxBwrapSession *self)
{
  g_autoptr(SbxBwrapSession) keep G_GNUC_UNUSED = g_object_ref (self);

  sbx_session_fail (SBX_SESSION (self), error);

  if (self->close_when_lost && !self->closed)
    begin_close (self, NULL);
}

static void
message_cb (SbxBwrapWatch   *watch,
            const char      *text,
            SbxBwrapSession *self)
{
  g_autoptr(SbxBwrapSession) keep G_GNUC_UNUSED = g_object_ref (self);

  g_signal_emit_by_name (self, "message", text);
}

/* Who let go of a session cannot be told by it any more, but by its provider. */
static void
dropped_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  g_autoptr(GObject) provider = user_data;
  SbxBwrapSandbox *sandbox = SBX_BWRAP_SANDBOX (object);

  _sbx_bwrap_sandbox_close_finish (sandbox, result, NULL);
  _sbx_bwrap_provider_tell (provider, _sbx_bwrap_sandbox_steal_kept (sandbox));
  if (_sbx_bwrap_sandbox_get_quarantine (sandbox) != NULL)
    _sbx_bwrap_provider_tell (provider, _sbx_bwrap_quarantine_steal_kept
                                          (_sbx_bwrap_sandbox_get_quarantine (sandbox)));
}

typedef struct
{
  SbxBwrapSandbox *sandbox;
  GObject         *provider;
} Drop;

static void
drop_free (gpointer data)
{
  Drop *drop = data;

  g_object_unref (drop->sandbox);
  g_clear_object (&drop->provider);
  g_free (drop);
}

static gboolean
close_cb (gpointer user_data)
{
  Drop *drop = user_data;

  _sbx_bwrap_sandbox_close_async (drop->sandbox, NULL, dropped_cb,
                                  g_steal_pointer (&drop->provider));

  return G_SOURCE_REMOVE;
}

/* Nobody closed it: it closes by itself, and is kept until that is done. The last reference may go
 * in any thread, when a binding collects its garbage; the rest is done where the session is at
 * home. */
static void
close_sandbox (SbxBwrapSession *self)
{
  GMainContext *context = _sbx_session_get_context (SBX_SESSION (self));
  g_autoptr(GSource) source = NULL;
  Drop *drop = g_new0 (Drop, 1);

  drop->sandbox = g_object_ref (self->sandbox);
  g_set_object (&drop->provider, self->provider);

  if (g_main_context_acquire (context))
    {
      g_main_context_push_thread_default (context);
      close_cb (drop);
      g_main_context_pop_thread_default (context);
      g_main_context_release (context);
      drop_free (drop);
      return;
    }

  source = g_idle_source_new ();
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, close_cb, drop, drop_free);
  g_source_attach (source, context);
}

static void
_sbx_bwrap_session_dispose (GObject *object)
{
  SbxBwrapSession *self = SBX_BWRAP_SESSION (object);

  /* By hand, since a worker may be the one that drops the sandbox, and what
   * g_signal_connect_object() does then is not for two threads. */
  if (self->sandbox != NULL)
    {
      g_clear_signal_handler (&self->lost_handler, _sbx_bwrap_sandbox_get_channel (self->sandbox));
      g_clear_signal_handler (&self->message_handler, _sbx_bwrap_sandbox_get_watch (self->sandbox));
    }

  if (self->sandbox != NULL && !self->closed)
    close_sandbox (self);

  self->closed = TRUE;
  g_clear_object (&self->sandbox);
  g_clear_object (&self->provider);
  g_clear_object (&self->waiting);

  G_OBJECT_CLASS (_sbx_bwrap_session_parent_class)->dispose (object);
}

static void
_sbx_bwrap_session_finalize (GObject *object)
{
  SbxBwrapSession *self = SBX_BWRAP_SESSION (object);

  g_clear_pointer (&self->environment, g_strfreev);
  g_clear_error (&self->close_error);

  G_OBJECT_CLASS (_sbx_bwrap_session_parent_class)->finalize (object);
}

static void
_sbx_bwrap_session_class_init (SbxBwrapSessionClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  SbxSessionClass *session_class = SBX_SESSION_CLASS (klass);

  object_class->dispose = _sbx_bwrap_session_dispose;
  object_class->finalize = _sbx_bwrap_session_finalize;

  session_class->handle_close = _sbx_bwrap_session_handle_close;
  _sbx_bwrap_session_init_exec (session_class);
  _sbx_bwrap_session_init_files (session_class);
}

static void
_sbx_bwrap_session_init (SbxBwrapSession *self)
{
}

SbxSession *
_sbx_bwrap_session_new (SbxBwrapSandbox    *sandbox,
                        const char         *cwd,
                        const char * const *environment)
{
  SbxBwrapSession *self;

  self = g_object_new (SBX_TYPE_BWRAP_SESSION,
                       "id", _sbx_bwrap_sandbox_get_id (sandbox),
                       "cwd", cwd,
                       "capabilities", SBX_BWRAP_SESSION_CAPABILITIES,
                       NULL);
  self->sandbox = g_object_ref (sandbox);
  self->environment = g_strdupv ((GStrv) environment);
  self->lost_handler = g_signal_connect (_sbx_bwrap_sandbox_get_channel (sandbox), "lost",
                                         G_CALLBACK (lost_cb), self);
  self->message_handler = g_signal_connect (_sbx_bwrap_sandbox_get_watch (sandbox), "message",
                                            G_CALLBACK (message_cb), self);
  if (_sbx_bwrap_session_get_quarantine (self) != NULL)
    _sbx_bwrap_quarantine_listen (_sbx_bwrap_session_get_quarantine (self),
                                  _sbx_session_get_context (SBX_SESSION (self)),
                                  SBX_SESSION (self));

  return SBX_SESSION (self);
}

void
_sbx_bwrap_session_set_provider (SbxBwrapSession *self,
                                 GObject         *provider)
{
  g_set_object (&self->provider, provider);
}

void
_sbx_bwrap_session_close_when_lost (SbxBwrapSession *self)
{
  self->close_when_lost = TRUE;
}

SbxInitChannel *
_sbx_bwrap_session_get_channel (SbxBwrapSession *self)
{
  return _sbx_bwrap_sandbox_get_channel (self->sandbox);
}

SbxBwrapQuarantine *
_sbx_bwrap_session_get_quarantine (SbxBwrapSession *self)
{
  return _sbx_bwrap_sandbox_get_quarantine (self->sandbox);
}

const char * const *
_sbx_bwrap_session_get_environment (SbxBwrapSession *self)
{
  return (const char * const *) self->environment;
}
