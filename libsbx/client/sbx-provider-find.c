/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "client/sbx-provider-find-private.h"

#include "client/sbx-provider-trust-private.h"
#include "core/sbx-error.h"
#include "core/sbx-text-private.h"
#include "files/sbx-fd-private.h"

#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Where providers are looked for: key files in the configuration directories, programs that were
 * installed with this library, programs on PATH. A project may have set the variables that say
 * where these are, so that entries that are not absolute are passed over, and what others could
 * have put there is refused.
 */

#define KEY_FILE_DIR "libsbx" G_DIR_SEPARATOR_S "providers.d"
#define KEY_FILE_SUFFIX ".conf"
#define KEY_FILE_GROUP "Provider"
#define MAX_KEY_FILE_SIZE (64 * 1024)

/* What a program is called: ours, and those of others that speak the same. */
static const char * const prefixes[] = { "sbx-provider-", "smol-sandbox-", NULL };

void
_sbx_provider_found_clear (SbxProviderFound *found)
{
  g_clear_pointer (&found->origin, g_free);
  g_clear_pointer (&found->argv, g_strfreev);
  g_clear_pointer (&found->environment, g_strfreev);
  g_clear_error (&found->problem);
}

gboolean
_sbx_provider_name_is_valid (const char *name)
{
  const gsize length = strlen (name);

  if (length == 0 || length > NAME_MAX || name[0] == '-' || name[length - 1] == '-')
    return FALSE;

  for (gsize i = 0; i < length; i++)
    if (!g_ascii_islower (name[i]) && !g_ascii_isdigit (name[i]) && name[i] != '-')
      return FALSE;

  return TRUE;
}

/* The absolute entries of a search path. */
static void
add_directories (GPtrArray  *directories,
                 const char *joined)
{
  g_auto(GStrv) parts = g_strsplit (joined, ":", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    if (g_path_is_absolute (parts[i]))
      g_ptr_array_add (directories, g_strdup (parts[i]));
}

static GPtrArray *
list_program_dirs (void)
{
  GPtrArray *directories = g_ptr_array_new_with_free_func (g_free);
  const char *path = g_getenv ("PATH");

  add_directories (directories, path != NULL ? path : "/usr/local/bin:/usr/bin:/bin");

  return directories;
}

/* GLib reads these variables only once, and takes them as they are. */
static GPtrArray *
list_config_dirs (void)
{
  GPtrArray *directories = g_ptr_array_new_with_free_func (g_free);
  const char *own = g_getenv ("XDG_CONFIG_HOME");
  const char *system_wide = g_getenv ("XDG_CONFIG_DIRS");

  if (own != NULL && *own != '\0')
    add_directories (directories, own);
  else if (g_path_is_absolute (g_get_home_dir ()))
    g_ptr_array_add (directories, g_build_filename (g_get_home_dir (), ".config", NULL));

  if (system_wide == NULL || *system_wide == '\0')
    system_wide = "/etc/xdg";
  add_directories (directories, system_wide);

  return directories;
}

/* For a library that is not installed there is a variable. Who sets it could as well have another
 * library loaded, and so it is taken at its word. */
static const char *
get_own_dir (gboolean *trusted)
{
  const char *from_environment = g_getenv ("SBX_PROVIDER_DIR");

  *trusted = from_environment != NULL && g_path_is_absolute (from_environment);

  return *trusted ? from_environment : SBX_LIBEXECDIR;
}

static gboolean
is_program (const char *path)
{
  struct stat status;

  return stat (path, &status) == 0 && S_ISREG (status.st_mode) && access (path, X_OK) == 0;
}

static char *
find_on_path (const char *program)
{
  g_autoptr(GPtrArray) directories = list_program_dirs ();

  for (guint i = 0; i < directories->len; i++)
    {
      g_autofree char *path = g_build_filename (g_ptr_array_index (directories, i), program, NULL);

      if (is_program (path))
        return g_steal_pointer (&path);
    }

  return NULL;
}

/* The program of a command line, which must name one that can be trusted. */
static gboolean
resolve_program (char       **program,
                 const char  *origin,
                 GError     **error)
{
  g_autofree char *path = NULL;
  g_autofree char *quoted_origin = _sbx_text_quote (origin);
  g_autofree char *quoted = _sbx_text_quote (*program);

  if (g_path_is_absolute (*program))
    path = is_program (*program) ? g_strdup (*program) : NULL;
  else if (strchr (*program, '/') == NULL && **program != '\0')
    path = find_on_path (*program);
  else
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                   _("The program %s of “Exec” in %s is a relative path; write an absolute one"),
                   quoted, quoted_origin);
      return FALSE;
    }

  if (path == NULL)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_FOUND,
                   _("The program %s of “Exec” in %s is not there, or cannot be executed; install "
                     "it, or correct the file"), quoted, quoted_origin);
      return FALSE;
    }

  if (!_sbx_provider_trust (path, error))
    return FALSE;

  g_free (*program);
  *program = g_steal_pointer (&path);

  return TRUE;
}

