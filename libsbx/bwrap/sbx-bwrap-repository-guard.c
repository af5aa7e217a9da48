/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-plan-builder-private.h"
#include "core/sbx-error.h"
#include "core/sbx-protection-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-path-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A writable repository. A commit must work inside, and nothing written inside may make git on the
 * host run a command: so what names commands is read-only, what is missing of it is there as
 * something neutral that git accepts, and what could be moved away to be replaced is pinned by a
 * bind on itself.
 */

#define MAX_NEUTRAL 64
#define HOLD_TRIES 100
#define HOLD_PAUSE_US 2000
#define MARK_SECONDS 0x736278   /* in March 1970 */
#define WORKTREES "worktrees"

typedef enum
{
  GUARD_PIN,         /* writable, cannot be moved */
  GUARD_PROTECT,     /* read-only if it is there */
  GUARD_HOLD,        /* read-only, and there in any case */
} GuardKind;

typedef struct
{
  const char *name;
  GuardKind   kind;
  gboolean    is_directory;
  const char *content;   /* of a neutral file */
} Guard;

static const Guard repository[] = {
  { "objects", GUARD_PIN, TRUE, NULL },
  { "refs", GUARD_PIN, TRUE, NULL },
  { "hooks", GUARD_HOLD, TRUE, NULL },
  { "info", GUARD_HOLD, TRUE, NULL },
  { "modules", GUARD_HOLD, TRUE, NULL },
  /* Where remotes were before they were in the configuration, and are found still. */
  { "remotes", GUARD_HOLD, TRUE, NULL },
  { "branches", GUARD_HOLD, TRUE, NULL },
  { "config", GUARD_HOLD, FALSE, "" },
  { "config.worktree", GUARD_HOLD, FALSE, "" },
  { "commondir", GUARD_HOLD, FALSE, "./\n" },
  { "gitdir", GUARD_HOLD, FALSE, "" },
  /* The other worktrees of the user, also of one who has the first one made only later. */
  { WORKTREES, GUARD_HOLD, TRUE, NULL },
};

/* What the worktree of the user beside the repository has its state in. */
static const Guard foreign[] = {
  { "HEAD", GUARD_PROTECT, FALSE, NULL },
  { "index", GUARD_PROTECT, FALSE, NULL },
};

static const Guard entry_of_worktree[] = {
  { "commondir", GUARD_PROTECT, FALSE, NULL },
  { "gitdir", GUARD_PROTECT, FALSE, NULL },
  { "modules", GUARD_HOLD, TRUE, NULL },
  { "config.worktree", GUARD_HOLD, FALSE, "" },
  { "config", GUARD_PROTECT, FALSE, NULL },
  { "hooks", GUARD_PROTECT, TRUE, NULL },
  { "info", GUARD_PROTECT, TRUE, NULL },
};

static gboolean
refuse_kind (const char  *path,
             GError     **error)
{
  g_autofree char *shown = _sbx_path_show (path);

  g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
               _("“%s” is a symbolic link, or not what git makes there, and cannot be protected; "
                 "ask "
                 "to read the repository only, or put the real thing in its place"), shown);
  return FALSE;
}

static gboolean
has_content (int         directory_fd,
             const char *name,
             const char *content)
{
  g_autoptr(GBytes) found = _sbx_read_beneath (directory_fd, name, MAX_NEUTRAL, NULL, NULL);
  const gsize length = strlen (content);

  return found != NULL && g_bytes_get_size (found) == length &&
         memcmp (g_bytes_get_data (found, NULL), content, length) == 0;
}

/* Git takes this one away itself whenever it is empty: what is in it does not matter, and whoever
 * is the last one may do the same. */
static gboolean
is_shared (const char *name)
{
  return strcmp (name, WORKTREES) == 0;
}

/* What a session makes has a time that nothing else has: another one, whose notes are kept in
 * another place, knows it by that. */
