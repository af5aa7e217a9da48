/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <sys/types.h>

#include <glib.h>

G_BEGIN_DECLS

/* Kills what is left of the session that @leader had made, now that @leader itself was reaped. A
 * process that went into a session of its own is not found. */
void _sbx_process_session_kill (pid_t leader);

G_END_DECLS
