/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "bwrap/sbx-bwrap-mounter-private.h"
#include "bwrap/sbx-bwrap-plan-private.h"
#include "bwrap/sbx-init-channel-private.h"

G_BEGIN_DECLS

/* What the files of the watch share. */

/* A bind of the plan. */
typedef struct
{
  char      *path;           /* inside */
  char      *host;           /* (nullable) where the same is for us, if it is a bind of something in
                              * a bound directory on itself: then the host can take it away */
  gboolean   read_only;
  gboolean   is_directory;
  gboolean   free;           /* the sandbox can write around it */
  gboolean   may_change;     /* what git on the host replaces all the time, and nothing runs */
  gboolean   is_worktrees;   /* what git on the host makes and takes away as it needs it */
  dev_t      device;
  ino_t      inode;
  GBytes    *content;        /* (nullable) of a file that is not too large */
  mode_t     mode;
  uid_t      uid;
  gid_t      gid;

  /* What happened at its name since it was bound. */
  gboolean   replaced;       /* it was moved away, or something there */
  gboolean   touched;        /* something was written to, or made there */
  gboolean   stale;          /* … and the copy was not made anew since */
  guint      n_writes;
  guint      n_moves;        /* to the name, or away from it */
  gboolean   unknown;        /* nobody tells */
  guint      n_fresh;        /* so often a fresh directory was put there */
} SbxBwrapWatchEntry;

GPtrArray *_sbx_bwrap_watch_list_new    (SbxBwrapPlan              *plan);
/* Reads what is at @host, without following any link. %NULL without an error when it is too
 * large. */
gboolean   _sbx_bwrap_watch_read        (const char                *host,
                                         struct stat               *st,
                                         GBytes                   **content,
                                         gboolean                  *has_writer,
                                         GError                   **error);

/*
 * What happens at the names of the entries, as inotify tells.
 */
typedef struct _SbxBwrapWatchEvents SbxBwrapWatchEvents;

/* Runs from a source after something happened; with @changed, one of the entries may not be what it
 * was. It may free the events. */
typedef void (*SbxBwrapWatchNoted) (gboolean changed,
                                    gpointer user_data);

SbxBwrapWatchEvents *_sbx_bwrap_watch_events_new   (GPtrArray            *entries,
                                                    SbxInitChannel       *channel,
                                                    GMainContext         *context,
                                                    SbxBwrapWatchNoted    noted,
                                                    gpointer              user_data);
/* Notes all that happened until now in the entries. TRUE as @changed is. */
gboolean             _sbx_bwrap_watch_events_drain (SbxBwrapWatchEvents  *self);
/* Nothing runs inside any more: what comes next is done by the host. */
void                 _sbx_bwrap_watch_events_note_idle (SbxBwrapWatchEvents *self);
void                 _sbx_bwrap_watch_events_free  (SbxBwrapWatchEvents  *self);

/*
 * The mounts of a process, as the kernel tells: of each what it is, and where.
 */
GHashTable *_sbx_bwrap_watch_mounts_read (pid_t                      pid,
                                          int                        pidfd,
                                          GError                   **error);
/* The places where a plan has something mounted. */
GHashTable *_sbx_bwrap_watch_places_new  (SbxBwrapPlan              *plan);
/* The place of one that is at none of @places, or %NULL. */
const char *_sbx_bwrap_watch_mounts_find_foreign (GHashTable        *mounts,
                                                  GHashTable        *places);
/* The place of one that @before does not have, even elsewhere; or %NULL. One at or below a path of
 * @late is fine. */
const char *_sbx_bwrap_watch_mounts_find_new (GHashTable            *before,
                                              GHashTable            *now,
                                              GArray                *late);
gboolean    _sbx_bwrap_watch_mounts_has  (GHashTable                *mounts,
                                          const char                *path);

/* The session that something is put right for. */
typedef struct
{
  gatomicrefcount  ref_count;
  char            *quarantine_path;
  char            *id;
  int              sessions_fd;   /* -1: nothing is noted */
  int              is_over;       /* atomic: what it made is being taken away */
} SbxBwrapWatchSession;

SbxBwrapWatchSession *_sbx_bwrap_watch_session_new   (const char           *quarantine_path,
                                                      const char           *id,
                                                      int                   sessions_fd);
SbxBwrapWatchSession *_sbx_bwrap_watch_session_ref   (SbxBwrapWatchSession *self);
void                  _sbx_bwrap_watch_session_unref (SbxBwrapWatchSession *self);

/* One entry that has to be bound again: a copy for a thread, and what came of it. */
typedef struct
{
  guint       number;
  char       *path;
  char       *host;
  gboolean    read_only;
  gboolean    is_directory;
  gboolean    clean;        /* nothing inside wrote what is there now */
  gboolean    may_change;
  gboolean    is_worktrees;
  guint       n_writes;     /* that are known of */
  guint       n_fresh;
  dev_t       device;
  ino_t       inode;
  GBytes     *content;
  mode_t      mode;
  uid_t       uid;
  gid_t       gid;
  char       *moved_from;   /* (nullable) what was moved to the quarantine, if it is not host */
  char       *moved_to;     /* (nullable) the quarantine */
  gboolean    is_back;      /* a file that was gone, and is none of ours */
} SbxBwrapRepair;

SbxBwrapRepair *_sbx_bwrap_repair_new  (const SbxBwrapWatchEntry *entry,
                                        guint                     number);
void            _sbx_bwrap_repair_free (SbxBwrapRepair           *self);
/* Decides what stays at the place of @self, and makes it so; device and inode are of that then.
 * Blocks on the disk. */
gboolean        _sbx_bwrap_repair_run  (SbxBwrapRepair           *self,
                                        SbxBwrapWatchSession     *session,
                                        GError                  **error);

/* Of what @self has to be like, or what is left of a file, goes to the place: with
 * RENAME_EXCHANGE what is there is at @moved then, which has to be freed; with RENAME_NOREPLACE
 * nothing is there. Sets errno. */
gboolean        _sbx_bwrap_repair_put  (SbxBwrapRepair           *self,
                                        SbxBwrapWatchSession     *session,
                                        guint                     flags,
                                        char                    **moved);
gboolean        _sbx_bwrap_repair_fail (SbxBwrapRepair           *self,
                                        GError                  **error,
                                        const char               *reason);

/* sbx-bwrap-watch-directory.c */
gboolean        _sbx_bwrap_repair_directory (SbxBwrapRepair       *self,
                                             SbxBwrapWatchSession *session,
                                             GError              **error);
/* Nothing is there any more. */
gboolean        _sbx_bwrap_repair_absent    (SbxBwrapRepair       *self,
                                             SbxBwrapWatchSession *session,
                                             GError              **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxBwrapWatchEvents, _sbx_bwrap_watch_events_free)

G_END_DECLS
