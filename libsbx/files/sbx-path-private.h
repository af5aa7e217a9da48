/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/*
 * Makes a name of any bytes safe to show, and bounds its length: control, format and bidirectional
 * characters, backslashes and bytes that are no UTF-8 become escapes.
 */
char *_sbx_path_show (const char *path);

/*
 * Sets an error "PATH: SENTENCE: the system's message", in G_IO_ERROR with the code for @errsv.
 * @sentence is translated by the caller. Leaves @errsv in errno.
 */
void _sbx_path_error (GError    **error,
                      int         errsv,
                      const char *path,
                      const char *sentence);

/* The same with a code of the caller's and without a message of the system's. */
void _sbx_path_error_code (GError     **error,
                           GIOErrorEnum code,
                           const char  *path,
                           const char  *sentence);

/* Whether @path is relative, not empty and without ".."; else sets an error. */
gboolean _sbx_path_check_beneath (const char *path,
                                  GError    **error);

/* Whether @name is one component that names an entry; else sets an error. */
gboolean _sbx_path_check_name (const char *name,
                               GError    **error);

G_END_DECLS
