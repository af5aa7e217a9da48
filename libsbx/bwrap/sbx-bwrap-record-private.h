/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/*
 * Which process is process 1 of a session: its number, and what tells it from any other that may
 * have the number later. Nobody is ever ended for a number alone.
 */

/* Writes the record of the session @id; @bwrap is the number of the process that started it. */
gboolean _sbx_bwrap_record_write (int          sessions_fd,
                                  const char  *id,
                                  const char  *bwrap,
                                  GError     **error);

/* Kills the process of the record, if it is still that. FALSE: there is no record. */
gboolean _sbx_bwrap_record_kill  (int          sessions_fd,
                                  const char  *id);

G_END_DECLS
