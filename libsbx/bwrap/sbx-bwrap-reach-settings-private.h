/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "bwrap/sbx-bwrap-profile-private.h"
#include "core/sbx-reach.h"

G_BEGIN_DECLS

/*
 * SbxBwrapReachSettings:
 *
 * What a spec has to say to this provider alone, in its environment "bwrap": which dangerous
 * sockets are allowed, which limits may be held by something weaker, and what of the provider's own
 * settings is different for this sandbox.
 */

#define SBX_BWRAP_ENVIRONMENT_KEY "bwrap"

typedef struct
{
  GStrv           allow_sockets;   /* absolute, sorted, each once */
  guint           allow_weaker;    /* 1 << SbxLimit */
  SbxBwrapChoice  toolchain;
  SbxBwrapChoice  fresh_home;
} SbxBwrapReachSettings;

/* @text is JSON, and may be %NULL for nothing. %SBX_ERROR_INVALID names what is wrong. */
SbxBwrapReachSettings *_sbx_bwrap_reach_settings_parse   (const char                   *text,
                                                          GError                      **error);
/* Those of @reach; an environment of another provider is an error. */
SbxBwrapReachSettings *_sbx_bwrap_reach_settings_of      (SbxReach                     *reach,
                                                          GError                      **error);
void                   _sbx_bwrap_reach_settings_free    (SbxBwrapReachSettings        *self);

/* The one text for all that mean the same. */
char                  *_sbx_bwrap_reach_settings_to_text (const SbxBwrapReachSettings  *self);

gboolean               _sbx_bwrap_reach_settings_allow_socket
                                                         (const SbxBwrapReachSettings  *self,
                                                          const char                   *path);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxBwrapReachSettings, _sbx_bwrap_reach_settings_free)

G_END_DECLS