static gboolean
is_marked (int         directory_fd,
           const char *name)
{
  struct stat st;

  return fstatat (directory_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
         st.st_mtim.tv_sec == MARK_SECONDS && st.st_mtim.tv_nsec == 0;
}

static void
mark (int         directory_fd,
      const char *name)
{
  const struct timespec times[] = { { .tv_sec = MARK_SECONDS }, { .tv_sec = MARK_SECONDS } };

  /* Without it only sessions of the same data directory know whose it is. */
  (void) utimensat (directory_fd, name, times, AT_SYMLINK_NOFOLLOW);
}

static void
add_placeholder (SbxBwrapBuilder *self,
                 int              git_fd,
                 const char      *path,
                 const Guard     *guard,
                 gboolean         exists)
{
  SbxBwrapPlaceholder *placeholder = g_new0 (SbxBwrapPlaceholder, 1);

  struct stat st;

  placeholder->path = g_strdup (path);
  if (fstat (git_fd, &st) == 0)
    {
      placeholder->parent_device = st.st_dev;
      placeholder->parent_inode = st.st_ino;
    }
  placeholder->is_directory = guard->is_directory;
  placeholder->content = g_strdup (guard->content);
  placeholder->exists = exists;
  placeholder->marked = exists && (is_shared (guard->name) || is_marked (git_fd, guard->name));
  g_ptr_array_add (self->plan->placeholders, placeholder);
}

/* Whether what is there could be a placeholder: of a file by what is in it. An empty directory or
 * configuration is the user's as well as anybody's. */
static gboolean
is_neutral (int          git_fd,
            const Guard *guard)
{
  g_autofree char *proc_path = NULL;
  g_autoptr(GDir) dir = NULL;
  sbx_autofd int fd = -1;

  if (!guard->is_directory)
    return has_content (git_fd, guard->name, guard->content);

  fd = openat (git_fd, guard->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  proc_path = g_strdup_printf ("/proc/self/fd/%d", fd);
  dir = fd >= 0 ? g_dir_open (proc_path, 0, NULL) : NULL;

  return dir != NULL && (is_shared (guard->name) || g_dir_read_name (dir) == NULL);
}

static gboolean
add_guard (SbxBwrapBuilder  *self,
           int               git_fd,
           SbxReachEntry    *entry,
           const Guard      *guard,
           GError          **error)
{
  g_autofree char *path = g_build_filename (entry->path, guard->name, NULL);
  const SbxBwrapMountKind kind = guard->kind == GUARD_PIN ? SBX_BWRAP_MOUNT_BIND
                                                          : SBX_BWRAP_MOUNT_RO_BIND;
  const char *reason = guard->kind == GUARD_PIN
                         ? N_("a part of the repository that must stay in place")
                         : N_("what git on the host would follow");
  sbx_autofd int fd = openat (git_fd, guard->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  struct stat st;

  if (fd < 0 && errno != ENOENT)
    return refuse_kind (path, error);

  if (fd < 0)
    {
      if (guard->kind == GUARD_HOLD)
        {
          SbxBwrapMount *mount;

          add_placeholder (self, git_fd, path, guard, FALSE);
          mount = _sbx_bwrap_builder_add (self, kind, SBX_BWRAP_ORIGIN_REPOSITORY, path, path,
                                          N_("something neutral where git on the host would look"));
          mount->is_directory = guard->is_directory;
          mount->entry = g_object_ref (entry);
        }

      return TRUE;
    }

  if (fstat (fd, &st) < 0 || !(guard->is_directory ? S_ISDIR (st.st_mode) : S_ISREG (st.st_mode)))
    return refuse_kind (path, error);

  if (guard->kind == GUARD_HOLD && is_neutral (git_fd, guard))
    add_placeholder (self, git_fd, path, guard, TRUE);

  _sbx_bwrap_builder_add_seen (self, kind, SBX_BWRAP_ORIGIN_REPOSITORY, path, fd, entry, reason);
  return TRUE;
}

static gboolean
add_guards (SbxBwrapBuilder  *self,
            int               git_fd,
            SbxReachEntry    *entry,
            const Guard      *guards,
            gsize             n_guards,
            GError          **error)
{
  gsize i;

  for (i = 0; i < n_guards; i++)
    if (!add_guard (self, git_fd, entry, &guards[i], error))
      return FALSE;

  return TRUE;
}

gboolean
_sbx_bwrap_repository_guard (SbxBwrapBuilder  *self,
                             int               git_fd,
                             SbxReachEntry    *entry,
                             GError          **error)
{
  _sbx_bwrap_builder_add_entry (self, SBX_BWRAP_MOUNT_BIND, SBX_BWRAP_ORIGIN_REPOSITORY, entry,
                                N_("the git directory of what may be written"));

  if (!SBX_PROTECTS (T28))
    return TRUE;

  if (entry->git_part == SBX_GIT_PART_WORKTREE)
    return add_guards (self, git_fd, entry, entry_of_worktree, G_N_ELEMENTS (entry_of_worktree),
                       error);

  return add_guards (self, git_fd, entry, repository, G_N_ELEMENTS (repository), error) &&
         (entry->git_part != SBX_GIT_PART_COMMON ||
          add_guards (self, git_fd, entry, foreign, G_N_ELEMENTS (foreign), error));
}

/* Opens where a placeholder belongs; -1 when that is not there any more. */
static int
open_parent (const SbxBwrapPlaceholder *self)
{
  g_autofree char *parent = g_path_get_dirname (self->path);
  sbx_autofd int root_fd = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  sbx_autofd int fd = _sbx_open_beneath (root_fd, parent + 1, O_PATH | O_DIRECTORY, 0, NULL);
  struct stat st;

  if (fd < 0 || fstat (fd, &st) < 0 || st.st_dev != self->parent_device ||
      st.st_ino != self->parent_inode)
    {
      errno = ESTALE;
      return -1;
    }

  return g_steal_fd (&fd);
}

static gboolean
write_whole (int         fd,
             const char *content)
{
  const gsize length = strlen (content);
  const gssize n = write (fd, content, length);

  if (n >= 0 && n < (gssize) length)
    errno = ENOSPC;

  return n == (gssize) length;
}

/* What is half of it, as on a full disk, would keep git on the host from working: so it gets its
 * name when it is whole. FALSE with errno. */
static gboolean
make_file (int         directory_fd,
           const char *name,
           const char *content)
{
  g_autofree char *path = NULL;
  sbx_autofd int fd = openat (directory_fd, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0644);
  int errsv;

  if (fd >= 0)
    {
      path = g_strdup_printf ("/proc/self/fd/%d", fd);
      return write_whole (fd, content) &&
             linkat (AT_FDCWD, path, directory_fd, name, AT_SYMLINK_FOLLOW) == 0;
    }

  /* Not every file system has files without a name. */
  fd = openat (directory_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (fd < 0 || write_whole (fd, content))
    return fd >= 0;

  errsv = errno;
  unlinkat (directory_fd, name, 0);
  errno = errsv;

  return FALSE;
}

static gboolean
make_one (SbxBwrapPlaceholder  *self,
          int                   parent_fd,
          GError              **error)
{
  const char *name = strrchr (self->path, '/') + 1;
  g_autofree char *shown = NULL;
  struct stat st;
  gboolean done;

  if (self->is_directory)
    done = mkdirat (parent_fd, name, 0755) == 0;
  else
    done = make_file (parent_fd, name, self->content);

  if (done)
    mark (parent_fd, name);

  if (done && fstatat (parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
    {
      self->made = TRUE;
      self->device = st.st_dev;
      self->inode = st.st_ino;
      return TRUE;
    }

  /* Another session that opens the same repository makes the same. */
  if (errno == EEXIST)
    {
      const Guard guard = { name, GUARD_HOLD, self->is_directory, self->content };

      self->exists = is_neutral (parent_fd, &guard);
      self->marked = self->exists && (is_shared (name) || is_marked (parent_fd, name));
      if (self->exists)
        return TRUE;

      errno = EEXIST;
    }

  shown = _sbx_path_show (self->path);
  g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
               _("“%s”, which protects the repository, could not be made: %s"), shown,
               g_strerror (errno));
  return FALSE;
}

/* A session whose notes are kept elsewhere may have taken away what was there. */
static void
look_again (SbxBwrapPlaceholder *placeholder,
            int                  parent_fd,
            SbxBwrapMount       *mount)
{
  const char *name = strrchr (placeholder->path, '/') + 1;
  struct stat st;

  if (fstatat (parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
      st.st_dev == mount->device && st.st_ino == mount->inode)
    return;

  placeholder->exists = placeholder->marked = FALSE;
  _sbx_clear_fd (&mount->source_fd);
}

/* Opens what is now there for its mount. */
static gboolean
open_for_mount (SbxBwrapPlaceholder  *placeholder,
                int                   parent_fd,
                SbxBwrapMount        *mount,
                GError              **error)
{
  const char *name = strrchr (placeholder->path, '/') + 1;
  struct stat st;

  if (mount->source_fd >= 0)
    return TRUE;

  mount->source_fd = openat (parent_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

  if (mount->source_fd < 0 || fstat (mount->source_fd, &st) < 0 ||
      (placeholder->made && st.st_ino != placeholder->inode))
    return refuse_kind (placeholder->path, error);

  mount->device = st.st_dev;
  mount->inode = st.st_ino;
  if (mount->late)
    _sbx_clear_fd (&mount->source_fd);

  return TRUE;
}

static gboolean
make_placeholder (SbxBwrapPlaceholder  *placeholder,
                  SbxBwrapMount        *mount,
                  GError              **error)
{
  sbx_autofd int parent_fd = open_parent (placeholder);

  if (parent_fd < 0)
    return refuse_kind (placeholder->path, error);

  if (placeholder->exists)
    look_again (placeholder, parent_fd, mount);

  return (placeholder->exists || placeholder->made || make_one (placeholder, parent_fd, error)) &&
         open_for_mount (placeholder, parent_fd, mount, error);
}

/* Those that a plan has a mount for: one that something else covers is not needed. */
static GHashTable *
index_mounts (SbxBwrapPlan *self)
{
  GHashTable *mounts = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < self->mounts->len; i++)
    {
      SbxBwrapMount *mount = g_ptr_array_index (self->mounts, i);

      if (mount->kind == SBX_BWRAP_MOUNT_RO_BIND)
        g_hash_table_replace (mounts, mount->destination, mount);
    }

  return mounts;
}

gboolean
_sbx_bwrap_plan_make_placeholders (SbxBwrapPlan  *self,
                                   GError       **error)
{
  g_autoptr(GHashTable) mounts = index_mounts (self);

  for (guint i = 0; i < self->placeholders->len; i++)
    {
      SbxBwrapPlaceholder *placeholder = g_ptr_array_index (self->placeholders, i);
      SbxBwrapMount *mount = g_hash_table_lookup (mounts, placeholder->path);

      if (mount != NULL && !make_placeholder (placeholder, mount, error))
        return FALSE;
    }

  return TRUE;
}

/* Whoever takes placeholders away asks for the lock for itself alone. It is not a record lock: two
 * sessions of one process have one each. */
int
_sbx_bwrap_placeholder_hold (const SbxBwrapPlaceholder *self)
{
  g_autofree char *path = _sbx_bwrap_placeholder_dup_lock (self->path);
  sbx_autofd int root_fd = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  sbx_autofd int fd = _sbx_open_beneath (root_fd, path + 1, O_RDONLY | O_DIRECTORY, 0, NULL);
  guint i;

  for (i = 0; fd >= 0 && i < HOLD_TRIES; i++)
    {
      if (flock (fd, LOCK_SH | LOCK_NB) == 0)
        return g_steal_fd (&fd);

      /* Who takes away has it for a moment only; who keeps it, keeps away who takes away. */
      g_usleep (HOLD_PAUSE_US);
    }

  return -1;
}

char *
_sbx_bwrap_placeholder_dup_lock (const char *path)
{
  char *parent = g_path_get_dirname (path);
  g_autofree char *above = g_path_get_dirname (parent);

  /* A repository may have hundreds of these, and an open session keeps each lock open. */
  if (g_str_has_suffix (above, "/" WORKTREES))
    {
      g_free (parent);
      return g_steal_pointer (&above);
    }

  return parent;
}

/* FALSE when another session needs what is in the directory. A process that was forked to become
 * another program has a copy of our lock for as long as that takes, so one look is not enough. */
static gboolean
lock_alone (int         root_fd,
            const char *path,
            int        *lock_fd)
{
  g_autofree char *lock_path = _sbx_bwrap_placeholder_dup_lock (path);
  guint i;

  *lock_fd = _sbx_open_beneath (root_fd, lock_path + 1, O_RDONLY | O_DIRECTORY, 0, NULL);

  for (i = 0; i < HOLD_TRIES; i++)
    {
      if (*lock_fd < 0 || flock (*lock_fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return TRUE;

      g_usleep (HOLD_PAUSE_US);
    }

  return FALSE;
}

gboolean
_sbx_bwrap_placeholder_remove (const char  *path,
                               gboolean     is_directory,
                               const char  *content,
                               dev_t        device,
                               ino_t        inode,
                               GError     **error)
{
  g_autofree char *parent = g_path_get_dirname (path);
  g_autofree char *name = g_path_get_basename (path);
  g_autofree char *shown = _sbx_path_show (path);
  const char *relative = parent + strspn (parent, "/");
  sbx_autofd int root_fd = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  sbx_autofd int parent_fd = -1;
  sbx_autofd int lock_fd = -1;
  struct stat st;

  parent_fd = _sbx_open_beneath (root_fd, relative[0] != '\0' ? relative : ".",
                                 O_PATH | O_DIRECTORY, 0, NULL);

  if (parent_fd < 0 || fstatat (parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
    return TRUE;

  if (inode != 0 && (st.st_dev != device || st.st_ino != inode))
    return TRUE;

  if (is_directory ? !S_ISDIR (st.st_mode)
                   : !S_ISREG (st.st_mode) || !has_content (parent_fd, name, content))
    return TRUE;

  if (!lock_alone (root_fd, path, &lock_fd))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_BUSY, _("“%s” is needed by another sandbox"),
                   shown);
      return FALSE;
    }

  if (unlinkat (parent_fd, name, is_directory ? AT_REMOVEDIR : 0) == 0 ||
      errno == ENOENT || errno == ENOTEMPTY || errno == EEXIST)
    return TRUE;

  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "“%s”: %s", shown,
               g_strerror (errno));
  return FALSE;
}
