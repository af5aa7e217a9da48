/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <sys/types.h>

#include "bwrap/sbx-bwrap-state-private.h"
#include "core/sbx-reach.h"
#include "core/sbx-session.h"

G_BEGIN_DECLS

/*
 * SbxBwrapQuarantine:
 *
 * What a session does about protected names that are not there, in a tree that its sandbox may
 * write: nothing can be mounted on them and nothing of ours is to lie in the user's tree, so what
 * appears there is put aside. That happens
 *
 *   as soon as it is seen to appear, while commands run,
 *   when a command has ended, before its caller hears of that,
 *   when the session is closed, after everything in the sandbox has ended,
 *   and when a session is swept whose program was killed.
 *
 * Put aside means renamed, to a directory of the session's in the data directory, or, where that is
 * on another file system, to a neutral name beside. Nothing is ever opened, followed or deleted,
 * but for what comes again and again under one name, of which the first ones and the last one stay.
 * What was a symbolic link has to stay the same one. All that is needed for this is noted in the
 * session's directory before the first command.
 *
 * Also tells what of git's unfinished business is left, and which repositories appeared.
 */
typedef struct _SbxBwrapQuarantine SbxBwrapQuarantine;

/* A directory that can be written; that it is the same one is known by its number. */
typedef struct
{
  char  *path;      /* real */
  dev_t  device;
  ino_t  inode;
} SbxBwrapQuarantineRoot;

typedef struct
{
  int         sessions_fd;
  const char *data_path;
  const char *id;
  GPtrArray  *roots;      /* (element-type SbxBwrapQuarantineRoot) */
  GPtrArray  *names;      /* (element-type filename) paths below the roots that do not exist */
  GPtrArray  *present;    /* (element-type filename) that do, and may lead through a link */
  GPtrArray  *git_dirs;   /* (element-type filename) that can be written */
  GPtrArray  *trees;      /* (element-type filename) of git, that are known */
} SbxBwrapQuarantineInput;

SbxBwrapQuarantineRoot *
                    _sbx_bwrap_quarantine_root_new  (const char                    *path,
                                                     dev_t                          device,
                                                     ino_t                          inode);
void                _sbx_bwrap_quarantine_root_free (SbxBwrapQuarantineRoot        *self);

/* Finds out what of the names is there, and notes it. %NULL without an error: there is nothing to
 * look after. Blocks on the disk, as all that follows but where it says otherwise. */
SbxBwrapQuarantine *_sbx_bwrap_quarantine_new       (const SbxBwrapQuarantineInput *input,
                                                     GError                       **error);
SbxBwrapQuarantine *_sbx_bwrap_quarantine_ref       (SbxBwrapQuarantine            *self);
void                _sbx_bwrap_quarantine_unref     (SbxBwrapQuarantine            *self);

/* The same of a resolved reach, for @state: what is protected in it, and what the plan makes no
 * placeholder for. */
gboolean            _sbx_bwrap_quarantine_arm       (SbxBwrapState                 *state,
                                                     SbxReach                      *reach,
                                                     SbxBwrapPlan                  *plan,
                                                     GError                       **error);

/* Has what is put aside meanwhile be told by @session, in @context. Does not block. */
void                _sbx_bwrap_quarantine_listen    (SbxBwrapQuarantine            *self,
                                                     GMainContext                  *context,
                                                     SbxSession                    *session);

/* A command, or a file verb that changes something, begins: looks while it runs, if it is not a
 * short one. Does not block. */
void                _sbx_bwrap_quarantine_begin     (SbxBwrapQuarantine            *self);

/* One that began has ended. Calls back when all is put aside that it left: %TRUE means that there
 * is nothing, and that @callback is not called. Does not block. */
gboolean            _sbx_bwrap_quarantine_settle    (SbxBwrapQuarantine            *self,
                                                     GAsyncReadyCallback            callback,
                                                     gpointer                       user_data);

/* Looks no more while commands run: the end is near. Does not block. */
void                _sbx_bwrap_quarantine_disarm    (SbxBwrapQuarantine            *self);

/* Nothing runs in the sandbox any more. Names what could not be put aside. */
gboolean            _sbx_bwrap_quarantine_finish    (SbxBwrapQuarantine            *self,
                                                     GError                       **error);

/* What is to be told, which nobody was told yet. Does not block. */
GStrv               _sbx_bwrap_quarantine_steal     (SbxBwrapQuarantine            *self);
/* The same, in the list that a provider tells. */
GPtrArray          *_sbx_bwrap_quarantine_steal_kept (SbxBwrapQuarantine           *self);
/* Has the session that listens tell it. Enters the handlers of others. */
void                _sbx_bwrap_quarantine_tell      (SbxBwrapQuarantine            *self);

/* Does for the session @id, whose program was killed, what that would have done at its end. Adds
 * what is to be told to @kept, which can be %NULL. */
gboolean            _sbx_bwrap_quarantine_sweep     (int                            sessions_fd,
                                                     const char                    *data_path,
                                                     const char                    *id,
                                                     GPtrArray                     *kept,
                                                     GError                       **error);

/* Deletes what was put aside more than a month ago, and returns what it was. */
char              **_sbx_bwrap_quarantine_expire    (const char                    *data_path,
                                                     GCancellable                  *cancellable,
                                                     GError                       **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxBwrapQuarantine, _sbx_bwrap_quarantine_unref)

G_END_DECLS
