/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-open-private.h"

#include "bwrap/sbx-bwrap-init-program-private.h"
#include "bwrap/sbx-bwrap-note-private.h"
#include "bwrap/sbx-bwrap-plan-builder-private.h"
#include "bwrap/sbx-bwrap-probe-private.h"
#include "bwrap/sbx-bwrap-quarantine-private.h"
#include "bwrap/sbx-bwrap-profile-private.h"
#include "bwrap/sbx-bwrap-sweep-private.h"
#include "bwrap/sbx-bwrap-user-dirs-private.h"
#include "bwrap/sbx-bwrap-worktree-private.h"
#include "core/sbx-error.h"
#include "core/sbx-text-private.h"

#include <glib/gi18n-lib.h>

/*
 * What is done in a worker thread before a sandbox is started: sweep, find bubblewrap, make the
 * directory, and the worktree, resolve the plan.
 */

SbxBwrapOpening *
_sbx_bwrap_opening_new (const SbxBwrapSettings *settings)
{
  SbxBwrapOpening *self = g_new0 (SbxBwrapOpening, 1);

  self->settings = *settings;
  self->settings.program = g_strdup (settings->program);
  self->settings.data_path = g_strdup (settings->data_path);

  return self;
}

void
_sbx_bwrap_opening_free (SbxBwrapOpening *self)
{
  g_clear_object (&self->reach);
  g_free (self->settings.program);
  g_free (self->settings.data_path);
  g_free (self->workspace);
  g_free (self->profile);
  g_free (self->cwd);
  g_free (self->group);
  g_free (self->own_path);
  g_free (self);
}

void
_sbx_bwrap_prepared_clear (SbxBwrapPrepared *self)
{
  g_clear_object (&self->reach);
  g_clear_pointer (&self->toolchain, _sbx_bwrap_toolchain_free);
  g_clear_pointer (&self->state, _sbx_bwrap_state_free);
  g_clear_pointer (&self->plan, _sbx_bwrap_plan_unref);
  g_clear_pointer (&self->roots, _sbx_roots_free);
  g_clear_pointer (&self->kept, g_ptr_array_unref);
  g_clear_pointer (&self->problems, g_ptr_array_unref);
  g_clear_pointer (&self->settings, _sbx_bwrap_reach_settings_free);
  g_clear_pointer (&self->limits, _sbx_bwrap_limits_unref);
  g_clear_pointer (&self->found, g_free);
  g_clear_pointer (&self->init, g_free);
  g_clear_pointer (&self->cwd, g_free);
}

/* What keeps a sandbox from being opened is a line of the explanation where that is all that is
 * wanted. Takes @reason. */
static gboolean
put_up_with (const SbxBwrapOpening  *opening,
             SbxBwrapPrepared       *self,
             GError                 *reason,
             GError                **error)
{
  if (!opening->explain || g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_propagate_error (error, reason);
      return FALSE;
    }

  g_ptr_array_add (self->problems, g_strdup (reason->message));
  g_error_free (reason);
  return TRUE;
}

/* Asked after the plan, which knows better what is wrong with a path that holds everything. */
static gboolean
check_program (const SbxBwrapOpening  *opening,
               SbxBwrapPrepared       *self,
               GError                **error)
{
  g_autofree char *home = _sbx_bwrap_dup_home ();
  GError *reason = NULL;
  g_autofree char *found = NULL;

  /* There is none: that was said already. */
  if (self->found == NULL)
    return TRUE;

  found = _sbx_bwrap_probe_find (opening->settings.program, home,
                                 sbx_reach_get_write (self->reach), &reason);

  return found != NULL || put_up_with (opening, self, reason, error);
}

static gboolean
resolve (const SbxBwrapOpening  *opening,
         SbxBwrapPrepared       *self,
         const char             *own_path,
         GCancellable           *cancellable,
         GError                **error)
{
  g_autoptr(SbxReach) reach = NULL;

  self->roots = _sbx_bwrap_roots_new (NULL, opening->settings.data_path, own_path, self->reach,
                                      error);
  if (self->roots != NULL)
    reach = _sbx_bwrap_reach_resolve (self->roots, self->reach, cancellable, error);
  if (reach == NULL)
    return FALSE;

  g_set_object (&self->reach, reach);

  return TRUE;
}

