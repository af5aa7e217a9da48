/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-resolver-private.h"

#include "core/sbx-library-private.h"

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
