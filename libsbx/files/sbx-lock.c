/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "files/sbx-fd-private.h"
#include "files/sbx-lock-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-path-private.h"

#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <sys/stat.h>

#define MAX_ATTEMPTS 64

/*
 * POSIX locks never conflict within one process, and closing any descriptor of a file drops them
 * all. So this process keeps its own list, looks there before it opens a lock file, and keeps a
 * second descriptor of a file that it has locked already rather than close it.
 */
typedef struct
{
  dev_t device;
  ino_t inode;
  /* A forked child inherits the list, but not the locks. */
  pid_t owner;
  int fd;
  /* Further descriptors of the same file, which a race against a rename made us open. */
  GArray *kept;
} Held;

static GMutex table_lock;
static GSList *table;

static void
held_free (Held *held)
{
  for (guint i = 0; i < held->kept->len; i++)
    close (g_array_index (held->kept, int, i));

  g_array_unref (held->kept);
  close (held->fd);
  g_free (held);
}

/* What a parent process holds says nothing about this one. Its copies are ours to forget. */
static void
drop_inherited (void)
{
  GSList *next;

  for (GSList *l = table; l != NULL; l = next)
    {
      Held *held = l->data;

      next = l->next;

      if (held->owner != getpid ())
        {
          table = g_slist_delete_link (table, l);
          g_array_unref (held->kept);
          g_free (held);
        }
    }
}

static Held *
find_held (const struct stat *info)
{
  for (GSList *l = table; l != NULL; l = l->next)
    {
      Held *held = l->data;

      if (held->device == info->st_dev && held->inode == info->st_ino)
        return held;
    }

  return NULL;
}

static void
set_busy (GError    **error,
          const char *name)
{
  _sbx_path_error_code (error, G_IO_ERROR_BUSY, name, _("The lock is held by somebody else"));
}

/* The file may have been deleted, or another put in its place, before the lock was ours. */
static gboolean
still_there (int                dir_fd,
             const char        *name,
             const struct stat *info)
{
  struct stat now;

  return fstatat (dir_fd, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_dev == info->st_dev &&
         now.st_ino == info->st_ino;
}

/* Locks what was opened. FALSE without an error: the file is not the one of that name any more. */
static gboolean
lock_opened (int         dir_fd,
             const char *name,
             int        *fd,
             GError    **error)
{
  const struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
  struct stat info;
  Held *held;

  if (fstat (*fd, &info) < 0 || !S_ISREG (info.st_mode))
    {
      _sbx_path_error_code (error, G_IO_ERROR_NOT_REGULAR_FILE, name,
                            _("A lock file must be a regular file"));
      return FALSE;
    }

  held = find_held (&info);
  if (held != NULL)
    {
      g_array_append_val (held->kept, *fd);
      *fd = -1;
      set_busy (error, name);
      return FALSE;
    }

  if (fcntl (*fd, F_SETLK, &whole) < 0)
    {
      if (errno == EACCES || errno == EAGAIN)
        set_busy (error, name);
      else
        _sbx_path_error (error, errno, name, _("Could not be locked"));

      return FALSE;
    }

  if (!still_there (dir_fd, name, &info))
    return FALSE;

  held = g_new0 (Held, 1);
  held->device = info.st_dev;
  held->inode = info.st_ino;
  held->owner = getpid ();
  held->fd = *fd;
  held->kept = g_array_new (FALSE, FALSE, sizeof (int));
  table = g_slist_prepend (table, held);

  return TRUE;
}

static int
try_once (int         dir_fd,
          const char *name,
          gboolean    create,
          GError    **error)
{
  sbx_autofd int fd = -1;
  struct stat info;

  /* Looked up before it is opened, since a descriptor too many costs one for ever. */
  if (fstatat (dir_fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && find_held (&info) != NULL)
    {
      set_busy (error, name);
      return -1;
    }

  fd = _sbx_open_beneath (dir_fd, name,
                          O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | (create ? O_CREAT : 0),
                          0600, error);

  if (fd < 0 || !lock_opened (dir_fd, name, &fd, error))
    return -1;

  return g_steal_fd (&fd);
}

static int
try_locked (int         dir_fd,
            const char *name,
            gboolean    create,
            GError    **error)
{
  drop_inherited ();

  for (int i = 0; i < MAX_ATTEMPTS; i++)
    {
      g_autoptr(GError) local_error = NULL;
      const int fd = try_once (dir_fd, name, create, &local_error);

      if (fd >= 0)
        return fd;

      if (local_error != NULL)
        {
          g_propagate_error (error, g_steal_pointer (&local_error));
          return -1;
        }
    }

  set_busy (error, name);
  return -1;
}

int
_sbx_lock_try (int         dir_fd,
               const char *name,
               gboolean    create,
               GError    **error)
{
  int fd;

  if (!_sbx_path_check_name (name, error))
    return -1;

  g_mutex_lock (&table_lock);
  fd = try_locked (dir_fd, name, create, error);
  g_mutex_unlock (&table_lock);

  return fd;
}

/* Takes what @fd holds out of the list; NULL for the copy of a forked child. */
static Held *
take_held (int fd)
{
  drop_inherited ();

  for (GSList *l = table; l != NULL; l = l->next)
    {
      Held *held = l->data;

      if (held->fd == fd)
        {
          table = g_slist_delete_link (table, l);
          return held;
        }
    }

  return NULL;
}

void
_sbx_lock_release (int fd)
{
  Held *held;

  /* Closed under the mutex as well, or another thread could lock the file just before. */
  g_mutex_lock (&table_lock);
  held = take_held (fd);

  if (held != NULL)
    held_free (held);
  else
    close (fd);

  g_mutex_unlock (&table_lock);
}
