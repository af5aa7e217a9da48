/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-worktree-private.h"

#include "bwrap/sbx-bwrap-git-private.h"
#include "bwrap/sbx-bwrap-plan-builder-private.h"
#include "bwrap/sbx-bwrap-worktree-note-private.h"
#include "core/sbx-error.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"
#include "files/sbx-path-private.h"
#include "files/sbx-write-private.h"

#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Making a worktree: the note, the directory, the branch, the entry, all by hand and in this order;
 * then the checkout, in a sandbox.
 */

#define CHECKOUT_LIMIT_MS (30 * 60 * 1000)

/* Hooks and monitors would do no harm in there; they are just not wanted. */
#define GIT \
  "git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.untrackedCache=false " \
  "-c submodule.recurse=false "

/* Objects that only this sandbox has, beside those of the repository; a list in a variable could
 * not name every directory. An index is copied with its time, by which git knows what it must look
 * at again. */
#define OBJECTS(directory) \
  "mkdir " directory " " directory "/objects " directory "/objects/info\n" \
  "printf '%s\\n' \"$common\" > " directory "/objects/info/alternates\n" \
  "export GIT_OBJECT_DIRECTORY=" directory "/objects\n"

/* $1 where commands will start; $2, where it is given, the user's tree, of which all that is not
 * committed is carried over, by way of a tree that only this sandbox has; $3 asks for the name of
 * the tree that there is in the end. */
#define CHECKOUT \
  "set -e\n" \
  GIT "read-tree --reset -u HEAD\n" \
  "mkdir -p -- \"$1\"\n"

#define CARRY \
  "common=$(git rev-parse --path-format=absolute --git-path objects)\n" \
  "theirs=$(git -C \"$2\" rev-parse --absolute-git-dir)\n" \
  OBJECTS ("/tmp/carry") \
  "if test -e \"$theirs/index\"; then cp -p \"$theirs/index\" /tmp/carry/index; fi\n" \
  "GIT_INDEX_FILE=/tmp/carry/index " GIT "-C \"$2\" add -A\n" \
  "tree=$(GIT_INDEX_FILE=/tmp/carry/index " GIT "-C \"$2\" write-tree)\n" \
  GIT "read-tree --reset -u \"$tree\"\n" \
  GIT "read-tree --reset HEAD\n" \
  GIT "update-index -q --refresh || true\n" \
  "unset GIT_OBJECT_DIRECTORY\n" \
  "mkdir -p -- \"$1\"\n"

/* The name of the tree that a commit of everything would have. What was made to be overlooked is
 * not, and what git would wait for is not waited for. */
#define SNAPSHOT \
  "set -e\n" \
  "common=$(git rev-parse --path-format=absolute --git-path objects)\n" \
  "own=$(git rev-parse --absolute-git-dir)\n" \
  "test -f \"$own/index\"\n" \
  "test -z \"$(find . -name '.git*' -type p -print -quit)\"\n" \
  OBJECTS ("/tmp/snapshot") \
  "cp -p \"$own/index\" /tmp/snapshot/index\n" \
  "export GIT_INDEX_FILE=/tmp/snapshot/index\n" \
  "if git ls-files -v | grep -q '^[a-zS] '; then\n" \
  "  git ls-files -z | " GIT "update-index -z --no-assume-unchanged --stdin\n" \
  "  git ls-files -z | " GIT "update-index -z --no-skip-worktree --stdin\n" \
  "fi\n" \
  GIT "add -A\n" \
  GIT "write-tree\n"

const char * const _sbx_bwrap_worktree_snapshot_script = SNAPSHOT;

static const char *
choose_script (const SbxBwrapProfile *profile)
{
  if (profile->carry_changes)
    return profile->keep_changed ? CHECKOUT CARRY SNAPSHOT : CHECKOUT CARRY;

  return profile->keep_changed ? CHECKOUT SNAPSHOT : CHECKOUT;
}

static gboolean
make_files (SbxBwrapState       *state,
            SbxBwrapRepository  *repository,
            const char          *path,
            const char          *branch,
            const char          *base,
            GError             **error)
{
  g_autofree char *pointer = g_strdup_printf ("gitdir: %s/worktrees/%s\n",
                                              repository->common_path, branch);
  g_autofree char *name = g_build_filename ("worktrees", state->id, NULL);
  g_autoptr(GBytes) bytes = g_bytes_new (pointer, strlen (pointer));
  sbx_autofd int data_fd = _sbx_bwrap_state_open_data (state->data_path, FALSE, error);
  sbx_autofd int fd = -1;

  if (data_fd >= 0)
    fd = _sbx_make_dirs_beneath (data_fd, name, 0700, error);

  return fd >= 0 &&
         _sbx_write_staged (fd, ".git", bytes, 0644, error) &&
         _sbx_bwrap_git_make_branch (repository->common_fd, branch, base, error) &&
         _sbx_bwrap_git_make_entry (repository->common_fd, branch, path, error);
}

