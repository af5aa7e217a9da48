/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-session-private.h"

#include "bwrap/sbx-bwrap-denials-private.h"
#include "bwrap/sbx-bwrap-quarantine-private.h"
#include "bwrap/sbx-bwrap-toolchain-private.h"
#include "bwrap/sbx-bwrap-user-dirs-private.h"
#include "core/sbx-command.h"
#include "core/sbx-environment-private.h"
#include "core/sbx-error.h"
#include "core/sbx-exec-invocation.h"
#include "core/sbx-process-private.h"
#include "core/sbx-protection-private.h"
#include "core/sbx-session-private.h"
#include "core/sbx-text-private.h"
#include "files/sbx-fd-private.h"

#include <errno.h>
#include <glib/gi18n-lib.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* One command that process 1 runs. */
typedef struct
{
  SbxExecInvocation  *invocation;
  SbxInitChannel     *channel;
  SbxBwrapQuarantine *quarantine;      /* (nullable) */
  SbxBwrapDenials    *denials;         /* (nullable) */
  GSource            *cancelled;
  gulong              kill_handler;
  guint64             id;
} Exec;

static void
exec_free (gpointer data)
{
  Exec *exec = data;

  if (exec->cancelled != NULL)
    g_source_destroy (exec->cancelled);

  g_clear_pointer (&exec->cancelled, g_source_unref);
  g_clear_signal_handler (&exec->kill_handler, exec->invocation);
  g_clear_object (&exec->invocation);
  g_clear_object (&exec->channel);
  g_clear_pointer (&exec->quarantine, _sbx_bwrap_quarantine_unref);
  g_clear_pointer (&exec->denials, _sbx_bwrap_denials_unref);
  g_free (exec);
}

static gboolean
kill_cb (SbxExecInvocation *invocation,
         int                signal_number,
         Exec              *exec)
{
  if (signal_number == SIGKILL)
    _sbx_init_channel_end (exec->channel, exec->id);
  else
    _sbx_init_channel_signal (exec->channel, exec->id, signal_number);

  return TRUE;
}

static gboolean
cancelled_cb (GCancellable *cancellable,
              gpointer      user_data)
{
  Exec *exec = user_data;

  _sbx_init_channel_end (exec->channel, exec->id);

  return G_SOURCE_REMOVE;
}

static void
started_cb (gint64   pid_inside,
            int      terminal_fd,
            gpointer user_data)
{
  Exec *exec = user_data;
  g_autofree char *id = g_strdup_printf ("%" G_GINT64_FORMAT, pid_inside);

  if (terminal_fd >= 0)
    sbx_exec_invocation_take_terminal_fd (exec->invocation, terminal_fd);

  sbx_exec_invocation_started (exec->invocation, id);
}

static SbxNotStarted
choose_reason (const SbxInitEnd *end)
{
  if (end->stage == SBX_INIT_STAGE_CWD)
    return SBX_NOT_STARTED_BAD_CWD;

  if (end->stage == SBX_INIT_STAGE_RESOURCES || end->stage == SBX_INIT_STAGE_LIMITS)
    return SBX_NOT_STARTED_RESOURCES;

  switch (end->value)
    {
    case ENOENT:
    case ENOTDIR:
      return SBX_NOT_STARTED_NOT_FOUND;
    case E2BIG:
      return SBX_NOT_STARTED_TOO_LARGE;
    case EAGAIN:
    case ENOMEM:
    case ENFILE:
    case EMFILE:
      return SBX_NOT_STARTED_RESOURCES;
    default:
      return end->stage == SBX_INIT_STAGE_EXEC ? SBX_NOT_STARTED_NOT_EXECUTABLE
                                               : SBX_NOT_STARTED_OTHER;
    }
}

