/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <sbx.h>

G_BEGIN_DECLS

/* @path is a regular file, or "-" for standard input. */
SbxSandboxSpec *tool_spec_file_read (const char  *path,
                                     GError     **error);

G_END_DECLS
