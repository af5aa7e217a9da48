/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-sandbox-spec.h"

#include "core/sbx-field-private.h"
#include "core/sbx-json-canonical-private.h"
#include "core/sbx-library-private.h"
#include "spec/sbx-sandbox-spec-struct-private.h"

/**
 * SbxSandboxSpec:
 *
 * What somebody asks of a sandbox, before anything of it was looked up.
 *
 * A spec is written by a person or by a program, as JSON or with the methods of this class:
 *
 * ```json
 * {
 *   "key": "build",
 *   "cwd": "~/src/app",
 *   "read": ["~/notes"],
 *   "write": ["."],
 *   "network": ["registry.npmjs.org", "*.github.com"],
 *   "sockets": ["/run/postgresql/.s.PGSQL.5432"],
 *   "webSearch": false,
 *   "git": "commit",
 *   "limits": { "memory": "2G", "processes": 200 },
 *   "bwrap": {}
 * }
 * ```
 *
 * All of it can be left out.
 *
 * * `key` names the sandbox in what runs it.
 * * `cwd` is the working directory, which can be read. It is relative to that of whoever resolves
 *   the spec, and is that where it is left out. All other paths are relative to it.
 * * `read` and `write` are files or directories, with all in them. A path may begin with `~/`.
 * * `network` are host names, or `*.` and a domain for every name below it.
 * * `sockets` are Unix sockets of this machine.
 * * `webSearch` is whether agents keep the web tools that run where their model runs.
 * * `git` is `none`, `read`, `commit` or `full`: see [enum@GitMode].
 * * `limits` are positive integers: `memory` and `fileSize` in bytes, or a text with a unit of K,
 *   M, G or T; `cpuTime` in seconds; `processes` and `openFiles`. See [enum@Limit].
 * * One more member may be the environment of a provider of a [class@ProviderSet], with settings
 *   for it. What else there is makes resolving fail.
 *
 * [method@Resolver.resolve_async] makes a [class@Reach] of a spec, or says what is wrong with it.
 *
 * Since: 1.0
 */

G_DEFINE_FINAL_TYPE (SbxSandboxSpec, sbx_sandbox_spec, G_TYPE_OBJECT)

static void
environment_free (gpointer data)
{
  SbxSpecEnvironment *self = data;

  g_free (self->key);
  g_free (self->settings);
  g_free (self);
}

static void
sbx_sandbox_spec_finalize (GObject *object)
{
  SbxSandboxSpec *self = SBX_SANDBOX_SPEC (object);

  g_clear_pointer (&self->key, g_free);
  g_clear_object (&self->reach);
  g_clear_pointer (&self->environments, g_ptr_array_unref);

  G_OBJECT_CLASS (sbx_sandbox_spec_parent_class)->finalize (object);
}

static void
sbx_sandbox_spec_class_init (SbxSandboxSpecClass *klass)
{
  _sbx_library_init ();

  G_OBJECT_CLASS (klass)->finalize = sbx_sandbox_spec_finalize;
}

static void
sbx_sandbox_spec_init (SbxSandboxSpec *self)
{
  self->reach = g_object_new (SBX_TYPE_REACH, NULL);
  self->environments = g_ptr_array_new_with_free_func (environment_free);
}

void
_sbx_sandbox_spec_add_environment (SbxSandboxSpec *self,
                                   const char     *key,
                                   const char     *settings)
{
  SbxSpecEnvironment *environment = g_new0 (SbxSpecEnvironment, 1);

  if (settings == NULL)
    settings = "{}";

  /* What is no object is kept as it is, for the error to show. */
  environment->key = g_strdup (key);
  environment->settings = _sbx_json_object_canonical (settings, NULL);
  if (environment->settings == NULL)
    environment->settings = g_strdup (settings);

  g_ptr_array_add (self->environments, environment);
}

/**
 * sbx_sandbox_spec_new:
 * Makes a spec that asks for nothing but a working directory to read.
 *
 * Returns: (transfer full): a new spec
 *
 * Since: 1.0
 */
SbxSandboxSpec *
sbx_sandbox_spec_new (void)
{
  return g_object_new (SBX_TYPE_SANDBOX_SPEC, NULL);
}

/**
 * sbx_sandbox_spec_equal:
 * @self: a spec
 * @other: another spec
 *
 * Compares two specs by what they say, in the order they say it.
 *
 * Nothing is looked up, so two that are not equal may still come to the same.
 *
 * Returns: %TRUE if they are equal
 *
 * Since: 1.0
 */
