/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Removes what sessions left that were not closed: their directories, and what their notes say.
 * Returns the paths that were removed. Blocks on the disk. */
char **_sbx_bwrap_sweep        (const char    *data_path,
                                GCancellable  *cancellable,
                                GError       **error);

/* The same once in this process, before its first sandbox, or before the next if it failed. */
void   _sbx_bwrap_sweep_once   (const char    *data_path,
                                GCancellable  *cancellable);

/* Something could not be removed: once is not enough. */
void   _sbx_bwrap_sweep_again  (const char    *data_path);

/* Removes the homes that are kept for projects, but for those in use. */
char **_sbx_bwrap_sweep_homes  (const char    *data_path,
                                GCancellable  *cancellable,
                                GError       **error);

G_END_DECLS
