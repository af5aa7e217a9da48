/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "process/sbx-provider-child-private.h"

#include "files/sbx-fd-private.h"
#include "process/sbx-process-session-private.h"

#include <fcntl.h>
#include <glib-unix.h>
#include <glib/gi18n-lib.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Between being asked to end and being killed. */
#define TERM_MS 1000

struct _SbxProviderChild
{
  GSubprocess         *subprocess;
  pid_t                pid;           /* kept, for what it leaves behind */
  GCancellable        *cancellable;
  SbxProviderExitFunc  func;          /* %NULL once it was called, or must not be */
  gpointer             user_data;
  gint64               ending_at;     /* when the one that ends it asks it to; 0 if nobody does */
  gboolean             swept;         /* nothing of its session is left */
};

static void
child_clear (SbxProviderChild *self)
{
  g_clear_object (&self->subprocess);
  g_clear_object (&self->cancellable);
}

static void
child_unref (SbxProviderChild *self)
{
  g_rc_box_release_full (self, (GDestroyNotify) child_clear);
}

void
_sbx_provider_child_free (SbxProviderChild *self)
{
  self->func = NULL;
  g_cancellable_cancel (self->cancellable);
  child_unref (self);
}

/* Between fork and exec: nothing but this. */
static void
child_setup_cb (gpointer user_data)
{
  setsid ();
}

/* Also of one whose end nobody waited for to the last. */
static void
sweep (SbxProviderChild *self)
{
  if (self->swept || !_sbx_provider_child_has_exited (self))
    return;

  self->swept = TRUE;
  _sbx_process_session_kill (self->pid);
}

static void
exited_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  SbxProviderChild *self = user_data;
  SbxProviderExitFunc func = g_steal_pointer (&self->func);

  g_subprocess_wait_finish (G_SUBPROCESS (object), result, NULL);
  sweep (self);
  if (func != NULL)
    func (self, self->user_data);

  child_unref (self);
}

typedef struct
{
  int ours;
  int theirs;
} Pipe;

static void
pipe_clear (Pipe *self)
{
  _sbx_clear_fd (&self->ours);
  _sbx_clear_fd (&self->theirs);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Pipe, pipe_clear)

static gboolean
pipe_open (Pipe      *self,
           gboolean   we_write,
           GError   **error)
{
  int fds[2];

  if (!g_unix_open_pipe (fds, FD_CLOEXEC, error))
    return FALSE;

  self->ours = fds[we_write ? 1 : 0];
  self->theirs = fds[we_write ? 0 : 1];

  return g_unix_set_fd_nonblocking (self->ours, TRUE, error);
}

/* 0 once it was reaped. */
static pid_t
get_pid (GSubprocess *subprocess)
{
  const char *identifier = g_subprocess_get_identifier (subprocess);

  return identifier != NULL ? (pid_t) g_ascii_strtoll (identifier, NULL, 10) : 0;
}

SbxProviderChild *
_sbx_provider_child_new (const char * const   *argv,
                         const char * const   *environment,
                         SbxProviderPipes     *pipes,
                         SbxProviderExitFunc   func,
                         gpointer              user_data,
                         GError              **error)
{
  g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_NONE);
  g_autoptr(GSubprocess) subprocess = NULL;
  g_auto(Pipe) in = { -1, -1 };
  g_auto(Pipe) out = { -1, -1 };
  g_auto(Pipe) err = { -1, -1 };
  SbxProviderChild *self;

  if (!pipe_open (&in, TRUE, error) || !pipe_open (&out, FALSE, error) ||
      !pipe_open (&err, FALSE, error))
    return NULL;

  if (environment != NULL)
    g_subprocess_launcher_set_environ (launcher, (char **) environment);
  g_subprocess_launcher_set_child_setup (launcher, child_setup_cb, NULL, NULL);
  g_subprocess_launcher_take_stdin_fd (launcher, g_steal_fd (&in.theirs));
  g_subprocess_launcher_take_stdout_fd (launcher, g_steal_fd (&out.theirs));
  g_subprocess_launcher_take_stderr_fd (launcher, g_steal_fd (&err.theirs));

  subprocess = g_subprocess_launcher_spawnv (launcher, argv, error);
  if (subprocess == NULL)
    return NULL;

  pipes->stdin_fd = g_steal_fd (&in.ours);
  pipes->stdout_fd = g_steal_fd (&out.ours);
  pipes->stderr_fd = g_steal_fd (&err.ours);

  self = g_rc_box_new0 (SbxProviderChild);
  self->subprocess = g_steal_pointer (&subprocess);
  self->pid = get_pid (self->subprocess);
  self->cancellable = g_cancellable_new ();
  self->func = func;
  self->user_data = user_data;
  g_subprocess_wait_async (self->subprocess, self->cancellable, exited_cb,
                           g_rc_box_acquire (self));

  return self;
}

