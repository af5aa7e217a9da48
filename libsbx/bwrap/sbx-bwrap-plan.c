/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-plan-builder-private.h"
#include "bwrap/sbx-bwrap-user-dirs-private.h"
#include "core/sbx-error.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <unistd.h>

/*
 * SbxBwrapPlan:
 *
 * Everything that a sandbox will see, as data: what explains it prints the same thing that is
 * enforced. Binds hold what they bind open, so that a name that is swapped meanwhile changes
 * nothing.
 */

void
_sbx_bwrap_mount_free (SbxBwrapMount *self)
{
  _sbx_clear_fd (&self->source_fd);
  g_clear_pointer (&self->content, g_bytes_unref);
  g_clear_object (&self->entry);
  g_free (self->destination);
  g_free (self->source);
  g_free (self);
}

static void
submount_free (SbxBwrapSubmount *self)
{
  g_free (self->path);
  g_free (self->type);
  g_free (self);
}

void
_sbx_bwrap_placeholder_free (SbxBwrapPlaceholder *self)
{
  g_free (self->path);
  g_free (self->content);
  g_free (self);
}

SbxBwrapMount *
_sbx_bwrap_mount_new (SbxBwrapMountKind  kind,
                      SbxBwrapOrigin     origin,
                      const char        *destination,
                      const char        *source,
                      const char        *reason)
{
  SbxBwrapMount *self = g_new0 (SbxBwrapMount, 1);

  self->kind = kind;
  self->origin = origin;
  self->destination = g_strdup (destination);
  self->source = g_strdup (source);
  self->source_fd = -1;
  self->reason = reason;

  return self;
}

SbxBwrapMount *
_sbx_bwrap_builder_add (SbxBwrapBuilder   *self,
                        SbxBwrapMountKind  kind,
                        SbxBwrapOrigin     origin,
                        const char        *destination,
                        const char        *source,
                        const char        *reason)
{
  SbxBwrapMount *mount = _sbx_bwrap_mount_new (kind, origin, destination, source, reason);

  g_ptr_array_add (self->plan->mounts, mount);
  return mount;
}

SbxBwrapMount *
_sbx_bwrap_builder_add_fd (SbxBwrapBuilder   *self,
                           SbxBwrapMountKind  kind,
                           SbxBwrapOrigin     origin,
                           const char        *destination,
                           const char        *source,
                           int                fd,
                           const char        *reason)
{
  SbxBwrapMount *mount = _sbx_bwrap_builder_add (self, kind, origin, destination, source, reason);
  struct stat st;

  mount->source_fd = fd;

  if (fstat (fd, &st) == 0)
    {
      mount->device = st.st_dev;
      mount->inode = st.st_ino;
      mount->is_directory = S_ISDIR (st.st_mode);
    }

  return mount;
}

/* Binds one of the session's own places, which is not there yet when a plan is explained. */
static gboolean
add_session_path (SbxBwrapBuilder    *self,
                  SbxBwrapMountKind   kind,
                  const char         *destination,
                  const char         *path,
                  const char         *reason,
                  GError            **error)
{
  g_autofree char *real_path = NULL;
  int fd;

  if (path == NULL)
    {
      _sbx_bwrap_builder_add (self, kind, SBX_BWRAP_ORIGIN_SESSION, destination, NULL, reason);
      return TRUE;
    }

  fd = _sbx_open_real (path, O_PATH, &real_path, error);
  if (fd < 0)
    return FALSE;

  _sbx_bwrap_builder_add_fd (self, kind, SBX_BWRAP_ORIGIN_SESSION, destination, real_path, fd,
                             reason);
  return TRUE;
}

