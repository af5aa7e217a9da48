/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-error.h"
#include "spec/sbx-resolve-private.h"

G_BEGIN_DECLS

/* What the files that resolve paths share. */

/* @what is translated: what is wrong with @path, and what to do. */
gboolean       _sbx_resolve_fail            (GError             **error,
                                             SbxError             code,
                                             const char          *label,
                                             const char          *path,
                                             const char          *what);

gboolean       _sbx_resolve_check_readable  (const char          *label,
                                             const char          *path,
                                             int                  fd,
                                             const struct stat   *st,
                                             GError             **error);
/* Of a socket, whether it can be connected to. */
gboolean       _sbx_resolve_check_writable  (const char          *label,
                                             const char          *path,
                                             int                  fd,
                                             const struct stat   *st,
                                             GError             **error);

/* The socket at @path, if it is a known full escape, must be one of the allowed ones. */
gboolean       _sbx_resolve_check_escape    (const SbxRoots      *roots,
                                             const char          *path,
                                             const struct stat   *st,
                                             GError             **error);
/* Those of @roots, and those that the settings of @asked name. */
GStrv          _sbx_resolve_allowed_sockets (const SbxRoots      *roots,
                                             SbxReach            *asked);

/* One path that was asked for in the field of @kind, as its @index-th; @base is what it may be
 * relative to, %NULL for nothing. */
SbxReachEntry *_sbx_resolve_path            (const SbxRoots      *roots,
                                             SbxReachKind         kind,
                                             guint                index,
                                             const char          *asked,
                                             const char          *base,
                                             GError             **error);

G_END_DECLS
