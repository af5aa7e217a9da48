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
 * SbxReachKind:
 * @SBX_REACH_CWD: the working directory
 * @SBX_REACH_READ: a path that can be read
 * @SBX_REACH_WRITE: a path that can be read and written
 * @SBX_REACH_DOMAIN: a domain of the network
 * @SBX_REACH_SOCKET: a socket that can be connected to
 * @SBX_REACH_GIT_DIR: the git directory of one of these paths
 * @SBX_REACH_HIDDEN: a path within the reach that is not there in the sandbox
 * @SBX_REACH_PROTECTED: a path within what may be written that stays as it is, or is not made,
 *   since programs outside would run or follow it
 *
 * What one entry of a resolved reach is.
 *
 * Since: 1.0
 */
typedef enum /*< enum >*/
{
  SBX_REACH_CWD,
  SBX_REACH_READ,
  SBX_REACH_WRITE,
  SBX_REACH_DOMAIN,
  SBX_REACH_SOCKET,
  SBX_REACH_GIT_DIR,
  SBX_REACH_HIDDEN,
  SBX_REACH_PROTECTED,
} SbxReachKind;

#define SBX_TYPE_REACH_ENTRY (sbx_reach_entry_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxReachEntry, sbx_reach_entry, SBX, REACH_ENTRY, GObject)

SBX_AVAILABLE_IN_1_0
SbxReachKind sbx_reach_entry_get_kind     (SbxReachEntry  *self);
SBX_AVAILABLE_IN_1_0
const char  *sbx_reach_entry_get_path     (SbxReachEntry  *self);
SBX_AVAILABLE_IN_1_0
const char  *sbx_reach_entry_get_domain   (SbxReachEntry  *self);
SBX_AVAILABLE_IN_1_0
const char  *sbx_reach_entry_get_source   (SbxReachEntry  *self);
SBX_AVAILABLE_IN_1_0
gboolean     sbx_reach_entry_get_writable (SbxReachEntry  *self);

G_END_DECLS
