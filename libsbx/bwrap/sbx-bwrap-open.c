/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-open-private.h"

#include "bwrap/sbx-bwrap-init-program-private.h"
#include "bwrap/sbx-bwrap-note-private.h"
#include "bwrap/sbx-bwrap-plan-private.h"
#include "bwrap/sbx-bwrap-probe-private.h"
#include "bwrap/sbx-bwrap-sandbox-private.h"
#include "bwrap/sbx-bwrap-session-environment-private.h"
#include "bwrap/sbx-bwrap-session-private.h"
#include "bwrap/sbx-bwrap-sweep-private.h"
#include "bwrap/sbx-bwrap-turns-private.h"
#include "bwrap/sbx-bwrap-user-dirs-private.h"
#include "bwrap/sbx-seccomp-private.h"
#include "core/sbx-error.h"
#include "files/sbx-fd-private.h"

#include <glib/gi18n-lib.h>

/*
 * The steps of opening a sandbox:
 *
 *   prepare   in a worker thread: sweep, find bubblewrap, make the directory, resolve the plan;
 *   ask       bubblewrap what it can do, if that is not known yet;
 *   start     bwrap, and wait for process 1 to confirm every mount;
 *   undo      when one of them failed: end what runs, remove what was made, then answer.
 *
 * One object goes through them, when it is its turn. The invocation is answered at the very end.
 */
typedef struct
{
  SbxOpenInvocation *invocation;
  SbxBwrapSettings   settings;
  SbxReach          *reach;

  char              *init;          /* the program of process 1 */
  char              *found;         /* bubblewrap */
  SbxBwrapProgram   *program;
  SbxBwrapToolchain *toolchain;
  SbxBwrapState     *state;         /* until the sandbox has it */
  SbxBwrapPlan      *plan;
  SbxBwrapSandbox   *sandbox;
  GError            *error;
} Open;

static void
open_free (Open *open)
{
  g_clear_object (&open->invocation);
  g_clear_object (&open->reach);
  g_clear_object (&open->sandbox);
  g_clear_pointer (&open->program, _sbx_bwrap_program_free);
  g_clear_pointer (&open->toolchain, _sbx_bwrap_toolchain_free);
  g_clear_pointer (&open->state, _sbx_bwrap_state_free);
  g_clear_pointer (&open->plan, _sbx_bwrap_plan_unref);
  g_clear_error (&open->error);
  g_free (open->found);
  g_free (open->init);
  g_free (open->settings.program);
  g_free (open->settings.data_path);
  g_free (open);

  _sbx_bwrap_turn_pass ();
}

static GCancellable *
open_get_cancellable (Open *open)
{
  return sbx_invocation_get_cancellable (SBX_INVOCATION (open->invocation));
}

/* Asked after the plan, which knows better what is wrong with a path that holds everything. */
static gboolean
check_program (Open    *open,
               GError **error)
{
  g_autofree char *home = _sbx_bwrap_dup_home ();
  g_autofree char *found = _sbx_bwrap_probe_find (open->settings.program, home,
                                                  sbx_reach_get_write (open->reach), error);

  return found != NULL;
}

/* Holds the lock on the notes from before the repositories are looked at until what they lack was
 * made, so that no other session makes or removes the same in between. */
static gboolean
make_plan (Open          *open,
           GCancellable  *cancellable,
           GError       **error)
{
  g_autofree char *home = _sbx_bwrap_dup_home ();
  g_auto(SbxBwrapNoteLock) lock = _sbx_bwrap_note_lock (open->state->sessions_fd, error);
  SbxBwrapPlanInput input = {
    .cwd = sbx_reach_get_cwd (open->reach),
    .read = sbx_reach_get_read (open->reach),
    .write = sbx_reach_get_write (open->reach),
    .tmp_path = open->state->tmp_path,
    .home_path = open->state->home_path,
    .init_path = open->init,
    .toolchain = open->toolchain,
    .operator_home = home,
    .data_path = open->settings.data_path,
  };

  if (lock < 0)
    return FALSE;

  open->plan = _sbx_bwrap_plan_new (&input, cancellable, error);

  return open->plan != NULL && check_program (open, error) &&
         _sbx_bwrap_state_place (open->state, open->plan, error);
}

static gboolean
prepare (Open          *open,
         GCancellable  *cancellable,
         GError       **error)
{
  g_autofree char *home = _sbx_bwrap_dup_home ();

  _sbx_bwrap_sweep_once (open->settings.data_path, cancellable);

  open->init = _sbx_bwrap_find_init_program (error);
  if (open->init == NULL)
    return FALSE;

  open->found = _sbx_bwrap_probe_find (open->settings.program, home, NULL, error);
  if (open->found == NULL)
    return FALSE;

  if (open->settings.toolchain)
    {
      open->toolchain = _sbx_bwrap_toolchain_new (g_getenv ("PATH"), home, cancellable, error);
      if (open->toolchain == NULL)
        return FALSE;
    }

  open->state = _sbx_bwrap_state_new (open->settings.data_path, sbx_reach_get_cwd (open->reach),
                                      open->settings.fresh_home, error);

  return open->state != NULL && make_plan (open, cancellable, error);
}

