/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-provider.h"

#include "core/sbx-error.h"
#include "core/sbx-json-canonical-private.h"

#include <glib/gi18n-lib.h>

/**
 * SbxProviderInterface::check_settings:
 * @self: a provider
 * @settings: the JSON text of an object
 * @error: return location for a [struct@GLib.Error]
 *
 * Checks the settings that a spec has for this provider, without blocking.
 *
 * Returns: (transfer full): the JSON text of an object: the settings as they are recorded and
 *   compared, or %NULL with an error
 *
 * Since: 1.0
 */

static char *
take_no_settings (const char  *settings,
                  GError     **error)
{
  if (g_str_equal (settings, "{}"))
    return g_strdup (settings);

  g_set_error_literal (error, SBX_ERROR, SBX_ERROR_INVALID,
                       _("This provider takes no settings; write {}"));
  return NULL;
}

/**
 * sbx_provider_check_settings:
 * @self: a provider
 * @settings: the JSON text of an object, which is `{}` where nothing was said
 * @error: return location for a [struct@GLib.Error]
 *
 * Checks the settings that a spec has for a provider.
 *
 * A provider that does not implement this takes no settings. Nothing is looked up on the machine,
 * and no sandbox is opened.
 *
 * An error is what the provider said of them, or is from [error@Error].
 *
 * Returns: (transfer full): the settings as they are to be kept: the JSON text of an object,
 *   without blanks and with sorted members, so that equal settings are equal texts
 *
 * Since: 1.0
 */
char *
sbx_provider_check_settings (SbxProvider  *self,
                             const char   *settings,
                             GError      **error)
{
  g_autoptr(GError) local_error = NULL;
  g_autofree char *canonical = NULL;
  g_autofree char *checked = NULL;
  g_autofree char *result = NULL;
  SbxProviderInterface *iface;

  g_return_val_if_fail (SBX_IS_PROVIDER (self), NULL);
  g_return_val_if_fail (settings != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  canonical = _sbx_json_object_canonical (settings, error);
  if (canonical == NULL)
    return NULL;

  iface = SBX_PROVIDER_GET_IFACE (self);
  if (iface->check_settings == NULL)
    return take_no_settings (canonical, error);

  checked = iface->check_settings (self, canonical, &local_error);
  if (local_error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local_error));
      return NULL;
    }

  /* Whoever implements this may be a script that forgot to return something. */
  result = checked != NULL ? _sbx_json_object_canonical (checked, NULL) : NULL;
  if (result == NULL)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_FAILED,
                         _("The provider checked its settings and gave back none; report this to "
                           "who wrote it"));

  return g_steal_pointer (&result);
}
