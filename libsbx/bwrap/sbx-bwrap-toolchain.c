/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-toolchain-private.h"
#include "core/sbx-error.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"

#include <dirent.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Tools that live below the home directory. A directory of programs alone is not enough, since
 * their libraries lie beside it; everything above would hand out tokens. So each program counts
 * with the tree that it was installed in.
 */

#define MAX_PROGRAMS 4096
#define MAX_TREES 64
#define SYSTEM_PATH "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

/* What must not come along, relative to a tree. */
static const char * const secret_names[] = {
  "credentials", "credentials.toml", ".credentials.json", ".npmrc", ".netrc", ".pypirc", ".env",
  ".git-credentials", "auth.json",
};

typedef struct
{
  char         *home;          /* real */
  GPtrArray    *trees;
  GPtrArray    *directories;
  GPtrArray    *secrets;
  GCancellable *cancellable;
} Search;

static gboolean
is_below (const char *path,
          const char *ancestor)
{
  const gsize length = strlen (ancestor);

  return strncmp (path, ancestor, length) == 0 && path[length] == '/';
}

static char *
resolve (const char *path)
{
  char *real_path = NULL;
  sbx_autofd int fd = _sbx_open_real (path, O_PATH, &real_path, NULL);

  return fd >= 0 ? real_path : NULL;
}

static gboolean
has_entry (const char *directory,
           const char *name)
{
  g_autofree char *path = g_build_filename (directory, name, NULL);

  return access (path, F_OK) == 0;
}

static gboolean
is_one_of (Search             *self,
           const char         *path,
           const char * const *list)
{
  for (; *list != NULL; list++)
    if (strcmp (path + strlen (self->home) + 1, *list) == 0)
      return TRUE;

  return FALSE;
}

/* Below home, and no place where people, or whatever they run, keep other things as well. */
static gboolean
is_acceptable (Search     *self,
               const char *directory)
{
  static const char * const shared[] = {
    ".aws", ".cache", ".config", ".docker", ".gnupg", ".kube", ".local", ".local/share",
    ".local/state", ".ssh", "snap", NULL,
  };

  return is_below (directory, self->home) && !is_one_of (self, directory, shared);
}

/* These hold programs of many trees, and are bound, but are no tree. */
static gboolean
is_collection (Search     *self,
               const char *directory)
{
  static const char * const collections[] = { "bin", ".local/bin", NULL };

  return is_one_of (self, directory, collections);
}

/* The tree that holds a package of node: up to the last node_modules and what follows it. */
static char *
find_package (const char *program)
{
  const char *marker = g_strrstr (program, "/node_modules/");
  const char *end;

  if (marker == NULL)
    return NULL;

  end = strchr (marker + strlen ("/node_modules/"), '/');
  if (end != NULL && marker[strlen ("/node_modules/")] == '@')
    end = strchr (end + 1, '/');

  return end != NULL ? g_strndup (program, end - program) : NULL;
}

/* @program is a real path. */
static char *
find_tree (Search     *self,
           const char *program)
{
  g_autofree char *package = find_package (program);
  g_autofree char *directory = g_path_get_dirname (program);
  g_autofree char *name = g_path_get_basename (directory);
  g_autofree char *parent = g_path_get_dirname (directory);

  if (package != NULL && is_acceptable (self, package))
    return g_steal_pointer (&package);

  if ((strcmp (name, "bin") == 0 || strcmp (name, "sbin") == 0) && is_acceptable (self, parent) &&
      !is_collection (self, parent) &&
      !has_entry (parent, ".git") &&
      (has_entry (parent, "lib") || has_entry (parent, "lib64") || has_entry (parent, "libexec") ||
       has_entry (parent, "pyvenv.cfg") || has_entry (parent, "pkg")))
    return g_steal_pointer (&parent);

  return g_strdup (program);
}

static void
add_once (GPtrArray  *array,
          const char *path)
{
  guint i;

  for (i = 0; i < array->len; i++)
    if (strcmp (g_ptr_array_index (array, i), path) == 0)
      return;

  g_ptr_array_add (array, g_strdup (path));
}

/* A link leads on from @directory to the program itself: the tree of that, and the link. */
static void
add_program (Search     *self,
             const char *directory,
             const char *name)
{
  g_autofree char *path = g_build_filename (directory, name, NULL);
  g_autofree char *program = resolve (path);
  g_autofree char *tree = NULL;
  struct stat st;

  if (program == NULL || !is_below (program, self->home) || stat (program, &st) < 0 ||
      !S_ISREG (st.st_mode) || (st.st_mode & 0111) == 0)
    return;

  tree = find_tree (self, program);
  add_once (self->trees, tree);
}

