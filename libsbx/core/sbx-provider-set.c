/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-provider-set.h"

#include "core/sbx-error.h"
#include "core/sbx-library-private.h"
#include "core/sbx-text-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/**
 * SbxProviderSet:
 *
 * The providers that an application lets sandbox specs choose from.
 *
 * Each has a key, by which a [class@SandboxSpec] names it. One key may be the default, for specs
 * that name none:
 *
 * ```c
 * g_autoptr(SbxProviderSet) providers = sbx_provider_set_new ();
 *
 * sbx_provider_set_add (providers, "bwrap", SBX_PROVIDER (bwrap));
 * sbx_provider_set_set_default (providers, "bwrap");
 * ```
 *
 * A provider that cannot be used is best told to the set as well: then a spec that needs it fails
 * for the true reason, and never moves to another provider silently. That holds for the default
 * too.
 *
 * Since: 1.0
 */

typedef struct
{
  SbxProvider  *provider;   /* (nullable) */
  char         *reason;     /* (nullable) why there is none */
} Entry;

struct _SbxProviderSet
{
  GObject      parent_instance;

  GHashTable  *entries;       /* of owned keys to Entry */
  char        *default_key;   /* (nullable) */
};

G_DEFINE_FINAL_TYPE (SbxProviderSet, sbx_provider_set, G_TYPE_OBJECT)

static void
entry_free (gpointer data)
{
  Entry *self = data;

  g_clear_object (&self->provider);
  g_free (self->reason);
  g_free (self);
}

static void
sbx_provider_set_finalize (GObject *object)
{
  SbxProviderSet *self = SBX_PROVIDER_SET (object);

  g_clear_pointer (&self->entries, g_hash_table_unref);
  g_clear_pointer (&self->default_key, g_free);

  G_OBJECT_CLASS (sbx_provider_set_parent_class)->finalize (object);
}

static void
sbx_provider_set_class_init (SbxProviderSetClass *klass)
{
  _sbx_library_init ();

  G_OBJECT_CLASS (klass)->finalize = sbx_provider_set_finalize;
}

static void
sbx_provider_set_init (SbxProviderSet *self)
{
  self->entries = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, entry_free);
}

/**
 * sbx_provider_set_new:
 *
 * Makes an empty set.
 *
 * Returns: (transfer full): a new set
 *
 * Since: 1.0
 */
SbxProviderSet *
sbx_provider_set_new (void)
{
  return g_object_new (SBX_TYPE_PROVIDER_SET, NULL);
}

static void
add (SbxProviderSet *self,
     const char     *key,
     SbxProvider    *provider,
     const char     *reason)
{
  Entry *entry = g_new0 (Entry, 1);

  g_set_object (&entry->provider, provider);
  entry->reason = g_strdup (reason);
  g_hash_table_replace (self->entries, g_strdup (key), entry);
}

/**
 * sbx_provider_set_add:
 * @self: a set
 * @key: the key that specs name it by, such as `bwrap`
 * @provider: a provider
 *
 * Adds a provider that can be used, or replaces what had the key before.
 *
 * A key that is a field of specs as well, such as `read`, can be the default but cannot be named.
 *
 * Since: 1.0
 */
void
sbx_provider_set_add (SbxProviderSet *self,
                      const char     *key,
                      SbxProvider    *provider)
{
  g_return_if_fail (SBX_IS_PROVIDER_SET (self));
  g_return_if_fail (key != NULL && *key != '\0');
  g_return_if_fail (SBX_IS_PROVIDER (provider));

  add (self, key, provider, NULL);
}

/**
 * sbx_provider_set_add_unavailable:
 * @self: a set
 * @key: the key that specs name it by
 * @reason: (nullable): for a person to read, why the provider was found but cannot be used, or
 *   %NULL if it is not installed
 *
 * Adds the key of a provider that cannot be used, or replaces what had the key before.
 *
 * Since: 1.0
 */
void
sbx_provider_set_add_unavailable (SbxProviderSet *self,
                                  const char     *key,
                                  const char     *reason)
{
  g_return_if_fail (SBX_IS_PROVIDER_SET (self));
  g_return_if_fail (key != NULL && *key != '\0');

  add (self, key, NULL, reason);
}

/**
 * sbx_provider_set_set_default:
 * @self: a set
 * @key: (nullable): the key of a provider, or %NULL for none
 *
 * Sets which provider a spec gets that names none.
 *
 * The key need not be that of a provider that can be used, nor one that was added by now.
 *
 * Since: 1.0
 */
void
sbx_provider_set_set_default (SbxProviderSet *self,
                              const char     *key)
{
  char *own_key = g_strdup (key);

  g_return_if_fail (SBX_IS_PROVIDER_SET (self));

  g_free (self->default_key);
  self->default_key = own_key;
}

/**
 * sbx_provider_set_get_default:
 * @self: a set
 *
 * Gets what [method@ProviderSet.set_default] set.
 *
 * Returns: (transfer none) (nullable): the key
 *
 * Since: 1.0
 */