/* Nothing is behind the name of a host yet: opening without it would be narrower than asked. */
static gboolean
check_network (const SbxBwrapOpening  *opening,
               SbxBwrapPrepared       *self,
               GError                **error)
{
  const char * const *network = sbx_reach_get_network (self->reach);
  g_autofree char *quoted = NULL;

  if (network[0] == NULL)
    return TRUE;

  quoted = _sbx_text_quote (network[0]);
  return put_up_with (opening, self,
                      g_error_new (SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
                                   _("network: %s cannot be reached from a sandbox of this "
                                     "provider, which has no network; leave it out"), quoted),
                      error);
}

/* Holds the lock on the notes from before the repositories are looked at until what they lack was
 * made, so that no other session makes or removes the same in between. */
static gboolean
make_plan (const SbxBwrapOpening  *opening,
           SbxBwrapPrepared       *self,
           const char             *own_path,
           GCancellable           *cancellable,
           GError                **error)
{
  g_auto(SbxBwrapNoteLock) lock = -1;
  SbxBwrapPlanInput input = {
    .tmp_path = self->state != NULL ? self->state->tmp_path : NULL,
    .home_path = self->state != NULL ? self->state->home_path : NULL,
    .init_path = self->init,
    .toolchain = self->toolchain,
  };

  if (!resolve (opening, self, own_path, cancellable, error) ||
      !check_network (opening, self, error))
    return FALSE;

  if (self->state != NULL)
    {
      lock = _sbx_bwrap_note_lock (self->state->sessions_fd, error);
      if (lock < 0)
        return FALSE;
    }

  input.reach = self->reach;
  input.roots = self->roots;
  self->plan = _sbx_bwrap_plan_new (&input, cancellable, error);

  return self->plan != NULL && check_program (opening, self, error) &&
         (self->state == NULL || _sbx_bwrap_state_place (self->state, self->plan, error));
}

/* What a chore runs makes nothing, and what it leaves was looked for before. */
static gboolean
arm (const SbxBwrapOpening  *opening,
     SbxBwrapPrepared       *self,
     GError                **error)
{
  return self->state == NULL || opening->chore ||
         _sbx_bwrap_quarantine_arm (self->state, self->reach, self->plan, error);
}

/* A relative one stays below the workspace; an absolute one is a place inside, which only the
 * sandbox knows. */
static gboolean
choose_cwd (const SbxBwrapOpening  *opening,
            SbxBwrapPrepared       *self,
            GError                **error)
{
  g_autofree char *quoted = NULL;

  if (opening->cwd == NULL || *opening->cwd == '\0')
    self->cwd = g_strdup (self->plan->cwd);
  else
    self->cwd = g_canonicalize_filename (opening->cwd, self->plan->cwd);

  if (opening->cwd == NULL || g_path_is_absolute (opening->cwd) ||
      _sbx_bwrap_path_is_below (self->cwd, self->plan->cwd))
    return TRUE;

  quoted = _sbx_text_quote (opening->cwd);
  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
               _("cwd: %s leads out of the workspace; name a directory in it"), quoted);
  return FALSE;
}

static gboolean
make_toolchain (SbxBwrapPrepared  *self,
                gboolean           wanted,
                GCancellable      *cancellable,
                GError           **error)
{
  g_autofree char *home = _sbx_bwrap_dup_home ();

  if (!wanted)
    return TRUE;

  self->toolchain = _sbx_bwrap_toolchain_new (g_getenv ("PATH"), home, cancellable, error);

  return self->toolchain != NULL;
}

static gboolean
make_state (const SbxBwrapOpening  *opening,
            SbxBwrapPrepared       *self,
            const char             *cwd,
            gboolean                fresh_home,
            GError                **error)
{
  if (opening->explain)
    return TRUE;

  self->state = _sbx_bwrap_state_new (opening->settings.data_path, cwd, fresh_home,
                                      opening->group, opening->chore, error);

  return self->state != NULL;
}

static gboolean
choose (SbxBwrapChoice choice,
        gboolean       otherwise)
{
  return choice == SBX_BWRAP_CHOICE_UNSET ? otherwise : choice == SBX_BWRAP_CHOICE_YES;
}

