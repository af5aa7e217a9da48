/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-open-invocation.h"

#include "core/sbx-invocation-private.h"
#include "core/sbx-session.h"

/**
 * SbxOpenInvocation:
 *
 * A call of [method@Provider.open_async] that a provider has to answer.
 *
 * See [class@Invocation] for what all invocations have in common.
 *
 * Since: 1.0
 */

struct _SbxOpenInvocation
{
  SbxInvocation parent_instance;
};

G_DEFINE_FINAL_TYPE (SbxOpenInvocation, sbx_open_invocation, SBX_TYPE_INVOCATION)

/* The caller has gone: what was opened for it must not stay. */
static void
sbx_open_invocation_discard (SbxInvocation *invocation,
                             gpointer       answer)
{
  if (answer != NULL)
    sbx_session_close_async (answer, NULL, NULL, NULL);
}

static void
sbx_open_invocation_class_init (SbxOpenInvocationClass *klass)
{
  SBX_INVOCATION_CLASS (klass)->discard = sbx_open_invocation_discard;
}

static void
sbx_open_invocation_init (SbxOpenInvocation *self)
{
}

/**
 * sbx_open_invocation_return_session:
 * @self: an invocation
 * @session: the session that was opened
 *
 * Answers with an open session.
 *
 * If the caller no longer waits for it the session is closed.
 *
 * Since: 1.0
 */
void
sbx_open_invocation_return_session (SbxOpenInvocation *self,
                                    SbxSession        *session)
{
  g_return_if_fail (SBX_IS_OPEN_INVOCATION (self));
  g_return_if_fail (SBX_IS_SESSION (session));

  _sbx_invocation_return (SBX_INVOCATION (self), g_object_ref (session), g_object_unref);
}
