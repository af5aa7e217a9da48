/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-reach-private.h"

#include <string.h>

/* What of a reach is no path of files: network, sockets, git, limits, and what it comes to. */

void
_sbx_reach_changed (SbxReach *self)
{
  g_clear_object (&self->entries);
}

/**
 * sbx_reach_add_domain:
 * @self: a reach
 * @domain: a host name, or `*.` and a domain for every name below that
 *
 * Lets the sandbox connect to a host.
 *
 * Since: 1.0
 */
void
sbx_reach_add_domain (SbxReach   *self,
                      const char *domain)
{
  g_return_if_fail (SBX_IS_REACH (self));
  g_return_if_fail (domain != NULL);

  _sbx_reach_changed (self);
  _sbx_reach_list_add (&self->network, domain);
}

/**
 * sbx_reach_get_network:
 * @self: a reach
 *
 * Gets the domains of [method@Reach.add_domain].
 *
 * Returns: (array zero-terminated=1) (transfer none): the domains
 *
 * Since: 1.0
 */
const char * const *
sbx_reach_get_network (SbxReach *self)
{
  g_return_val_if_fail (SBX_IS_REACH (self), NULL);

  return _sbx_reach_list_get (&self->network);
}

/**
 * sbx_reach_add_socket:
 * @self: a reach
 * @path: (type filename): an absolute path
 *
 * Lets the sandbox connect to a socket of this machine.
 *
 * Whoever listens there acts for the sandbox, with its own rights. The sockets of container engines
 * and of D-Bus, through which everything can be done, need a setting of the provider as well.
 *
 * Since: 1.0
 */
void
sbx_reach_add_socket (SbxReach   *self,
                      const char *path)
{
  g_return_if_fail (SBX_IS_REACH (self));
  g_return_if_fail (path != NULL);

  _sbx_reach_changed (self);
  _sbx_reach_list_add (&self->sockets, path);
}

/**
 * sbx_reach_get_sockets:
 * @self: a reach
 *
 * Gets the paths of [method@Reach.add_socket].
 *
 * Returns: (array zero-terminated=1) (element-type filename) (transfer none): the paths
 *
 * Since: 1.0
 */
const char * const *
sbx_reach_get_sockets (SbxReach *self)
{
  g_return_val_if_fail (SBX_IS_REACH (self), NULL);

  return _sbx_reach_list_get (&self->sockets);
}

/**
 * sbx_reach_set_web_search:
 * @self: a reach
 * @web_search: whether agents may search the web
 *
 * Sets whether agents keep the web tools that run where their model runs.
 *
 * What these do does not go through the network of the sandbox: no domain that is listed, or not,
 * has a say in it. They are switched off unless this is set.
 *
 * Since: 1.0
 */
void
sbx_reach_set_web_search (SbxReach *self,
                          gboolean  web_search)
{
  g_return_if_fail (SBX_IS_REACH (self));

  _sbx_reach_changed (self);
  self->web_search = web_search != FALSE;
}

/**
 * sbx_reach_get_web_search:
 * @self: a reach
 *
 * Gets what [method@Reach.set_web_search] set.
 *
 * Returns: whether agents may search the web
 *
 * Since: 1.0
 */
gboolean
sbx_reach_get_web_search (SbxReach *self)
{
  g_return_val_if_fail (SBX_IS_REACH (self), FALSE);

  return self->web_search;
}

/**
 * sbx_reach_set_git_mode:
 * @self: a reach
 * @git_mode: what may be done
 *
 * Sets what the sandbox may do with git directories.
 *
 * Since: 1.0
 */
void
sbx_reach_set_git_mode (SbxReach   *self,
                        SbxGitMode  git_mode)
{
  g_return_if_fail (SBX_IS_REACH (self));
  g_return_if_fail (git_mode <= SBX_GIT_MODE_FULL);

  _sbx_reach_changed (self);
  self->git_mode = git_mode;
}

/**
 * sbx_reach_get_git_mode:
 * @self: a reach
 *
 * Gets what [method@Reach.set_git_mode] set.
 *
 * Returns: what may be done
 *
 * Since: 1.0
 */
SbxGitMode
sbx_reach_get_git_mode (SbxReach *self)
{
  g_return_val_if_fail (SBX_IS_REACH (self), SBX_GIT_MODE_DEFAULT);

  return self->git_mode;
}

/**
 * sbx_reach_set_limit:
 * @self: a reach
 * @limit: what is limited
 * @value: how much, in the unit of @limit; 0 takes the limit away again
 *
 * Limits what the sandbox may use.
 *
 * A limit that the provider cannot enforce on this machine is an error of opening.
 *
 * Since: 1.0
 */
void
sbx_reach_set_limit (SbxReach *self,
                     SbxLimit  limit,
                     guint64   value)
{
  g_return_if_fail (SBX_IS_REACH (self));
  g_return_if_fail (limit < SBX_N_LIMITS);

  _sbx_reach_changed (self);
  self->limits[limit] = value;
}

/**
 * sbx_reach_get_limit:
 * @self: a reach
 * @limit: what is limited
 *
 * Gets what [method@Reach.set_limit] set.
 *
 * Returns: how much, or 0 for as much as the provider allows
 *
 * Since: 1.0
 */
guint64
sbx_reach_get_limit (SbxReach *self,
                     SbxLimit  limit)
{
  g_return_val_if_fail (SBX_IS_REACH (self), 0);
  g_return_val_if_fail (limit < SBX_N_LIMITS, 0);

  return self->limits[limit];
}

