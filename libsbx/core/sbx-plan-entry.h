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
 * SbxPlanKind:
 * @SBX_PLAN_WRITE: a file or directory of the host, which can be read and written
 * @SBX_PLAN_READ: a file or directory of the host, which can be read
 * @SBX_PLAN_MASK: something is there that can neither be read nor written
 * @SBX_PLAN_MEMORY: an empty file system in memory, which can be read and written
 * @SBX_PLAN_PROC: the processes of the sandbox
 * @SBX_PLAN_DEV: the few devices that programs need
 * @SBX_PLAN_DIRECTORY: a directory that holds nothing but other entries
 * @SBX_PLAN_LINK: a symbolic link
 * @SBX_PLAN_COPY: a copy of a file, or one that was made for the sandbox, which can be read
 * @SBX_PLAN_SEAL: nothing can be made here any more, outside of other entries
 * @SBX_PLAN_HIDDEN: what the host has here is not there
 * @SBX_PLAN_SOCKET: a socket of the host that can be connected to
 * @SBX_PLAN_SUBMOUNT: a file system that the host has mounted below another entry, and that comes
 *   along
 * @SBX_PLAN_QUARANTINE: what appears here is put aside, where no program outside looks for it
 * @SBX_PLAN_DOMAIN: a domain of the network
 *
 * What one entry of a plan does.
 *
 * Since: 1.0
 */
typedef enum /*< enum >*/
{
  SBX_PLAN_WRITE,
  SBX_PLAN_READ,
  SBX_PLAN_MASK,
  SBX_PLAN_MEMORY,
  SBX_PLAN_PROC,
  SBX_PLAN_DEV,
  SBX_PLAN_DIRECTORY,
  SBX_PLAN_LINK,
  SBX_PLAN_COPY,
  SBX_PLAN_SEAL,
  SBX_PLAN_HIDDEN,
  SBX_PLAN_SOCKET,
  SBX_PLAN_SUBMOUNT,
  SBX_PLAN_QUARANTINE,
  SBX_PLAN_DOMAIN,
} SbxPlanKind;

#define SBX_TYPE_PLAN_ENTRY (sbx_plan_entry_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxPlanEntry, sbx_plan_entry, SBX, PLAN_ENTRY, GObject)

SBX_AVAILABLE_IN_1_0
SbxPlanKind  sbx_plan_entry_get_kind        (SbxPlanEntry *self);
SBX_AVAILABLE_IN_1_0
const char  *sbx_plan_entry_get_path        (SbxPlanEntry *self);
SBX_AVAILABLE_IN_1_0
const char  *sbx_plan_entry_get_source_path (SbxPlanEntry *self);
SBX_AVAILABLE_IN_1_0
const char  *sbx_plan_entry_get_domain      (SbxPlanEntry *self);
SBX_AVAILABLE_IN_1_0
const char  *sbx_plan_entry_get_reason      (SbxPlanEntry *self);
SBX_AVAILABLE_IN_1_0
const char  *sbx_plan_entry_get_source      (SbxPlanEntry *self);

G_END_DECLS
