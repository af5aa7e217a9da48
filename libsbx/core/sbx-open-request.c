/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-open-request.h"

#include "core/sbx-reach.h"

/**
 * SbxOpenRequest:
 *
 * What a provider is asked to open.
 *
 * A sandbox is asked for in one of two ways: by a [class@Reach], which says all that it may see and
 * touch, or by the name of one of the provider's profiles and a workspace for it, where what the
 * sandbox may see and touch is the provider's business.
 *
 * The reach is copied when the request is made, so that a request can be used for several opens
 * and cannot change under a provider. Do not change a request while it is being opened.
 *
 * Since: 1.0
 */

struct _SbxOpenRequest
{
  GObject     parent_instance;

  SbxReach   *reach;
  char       *workspace;
  char       *profile;
  char       *cwd;
  char       *group;
  char       *request_id;
  GHashTable *tags;
};

G_DEFINE_FINAL_TYPE (SbxOpenRequest, sbx_open_request, G_TYPE_OBJECT)

static void
sbx_open_request_finalize (GObject *object)
{
  SbxOpenRequest *self = SBX_OPEN_REQUEST (object);

  g_clear_object (&self->reach);
  g_clear_pointer (&self->workspace, g_free);
  g_clear_pointer (&self->profile, g_free);
  g_clear_pointer (&self->cwd, g_free);
  g_clear_pointer (&self->group, g_free);
  g_clear_pointer (&self->request_id, g_free);
  g_clear_pointer (&self->tags, g_hash_table_unref);

  G_OBJECT_CLASS (sbx_open_request_parent_class)->finalize (object);
}

static void
sbx_open_request_class_init (SbxOpenRequestClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sbx_open_request_finalize;
}

