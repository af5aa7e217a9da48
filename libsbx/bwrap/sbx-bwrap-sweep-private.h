/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "bwrap/sbx-bwrap-open-private.h"

G_BEGIN_DECLS

/* What became of a session that was looked at. */
typedef enum
{
  SBX_BWRAP_SWEPT_ALIVE,     /* somebody has it */
  SBX_BWRAP_SWEPT_GONE,      /* nothing of it is left */
  SBX_BWRAP_SWEPT_FAILED,    /* it is dead, and not all of it could be removed */
} SbxBwrapSwept;

/* Removes a session that is dead. Worktrees that stay are added to @kept, which can be %NULL. */
SbxBwrapSwept  _sbx_bwrap_sweep_one    (int                      sessions_fd,
                                        const SbxBwrapSettings  *settings,
                                        const char              *id,
                                        GPtrArray               *kept,
                                        GCancellable            *cancellable,
                                        GError                 **error);

/* The sessions' directory, or -1: there is none, unless there is an error. */
int            _sbx_bwrap_sweep_open   (const char              *data_path,
                                        GError                 **error);

/* Removes what sessions left that were not closed: their directories, and what their notes say.
 * Returns the paths that were removed. Blocks on the disk. */
char         **_sbx_bwrap_sweep        (const SbxBwrapSettings  *settings,
                                        GPtrArray               *kept,
                                        GCancellable            *cancellable,
                                        GError                 **error);

/* The same once in this process, before its first sandbox, or before the next if it failed. */
void           _sbx_bwrap_sweep_once   (const SbxBwrapSettings  *settings,
                                        GPtrArray               *kept,
                                        GCancellable            *cancellable);

/* Something could not be removed: once is not enough. */
void           _sbx_bwrap_sweep_again  (const char              *data_path);

/* Removes the homes that are kept for projects, but for those in use. */
char         **_sbx_bwrap_sweep_homes  (const char              *data_path,
                                        GCancellable            *cancellable,
                                        GError                 **error);

G_END_DECLS