static void
prepare_in_thread (GTask        *task,
                   gpointer      source_object,
                   gpointer      task_data,
                   GCancellable *cancellable)
{
  Open *open = task_data;
  g_autoptr(GError) error = NULL;

  if (prepare (open, cancellable, &error))
    {
      g_task_return_boolean (task, TRUE);
      return;
    }

  if (open->state != NULL)
    _sbx_bwrap_state_remove (open->state, NULL, NULL);

  g_task_return_error (task, g_steal_pointer (&error));
}

/* The last step on the way out. Takes @open. */
static void
answer_error (Open *open)
{
  sbx_invocation_return_gerror (SBX_INVOCATION (open->invocation), open->error);
  open_free (open);
}

static void
explained_cb (GObject      *object,
              GAsyncResult *result,
              gpointer      user_data)
{
  Open *open = user_data;
  g_autoptr(GPtrArray) findings = _sbx_bwrap_probe_finish (result, NULL);
  GError *explained = findings != NULL ? _sbx_bwrap_probe_to_error (findings) : NULL;

  if (explained != NULL)
    {
      g_clear_error (&open->error);
      open->error = explained;
    }

  answer_error (open);
}

/* Bubblewrap's own words tell little. Where it failed, find out what this machine does not
 * allow. */
static void
explain (Open *open)
{
  if (_sbx_bwrap_sandbox_was_started (open->sandbox) &&
      g_error_matches (open->error, SBX_ERROR, SBX_ERROR_SETUP_FAILED))
    _sbx_bwrap_probe_async (open->found, open_get_cancellable (open), explained_cb, open);
  else
    answer_error (open);
}

static void
undone_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  _sbx_bwrap_sandbox_close_finish (SBX_BWRAP_SANDBOX (object), result, NULL);
  explain (user_data);
}

static void
started_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  Open *open = user_data;
  g_autoptr(SbxSession) session = NULL;
  g_auto(GStrv) environment = NULL;

  if (!_sbx_bwrap_sandbox_start_finish (open->sandbox, result, &open->error))
    {
      _sbx_bwrap_sandbox_close_async (open->sandbox, NULL, undone_cb, open);
      return;
    }

  environment = _sbx_bwrap_session_environment (open->toolchain,
                                                sbx_reach_get_environment (open->reach));
  session = _sbx_bwrap_session_new (open->sandbox, open->plan->cwd,
                                    (const char * const *) environment);
  sbx_open_invocation_return_session (open->invocation, session);
  open_free (open);
}

static void
start (Open *open)
{
  open->sandbox = _sbx_bwrap_sandbox_new (g_steal_pointer (&open->state));
  _sbx_bwrap_sandbox_start_async (open->sandbox, open->plan, open->program,
                                  open_get_cancellable (open), started_cb, open);
}

static void
asked_cb (GObject      *object,
          GAsyncResult *result,
          gpointer      user_data)
{
  Open *open = user_data;

  open->program = _sbx_bwrap_probe_program_finish (result, &open->error);
  if (open->program != NULL)
    {
      start (open);
      return;
    }

  open->sandbox = _sbx_bwrap_sandbox_new (g_steal_pointer (&open->state));
  _sbx_bwrap_sandbox_close_async (open->sandbox, NULL, undone_cb, open);
}

static void
prepared_cb (GObject      *object,
             GAsyncResult *result,
             gpointer      user_data)
{
  Open *open = g_task_get_task_data (G_TASK (result));

  if (!g_task_propagate_boolean (G_TASK (result), &open->error))
    {
      answer_error (open);
      return;
    }

  open->program = _sbx_bwrap_probe_peek (open->found);
  if (open->program != NULL)
    start (open);
  else
    _sbx_bwrap_probe_program_async (open->found, open_get_cancellable (open), asked_cb, open);
}

static void
begin (gpointer user_data)
{
  Open *open = user_data;
  g_autoptr(GTask) task = NULL;
  sbx_autofd int filter G_GNUC_UNUSED = -1;

  task = g_task_new (NULL, open_get_cancellable (open), prepared_cb, NULL);
  g_task_set_source_tag (task, _sbx_bwrap_open);
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, open, NULL);
  g_task_run_in_thread (task, prepare_in_thread);

  /* The first sandbox of a process needs the filter compiled, which this thread can do meanwhile.
   * An error is met again, and reported, when the filter is used. */
  filter = _sbx_seccomp_open (NULL);
}

/* Nobody iterates the context any more. */
static void
dropped (gpointer user_data)
{
  open_free (user_data);
}

void
_sbx_bwrap_open (const SbxBwrapSettings *settings,
                 SbxReach               *reach,
                 SbxOpenInvocation      *invocation)
{
  Open *open = g_new0 (Open, 1);

  open->settings = *settings;
  open->settings.program = g_strdup (settings->program);
  open->settings.data_path = g_strdup (settings->data_path);
  open->reach = g_object_ref (reach);
  open->invocation = g_object_ref (invocation);

  _sbx_bwrap_turn_take (begin, dropped, open);
}
