/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Whether what @path, which is absolute, names was put there by this user or by root, and can be
 * changed by nobody else: the file, all directories above it, and each link on the way. What is in
 * the current directory's tree counts as the work of what runs in sandboxes, unless that directory
 * is the user's home or above it. %SBX_ERROR_REFUSED names what is wrong, and what to do about it;
 * a missing file is %SBX_ERROR_NOT_FOUND. */
gboolean _sbx_provider_trust (const char  *path,
                              GError     **error);

G_END_DECLS