static gboolean
check_out (SbxBwrapState          *state,
           const SbxBwrapOpening  *opening,
           const SbxBwrapProfile  *profile,
           SbxBwrapWorktreeNote   *note,
           const char             *path,
           const char             *cwd,
           GCancellable           *cancellable,
           GError                **error)
{
  const char * const arguments[] = { cwd, profile->carry_changes ? note->user_root : NULL, NULL };
  const SbxBwrapChore chore = {
    .settings = &opening->settings,
    .group = opening->group,
    .worktree = path,
    .user_root = arguments[1],
    .script = choose_script (profile),
    .arguments = arguments,
    .timeout_ms = CHECKOUT_LIMIT_MS,
  };
  g_autofree char *output = _sbx_bwrap_chore_run (&chore, cancellable, error);

  if (output == NULL || !profile->keep_changed)
    return output != NULL;

  if (!_sbx_bwrap_git_is_object_name (output))
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
                           _("git did not say what it checked out"));
      return FALSE;
    }

  /* From now on there may be work in it. */
  g_free (note->tree);
  note->tree = g_steal_pointer (&output);

  return _sbx_bwrap_worktree_note_write (state->dir_fd, note, error);
}

/* The working directory can be seen, wherever it is: a link that was checked out in its place would
 * have the repository say what else can. */
static gboolean
check_cwd (const char  *path,
           const char  *cwd,
           GError     **error)
{
  g_autofree char *real_path = NULL;
  g_autofree char *shown = NULL;
  sbx_autofd int fd = _sbx_open_real (cwd, O_PATH | O_DIRECTORY, &real_path, error);

  if (fd < 0)
    return FALSE;

  if (_sbx_bwrap_path_is_below (real_path, path))
    return TRUE;

  shown = _sbx_path_show (cwd + strlen (path) + 1);
  g_set_error (error, SBX_ERROR, SBX_ERROR_REFUSED,
               _("“%s” is a symbolic link in what was committed, and leads out of the worktree; "
                 "name the repository itself as the workspace"), shown);
  return FALSE;
}

/* What a file system says is no answer to somebody who asked for a sandbox. */
static gboolean
wrap_error (GError  *reason,
            GError **error)
{
  if (reason->domain == SBX_ERROR || g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_propagate_error (error, reason);
      return FALSE;
    }

  g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED, _("The worktree could not be made: %s"),
               reason->message);
  g_error_free (reason);

  return FALSE;
}

gboolean
_sbx_bwrap_worktree_make (SbxBwrapState          *state,
                          const SbxBwrapOpening  *opening,
                          const SbxBwrapProfile  *profile,
                          char                  **path,
                          char                  **cwd,
                          GCancellable           *cancellable,
                          GError                **error)
{
  g_autoptr(SbxBwrapRepository) repository = NULL;
  g_autoptr(SbxBwrapWorktreeNote) note = g_new0 (SbxBwrapWorktreeNote, 1);
  g_autofree char *branch = _sbx_bwrap_worktree_dup_branch (state->id);
  g_autofree char *workspace = NULL;
  g_autofree char *data_path = NULL;
  sbx_autofd int data_fd = -1;
  sbx_autofd int fd = -1;
  GError *reason = NULL;

  repository = _sbx_bwrap_repository_locate (opening->workspace, state->data_path, cancellable,
                                             error);
  if (repository == NULL)
    return FALSE;

  note->base = _sbx_bwrap_git_read_head (repository->git_fd, repository->common_fd, cancellable,
                                         error);
  if (note->base == NULL)
    return FALSE;

  fd = _sbx_open_real (opening->workspace, O_PATH | O_DIRECTORY, &workspace, error);
  data_fd = fd >= 0 ? _sbx_open_real (state->data_path, O_PATH, &data_path, error) : -1;
  if (data_fd < 0)
    return FALSE;

  if (!_sbx_bwrap_path_is_below (workspace, repository->root))
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
                           _("The workspace was moved while it was looked at"));
      return FALSE;
    }

  *path = g_build_filename (data_path, "worktrees", state->id, NULL);
  *cwd = g_build_filename (*path, workspace + strlen (repository->root), NULL);

  note->user_root = g_strdup (repository->root);
  note->common_path = g_strdup (repository->common_path);
  note->device = repository->device;
  note->inode = repository->inode;
  note->keep = profile->keep_changed;
  note->tree = g_strdup ("");
  state->has_worktree = TRUE;

  return (_sbx_bwrap_worktree_note_write (state->dir_fd, note, &reason) &&
          make_files (state, repository, *path, branch, note->base, &reason) &&
          check_out (state, opening, profile, note, *path, *cwd, cancellable, &reason) &&
          check_cwd (*path, *cwd, &reason)) ||
         wrap_error (reason, error);
}
