/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* The names of errors on the wire, "ENOENT" and so on: numbers differ between systems. */

/* 0 for a name that we do not know. */
int           _sbx_wire_errno_from_name   (const char   *name);

/* %NULL for a number that has no name here. */
const char   *_sbx_wire_errno_to_name     (int           number);

/* Whether _sbx_wire_errno_to_io_error() has something for it. */
gboolean      _sbx_wire_errno_is_known    (const char   *name);

/* %G_IO_ERROR_FAILED for a name that we do not know. */
GIOErrorEnum  _sbx_wire_errno_to_io_error (const char   *name);

/* %NULL where no number says the same. */
const char   *_sbx_wire_errno_of_io_error (GIOErrorEnum  code);

G_END_DECLS
