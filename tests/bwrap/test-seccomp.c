/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <errno.h>
#include <signal.h>

#include "bwrap-util.h"

/* The filter as it works under bubblewrap. */

typedef struct
{
  const char *name;
  int         filtered;    /* the error with the filter, or LET_THROUGH */
  gboolean    differs;     /* without it the same call gives another error, wherever it is known */
} Case;

/* Whatever the call itself says. */
#define LET_THROUGH -1

static const Case cases[] = {
  { "chmod-plain", ENOENT, FALSE },
  { "chmod-suid", EPERM, TRUE },
  { "chmod-sgid", EPERM, TRUE },
  { "fchmod-suid", EPERM, TRUE },
  { "fchmodat-sgid", EPERM, TRUE },
  { "fchmodat2-plain", LET_THROUGH, FALSE },
  { "fchmodat2-suid", EPERM, TRUE },
  { "open-creat-plain", ENOENT, FALSE },
  { "open-creat-suid", EPERM, TRUE },
  { "open-stray-mode", ENOENT, FALSE },
  { "openat-creat-sgid", EPERM, TRUE },
  { "openat-tmpfile-suid", EPERM, TRUE },
  { "openat-tmpfile-plain", ENOENT, FALSE },
  { "creat-suid", EPERM, TRUE },
  { "mknod-suid", EPERM, TRUE },
  { "mknodat-sgid", EPERM, TRUE },
  { "mkdir-sgid", EPERM, TRUE },
  { "mkdirat-sgid", EPERM, TRUE },
  { "openat2", ENOSYS, TRUE },
  { "prlimit-self", EINVAL, FALSE },
  { "prlimit-other", EPERM, TRUE },
  { "setpriority-self", 0, FALSE },
  { "setpriority-other", EPERM, TRUE },
  { "setpriority-user", EPERM, TRUE },
  { "sched_setaffinity-self", EFAULT, FALSE },
  { "sched_setaffinity-other", EPERM, TRUE },
  { "sched_setscheduler-other", EPERM, TRUE },
  { "sched_setparam-other", EPERM, TRUE },
  { "sched_setattr-other", EPERM, TRUE },
  { "ioprio_set-self", LET_THROUGH, FALSE },
  { "ioprio_set-other", EPERM, TRUE },
  { "process_madvise", EPERM, TRUE },
  { "process_mrelease", EPERM, TRUE },
  { "process_vm_readv", EPERM, TRUE },
  { "pidfd_getfd", EPERM, TRUE },
  { "ptrace", ESRCH, FALSE },
  { "socket-unix", 0, FALSE },
  { "socket-unix-high", EAFNOSUPPORT, TRUE },
  { "socket-inet", 0, FALSE },
  { "socket-inet6-bad", LET_THROUGH, FALSE },
  { "socket-netlink", 0, FALSE },
  { "socket-packet", EAFNOSUPPORT, TRUE },
  { "socket-ax25", EAFNOSUPPORT, FALSE },
  { "socket-ipx", EAFNOSUPPORT, FALSE },
  { "socket-alg", EAFNOSUPPORT, FALSE },
  { "socket-vsock", EAFNOSUPPORT, FALSE },
  { "socket-vsock-high", EAFNOSUPPORT, FALSE },
  { "socketpair-tipc", EAFNOSUPPORT, TRUE },
  { "socketpair-unix", LET_THROUGH, FALSE },
  { "unshare", EPERM, TRUE },
  { "setns", EPERM, TRUE },
  { "clone-user", EPERM, TRUE },
  { "clone-mount", EPERM, TRUE },
  { "clone-plain", EINVAL, FALSE },
  { "clone3", ENOSYS, TRUE },
  { "open_tree", ENOSYS, TRUE },
  { "open_tree_attr", ENOSYS, FALSE },
  { "move_mount", ENOSYS, TRUE },
  { "fsopen", ENOSYS, TRUE },
  { "mount_setattr", ENOSYS, TRUE },
  { "mount", EPERM, FALSE },
  { "umount2", EPERM, FALSE },
  { "pivot_root", EPERM, FALSE },
  { "chroot", EPERM, TRUE },
  { "keyctl", EPERM, TRUE },
  { "add_key", EPERM, TRUE },
  { "bpf", EPERM, FALSE },
  { "perf_event_open", EPERM, FALSE },
  { "userfaultfd", EPERM, FALSE },
  { "io_uring_setup", ENOSYS, FALSE },
  { "io_uring_enter", ENOSYS, FALSE },
  { "open_by_handle_at", EPERM, FALSE },
  { "kexec_load", EPERM, FALSE },
  { "syslog", EPERM, FALSE },
  { "acct", EPERM, FALSE },
  { "quotactl_fd", EPERM, FALSE },
  { "get_mempolicy", EPERM, FALSE },
  { "personality-ask", 0, FALSE },
  { "personality-plain", 0, FALSE },
  { "personality-aslr", 0, FALSE },
  { "personality-exec", EPERM, TRUE },
  { "personality-bsd", EPERM, TRUE },
  { "personality-top", EPERM, TRUE },
  { "tiocsti", EPERM, TRUE },
  { "tiocsti-high", EPERM, TRUE },
  { "tioclinux", EPERM, TRUE },
  { "tiocgwinsz", EBADF, FALSE },
  { "pipe-64k", EBADF, FALSE },
  { "pipe-1m", EPERM, TRUE },
  { "pipe-1m-high", EPERM, TRUE },
  { "fcntl-plain", EBADF, FALSE },
  { "unknown-600", ENOSYS, FALSE },
  { "unknown-high", ENOSYS, FALSE },
#ifdef __x86_64__
  { "x32-getpid", ENOSYS, FALSE },
  { "i386", SIGSYS, FALSE },
#endif
};