/* Before anything is made: what cannot be held is found out first. */
static gboolean
choose_limits (const SbxBwrapOpening  *opening,
               SbxBwrapPrepared       *self,
               GCancellable           *cancellable,
               GError                **error)
{
  GError *reason = NULL;

  self->settings = _sbx_bwrap_reach_settings_of (self->reach, error);
  if (self->settings == NULL)
    return FALSE;

  self->limits = _sbx_bwrap_limits_new (self->reach, self->settings, cancellable, &reason);

  return self->limits != NULL || put_up_with (opening, self, reason, error);
}

static gboolean
prepare_reach (const SbxBwrapOpening  *opening,
               SbxBwrapPrepared       *self,
               GCancellable           *cancellable,
               GError                **error)
{
  self->reach = g_object_ref (opening->reach);

  return choose_limits (opening, self, cancellable, error) &&
         make_toolchain (self, choose (self->settings->toolchain, opening->settings.toolchain),
                         cancellable, error) &&
         make_state (opening, self, sbx_reach_get_cwd (self->reach),
                     choose (self->settings->fresh_home, opening->settings.fresh_home), error) &&
         make_plan (opening, self, opening->own_path, cancellable, error) &&
         arm (opening, self, error) &&
         choose_cwd (opening, self, error);
}

static gboolean
prepare_profile (const SbxBwrapOpening  *opening,
                 SbxBwrapPrepared       *self,
                 GCancellable           *cancellable,
                 GError                **error)
{
  g_autoptr(SbxBwrapProfile) profile = NULL;
  g_autofree char *worktree = NULL;
  g_autofree char *cwd = NULL;

  profile = _sbx_bwrap_profile_load (opening->profile, opening->workspace, cancellable, error);

  if (profile == NULL ||
      !make_toolchain (self, choose (profile->toolchain, opening->settings.toolchain), cancellable,
                       error) ||
      !make_state (opening, self, opening->workspace,
                   choose (profile->fresh_home, opening->settings.fresh_home), error))
    return FALSE;

  if (profile->workspace == SBX_BWRAP_WORKSPACE_WORKTREE &&
      !_sbx_bwrap_worktree_make (self->state, opening, profile, &worktree, &cwd, cancellable,
                                 error))
    return FALSE;

  self->reach = _sbx_bwrap_profile_to_reach (profile, worktree != NULL ? worktree
                                                                       : opening->workspace, cwd);

  return sbx_reach_validate (self->reach, error) &&
         choose_limits (opening, self, cancellable, error) &&
         make_plan (opening, self, worktree, cancellable, error) &&
         arm (opening, self, error) &&
         choose_cwd (opening, self, error);
}

gboolean
_sbx_bwrap_prepare (const SbxBwrapOpening  *opening,
                    SbxBwrapPrepared       *prepared,
                    GCancellable           *cancellable,
                    GError                **error)
{
  g_autofree char *home = _sbx_bwrap_dup_home ();
  GError *reason = NULL;

  prepared->kept = _sbx_bwrap_kept_list_new ();
  prepared->problems = g_ptr_array_new_with_free_func (g_free);

  /* What it is done for may be the sweep. */
  if (!opening->chore && !opening->explain)
    _sbx_bwrap_sweep_once (&opening->settings, prepared->kept, cancellable);

  prepared->init = _sbx_bwrap_find_init_program (error);
  if (prepared->init == NULL)
    return FALSE;

  prepared->found = _sbx_bwrap_probe_find (opening->settings.program, home, NULL, &reason);
  if (prepared->found == NULL && !put_up_with (opening, prepared, reason, error))
    return FALSE;

  if (opening->reach != NULL ? prepare_reach (opening, prepared, cancellable, error)
                             : prepare_profile (opening, prepared, cancellable, error))
    return TRUE;

  /* A worktree that cannot be removed now is known by its note alone, which stays. */
  if (prepared->state == NULL)
    return FALSE;

  if (_sbx_bwrap_worktree_settle (prepared->state->sessions_fd, &opening->settings,
                                  prepared->state->id, prepared->kept, NULL, NULL))
    _sbx_bwrap_state_remove (prepared->state, NULL, NULL);
  else
    {
      _sbx_bwrap_sweep_again (opening->settings.data_path);
      _sbx_bwrap_state_undo (prepared->state, NULL);
    }

  return FALSE;
}