static gboolean
add_directory (Search      *self,
               const char  *path,
               GError     **error)
{
  g_autofree char *real_path = resolve (path);
  const struct dirent *entry;
  guint count = 0;
  DIR *dir;

  if (real_path == NULL || !is_acceptable (self, real_path))
    return TRUE;

  dir = opendir (real_path);
  if (dir == NULL)
    return TRUE;

  add_once (self->directories, real_path);
  add_once (self->trees, real_path);

  while (count++ < MAX_PROGRAMS && !g_cancellable_is_cancelled (self->cancellable) &&
         (entry = readdir (dir)) != NULL)
    if (entry->d_name[0] != '.')
      add_program (self, real_path, entry->d_name);

  closedir (dir);
  return !g_cancellable_set_error_if_cancelled (self->cancellable, error);
}

/* Only what is below no other one stays. */
static void
keep_outermost (GPtrArray *trees)
{
  guint i = 0, j;

  while (i < trees->len)
    {
      gboolean covered = FALSE;

      for (j = 0; j < trees->len && !covered; j++)
        covered = is_below (g_ptr_array_index (trees, i), g_ptr_array_index (trees, j));

      if (covered)
        g_ptr_array_remove_index (trees, i);
      else
        i++;
    }
}

static void
find_secrets (Search *self)
{
  guint i;
  gsize j;

  for (i = 0; i < self->trees->len; i++)
    for (j = 0; j < G_N_ELEMENTS (secret_names); j++)
      {
        g_autofree char *path = g_build_filename (g_ptr_array_index (self->trees, i),
                                                  secret_names[j], NULL);
        struct stat st;

        if (lstat (path, &st) == 0 && S_ISREG (st.st_mode))
          add_once (self->secrets, path);
      }
}

static char **
to_strv (GPtrArray *array)
{
  g_ptr_array_add (array, NULL);
  return (char **) g_ptr_array_free (array, FALSE);
}

SbxBwrapToolchain *
_sbx_bwrap_toolchain_new (const char    *path,
                          const char    *home,
                          GCancellable  *cancellable,
                          GError       **error)
{
  g_autoptr(SbxBwrapToolchain) self = g_new0 (SbxBwrapToolchain, 1);
  g_autofree char *real_home = resolve (home);
  g_auto(GStrv) entries = g_strsplit (path != NULL ? path : "", ":", -1);
  Search search = { real_home, NULL, NULL, NULL, cancellable };
  gboolean done = TRUE;
  gsize i;

  search.trees = g_ptr_array_new_with_free_func (g_free);
  search.directories = g_ptr_array_new_with_free_func (g_free);
  search.secrets = g_ptr_array_new_with_free_func (g_free);

  /* Where everything is below home nothing can be told apart. */
  for (i = 0; done && real_home != NULL && strcmp (real_home, "/") != 0 && entries[i] != NULL; i++)
    if (entries[i][0] == '/')
      done = add_directory (&search, entries[i], error);

  keep_outermost (search.trees);
  find_secrets (&search);

  if (done && search.trees->len > MAX_TREES)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE,
                   _("The programs on PATH below the home directory lie in more than %d places; "
                     "shorten PATH"), MAX_TREES);
      done = FALSE;
    }

  self->trees = to_strv (search.trees);
  self->directories = to_strv (search.directories);
  self->secrets = to_strv (search.secrets);

  return done ? g_steal_pointer (&self) : NULL;
}

void
_sbx_bwrap_toolchain_free (SbxBwrapToolchain *self)
{
  g_strfreev (self->trees);
  g_strfreev (self->directories);
  g_strfreev (self->secrets);
  g_free (self);
}

static gboolean
is_program (const char *path)
{
  struct stat st;

  return stat (path, &st) == 0 && S_ISREG (st.st_mode) && access (path, X_OK) == 0;
}

char *
_sbx_bwrap_toolchain_find (const char *command,
                           const char *path,
                           const char *home)
{
  g_auto(GStrv) entries = g_strsplit (path != NULL ? path : "", ":", -1);
  g_auto(GStrv) system = g_strsplit (SYSTEM_PATH, ":", -1);
  g_autofree char *real_home = resolve (home);
  gsize i;

  if (command[0] == '\0' || strchr (command, '/') != NULL || real_home == NULL)
    return NULL;

  for (i = 0; system[i] != NULL; i++)
    {
      g_autofree char *program = g_build_filename (system[i], command, NULL);

      if (is_program (program))
        return NULL;
    }

  for (i = 0; entries[i] != NULL; i++)
    {
      g_autofree char *real_path = entries[i][0] == '/' ? resolve (entries[i]) : NULL;
      g_autofree char *program = g_build_filename (entries[i], command, NULL);

      if (real_path != NULL && is_below (real_path, real_home) && is_program (program))
        return g_steal_pointer (&program);
    }

  return NULL;
}

char *
_sbx_bwrap_toolchain_get_path (SbxBwrapToolchain *self)
{
  GString *path = g_string_new (NULL);
  gsize i;

  for (i = 0; self != NULL && self->directories[i] != NULL; i++)
    {
      /* A colon cannot be said in PATH. */
      if (strchr (self->directories[i], ':') == NULL)
        g_string_append_printf (path, "%s:", self->directories[i]);
    }

  g_string_append (path, SYSTEM_PATH);
  return g_string_free (path, FALSE);
}
