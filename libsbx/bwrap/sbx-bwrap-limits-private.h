/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "bwrap/sbx-bwrap-reach-settings-private.h"
#include "bwrap/sbx-init-channel-private.h"
#include "core/sbx-reach.h"

G_BEGIN_DECLS

/*
 * SbxBwrapLimits:
 *
 * What of the machine one sandbox may use up, and what holds it to that. It is decided before the
 * sandbox is started. Should systemd then refuse, and something weaker be allowed, it is changed:
 * so what is in force is known when the session is open.
 */

typedef enum
{
  SBX_BWRAP_MEANS_SCOPE,       /* a control group, which systemd makes: for the whole sandbox */
  SBX_BWRAP_MEANS_RLIMIT,      /* the kernel, by a limit that means what was asked for */
  SBX_BWRAP_MEANS_EACH,        /* … by one that holds for each process alone: weaker */
  SBX_BWRAP_MEANS_NOTHING,     /* weaker still */
} SbxBwrapMeans;

typedef struct
{
  SbxLimit       limit;
  guint64        value;        /* in the unit of @limit */
  SbxBwrapMeans  means;
  gboolean       asked;        /* or what there is without being asked for */
  char          *reason;       /* (nullable) translated: why it is weaker than what was asked for */
} SbxBwrapLimit;

typedef struct
{
  GArray *limits;              /* of SbxBwrapLimit, in the order of SbxLimit; at most one of each */
  guint   may_be_weaker;       /* 1 << SbxLimit */
} SbxBwrapLimits;

/* Decides what holds the sandbox to the limits of @reach. %SBX_ERROR_NOT_ENFORCEABLE names the
 * first that nothing on this machine can hold. Blocks for a moment: it asks the bus for systemd. */
SbxBwrapLimits      *_sbx_bwrap_limits_new          (SbxReach                     *reach,
                                                     const SbxBwrapReachSettings  *settings,
                                                     GCancellable                 *cancellable,
                                                     GError                      **error);
SbxBwrapLimits      *_sbx_bwrap_limits_ref          (SbxBwrapLimits               *self);
void                 _sbx_bwrap_limits_unref        (SbxBwrapLimits               *self);

/* %NULL when there is none. */
const SbxBwrapLimit *_sbx_bwrap_limits_find         (const SbxBwrapLimits         *self,
                                                     SbxLimit                      limit);
gboolean             _sbx_bwrap_limits_need_scope   (const SbxBwrapLimits         *self);

/* Systemd did not do it, as @error says. Either what it was for gets weaker means, or, where that
 * is not allowed, %FALSE with an error for the caller of the whole. */
gboolean             _sbx_bwrap_limits_weaken       (SbxBwrapLimits               *self,
                                                     const GError                 *reason,
                                                     GError                      **error);

/* "systemd scope", "rlimit", "rlimit of each process (weaker)", "none (weaker)": not translated. */
const char          *_sbx_bwrap_means_to_text       (SbxBwrapMeans                 means);

/* Whether the kernel @release holds a sandbox of the user @uid to a number of processes. */
gboolean             _sbx_bwrap_limits_processes_bind (uid_t       uid,
                                                       const char *release);

/* Holds the sandbox @id, which has just been set up, to all of them; they may become weaker.
 * @channel is to process 1 of it. */
void                 _sbx_bwrap_limits_hold_async   (SbxBwrapLimits               *self,
                                                     SbxInitChannel               *channel,
                                                     const char                   *id,
                                                     GCancellable                 *cancellable,
                                                     GAsyncReadyCallback           callback,
                                                     gpointer                      user_data);
gboolean             _sbx_bwrap_limits_hold_finish  (GAsyncResult                 *result,
                                                     GError                      **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxBwrapLimits, _sbx_bwrap_limits_unref)

G_END_DECLS
