/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <string.h>
#include <sys/stat.h>

#include "bwrap/sbx-bwrap-plan-private.h"

G_BEGIN_DECLS

/* What the files that make a plan share. */

/* A path that was asked for, resolved. */
typedef struct
{
  const char     *field;    /* "cwd", "read", "write" */
  SbxBwrapOrigin  origin;
  char           *path;     /* real */
  int             fd;       /* O_PATH */
  struct stat     st;
} SbxBwrapReachPath;

typedef struct
{
  const SbxBwrapPlanInput *input;
  GCancellable            *cancellable;
  SbxBwrapPlan            *plan;
  GPtrArray               *reach;       /* (element-type SbxBwrapReachPath), cwd first */
  char                    *home;        /* the operator's, real */
  char                    *account_home; /* (nullable) the same, whatever HOME says */
  char                    *data_path;   /* of libsbx, real as far as it exists */
} SbxBwrapBuilder;

void           _sbx_bwrap_builder_clear          (SbxBwrapBuilder    *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxBwrapBuilder, _sbx_bwrap_builder_clear)

/* Appends an entry; what else it needs is set on the result. */
SbxBwrapMount *_sbx_bwrap_builder_add            (SbxBwrapBuilder    *self,
                                                  SbxBwrapMountKind   kind,
                                                  SbxBwrapOrigin      origin,
                                                  const char         *destination,
                                                  const char         *source,
                                                  const char         *reason);
/* The same for a bind of what @fd, which is taken, has open; also at the same place inside. */
SbxBwrapMount *_sbx_bwrap_builder_add_fd         (SbxBwrapBuilder    *self,
                                                  SbxBwrapMountKind   kind,
                                                  SbxBwrapOrigin      origin,
                                                  const char         *destination,
                                                  const char         *source,
                                                  int                 fd,
                                                  const char         *reason);

gboolean       _sbx_bwrap_reach_resolve          (SbxBwrapBuilder    *self,
                                                  GError            **error);
/* Whether @path may be given at all: for paths that were found rather than asked for too. */
gboolean       _sbx_bwrap_reach_check            (SbxBwrapBuilder    *self,
                                                  const char         *field,
                                                  const char         *path,
                                                  GError            **error);
/* The deepest path of read and write that holds @path is one of write. */
gboolean       _sbx_bwrap_reach_is_writable      (SbxBwrapBuilder    *self,
                                                  const char         *path);
void           _sbx_bwrap_reach_path_free        (SbxBwrapReachPath  *self);

gboolean       _sbx_bwrap_base_add               (SbxBwrapBuilder    *self,
                                                  GError            **error);
void           _sbx_bwrap_base_add_etc           (SbxBwrapBuilder    *self);
GBytes        *_sbx_bwrap_base_make_git_config   (const char         *home,
                                                  const char         *config_home);

gboolean       _sbx_bwrap_repository_add         (SbxBwrapBuilder    *self,
                                                  GError            **error);
/* Puts the protections of a writable git directory into the plan. @git_fd is an O_PATH descriptor
 * of it. With @linked it belongs to another worktree; with @entry it is a worktree's own entry. */
gboolean       _sbx_bwrap_repository_guard       (SbxBwrapBuilder    *self,
                                                  int                 git_fd,
                                                  const char         *git_path,
                                                  gboolean            linked,
                                                  gboolean            entry,
                                                  GError            **error);

/* An empty plan. */
SbxBwrapPlan  *_sbx_bwrap_plan_alloc             (void);
/* Drops what is not needed and puts the rest in order. */
void           _sbx_bwrap_plan_order             (SbxBwrapPlan       *plan);
/* Lists what of the host is mounted below what the plan binds. */
gboolean       _sbx_bwrap_plan_find_submounts    (SbxBwrapPlan       *plan,
                                                  GError            **error);

void           _sbx_bwrap_mount_free            (SbxBwrapMount       *self);
void           _sbx_bwrap_placeholder_free       (SbxBwrapPlaceholder *self);
SbxBwrapMount *_sbx_bwrap_mount_new              (SbxBwrapMountKind   kind,
                                                  SbxBwrapOrigin      origin,
                                                  const char         *destination,
                                                  const char         *source,
                                                  const char         *reason);

/* @path is @ancestor or below it, by components. */
static inline gboolean
_sbx_bwrap_path_is_below (const char *path,
                          const char *ancestor)
{
  const gsize length = strlen (ancestor);

  if (strncmp (path, ancestor, length) != 0)
    return FALSE;

  return path[length] == '\0' || path[length] == '/' || (length > 0 && path[length - 1] == '/');
}

G_END_DECLS
