/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-roots-guard-private.h"

#include "core/sbx-error.h"
#include "core/sbx-protection-private.h"
#include "files/sbx-path-private.h"
#include "spec/sbx-resolve-path-private.h"
#include "spec/sbx-resolve-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* One path against all that is guarded. */

typedef struct
{
  const char    *path;
  GArray        *upwards;   /* of SbxFileId, of the path itself and above */
  gboolean       has_id;
  SbxFileId      id;        /* of the path itself */
  SbxMountPlace  place;
  GPtrArray     *mounts;    /* of SbxMount, below it: binding it takes them along */
} Asked;

gboolean
_sbx_path_is_below (const char *path,
                    const char *ancestor)
{
  const gsize length = strlen (ancestor);

  if (strncmp (path, ancestor, length) != 0)
    return FALSE;

  return path[length] == '\0' || path[length] == '/' || (length > 0 && path[length - 1] == '/');
}

static gboolean
has_id (const GArray    *ids,
        const SbxFileId *id)
{
  for (guint i = 0; i < ids->len; i++)
    {
      const SbxFileId *other = &g_array_index (ids, SbxFileId, i);

      if (other->device == id->device && other->inode == id->inode)
        return TRUE;
    }

  return FALSE;
}

/* Something below is mounted from there, or from below it, or from above it. The place itself is
 * where it is by its name. */
static gboolean
brings_along (const Asked      *asked,
              const SbxGuarded *guarded,
              gboolean          whole)
{
  for (guint i = 0; i < asked->mounts->len; i++)
    {
      const SbxMount *mount = g_ptr_array_index (asked->mounts, i);
      const SbxMountPlace place = { mount->device, mount->root };

      if (_sbx_path_is_below (mount->point, guarded->path) ||
          _sbx_path_is_below (guarded->path, mount->point))
        continue;

      if (_sbx_mount_place_is_below (&guarded->place, &place) ||
          (!whole && _sbx_mount_place_is_below (&place, &guarded->place)))
        return TRUE;
    }

  return FALSE;
}

static gboolean
is_inside (const Asked      *asked,
           const SbxGuarded *guarded)
{
  if (_sbx_path_is_below (asked->path, guarded->path))
    return TRUE;

  return SBX_PROTECTS (F4) &&
         ((guarded->exists && has_id (asked->upwards, &guarded->id)) ||
          _sbx_mount_place_is_below (&asked->place, &guarded->place) ||
          brings_along (asked, guarded, FALSE));
}

static gboolean
contains (const Asked      *asked,
          const SbxGuarded *guarded)
{
  if (_sbx_path_is_below (guarded->path, asked->path))
    return TRUE;

  return SBX_PROTECTS (F4) &&
         ((asked->has_id && has_id (guarded->above, &asked->id)) ||
          _sbx_mount_place_is_below (&guarded->place, &asked->place) ||
          brings_along (asked, guarded, TRUE));
}

static gboolean
overlaps (const Asked      *asked,
          const SbxGuarded *guarded)
{
  return is_inside (asked, guarded) || contains (asked, guarded);
}

/* What is wrong and what to do, for a rule about a place; "%s" is that place. */
static const char *
explain (SbxRule rule)
{
  switch (rule)
    {
    case SBX_RULE_HOME:
      return N_("is or contains the home directory, with every key and token in it; name the "
                "project directory that is needed");

    case SBX_RULE_RUN_ROOT:
      return N_("exposes “%s”, the run root, where the records of runs are kept; name a directory "
                "outside of it");

    case SBX_RULE_HARNESS:
      return N_("overlaps “%s”, where a coding agent keeps its state and its credentials; name a "
                "directory without it");

    case SBX_RULE_KEYS:
      return N_("overlaps “%s”, where keys, tokens or passwords are kept; name a directory "
                "without it");

    case SBX_RULE_START:
      return N_("overlaps “%s”, from where programs are started outside of every sandbox; ask to "
                "read it only, or name a directory without it");

    case SBX_RULE_MACHINE:
      return N_("overlaps “%s”, the directory where the sandboxes themselves are kept; name "
                "another one");

    case SBX_RULE_CONFIG:
      return N_("overlaps “%s”, where libsbx looks for its configuration; ask to read it only, or "
                "name a directory without it");

    case SBX_RULE_CONTROL:
    case SBX_RULE_DOOR:
      return N_("exposes “%s”, where the engine has its doors; name another directory");

    case SBX_RULE_ESCAPE:
    default:
      g_assert_not_reached ();
    }
}

