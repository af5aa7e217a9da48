/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-resolve-protected-private.h"
#include "spec/sbx-resolve-private.h"

#include "core/sbx-error.h"
#include "core/sbx-protection-private.h"
#include "files/sbx-path-private.h"

#include <glib/gi18n-lib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Paths within what may be written that must stay as they are, since programs outside run or follow
 * what is there.
 */

#define MAX_PROTECTED 65536

/*
 * Files by which a shell, git, an editor or a coding agent outside runs a command when it is
 * started in the directory, or that are read where a dotfile is a link to them. The last three are,
 * to their agents, what .mcp.json is to another. ".envrc" is not here, since direnv asks about each
 * change; ".husky" neither, since people edit it, and hooks are run from what core.hooksPath says.
 */
static const char * const names[] = {
  ".gitconfig",
  ".gitmodules",
  ".bashrc",
  ".bash_profile",
  ".zshrc",
  ".zprofile",
  ".profile",
  ".ripgreprc",
  ".mcp.json",
  ".vscode",
  ".idea",
  ".claude/commands",
  ".claude/agents",
  ".claude/settings.json",
  ".claude/settings.local.json",
  ".codex/config.toml",
  ".cursor/mcp.json",
  ".gemini/settings.json",
};

/* Where @path really is; the end of it that is not there stays as it is written. Of a link that
 * leads nowhere yet, something else than @path. */
static const char *
get_real (SbxProtect *self,
          const char *path)
{
  const char *known = g_hash_table_lookup (self->real_dirs, path);
  g_autofree char *parent = NULL;
  g_autofree char *name = NULL;
  char *result;
  struct stat st;

  if (known != NULL)
    return known;

  if (strcmp (path, "/") == 0)
    return "/";

  parent = g_path_get_dirname (path);
  name = g_path_get_basename (path);
  result = g_build_filename (get_real (self, parent), name, NULL);

  if (lstat (result, &st) == 0 && S_ISLNK (st.st_mode))
    {
      char *real_path = realpath (result, NULL);
      g_autofree char *target = g_file_read_link (result, NULL);

      if (real_path != NULL)
        {
          g_free (result);
          result = g_strdup (real_path);
          free (real_path);
        }
      else if (target != NULL)
        {
          g_free (result);
          result = g_canonicalize_filename (target, get_real (self, parent));
        }
    }

  g_hash_table_insert (self->real_dirs, g_strdup (path), result);
  return result;
}

gboolean
_sbx_protect_is_writable (SbxProtect *self,
                          const char *path)
{
  g_autofree char *rest = NULL;
  char *slash;

  if (_sbx_entries_is_writable (self->asked, path))
    return TRUE;

  rest = g_strdup (path);
  while ((slash = strrchr (rest, '/')) != NULL && slash != rest)
    {
      *slash = '\0';
      if (g_hash_table_contains (self->writable, rest))
        return TRUE;
    }

  return FALSE;
}

static gboolean
set_too_many (const char  *path,
              GError     **error)
{
  g_autofree char *shown = _sbx_path_show (path);

  g_set_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE,
               _("More than %d paths would have to be protected, “%s” among them; ask to write "
                 "narrower paths"), MAX_PROTECTED, shown);
  return FALSE;
}

/*
 * What is mounted on a file is mounted on one of its names. Package managers link what they install
 * to a store of theirs, and configurations name such files: they are let be.
 */
gboolean
_sbx_protect_check_links (SbxProtect         *self,
                          const char         *path,
                          const struct stat  *st,
                          GError            **error)
{
  g_autofree char *shown = NULL;

  if (!S_ISREG (st->st_mode) || st->st_nlink < 2 || self->lenient > 0 || !SBX_PROTECTS (T28))
    return TRUE;

  shown = _sbx_path_show (path);
  g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
               _("“%s”, which programs outside run or follow, is also linked under another name, "
                 "by which it could be changed; look at what it says, and give it an inode of its "
                 "own: cp -p FILE FILE.new && mv FILE.new FILE"), shown);
  return FALSE;
}

gboolean
_sbx_protect_insert (SbxProtect     *self,
                     const char     *path,
                     const char     *source,
                     SbxReachEntry **added,
                     GError        **error)
{
  SbxReachEntry *entry;
  struct stat st;
  const gboolean is_there = lstat (path, &st) == 0;

  *added = NULL;
  if (is_there && !_sbx_protect_check_links (self, path, &st, error))
    return FALSE;

  if (g_hash_table_contains (self->seen, path))
    return TRUE;

  if (self->added->len >= MAX_PROTECTED)
    return set_too_many (path, error);

  if (g_cancellable_set_error_if_cancelled (self->cancellable, error))
    return FALSE;

  entry = _sbx_reach_entry_new (SBX_REACH_PROTECTED, path, source);
  g_ptr_array_add (self->added, entry);
  g_hash_table_add (self->seen, entry->path);

  /* A link counts as what it is: it is that which could be replaced. */
  if (is_there)
    {
      entry->device = st.st_dev;
      entry->inode = st.st_ino;
      entry->mode = st.st_mode;
    }

  *added = entry;
  return TRUE;
}

