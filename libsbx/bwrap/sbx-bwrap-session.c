/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-session-private.h"

#include "core/sbx-error.h"
#include "core/sbx-file-invocations.h"
#include "core/sbx-session-private.h"

struct _SbxBwrapSession
{
  SbxSession       parent_instance;

  SbxBwrapSandbox *sandbox;
  GStrv            environment;
  guint            closed : 1;    /* the sandbox was asked to end */
};

G_DEFINE_FINAL_TYPE (SbxBwrapSession, _sbx_bwrap_session, SBX_TYPE_SESSION)

static void
closed_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  g_autoptr(SbxCloseInvocation) invocation = user_data;
  g_autoptr(GError) error = NULL;

  if (_sbx_bwrap_sandbox_close_finish (SBX_BWRAP_SANDBOX (object), result, &error))
    sbx_close_invocation_return_done (invocation);
  else
    sbx_invocation_return_gerror (SBX_INVOCATION (invocation), error);
}

static gboolean
_sbx_bwrap_session_handle_close (SbxSession         *session,
                                 SbxCloseInvocation *invocation)
{
  SbxBwrapSession *self = SBX_BWRAP_SESSION (session);

  self->closed = TRUE;
  _sbx_bwrap_sandbox_close_async (self->sandbox,
                                  sbx_invocation_get_cancellable (SBX_INVOCATION (invocation)),
                                  closed_cb, g_object_ref (invocation));

  return TRUE;
}

static void
lost_cb (SbxInitChannel  *channel,
         const GError    *error,
         SbxBwrapSession *self)
{
  sbx_session_fail (SBX_SESSION (self), error);
}

static gboolean
close_cb (gpointer user_data)
{
  _sbx_bwrap_sandbox_close_async (user_data, NULL, NULL, NULL);

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

  if (g_main_context_acquire (context))
    {
      g_main_context_push_thread_default (context);
      close_cb (self->sandbox);
      g_main_context_pop_thread_default (context);
      g_main_context_release (context);
      return;
    }

  source = g_idle_source_new ();
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, close_cb, g_object_ref (self->sandbox), g_object_unref);
  g_source_attach (source, context);
}

static void
_sbx_bwrap_session_dispose (GObject *object)
{
  SbxBwrapSession *self = SBX_BWRAP_SESSION (object);

  if (self->sandbox != NULL && !self->closed)
    close_sandbox (self);

  self->closed = TRUE;
  g_clear_object (&self->sandbox);

  G_OBJECT_CLASS (_sbx_bwrap_session_parent_class)->dispose (object);
}

static void
_sbx_bwrap_session_finalize (GObject *object)
{
  SbxBwrapSession *self = SBX_BWRAP_SESSION (object);

  g_clear_pointer (&self->environment, g_strfreev);

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
  g_signal_connect_object (_sbx_bwrap_sandbox_get_channel (sandbox), "lost",
                           G_CALLBACK (lost_cb), self, 0);

  return SBX_SESSION (self);
}

SbxInitChannel *
_sbx_bwrap_session_get_channel (SbxBwrapSession *self)
{
  return _sbx_bwrap_sandbox_get_channel (self->sandbox);
}

const char * const *
_sbx_bwrap_session_get_environment (SbxBwrapSession *self)
{
  return (const char * const *) self->environment;
}
