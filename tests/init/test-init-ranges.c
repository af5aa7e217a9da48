/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "init-fixture.h"

#include "init/sbx-init-protocol-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <string.h>
#include <unistd.h>

/* Parts of files, read and written inside. */

static void
shell (Sandbox    *sandbox,
       const char *script)
{
  g_autoptr(Run) run = run_shell_wait (sandbox, script);

  g_test_message ("%s", run->output[1]->str);
  assert_exited (run, 0);
}

static void
assert_shell (Sandbox    *sandbox,
              const char *script,
              const char *output)
{
  g_autoptr(Run) run = run_shell_wait (sandbox, script);

  g_assert_cmpstr (run->output[1]->str, ==, "");
  g_assert_cmpstr (run->output[0]->str, ==, output);
}

static Run *
run_with_input (Sandbox            *sandbox,
                SbxInitVerb         verb,
                const char * const *argv,
                const char         *content)
{
  SbxInitRequest request = { .verb = verb, .argv = argv };
  Run *run = run_new (sandbox);
  int fds[2];

  g_assert_true (g_unix_open_pipe (fds, FD_CLOEXEC, NULL));
  g_assert_cmpint (write (fds[1], content, strlen (content)), ==, strlen (content));
  close (fds[1]);
  request.stdin_fd = fds[0];
  run_start (run, &request);
  close (fds[0]);
  run_wait (run);

  return run;
}

static const struct
{
  const char *path;
  const char *offset;
  const char *length;
  int         error;
  guint64     size;
  const char *output;
} read_cases[] = {
  { "/tmp/ten", "0", "10", 0, 10, "0123456789" },
  { "/tmp/ten", "3", "4", 0, 10, "3456" },
  { "tmp/link", "8", "100", 0, 10, "89" },
  { "/tmp/ten", "0", "0", 0, 10, "" },
  { "/tmp/ten", "10", "5", 0, 10, "" },
  { "/tmp/ten", "99999999999", "5", 0, 10, "" },
  { "/tmp/ten", "9223372036854775807", "5", 0, 10, "" },
  { "/tmp/empty", "0", "5", 0, 0, "" },
  { "/tmp/sparse", "1099511627774", "5", 0, G_GUINT64_CONSTANT (1099511627776), "" },
  { "/proc/sys/kernel/ostype", "2", "2", 0, 0, "nu" },
  { "/tmp/missing", "0", "5", ENOENT, 0, NULL },
  { "/tmp", "0", "5", EISDIR, 0, NULL },
  { "/tmp/fifo", "0", "5", EINVAL, 0, NULL },
  { "/dev/zero", "0", "5", EINVAL, 0, NULL },
  { "/tmp/secret", "0", "5", EACCES, 0, NULL },
  { "/tmp/loop", "0", "5", ELOOP, 0, NULL },
  { "/tmp/ten", "9223372036854775808", "5", EINVAL, 0, NULL },
  { "/tmp/ten", "-1", "5", EINVAL, 0, NULL },
  { "/tmp/ten", "", "5", EINVAL, 0, NULL },
  { "/tmp/ten", "0", "x", EINVAL, 0, NULL },
};

static void
test_read (void)
{
  g_autoptr(Sandbox) sandbox = sandbox_new ();

  g_test_summary ("Parts of regular files are read; a FIFO or a device does not hang");
  shell (sandbox, "cd /tmp; printf 0123456789 > ten; ln -s ten link; : > empty; mkfifo fifo; "
                  "ln -s loop loop; : > secret; chmod 0 secret; truncate -s 1T sparse");

  for (guint i = 0; i < G_N_ELEMENTS (read_cases); i++)
    {
      const char *argv[] = { read_cases[i].path, read_cases[i].offset, read_cases[i].length, NULL };
      g_autoptr(Run) run = run_argv (sandbox, SBX_INIT_VERB_READ_RANGE, argv);
      SbxInitRangeHead head;

      run_wait (run);
      g_test_message ("%s %s %s", argv[0], argv[1], argv[2]);
      if (read_cases[i].error != 0)
        {
          assert_not_started (run, FILE, read_cases[i].error);
          g_assert_cmpint (run->output[0]->len, ==, 0);
          continue;
        }

      assert_exited (run, 0);
      g_assert_cmpint (run->output[0]->len, >=, sizeof head);
      memcpy (&head, run->output[0]->str, sizeof head);
      g_assert_cmpint (head.magic, ==, SBX_INIT_FILE_MAGIC);
      g_assert_cmpint (head.reserved, ==, 0);
      g_assert_cmpint (head.size, ==, read_cases[i].size);
      if (head.size < 100)
        g_assert_cmpmem (run->output[0]->str + sizeof head, run->output[0]->len - sizeof head,
                         read_cases[i].output, strlen (read_cases[i].output));
      else
        g_assert_cmpmem (run->output[0]->str + sizeof head, run->output[0]->len - sizeof head,
                         "\0", 2);
    }
}

