/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/*
 * Deletes @name, one component of @dir_fd, with all that is below it: the one recursive delete of
 * this library. It follows no link and enters no other device or mount point, makes directories of
 * the user accessible where it must, and needs the same few descriptors and the same memory for a
 * tree of any depth. What is missing is deleted already.
 *
 * It goes on after a failure, so that as much as possible goes, and reports the first one; a mount
 * point is %G_IO_ERROR_BUSY. Cancelling leaves the rest in place.
 */
gboolean _sbx_delete_tree (int           dir_fd,
                           const char   *name,
                           GCancellable *cancellable,
                           GError      **error);

G_END_DECLS
