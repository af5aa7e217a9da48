/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "spec/sbx-resolver.h"
#include "spec/sbx-roots-private.h"

G_BEGIN_DECLS

struct _SbxResolver
{
  GObject         parent_instance;

  SbxProviderSet *providers;   /* (nullable) */
  SbxRoots       *roots;       /* what was set; the rest has its default when it is asked for */
};

G_END_DECLS
