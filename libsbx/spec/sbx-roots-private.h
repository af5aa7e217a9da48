/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <sys/stat.h>

G_BEGIN_DECLS

/*
 * What no sandbox may have: places by name. Everything is compared by components of real paths,
 * and by device and inode as well, for trees that are mounted twice. All of these block on the
 * disk: for worker threads, without any main context.
 */

/* Of paths; what is not set has its default. _sbx_roots_real() gives a copy in which all are real
 * as far as they exist, and the defaults filled in. */
typedef struct
{
  char  *home;             /* of the operator */
  char  *account_home;     /* the same, whatever HOME says; NULL when it is the same */
  char  *run_root;         /* NULL for none */
  char **harness_states;   /* of coding agents */
  char **key_dirs;         /* for reading as well: keys, tokens, passwords */
  char **start_dirs;       /* for writing alone: what the desktop or a shell starts */
  char  *machine_root;     /* libsbx's own directory of data */
  char **config_dirs;      /* for writing alone: where libsbx reads configuration from */
  char  *control_root;     /* of the engine; NULL for none */
  char  *own_path;         /* a session's own worktree, exempt from these two; NULL for none */
  char **allowed_sockets;  /* real paths of sockets that are known full escapes, and allowed */

  char     **escape_sockets;    /* known full escapes by place, beside those known by name */
  gboolean   home_is_default;   /* it need not exist then */
  GPtrArray *mounts;       /* of SbxMount, as they were then; NULL unless real */
  GPtrArray *guarded;      /* of SbxGuarded, see sbx-roots-guard-private.h; NULL unless real */
} SbxRoots;

SbxRoots *_sbx_roots_new        (void);
SbxRoots *_sbx_roots_copy       (const SbxRoots  *self);
/* Those that hang on the environment of this process: for the thread that may change it. Without
 * this they are filled in by _sbx_roots_real(). Does not look at the disk. */
void      _sbx_roots_fill       (SbxRoots        *self);
SbxRoots *_sbx_roots_real       (const SbxRoots  *self,
                                 GError         **error);
void      _sbx_roots_free       (SbxRoots        *self);

typedef enum
{
  SBX_ROOTS_READ,
  SBX_ROOTS_WRITE,
  SBX_ROOTS_TOOLCHAIN,   /* found on PATH, for reading: home, run root and own data alone */
  SBX_ROOTS_SOCKET,      /* /run is allowed */
} SbxRootsUse;

/* @self is real, and so is @path, of which @st is what is there. @label is what to call it: "read",
 * or "the git directory of “/x”". %SBX_ERROR_REFUSED names @label, @path, which root, and what to
 * do. */
gboolean  _sbx_roots_check      (const SbxRoots     *self,
                                 SbxRootsUse         use,
                                 const char         *label,
                                 const char         *path,
                                 const struct stat  *st,
                                 GError            **error);

/* The known full escape that the socket at the real @path is, as a name for people; or %NULL. */
const char *
          _sbx_roots_name_escape (const char        *path);

/* The same for a socket whose @st is known: also under another name. */
const char *
          _sbx_roots_find_escape (const SbxRoots    *self,
                                  const char        *path,
                                  const struct stat *st);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxRoots, _sbx_roots_free)

G_END_DECLS
