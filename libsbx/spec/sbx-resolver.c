/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-resolver.h"

#include "core/sbx-error.h"
#include "core/sbx-library-private.h"
#include "core/sbx-reach-private.h"
#include "core/sbx-sync-private.h"
#include "files/sbx-path-private.h"
#include "spec/sbx-resolve-private.h"
#include "spec/sbx-sandbox-spec-private.h"

#include <glib/gi18n-lib.h>

/**
 * SbxResolver:
 *
 * Finds out what a spec comes to on this machine.
 *
 * Resolving makes paths real, checks that all of it may be given to a sandbox, and finds what comes
 * along: git directories, and what has to be protected from being changed. The result is a
 * [class@Reach] with entries, each of which tells where it comes from. Opening a session with it
 * enforces just that.
 *
 * # What is refused
 *
 * No sandbox gets a path that
 *
 * 1. is or contains the home directory: that of [property@Resolver:home] and that of the account;
 * 2. is or lies in [property@Resolver:run-root], where the records of runs are. What contains it
 *    can be had; the run root is hidden there;
 * 3. overlaps one of [property@Resolver:harness-states];
 * 4. overlaps one of [property@Resolver:key-dirs]; for writing also one of
 *    [property@Resolver:start-dirs];
 * 5. overlaps [property@Resolver:machine-root]; for writing also one of
 *    [property@Resolver:config-dirs];
 * 6. is or contains [property@Resolver:control-root], or lies in a child of it whose name begins
 *    with `sbx-` or `awf-`.
 *
 * The same holds for each git directory that is found. Files are told by device and inode as well,
 * so that another name for one of these, such as a bind mount, is no way around.
 *
 * # Threads and lifetime
 *
 * The work is done in a thread, with the properties and the reach as they were when it was asked
 * for. Callbacks come in the thread-default context of the call, and nothing blocks there.
 *
 * # Trust
 *
 * What is found is what was there at that moment, and may be swapped before a session is opened.
 * Opening therefore compares again.
 *
 * Since: 1.0
 */

struct _SbxResolver
{
  GObject         parent_instance;

  SbxProviderSet *providers;   /* (nullable) */
  SbxRoots       *roots;       /* what was set; the rest has its default when it is asked for */
};

G_DEFINE_FINAL_TYPE (SbxResolver, sbx_resolver, G_TYPE_OBJECT)

enum
{
  PROP_PROVIDERS = 1,
  PROP_HOME,
  PROP_RUN_ROOT,
  PROP_MACHINE_ROOT,
  PROP_CONTROL_ROOT,
  PROP_KEY_DIRS,
  PROP_START_DIRS,
  PROP_HARNESS_STATES,
  PROP_CONFIG_DIRS,
  N_PROPS
};

static GParamSpec *props[N_PROPS];

typedef struct
{
  SbxRoots *roots;
  SbxReach *asked;
} Work;

static void
work_free (Work *self)
{
  g_clear_pointer (&self->roots, _sbx_roots_free);
  g_clear_object (&self->asked);
  g_free (self);
}

static char **
get_path (SbxRoots *roots,
          guint     id)
{
  switch (id)
    {
    case PROP_HOME:
      return &roots->home;
    case PROP_RUN_ROOT:
      return &roots->run_root;
    case PROP_MACHINE_ROOT:
      return &roots->machine_root;
    case PROP_CONTROL_ROOT:
      return &roots->control_root;
    default:
      return NULL;
    }
}

static char ***
get_paths (SbxRoots *roots,
           guint     id)
{
  switch (id)
    {
    case PROP_KEY_DIRS:
      return &roots->key_dirs;
    case PROP_START_DIRS:
      return &roots->start_dirs;
    case PROP_HARNESS_STATES:
      return &roots->harness_states;
    case PROP_CONFIG_DIRS:
      return &roots->config_dirs;
    default:
      return NULL;
    }
}

