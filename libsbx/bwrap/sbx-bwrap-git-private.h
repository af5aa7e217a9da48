/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <sys/types.h>

G_BEGIN_DECLS

/*
 * What the host itself does to a repository, which is as little as can be: it finds one, reads
 * where HEAD is, and makes and removes the files of a branch and of a linked worktree. It runs no
 * git for that: whatever a repository's configuration says, hooks, filters, includes, helpers,
 * remotes of missing objects, nobody is there to follow it.
 */

/* Where a directory of the user's belongs to. */
typedef struct
{
  char  *root;          /* real, of the working tree */
  char  *common_path;   /* real, of the directory that holds objects and references */
  int    git_fd;        /* what HEAD and index of this very working tree lie in */
  int    common_fd;
  dev_t  device;        /* of the latter */
  ino_t  inode;
} SbxBwrapRepository;

/* Finds the working tree that @path lies in. Pointers count only when what they lead to names them
 * back. */
SbxBwrapRepository *_sbx_bwrap_repository_locate     (const char            *path,
                                                      const char            *data_path,
                                                      GCancellable          *cancellable,
                                                      GError               **error);
void                _sbx_bwrap_repository_free       (SbxBwrapRepository    *self);

/* The commit that HEAD of the one, or a branch in the other, is at: hexadecimal digits. */
char               *_sbx_bwrap_git_read_head         (int                    git_fd,
                                                      int                    common_fd,
                                                      GCancellable          *cancellable,
                                                      GError               **error);
char               *_sbx_bwrap_git_read_branch       (int                    common_fd,
                                                      const char            *branch,
                                                      GCancellable          *cancellable,
                                                      GError               **error);
gboolean            _sbx_bwrap_git_is_object_name    (const char            *text);

gboolean            _sbx_bwrap_git_make_branch       (int                    common_fd,
                                                      const char            *branch,
                                                      const char            *commit,
                                                      GError               **error);
/* @worktree_path has a ".git" that names the entry already. */
gboolean            _sbx_bwrap_git_make_entry        (int                    common_fd,
                                                      const char            *name,
                                                      const char            *worktree_path,
                                                      GError               **error);

/* Puts what git on the host follows from an entry back to what it was. */
gboolean            _sbx_bwrap_git_mend_entry        (int                    common_fd,
                                                      const char            *name,
                                                      const char            *worktree_path,
                                                      GError               **error);

/* All of it, also its log and configuration. What is not there is no error. */
gboolean            _sbx_bwrap_git_remove_branch     (int                    common_fd,
                                                      const char            *branch,
                                                      GCancellable          *cancellable,
                                                      GError               **error);
gboolean            _sbx_bwrap_git_remove_entry      (int                    common_fd,
                                                      const char            *name,
                                                      GCancellable          *cancellable,
                                                      GError               **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxBwrapRepository, _sbx_bwrap_repository_free)

G_END_DECLS
