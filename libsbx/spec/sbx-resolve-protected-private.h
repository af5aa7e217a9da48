/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <sys/stat.h>

#include "core/sbx-reach-private.h"

G_BEGIN_DECLS

/* What the files that find protected paths share. */

typedef struct
{
  GPtrArray    *entries;      /* (element-type SbxReachEntry) of all that was found before */
  GPtrArray    *asked;        /* (element-type SbxReachEntry) READ and WRITE of them */
  SbxGitMode    git_mode;
  GCancellable *cancellable;
  GPtrArray    *added;        /* (element-type SbxReachEntry) */
  GHashTable   *seen;         /* of the paths of those */
  GHashTable   *real_dirs;    /* path -> where it really is */
  GHashTable   *writable;     /* path of a git directory that can be written -> its entry */
  GHashTable   *directories;  /* of owned paths, in which the names that programs run were added */
  GHashTable   *roots;        /* of owned paths of working trees */
  guint         n_listed;     /* files in protected directories */
  guint         lenient;      /* not 0: what is added may have other names, by hard links */
  GHashTable   *let_be;       /* of the paths of directories that were added so */
} SbxProtect;

/* Adds @path, and what it leads to if a link is on the way. @source is of the entry. */
gboolean _sbx_protect_add          (SbxProtect  *self,
                                    const char  *path,
                                    const char  *source,
                                    GError     **error);
/* The same, if it can be written at all. */
gboolean _sbx_protect_add_writable (SbxProtect  *self,
                                    const char  *path,
                                    const char  *source,
                                    GError     **error);
/* The names in @directory that programs outside run or follow. */
gboolean _sbx_protect_add_names    (SbxProtect  *self,
                                    const char  *directory,
                                    GError     **error);

/* No more than the entry of @path itself. @added is %NULL if it is there already. */
gboolean _sbx_protect_insert       (SbxProtect     *self,
                                    const char     *path,
                                    const char     *source,
                                    SbxReachEntry **added,
                                    GError        **error);
/* Refuses a file that can be changed by another name. */
gboolean _sbx_protect_check_links  (SbxProtect         *self,
                                    const char         *path,
                                    const struct stat  *st,
                                    GError            **error);
/* By what was asked for, or as a part of a git directory. */
gboolean _sbx_protect_is_writable  (SbxProtect  *self,
                                    const char  *path);

/* The links on the way from @path to where it leads, and what is there, as far as they can be
 * written. */
gboolean _sbx_protect_follow       (SbxProtect  *self,
                                    const char  *path,
                                    const char  *source,
                                    GError     **error);
/* What the links in @directory, which is protected, lead to. */
gboolean _sbx_protect_add_links    (SbxProtect  *self,
                                    const char  *directory,
                                    GError     **error);

/* All of the git directories. */
gboolean _sbx_protect_add_git      (SbxProtect  *self,
                                    GError     **error);

/* What the configuration @name in @dir_fd, which is @directory, names for git in the working trees
 * @roots, of paths, to run or follow. */
gboolean _sbx_protect_add_config   (SbxProtect  *self,
                                    int          dir_fd,
                                    const char  *directory,
                                    const char  *name,
                                    GPtrArray   *roots,
                                    GError     **error);
/* What the operator's own one names, for all working trees. */
gboolean _sbx_protect_add_global   (SbxProtect  *self,
                                    GError     **error);

G_END_DECLS
