/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "escape.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* What a sandbox may ask of the kernel. */

static void
test_settings (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *output = NULL;

  escape_open (&box);
  output = escape_attack (&box, "settings", NULL);

  escape_assert (output, "read-core-pattern", 0);
  /* Who is not root is asked for permission first. */
  escape_assert (output, "open-core-pattern", getuid () == 0 ? EROFS : EACCES);
  escape_assert (output, "open-sysrq-trigger",
                 g_access ("/proc/sysrq-trigger", F_OK) != 0 ? ENOENT
                                                             : getuid () == 0 ? EROFS : EACCES);
  escape_assert (output, "look", 0);
  escape_assert (output, "read-only", 1);
  g_assert_cmpint (escape_get (output, "settings"), >, 100);
  escape_assert (output, "writable-settings", 0);
}

static void
test_settings_through_file_verbs (void)
{
  const int expected = getuid () == 0 ? G_IO_ERROR_READ_ONLY : G_IO_ERROR_PERMISSION_DENIED;
  g_auto(EscapeBox) box = { 0 };
  g_autoptr(GBytes) pattern = NULL;
  g_autoptr(GError) error = NULL;
  gboolean written;

  escape_open (&box);
  pattern = sbx_session_read_file (box.session, "/proc/sys/kernel/core_pattern", 4096, NULL,
                                   &error);
  g_assert_no_error (error);
  written = sbx_session_write_file (box.session, "/proc/sys/kernel/core_pattern", pattern, 0644,
                                    NULL, &error);
  g_assert_false (written);
  g_assert_error (error, G_IO_ERROR, expected);
}

/* Of /proc, nothing can be written that is not about a process of the sandbox, and nothing read
 * that is not for everybody. */
static void
test_proc (void)
{
  static const char * const memory[] = {
    "/proc/kpagecount", "/proc/kpageflags", "/proc/kpagecgroup", "/proc/slabinfo",
    "/proc/vmallocinfo", "/proc/timer_list", "/proc/kcore", "/proc/keys",
  };
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *output = NULL;
  g_auto(GStrv) lines = NULL;

  escape_open (&box);
  output = escape_attack (&box, "proc", memory[0], memory[1], memory[2], memory[3], memory[4],
                          memory[5], memory[6], memory[7], NULL);

  g_assert_cmpint (escape_get (output, "files"), >, 50);
  for (gsize i = 0; i < G_N_ELEMENTS (memory); i++)
    escape_assert (output, memory[i], 0);

  lines = g_strsplit (output, "\n", -1);
  for (char **line = lines; *line != NULL; line++)
    {
      /* Root may look at a few settings that others may not. */
      if (g_str_has_prefix (*line, "private ") && !g_str_has_prefix (*line, "private /proc/sys/"))
        g_error ("A file that is not for everybody can be read inside: %s", *line);

      /* Everybody may ask there to be told of pressure. */
      if (g_str_has_prefix (*line, "writable ") &&
          !g_str_has_prefix (*line, "writable /proc/pressure/"))
        g_error ("What belongs to the kernel can be written inside: %s", *line);
    }
}

static void
test_other_processes (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *output = NULL;
  g_autoptr(SbxCommand) command = NULL;
  g_autoptr(SbxExecResult) result = NULL;

  escape_open (&box);
  output = escape_attack (&box, "other-process", NULL);
  escape_assert (output, "own-limit", 0);
  escape_assert (output, "own-priority", 0);
  escape_assert (output, "limit-of-1", EPERM);
  escape_assert (output, "limit-of-supervisor", EPERM);
  escape_assert (output, "priority-of-1", EPERM);
  escape_assert (output, "priority-of-user", EPERM);
  escape_assert (output, "affinity-of-1", EPERM);
  escape_assert (output, "scheduler-of-1", EPERM);
  escape_assert (output, "ioprio-of-1", EPERM);
  escape_assert (output, "madvise-of-1", EPERM);

  /* And process 1 still does its work. */
  command = escape_command (&box, "bomb", NULL);
  sbx_command_set_timeout (command, 500);
  result = escape_exec (&box, command);
  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_TIMED_OUT);
  g_clear_pointer (&output, g_free);
  output = escape_attack (&box, "processes", NULL);
  escape_assert (output, "strangers", 0);
}

static void
test_set_id (void)
{
  static const char * const refused[] = {
    "chmod", "chmod-group", "fchmod", "fchmodat", "fchmodat2", "fchmodat2-empty", "open", "openat",
    "creat", "mknod", "mkdir", "tmpfile",
  };
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *output = NULL;

  escape_open (&box);
  output = escape_attack (&box, "set-id", box.work, NULL);
  escape_assert (output, "plain", 0);
  escape_assert (output, "chmod-plain", 0);
  escape_assert (output, "openat2", ENOSYS);
  for (gsize i = 0; i < G_N_ELEMENTS (refused); i++)
    if (escape_get (output, refused[i]) != EPERM)
      g_error ("“%s” was not refused: %s", refused[i], output);

  /* What counts is what the host finds. */
  escape_outside (box.work, "! find . -perm /6000 | grep .");
}

/* The same by what people have. */
static void
test_set_id_by_tools (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autoptr(SbxCommand) command = NULL;
  g_autoptr(SbxExecResult) result = NULL;

  escape_open (&box);
  command = sbx_command_new ((const char * const []) {
    "sh", "-c", "cp /bin/sh a; chmod u+s a; chmod 6755 a; cp -p /bin/su b; "
                "install -m 4755 /bin/sh c; cp -p /usr/bin/passwd d; mkdir e; chmod g+s e; "
                "test -x a", NULL });
  result = escape_exec (&box, command);
  g_assert_cmpint (sbx_exec_result_get_exit_code (result), ==, 0);
  escape_outside (box.work, "! find . -perm /6000 | grep .");
}

