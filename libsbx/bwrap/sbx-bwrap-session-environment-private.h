/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "bwrap/sbx-bwrap-toolchain-private.h"

G_BEGIN_DECLS

/* What every command of a session finds in its environment. Nothing is inherited but the language
 * and the time zone; @own is what the reach sets on top. */
GStrv _sbx_bwrap_session_environment (SbxBwrapToolchain  *toolchain,
                                      const char * const *own);

G_END_DECLS
