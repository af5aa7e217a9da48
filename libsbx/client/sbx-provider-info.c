/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "client/sbx-provider-info.h"

#include "client/sbx-provider-find-private.h"
#include "core/sbx-error.h"
#include "core/sbx-library-private.h"
#include "core/sbx-text-private.h"

#include <glib/gi18n-lib.h>

/**
 * SbxProviderInfo:
 *
 * A provider of sandboxes that was found on this machine.
 *
 * [func@ProviderInfo.list] lists all there are, [func@ProviderInfo.find] finds one by its name, and
 * [ctor@ProviderClient.new_for_name] does the same to start it.
 *
 * ## Where providers are looked for
 *
 * A name is made of the letters a to z, digits and, though not at its ends, `-`. What is found
 * first for a name is what it means:
 *
 * 1. a key file `libsbx/providers.d/NAME.conf` in the user's configuration directory, and then in
 *    those of the system (`XDG_CONFIG_HOME`, `XDG_CONFIG_DIRS`)
 * 2. a program `sbx-provider-NAME` that was installed with the library. For a library that is not
 *    installed the variable `SBX_PROVIDER_DIR` names the directory of these, which is then taken as
 *    it is.
 * 3. a program `sbx-provider-NAME`, and then `smol-sandbox-NAME`, on `PATH`
 *
 * A program is started with the one argument `serve`. A key file says how to start it:
 *
 * ```ini
 * [Provider]
 * Exec=/opt/boxes/bin/boxes serve --quiet
 * Environment=BOXES_REGION=north;BOXES_SIZE=2
 * ```
 *
 * `Exec` is split as a shell would, without doing anything else that a shell does. Its program is
 * an absolute path or is looked for on `PATH`. `Environment` is a list of `NAME=VALUE`, separated
 * by `;`, that are added to the environment of the provider.
 *
 * ## Trust
 *
 * A provider runs outside of all sandboxes, so that nothing from inside may decide which program it
 * is. Relative and empty entries of the variables are passed over. A key file or a program is
 * refused where somebody else could have put it there: where it, a directory above it or a link on
 * the way to it belongs neither to the user nor to root, or can be written by everybody or by a
 * group (other than root's own), or is in the tree of the current directory, which is where
 * projects are. That last rule does not hold where the current directory is the home of the user,
 * or above it. What is refused is not passed over, since another provider of the same name would
 * then take its place unnoticed: it is listed with a problem, and cannot be used.
 *
 * Only the first word of `Exec` is looked at: where it is an interpreter, where the script lies is
 * for who writes the key file to get right.
 *
 * Since: 1.0
 */

struct _SbxProviderInfo
{
  GObject           parent_instance;

  char             *name;
  SbxProviderFound  found;
};

G_DEFINE_FINAL_TYPE (SbxProviderInfo, sbx_provider_info, G_TYPE_OBJECT)

static void
sbx_provider_info_finalize (GObject *object)
{
  SbxProviderInfo *self = SBX_PROVIDER_INFO (object);

  g_free (self->name);
  _sbx_provider_found_clear (&self->found);

  G_OBJECT_CLASS (sbx_provider_info_parent_class)->finalize (object);
}

static void
sbx_provider_info_class_init (SbxProviderInfoClass *klass)
{
  _sbx_library_init ();

  G_OBJECT_CLASS (klass)->finalize = sbx_provider_info_finalize;
}

static void
sbx_provider_info_init (SbxProviderInfo *self)
{
}

/* %NULL when there is nothing of that name. */
static SbxProviderInfo *
look_up (const char *name)
{
  g_autoptr(SbxProviderInfo) self = g_object_new (SBX_TYPE_PROVIDER_INFO, NULL);

  self->name = g_strdup (name);
  if (!_sbx_provider_find (name, &self->found))
    return NULL;

  return g_steal_pointer (&self);
}

/**
 * sbx_provider_info_list:
 *
 * Lists the providers of this machine, in the order of their names.
 *
 * None of them is started. Those that cannot be used are in the list as well, see
 * [method@ProviderInfo.get_problem].
 *
 * Returns: (transfer full): a list of [class@ProviderInfo], which does not change
 *
 * Since: 1.0
 */
