/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "bwrap/sbx-bwrap-plan-private.h"

G_BEGIN_DECLS

/*
 * The note of a session: the placeholders that it needs, written before they are made. Two sessions
 * may need the same one. It stays until the last of them is gone, so all that reads or writes notes
 * holds the one lock below, for as short as it can.
 */

#define SBX_BWRAP_NOTE_NAME "note"

/* Holds the lock on all notes until it is unlocked. Waits for a moment, not for ever. */
int      _sbx_bwrap_note_lock   (int                sessions_fd,
                                 GError           **error);
void     _sbx_bwrap_note_unlock (int                lock);

/* Is unlocked at the end of its scope. */
typedef int SbxBwrapNoteLock;

G_DEFINE_AUTO_CLEANUP_FREE_FUNC (SbxBwrapNoteLock, _sbx_bwrap_note_unlock, -1)

/* Which of the plan's placeholders this session answers for: what it makes, and what another
 * session made. What the user made stays out. */
gboolean _sbx_bwrap_note_write  (int                sessions_fd,
                                 int                dir_fd,
                                 SbxBwrapPlan      *plan,
                                 gboolean          *noted,
                                 GError           **error);

/* Has the note of the session @id, which may have none yet, say one more, or that one differently;
 * @content as text. The caller holds the lock. */
gboolean _sbx_bwrap_note_add    (int                sessions_fd,
                                 const char        *id,
                                 const char        *path,
                                 gboolean           is_directory,
                                 const char        *content,
                                 dev_t              device,
                                 ino_t              inode,
                                 GError           **error);

/* Whether a session's note has the placeholder at @path: that of the session @id itself, or
 * another's, which has to be the same one. */
gboolean _sbx_bwrap_note_has    (int                sessions_fd,
                                 const char        *id,
                                 const char        *path);
gboolean _sbx_bwrap_note_others_have (int           sessions_fd,
                                 const char        *id,
                                 const char        *path,
                                 dev_t              device,
                                 ino_t              inode);

/* Takes away what the note of the session @id says, unless another session needs it as well. */
gboolean _sbx_bwrap_note_undo   (int                sessions_fd,
                                 const char        *id,
                                 GError           **error);

G_END_DECLS
