/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-open-private.h"

#include "bwrap/sbx-bwrap-group-private.h"
#include "bwrap/sbx-bwrap-plan-show-private.h"
#include "bwrap/sbx-bwrap-probe-private.h"
#include "bwrap/sbx-bwrap-sandbox-private.h"
#include "bwrap/sbx-bwrap-session-environment-private.h"
#include "bwrap/sbx-bwrap-session-private.h"
#include "bwrap/sbx-bwrap-turns-private.h"
#include "bwrap/sbx-seccomp-private.h"
#include "core/sbx-command.h"
#include "core/sbx-error.h"
#include "core/sbx-exec-result.h"
#include "core/sbx-session-private.h"
#include "core/sbx-text-private.h"
#include "files/sbx-fd-private.h"

#include <glib/gi18n-lib.h>

/*
 * The steps of opening a sandbox:
 *
 *   prepare   in a worker thread, see sbx-bwrap-prepare.c;
 *   ask       bubblewrap what it can do, if that is not known yet;
 *   start     bwrap, and wait for process 1 to confirm every mount;
 *   record    which process that is, where others may have to end it;
 *   enter     the directory that was asked for, which may not be there;
 *   undo      when one of them failed: end what runs, remove what was made, then answer.
 *
 * One object goes through them, when it is its turn. The caller is answered at the very end.
 */
typedef struct
{
  SbxOpenInvocation *invocation;    /* or, of a chore: */
  GTask             *task;
  SbxBwrapOpening   *opening;
  GObject           *provider;      /* (nullable) */
  SbxBwrapPrepared   prepared;
  SbxBwrapProgram   *program;
  SbxBwrapSandbox   *sandbox;
  SbxPlan           *plan;
  gboolean           is_showing;    /* the plan is being put together */
  gboolean           is_done;       /* all else is done */
  SbxSession        *session;
  GError            *error;
} Open;

static void
open_free (Open *open)
{
  const gboolean pass = !open->opening->chore;

  g_clear_object (&open->invocation);
  g_clear_object (&open->task);
  g_clear_object (&open->provider);
  g_clear_object (&open->session);
  g_clear_object (&open->plan);
  g_clear_object (&open->sandbox);
  g_clear_pointer (&open->program, _sbx_bwrap_program_free);
  g_clear_pointer (&open->opening, _sbx_bwrap_opening_free);
  g_clear_error (&open->error);
  _sbx_bwrap_prepared_clear (&open->prepared);
  g_free (open);

  if (pass)
    _sbx_bwrap_turn_pass ();
}

static GCancellable *
open_get_cancellable (Open *open)
{
  return open->task != NULL ? g_task_get_cancellable (open->task)
                            : sbx_invocation_get_cancellable (SBX_INVOCATION (open->invocation));
}

