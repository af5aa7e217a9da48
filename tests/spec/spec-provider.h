/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "core/sbx-provider-set.h"

G_BEGIN_DECLS

/* Providers that open nothing, and that check settings in three ways. */

typedef enum
{
  SPEC_PROVIDER_ECHO,      /* takes all, and gives it back as it is */
  SPEC_PROVIDER_REFUSES,   /* takes none, and says so in its own words */
  SPEC_PROVIDER_FORGETS,   /* gives back nothing, and no error */
  SPEC_PROVIDER_LIES,      /* gives back what is no object */
} SpecProviderKind;

#define SPEC_TYPE_PROVIDER (spec_provider_get_type ())
G_DECLARE_FINAL_TYPE (SpecProvider, spec_provider, SPEC, PROVIDER, GObject)

SbxProvider *spec_provider_new    (SpecProviderKind  kind);

/* What the last call was given; %NULL before any. */
const char  *spec_provider_asked  (SbxProvider      *self);

/* One that does not implement it. */
#define SPEC_TYPE_PLAIN_PROVIDER (spec_plain_provider_get_type ())
G_DECLARE_FINAL_TYPE (SpecPlainProvider, spec_plain_provider, SPEC, PLAIN_PROVIDER, GObject)

G_END_DECLS
