/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-reach-private.h"
#include "spec/sbx-roots-private.h"

G_BEGIN_DECLS

/* How a path, and a list of them, is resolved. Blocks on the disk: for worker threads. */

/*
 * Resolves what was asked for in @asked, whose paths may be relative to its cwd, or begin with
 * "~/". Gives a new reach, whose cwd, read, write and sockets are real, whose domains are in lower
 * case, and which has entries:
 *
 *   CWD, then each READ, each WRITE, each SOCKET and each DOMAIN, in the order they were asked for;
 *   each GIT_DIR, in the order they were found;
 *   HIDDEN, the run root, if it lies within;
 *   each PROTECTED path, that exists or not.
 *
 * @roots are real. Errors: %SBX_ERROR_INVALID, NOT_FOUND, REFUSED, NOT_ENFORCEABLE, TOO_LARGE, each
 * naming field, value, cause and remedy; %G_IO_ERROR_CANCELLED.
 */
SbxReach *_sbx_resolve             (const SbxRoots   *roots,
                                    SbxReach         *asked,
                                    GCancellable     *cancellable,
                                    GError          **error);

/* Whether each list of @asked has few enough entries. Does not block. */
gboolean  _sbx_resolve_check_lengths
                                   (SbxReach         *asked,
                                    GError          **error);

/* Whether the deepest path of read and write that holds @path is one of write; @entries are those
 * of CWD, READ and WRITE so far. */
gboolean  _sbx_entries_is_writable (GPtrArray        *entries,
                                    const char       *path);

/* Appends the GIT_DIR entries for all that is in @entries, which are CWD, READ and WRITE. */
gboolean  _sbx_resolve_git         (const SbxRoots   *roots,
                                    GPtrArray        *entries,
                                    SbxGitMode        git_mode,
                                    GCancellable     *cancellable,
                                    GError          **error);

/* Appends the PROTECTED entries for all that is in @entries. */
gboolean  _sbx_resolve_protected   (GPtrArray        *entries,
                                    SbxGitMode        git_mode,
                                    GCancellable     *cancellable,
                                    GError          **error);

/* @path is @ancestor or below it, by components. */
gboolean  _sbx_path_is_below       (const char       *path,
                                    const char       *ancestor);

G_END_DECLS
