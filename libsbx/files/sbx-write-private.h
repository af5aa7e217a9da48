/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <sys/types.h>

G_BEGIN_DECLS

/*
 * Puts @content under @name, one component, in @dir_fd: a reader sees the old file or the new one.
 * The mode is exactly @mode whatever the umask is. A link of that name is replaced, not followed.
 */
gboolean _sbx_write_staged (int         dir_fd,
                            const char *name,
                            GBytes     *content,
                            mode_t      mode,
                            GError    **error);

/*
 * Makes the directories of @path below @dir_fd that are missing, with exactly @mode, and opens the
 * last one (O_RDONLY). What exists keeps its mode; a link or a file in the way is an error.
 */
int _sbx_make_dirs_beneath (int         dir_fd,
                            const char *path,
                            mode_t      mode,
                            GError    **error);

G_END_DECLS
