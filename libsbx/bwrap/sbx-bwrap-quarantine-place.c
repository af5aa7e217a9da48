/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-quarantine-struct-private.h"

#include "files/sbx-delete-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-write-private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Where things are put: into the session's directory of the data directory's "quarantine", under
 * names that are numbers and what is left of the old name without its dot, so that no tool obeys
 * what is found there. A file in it tells what came from where; it is written before anything is
 * moved.
 */

#define ITEMS_NAME "items"
#define ITEMS_TYPE "a(ayayx)"
#define ITEMS_MAX_SIZE (64 * 1024 * 1024)
#define MAX_SHOWN_NAME 64

static void
item_free (gpointer data)
{
  SbxQuarantineItem *item = data;

  g_free (item->origin);
  g_free (item->place);
  g_free (item);
}

GPtrArray *
_sbx_quarantine_items_new (void)
{
  return g_ptr_array_new_with_free_func (item_free);
}

GPtrArray *
_sbx_quarantine_items_read (int place_fd)
{
  GPtrArray *items = _sbx_quarantine_items_new ();
  g_autoptr(GBytes) bytes = _sbx_read_beneath (place_fd, ITEMS_NAME, ITEMS_MAX_SIZE, NULL, NULL);
  g_autoptr(GVariant) raw = NULL;
  g_autoptr(GVariant) list = NULL;

  if (bytes == NULL)
    return items;

  raw = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (ITEMS_TYPE), bytes, FALSE));
  list = g_variant_get_normal_form (raw);

  for (gsize i = 0; i < g_variant_n_children (list); i++)
    {
      SbxQuarantineItem *item = g_new0 (SbxQuarantineItem, 1);
      g_autoptr(GVariant) origin = NULL;
      g_autoptr(GVariant) place = NULL;

      g_variant_get_child (list, i, "(@ay@ayx)", &origin, &place, &item->time);
      item->origin = g_strdup (g_variant_get_bytestring (origin));
      item->place = g_strdup (g_variant_get_bytestring (place));
      g_ptr_array_add (items, item);
    }

  return items;
}

static void
write_items (SbxBwrapQuarantine *self)
{
  g_auto(GVariantBuilder) builder = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE (ITEMS_TYPE));
  g_autoptr(GVariant) list = NULL;
  g_autoptr(GBytes) bytes = NULL;

  for (guint i = 0; i < self->items->len; i++)
    {
      const SbxQuarantineItem *item = g_ptr_array_index (self->items, i);

      g_variant_builder_add (&builder, "(@ay@ayx)", g_variant_new_bytestring (item->origin),
                             g_variant_new_bytestring (item->place), item->time);
    }

  list = g_variant_ref_sink (g_variant_builder_end (&builder));
  bytes = g_variant_get_data_as_bytes (list);

  if (self->place_fd >= 0)
    _sbx_write_staged (self->place_fd, ITEMS_NAME, bytes, 0600, NULL);
}

/* Notes what is about to be moved to @place. That there is no place for the note must not keep
 * anything where it is: it is told as well. */
static void
note_item (SbxBwrapQuarantine *self,
           SbxQuarantineNode  *node,
           const char         *place)
{
  SbxQuarantineItem *item = g_new0 (SbxQuarantineItem, 1);

  item->origin = _sbx_quarantine_node_dup_path (node);
  item->place = g_strdup (place);
  item->time = g_get_real_time () / G_USEC_PER_SEC;
  g_ptr_array_add (self->items, item);
  write_items (self);
}

/* The directory is there when it is first needed. What a session that was killed has in it already
 * is known then. */
static gboolean
open_place (SbxBwrapQuarantine *self)
{
  g_autofree char *path = g_build_filename ("quarantine", self->id, NULL);
  sbx_autofd int data_fd = -1;

  if (self->place_fd >= 0)
    return TRUE;

  data_fd = _sbx_bwrap_state_open_data (self->data_path, FALSE, NULL);
  if (data_fd < 0)
    return FALSE;

  self->place_fd = _sbx_make_dirs_beneath (data_fd, path, 0700, NULL);
  if (self->place_fd < 0)
    return FALSE;

  if (self->items->len == 0)
    {
      g_ptr_array_unref (self->items);
      self->items = _sbx_quarantine_items_read (self->place_fd);
    }

  return TRUE;
}

/* Makes a directory of ours accessible, through a descriptor that may be O_PATH: as far as it was
 * from the beginning, where @mode is not 0. */
gboolean
_sbx_quarantine_make_accessible (int    fd,
                                 mode_t mode)
{
  const mode_t wanted = mode != 0 ? mode & 0700 : 0700;
  char path[64];
  struct stat info;

  if (fstat (fd, &info) != 0 || !S_ISDIR (info.st_mode) || info.st_uid != geteuid () ||
      (info.st_mode & wanted) == wanted)
    return FALSE;

  snprintf (path, sizeof path, "/proc/self/fd/%d", fd);

  return chmod (path, (info.st_mode & 07777) | wanted) == 0;
}