/* There may be one of that name where only the toolchain reaches. */
static char *
describe_missing (const char *program)
{
  g_autofree char *quoted = _sbx_text_quote (program);
  g_autofree char *home = _sbx_bwrap_dup_home ();
  g_autofree char *found = _sbx_bwrap_toolchain_find (program, g_getenv ("PATH"), home);
  g_autofree char *where = found != NULL ? _sbx_text_quote (found) : NULL;

  if (where != NULL)
    return g_strdup_printf (_("The program %s is not in the sandbox: it is %s, below your home "
                              "directory. Let the sandbox see your toolchain (--toolchain)."),
                            quoted, where);

  return g_strdup_printf (_("The program %s is not in the sandbox. Install it on this machine, or "
                            "let the sandbox read where it is."), quoted);
}

static char *
describe_not_started (SbxCommand       *command,
                      SbxNotStarted     reason,
                      const SbxInitEnd *end)
{
  g_autofree char *program = _sbx_text_quote (sbx_command_get_argv (command)[0]);
  g_autofree char *cwd = NULL;

  switch (reason)
    {
    case SBX_NOT_STARTED_NOT_FOUND:
      return describe_missing (sbx_command_get_argv (command)[0]);

    case SBX_NOT_STARTED_NOT_EXECUTABLE:
      return g_strdup_printf (_("The program %s cannot be executed in the sandbox: %s"),
                              program, g_strerror (end->value));

    case SBX_NOT_STARTED_BAD_CWD:
      cwd = _sbx_text_quote (sbx_command_get_cwd (command) != NULL
                               ? sbx_command_get_cwd (command) : ".");
      return g_strdup_printf (_("The directory %s cannot be entered in the sandbox: %s. Let the "
                                "sandbox read or write it."), cwd, g_strerror (end->value));

    case SBX_NOT_STARTED_TOO_LARGE:
      return g_strdup_printf (_("The arguments and the environment of %s are more than the kernel "
                                "takes; pass less, or use a file"), program);

    case SBX_NOT_STARTED_RESOURCES:
      return g_strdup_printf (_("The program %s could not be started for want of resources: %s"),
                              program, g_strerror (end->value));

    case SBX_NOT_STARTED_OTHER:
    default:
      return g_strdup_printf (_("The program %s could not be started: %s"),
                              program, g_strerror (end->value));
    }
}

static void
return_not_started (SbxExecInvocation *invocation,
                    const SbxInitEnd  *end)
{
  const SbxNotStarted reason = choose_reason (end);
  g_autofree char *message =
    describe_not_started (sbx_exec_invocation_get_command (invocation), reason, end);

  sbx_exec_invocation_return_not_started (invocation, reason, end->value, message);
}

static void
answer (SbxExecInvocation *invocation,
        const SbxInitEnd  *end,
        const GError      *error)
{
  if (sbx_invocation_is_answered (SBX_INVOCATION (invocation)))
    return;

  /* The command itself is fine, there or never asked for: it is we who are short of something. */
  if (g_error_matches (error, SBX_ERROR, SBX_ERROR_BUSY))
    {
      sbx_invocation_return_gerror (SBX_INVOCATION (invocation), error);
      return;
    }

  if (error != NULL)
    {
      sbx_exec_invocation_return_lost (invocation, error->message);
      return;
    }

  switch (end->kind)
    {
    case SBX_INIT_END_EXITED:
      sbx_exec_invocation_return_exited (invocation, end->value);
      break;

    case SBX_INIT_END_SIGNALLED:
      sbx_exec_invocation_return_signalled (invocation, end->value, end->core_dumped);
      break;

    case SBX_INIT_END_NOT_STARTED:
      return_not_started (invocation, end);
      break;

    case SBX_INIT_END_LOST:
    default:
      sbx_exec_invocation_return_lost (invocation,
                                       _("The process that watches the command was killed from "
                                         "inside the sandbox; all that it watched was ended"));
      break;
    }
}

/* A command that has ended, and may have left what has to be put aside before anybody hears. */
typedef struct
{
  SbxBwrapQuarantine *quarantine;      /* (nullable) */
  SbxBwrapDenials    *denials;         /* (nullable) */
  SbxExecInvocation  *invocation;
  SbxInitEnd          end;
} Ended;

