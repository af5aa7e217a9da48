/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-resolve-protected-private.h"

#include "core/sbx-error.h"
#include "core/sbx-protection-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-path-private.h"
#include "spec/sbx-git-config-private.h"

#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>

/*
 * What a configuration of git's names: other configurations, and what is run by no more than git
 * status, diff, checkout, merge, commit, fetch or push. Conditions of an include are not looked at:
 * a sandbox may be able to meet them.
 */

#define MAX_FILES 256
#define MAX_DEPTH 10   /* as git has it */
#define MAX_WORDS 64

/* Commands, of whose words those that are files are protected. */
static const struct
{
  const char *section;
  const char *key;
} commands[] = {
  { "core", "askpass" },
  { "core", "editor" },
  { "core", "fsmonitor" },
  { "core", "pager" },
  { "core", "sshcommand" },
  { "credential", "helper" },
  { "diff", "external" },
  { "diff", "command" },
  { "diff", "textconv" },
  { "filter", "clean" },
  { "filter", "smudge" },
  { "filter", "process" },
  { "gpg", "defaultkeycommand" },
  { "gpg", "program" },
  { "interactive", "difffilter" },
  { "merge", "driver" },
  { "sequence", "editor" },
  { "trailer", "cmd" },
  { "trailer", "command" },
};

typedef struct
{
  SbxProtect *protect;
  GPtrArray  *roots;
  GHashTable *files;      /* of owned paths, that were read */
  GError     *error;
} Search;

typedef struct
{
  Search     *search;
  const char *path;       /* of the file */
  GPtrArray  *includes;   /* of owned paths */
} File;

static gboolean
add_target (File       *self,
            const char *key,
            const char *path)
{
  Search *search = self->search;
  g_autofree char *shown = _sbx_path_show (self->path);
  g_autofree char *source = g_strdup_printf (_("%s in “%s”"), key, shown);

  return _sbx_protect_add_writable (search->protect, path, source, &search->error);
}

/* @value is relative to each working tree. */
static gboolean
add_in_roots (File       *self,
              const char *key,
              const char *value,
              gboolean    only_files)
{
  guint i;

  for (i = 0; i < self->search->roots->len; i++)
    {
      g_autofree char *path = _sbx_git_config_path (value,
                                                    g_ptr_array_index (self->search->roots, i));

      if (path == NULL || (only_files && !g_file_test (path, G_FILE_TEST_IS_REGULAR)))
        continue;

      if (!add_target (self, key, path))
        return FALSE;
    }

  return TRUE;
}

static gboolean
add_words (File       *self,
           const char *key,
           const char *value)
{
  const char *command = value + (*value == '!' ? 1 : 0);
  g_auto(GStrv) words = g_strsplit_set (command, " \t\n;&|()<>'\"", MAX_WORDS);
  guint i;

  for (i = 0; words[i] != NULL; i++)
    if (!add_in_roots (self, key, words[i], TRUE))
      return FALSE;

  return TRUE;
}

static gboolean
add_include (File       *self,
             const char *section,
             const char *value)
{
  g_autofree char *directory = g_path_get_dirname (self->path);
  g_autofree char *key = g_strconcat (section, ".path", NULL);
  char *path = _sbx_git_config_path (value, directory);

  if (path == NULL)
    return TRUE;

  g_ptr_array_add (self->includes, path);

  return !SBX_PROTECTS (T23) || add_target (self, key, path);
}

static gboolean
take (const char *section,
      const char *subsection G_GNUC_UNUSED,
      const char *key,
      const char *value,
      gpointer    data)
{
  File *self = data;
  gsize i;

  if (value == NULL)
    return TRUE;

  if (strcmp (key, "path") == 0 &&
      (strcmp (section, "include") == 0 || strcmp (section, "includeif") == 0))
    return add_include (self, section, value);

  if (strcmp (section, "core") == 0 && strcmp (key, "hookspath") == 0)
    return add_in_roots (self, "core.hooksPath", value, FALSE);

  if (strcmp (section, "core") == 0 && strcmp (key, "attributesfile") == 0)
    return add_in_roots (self, "core.attributesFile", value, FALSE);

  for (i = 0; i < G_N_ELEMENTS (commands); i++)
    if (strcmp (section, commands[i].section) == 0 && strcmp (key, commands[i].key) == 0)
      {
        g_autofree char *name = g_strconcat (section, ".", key, NULL);

        return add_words (self, name, value);
      }

  return TRUE;
}

static gboolean
set_unreadable (Search       *self,
                const char   *path,
                const GError *cause)
{
  g_autofree char *shown = _sbx_path_show (path);

  g_set_error (&self->error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
               _("What git would run cannot be protected, since its configuration “%s” cannot be "
                 "read; put a file of less than 1 MiB in its place: %s"), shown, cause->message);
  return FALSE;
}

