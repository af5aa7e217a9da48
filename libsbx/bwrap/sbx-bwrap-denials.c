/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-denials-private.h"

#include "files/sbx-fd-private.h"
#include "init/sbx-init-protocol-private.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Each has a thread. What is started above this runs without. */
#define MAX_WATCHED 256

/* After the end: for what is still on its way, and for a kernel that does not say so. */
#define PATIENCE_MS 2000
#define POLL_MS 1000
#define MAX_IDLE_POLLS 10

struct _SbxBwrapDenials
{
  gatomicrefcount      refs;

  SbxBwrapJudge       *judge;
  GMainContext        *context;
  int                  socket;       /* the thread's */
  int                  ended;        /* atomic */

  GMutex               lock;
  gboolean             finished;     /* the thread is */
  SbxBwrapDenialsDone  done;         /* (nullable) until it was called */
  gpointer             user_data;
};

static int n_watched;                /* atomic */

static SbxBwrapDenials *
denials_ref (SbxBwrapDenials *self)
{
  g_atomic_ref_count_inc (&self->refs);
  return self;
}

void
_sbx_bwrap_denials_unref (SbxBwrapDenials *self)
{
  if (!g_atomic_ref_count_dec (&self->refs))
    return;

  _sbx_bwrap_judge_free (self->judge);
  g_main_context_unref (self->context);
  g_mutex_clear (&self->lock);
  if (self->socket >= 0)
    close (self->socket);
  g_free (self);
}

static gboolean
done_cb (gpointer user_data)
{
  SbxBwrapDenials *self = user_data;
  SbxBwrapDenialsDone done;

  g_mutex_lock (&self->lock);
  done = g_steal_pointer (&self->done);
  g_mutex_unlock (&self->lock);

  if (done != NULL)
    done (self->user_data);

  return G_SOURCE_REMOVE;
}

static void
call_done (SbxBwrapDenials *self,
           guint            delay_ms)
{
  g_autoptr(GSource) source = delay_ms > 0 ? g_timeout_source_new (delay_ms) : g_idle_source_new ();

  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, done_cb, denials_ref (self),
                         (GDestroyNotify) _sbx_bwrap_denials_unref);
  g_source_attach (source, self->context);
}

