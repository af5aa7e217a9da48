/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "client/sbx-client-connection-private.h"
#include "client/sbx-provider-client.h"
#include "core/sbx-invocation.h"
#include "core/sbx-session.h"

G_BEGIN_DECLS

/*
 * SbxClientSession:
 *
 * A session with a provider that is another program. It keeps its client alive.
 */

#define SBX_TYPE_CLIENT_SESSION (_sbx_client_session_get_type ())

G_DECLARE_FINAL_TYPE (SbxClientSession, _sbx_client_session, SBX, CLIENT_SESSION, SbxSession)

/* @wire is what the provider answered to "open". */
SbxSession          *_sbx_client_session_new            (SbxProviderClient     *client,
                                                         const SbxWireSession  *wire);

/* For the files of the class. */
GBytes              *_sbx_client_session_get_text       (SbxClientSession      *self);
SbxWireFeatures      _sbx_client_session_get_features   (SbxClientSession      *self);
/* %NULL, with the invocation answered, when no calls are taken. */
SbxClientConnection *_sbx_client_session_get_connection (SbxClientSession      *self,
                                                         SbxInvocation         *invocation);
/* %NULL when there is none any more. */
SbxClientConnection *_sbx_client_session_peek_connection (SbxClientSession     *self);
guint                _sbx_client_session_get_timeout    (SbxClientSession      *self);
/* The session is gone from the provider, and with it all that runs in the background. */
void                 _sbx_client_session_end_execs      (SbxClientSession      *self);
void                 _sbx_client_session_init_exec      (SbxSessionClass       *klass);
void                 _sbx_client_session_init_files     (SbxSessionClass       *klass);

G_END_DECLS
