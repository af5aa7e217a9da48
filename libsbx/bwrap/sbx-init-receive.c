/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-init-receive-private.h"

#include "core/sbx-error.h"
#include "core/sbx-protection-private.h"
#include "files/sbx-fd-private.h"

#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* As many as are looked at before the rest is cut off, and closed, by the kernel. */
#define MAX_FDS 4

/* Kernel 6.5. */
#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD 76
#endif
#ifndef SCM_PIDFD
#define SCM_PIDFD 0x04
#endif

/* Every system numbers /dev/ptmx so. */
#define PTMX_MAJOR 5
#define PTMX_MINOR 2

static void
take_control (SbxInitReceived *received,
              struct msghdr   *message,
              gsize           *n_fds)
{
  for (struct cmsghdr *c = CMSG_FIRSTHDR (message); c != NULL; c = CMSG_NXTHDR (message, c))
    {
      const gsize size = c->cmsg_len - CMSG_LEN (0);

      if (c->cmsg_level != SOL_SOCKET)
        continue;

      if (c->cmsg_type == SCM_CREDENTIALS && size == sizeof (struct ucred))
        {
          struct ucred credentials;

          memcpy (&credentials, CMSG_DATA (c), sizeof credentials);
          received->pid = credentials.pid;
        }

      if (c->cmsg_type == SCM_PIDFD && size == sizeof (int))
        {
          _sbx_clear_fd (&received->pidfd);
          memcpy (&received->pidfd, CMSG_DATA (c), sizeof (int));
        }

      for (gsize i = 0; c->cmsg_type == SCM_RIGHTS && i < size / sizeof (int); i++)
        {
          int fd;

          memcpy (&fd, CMSG_DATA (c) + i * sizeof (int), sizeof fd);
          _sbx_clear_fd (&received->fd);
          received->fd = fd;
          ++*n_fds;
        }
    }
}

/* Whether a descriptor that was cut off was so because this process can open no more. */
static gboolean
is_out_of_descriptors (int fd)
{
  const int copy = fcntl (fd, F_DUPFD_CLOEXEC, 3);

  if (copy < 0)
    return TRUE;

  close (copy);
  return FALSE;
}

void
_sbx_init_receive_ask_for_sender (int      fd,
                                  gboolean ask)
{
  const int value = ask ? 1 : 0;

  setsockopt (fd, SOL_SOCKET, SO_PASSCRED, &value, sizeof value);
  setsockopt (fd, SOL_SOCKET, SO_PASSPIDFD, &value, sizeof value);
}

SbxInitReceive
_sbx_init_receive (int               fd,
                   SbxInitReceived  *received,
                   GError          **error)
{
  union {
    struct cmsghdr head;
    char           room[CMSG_SPACE (sizeof (struct ucred)) + CMSG_SPACE (sizeof (int)) +
                        CMSG_SPACE (MAX_FDS * sizeof (int))];
  } control;
  guint8 data[sizeof (SbxInitIncoming) + 1];
  struct iovec vector = { data, sizeof data };
  struct msghdr message = {
    .msg_iov = &vector,
    .msg_iovlen = 1,
    .msg_control = &control,
    .msg_controllen = sizeof control,
  };
  gsize n_fds = 0;
  gboolean cut;
  gssize n;

  n = recvmsg (fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

  /* Told once, when the other side left something of ours unread. What it sent is still there. */
  if (n < 0 && errno == ECONNRESET)
    n = recvmsg (fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

  if (n < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOMEM || errno == ENOBUFS))
    return SBX_INIT_RECEIVE_NOTHING;

  if (n < 0)
    {
      g_set_error (error, G_IO_ERROR, (int) g_io_error_from_errno (errno),
                   "Nothing more can be heard from the sandbox: %s", g_strerror (errno));
      return SBX_INIT_RECEIVE_ERROR;
    }

  take_control (received, &message, &n_fds);
  if (n == 0 && n_fds == 0)
    return SBX_INIT_RECEIVE_END;

  if (!_sbx_init_report_decode (data, (gsize) n, &received->incoming, error))
    return SBX_INIT_RECEIVE_ERROR;

  cut = (message.msg_flags & MSG_CTRUNC) != 0;
  received->no_room = cut && n_fds == 0 && is_out_of_descriptors (fd);

  if (SBX_PROTECTS (T20) &&
      ((cut && !received->no_room) || n_fds > 1 ||
       (n_fds == 1 && received->incoming.head.type != SBX_INIT_STARTED)))
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_LOST,
                           "Process 1 of the sandbox passed descriptors that nobody asked for");
      return SBX_INIT_RECEIVE_ERROR;
    }

  return SBX_INIT_RECEIVE_MESSAGE;
}

gboolean
_sbx_init_received_check_terminal (const SbxInitReceived *received,
                                   gboolean               wanted)
{
  struct stat status;
  unsigned int number;

  if (received->fd < 0 || !wanted)
    return received->fd < 0 && !wanted;

  if (!SBX_PROTECTS (T20))
    return TRUE;

  return fstat (received->fd, &status) == 0 && S_ISCHR (status.st_mode) &&
         major (status.st_rdev) == PTMX_MAJOR && minor (status.st_rdev) == PTMX_MINOR &&
         ioctl (received->fd, TIOCGPTN, &number) == 0;
}

void
_sbx_init_received_clear (SbxInitReceived *received)
{
  _sbx_clear_fd (&received->pidfd);
  _sbx_clear_fd (&received->fd);
}
