/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-resolve-path-private.h"

#include "core/sbx-domain-private.h"
#include "core/sbx-text-private.h"
#include "spec/sbx-roots-guard-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* What was asked for, in the order in which it is looked at. */

/* Of each list. Each path costs a mount, and no machine has so many to give. */
#define MAX_ASKED 4096

gboolean
_sbx_entries_is_writable (GPtrArray  *entries,
                          const char *path)
{
  const SbxReachEntry *best = NULL;

  for (guint i = 0; i < entries->len; i++)
    {
      const SbxReachEntry *entry = g_ptr_array_index (entries, i);

      /* Of a path that is in both lists the later one, of write, counts. */
      if ((entry->kind == SBX_REACH_READ || entry->kind == SBX_REACH_WRITE) &&
          _sbx_path_is_below (path, entry->path) &&
          (best == NULL || strlen (entry->path) >= strlen (best->path)))
        best = entry;
    }

  return best != NULL && best->kind == SBX_REACH_WRITE;
}

static gboolean
check_length (const char          *field,
              const char * const  *asked,
              GError             **error)
{
  guint n = 0;

  while (asked[n] != NULL)
    if (n++ == MAX_ASKED)
      {
        g_set_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE,
                     _("%s: has more than %d entries; name a directory above them"), field,
                     MAX_ASKED);
        return FALSE;
      }

  return TRUE;
}

gboolean
_sbx_resolve_check_lengths (SbxReach  *asked,
                            GError   **error)
{
  return check_length ("write", sbx_reach_get_write (asked), error) &&
         check_length ("read", sbx_reach_get_read (asked), error) &&
         check_length ("sockets", sbx_reach_get_sockets (asked), error) &&
         check_length ("network", sbx_reach_get_network (asked), error);
}

/* Whether @seen has its path already; adds it. */
static gboolean
is_again (GHashTable          *seen,
          const SbxReachEntry *entry)
{
  return !g_hash_table_add (seen, entry->path);
}

/* The real paths of one list, each once. What @other has is left out. */
static GPtrArray *
resolve_list (const SbxRoots      *roots,
              SbxReachKind         kind,
              const char * const  *asked,
              const char          *base,
              GPtrArray           *other,
              GCancellable        *cancellable,
              GError             **error)
{
  g_autoptr(GPtrArray) entries = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr(GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; other != NULL && i < other->len; i++)
    is_again (seen, g_ptr_array_index (other, i));

  for (guint i = 0; asked[i] != NULL; i++)
    {
      SbxReachEntry *entry;

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return NULL;

      entry = _sbx_resolve_path (roots, kind, i, asked[i], base, error);
      if (entry == NULL)
        return NULL;

      if (is_again (seen, entry))
        g_object_unref (entry);
      else
        g_ptr_array_add (entries, entry);
    }

  return g_steal_pointer (&entries);
}

static void
append_all (GPtrArray *entries,
            GPtrArray *more)
{
  for (guint i = 0; i < more->len; i++)
    g_ptr_array_add (entries, g_object_ref (g_ptr_array_index (more, i)));
}

/* What is to be written is looked at before what is to be read, but listed after it. */
static gboolean
add_paths (const SbxRoots  *roots,
           GPtrArray       *entries,
           SbxReach        *asked,
           GCancellable    *cancellable,
           GError         **error)
{
  g_autoptr(GPtrArray) read = NULL;
  g_autoptr(GPtrArray) write = NULL;
  g_autoptr(GPtrArray) sockets = NULL;
  SbxReachEntry *cwd;

  cwd = _sbx_resolve_path (roots, SBX_REACH_CWD, 0, sbx_reach_get_cwd (asked), NULL, error);
  if (cwd == NULL)
    return FALSE;
  g_ptr_array_add (entries, cwd);

  write = resolve_list (roots, SBX_REACH_WRITE, sbx_reach_get_write (asked), cwd->path,
                        NULL, cancellable, error);
  if (write == NULL)
    return FALSE;

  read = resolve_list (roots, SBX_REACH_READ, sbx_reach_get_read (asked), cwd->path, write,
                       cancellable, error);
  if (read == NULL)
    return FALSE;

  sockets = resolve_list (roots, SBX_REACH_SOCKET, sbx_reach_get_sockets (asked),
                          cwd->path, NULL, cancellable, error);
  if (sockets == NULL)
    return FALSE;

  append_all (entries, read);
  append_all (entries, write);
  append_all (entries, sockets);
  cwd->writable = _sbx_entries_is_writable (entries, cwd->path);

  return TRUE;
}

