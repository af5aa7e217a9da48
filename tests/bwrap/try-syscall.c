/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/*
 * Makes system calls whose arguments can only fail, and prints the error of each: what is let
 * through complains about its arguments, what is filtered about itself.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOWHERE "/nowhere/at/all"
#define HIGH (1L << 32)

static void
report (const char *name,
        long        result)
{
  if (result >= 0)
    printf ("%s 0\n", name);
  else
    printf ("%s %d\n", name, errno);

  fflush (stdout);
}

#define TRY(name, ...) report ((name), syscall (__VA_ARGS__))

static void
try_set_id (void)
{
  TRY ("chmod-plain", SYS_chmod, NOWHERE, 0755);
  TRY ("chmod-suid", SYS_chmod, NOWHERE, 04755);
  TRY ("chmod-sgid", SYS_chmod, NOWHERE, 02755);
  TRY ("fchmod-suid", SYS_fchmod, -1, 04755);
  TRY ("fchmodat-sgid", SYS_fchmodat, AT_FDCWD, NOWHERE, 02755);
  TRY ("fchmodat2-plain", 452, AT_FDCWD, NOWHERE, 0755, 0);
  TRY ("fchmodat2-suid", 452, AT_FDCWD, NOWHERE, 04755, 0);
  TRY ("open-creat-plain", SYS_open, NOWHERE, O_CREAT | O_WRONLY, 0755);
  TRY ("open-creat-suid", SYS_open, NOWHERE, O_CREAT | O_WRONLY, 04755);
  TRY ("open-stray-mode", SYS_open, NOWHERE, O_RDONLY, 06755);
  TRY ("openat-creat-sgid", SYS_openat, AT_FDCWD, NOWHERE, O_CREAT | O_WRONLY, 02755);
  TRY ("openat-tmpfile-suid", SYS_openat, AT_FDCWD, NOWHERE, O_TMPFILE | O_WRONLY, 04755);
  TRY ("openat-tmpfile-plain", SYS_openat, AT_FDCWD, NOWHERE, O_TMPFILE | O_WRONLY, 0755);
  TRY ("creat-suid", SYS_creat, NOWHERE, 04755);
  TRY ("mknod-suid", SYS_mknod, NOWHERE, S_IFREG | 04755, 0);
  TRY ("mknodat-sgid", SYS_mknodat, AT_FDCWD, NOWHERE, S_IFREG | 02755, 0);
  TRY ("mkdir-sgid", SYS_mkdir, NOWHERE, 02755);
  TRY ("mkdirat-sgid", SYS_mkdirat, AT_FDCWD, NOWHERE, 02755);
  TRY ("openat2", SYS_openat2, AT_FDCWD, NULL, NULL, 0);
}

static void
try_others (void)
{
  TRY ("prlimit-self", SYS_prlimit64, 0, 9999, NULL, NULL);
  TRY ("prlimit-other", SYS_prlimit64, 1, 9999, NULL, NULL);
  TRY ("setpriority-self", SYS_setpriority, PRIO_PROCESS, 0, 0);
  TRY ("setpriority-other", SYS_setpriority, PRIO_PROCESS, INT_MAX, 0);
  TRY ("setpriority-user", SYS_setpriority, PRIO_USER, 0, 0);
  TRY ("sched_setaffinity-self", SYS_sched_setaffinity, 0, 8, NULL);
  TRY ("sched_setaffinity-other", SYS_sched_setaffinity, INT_MAX, 8, NULL);
  TRY ("sched_setscheduler-other", SYS_sched_setscheduler, INT_MAX, 0, NULL);
  TRY ("sched_setparam-other", SYS_sched_setparam, INT_MAX, NULL);
  TRY ("sched_setattr-other", SYS_sched_setattr, INT_MAX, NULL, 0);
  TRY ("ioprio_set-self", SYS_ioprio_set, 1, 0, 0x7fff);
  TRY ("ioprio_set-other", SYS_ioprio_set, 1, INT_MAX, 0x7fff);
  TRY ("process_madvise", SYS_process_madvise, -1, NULL, 0, 0, 0);
  TRY ("process_mrelease", 448, -1, 0);
  TRY ("process_vm_readv", SYS_process_vm_readv, INT_MAX, NULL, 0, NULL, 0, 0);
  TRY ("pidfd_getfd", SYS_pidfd_getfd, -1, 0, 0);
  TRY ("ptrace", SYS_ptrace, PTRACE_CONT, INT_MAX, NULL, NULL);
}

static void
try_families (void)
{
  TRY ("socket-unix", SYS_socket, AF_UNIX, SOCK_STREAM, 0);
  TRY ("socket-unix-high", SYS_socket, HIGH | AF_UNIX, SOCK_STREAM, 0);
  TRY ("socket-inet", SYS_socket, AF_INET, SOCK_STREAM, 0);
  TRY ("socket-inet6-bad", SYS_socket, AF_INET6, 9999, 0);
  TRY ("socket-netlink", SYS_socket, AF_NETLINK, SOCK_RAW, 0);
  TRY ("socket-packet", SYS_socket, AF_PACKET, 9999, 0);
  TRY ("socket-ax25", SYS_socket, AF_AX25, 9999, 0);
  TRY ("socket-ipx", SYS_socket, AF_IPX, 9999, 0);
  TRY ("socket-alg", SYS_socket, AF_ALG, 9999, 0);
  TRY ("socket-vsock", SYS_socket, AF_VSOCK, 9999, 0);
  TRY ("socket-vsock-high", SYS_socket, HIGH | AF_VSOCK, 9999, 0);
  TRY ("socketpair-tipc", SYS_socketpair, AF_TIPC, SOCK_STREAM, 0, NULL);
  TRY ("socketpair-unix", SYS_socketpair, AF_UNIX, 9999, 0, NULL);
}

static void
try_kernel (void)
{
  TRY ("unshare", SYS_unshare, CLONE_NEWUSER | CLONE_NEWNS | 1);
  TRY ("setns", SYS_setns, -1, 0);
  TRY ("clone-user", SYS_clone, CLONE_NEWUSER | CLONE_FS, NULL, NULL, NULL, 0);
  TRY ("clone-mount", SYS_clone, CLONE_NEWNS | CLONE_FS, NULL, NULL, NULL, 0);
  TRY ("clone-plain", SYS_clone, CLONE_SIGHAND, NULL, NULL, NULL, 0);
  TRY ("clone3", SYS_clone3, NULL, 0);
  TRY ("open_tree", SYS_open_tree, -1, NULL, 0);
  TRY ("open_tree_attr", 467, -1, NULL, 0, NULL, 0);
  TRY ("move_mount", SYS_move_mount, -1, NULL, -1, NULL, 0);
  TRY ("fsopen", SYS_fsopen, NULL, 0);
  TRY ("mount_setattr", SYS_mount_setattr, -1, NULL, 0, NULL, 0);
  TRY ("mount", SYS_mount, NULL, NULL, NULL, 0, NULL);
  TRY ("umount2", SYS_umount2, NULL, 0);
  TRY ("pivot_root", SYS_pivot_root, NULL, NULL);
  TRY ("chroot", SYS_chroot, NULL);
  TRY ("keyctl", SYS_keyctl, 9999, 0, 0, 0, 0);
  TRY ("add_key", SYS_add_key, NULL, NULL, NULL, 0, 0);
  TRY ("bpf", SYS_bpf, 9999, NULL, 0);
  TRY ("perf_event_open", SYS_perf_event_open, NULL, 0, -1, -1, 0);
  TRY ("userfaultfd", SYS_userfaultfd, 0x7ffff000);
  TRY ("io_uring_setup", SYS_io_uring_setup, 0, NULL);
  TRY ("io_uring_enter", SYS_io_uring_enter, -1, 0, 0, 0, NULL, 0);
  TRY ("open_by_handle_at", SYS_open_by_handle_at, -1, NULL, 0);
  TRY ("kexec_load", SYS_kexec_load, 0, 0, NULL, 0xffff);
  TRY ("syslog", SYS_syslog, 9999, NULL, 0);
  TRY ("acct", SYS_acct, NULL);
  TRY ("quotactl_fd", 443, -1, 0, 0, NULL);
  TRY ("get_mempolicy", SYS_get_mempolicy, NULL, NULL, 0, NULL, 9999);
  TRY ("personality-ask", SYS_personality, 0xffffffffUL);
  TRY ("personality-plain", SYS_personality, PER_LINUX);
  TRY ("personality-aslr", SYS_personality, ADDR_NO_RANDOMIZE);
  TRY ("personality-exec", SYS_personality, READ_IMPLIES_EXEC);
  TRY ("personality-bsd", SYS_personality, PER_BSD);
  TRY ("personality-top", SYS_personality, 0xfffffffeUL);
  TRY ("tiocsti", SYS_ioctl, -1, TIOCSTI, NULL);
  TRY ("tiocsti-high", SYS_ioctl, -1, HIGH | TIOCSTI, NULL);
  TRY ("tioclinux", SYS_ioctl, -1, TIOCLINUX, NULL);
  TRY ("tiocgwinsz", SYS_ioctl, -1, TIOCGWINSZ, NULL);
  TRY ("pipe-64k", SYS_fcntl, -1, F_SETPIPE_SZ, 65536);
  TRY ("pipe-1m", SYS_fcntl, -1, F_SETPIPE_SZ, 1048576);
  TRY ("pipe-1m-high", SYS_fcntl, -1, HIGH | F_SETPIPE_SZ, 1048576);
  TRY ("fcntl-plain", SYS_fcntl, -1, F_GETFL, 1048576);
  TRY ("unknown-600", 600, 0, 0, 0);
  TRY ("unknown-high", 0x1fffffff, 0, 0, 0);
}

static void
try_foreign (void)
{
#ifdef __x86_64__
  int status;

  TRY ("x32-getpid", 0x40000000 + SYS_getpid);

  if (fork () == 0)
    {
      long result;

      __asm__ volatile ("int $0x80" : "=a" (result) : "a" (20L) : "memory");
      _exit (0);
    }

  wait (&status);
  printf ("i386 %d\n", WIFSIGNALED (status) ? WTERMSIG (status) : 0);
#endif
}

int
main (void)
{
  try_set_id ();
  try_others ();
  try_families ();
  try_kernel ();
  try_foreign ();

  return 0;
}
