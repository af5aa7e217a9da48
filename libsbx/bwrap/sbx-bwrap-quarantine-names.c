/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-quarantine-struct-private.h"

#include "core/sbx-error.h"
#include "core/sbx-text-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "spec/sbx-resolve-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <limits.h>
#include <string.h>

/*
 * The tree of the names: from each directory that can be written down to each name that is looked
 * after. Each directory on the way is opened once for all names in it.
 */

/* So many directories are open at a time. */
#define MAX_DEPTH 128

void
_sbx_quarantine_node_free (SbxQuarantineNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (node->places); i++)
    g_free (node->places[i]);

  g_clear_pointer (&node->children, g_hash_table_unref);
  g_clear_pointer (&node->folded, g_hash_table_unref);
  g_free (node->link);
  g_free (node->name);
  g_free (node);
}

SbxQuarantineNode *
_sbx_quarantine_node_new (SbxBwrapQuarantine *self,
                          SbxQuarantineNode  *parent,
                          const char         *name)
{
  SbxQuarantineNode *node = g_new0 (SbxQuarantineNode, 1);

  node->name = g_strdup (name);
  node->parent = parent;
  node->watch = -1;
  node->index = self->n_nodes++;

  if (parent == NULL)
    return node;

  if (parent->children == NULL)
    {
      parent->children = g_hash_table_new_full (g_str_hash, g_str_equal, NULL,
                                                (GDestroyNotify) _sbx_quarantine_node_free);
      parent->folded = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
    }

  g_hash_table_insert (parent->children, node->name, node);
  g_hash_table_add (parent->folded, g_ascii_strdown (name, -1));

  return node;
}

char *
_sbx_quarantine_node_dup_path (SbxQuarantineNode *node)
{
  g_autofree char *above = NULL;

  if (node->parent == NULL)
    return g_strdup (node->name);

  above = _sbx_quarantine_node_dup_path (node->parent);

  return g_build_filename (above, node->name, NULL);
}

/* A file system that takes two spellings for one may do so beyond ASCII, too. */
gboolean
_sbx_quarantine_node_mentions (SbxQuarantineNode *node,
                               const char        *name)
{
  g_autofree char *folded = NULL;

  if (node->folded == NULL)
    return FALSE;

  for (const char *c = name; *c != '\0'; c++)
    if ((*c & 0x80) != 0)
      return TRUE;

  folded = g_ascii_strdown (name, -1);

  return g_hash_table_contains (node->folded, folded);
}

int
_sbx_quarantine_root_open (SbxQuarantineNode *root)
{
  sbx_autofd int top = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  sbx_autofd int fd = -1;
  struct stat info;

  if (top < 0)
    return -1;

  fd = root->name[1] != '\0' ? _sbx_open_beneath (top, root->name + 1, O_PATH | O_DIRECTORY, 0,
                                                  NULL)
                             : g_steal_fd (&top);
  if (fd < 0 || fstat (fd, &info) != 0)
    return -1;

  if (info.st_dev != root->device || info.st_ino != root->inode)
    {
      errno = ESTALE;
      return -1;
    }

  return g_steal_fd (&fd);
}

/* The deepest of the roots that holds @path: what is mounted there cannot be renamed inside. */
SbxQuarantineNode *
_sbx_quarantine_find_root (SbxBwrapQuarantine *self,
                           const char         *path)
{
  SbxQuarantineNode *found = NULL;

  for (guint i = 0; i < self->roots->len; i++)
    {
      SbxQuarantineNode *root = g_ptr_array_index (self->roots, i);

      if (_sbx_path_is_below (path, root->name) && strcmp (path, root->name) != 0 &&
          (found == NULL || strlen (root->name) > strlen (found->name)))
        found = root;
    }

  return found;
}

/* The node of @path, of which what is missing is made; %NULL with an error. */
SbxQuarantineNode *
_sbx_quarantine_add_path (SbxBwrapQuarantine  *self,
                          SbxQuarantineNode   *root,
                          const char          *path,
                          GError             **error)
{
  g_auto(GStrv) parts = g_strsplit (path + strlen (root->name), "/", -1);
  SbxQuarantineNode *node = root;
  guint depth = 0;

  for (gsize i = 0; parts[i] != NULL; i++)
    {
      SbxQuarantineNode *child;

      if (*parts[i] == '\0')
        continue;

      if (depth++ >= MAX_DEPTH || strlen (parts[i]) > NAME_MAX || strcmp (parts[i], ".") == 0 ||
          strcmp (parts[i], "..") == 0)
        {
          g_autofree char *quoted = _sbx_text_quote (path);

          g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
                       _("%s cannot be kept from being made in the sandbox, since it lies too deep "
                         "in what may be written; let it write less"), quoted);
          return NULL;
        }

      child = node->children != NULL ? g_hash_table_lookup (node->children, parts[i]) : NULL;
      node = child != NULL ? child : _sbx_quarantine_node_new (self, node, parts[i]);
    }

  return node;
}

/* What the link @name of @dir_fd says; %NULL: it is none, or one that nobody can follow. */
char *
_sbx_quarantine_read_link (int         dir_fd,
                           const char *name)
{
  char text[PATH_MAX + 1];
  const gssize length = readlinkat (dir_fd, name, text, sizeof text);

  return length >= 0 && length < (gssize) sizeof text ? g_strndup (text, (gsize) length) : NULL;
}