static void
prepare_in_thread (GTask        *task,
                   gpointer      source_object,
                   gpointer      task_data,
                   GCancellable *cancellable)
{
  Open *open = task_data;
  g_autoptr(GError) error = NULL;

  if (_sbx_bwrap_prepare (open->opening, &open->prepared, cancellable, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

static void
return_session (Open *open)
{
  /* Only now it is known which limits had to become weaker. */
  _sbx_bwrap_plan_show_limits (open->plan, open->prepared.limits);
  _sbx_session_set_plan (open->session, open->plan);

  if (open->task != NULL)
    {
      g_task_return_pointer (open->task, g_steal_pointer (&open->session), g_object_unref);
      return;
    }

  if (open->opening->group != NULL)
    _sbx_bwrap_group_add (open->session, open->opening->settings.data_path, open->opening->group);

  sbx_open_invocation_return_session (open->invocation, open->session);
}

/* The last step. Takes @open. */
static void
answer (Open *open)
{
  if (open->is_showing)
    {
      open->is_done = TRUE;
      return;
    }

  _sbx_bwrap_provider_tell (open->provider, g_steal_pointer (&open->prepared.kept));

  if (open->error == NULL)
    return_session (open);
  else if (open->task != NULL)
    g_task_return_error (open->task, g_steal_pointer (&open->error));
  else
    sbx_invocation_return_gerror (SBX_INVOCATION (open->invocation), open->error);

  open_free (open);
}

static void
shown_cb (GObject      *object,
          GAsyncResult *result,
          gpointer      user_data)
{
  Open *open = user_data;

  open->plan = g_task_propagate_pointer (G_TASK (result), NULL);
  open->is_showing = FALSE;
  if (open->is_done)
    answer (open);
}

static void
show_in_thread (GTask        *task,
                gpointer      source_object,
                gpointer      task_data,
                GCancellable *cancellable)
{
  const Open *open = task_data;

  g_task_return_pointer (task, _sbx_bwrap_plan_show (open->prepared.plan, open->prepared.reach),
                         g_object_unref);
}

/* While bubblewrap is at work, which takes longer; in a thread, since it looks at the disk and may
 * have thousands of mounts to list. The plan and the reach do not change any more. */
static void
show (Open *open)
{
  g_autoptr(GTask) task = g_task_new (NULL, NULL, shown_cb, open);

  open->is_showing = TRUE;
  g_task_set_source_tag (task, show);
  g_task_set_task_data (task, open, NULL);
  g_task_run_in_thread (task, show_in_thread);
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

  answer (open);
}

/* Bubblewrap's own words tell little. Where it failed, find out what this machine does not
 * allow. */
static void
explain (Open *open)
{
  if (_sbx_bwrap_sandbox_was_started (open->sandbox) &&
      g_error_matches (open->error, SBX_ERROR, SBX_ERROR_SETUP_FAILED))
    _sbx_bwrap_probe_async (open->prepared.found, open_get_cancellable (open), explained_cb, open);
  else
    answer (open);
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
closed_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  Open *open = user_data;

  sbx_session_close_finish (SBX_SESSION (object), result, NULL);
  g_clear_object (&open->session);
  answer (open);
}

/* @error is taken. */
static void
fail (Open   *open,
      GError *error)
{
  open->error = error;
  sbx_session_close_async (open->session, NULL, closed_cb, open);
}

static void
entered_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  Open *open = user_data;
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxExecResult) entered = sbx_session_exec_finish (SBX_SESSION (object), result, &error);

  if (entered != NULL && !sbx_exec_result_get_success (entered))
    {
      g_autofree char *quoted = _sbx_text_quote (open->prepared.cwd);

      g_set_error (&error, SBX_ERROR, SBX_ERROR_NOT_FOUND,
                   _("cwd: %s is no directory that the sandbox has"), quoted);
    }

  if (error != NULL)
    fail (open, g_steal_pointer (&error));
  else
    answer (open);
}

static void
enter (Open *open)
{
  const char * const argv[] = { "/bin/true", NULL };
  g_autoptr(SbxCommand) command = NULL;

  if (open->opening->cwd == NULL)
    {
      answer (open);
      return;
    }

  command = sbx_command_new (argv);
  sbx_session_exec_async (open->session, command, open_get_cancellable (open), entered_cb, open);
}

static void
recorded_cb (GObject      *object,
             GAsyncResult *result,
             gpointer      user_data)
{
  Open *open = user_data;
  GError *error = NULL;

  if (g_task_propagate_boolean (G_TASK (result), &error))
    enter (open);
  else
    fail (open, error);
}

static void
record_in_thread (GTask        *task,
                  gpointer      source_object,
                  gpointer      task_data,
                  GCancellable *cancellable)
{
  GError *error = NULL;

  if (_sbx_bwrap_sandbox_record (source_object, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
record (Open *open)
{
  g_autoptr(GTask) task = NULL;

  if (open->opening->group == NULL)
    {
      enter (open);
      return;
    }

  task = g_task_new (open->sandbox, NULL, recorded_cb, open);
  g_task_set_source_tag (task, record);
  g_task_run_in_thread (task, record_in_thread);
}

static void
started_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  Open *open = user_data;
  SbxBwrapPrepared *prepared = &open->prepared;
  g_auto(GStrv) environment = NULL;

  if (!_sbx_bwrap_sandbox_start_finish (open->sandbox, result, &open->error))
    {
      _sbx_bwrap_sandbox_close_async (open->sandbox, NULL, undone_cb, open);
      return;
    }

  environment = _sbx_bwrap_session_environment (prepared->toolchain,
                                                sbx_reach_get_environment (prepared->reach));
  open->session = _sbx_bwrap_session_new (open->sandbox, prepared->cwd,
                                          (const char * const *) environment);
  _sbx_bwrap_session_set_provider (SBX_BWRAP_SESSION (open->session), open->provider);
  if (open->opening->group != NULL)
    _sbx_bwrap_session_close_when_lost (SBX_BWRAP_SESSION (open->session));

  record (open);
}

static void
start (Open *open)
{
  open->sandbox = _sbx_bwrap_sandbox_new (g_steal_pointer (&open->prepared.state),
                                          &open->opening->settings);
  _sbx_bwrap_sandbox_set_limits (open->sandbox, open->prepared.limits);
  _sbx_bwrap_sandbox_start_async (open->sandbox, open->prepared.plan, open->program,
                                  open_get_cancellable (open), started_cb, open);
  show (open);
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

  open->sandbox = _sbx_bwrap_sandbox_new (g_steal_pointer (&open->prepared.state),
                                          &open->opening->settings);
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
      answer (open);
      return;
    }

  open->program = _sbx_bwrap_probe_peek (open->prepared.found);
  if (open->program != NULL)
    start (open);
  else
    _sbx_bwrap_probe_program_async (open->prepared.found, open_get_cancellable (open), asked_cb,
                                    open);
}

static void
begin (gpointer user_data)
{
  Open *open = user_data;
  g_autoptr(GTask) task = NULL;
  sbx_autofd int filter G_GNUC_UNUSED = -1;

  task = g_task_new (NULL, open_get_cancellable (open), prepared_cb, NULL);
  g_task_set_source_tag (task, begin);
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
_sbx_bwrap_open (SbxBwrapOpening   *opening,
                 GObject           *provider,
                 SbxOpenInvocation *invocation)
{
  Open *open = g_new0 (Open, 1);

  open->opening = opening;
  open->invocation = g_object_ref (invocation);
  g_set_object (&open->provider, provider);

  _sbx_bwrap_turn_take (begin, dropped, open);
}

/* Done for one who has a turn, or closes: it must not wait for another. */
void
_sbx_bwrap_open_async (SbxBwrapOpening     *opening,
                       GCancellable        *cancellable,
                       GAsyncReadyCallback  callback,
                       gpointer             user_data)
{
  Open *open = g_new0 (Open, 1);

  g_assert (opening->chore);

  open->opening = opening;
  open->task = g_task_new (NULL, cancellable, callback, user_data);
  g_task_set_source_tag (open->task, _sbx_bwrap_open_async);
  g_task_set_check_cancellable (open->task, FALSE);

  begin (open);
}

SbxSession *
_sbx_bwrap_open_finish (GAsyncResult  *result,
                        GError       **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}
