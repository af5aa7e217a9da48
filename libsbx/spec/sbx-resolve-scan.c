/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-resolve-scan-private.h"

#include "core/sbx-error.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-path-private.h"

#include <dirent.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/*
 * Goes through a tree that may be large and deep, and may be changed meanwhile by whoever. So it
 * asks for nothing but names and their types, makes no paths, keeps no more descriptors than
 * MAX_OPEN, and no more names than the limit of directories allows.
 */

#define BUFFER_SIZE (64 * 1024)
#define MAX_OPEN 32
#define CHECK_EVERY 256

typedef struct
{
  int    fd;       /* -1: closed for now, to be opened again through "..", and then compared */
  dev_t  device;   /* of those alone that were closed */
  ino_t  inode;
  gsize  name;     /* where its own one begins, among the names of its parent */
  gsize  start;    /* of the names of the directories in it */
  gsize  next;     /* the first one that was not entered yet */
  gsize  end;
} Level;

typedef struct
{
  const char   *root;
  guint         max_dirs;
  guint         n_dirs;
  guint         n_open;
  GPtrArray    *found;
  GArray       *levels;     /* (element-type Level) from the root down */
  GByteArray   *names;      /* each ends in a zero byte */
  GCancellable *cancellable;
  char         *buffer;
  GPtrArray    *sockets;    /* (nullable) what is looked for instead of ".git" */
  gboolean      whole;      /* also in ".git" and "node_modules" */
  gint64        deadline;   /* or 0 */
  gboolean      stopped;    /* without an error: it is not looked through */
} Scan;

static Level *
get_level (Scan  *self,
           guint  i)
{
  return &g_array_index (self->levels, Level, i);
}

static char *
build_path (Scan *self)
{
  GString *path = g_string_new (self->root);
  guint i;

  for (i = 1; i < self->levels->len; i++)
    {
      if (path->str[path->len - 1] != '/')
        g_string_append_c (path, '/');
      g_string_append (path, (const char *) self->names->data + get_level (self, i)->name);
    }

  return g_string_free (path, FALSE);
}

static gboolean
set_too_large (Scan    *self,
               GError **error)
{
  g_autofree char *shown = NULL;

  if (self->sockets != NULL)
    {
      self->stopped = TRUE;
      return FALSE;
    }

  shown = _sbx_path_show (self->root);
  g_set_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE,
               _("“%s” has more than %u directories, in each of which a repository could be; ask "
                 "to write narrower paths"), shown, self->max_dirs);
  return FALSE;
}

static gboolean
add_socket (Scan       *self,
            const char *name)
{
  g_autofree char *directory = build_path (self);

  if (self->sockets->len >= SBX_SCAN_MAX_SOCKETS)
    {
      self->stopped = TRUE;
      return FALSE;
    }

  g_ptr_array_add (self->sockets, g_build_filename (directory, name, NULL));
  return TRUE;
}

