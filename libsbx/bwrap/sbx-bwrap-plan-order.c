/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-plan-builder-private.h"
#include "core/sbx-protection-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/*
 * The deepest path wins, so shorter ones are mounted first. A mount costs bubblewrap more the more
 * there are, so one that would change nothing is left out.
 */

/* Of two entries for one place the stronger one stays. */
static int
get_strength (const SbxBwrapMount *mount)
{
  static const int strengths[] = {
    [SBX_BWRAP_ORIGIN_BASE] = 0,
    [SBX_BWRAP_ORIGIN_SESSION] = 1,
    [SBX_BWRAP_ORIGIN_CWD] = 2,
    [SBX_BWRAP_ORIGIN_TOOLCHAIN] = 3,
    [SBX_BWRAP_ORIGIN_READ] = 4,
    [SBX_BWRAP_ORIGIN_WRITE] = 5,
    [SBX_BWRAP_ORIGIN_SOCKET] = 6,
    [SBX_BWRAP_ORIGIN_PIN] = 6,
    [SBX_BWRAP_ORIGIN_REPOSITORY] = 7,
    [SBX_BWRAP_ORIGIN_PROTECTED] = 8,
    [SBX_BWRAP_ORIGIN_HIDDEN] = 9,
  };

  return strengths[mount->origin];
}

static guint
get_depth (const char *path)
{
  guint depth = 0;

  for (; *path != '\0'; path++)
    if (path[0] == '/' && path[1] != '\0')
      depth++;

  return depth;
}

static int
compare_mounts (gconstpointer a,
                gconstpointer b)
{
  const SbxBwrapMount *first = *(const SbxBwrapMount * const *) a;
  const SbxBwrapMount *second = *(const SbxBwrapMount * const *) b;
  const gboolean first_is_last = first->kind == SBX_BWRAP_MOUNT_REMOUNT_RO;
  const gboolean second_is_last = second->kind == SBX_BWRAP_MOUNT_REMOUNT_RO;
  const guint first_depth = get_depth (first->destination);
  const guint second_depth = get_depth (second->destination);
  int order;

  /* What is sealed is sealed at the end, the root after all. */
  if (first_is_last != second_is_last)
    return first_is_last ? 1 : -1;

  if (first_depth != second_depth)
    {
      order = first_depth < second_depth ? -1 : 1;
      return first_is_last ? -order : order;
    }

  order = strcmp (first->destination, second->destination);
  if (order != 0)
    return order;

  /* A directory is needed only where nothing else is. */
  if ((first->kind == SBX_BWRAP_MOUNT_DIR) != (second->kind == SBX_BWRAP_MOUNT_DIR))
    return first->kind == SBX_BWRAP_MOUNT_DIR ? 1 : -1;

  return get_strength (first) - get_strength (second);
}

static gboolean
is_bind (const SbxBwrapMount *mount)
{
  return mount->kind == SBX_BWRAP_MOUNT_BIND || mount->kind == SBX_BWRAP_MOUNT_RO_BIND;
}

/* What is kept, and what one sees of it at which place. */
typedef struct
{
  GPtrArray  *kept;      /* not owned */
  GHashTable *by_path;   /* destination -> the last mount there that has something below it */
} Order;

/* The deepest entry so far that holds @destination, itself included. */
static const SbxBwrapMount *
find_cover (Order      *self,
            const char *destination)
{
  g_autofree char *path = g_strdup (destination);

  for (;;)
    {
      const SbxBwrapMount *mount = g_hash_table_lookup (self->by_path, path);
      char *slash;

      if (mount != NULL || strcmp (path, "/") == 0)
        return mount;

      slash = strrchr (path, '/');
      slash[slash == path ? 1 : 0] = '\0';
    }
}

/* Whether @cover shows at @path what is there on the host. */
static gboolean
shows (const SbxBwrapMount *cover,
       const char          *source,
       const char          *destination)
{
  /* Of what is explained alone, the session's own places are not there yet. */
  return is_bind (cover) && cover->source != NULL && source != NULL &&
         g_str_has_prefix (source, cover->source) &&
         strcmp (source + strlen (cover->source), destination + strlen (cover->destination)) == 0;
}

static gboolean
shows_the_same (const SbxBwrapMount *cover,
                const SbxBwrapMount *mount)
{
  return shows (cover, mount->source, mount->destination);
}

