/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "init-fixture.h"

#include "bwrap/sbx-init-channel-struct-private.h"
#include "core/sbx-error.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void
assert_gone (int pidfd)
{
  struct pollfd poll_fd = { .fd = pidfd, .events = POLLIN };

  g_assert_cmpint (poll (&poll_fd, 1, TEST_DEADLINE_S * 1000), ==, 1);
}

static int
hold_process_1 (Sandbox *sandbox)
{
  const int pidfd = fcntl (sandbox->channel->pidfd, F_DUPFD_CLOEXEC, 3);

  g_assert_cmpint (pidfd, >=, 0);
  return pidfd;
}

static SbxInitExpectation
expect (const char *path,
        const char *source,
        gboolean    read_only)
{
  struct stat status;

  g_assert_cmpint (lstat (source, &status), ==, 0);
  return (SbxInitExpectation) { path, status.st_dev, status.st_ino, read_only };
}

static void
test_expectations (void)
{
  SbxInitExpectation good[200];
  const struct
  {
    SbxInitExpectation expectation;
    const char        *text;
  } bad[] = {
    { expect ("/usr", "/etc", TRUE), "/usr" },
    { expect ("/usr", "/usr", FALSE), "/usr" },
    { expect ("/tmp/no\n", "/usr", TRUE), "/tmp/no\\n" },
    { expect ("/proc/self/root", "/", TRUE), "/proc/self/root" },
  };
  const char *arguments[] = { "--bind", "/var/tmp", "/tmp/w", NULL };
  g_autoptr(GError) error = NULL;
  g_autoptr(Sandbox) sandbox = NULL;

  g_test_summary ("What is mounted is compared with what was looked up");

  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    good[i] = expect ("/usr", "/usr", TRUE);
  good[7] = expect ("/tmp/w", "/var/tmp", FALSE);
  sandbox = sandbox_new_full (arguments, good, G_N_ELEMENTS (good), &error);
  g_assert_no_error (error);

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      good[150] = bad[i].expectation;
      g_assert_null (sandbox_new_full (arguments, good, G_N_ELEMENTS (good), &error));
      g_assert_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED);
      g_assert_nonnull (strstr (error->message, bad[i].text));
      g_clear_error (&error);
    }
}

static void
test_close_in_flight (void)
{
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) done = run_shell_wait (sandbox, "exit 3");
  g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) run_free);
  const char *argv[] = { "true", NULL };
  const SbxInitRequest request = { .argv = argv, .cwd = "/" };
  const SbxInitExecHandler handler = { 0 };
  g_autoptr(GError) error = NULL;

  g_test_summary ("Closing ends what runs, and tells each exec so, once");
  for (guint i = 0; i < 20; i++)
    g_ptr_array_add (runs, run_shell (sandbox, "trap '' TERM; sleep 60"));

  sandbox_close (sandbox);
  assert_exited (done, 3);
  for (guint i = 0; i < runs->len; i++)
    {
      Run *run = runs->pdata[i];

      run_wait (run);
      g_assert_error (run->error, SBX_ERROR, SBX_ERROR_CLOSED);
    }

  g_assert_null (sandbox->lost);
  g_assert_cmpint (_sbx_init_channel_exec (sandbox->channel, &request, &handler, NULL, NULL,
                                           &error), ==, 0);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_CLOSED);

  /* A second close, which the end of the test is the third of. */
  sandbox_close (sandbox);
}

static void
test_dispose_in_flight (void)
{
  Sandbox *sandbox = sandbox_new ();
  g_autoptr(Run) run = run_shell (sandbox, "sleep 60");
  const int pidfd = hold_process_1 (sandbox);

  g_test_summary ("Dropping the channel ends the sandbox; the execs hear of it later");
  test_wait_for (run->n_started);
  test_assert_finalizes (sandbox->channel);
  g_assert_cmpint (run->n_ended, ==, 0);

  run_wait (run);
  g_assert_error (run->error, SBX_ERROR, SBX_ERROR_CLOSED);
  assert_gone (pidfd);
  close (pidfd);

  g_assert_true (g_subprocess_wait (sandbox->bwrap, NULL, NULL));
  g_object_unref (sandbox->bwrap);
  g_free (sandbox);
}

