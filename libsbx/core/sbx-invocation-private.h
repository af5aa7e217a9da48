/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-invocation.h"

G_BEGIN_DECLS

typedef void (*SbxInvocationSettledFunc) (SbxInvocation *self,
                                          gpointer       user_data);

/* Makes the invocation answer @task, which it takes. Cancelling the task's cancellable then asks the
 * implementation to end; where it has not answered after @grace_ms the task ends all the same. */
void     _sbx_invocation_adopt             (SbxInvocation             *self,
                                            GTask                     *task,
                                            guint                      grace_ms);

/* @func is called once, when the task was answered or can no longer be. */
void     _sbx_invocation_set_settled_func  (SbxInvocation             *self,
                                            SbxInvocationSettledFunc   func,
                                            gpointer                   user_data);

/* After the implementation's function returned: %FALSE without an answer is an error. */
void     _sbx_invocation_handled           (SbxInvocation             *self,
                                            gboolean                   handled);
void     _sbx_invocation_return_unsupported (SbxInvocation            *self);

/* The one way to answer. %NULL means that it is too late: the caller was told something else, and
 * @answer, which is what would have been returned, was discarded. */
GTask   *_sbx_invocation_take_task         (SbxInvocation             *self,
                                            gpointer                   answer);

/* Asks the implementation to end; starts the grace time. */
void     _sbx_invocation_request_end       (SbxInvocation             *self);

/* Answers in place of an implementation that no longer can. */
void     _sbx_invocation_expire            (SbxInvocation             *self,
                                            const GError              *error);

G_END_DECLS