/* These take something away: where there is nothing to be seen they are not needed. */
static gboolean
is_guard (const SbxBwrapMount *mount)
{
  return mount->origin == SBX_BWRAP_ORIGIN_PROTECTED || mount->origin == SBX_BWRAP_ORIGIN_HIDDEN ||
         (mount->origin == SBX_BWRAP_ORIGIN_SOCKET && mount->kind == SBX_BWRAP_MOUNT_MASK);
}

static gboolean
is_needless_bind (const SbxBwrapMount *cover,
                  const SbxBwrapMount *mount)
{
  /* These may be read, and sockets connected to; that takes no right away. */
  if (mount->origin == SBX_BWRAP_ORIGIN_CWD || mount->origin == SBX_BWRAP_ORIGIN_TOOLCHAIN ||
      mount->origin == SBX_BWRAP_ORIGIN_SOCKET)
    return shows_the_same (cover, mount);

  if (mount->kind == SBX_BWRAP_MOUNT_RO_BIND)
    return cover->kind == SBX_BWRAP_MOUNT_RO_BIND && shows_the_same (cover, mount);

  /* A bind of a repository on itself pins it. */
  return mount->origin != SBX_BWRAP_ORIGIN_REPOSITORY && cover->kind == SBX_BWRAP_MOUNT_BIND &&
         shows_the_same (cover, mount);
}

static gboolean
is_needless (Order               *self,
             const SbxBwrapMount *mount)
{
  const SbxBwrapMount *cover = find_cover (self, mount->destination);

  /* Nothing is left of whatever lies below what is hidden. */
  if (cover != NULL && cover->origin == SBX_BWRAP_ORIGIN_HIDDEN &&
      (strcmp (cover->destination, mount->destination) != 0 ||
       mount->origin != SBX_BWRAP_ORIGIN_HIDDEN))
    return TRUE;

  if (mount->kind == SBX_BWRAP_MOUNT_REMOUNT_RO)
    return mount->origin == SBX_BWRAP_ORIGIN_HIDDEN &&
           (cover == NULL || cover->origin != SBX_BWRAP_ORIGIN_HIDDEN);

  if (is_guard (mount))
    return cover == NULL || !shows (cover, mount->destination, mount->destination) ||
           (is_bind (mount) && is_needless_bind (cover, mount));

  if (cover == NULL)
    return FALSE;

  switch (mount->kind)
    {
    case SBX_BWRAP_MOUNT_FILE:
    case SBX_BWRAP_MOUNT_SYMLINK:
      /* Nothing is made in what belongs to the host. */
      return is_bind (cover);

    case SBX_BWRAP_MOUNT_DIR:
      return is_bind (cover) || strcmp (cover->destination, mount->destination) == 0;

    case SBX_BWRAP_MOUNT_RO_BIND:
    case SBX_BWRAP_MOUNT_BIND:
      return is_needless_bind (cover, mount);

    case SBX_BWRAP_MOUNT_MASK:
    case SBX_BWRAP_MOUNT_TMPFS:
    case SBX_BWRAP_MOUNT_PROC:
    case SBX_BWRAP_MOUNT_DEV:
    case SBX_BWRAP_MOUNT_REMOUNT_RO:
    default:
      return FALSE;
    }
}

static void
keep (Order         *self,
      SbxBwrapMount *mount)
{
  /* Of a bind and what is stronger at its place, only the latter would be seen. */
  if (self->kept->len > 0 && (is_bind (mount) || mount->kind == SBX_BWRAP_MOUNT_MASK ||
                              mount->kind == SBX_BWRAP_MOUNT_TMPFS))
    {
      const SbxBwrapMount *last = g_ptr_array_index (self->kept, self->kept->len - 1);

      if (is_bind (last) && strcmp (last->destination, mount->destination) == 0)
        {
          g_hash_table_remove (self->by_path, last->destination);
          g_ptr_array_remove_index (self->kept, self->kept->len - 1);
        }
    }

  g_ptr_array_add (self->kept, mount);
  if (mount->kind != SBX_BWRAP_MOUNT_FILE && mount->kind != SBX_BWRAP_MOUNT_SYMLINK &&
      mount->kind != SBX_BWRAP_MOUNT_REMOUNT_RO)
    g_hash_table_replace (self->by_path, mount->destination, mount);
}

