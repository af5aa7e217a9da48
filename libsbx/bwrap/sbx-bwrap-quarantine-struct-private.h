/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <sys/stat.h>

#include "bwrap/sbx-bwrap-quarantine-private.h"
#include "bwrap/sbx-bwrap-watcher-private.h"

G_BEGIN_DECLS

/* What the files of the quarantine share. */

/* Of what comes again and again under one name so many are kept, and the last one. */
#define SBX_QUARANTINE_SLOTS 8

typedef struct _SbxQuarantineNode SbxQuarantineNode;

/* A component on the way to a protected name. The tree does not change once it is made, but for
 * the last part. */
struct _SbxQuarantineNode
{
  char              *name;           /* one component; of a root its path */
  SbxQuarantineNode *parent;         /* (nullable) */
  GHashTable        *children;       /* (nullable) of owned nodes by their exact names */
  GHashTable        *folded;         /* (nullable) of names as a careless file system has them */
  char              *link;           /* (nullable) what the link said that this has to stay */
  guint              index;
  dev_t              device;         /* of a root */
  ino_t              inode;
  mode_t             mode;           /* of a directory that was there from the beginning, or 0 */
  guint              is_protected : 1;

  /* Under the lock of the check. */
  guint              elsewhere : 1;  /* the data directory is on another file system */
  guint              was_missed : 1; /* of a root: it was told that it is not there */
  int                watch;          /* or -1 */
  int                problem;        /* the errno that was told last */
  guint              n_moved;
  guint              n_met;
  guint              n_restored;
  char              *places[SBX_QUARANTINE_SLOTS + 1];   /* names of what was put aside */
};

/* Something of git's that is not finished. */
typedef struct
{
  char *git_dir;
  char *name;
  guint n_commands;   /* that it would run */
} SbxQuarantineBusiness;

/* One thing that was put aside. */
typedef struct
{
  char   *origin;
  char   *place;
  gint64  time;       /* seconds since 1970 */
} SbxQuarantineItem;

struct _SbxBwrapQuarantine
{
  gatomicrefcount  ref_count;
  char            *data_path;
  char            *id;
  char            *boot_id;      /* (nullable) of a session that is swept: when it was opened */
  GPtrArray       *roots;        /* (element-type SbxQuarantineNode) */
  guint            n_nodes;
  GPtrArray       *git_dirs;     /* (element-type filename) */
  GHashTable      *trees;        /* of paths: working trees that were there before */
  gint64           opened;       /* microseconds since 1970 */
  GPtrArray       *business;     /* (element-type SbxQuarantineBusiness) that was there before */

  GMutex           check;        /* held for as long as a check takes */
  SbxBwrapWatcher *watcher;      /* (nullable) */
  int              place_fd;     /* our directory of the data directory, while a check needs it */
  GPtrArray       *items;        /* (element-type SbxQuarantineItem) */
  GPtrArray       *stuck;        /* (element-type utf8) what the last check could not put aside */
  guint            blind : 1;    /* some directory is not watched */

  GMutex           mutex;        /* of the rest, for moments */
  guint64          wanted;       /* checks that there is a reason for */
  guint64          done;         /* the last one of them that was done */
  GQueue           messages;
  guint            n_lost;       /* messages */
  guint            n_begun;      /* commands, and file verbs that change something */
  guint            n_running;    /* of them */
  guint            n_checks;     /* since there was last no reason for one; of the thread */
  GSource         *flush;        /* (nullable) */
  GSource         *arming;       /* (nullable) */
  GMainContext    *context;      /* (nullable) */
  GWeakRef         session;
  guint            used : 1;     /* something ran, or was told to change something */
  guint            armed : 1;    /* and not blind: what happens is seen */
  guint            arm_wanted : 1;
  guint            disarmed : 1; /* and never will be again */
  guint            queued : 1;   /* a thread checks, or is about to */
};

/* sbx-bwrap-quarantine-names.c */
gboolean           _sbx_quarantine_build          (SbxBwrapQuarantine             *self,
                                                   const SbxBwrapQuarantineInput  *input,
                                                   GError                        **error);
SbxQuarantineNode *_sbx_quarantine_node_new       (SbxBwrapQuarantine             *self,
                                                   SbxQuarantineNode              *parent,
                                                   const char                     *name);
/* The deepest of the roots that holds @path, or %NULL. */
SbxQuarantineNode *_sbx_quarantine_find_root      (SbxBwrapQuarantine             *self,
                                                   const char                     *path);