static void
sbx_resolver_get_property (GObject    *object,
                           guint       id,
                           GValue     *value,
                           GParamSpec *pspec)
{
  SbxResolver *self = SBX_RESOLVER (object);
  g_autoptr(SbxRoots) roots = NULL;

  if (id == PROP_PROVIDERS)
    {
      g_value_set_object (value, self->providers);
      return;
    }

  roots = _sbx_roots_copy (self->roots);
  _sbx_roots_fill (roots);

  if (get_path (roots, id) != NULL)
    g_value_set_string (value, *get_path (roots, id));
  else if (get_paths (roots, id) != NULL)
    g_value_set_boxed (value, *get_paths (roots, id));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
sbx_resolver_set_property (GObject      *object,
                           guint         id,
                           const GValue *value,
                           GParamSpec   *pspec)
{
  SbxResolver *self = SBX_RESOLVER (object);
  char **path = get_path (self->roots, id);
  char ***paths = get_paths (self->roots, id);

  if (id == PROP_PROVIDERS)
    self->providers = g_value_dup_object (value);
  else if (path != NULL)
    {
      g_free (*path);
      *path = g_value_dup_string (value);
    }
  else if (paths != NULL)
    {
      g_strfreev (*paths);
      *paths = g_value_dup_boxed (value);
    }
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
sbx_resolver_dispose (GObject *object)
{
  SbxResolver *self = SBX_RESOLVER (object);

  g_clear_object (&self->providers);

  G_OBJECT_CLASS (sbx_resolver_parent_class)->dispose (object);
}

static void
sbx_resolver_finalize (GObject *object)
{
  SbxResolver *self = SBX_RESOLVER (object);

  g_clear_pointer (&self->roots, _sbx_roots_free);

  G_OBJECT_CLASS (sbx_resolver_parent_class)->finalize (object);
}

static void
make_paths (void)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

  /**
   * SbxResolver:home:
   *
   * The home directory of the operator. It has to exist. `~` in a spec stands for it.
   *
   * Set to %NULL it is the default again, as with all of these: the home directory of this process.
   *
   * Since: 1.0
   */
  props[PROP_HOME] = g_param_spec_string ("home", NULL, NULL, NULL, flags);

  /**
   * SbxResolver:run-root:
   *
   * Where the records of runs are kept, or %NULL if there are none. It has to exist.
   *
   * Since: 1.0
   */
  props[PROP_RUN_ROOT] = g_param_spec_string ("run-root", NULL, NULL, NULL, flags);

  /**
   * SbxResolver:machine-root:
   *
   * Where libsbx keeps its data. The default is `libsbx` in the user's directory of data,
   * `$XDG_DATA_HOME`.
   *
   * Since: 1.0
   */
  props[PROP_MACHINE_ROOT] = g_param_spec_string ("machine-root", NULL, NULL, NULL, flags);

  /**
   * SbxResolver:control-root:
   *
   * Where the doors of running sandboxes are. The default is `libsbx` in the user's runtime
   * directory, `$XDG_RUNTIME_DIR`; %NULL if there is no such directory.
   *
   * Since: 1.0
   */
  props[PROP_CONTROL_ROOT] = g_param_spec_string ("control-root", NULL, NULL, NULL, flags);
}

static void
make_lists (void)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

  /**
   * SbxResolver:key-dirs:
   *
   * Paths where keys, tokens and passwords are, which no sandbox may even read.
   *
   * The default is a list of what is known of programs, below [property@Resolver:home]: `.ssh`,
   * `.gnupg`, `.aws`, `.config/gh`, browsers' profiles and many more.
   *
   * Since: 1.0
   */
  props[PROP_KEY_DIRS] = g_param_spec_boxed ("key-dirs", NULL, NULL, G_TYPE_STRV, flags);

  /**
   * SbxResolver:start-dirs:
   *
   * Paths from where something is started outside of sandboxes, which no sandbox may write.
   *
   * The default is a list of what desktops, shells, git and editors run, below
   * [property@Resolver:home]: `.config/autostart`, `.local/bin`, `.bashrc` and more.
   *
   * Since: 1.0
   */
  props[PROP_START_DIRS] = g_param_spec_boxed ("start-dirs", NULL, NULL, G_TYPE_STRV, flags);

  /**
   * SbxResolver:harness-states:
   *
   * Paths where coding agents keep their state and their credentials.
   *
   * The default is `.claude`, `.claude.json`, `.codex`, `.pi/agent` and `.cursor` below
   * [property@Resolver:home], and where the variables of these agents moved them.
   *
   * Since: 1.0
   */
  props[PROP_HARNESS_STATES] =
    g_param_spec_boxed ("harness-states", NULL, NULL, G_TYPE_STRV, flags);

  /**
   * SbxResolver:config-dirs:
   *
   * Paths where libsbx looks for configuration, which no sandbox may write.
   *
   * The default is `libsbx` in each of the directories for configuration and data of the user and
   * of the system.
   *
   * Since: 1.0
   */
  props[PROP_CONFIG_DIRS] = g_param_spec_boxed ("config-dirs", NULL, NULL, G_TYPE_STRV, flags);
}

