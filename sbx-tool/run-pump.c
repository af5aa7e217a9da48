/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "run-pump.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

/*
 * Moves bytes from one descriptor to another, from the main loop, as fast as both allow and without
 * ever waiting for one of them.
 *
 * Neither descriptor is ours: the other ends of our standard ones may be shared with the shell and
 * with other programs, so O_NONBLOCK is never set on them. Instead the kernel is asked to move
 * pages from pipe to pipe, which takes a flag for each call, and where it cannot do that, nothing
 * is read or written before poll() said that it will not wait.
 *
 * Nothing is kept but what was read and not yet written, at most one buffer. When the target is
 * slow the source is not read, and whoever writes there waits.
 */

#define SPLICE_BYTES (1024 * 1024)
#define BUFFER_BYTES (64 * 1024)
#define CAREFUL_BYTES 4096            /* what is taken without a wait by what is ready */
#define ROUNDS 8                      /* in one go, so that signals and timers get their turn */
#define MUCH_BYTES (8 * 1024 * 1024)  /* from here on a larger pipe pays */
#define LARGE_PIPE_BYTES (1024 * 1024)
#define BACKGROUND_MS 200

struct _ToolPump
{
  int              source_fd;
  int              target_fd;
  ToolPumpEndFunc  func;
  gpointer         user_data;
  ToolPumpTapFunc  tap;

  GSource         *watch;             /* what is waited for, NULL when stopped */
  guint8          *buffer;
  gsize            start;             /* of what is in the buffer */
  gsize            end;
  guint64          moved;

  mode_t           source_type;
  mode_t           target_type;
  guint            can_splice : 1;
  guint            may_block : 1;     /* a write to the target could wait */
  guint            enlarged : 1;
  guint            ended : 1;
};

typedef enum
{
  STEP_AGAIN,
  STEP_WAIT_FOR_SOURCE,
  STEP_WAIT_FOR_TARGET,
  STEP_WAIT_FOR_FOREGROUND,
  STEP_END,
} Step;

typedef struct
{
  ToolPumpEnd reason;
  int         error_number;
} End;

static void wait_for (ToolPump *self,
                      Step      step);

static mode_t
get_type (int fd)
{
  struct stat info;

  return fstat (fd, &info) == 0 ? info.st_mode & S_IFMT : 0;
}

ToolPump *
tool_pump_new (int              source_fd,
               int              target_fd,
               ToolPumpEndFunc  func,
               gpointer         user_data)
{
  ToolPump *self = g_new0 (ToolPump, 1);
  const int flags = fcntl (target_fd, F_GETFL);

  self->source_fd = source_fd;
  self->target_fd = target_fd;
  self->func = func;
  self->user_data = user_data;
  self->source_type = get_type (source_fd);
  self->target_type = get_type (target_fd);
  self->may_block = self->target_type != S_IFREG && flags != -1 && (flags & O_NONBLOCK) == 0;

  /* A splice to a socket waits whatever its flags say, and one to or from a terminal as well. */
  self->can_splice = (self->source_type == S_IFIFO || self->target_type == S_IFIFO)
                     && self->source_type != S_IFSOCK && self->target_type != S_IFSOCK
                     && !isatty (source_fd) && !isatty (target_fd);

  return self;
}

/* Someone who wants to see the bytes gets them through memory of ours. */
void
tool_pump_set_tap (ToolPump        *self,
                   ToolPumpTapFunc  tap)
{
  self->tap = tap;
  self->can_splice = FALSE;
}

static gboolean
is_ready (int   fd,
          short events)
{
  struct pollfd poll_fd = { .fd = fd, .events = events };

  return poll (&poll_fd, 1, 0) == 1 && poll_fd.revents != 0;
}

static Step
end (End         *how,
     ToolPumpEnd  reason,
     int          error_number)
{
  how->reason = reason;
  how->error_number = error_number;

  return STEP_END;
}

static void
enlarge_pipe (ToolPump *self)
{
  if (self->enlarged || self->moved < MUCH_BYTES)
    return;

  /* The kernel counts these for each user, so that only those who need one should have one. */
  self->enlarged = TRUE;
  if (self->source_type == S_IFIFO)
    (void) fcntl (self->source_fd, F_SETPIPE_SZ, LARGE_PIPE_BYTES);
}

