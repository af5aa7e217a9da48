/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-quarantine-struct-private.h"

#include "core/sbx-error.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-write-private.h"

#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <unistd.h>

/*
 * What a session looks after, in its directory, for whoever sweeps it.
 */

#define NAME "watched"
#define MAX_SIZE (64 * 1024 * 1024)

/* Boot and time, roots with device and inode, names, links with what they say, git directories,
 * what in them is not finished with the number of commands, working trees. */
#define NOTE_TYPE "(sxa(aytt)aaya(ayay)aaya(aysu)aay)"

typedef struct
{
  GVariantBuilder names;
  GVariantBuilder links;
} Lists;

static void
list_below (SbxQuarantineNode *node,
            Lists             *lists)
{
  g_autofree char *path = NULL;
  GHashTableIter iter;
  gpointer child;

  if (node->parent != NULL && (node->is_protected || node->link != NULL))
    path = _sbx_quarantine_node_dup_path (node);

  if (node->is_protected)
    g_variant_builder_add_value (&lists->names, g_variant_new_bytestring (path));
  if (node->link != NULL)
    g_variant_builder_add (&lists->links, "(@ay@ay)", g_variant_new_bytestring (path),
                           g_variant_new_bytestring (node->link));

  if (node->children == NULL)
    return;

  g_hash_table_iter_init (&iter, node->children);
  while (g_hash_table_iter_next (&iter, NULL, &child))
    list_below (child, lists);
}

char *
_sbx_quarantine_dup_boot_id (void)
{
  char *id = NULL;

  if (!g_file_get_contents ("/proc/sys/kernel/random/boot_id", &id, NULL, NULL) ||
      !g_utf8_validate (id, -1, NULL))
    g_clear_pointer (&id, g_free);

  return id != NULL ? g_strchomp (id) : g_strdup ("");
}

static GVariant *
make_note (SbxBwrapQuarantine *self)
{
  g_auto(GVariantBuilder) roots = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a(aytt)"));
  g_auto(GVariantBuilder) git_dirs = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("aay"));
  g_auto(GVariantBuilder) business = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a(aysu)"));
  g_auto(GVariantBuilder) trees = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("aay"));
  g_autofree char *boot_id = _sbx_quarantine_dup_boot_id ();
  Lists lists = { G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("aay")),
                  G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("a(ayay)")) };
  GHashTableIter iter;
  gpointer tree;

  for (guint i = 0; i < self->roots->len; i++)
    {
      SbxQuarantineNode *root = g_ptr_array_index (self->roots, i);

      g_variant_builder_add (&roots, "(@aytt)", g_variant_new_bytestring (root->name),
                             (guint64) root->device, (guint64) root->inode);
      list_below (root, &lists);
    }

  for (guint i = 0; i < self->git_dirs->len; i++)
    g_variant_builder_add_value (&git_dirs,
                                 g_variant_new_bytestring (g_ptr_array_index (self->git_dirs, i)));

  for (guint i = 0; i < self->business->len; i++)
    {
      const SbxQuarantineBusiness *one = g_ptr_array_index (self->business, i);

      g_variant_builder_add (&business, "(@aysu)", g_variant_new_bytestring (one->git_dir),
                             one->name, one->n_commands);
    }

  g_hash_table_iter_init (&iter, self->trees);
  while (g_hash_table_iter_next (&iter, &tree, NULL))
    g_variant_builder_add_value (&trees, g_variant_new_bytestring (tree));

  return g_variant_ref_sink (g_variant_new ("(sx@a(aytt)@aay@a(ayay)@aay@a(aysu)@aay)", boot_id,
                                            self->opened,
                                            g_variant_builder_end (&roots),
                                            g_variant_builder_end (&lists.names),
                                            g_variant_builder_end (&lists.links),
                                            g_variant_builder_end (&git_dirs),
                                            g_variant_builder_end (&business),
                                            g_variant_builder_end (&trees)));
}

gboolean
_sbx_quarantine_note_write (SbxBwrapQuarantine  *self,
                            int                  sessions_fd,
                            GError             **error)
{
  sbx_autofd int dir_fd = _sbx_open_beneath (sessions_fd, self->id, O_RDONLY | O_DIRECTORY, 0,
                                             error);
  g_autoptr(GVariant) note = NULL;
  g_autoptr(GBytes) bytes = NULL;

  if (dir_fd < 0)
    return FALSE;

  note = make_note (self);
  bytes = g_variant_get_data_as_bytes (note);

  if (g_bytes_get_size (bytes) > MAX_SIZE)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE,
                   _("There are more names to protect in what the sandbox may write than can be "
                     "noted; let it write less"));
      return FALSE;
    }

  return _sbx_write_staged (dir_fd, NAME, bytes, 0600, error);
}