static int
receive_descriptor (int fd)
{
  union { struct cmsghdr head; char room[CMSG_SPACE (sizeof (int))]; } control = { 0 };
  char byte = 0;
  struct iovec vector = { &byte, 1 };
  struct msghdr message = {
    .msg_iov = &vector,
    .msg_iovlen = 1,
    .msg_control = &control,
    .msg_controllen = CMSG_LEN (sizeof (int)),
  };
  int received = -1;

  if (recvmsg (fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1 || byte != SBX_INIT_NOTIFIED)
    return -1;

  if (CMSG_FIRSTHDR (&message) != NULL && control.head.cmsg_level == SOL_SOCKET &&
      control.head.cmsg_type == SCM_RIGHTS && control.head.cmsg_len == CMSG_LEN (sizeof received))
    memcpy (&received, CMSG_DATA (&control.head), sizeof received);

  return received;
}

/* Waits for the listener, or for whoever would send it to be gone. A listener for which we have no
 * descriptor would be lost, so one is kept for it. */
static int
receive_listener (SbxBwrapDenials *self)
{
  sbx_autofd int fd = self->socket;
  int reserve = dup (fd);
  struct pollfd waiting = { fd, POLLIN, 0 };
  const char answer = SBX_INIT_NOTIFIED;
  sbx_autofd int listener = -1;

  self->socket = -1;
  while (poll (&waiting, 1, -1) < 0 && errno == EINTR)
    ;

  if (reserve >= 0)
    close (reserve);
  listener = receive_descriptor (fd);

  if (listener < 0 || send (fd, &answer, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
    return -1;

  return g_steal_fd (&listener);
}

typedef struct
{
  int                        fd;
  struct seccomp_notif_sizes sizes;
  struct seccomp_notif      *call;
  struct seccomp_notif_resp *answer;
} Listener;

static gboolean
listener_prepare (Listener *self)
{
  if (syscall (SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &self->sizes) < 0)
    return FALSE;

  self->sizes.seccomp_notif = MAX (self->sizes.seccomp_notif, sizeof *self->call);
  self->sizes.seccomp_notif_resp = MAX (self->sizes.seccomp_notif_resp, sizeof *self->answer);
  self->call = g_malloc (self->sizes.seccomp_notif);
  self->answer = g_malloc (self->sizes.seccomp_notif_resp);

  return TRUE;
}

static void
listener_clear (Listener *self)
{
  g_clear_pointer (&self->call, g_free);
  g_clear_pointer (&self->answer, g_free);
  if (self->fd >= 0)
    close (self->fd);
}

/* FALSE when there is nobody to listen to. What the call names is read before it goes on, and
 * judged after that: nobody waits for the disk. */
static gboolean
take_call (SbxBwrapDenials *self,
           Listener        *listener)
{
  SbxBwrapTried tried[SBX_BWRAP_MAX_TRIED];
  gboolean is_valid;
  guint n_tried;

  memset (listener->call, 0, listener->sizes.seccomp_notif);
  if (ioctl (listener->fd, SECCOMP_IOCTL_NOTIF_RECV, listener->call) < 0)
    return errno == ENOENT || errno == EINTR || errno == ENOMEM;

  n_tried = _sbx_bwrap_denials_decode (listener->call, tried);
  /* Whoever called may be gone, and its number be another's. */
  is_valid = n_tried == 0 ||
             ioctl (listener->fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &listener->call->id) == 0;

  memset (listener->answer, 0, listener->sizes.seccomp_notif_resp);
  listener->answer->id = listener->call->id;
  listener->answer->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  if (ioctl (listener->fd, SECCOMP_IOCTL_NOTIF_SEND, listener->answer) < 0)
    { /* It was killed meanwhile, or a signal came before the call. */ }

  for (guint i = 0; i < n_tried; i++)
    {
      if (is_valid)
        _sbx_bwrap_judge_add (self->judge, &tried[i]);
      g_free (tried[i].path);
    }

  return TRUE;
}

/* Until no process has the filter any more: without a listener their calls would fail. */
static void
listen_to (SbxBwrapDenials *self,
           int              fd)
{
  Listener listener = { .fd = fd };
  gboolean goes_on = listener_prepare (&listener);
  guint idle = 0;

  while (goes_on)
    {
      struct pollfd waiting = { fd, POLLIN, 0 };
      const int n = poll (&waiting, 1, POLL_MS);

      if (n < 0)
        goes_on = errno == EINTR;
      else if (n == 0)
        goes_on = !g_atomic_int_get (&self->ended) || ++idle < MAX_IDLE_POLLS;
      else if ((waiting.revents & POLLIN) != 0)
        goes_on = take_call (self, &listener);
      else
        goes_on = FALSE;
    }

  listener_clear (&listener);
}

static gpointer
watch_thread (gpointer data)
{
  g_autoptr(SbxBwrapDenials) self = data;
  const int fd = receive_listener (self);

  if (fd >= 0)
    listen_to (self, fd);

  g_atomic_int_add (&n_watched, -1);

  g_mutex_lock (&self->lock);
  self->finished = TRUE;
  if (self->done != NULL)
    call_done (self, 0);
  g_mutex_unlock (&self->lock);

  return NULL;
}

static gboolean
start_thread (SbxBwrapDenials *self)
{
  GThread *thread;

  if (g_atomic_int_add (&n_watched, 1) >= MAX_WATCHED)
    {
      g_atomic_int_add (&n_watched, -1);
      return FALSE;
    }

  thread = g_thread_try_new ("sbx-denials", watch_thread, denials_ref (self), NULL);
  if (thread == NULL)
    {
      _sbx_bwrap_denials_unref (self);
      g_atomic_int_add (&n_watched, -1);
      return FALSE;
    }

  g_thread_unref (thread);
  return TRUE;
}

SbxBwrapDenials *
_sbx_bwrap_denials_new (SbxPlan      *plan,
                        GMainContext *context,
                        int          *sandbox_fd)
{
  g_autoptr(SbxBwrapDenials) self = NULL;
  int ends[2];

  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
    return NULL;

  self = g_new0 (SbxBwrapDenials, 1);
  g_atomic_ref_count_init (&self->refs);
  g_mutex_init (&self->lock);
  self->judge = _sbx_bwrap_judge_new (plan);
  self->context = g_main_context_ref (context);
  self->socket = ends[0];

  if (!start_thread (self))
    {
      close (ends[1]);
      return NULL;
    }

  *sandbox_fd = ends[1];
  return g_steal_pointer (&self);
}

void
_sbx_bwrap_denials_end (SbxBwrapDenials     *self,
                        SbxBwrapDenialsDone  done,
                        gpointer             user_data)
{
  g_atomic_int_set (&self->ended, 1);

  g_mutex_lock (&self->lock);
  self->done = done;
  self->user_data = user_data;
  call_done (self, self->finished ? 0 : PATIENCE_MS);
  g_mutex_unlock (&self->lock);
}

GListModel *
_sbx_bwrap_denials_collect (SbxBwrapDenials *self,
                            guint64         *truncated)
{
  return _sbx_bwrap_judge_list (self->judge, truncated);
}