static void
ended_free (gpointer data)
{
  Ended *ended = data;

  g_clear_pointer (&ended->quarantine, _sbx_bwrap_quarantine_unref);
  g_clear_pointer (&ended->denials, _sbx_bwrap_denials_unref);
  g_object_unref (ended->invocation);
  g_free (ended);
}

static void
tell_denials (SbxBwrapDenials   *denials,
              SbxExecInvocation *invocation)
{
  guint64 truncated = 0;
  g_autoptr(GListModel) list = _sbx_bwrap_denials_collect (denials, &truncated);

  _sbx_exec_invocation_set_denials (invocation, list, truncated);
}

static void
settled_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  Ended *ended = user_data;

  _sbx_bwrap_quarantine_tell (ended->quarantine);
  answer (ended->invocation, &ended->end, NULL);
  ended_free (ended);
}

static void
settle (Ended *ended)
{
  if (ended->quarantine == NULL)
    {
      answer (ended->invocation, &ended->end, NULL);
      ended_free (ended);
    }
  else if (_sbx_bwrap_quarantine_settle (ended->quarantine, settled_cb, ended))
    settled_cb (NULL, NULL, ended);
}

static void
seen_cb (gpointer user_data)
{
  Ended *ended = user_data;

  tell_denials (ended->denials, ended->invocation);
  settle (ended);
}

static void
ended_cb (const SbxInitEnd *end,
          const GError     *error,
          gpointer          user_data)
{
  Exec *exec = user_data;
  g_autoptr(SbxExecInvocation) invocation = g_object_ref (exec->invocation);
  Ended *ended;

  if (error != NULL && exec->denials != NULL)
    tell_denials (exec->denials, invocation);
  if (error != NULL || (exec->quarantine == NULL && exec->denials == NULL))
    {
      answer (invocation, end, error);
      return;
    }

  ended = g_new0 (Ended, 1);
  if (exec->quarantine != NULL)
    ended->quarantine = _sbx_bwrap_quarantine_ref (exec->quarantine);
  ended->denials = g_steal_pointer (&exec->denials);
  ended->invocation = g_object_ref (invocation);
  ended->end = *end;

  if (ended->denials != NULL)
    _sbx_bwrap_denials_end (ended->denials, seen_cb, ended);
  else
    settle (ended);
}

/* The three descriptors that a command gets are made for it: nothing that the caller had open ever
 * goes in. FALSE, with errno set, if one could not be made. */
static gboolean
take_descriptors (SbxExecInvocation *invocation,
                  SbxInitRequest    *request)
{
  if (!SBX_PROTECTS (T3))
    {
      request->stdin_fd = dup (0);
      request->stdout_fd = dup (1);
      request->stderr_fd = dup (2);
      return TRUE;
    }

  request->stdin_fd = sbx_exec_invocation_steal_stdin_fd (invocation);
  request->stdout_fd = sbx_exec_invocation_steal_stdout_fd (invocation);
  if (request->stdout_fd >= 0)
    request->stderr_fd = sbx_exec_invocation_steal_stderr_fd (invocation);

  return request->stderr_fd >= 0;
}

static char *
choose_cwd (SbxSession *session,
            SbxCommand *command)
{
  const char *cwd = sbx_command_get_cwd (command);

  return g_canonicalize_filename (cwd != NULL ? cwd : ".", sbx_session_get_cwd (session));
}

static void
watch (Exec       *exec,
       SbxSession *session)
{
  GCancellable *cancellable = sbx_invocation_get_cancellable (SBX_INVOCATION (exec->invocation));

  exec->cancelled = g_cancellable_source_new (cancellable);
  g_source_set_callback (exec->cancelled, G_SOURCE_FUNC (cancelled_cb), exec, NULL);
  g_source_attach (exec->cancelled, _sbx_session_get_context (session));
  exec->kill_handler = g_signal_connect (exec->invocation, "kill", G_CALLBACK (kill_cb), exec);
}