gboolean
sbx_sandbox_spec_equal (SbxSandboxSpec *self,
                        SbxSandboxSpec *other)
{
  g_return_val_if_fail (SBX_IS_SANDBOX_SPEC (self), FALSE);
  g_return_val_if_fail (SBX_IS_SANDBOX_SPEC (other), FALSE);

  if (g_strcmp0 (self->key, other->key) != 0 || !sbx_reach_equal (self->reach, other->reach) ||
      self->environments->len != other->environments->len)
    return FALSE;

  for (guint i = 0; i < self->environments->len; i++)
    {
      const SbxSpecEnvironment *one = g_ptr_array_index (self->environments, i);
      const SbxSpecEnvironment *two = g_ptr_array_index (other->environments, i);

      if (!g_str_equal (one->key, two->key) || !g_str_equal (one->settings, two->settings))
        return FALSE;
    }

  return TRUE;
}

/**
 * sbx_sandbox_spec_set_key:
 * @self: a spec
 * @key: (nullable): a name, or %NULL for none
 *
 * Sets the name that the sandbox has in what runs it.
 *
 * Since: 1.0
 */
void
sbx_sandbox_spec_set_key (SbxSandboxSpec *self,
                          const char     *key)
{
  g_autofree char *own = g_strdup (key);

  g_return_if_fail (SBX_IS_SANDBOX_SPEC (self));

  g_free (self->key);
  self->key = g_steal_pointer (&own);
}

/**
 * sbx_sandbox_spec_get_key:
 * @self: a spec
 *
 * Gets what [method@SandboxSpec.set_key] set.
 *
 * Returns: (transfer none) (nullable): the name
 *
 * Since: 1.0
 */
const char *
sbx_sandbox_spec_get_key (SbxSandboxSpec *self)
{
  g_return_val_if_fail (SBX_IS_SANDBOX_SPEC (self), NULL);

  return self->key;
}

/**
 * sbx_sandbox_spec_set_cwd:
 * @self: a spec
 * @cwd: (type filename) (nullable): a path, or %NULL for that of whoever resolves the spec
 *
 * Sets the working directory.
 *
 * Since: 1.0
 */
void
sbx_sandbox_spec_set_cwd (SbxSandboxSpec *self,
                          const char     *cwd)
{
  g_autofree char *own = g_strdup (cwd);

  g_return_if_fail (SBX_IS_SANDBOX_SPEC (self));

  g_free (self->reach->cwd);
  self->reach->cwd = g_steal_pointer (&own);
}

/**
 * sbx_sandbox_spec_get_cwd:
 * @self: a spec
 *
 * Gets what [method@SandboxSpec.set_cwd] set.
 *
 * Returns: (type filename) (transfer none) (nullable): the path, as it was given
 *
 * Since: 1.0
 */
const char *
sbx_sandbox_spec_get_cwd (SbxSandboxSpec *self)
{
  g_return_val_if_fail (SBX_IS_SANDBOX_SPEC (self), NULL);

  return self->reach->cwd;
}

/**
 * sbx_sandbox_spec_add_read:
 * @self: a spec
 * @path: (type filename): a path
 *
 * Asks to read a file, or a directory and all in it.
 *
 * A path that was added before is not added again.
 *
 * Since: 1.0
 */
void
sbx_sandbox_spec_add_read (SbxSandboxSpec *self,
                           const char     *path)
{
  g_return_if_fail (SBX_IS_SANDBOX_SPEC (self));
  g_return_if_fail (path != NULL);

  sbx_reach_add_read (self->reach, path);
}

/**
 * sbx_sandbox_spec_get_read:
 * @self: a spec
 *
 * Gets what [method@SandboxSpec.add_read] added.
 *
 * Returns: (array zero-terminated=1) (element-type filename) (transfer none): the paths, as they
 *   were given
 *
 * Since: 1.0
 */
const char * const *
sbx_sandbox_spec_get_read (SbxSandboxSpec *self)
{
  g_return_val_if_fail (SBX_IS_SANDBOX_SPEC (self), NULL);

  return sbx_reach_get_read (self->reach);
}

/**
 * sbx_sandbox_spec_add_write:
 * @self: a spec
 * @path: (type filename): a path
 *
 * Asks to read and write a file, or a directory and all in it.
 *
 * A path that was added before is not added again.
 *
 * Since: 1.0
 */
void
sbx_sandbox_spec_add_write (SbxSandboxSpec *self,
                            const char     *path)
{
  g_return_if_fail (SBX_IS_SANDBOX_SPEC (self));
  g_return_if_fail (path != NULL);

  sbx_reach_add_write (self->reach, path);
}

