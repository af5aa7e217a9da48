/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "core-child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct _TestChildSession
{
  SbxSession parent_instance;
};

G_DEFINE_FINAL_TYPE (TestChildSession, test_child_session, SBX_TYPE_SESSION)

/* Lives as long as the child. */
typedef struct
{
  SbxExecInvocation *invocation;
  pid_t              pid;             /* 0 where it ended before anybody could ask */
} Child;

static void
child_free (gpointer data)
{
  Child *child = data;

  g_object_unref (child->invocation);
  g_free (child);
}

static gboolean
kill_group (pid_t pid,
            int   signal_number)
{
  return pid > 0 && kill (-pid, signal_number) == 0;
}

static void
cancelled_cb (GCancellable *cancellable,
              gpointer      data)
{
  kill_group (GPOINTER_TO_INT (data), SIGKILL);
}

static gboolean
kill_cb (SbxExecInvocation *invocation,
         int                signal_number,
         gpointer           data)
{
  return kill_group (GPOINTER_TO_INT (data), signal_number);
}

static void
ended_cb (GObject      *object,
          GAsyncResult *result,
          gpointer      user_data)
{
  GSubprocess *subprocess = G_SUBPROCESS (object);
  Child *child = user_data;

  g_assert_true (g_subprocess_wait_finish (subprocess, result, NULL));

  /* What it had started goes with it. */
  kill_group (child->pid, SIGKILL);
  if (g_subprocess_get_if_exited (subprocess))
    sbx_exec_invocation_return_exited (child->invocation,
                                       g_subprocess_get_exit_status (subprocess));
  else
    sbx_exec_invocation_return_signalled (child->invocation,
                                          g_subprocess_get_term_sig (subprocess), FALSE);
  child_free (child);
}

static void
lead_cb (gpointer user_data)
{
  setsid ();
  if (user_data != NULL)
    ioctl (0, TIOCSCTTY, 0);
}

/* The command's end of a new pseudo-terminal; the other end goes to the library. */
static int
open_terminal (SbxExecInvocation *invocation)
{
  const int controller = posix_openpt (O_RDWR | O_NOCTTY | O_CLOEXEC);
  char name[64];

  g_assert_cmpint (controller, >=, 0);
  g_assert_cmpint (grantpt (controller), ==, 0);
  g_assert_cmpint (unlockpt (controller), ==, 0);
  g_assert_cmpint (ptsname_r (controller, name, sizeof name), ==, 0);
  sbx_exec_invocation_take_terminal_fd (invocation, controller);

  return open (name, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

static void
take_descriptors (SbxExecInvocation   *invocation,
                  GSubprocessLauncher *launcher)
{
  int stdin_fd;
  int stdout_fd;
  int stderr_fd;

  if (sbx_command_get_terminal (sbx_exec_invocation_get_command (invocation)))
    {
      stdin_fd = open_terminal (invocation);
      stdout_fd = dup (stdin_fd);
      stderr_fd = dup (stdin_fd);
    }
  else
    {
      stdin_fd = sbx_exec_invocation_steal_stdin_fd (invocation);
      stdout_fd = sbx_exec_invocation_steal_stdout_fd (invocation);
      stderr_fd = sbx_exec_invocation_steal_stderr_fd (invocation);
    }

  g_assert_cmpint (stdout_fd, >=, 0);
  g_assert_cmpint (stderr_fd, >=, 0);
  if (stdin_fd >= 0)
    g_subprocess_launcher_take_stdin_fd (launcher, stdin_fd);
  g_subprocess_launcher_take_stdout_fd (launcher, stdout_fd);
  g_subprocess_launcher_take_stderr_fd (launcher, stderr_fd);
}

static gboolean
test_child_session_handle_exec (SbxSession        *session,
                                SbxExecInvocation *invocation)
{
  SbxCommand *command = sbx_exec_invocation_get_command (invocation);
  GCancellable *cancellable = sbx_invocation_get_cancellable (SBX_INVOCATION (invocation));
  g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_NONE);
  g_autoptr(GSubprocess) subprocess = NULL;
  g_autoptr(GError) error = NULL;
  const char *identifier;
  Child *child;

  take_descriptors (invocation, launcher);
  g_subprocess_launcher_set_child_setup (launcher, lead_cb,
                                         GINT_TO_POINTER (sbx_command_get_terminal (command)),
                                         NULL);

  subprocess = g_subprocess_launcher_spawnv (launcher, sbx_command_get_argv (command), &error);
  if (subprocess == NULL)
    {
      sbx_exec_invocation_return_not_started (invocation, SBX_NOT_STARTED_NOT_FOUND, 0,
                                              error->message);
      return TRUE;
    }

  child = g_new0 (Child, 1);
  child->invocation = g_object_ref (invocation);
  identifier = g_subprocess_get_identifier (subprocess);
  if (identifier != NULL)
    child->pid = (pid_t) g_ascii_strtoll (identifier, NULL, 10);

  g_signal_connect (cancellable, "cancelled", G_CALLBACK (cancelled_cb),
                    GINT_TO_POINTER (child->pid));
  g_signal_connect (invocation, "kill", G_CALLBACK (kill_cb), GINT_TO_POINTER (child->pid));
  g_subprocess_wait_async (subprocess, NULL, ended_cb, child);
  sbx_exec_invocation_started (invocation, identifier);

  return TRUE;
}

static void
test_child_session_class_init (TestChildSessionClass *klass)
{
  SBX_SESSION_CLASS (klass)->handle_exec = test_child_session_handle_exec;
}

static void
test_child_session_init (TestChildSession *self)
{
}

SbxSession *
test_child_session_new (void)
{
  return g_object_new (TEST_TYPE_CHILD_SESSION,
                       "capabilities", SBX_CAPABILITIES_EXEC | SBX_CAPABILITIES_SPAWN |
                                       SBX_CAPABILITIES_STDIN | SBX_CAPABILITIES_SIGNALS |
                                       SBX_CAPABILITIES_TERMINAL,
                       NULL);
}