static const struct
{
  const char *path;
  const char *mode;
  const char *offset;
  const char *size;
  const char *truncate;
  int         error;
  const char *check;
  const char *output;
} write_cases[] = {
  { "/tmp/ten", "0", "3", "2", "0", 0, "cat /tmp/ten", "012xy56789" },
  { "/tmp/ten", "0", "9", "2", "0", 0, "cat /tmp/ten", "012xy5678xy" },
  { "/tmp/ten", "600", "1", "2", "1", 0, "cat /tmp/ten; stat -c %a /tmp/ten", "0xy644\n" },
  { "/tmp/ten", "0", "5", "2", "1", 0, "od -An -tx1 /tmp/ten", " 30 78 79 00 00 78 79\n" },
  { "/tmp/new", "640", "0", "2", "1", 0, "cat /tmp/new; stat -c %a /tmp/new", "xy640\n" },
  { "tmp/a/b/new", "0", "1", "2", "0", 0, "stat -c '%a %s' /tmp/a/b/new", "644 3\n" },
  { "/tmp/link", "0", "0", "2", "0", 0, "cat /tmp/target; readlink /tmp/link", "xyc\ntarget\n" },
  { "/tmp/dangling", "0", "0", "2", "0", 0, "cat /tmp/gone/there", "xy" },
  { "/tmp/loop", "0", "0", "2", "0", ELOOP, "", "" },
  /* No room is taken by what is not written. */
  { "/tmp/far", "0", "1099511627776", "2", "0", 0,
    "stat -c %s /tmp/far; test $(du -k /tmp/far | cut -f1) -lt 100 && echo sparse",
    "1099511627778\nsparse\n" },
  { "/tmp/farther", "0", "9223372036854775807", "2", "0", EINVAL, "", "" },
  /* A sender that died, and did not want to end the file there. */
  { "/tmp/target", "0", "0", "5", "1", EIO, "cat /tmp/target", "xyc\n" },
  { "/tmp", "0", "0", "2", "0", EISDIR, "", "" },
  { "/tmp/x/", "0", "0", "2", "0", EISDIR, "ls -d /tmp/x", NULL },
  { "/tmp/fifo", "0", "0", "2", "0", EINVAL, "", "" },
  { "/dev/null", "0", "0", "2", "1", EINVAL, "", "" },
  { "/tmp/readonly", "0", "0", "2", "1", EACCES, "cat /tmp/readonly", "kept\n" },
  { "/tmp/closed/x", "0", "0", "2", "1", EACCES, "", "" },
  { "/tmp/closed/open", "0", "0", "2", "0", 0, "cat /tmp/closed/open", "xyd\n" },
  { "/tmp/ten", "4755", "0", "2", "0", EPERM, "", "" },
  { "/tmp/ten", "8", "0", "2", "0", EINVAL, "", "" },
  { "/tmp/ten", "0", "x", "2", "0", EINVAL, "", "" },
};

static void
test_write (void)
{
  g_autoptr(Sandbox) sandbox = sandbox_new ();

  g_test_summary ("Parts of regular files are written where they belong");
  shell (sandbox, "cd /tmp; printf 0123456789 > ten; ln -s target link; echo abc > target; "
                  "ln -s gone/there dangling; ln -s loop loop; mkfifo fifo; "
                  "echo kept > readonly; chmod 444 readonly; mkdir closed; "
                  "echo old > closed/open; chmod 666 closed/open; chmod 555 closed");

  for (guint i = 0; i < G_N_ELEMENTS (write_cases); i++)
    {
      const char *argv[] = {
        write_cases[i].path, write_cases[i].mode, write_cases[i].offset, write_cases[i].size,
        write_cases[i].truncate, NULL,
      };
      g_autoptr(Run) run = run_with_input (sandbox, SBX_INIT_VERB_WRITE_RANGE, argv, "xy");

      g_test_message ("%s %s", argv[0], argv[2]);
      if (write_cases[i].error != 0)
        assert_not_started (run, FILE, write_cases[i].error);
      else
        assert_exited (run, 0);
      if (write_cases[i].output != NULL)
        assert_shell (sandbox, write_cases[i].check, write_cases[i].output);
    }

  assert_shell (sandbox, "find /tmp -name '.sbx*'", "");
}

/* Somebody swaps a file for a pipe and a link all the time: neither is waited for or followed. */
static void
test_swapped (void)
{
  static const char swap[] =
    "cd /tmp; mkfifo fifo; echo outside > outside; ln -s outside link; printf x > file; "
    "echo ready; while :; do cp -P link a; mv a file; mkfifo b; mv b file; printf x > c; "
    "mv c file; done";
  const char *read_argv[] = { "/tmp/file", "0", "100", NULL };
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) swapper = run_shell (sandbox, swap);

  g_test_summary ("What changes under a file verb does not make it wait");
  test_wait_for (swapper->output[0]->len > 0);

  for (guint i = 0; i < 50; i++)
    {
      g_autoptr(Run) reading = run_argv (sandbox, SBX_INIT_VERB_READ_RANGE, read_argv);

      run_wait (reading);
      g_assert_cmpint (reading->n_ended, ==, 1);
      g_assert_cmpint (reading->end.kind, !=, SBX_INIT_END_SIGNALLED);
    }

  for (guint i = 0; i < 50; i++)
    {
      const char *argv[] = { "/tmp/file", "0", "0", "1", "0", NULL };
      g_autoptr(Run) writing = run_with_input (sandbox, SBX_INIT_VERB_WRITE_RANGE, argv, "y");

      g_assert_cmpint (writing->n_ended, ==, 1);
      g_assert_cmpint (writing->end.kind, !=, SBX_INIT_END_SIGNALLED);
    }

  _sbx_init_channel_end (sandbox->channel, swapper->id);
  run_wait (swapper);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/init/ranges/read", test_read);
  g_test_add_func ("/init/ranges/write", test_write);
  g_test_add_func ("/init/ranges/swapped", test_swapped);

  return g_test_run ();
}
