/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "core/sbx-reach.h"

G_BEGIN_DECLS

/*
 * SbxBwrapProfile:
 *
 * What a name stands for, besides a workspace: how the workspace is opened, and what else there is.
 * Profiles are JSON files that the operator has put into a configuration or data directory, and a
 * few that are built in.
 */

typedef enum
{
  SBX_BWRAP_WORKSPACE_WRITE,
  SBX_BWRAP_WORKSPACE_READ,
  SBX_BWRAP_WORKSPACE_WORKTREE,
} SbxBwrapWorkspace;

typedef enum
{
  SBX_BWRAP_CHOICE_UNSET,
  SBX_BWRAP_CHOICE_NO,
  SBX_BWRAP_CHOICE_YES,
} SbxBwrapChoice;

typedef struct
{
  char              *name;
  char              *path;           /* (nullable) of the file */
  SbxBwrapWorkspace  workspace;
  GStrv              read;           /* (nullable) absolute */
  GStrv              write;          /* (nullable) absolute */
  GStrv              environment;    /* NAME=VALUE */
  SbxBwrapChoice     toolchain;
  SbxBwrapChoice     fresh_home;
  gboolean           keep_changed;   /* of a worktree */
  gboolean           carry_changes;  /* into a worktree */
} SbxBwrapProfile;

/* Finds a profile. %SBX_ERROR_PROVIDER with a message that starts with "bad_profile: " says what is
 * wrong with it. Blocks on the disk. */
SbxBwrapProfile *_sbx_bwrap_profile_load     (const char             *name,
                                              const char             *workspace,
                                              GCancellable           *cancellable,
                                              GError                **error);
/* Makes one of the text of a file; @home stands for "~". */
SbxBwrapProfile *_sbx_bwrap_profile_parse    (const char             *name,
                                              GBytes                 *text,
                                              const char             *home,
                                              GError                **error);
void             _sbx_bwrap_profile_free     (SbxBwrapProfile        *self);

/* All that a sandbox with the profile may see, with its workspace at @root. @cwd can be %NULL for
 * the latter. */
SbxReach        *_sbx_bwrap_profile_to_reach (const SbxBwrapProfile  *self,
                                              const char             *root,
                                              const char             *cwd);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxBwrapProfile, _sbx_bwrap_profile_free)

G_END_DECLS
