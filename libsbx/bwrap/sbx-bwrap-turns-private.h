/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/*
 * Opening a sandbox takes some forty descriptors until its bubblewrap has them. A program may have
 * 1,024 in all, and open a hundred sandboxes at once: so only a few are opened at a time, and the
 * others wait for their turn.
 */

typedef void (*SbxBwrapTurnFunc) (gpointer user_data);

/* Calls @begin at once, or later in the thread-default context of now. Where that context goes away
 * first @dropped is called instead; the turn is taken in either case. */
void _sbx_bwrap_turn_take (SbxBwrapTurnFunc begin,
                           SbxBwrapTurnFunc dropped,
                           gpointer         user_data);

/* Gives a turn back that was taken. From any thread. */
void _sbx_bwrap_turn_pass (void);

G_END_DECLS
