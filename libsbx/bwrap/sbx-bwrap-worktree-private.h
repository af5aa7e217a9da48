/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "bwrap/sbx-bwrap-open-private.h"
#include "bwrap/sbx-bwrap-profile-private.h"

G_BEGIN_DECLS

/*
 * A worktree of a session: a directory of libsbx's with a linked worktree of the user's repository
 * in it, on a branch of its own. What is made of it is noted in the session's directory before,
 * and whoever removes that directory settles the worktree first.
 */

/* One that stays, because it has work in it; or, without a path, something else to be told of a
 * session that is gone. */
typedef struct
{
  char *path;      /* (nullable) */
  char *branch;    /* (nullable) */
  char *message;   /* for a person, with commands */
} SbxBwrapKept;

void       _sbx_bwrap_kept_free       (SbxBwrapKept            *self);
GPtrArray *_sbx_bwrap_kept_list_new   (void);
void       _sbx_bwrap_kept_add_message (GPtrArray              *kept,
                                       const char              *message);

/* Makes one for the session of @state, and stores where it is and where in it commands start.
 * Nothing of the repository runs outside of a sandbox. Blocks for as long as a checkout takes. */
gboolean   _sbx_bwrap_worktree_make   (SbxBwrapState           *state,
                                       const SbxBwrapOpening   *opening,
                                       const SbxBwrapProfile   *profile,
                                       char                   **path,
                                       char                   **cwd,
                                       GCancellable            *cancellable,
                                       GError                 **error);

/* Removes what the session @id has of a worktree, or adds it to @kept and forgets it. Nothing of
 * the session runs any more. */
gboolean   _sbx_bwrap_worktree_settle (int                      sessions_fd,
                                       const SbxBwrapSettings  *settings,
                                       const char              *id,
                                       GPtrArray               *kept,
                                       GCancellable            *cancellable,
                                       GError                 **error);

/* What a chore is done with: all of it happens in a sandbox that is there for nothing else. */
typedef struct
{
  const SbxBwrapSettings *settings;
  const char             *group;       /* (nullable) */
  const char             *worktree;    /* writable, and where it starts */
  const char             *user_root;   /* (nullable) readable */
  const char             *script;      /* for sh */
  const char * const     *arguments;   /* of the script */
  guint                   timeout_ms;
} SbxBwrapChore;

/* Returns what the script wrote, without space around it. Blocks, in a worker thread. */
char      *_sbx_bwrap_chore_run       (const SbxBwrapChore     *self,
                                       GCancellable            *cancellable,
                                       GError                 **error);

G_END_DECLS
