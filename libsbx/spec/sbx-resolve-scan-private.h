/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* A write path with more directories than this is too wide. */
#define SBX_SCAN_MAX_DIRS 100000

/*
 * Adds to @found, of owned paths, each directory below @root, but not @root itself, that has an
 * entry ".git" of whatever kind. Follows no links, enters neither ".git" nor "node_modules", takes
 * a directory that cannot be read for an empty one, and puts up with changes meanwhile.
 * %SBX_ERROR_TOO_LARGE names @root.
 */
gboolean _sbx_scan_trees (const char    *root,
                          guint          max_dirs,
                          GPtrArray     *found,
                          GCancellable  *cancellable,
                          GError       **error);

G_END_DECLS
