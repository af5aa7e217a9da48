/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "files/sbx-delete-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-file-id-private.h"
#include "files/sbx-path-private.h"

#include <dirent.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Directory streams that are open at a time. The outermost one stays open. */
#define MAX_OPEN 16

/*
 * What is deeper than this is moved up beside the outermost directory's own entries and is deleted
 * from there, so that a tree of any depth needs the memory of this many levels.
 */
#define MAX_DEPTH 1024

/* Who adds files as fast as they are deleted does not keep us for ever. */
#define MAX_PASSES 24

/* Directories that could not be deleted and must not be entered again. With more we stop. */
#define MAX_STUCK 1024

/* A directory on the way from the outermost one to where we are. */
typedef struct
{
  SbxFileId id;
  /* NULL while only the place is remembered; then it is reached through ".." of the next one. */
  DIR *stream;
  /* How much of the path belongs to the parent. */
  gsize parent_length;
  guint passes;
  /* How long the list of stuck directories was when we came here. */
  guint stuck_before;
  /* Something below could not be deleted, so that this cannot be either. */
  gboolean failed;
  /* Something was moved up to here and a new pass must find it. */
  gboolean received;
} Level;

typedef struct
{
  int dir_fd;
  GString *path;
  GArray *levels;
  guint open;
  /* SbxFileId of directories that stay; of one within another, the outer one alone. */
  GArray *stuck;
  GCancellable *cancellable;
  GError *error;
} Deletion;

static Level *
level_at (Deletion *self,
          guint     depth)
{
  return &g_array_index (self->levels, Level, depth);
}

static Level *
deepest (Deletion *self)
{
  return level_at (self, self->levels->len - 1);
}

static void
close_stream (Deletion *self,
              Level    *level)
{
  if (level->stream == NULL)
    return;

  closedir (g_steal_pointer (&level->stream));
  self->open--;
}

/* Closes the outermost stream but the very first and the one we are in. */
static gboolean
close_one (Deletion *self)
{
  for (guint i = 1; i + 1 < self->levels->len; i++)
    {
      Level *level = level_at (self, i);

      if (level->stream != NULL)
        {
          close_stream (self, level);
          return TRUE;
        }
    }

  return FALSE;
}

/* The first failure is told, and the directory that holds @name remembers that it must stay. */
static void
fail (Deletion   *self,
      int         errsv,
      const char *name)
{
  g_autofree char *path = NULL;

  if (self->levels->len > 0)
    deepest (self)->failed = TRUE;

  if (self->error != NULL)
    return;

  path = self->levels->len > 0 ? g_strconcat (self->path->str, "/", name, NULL) : g_strdup (name);

  if (errsv == EXDEV)
    _sbx_path_error_code (&self->error, G_IO_ERROR_BUSY, path,
                          _("A file system is mounted here, so it is not deleted"));
  else
    _sbx_path_error (&self->error, errsv, path, _("Could not be deleted"));
}

static gboolean
is_stuck (Deletion        *self,
          const SbxFileId *id)
{
  for (guint i = 0; i < self->stuck->len; i++)
    if (_sbx_file_id_same_file (&g_array_index (self->stuck, SbxFileId, i), id))
      return TRUE;

  return FALSE;
}

/*
 * Makes a directory of ours accessible. Nothing was opened for reading yet, since that may be what
 * is not allowed, and a path of /proc is how one changes the mode of an O_PATH descriptor.
 */
static void
make_accessible (int              fd,
                 const SbxFileId *id)
{
  char self[64];

  if ((id->mode & 0700) == 0700)
    return;

  snprintf (self, sizeof self, "/proc/self/fd/%d", fd);
  (void) !chmod (self, (id->mode & 07777) | 0700);
}

