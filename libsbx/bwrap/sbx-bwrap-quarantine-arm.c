/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-quarantine-private.h"

#include "core/sbx-protection-private.h"
#include "core/sbx-reach-private.h"
#include "spec/sbx-resolve-private.h"

#include <string.h>

/*
 * What of a resolved reach is looked after.
 */

typedef struct
{
  SbxBwrapQuarantineInput  input;
  GPtrArray               *given;    /* (element-type SbxReachEntry) CWD, READ, WRITE; not owned */
} Arming;

static GPtrArray *
path_list_new (void)
{
  return g_ptr_array_new_with_free_func (g_free);
}

static void
arming_clear (Arming *self)
{
  g_ptr_array_unref (self->input.roots);
  g_ptr_array_unref (self->input.names);
  g_ptr_array_unref (self->input.present);
  g_ptr_array_unref (self->input.git_dirs);
  g_ptr_array_unref (self->input.trees);
  g_ptr_array_unref (self->given);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Arming, arming_clear)

/* Whether @path lies in what can be written, below what was asked for. */
static gboolean
is_in_write (Arming     *self,
             const char *path)
{
  const SbxReachEntry *deepest = NULL;

  for (guint i = 0; i < self->given->len; i++)
    {
      const SbxReachEntry *entry = g_ptr_array_index (self->given, i);

      if (_sbx_path_is_below (path, entry->path) && strcmp (path, entry->path) != 0 &&
          (deepest == NULL || strlen (entry->path) > strlen (deepest->path) ||
           (strlen (entry->path) == strlen (deepest->path) && entry->writable)))
        deepest = entry;
    }

  return deepest != NULL && deepest->writable;
}

static gboolean
is_placeholder (SbxBwrapPlan *plan,
                const char   *path)
{
  for (guint i = 0; i < plan->placeholders->len; i++)
    if (strcmp (((SbxBwrapPlaceholder *) g_ptr_array_index (plan->placeholders, i))->path,
                path) == 0)
      return TRUE;

  return FALSE;
}

static void
add_given (Arming        *self,
           SbxReachEntry *entry)
{
  g_ptr_array_add (self->given, entry);

  if (entry->writable && S_ISDIR (entry->mode))
    g_ptr_array_add (self->input.roots,
                     _sbx_bwrap_quarantine_root_new (entry->path, entry->device, entry->inode));
}

static void
add_git_dir (Arming        *self,
             SbxReachEntry *entry)
{
  if (entry->worktree != NULL)
    g_ptr_array_add (self->input.trees, g_strdup (entry->worktree));

  if (entry->writable)
    g_ptr_array_add (self->input.git_dirs, g_strdup (entry->path));
}

static void
add_protected (Arming        *self,
               SbxBwrapPlan  *plan,
               SbxReachEntry *entry)
{
  if (!SBX_PROTECTS (T24) || !is_in_write (self, entry->path))
    return;

  if (entry->inode != 0)
    g_ptr_array_add (self->input.present, g_strdup (entry->path));
  else if (!is_placeholder (plan, entry->path))
    g_ptr_array_add (self->input.names, g_strdup (entry->path));
}

gboolean
_sbx_bwrap_quarantine_arm (SbxBwrapState  *state,
                           SbxReach       *reach,
                           SbxBwrapPlan   *plan,
                           GError        **error)
{
  g_auto(Arming) self = {
    .input = {
      .sessions_fd = state->sessions_fd,
      .data_path = state->data_path,
      .id = state->id,
      .roots = g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_bwrap_quarantine_root_free),
      .names = path_list_new (),
      .present = path_list_new (),
      .git_dirs = path_list_new (),
      .trees = path_list_new (),
    },
    .given = g_ptr_array_new (),
  };
  GListModel *entries = G_LIST_MODEL (reach->entries);
  const guint n = entries != NULL ? g_list_model_get_n_items (entries) : 0;
  g_autoptr(GError) reason = NULL;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(SbxReachEntry) entry = g_list_model_get_item (entries, i);

      if (entry->kind == SBX_REACH_CWD || entry->kind == SBX_REACH_READ ||
          entry->kind == SBX_REACH_WRITE)
        add_given (&self, entry);
      else if (entry->kind == SBX_REACH_GIT_DIR)
        add_git_dir (&self, entry);
      else if (entry->kind == SBX_REACH_PROTECTED)
        add_protected (&self, plan, entry);
    }

  state->quarantine = _sbx_bwrap_quarantine_new (&self.input, &reason);
  if (reason != NULL)
    g_propagate_error (error, g_steal_pointer (&reason));

  return reason == NULL;
}
