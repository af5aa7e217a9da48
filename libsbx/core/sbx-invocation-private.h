/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-file-invocations.h"

G_BEGIN_DECLS

typedef void (*SbxInvocationSettledFunc) (SbxInvocation *self,
                                          gpointer       user_data);

typedef void (*SbxInvocationEndFunc)     (SbxInvocation *self,
                                          gpointer       user_data);

/* Makes the invocation answer @task, which it takes. Cancelling the task's cancellable then asks
 * the implementation to end; where it has not answered after @grace_ms the task ends all the same.
 *
 * The implementation's function is called next, and then _sbx_invocation_handled(). What is
 * answered in between, even from a main loop that the implementation runs, is held back until then:
 * nobody is called back before the call has returned. */
void      _sbx_invocation_adopt              (SbxInvocation             *self,
                                              GTask                     *task,
                                              guint                      grace_ms);

/* @func is called once, when the task was answered or can no longer be. */
void      _sbx_invocation_set_settled_func   (SbxInvocation             *self,
                                              SbxInvocationSettledFunc   func,
                                              gpointer                   user_data);

/* @func is called when the implementation should end, perhaps again when its caller waits no more.
 * It costs less than sbx_invocation_get_cancellable(). Undo it before @user_data goes. */
void      _sbx_invocation_set_end_func       (SbxInvocation             *self,
                                              SbxInvocationEndFunc       func,
                                              gpointer                   user_data);
gboolean  _sbx_invocation_is_ending          (SbxInvocation             *self);

/* After the implementation's function returned: %FALSE without an answer is an error. */
void      _sbx_invocation_handled            (SbxInvocation             *self,
                                              gboolean                   handled);
void      _sbx_invocation_return_unsupported (SbxInvocation             *self);

/* The one way to answer, besides an error. It takes @value, which is %NULL together with
 * @free_value for a plain yes. Where it is too late, because the caller was told something else,
 * the answer is undone as far as can be. */
void      _sbx_invocation_return             (SbxInvocation             *self,
                                              gpointer                   value,
                                              GDestroyNotify             free_value);

/* Asks the implementation to end; starts the grace time, after which @reason, which is taken, is
 * the answer. It also replaces a mere G_IO_ERROR_CANCELLED of the implementation. */
void      _sbx_invocation_request_end        (SbxInvocation             *self,
                                              GError                    *reason);

/* Answers in place of an implementation that no longer can. */
void      _sbx_invocation_expire             (SbxInvocation             *self,
                                              const GError              *error);

/* No more than that reaches the caller. */
void      _sbx_read_file_invocation_set_max_size (SbxReadFileInvocation *self,
                                                  guint64                max_size);

/* The answer is a part of a file then, with the size of the whole: an SbxFileRange. */
typedef struct
{
  GBytes  *bytes;
  guint64  size;
} SbxFileRange;

void      _sbx_read_file_invocation_set_range    (SbxReadFileInvocation *self,
                                                  guint64                offset,
                                                  guint64                length);
void      _sbx_file_range_free                   (SbxFileRange          *range);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxFileRange, _sbx_file_range_free)

G_END_DECLS