/* Sets *is_tree when there is an entry ".git". */
static gboolean
take_name (Scan        *self,
           int          fd,
           const char  *name,
           guchar       type,
           gboolean    *is_tree,
           GError     **error)
{
  if (name[0] == '.')
    {
      if (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'))
        return TRUE;

      if (strcmp (name, ".git") == 0)
        {
          *is_tree = TRUE;
          if (!self->whole)
            return TRUE;
        }
    }

  if (type == DT_UNKNOWN)
    {
      struct stat st;

      if (fstatat (fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        type = (guchar) IFTODT (st.st_mode);
    }

  if (type == DT_SOCK && self->sockets != NULL)
    return add_socket (self, name);

  if (type != DT_DIR || (!self->whole && strcmp (name, "node_modules") == 0))
    return TRUE;

  if (++self->n_dirs > self->max_dirs)
    return set_too_large (self, error);

  g_byte_array_append (self->names, (const guint8 *) name, (guint) strlen (name) + 1);
  return TRUE;
}

/* What the kernel fills in for getdents64(), which has no header of its own. */
typedef struct
{
  guint64        inode;
  gint64         offset;
  unsigned short length;
  guchar         type;
  char           name[];
} Entry;

static gboolean
may_go_on (Scan    *self,
           GError **error)
{
  if (g_cancellable_set_error_if_cancelled (self->cancellable, error))
    return FALSE;

  self->stopped = self->deadline != 0 && g_get_monotonic_time () > self->deadline;

  return !self->stopped;
}

/* Reads the names of the directories in the last level. */
static gboolean
read_level (Scan    *self,
            GError **error)
{
  const int fd = get_level (self, self->levels->len - 1)->fd;
  gboolean is_tree = FALSE;
  Level *level;
  long length;

  while ((length = syscall (SYS_getdents64, fd, self->buffer, BUFFER_SIZE)) > 0)
    {
      const char *at = self->buffer;
      const char *end = at + length;

      while (at < end)
        {
          const Entry *entry = (gconstpointer) at;

          if (!take_name (self, fd, at + offsetof (Entry, name), entry->type, &is_tree, error))
            return FALSE;

          at += entry->length;
        }

      if (!may_go_on (self, error))
        return FALSE;
    }

  level = get_level (self, self->levels->len - 1);
  level->end = self->names->len;

  if (is_tree && self->found != NULL && self->levels->len > 1)
    g_ptr_array_add (self->found, build_path (self));

  return TRUE;
}

/* Of deep trees the upper part is closed. It is opened from below again. */
static void
close_upper (Scan *self)
{
  Level *level = get_level (self, self->levels->len - self->n_open);
  struct stat st;

  if (self->n_open < MAX_OPEN)
    return;

  if (fstat (level->fd, &st) == 0)
    {
      level->device = st.st_dev;
      level->inode = st.st_ino;
    }

  _sbx_clear_fd (&level->fd);
  self->n_open--;
}

/* Enters the next directory of the last level. One that is gone or closed to us is empty. */
static gboolean
enter (Scan    *self,
       GError **error)
{
  Level *parent = get_level (self, self->levels->len - 1);
  const char *name = (const char *) self->names->data + parent->next;
  Level level = { .fd = -1, .name = parent->next };

  level.start = level.next = level.end = self->names->len;
  parent->next += strlen (name) + 1;

  level.fd = openat (parent->fd, name,
                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (level.fd < 0)
    return TRUE;

  g_array_append_val (self->levels, level);
  self->n_open++;
  close_upper (self);

  return read_level (self, error);
}

/* Leaves the last level; the one above may have to be opened again. */
static gboolean
leave (Scan    *self,
       GError **error)
{
  Level *level = get_level (self, self->levels->len - 1);
  sbx_autofd int fd = g_steal_fd (&level->fd);
  g_autofree char *shown = NULL;
  struct stat st;

  self->n_open--;
  g_byte_array_set_size (self->names, (guint) level->start);
  g_array_set_size (self->levels, self->levels->len - 1);

  level = self->levels->len > 0 ? get_level (self, self->levels->len - 1) : NULL;
  if (level == NULL || level->fd >= 0)
    return TRUE;

  level->fd = openat (fd, "..", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (level->fd >= 0 && fstat (level->fd, &st) == 0 && st.st_dev == level->device &&
      st.st_ino == level->inode)
    {
      self->n_open++;
      return TRUE;
    }

  if (self->sockets != NULL)
    {
      self->stopped = TRUE;
      return FALSE;
    }

  /* Whether there is a repository in what was moved is not known. */
  shown = _sbx_path_show (self->root);
  g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
               _("“%s” was changed while it was looked through; try again"), shown);
  return FALSE;
}

static gboolean
run (Scan    *self,
     GError **error)
{
  guint n_entered = 0;

  if (!read_level (self, error))
    return FALSE;

  while (self->levels->len > 0)
    {
      const Level *level = get_level (self, self->levels->len - 1);

      if (n_entered++ % CHECK_EVERY == 0 && !may_go_on (self, error))
        return FALSE;

      if (!(level->next < level->end ? enter (self, error) : leave (self, error)))
        return FALSE;
    }

  return TRUE;
}

static void
clear_level (gpointer data)
{
  _sbx_clear_fd (&((Level *) data)->fd);
}

static gboolean
scan (Scan    *self,
      GError **error)
{
  g_autoptr(GArray) levels = g_array_new (FALSE, FALSE, sizeof (Level));
  g_autoptr(GByteArray) names = g_byte_array_new ();
  g_autofree char *buffer = g_malloc (BUFFER_SIZE);
  Level level = { 0 };

  level.fd = open (self->root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (level.fd < 0)
    return TRUE;

  self->levels = levels;
  self->names = names;
  self->buffer = buffer;
  g_array_set_clear_func (levels, clear_level);
  g_array_append_val (levels, level);
  self->n_open = 1;

  return run (self, error);
}

gboolean
_sbx_scan_trees (const char    *root,
                 guint          max_dirs,
                 GPtrArray     *found,
                 GCancellable  *cancellable,
                 GError       **error)
{
  Scan self = {
    .root = root,
    .max_dirs = max_dirs,
    .found = found,
    .cancellable = cancellable,
  };

  return scan (&self, error);
}

gboolean
_sbx_scan_sockets (const char    *root,
                   guint          max_dirs,
                   gint64         deadline,
                   gboolean       whole,
                   GPtrArray     *sockets,
                   gboolean      *is_complete,
                   GCancellable  *cancellable,
                   GError       **error)
{
  Scan self = {
    .root = root,
    .max_dirs = max_dirs,
    .cancellable = cancellable,
    .sockets = sockets,
    .whole = whole,
    .deadline = deadline,
  };
  const gboolean ok = scan (&self, error);

  *is_complete = ok;

  return ok || self.stopped;
}
