/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The current directory, or NULL after the user was told that there is none. */
char     *tool_path_get_base          (void);
gboolean  tool_path_needs_base        (GStrv       paths);
char     *tool_path_make_absolute     (const char *path,
                                       const char *here);
/* Tells the user of an empty one, and returns FALSE. */
gboolean  tool_path_make_all_absolute (GStrv       paths,
                                       const char *option,
                                       const char *here);

G_END_DECLS
