/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "bwrap/sbx-bwrap-open-private.h"
#include "core/sbx-cleanup-invocation.h"

G_BEGIN_DECLS

/*
 * Sessions that were opened for a group. The name of a group is written into each session's
 * directory; those of this process are known by themselves as well, and are closed rather than
 * killed.
 */

void _sbx_bwrap_group_add     (SbxSession              *session,
                               const char              *data_path,
                               const char              *group);

/* Ends and removes all sessions of a group, whosever they are, and answers @invocation. @provider
 * is told of worktrees that stay. */
void _sbx_bwrap_group_cleanup (const SbxBwrapSettings  *settings,
                               GObject                 *provider,
                               const char              *group,
                               SbxCleanupInvocation    *invocation);

G_END_DECLS