/* /var/tmp is /tmp, unless something that was asked for lies there: a link cannot be a parent. */
static gboolean
add_var_tmp (SbxBwrapBuilder  *self,
             GError          **error)
{
  guint i;

  for (i = 0; i < self->entries->len; i++)
    {
      const SbxReachEntry *entry = g_ptr_array_index (self->entries, i);

      if (entry->path != NULL && _sbx_bwrap_path_is_below (entry->path, "/var/tmp"))
        return add_session_path (self, SBX_BWRAP_MOUNT_BIND, "/var/tmp", self->input->tmp_path,
                                 N_("the sandbox's own temporary files"), error);
    }

  _sbx_bwrap_builder_add (self, SBX_BWRAP_MOUNT_SYMLINK, SBX_BWRAP_ORIGIN_SESSION, "/var/tmp",
                          "/tmp", N_("the sandbox's own temporary files"));
  return TRUE;
}

/* Programs go on looking for their sockets in /var/run. */
static void
add_var_run (SbxBwrapBuilder *self)
{
  char target[16];

  for (guint i = 0; i < self->entries->len; i++)
    {
      const SbxReachEntry *entry = g_ptr_array_index (self->entries, i);

      if (entry->kind == SBX_REACH_SOCKET && _sbx_bwrap_path_is_below (entry->path, "/run") &&
          readlink ("/var/run", target, sizeof target) > 0)
        {
          _sbx_bwrap_builder_add (self, SBX_BWRAP_MOUNT_SYMLINK, SBX_BWRAP_ORIGIN_SESSION,
                                  "/var/run", "/run", N_("another name for the same"));
          return;
        }
    }
}

static gboolean
add_session (SbxBwrapBuilder  *self,
             GError          **error)
{
  g_autofree char *config_home = NULL;
  SbxBwrapMount *git_config;

  if (!add_session_path (self, SBX_BWRAP_MOUNT_BIND, "/tmp", self->input->tmp_path,
                         N_("the sandbox's own temporary files"), error) ||
      !add_session_path (self, SBX_BWRAP_MOUNT_BIND, SBX_BWRAP_HOME, self->input->home_path,
                         N_("the sandbox's own home directory"), error) ||
      !add_session_path (self, SBX_BWRAP_MOUNT_RO_BIND, SBX_BWRAP_INIT, self->input->init_path,
                         N_("process 1"), error) ||
      !add_var_tmp (self, error))
    return FALSE;

  add_var_run (self);
  config_home = self->input->config_home != NULL ? g_strdup (self->input->config_home)
                                                 : _sbx_bwrap_dup_config_dir ();

  git_config = _sbx_bwrap_builder_add (self, SBX_BWRAP_MOUNT_FILE, SBX_BWRAP_ORIGIN_SESSION,
                                       SBX_BWRAP_GIT_CONFIG, NULL,
                                       N_("the operator's name for git"));
  git_config->content = _sbx_bwrap_base_make_git_config (self->input->roots->home, config_home);
  return TRUE;
}

static gboolean
add_toolchain (SbxBwrapBuilder  *self,
               GError          **error)
{
  const SbxBwrapToolchain *toolchain = self->input->toolchain;
  gsize i;

  if (toolchain == NULL)
    return TRUE;

  for (i = 0; toolchain->trees[i] != NULL; i++)
    {
      g_autofree char *real_path = NULL;
      sbx_autofd int fd = _sbx_open_real (toolchain->trees[i], O_PATH, &real_path, error);
      struct stat st;

      if (fd < 0)
        return FALSE;

      if (fstat (fd, &st) < 0)
        memset (&st, 0, sizeof st);

      if (!_sbx_roots_check (self->input->roots, SBX_ROOTS_TOOLCHAIN, "toolchain", real_path, &st,
                             error))
        return FALSE;

      _sbx_bwrap_builder_add_fd (self, SBX_BWRAP_MOUNT_RO_BIND, SBX_BWRAP_ORIGIN_TOOLCHAIN,
                                 real_path, real_path, g_steal_fd (&fd), N_("installed tools"));
    }

  for (i = 0; toolchain->secrets[i] != NULL; i++)
    _sbx_bwrap_builder_add (self, SBX_BWRAP_MOUNT_MASK, SBX_BWRAP_ORIGIN_TOOLCHAIN,
                            toolchain->secrets[i], NULL, N_("a secret among installed tools"));

  return TRUE;
}

