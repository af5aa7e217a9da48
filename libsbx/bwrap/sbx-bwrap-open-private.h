/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "bwrap/sbx-bwrap-limits-private.h"
#include "bwrap/sbx-bwrap-plan-private.h"
#include "bwrap/sbx-bwrap-provider.h"
#include "bwrap/sbx-bwrap-state-private.h"
#include "bwrap/sbx-bwrap-toolchain-private.h"
#include "core/sbx-open-invocation.h"
#include "core/sbx-reach.h"
#include "core/sbx-session.h"

G_BEGIN_DECLS

/* What a provider is set to when it opens a sandbox. */
typedef struct
{
  char     *program;       /* (nullable) bubblewrap, or the one that is found */
  char     *data_path;
  gboolean  toolchain;
  gboolean  fresh_home;
} SbxBwrapSettings;

/* What is to be opened: a reach, or a profile with a workspace. */
typedef struct
{
  SbxBwrapSettings  settings;
  SbxReach         *reach;       /* (nullable) */
  char             *workspace;   /* (nullable) */
  char             *profile;     /* (nullable) */
  char             *cwd;         /* (nullable) inside */
  char             *group;       /* (nullable) */
  char             *own_path;    /* (nullable) of a worktree that the reach may have */
  gboolean          chore;       /* for this library alone, while a session is opened or closed */
  gboolean          explain;     /* the plan is all that is wanted: nothing is made or started */
} SbxBwrapOpening;

SbxBwrapOpening *_sbx_bwrap_opening_new     (const SbxBwrapSettings  *settings);
void             _sbx_bwrap_opening_free    (SbxBwrapOpening         *self);

/* What a worker thread finds and makes before bubblewrap is started. */
typedef struct
{
  char                  *init;          /* the program of process 1 */
  char                  *found;         /* bubblewrap */
  SbxBwrapToolchain     *toolchain;     /* (nullable) */
  SbxBwrapState         *state;
  SbxReach              *reach;         /* resolved, when all went well */
  SbxRoots              *roots;
  SbxBwrapPlan          *plan;
  char                  *cwd;           /* where commands start */
  SbxBwrapReachSettings *settings;
  SbxBwrapLimits        *limits;        /* (nullable) when explaining, if they cannot be enforced */
  GPtrArray             *problems;      /* of owned texts: what opening would fail of */
  GPtrArray             *kept;          /* of SbxBwrapKept: of sessions that were swept */
} SbxBwrapPrepared;

gboolean         _sbx_bwrap_prepare         (const SbxBwrapOpening   *opening,
                                             SbxBwrapPrepared        *prepared,
                                             GCancellable            *cancellable,
                                             GError                 **error);
void             _sbx_bwrap_prepared_clear  (SbxBwrapPrepared        *self);

/* Opens a sandbox and answers @invocation. Takes @opening. @provider is told of worktrees that
 * stay. */
void             _sbx_bwrap_open            (SbxBwrapOpening         *opening,
                                             GObject                 *provider,
                                             SbxOpenInvocation       *invocation);

/* The same for a chore. */
void             _sbx_bwrap_open_async      (SbxBwrapOpening         *opening,
                                             GCancellable            *cancellable,
                                             GAsyncReadyCallback      callback,
                                             gpointer                 user_data);
SbxSession      *_sbx_bwrap_open_finish     (GAsyncResult            *result,
                                             GError                 **error);

const SbxBwrapSettings *
                 _sbx_bwrap_provider_get_settings (SbxBwrapProvider  *self);

/* Has @provider, which may be %NULL, say what is in @kept, which is taken. */
void             _sbx_bwrap_provider_tell   (GObject                 *provider,
                                             GPtrArray               *kept);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxBwrapOpening, _sbx_bwrap_opening_free)

G_END_DECLS
