/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "init-fixture.h"

#include "bwrap/sbx-seccomp-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define GRACE_MS 5000

static void
own_session_cb (gpointer unused)
{
  const struct rlimit core = { 1, 1 };

  setsid ();

  /* As the provider does, since no call inside may change it. */
  setrlimit (RLIMIT_CORE, &core);
}

GSubprocess *
sandbox_spawn (const char * const *arguments,
               int                 control)
{
  g_autoptr(GSubprocessLauncher) launcher = NULL;
  g_autoptr(GPtrArray) argv = g_ptr_array_new ();
  g_autofree char *helper = g_test_build_filename (G_TEST_BUILT, "init", "init-helper", NULL);
  const char *with_helper[] = { "--ro-bind", helper, "/run/helper" };
  g_autoptr(GError) error = NULL;
  const int filter = _sbx_seccomp_open (&error);
  GSubprocess *bwrap;
  const char *init = g_getenv ("SBX_INIT");
  const char *unprotect = g_getenv ("SBX_UNPROTECT");
  const char *base[] = {
    "bwrap", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
    "--tmpfs", "/run", "--dir", "/run/libsbx", "--ro-bind", init, "/run/libsbx/init",
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net",
    "--as-pid-1", "--cap-drop", "ALL", "--clearenv", "--seccomp", "4",
  };

  g_assert_no_error (error);
  g_assert_nonnull (init);
  for (guint i = 0; i < G_N_ELEMENTS (base); i++)
    g_ptr_array_add (argv, (char *) base[i]);
  for (guint i = 0; i < G_N_ELEMENTS (with_helper); i++)
    g_ptr_array_add (argv, (char *) with_helper[i]);
  for (guint i = 0; arguments != NULL && arguments[i] != NULL; i++)
    g_ptr_array_add (argv, (char *) arguments[i]);
  /* For a run with the build whose protections can be taken out one by one. */
  if (unprotect != NULL)
    {
      g_ptr_array_add (argv, (char *) "--setenv");
      g_ptr_array_add (argv, (char *) "SBX_UNPROTECT");
      g_ptr_array_add (argv, (char *) unprotect);
    }

  g_ptr_array_add (argv, (char *) "/run/libsbx/init");
  g_ptr_array_add (argv, (char *) "3");
  g_ptr_array_add (argv, NULL);

  launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_SILENCE);
  g_subprocess_launcher_set_child_setup (launcher, own_session_cb, NULL, NULL);
  g_subprocess_launcher_take_fd (launcher, control, 3);
  g_subprocess_launcher_take_fd (launcher, filter, 4);
  bwrap = g_subprocess_launcher_spawnv (launcher, (const char * const *) argv->pdata, &error);
  g_assert_no_error (error);

  return bwrap;
}

static void
lost_cb (SbxInitChannel *channel,
         const GError   *error,
         gpointer        user_data)
{
  Sandbox *sandbox = user_data;

  g_assert_null (sandbox->lost);
  sandbox->lost = g_error_copy (error);
}

Sandbox *
sandbox_new_full (const char * const        *arguments,
                  const SbxInitExpectation  *expectations,
                  gsize                      n_expectations,
                  GError                   **error)
{
  g_autoptr(Sandbox) sandbox = g_new0 (Sandbox, 1);
  g_autoptr(GAsyncResult) result = NULL;
  int fds[2];

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), ==, 0);
  sandbox->bwrap = sandbox_spawn (arguments, fds[1]);
  sandbox->channel = _sbx_init_channel_new (fds[0]);
  g_signal_connect (sandbox->channel, "lost", G_CALLBACK (lost_cb), sandbox);

  _sbx_init_channel_setup_async (sandbox->channel, expectations, n_expectations, NULL,
                                 test_store_result, &result);
  test_wait_for (result != NULL);

  if (!_sbx_init_channel_setup_finish (sandbox->channel, result, error))
    return NULL;

  return g_steal_pointer (&sandbox);
}

Sandbox *
sandbox_new (void)
{
  g_autoptr(GError) error = NULL;
  Sandbox *sandbox = sandbox_new_full (NULL, NULL, 0, &error);

  g_assert_no_error (error);
  return sandbox;
}

void
sandbox_close (Sandbox *sandbox)
{
  g_autoptr(GAsyncResult) result = NULL;
  g_autoptr(GError) error = NULL;

  _sbx_init_channel_close_async (sandbox->channel, GRACE_MS, NULL, test_store_result, &result);
  test_wait_for (result != NULL);
  g_assert_true (_sbx_init_channel_close_finish (sandbox->channel, result, &error));
  g_assert_no_error (error);
}

void
sandbox_free (Sandbox *sandbox)
{
  g_autoptr(GError) error = NULL;

  sandbox_close (sandbox);
  g_subprocess_wait (sandbox->bwrap, NULL, &error);
  g_assert_no_error (error);

  test_assert_finalizes (sandbox->channel);
  g_clear_object (&sandbox->bwrap);
  g_clear_error (&sandbox->lost);
  g_free (sandbox);
}

Run *
run_new (Sandbox *sandbox)
{
  Run *run = g_new0 (Run, 1);

  run->sandbox = sandbox;
  run->terminal = -1;
  run->stdin_fd = -1;
  for (guint i = 0; i < 2; i++)
    {
      run->output[i] = g_string_new (NULL);
      run->pipes[i] = -1;
    }

  return run;
}