static Step
step_splice (ToolPump *self,
             End      *how)
{
  const ssize_t n = splice (self->source_fd, NULL, self->target_fd, NULL, SPLICE_BYTES,
                            SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

  if (n > 0)
    {
      self->moved += n;
      enlarge_pipe (self);
      return STEP_AGAIN;
    }
  if (n == 0)
    return end (how, TOOL_PUMP_END_OF_INPUT, 0);

  if (errno == EINTR)
    return STEP_AGAIN;
  if (errno == EPIPE)
    return end (how, TOOL_PUMP_READER_GONE, 0);
  if (errno == EAGAIN)
    return is_ready (self->source_fd, POLLIN) ? STEP_WAIT_FOR_TARGET : STEP_WAIT_FOR_SOURCE;

  /* EINVAL for a file that is appended to, and whatever else: reading and writing tells which. */
  self->can_splice = FALSE;
  return STEP_AGAIN;
}

/* To read our terminal from the background would stop us, though the command may not even ask. */
static gboolean
is_in_background (int fd)
{
  return isatty (fd) && tcgetsid (fd) == getsid (0) && tcgetpgrp (fd) != getpgrp ();
}

static Step
step_read (ToolPump *self,
           End      *how)
{
  ssize_t n;

  if (!is_ready (self->source_fd, POLLIN))
    return STEP_WAIT_FOR_SOURCE;
  if (self->source_type == S_IFCHR && is_in_background (self->source_fd))
    return STEP_WAIT_FOR_FOREGROUND;

  if (self->buffer == NULL)
    self->buffer = g_malloc (BUFFER_BYTES);
  if (self->source_type == S_IFSOCK)
    n = recv (self->source_fd, self->buffer, BUFFER_BYTES, MSG_DONTWAIT);
  else
    n = read (self->source_fd, self->buffer, BUFFER_BYTES);

  if (n > 0)
    {
      self->start = 0;
      self->end = n;
      if (self->tap != NULL)
        self->tap (self->buffer, self->end);
      return STEP_AGAIN;
    }

  if (n == -1 && errno == EINTR)
    return STEP_AGAIN;
  if (n == -1 && errno == EAGAIN)
    return STEP_WAIT_FOR_SOURCE;

  /* A terminal whose other side is closed says EIO, and a connection may be cut. */
  if (n == 0 || (errno == EIO && self->source_type == S_IFCHR) || errno == ECONNRESET)
    return end (how, TOOL_PUMP_END_OF_INPUT, 0);

  return end (how, TOOL_PUMP_READ_FAILED, errno);
}

static Step
step_write (ToolPump *self,
            End      *how)
{
  const guint8 *data = self->buffer + self->start;
  gsize size = self->end - self->start;
  ssize_t n;

  if (!is_ready (self->target_fd, POLLOUT))
    return STEP_WAIT_FOR_TARGET;

  if (self->target_type == S_IFSOCK)
    n = send (self->target_fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
  else
    n = write (self->target_fd, data, self->may_block ? MIN (size, CAREFUL_BYTES) : size);

  if (n >= 0)
    {
      self->start += n;
      self->moved += n;
      return STEP_AGAIN;
    }

  if (errno == EINTR)
    return STEP_AGAIN;
  if (errno == EAGAIN)
    return STEP_WAIT_FOR_TARGET;
  if (errno == EPIPE || errno == ECONNRESET || (errno == EIO && self->target_type == S_IFCHR))
    return end (how, TOOL_PUMP_READER_GONE, 0);

  return end (how, TOOL_PUMP_WRITE_FAILED, errno);
}

static gboolean
move_cb (gpointer user_data)
{
  ToolPump *self = user_data;
  Step step = STEP_AGAIN;
  End how = { 0 };

  for (int i = 0; i < ROUNDS && step == STEP_AGAIN; i++)
    {
      if (self->start < self->end)
        step = step_write (self, &how);
      else if (self->can_splice)
        step = step_splice (self, &how);
      else
        step = step_read (self, &how);
    }

  if (step == STEP_END)
    {
      tool_pump_stop (self);
      self->ended = TRUE;
      self->func (self, how.reason, how.error_number, self->user_data);
      return G_SOURCE_REMOVE;
    }

  /* Still at it: whatever woke us will do so again, or is waited for now. */
  if (step == STEP_AGAIN)
    step = self->start < self->end ? STEP_WAIT_FOR_TARGET : STEP_WAIT_FOR_SOURCE;
  wait_for (self, step);

  return G_SOURCE_REMOVE;
}

static gboolean
ready_cb (int          fd,
          GIOCondition condition,
          gpointer     user_data)
{
  return move_cb (user_data);
}

static void
wait_for (ToolPump *self,
          Step      step)
{
  tool_pump_stop (self);

  if (step == STEP_WAIT_FOR_FOREGROUND)
    {
      self->watch = g_timeout_source_new (BACKGROUND_MS);
      g_source_set_callback (self->watch, move_cb, self, NULL);
    }
  else
    {
      self->watch = step == STEP_WAIT_FOR_TARGET ? g_unix_fd_source_new (self->target_fd, G_IO_OUT)
                                                 : g_unix_fd_source_new (self->source_fd, G_IO_IN);
      g_source_set_callback (self->watch, G_SOURCE_FUNC (ready_cb), self, NULL);
    }

  g_source_attach (self->watch, NULL);
}

void
tool_pump_start (ToolPump *self)
{
  if (!self->ended && self->watch == NULL)
    wait_for (self, STEP_WAIT_FOR_SOURCE);
}

/* Leaves what was not moved yet where it is. */
void
tool_pump_stop (ToolPump *self)
{
  if (self->watch != NULL)
    g_source_destroy (self->watch);
  g_clear_pointer (&self->watch, g_source_unref);
}

gboolean
tool_pump_has_ended (ToolPump *self)
{
  return self->ended;
}

guint64
tool_pump_get_moved (ToolPump *self)
{
  return self->moved;
}

void
tool_pump_free (ToolPump *self)
{
  tool_pump_stop (self);
  g_free (self->buffer);
  g_free (self);
}

/*
 * Opens the terminal behind @fd once more, so that it can be made non-blocking for us and for
 * nobody else. Without the right to do that (after su(1), say) it is the same one again, and poll()
 * is all that there is.
 */
int
tool_open_unblocked (int fd)
{
  char path[64];
  int own;

  g_snprintf (path, sizeof path, "/proc/self/fd/%d", fd);
  own = open (path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

  return own != -1 ? own : fcntl (fd, F_DUPFD_CLOEXEC, 3);
}