/**
 * sbx_reach_set_environment_key:
 * @self: a reach
 * @key: (nullable): the key of a provider environment, such as `bwrap`
 * @settings: (nullable): its settings, the JSON text of an object
 *
 * Sets which provider environment this is for.
 *
 * The settings are for the provider to check, see [method@Provider.check_settings]. They have to be
 * given in the form which that gave back.
 *
 * Since: 1.0
 */
void
sbx_reach_set_environment_key (SbxReach   *self,
                               const char *key,
                               const char *settings)
{
  g_autofree char *own_key = g_strdup (key);
  g_autofree char *own_settings = g_strdup (settings);

  g_return_if_fail (SBX_IS_REACH (self));

  _sbx_reach_changed (self);
  g_free (self->key);
  self->key = g_steal_pointer (&own_key);
  g_free (self->settings);
  self->settings = g_steal_pointer (&own_settings);
}

/**
 * sbx_reach_get_environment_key:
 * @self: a reach
 *
 * Gets the key of the provider environment.
 *
 * Returns: (transfer none) (nullable): the key
 *
 * Since: 1.0
 */
const char *
sbx_reach_get_environment_key (SbxReach *self)
{
  g_return_val_if_fail (SBX_IS_REACH (self), NULL);

  return self->key;
}

/**
 * sbx_reach_get_settings:
 * @self: a reach
 *
 * Gets the settings of the provider environment.
 *
 * Returns: (transfer none) (nullable): the JSON text of an object
 *
 * Since: 1.0
 */
const char *
sbx_reach_get_settings (SbxReach *self)
{
  g_return_val_if_fail (SBX_IS_REACH (self), NULL);

  return self->settings;
}

/**
 * sbx_reach_is_resolved:
 * @self: a reach
 *
 * Gets whether it was resolved, and not changed since.
 *
 * Returns: %TRUE if [method@Reach.get_entries] has something
 *
 * Since: 1.0
 */
gboolean
sbx_reach_is_resolved (SbxReach *self)
{
  g_return_val_if_fail (SBX_IS_REACH (self), FALSE);

  return self->entries != NULL;
}

/**
 * sbx_reach_get_entries:
 * @self: a reach
 *
 * Gets what a resolved reach comes to on this machine.
 *
 * Returns: (transfer none) (nullable): a list of [class@ReachEntry] that never changes, or %NULL if
 *   the reach is not resolved
 *
 * Since: 1.0
 */
GListModel *
sbx_reach_get_entries (SbxReach *self)
{
  g_return_val_if_fail (SBX_IS_REACH (self), NULL);

  return self->entries != NULL ? G_LIST_MODEL (self->entries) : NULL;
}

static gboolean
is_below (const char *path,
          const char *ancestor)
{
  const gsize length = strlen (ancestor);

  return strncmp (path, ancestor, length) == 0 &&
         (path[length] == '\0' || path[length] == '/' || (length > 0 && path[length - 1] == '/'));
}

static gboolean
list_holds (const char * const *paths,
            const char         *path)
{
  for (gsize i = 0; paths[i] != NULL; i++)
    if (is_below (path, paths[i]))
      return TRUE;

  return FALSE;
}

/**
 * sbx_reach_holds:
 * @self: a reach that is resolved
 * @path: (type filename): a real path
 *
 * Asks whether a path is the working directory, one that can be read, or one that can be written,
 * or lies below one of these.
 *
 * Only the texts are compared. What of it is hidden, or protected, is of no account.
 *
 * Returns: %TRUE if it is within the reach; %FALSE also if @self is not resolved
 *
 * Since: 1.0
 */
gboolean
sbx_reach_holds (SbxReach   *self,
                 const char *path)
{
  g_autofree char *canonical = NULL;

  g_return_val_if_fail (SBX_IS_REACH (self), FALSE);
  g_return_val_if_fail (path != NULL, FALSE);

  if (self->entries == NULL || !g_path_is_absolute (path))
    return FALSE;

  canonical = g_canonicalize_filename (path, "/");

  return is_below (canonical, self->cwd) || list_holds (sbx_reach_get_read (self), canonical) ||
         list_holds (sbx_reach_get_write (self), canonical);
}

void
_sbx_reach_set_entries (SbxReach   *self,
                        GListStore *entries)
{
  g_set_object (&self->entries, entries);
}

static gboolean
entry_equal (SbxReachEntry *one,
             SbxReachEntry *other)
{
  return one->kind == other->kind && one->writable == other->writable &&
         one->git_part == other->git_part &&
         g_strcmp0 (one->path, other->path) == 0 && g_strcmp0 (one->domain, other->domain) == 0;
}

gboolean
_sbx_reach_entries_equal (GListStore *one,
                          GListStore *other)
{
  guint n;

  if (one == NULL || other == NULL || one == other)
    return one == other;

  n = g_list_model_get_n_items (G_LIST_MODEL (one));
  if (g_list_model_get_n_items (G_LIST_MODEL (other)) != n)
    return FALSE;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(SbxReachEntry) first = g_list_model_get_item (G_LIST_MODEL (one), i);
      g_autoptr(SbxReachEntry) second = g_list_model_get_item (G_LIST_MODEL (other), i);

      if (!entry_equal (first, second))
        return FALSE;
    }

  return TRUE;
}
