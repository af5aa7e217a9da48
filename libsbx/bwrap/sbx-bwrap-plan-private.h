/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <sys/types.h>

#include "bwrap/sbx-bwrap-toolchain-private.h"
#include "core/sbx-reach-private.h"
#include "spec/sbx-roots-private.h"

G_BEGIN_DECLS

/* Places inside of every sandbox. */
#define SBX_BWRAP_HOME       "/sandbox/home"
#define SBX_BWRAP_RUN        "/run/libsbx"
#define SBX_BWRAP_INIT       SBX_BWRAP_RUN "/init/sbx-init"
#define SBX_BWRAP_GIT_CONFIG SBX_BWRAP_RUN "/gitconfig"
#define SBX_BWRAP_HOSTNAME   "sandbox"

/* What one entry of a plan does. */
typedef enum
{
  SBX_BWRAP_MOUNT_BIND,         /* source, writable */
  SBX_BWRAP_MOUNT_RO_BIND,      /* source, read-only */
  SBX_BWRAP_MOUNT_MASK,         /* /dev/null over a file, where it cannot be opened as a device */
  SBX_BWRAP_MOUNT_TMPFS,        /* with a size */
  SBX_BWRAP_MOUNT_PROC,
  SBX_BWRAP_MOUNT_DEV,
  SBX_BWRAP_MOUNT_DIR,
  SBX_BWRAP_MOUNT_SYMLINK,      /* source is where it points */
  SBX_BWRAP_MOUNT_FILE,         /* a copy of source, or of content */
  SBX_BWRAP_MOUNT_REMOUNT_RO,
} SbxBwrapMountKind;

/* What asked for an entry. */
typedef enum
{
  SBX_BWRAP_ORIGIN_BASE,
  SBX_BWRAP_ORIGIN_SESSION,     /* its own /tmp, home, process 1 */
  SBX_BWRAP_ORIGIN_CWD,
  SBX_BWRAP_ORIGIN_READ,
  SBX_BWRAP_ORIGIN_WRITE,
  SBX_BWRAP_ORIGIN_SOCKET,      /* that was asked for, or a mask over one that was not */
  SBX_BWRAP_ORIGIN_REPOSITORY,
  SBX_BWRAP_ORIGIN_TOOLCHAIN,
  SBX_BWRAP_ORIGIN_PROTECTED,
  SBX_BWRAP_ORIGIN_HIDDEN,
  SBX_BWRAP_ORIGIN_PIN,         /* keeps a directory above one of those in its place */
} SbxBwrapOrigin;

typedef struct
{
  SbxBwrapMountKind kind;
  SbxBwrapOrigin    origin;
  char             *destination;   /* canonical, inside */
  char             *source;        /* (nullable) real path on the host, or where a link points */
  int               source_fd;     /* O_PATH of binds, O_RDONLY of copies; -1 */
  GBytes           *content;       /* (nullable) of a generated file */
  guint64           size;          /* of a tmpfs, bytes */
  dev_t             device;        /* of what is bound */
  ino_t             inode;
  gboolean          is_directory;
  gboolean          late;          /* made by sbx-mount once bwrap is through, not by bwrap: a bind
                                    * of something on itself, or a mask; device and inode are of
                                    * what is there before */
  gboolean          on_itself;     /* what is bound, or covered, shows there without it too */
  const char       *reason;        /* short, static, marked with N_() */
  SbxReachEntry    *entry;         /* (nullable) of the reach: where it comes from */
} SbxBwrapMount;

/* Something neutral that git accepts, put where a sandbox could plant something else. Nothing of
 * it is on disk until _sbx_bwrap_plan_make_placeholders(): who opens a session notes all of them
 * first. */
typedef struct
{
  char     *path;           /* absolute, real */
  dev_t     parent_device;  /* of the directory that it is made in */
  ino_t     parent_inode;
  gboolean  is_directory;   /* an empty one; else a file */
  char     *content;        /* of a file, text */
  gboolean  exists;         /* it was there already, exactly so: a session that is still open may
                             * have made it */
  gboolean  marked;         /* what was there was made by a session, of whatever data directory */
  gboolean  made;           /* by us, and these are valid: */
  dev_t     device;
  ino_t     inode;
} SbxBwrapPlaceholder;