const char *
sbx_provider_set_get_default (SbxProviderSet *self)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_SET (self), NULL);

  return self->default_key;
}

static int
compare_keys (gconstpointer one,
              gconstpointer other)
{
  return strcmp (*(const char * const *) one, *(const char * const *) other);
}

/**
 * sbx_provider_set_list_keys:
 * @self: a set
 *
 * Lists the keys that a spec may name, also those of providers that cannot be used.
 *
 * Returns: (transfer full) (array zero-terminated=1): the keys, sorted
 *
 * Since: 1.0
 */
char **
sbx_provider_set_list_keys (SbxProviderSet *self)
{
  g_autoptr(GPtrArray) keys = NULL;
  GHashTableIter iter;
  gpointer key;

  g_return_val_if_fail (SBX_IS_PROVIDER_SET (self), NULL);

  keys = g_ptr_array_new ();
  g_hash_table_iter_init (&iter, self->entries);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    g_ptr_array_add (keys, g_strdup (key));

  if (self->default_key != NULL && !g_hash_table_contains (self->entries, self->default_key))
    g_ptr_array_add (keys, g_strdup (self->default_key));

  g_ptr_array_sort (keys, compare_keys);
  g_ptr_array_add (keys, NULL);

  return (char **) g_ptr_array_free (g_steal_pointer (&keys), FALSE);
}

/**
 * sbx_provider_set_has_key:
 * @self: a set
 * @key: a key
 *
 * Gets whether a spec may name a key, also that of a provider that cannot be used.
 *
 * Returns: %TRUE if [method@ProviderSet.list_keys] has it
 *
 * Since: 1.0
 */
gboolean
sbx_provider_set_has_key (SbxProviderSet *self,
                          const char     *key)
{
  g_return_val_if_fail (SBX_IS_PROVIDER_SET (self), FALSE);
  g_return_val_if_fail (key != NULL, FALSE);

  return g_hash_table_contains (self->entries, key) || g_strcmp0 (self->default_key, key) == 0;
}

/* The keys of those that can be used, for a message; or %NULL. */
static char *
describe_usable (SbxProviderSet *self)
{
  g_auto(GStrv) keys = sbx_provider_set_list_keys (self);
  g_autoptr(GString) text = g_string_new (NULL);

  for (guint i = 0; keys[i] != NULL; i++)
    {
      const Entry *entry = g_hash_table_lookup (self->entries, keys[i]);
      g_autofree char *quoted = NULL;

      if (entry == NULL || entry->provider == NULL)
        continue;

      quoted = _sbx_text_quote (keys[i]);
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", quoted);
    }

  return text->len > 0 ? g_string_free (g_steal_pointer (&text), FALSE) : NULL;
}

static void
set_no_default (SbxProviderSet  *self,
                GError         **error)
{
  g_autofree char *usable = describe_usable (self);

  if (usable == NULL)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_NOT_FOUND,
                         _("No provider of sandboxes is installed; install one, such as bwrap"));
  else
    g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_FOUND,
                 _("No provider is installed for a spec that names none; name one of %s"), usable);
}

static void
set_not_installed (SbxProviderSet  *self,
                   const char      *key,
                   GError         **error)
{
  g_autofree char *usable = describe_usable (self);
  g_autofree char *quoted = _sbx_text_quote (key);

  if (usable == NULL)
    g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_FOUND,
                 _("The sandbox provider %s is not installed; install it"), quoted);
  else
    g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_FOUND,
                 _("The sandbox provider %s is not installed; install it, or name one of %s"),
                 quoted, usable);
}

/**
 * sbx_provider_set_lookup:
 * @self: a set
 * @key: (nullable): a key, or %NULL for the default
 * @error: return location for a [struct@GLib.Error]
 *
 * Finds the provider for a key.
 *
 * The error is %SBX_ERROR_NOT_FOUND if it is not installed or there is no default, and
 * %SBX_ERROR_NOT_ENFORCEABLE with the reason if it was found and cannot be used.
 *
 * Returns: (transfer none): the provider
 *
 * Since: 1.0
 */
SbxProvider *
sbx_provider_set_lookup (SbxProviderSet  *self,
                         const char      *key,
                         GError         **error)
{
  const Entry *entry;

  g_return_val_if_fail (SBX_IS_PROVIDER_SET (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (key == NULL)
    key = self->default_key;

  if (key == NULL)
    {
      set_no_default (self, error);
      return NULL;
    }

  entry = g_hash_table_lookup (self->entries, key);
  if (entry != NULL && entry->provider != NULL)
    return entry->provider;

  if (entry != NULL && entry->reason != NULL)
    {
      g_autofree char *quoted = _sbx_text_quote (key);
      g_autofree char *reason = _sbx_text_escape (entry->reason);

      g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
                   _("The sandbox provider %s was found but is not usable: %s"), quoted, reason);
    }
  else
    set_not_installed (self, key, error);

  return NULL;
}
