/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/sched.h>
#include <linux/vm_sockets.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* The kernel itself. Each call has arguments with which it would work where it is allowed. */

#define TRY(name, ...) report ((name), syscall (__VA_ARGS__))

static void
try_in_child (const char *name,
              int         flags)
{
  const pid_t pid = (pid_t) syscall (SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, 0);

  if (pid == 0)
    _exit (0);

  report (name, pid);
  if (pid > 0)
    waitpid (pid, NULL, __WALL);
}

static int
namespaces (int    argc,
            char **argv)
{
  struct clone_args arguments = { .flags = CLONE_NEWUSER, .exit_signal = SIGCHLD };
  const int own = open ("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
  const int root = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  pid_t pid;

  TRY ("unshare-user", SYS_unshare, CLONE_NEWUSER);
  TRY ("unshare-mount", SYS_unshare, CLONE_NEWNS);
  TRY ("setns", SYS_setns, own, 0);
  try_in_child ("clone-plain", 0);
  try_in_child ("clone-user", CLONE_NEWUSER);
  try_in_child ("clone-mount", CLONE_NEWNS);
  try_in_child ("clone-net", CLONE_NEWNET);

  pid = (pid_t) syscall (SYS_clone3, &arguments, sizeof arguments);
  if (pid == 0)
    _exit (0);
  report ("clone3", pid);

  TRY ("mount", SYS_mount, "none", "/tmp", "tmpfs", 0, NULL);
  TRY ("remount", SYS_mount, NULL, "/proc/sys", NULL, MS_REMOUNT | MS_BIND, NULL);
  TRY ("umount", SYS_umount2, "/proc/sys", MNT_DETACH);
  TRY ("chroot", SYS_chroot, "/tmp");
  TRY ("pivot-root", SYS_pivot_root, ".", ".");
  TRY ("fsopen", SYS_fsopen, "tmpfs", 0);
  TRY ("open-tree", SYS_open_tree, root, "", 0x1000 /* AT_EMPTY_PATH */);
  return 0;
}

static int
try_handle (void)
{
  union { struct file_handle head; char room[sizeof (struct file_handle) + 128]; } handle = { 0 };
  const int root = open ("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int mount_id;

  /* Some root has a number that is easily guessed: 2 on ext4, 128 on XFS. */
  handle.head.handle_bytes = 128;
  if (name_to_handle_at (AT_FDCWD, "/usr", &handle.head, &mount_id, 0) < 0)
    handle.head.handle_bytes = 8;

  return open_by_handle_at (root, &handle.head, O_RDONLY);
}

static int
calls (int    argc,
       char **argv)
{
  struct io_uring_params ring = { 0 };
  uint64_t event[16] = { 1 /* PERF_TYPE_SOFTWARE */ | (uint64_t) 128 << 32 };
  char log[256];

  TRY ("io_uring", SYS_io_uring_setup, 4, &ring);
  TRY ("keyctl", SYS_keyctl, 0 /* KEYCTL_GET_KEYRING_ID */, -3 /* session */, 0, 0, 0);
  TRY ("add-key", SYS_add_key, "user", "sbx", "x", 1, -3);
  TRY ("request-key", SYS_request_key, "user", "sbx", NULL, -3);
  TRY ("perf", SYS_perf_event_open, event, 0, -1, -1, 0);
  TRY ("userfaultfd", SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */);
  TRY ("syslog", SYS_syslog, 3 /* SYSLOG_ACTION_READ_ALL */, log, sizeof log);
  TRY ("bpf", SYS_bpf, 0, NULL, 0);
  TRY ("kexec", SYS_kexec_load, 0, 0, NULL, 0);
  report ("handle", try_handle ());
  TRY ("newer", 600, 0, 0, 0);
#ifdef __x86_64__
  TRY ("x32", 0x40000000 + SYS_getpid);
#endif
  return 0;
}

static int
sockets (int    argc,
         char **argv)
{
  TRY ("unix", SYS_socket, AF_UNIX, SOCK_STREAM, 0);
  TRY ("inet", SYS_socket, AF_INET, SOCK_STREAM, 0);
  TRY ("vsock", SYS_socket, AF_VSOCK, SOCK_STREAM, 0);
  TRY ("packet", SYS_socket, AF_PACKET, SOCK_RAW, 0);
  TRY ("alg", SYS_socket, AF_ALG, SOCK_SEQPACKET, 0);
  TRY ("raw", SYS_socket, AF_INET, SOCK_RAW, 1);
  return 0;
}

/* On a terminal of its own; the test gives it one. */
static int
terminal (int    argc,
          char **argv)
{
  const char mark = 'x';
  char linux_call = 3;
  int fd;

  report ("tiocsti", ioctl (0, TIOCSTI, &mark));
  report ("tioclinux", ioctl (0, 0x541C /* TIOCLINUX */, &linux_call));
  TRY ("tiocsti-high", SYS_ioctl, 0, (1L << 32) | TIOCSTI, &mark);

  fd = open ("/dev/tty", O_RDWR | O_CLOEXEC);
  report ("tty", fd);
  report ("tiocsti-tty", ioctl (fd, TIOCSTI, &mark));
  return 0;
}

static int
status (int    argc,
        char **argv)
{
  static const char * const wanted[] = {
    "CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:", "NoNewPrivs:", "Seccomp:", "Uid:",
  };
  FILE *file = fopen ("/proc/self/status", "re");
  char line[4096];

  while (file != NULL && fgets (line, sizeof line, file) != NULL)
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
      if (strncmp (line, wanted[i], strlen (wanted[i])) == 0)
        fputs (line, stdout);

  return 0;
}

/* What would lame process 1, or any other process. */
static int
other_process (int    argc,
               char **argv)
{
  const struct rlimit few = { 3, 3 };
  const struct sched_param idle = { 0 };
  const uint64_t one_cpu[16] = { 1 };
  const pid_t parent = getppid ();
  struct iovec vector = { (void *) one_cpu, sizeof one_cpu };
  const int pidfd = (int) syscall (SYS_pidfd_open, 1, 0);

  TRY ("own-limit", SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &few);
  TRY ("limit-of-1", SYS_prlimit64, 1, RLIMIT_NOFILE, &few, NULL);
  TRY ("limit-of-supervisor", SYS_prlimit64, parent, RLIMIT_NOFILE, &few, NULL);
  TRY ("own-priority", SYS_setpriority, PRIO_PROCESS, 0, 0);
  TRY ("priority-of-1", SYS_setpriority, PRIO_PROCESS, 1, 19);
  TRY ("priority-of-user", SYS_setpriority, PRIO_USER, 0, 19);
  TRY ("affinity-of-1", SYS_sched_setaffinity, 1, sizeof one_cpu, one_cpu);
  TRY ("scheduler-of-1", SYS_sched_setscheduler, 1, SCHED_IDLE, &idle);
  TRY ("ioprio-of-1", SYS_ioprio_set, 1, 1, 3 << 13);
  TRY ("madvise-of-1", SYS_process_madvise, pidfd, &vector, 1, 20 /* MADV_COLD */, 0);
  return 0;
}

const AttackMode attack_kernel_modes[] = {
  { "namespaces", namespaces },
  { "calls", calls },
  { "sockets", sockets },
  { "terminal", terminal },
  { "status", status },
  { "other-process", other_process },
  { NULL, NULL }
};