/* To the whole process group, of which the child is the leader. Its number is no other's as long as
 * the child was not reaped. */
static void
signal_group (GSubprocess *subprocess,
              int          signal_number)
{
  const pid_t pid = get_pid (subprocess);

  if (pid > 1)
    kill (-pid, signal_number);
}

void
_sbx_provider_child_kill (SbxProviderChild *self)
{
  signal_group (self->subprocess, SIGKILL);
}

typedef struct
{
  GSubprocess *subprocess;
  pid_t        pid;
  guint        patience_ms;
} Ending;

static void
gone_cb (GObject      *object,
         GAsyncResult *result,
         gpointer      user_data)
{
  gboolean *gone = user_data;

  *gone = g_subprocess_wait_finish (G_SUBPROCESS (object), result, NULL);
}

static gboolean
over_cb (gpointer user_data)
{
  gboolean *over = user_data;

  *over = TRUE;

  return G_SOURCE_REMOVE;
}

/* Waits until it is gone, or until the time is over. */
static void
wait_until (GMainContext *context,
            guint         wait_ms,
            gboolean     *gone)
{
  g_autoptr(GSource) source = g_timeout_source_new (wait_ms);
  gboolean over = FALSE;

  g_source_set_callback (source, over_cb, &over, NULL);
  g_source_attach (source, context);
  while (!*gone && !over)
    g_main_context_iteration (context, TRUE);

  g_source_destroy (source);
}

static gpointer
ending_thread (gpointer data)
{
  Ending *ending = data;
  g_autoptr(GMainContext) context = g_main_context_new ();
  gboolean gone = FALSE;

  g_main_context_push_thread_default (context);
  g_subprocess_wait_async (ending->subprocess, NULL, gone_cb, &gone);

  wait_until (context, ending->patience_ms, &gone);
  if (!gone)
    {
      signal_group (ending->subprocess, SIGTERM);
      wait_until (context, TERM_MS, &gone);
    }

  /* What cannot be killed waits for a device: the kernel ends it when that is over. */
  while (!gone)
    {
      signal_group (ending->subprocess, SIGKILL);
      wait_until (context, TERM_MS, &gone);
    }

  _sbx_process_session_kill (ending->pid);
  g_main_context_pop_thread_default (context);
  g_object_unref (ending->subprocess);
  g_free (ending);

  return NULL;
}

/* A thread, because the last reference of a client may be dropped where no main loop ever turns
 * again, and nothing must stay even then. */
void
_sbx_provider_child_end (SbxProviderChild *self,
                         guint             patience_ms)
{
  const gint64 at = g_get_monotonic_time () + (gint64) patience_ms * 1000;
  g_autoptr(GThread) thread = NULL;
  Ending *ending;

  sweep (self);
  if (_sbx_provider_child_has_exited (self) || (self->ending_at != 0 && self->ending_at <= at))
    return;

  ending = g_new0 (Ending, 1);
  ending->subprocess = g_object_ref (self->subprocess);
  ending->pid = self->pid;
  ending->patience_ms = patience_ms;

  thread = g_thread_try_new ("sbx-provider-end", ending_thread, ending, NULL);
  if (thread != NULL)
    {
      self->ending_at = at;
      return;
    }

  /* Without a thread there is nobody who could be patient. */
  signal_group (self->subprocess, SIGKILL);
  g_object_unref (ending->subprocess);
  g_free (ending);
}

gboolean
_sbx_provider_child_has_exited (SbxProviderChild *self)
{
  return g_subprocess_get_identifier (self->subprocess) == NULL;
}

gboolean
_sbx_provider_child_was_success (SbxProviderChild *self)
{
  return g_subprocess_get_if_exited (self->subprocess) &&
         g_subprocess_get_exit_status (self->subprocess) == 0;
}

char *
_sbx_provider_child_describe (SbxProviderChild *self)
{
  if (g_subprocess_get_if_exited (self->subprocess))
    return g_strdup_printf (_("exited with status %d"),
                            g_subprocess_get_exit_status (self->subprocess));

  return g_strdup_printf (_("was ended by signal %d (%s)"),
                          g_subprocess_get_term_sig (self->subprocess),
                          g_strsignal (g_subprocess_get_term_sig (self->subprocess)));
}