static gboolean
refuse_place (GError           **error,
              const char        *label,
              const char        *path,
              const SbxGuarded  *guarded)
{
  g_autofree char *place = _sbx_path_show (guarded->path);
  const char *text = _(explain (guarded->rule));
  const char *mark = strstr (text, "%s");
  g_autoptr(GString) what = g_string_new (NULL);

  if (mark == NULL)
    return _sbx_resolve_fail (error, SBX_ERROR_REFUSED, label, path, text);

  g_string_append_len (what, text, mark - text);
  g_string_append (what, place);
  g_string_append (what, mark + 2);

  return _sbx_resolve_fail (error, SBX_ERROR_REFUSED, label, path, what->str);
}

static gboolean
check_system (SbxRootsUse   use,
              const char   *label,
              const char   *path,
              GError      **error)
{
  static const char * const own[] = { "/proc", "/sys", "/dev", "/sandbox", "/run" };
  static const char * const temporary[] = { "/tmp", "/var/tmp", "/var" };
  const gsize n_own = G_N_ELEMENTS (own) - (use == SBX_ROOTS_SOCKET ? 1 : 0);

  if (strcmp (path, "/") == 0)
    return _sbx_resolve_fail (error, SBX_ERROR_REFUSED, label, path,
                              _("is the whole file system, which no sandbox may have; name the "
                                "directories that are needed"));

  for (gsize i = 0; i < n_own; i++)
    if (_sbx_path_is_below (path, own[i]))
      return _sbx_resolve_fail (error, SBX_ERROR_REFUSED, label, path,
                                _("cannot be given: a sandbox has its own /proc, /sys, /dev, /run "
                                  "and /sandbox"));

  for (gsize i = 0; i < G_N_ELEMENTS (temporary); i++)
    if (strcmp (path, temporary[i]) == 0)
      return _sbx_resolve_fail (error, SBX_ERROR_REFUSED, label, path,
                                _("cannot be given: a sandbox has its own; name the directory "
                                  "below it that is needed"));

  return TRUE;
}

/* The child of the control root that @path lies in, or is, may be an engine's. */
static gboolean
is_in_door (const Asked      *asked,
            const SbxGuarded *control)
{
  const gsize length = strlen (control->path);
  const char *child;

  if (!_sbx_path_is_below (asked->path, control->path) || asked->path[length] == '\0')
    return FALSE;

  child = asked->path + length + (asked->path[length] == '/' ? 1 : 0);

  return g_str_has_prefix (child, "sbx-") || g_str_has_prefix (child, "awf-");
}

/* A socket right in the control root is a door, whatever its name. */
static gboolean
is_in_control (const Asked      *asked,
               SbxRootsUse       use,
               const SbxGuarded *control)
{
  g_autofree char *parent = NULL;

  if (contains (asked, control) || is_in_door (asked, control))
    return TRUE;

  if (use != SBX_ROOTS_SOCKET)
    return FALSE;

  parent = g_path_get_dirname (asked->path);

  return strcmp (parent, control->path) == 0;
}

