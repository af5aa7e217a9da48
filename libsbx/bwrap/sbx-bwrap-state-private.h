/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "bwrap/sbx-bwrap-plan-private.h"

G_BEGIN_DECLS

/* The longest name of a group, in bytes. */
#define SBX_BWRAP_MAX_GROUP 1024

/* The file of a session's directory that names the project's home it uses. */
#define SBX_BWRAP_HOME_MARK "uses-home"

/*
 * SbxBwrapState:
 *
 * What one session has on disk: a directory of its own below the library's data directory, with
 *
 *   lock   on which the owning process holds a record lock for as long as it lives;
 *   alive  which process 1 keeps locked, and nobody else: it may outlive the owner for a moment;
 *   note   what was, or is about to be, made outside of this directory;
 *   worktree  what is known of its worktree, see sbx-bwrap-worktree-private.h;
 *   group  the name of the group that it was opened for, or
 *   group-chore  the same, for what this library has to do meanwhile;
 *   tmp    what the sandbox has as /tmp;
 *   home   its home, where that is not kept per project.
 *
 * A directory whose locks can both be had belongs to a session that is dead: see sbx-bwrap-sweep.c.
 * Everything here blocks on the disk and is for worker threads.
 */
typedef struct
{
  char *data_path;      /* the library's data directory */
  char *id;
  char *path;           /* of the session's own directory */
  char *tmp_path;
  char *home_path;
  int   sessions_fd;    /* the directory that holds all sessions */
  int   dir_fd;
  int   lock_fd;
  struct _SbxBwrapQuarantine *quarantine;   /* (nullable) */
  GArray *holds;        /* (element-type int) locks on the directories of the placeholders */
  guint has_worktree : 1;
} SbxBwrapState;

/* Opens the library's data directory, which has to be the user's alone; makes it where it is
 * missing and @make says so. -1 without an error: there is none. */
int            _sbx_bwrap_state_open_data   (const char     *data_path,
                                             gboolean        make,
                                             GError        **error);

/* Deletes the directory of a session whose lock the caller has; the lock goes last, so that what a
 * crash leaves is still known for what it is. */
gboolean       _sbx_bwrap_state_delete      (int             sessions_fd,
                                             const char     *id,
                                             GCancellable   *cancellable,
                                             GError        **error);

/* A descriptor for process 1, whose lock lasts for as long as anybody has it open. */
int            _sbx_bwrap_state_sign_of_life (SbxBwrapState *self,
                                              GError       **error);

/* Whether process 1 of the session whose directory this is lives on. Waits for a moment for it to
 * follow its owner. */
gboolean       _sbx_bwrap_state_is_alive    (int             dir_fd);

/* The names in a directory, but for hidden ones. */
GStrv          _sbx_bwrap_state_list        (int             fd,
                                             GError        **error);

/* The group of a session, or %NULL; @chore tells whether it is one that does not count. */
char          *_sbx_bwrap_state_read_group  (int             sessions_fd,
                                             const char     *id,
                                             gboolean       *chore);

/* @cwd decides which home is used, unless @fresh_home asks for an empty one. @group can be
 * %NULL. */
SbxBwrapState *_sbx_bwrap_state_new         (const char     *data_path,
                                             const char     *cwd,
                                             gboolean        fresh_home,
                                             const char     *group,
                                             gboolean        chore,
                                             GError        **error);
void           _sbx_bwrap_state_free        (SbxBwrapState  *self);

/* Notes the placeholders of the plan, makes them, and notes what was made. The caller holds the
 * lock on the notes since before the plan was made. */
gboolean       _sbx_bwrap_state_place       (SbxBwrapState  *self,
                                             SbxBwrapPlan   *plan,
                                             GError        **error);

/* Undoes what the notes say; also of one that has to stay otherwise. Nothing of it runs. */
gboolean       _sbx_bwrap_state_undo        (SbxBwrapState  *self,
                                             GError        **error);

/* The same, and removes the directory. The caller settles a worktree before. */
gboolean       _sbx_bwrap_state_remove      (SbxBwrapState  *self,
                                             GCancellable   *cancellable,
                                             GError        **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxBwrapState, _sbx_bwrap_state_free)

G_END_DECLS
