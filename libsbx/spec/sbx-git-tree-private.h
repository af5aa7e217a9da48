/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <sys/stat.h>

G_BEGIN_DECLS

/*
 * What one directory is to git. All of it may have been written by a sandbox: it is read in bounds,
 * nothing is waited for, and a pointer that leads elsewhere is only told of together with whether
 * the place that it leads to names it back.
 */

typedef enum
{
  SBX_GIT_TREE_NONE,      /* nothing here: git looks at the parent */
  SBX_GIT_TREE_LINK,      /* ".git" is a symbolic link to a directory */
  SBX_GIT_TREE_MAIN,      /* ".git" is a directory */
  SBX_GIT_TREE_POINTED,   /* ".git" names a git directory of its own: submodules, and what "git init
                           * --separate-git-dir" made */
  SBX_GIT_TREE_LINKED,    /* ".git" names an entry of a common one: "git worktree add" */
  SBX_GIT_TREE_BARE,      /* it is a git directory itself */
} SbxGitTreeKind;

typedef struct
{
  char        *path;      /* (nullable) real */
  struct stat  st;
} SbxGitPlace;

typedef struct
{
  SbxGitTreeKind  kind;
  char           *root;         /* real, of the working tree */
  SbxGitPlace     git;          /* of all kinds but NONE */
  SbxGitPlace     common;       /* of LINKED; its path is NULL when it leads nowhere */
  gboolean        names_back;   /* POINTED and LINKED: what git.path leads to names this tree */
} SbxGitTree;

/* Looks at @root, a real path, alone. Errors: a ".git" that is a file and names no git directory
 * (%SBX_ERROR_INVALID), or one that is gone (%SBX_ERROR_NOT_FOUND); %G_IO_ERROR of reading. */
SbxGitTree *_sbx_git_tree_read     (const char    *root,
                                    GCancellable  *cancellable,
                                    GError       **error);

/* Finds the tree that the real directory @path lies in, on the way up to @home, which together with
 * all above it belongs to nobody; %NULL without an error: none. @empty, if any, is a set of owned
 * paths that have nothing, and is added to. */
SbxGitTree *_sbx_git_tree_find     (const char    *path,
                                    const char    *home,
                                    GHashTable    *empty,
                                    GCancellable  *cancellable,
                                    GError       **error);
void        _sbx_git_tree_free     (SbxGitTree    *self);

/* The first line of a small file, without space around it. */
char       *_sbx_git_read_line     (int            dir_fd,
                                    const char    *name,
                                    GCancellable  *cancellable,
                                    GError       **error);

/* Where core.worktree of the git directory @git_path leads, by the text alone; or %NULL. */
char       *_sbx_git_read_worktree (int            git_fd,
                                    const char    *git_path,
                                    GCancellable  *cancellable);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxGitTree, _sbx_git_tree_free)

G_END_DECLS
