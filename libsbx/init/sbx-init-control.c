/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "init/sbx-init-private.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A refusal that the socket did not take yet. While there is one, nothing more is read, so there is
 * never a second. */
static SbxInitReport refusal;
static bool refusal_waits;

/* FALSE when the host has to read first. */
bool
_sbx_init_control_send (const SbxInitReport *report)
{
  ssize_t n;

  do
    n = send (SBX_INIT_FD_CONTROL, report, sizeof *report, MSG_DONTWAIT | MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);

  if (n < 0 && errno != EAGAIN && errno != ENOBUFS && errno != ENOMEM)
    _exit (0);

  return n >= 0;
}

/* While everything inside is stopped there is nothing else to do. */
void
_sbx_init_control_send_waiting (const SbxInitReport *report)
{
  if (send (SBX_INIT_FD_CONTROL, report, sizeof *report, MSG_NOSIGNAL) < 0)
    _exit (0);
}

bool
_sbx_init_control_waiting (void)
{
  return refusal_waits;
}

void
_sbx_init_control_flush (void)
{
  if (refusal_waits && _sbx_init_control_send (&refusal))
    refusal_waits = false;
}

static void
refuse (uint64_t       id,
        SbxInitFailure failure)
{
  refusal = (SbxInitReport) {
    .head = { SBX_INIT_MAGIC, SBX_INIT_VERSION, SBX_INIT_ENDED, id },
    .kind = SBX_INIT_ENDED_UNSTARTED,
    .stage = failure.stage,
    .value = failure.error,
  };
  refusal_waits = !_sbx_init_control_send (&refusal);
}

/* The descriptors that came: the request's memory file and, in their order, those of the three
 * standard ones that the flags name, and the socket of a listener. */
static SbxInitFailure
sort_descriptors (const SbxInitMessage *message,
                  const int            *received,
                  size_t                n_received,
                  int                  *fds)
{
  size_t n = 1;

  if (message->verb >= SBX_INIT_N_VERBS || (message->flags & ~SBX_INIT_EXEC_FLAGS) != 0 ||
      message->head.id == 0 || message->value != 0)
    return _sbx_init_failed (SBX_INIT_AT_REQUEST, EINVAL);

  if ((message->flags & SBX_INIT_TERMINAL) != 0 &&
      ((message->flags & 7) != 0 || message->verb != SBX_INIT_DO_EXEC))
    return _sbx_init_failed (SBX_INIT_AT_REQUEST, EINVAL);

  if ((message->flags & SBX_INIT_NOTIFY) != 0 && message->verb != SBX_INIT_DO_EXEC)
    return _sbx_init_failed (SBX_INIT_AT_REQUEST, EINVAL);

  for (unsigned int i = 0; i < 3; i++)
    fds[1 + i] = (message->flags & (1u << i)) != 0 && n < n_received ? received[n++] : -1;
  fds[4] = (message->flags & SBX_INIT_NOTIFY) != 0 && n < n_received ? received[n++] : -1;

  if (n != n_received ||
      n != 1u + (size_t) __builtin_popcount (message->flags & (7 | SBX_INIT_NOTIFY)))
    return _sbx_init_failed (SBX_INIT_AT_REQUEST, EINVAL);

  fds[0] = received[0];
  return _sbx_init_ok ();
}

static void
begin (const SbxInitMessage *message,
       const int            *received,
       size_t                n_received,
       bool                  cut)
{
  int fds[SBX_INIT_EXEC_FDS] = { -1, -1, -1, -1, -1 };
  SbxInitFailure failure;

  failure = cut ? _sbx_init_failed (SBX_INIT_AT_RESOURCES, EMFILE)
                : sort_descriptors (message, received, n_received, fds);

  if (failure.stage == SBX_INIT_AT_NONE)
    failure = _sbx_init_execs_begin (message, fds);

  if (failure.stage != SBX_INIT_AT_NONE)
    refuse (message->head.id, failure);
}

static void
obey (const SbxInitMessage *message,
      const int            *received,
      size_t                n_received,
      bool                  cut)
{
  switch (message->head.type)
    {
    case SBX_INIT_EXEC:
      begin (message, received, n_received, cut);
      break;

    case SBX_INIT_SIGNAL:
      _sbx_init_execs_signal (message->head.id, message->signal_number);
      break;

    case SBX_INIT_END:
      _sbx_init_execs_end (message->head.id);
      break;

    case SBX_INIT_RESIZE:
      _sbx_init_execs_resize (message->head.id, message->rows, message->columns);
      break;

    case SBX_INIT_LOOK:
      _sbx_init_watch_changed ();
      break;

    case SBX_INIT_CHECK:
      if (n_received == 1 && !cut)
        _sbx_init_watch_check (received[0]);
      break;

    case SBX_INIT_RESUME:
      _sbx_init_watch_resume ();
      break;

    case SBX_INIT_LIMIT:
      _sbx_init_limits_note (message->verb, message->value);
      break;

    case SBX_INIT_CLOSE:
      _exit (0);

    default:
      break;
    }
}

/* FALSE when the host closed its end. */
bool
_sbx_init_control_read (void)
{
  union { struct cmsghdr head; char room[CMSG_SPACE (SBX_INIT_EXEC_FDS * sizeof (int))]; } control;
  SbxInitMessage message;
  struct iovec vector = { &message, sizeof message };
  struct msghdr header = {
    .msg_iov = &vector,
    .msg_iovlen = 1,
    .msg_control = &control,
    /* Without what is padded, which would have room for one more. */
    .msg_controllen = CMSG_LEN (SBX_INIT_EXEC_FDS * sizeof (int)),
  };
  int received[SBX_INIT_EXEC_FDS];
  size_t n_received = 0;
  ssize_t n;

  n = recvmsg (SBX_INIT_FD_CONTROL, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n < 0)
    return errno == EAGAIN || errno == EINTR || errno == ENOMEM || errno == ENOBUFS;

  /* An empty message cannot be told from the end; the host sends none. */
  if (n == 0)
    return false;

  for (struct cmsghdr *c = CMSG_FIRSTHDR (&header); c != NULL; c = CMSG_NXTHDR (&header, c))
    {
      if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
        continue;

      n_received = (c->cmsg_len - CMSG_LEN (0)) / sizeof (int);
      memcpy (received, CMSG_DATA (c), n_received * sizeof (int));
    }

  /* Anything of another size or version is nothing that our own host sends. */
  if (n == sizeof message && (header.msg_flags & MSG_TRUNC) == 0 &&
      message.head.magic == SBX_INIT_MAGIC && message.head.version == SBX_INIT_VERSION)
    obey (&message, received, n_received, (header.msg_flags & MSG_CTRUNC) != 0);

  if (n_received > 0)
    _sbx_init_close_from (SBX_INIT_FD_FIRST_FREE);

  return true;
}
