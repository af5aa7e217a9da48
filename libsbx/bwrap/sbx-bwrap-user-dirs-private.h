/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The directories of the operator, from the environment: always absolute. */
char *_sbx_bwrap_dup_home         (void);
char *_sbx_bwrap_dup_data_dir     (void);
char *_sbx_bwrap_dup_cache_dir    (void);
char *_sbx_bwrap_dup_config_dir   (void);

/* The home directory that the list of accounts has, or NULL. */
char *_sbx_bwrap_dup_account_home (void);

G_END_DECLS
