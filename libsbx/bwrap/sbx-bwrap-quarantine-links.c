/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-quarantine-struct-private.h"

#include "core/sbx-protection-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-write-private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

/*
 * What was put aside may have another name where a sandbox can write, a hard link: by that it could
 * be changed after it was looked at and brought back. So it becomes a file of its own.
 */

#define MAX_FILE_SIZE (16 * 1024 * 1024)
#define MAX_SIZE (64 * 1024 * 1024)   /* of what is copied for one name */
#define MAX_ENTRIES 1000
#define MAX_DEPTH 3

typedef struct
{
  guint n_entries;
  off_t size;
} Count;

static gboolean
break_file (Count             *count,
            int                dir_fd,
            const char        *name,
            const struct stat *info)
{
  g_autoptr(GBytes) bytes = NULL;

  count->size += MIN (info->st_size, MAX_SIZE);
  if (info->st_size > MAX_FILE_SIZE || count->size > MAX_SIZE)
    return FALSE;

  bytes = _sbx_read_beneath (dir_fd, name, MAX_FILE_SIZE, NULL, NULL);

  return bytes != NULL &&
         _sbx_write_staged (dir_fd, name, bytes, info->st_mode & 0777, NULL);
}

static gboolean break_below (Count      *count,
                             int         dir_fd,
                             const char *name,
                             guint       depth);

static gboolean
break_one (Count      *count,
           int         dir_fd,
           const char *name,
           guint       depth)
{
  struct stat info;

  if (fstatat (dir_fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT;

  if (S_ISREG (info.st_mode) && info.st_nlink > 1)
    return break_file (count, dir_fd, name, &info);

  return !S_ISDIR (info.st_mode) || break_below (count, dir_fd, name, depth);
}

/* What is in a directory, as far as that is not too much. The names are listed first: files that
 * take the places of others would come again. */
static gboolean
break_below (Count      *count,
             int         dir_fd,
             const char *name,
             guint       depth)
{
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  sbx_autofd int fd = openat (dir_fd, name,
                              O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  const int listed_fd = fd >= 0 ? fcntl (fd, F_DUPFD_CLOEXEC, 3) : -1;
  DIR *dir = listed_fd >= 0 ? fdopendir (listed_fd) : NULL;
  const struct dirent *entry;
  gboolean ok = depth > 0;

  if (dir == NULL)
    return FALSE;

  while ((entry = readdir (dir)) != NULL)
    {
      if (strcmp (entry->d_name, ".") == 0 || strcmp (entry->d_name, "..") == 0)
        continue;

      if (depth == 0 || ++count->n_entries > MAX_ENTRIES)
        {
          closedir (dir);
          return FALSE;
        }

      g_ptr_array_add (names, g_strdup (entry->d_name));
    }

  closedir (dir);
  for (guint i = 0; i < names->len; i++)
    if (!break_one (count, fd, g_ptr_array_index (names, i), depth - 1))
      ok = FALSE;

  return ok || names->len == 0;
}

gboolean
_sbx_quarantine_break_links (int         dir_fd,
                             const char *name)
{
  Count count = { 0, 0 };

  return !SBX_PROTECTS (T24) || break_one (&count, dir_fd, name, MAX_DEPTH);
}

/* Whoever had something open when it was put aside could give it another name later. Nothing of the
 * sandbox runs any more. */
void
_sbx_quarantine_break_all (SbxBwrapQuarantine *self)
{
  g_autofree char *path = g_build_filename ("quarantine", self->id, NULL);
  sbx_autofd int data_fd = _sbx_bwrap_state_open_data (self->data_path, FALSE, NULL);
  sbx_autofd int fd = data_fd < 0 ? -1 : _sbx_open_beneath (data_fd, path, O_RDONLY | O_DIRECTORY,
                                                            0, NULL);
  g_autoptr(GPtrArray) items = fd < 0 ? NULL : _sbx_quarantine_items_read (fd);

  for (guint i = 0; items != NULL && i < items->len; i++)
    {
      const SbxQuarantineItem *item = g_ptr_array_index (items, i);
      g_autofree char *name = g_path_get_basename (item->place);

      _sbx_quarantine_break_links (fd, name);
    }
}
