/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conformance-peer-private.h"

#include "core/sbx-text-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_LINE (128 * 1024 * 1024)
#define MAX_STDERR 4096
#define READ_SIZE (64 * 1024)
/* The exit of the child is seen by looking: nothing else wakes us up then. */
#define LOOK_MS 20
#define END_MS 5000

struct _SbxPeer
{
  GMainContext *context;
  GSubprocess  *child;
  gint64        pid;
  gboolean      exited;
  GCancellable *cancellable;

  int           in;            /* the child's; -1 once closed */
  int           out;
  int           err;
  gboolean      end_input;     /* close @in when the queue is empty */

  GQueue        queue;         /* of GBytes */
  gsize         sent;          /* of the first */
  GByteArray   *buffer;        /* read, and not told yet */
  gsize         told;          /* how much of @buffer was */
  gsize         searched;      /* how much of @buffer has no newline, from @told on */
  gboolean      flooded;
  GString      *tail;          /* of standard error */
};

static void
child_setup_cb (gpointer user_data)
{
  setsid ();
}

static void
waited_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  gboolean *exited = user_data;

  g_subprocess_wait_finish (G_SUBPROCESS (object), result, NULL);
  *exited = TRUE;
}

static gboolean
make_pipe (int      *ours,
           int      *theirs,
           gboolean  we_write,
           GError  **error)
{
  int fds[2];

  if (!g_unix_open_pipe (fds, FD_CLOEXEC, error))
    return FALSE;

  *ours = fds[we_write ? 1 : 0];
  *theirs = fds[we_write ? 0 : 1];

  return g_unix_set_fd_nonblocking (*ours, TRUE, error);
}

SbxPeer *
_sbx_peer_new (const char * const  *argv,
               GCancellable        *cancellable,
               GError             **error)
{
  g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_NONE);
  g_autoptr(SbxPeer) self = g_new0 (SbxPeer, 1);
  const char *identifier;
  int in = -1;
  int out = -1;
  int err = -1;
  gboolean made;

  self->context = g_main_context_ref_thread_default ();
  self->cancellable = cancellable != NULL ? g_object_ref (cancellable) : NULL;
  self->buffer = g_byte_array_new ();
  self->tail = g_string_new (NULL);
  self->in = self->out = self->err = -1;

  made = make_pipe (&self->in, &in, TRUE, error) && make_pipe (&self->out, &out, FALSE, error)
         && make_pipe (&self->err, &err, FALSE, error);
  if (in != -1)
    g_subprocess_launcher_take_stdin_fd (launcher, in);
  if (out != -1)
    g_subprocess_launcher_take_stdout_fd (launcher, out);
  if (err != -1)
    g_subprocess_launcher_take_stderr_fd (launcher, err);
  if (!made)
    return NULL;

  g_subprocess_launcher_set_child_setup (launcher, child_setup_cb, NULL, NULL);
  self->child = g_subprocess_launcher_spawnv (launcher, argv, error);
  if (self->child == NULL)
    return NULL;

  /* One that has ended already has none. */
  identifier = g_subprocess_get_identifier (self->child);
  self->pid = identifier != NULL ? g_ascii_strtoll (identifier, NULL, 10) : 0;
  g_subprocess_wait_async (self->child, NULL, waited_cb, &self->exited);

  return g_steal_pointer (&self);
}

static void
close_fd (int *fd)
{
  if (*fd != -1)
    close (g_steal_fd (fd));
}

/* Lets the context see whether the child has exited. */
static void
look (SbxPeer *self)
{
  while (g_main_context_iteration (self->context, FALSE))
    ;
}

