/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <sys/types.h>

G_BEGIN_DECLS

/*
 * A scope of systemd: a control group of its own for all of a sandbox, which can bound what the
 * whole of it uses. It goes by itself when the last process in it has ended.
 */

typedef struct
{
  const char *id;           /* of the sandbox */
  pid_t       pid;          /* of process 1, before it starts anything */
  guint64     memory;       /* bytes, or 0 */
  guint64     processes;    /* or 0 */
} SbxBwrapScope;

/* Whether systemd is there for this user; @error says for people why not. Blocks until it has
 * answered, or for some seconds. */
gboolean _sbx_bwrap_scope_check         (GCancellable         *cancellable,
                                         GError              **error);

/* Makes the scope, and makes sure of it. The caller should stop it also when this fails. */
void     _sbx_bwrap_scope_start_async   (const SbxBwrapScope  *scope,
                                         GCancellable         *cancellable,
                                         GAsyncReadyCallback   callback,
                                         gpointer              user_data);
gboolean _sbx_bwrap_scope_start_finish  (GAsyncResult         *result,
                                         GError              **error);

/* Has systemd take it away, if it still is there. Whatever goes wrong with that is no error: there
 * is nothing left in it. */
void     _sbx_bwrap_scope_stop_async    (const char           *id,
                                         GAsyncReadyCallback   callback,
                                         gpointer              user_data);

/* Whether the kernel holds process 1 to what the scope says. @root is where control groups are, and
 * @membership what /proc says of process 1. A group that cannot be seen from here is taken on
 * trust. Blocks on files of the kernel. */
gboolean _sbx_bwrap_scope_verify        (const SbxBwrapScope  *scope,
                                         const char           *root,
                                         const char           *control_group,
                                         const char           *membership,
                                         GError              **error);

G_END_DECLS
