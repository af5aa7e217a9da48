/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/*
 * Makes a memory file of @size bytes of @data that nobody can change any more, with its position at
 * the start. @name is what /proc shows: nothing secret.
 */
int _sbx_memfd_sealed (const char *name,
                       const void *data,
                       gsize       size,
                       GError    **error);

G_END_DECLS
