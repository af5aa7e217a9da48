/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "init/sbx-init-private.h"

#include <stdio.h>

/*
 * The file verbs. Each runs alone in a process that ends after it, with the rights of a command and
 * a view of the files like a command's, so nothing here is trusted more than a command is. What a
 * command left to be found, it may have left to be a trap: nothing waits for a pipe, follows a
 * link where it deletes, or grows without a limit.
 *
 * All give 0 or an errno, and may leave descriptors and memory to the end of the process.
 */

/* What is no regular file where one is needed; a directory is EISDIR. */
#define SBX_INIT_NOT_REGULAR EINVAL
/* Of RENAME and COPY: a directory cannot go below itself, and nothing can become itself. */
#define SBX_INIT_WITHIN_ITSELF EINVAL
/* Of COPY: there is no copy of a pipe, a socket or a device. */
#define SBX_INIT_NOT_COPIED EOPNOTSUPP
/* More than the limit that came with the request. */
#define SBX_INIT_OVER_LIMIT EFBIG

int   _sbx_init_read_file       (const char            *path,
                                 const char            *limit);
int   _sbx_init_write_file      (const char            *path,
                                 const char            *mode);
int   _sbx_init_create_dirs     (const char            *path);
int   _sbx_init_create_temp_dir (const SbxInitRequest  *request);
int   _sbx_init_remove          (const char            *path);
int   _sbx_init_list_dir        (const char            *path,
                                 const char            *limit);
int   _sbx_init_stat            (const char            *path);
int   _sbx_init_read_range      (const char            *path,
                                 const char            *offset,
                                 const char            *length);
int   _sbx_init_write_range     (char                 **arguments);
int   _sbx_init_rename          (const char            *path,
                                 const char            *new_path);
int   _sbx_init_copy_tree       (const char            *path,
                                 const char            *new_path);

/* What they share. */
int   _sbx_init_parse_number    (const char            *text,
                                 int                    base,
                                 uint64_t              *number);
int   _sbx_init_write_all       (int                    fd,
                                 const void            *data,
                                 size_t                 size);
/* Copies from @from's position to its end, or @limit bytes if that is less. */
int   _sbx_init_copy_part       (int                    from,
                                 int                    to,
                                 uint64_t               limit);
/* The same, but more than @limit bytes are an error. */
int   _sbx_init_copy            (int                    from,
                                 int                    to,
                                 uint64_t               limit);
/* Copies a whole file, with its holes where it has any. */
int   _sbx_init_copy_file       (int                    from,
                                 int                    to);
/* Makes @name in @directory a copy of the regular file @from, or leaves it as it was. */
int   _sbx_init_put_file        (int                    from,
                                 int                    directory,
                                 const char            *name,
                                 mode_t                 mode);
/* Makes each directory on the way to @path, and @path itself, below @directory. */
int   _sbx_init_make_dirs       (int                    directory,
                                 const char            *path);
/* Splits off the last part of a path, slashes at its end aside. Both go where @room points, which
 * has room for PATH_MAX + 2; an empty name means that there is none. */
int   _sbx_init_split_path      (const char            *path,
                                 char                  *room,
                                 const char           **directory,
                                 const char           **name);
