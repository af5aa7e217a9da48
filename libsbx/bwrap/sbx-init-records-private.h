/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/*
 * What LIST_DIR and STAT write on standard output, for the host: records and names that a sandbox
 * made up as it liked. A name that is none ("..", with a slash, empty) fails the whole of it, and
 * nothing is allocated that is not proportional to @data.
 *
 * The informations have name, display name, type, size, modification time, symbolic link and its
 * target, and unix mode, uid and gid.
 */

/* Returns: (transfer full): a list of #GFileInfo */
GListStore *_sbx_init_records_parse_list (GBytes  *data,
                                          GError **error);
GFileInfo  *_sbx_init_records_parse_stat (GBytes  *data,
                                          GError **error);

G_END_DECLS
