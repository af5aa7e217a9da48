/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-state-private.h"

#include "bwrap/sbx-bwrap-note-private.h"
#include "bwrap/sbx-bwrap-quarantine-private.h"
#include "bwrap/sbx-bwrap-sweep-private.h"
#include "core/sbx-error.h"
#include "core/sbx-text-private.h"
#include "files/sbx-delete-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-lock-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-write-private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_NAME "lock"
#define ALIVE_NAME "alive"
#define ALIVE_TRIES 200
#define ALIVE_PAUSE_US 5000
#define NEW_TRIES 16
#define HOME_NAME_LENGTH 32
#define GROUP_NAME "group"
#define CHORE_NAME "group-chore"

/* What a sandbox must not reach lies in it, and what is in it is believed. */
int
_sbx_bwrap_state_open_data (const char  *data_path,
                            gboolean     make,
                            GError     **error)
{
  g_autofree char *quoted = _sbx_text_quote (data_path);
  sbx_autofd int fd = -1;
  struct stat info;

  if (make && g_mkdir_with_parents (data_path, 0700) != 0)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
                   _("The directory %s cannot be made: %s. Set XDG_DATA_HOME to a directory that "
                     "you can write."), quoted, g_strerror (errno));
      return -1;
    }

  fd = open (data_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 && !make && errno == ENOENT)
    return -1;

  if (fd < 0 || fstat (fd, &info) != 0)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
                   _("The directory %s cannot be opened: %s"), quoted, g_strerror (errno));
      return -1;
    }

  if (info.st_uid != geteuid () || (info.st_mode & 022) != 0)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
                   _("The directory %s belongs to somebody else, or others can write it. Set "
                     "XDG_DATA_HOME to a directory of your own."), quoted);
      return -1;
    }

  return g_steal_fd (&fd);
}

GStrv
_sbx_bwrap_state_list (int      fd,
                       GError **error)
{
  g_autoptr(GStrvBuilder) names = g_strv_builder_new ();
  const int own_fd = openat (fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = own_fd >= 0 ? fdopendir (own_fd) : NULL;
  struct dirent *entry;

  if (dir == NULL)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_FAILED,
                   _("A directory of sandboxes cannot be listed: %s"), g_strerror (errno));
      if (own_fd >= 0)
        close (own_fd);
      return NULL;
    }

  while ((entry = readdir (dir)) != NULL)
    if (entry->d_name[0] != '.')
      g_strv_builder_add (names, entry->d_name);

  closedir (dir);

  return g_strv_builder_end (names);
}

int
_sbx_bwrap_state_sign_of_life (SbxBwrapState  *self,
                               GError        **error)
{
  sbx_autofd int fd = _sbx_open_beneath (self->dir_fd, ALIVE_NAME, O_RDONLY | O_CREAT | O_NOFOLLOW,
                                         0600, error);

  if (fd < 0)
    return -1;

  /* Not a record lock: this one goes with the descriptor to process 1. Where the file system has
   * none, the lock of the owner has to do. */
  if (flock (fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
                   _("The directory of the sandbox is used by another one"));
      return -1;
    }

  return g_steal_fd (&fd);
}

gboolean
_sbx_bwrap_state_is_alive (int dir_fd)
{
  sbx_autofd int fd = _sbx_open_beneath (dir_fd, ALIVE_NAME,
                                         O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0, NULL);

  for (guint i = 0; fd >= 0 && i < ALIVE_TRIES; i++)
    {
      if (flock (fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return FALSE;

      g_usleep (ALIVE_PAUSE_US);
    }

  return fd >= 0;
}

/* What tells whose a directory is goes after the rest. */
static gboolean
is_last (const char *name)
{
  return strcmp (name, LOCK_NAME) == 0 || strcmp (name, GROUP_NAME) == 0 ||
         strcmp (name, CHORE_NAME) == 0;
}

gboolean
_sbx_bwrap_state_delete (int            sessions_fd,
                         const char    *id,
                         GCancellable  *cancellable,
                         GError       **error)
{
  sbx_autofd int fd = _sbx_open_beneath (sessions_fd, id, O_RDONLY | O_DIRECTORY, 0, NULL);
  g_auto(GStrv) names = fd >= 0 ? _sbx_bwrap_state_list (fd, NULL) : NULL;

  for (gsize i = 0; names != NULL && names[i] != NULL; i++)
    if (!is_last (names[i]) && !_sbx_delete_tree (fd, names[i], cancellable, error))
      return FALSE;

  if (fd >= 0 && (!_sbx_delete_tree (fd, GROUP_NAME, cancellable, error) ||
                  !_sbx_delete_tree (fd, CHORE_NAME, cancellable, error)))
    return FALSE;

  return _sbx_delete_tree (sessions_fd, id, cancellable, error);
}

static gboolean
try_claim (SbxBwrapState  *self,
           const char     *id,
           GError        **error)
{
  self->dir_fd = _sbx_open_beneath (self->sessions_fd, id, O_RDONLY | O_DIRECTORY, 0, error);
  if (self->dir_fd >= 0)
    self->lock_fd = _sbx_lock_try (self->dir_fd, LOCK_NAME, TRUE, error);

  if (self->lock_fd >= 0)
    return TRUE;

  _sbx_clear_fd (&self->dir_fd);
  unlinkat (self->sessions_fd, id, AT_REMOVEDIR);

  return FALSE;
}

/* A new directory with the lock on it: in between, another process that sweeps may take either
 * away, and then a new name is tried. */
static gboolean
claim_directory (SbxBwrapState  *self,
                 GError        **error)
{
  g_autoptr(GError) reason = NULL;

  for (guint i = 0; i < NEW_TRIES; i++)
    {
      g_autofree char *id = g_strdup_printf ("%08x%08x", g_random_int (), g_random_int ());

      if (mkdirat (self->sessions_fd, id, 0700) != 0)
        {
          if (errno == EEXIST)
            continue;

          g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
                       _("No directory can be made for the sandbox: %s"), g_strerror (errno));
          return FALSE;
        }

      g_clear_error (&reason);
      if (try_claim (self, id, &reason))
        {
          self->id = g_steal_pointer (&id);
          return TRUE;
        }
    }

  g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
               _("No directory can be locked for the sandbox: %s"),
               reason != NULL ? reason->message : g_strerror (EEXIST));

  return FALSE;
}

