/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/*
 * SbxProviderChild:
 *
 * The process of a provider: the leader of a session of its own, so that no key of the caller's
 * terminal reaches it. What is still in that session when it is gone, however it went, is killed.
 */
typedef struct _SbxProviderChild SbxProviderChild;

/* The ends of the pipes that the owner of a child keeps. */
typedef struct
{
  int stdin_fd;
  int stdout_fd;
  int stderr_fd;
} SbxProviderPipes;

typedef void (*SbxProviderExitFunc) (SbxProviderChild *self,
                                     gpointer          user_data);

/* Starts @argv in the working directory of the caller. @environment is the whole environment, or
 * %NULL to inherit it. @pipes belongs to the caller; none of them blocks. @func is called once, in
 * the thread's context, when the child is gone and was reaped. */
SbxProviderChild *_sbx_provider_child_new         (const char * const   *argv,
                                                   const char * const   *environment,
                                                   SbxProviderPipes     *pipes,
                                                   SbxProviderExitFunc   func,
                                                   gpointer              user_data,
                                                   GError              **error);

/* Sees to it that a child that still runs ends, though its caller's context may never turn again:
 * it has @patience_ms to do so by itself, then it is asked to, and then it is killed. Of several
 * calls the one that ends it first counts. */
void              _sbx_provider_child_end         (SbxProviderChild     *self,
                                                   guint                 patience_ms);

/* Kills it and its process group at once. */
void              _sbx_provider_child_kill        (SbxProviderChild     *self);

/* The function is not called any more. It does not end the child. */
void              _sbx_provider_child_free        (SbxProviderChild     *self);

gboolean          _sbx_provider_child_has_exited  (SbxProviderChild     *self);
/* Of one that has exited: whether that was by itself, with status 0. */
gboolean          _sbx_provider_child_was_success (SbxProviderChild     *self);
/* Of one that has exited: a piece of a sentence. */
char             *_sbx_provider_child_describe    (SbxProviderChild     *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxProviderChild, _sbx_provider_child_free)

G_END_DECLS