static void
test_run_dispose (void)
{
  Sandbox *sandbox = sandbox_new ();
  g_autoptr(Run) run = run_shell (sandbox, "sleep 60");
  g_autoptr(GAsyncResult) result = NULL;
  g_autoptr(GError) error = NULL;

  g_test_summary ("A dispose while closing, as a language binding may do it, is survived");
  _sbx_init_channel_close_async (sandbox->channel, 5000, NULL, test_store_result, &result);
  g_object_run_dispose (G_OBJECT (sandbox->channel));
  g_assert_null (result);
  g_assert_cmpint (run->n_ended, ==, 0);
  test_wait_for (result != NULL && run->n_ended > 0);
  g_assert_false (_sbx_init_channel_close_finish (sandbox->channel, result, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_CLOSED);

  run_wait (run);
  g_assert_true (g_subprocess_wait (sandbox->bwrap, NULL, NULL));
  g_clear_object (&result);
  g_clear_object (&sandbox->channel);
  g_clear_object (&sandbox->bwrap);
  g_free (sandbox);
}

static void
test_never_set_up (void)
{
  int fds[2];
  SbxInitChannel *channel;
  const char *argv[] = { "true", NULL };
  const SbxInitRequest request = { .argv = argv, .cwd = "/" };
  const SbxInitExecHandler handler = { 0 };
  g_autoptr(GAsyncResult) closed = NULL;
  g_autoptr(GAsyncResult) set_up = NULL;
  g_autoptr(GError) error = NULL;

  g_test_summary ("A channel that was never set up executes nothing, and can be closed");
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), ==, 0);
  channel = _sbx_init_channel_new (fds[0]);
  g_assert_cmpint (_sbx_init_channel_exec (channel, &request, &handler, NULL, NULL, &error), ==, 0);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_CLOSED);
  g_clear_error (&error);

  _sbx_init_channel_close_async (channel, 5000, NULL, test_store_result, &closed);
  g_assert_null (closed);
  test_wait_for (closed != NULL);
  g_assert_true (_sbx_init_channel_close_finish (channel, closed, NULL));

  _sbx_init_channel_setup_async (channel, NULL, 0, NULL, test_store_result, &set_up);
  test_wait_for (set_up != NULL);
  g_assert_false (_sbx_init_channel_setup_finish (channel, set_up, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_BUSY);

  g_clear_object (&closed);
  g_clear_object (&set_up);
  test_assert_finalizes (channel);
  close (fds[1]);
}

/* At each of these moments of setting up: before, after so many turns of the context. */
static void
test_cancel_setup (void)
{
  g_test_summary ("Setting up can be cancelled, or closed, at any moment, and leaves no process");

  for (int turns = 0; turns < 12; turns++)
    {
      const gboolean cancel = turns % 2 == 0;
      g_autoptr(GCancellable) cancellable = g_cancellable_new ();
      g_autoptr(GAsyncResult) set_up = NULL;
      g_autoptr(GAsyncResult) closed = NULL;
      g_autoptr(GError) error = NULL;
      g_autoptr(GSubprocess) bwrap = NULL;
      SbxInitChannel *channel;
      int fds[2];

      g_assert_cmpint (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), ==, 0);
      bwrap = sandbox_spawn (NULL, fds[1]);
      channel = _sbx_init_channel_new (fds[0]);
      _sbx_init_channel_setup_async (channel, NULL, 0, cancellable, test_store_result, &set_up);
      for (int i = 0; i < turns / 2 && set_up == NULL; i++)
        g_main_context_iteration (NULL, TRUE);

      if (cancel)
        g_cancellable_cancel (cancellable);
      else
        _sbx_init_channel_close_async (channel, 5000, NULL, test_store_result, &closed);
      test_wait_for (set_up != NULL);

      if (!_sbx_init_channel_setup_finish (channel, set_up, &error))
        {
          if (cancel)
            g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
          else
            g_assert_error (error, SBX_ERROR, SBX_ERROR_CLOSED);
        }

      if (cancel)
        _sbx_init_channel_close_async (channel, 5000, NULL, test_store_result, &closed);
      test_wait_for (closed != NULL);
      g_assert_true (_sbx_init_channel_close_finish (channel, closed, NULL));

      g_clear_object (&set_up);
      g_clear_object (&closed);
      test_assert_finalizes (channel);
      g_assert_true (g_subprocess_wait (bwrap, NULL, NULL));
    }
}

