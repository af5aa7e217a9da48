/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-watch-parts-private.h"

#include "bwrap/sbx-bwrap-plan-builder-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef F_OWNER_TID
#define F_OWNER_TID 0
#endif

/* A copy of a larger file is not kept. */
#define MAX_CONTENT (1024 * 1024)

static void
entry_free (gpointer data)
{
  SbxBwrapWatchEntry *entry = data;

  g_free (entry->path);
  g_free (entry->host);
  g_clear_pointer (&entry->content, g_bytes_unref);
  g_free (entry);
}

static GBytes *
read_all (int fd)
{
  g_autofree char *data = g_malloc (MAX_CONTENT + 1);
  gsize size = 0;
  gssize n;

  while ((n = pread (fd, data + size, MAX_CONTENT + 1 - size, (off_t) size)) != 0)
    {
      if (n < 0 && errno != EINTR)
        return NULL;
      if (n > 0)
        size += (gsize) n;
    }

  return size <= MAX_CONTENT ? g_bytes_new (data, size) : NULL;
}

static gboolean
is_bind (const SbxBwrapMount *mount)
{
  return mount->kind == SBX_BWRAP_MOUNT_BIND || mount->kind == SBX_BWRAP_MOUNT_RO_BIND;
}

/* The mount that the place of the one numbered @number is in. */
static const SbxBwrapMount *
find_holder (SbxBwrapPlan *plan,
             guint         number)
{
  const SbxBwrapMount *mount = g_ptr_array_index (plan->mounts, number);
  const SbxBwrapMount *holder = NULL;

  for (guint i = 0; i < plan->mounts->len; i++)
    {
      const SbxBwrapMount *other = g_ptr_array_index (plan->mounts, i);

      if (i == number || other->kind == SBX_BWRAP_MOUNT_SYMLINK ||
          other->kind == SBX_BWRAP_MOUNT_REMOUNT_RO || other->kind == SBX_BWRAP_MOUNT_DIR ||
          strcmp (other->destination, mount->destination) == 0 ||
          !_sbx_bwrap_path_is_below (mount->destination, other->destination))
        continue;

      if (holder == NULL || strlen (other->destination) >= strlen (holder->destination))
        holder = other;
    }

  return holder;
}

/* Where the host has what is at the place of @mount in @holder. */
static char *
get_host_path (const SbxBwrapMount *holder,
               const SbxBwrapMount *mount)
{
  const char *rest = mount->destination + strlen (holder->destination);

  while (*rest == '/')
    rest++;

  return g_build_filename (holder->source, rest, NULL);
}

static gboolean
git_may_change (const SbxBwrapMount *mount)
{
  static const char * const names[] = { "HEAD", "index", "ORIG_HEAD", "FETCH_HEAD" };
  const char *name = strrchr (mount->destination, '/') + 1;

  for (gsize i = 0; mount->origin == SBX_BWRAP_ORIGIN_REPOSITORY && i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (name, names[i]))
      return TRUE;

  return FALSE;
}

static void
look_at_source (SbxBwrapWatchEntry *entry)
{
  struct stat st;
  g_autoptr(GBytes) content = NULL;

  if (!_sbx_bwrap_watch_read (entry->host, &st, &content, NULL, NULL) ||
      st.st_dev != entry->device || st.st_ino != entry->inode)
    return;

  entry->mode = st.st_mode & 07777;
  entry->uid = st.st_uid;
  entry->gid = st.st_gid;

  if (entry->read_only)
    entry->content = g_steal_pointer (&content);
}

GPtrArray *
_sbx_bwrap_watch_list_new (SbxBwrapPlan *plan)
{
  GPtrArray *entries = g_ptr_array_new_with_free_func (entry_free);

  for (guint i = 0; i < plan->mounts->len; i++)
    {
      const SbxBwrapMount *mount = g_ptr_array_index (plan->mounts, i);
      const SbxBwrapMount *holder;
      SbxBwrapWatchEntry *entry;
      gboolean hidden = FALSE;

      for (guint j = i + 1; j < plan->mounts->len && !hidden; j++)
        hidden = is_bind (g_ptr_array_index (plan->mounts, j)) &&
                 g_str_equal (((const SbxBwrapMount *) plan->mounts->pdata[j])->destination,
                              mount->destination);

      if (!is_bind (mount) || mount->inode == 0 || hidden)
        continue;

      entry = g_new0 (SbxBwrapWatchEntry, 1);
      entry->path = g_strdup (mount->destination);
      entry->read_only = mount->kind == SBX_BWRAP_MOUNT_RO_BIND;
      entry->is_directory = mount->is_directory;
      entry->device = mount->device;
      entry->inode = mount->inode;
      g_ptr_array_add (entries, entry);

      holder = find_holder (plan, i);
      if (holder == NULL || !is_bind (holder))
        continue;

      entry->host = get_host_path (holder, mount);
      entry->free = holder->kind == SBX_BWRAP_MOUNT_BIND;
      entry->may_change = git_may_change (mount);
      entry->is_worktrees = mount->origin == SBX_BWRAP_ORIGIN_REPOSITORY && mount->is_directory &&
                            g_str_has_suffix (mount->destination, "/worktrees");
      if (g_str_equal (entry->host, mount->source))
        look_at_source (entry);
      else
        g_clear_pointer (&entry->host, g_free);
    }

  return entries;
}

/* Whether anybody has the file of @fd open for writing, whether through this path or another: then
 * the kernel gives no lease for reading. Who opens it meanwhile is told to this thread, by a signal
 * that must not reach the program. */
static gboolean
has_writer (int fd)
{
  const struct f_owner_ex owner = { F_OWNER_TID, (pid_t) syscall (SYS_gettid) };
  const struct timespec now = { 0, 0 };
  sigset_t io, before;
  gboolean result;

  sigemptyset (&io);
  sigaddset (&io, SIGIO);
  if (pthread_sigmask (SIG_BLOCK, &io, &before) != 0)
    return TRUE;

  result = fcntl (fd, F_SETOWN_EX, &owner) != 0 || fcntl (fd, F_SETLEASE, F_RDLCK) != 0;
  if (!result)
    fcntl (fd, F_SETLEASE, F_UNLCK);

  while (sigtimedwait (&io, NULL, &now) > 0)
    result = TRUE;
  pthread_sigmask (SIG_SETMASK, &before, NULL);

  return result;
}

gboolean
_sbx_bwrap_watch_read (const char   *host,
                       struct stat  *st,
                       GBytes      **content,
                       gboolean     *writer,
                       GError      **error)
{
  sbx_autofd int root = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  sbx_autofd int path_fd = -1;
  sbx_autofd int fd = -1;
  g_autofree char *path = NULL;

  path_fd = _sbx_open_beneath (root, host + 1, O_PATH | O_NOFOLLOW, 0, error);
  if (path_fd < 0)
    return FALSE;

  if (fstat (path_fd, st) != 0)
    {
      g_set_error_literal (error, G_IO_ERROR, (int) g_io_error_from_errno (errno),
                           g_strerror (errno));
      return FALSE;
    }

  if (!S_ISREG (st->st_mode))
    return TRUE;

  path = g_strdup_printf ("/proc/self/fd/%d", path_fd);
  fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return TRUE;

  *content = st->st_size <= MAX_CONTENT ? read_all (fd) : NULL;
  if (writer != NULL)
    *writer = has_writer (fd);

  return TRUE;
}
