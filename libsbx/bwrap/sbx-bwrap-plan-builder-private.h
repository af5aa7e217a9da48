/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <string.h>
#include <sys/stat.h>

#include "bwrap/sbx-bwrap-plan-private.h"

G_BEGIN_DECLS

/* What the files that make a plan share. */

typedef struct
{
  const SbxBwrapPlanInput *input;
  GCancellable            *cancellable;
  SbxBwrapPlan            *plan;
  GPtrArray               *entries;     /* (element-type SbxReachEntry) of the reach */
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

/* The same for an entry of the reach, at its own place; it is opened later. */
SbxBwrapMount *_sbx_bwrap_builder_add_entry      (SbxBwrapBuilder    *self,
                                                  SbxBwrapMountKind   kind,
                                                  SbxBwrapOrigin      origin,
                                                  SbxReachEntry      *entry,
                                                  const char         *reason);
/* And for what @fd, which stays the caller's, has open. */
SbxBwrapMount *_sbx_bwrap_builder_add_seen       (SbxBwrapBuilder    *self,
                                                  SbxBwrapMountKind   kind,
                                                  SbxBwrapOrigin      origin,
                                                  const char         *path,
                                                  int                 fd,
                                                  SbxReachEntry      *entry,
                                                  const char         *reason);

gboolean       _sbx_bwrap_entries_add            (SbxBwrapBuilder    *self,
                                                  GError            **error);
/* Opens what stood at @path, a real one, when it was resolved: O_PATH, and the very same file. */
int            _sbx_bwrap_open_same              (const char         *path,
                                                  dev_t               device,
                                                  ino_t               inode,
                                                  GError            **error);

gboolean       _sbx_bwrap_base_add               (SbxBwrapBuilder    *self,
                                                  GError            **error);
void           _sbx_bwrap_base_add_etc           (SbxBwrapBuilder    *self);
GBytes        *_sbx_bwrap_base_make_git_config   (const char         *home,
                                                  const char         *config_home);

gboolean       _sbx_bwrap_git_dir_add            (SbxBwrapBuilder    *self,
                                                  SbxReachEntry      *entry,
                                                  GError            **error);
/* Puts the protections of a git directory that may be written into the plan. @git_fd is an O_PATH
 * descriptor of it. */
gboolean       _sbx_bwrap_repository_guard       (SbxBwrapBuilder    *self,
                                                  int                 git_fd,
                                                  SbxReachEntry      *entry,
                                                  GError            **error);

/* Covers the sockets of this machine that lie in what can be seen, and were not asked for. */
gboolean       _sbx_bwrap_sockets_mask           (SbxBwrapBuilder    *self,
                                                  GError            **error);

/* An empty plan. */
SbxBwrapPlan  *_sbx_bwrap_plan_alloc             (void);
/* Drops what is not needed, pins what must stay in its place, and puts all in order. */
void           _sbx_bwrap_plan_order             (SbxBwrapPlan       *plan);
/* Leaves to bubblewrap what it is quick with. */
void           _sbx_bwrap_plan_fold              (SbxBwrapPlan       *plan,
                                                  guint               max_mounts);
/* Opens the sources of binds. */
gboolean       _sbx_bwrap_plan_open              (SbxBwrapPlan       *plan,
                                                  GError            **error);
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