static void
test_killed (void)
{
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) run = run_shell (sandbox, "sleep 60");
  const char *argv[] = { "true", NULL };
  const SbxInitRequest request = { .argv = argv, .cwd = "/" };
  const SbxInitExecHandler handler = { 0 };
  g_autoptr(GError) error = NULL;

  g_test_summary ("When process 1 is killed the sandbox is lost, and says so once");
  test_wait_for (run->n_started);
  g_assert_cmpint (kill (sandbox->channel->pid, SIGKILL), ==, 0);
  test_wait_for (sandbox->lost != NULL);
  g_assert_error (sandbox->lost, SBX_ERROR, SBX_ERROR_LOST);
  run_wait (run);
  g_assert_error (run->error, SBX_ERROR, SBX_ERROR_LOST);

  g_assert_cmpint (_sbx_init_channel_exec (sandbox->channel, &request, &handler, NULL, NULL,
                                           &error), ==, 0);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_LOST);
}

static void
test_close_grace (void)
{
  Sandbox *sandbox[2] = { sandbox_new (), sandbox_new () };
  const int pidfds[2] = { hold_process_1 (sandbox[0]), hold_process_1 (sandbox[1]) };
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GAsyncResult) by_grace = NULL;
  g_autoptr(GAsyncResult) by_cancel = NULL;

  g_test_summary ("A process 1 that does not end is killed, after the grace time or at once");
  for (guint i = 0; i < 2; i++)
    g_assert_cmpint (kill (sandbox[i]->channel->pid, SIGSTOP), ==, 0);

  _sbx_init_channel_close_async (sandbox[0]->channel, 50, NULL, test_store_result, &by_grace);
  _sbx_init_channel_close_async (sandbox[1]->channel, G_MAXUINT / 2, cancellable,
                                 test_store_result, &by_cancel);
  test_wait_for (by_grace != NULL);
  assert_gone (pidfds[0]);

  g_assert_null (by_cancel);
  g_cancellable_cancel (cancellable);
  test_wait_for (by_cancel != NULL);
  assert_gone (pidfds[1]);
  g_assert_true (_sbx_init_channel_close_finish (sandbox[1]->channel, by_cancel, NULL));

  g_clear_object (&by_grace);
  g_clear_object (&by_cancel);
  for (guint i = 0; i < 2; i++)
    {
      close (pidfds[i]);
      sandbox_free (sandbox[i]);
    }
}

static void
test_slow_process_1 (void)
{
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) run_free);
  const char *argv[] = { "true", NULL };
  const int small = 1;

  g_test_summary ("What process 1 does not take at once is kept for it, descriptors and all");
  g_assert_cmpint (kill (sandbox->channel->pid, SIGSTOP), ==, 0);
  g_assert_cmpint (setsockopt (sandbox->channel->fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small),
                   ==, 0);

  for (guint i = 0; i < 150; i++)
    {
      SbxInitRequest request = { .argv = argv };
      int null;

      g_ptr_array_add (runs, run_new (sandbox));
      null = open ("/dev/null", O_RDWR | O_CLOEXEC);
      request.environment = argv + 1;
      request.cwd = "/";
      request.stdin_fd = request.stdout_fd = request.stderr_fd = null;
      run_start_bare (runs->pdata[i], &request);
      close (null);
    }

  g_assert_cmpint (kill (sandbox->channel->pid, SIGCONT), ==, 0);
  for (guint i = 0; i < runs->len; i++)
    {
      Run *run = runs->pdata[i];

      run_wait (run);
      g_assert_no_error (run->error);

      /* No PATH, so in the usual one. */
      assert_exited (run, 0);
    }
}