/* The node of @path, of which what is missing is made. */
SbxQuarantineNode *_sbx_quarantine_add_path       (SbxBwrapQuarantine             *self,
                                                   SbxQuarantineNode              *root,
                                                   const char                     *path,
                                                   GError                        **error);
/* What a link says; %NULL: it is none, or one that nobody can follow. */
char              *_sbx_quarantine_read_link      (int                             dir_fd,
                                                   const char                     *name);
char              *_sbx_quarantine_node_dup_path  (SbxQuarantineNode              *node);
void               _sbx_quarantine_node_free      (SbxQuarantineNode              *node);
/* Whether @name, of an event, may be one of those below @node. */
gboolean           _sbx_quarantine_node_mentions  (SbxQuarantineNode              *node,
                                                   const char                     *name);
/* -1 with errno: it is not there, or another one is. */
int                _sbx_quarantine_root_open      (SbxQuarantineNode              *root);

/* sbx-bwrap-quarantine-note.c */
gboolean           _sbx_quarantine_note_write     (SbxBwrapQuarantine             *self,
                                                   int                             sessions_fd,
                                                   GError                        **error);
/* %NULL without an error: there is none. */
SbxBwrapQuarantine *
                   _sbx_quarantine_note_read      (int                             sessions_fd,
                                                   const char                     *data_path,
                                                   const char                     *id,
                                                   GError                        **error);
char              *_sbx_quarantine_dup_boot_id    (void);

/* sbx-bwrap-quarantine-check.c; under the lock of the check. */
void               _sbx_quarantine_check          (SbxBwrapQuarantine             *self,
                                                   gboolean                        is_last);

/* sbx-bwrap-quarantine-place.c */
/* Puts what is called as @node in @dir_fd aside, and tells where. 0, or an errno; %ENOENT: it is
 * gone already. */
int                _sbx_quarantine_put_aside      (SbxBwrapQuarantine             *self,
                                                   SbxQuarantineNode              *node,
                                                   int                             dir_fd);
gboolean           _sbx_quarantine_make_accessible (int                            fd,
                                                   mode_t                          mode);
GPtrArray         *_sbx_quarantine_items_new      (void);
GPtrArray         *_sbx_quarantine_items_read     (int                             place_fd);

/* sbx-bwrap-quarantine-links.c */
/* Makes files of their own of the files called @name, and below it, that have other names too.
 * %FALSE: some of them still have, or may have. */
gboolean           _sbx_quarantine_break_links    (int                             dir_fd,
                                                   const char                     *name);
/* The same for all that was put aside into the data directory. */
void               _sbx_quarantine_break_all      (SbxBwrapQuarantine             *self);

/* sbx-bwrap-quarantine-tell.c */
void               _sbx_quarantine_say            (SbxBwrapQuarantine             *self,
                                                   char                           *message);
void               _sbx_quarantine_say_moved      (SbxBwrapQuarantine             *self,
                                                   SbxQuarantineNode              *node,
                                                   const char                     *place,
                                                   gboolean                        is_linked);
void               _sbx_quarantine_say_stuck      (SbxBwrapQuarantine             *self,
                                                   SbxQuarantineNode              *node,
                                                   int                             errsv);
void               _sbx_quarantine_say_restored   (SbxBwrapQuarantine             *self,
                                                   SbxQuarantineNode              *node);
void               _sbx_quarantine_say_missed     (SbxBwrapQuarantine             *self,
                                                   SbxQuarantineNode              *root);
char              *_sbx_quarantine_describe_item  (const SbxQuarantineItem        *item);

/* sbx-bwrap-quarantine-git.c */
GPtrArray         *_sbx_quarantine_find_business  (GPtrArray                      *git_dirs);
void               _sbx_quarantine_business_free  (SbxQuarantineBusiness          *self);
void               _sbx_quarantine_say_business   (SbxBwrapQuarantine             *self);

/* sbx-bwrap-quarantine-nested.c */
void               _sbx_quarantine_say_repositories (SbxBwrapQuarantine           *self);

/* sbx-bwrap-quarantine.c */
SbxBwrapQuarantine *
                   _sbx_quarantine_alloc          (const char                     *data_path,
                                                   const char                     *id);
gboolean           _sbx_quarantine_is_empty       (SbxBwrapQuarantine             *self);

G_END_DECLS