void
run_free (Run *run)
{
  for (guint i = 0; i < 2; i++)
    {
      g_string_free (run->output[i], TRUE);
      g_clear_handle_id (&run->readers[i], g_source_remove);
      if (run->pipes[i] >= 0)
        close (run->pipes[i]);
    }

  if (run->terminal >= 0)
    close (run->terminal);
  if (run->stdin_fd >= 0)
    close (run->stdin_fd);
  g_clear_error (&run->error);
  g_free (run);
}

static void
started_cb (gint64   pid,
            int      terminal,
            gpointer user_data)
{
  Run *run = user_data;

  g_assert_cmpint (run->id, !=, 0);
  g_assert_cmpint (run->n_ended, ==, 0);
  run->n_started++;
  run->pid = pid;
  run->terminal = terminal;
}

static void
ended_cb (const SbxInitEnd *end,
          const GError     *error,
          gpointer          user_data)
{
  Run *run = user_data;

  g_assert_cmpint (run->id, !=, 0);
  run->n_ended++;
  if (end != NULL)
    run->end = *end;
  else
    run->error = g_error_copy (error);
}

static gboolean
readable_cb (int          fd,
             GIOCondition condition,
             gpointer     user_data)
{
  Run *run = user_data;
  const guint i = fd == run->pipes[0] ? 0 : 1;
  char buffer[65536];
  gssize n = read (fd, buffer, sizeof buffer);

  if (n > 0)
    g_string_append_len (run->output[i], buffer, n);
  if (n > 0 || (n < 0 && errno == EAGAIN))
    return G_SOURCE_CONTINUE;

  run->readers[i] = 0;
  return G_SOURCE_REMOVE;
}

static int
open_output (Run   *run,
             guint  i)
{
  int fds[2];

  g_assert_true (g_unix_open_pipe (fds, FD_CLOEXEC, NULL));
  g_unix_set_fd_nonblocking (fds[0], TRUE, NULL);
  run->pipes[i] = fds[0];
  run->readers[i] = g_unix_fd_add (fds[0], G_IO_IN | G_IO_HUP, readable_cb, run);

  return fds[1];
}

void
run_start_bare (Run                  *run,
                const SbxInitRequest *request)
{
  const SbxInitExecHandler handler = { started_cb, ended_cb };
  g_autoptr(GError) error = NULL;

  run->id = _sbx_init_channel_exec (run->sandbox->channel, request, &handler, run, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (run->n_started + run->n_ended, ==, 0);
}

void
run_start (Run            *run,
           SbxInitRequest *request)
{
  static const char * const environment[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", NULL };
  int fds[2] = { -1, -1 };

  if (request->environment == NULL)
    request->environment = environment;
  if (request->cwd == NULL)
    request->cwd = "/";
  if (request->stdin_fd == 0)
    request->stdin_fd = -1;

  if (!request->terminal)
    {
      request->stdout_fd = fds[0] = open_output (run, 0);
      request->stderr_fd = fds[1] = open_output (run, 1);
    }

  run_start_bare (run, request);

  for (guint i = 0; i < 2; i++)
    if (fds[i] >= 0)
      close (fds[i]);
}

void
run_wait (Run *run)
{
  test_wait_for (run->n_ended > 0);
  test_wait_for (run->readers[0] == 0 && run->readers[1] == 0);
  g_assert_cmpint (run->n_ended, ==, 1);
}

Run *
run_argv (Sandbox            *sandbox,
          SbxInitVerb         verb,
          const char * const *argv)
{
  SbxInitRequest request = { .verb = verb, .argv = argv };
  Run *run = run_new (sandbox);

  run_start (run, &request);
  return run;
}

Run *
run_shell (Sandbox    *sandbox,
           const char *script)
{
  return run_argv (sandbox, SBX_INIT_VERB_EXEC,
                   (const char * const[]) { "/bin/sh", "-c", script, NULL });
}

Run *
run_shell_wait (Sandbox    *sandbox,
                const char *script)
{
  Run *run = run_shell (sandbox, script);

  run_wait (run);
  return run;
}

Run *
run_file_verb (Sandbox     *sandbox,
               SbxInitVerb  verb,
               const char  *argument,
               const char  *second,
               const char  *content,
               gssize       content_size)
{
  const char *argv[] = { argument, second, NULL };
  SbxInitRequest request = { .verb = verb, .argv = argv };
  Run *run = run_new (sandbox);
  int fds[2];

  if (content != NULL)
    {
      const gsize size = content_size < 0 ? strlen (content) : (gsize) content_size;

      /* What a pipe holds without a reader. */
      g_assert_cmpint (size, <=, 65536);
      g_assert_true (g_unix_open_pipe (fds, FD_CLOEXEC, NULL));
      g_assert_cmpint (write (fds[1], content, size), ==, size);
      close (fds[1]);
      request.stdin_fd = fds[0];
    }

  run_start (run, &request);
  if (content != NULL)
    close (fds[0]);
  run_wait (run);

  return run;
}

int
sandbox_count_others (Sandbox *sandbox)
{
  g_autoptr(Run) run = run_shell_wait (sandbox, "n=0; for p in /proc/[0-9]*; do n=$((n + 1)); "
                                                "done; echo $n");

  assert_exited (run, 0);

  /* Process 1, the supervisor and the shell. */
  return (int) g_ascii_strtoll (run->output[0]->str, NULL, 10) - 3;
}