/* A mount of the host below something that is bound: it comes along. */
typedef struct
{
  char *path;
  char *type;     /* of the file system */
} SbxBwrapSubmount;

typedef struct
{
  GPtrArray *mounts;         /* (element-type SbxBwrapMount) in the order of mounting */
  GPtrArray *placeholders;   /* (element-type SbxBwrapPlaceholder) */
  GPtrArray *submounts;      /* (element-type SbxBwrapSubmount) */
  char      *cwd;            /* real path; where it is inside as well */
  SbxReach  *reach;          /* resolved: what the plan is made of */
} SbxBwrapPlan;

typedef struct
{
  SbxReach                *reach;           /* resolved */
  const SbxRoots          *roots;           /* real: for what is found rather than asked for */
  const char              *tmp_path;        /* the session's own; bound at /tmp. %NULL when the plan
                                             * is only to be explained */
  const char              *home_path;       /* bound at SBX_BWRAP_HOME; the same */
  const char              *init_path;       /* the program of process 1 */
  const SbxBwrapToolchain *toolchain;       /* (nullable) */
  const char              *config_home;     /* (nullable) g_get_user_config_dir() */
  guint                    max_mounts;      /* that bubblewrap makes, if what is more can be left to
                                             * others; 0: the default */
} SbxBwrapPlanInput;

/* How many mounts bubblewrap is given, which does each the slower the more there are; what can wait
 * is made inside when there are more. */
#define SBX_BWRAP_MAX_MOUNTS 60

/* What no sandbox of this provider may have: @home (nullable: the user's), where sandboxes are kept
 * (nullable: the default), and the own worktree of a session (nullable). */
SbxRoots     *_sbx_bwrap_roots_new              (const char               *home,
                                                 const char               *data_path,
                                                 const char               *own_path,
                                                 SbxReach                 *reach,
                                                 GError                  **error);

/* What @reach comes to on this machine: itself where it is resolved, and still stands for what this
 * provider gives away. Blocks on the disk. */
SbxReach     *_sbx_bwrap_reach_resolve          (const SbxRoots           *roots,
                                                 SbxReach                 *reach,
                                                 GCancellable             *cancellable,
                                                 GError                  **error);

/* Everything that a sandbox sees. Blocks on the disk: for a worker thread; uses no main
 * context. Errors: SBX_ERROR_INVALID, NOT_FOUND, REFUSED, NOT_ENFORCEABLE, FAILED, each naming the
 * field and the path; G_IO_ERROR_CANCELLED. */
SbxBwrapPlan *_sbx_bwrap_plan_new               (const SbxBwrapPlanInput  *input,
                                                 GCancellable             *cancellable,
                                                 GError                  **error);
SbxBwrapPlan *_sbx_bwrap_plan_ref               (SbxBwrapPlan             *self);
void          _sbx_bwrap_plan_unref             (SbxBwrapPlan             *self);

/* Makes what is listed, and opens it for its mounts. One that appeared meanwhile is an error,
 * unless it is exactly what was to be made. What was made before an error has made set. */
gboolean      _sbx_bwrap_plan_make_placeholders (SbxBwrapPlan             *self,
                                                 GError                  **error);

/* Takes one away, if it is still what was made: the same inode where @inode is not 0, else the same
 * kind; a file with the same content, an empty directory. A missing or changed one is no error.
 * Follows no link. %G_IO_ERROR_BUSY: a session, whosever it is, holds the directory. */
gboolean      _sbx_bwrap_placeholder_remove     (const char               *path,
                                                 gboolean                  is_directory,
                                                 const char               *content,
                                                 dev_t                     device,
                                                 ino_t                     inode,
                                                 GError                  **error);

/* A descriptor that, for as long as it is open, keeps everybody from taking placeholders out of the
 * directory that this one belongs in; or -1. */
int           _sbx_bwrap_placeholder_hold       (const SbxBwrapPlaceholder *self);

/* The directory whose lock that is: one for all entries of worktrees of a repository. */
char         *_sbx_bwrap_placeholder_dup_lock   (const char               *path);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxBwrapPlan, _sbx_bwrap_plan_unref)

G_END_DECLS
