/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "bwrap/sbx-bwrap-plan-private.h"
#include "bwrap/sbx-init-channel-private.h"

G_BEGIN_DECLS

/*
 * SbxBwrapWatch:
 *
 * The watch over the mounts of one sandbox that runs. Process 1 tells when one came or went, and
 * has stopped everything inside by then. A mount that the plan does not have ends the sandbox. A
 * file that does not show any more what it should, since somebody on the host put another one in
 * its place, is bound again; what came from inside is moved aside before. What cannot be put right
 * ends the sandbox, too. Disk work is done in threads.
 */

#define SBX_TYPE_BWRAP_WATCH (_sbx_bwrap_watch_get_type ())

G_DECLARE_FINAL_TYPE (SbxBwrapWatch, _sbx_bwrap_watch, SBX, BWRAP_WATCH, GObject)

/* Keeps copies of what is protected, as @plan has it open. Blocks on the disk, for a worker
 * thread, before the sandbox is started. @quarantine_path is made when something has to be moved
 * there; what has to be made again is noted for the session @id. */
SbxBwrapWatch *_sbx_bwrap_watch_new   (SbxBwrapPlan   *plan,
                                       const char     *quarantine_path,
                                       const char     *id,
                                       int             sessions_fd);

/* Begins, in the thread's default context. @channel has just been set up. */
void           _sbx_bwrap_watch_start (SbxBwrapWatch  *self,
                                       SbxInitChannel *channel);
void           _sbx_bwrap_watch_stop  (SbxBwrapWatch  *self);

/* Emits "message" (translated text) when something was moved aside. */

G_END_DECLS
