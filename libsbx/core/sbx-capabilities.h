/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-types.h"

G_BEGIN_DECLS

/**
 * SbxCapabilities:
 * @SBX_CAPABILITIES_NONE: nothing at all
 * @SBX_CAPABILITIES_EXEC: commands can be run to their end
 * @SBX_CAPABILITIES_SPAWN: commands can be started, waited for and ended
 * @SBX_CAPABILITIES_STDIN: a command's standard input can be written while it runs
 * @SBX_CAPABILITIES_SIGNALS: any signal can be sent to a command, not only the one that ends it
 * @SBX_CAPABILITIES_TERMINAL: a command can have a pseudo-terminal, which can be resized
 * @SBX_CAPABILITIES_FILES: files can be read, written, made and removed
 * @SBX_CAPABILITIES_LISTING: directories can be listed, and files asked about
 * @SBX_CAPABILITIES_START: commands can be started in the background, though perhaps neither waited
 *   for nor ended: see %SBX_CAPABILITIES_SPAWN
 * @SBX_CAPABILITIES_RANGES: parts of files can be read and written
 * @SBX_CAPABILITIES_MOVING: files can be renamed and copied
 *
 * What a session can do.
 *
 * What a session lacks is answered with %SBX_ERROR_UNSUPPORTED when it is asked for, never with
 * less than was asked.
 *
 * Since: 1.0
 */
typedef enum /*< flags >*/
{
  SBX_CAPABILITIES_NONE     = 0,
  SBX_CAPABILITIES_EXEC     = 1 << 0,
  SBX_CAPABILITIES_SPAWN    = 1 << 1,
  SBX_CAPABILITIES_STDIN    = 1 << 2,
  SBX_CAPABILITIES_SIGNALS  = 1 << 3,
  SBX_CAPABILITIES_TERMINAL = 1 << 4,
  SBX_CAPABILITIES_FILES    = 1 << 5,
  SBX_CAPABILITIES_LISTING  = 1 << 6,
  SBX_CAPABILITIES_START    = 1 << 7,
  SBX_CAPABILITIES_RANGES   = 1 << 8,
  SBX_CAPABILITIES_MOVING   = 1 << 9,
} SbxCapabilities;

G_END_DECLS
