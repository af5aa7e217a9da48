/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/*
 * Whether nobody but this user and root can have put there what @path, which is absolute, names, or
 * can put something else there: itself, each directory above it and each link on the way belongs to
 * one of them, and no group and nobody else may write it. A directory like /tmp, where nobody can
 * take away what is another's, counts as safe.
 *
 * %G_IO_ERROR_PERMISSION_DENIED names the one that is not; a missing file is
 * %G_IO_ERROR_NOT_FOUND. Stores in @real_path where the file really is, and returns what the way to
 * it leads through: the places, without a link above them, of each part and each link.
 */
GPtrArray *_sbx_trust_check (const char  *path,
                             char       **real_path,
                             GError     **error);

G_END_DECLS