/* Opens the directory @name of @parent_fd, on the same mount as @parent. -1 with errno. */
static DIR *
open_child (int              parent_fd,
            const char      *name,
            const SbxFileId *parent,
            SbxFileId       *id)
{
  sbx_autofd int place = openat (parent_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  sbx_autofd int fd = -1;
  DIR *stream;

  if (place < 0 || !_sbx_file_id_get (place, id))
    return NULL;

  if (!_sbx_file_id_same_mount (id, parent))
    {
      errno = EXDEV;
      return NULL;
    }

  make_accessible (place, id);

  fd = openat (place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return NULL;

  stream = fdopendir (fd);
  if (stream != NULL)
    g_steal_fd (&fd);

  return stream;
}

static DIR *
open_child_with_room (Deletion        *self,
                      int              parent_fd,
                      const char      *name,
                      const SbxFileId *parent,
                      SbxFileId       *id)
{
  DIR *stream;

  if (self->open >= MAX_OPEN)
    close_one (self);

  do
    stream = open_child (parent_fd, name, parent, id);
  while (stream == NULL && (errno == EMFILE || errno == ENFILE) && close_one (self));

  return stream;
}

static void
push (Deletion        *self,
      const char      *name,
      const SbxFileId *id,
      DIR             *stream)
{
  Level level = {
    .id = *id,
    .stream = stream,
    .parent_length = self->path->len,
    .stuck_before = self->stuck->len,
  };

  if (self->levels->len > 0)
    g_string_append_c (self->path, '/');

  g_string_append (self->path, name);
  g_array_append_val (self->levels, level);
  self->open++;
}

/* Moves a directory that is too deep up to the outermost one. */
static gboolean
move_up (Deletion   *self,
         int         parent_fd,
         const char *name)
{
  g_autofree char *moved = g_strdup_printf (".sbx-%08x%08x", g_random_int (), g_random_int ());
  Level *top = level_at (self, 0);

  if (renameat (parent_fd, name, dirfd (top->stream), moved) < 0)
    return FALSE;

  top->received = TRUE;
  return TRUE;
}

static void
enter (Deletion   *self,
       const char *name)
{
  Level *level = deepest (self);
  const int parent_fd = dirfd (level->stream);
  SbxFileId id;
  DIR *stream = open_child_with_room (self, parent_fd, name, &level->id, &id);

  if (stream == NULL)
    {
      /* It was deleted by somebody else, or it is no directory any more. */
      if (errno == ENOENT)
        return;

      if ((errno == ENOTDIR || errno == ELOOP) &&
          (unlinkat (parent_fd, name, 0) == 0 || errno == ENOENT))
        return;

      fail (self, errno, name);
      return;
    }

  if (is_stuck (self, &id))
    {
      level->failed = TRUE;
      closedir (stream);
    }
  else if (self->levels->len < MAX_DEPTH)
    push (self, name, &id, stream);
  else
    {
      closedir (stream);

      if (!move_up (self, parent_fd, name) && errno != ENOENT)
        fail (self, errno, name);
    }
}

/* Deletes one entry of the deepest directory, or goes into it. */
static void
delete_entry (Deletion            *self,
              const struct dirent *entry)
{
  const int fd = dirfd (deepest (self)->stream);
  const int likely = entry->d_type == DT_DIR ? AT_REMOVEDIR : 0;

  if (unlinkat (fd, entry->d_name, likely) == 0 || errno == ENOENT)
    return;

  /* Not what it was said to be: a file where a directory was, or the other way round. */
  if (errno == ENOTDIR || errno == EISDIR)
    {
      if (unlinkat (fd, entry->d_name, likely ^ AT_REMOVEDIR) == 0 || errno == ENOENT)
        return;
    }
  else if (likely == 0)
    {
      fail (self, errno, entry->d_name);
      return;
    }

  enter (self, entry->d_name);
}

/*
 * Makes sure that the parent of the deepest directory is open again. Its ".." may be another by
 * now, if somebody moved the directory: then we do not know whose files we would delete.
 */
static gboolean
reopen_parent (Deletion *self)
{
  Level *parent = level_at (self, self->levels->len - 2);
  sbx_autofd int fd = -1;
  SbxFileId id;

  if (parent->stream != NULL)
    return TRUE;

  fd = openat (dirfd (deepest (self)->stream), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 || !_sbx_file_id_get (fd, &id))
    return FALSE;

  if (!_sbx_file_id_same_file (&id, &parent->id) || !_sbx_file_id_same_mount (&id, &parent->id))
    {
      errno = ESTALE;
      return FALSE;
    }

  parent->stream = fdopendir (fd);
  if (parent->stream == NULL)
    return FALSE;

  g_steal_fd (&fd);
  self->open++;
  return TRUE;
}

/* Leaves the deepest directory, which is deleted, or stays. FALSE: time to give up. */
static gboolean
leave (Deletion *self,
       gboolean  stays)
{
  Level *level = deepest (self);

  g_array_set_size (self->stuck, level->stuck_before);
  if (stays)
    g_array_append_val (self->stuck, level->id);

  close_stream (self, level);
  g_string_truncate (self->path, level->parent_length);
  g_array_set_size (self->levels, self->levels->len - 1);

  if (stays && self->levels->len > 0)
    deepest (self)->failed = TRUE;

  return self->stuck->len < MAX_STUCK;
}

/* Removes the deepest directory, which is empty as far as we know, from its parent. */
static gboolean
remove_directory (Deletion *self)
{
  const Level *level = deepest (self);
  const char *name = self->path->str + level->parent_length;
  int parent_fd = self->dir_fd;

  if (self->levels->len > 1)
    {
      parent_fd = dirfd (level_at (self, self->levels->len - 2)->stream);
      name++;
    }

  /* If somebody put something else in its place, the next pass over the parent finds that. */
  return unlinkat (parent_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT || errno == ENOTDIR;
}

/* The deepest directory was read to its end: delete it, read it once more, or leave it be. */
static gboolean
finish_directory (Deletion *self)
{
  Level *level = deepest (self);

  if (level->received)
    {
      level->received = FALSE;
      rewinddir (level->stream);
      return TRUE;
    }

  if (self->levels->len > 1 && !reopen_parent (self))
    {
      fail (self, errno, "..");
      return FALSE;
    }

  if (level->failed)
    return leave (self, TRUE);

  if (remove_directory (self))
    return leave (self, FALSE);

  if ((errno == ENOTEMPTY || errno == EEXIST) && level->passes < MAX_PASSES)
    {
      level->passes++;
      rewinddir (level->stream);
      return TRUE;
    }

  fail (self, errno, ".");
  return leave (self, TRUE);
}

/* One entry, or the end of one directory. FALSE: there is nothing more to do. */
static gboolean
step (Deletion *self)
{
  const struct dirent *entry;

  if (self->levels->len == 0)
    return FALSE;

  if (g_cancellable_is_cancelled (self->cancellable))
    {
      g_clear_error (&self->error);
      g_cancellable_set_error_if_cancelled (self->cancellable, &self->error);
      return FALSE;
    }

  errno = 0;
  entry = readdir (deepest (self)->stream);

  if (entry == NULL && errno != 0)
    fail (self, errno, ".");

  if (entry == NULL)
    return finish_directory (self);

  if (strcmp (entry->d_name, ".") != 0 && strcmp (entry->d_name, "..") != 0)
    delete_entry (self, entry);

  return TRUE;
}

/* Deletes what is no directory, or an empty one; else opens it. */
static void
start (Deletion   *self,
       const char *name)
{
  SbxFileId parent;
  SbxFileId id;
  DIR *stream;
  int errsv;

  if (unlinkat (self->dir_fd, name, 0) == 0 || errno == ENOENT)
    return;

  errsv = errno;

  if (unlinkat (self->dir_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
    return;

  if (errno == ENOTDIR || !_sbx_file_id_get (self->dir_fd, &parent))
    {
      fail (self, errno == ENOTDIR ? errsv : errno, name);
      return;
    }

  stream = open_child (self->dir_fd, name, &parent, &id);

  if (stream != NULL)
    push (self, name, &id, stream);
  else if (errno != ENOENT)
    fail (self, errno, name);
}

gboolean
_sbx_delete_tree (int            dir_fd,
                  const char    *name,
                  GCancellable  *cancellable,
                  GError       **error)
{
  g_autoptr(GString) path = NULL;
  g_autoptr(GArray) levels = NULL;
  g_autoptr(GArray) stuck = NULL;
  Deletion self = { .dir_fd = dir_fd, .cancellable = cancellable };

  if (g_cancellable_set_error_if_cancelled (cancellable, error) ||
      !_sbx_path_check_name (name, error))
    return FALSE;

  self.path = path = g_string_new (NULL);
  self.levels = levels = g_array_new (FALSE, TRUE, sizeof (Level));
  self.stuck = stuck = g_array_new (FALSE, FALSE, sizeof (SbxFileId));

  start (&self, name);

  while (step (&self))
    {
    }

  for (guint i = 0; i < levels->len; i++)
    close_stream (&self, level_at (&self, i));

  if (self.error == NULL)
    return TRUE;

  g_propagate_error (error, self.error);
  return FALSE;
}
