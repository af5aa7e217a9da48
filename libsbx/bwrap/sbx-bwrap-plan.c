/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-plan-builder-private.h"
#include "bwrap/sbx-bwrap-user-dirs-private.h"
#include "core/sbx-error.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-path-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

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
  _sbx_clear_fd (&self->directory_fd);
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

  for (i = 0; i < self->reach->len; i++)
    {
      const SbxBwrapReachPath *path = g_ptr_array_index (self->reach, i);

      if (_sbx_bwrap_path_is_below (path->path, "/var/tmp"))
        return add_session_path (self, SBX_BWRAP_MOUNT_BIND, "/var/tmp", self->input->tmp_path,
                                 "the sandbox's own temporary files", error);
    }

  _sbx_bwrap_builder_add (self, SBX_BWRAP_MOUNT_SYMLINK, SBX_BWRAP_ORIGIN_SESSION, "/var/tmp",
                          "/tmp", "the sandbox's own temporary files");
  return TRUE;
}

static gboolean
add_session (SbxBwrapBuilder  *self,
             GError          **error)
{
  g_autofree char *config_home = NULL;
  SbxBwrapMount *git_config;

  if (!add_session_path (self, SBX_BWRAP_MOUNT_BIND, "/tmp", self->input->tmp_path,
                         "the sandbox's own temporary files", error) ||
      !add_session_path (self, SBX_BWRAP_MOUNT_BIND, SBX_BWRAP_HOME, self->input->home_path,
                         "the sandbox's own home directory", error) ||
      !add_session_path (self, SBX_BWRAP_MOUNT_RO_BIND, SBX_BWRAP_INIT, self->input->init_path,
                         "process 1", error) ||
      !add_var_tmp (self, error))
    return FALSE;

  config_home = self->input->operator_home != NULL
                  ? g_build_filename (self->input->operator_home, ".config", NULL)
                  : _sbx_bwrap_dup_config_dir ();

  git_config = _sbx_bwrap_builder_add (self, SBX_BWRAP_MOUNT_FILE, SBX_BWRAP_ORIGIN_SESSION,
                                       SBX_BWRAP_GIT_CONFIG, NULL, "the operator's name for git");
  git_config->content =
    _sbx_bwrap_base_make_git_config (self->home, config_home);
  return TRUE;
}

static void
add_reach (SbxBwrapBuilder *self)
{
  static const char * const reasons[] = {
    [SBX_BWRAP_ORIGIN_CWD] = "the working directory",
    [SBX_BWRAP_ORIGIN_READ] = "asked for",
    [SBX_BWRAP_ORIGIN_WRITE] = "asked for",
  };
  guint i;

  for (i = 0; i < self->reach->len; i++)
    {
      SbxBwrapReachPath *path = g_ptr_array_index (self->reach, i);
      const SbxBwrapMountKind kind = path->origin == SBX_BWRAP_ORIGIN_WRITE
                                     ? SBX_BWRAP_MOUNT_BIND : SBX_BWRAP_MOUNT_RO_BIND;

      _sbx_bwrap_builder_add_fd (self, kind, path->origin, path->path, path->path,
                                 g_steal_fd (&path->fd), reasons[path->origin]);
    }
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

      if (fd < 0 || !_sbx_bwrap_reach_check (self, "toolchain", real_path, error))
        return FALSE;

      _sbx_bwrap_builder_add_fd (self, SBX_BWRAP_MOUNT_RO_BIND, SBX_BWRAP_ORIGIN_TOOLCHAIN,
                                 real_path, real_path, g_steal_fd (&fd), "installed tools");
    }

  for (i = 0; toolchain->secrets[i] != NULL; i++)
    _sbx_bwrap_builder_add (self, SBX_BWRAP_MOUNT_MASK, SBX_BWRAP_ORIGIN_TOOLCHAIN,
                            toolchain->secrets[i], NULL, "a secret among installed tools");

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
  g_free (self->cwd);
}

void
_sbx_bwrap_builder_clear (SbxBwrapBuilder *self)
{
  g_clear_pointer (&self->reach, g_ptr_array_unref);
  g_clear_pointer (&self->home, g_free);
  g_clear_pointer (&self->account_home, g_free);
  g_clear_pointer (&self->data_path, g_free);
}

SbxBwrapPlan *
_sbx_bwrap_plan_new (const SbxBwrapPlanInput  *input,
                     GCancellable             *cancellable,
                     GError                  **error)
{
  g_autoptr(SbxBwrapPlan) plan = _sbx_bwrap_plan_alloc ();
  g_auto(SbxBwrapBuilder) builder = { input, cancellable, plan };
  const SbxBwrapReachPath *cwd;

  builder.reach = g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_bwrap_reach_path_free);

  if (!_sbx_bwrap_reach_resolve (&builder, error))
    return NULL;

  cwd = g_ptr_array_index (builder.reach, 0);
  plan->cwd = g_strdup (cwd->path);

  if (!_sbx_bwrap_base_add (&builder, error) ||
      !add_session (&builder, error) ||
      !_sbx_bwrap_repository_add (&builder, error) ||
      !add_toolchain (&builder, error))
    return NULL;

  add_reach (&builder);
  _sbx_bwrap_plan_order (plan);

  if (!_sbx_bwrap_plan_find_submounts (plan, error) ||
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

char *
_sbx_bwrap_plan_to_text (SbxBwrapPlan *self)
{
  static const char * const kinds[] = {
    [SBX_BWRAP_MOUNT_BIND] = "write",
    [SBX_BWRAP_MOUNT_RO_BIND] = "read",
    [SBX_BWRAP_MOUNT_MASK] = "mask",
    [SBX_BWRAP_MOUNT_TMPFS] = "memory",
    [SBX_BWRAP_MOUNT_PROC] = "proc",
    [SBX_BWRAP_MOUNT_DEV] = "dev",
    [SBX_BWRAP_MOUNT_DIR] = "directory",
    [SBX_BWRAP_MOUNT_SYMLINK] = "link",
    [SBX_BWRAP_MOUNT_FILE] = "copy",
    [SBX_BWRAP_MOUNT_REMOUNT_RO] = "seal",
  };
  GString *text = g_string_new (NULL);
  guint i;

  for (i = 0; i < self->mounts->len; i++)
    {
      const SbxBwrapMount *mount = g_ptr_array_index (self->mounts, i);
      g_autofree char *destination = _sbx_path_show (mount->destination);

      g_string_append_printf (text, "%-9s %s", kinds[mount->kind], destination);

      if (mount->source != NULL && strcmp (mount->source, mount->destination) != 0)
        {
          g_autofree char *source = _sbx_path_show (mount->source);

          g_string_append_printf (text, " <- %s", source);
        }

      g_string_append_printf (text, "  (%s)\n", mount->reason);
    }

  return g_string_free (text, FALSE);
}
