/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-worktree-private.h"

#include "bwrap/sbx-bwrap-git-private.h"
#include "bwrap/sbx-bwrap-worktree-note-private.h"
#include "files/sbx-delete-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-path-private.h"

#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * The end of a worktree. Where its profile asks for that, one that has work in it stays; and so
 * does one of which that cannot be told, since work is never thrown away unseen.
 */

#define SNAPSHOT_LIMIT_MS (5 * 60 * 1000)

void
_sbx_bwrap_kept_free (SbxBwrapKept *self)
{
  g_free (self->path);
  g_free (self->branch);
  g_free (self->message);
  g_free (self);
}

GPtrArray *
_sbx_bwrap_kept_list_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_bwrap_kept_free);
}

void
_sbx_bwrap_kept_add_message (GPtrArray  *kept,
                             const char *message)
{
  SbxBwrapKept *one = g_new0 (SbxBwrapKept, 1);

  one->message = g_strdup (message);
  g_ptr_array_add (kept, one);
}

/* -1: it is gone, or another one is in its place. */
static int
open_common (const SbxBwrapWorktreeNote *note)
{
  g_autofree char *real_path = NULL;
  sbx_autofd int fd = _sbx_open_real (note->common_path, O_PATH | O_DIRECTORY, &real_path, NULL);
  struct stat st;

  if (fd < 0 || fstat (fd, &st) != 0 || st.st_dev != note->device || st.st_ino != note->inode)
    return -1;

  return g_steal_fd (&fd);
}

/* What there is to compare. */
typedef struct
{
  char *tip;    /* of the branch */
  char *head;   /* what is checked out */
} Position;

static void
position_clear (Position *self)
{
  g_free (self->tip);
  g_free (self->head);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Position, position_clear)

static void
read_position (Position     *self,
               int           common_fd,
               const char   *branch,
               GCancellable *cancellable)
{
  g_autofree char *name = g_build_filename ("worktrees", branch, NULL);
  sbx_autofd int entry_fd = _sbx_open_beneath (common_fd, name, O_PATH | O_DIRECTORY, 0, NULL);

  self->tip = _sbx_bwrap_git_read_branch (common_fd, branch, cancellable, NULL);
  if (entry_fd >= 0)
    self->head = _sbx_bwrap_git_read_head (entry_fd, common_fd, cancellable, NULL);
}

/* FALSE only if there is none for certain. */
static gboolean
has_work (const SbxBwrapWorktreeNote *note,
          int                         common_fd,
          const SbxBwrapSettings     *settings,
          const char                 *group,
          const char                 *path,
          const char                 *branch,
          GCancellable               *cancellable)
{
  const char * const arguments[] = { NULL };
  const SbxBwrapChore chore = {
    .settings = settings,
    .group = group,
    .worktree = path,
    .script = _sbx_bwrap_worktree_snapshot_script,
    .arguments = arguments,
    .timeout_ms = SNAPSHOT_LIMIT_MS,
  };
  g_auto(Position) position = { NULL, NULL };
  g_autofree char *tree = NULL;

  read_position (&position, common_fd, branch, cancellable);

  /* The user has dropped it already. */
  if (position.tip == NULL && position.head == NULL && !g_file_test (path, G_FILE_TEST_EXISTS))
    return FALSE;

  if (g_strcmp0 (position.tip, note->base) != 0 || g_strcmp0 (position.head, note->base) != 0)
    return TRUE;

  tree = _sbx_bwrap_chore_run (&chore, cancellable, NULL);

  return tree == NULL || strcmp (tree, note->tree) != 0;
}

static char *
describe (const SbxBwrapWorktreeNote *note,
          const char                 *path,
          const char                 *branch)
{
  g_autofree char *root = g_shell_quote (note->user_root);
  g_autofree char *tree = g_shell_quote (path);
  g_autofree char *shown_root = _sbx_path_show (root);
  g_autofree char *shown_tree = _sbx_path_show (tree);

  return g_strdup_printf (_("The worktree %s has changes and was kept, on the branch %s.\n"
                            "To see them:    git -C %s status; git -C %s log -p HEAD...%s\n"
                            "To commit all:  git -C %s add -A; git -C %s commit\n"
                            "To merge it:    git -C %s merge %s\n"
                            "To drop it:     git -C %s worktree remove --force %s; "
                            "git -C %s branch -D %s"),
                          shown_tree, branch,
                          shown_tree, shown_root, branch,
                          shown_tree, shown_tree,
                          shown_root, branch,
                          shown_root, shown_tree, shown_root, branch);
}

static void
keep (GPtrArray                  *kept,
      const SbxBwrapWorktreeNote *note,
      const char                 *path,
      const char                 *branch)
{
  SbxBwrapKept *one;

  if (kept == NULL)
    return;

  one = g_new0 (SbxBwrapKept, 1);
  one->path = g_strdup (path);
  one->branch = g_strdup (branch);
  one->message = describe (note, path, branch);
  g_ptr_array_add (kept, one);
}

static gboolean
remove_all (int            common_fd,
            int            data_fd,
            const char    *id,
            const char    *branch,
            GCancellable  *cancellable,
            GError       **error)
{
  sbx_autofd int worktrees_fd = _sbx_open_beneath (data_fd, "worktrees", O_RDONLY | O_DIRECTORY, 0,
                                                   NULL);

  if (worktrees_fd >= 0 && !_sbx_delete_tree (worktrees_fd, id, cancellable, error))
    return FALSE;

  /* The whole repository may be gone, which takes the rest with it. */
  return common_fd < 0 ||
         (_sbx_bwrap_git_remove_entry (common_fd, branch, cancellable, error) &&
          _sbx_bwrap_git_remove_branch (common_fd, branch, cancellable, error));
}

gboolean
_sbx_bwrap_worktree_settle (int                      sessions_fd,
                            const SbxBwrapSettings  *settings,
                            const char              *id,
                            GPtrArray               *kept,
                            GCancellable            *cancellable,
                            GError                 **error)
{
  g_autoptr(GError) reason = NULL;
  g_autoptr(SbxBwrapWorktreeNote) note = _sbx_bwrap_worktree_note_read (sessions_fd, id, &reason);
  g_autofree char *branch = _sbx_bwrap_worktree_dup_branch (id);
  g_autofree char *group = NULL;
  g_autofree char *data_path = NULL;
  g_autofree char *path = NULL;
  sbx_autofd int data_fd = -1;
  sbx_autofd int common_fd = -1;
  gboolean can_stay;

  if (reason != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&reason));
      return FALSE;
    }

  if (note == NULL)
    return TRUE;

  data_fd = _sbx_open_real (settings->data_path, O_RDONLY | O_DIRECTORY, &data_path, error);
  if (data_fd < 0)
    return FALSE;

  path = g_build_filename (data_path, "worktrees", id, NULL);
  common_fd = open_common (note);
  group = _sbx_bwrap_state_read_group (sessions_fd, id, NULL);

  can_stay = note->keep && *note->tree != '\0';
  if (can_stay && common_fd >= 0 &&
      !_sbx_bwrap_git_mend_entry (common_fd, branch, path, error))
    return FALSE;

  if (can_stay &&
      (common_fd < 0 ||
       has_work (note, common_fd, settings, group, path, branch, cancellable)))
    {
      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;

      keep (kept, note, path, branch);
    }
  else if (!remove_all (common_fd, data_fd, id, branch, cancellable, error))
    return FALSE;

  _sbx_bwrap_worktree_note_remove (sessions_fd, id);

  return TRUE;
}
