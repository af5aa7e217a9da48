/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-provider.h"

#include "bwrap/sbx-bwrap-group-private.h"
#include "bwrap/sbx-bwrap-open-private.h"
#include "bwrap/sbx-bwrap-reach-settings-private.h"
#include "bwrap/sbx-bwrap-session-private.h"
#include "bwrap/sbx-bwrap-user-dirs-private.h"
#include "bwrap/sbx-bwrap-worktree-private.h"
#include "core/sbx-library-private.h"
#include "core/sbx-open-request.h"
#include "core/sbx-sync-private.h"

/**
 * SbxBwrapProvider:
 *
 * Opens sandboxes on this machine, with bubblewrap.
 *
 * ```python
 * provider = Sbx.BwrapProvider()
 * reach = Sbx.Reach.new("/home/me/project")
 * reach.add_write("/home/me/project")
 * session = provider.open(Sbx.OpenRequest.new(reach), None)
 * result = session.exec(Sbx.Command.new(["make", "test"]), None)
 * print(result.get_stdout().get_data().decode())
 * session.close(None)
 * ```
 *
 * A sandbox has user, process, network, host name, IPC and cgroup namespaces of its own and no
 * capabilities. It sees the system's programs, what its reach names, a `/tmp` of its own, and a
 * home directory that is kept for the project, so that caches stay warm. It has no network.
 *
 * What was asked for and this machine cannot enforce is an error, never a weaker sandbox;
 * [method@BwrapProvider.diagnose_async] says what is missing.
 *
 * Nothing of a sandbox outlives the program that opened it, whatever happens to that. What a killed
 * program left on disk is removed by the next one that opens a sandbox, or by
 * [method@BwrapProvider.clean_async].
 *
 * Since: 1.0
 */

struct _SbxBwrapProvider
{
  GObject           parent_instance;

  SbxBwrapSettings  settings;
};