static void
sbx_resolver_class_init (SbxResolverClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  _sbx_library_init ();

  object_class->get_property = sbx_resolver_get_property;
  object_class->set_property = sbx_resolver_set_property;
  object_class->dispose = sbx_resolver_dispose;
  object_class->finalize = sbx_resolver_finalize;

  /**
   * SbxResolver:providers:
   *
   * The providers that a spec can name, which check their settings.
   *
   * Since: 1.0
   */
  props[PROP_PROVIDERS] =
    g_param_spec_object ("providers", NULL, NULL, SBX_TYPE_PROVIDER_SET,
                         G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  make_paths ();
  make_lists ();
  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
sbx_resolver_init (SbxResolver *self)
{
  self->roots = _sbx_roots_new ();
}

/**
 * sbx_resolver_new:
 * @providers: (nullable): the providers that a spec can name; without any it can name `bwrap`,
 *   whose settings are checked when a session is opened
 *
 * Makes a resolver.
 *
 * Returns: (transfer full): a new resolver
 *
 * Since: 1.0
 */
SbxResolver *
sbx_resolver_new (SbxProviderSet *providers)
{
  g_return_val_if_fail (providers == NULL || SBX_IS_PROVIDER_SET (providers), NULL);

  return g_object_new (SBX_TYPE_RESOLVER, "providers", providers, NULL);
}

static void
resolve_in_thread (GTask        *task,
                   gpointer      source_object,
                   gpointer      task_data,
                   GCancellable *cancellable)
{
  Work *work = task_data;
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxRoots) roots = _sbx_roots_real (work->roots, &error);
  SbxReach *reach = NULL;

  if (roots != NULL)
    reach = _sbx_resolve (roots, work->asked, cancellable, &error);

  if (reach != NULL)
    g_task_return_pointer (task, reach, g_object_unref);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

/* Takes @asked, which nobody else has. */
static void
start (SbxResolver *self,
       GTask       *task,
       SbxReach    *asked)
{
  Work *work = g_new0 (Work, 1);

  work->asked = asked;
  work->roots = _sbx_roots_copy (self->roots);
  _sbx_roots_fill (work->roots);
  g_task_set_task_data (task, work, (GDestroyNotify) work_free);

  /* A disk that does not answer is no reason not to hear of being cancelled. */
  g_task_set_return_on_cancel (task, TRUE);
  g_task_run_in_thread (task, resolve_in_thread);
}

/* What the spec names stands below @cwd, unless it says where it is. */
static gboolean
set_cwd (SbxReach    *asked,
         const char  *cwd,
         GError     **error)
{
  char *joined;

  if (asked->cwd != NULL && (asked->cwd[0] == '/' || asked->cwd[0] == '~'))
    return TRUE;

  if (!g_path_is_absolute (cwd))
    {
      g_autofree char *shown = _sbx_path_show (cwd);

      g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                   _("cwd: “%s” is relative; an absolute path is needed"), shown);
      return FALSE;
    }

  /* An empty one stays what it is: there is a message for that. */
  if (asked->cwd != NULL && asked->cwd[0] == '\0')
    return TRUE;

  joined = asked->cwd != NULL ? g_build_filename (cwd, asked->cwd, NULL) : g_strdup (cwd);
  g_free (asked->cwd);
  asked->cwd = joined;

  return TRUE;
}

/**
 * sbx_resolver_resolve_async:
 * @self: a resolver
 * @spec: a spec
 * @cwd: (type filename): the working directory of a spec that names none, an absolute path; a
 *   relative one that it names is below this
 * @flags: how the spec is meant
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): what to call when it is done
 * @user_data: data for @callback
 *
 * Resolves a spec.
 *
 * Cancelling leaves nothing behind.
 *
 * Since: 1.0
 */
void
sbx_resolver_resolve_async (SbxResolver         *self,
                            SbxSandboxSpec      *spec,
                            const char          *cwd,
                            SbxResolveFlags      flags,
                            GCancellable        *cancellable,
                            GAsyncReadyCallback  callback,
                            gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;
  g_autoptr(SbxReach) asked = NULL;
  g_autoptr(GError) error = NULL;

  g_return_if_fail (SBX_IS_RESOLVER (self));
  g_return_if_fail (SBX_IS_SANDBOX_SPEC (spec));
  g_return_if_fail (cwd != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sbx_resolver_resolve_async);

  if (g_task_return_error_if_cancelled (task))
    return;

  asked = _sbx_sandbox_spec_to_asked (spec, self->providers,
                                      (flags & SBX_RESOLVE_INLINE) != 0, &error);
  if (asked == NULL || !_sbx_resolve_check_lengths (asked, &error) ||
      !set_cwd (asked, cwd, &error))
    g_task_return_error (task, g_steal_pointer (&error));
  else
    start (self, task, g_steal_pointer (&asked));
}

/**
 * sbx_resolver_resolve_finish:
 * @self: a resolver
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Resolver.resolve_async].
 *
 * The error is %G_IO_ERROR_CANCELLED, or one of [error@Error]; its message names the field and the
 * value, what is wrong, and what to do:
 *
 * * %SBX_ERROR_INVALID: it makes no sense
 * * %SBX_ERROR_NOT_FOUND: a path does not exist, or a provider is not there
 * * %SBX_ERROR_REFUSED: no sandbox may have it
 * * %SBX_ERROR_NOT_ENFORCEABLE: it cannot be had on this machine, or not by this user
 * * %SBX_ERROR_TOO_LARGE: there is too much of it
 *
 * Returns: (transfer full): a reach that is resolved
 *
 * Since: 1.0
 */
SbxReach *
sbx_resolver_resolve_finish (SbxResolver   *self,
                             GAsyncResult  *result,
                             GError       **error)
{
  g_return_val_if_fail (SBX_IS_RESOLVER (self), NULL);
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_resolver_resolve_async), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * sbx_resolver_resolve:
 * @self: a resolver
 * @spec: a spec
 * @cwd: (type filename): the working directory of a spec that names none, an absolute path; a
 *   relative one that it names is below this
 * @flags: how the spec is meant
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Resolves a spec, and waits until that is done.
 *
 * Errors are those of [method@Resolver.resolve_finish]. %SBX_ERROR_BUSY: the resolver belongs to
 * another thread.
 *
 * Returns: (transfer full): a reach that is resolved
 *
 * Since: 1.0
 */
SbxReach *
sbx_resolver_resolve (SbxResolver      *self,
                      SbxSandboxSpec   *spec,
                      const char       *cwd,
                      SbxResolveFlags   flags,
                      GCancellable     *cancellable,
                      GError          **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_RESOLVER (self), NULL);
  g_return_val_if_fail (SBX_IS_SANDBOX_SPEC (spec), NULL);
  g_return_val_if_fail (cwd != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return NULL;

  sbx_resolver_resolve_async (self, spec, cwd, flags, cancellable, _sbx_sync_done_cb, sync);

  return sbx_resolver_resolve_finish (self, _sbx_sync_wait (sync), error);
}

/**
 * sbx_resolver_resolve_reach_async:
 * @self: a resolver
 * @reach: what is asked for: an absolute cwd, and paths that may be relative to it, or begin with
 *   `~/`
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (closure user_data): what to call when it is done
 * @user_data: data for @callback
 *
 * Resolves a reach that was not made from a spec. Its settings are not checked.
 *
 * Cancelling leaves nothing behind.
 *
 * Since: 1.0
 */
void
sbx_resolver_resolve_reach_async (SbxResolver         *self,
                                  SbxReach            *reach,
                                  GCancellable        *cancellable,
                                  GAsyncReadyCallback  callback,
                                  gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;
  g_autoptr(GError) error = NULL;

  g_return_if_fail (SBX_IS_RESOLVER (self));
  g_return_if_fail (SBX_IS_REACH (reach));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, sbx_resolver_resolve_reach_async);

  if (g_task_return_error_if_cancelled (task))
    return;

  if (!_sbx_resolve_check_lengths (reach, &error))
    g_task_return_error (task, g_steal_pointer (&error));
  else
    start (self, task, sbx_reach_copy (reach));
}

