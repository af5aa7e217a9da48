/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-profile-private.h"

#include "bwrap/sbx-bwrap-plan-builder-private.h"
#include "bwrap/sbx-bwrap-user-dirs-private.h"
#include "core/sbx-error.h"
#include "core/sbx-protection-private.h"
#include "core/sbx-text-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-path-private.h"
#include "files/sbx-trust-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>

/*
 * Where profiles are found. A profile says what a sandbox may touch: so neither a sandbox nor
 * somebody else may have had a hand in it.
 */

#define MAX_SIZE (256 * 1024)
#define MAX_NAME 64

static const struct
{
  const char *name;
  const char *text;
} built_in[] = {
  { "default", "{\"workspace\": \"write\"}" },
  { "reader", "{\"workspace\": \"read\"}" },
  { "worktree", "{\"workspace\": \"worktree\"}" },
};

static gboolean
is_name (const char *name)
{
  const gsize length = strlen (name);

  return length > 0 && length <= MAX_NAME && name[0] != '-' &&
         strspn (name, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
}

static void
add_dir (GPtrArray  *dirs,
         const char *parent)
{
  if (parent != NULL && g_path_is_absolute (parent))
    g_ptr_array_add (dirs, g_build_filename (parent, "libsbx", "profiles", NULL));
}

static GPtrArray *
list_dirs (void)
{
  GPtrArray *dirs = g_ptr_array_new_with_free_func (g_free);
  const char * const *config_dirs = g_get_system_config_dirs ();
  const char * const *data_dirs = g_get_system_data_dirs ();
  g_autofree char *config = _sbx_bwrap_dup_config_dir ();
  g_autofree char *data = _sbx_bwrap_dup_data_dir ();

  add_dir (dirs, config);
  for (gsize i = 0; config_dirs[i] != NULL; i++)
    add_dir (dirs, config_dirs[i]);

  g_ptr_array_add (dirs, g_build_filename (data, "profiles", NULL));
  for (gsize i = 0; data_dirs[i] != NULL; i++)
    add_dir (dirs, data_dirs[i]);

  return dirs;
}

/* For a message. */
static char *
list_known (GPtrArray *dirs)
{
  g_autoptr(GTree) names = g_tree_new_full ((GCompareDataFunc) (GCallback) strcmp, NULL, g_free,
                                            NULL);
  GString *text = g_string_new (NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (built_in); i++)
    g_tree_insert (names, g_strdup (built_in[i].name), NULL);

  for (guint i = 0; i < dirs->len; i++)
    {
      g_autoptr(GDir) dir = g_dir_open (g_ptr_array_index (dirs, i), 0, NULL);
      const char *file;

      while (dir != NULL && (file = g_dir_read_name (dir)) != NULL)
        {
          g_autofree char *name = g_str_has_suffix (file, ".json")
                                    ? g_strndup (file, strlen (file) - strlen (".json")) : NULL;

          if (name != NULL && is_name (name))
            g_tree_insert (names, g_steal_pointer (&name), NULL);
        }
    }

  for (GTreeNode *node = g_tree_node_first (names); node != NULL; node = g_tree_node_next (node))
    g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "",
                            (const char *) g_tree_node_key (node));

  return g_string_free (text, FALSE);
}

/* The code of the protocol starts the message, as with every provider's own errors. */
static void
set_bad_profile (GError     **error,
                 const char  *path,
                 const char  *reason)
{
  g_autofree char *shown = _sbx_path_show (path);

  g_set_error (error, SBX_ERROR, SBX_ERROR_PROVIDER, "bad_profile: %s: %s", shown, reason);
}

/* The last of @places that lies in @directory. */
static const char *
find_in (GPtrArray  *places,
         const char *directory)
{
  g_autofree char *real_path = NULL;
  sbx_autofd int fd = _sbx_open_real (directory, O_PATH, &real_path, NULL);

  for (guint i = places->len; fd >= 0 && i > 0; i--)
    if (_sbx_bwrap_path_is_below (g_ptr_array_index (places, i - 1), real_path))
      return g_ptr_array_index (places, i - 1);

  return NULL;
}