static gboolean
check_environment (char       **environment,
                   const char  *origin,
                   GError     **error)
{
  g_autofree char *quoted_origin = _sbx_text_quote (origin);

  for (guint i = 0; environment[i] != NULL; i++)
    if (strchr (environment[i], '=') == NULL || environment[i][0] == '=')
      {
        g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                     _("Entry %u of “Environment” in %s is not NAME=VALUE; correct it"), i + 1,
                     quoted_origin);
        return FALSE;
      }

  return TRUE;
}

/* Of a pipe there might be no end, and of some files neither. */
static char *
read_key_file (const char  *path,
               gsize       *length,
               GError     **error)
{
  g_autofree char *quoted = _sbx_text_quote (path);
  g_autofree char *data = g_malloc (MAX_KEY_FILE_SIZE + 1);
  sbx_autofd int fd = open (path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat status;
  gssize n;

  *length = 0;
  if (fd >= 0 && fstat (fd, &status) == 0 && !S_ISREG (status.st_mode))
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                   _("%s is not a regular file; remove it"), quoted);
      return NULL;
    }

  do
    {
      n = fd < 0 ? -1 : read (fd, data + *length, MAX_KEY_FILE_SIZE + 1 - *length);
      *length += n > 0 ? (gsize) n : 0;
    }
  while (n > 0 || (n < 0 && fd >= 0 && errno == EINTR));

  if (n < 0)
    g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID, _("%s cannot be read: %s"), quoted,
                 g_strerror (errno));
  else if (*length > MAX_KEY_FILE_SIZE)
    g_set_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE,
                 _("%s is larger than %d bytes, which no such file has to be"), quoted,
                 MAX_KEY_FILE_SIZE);
  else
    return g_steal_pointer (&data);

  return NULL;
}

static gboolean
parse_key_file (const char        *path,
                SbxProviderFound  *found,
                GError           **error)
{
  g_autoptr(GKeyFile) file = g_key_file_new ();
  g_autofree char *line = NULL;
  g_auto(GStrv) argv = NULL;
  g_auto(GStrv) environment = NULL;
  g_autofree char *data = NULL;
  gsize length;

  data = read_key_file (path, &length, error);
  if (data == NULL)
    return FALSE;

  /* GLib would quote a line of what need not be meant for a key file at all. */
  if (!g_key_file_load_from_data (file, data, length, G_KEY_FILE_NONE, NULL))
    {
      g_set_error_literal (error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_PARSE,
                           _("it is no key file"));
      return FALSE;
    }

  line = g_key_file_get_string (file, KEY_FILE_GROUP, "Exec", error);
  if (line == NULL || !g_shell_parse_argv (line, NULL, &argv, error) ||
      !resolve_program (&argv[0], path, error))
    return FALSE;

  if (g_key_file_has_key (file, KEY_FILE_GROUP, "Environment", NULL))
    {
      environment = g_key_file_get_string_list (file, KEY_FILE_GROUP, "Environment", NULL, error);
      if (environment == NULL || !check_environment (environment, path, error))
        return FALSE;
    }

  found->argv = g_steal_pointer (&argv);
  found->environment = g_steal_pointer (&environment);

  return TRUE;
}

/* What GLib says of a file does not name it. */
static void
name_file (GError     **error,
           const char  *path)
{
  g_autofree char *quoted = NULL;
  g_autofree char *reason = NULL;

  if ((*error)->domain == SBX_ERROR)
    return;

  quoted = _sbx_text_quote (path);
  reason = _sbx_text_escape ((*error)->message);
  g_clear_error (error);
  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
               _("%s does not say how to start a provider: %s. It needs a group “[Provider]” with "
                 "a key “Exec”."), quoted, reason);
}