void
_sbx_peer_free (SbxPeer *self)
{
  const gint64 deadline = g_get_monotonic_time () + END_MS * 1000;

  close_fd (&self->in);
  close_fd (&self->out);
  close_fd (&self->err);

  if (self->child != NULL)
    {
      look (self);
      /* As long as the child was not waited for, its number is its own and so is the group's. */
      if (!self->exited && self->pid > 1 && g_subprocess_get_identifier (self->child) != NULL)
        kill ((pid_t) -self->pid, SIGKILL);
      g_subprocess_force_exit (self->child);
      while (!self->exited && g_get_monotonic_time () < deadline)
        {
          look (self);
          g_usleep (1000);
        }
      /* What cannot be waited for would write into us when it ends after all. */
      while (!self->exited)
        g_main_context_iteration (self->context, TRUE);
    }

  g_queue_clear_full (&self->queue, (GDestroyNotify) g_bytes_unref);
  g_clear_pointer (&self->buffer, g_byte_array_unref);
  if (self->tail != NULL)
    g_string_free (g_steal_pointer (&self->tail), TRUE);
  g_clear_object (&self->child);
  g_clear_object (&self->cancellable);
  g_main_context_unref (self->context);
  g_free (self);
}

void
_sbx_peer_send (SbxPeer *self,
                GBytes  *bytes)
{
  if (self->in != -1 && g_bytes_get_size (bytes) > 0)
    g_queue_push_tail (&self->queue, g_bytes_ref (bytes));
}

static void
drop_queue (SbxPeer *self)
{
  g_queue_clear_full (&self->queue, (GDestroyNotify) g_bytes_unref);
  self->sent = 0;
  close_fd (&self->in);
}

void
_sbx_peer_end_input (SbxPeer *self)
{
  self->end_input = TRUE;
  if (g_queue_is_empty (&self->queue))
    close_fd (&self->in);
}

gsize
_sbx_peer_get_unsent (SbxPeer *self)
{
  gsize size = 0;

  for (GList *l = self->queue.head; l != NULL; l = l->next)
    size += g_bytes_get_size (l->data);

  return size - self->sent;
}

static void
write_some (SbxPeer *self)
{
  GBytes *bytes = g_queue_peek_head (&self->queue);
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  const ssize_t n = write (self->in, data + self->sent, size - self->sent);

  if (n < 0 && errno != EAGAIN && errno != EINTR)
    {
      drop_queue (self);
      return;
    }

  self->sent += MAX (n, 0);
  if (self->sent == size)
    {
      g_bytes_unref (g_queue_pop_head (&self->queue));
      self->sent = 0;
      if (self->end_input && g_queue_is_empty (&self->queue))
        close_fd (&self->in);
    }
}

static void
read_some (SbxPeer *self)
{
  char data[READ_SIZE];
  const ssize_t n = read (self->out, data, sizeof data);

  if (n > 0)
    g_byte_array_append (self->buffer, (const guint8 *) data, (guint) n);
  else if (n == 0 || (errno != EAGAIN && errno != EINTR))
    close_fd (&self->out);

  if (self->buffer->len > MAX_LINE)
    {
      self->flooded = TRUE;
      close_fd (&self->out);
    }
}

static void
read_stderr (SbxPeer *self)
{
  char data[READ_SIZE];
  const ssize_t n = read (self->err, data, sizeof data);

  if (n > 0)
    {
      g_string_append_len (self->tail, data, n);
      if (self->tail->len > MAX_STDERR)
        g_string_erase (self->tail, 0, (gssize) (self->tail->len - MAX_STDERR));
    }
  else if (n == 0 || (errno != EAGAIN && errno != EINTR))
    {
      close_fd (&self->err);
    }
}

/* One turn: waits for a moment, or until something can be done, and does it. */
static SbxPeerOutcome
turn (SbxPeer  *self,
      gint64    deadline,
      gboolean  reading)
{
  GPollFD fds[4] = {
    { self->in, g_queue_is_empty (&self->queue) ? 0 : G_IO_OUT, 0 },
    { self->out, reading ? G_IO_IN : 0, 0 },
    { self->err, G_IO_IN, 0 },
    { -1, 0, 0 },
  };
  const gint64 left = (deadline - g_get_monotonic_time ()) / 1000;
  const gboolean can_cancel = g_cancellable_make_pollfd (self->cancellable, &fds[3]);

  /* A pipe whose other end is gone is ready all the time, even for nothing. */
  if (fds[0].events == 0)
    fds[0].fd = -1;
  if (fds[1].events == 0)
    fds[1].fd = -1;

  g_poll (fds, G_N_ELEMENTS (fds), (int) CLAMP (left + 1, 0, LOOK_MS));
  if (can_cancel)
    g_cancellable_release_fd (self->cancellable);

  if (g_cancellable_is_cancelled (self->cancellable))
    return SBX_PEER_CANCELLED;

  if (fds[0].revents != 0 && self->in != -1)
    write_some (self);
  if (fds[1].revents != 0 && self->out != -1)
    read_some (self);
  if (fds[2].revents != 0 && self->err != -1)
    read_stderr (self);
  look (self);

  return g_get_monotonic_time () < deadline ? SBX_PEER_LINE : SBX_PEER_TIMED_OUT;
}