SbxBwrapPlan *
_sbx_bwrap_plan_alloc (void)
{
  SbxBwrapPlan *self = g_atomic_rc_box_new0 (SbxBwrapPlan);

  self->mounts = g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_bwrap_mount_free);
  self->placeholders =
    g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_bwrap_placeholder_free);
  self->submounts = g_ptr_array_new_with_free_func ((GDestroyNotify) submount_free);

  return self;
}

static void
plan_clear (gpointer data)
{
  SbxBwrapPlan *self = data;

  g_ptr_array_unref (self->mounts);
  g_ptr_array_unref (self->placeholders);
  g_ptr_array_unref (self->submounts);
  g_clear_object (&self->reach);
  g_free (self->cwd);
}

void
_sbx_bwrap_builder_clear (SbxBwrapBuilder *self)
{
  g_clear_pointer (&self->entries, g_ptr_array_unref);
}

static GPtrArray *
list_entries (SbxReach *reach)
{
  GListModel *model = sbx_reach_get_entries (reach);
  const guint n = g_list_model_get_n_items (model);
  GPtrArray *entries = g_ptr_array_new_full (n, g_object_unref);

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (entries, g_list_model_get_item (model, i));

  return entries;
}

/* One that something else covers is not needed. */
static void
drop_placeholders (SbxBwrapPlan *plan)
{
  g_autoptr(GHashTable) places = g_hash_table_new (g_str_hash, g_str_equal);
  guint i = 0;

  for (guint j = 0; j < plan->mounts->len; j++)
    {
      const SbxBwrapMount *mount = g_ptr_array_index (plan->mounts, j);

      if (mount->kind == SBX_BWRAP_MOUNT_RO_BIND)
        g_hash_table_add (places, mount->destination);
    }

  while (i < plan->placeholders->len)
    {
      const SbxBwrapPlaceholder *placeholder = g_ptr_array_index (plan->placeholders, i);

      if (g_hash_table_contains (places, placeholder->path))
        i++;
      else
        g_ptr_array_remove_index (plan->placeholders, i);
    }
}

SbxBwrapPlan *
_sbx_bwrap_plan_new (const SbxBwrapPlanInput  *input,
                     GCancellable             *cancellable,
                     GError                  **error)
{
  g_autoptr(SbxBwrapPlan) plan = _sbx_bwrap_plan_alloc ();
  g_auto(SbxBwrapBuilder) builder = { input, cancellable, plan, NULL };

  g_assert (sbx_reach_is_resolved (input->reach));

  plan->reach = g_object_ref (input->reach);
  builder.entries = list_entries (input->reach);

  if (!_sbx_bwrap_base_add (&builder, error) ||
      !add_session (&builder, error) ||
      !add_toolchain (&builder, error) ||
      !_sbx_bwrap_entries_add (&builder, error) ||
      !_sbx_bwrap_sockets_mask (&builder, error))
    return NULL;

  _sbx_bwrap_plan_order (plan);
  drop_placeholders (plan);
  _sbx_bwrap_plan_fold (plan, input->max_mounts > 0 ? input->max_mounts : SBX_BWRAP_MAX_MOUNTS);

  if (!_sbx_bwrap_plan_open (plan, error) ||
      !_sbx_bwrap_plan_find_submounts (plan, error) ||
      g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;

  return g_steal_pointer (&plan);
}

SbxBwrapPlan *
_sbx_bwrap_plan_ref (SbxBwrapPlan *self)
{
  return g_atomic_rc_box_acquire (self);
}

void
_sbx_bwrap_plan_unref (SbxBwrapPlan *self)
{
  g_atomic_rc_box_release_full (self, plan_clear);
}