static void
test_core (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *output = NULL;
  g_autoptr(SbxCommand) command = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  struct rlimit limit;

  escape_open (&box);
  output = escape_attack (&box, "limits", NULL);
  g_assert_cmpint (getrlimit (RLIMIT_CORE, &limit), ==, 0);

  /* Who has a hard limit of 0 can give nobody 1; then a dump has nothing of memory in it. */
  if (limit.rlim_max >= 1)
    {
      escape_assert (output, "core", 1);
      escape_assert (output, "core-max", 1);
      escape_assert (output, "core-lowered", 1);
    }
  else
    {
      escape_assert (output, "core-max", 0);
      escape_assert (output, "dump-filter", 0);
    }

  command = escape_command (&box, "crash", NULL);
  result = escape_exec (&box, command);
  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_SIGNALLED);
  g_assert_cmpint (sbx_exec_result_get_signal (result), ==, SIGABRT);
  g_assert_false (sbx_exec_result_get_core_dumped (result));
  escape_outside (box.work, "! ls | grep core");
}

static void
test_namespaces (void)
{
  static const char * const refused[] = {
    "unshare-user", "unshare-mount", "setns", "clone-user", "clone-mount", "clone-net", "mount",
    "remount", "umount", "chroot", "pivot-root",
  };
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *output = NULL;

  escape_open (&box);
  output = escape_attack (&box, "namespaces", NULL);
  escape_assert (output, "clone-plain", 0);
  for (gsize i = 0; i < G_N_ELEMENTS (refused); i++)
    escape_assert (output, refused[i], EPERM);
  escape_assert (output, "clone3", ENOSYS);
  escape_assert (output, "fsopen", ENOSYS);
  escape_assert (output, "open-tree", ENOSYS);
}

static void
test_calls (void)
{
  static const char * const refused[] = {
    "keyctl", "add-key", "request-key", "perf", "userfaultfd", "syslog", "bpf", "kexec", "handle",
  };
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *output = NULL;

  escape_open (&box);
  output = escape_attack (&box, "calls", NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (refused); i++)
    escape_assert (output, refused[i], EPERM);
  escape_assert (output, "io_uring", ENOSYS);
  escape_assert (output, "newer", ENOSYS);
#ifdef __x86_64__
  escape_assert (output, "x32", ENOSYS);
#endif
}

static void
test_sockets (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *output = NULL;

  escape_open (&box);
  output = escape_attack (&box, "sockets", NULL);
  escape_assert (output, "unix", 0);
  escape_assert (output, "inet", 0);
  escape_assert (output, "vsock", EAFNOSUPPORT);
  escape_assert (output, "packet", EAFNOSUPPORT);
  escape_assert (output, "alg", EAFNOSUPPORT);
  escape_assert (output, "raw", EPERM);
}

static void
test_terminal (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *output = NULL;
  g_autoptr(SbxCommand) command = NULL;
  g_autoptr(SbxExecResult) result = NULL;

  escape_open (&box);
  command = escape_command (&box, "terminal", NULL);
  sbx_command_set_terminal (command, TRUE);
  result = escape_exec (&box, command);
  output = escape_get_stdout (result);
  escape_assert (output, "tiocsti", EPERM);
  escape_assert (output, "tiocsti-high", EPERM);
  escape_assert (output, "tioclinux", EPERM);
  escape_assert (output, "tty", 0);
  escape_assert (output, "tiocsti-tty", EPERM);
}

static void
test_privileges (void)
{
  static const char * const lines[] = {
    "CapInh:\t0000000000000000\n", "CapPrm:\t0000000000000000\n", "CapEff:\t0000000000000000\n",
    "CapBnd:\t0000000000000000\n", "CapAmb:\t0000000000000000\n", "NoNewPrivs:\t1\n",
    "Seccomp:\t2\n",
  };
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *output = NULL;
  const uid_t uid = getuid ();
  g_autofree char *user = g_strdup_printf ("Uid:\t%u\t%u\t%u\t%u\n", uid, uid, uid, uid);

  escape_open (&box);
  output = escape_attack (&box, "status", NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (lines); i++)
    g_assert_nonnull (strstr (output, lines[i]));
  g_assert_nonnull (strstr (output, user));
}

static void
test_debugging (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *output = NULL;

  escape_open (&box);
  output = escape_attack (&box, "debug-child", NULL);
  escape_assert (output, "stopped", 1);
  escape_assert (output, "continue", 0);
  escape_assert (output, "status", 7);
}

int
main (int    argc,
      char **argv)
{
  escape_init (&argc, &argv);

  g_test_add_func ("/escape/T1/proc-sys", test_settings);
  g_test_add_func ("/escape/T1/file-verbs", test_settings_through_file_verbs);
  g_test_add_func ("/escape/T5/other-processes", test_other_processes);
  g_test_add_func ("/escape/T12/calls", test_set_id);
  g_test_add_func ("/escape/T12/tools", test_set_id_by_tools);
  g_test_add_func ("/escape/T14/core", test_core);
  g_test_add_func ("/escape/T29/proc", test_proc);
  g_test_add_func ("/escape/T30/newer-calls", test_calls);
  g_test_add_func ("/escape/T30/debugging", test_debugging);
  g_test_add_func ("/escape/baseline/namespaces", test_namespaces);
  g_test_add_func ("/escape/baseline/sockets", test_sockets);
  g_test_add_func ("/escape/baseline/terminal", test_terminal);
  g_test_add_func ("/escape/baseline/privileges", test_privileges);

  return escape_run ();
}