static gboolean
add_domains (GPtrArray  *entries,
             SbxReach   *asked,
             GError    **error)
{
  const char * const *network = sbx_reach_get_network (asked);
  g_autoptr(GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; network[i] != NULL; i++)
    {
      g_autofree char *domain = g_ascii_strdown (network[i], -1);
      g_autofree char *escaped = _sbx_text_escape (network[i]);
      g_autofree char *source = g_strdup_printf ("network[%u]: \"%s\"", i, escaped);
      SbxReachEntry *entry;

      if (!_sbx_domain_is_valid (domain))
        {
          g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                       _("network: “%s” is not a sandbox domain; write a host name such as "
                         "“api.example.org”, or “*.example.org” for all below it, without a "
                         "scheme, port or path"),
                       escaped);
          return FALSE;
        }

      if (g_hash_table_contains (seen, domain))
        continue;

      entry = _sbx_reach_entry_new (SBX_REACH_DOMAIN, NULL, source);
      entry->domain = g_steal_pointer (&domain);
      g_hash_table_add (seen, entry->domain);
      g_ptr_array_add (entries, entry);
    }

  return TRUE;
}

static gboolean
is_held (const SbxReachEntry *entry,
         const char          *path,
         GArray              *upwards)
{
  if (entry->kind != SBX_REACH_CWD && entry->kind != SBX_REACH_READ &&
      entry->kind != SBX_REACH_WRITE && entry->kind != SBX_REACH_GIT_DIR)
    return FALSE;

  if (_sbx_path_is_below (path, entry->path))
    return TRUE;

  for (guint i = 0; i < upwards->len; i++)
    {
      const SbxFileId *id = &g_array_index (upwards, SbxFileId, i);

      if (id->device == entry->device && id->inode == entry->inode)
        return TRUE;
    }

  return FALSE;
}

/* The run root, which may lie in a project that is worked on. */
static void
add_hidden (const SbxRoots *roots,
            GPtrArray      *entries)
{
  g_autoptr(SbxReachEntry) hidden = NULL;
  g_autoptr(GHashTable) looked = _sbx_looked_new ();
  g_autoptr(GArray) upwards = NULL;
  gboolean held = FALSE;
  struct stat st;

  if (roots->run_root == NULL)
    return;

  upwards = _sbx_file_ids_upwards (looked, roots->run_root);
  for (guint i = 0; i < entries->len && !held; i++)
    held = is_held (g_ptr_array_index (entries, i), roots->run_root, upwards);

  if (!held)
    return;

  hidden = _sbx_reach_entry_new (SBX_REACH_HIDDEN, roots->run_root, _("the run root"));
  if (lstat (roots->run_root, &st) == 0)
    {
      hidden->device = st.st_dev;
      hidden->inode = st.st_ino;
      hidden->mode = st.st_mode;
    }

  g_ptr_array_add (entries, g_steal_pointer (&hidden));
}

/* @asked with what it came to instead of what was asked for. */
static SbxReach *
make_reach (SbxReach  *asked,
            GPtrArray *entries)
{
  SbxReach *reach = sbx_reach_copy (asked);
  g_autoptr(GListStore) store = g_list_store_new (SBX_TYPE_REACH_ENTRY);

  _sbx_reach_list_clear (&reach->read);
  _sbx_reach_list_clear (&reach->write);
  _sbx_reach_list_clear (&reach->network);
  _sbx_reach_list_clear (&reach->sockets);

  for (guint i = 0; i < entries->len; i++)
    {
      const SbxReachEntry *entry = g_ptr_array_index (entries, i);
      SbxReachList *list = entry->kind == SBX_REACH_READ ? &reach->read
                           : entry->kind == SBX_REACH_WRITE ? &reach->write
                           : entry->kind == SBX_REACH_SOCKET ? &reach->sockets
                           : entry->kind == SBX_REACH_DOMAIN ? &reach->network : NULL;

      if (entry->kind == SBX_REACH_CWD)
        {
          g_free (reach->cwd);
          reach->cwd = g_strdup (entry->path);
        }
      else if (list != NULL)
        _sbx_reach_list_add (list, entry->path != NULL ? entry->path : entry->domain);
    }

  g_list_store_splice (store, 0, 0, entries->pdata, entries->len);
  _sbx_reach_set_entries (reach, store);

  return reach;
}

SbxReach *
_sbx_resolve (const SbxRoots  *roots,
              SbxReach        *asked,
              GCancellable    *cancellable,
              GError         **error)
{
  g_autoptr(GPtrArray) entries = g_ptr_array_new_with_free_func (g_object_unref);
  g_auto(GStrv) allowed_sockets = _sbx_resolve_allowed_sockets (roots, asked);
  const SbxGitMode git_mode = sbx_reach_get_git_mode (asked);
  SbxRoots effective = *roots;

  effective.allowed_sockets = allowed_sockets;

  if (!_sbx_resolve_check_lengths (asked, error) ||
      g_cancellable_set_error_if_cancelled (cancellable, error) ||
      !add_paths (&effective, entries, asked, cancellable, error) ||
      !add_domains (entries, asked, error) ||
      !_sbx_resolve_git (roots, entries, git_mode, cancellable, error))
    return NULL;

  add_hidden (roots, entries);

  if (!_sbx_resolve_protected (entries, git_mode, cancellable, error))
    return NULL;

  return make_reach (asked, entries);
}
