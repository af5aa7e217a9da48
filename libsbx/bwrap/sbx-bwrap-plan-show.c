/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-plan-show-private.h"

#include "bwrap/sbx-bwrap-plan-builder-private.h"

#include <glib/gi18n-lib.h>
#include <sys/statvfs.h>

/* Turns a plan into what others may see of it. Nothing is decided here. */

/* Who asked for a mount when no line of a spec did. */
static const char *
name_origin (SbxBwrapOrigin origin)
{
  if (origin == SBX_BWRAP_ORIGIN_BASE)
    return _("what every sandbox has");
  if (origin == SBX_BWRAP_ORIGIN_SESSION)
    return _("what is the sandbox's own");
  if (origin == SBX_BWRAP_ORIGIN_TOOLCHAIN)
    return _("the toolchain");

  return _("what was asked for");
}

/* Of the entries for one path the one that says most about how it is mounted. */
static int
get_weight (const SbxReachEntry *entry)
{
  static const int weights[] = {
    [SBX_REACH_CWD] = 0,
    [SBX_REACH_READ] = 1,
    [SBX_REACH_WRITE] = 2,
    [SBX_REACH_DOMAIN] = 0,
    [SBX_REACH_GIT_DIR] = 3,
    [SBX_REACH_PROTECTED] = 4,
    [SBX_REACH_SOCKET] = 5,
    [SBX_REACH_HIDDEN] = 6,
  };

  return weights[entry->kind];
}

static gboolean
is_base (const SbxBwrapMount *mount)
{
  return mount->origin == SBX_BWRAP_ORIGIN_BASE || mount->origin == SBX_BWRAP_ORIGIN_SESSION ||
         mount->origin == SBX_BWRAP_ORIGIN_TOOLCHAIN;
}

/* The entry of the reach that asked for @mount: one for its very path, or else the deepest that
 * holds it, as those do of which a part is protected. */
static SbxReachEntry *
find_asker (GPtrArray           *entries,
            const SbxBwrapMount *mount)
{
  SbxReachEntry *best = mount->entry;

  if (best != NULL)
    return best;

  for (guint i = 0; i < entries->len && !is_base (mount); i++)
    {
      SbxReachEntry *entry = g_ptr_array_index (entries, i);
      gsize length, best_length;

      if (entry->path == NULL || !_sbx_bwrap_path_is_below (mount->destination, entry->path))
        continue;

      length = strlen (entry->path);
      best_length = best != NULL ? strlen (best->path) : 0;
      if (best == NULL || length > best_length ||
          (length == best_length && get_weight (entry) >= get_weight (best)))
        best = entry;
    }

  return best;
}

static SbxPlanKind
choose_kind (const SbxBwrapMount *mount,
             const SbxReachEntry *asker)
{
  static const SbxPlanKind kinds[] = {
    [SBX_BWRAP_MOUNT_BIND] = SBX_PLAN_WRITE,
    [SBX_BWRAP_MOUNT_RO_BIND] = SBX_PLAN_READ,
    [SBX_BWRAP_MOUNT_MASK] = SBX_PLAN_MASK,
    [SBX_BWRAP_MOUNT_TMPFS] = SBX_PLAN_MEMORY,
    [SBX_BWRAP_MOUNT_PROC] = SBX_PLAN_PROC,
    [SBX_BWRAP_MOUNT_DEV] = SBX_PLAN_DEV,
    [SBX_BWRAP_MOUNT_DIR] = SBX_PLAN_DIRECTORY,
    [SBX_BWRAP_MOUNT_SYMLINK] = SBX_PLAN_LINK,
    [SBX_BWRAP_MOUNT_FILE] = SBX_PLAN_COPY,
    [SBX_BWRAP_MOUNT_REMOUNT_RO] = SBX_PLAN_SEAL,
  };
  const SbxPlanKind kind = kinds[mount->kind];

  /* Within what was asked for, something empty is there to cover what else would be seen. */
  if (kind == SBX_PLAN_MEMORY && !is_base (mount))
    return SBX_PLAN_HIDDEN;

  if (asker == NULL || g_strcmp0 (asker->path, mount->destination) != 0)
    return kind;

  if (asker->kind == SBX_REACH_HIDDEN && kind == SBX_PLAN_MASK)
    return SBX_PLAN_HIDDEN;
  if (asker->kind == SBX_REACH_SOCKET && (kind == SBX_PLAN_READ || kind == SBX_PLAN_WRITE))
    return SBX_PLAN_SOCKET;

  return kind;
}

static void
add_mount (SbxPlan             *self,
           GPtrArray           *entries,
           const SbxBwrapMount *mount)
{
  const SbxReachEntry *asker = find_asker (entries, mount);
  const char *reason = g_dgettext (GETTEXT_PACKAGE, mount->reason);

  _sbx_plan_add (self, choose_kind (mount, asker), mount->destination, mount->source, reason,
                 asker != NULL ? asker->source : name_origin (mount->origin));
}

static gboolean
brings_along (const SbxBwrapMount    *mount,
              const SbxBwrapSubmount *submount)
{
  return (mount->kind == SBX_BWRAP_MOUNT_BIND || mount->kind == SBX_BWRAP_MOUNT_RO_BIND) &&
         mount->is_directory && mount->source != NULL &&
         strcmp (mount->source, submount->path) != 0 &&
         _sbx_bwrap_path_is_below (submount->path, mount->source);
}

/* Whether what @submount shows at the place that the mount at @index brings it to is covered by a
 * later one that brings it there again, as those do that keep a directory where it is. */
