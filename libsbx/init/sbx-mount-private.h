/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "init/sbx-mount-protocol-private.h"

#include <stdbool.h>

/* The functions that can fail give 0 or an errno. */

/* sbx-mount-join.c */
int _sbx_mount_join  (void);

/* sbx-mount-path.c: a descriptor of what is at an absolute path, by no link; or -1 with errno. */
int _sbx_mount_open  (const char *path);

/* sbx-mount-make.c: @fd is what is at @path. */
int _sbx_mount_make  (const char *path,
                      int         fd,
                      uint32_t    kind,
                      bool        is_directory);
