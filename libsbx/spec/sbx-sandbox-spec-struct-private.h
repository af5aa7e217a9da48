/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-reach-private.h"
#include "spec/sbx-sandbox-spec.h"

G_BEGIN_DECLS

/* A member of a spec that is no field of it: a provider environment, or a mistake. Which of the two
 * is known once the providers are. */
typedef struct
{
  char  *key;
  char  *settings;   /* JSON text, in the canonical form if it is an object */
} SbxSpecEnvironment;

/* What the files of the class share. */
struct _SbxSandboxSpec
{
  GObject     parent_instance;

  char       *key;             /* (nullable) */
  SbxReach   *reach;           /* what it asks for, as it is written; cwd is nullable */
  GPtrArray  *environments;    /* of SbxSpecEnvironment */
};

void _sbx_sandbox_spec_add_environment (SbxSandboxSpec  *self,
                                        const char      *key,
                                        const char      *settings);

G_END_DECLS
