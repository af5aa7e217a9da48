/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-reach-private.h"

#include "core/sbx-environment-private.h"
#include "core/sbx-error.h"
#include "core/sbx-library-private.h"
#include "core/sbx-text-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/**
 * SbxReach:
 *
 * What a sandbox may see and touch.
 *
 * A reach names paths of this machine. They are the same inside the sandbox as outside, so that a
 * message of a compiler means the same file on both sides. Nothing else of the user's files is
 * there.
 *
 * * The working directory, and each path of [method@Reach.add_read], can be read.
 * * Each path of [method@Reach.add_write] can be read and written.
 * * Where paths lie within each other the deepest one decides.
 *
 * Paths are bytes and need not be UTF-8. They are looked up when a session is opened: a symbolic
 * link stands for what it points to at that moment.
 *
 * * Of what listens on this machine only the sockets of [method@Reach.add_socket] can be connected
 *   to, and of the network only the domains of [method@Reach.add_domain].
 *
 * A reach is a plain value. A session keeps a copy of the one it was opened with. One that was
 * resolved by [method@Resolver.resolve_async] also lists what it comes to on this machine, see
 * [method@Reach.get_entries]; changing it takes that away again.
 *
 * Since: 1.0
 */


G_DEFINE_FINAL_TYPE (SbxReach, sbx_reach, G_TYPE_OBJECT)

static void
list_init (SbxReachList *self)
{
  self->texts = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (self->texts, NULL);
  self->seen = g_hash_table_new (g_str_hash, g_str_equal);
}

static void
list_finish (SbxReachList *self)
{
  g_clear_pointer (&self->seen, g_hash_table_unref);
  g_clear_pointer (&self->texts, g_ptr_array_unref);
}

void
_sbx_reach_list_append (SbxReachList *list,
                        const char   *text)
{
  char *own = g_strdup (text);

  g_ptr_array_insert (list->texts, list->texts->len - 1, own);
  g_hash_table_add (list->seen, own);
}

void
_sbx_reach_list_add (SbxReachList *list,
                     const char   *text)
{
  if (!g_hash_table_contains (list->seen, text))
    _sbx_reach_list_append (list, text);
}

void
_sbx_reach_list_clear (SbxReachList *list)
{
  g_hash_table_remove_all (list->seen);
  g_ptr_array_set_size (list->texts, 0);
  g_ptr_array_add (list->texts, NULL);
}

const char * const *
_sbx_reach_list_get (SbxReachList *list)
{
  return (const char * const *) list->texts->pdata;
}

static void
list_copy (SbxReachList *to,
           SbxReachList *from)
{
  for (guint i = 0; i + 1 < from->texts->len; i++)
    _sbx_reach_list_append (to, g_ptr_array_index (from->texts, i));
}

static void
sbx_reach_finalize (GObject *object)
{
  SbxReach *self = SBX_REACH (object);

  g_clear_object (&self->entries);
  g_clear_pointer (&self->cwd, g_free);
  list_finish (&self->read);
  list_finish (&self->write);
  list_finish (&self->network);
  list_finish (&self->sockets);
  g_clear_pointer (&self->key, g_free);
  g_clear_pointer (&self->settings, g_free);
  _sbx_environment_clear (&self->environment);

  G_OBJECT_CLASS (sbx_reach_parent_class)->finalize (object);
}

static void
sbx_reach_class_init (SbxReachClass *klass)
{
  _sbx_library_init ();

  G_OBJECT_CLASS (klass)->finalize = sbx_reach_finalize;
}

static void
sbx_reach_init (SbxReach *self)
{
  list_init (&self->read);
  list_init (&self->write);
  list_init (&self->network);
  list_init (&self->sockets);
  _sbx_environment_init (&self->environment);
}

/**
 * sbx_reach_new:
 * @cwd: (type filename): the working directory, an absolute path
 *
 * Makes a reach of one directory, which can be read.
 *
 * Returns: (transfer full): a new reach
 *
 * Since: 1.0
 */
