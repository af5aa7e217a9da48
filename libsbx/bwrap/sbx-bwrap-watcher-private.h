/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/*
 * SbxBwrapWatcher:
 *
 * Tells which names appear in directories. All watchers of a process share one inotify instance,
 * since a user may have few, and one thread, which is there while there is any watcher.
 */
typedef struct _SbxBwrapWatcher SbxBwrapWatcher;

/* Something called @name, which is foreign and nothing but a hint, appeared in the directory that
 * was added with @place, or disappeared. Both are %NULL when some of what happened is lost. Called
 * in any thread; must be quick and not call back. */
typedef void (*SbxBwrapWatchFunc) (gpointer    place,
                                   const char *name,
                                   gpointer    user_data);

/* %NULL: the machine gives no instance. */
SbxBwrapWatcher *_sbx_bwrap_watcher_new      (SbxBwrapWatchFunc  func,
                                              gpointer           user_data);
/* Nothing is called any more when this returns. */
void             _sbx_bwrap_watcher_free     (SbxBwrapWatcher   *self);

/* Watches the directory @dir_fd, which may be O_PATH, for what appears, with @removals for what
 * disappears too. Returns a number for it; the same again for the same directory. -1 with errno. */
int              _sbx_bwrap_watcher_add      (SbxBwrapWatcher   *self,
                                              int                dir_fd,
                                              gboolean           removals,
                                              gpointer           place);
void             _sbx_bwrap_watcher_remove   (SbxBwrapWatcher   *self,
                                              int                watch,
                                              gpointer           place);

/* Whether everything that has happened until now was told. Never waits; may say no without need. */
gboolean         _sbx_bwrap_watcher_is_quiet (SbxBwrapWatcher   *self);
/* Tells everything that has happened until now. */
void             _sbx_bwrap_watcher_drain    (SbxBwrapWatcher   *self);

G_END_DECLS