static void
take_key_file (SbxProviderFound *found,
               char             *path)
{
  found->origin = path;

  if (_sbx_provider_trust (path, &found->problem) &&
      !parse_key_file (path, found, &found->problem))
    name_file (&found->problem, path);
}

static void
take_program (SbxProviderFound *found,
              char             *path,
              gboolean          trusted)
{
  const char * const argv[] = { path, "serve", NULL };

  found->origin = path;

  if (trusted || _sbx_provider_trust (path, &found->problem))
    found->argv = g_strdupv ((GStrv) argv);
}

static gboolean
find_key_file (const char       *name,
               SbxProviderFound *found)
{
  g_autoptr(GPtrArray) directories = list_config_dirs ();
  g_autofree char *file = g_strconcat (name, KEY_FILE_SUFFIX, NULL);
  struct stat status;

  for (guint i = 0; i < directories->len; i++)
    {
      g_autofree char *path = g_build_filename (g_ptr_array_index (directories, i), KEY_FILE_DIR,
                                                file, NULL);

      if (lstat (path, &status) == 0)
        {
          take_key_file (found, g_steal_pointer (&path));
          return TRUE;
        }
    }

  return FALSE;
}

static gboolean
find_program (const char       *name,
              SbxProviderFound *found)
{
  gboolean trusted;
  const char *own_dir = get_own_dir (&trusted);
  g_autofree char *file = g_strconcat (prefixes[0], name, NULL);
  g_autofree char *own = g_build_filename (own_dir, file, NULL);

  if (is_program (own))
    {
      take_program (found, g_steal_pointer (&own), trusted);
      return TRUE;
    }

  for (guint i = 0; prefixes[i] != NULL; i++)
    {
      g_autofree char *program = g_strconcat (prefixes[i], name, NULL);
      char *path = find_on_path (program);

      if (path != NULL)
        {
          take_program (found, path, FALSE);
          return TRUE;
        }
    }

  return FALSE;
}

gboolean
_sbx_provider_find (const char       *name,
                    SbxProviderFound *found)
{
  const char * const nothing[] = { NULL };

  if (!find_key_file (name, found) && !find_program (name, found))
    return FALSE;

  if (found->environment == NULL)
    found->environment = g_strdupv ((GStrv) nothing);

  return TRUE;
}

/* The names that files of a directory give: what is left without @prefix and @suffix. */
static void
add_names (GHashTable *names,
           const char *directory,
           const char *prefix,
           const char *suffix)
{
  g_autoptr(GDir) dir = g_dir_open (directory, 0, NULL);
  const char *file;

  while (dir != NULL && (file = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *name = NULL;

      if (!g_str_has_prefix (file, prefix) || !g_str_has_suffix (file, suffix) ||
          strlen (file) <= strlen (prefix) + strlen (suffix))
        continue;

      name = g_strndup (file + strlen (prefix), strlen (file) - strlen (prefix) - strlen (suffix));
      if (_sbx_provider_name_is_valid (name))
        g_hash_table_add (names, g_steal_pointer (&name));
    }
}

static int
compare_names (gconstpointer a,
               gconstpointer b)
{
  return strcmp (*(const char * const *) a, *(const char * const *) b);
}

GPtrArray *
_sbx_provider_list_names (void)
{
  g_autoptr(GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GPtrArray) config_dirs = list_config_dirs ();
  g_autoptr(GPtrArray) program_dirs = list_program_dirs ();
  GPtrArray *sorted = g_ptr_array_new_with_free_func (g_free);
  GHashTableIter iter;
  gpointer name;
  gboolean trusted;

  for (guint i = 0; i < config_dirs->len; i++)
    {
      g_autofree char *directory = g_build_filename (g_ptr_array_index (config_dirs, i),
                                                     KEY_FILE_DIR, NULL);

      add_names (names, directory, "", KEY_FILE_SUFFIX);
    }

  add_names (names, get_own_dir (&trusted), prefixes[0], "");
  for (guint i = 0; i < program_dirs->len; i++)
    for (guint j = 0; prefixes[j] != NULL; j++)
      add_names (names, g_ptr_array_index (program_dirs, i), prefixes[j], "");

  g_hash_table_iter_init (&iter, names);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    g_ptr_array_add (sorted, g_strdup (name));
  g_ptr_array_sort (sorted, compare_names);

  return sorted;
}
