/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-reach.h"

G_BEGIN_DECLS

#define SBX_TYPE_SANDBOX_SPEC (sbx_sandbox_spec_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxSandboxSpec, sbx_sandbox_spec, SBX, SANDBOX_SPEC, GObject)

SBX_AVAILABLE_IN_1_0
SbxSandboxSpec     *sbx_sandbox_spec_new                 (void);
SBX_AVAILABLE_IN_1_0
SbxSandboxSpec     *sbx_sandbox_spec_new_from_json       (GBytes          *json,
                                                          GError         **error);
SBX_AVAILABLE_IN_1_0
GBytes             *sbx_sandbox_spec_to_json             (SbxSandboxSpec  *self,
                                                          GError         **error);
SBX_AVAILABLE_IN_1_0
gboolean            sbx_sandbox_spec_equal               (SbxSandboxSpec  *self,
                                                          SbxSandboxSpec  *other);
SBX_AVAILABLE_IN_1_0
void                sbx_sandbox_spec_set_key             (SbxSandboxSpec  *self,
                                                          const char      *key);
SBX_AVAILABLE_IN_1_0
const char         *sbx_sandbox_spec_get_key             (SbxSandboxSpec  *self);
SBX_AVAILABLE_IN_1_0
void                sbx_sandbox_spec_set_cwd             (SbxSandboxSpec  *self,
                                                          const char      *cwd);
SBX_AVAILABLE_IN_1_0
const char         *sbx_sandbox_spec_get_cwd             (SbxSandboxSpec  *self);
SBX_AVAILABLE_IN_1_0
void                sbx_sandbox_spec_add_read            (SbxSandboxSpec  *self,
                                                          const char      *path);
SBX_AVAILABLE_IN_1_0
const char * const *sbx_sandbox_spec_get_read            (SbxSandboxSpec  *self);
SBX_AVAILABLE_IN_1_0
void                sbx_sandbox_spec_add_write           (SbxSandboxSpec  *self,
                                                          const char      *path);
SBX_AVAILABLE_IN_1_0
const char * const *sbx_sandbox_spec_get_write           (SbxSandboxSpec  *self);
SBX_AVAILABLE_IN_1_0
void                sbx_sandbox_spec_add_domain          (SbxSandboxSpec  *self,
                                                          const char      *domain);
SBX_AVAILABLE_IN_1_0
const char * const *sbx_sandbox_spec_get_network         (SbxSandboxSpec  *self);
SBX_AVAILABLE_IN_1_0
void                sbx_sandbox_spec_add_socket          (SbxSandboxSpec  *self,
                                                          const char      *path);
SBX_AVAILABLE_IN_1_0
const char * const *sbx_sandbox_spec_get_sockets         (SbxSandboxSpec  *self);
SBX_AVAILABLE_IN_1_0
void                sbx_sandbox_spec_set_web_search      (SbxSandboxSpec  *self,
                                                          gboolean         web_search);
SBX_AVAILABLE_IN_1_0
gboolean            sbx_sandbox_spec_get_web_search      (SbxSandboxSpec  *self);
SBX_AVAILABLE_IN_1_0
void                sbx_sandbox_spec_set_git_mode        (SbxSandboxSpec  *self,
                                                          SbxGitMode       git_mode);
SBX_AVAILABLE_IN_1_0
SbxGitMode          sbx_sandbox_spec_get_git_mode        (SbxSandboxSpec  *self);
SBX_AVAILABLE_IN_1_0
void                sbx_sandbox_spec_set_limit           (SbxSandboxSpec  *self,
                                                          SbxLimit         limit,
                                                          guint64          value);
SBX_AVAILABLE_IN_1_0
gboolean            sbx_sandbox_spec_set_limit_from_text (SbxSandboxSpec  *self,
                                                          const char      *name,
                                                          const char      *value,
                                                          GError         **error);
SBX_AVAILABLE_IN_1_0
guint64             sbx_sandbox_spec_get_limit           (SbxSandboxSpec  *self,
                                                          SbxLimit         limit);
SBX_AVAILABLE_IN_1_0
void                sbx_sandbox_spec_set_environment_key (SbxSandboxSpec  *self,
                                                          const char      *key,
                                                          const char      *settings);
SBX_AVAILABLE_IN_1_0
const char         *sbx_sandbox_spec_get_environment_key (SbxSandboxSpec  *self);
SBX_AVAILABLE_IN_1_0
const char         *sbx_sandbox_spec_get_settings        (SbxSandboxSpec  *self);

G_END_DECLS