/**
 * sbx_sandbox_spec_get_write:
 * @self: a spec
 *
 * Gets what [method@SandboxSpec.add_write] added.
 *
 * Returns: (array zero-terminated=1) (element-type filename) (transfer none): the paths, as they
 *   were given
 *
 * Since: 1.0
 */
const char * const *
sbx_sandbox_spec_get_write (SbxSandboxSpec *self)
{
  g_return_val_if_fail (SBX_IS_SANDBOX_SPEC (self), NULL);

  return sbx_reach_get_write (self->reach);
}

/**
 * sbx_sandbox_spec_add_domain:
 * @self: a spec
 * @domain: a host name, or `*.` and a domain for every name below that
 *
 * Asks to connect to a host.
 *
 * Since: 1.0
 */
void
sbx_sandbox_spec_add_domain (SbxSandboxSpec *self,
                             const char     *domain)
{
  g_return_if_fail (SBX_IS_SANDBOX_SPEC (self));
  g_return_if_fail (domain != NULL);

  sbx_reach_add_domain (self->reach, domain);
}

/**
 * sbx_sandbox_spec_get_network:
 * @self: a spec
 *
 * Gets what [method@SandboxSpec.add_domain] added.
 *
 * Returns: (array zero-terminated=1) (transfer none): the domains, as they were given
 *
 * Since: 1.0
 */
const char * const *
sbx_sandbox_spec_get_network (SbxSandboxSpec *self)
{
  g_return_val_if_fail (SBX_IS_SANDBOX_SPEC (self), NULL);

  return sbx_reach_get_network (self->reach);
}

/**
 * sbx_sandbox_spec_add_socket:
 * @self: a spec
 * @path: (type filename): a path
 *
 * Asks to connect to a socket of this machine.
 *
 * Since: 1.0
 */
void
sbx_sandbox_spec_add_socket (SbxSandboxSpec *self,
                             const char     *path)
{
  g_return_if_fail (SBX_IS_SANDBOX_SPEC (self));
  g_return_if_fail (path != NULL);

  sbx_reach_add_socket (self->reach, path);
}

/**
 * sbx_sandbox_spec_get_sockets:
 * @self: a spec
 *
 * Gets what [method@SandboxSpec.add_socket] added.
 *
 * Returns: (array zero-terminated=1) (element-type filename) (transfer none): the paths, as they
 *   were given
 *
 * Since: 1.0
 */
const char * const *
sbx_sandbox_spec_get_sockets (SbxSandboxSpec *self)
{
  g_return_val_if_fail (SBX_IS_SANDBOX_SPEC (self), NULL);

  return sbx_reach_get_sockets (self->reach);
}

/**
 * sbx_sandbox_spec_set_web_search:
 * @self: a spec
 * @web_search: whether agents may search the web
 *
 * Asks for the web tools that run where the model of an agent runs.
 *
 * Since: 1.0
 */
void
sbx_sandbox_spec_set_web_search (SbxSandboxSpec *self,
                                 gboolean        web_search)
{
  g_return_if_fail (SBX_IS_SANDBOX_SPEC (self));

  sbx_reach_set_web_search (self->reach, web_search);
}

/**
 * sbx_sandbox_spec_get_web_search:
 * @self: a spec
 *
 * Gets what [method@SandboxSpec.set_web_search] set.
 *
 * Returns: whether agents may search the web
 *
 * Since: 1.0
 */
gboolean
sbx_sandbox_spec_get_web_search (SbxSandboxSpec *self)
{
  g_return_val_if_fail (SBX_IS_SANDBOX_SPEC (self), FALSE);

  return sbx_reach_get_web_search (self->reach);
}

/**
 * sbx_sandbox_spec_set_git_mode:
 * @self: a spec
 * @git_mode: what may be done
 *
 * Sets what the sandbox may do with git directories.
 *
 * Since: 1.0
 */
void
sbx_sandbox_spec_set_git_mode (SbxSandboxSpec *self,
                               SbxGitMode      git_mode)
{
  g_return_if_fail (SBX_IS_SANDBOX_SPEC (self));

  sbx_reach_set_git_mode (self->reach, git_mode);
}

/**
 * sbx_sandbox_spec_get_git_mode:
 * @self: a spec
 *
 * Gets what [method@SandboxSpec.set_git_mode] set.
 *
 * Returns: what may be done
 *
 * Since: 1.0
 */
SbxGitMode
sbx_sandbox_spec_get_git_mode (SbxSandboxSpec *self)
{
  g_return_val_if_fail (SBX_IS_SANDBOX_SPEC (self), SBX_GIT_MODE_DEFAULT);

  return sbx_reach_get_git_mode (self->reach);
}

