/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "init-fixture.h"

#include "core/sbx-error.h"
#include "init/sbx-init-protocol-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static Run *
run_command (Sandbox            *sandbox,
             const char * const *argv,
             const char         *cwd,
             const char * const *environment)
{
  SbxInitRequest request = { .argv = argv, .cwd = cwd, .environment = environment };
  Run *run = run_new (sandbox);

  run_start (run, &request);
  run_wait (run);
  return run;
}

static void
test_ends (void)
{
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) good = run_argv (sandbox, SBX_INIT_VERB_EXEC,
                                  (const char * const[]) { "true", NULL });
  g_autoptr(Run) bad = run_shell (sandbox, "exit 7");
  g_autoptr(Run) killed = run_shell (sandbox, "kill -TERM $$");
  g_autoptr(Run) output = run_shell (sandbox, "echo out; echo err >&2; exit 255");

  g_test_summary ("Exit codes, signals and output arrive as they were");
  run_wait (good);
  assert_exited (good, 0);
  g_assert_cmpint (good->n_started, ==, 1);
  g_assert_cmpint (good->pid, >, 1);

  run_wait (bad);
  assert_exited (bad, 7);

  run_wait (killed);
  assert_end (killed, SBX_INIT_END_SIGNALLED, SBX_INIT_STAGE_NONE, SIGTERM);
  g_assert_false (killed->end.core_dumped);

  run_wait (output);
  assert_exited (output, 255);
  g_assert_cmpstr (output->output[0]->str, ==, "out\n");
  g_assert_cmpstr (output->output[1]->str, ==, "err\n");
  g_assert_cmpint (sandbox_count_others (sandbox), ==, 0);
}

static const char make_programs[] =
  "mkdir -p /tmp/a /tmp/b /tmp/d/tool && echo 'echo a' > /tmp/a/tool && "
  "printf 'echo from-b $1' > /tmp/b/tool && printf '#!/no/such\\n' > /tmp/b/lost && "
  "chmod 755 /tmp/b/tool /tmp/b/lost && echo > /tmp/b/plain";

static void
test_finding (void)
{
  static const struct
  {
    const char *name;
    const char *path;       /* or NULL for none */
    int         error;
    const char *output;
  } table[] = {
    { "no-such-program", "PATH=/usr/bin:/bin", ENOENT, "" },
    { "/no/such/program", "PATH=/usr/bin", ENOENT, "" },
    { "/etc/passwd/x", "PATH=/usr/bin", ENOTDIR, "" },
    { "/tmp", "PATH=/usr/bin", EACCES, "" },
    { "", "PATH=/usr/bin", ENOENT, "" },
    { "/tmp/b/plain", "PATH=/usr/bin", EACCES, "" },
    { "/tmp/b/lost", "PATH=/usr/bin", ENOENT, "" },
    { "lost", "PATH=/tmp/b", ENOENT, "" },
    /* The first that cannot be executed does not hide the second that can. */
    { "tool", "PATH=/tmp/a:/no/such:/etc/passwd:/tmp/b", 0, "from-b x\n" },
    { "tool", "PATH=/tmp/d:/tmp/b", 0, "from-b x\n" },
    /* And is what is told when there is no second. */
    { "tool", "PATH=/no/such:/tmp/a:/no/such", EACCES, "" },
    { "plain", "PATH=/tmp/a:/tmp/b", EACCES, "" },
    /* The working directory, which is /tmp/b. */
    { "tool", "PATH=", 0, "from-b x\n" },
    { "tool", "PATH=/no/such:", 0, "from-b x\n" },
    { "tool", "PATH=:/no/such", 0, "from-b x\n" },
    { "tool", "PATH=/usr/bin:/bin", ENOENT, "" },
    { "./tool", "PATH=/usr/bin:/bin", 0, "from-b x\n" },
    { "echo", NULL, 0, "x\n" },
    { "echo", "NOTPATH=/tmp/b", 0, "x\n" },
  };
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) made = run_shell_wait (sandbox, make_programs);

  g_test_summary ("Programs are found in the command's own PATH, as execvp() does, and a failure "
                  "has the right errno");
  assert_exited (made, 0);

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      const char *argv[] = { table[i].name, "x", NULL };
      const char *environment[] = { table[i].path, NULL };
      g_autoptr(Run) run = run_command (sandbox, argv, "/tmp/b", environment);

      g_test_message ("%s in %s", table[i].name, table[i].path);
      if (table[i].error == 0)
        assert_exited (run, 0);
      else
        assert_not_started (run, EXEC, table[i].error);

      g_assert_cmpint (run->n_started, ==, table[i].error == 0);
      g_assert_cmpstr (run->output[0]->str, ==, table[i].output);
    }
}