/* The results of all calls, by name. */
static GHashTable *
try_all (gboolean filtered)
{
  g_autoptr(GSubprocessLauncher) launcher = NULL;
  g_autoptr(GSubprocess) process = NULL;
  g_autoptr(GPtrArray) argv = g_ptr_array_new ();
  g_autoptr(GError) error = NULL;
  g_autofree char *program = g_test_build_filename (G_TEST_BUILT, "bwrap", "try-syscall", NULL);
  g_autofree char *output = NULL;
  g_auto(GStrv) lines = NULL;
  GHashTable *results = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  static const char * const always[] = {
    "/usr/bin/bwrap", "--unshare-all", "--cap-drop", "ALL", "--ro-bind", "/", "/",
    "--proc", "/proc", "--dev", "/dev",
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (always); i++)
    g_ptr_array_add (argv, (char *) always[i]);

  launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE);

  if (filtered)
    {
      const int fd = _sbx_seccomp_open (&error);

      g_assert_no_error (error);
      g_subprocess_launcher_take_fd (launcher, fd, SBX_BWRAP_FIRST_FD);
      g_ptr_array_add (argv, (char *) "--seccomp");
      g_ptr_array_add (argv, (char *) G_STRINGIFY (SBX_BWRAP_FIRST_FD));
    }

  g_ptr_array_add (argv, program);
  g_ptr_array_add (argv, NULL);
  process = g_subprocess_launcher_spawnv (launcher, (const char * const *) argv->pdata, &error);
  g_assert_no_error (error);
  g_subprocess_communicate_utf8 (process, NULL, NULL, &output, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_get_successful (process));

  lines = g_strsplit (output, "\n", -1);
  for (i = 0; lines[i] != NULL && lines[i][0] != '\0'; i++)
    {
      char *space = strchr (lines[i], ' ');

      *space = '\0';
      g_hash_table_insert (results, g_strdup (lines[i]),
                           GINT_TO_POINTER ((int) g_ascii_strtoll (space + 1, NULL, 10)));
    }

  return results;
}

static void
test_calls (void)
{
  g_autoptr(GHashTable) with = try_all (TRUE);
  g_autoptr(GHashTable) without = try_all (FALSE);
  gboolean good = TRUE;
  gsize i;

  g_assert_cmpuint (g_hash_table_size (with), ==, G_N_ELEMENTS (cases));

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const int filtered = GPOINTER_TO_INT (g_hash_table_lookup (with, cases[i].name));
      const int plain = GPOINTER_TO_INT (g_hash_table_lookup (without, cases[i].name));
      const gboolean known = plain != ENOSYS;

      g_assert_true (g_hash_table_contains (with, cases[i].name));

      if ((cases[i].filtered == LET_THROUGH ? filtered != plain : filtered != cases[i].filtered) ||
          (cases[i].differs && known && filtered == plain))
        {
          g_printerr ("%s: %d with, %d without, %d expected\n", cases[i].name, filtered, plain,
                      cases[i].filtered);
          good = FALSE;
        }
    }

  g_assert_true (good);
}

/* Each session reads the filter from its start. */
static void
test_again (void)
{
  g_autoptr(GError) error = NULL;
  const int first = _sbx_seccomp_open (&error);
  const int second = _sbx_seccomp_open (&error);
  guint8 a[8192], b[8192];
  gssize n;

  g_assert_no_error (error);
  n = read (first, a, sizeof a);
  g_assert_cmpint (n, >, 0);
  g_assert_cmpint (n % 8, ==, 0);
  g_assert_cmpint (read (second, b, sizeof b), ==, n);
  g_assert_cmpmem (a, n, b, n);
  close (first);
  close (second);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/bwrap/seccomp/calls", test_calls);
  g_test_add_func ("/bwrap/seccomp/again", test_again);

  return g_test_run ();
}
