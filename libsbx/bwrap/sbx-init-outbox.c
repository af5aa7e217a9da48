/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-init-outbox-private.h"

#include "core/sbx-error.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_FDS SBX_INIT_EXEC_FDS
#define MAX_WAITING 16384

/* For the counters that belong to the whole user: descriptors within sockets, open files. */
#define RETRY_MS 20
#define MAX_RETRIES 100

typedef struct
{
  SbxInitMessage message;
  int            fds[MAX_FDS];
  gsize          n_fds;
  int            retries;
  int            error;       /* errno, when it cannot be sent at all */
} Item;

struct _SbxInitOutbox
{
  int                  fd;
  GMainContext        *context;
  GQueue               items;
  GSource             *source;    /* while something waits */
  SbxInitOutboxFailed  failed;
  gpointer             user_data;
};

static void
item_free (Item *item)
{
  for (gsize i = 0; i < item->n_fds; i++)
    close (item->fds[i]);
  g_free (item);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Item, item_free)

static int
send_now (int                   fd,
          const SbxInitMessage *message,
          const int            *fds,
          gsize                 n_fds)
{
  union { struct cmsghdr head; char room[CMSG_SPACE (MAX_FDS * sizeof (int))]; } control;
  struct iovec vector = { (void *) message, sizeof *message };
  struct msghdr header = { .msg_iov = &vector, .msg_iovlen = 1 };
  gssize n;

  if (n_fds > 0)
    {
      memset (&control, 0, sizeof control);
      header.msg_control = &control;
      header.msg_controllen = CMSG_SPACE (n_fds * sizeof (int));
      control.head.cmsg_level = SOL_SOCKET;
      control.head.cmsg_type = SCM_RIGHTS;
      control.head.cmsg_len = CMSG_LEN (n_fds * sizeof (int));
      memcpy (CMSG_DATA (&control.head), fds, n_fds * sizeof (int));
    }

  do
    n = sendmsg (fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);

  return n < 0 ? errno : 0;
}

/* What may work a moment later, other than by the socket's becoming writable. */
static gboolean
is_shortage (int error)
{
  return error == ETOOMANYREFS || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

static void outbox_arm (SbxInitOutbox *self,
                        int            error);

static GError *
make_error (int error)
{
  if (is_shortage (error) || error == EMFILE)
    return g_error_new (SBX_ERROR, SBX_ERROR_BUSY,
                        _("Descriptors could not be passed into the sandbox: %s. This user has too "
                          "many of them open or on their way; close some and try again"),
                        g_strerror (error));

  return g_error_new (SBX_ERROR, SBX_ERROR_LOST, _("The sandbox is gone: %s"), g_strerror (error));
}

static gboolean
outbox_ready_cb (gpointer user_data)
{
  SbxInitOutbox *self = user_data;
  Item *item = g_queue_peek_head (&self->items);
  int error = item->error;

  g_clear_pointer (&self->source, g_source_unref);

  if (error == 0)
    error = send_now (self->fd, &item->message, item->fds, item->n_fds);

  if (error == EAGAIN || (is_shortage (error) && ++item->retries < MAX_RETRIES))
    {
      outbox_arm (self, error);
      return G_SOURCE_REMOVE;
    }

  item = g_queue_pop_head (&self->items);
  if (!g_queue_is_empty (&self->items))
    outbox_arm (self, EAGAIN);

  /* Last, since it may free us. */
  if (error != 0)
    {
      g_autoptr(GError) e = make_error (error);
      const gboolean only_this = item->message.head.type == SBX_INIT_EXEC &&
                                 (is_shortage (error) || error == EMFILE);
      const guint64 id = only_this ? item->message.head.id : 0;

      item_free (item);
      self->failed (id, e, self->user_data);
      return G_SOURCE_REMOVE;
    }

  item_free (item);
  return G_SOURCE_REMOVE;
}

static gboolean
outbox_writable_cb (int          fd,
                    GIOCondition condition,
                    gpointer     user_data)
{
  return outbox_ready_cb (user_data);
}

/* Comes back to the first of what waits: when the socket takes it, or after a pause, or at once
 * when that is only to say that it failed. */
static void
outbox_arm (SbxInitOutbox *self,
            int            error)
{
  if (self->source != NULL)
    return;

  if (error == EAGAIN)
    {
      self->source = g_unix_fd_source_new (self->fd, G_IO_OUT | G_IO_HUP | G_IO_ERR);
      g_source_set_callback (self->source, G_SOURCE_FUNC (outbox_writable_cb), self, NULL);
    }
  else
    {
      self->source = g_timeout_source_new (is_shortage (error) ? RETRY_MS : 0);
      g_source_set_callback (self->source, outbox_ready_cb, self, NULL);
    }

  g_source_attach (self->source, self->context);
}

static void
outbox_disarm (SbxInitOutbox *self)
{
  if (self->source != NULL)
    {
      g_source_destroy (self->source);
      g_clear_pointer (&self->source, g_source_unref);
    }
}

SbxInitOutbox *
_sbx_init_outbox_new (int                  fd,
                      GMainContext        *context,
                      SbxInitOutboxFailed  failed,
                      gpointer             user_data)
{
  SbxInitOutbox *self = g_new0 (SbxInitOutbox, 1);

  self->fd = fd;
  self->context = g_main_context_ref (context);
  self->failed = failed;
  self->user_data = user_data;

  return self;
}

/* Sends, or keeps with descriptors of its own. */
void
_sbx_init_outbox_send (SbxInitOutbox        *self,
                       const SbxInitMessage *message,
                       const int            *fds,
                       gsize                 n_fds)
{
  g_autoptr(Item) item = NULL;
  int error = EAGAIN;

  g_assert (n_fds <= MAX_FDS);

  if (g_queue_is_empty (&self->items))
    error = send_now (self->fd, message, fds, n_fds);
  if (error == 0)
    return;

  item = g_new0 (Item, 1);
  item->message = *message;

  if (self->items.length >= MAX_WAITING)
    item->error = EPIPE;
  else if (error != EAGAIN && !is_shortage (error))
    item->error = error;

  for (gsize i = 0; i < n_fds && item->error == 0; i++)
    {
      const int copy = fcntl (fds[i], F_DUPFD_CLOEXEC, 3);

      if (copy >= 0)
        item->fds[item->n_fds++] = copy;
      else
        item->error = errno;
    }

  /* What a sandbox does not take for so long it never will. */
  if (item->error == EPIPE)
    {
      outbox_disarm (self);
      g_queue_push_head (&self->items, g_steal_pointer (&item));
      error = EPIPE;
    }
  else
    {
      g_queue_push_tail (&self->items, g_steal_pointer (&item));
    }

  outbox_arm (self, error);
}

void
_sbx_init_outbox_free (SbxInitOutbox *self)
{
  outbox_disarm (self);
  g_queue_clear_full (&self->items, (GDestroyNotify) item_free);
  g_main_context_unref (self->context);
  g_free (self);
}