static void
test_cwd (void)
{
  static const struct
  {
    const char *cwd;
    int         error;
  } table[] = {
    { "/no/such", ENOENT }, { "/etc/passwd", ENOTDIR }, { "/tmp/loop", ELOOP },
  };
  const char *argv[] = { "pwd", NULL };
  const char *environment[] = { "PATH=/usr/bin:/bin", NULL };
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) made = run_shell_wait (sandbox, "ln -s loop /tmp/loop; mkdir \"$(printf "
                                                 "'/tmp/a b\\n\\377')\"");
  g_autoptr(Run) odd = NULL;
  g_autoptr(GError) error = NULL;
  const SbxInitRequest relative = { .argv = argv, .cwd = "tmp" };
  const SbxInitRequest empty = { .argv = argv + 1, .cwd = "/tmp" };
  const SbxInitExecHandler handler = { 0 };

  g_test_summary ("A command starts in its directory, or says that it could not");
  assert_exited (made, 0);

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      g_autoptr(Run) run = run_command (sandbox, argv, table[i].cwd, NULL);

      assert_not_started (run, CWD, table[i].error);
    }

  odd = run_command (sandbox, argv, "/tmp/a b\n\377", environment);
  assert_exited (odd, 0);
  g_assert_cmpstr (odd->output[0]->str, ==, "/tmp/a b\n\377\n");

  g_assert_cmpint (_sbx_init_channel_exec (sandbox->channel, &relative, &handler, NULL, NULL,
                                           &error), ==, 0);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_cmpint (_sbx_init_channel_exec (sandbox->channel, &empty, &handler, NULL, NULL,
                                           &error), ==, 0);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
}

static void
test_environment (void)
{
  const char *argv[] = { "/usr/bin/env", "-0", NULL };
  const char *environment[] = { "A=1", "EMPTY=", "ODD=\377\n=", "A B=c", NULL };
  const char expected[] = "A=1\0EMPTY=\0ODD=\377\n=\0A B=c";
  const char *bytes[] = { "/usr/bin/printf", "%s|", "\377\376", "", "a b", "\n", "%s", NULL };
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) listed = run_command (sandbox, argv, "/", environment);
  g_autoptr(Run) printed = run_command (sandbox, bytes, "/", environment);
  const char *none[] = { NULL };
  g_autoptr(Run) empty = run_command (sandbox, argv, "/", none);

  g_test_summary ("Environment and arguments are exactly what was asked for, whatever bytes");
  assert_exited (listed, 0);
  g_assert_cmpmem (listed->output[0]->str, listed->output[0]->len, expected, sizeof expected);
  assert_exited (printed, 0);
  g_assert_cmpstr (printed->output[0]->str, ==, "\377\376||a b|\n|%s|");
  assert_exited (empty, 0);
  g_assert_cmpint (empty->output[0]->len, ==, 0);
}

/* @n strings of @size bytes after those of a command. */
static GStrv
make_arguments (const char * const *command,
                guint               n,
                gsize               size)
{
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new ();
  g_autofree char *argument = g_strnfill (size, 'x');

  g_strv_builder_addv (builder, (const char **) command);
  for (guint i = 0; i < n; i++)
    g_strv_builder_add (builder, argument);

  return g_strv_builder_end (builder);
}