/**
 * sbx_resolver_resolve_reach_finish:
 * @self: a resolver
 * @result: what the callback was given
 * @error: return location for a [struct@GLib.Error]
 *
 * Finishes [method@Resolver.resolve_reach_async].
 *
 * Errors are those of [method@Resolver.resolve_finish].
 *
 * Returns: (transfer full): a reach that is resolved
 *
 * Since: 1.0
 */
SbxReach *
sbx_resolver_resolve_reach_finish (SbxResolver   *self,
                                   GAsyncResult  *result,
                                   GError       **error)
{
  g_return_val_if_fail (SBX_IS_RESOLVER (self), NULL);
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, sbx_resolver_resolve_reach_async), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * sbx_resolver_resolve_reach:
 * @self: a resolver
 * @reach: what is asked for: an absolute cwd, and paths that may be relative to it, or begin with
 *   `~/`
 * @cancellable: (nullable): a cancellable
 * @error: return location for a [struct@GLib.Error]
 *
 * Resolves a reach that was not made from a spec, and waits until that is done. Its settings are
 * not checked.
 *
 * Errors are those of [method@Resolver.resolve_finish]. %SBX_ERROR_BUSY: the resolver belongs to
 * another thread.
 *
 * Returns: (transfer full): a reach that is resolved
 *
 * Since: 1.0
 */
SbxReach *
sbx_resolver_resolve_reach (SbxResolver   *self,
                            SbxReach      *reach,
                            GCancellable  *cancellable,
                            GError       **error)
{
  g_autoptr(SbxSync) sync = NULL;

  g_return_val_if_fail (SBX_IS_RESOLVER (self), NULL);
  g_return_val_if_fail (SBX_IS_REACH (reach), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  sync = _sbx_sync_begin (G_OBJECT (self), error);
  if (sync == NULL)
    return NULL;

  sbx_resolver_resolve_reach_async (self, reach, cancellable, _sbx_sync_done_cb, sync);

  return sbx_resolver_resolve_reach_finish (self, _sbx_sync_wait (sync), error);
}