/* What a sandbox writes must not say what the next one may write. A link there says it, too. */
static gboolean
check_places (const SbxBwrapProfile  *self,
              const char             *workspace,
              GPtrArray              *places,
              GError                **error)
{
  const char *inside = find_in (places, workspace);

  for (gsize i = 0; inside == NULL && self->write != NULL && self->write[i] != NULL; i++)
    inside = find_in (places, self->write[i]);

  if (inside == NULL || !SBX_PROTECTS (F2))
    return TRUE;

  set_bad_profile (error, inside,
                   _("it lies in what the sandbox may write; move it to another place"));
  return FALSE;
}

/* %NULL without an error: there is none here. */
static SbxBwrapProfile *
load_from (const char    *dir,
           const char    *name,
           const char    *workspace,
           GCancellable  *cancellable,
           GError       **error)
{
  g_autoptr(SbxBwrapProfile) self = NULL;
  g_autoptr(GPtrArray) places = NULL;
  g_autoptr(GBytes) text = NULL;
  g_autoptr(GError) reason = NULL;
  g_autofree char *file = g_strconcat (name, ".json", NULL);
  g_autofree char *path = g_build_filename (dir, file, NULL);
  g_autofree char *home = _sbx_bwrap_dup_home ();
  g_autofree char *real_path = NULL;
  g_autofree char *real_dir = NULL;
  g_autofree char *real_name = NULL;
  g_autofree char *same_dir = NULL;
  sbx_autofd int dir_fd = -1;

  places = _sbx_trust_check (path, &real_path, &reason);
  if (places != NULL)
    {
      real_dir = g_path_get_dirname (real_path);
      real_name = g_path_get_basename (real_path);
      dir_fd = _sbx_open_real (real_dir, O_PATH | O_DIRECTORY, &same_dir, &reason);
    }
  else if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_FOUND) ||
           g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_DIRECTORY))
    return NULL;

  if (dir_fd >= 0)
    text = _sbx_read_beneath (dir_fd, real_name, MAX_SIZE, cancellable, &reason);
  if (text != NULL)
    self = _sbx_bwrap_profile_parse (name, text, home, &reason);

  if (self == NULL)
    {
      if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        g_propagate_error (error, g_steal_pointer (&reason));
      else
        set_bad_profile (error, path, reason->message);
      return NULL;
    }

  if (!check_places (self, workspace, places, error))
    return NULL;

  self->path = g_steal_pointer (&path);
  return g_steal_pointer (&self);
}

SbxBwrapProfile *
_sbx_bwrap_profile_load (const char    *name,
                         const char    *workspace,
                         GCancellable  *cancellable,
                         GError       **error)
{
  g_autoptr(GPtrArray) dirs = list_dirs ();
  g_autoptr(GError) reason = NULL;
  g_autofree char *quoted = NULL;
  g_autofree char *known = NULL;
  g_autofree char *message = NULL;
  SbxBwrapProfile *self = NULL;

  for (guint i = 0; is_name (name) && self == NULL && reason == NULL && i < dirs->len; i++)
    self = load_from (g_ptr_array_index (dirs, i), name, workspace, cancellable, &reason);

  if (reason != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&reason));
      return NULL;
    }

  for (gsize i = 0; self == NULL && i < G_N_ELEMENTS (built_in); i++)
    if (strcmp (built_in[i].name, name) == 0)
      {
        g_autoptr(GBytes) text = g_bytes_new_static (built_in[i].text, strlen (built_in[i].text));

        self = _sbx_bwrap_profile_parse (name, text, "/", error);
      }

  if (self != NULL)
    return self;

  quoted = _sbx_text_quote (name);
  known = list_known (dirs);
  message = g_strdup_printf (_("There is no profile %s; there are: %s"), quoted, known);
  g_set_error (error, SBX_ERROR, SBX_ERROR_PROVIDER, "bad_profile: %s", message);

  return NULL;
}