static void
test_large_arguments (void)
{
  const char *count[] = { "/bin/sh", "-c", "n=$#; printf %s \"$@\" | wc -c; echo $n", "sh", NULL };
  const char *environment[] = { "PATH=/usr/bin:/bin", NULL };
  const char *command[] = { "/bin/true", NULL };
  g_auto(GStrv) large = make_arguments (count, 19, 100 * 1024);
  g_auto(GStrv) many = make_arguments (count, 100000, 7);
  g_auto(GStrv) one = make_arguments (command, 1, 128 * 1024);
  g_auto(GStrv) kernel = make_arguments (command, 70, 100 * 1024);
  g_auto(GStrv) ours = make_arguments (command, 100, 100 * 1024);
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) run_large = run_command (sandbox, (const char * const *) large, "/", environment);
  g_autoptr(Run) run_many = run_command (sandbox, (const char * const *) many, "/", environment);
  const GStrv too_large[] = { one, kernel, ours };

  g_test_summary ("1.9 MiB of arguments work; what the kernel does not take was not started");
  assert_exited (run_large, 0);
  g_assert_cmpstr (run_large->output[0]->str, ==, "1945600\n19\n");
  assert_exited (run_many, 0);
  g_assert_cmpstr (run_many->output[0]->str, ==, "700000\n100000\n");

  for (guint i = 0; i < G_N_ELEMENTS (too_large); i++)
    {
      g_autoptr(Run) run = run_command (sandbox, (const char * const *) too_large[i], "/", NULL);

      assert_not_started (run, EXEC, E2BIG);
      g_assert_cmpint (run->n_started, ==, 0);
    }
}

static void
test_surroundings (void)
{
  struct rlimit limit;
  g_autofree char *expected G_GNUC_UNUSED = NULL;
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) fds = run_shell_wait (sandbox, "for i in $(seq 0 1000); do "
                                                "test ! -e /proc/$$/fd/$i || echo $i; done; "
                                                "readlink /proc/$$/fd/0; umask");
  g_autoptr(Run) core = run_shell_wait (sandbox, "ulimit -Sc; ulimit -Hc; "
                                                 "awk '/core/ { print $5, $6 }' /proc/self/limits");
  g_autoptr(Run) files = run_shell_wait (sandbox, "ulimit -Hn");
  g_autoptr(Run) signal_sets = run_shell_wait (sandbox, "exec grep -E '^Sig(Blk|Ign)' "
                                                        "/proc/self/status");
  g_autoptr(Run) groups = run_shell_wait (sandbox, "echo $$; exec ps -o pid=,pgid=,sid= -p $$");
  int pid, numbers[3];

  g_test_summary ("A command has three descriptors, its limits, no signal ignored or blocked, and "
                  "a session of its own");
  g_assert_cmpstr (fds->output[0]->str, ==, "0\n1\n2\n/dev/null\n0022\n");

  /* In the shell's units, and in bytes. */
  g_assert_true (g_str_has_suffix (core->output[0]->str, "\n1 1\n"));

  getrlimit (RLIMIT_NOFILE, &limit);
  g_assert_cmpint (g_ascii_strtoll (files->output[0]->str, NULL, 10), <, limit.rlim_cur);

  g_assert_cmpstr (signal_sets->output[0]->str, ==, "SigBlk:\t0000000000000000\n"
                                                    "SigIgn:\t0000000000000000\n");

  g_assert_cmpint (sscanf (groups->output[0]->str, "%d %d %d %d", &pid, &numbers[0], &numbers[1],
                           &numbers[2]), ==, 4);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpint (numbers[i], ==, pid);
}