/**
 * sbx_sandbox_spec_set_limit:
 * @self: a spec
 * @limit: what is limited
 * @value: how much, in the unit of @limit; 0 takes the limit away again
 *
 * Limits what the sandbox may use.
 *
 * Since: 1.0
 */
void
sbx_sandbox_spec_set_limit (SbxSandboxSpec *self,
                            SbxLimit        limit,
                            guint64         value)
{
  g_return_if_fail (SBX_IS_SANDBOX_SPEC (self));

  sbx_reach_set_limit (self->reach, limit, value);
}

/**
 * sbx_sandbox_spec_set_limit_from_text:
 * @self: a spec
 * @name: the name of a limit, as in JSON: `memory`, `processes`, `cpuTime`, `fileSize` or
 *   `openFiles`
 * @value: how much: a positive integer, and for bytes perhaps a unit of K, M, G or T
 * @error: return location for a [struct@GLib.Error]
 *
 * Limits what the sandbox may use, in the words of a command line or a form.
 *
 * The error is %SBX_ERROR_INVALID, and nothing is changed then.
 *
 * Returns: %TRUE if the limit is set
 *
 * Since: 1.0
 */
gboolean
sbx_sandbox_spec_set_limit_from_text (SbxSandboxSpec  *self,
                                      const char      *name,
                                      const char      *value,
                                      GError         **error)
{
  g_return_val_if_fail (SBX_IS_SANDBOX_SPEC (self), FALSE);
  g_return_val_if_fail (name != NULL, FALSE);
  g_return_val_if_fail (value != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return _sbx_field_set_limit_text (self->reach, name, value, error);
}

/**
 * sbx_sandbox_spec_get_limit:
 * @self: a spec
 * @limit: what is limited
 *
 * Gets what [method@SandboxSpec.set_limit] set.
 *
 * Returns: how much, or 0 where nothing was asked for
 *
 * Since: 1.0
 */
guint64
sbx_sandbox_spec_get_limit (SbxSandboxSpec *self,
                            SbxLimit        limit)
{
  g_return_val_if_fail (SBX_IS_SANDBOX_SPEC (self), 0);

  return sbx_reach_get_limit (self->reach, limit);
}

/**
 * sbx_sandbox_spec_set_environment_key:
 * @self: a spec
 * @key: (nullable): the key of a provider, or %NULL for the default
 * @settings: (nullable): settings for it, the JSON text of an object, or %NULL for none
 *
 * Sets the environment, in place of any there was.
 *
 * Whether there is such a provider, and what it makes of the settings, is checked when the spec is
 * resolved.
 *
 * Since: 1.0
 */
void
sbx_sandbox_spec_set_environment_key (SbxSandboxSpec *self,
                                      const char     *key,
                                      const char     *settings)
{
  g_autofree char *own_key = g_strdup (key);
  g_autofree char *own_settings = g_strdup (settings);

  g_return_if_fail (SBX_IS_SANDBOX_SPEC (self));

  g_ptr_array_set_size (self->environments, 0);
  if (own_key != NULL)
    _sbx_sandbox_spec_add_environment (self, own_key, own_settings);
}

/**
 * sbx_sandbox_spec_get_environment_key:
 * @self: a spec
 *
 * Gets the key of the environment.
 *
 * For a spec that was read, this is its first member that is no field of a spec.
 *
 * Returns: (transfer none) (nullable): the key, or %NULL for the default
 *
 * Since: 1.0
 */
const char *
sbx_sandbox_spec_get_environment_key (SbxSandboxSpec *self)
{
  g_return_val_if_fail (SBX_IS_SANDBOX_SPEC (self), NULL);

  if (self->environments->len == 0)
    return NULL;

  return ((SbxSpecEnvironment *) g_ptr_array_index (self->environments, 0))->key;
}

/**
 * sbx_sandbox_spec_get_settings:
 * @self: a spec
 *
 * Gets the settings of the environment, which were not checked.
 *
 * Returns: (transfer none) (nullable): a JSON text, or %NULL where there is no environment
 *
 * Since: 1.0
 */
const char *
sbx_sandbox_spec_get_settings (SbxSandboxSpec *self)
{
  g_return_val_if_fail (SBX_IS_SANDBOX_SPEC (self), NULL);

  if (self->environments->len == 0)
    return NULL;

  return ((SbxSpecEnvironment *) g_ptr_array_index (self->environments, 0))->settings;
}
