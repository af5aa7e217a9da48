/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-protection-private.h"
#include "init/sbx-init-private.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <unistd.h>

#define SEND_TIMEOUT_S 10
#define SETUP_TIMEOUT_MS 60000

#ifndef ST_RDONLY
#define ST_RDONLY 1
#endif

SbxInitSlot *_sbx_init_slots;

/* The host has no use for a sandbox that cannot be set up: tell it why, and end. */
static _Noreturn void
fail (uint32_t stage,
      int      error)
{
  const SbxInitReport report = {
    .head = { SBX_INIT_MAGIC, SBX_INIT_VERSION, SBX_INIT_SETUP_FAILED, 0 },
    .stage = stage,
    .value = error,
  };

  send (SBX_INIT_FD_CONTROL, &report, sizeof report, MSG_NOSIGNAL);
  _exit (1);
}

static void
open_as (int         number,
         const char *path,
         int         flags,
         bool        needed)
{
  const int fd = open (path, flags | O_CLOEXEC);

  if (fd < 0 && needed)
    fail (SBX_INIT_AT_RESOURCES, errno);

  if (fd >= 0 && fd != number)
    {
      if (dup3 (fd, number, O_CLOEXEC) < 0)
        fail (SBX_INIT_AT_RESOURCES, errno);
      close (fd);
    }
}

static void
open_what_lasts (void)
{
  int fd;

  if (fcntl (SBX_INIT_FD_CONTROL, F_SETFD, FD_CLOEXEC) < 0)
    _exit (1);
  _sbx_init_close_from (SBX_INIT_FD_ALIVE + 1);

  /* Held, and never used: the lock on it tells whether this sandbox is alive. */
  if (fcntl (SBX_INIT_FD_ALIVE, F_SETFD, FD_CLOEXEC) < 0)
    open_as (SBX_INIT_FD_ALIVE, "/dev/null", O_RDONLY, true);

  open_as (SBX_INIT_FD_PROC, "/proc", O_RDONLY | O_DIRECTORY, true);
  open_as (SBX_INIT_FD_CHILDREN, "/proc/1/task/1/children", O_RDONLY, true);
  open_as (SBX_INIT_FD_MOUNTS, "/proc/1/mountinfo", O_RDONLY, true);
  open_as (SBX_INIT_FD_PTS, "/dev/pts", O_RDONLY | O_DIRECTORY, false);

  fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0 || (fd != SBX_INIT_FD_WAKE && dup3 (fd, SBX_INIT_FD_WAKE, O_CLOEXEC) < 0))
    fail (SBX_INIT_AT_RESOURCES, errno);
  if (fd != SBX_INIT_FD_WAKE)
    close (fd);
}