static gboolean
is_broken (const Asked      *asked,
           SbxRootsUse       use,
           const SbxGuarded *guarded)
{
  const gboolean any_use = use != SBX_ROOTS_TOOLCHAIN;

  switch (guarded->rule)
    {
    case SBX_RULE_HOME:
      return SBX_PROTECTS (HOME) && contains (asked, guarded);

    case SBX_RULE_RUN_ROOT:
      return SBX_PROTECTS (RUN_ROOT) && is_inside (asked, guarded);

    case SBX_RULE_HARNESS:
      return SBX_PROTECTS (STATES) && any_use && overlaps (asked, guarded);

    case SBX_RULE_KEYS:
      return SBX_PROTECTS (KEYS) && any_use && overlaps (asked, guarded);

    case SBX_RULE_START:
      return SBX_PROTECTS (F1) && use == SBX_ROOTS_WRITE && overlaps (asked, guarded);

    case SBX_RULE_MACHINE:
      return SBX_PROTECTS (OWN) && overlaps (asked, guarded);

    case SBX_RULE_CONFIG:
      return SBX_PROTECTS (F1) && use == SBX_ROOTS_WRITE && overlaps (asked, guarded);

    case SBX_RULE_CONTROL:
      return SBX_PROTECTS (DOORS) && any_use && is_in_control (asked, use, guarded);

    case SBX_RULE_DOOR:
      return SBX_PROTECTS (DOORS) && any_use && is_inside (asked, guarded);

    case SBX_RULE_ESCAPE:
    default:
      g_assert_not_reached ();
    }
}

/* A session's own working tree lies where sandboxes are kept. */
static gboolean
is_exempt (const SbxRoots   *self,
           const char       *path,
           const SbxGuarded *guarded)
{
  return self->own_path != NULL && _sbx_path_is_below (path, self->own_path) &&
         (guarded->rule == SBX_RULE_MACHINE || guarded->rule == SBX_RULE_CONFIG);
}

static void
asked_init (Asked             *self,
            const SbxRoots    *roots,
            const char        *path,
            const struct stat *st)
{
  g_autoptr(GHashTable) looked = _sbx_looked_new ();

  self->path = path;
  self->upwards = _sbx_file_ids_upwards (looked, path);
  self->mounts = g_ptr_array_new ();
  _sbx_mount_table_locate (roots->mounts, path, &self->place);

  if (st != NULL)
    {
      self->has_id = TRUE;
      self->id.device = st->st_dev;
      self->id.inode = st->st_ino;
      g_array_append_val (self->upwards, self->id);
    }

  for (guint i = 0; i < roots->mounts->len; i++)
    {
      SbxMount *mount = g_ptr_array_index (roots->mounts, i);

      if (_sbx_path_is_below (mount->point, path) && strcmp (mount->point, path) != 0)
        g_ptr_array_add (self->mounts, mount);
    }
}

static void
asked_clear (Asked *self)
{
  g_clear_pointer (&self->upwards, g_array_unref);
  g_clear_pointer (&self->mounts, g_ptr_array_unref);
  _sbx_mount_place_clear (&self->place);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Asked, asked_clear)

gboolean
_sbx_roots_check (const SbxRoots     *self,
                  SbxRootsUse         use,
                  const char         *label,
                  const char         *path,
                  const struct stat  *st,
                  GError            **error)
{
  g_auto(Asked) asked = { 0 };

  g_return_val_if_fail (self->guarded != NULL, FALSE);

  if (!check_system (use, label, path, error))
    return FALSE;

  asked_init (&asked, self, path, st);

  /* In the order of the rules, so that of several the first one is told. */
  for (SbxRule rule = SBX_RULE_HOME; rule <= SBX_RULE_DOOR; rule++)
    for (guint i = 0; i < self->guarded->len; i++)
      {
        const SbxGuarded *guarded = g_ptr_array_index (self->guarded, i);

        if (guarded->rule == rule && !is_exempt (self, path, guarded) &&
            is_broken (&asked, use, guarded))
          return refuse_place (error, label, path, guarded);
      }

  return TRUE;
}