/* NULL where nobody asked, or it cannot be done: then the command runs all the same. */
static SbxBwrapDenials *
watch_denials (SbxSession        *session,
               SbxExecInvocation *invocation,
               int               *sandbox_fd)
{
  SbxPlan *plan = sbx_session_get_plan (session);

  if (plan == NULL ||
      !sbx_command_get_watch_denials (sbx_exec_invocation_get_command (invocation)))
    return NULL;

  return _sbx_bwrap_denials_new (plan, _sbx_session_get_context (session), sandbox_fd);
}

static gboolean
request_exec (SbxBwrapSession    *self,
              SbxExecInvocation  *invocation,
              SbxInitRequest     *request,
              GError            **error)
{
  static const SbxInitExecHandler handler = { started_cb, ended_cb };
  Exec *exec = g_new0 (Exec, 1);
  sbx_autofd int watch_fd = -1;

  exec->denials = watch_denials (SBX_SESSION (self), invocation, &watch_fd);
  request->is_watched = exec->denials != NULL;
  request->watch_fd = watch_fd;
  exec->invocation = g_object_ref (invocation);
  exec->channel = g_object_ref (_sbx_bwrap_session_get_channel (self));
  exec->id = _sbx_init_channel_exec (exec->channel, request, &handler, exec, exec_free, error);

  if (exec->id == 0)
    {
      exec_free (exec);
      return FALSE;
    }

  watch (exec, SBX_SESSION (self));
  if (_sbx_bwrap_session_get_quarantine (self) != NULL)
    {
      exec->quarantine = _sbx_bwrap_quarantine_ref (_sbx_bwrap_session_get_quarantine (self));
      _sbx_bwrap_quarantine_begin (exec->quarantine);
    }

  return TRUE;
}

static gboolean
_sbx_bwrap_session_handle_exec (SbxSession        *session,
                                SbxExecInvocation *invocation)
{
  SbxBwrapSession *self = SBX_BWRAP_SESSION (session);
  SbxCommand *command = sbx_exec_invocation_get_command (invocation);
  g_autofree char *cwd = choose_cwd (session, command);
  g_auto(GStrv) environment = NULL;
  g_autoptr(GError) error = NULL;
  SbxInitRequest request = { SBX_INIT_VERB_EXEC, };
  sbx_autofd int stdin_fd = -1;
  sbx_autofd int stdout_fd = -1;
  sbx_autofd int stderr_fd = -1;
  gboolean has_descriptors;
  int saved_errno;

  environment = _sbx_environment_merge (_sbx_bwrap_session_get_environment (self),
                                        sbx_command_get_environment (command));
  request.argv = sbx_command_get_argv (command);
  request.environment = (const char * const *) environment;
  request.cwd = cwd;
  request.terminal = sbx_command_get_terminal (command);
  request.rows = (guint16) sbx_command_get_rows (command);
  request.columns = (guint16) sbx_command_get_columns (command);
  request.stdin_fd = request.stdout_fd = request.stderr_fd = -1;

  has_descriptors = request.terminal || take_descriptors (invocation, &request);
  saved_errno = errno;
  stdin_fd = request.stdin_fd;
  stdout_fd = request.stdout_fd;
  stderr_fd = request.stderr_fd;

  if (!has_descriptors)
    {
      const SbxInitEnd end = { SBX_INIT_END_NOT_STARTED, SBX_INIT_STAGE_RESOURCES, saved_errno };

      return_not_started (invocation, &end);
    }
  else if (!request_exec (self, invocation, &request, &error))
    sbx_invocation_return_gerror (SBX_INVOCATION (invocation), error);

  return TRUE;
}

void
_sbx_bwrap_session_init_exec (SbxSessionClass *klass)
{
  klass->handle_exec = _sbx_bwrap_session_handle_exec;
}