static void
sbx_open_request_init (SbxOpenRequest *self)
{
  self->tags = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

/**
 * sbx_open_request_new:
 * @reach: what the sandbox may see and touch
 *
 * Makes a request to open a sandbox with a reach.
 *
 * Returns: (transfer full): a new request
 *
 * Since: 1.0
 */
SbxOpenRequest *
sbx_open_request_new (SbxReach *reach)
{
  SbxOpenRequest *self;

  g_return_val_if_fail (SBX_IS_REACH (reach), NULL);

  self = g_object_new (SBX_TYPE_OPEN_REQUEST, NULL);
  self->reach = sbx_reach_copy (reach);

  return self;
}

/**
 * sbx_open_request_new_for_profile:
 * @workspace: (type filename): the directory that the sandbox is to work on
 * @profile: the name of one of the provider's profiles
 *
 * Makes a request to open a sandbox as a profile of the provider has it.
 *
 * Returns: (transfer full): a new request
 *
 * Since: 1.0
 */
SbxOpenRequest *
sbx_open_request_new_for_profile (const char *workspace,
                                  const char *profile)
{
  SbxOpenRequest *self;

  g_return_val_if_fail (workspace != NULL, NULL);
  g_return_val_if_fail (profile != NULL, NULL);

  self = g_object_new (SBX_TYPE_OPEN_REQUEST, NULL);
  self->workspace = g_strdup (workspace);
  self->profile = g_strdup (profile);

  return self;
}

/**
 * sbx_open_request_get_reach:
 * @self: a request
 *
 * Gets what the sandbox may see and touch.
 *
 * Returns: (transfer none) (nullable): the request's own copy of the reach; do not change it. %NULL
 *   where a profile decides
 *
 * Since: 1.0
 */
SbxReach *
sbx_open_request_get_reach (SbxOpenRequest *self)
{
  g_return_val_if_fail (SBX_IS_OPEN_REQUEST (self), NULL);

  return self->reach;
}

/**
 * sbx_open_request_get_workspace:
 * @self: a request
 *
 * Gets the directory that a profile is to be used on.
 *
 * Returns: (type filename) (transfer none) (nullable): the path, or %NULL where a reach decides
 *
 * Since: 1.0
 */
const char *
sbx_open_request_get_workspace (SbxOpenRequest *self)
{
  g_return_val_if_fail (SBX_IS_OPEN_REQUEST (self), NULL);

  return self->workspace;
}

/**
 * sbx_open_request_get_profile:
 * @self: a request
 *
 * Gets the name of the profile.
 *
 * Returns: (transfer none) (nullable): the name, or %NULL where a reach decides
 *
 * Since: 1.0
 */
const char *
sbx_open_request_get_profile (SbxOpenRequest *self)
{
  g_return_val_if_fail (SBX_IS_OPEN_REQUEST (self), NULL);

  return self->profile;
}

/**
 * sbx_open_request_set_cwd:
 * @self: a request
 * @cwd: (type filename) (nullable): a directory inside the sandbox, or %NULL for the provider's
 *
 * Sets which directory commands start in, where a profile decides the rest.
 *
 * A relative one is below the directory that the profile would have chosen.
 *
 * Since: 1.0
 */
void
sbx_open_request_set_cwd (SbxOpenRequest *self,
                          const char     *cwd)
{
  g_return_if_fail (SBX_IS_OPEN_REQUEST (self));

  g_free (self->cwd);
  self->cwd = g_strdup (cwd);
}

/**
 * sbx_open_request_get_cwd:
 * @self: a request
 *
 * Gets which directory commands start in.
 *
 * Returns: (type filename) (transfer none) (nullable): the directory, or %NULL for the provider's
 *
 * Since: 1.0
 */
const char *
sbx_open_request_get_cwd (SbxOpenRequest *self)
{
  g_return_val_if_fail (SBX_IS_OPEN_REQUEST (self), NULL);

  return self->cwd;
}

/**
 * sbx_open_request_set_group:
 * @self: a request
 * @group: (nullable): the name of a group, or %NULL for none
 *
 * Sets which group the sandbox belongs to.
 *
 * All sandboxes of a group are removed at once by [method@Provider.cleanup_group_async], also from
 * another process, when the one that opened them was killed.
 *
 * Since: 1.0
 */
void
sbx_open_request_set_group (SbxOpenRequest *self,
                            const char     *group)
{
  g_return_if_fail (SBX_IS_OPEN_REQUEST (self));

  g_free (self->group);
  self->group = g_strdup (group);
}

/**
 * sbx_open_request_get_group:
 * @self: a request
 *
 * Gets which group the sandbox belongs to.
 *
 * Returns: (transfer none) (nullable): the name of the group
 *
 * Since: 1.0
 */
const char *
sbx_open_request_get_group (SbxOpenRequest *self)
{
  g_return_val_if_fail (SBX_IS_OPEN_REQUEST (self), NULL);

  return self->group;
}

/**
 * sbx_open_request_set_request_id:
 * @self: a request
 * @request_id: (nullable): a text for logs, or %NULL for none
 *
 * Sets what a provider calls this request in its logs.
 *
 * Since: 1.0
 */
void
sbx_open_request_set_request_id (SbxOpenRequest *self,
                                 const char     *request_id)
{
  g_return_if_fail (SBX_IS_OPEN_REQUEST (self));

  g_free (self->request_id);
  self->request_id = g_strdup (request_id);
}

/**
 * sbx_open_request_get_request_id:
 * @self: a request
 *
 * Gets what a provider calls this request in its logs.
 *
 * Returns: (transfer none) (nullable): the text
 *
 * Since: 1.0
 */
const char *
sbx_open_request_get_request_id (SbxOpenRequest *self)
{
  g_return_val_if_fail (SBX_IS_OPEN_REQUEST (self), NULL);

  return self->request_id;
}

/**
 * sbx_open_request_set_tag:
 * @self: a request
 * @name: a name
 * @value: (nullable): a value, or %NULL to take the tag away
 *
 * Sets a tag, which a provider may note with the sandbox.
 *
 * Since: 1.0
 */
void
sbx_open_request_set_tag (SbxOpenRequest *self,
                          const char     *name,
                          const char     *value)
{
  g_return_if_fail (SBX_IS_OPEN_REQUEST (self));
  g_return_if_fail (name != NULL);

  if (value == NULL)
    g_hash_table_remove (self->tags, name);
  else
    g_hash_table_replace (self->tags, g_strdup (name), g_strdup (value));
}

/**
 * sbx_open_request_get_tags:
 * @self: a request
 *
 * Gets all tags.
 *
 * Returns: (transfer none) (element-type utf8 utf8): names and values; do not change it
 *
 * Since: 1.0
 */
GHashTable *
sbx_open_request_get_tags (SbxOpenRequest *self)
{
  g_return_val_if_fail (SBX_IS_OPEN_REQUEST (self), NULL);

  return self->tags;
}