gboolean
_sbx_protect_add (SbxProtect  *self,
                  const char  *path,
                  const char  *source,
                  GError     **error)
{
  g_autofree char *parent = g_path_get_dirname (path);
  SbxReachEntry *entry;
  struct stat st;

  /* What a link on the way leads to is protected where it is, and the link itself. The name as it
   * is written counts if nothing is there: the link may be replaced by a directory. */
  if (strcmp (get_real (self, parent), parent) != 0)
    return (lstat (path, &st) == 0 || _sbx_protect_insert (self, path, source, &entry, error)) &&
           _sbx_protect_follow (self, path, source, error);

  if (!_sbx_protect_insert (self, path, source, &entry, error))
    return FALSE;

  /* Of one that a configuration named before, the files are looked at now. */
  if (entry == NULL)
    return self->lenient > 0 || !g_hash_table_remove (self->let_be, path) ||
           _sbx_protect_add_links (self, path, error);

  if (S_ISDIR (entry->mode) && self->lenient > 0)
    g_hash_table_add (self->let_be, entry->path);

  if (S_ISLNK (entry->mode))
    return _sbx_protect_follow (self, path, source, error);

  return !S_ISDIR (entry->mode) || _sbx_protect_add_links (self, path, error);
}

gboolean
_sbx_protect_add_writable (SbxProtect  *self,
                           const char  *path,
                           const char  *source,
                           GError     **error)
{
  return _sbx_protect_is_writable (self, path)
           ? _sbx_protect_add (self, path, source, error)
           : _sbx_protect_follow (self, path, source, error);
}

gboolean
_sbx_protect_add_names (SbxProtect  *self,
                        const char  *directory,
                        GError     **error)
{
  g_autofree char *shown = NULL;
  g_autofree char *source = NULL;
  gsize i;

  if (!g_hash_table_add (self->directories, g_strdup (directory)))
    return TRUE;

  shown = _sbx_path_show (directory);
  source = g_strdup_printf (_("what programs outside run or follow in “%s”"), shown);

  for (i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (directory, names[i], NULL);

      if (_sbx_protect_is_writable (self, path) &&
          !_sbx_protect_add (self, path, source, error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
add_all (SbxProtect  *self,
         GError     **error)
{
  guint i;

  for (i = 0; i < self->asked->len; i++)
    {
      SbxReachEntry *entry = g_ptr_array_index (self->asked, i);

      if (entry->kind == SBX_REACH_WRITE && S_ISDIR (entry->mode) &&
          !_sbx_protect_add_names (self, entry->path, error))
        return FALSE;
    }

  return _sbx_protect_add_git (self, error);
}

static void
sort_entries (SbxProtect *self)
{
  guint i;

  for (i = 0; i < self->entries->len; i++)
    {
      SbxReachEntry *entry = g_ptr_array_index (self->entries, i);

      if (entry->kind == SBX_REACH_READ || entry->kind == SBX_REACH_WRITE)
        g_ptr_array_add (self->asked, entry);
      else if (entry->kind == SBX_REACH_GIT_DIR && entry->writable)
        g_hash_table_insert (self->writable, entry->path, entry);
    }
}

static void
protect_clear (SbxProtect *self)
{
  g_ptr_array_unref (self->asked);
  g_ptr_array_unref (self->added);
  g_hash_table_unref (self->seen);
  g_hash_table_unref (self->let_be);
  g_hash_table_unref (self->real_dirs);
  g_hash_table_unref (self->writable);
  g_hash_table_unref (self->directories);
  g_hash_table_unref (self->roots);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxProtect, protect_clear)

static GHashTable *
new_set (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
}

gboolean
_sbx_resolve_protected (GPtrArray     *entries,
                        SbxGitMode     git_mode,
                        GCancellable  *cancellable,
                        GError       **error)
{
  g_auto(SbxProtect) self = {
    .entries = entries,
    .asked = g_ptr_array_new (),
    .git_mode = git_mode,
    .cancellable = cancellable,
    .added = g_ptr_array_new_with_free_func (g_object_unref),
    .seen = g_hash_table_new (g_str_hash, g_str_equal),
    .let_be = g_hash_table_new (g_str_hash, g_str_equal),
    .real_dirs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
    .writable = g_hash_table_new (g_str_hash, g_str_equal),
    .directories = new_set (),
    .roots = new_set (),
  };
  guint i;

  sort_entries (&self);

  if (!add_all (&self, error))
    return FALSE;

  for (i = 0; i < self.added->len; i++)
    g_ptr_array_add (entries, g_object_ref (g_ptr_array_index (self.added, i)));

  return TRUE;
}