gboolean
_sbx_peer_flush (SbxPeer *self,
                 gint64   deadline)
{
  while (!g_queue_is_empty (&self->queue))
    if (turn (self, deadline, FALSE) != SBX_PEER_LINE)
      return FALSE;

  return TRUE;
}

static gboolean
is_blank (const guint8 *text,
          gsize         size)
{
  for (gsize i = 0; i < size; i++)
    if (!g_ascii_isspace (text[i]))
      return FALSE;

  return TRUE;
}

/* Takes the next line out of the buffer. An unterminated one counts when nothing more comes. */
static GBytes *
take_line (SbxPeer *self)
{
  while (self->told < self->buffer->len)
    {
      const guint8 *start = self->buffer->data + self->told;
      const gsize size = self->buffer->len - self->told;
      const guint8 *newline = memchr (start + self->searched, '\n', size - self->searched);
      g_autoptr(GBytes) line = NULL;

      if (newline == NULL && (self->out != -1 || self->flooded))
        {
          self->searched = size;
          break;
        }

      line = g_bytes_new (start, newline != NULL ? (gsize) (newline - start) : size);
      self->told += g_bytes_get_size (line) + (newline != NULL ? 1 : 0);
      self->searched = 0;
      if (!is_blank (start, g_bytes_get_size (line)))
        return g_steal_pointer (&line);
    }

  if (self->told > 0)
    {
      g_byte_array_remove_range (self->buffer, 0, (guint) self->told);
      self->told = 0;
    }

  return NULL;
}

SbxPeerOutcome
_sbx_peer_receive (SbxPeer  *self,
                   gint64    deadline,
                   GBytes  **line)
{
  while ((*line = take_line (self)) == NULL)
    {
      SbxPeerOutcome outcome;

      if (self->flooded)
        return SBX_PEER_FLOODED;
      if (self->out == -1)
        return SBX_PEER_ENDED;

      outcome = turn (self, deadline, TRUE);
      /* What came in the last moment counts. */
      if (outcome != SBX_PEER_LINE && (*line = take_line (self)) == NULL)
        return outcome;
      if (*line != NULL)
        return SBX_PEER_LINE;
    }

  return SBX_PEER_LINE;
}

SbxPeerOutcome
_sbx_peer_wait (SbxPeer *self,
                gint64   deadline)
{
  while (!self->exited)
    {
      const SbxPeerOutcome outcome = turn (self, deadline, FALSE);

      if (outcome != SBX_PEER_LINE && !self->exited)
        return outcome;
    }

  return SBX_PEER_ENDED;
}

gboolean
_sbx_peer_has_exited (SbxPeer *self)
{
  look (self);

  return self->exited;
}

int
_sbx_peer_get_status (SbxPeer *self)
{
  return self->exited && g_subprocess_get_if_exited (self->child)
         ? g_subprocess_get_exit_status (self->child) : -1;
}

void
_sbx_peer_kill (SbxPeer *self)
{
  g_subprocess_force_exit (self->child);
}

guint64
_sbx_peer_get_memory (SbxPeer *self)
{
  g_autofree char *path = g_strdup_printf ("/proc/%" G_GINT64_FORMAT "/status", self->pid);
  g_autofree char *text = NULL;
  const char *found;

  if (self->exited || self->pid == 0 || !g_file_get_contents (path, &text, NULL, NULL))
    return 0;

  found = strstr (text, "\nVmRSS:");

  return found != NULL ? g_ascii_strtoull (found + strlen ("\nVmRSS:"), NULL, 10) * 1024 : 0;
}

char *
_sbx_peer_get_stderr (SbxPeer *self)
{
  return _sbx_text_escape (self->tail->str);
}