static void
test_process_1 (void)
{
  static const char * const attempts[] = {
    "cat /proc/1/environ", "cat /proc/1/mem", "readlink /proc/1/fd/3", "readlink /proc/1/exe",
    "readlink /proc/$PPID/fd/3", "echo > /proc/1/fd/3", "cat /proc/$PPID/environ",
    "readlink /proc/$PPID/cwd",
    "echo x >> /run/libsbx/init", "kill -9 1 && test -d /proc/1 && exit 1",
    "kill -STOP 1 && grep -q T.*stopped /proc/1/status",
  };
  g_autoptr(Sandbox) sandbox = sandbox_new ();

  g_test_summary ("Neither process 1 nor a supervisor can be looked into or touched");

  for (guint i = 0; i < G_N_ELEMENTS (attempts); i++)
    {
      g_autoptr(Run) run = run_shell_wait (sandbox, attempts[i]);

      g_test_message ("%s: %s", attempts[i], run->output[1]->str);
      g_assert_no_error (run->error);
      g_assert_cmpint (run->end.kind, ==, SBX_INIT_END_EXITED);
      g_assert_cmpint (run->end.value, !=, 0);
    }

  g_assert_no_error (sandbox->lost);
}

static void
test_output_closed (void)
{
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) run = run_new (sandbox);
  const char *argv[] = { "/bin/sh", "-c", "echo hi; exec >&- 2>&-; read x; exit 3", NULL };
  SbxInitRequest request = { .argv = argv };
  int fds[2];

  g_test_summary ("A command that closed its output goes on, and the host sees that it closed it");
  g_assert_true (g_unix_open_pipe (fds, FD_CLOEXEC, NULL));
  request.stdin_fd = fds[0];
  run_start (run, &request);
  close (fds[0]);

  test_wait_for (run->readers[0] == 0 && run->readers[1] == 0);
  g_assert_cmpstr (run->output[0]->str, ==, "hi\n");
  g_assert_cmpint (run->n_ended, ==, 0);

  g_assert_cmpint (write (fds[1], "\n", 1), ==, 1);
  run_wait (run);
  assert_exited (run, 3);
  close (fds[1]);
}

static void
test_many (void)
{
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) run_free);
  const char *argv[] = { "/bin/sleep", "1000", NULL };
  const SbxInitRequest one_more = { .argv = argv, .cwd = "/" };
  const SbxInitExecHandler handler = { 0 };
  g_autoptr(GError) error = NULL;

  g_test_summary ("As many commands as the protocol allows run at once; one more is refused");

  for (guint i = 0; i < SBX_INIT_MAX_EXECS; i++)
    {
      SbxInitRequest request = { .argv = argv, .stdin_fd = -1, .terminal = TRUE };
      Run *run = run_new (sandbox);

      /* No pipes, of which this process may not have enough; most of them without a terminal. */
      request.terminal = i % 64 == 0;
      request.environment = argv + 2;
      request.cwd = "/";
      request.stdout_fd = request.stderr_fd = -1;
      run_start_bare (run, &request);
      g_ptr_array_add (runs, run);
    }

  g_assert_cmpint (_sbx_init_channel_exec (sandbox->channel, &one_more, &handler, NULL, NULL,
                                           &error), ==, 0);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_BUSY);

  for (guint i = 0; i < runs->len; i++)
    {
      Run *run = runs->pdata[i];

      test_wait_for (run->n_started == 1);
      _sbx_init_channel_end (sandbox->channel, run->id);
    }

  for (guint i = 0; i < runs->len; i++)
    {
      Run *run = runs->pdata[i];

      run_wait (run);
      assert_end (run, SBX_INIT_END_SIGNALLED, SBX_INIT_STAGE_NONE, SIGKILL);
    }

  g_assert_cmpint (sandbox_count_others (sandbox), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/init/exec/ends", test_ends);
  g_test_add_func ("/init/exec/finding", test_finding);
  g_test_add_func ("/init/exec/cwd", test_cwd);
  g_test_add_func ("/init/exec/environment", test_environment);
  g_test_add_func ("/init/exec/large-arguments", test_large_arguments);
  g_test_add_func ("/init/exec/surroundings", test_surroundings);
  g_test_add_func ("/init/exec/process-1", test_process_1);
  g_test_add_func ("/init/exec/output-closed", test_output_closed);
  g_test_add_func ("/init/exec/many", test_many);

  return g_test_run ();
}