static gboolean
refuse_present (SbxQuarantineNode  *node,
                GError            **error)
{
  g_autofree char *path = _sbx_quarantine_node_dup_path (node);
  g_autofree char *quoted = _sbx_text_quote (path);

  g_set_error (error, SBX_ERROR, SBX_ERROR_BUSY,
               _("%s was made while the sandbox was being opened, which has to protect it; try "
                 "again"), quoted);
  return FALSE;
}

/* Finds out what is there of what is below @node, which @dir_fd has open. */
static gboolean
look (SbxQuarantineNode  *node,
      int                 dir_fd,
      GError            **error)
{
  GHashTableIter iter;
  gpointer value;

  if (node->children == NULL)
    return TRUE;

  g_hash_table_iter_init (&iter, node->children);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      SbxQuarantineNode *child = value;
      sbx_autofd int fd = -1;
      struct stat info;

      if (fstatat (dir_fd, child->name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        continue;

      /* Where it leads is looked after as what it is. */
      if (S_ISLNK (info.st_mode))
        {
          child->link = _sbx_quarantine_read_link (dir_fd, child->name);
          if (child->link == NULL)
            return refuse_present (child, error);
          continue;
        }

      if (child->is_protected)
        return refuse_present (child, error);

      if (!S_ISDIR (info.st_mode))
        continue;

      child->mode = info.st_mode & 07777;
      fd = openat (dir_fd, child->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (fd >= 0 && !look (child, fd, error))
        return FALSE;
    }

  return TRUE;
}

/* The first link on the way to @path, which is there, or %NULL. */
static char *
find_link (SbxQuarantineNode *root,
           const char        *path)
{
  sbx_autofd int held = _sbx_quarantine_root_open (root);
  g_autofree char *way = g_strdup (path);
  char *name = way + strlen (root->name);

  while (held >= 0)
    {
      char *rest;
      struct stat info;
      int next;

      name += strspn (name, "/");
      rest = strchr (name, '/');
      if (rest != NULL)
        *rest = '\0';

      if (fstatat (held, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return NULL;
      if (S_ISLNK (info.st_mode))
        return g_steal_pointer (&way);
      if (rest == NULL)
        return NULL;

      next = openat (held, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      _sbx_clear_fd (&held);
      held = next;
      *rest = '/';
      name = rest;
    }

  return NULL;
}

static gboolean
add_names (SbxBwrapQuarantine             *self,
           const SbxBwrapQuarantineInput  *input,
           GError                        **error)
{
  for (guint i = 0; input->names != NULL && i < input->names->len; i++)
    {
      const char *path = g_ptr_array_index (input->names, i);
      SbxQuarantineNode *root = _sbx_quarantine_find_root (self, path);
      SbxQuarantineNode *node = root != NULL ? _sbx_quarantine_add_path (self, root, path, error)
                                             : NULL;

      if (root == NULL)
        continue;
      if (node == NULL)
        return FALSE;

      node->is_protected = TRUE;
    }

  for (guint i = 0; input->present != NULL && i < input->present->len; i++)
    {
      const char *path = g_ptr_array_index (input->present, i);
      SbxQuarantineNode *root = _sbx_quarantine_find_root (self, path);
      g_autofree char *link = root != NULL ? find_link (root, path) : NULL;

      if (link != NULL && _sbx_quarantine_add_path (self, root, link, error) == NULL)
        return FALSE;
    }

  return TRUE;
}

static SbxQuarantineNode *
root_new (SbxBwrapQuarantine            *self,
          const SbxBwrapQuarantineRoot  *root,
          GError                       **error)
{
  SbxQuarantineNode *node = _sbx_quarantine_node_new (self, NULL, root->path);
  struct stat info;
  sbx_autofd int fd = -1;

  node->device = root->device;
  node->inode = root->inode;

  fd = _sbx_quarantine_root_open (node);
  if (fd < 0 || fstat (fd, &info) != 0)
    {
      const int errsv = errno;
      g_autofree char *quoted = _sbx_text_quote (root->path);

      g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
                   _("%s, which the sandbox is to write, cannot be watched: %s"), quoted,
                   errsv == ESTALE ? _("something else is in its place") : g_strerror (errsv));
      _sbx_quarantine_node_free (node);
      return NULL;
    }

  node->mode = info.st_mode & 07777;

  return node;
}

/* What nothing has to be looked after in is let go of. */
static void
drop_bare_roots (SbxBwrapQuarantine *self)
{
  for (guint i = self->roots->len; i > 0; i--)
    {
      SbxQuarantineNode *root = g_ptr_array_index (self->roots, i - 1);

      if (root->children == NULL)
        g_ptr_array_remove_index (self->roots, i - 1);
    }
}

gboolean
_sbx_quarantine_build (SbxBwrapQuarantine             *self,
                       const SbxBwrapQuarantineInput  *input,
                       GError                        **error)
{
  for (guint i = 0; i < input->roots->len; i++)
    {
      SbxQuarantineNode *root = root_new (self, g_ptr_array_index (input->roots, i), error);

      if (root == NULL)
        return FALSE;

      g_ptr_array_add (self->roots, root);
    }

  if (!add_names (self, input, error))
    return FALSE;

  drop_bare_roots (self);

  for (guint i = 0; i < self->roots->len; i++)
    {
      SbxQuarantineNode *root = g_ptr_array_index (self->roots, i);
      sbx_autofd int fd = _sbx_quarantine_root_open (root);

      if (fd >= 0 && !look (root, fd, error))
        return FALSE;
    }

  return TRUE;
}