static void sbx_bwrap_provider_iface_init (SbxProviderInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (SbxBwrapProvider, sbx_bwrap_provider, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (SBX_TYPE_PROVIDER,
                                                      sbx_bwrap_provider_iface_init))

enum
{
  PROP_0,
  PROP_PROGRAM,
  PROP_DATA_DIR,
  PROP_TOOLCHAIN,
  PROP_FRESH_HOME,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

enum
{
  WORKTREE_KEPT,
  MESSAGE,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

static gboolean
sbx_bwrap_provider_handle_open (SbxProvider       *provider,
                                SbxOpenRequest    *request,
                                SbxOpenInvocation *invocation)
{
  SbxBwrapProvider *self = SBX_BWRAP_PROVIDER (provider);

  SbxReach *reach = sbx_open_request_get_reach (request);
  SbxBwrapOpening *opening = _sbx_bwrap_opening_new (&self->settings);

  g_set_object (&opening->reach, reach);
  opening->group = g_strdup (sbx_open_request_get_group (request));
  if (reach == NULL)
    {
      opening->workspace = g_strdup (sbx_open_request_get_workspace (request));
      opening->profile = g_strdup (sbx_open_request_get_profile (request));
      opening->cwd = g_strdup (sbx_open_request_get_cwd (request));
    }

  _sbx_bwrap_open (opening, G_OBJECT (self), invocation);

  return TRUE;
}

static gboolean
sbx_bwrap_provider_handle_cleanup_group (SbxProvider          *provider,
                                         const char           *group,
                                         SbxCleanupInvocation *invocation)
{
  SbxBwrapProvider *self = SBX_BWRAP_PROVIDER (provider);

  _sbx_bwrap_group_cleanup (&self->settings, G_OBJECT (self), group, invocation);

  return TRUE;
}

static SbxCapabilities
sbx_bwrap_provider_get_capabilities (SbxProvider *provider)
{
  return SBX_BWRAP_SESSION_CAPABILITIES;
}

static char *
sbx_bwrap_provider_check_settings (SbxProvider  *provider,
                                   const char   *settings,
                                   GError      **error)
{
  g_autoptr(SbxBwrapReachSettings) parsed = _sbx_bwrap_reach_settings_parse (settings, error);

  return parsed != NULL ? _sbx_bwrap_reach_settings_to_text (parsed) : NULL;
}

static void
sbx_bwrap_provider_iface_init (SbxProviderInterface *iface)
{
  iface->handle_open = sbx_bwrap_provider_handle_open;
  iface->handle_cleanup_group = sbx_bwrap_provider_handle_cleanup_group;
  iface->get_capabilities = sbx_bwrap_provider_get_capabilities;
  iface->check_settings = sbx_bwrap_provider_check_settings;
}

static void
sbx_bwrap_provider_constructed (GObject *object)
{
  G_OBJECT_CLASS (sbx_bwrap_provider_parent_class)->constructed (object);

  _sbx_context_of (object);
}

static void
sbx_bwrap_provider_finalize (GObject *object)
{
  SbxBwrapProvider *self = SBX_BWRAP_PROVIDER (object);

  g_clear_pointer (&self->settings.program, g_free);
  g_clear_pointer (&self->settings.data_path, g_free);

  G_OBJECT_CLASS (sbx_bwrap_provider_parent_class)->finalize (object);
}

static void
sbx_bwrap_provider_get_property (GObject    *object,
                                 guint       prop_id,
                                 GValue     *value,
                                 GParamSpec *pspec)
{
  SbxBwrapProvider *self = SBX_BWRAP_PROVIDER (object);

  switch (prop_id)
    {
    case PROP_PROGRAM:
      g_value_set_string (value, self->settings.program);
      break;

    case PROP_DATA_DIR:
      g_value_set_string (value, self->settings.data_path);
      break;

    case PROP_TOOLCHAIN:
      g_value_set_boolean (value, self->settings.toolchain);
      break;

    case PROP_FRESH_HOME:
      g_value_set_boolean (value, self->settings.fresh_home);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
sbx_bwrap_provider_set_property (GObject      *object,
                                 guint         prop_id,
                                 const GValue *value,
                                 GParamSpec   *pspec)
{
  SbxBwrapProvider *self = SBX_BWRAP_PROVIDER (object);

  switch (prop_id)
    {
    case PROP_PROGRAM:
      sbx_bwrap_provider_set_program (self, g_value_get_string (value));
      break;

    case PROP_DATA_DIR:
      sbx_bwrap_provider_set_data_dir (self, g_value_get_string (value));
      break;

    case PROP_TOOLCHAIN:
      sbx_bwrap_provider_set_toolchain (self, g_value_get_boolean (value));
      break;

    case PROP_FRESH_HOME:
      sbx_bwrap_provider_set_fresh_home (self, g_value_get_boolean (value));
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
install_signals (GObjectClass *object_class)
{
  /**
   * SbxBwrapProvider::worktree-kept:
   * @self: the provider
   * @path: (type filename): where the worktree is
   * @branch: the branch that it is on
   * @message: what a person needs to know, with commands to see, merge or drop it
   *
   * Emitted when a worktree stays after its session has ended, because there is work in it and its
   * profile says `"keep": "when-changed"`.
   *
   * That may be one of this provider's sessions that was closed, or one that a killed program left.
   * From now on the worktree is the user's own; this library does not touch it any more.
   *
   * Since: 1.0
   */
  signals[WORKTREE_KEPT] =
    g_signal_new ("worktree-kept", G_TYPE_FROM_CLASS (object_class), G_SIGNAL_RUN_LAST,
                  0, NULL, NULL, NULL, G_TYPE_NONE, 3,
                  G_TYPE_STRING, G_TYPE_STRING, G_TYPE_STRING);

  /**
   * SbxBwrapProvider::message:
   * @self: the provider
   * @message: what happened, for people
   *
   * Emitted for what [signal@Session::message] would have told, when there is no session to tell it
   * any more: it was dropped without being closed, or its program was killed and this one cleans up
   * after it.
   *
   * Since: 1.0
   */
  signals[MESSAGE] =
    g_signal_new ("message", G_TYPE_FROM_CLASS (object_class), G_SIGNAL_RUN_LAST,
                  0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void
sbx_bwrap_provider_class_init (SbxBwrapProviderClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags =
    G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;

  _sbx_library_init ();

  object_class->constructed = sbx_bwrap_provider_constructed;
  object_class->finalize = sbx_bwrap_provider_finalize;
  object_class->get_property = sbx_bwrap_provider_get_property;
  object_class->set_property = sbx_bwrap_provider_set_property;

  /**
   * SbxBwrapProvider:program: (getter get_program) (setter set_program)
   *
   * The path of bubblewrap. By default it is `/usr/bin/bwrap`, or else the one on `PATH`.
   *
   * Since: 1.0
   */
  properties[PROP_PROGRAM] = g_param_spec_string ("program", NULL, NULL, NULL, flags);

  /**
   * SbxBwrapProvider:data-dir: (getter get_data_dir) (setter set_data_dir)
   *
   * Where sessions and homes are kept. By default it is `libsbx` in the user's data directory.
   *
   * Since: 1.0
   */
  properties[PROP_DATA_DIR] = g_param_spec_string ("data-dir", NULL, NULL, NULL, flags);

  /**
   * SbxBwrapProvider:toolchain: (getter get_toolchain) (setter set_toolchain)
   *
   * Whether sandboxes see, read-only, the tools below the home directory that `PATH` leads to.
   *
   * Since: 1.0
   */
  properties[PROP_TOOLCHAIN] = g_param_spec_boolean ("toolchain", NULL, NULL, FALSE, flags);

  /**
   * SbxBwrapProvider:fresh-home: (getter get_fresh_home) (setter set_fresh_home)
   *
   * Whether sandboxes start with an empty home directory, which goes with them, instead of the one
   * that is kept for their working directory.
   *
   * Since: 1.0
   */
  properties[PROP_FRESH_HOME] = g_param_spec_boolean ("fresh-home", NULL, NULL, FALSE, flags);

  g_object_class_install_properties (object_class, N_PROPS, properties);

  install_signals (object_class);
}

static void
sbx_bwrap_provider_init (SbxBwrapProvider *self)
{
  self->settings.data_path = _sbx_bwrap_dup_data_dir ();
}

const SbxBwrapSettings *
_sbx_bwrap_provider_get_settings (SbxBwrapProvider *self)
{
  return &self->settings;
}

void
_sbx_bwrap_provider_tell (GObject   *provider,
                          GPtrArray *kept)
{
  g_autoptr(GPtrArray) list = kept;

  for (guint i = 0; provider != NULL && list != NULL && i < list->len; i++)
    {
      const SbxBwrapKept *one = g_ptr_array_index (list, i);

      if (one->path != NULL)
        g_signal_emit (provider, signals[WORKTREE_KEPT], 0, one->path, one->branch, one->message);
      else
        g_signal_emit (provider, signals[MESSAGE], 0, one->message);
    }
}

/**
 * sbx_bwrap_provider_new:
 *
 * Makes a provider. Nothing is looked at before a sandbox is opened.
 *
 * Returns: (transfer full): a new provider
 *
 * Since: 1.0
 */
SbxBwrapProvider *
sbx_bwrap_provider_new (void)
{
  return g_object_new (SBX_TYPE_BWRAP_PROVIDER, NULL);
}

/**
 * sbx_bwrap_provider_set_program: (set-property program)
 * @self: a provider
 * @program: (type filename) (nullable): a path, or %NULL for the default
 *
 * Sets which bubblewrap is used.
 *
 * Since: 1.0
 */
void
sbx_bwrap_provider_set_program (SbxBwrapProvider *self,
                                const char       *program)
{
  g_return_if_fail (SBX_IS_BWRAP_PROVIDER (self));

  if (g_strcmp0 (self->settings.program, program) == 0)
    return;

  g_free (self->settings.program);
  self->settings.program = g_strdup (program);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_PROGRAM]);
}

/**
 * sbx_bwrap_provider_get_program: (get-property program)
 * @self: a provider
 *
 * Gets which bubblewrap is used.
 *
 * Returns: (type filename) (transfer none) (nullable): the path, or %NULL for the one that is found
 *
 * Since: 1.0
 */
const char *
sbx_bwrap_provider_get_program (SbxBwrapProvider *self)
{
  g_return_val_if_fail (SBX_IS_BWRAP_PROVIDER (self), NULL);

  return self->settings.program;
}

/**
 * sbx_bwrap_provider_set_data_dir: (set-property data-dir)
 * @self: a provider
 * @data_dir: (type filename) (nullable): a path, or %NULL for the default
 *
 * Sets where sessions and homes are kept. It must be the user's alone, and no sandbox reaches it.
 *
 * Since: 1.0
 */
void
sbx_bwrap_provider_set_data_dir (SbxBwrapProvider *self,
                                 const char       *data_dir)
{
  g_autofree char *path = NULL;

  g_return_if_fail (SBX_IS_BWRAP_PROVIDER (self));
  g_return_if_fail (data_dir == NULL || g_path_is_absolute (data_dir));

  path = data_dir != NULL ? g_strdup (data_dir) : _sbx_bwrap_dup_data_dir ();
  if (g_strcmp0 (self->settings.data_path, path) == 0)
    return;

  g_free (self->settings.data_path);
  self->settings.data_path = g_steal_pointer (&path);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_DATA_DIR]);
}

/**
 * sbx_bwrap_provider_get_data_dir: (get-property data-dir)
 * @self: a provider
 *
 * Gets where sessions and homes are kept.
 *
 * Returns: (type filename) (transfer none): the path
 *
 * Since: 1.0
 */
const char *
sbx_bwrap_provider_get_data_dir (SbxBwrapProvider *self)
{
  g_return_val_if_fail (SBX_IS_BWRAP_PROVIDER (self), NULL);

  return self->settings.data_path;
}

/**
 * sbx_bwrap_provider_set_toolchain: (set-property toolchain)
 * @self: a provider
 * @toolchain: %TRUE if they do
 *
 * Sets whether sandboxes see the tools below the home directory.
 *
 * Since: 1.0
 */
void
sbx_bwrap_provider_set_toolchain (SbxBwrapProvider *self,
                                  gboolean          toolchain)
{
  g_return_if_fail (SBX_IS_BWRAP_PROVIDER (self));

  toolchain = !!toolchain;
  if (self->settings.toolchain == toolchain)
    return;

  self->settings.toolchain = toolchain;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_TOOLCHAIN]);
}

/**
 * sbx_bwrap_provider_get_toolchain: (get-property toolchain)
 * @self: a provider
 *
 * Tells whether sandboxes see the tools below the home directory.
 *
 * Returns: %TRUE if they do
 *
 * Since: 1.0
 */
gboolean
sbx_bwrap_provider_get_toolchain (SbxBwrapProvider *self)
{
  g_return_val_if_fail (SBX_IS_BWRAP_PROVIDER (self), FALSE);

  return self->settings.toolchain;
}

/**
 * sbx_bwrap_provider_set_fresh_home: (set-property fresh-home)
 * @self: a provider
 * @fresh_home: %TRUE if they do
 *
 * Sets whether sandboxes start with an empty home directory.
 *
 * Since: 1.0
 */
void
sbx_bwrap_provider_set_fresh_home (SbxBwrapProvider *self,
                                   gboolean          fresh_home)
{
  g_return_if_fail (SBX_IS_BWRAP_PROVIDER (self));

  fresh_home = !!fresh_home;
  if (self->settings.fresh_home == fresh_home)
    return;

  self->settings.fresh_home = fresh_home;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_FRESH_HOME]);
}

/**
 * sbx_bwrap_provider_get_fresh_home: (get-property fresh-home)
 * @self: a provider
 *
 * Tells whether sandboxes start with an empty home directory.
 *
 * Returns: %TRUE if they do
 *
 * Since: 1.0
 */
gboolean
sbx_bwrap_provider_get_fresh_home (SbxBwrapProvider *self)
{
  g_return_val_if_fail (SBX_IS_BWRAP_PROVIDER (self), FALSE);

  return self->settings.fresh_home;
}