static gboolean
comes_again (SbxBwrapPlan           *plan,
             guint                   index,
             const SbxBwrapSubmount *submount,
             const char             *path)
{
  for (guint i = index + 1; i < plan->mounts->len; i++)
    {
      const SbxBwrapMount *mount = g_ptr_array_index (plan->mounts, i);

      if (brings_along (mount, submount) && g_str_has_prefix (path, mount->destination) &&
          strcmp (path + strlen (mount->destination),
                  submount->path + strlen (mount->source)) == 0)
        return TRUE;
    }

  return FALSE;
}

/* Those that come along with the mount at @index are listed behind it, since what follows is
 * mounted over them. */
static void
add_submounts (SbxPlan      *self,
               SbxBwrapPlan *plan,
               GPtrArray    *entries,
               guint         index)
{
  const SbxBwrapMount *mount = g_ptr_array_index (plan->mounts, index);

  for (guint i = 0; i < plan->submounts->len; i++)
    {
      const SbxBwrapSubmount *submount = g_ptr_array_index (plan->submounts, i);
      const SbxReachEntry *asker = find_asker (entries, mount);
      g_autofree char *path = NULL;
      g_autofree char *reason = NULL;
      SbxPlanEntry *entry;
      struct statvfs fs;

      if (!brings_along (mount, submount))
        continue;

      path = g_strconcat (mount->destination, submount->path + strlen (mount->source), NULL);
      if (comes_again (plan, index, submount, path))
        continue;

      reason = g_strdup_printf (_("the host has a file system mounted here: %s"), submount->type);
      entry = _sbx_plan_add (self, SBX_PLAN_SUBMOUNT, path, submount->path, reason,
                             asker != NULL ? asker->source : name_origin (mount->origin));
      entry->writable = mount->kind == SBX_BWRAP_MOUNT_BIND &&
                        statvfs (submount->path, &fs) == 0 && (fs.f_flag & ST_RDONLY) == 0;
    }
}

/* Those that a directory shows which is there anyway need no mount. */
static void
add_sockets (SbxPlan   *self,
             GPtrArray *entries)
{
  for (guint i = 0; i < entries->len; i++)
    {
      const SbxReachEntry *entry = g_ptr_array_index (entries, i);
      SbxPlanAccess access;
      SbxPlanEntry *shown;

      if (entry->kind != SBX_REACH_SOCKET)
        continue;

      shown = sbx_plan_check_path (self, entry->path, &access);
      if (shown == NULL || (access & SBX_PLAN_ACCESS_READ) == 0)
        continue;

      shown = _sbx_plan_add (self, SBX_PLAN_SOCKET, entry->path, entry->path, _("asked for"),
                             entry->source);
      shown->in_place = TRUE;
    }
}

/* What may be made, and is put aside when it is: protected names that are not there. */
static void
add_quarantine (SbxPlan   *self,
                GPtrArray *entries)
{
  for (guint i = 0; i < entries->len; i++)
    {
      const SbxReachEntry *entry = g_ptr_array_index (entries, i);
      SbxPlanAccess access;

      if (entry->kind != SBX_REACH_PROTECTED)
        continue;

      sbx_plan_check_path (self, entry->path, &access);
      if ((access & SBX_PLAN_ACCESS_REPLACE) != 0)
        _sbx_plan_add (self, SBX_PLAN_QUARANTINE, entry->path, NULL,
                       _("what appears here is put aside"), entry->source);
    }
}

static void
add_domains (SbxPlan   *self,
             GPtrArray *entries)
{
  for (guint i = 0; i < entries->len; i++)
    {
      const SbxReachEntry *entry = g_ptr_array_index (entries, i);

      if (entry->kind == SBX_REACH_DOMAIN)
        _sbx_plan_add_domain (self, entry->domain, _("asked for"), entry->source);
    }
}

void
_sbx_bwrap_plan_show_limits (SbxPlan              *self,
                             const SbxBwrapLimits *limits)
{
  for (guint i = 0; limits != NULL && i < limits->limits->len; i++)
    {
      const SbxBwrapLimit *limit = &g_array_index (limits->limits, SbxBwrapLimit, i);

      /* Also one that nothing holds, which somebody has allowed: that is not to be forgotten. */
      _sbx_plan_set_limit (self, limit->limit, limit->value,
                           _sbx_bwrap_means_to_text (limit->means));
    }
}

static GPtrArray *
list_entries (SbxReach *reach)
{
  GPtrArray *entries = g_ptr_array_new_with_free_func (g_object_unref);
  GListModel *model = reach->entries != NULL ? G_LIST_MODEL (reach->entries) : NULL;
  const guint n = model != NULL ? g_list_model_get_n_items (model) : 0;

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (entries, g_list_model_get_item (model, i));

  return entries;
}

SbxPlan *
_sbx_bwrap_plan_show (SbxBwrapPlan *plan,
                      SbxReach     *reach)
{
  SbxPlan *self = _sbx_plan_new (plan->cwd, reach);
  g_autoptr(GPtrArray) entries = list_entries (reach);

  for (guint i = 0; i < plan->mounts->len; i++)
    {
      const SbxBwrapMount *mount = g_ptr_array_index (plan->mounts, i);

      add_mount (self, entries, mount);
      add_submounts (self, plan, entries, i);
    }

  add_sockets (self, entries);
  add_quarantine (self, entries);
  add_domains (self, entries);

  return self;
}
