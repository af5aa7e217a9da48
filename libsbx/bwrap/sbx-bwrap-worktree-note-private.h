/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* What is known of a session's worktree besides the session's id: enough for anybody to remove it,
 * or to tell whether it has work in it. */
typedef struct
{
  char     *common_path;   /* of the repository */
  guint64   device;        /* of that */
  guint64   inode;
  char     *user_root;     /* the user's own tree */
  char     *base;          /* the commit that the branch began at */
  gboolean  keep;          /* when there is work in it */
  char     *tree;          /* what was checked out; empty: nobody has seen it yet */
} SbxBwrapWorktreeNote;

gboolean              _sbx_bwrap_worktree_note_write  (int                         dir_fd,
                                                       const SbxBwrapWorktreeNote *self,
                                                       GError                    **error);
/* %NULL without an error: there is none. */
SbxBwrapWorktreeNote *_sbx_bwrap_worktree_note_read   (int                         sessions_fd,
                                                       const char                 *id,
                                                       GError                    **error);
/* The worktree is nobody's any more, or its user's. */
void                  _sbx_bwrap_worktree_note_remove (int                         sessions_fd,
                                                       const char                 *id);
void                  _sbx_bwrap_worktree_note_free   (SbxBwrapWorktreeNote       *self);

/* The branch, and the entry of the same name. */
char                 *_sbx_bwrap_worktree_dup_branch  (const char                 *id);

/* Prints the name of the tree that a commit of everything would have. */
extern const char * const _sbx_bwrap_worktree_snapshot_script;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxBwrapWorktreeNote, _sbx_bwrap_worktree_note_free)

G_END_DECLS
