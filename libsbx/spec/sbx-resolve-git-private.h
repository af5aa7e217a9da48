/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-reach-private.h"
#include "spec/sbx-git-tree-private.h"
#include "spec/sbx-roots-private.h"

G_BEGIN_DECLS

/* What the files that find git directories share. */

typedef struct
{
  SbxGitPlace  place;
  char        *worktree;   /* (nullable) */
  gboolean     is_entry;   /* of a linked worktree */
  gboolean     is_direct;  /* something but linked worktrees leads here */
  gboolean     own;        /* of a writable working tree */
  gboolean     linked;     /* the common one of a writable linked working tree */
} SbxGitDir;

typedef struct
{
  const SbxRoots *roots;
  GPtrArray      *entries;    /* (element-type SbxReachEntry) CWD, READ, WRITE */
  GCancellable   *cancellable;
  GPtrArray      *git_dirs;   /* (element-type SbxGitDir) */
  GHashTable     *by_path;    /* of the same */
  GHashTable     *asked;      /* path -> SbxReachEntry of READ or WRITE */
  GHashTable     *empty;      /* of paths without anything */
} SbxGitSearch;

/* Adds what @tree has; it was found in a write path, not asked for, if @nested. */
gboolean _sbx_git_search_add_tree   (SbxGitSearch      *self,
                                     const SbxGitTree  *tree,
                                     gboolean           nested,
                                     GError           **error);
/* Finds those below the paths that may be written. */
gboolean _sbx_git_search_add_nested (SbxGitSearch      *self,
                                     GError           **error);

/* Whether @path, or something above it, was asked for. */
gboolean _sbx_git_search_is_given   (SbxGitSearch      *self,
                                     const char        *path);

G_END_DECLS