SbxReach *
sbx_reach_new (const char *cwd)
{
  SbxReach *self;

  g_return_val_if_fail (cwd != NULL, NULL);

  self = g_object_new (SBX_TYPE_REACH, NULL);
  self->cwd = g_strdup (cwd);

  return self;
}

/**
 * sbx_reach_copy:
 * @self: a reach
 *
 * Copies a reach.
 *
 * Returns: (transfer full): an equal reach, which can be changed on its own
 *
 * Since: 1.0
 */
SbxReach *
sbx_reach_copy (SbxReach *self)
{
  SbxReach *copy;

  g_return_val_if_fail (SBX_IS_REACH (self), NULL);

  copy = g_object_new (SBX_TYPE_REACH, NULL);
  copy->cwd = g_strdup (self->cwd);
  list_copy (&copy->read, &self->read);
  list_copy (&copy->write, &self->write);
  list_copy (&copy->network, &self->network);
  list_copy (&copy->sockets, &self->sockets);
  memcpy (copy->limits, self->limits, sizeof copy->limits);
  copy->web_search = self->web_search;
  copy->git_mode = self->git_mode;
  copy->key = g_strdup (self->key);
  copy->settings = g_strdup (self->settings);
  g_set_object (&copy->entries, self->entries);
  _sbx_environment_copy (&copy->environment, &self->environment);

  return copy;
}

/**
 * sbx_reach_get_cwd:
 * @self: a reach
 *
 * Gets the working directory.
 *
 * Returns: (type filename) (transfer none) (nullable): the path, as it was given
 *
 * Since: 1.0
 */
const char *
sbx_reach_get_cwd (SbxReach *self)
{
  g_return_val_if_fail (SBX_IS_REACH (self), NULL);

  return self->cwd;
}

/**
 * sbx_reach_add_read:
 * @self: a reach
 * @path: (type filename): an absolute path
 *
 * Lets the sandbox read a file, or a directory and all in it.
 *
 * A path that was added before is not added again.
 *
 * Since: 1.0
 */
void
sbx_reach_add_read (SbxReach   *self,
                    const char *path)
{
  g_return_if_fail (SBX_IS_REACH (self));
  g_return_if_fail (path != NULL);

  _sbx_reach_changed (self);
  _sbx_reach_list_add (&self->read, path);
}

/**
 * sbx_reach_get_read:
 * @self: a reach
 *
 * Gets the paths of [method@Reach.add_read].
 *
 * Returns: (array zero-terminated=1) (element-type filename) (transfer none): the paths
 *
 * Since: 1.0
 */
const char * const *
sbx_reach_get_read (SbxReach *self)
{
  g_return_val_if_fail (SBX_IS_REACH (self), NULL);

  return _sbx_reach_list_get (&self->read);
}

/**
 * sbx_reach_add_write:
 * @self: a reach
 * @path: (type filename): an absolute path
 *
 * Lets the sandbox read and write a file, or a directory and all in it.
 *
 * In a git repository what the host's git would execute stays read-only: hooks and configuration.
 * Making commits works.
 *
 * Since: 1.0
 */
void
sbx_reach_add_write (SbxReach   *self,
                     const char *path)
{
  g_return_if_fail (SBX_IS_REACH (self));
  g_return_if_fail (path != NULL);

  _sbx_reach_changed (self);
  _sbx_reach_list_add (&self->write, path);
}

/**
 * sbx_reach_get_write:
 * @self: a reach
 *
 * Gets the paths of [method@Reach.add_write].
 *
 * Returns: (array zero-terminated=1) (element-type filename) (transfer none): the paths
 *
 * Since: 1.0
 */
const char * const *
sbx_reach_get_write (SbxReach *self)
{
  g_return_val_if_fail (SBX_IS_REACH (self), NULL);

  return _sbx_reach_list_get (&self->write);
}

