/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-invocation.h"
#include "core/sbx-session.h"

G_BEGIN_DECLS

GMainContext *_sbx_session_get_context (SbxSession     *self);

/* %FALSE, with @error set, when the session takes no more calls. */
gboolean      _sbx_session_admits      (SbxSession     *self,
                                        GError        **error);

/* Keeps an eye on an unanswered call: it ends with the session. */
void          _sbx_session_track       (SbxSession     *self,
                                        SbxInvocation  *invocation);

/* Starts a verb on a path: makes its task, and the invocation of @type that answers it. %NULL means
 * that the task was returned already. */
SbxInvocation *_sbx_session_begin_verb (SbxSession           *self,
                                        GType                 type,
                                        const char           *path,
                                        gpointer              tag,
                                        GCancellable         *cancellable,
                                        GAsyncReadyCallback   callback,
                                        gpointer              user_data);

G_END_DECLS
