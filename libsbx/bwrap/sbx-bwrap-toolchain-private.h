/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* The install trees below the home directory that PATH leads to. */
typedef struct
{
  char **trees;          /* real paths, outermost ones only: directories, or single programs */
  char **directories;    /* what belongs on PATH for them, in the order of PATH */
  char **secrets;        /* real paths of known secret files in the trees: masked */
} SbxBwrapToolchain;

/* @path is the operator's PATH, @home the home directory. Nothing found is no error: the lists are
 * empty. Blocks on the disk. */
SbxBwrapToolchain *_sbx_bwrap_toolchain_new      (const char         *path,
                                                  const char         *home,
                                                  GCancellable       *cancellable,
                                                  GError            **error);
void               _sbx_bwrap_toolchain_free     (SbxBwrapToolchain  *self);

/* The program that @command would be on @path, when it is found below @home and nowhere else; or
 * %NULL. Good for a hint. */
char              *_sbx_bwrap_toolchain_find     (const char         *command,
                                                  const char         *path,
                                                  const char         *home);

/* PATH for a sandbox: the toolchain's directories (@self may be %NULL), then the system's. */
char              *_sbx_bwrap_toolchain_get_path (SbxBwrapToolchain  *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxBwrapToolchain, _sbx_bwrap_toolchain_free)

G_END_DECLS
