/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <sys/types.h>

G_BEGIN_DECLS

/*
 * Everything here may meet what a sandbox made, while the sandbox still runs. Paths are bytes and
 * relative to a descriptor that the caller holds; "..", absolute and empty ones are
 * %G_IO_ERROR_INVALID_FILENAME. Errors are %G_IO_ERROR codes; their messages show names escaped.
 */

/*
 * Opens @path below @dir_fd, and nothing else whatever is swapped meanwhile: no component may be a
 * symbolic link, of which %G_IO_ERROR_TOO_MANY_LINKS tells (O_PATH | O_NOFOLLOW opens a last one
 * itself). O_CLOEXEC is always set; @mode counts with O_CREAT alone, less the umask.
 */
int _sbx_open_beneath (int         dir_fd,
                       const char *path,
                       int         flags,
                       mode_t      mode,
                       GError    **error);

/* The same by hand, for kernels and filters without openat2(); _sbx_open_beneath() chooses. */
int _sbx_open_beneath_by_walk (int         dir_fd,
                               const char *path,
                               int         flags,
                               mode_t      mode,
                               GError    **error);

/*
 * Opens an absolute path of the operator's, through links, and stores in @real_path where it really
 * is, without any link. The descriptor is what counts: the name may be another's by now.
 */
int _sbx_open_real (const char *path,
                    int         flags,
                    char      **real_path,
                    GError    **error);

/*
 * Reads a whole regular file below @dir_fd. Anything else under that name is an error and is never
 * waited for: %G_IO_ERROR_IS_DIRECTORY, %G_IO_ERROR_NOT_REGULAR_FILE; more than @max_size bytes are
 * %G_IO_ERROR_MESSAGE_TOO_LARGE, a file that somebody holds a lease on is %G_IO_ERROR_BUSY.
 */
GBytes *_sbx_read_beneath (int           dir_fd,
                           const char   *path,
                           gsize         max_size,
                           GCancellable *cancellable,
                           GError      **error);

G_END_DECLS
