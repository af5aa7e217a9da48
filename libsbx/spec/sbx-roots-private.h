/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <sys/stat.h>

G_BEGIN_DECLS

/*
 * What no sandbox may have: the rules F1 to F6. Everything is compared by components of real paths,
 * and by device and inode as well, for trees that are mounted twice. All of these block on the
 * disk: for worker threads, without any main context.
 */

/* Of paths; what is not set has its default. _sbx_roots_real() gives a copy in which all are real
 * as far as they exist, and the defaults filled in. */
typedef struct
{
  char  *home;             /* F1; of the operator */
  char  *account_home;     /* F1; the same, whatever HOME says; NULL when it is the same */
  char  *run_root;         /* F2; NULL for none */
  char **harness_states;   /* F3 */
  char **key_dirs;         /* F4; for reading as well: keys, tokens, passwords */
  char **start_dirs;       /* F4; for writing alone: what the desktop or a shell starts */
  char  *machine_root;     /* F5; libsbx's own directory of data */
  char **config_dirs;      /* F5; for writing alone: where libsbx reads configuration from */
  char  *control_root;     /* F6; NULL for none */
  char  *own_path;         /* an exemption from F5: a session's own worktree, real; NULL for none */
  char **allowed_sockets;  /* real paths of sockets that are known full escapes, and allowed */

  char     **escape_sockets;    /* known full escapes by place, beside those known by name */
  gboolean   home_is_default;   /* it need not exist then */
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
  SBX_ROOTS_TOOLCHAIN,   /* found on PATH, for reading: F1, F2, F5 alone */
  SBX_ROOTS_SOCKET,      /* F1 does not count the way; /run is allowed */
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
