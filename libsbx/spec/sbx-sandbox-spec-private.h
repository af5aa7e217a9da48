/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-provider-set.h"
#include "core/sbx-reach-private.h"
#include "spec/sbx-sandbox-spec.h"

G_BEGIN_DECLS

/*
 * What a spec asks for, as a reach that is not resolved. Checks the names of fields, the provider
 * environment with its settings, and the shape of every value; in that order. Does not look at the
 * file system, and calls providers: for the thread that these belong to.
 *
 * Texts of the reach are as they are written in the spec: paths may be relative or begin with "~/",
 * domains may be in capitals, and what is listed twice is there twice, so that places are those of
 * the spec. Its cwd is %NULL when the spec names none. Its environment key and settings are set,
 * the latter as the provider gave them back. Without @providers the only environment is bwrap, with
 * settings that nobody checked.
 *
 * @is_inline: key and cwd may not be named.
 */
SbxReach *_sbx_sandbox_spec_to_asked (SbxSandboxSpec  *self,
                                      SbxProviderSet  *providers,
                                      gboolean         is_inline,
                                      GError         **error);

G_END_DECLS