/**
 * sbx_reach_set_variable:
 * @self: a reach
 * @name: (type filename): the name of an environment variable
 * @value: (type filename) (nullable): its value, or %NULL to take it away again
 *
 * Sets a variable for every command of the sandbox.
 *
 * A sandbox inherits nothing of the caller's environment: it has what its provider sets, and this.
 * A name that is empty or has a “=” in it makes [method@Reach.validate] fail, and with it every
 * open.
 *
 * Since: 1.0
 */
void
sbx_reach_set_variable (SbxReach   *self,
                        const char *name,
                        const char *value)
{
  g_return_if_fail (SBX_IS_REACH (self));
  g_return_if_fail (name != NULL);

  _sbx_environment_set (&self->environment, name, value);
}

/**
 * sbx_reach_get_environment:
 * @self: a reach
 *
 * Gets the variables of [method@Reach.set_variable], each as `NAME=VALUE`.
 *
 * Returns: (array zero-terminated=1) (element-type filename) (transfer none): the variables
 *
 * Since: 1.0
 */
const char * const *
sbx_reach_get_environment (SbxReach *self)
{
  g_return_val_if_fail (SBX_IS_REACH (self), NULL);

  return _sbx_environment_get (&self->environment);
}

static gboolean
lists_equal (SbxReachList *one,
             SbxReachList *other)
{
  return g_strv_equal (_sbx_reach_list_get (one), _sbx_reach_list_get (other));
}

/**
 * sbx_reach_equal:
 * @self: a reach
 * @other: another reach
 *
 * Compares two reaches by what they say, in the order they say it.
 *
 * Returns: %TRUE if they are equal
 *
 * Since: 1.0
 */
gboolean
sbx_reach_equal (SbxReach *self,
                 SbxReach *other)
{
  g_return_val_if_fail (SBX_IS_REACH (self), FALSE);
  g_return_val_if_fail (SBX_IS_REACH (other), FALSE);

  return g_strcmp0 (self->cwd, other->cwd) == 0 &&
         lists_equal (&self->read, &other->read) &&
         lists_equal (&self->write, &other->write) &&
         lists_equal (&self->network, &other->network) &&
         lists_equal (&self->sockets, &other->sockets) &&
         memcmp (self->limits, other->limits, sizeof self->limits) == 0 &&
         self->web_search == other->web_search &&
         self->git_mode == other->git_mode &&
         g_strcmp0 (self->key, other->key) == 0 &&
         g_strcmp0 (self->settings, other->settings) == 0 &&
         _sbx_reach_entries_equal (self->entries, other->entries) &&
         g_strv_equal (_sbx_environment_get (&self->environment),
                       _sbx_environment_get (&other->environment));
}

static gboolean
validate_paths (const char          *field,
                const char * const  *paths,
                GError             **error)
{
  for (gsize i = 0; paths[i] != NULL; i++)
    {
      g_autofree char *quoted = NULL;

      if (g_path_is_absolute (paths[i]))
        continue;

      quoted = _sbx_text_quote (paths[i]);
      g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                   _("%s: %s is not an absolute path; write it from “/” on"), field, quoted);
      return FALSE;
    }

  return TRUE;
}

/**
 * sbx_reach_validate:
 * @self: a reach
 * @error: return location for a [struct@GLib.Error]
 *
 * Checks what can be checked without looking at the file system.
 *
 * Every path must be absolute, and every variable must have a name that a variable can have. An
 * error is %SBX_ERROR_INVALID.
 *
 * Returns: %TRUE if the reach makes sense
 *
 * Since: 1.0
 */
gboolean
sbx_reach_validate (SbxReach  *self,
                    GError   **error)
{
  const char *cwd[2] = { NULL, NULL };

  g_return_val_if_fail (SBX_IS_REACH (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  cwd[0] = self->cwd != NULL ? self->cwd : "";

  return validate_paths ("cwd", cwd, error) &&
         validate_paths ("read", sbx_reach_get_read (self), error) &&
         validate_paths ("write", sbx_reach_get_write (self), error) &&
         validate_paths ("sockets", sbx_reach_get_sockets (self), error) &&
         _sbx_environment_validate (&self->environment, error);
}