/* bubblewrap makes missing parents too, but for nobody else's eyes. */
static void
add_parents (SbxBwrapPlan *plan)
{
  g_autoptr(GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  const guint n = plan->mounts->len;

  for (guint i = 0; i < n; i++)
    {
      const SbxBwrapMount *mount = g_ptr_array_index (plan->mounts, i);
      char *parent = g_path_get_dirname (mount->destination);

      while (strcmp (parent, "/") != 0 && g_hash_table_add (known, parent))
        {
          g_ptr_array_add (plan->mounts,
                           _sbx_bwrap_mount_new (SBX_BWRAP_MOUNT_DIR, SBX_BWRAP_ORIGIN_BASE, parent,
                                                 NULL, N_("the way to what lies below")));
          parent = g_path_get_dirname (parent);
        }

      if (strcmp (parent, "/") == 0)
        g_free (parent);
    }
}

/* Whether it matters that @mount stays where it is: a directory above it that is moved away takes
 * it along, and what is made in its place is not guarded. */
static gboolean
must_stay (const SbxBwrapMount *mount,
           const SbxBwrapMount *cover)
{
  if (cover == NULL || cover->kind != SBX_BWRAP_MOUNT_BIND ||
      !shows (cover, mount->destination, mount->destination))
    return FALSE;

  switch (mount->origin)
    {
    case SBX_BWRAP_ORIGIN_READ:
    case SBX_BWRAP_ORIGIN_REPOSITORY:
    case SBX_BWRAP_ORIGIN_PROTECTED:
    case SBX_BWRAP_ORIGIN_HIDDEN:
      return mount->kind != SBX_BWRAP_MOUNT_REMOUNT_RO;

    case SBX_BWRAP_ORIGIN_BASE:
    case SBX_BWRAP_ORIGIN_SESSION:
    case SBX_BWRAP_ORIGIN_CWD:
    case SBX_BWRAP_ORIGIN_WRITE:
    case SBX_BWRAP_ORIGIN_SOCKET:
    case SBX_BWRAP_ORIGIN_TOOLCHAIN:
    case SBX_BWRAP_ORIGIN_PIN:
    default:
      return FALSE;
    }
}

static void
add_pin (Order         *self,
         GPtrArray     *pins,
         const char    *path,
         SbxBwrapMount *below)
{
  SbxBwrapMount *pin;

  pin = _sbx_bwrap_mount_new (SBX_BWRAP_MOUNT_BIND, SBX_BWRAP_ORIGIN_PIN, path, path,
                              N_("keeps what is protected below it in its place"));
  pin->is_directory = TRUE;
  pin->entry = below->entry != NULL ? g_object_ref (below->entry) : NULL;
  g_ptr_array_add (pins, pin);
  g_hash_table_replace (self->by_path, pin->destination, pin);
}

static GPtrArray *
find_pins (Order *self)
{
  GPtrArray *pins = g_ptr_array_new ();

  for (guint i = 0; i < self->kept->len; i++)
    {
      SbxBwrapMount *mount = g_ptr_array_index (self->kept, i);
      char *parent = g_path_get_dirname (mount->destination);
      const SbxBwrapMount *cover = find_cover (self, parent);

      while (must_stay (mount, cover) && strcmp (parent, cover->destination) != 0)
        {
          char *next = g_path_get_dirname (parent);

          add_pin (self, pins, parent, mount);
          g_free (parent);
          parent = next;
        }

      g_free (parent);
    }

  return pins;
}

static void
note_covered (Order *self)
{
  for (guint i = 0; i < self->kept->len; i++)
    {
      SbxBwrapMount *mount = g_ptr_array_index (self->kept, i);
      g_autofree char *parent = g_path_get_dirname (mount->destination);
      const SbxBwrapMount *cover = find_cover (self, parent);

      mount->on_itself = cover != NULL &&
                         shows (cover, mount->destination, mount->destination);
    }
}

void
_sbx_bwrap_plan_order (SbxBwrapPlan *plan)
{
  g_autoptr(GHashTable) by_path = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr(GPtrArray) pins = NULL;
  g_autofree gpointer *all = NULL;
  Order order = { plan->mounts, by_path };
  gsize n;

  add_parents (plan);
  g_ptr_array_sort (plan->mounts, compare_mounts);
  all = g_ptr_array_steal (plan->mounts, &n);

  for (gsize i = 0; i < n; i++)
    {
      SbxBwrapMount *mount = all[i];

      if (is_needless (&order, mount))
        _sbx_bwrap_mount_free (mount);
      else
        keep (&order, mount);
    }

  if (SBX_PROTECTS (T28))
    {
      pins = find_pins (&order);
      for (guint i = 0; i < pins->len; i++)
        g_ptr_array_add (plan->mounts, g_ptr_array_index (pins, i));

      if (pins->len > 0)
        g_ptr_array_sort (plan->mounts, compare_mounts);
    }

  note_covered (&order);
}