GListModel *
sbx_provider_info_list (void)
{
  GListStore *infos = g_list_store_new (SBX_TYPE_PROVIDER_INFO);
  g_autoptr(GPtrArray) names = _sbx_provider_list_names ();

  for (guint i = 0; i < names->len; i++)
    {
      g_autoptr(SbxProviderInfo) info = look_up (g_ptr_array_index (names, i));

      if (info != NULL)
        g_list_store_append (infos, info);
    }

  return G_LIST_MODEL (infos);
}

/**
 * sbx_provider_info_find:
 * @name: the name of a provider, such as `bwrap`
 * @error: return location for a [struct@GLib.Error]
 *
 * Finds a provider by its name.
 *
 * The error is %SBX_ERROR_INVALID for what is no name, %SBX_ERROR_NOT_FOUND where there is no such
 * provider, %SBX_ERROR_REFUSED where there is one that others could have put there, and another of
 * [error@Error] where its key file makes no sense.
 *
 * Returns: (transfer full): what is known of it; there is no problem with it
 *
 * Since: 1.0
 */
SbxProviderInfo *
sbx_provider_info_find (const char  *name,
                        GError     **error)
{
  g_autoptr(SbxProviderInfo) info = NULL;
  g_autofree char *quoted = NULL;

  g_return_val_if_fail (name != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  quoted = _sbx_text_quote (name);
  if (!_sbx_provider_name_is_valid (name))
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                   _("%s cannot be the name of a provider; use only a to z, 0 to 9 and “-” in "
                     "between"), quoted);
      return NULL;
    }

  info = look_up (name);
  if (info == NULL)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_FOUND,
                   _("There is no provider %s: neither a file libsbx/providers.d/%s.conf in a "
                     "configuration directory, nor a program sbx-provider-%s or smol-sandbox-%s; "
                     "install one of them"), quoted, name, name, name);
      return NULL;
    }

  if (info->found.problem != NULL)
    {
      g_propagate_error (error, g_error_copy (info->found.problem));
      return NULL;
    }

  return g_steal_pointer (&info);
}

/**
 * sbx_provider_info_get_name:
 * @self: a provider that was found
 *
 * Gets the name of the provider.
 *
 * Returns: (transfer none): the name
 *
 * Since: 1.0
 */
const char *
sbx_provider_info_get_name (SbxProviderInfo *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_INFO (self), NULL);

  return self->name;
}

/**
 * sbx_provider_info_get_argv:
 * @self: a provider that was found
 *
 * Gets the command line that starts the provider.
 *
 * Returns: (transfer none) (nullable) (array zero-terminated=1) (element-type filename): an
 *   absolute path and arguments, or %NULL where there is a problem
 *
 * Since: 1.0
 */
const char * const *
sbx_provider_info_get_argv (SbxProviderInfo *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_INFO (self), NULL);

  return (const char * const *) self->found.argv;
}

/**
 * sbx_provider_info_get_environment:
 * @self: a provider that was found
 *
 * Gets what the environment of the provider has in addition to that of this process.
 *
 * There may be secrets in it.
 *
 * Returns: (transfer none) (array zero-terminated=1) (element-type filename): `NAME=VALUE`, perhaps
 *   none
 *
 * Since: 1.0
 */
const char * const *
sbx_provider_info_get_environment (SbxProviderInfo *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_INFO (self), NULL);

  return (const char * const *) self->found.environment;
}

/**
 * sbx_provider_info_get_origin:
 * @self: a provider that was found
 *
 * Gets where the provider was found.
 *
 * Returns: (transfer none) (type filename): the path of a key file or of a program
 *
 * Since: 1.0
 */
const char *
sbx_provider_info_get_origin (SbxProviderInfo *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_INFO (self), NULL);

  return self->found.origin;
}

/**
 * sbx_provider_info_get_problem:
 * @self: a provider that was found
 *
 * Gets why the provider cannot be used.
 *
 * %SBX_ERROR_REFUSED means that others could have put it there.
 *
 * Returns: (transfer none) (nullable): an error, for a person to read, or %NULL if it can be used
 *
 * Since: 1.0
 */
const GError *
sbx_provider_info_get_problem (SbxProviderInfo *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_INFO (self), NULL);

  return self->found.problem;
}