void
_sbx_init_prepare (void)
{
  const struct timeval timeout = { .tv_sec = SEND_TIMEOUT_S };

  umask (022);

  /* From here on our files in /proc belong to the real root, and nobody inside can read or trace
   * us; what we fork inherits it, until it executes something. */
  if (prctl (PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || chdir ("/") < 0)
    fail (SBX_INIT_AT_RESOURCES, errno);

  open_what_lasts ();
  setsockopt (SBX_INIT_FD_CONTROL, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);

  _sbx_init_slots = mmap (NULL, SBX_INIT_MAX_EXECS * sizeof (SbxInitSlot), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (_sbx_init_slots == MAP_FAILED || !_sbx_init_freeze_prepare ())
    fail (SBX_INIT_AT_RESOURCES, errno);
}

/* The credentials are how the host learns which of its processes we are. They are sent whether or
 * not the host listens for them yet. */
static void
say_hello (void)
{
  union { struct cmsghdr head; char room[CMSG_SPACE (sizeof (struct ucred))]; } control = { 0 };
  const struct ucred credentials = { getpid (), getuid (), getgid () };
  SbxInitReport report = {
    .head = { SBX_INIT_MAGIC, SBX_INIT_VERSION, SBX_INIT_HELLO, 0 },
  };
  struct iovec vector = { &report, sizeof report };
  struct msghdr message = {
    .msg_iov = &vector,
    .msg_iovlen = 1,
    .msg_control = &control,
    .msg_controllen = sizeof control,
  };

  control.head.cmsg_level = SOL_SOCKET;
  control.head.cmsg_type = SCM_CREDENTIALS;
  control.head.cmsg_len = CMSG_LEN (sizeof credentials);
  memcpy (CMSG_DATA (&control.head), &credentials, sizeof credentials);

  if (sendmsg (SBX_INIT_FD_CONTROL, &message, MSG_NOSIGNAL) < 0)
    _exit (1);
}

/* Gives the memory file of the expectations, having put the host's pidfd into its place. */
static int
receive_setup (SbxInitMessage *message)
{
  union { struct cmsghdr head; char room[CMSG_SPACE (2 * sizeof (int))]; } control = { 0 };
  struct iovec vector = { message, sizeof *message };
  struct msghdr header = {
    .msg_iov = &vector,
    .msg_iovlen = 1,
    .msg_control = &control,
    .msg_controllen = sizeof control,
  };
  struct pollfd poll_fd = { .fd = SBX_INIT_FD_CONTROL, .events = POLLIN };
  ssize_t n;
  int fds[2];

  /* The host sends this as soon as it has started us. If it was killed before that, a child of it
   * may keep the socket open, and nothing else would tell. */
  if (poll (&poll_fd, 1, SETUP_TIMEOUT_MS) <= 0)
    _exit (1);

  n = recvmsg (SBX_INIT_FD_CONTROL, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n <= 0)
    _exit (0);

  if (n != sizeof *message || (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 ||
      message->head.magic != SBX_INIT_MAGIC || message->head.version != SBX_INIT_VERSION ||
      message->head.type != SBX_INIT_SETUP ||
      control.head.cmsg_level != SOL_SOCKET || control.head.cmsg_type != SCM_RIGHTS ||
      control.head.cmsg_len != CMSG_LEN (sizeof fds))
    fail (SBX_INIT_AT_REQUEST, EPROTO);

  memcpy (fds, CMSG_DATA (&control.head), sizeof fds);

  /* They came in the lowest free places: the first may be where it belongs already. */
  if (fds[0] != SBX_INIT_FD_HOST)
    {
      if (fds[1] == SBX_INIT_FD_HOST)
        fds[1] = fcntl (fds[1], F_DUPFD_CLOEXEC, SBX_INIT_FD_FIRST_FREE);
      if (fds[1] < 0 || dup3 (fds[0], SBX_INIT_FD_HOST, O_CLOEXEC) < 0)
        fail (SBX_INIT_AT_RESOURCES, errno);
    }

  return fds[1];
}

static void
look_at (const char   *path,
         SbxInitMount *mount)
{
  struct stat status;
  struct statfs file_system;
  const int fd = open (path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

  if (fd >= 0 && fstat (fd, &status) == 0 && fstatfs (fd, &file_system) == 0)
    {
      mount->device = status.st_dev;
      mount->inode = status.st_ino;
      mount->read_only = (file_system.f_flags & ST_RDONLY) != 0;
    }
  else
    mount->error = (uint32_t) errno;

  if (fd >= 0)
    close (fd);
}

int
_sbx_init_report_mounts (int fd)
{
  const SbxInitExpectationsHead *head;
  SbxInitMounts mounts = {
    .head = { SBX_INIT_MAGIC, SBX_INIT_VERSION, SBX_INIT_MOUNTS, 0 },
  };
  uint32_t size = 0;
  const char *data = _sbx_init_map_sealed (fd, SBX_INIT_MAX_PATHS, &size);
  const char *path, *end;

  head = (const void *) data;
  if (data == NULL || size < sizeof *head || head->magic != SBX_INIT_MAGIC ||
      head->size != size || head->n_paths > SBX_INIT_MAX_EXPECTATIONS)
    return EPROTO;

  path = data + sizeof *head;
  end = data + size;

  for (uint32_t i = 0; i < head->n_paths; i++)
    {
      const char *nul = memchr (path, '\0', (size_t) (end - path));
      SbxInitMount *mount = &mounts.mounts[mounts.count++];

      if (nul == NULL)
        return EPROTO;

      *mount = (SbxInitMount) { .index = i };
      look_at (path, mount);
      path = nul + 1;

      if (mounts.count < SBX_INIT_MOUNTS_BATCH && i + 1 < head->n_paths)
        continue;

      if (send (SBX_INIT_FD_CONTROL, &mounts, sizeof mounts, MSG_NOSIGNAL) < 0)
        _exit (1);
      mounts.count = 0;
      memset (mounts.mounts, 0, sizeof mounts.mounts);
    }

  munmap ((void *) data, size);
  return 0;
}

/* Nothing is said by us from here until the host has hold of us. It may be killed meanwhile, and a
 * child of it keep the socket open. */
static void
wait_for_go (void)
{
  SbxInitMessage message;
  struct pollfd fds[] = {
    { .fd = SBX_INIT_FD_CONTROL, .events = POLLIN },
    { .fd = SBX_PROTECTS (T22) ? SBX_INIT_FD_HOST : -1, .events = POLLIN },
  };

  while (poll (fds, 2, -1) < 0)
    if (errno != EINTR)
      _exit (1);

  if (fds[1].revents != 0)
    _exit (0);

  if (recv (SBX_INIT_FD_CONTROL, &message, sizeof message, MSG_DONTWAIT) <= 0)
    _exit (0);

  if (message.head.magic != SBX_INIT_MAGIC || message.head.version != SBX_INIT_VERSION ||
      message.head.type != SBX_INIT_GO)
    fail (SBX_INIT_AT_REQUEST, EPROTO);
}

void
_sbx_init_set_up (void)
{
  const SbxInitReport ready = {
    .head = { SBX_INIT_MAGIC, SBX_INIT_VERSION, SBX_INIT_READY, 0 },
  };
  SbxInitMessage message;
  int error;
  int fd;

  say_hello ();
  fd = receive_setup (&message);
  wait_for_go ();
  _sbx_init_watch_reset ();
  error = _sbx_init_report_mounts (fd);
  if (error != 0)
    fail (SBX_INIT_AT_REQUEST, error);
  if (!_sbx_init_limits_set_up (message.value))
    fail (SBX_INIT_AT_LIMITS, errno);

  _sbx_init_close_from (SBX_INIT_FD_FIRST_FREE);

  /* Whatever we were started with has nothing more to hear from us. */
  fd = open ("/dev/null", O_RDWR | O_CLOEXEC);
  for (int i = 0; fd >= 0 && i < 3; i++)
    dup3 (fd, i, O_CLOEXEC);
  _sbx_init_close_from (SBX_INIT_FD_FIRST_FREE);

  if (send (SBX_INIT_FD_CONTROL, &ready, sizeof ready, MSG_NOSIGNAL) < 0)
    _exit (1);
}