/* A command may have taken its home away from itself; the next one needs it. */
static void
give_back_home (int fd)
{
  struct stat info;

  if (fstatat (fd, "home", &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR (info.st_mode) &&
      (info.st_mode & 0700) != 0700)
    fchmodat (fd, "home", (info.st_mode & 0777) | 0700, 0);
}

/* The home of a project is named by the project's real path, so that nobody has to keep a list. */
static char *
open_project_home (SbxBwrapState  *self,
                   int             data_fd,
                   const char     *cwd,
                   GError        **error)
{
  g_autofree char *digest = g_compute_checksum_for_string (G_CHECKSUM_SHA256, cwd, -1);
  g_autofree char *name = NULL;
  g_autoptr(GBytes) project = g_bytes_new (cwd, strlen (cwd));
  g_autoptr(GBytes) mark = NULL;
  g_auto(SbxBwrapNoteLock) lock = _sbx_bwrap_note_lock (self->sessions_fd, error);
  sbx_autofd int home_fd = -1;
  sbx_autofd int fd = -1;

  if (lock < 0)
    return NULL;

  digest[HOME_NAME_LENGTH] = '\0';
  name = g_build_filename ("homes", digest, NULL);

  /* Who removes homes looks for this mark, under the same lock. */
  mark = g_bytes_new (digest, HOME_NAME_LENGTH);
  if (!_sbx_write_staged (self->dir_fd, SBX_BWRAP_HOME_MARK, mark, 0600, error))
    return NULL;

  fd = _sbx_make_dirs_beneath (data_fd, name, 0700, error);
  if (fd < 0)
    return NULL;

  /* For a person who looks into the directory, and for nobody else. */
  if (faccessat (fd, "project", F_OK, 0) != 0 &&
      !_sbx_write_staged (fd, "project", project, 0600, error))
    return NULL;

  give_back_home (fd);
  home_fd = _sbx_make_dirs_beneath (fd, "home", 0700, error);
  if (home_fd < 0)
    return NULL;

  return g_build_filename (self->data_path, name, "home", NULL);
}

static gboolean
make_insides (SbxBwrapState  *self,
              int             data_fd,
              const char     *cwd,
              gboolean        fresh_home,
              GError        **error)
{
  g_autofree char *project = NULL;
  sbx_autofd int project_fd = -1;
  sbx_autofd int home_fd = -1;

  self->tmp_path = g_build_filename (self->path, "tmp", NULL);
  if (mkdirat (self->dir_fd, "tmp", 0700) != 0 || fchmodat (self->dir_fd, "tmp", 01777, 0) != 0)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
                   _("No temporary directory can be made for the sandbox: %s"),
                   g_strerror (errno));
      return FALSE;
    }

  /* Of a project that is not there nothing is kept: the plan says what is wrong with it. */
  if (!fresh_home)
    project_fd = _sbx_open_real (cwd, O_PATH | O_DIRECTORY, &project, NULL);

  if (project_fd >= 0)
    {
      self->home_path = open_project_home (self, data_fd, project, error);
      return self->home_path != NULL;
    }

  home_fd = _sbx_make_dirs_beneath (self->dir_fd, "home", 0700, error);
  self->home_path = g_build_filename (self->path, "home", NULL);

  return home_fd >= 0;
}

/* The name of a group may be anything, and is nothing but content. */
static gboolean
write_group (SbxBwrapState  *self,
             const char     *group,
             gboolean        chore,
             GError        **error)
{
  g_autoptr(GBytes) bytes = NULL;

  if (group == NULL)
    return TRUE;

  if (strlen (group) > SBX_BWRAP_MAX_GROUP)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE,
                   _("The name of the group is longer than %d bytes"), SBX_BWRAP_MAX_GROUP);
      return FALSE;
    }

  bytes = g_bytes_new (group, strlen (group));

  return _sbx_write_staged (self->dir_fd, chore ? CHORE_NAME : GROUP_NAME, bytes, 0600, error);
}

