/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "bwrap/sbx-bwrap-arguments-private.h"
#include "bwrap/sbx-bwrap-limits-private.h"
#include "bwrap/sbx-bwrap-open-private.h"
#include "bwrap/sbx-bwrap-state-private.h"
#include "bwrap/sbx-bwrap-watch-private.h"
#include "bwrap/sbx-init-channel-private.h"

G_BEGIN_DECLS

/*
 * SbxBwrapSandbox:
 *
 * What there is of one sandbox on this machine: the bwrap process, the channel to process 1, and
 * the state on disk. It can be started once and is closed once; closing works at every stage and
 * keeps the object alive until nothing is left.
 */

#define SBX_TYPE_BWRAP_SANDBOX (_sbx_bwrap_sandbox_get_type ())

G_DECLARE_FINAL_TYPE (SbxBwrapSandbox, _sbx_bwrap_sandbox, SBX, BWRAP_SANDBOX, GObject)

/* Takes @state. */
SbxBwrapSandbox *_sbx_bwrap_sandbox_new          (SbxBwrapState          *state,
                                                  const SbxBwrapSettings *settings);

/* Before it is started: what it is held to. They are shared, and what is in force once it has
 * started. */
void             _sbx_bwrap_sandbox_set_limits   (SbxBwrapSandbox        *self,
                                                  SbxBwrapLimits         *limits);

/* Starts bwrap, waits until process 1 has seen all mounts of @plan, and sees to the limits. */
void             _sbx_bwrap_sandbox_start_async  (SbxBwrapSandbox        *self,
                                                  SbxBwrapPlan           *plan,
                                                  const SbxBwrapProgram  *program,
                                                  GCancellable           *cancellable,
                                                  GAsyncReadyCallback     callback,
                                                  gpointer                user_data);
gboolean         _sbx_bwrap_sandbox_start_finish (SbxBwrapSandbox        *self,
                                                  GAsyncResult           *result,
                                                  GError                **error);

/* Whether bwrap was started, however that ended. */
gboolean         _sbx_bwrap_sandbox_was_started  (SbxBwrapSandbox        *self);

SbxInitChannel  *_sbx_bwrap_sandbox_get_channel  (SbxBwrapSandbox        *self);
/* Once it was started. */
SbxBwrapWatch   *_sbx_bwrap_sandbox_get_watch    (SbxBwrapSandbox        *self);
const char      *_sbx_bwrap_sandbox_get_id       (SbxBwrapSandbox        *self);

/* What looks after protected names that are not there, or %NULL. */
struct _SbxBwrapQuarantine *
                 _sbx_bwrap_sandbox_get_quarantine (SbxBwrapSandbox      *self);

/* After it was closed: the worktrees that stay; or %NULL. */
GPtrArray       *_sbx_bwrap_sandbox_steal_kept   (SbxBwrapSandbox        *self);

/* Notes which process is process 1, so that others can end it. Blocks on the disk. */
gboolean         _sbx_bwrap_sandbox_record       (SbxBwrapSandbox        *self,
                                                  GError                **error);

/* Ends everything inside, waits for bwrap, removes what is on disk. Cancelling ends it abruptly. */
void             _sbx_bwrap_sandbox_close_async  (SbxBwrapSandbox        *self,
                                                  GCancellable           *cancellable,
                                                  GAsyncReadyCallback     callback,
                                                  gpointer                user_data);
gboolean         _sbx_bwrap_sandbox_close_finish (SbxBwrapSandbox        *self,
                                                  GAsyncResult           *result,
                                                  GError                **error);

G_END_DECLS
