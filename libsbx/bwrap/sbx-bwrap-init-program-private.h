/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The program of process 1: where it is installed, or where SBX_INIT says, for a build that is not
 * installed. One that cannot be executed is SBX_ERROR_SETUP_FAILED. */
char *_sbx_bwrap_find_init_program  (GError **error);

/* The program that mounts in a running sandbox: beside the former, or where SBX_MOUNT says. */
char *_sbx_bwrap_find_mount_program (GError **error);

G_END_DECLS