char *
_sbx_bwrap_state_read_group (int         sessions_fd,
                             const char *id,
                             gboolean   *chore)
{
  static const char * const names[] = { GROUP_NAME, CHORE_NAME };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (id, names[i], NULL);
      g_autoptr(GBytes) bytes = _sbx_read_beneath (sessions_fd, path, SBX_BWRAP_MAX_GROUP, NULL,
                                                   NULL);

      if (bytes == NULL)
        continue;

      if (chore != NULL)
        *chore = i == 1;

      return g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
    }

  return NULL;
}

SbxBwrapState *
_sbx_bwrap_state_new (const char  *data_path,
                      const char  *cwd,
                      gboolean     fresh_home,
                      const char  *group,
                      gboolean     chore,
                      GError     **error)
{
  g_autoptr(SbxBwrapState) self = g_new0 (SbxBwrapState, 1);
  sbx_autofd int data_fd = -1;

  self->data_path = g_strdup (data_path);
  self->sessions_fd = self->dir_fd = self->lock_fd = -1;

  data_fd = _sbx_bwrap_state_open_data (data_path, TRUE, error);
  if (data_fd < 0)
    return NULL;

  self->sessions_fd = _sbx_make_dirs_beneath (data_fd, "sessions", 0700, error);
  if (self->sessions_fd < 0 || !claim_directory (self, error))
    return NULL;

  self->path = g_build_filename (data_path, "sessions", self->id, NULL);
  if (!write_group (self, group, chore, error) ||
      !make_insides (self, data_fd, cwd, fresh_home, error))
    {
      _sbx_bwrap_state_remove (self, NULL, NULL);
      return NULL;
    }

  return g_steal_pointer (&self);
}

void
_sbx_bwrap_state_free (SbxBwrapState *self)
{
  if (self->lock_fd >= 0)
    _sbx_lock_release (g_steal_fd (&self->lock_fd));

  if (self->quarantine != NULL)
    _sbx_bwrap_quarantine_disarm (self->quarantine);

  g_clear_pointer (&self->quarantine, _sbx_bwrap_quarantine_unref);
  g_clear_pointer (&self->holds, g_array_unref);
  _sbx_clear_fd (&self->dir_fd);
  _sbx_clear_fd (&self->sessions_fd);
  g_free (self->data_path);
  g_free (self->id);
  g_free (self->path);
  g_free (self->tmp_path);
  g_free (self->home_path);
  g_free (self);
}

static void
clear_hold (gpointer data)
{
  _sbx_clear_fd (data);
}

/* Has sessions whose notes are kept elsewhere leave the placeholders alone. One lock for each
 * directory. */
static void
hold (SbxBwrapState *self,
      SbxBwrapPlan  *plan)
{
  g_autoptr(GHashTable) held = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  self->holds = g_array_new (FALSE, FALSE, sizeof (int));
  g_array_set_clear_func (self->holds, clear_hold);

  for (guint i = 0; i < plan->placeholders->len; i++)
    {
      const SbxBwrapPlaceholder *placeholder = g_ptr_array_index (plan->placeholders, i);
      int fd;

      if (!g_hash_table_add (held, _sbx_bwrap_placeholder_dup_lock (placeholder->path)))
        continue;

      fd = _sbx_bwrap_placeholder_hold (placeholder);
      if (fd >= 0)
        g_array_append_val (self->holds, fd);
    }
}

gboolean
_sbx_bwrap_state_place (SbxBwrapState  *self,
                        SbxBwrapPlan   *plan,
                        GError        **error)
{
  gboolean noted = FALSE;

  if (plan->placeholders->len == 0)
    return TRUE;

  if (!_sbx_bwrap_note_write (self->sessions_fd, self->dir_fd, plan, &noted, error))
    return FALSE;

  hold (self, plan);

  return _sbx_bwrap_plan_make_placeholders (plan, error) &&
         _sbx_bwrap_note_write (self->sessions_fd, self->dir_fd, plan, &noted, error);
}

/* What another session needs is that one's to take away, whose notes say so too. */
gboolean
_sbx_bwrap_state_undo (SbxBwrapState  *self,
                       GError        **error)
{
  g_autoptr(GError) reason = NULL;

  g_clear_pointer (&self->holds, g_array_unref);

  if (_sbx_bwrap_note_undo (self->sessions_fd, self->id, &reason) ||
      g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_BUSY))
    return TRUE;

  g_propagate_error (error, g_steal_pointer (&reason));
  return FALSE;
}

gboolean
_sbx_bwrap_state_remove (SbxBwrapState  *self,
                         GCancellable   *cancellable,
                         GError        **error)
{
  if (_sbx_bwrap_state_undo (self, error) &&
      _sbx_bwrap_state_delete (self->sessions_fd, self->id, cancellable, error))
    return TRUE;

  _sbx_bwrap_sweep_again (self->data_path);

  return FALSE;
}
