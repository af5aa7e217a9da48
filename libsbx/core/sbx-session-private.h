/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-invocation.h"
#include "core/sbx-session.h"

G_BEGIN_DECLS

/* What the files of the class share. */
typedef struct
{
  char            *id;
  char            *cwd;
  SbxCapabilities  capabilities;
  SbxSessionState  state;
  SbxPlan         *plan;           /* (nullable) what the provider enforces */
  GError          *failure;        /* why it was lost, or why it did not close well */
  GError          *close_error;    /* how the one close went */
  guint            close_started  : 1;
  guint            close_answered : 1;
  guint            close_done     : 1;

  GHashTable      *calls;          /* of unanswered invocations, not owned */
  GHashTable      *processes;      /* that have not ended, not owned */
  GPtrArray       *closing;        /* of owned tasks that wait for the one close */
  SbxInvocation   *close_call;     /* not owned */
} SbxSessionPrivate;

SbxSessionPrivate *_sbx_session_get_private (SbxSession      *self);
void               _sbx_session_set_state   (SbxSession      *self,
                                             SbxSessionState  state);
void               _sbx_session_emit_closed (SbxSession      *self,
                                             const GError    *error);

/* What the sandbox is made of; before others have the session. */
void           _sbx_session_set_plan      (SbxSession           *self,
                                           SbxPlan              *plan);

GMainContext  *_sbx_session_get_context   (SbxSession           *self);

/* %FALSE, with @error set, when the session takes no more calls, or cannot do that. */
gboolean       _sbx_session_admits        (SbxSession           *self,
                                           SbxCapabilities       needed,
                                           GError              **error);

/* Keeps an eye on an unanswered call: it ends with the session. */
void           _sbx_session_track         (SbxSession           *self,
                                           SbxInvocation        *invocation);

/* A process between its start and its end. A close is over when all have ended. */
void           _sbx_session_add_process    (SbxSession          *self,
                                            SbxProcess          *process);
void           _sbx_session_remove_process (SbxSession          *self,
                                            SbxProcess          *process);
void           _sbx_session_process_ended  (SbxSession          *self);
/* Whether the sandbox is gone, so that nobody is left who could write anything. */
gboolean       _sbx_session_is_gone        (SbxSession          *self);

/* Starts a verb on a path: makes its task, and the invocation of @type that answers it, and enters
 * the session's context. %NULL means that the task was returned already. */
SbxInvocation *_sbx_session_begin_verb    (SbxSession           *self,
                                           GType                 type,
                                           SbxCapabilities       needed,
                                           const char           *path,
                                           gpointer              tag,
                                           GCancellable         *cancellable,
                                           GAsyncReadyCallback   callback,
                                           gpointer              user_data);

G_END_DECLS
