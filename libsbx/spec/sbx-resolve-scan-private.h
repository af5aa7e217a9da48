/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* A write path with more directories than this is too wide. */
#define SBX_SCAN_MAX_DIRS 100000
#define SBX_SCAN_MAX_SOCKETS 4096

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

/*
 * Adds to @sockets, of owned paths, each socket below @root, in the same way; with @whole also
 * those in ".git" and "node_modules". Ends early at @max_dirs, at @deadline, which is monotonic or
 * 0, at SBX_SCAN_MAX_SOCKETS in @sockets, and where it lost its way since directories were moved:
 * *is_complete is %FALSE then. The only error is %G_IO_ERROR_CANCELLED.
 */
gboolean _sbx_scan_sockets (const char    *root,
                            guint          max_dirs,
                            gint64         deadline,
                            gboolean       whole,
                            GPtrArray     *sockets,
                            gboolean      *is_complete,
                            GCancellable  *cancellable,
                            GError       **error);

G_END_DECLS
