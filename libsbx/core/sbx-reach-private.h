/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-environment-private.h"
#include "core/sbx-reach-entry.h"
#include "core/sbx-reach.h"

#include <sys/types.h>

G_BEGIN_DECLS

#define SBX_N_LIMITS (SBX_LIMIT_OPEN_FILES + 1)

/* Texts, each once, in the order they were added. */
typedef struct
{
  GPtrArray   *texts;   /* owned, ends in %NULL */
  GHashTable  *seen;    /* of the same */
} SbxReachList;

/* What the files of the class share. */
struct _SbxReach
{
  GObject         parent_instance;

  char           *cwd;
  SbxReachList    read;
  SbxReachList    write;
  SbxReachList    network;
  SbxReachList    sockets;
  SbxEnvironment  environment;
  guint64         limits[SBX_N_LIMITS];   /* 0 for none */
  gboolean        web_search;
  SbxGitMode      git_mode;
  char           *key;          /* (nullable) of the provider environment */
  char           *settings;     /* (nullable) of it, JSON text of an object */

  GListStore     *entries;      /* (nullable) of SbxReachEntry: it is resolved. Never changed once
                                 * it is here, and so shared between copies. */
};

void        _sbx_reach_list_add      (SbxReachList  *list,
                                      const char    *text);
/* Also what is in it already, so that what a file lists keeps its place. */
void        _sbx_reach_list_append   (SbxReachList  *list,
                                      const char    *text);
void        _sbx_reach_list_clear    (SbxReachList  *list);
const char * const *
            _sbx_reach_list_get      (SbxReachList  *list);
/* Whatever was resolved is so no more. */
void        _sbx_reach_changed       (SbxReach      *self);

/* For the resolver alone: @entries, of SbxReachEntry, are what @self comes to. */
void        _sbx_reach_set_entries   (SbxReach      *self,
                                      GListStore    *entries);
gboolean    _sbx_reach_entries_equal (GListStore    *one,
                                      GListStore    *other);

/* The part that a git directory has. */
typedef enum
{
  SBX_GIT_PART_NONE,      /* no git directory */
  SBX_GIT_PART_OWN,       /* of a main working tree, or a clone */
  SBX_GIT_PART_WORKTREE,  /* the own entry of a linked one, in worktrees/ */
  SBX_GIT_PART_COMMON,    /* the one of the repository that a linked working tree belongs to, when
                           * nothing but linked ones lead to it */
  SBX_GIT_PART_MODULE,    /* a submodule's */
} SbxGitPart;

struct _SbxReachEntry
{
  GObject       parent_instance;

  SbxReachKind  kind;
  char         *path;          /* (nullable) real; NULL of a domain */
  char         *domain;        /* (nullable) */
  char         *source;        /* where it comes from, for people: "write[2]: \"~/src\"" */
  gboolean      writable;      /* of cwd, read, write and git directories */
  SbxGitPart    git_part;
  char         *worktree;      /* (nullable) the root of the working tree of a git directory */

  /* What stood there when it was resolved: whoever binds it later compares. 0 and 0: nothing did,
   * which only a protected path may be. */
  dev_t         device;
  ino_t         inode;
  mode_t        mode;          /* of stat() */
};

SbxReachEntry *_sbx_reach_entry_new (SbxReachKind  kind,
                                     const char   *path,
                                     const char   *source);

G_END_DECLS