/* Whatever is not there, or not for us to read, is not read by git either. */
static GBytes *
read_file (Search     *self,
           int         dir_fd,
           const char *name,
           const char *path)
{
  g_autoptr(GError) local_error = NULL;
  GBytes *bytes = _sbx_git_config_read (dir_fd, name, self->protect->cancellable, &local_error);

  if (bytes != NULL)
    return bytes;

  if (g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED))
    return g_bytes_new_static ("", 0);

  if (g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    self->error = g_steal_pointer (&local_error);
  else
    set_unreadable (self, path, local_error);

  return NULL;
}

static gboolean read_included (Search     *self,
                               const char *path,
                               guint       depth);

static gboolean
search_file (Search     *self,
             int         dir_fd,
             const char *name,
             const char *path,
             guint       depth)
{
  g_autoptr(GBytes) bytes = read_file (self, dir_fd, name, path);
  g_autoptr(GPtrArray) includes = g_ptr_array_new_with_free_func (g_free);
  File file = { self, path, includes };
  const char *data;
  gsize size;
  guint i;

  if (bytes == NULL)
    return FALSE;

  data = g_bytes_get_data (bytes, &size);
  _sbx_git_config_parse (data, size, take, &file);
  if (self->error != NULL)
    return FALSE;

  for (i = 0; i < includes->len && depth < MAX_DEPTH; i++)
    if (!read_included (self, g_ptr_array_index (includes, i), depth + 1))
      return FALSE;

  return TRUE;
}

/* The operator's own files may be links. */
static gboolean
read_included (Search     *self,
               const char *path,
               guint       depth)
{
  g_autofree char *real_path = NULL;
  g_autofree char *directory = NULL;
  g_autofree char *name = NULL;
  g_autofree char *real_directory = NULL;
  sbx_autofd int fd = _sbx_open_real (path, O_PATH, &real_path, NULL);
  sbx_autofd int dir_fd = -1;

  if (fd < 0 || !g_hash_table_add (self->files, g_strdup (real_path)))
    return TRUE;

  if (g_hash_table_size (self->files) > MAX_FILES)
    {
      g_autofree char *shown = _sbx_path_show (path);

      g_set_error (&self->error, SBX_ERROR, SBX_ERROR_TOO_LARGE,
                   _("The configuration of git includes more than %d files, “%s” among them"),
                   MAX_FILES, shown);
      return FALSE;
    }

  directory = g_path_get_dirname (real_path);
  name = g_path_get_basename (real_path);
  dir_fd = _sbx_open_real (directory, O_PATH | O_DIRECTORY, &real_directory, NULL);

  /* Git has a relative path in it start where it found the file. */
  return dir_fd < 0 || search_file (self, dir_fd, name, path, depth);
}

static gboolean
end_search (Search  *self,
            GError **error)
{
  g_hash_table_unref (self->files);

  if (self->error == NULL)
    return TRUE;

  g_propagate_error (error, g_steal_pointer (&self->error));
  return FALSE;
}

gboolean
_sbx_protect_add_config (SbxProtect  *self,
                         int          dir_fd,
                         const char  *directory,
                         const char  *name,
                         GPtrArray   *roots,
                         GError     **error)
{
  g_autofree char *path = g_build_filename (directory, name, NULL);
  Search search = { self, roots, g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
                    NULL };

  self->lenient++;
  search_file (&search, dir_fd, name, path, 0);
  self->lenient--;

  return end_search (&search, error);
}

/* One that cannot be read is the operator's to mend, who has no git without it. */
gboolean
_sbx_protect_add_global (SbxProtect  *self,
                         GError     **error)
{
  const char *paths[] = { "/etc/gitconfig", NULL, NULL };
  g_autofree char *xdg = g_build_filename (g_get_user_config_dir (), "git", "config", NULL);
  g_autofree char *home = g_build_filename (g_get_home_dir (), ".gitconfig", NULL);
  g_autoptr(GPtrArray) roots = g_ptr_array_new ();
  Search search = { self, roots, g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
                    NULL };
  GHashTableIter iter;
  gpointer root;
  guint i;

  paths[1] = xdg;
  paths[2] = home;

  g_hash_table_iter_init (&iter, self->roots);
  while (g_hash_table_iter_next (&iter, &root, NULL))
    g_ptr_array_add (roots, root);

  self->lenient++;
  for (i = 0; i < G_N_ELEMENTS (paths) && roots->len > 0; i++)
    if (!read_included (&search, paths[i], 0))
      {
        if (!g_error_matches (search.error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE))
          break;

        g_clear_error (&search.error);
      }
  self->lenient--;

  return end_search (&search, error);
}
