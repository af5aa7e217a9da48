/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec-provider.h"

struct _SpecProvider
{
  GObject           parent_instance;

  SpecProviderKind  kind;
  char             *asked;
};

static void spec_provider_iface_init (SbxProviderInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (SpecProvider, spec_provider, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (SBX_TYPE_PROVIDER, spec_provider_iface_init))

static char *
spec_provider_check_settings (SbxProvider  *provider,
                              const char   *settings,
                              GError      **error)
{
  SpecProvider *self = SPEC_PROVIDER (provider);

  g_free (self->asked);
  self->asked = g_strdup (settings);

  switch (self->kind)
    {
    case SPEC_PROVIDER_REFUSES:
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, "no such image; pull it");
      return NULL;

    case SPEC_PROVIDER_FORGETS:
      return NULL;

    case SPEC_PROVIDER_LIES:
      return g_strdup ("[1]");

    case SPEC_PROVIDER_ECHO:
    default:
      return g_strdup (settings);
    }
}

static void
spec_provider_iface_init (SbxProviderInterface *iface)
{
  iface->check_settings = spec_provider_check_settings;
}

static void
spec_provider_finalize (GObject *object)
{
  g_free (SPEC_PROVIDER (object)->asked);

  G_OBJECT_CLASS (spec_provider_parent_class)->finalize (object);
}

static void
spec_provider_class_init (SpecProviderClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = spec_provider_finalize;
}

static void
spec_provider_init (SpecProvider *self)
{
}

SbxProvider *
spec_provider_new (SpecProviderKind kind)
{
  SpecProvider *self = g_object_new (SPEC_TYPE_PROVIDER, NULL);

  self->kind = kind;

  return SBX_PROVIDER (self);
}

const char *
spec_provider_asked (SbxProvider *self)
{
  return SPEC_PROVIDER (self)->asked;
}

struct _SpecPlainProvider
{
  GObject parent_instance;
};

static void
spec_plain_provider_iface_init (SbxProviderInterface *iface)
{
}

G_DEFINE_FINAL_TYPE_WITH_CODE (SpecPlainProvider, spec_plain_provider, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (SBX_TYPE_PROVIDER,
                                                      spec_plain_provider_iface_init))

static void
spec_plain_provider_class_init (SpecPlainProviderClass *klass)
{
}

static void
spec_plain_provider_init (SpecPlainProvider *self)
{
}
