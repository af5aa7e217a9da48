/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-open-invocation.h"
#include "core/sbx-reach.h"

G_BEGIN_DECLS

/* What a provider is set to when it opens a sandbox. */
typedef struct
{
  char     *program;       /* (nullable) bubblewrap, or the one that is found */
  char     *data_path;
  gboolean  toolchain;
  gboolean  fresh_home;
} SbxBwrapSettings;

/* Opens a sandbox with @reach and answers @invocation. */
void _sbx_bwrap_open (const SbxBwrapSettings *settings,
                      SbxReach               *reach,
                      SbxOpenInvocation      *invocation);

G_END_DECLS
