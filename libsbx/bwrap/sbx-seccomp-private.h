/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The filter of every sandbox, compiled once in a process. Returns a descriptor of a sealed memory
 * file with an offset of its own, for bwrap's --seccomp; the caller's to close. */
int _sbx_seccomp_open (GError **error);

G_END_DECLS