static void
read_names (SbxBwrapQuarantine *self,
            GVariant           *names)
{
  for (gsize i = 0; i < g_variant_n_children (names); i++)
    {
      g_autoptr(GVariant) path = g_variant_get_child_value (names, i);
      const char *text = g_variant_get_bytestring (path);
      SbxQuarantineNode *root = _sbx_quarantine_find_root (self, text);
      SbxQuarantineNode *node = root != NULL ? _sbx_quarantine_add_path (self, root, text, NULL)
                                             : NULL;

      if (node != NULL)
        node->is_protected = TRUE;
    }
}

static void
read_links (SbxBwrapQuarantine *self,
            GVariant           *links)
{
  for (gsize i = 0; i < g_variant_n_children (links); i++)
    {
      g_autoptr(GVariant) path = NULL;
      g_autoptr(GVariant) text = NULL;
      SbxQuarantineNode *root;
      SbxQuarantineNode *node;

      g_variant_get_child (links, i, "(@ay@ay)", &path, &text);
      root = _sbx_quarantine_find_root (self, g_variant_get_bytestring (path));
      node = root != NULL ? _sbx_quarantine_add_path (self, root, g_variant_get_bytestring (path),
                                                      NULL) : NULL;
      if (node != NULL && node != root)
        {
          g_free (node->link);
          node->link = g_strdup (g_variant_get_bytestring (text));
        }
    }
}

static void
read_git (SbxBwrapQuarantine *self,
          GVariant           *git_dirs,
          GVariant           *business)
{
  for (gsize i = 0; i < g_variant_n_children (git_dirs); i++)
    {
      g_autoptr(GVariant) path = g_variant_get_child_value (git_dirs, i);

      g_ptr_array_add (self->git_dirs, g_strdup (g_variant_get_bytestring (path)));
    }

  for (gsize i = 0; i < g_variant_n_children (business); i++)
    {
      SbxQuarantineBusiness *one = g_new0 (SbxQuarantineBusiness, 1);
      g_autoptr(GVariant) path = NULL;

      g_variant_get_child (business, i, "(@aysu)", &path, &one->name, &one->n_commands);
      one->git_dir = g_strdup (g_variant_get_bytestring (path));
      g_ptr_array_add (self->business, one);
    }
}

static void
read_roots (SbxBwrapQuarantine *self,
            GVariant           *roots)
{
  for (gsize i = 0; i < g_variant_n_children (roots); i++)
    {
      g_autoptr(GVariant) path = NULL;
      SbxQuarantineNode *root;
      guint64 device;
      guint64 inode;

      g_variant_get_child (roots, i, "(@aytt)", &path, &device, &inode);
      if (*g_variant_get_bytestring (path) != '/')
        continue;

      root = _sbx_quarantine_node_new (self, NULL, g_variant_get_bytestring (path));
      root->device = (dev_t) device;
      root->inode = (ino_t) inode;
      g_ptr_array_add (self->roots, root);
    }
}

SbxBwrapQuarantine *
_sbx_quarantine_note_read (int          sessions_fd,
                           const char  *data_path,
                           const char  *id,
                           GError     **error)
{
  g_autofree char *name = g_build_filename (id, NAME, NULL);
  g_autoptr(GError) reason = NULL;
  g_autoptr(GBytes) bytes = _sbx_read_beneath (sessions_fd, name, MAX_SIZE, NULL, &reason);
  g_autoptr(SbxBwrapQuarantine) self = NULL;
  g_autoptr(GVariant) raw = NULL;
  g_autoptr(GVariant) note = NULL;
  g_autoptr(GVariant) roots = NULL;
  g_autoptr(GVariant) names = NULL;
  g_autoptr(GVariant) links = NULL;
  g_autoptr(GVariant) git_dirs = NULL;
  g_autoptr(GVariant) business = NULL;
  g_autoptr(GVariant) trees = NULL;

  if (bytes == NULL)
    {
      if (!g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
        g_propagate_error (error, g_steal_pointer (&reason));
      return NULL;
    }

  /* Not trusted to be whole: it may have been cut by a crash of the machine. */
  raw = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (NOTE_TYPE), bytes, FALSE));
  note = g_variant_get_normal_form (raw);

  self = _sbx_quarantine_alloc (data_path, id);
  g_variant_get (note, "(sx@a(aytt)@aay@a(ayay)@aay@a(aysu)@aay)", &self->boot_id,
                 &self->opened, &roots, &names, &links, &git_dirs, &business, &trees);
  read_roots (self, roots);
  read_names (self, names);
  read_links (self, links);
  read_git (self, git_dirs, business);
  for (gsize i = 0; i < g_variant_n_children (trees); i++)
    {
      g_autoptr(GVariant) path = g_variant_get_child_value (trees, i);

      g_hash_table_add (self->trees, g_strdup (g_variant_get_bytestring (path)));
    }

  return g_steal_pointer (&self);
}