static void
test_no_descriptor_left (void)
{
  const char *argv[] = { "/bin/sleep", "60", NULL };
  SbxInitRequest request = { .argv = argv, .terminal = TRUE };
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) run = run_new (sandbox);
  g_autoptr(Run) after = NULL;
  struct rlimit before, none;
  int highest;

  g_test_summary ("A terminal that this process has no room for costs that command alone");
  highest = dup (0);
  close (highest);
  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &before), ==, 0);
  none = before;

  /* Room for the request's memory file, which is closed again by when the terminal comes. */
  none.rlim_cur = (rlim_t) highest + 1;
  request.stdin_fd = -1;
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &none), ==, 0);
  run_start (run, &request);
  none.rlim_cur = (rlim_t) highest;
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &none), ==, 0);
  test_wait_for (run->n_started + run->n_ended > 0);
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &before), ==, 0);

  if (run->terminal >= 0)
    {
      g_test_skip ("valgrind keeps the limit from the kernel");
      _sbx_init_channel_end (sandbox->channel, run->id);
      run_wait (run);
      return;
    }

  test_wait_for (run->n_ended > 0);
  g_assert_error (run->error, SBX_ERROR, SBX_ERROR_BUSY);
  g_assert_no_error (sandbox->lost);
  after = run_shell_wait (sandbox, "exit 2");
  assert_exited (after, 2);
}

/* Plays a host: opens a sandbox, leaves a child that has all of its descriptors, waits. */
static int
be_host (void)
{
  Sandbox *sandbox = sandbox_new ();
  Run *run = run_shell (sandbox, "setsid sleep 1000 & sleep 1000");

  test_wait_for (run->n_started);
  if (fork () == 0)
    for (;;)
      pause ();

  g_print ("process-1 %d\n", (int) sandbox->channel->pid);
  for (;;)
    pause ();
  return 0;
}

static void
test_host_killed (void)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *line = NULL;
  g_autoptr(GSubprocess) host = NULL;
  g_autoptr(GDataInputStream) output = NULL;
  g_autoptr(GError) error = NULL;
  gboolean ended;
  gint64 deadline;
  int pid;

  g_test_summary ("When the host is killed the sandbox ends, though a child of it has its socket");
  g_assert_cmpint (prctl (PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), ==, 0);
  host = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error, self, "--be-host", NULL);
  g_assert_no_error (error);
  output = g_data_input_stream_new (g_subprocess_get_stdout_pipe (host));
  do
    {
      g_free (line);
      line = g_data_input_stream_read_line (output, NULL, NULL, &error);
      g_assert_no_error (error);
      g_assert_nonnull (line);
    }
  while (sscanf (line, "process-1 %d", &pid) != 1);

  g_subprocess_force_exit (host);
  deadline = g_get_monotonic_time () + TEST_DEADLINE_S * G_USEC_PER_SEC;
  while (kill (pid, 0) == 0 && g_get_monotonic_time () < deadline)
    g_usleep (1000);
  ended = kill (pid, 0) < 0;

  g_assert_true (g_subprocess_wait (host, NULL, NULL));
  g_clear_object (&output);

  /* The child that is left, and bwrap, are ours now. */
  for (;;)
    {
      siginfo_t info = { 0 };
      g_autofree char *children = NULL;
      g_auto(GStrv) numbers = NULL;

      g_assert_true (g_file_get_contents ("/proc/thread-self/children", &children, NULL, NULL));
      numbers = g_strsplit (children, " ", -1);
      for (guint i = 0; numbers[i] != NULL && numbers[i][0] != '\0'; i++)
        kill ((pid_t) g_ascii_strtoll (numbers[i], NULL, 10), SIGKILL);
      if (waitid (P_ALL, 0, &info, WEXITED) < 0)
        break;
    }

  g_assert_true (ended);
}

int
main (int    argc,
      char **argv)
{
  if (argc == 2 && strcmp (argv[1], "--be-host") == 0)
    {
      argc = 1;
      g_test_init (&argc, &argv, NULL);
      return be_host ();
    }

  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/init/channel/expectations", test_expectations);
  g_test_add_func ("/init/channel/close-in-flight", test_close_in_flight);
  g_test_add_func ("/init/channel/dispose-in-flight", test_dispose_in_flight);
  g_test_add_func ("/init/channel/run-dispose", test_run_dispose);
  g_test_add_func ("/init/channel/never-set-up", test_never_set_up);
  g_test_add_func ("/init/channel/cancel-setup", test_cancel_setup);
  g_test_add_func ("/init/channel/killed", test_killed);
  g_test_add_func ("/init/channel/close-grace", test_close_grace);
  g_test_add_func ("/init/channel/slow-process-1", test_slow_process_1);
  g_test_add_func ("/init/channel/no-descriptor-left", test_no_descriptor_left);
  g_test_add_func ("/init/channel/host-killed", test_host_killed);

  return g_test_run ();
}