/* Returns 0 or an errno. */
static int
rename_once (int         from_fd,
             const char *from,
             int         to_fd,
             const char *to,
             gboolean    replace)
{
  struct stat info;

  if (replace)
    return renameat (from_fd, from, to_fd, to) == 0 ? 0 : errno;

  if (renameat2 (from_fd, from, to_fd, to, RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return errno;

  /* A file system that cannot say so. Nobody else knows the new name. */
  if (fstatat (to_fd, to, &info, AT_SYMLINK_NOFOLLOW) == 0)
    return EEXIST;

  return renameat (from_fd, from, to_fd, to) == 0 ? 0 : errno;
}

/* The same where the sandbox took the right to do so away: a directory has to be writable to have
 * another parent, and so has its parent. */
static int
rename_anyway (int         from_fd,
               const char *from,
               int         to_fd,
               const char *to,
               gboolean    replace)
{
  const int errsv = rename_once (from_fd, from, to_fd, to, replace);
  sbx_autofd int fd = -1;
  struct stat info;
  char path[64];
  int again;

  if (errsv != EACCES || fstat (from_fd, &info) != 0)
    return errsv;

  fd = openat (from_fd, from, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0)
    _sbx_quarantine_make_accessible (fd, 0);

  if (info.st_uid != geteuid () || (info.st_mode & 0300) == 0300)
    return rename_once (from_fd, from, to_fd, to, replace);

  snprintf (path, sizeof path, "/proc/self/fd/%d", from_fd);
  if (chmod (path, (info.st_mode & 07777) | 0300) != 0)
    return errsv;

  again = rename_once (from_fd, from, to_fd, to, replace);
  (void) !chmod (path, info.st_mode & 07777);

  return again;
}

/* Where to, and how that is called. */
typedef struct
{
  int         fd;
  gboolean    beside;
  const char *path;      /* of the directory */
} Target;

static char *
make_name (SbxQuarantineNode *node,
           const Target      *target,
           guint              slot)
{
  const char *name = node->name + strspn (node->name, ".");

  if (target->beside)
    return g_strdup_printf (".sbx-quarantine-%08x%08x", g_random_int (), g_random_int ());

  return g_strdup_printf ("%u.%u-%.*s", node->index, slot, MAX_SHOWN_NAME, name);
}

static int
move_to_slot (SbxBwrapQuarantine *self,
              SbxQuarantineNode  *node,
              int                 dir_fd,
              const Target       *target,
              guint               slot)
{
  g_autofree char *name = make_name (node, target, slot);
  g_autofree char *place = g_build_filename (target->path, name, NULL);
  int errsv;

  note_item (self, node, place);
  errsv = rename_anyway (dir_fd, node->name, target->fd, name, FALSE);
  if (errsv == 0)
    {
      const gboolean is_linked = !_sbx_quarantine_break_links (target->fd, name);

      node->places[slot] = g_steal_pointer (&name);
      _sbx_quarantine_say_moved (self, node, place, is_linked);
      return 0;
    }

  /* Not moved, and not to be told. */
  g_ptr_array_remove_index (self->items, self->items->len - 1);

  return errsv;
}

/* The last place of a name has what came last; what was there before goes. */
static int
move_to_last (SbxBwrapQuarantine *self,
              SbxQuarantineNode  *node,
              int                 dir_fd,
              const Target       *target)
{
  const char *name = node->places[SBX_QUARANTINE_SLOTS];
  g_autofree char *fresh = g_strdup_printf (".sbx-quarantine-%08x%08x",
                                            g_random_int (), g_random_int ());
  g_autofree char *place = g_build_filename (target->path, name, NULL);
  int errsv = rename_anyway (dir_fd, node->name, target->fd, name, TRUE);

  /* A directory: the new one is out of the way before the old one is deleted, which takes time. */
  if (errsv == EEXIST || errsv == ENOTEMPTY || errsv == ENOTDIR || errsv == EISDIR)
    {
      errsv = rename_anyway (dir_fd, node->name, target->fd, fresh, FALSE);
      if (errsv == 0)
        {
          _sbx_delete_tree (target->fd, name, NULL, NULL);
          errsv = rename_once (target->fd, fresh, target->fd, name, FALSE);
        }
    }

  if (errsv == 0)
    _sbx_quarantine_say_moved (self, node, place,
                               !_sbx_quarantine_break_links (target->fd, name));

  return errsv;
}

static int
move (SbxBwrapQuarantine *self,
      SbxQuarantineNode  *node,
      int                 dir_fd,
      const Target       *target)
{
  int errsv = EEXIST;

  for (guint slot = node->n_moved; slot <= SBX_QUARANTINE_SLOTS && errsv == EEXIST; slot++)
    {
      if (node->places[slot] != NULL)
        break;

      errsv = move_to_slot (self, node, dir_fd, target, slot);
      if (errsv == 0)
        node->n_moved = MIN (slot + 1, SBX_QUARANTINE_SLOTS);
    }

  if (errsv == EEXIST && node->places[SBX_QUARANTINE_SLOTS] != NULL)
    errsv = move_to_last (self, node, dir_fd, target);

  return errsv;
}

/* The sandbox can do what it wants with a name beside, but no tool obeys that. */
static int
move_beside (SbxBwrapQuarantine *self,
             SbxQuarantineNode  *node,
             int                 dir_fd)
{
  g_autofree char *above = _sbx_quarantine_node_dup_path (node->parent);
  const Target target = { dir_fd, TRUE, above };

  return move (self, node, dir_fd, &target);
}

int
_sbx_quarantine_put_aside (SbxBwrapQuarantine *self,
                           SbxQuarantineNode  *node,
                           int                 dir_fd)
{
  g_autofree char *path = g_build_filename (self->data_path, "quarantine", self->id, NULL);
  Target target = { -1, FALSE, path };
  int errsv;

  if (open_place (self) && !node->elsewhere)
    {
      target.fd = self->place_fd;
      errsv = move (self, node, dir_fd, &target);
      if (errsv == 0 || errsv == ENOENT)
        return errsv;

      node->elsewhere = errsv == EXDEV;
    }

  return move_beside (self, node, dir_fd);
}
