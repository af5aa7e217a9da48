/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "bwrap/sbx-bwrap-sandbox-private.h"
#include "core/sbx-session.h"

G_BEGIN_DECLS

/*
 * SbxBwrapSession:
 *
 * A session of the bubblewrap provider: hands commands and file verbs to process 1 of its sandbox.
 */

#define SBX_BWRAP_SESSION_CAPABILITIES \
  (SBX_CAPABILITIES_EXEC | SBX_CAPABILITIES_SPAWN | SBX_CAPABILITIES_STDIN | \
   SBX_CAPABILITIES_SIGNALS | SBX_CAPABILITIES_TERMINAL | SBX_CAPABILITIES_FILES | \
   SBX_CAPABILITIES_LISTING | SBX_CAPABILITIES_START | SBX_CAPABILITIES_RANGES | \
   SBX_CAPABILITIES_MOVING)

#define SBX_TYPE_BWRAP_SESSION (_sbx_bwrap_session_get_type ())

G_DECLARE_FINAL_TYPE (SbxBwrapSession, _sbx_bwrap_session, SBX, BWRAP_SESSION, SbxSession)

/* @sandbox is started. @environment is what every command has. */
SbxSession         *_sbx_bwrap_session_new             (SbxBwrapSandbox     *sandbox,
                                                        const char          *cwd,
                                                        const char * const  *environment);

/* @provider is told of a worktree that stays. */
void                _sbx_bwrap_session_set_provider    (SbxBwrapSession     *self,
                                                        GObject             *provider);
/* Removes what it has on disk as soon as the sandbox has ended by itself, without being asked. */
void                _sbx_bwrap_session_close_when_lost (SbxBwrapSession     *self);

/* For the files of the class. */
SbxInitChannel     *_sbx_bwrap_session_get_channel     (SbxBwrapSession     *self);
struct _SbxBwrapQuarantine *
                    _sbx_bwrap_session_get_quarantine  (SbxBwrapSession     *self);
const char * const *_sbx_bwrap_session_get_environment (SbxBwrapSession     *self);
void                _sbx_bwrap_session_init_exec       (SbxSessionClass     *klass);
void                _sbx_bwrap_session_init_files      (SbxSessionClass     *klass);

G_END_DECLS
