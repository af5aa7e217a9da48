/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "init/sbx-init-private.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * A command whose refused calls are to be explained: a second filter has the kernel tell the host
 * of calls that name something, before it does them. The host lets each go on, whatever it is, so
 * this decides nothing; the first filter, and all else, holds as before.
 */

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

#define ANSWER_SECONDS 10

static const int calls[] = {
#ifdef SYS_open
  SYS_open, SYS_creat, SYS_mkdir, SYS_rmdir, SYS_unlink, SYS_rename, SYS_link, SYS_symlink,
  SYS_mknod, SYS_chmod, SYS_chown, SYS_lchown, SYS_stat, SYS_lstat, SYS_access,
#endif
#ifdef SYS_renameat
  SYS_renameat,
#endif
  SYS_openat, SYS_mkdirat, SYS_unlinkat, SYS_renameat2, SYS_linkat, SYS_symlinkat, SYS_mknodat,
  SYS_truncate, SYS_fchmodat, SYS_fchownat, SYS_faccessat, SYS_chdir, SYS_execve, SYS_execveat,
  SYS_connect, SYS_bind,
};

#define N_CALLS (sizeof calls / sizeof calls[0])

/* Those that ask about a descriptor, which most programs do all the time, are not of interest. */
typedef struct
{
  int          call;
  unsigned int argument;        /* where AT_EMPTY_PATH is */
} Asking;

static const Asking asking[] = {
#ifdef SYS_newfstatat
  { SYS_newfstatat, 3 },
#endif
  { SYS_statx, 2 },
};

#define N_ASKING (sizeof asking / sizeof asking[0])

static const size_t low_half = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof (uint32_t) : 0;

/* Programs of another architecture were refused by the first filter. */
static size_t
make_filter (struct sock_filter *filter)
{
  struct sock_filter *at = filter;

  *at++ = (struct sock_filter) BPF_STMT (BPF_LD | BPF_W | BPF_ABS,
                                         offsetof (struct seccomp_data, nr));

  for (size_t i = 0; i < N_CALLS; i++)
    {
      *at++ = (struct sock_filter) BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, (uint32_t) calls[i], 0, 1);
      *at++ = (struct sock_filter) BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    }

  for (size_t i = 0; i < N_ASKING; i++)
    {
      const size_t offset = offsetof (struct seccomp_data, args) + low_half +
                            asking[i].argument * sizeof (uint64_t);

      *at++ = (struct sock_filter) BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, (uint32_t) asking[i].call,
                                             0, 4);
      *at++ = (struct sock_filter) BPF_STMT (BPF_LD | BPF_W | BPF_ABS, (uint32_t) offset);
      *at++ = (struct sock_filter) BPF_JUMP (BPF_JMP | BPF_JSET | BPF_K, AT_EMPTY_PATH, 1, 0);
      *at++ = (struct sock_filter) BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
      *at++ = (struct sock_filter) BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }

  *at++ = (struct sock_filter) BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW);

  return (size_t) (at - filter);
}

/* Gives the listener, or -1: the kernel is too old, or there is one already. */
static int
install (void)
{
  struct sock_filter filter[2 + 2 * N_CALLS + 5 * N_ASKING];
  struct sock_fprog program = { (unsigned short) make_filter (filter), filter };
  long fd;

  /* Where it can be had, signals do not interrupt a call that was told of. */
  fd = syscall (SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
                &program);
  if (fd < 0 && errno == EINVAL)
    fd = syscall (SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                  &program);

  return (int) fd;
}

static bool
hand_over (int fd,
           int listener)
{
  const struct timeval patience = { ANSWER_SECONDS, 0 };
  union { struct cmsghdr head; char room[CMSG_SPACE (sizeof (int))]; } control = { 0 };
  char byte = SBX_INIT_NOTIFIED;
  struct iovec vector = { &byte, 1 };
  struct msghdr message = {
    .msg_iov = &vector,
    .msg_iovlen = 1,
    .msg_control = &control,
    .msg_controllen = sizeof control,
  };
  ssize_t n;

  control.head.cmsg_level = SOL_SOCKET;
  control.head.cmsg_type = SCM_RIGHTS;
  control.head.cmsg_len = CMSG_LEN (sizeof listener);
  memcpy (CMSG_DATA (&control.head), &listener, sizeof listener);

  if (setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0 ||
      sendmsg (fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
    return false;

  do
    n = recv (fd, &byte, 1, 0);
  while (n < 0 && errno == EINTR);

  return n == 1 && byte == SBX_INIT_NOTIFIED;
}

/* Takes @fd, the only descriptor beside the three. The listener stays in nobody's hands but the
 * host's. FALSE when the caller has a filter and nobody listens, so that it cannot go on. */
bool
_sbx_init_notify_begin (int fd)
{
  const int listener = install ();
  const bool usable = listener < 0 || hand_over (fd, listener);

  if (listener >= 0)
    close (listener);
  close (fd);

  return usable;
}
