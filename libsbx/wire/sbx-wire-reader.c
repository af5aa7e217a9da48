/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-reader-private.h"

#include "core/sbx-error.h"
#include "wire/sbx-wire-job-private.h"
#include "wire/sbx-wire-lifter-private.h"
#include "wire/sbx-wire-source-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Who gives as much at once has more of it. */
#define MUCH (48 * 1024)

/* Bytes that one turn of the main loop may read, and how long it may go on to tell lines. */
#define TURN (1024 * 1024)
#define TURN_US (5 * 1000)

/* What is read of a socket when its writer is gone. */
#define SOCKET_REST (4 * 1024 * 1024)

struct _SbxWireReader
{
  SbxWireFd         fd;
  SbxWireSource    *source;     /* NULL at the end */
  gsize             max_size;
  SbxWireLineFunc   line_func;
  SbxWireEndFunc    end_func;
  gpointer          user_data;

  /* NULL while nothing is in it. */
  guint8           *buffer;
  gsize             at;
  gsize             end;
  SbxWireLifter     lifter;
  /* A line that a thread parses. Nothing goes on before it is told. */
  SbxWireJob       *job;

  gboolean          paused;
  gboolean          ended;
  /* Nothing more is read than this many bytes. */
  gboolean          finishing;
  gsize             rest;

  /* Functions of the caller that are running; they may free us. */
  guint             calls;
  gboolean          freed;
};

static void
reader_destroy (SbxWireReader *self)
{
  g_clear_pointer (&self->job, _sbx_wire_job_drop);
  _sbx_wire_lifter_clear (&self->lifter);
  _sbx_wire_buffer_give_back (self->buffer);
  g_free (self);
}

/* After it, @self may be gone. */
static void
end_call (SbxWireReader *self)
{
  self->calls--;

  if (self->freed && self->calls == 0)
    reader_destroy (self);
}

static void
stop (SbxWireReader *self)
{
  g_clear_pointer (&self->source, _sbx_wire_source_free);
}

static void
tell_end (SbxWireReader *self,
          GError        *error)
{
  stop (self);
  self->end_func (self, error, self->user_data);
  g_clear_error (&error);
}

/* What is to be waited for now. */
static void
watch (SbxWireReader *self)
{
  _sbx_wire_source_watch (self->source, self->paused || self->job != NULL ? 0 : G_IO_IN);
}

/* FALSE when there is no time for another. */
static gboolean
tell_line (SbxWireReader *self,
           SbxWireLine   *line,
           gint64         until)
{
  /* Whoever gets it may run the loop, and what was read already does not wake that. */
  _sbx_wire_source_set_ready (self->source, self->at < self->end || self->finishing);
  self->line_func (self, line, self->user_data);

  return g_get_monotonic_time () < until;
}

/* FALSE when there is no time for another line. */
static gboolean
take_line (SbxWireReader *self,
           gint64         until)
{
  g_autoptr(SbxWireLine) line = _sbx_wire_lifter_finish (&self->lifter, SBX_WIRE_MUCH_TEXT);

  if (line == NULL)
    return TRUE;

  if (_sbx_wire_line_is_parsed (line))
    return tell_line (self, line, until);

  self->job = _sbx_wire_job_new (g_steal_pointer (&line), self->source);
  watch (self);

  return FALSE;
}

/* Tells the line that a thread parsed. */
static void
take_job (SbxWireReader *self)
{
  g_autoptr(SbxWireLine) line = NULL;

  if (self->paused || self->source == NULL || !_sbx_wire_job_is_done (self->job))
    return;

  line = _sbx_wire_job_finish (g_steal_pointer (&self->job));
  watch (self);
  tell_line (self, line, 0);
}

/* Whether to go on: every function of the caller may have put an end to it, also by running the
 * loop, in which we then were as well. */
static gboolean
is_running (SbxWireReader *self)
{
  return !self->freed && self->source != NULL && !self->paused && self->job == NULL;
}

/* Works through what is in the buffer, or as much of it as there is time for. */
static gboolean
take_buffer (SbxWireReader *self,
             gint64         until)
{
  while (is_running (self) && self->at < self->end)
    {
      gboolean ended;

      self->at += _sbx_wire_lifter_feed (&self->lifter, self->buffer + self->at,
                                         self->end - self->at, &ended);

      if (self->lifter.size > self->max_size)
        tell_end (self, g_error_new (SBX_ERROR, SBX_ERROR_TOO_LARGE,
                                     _("A line has more than %zu bytes"),
                                     self->max_size));
      else if (ended && !take_line (self, until))
        return FALSE;
    }

  return is_running (self);
}

/* The end of the stream; what there is of a line is one. */
static void
take_end (SbxWireReader *self)
{
  self->ended = TRUE;
  if (self->lifter.size > 0)
    take_line (self, G_MAXINT64);

  if (is_running (self))
    tell_end (self, NULL);
  else if (self->source != NULL)
    {
      /* Paused, or that line is being parsed: told when it goes on. */
      self->finishing = TRUE;
      self->rest = 0;
    }
}

/* Reads once. 0 also stands for nothing to read now. */
static gsize
fill_buffer (SbxWireReader *self)
{
  gsize size = SBX_WIRE_BUFFER_SIZE;
  gssize n;

  if (self->finishing)
    size = MIN (size, self->rest);

  if (self->buffer == NULL)
    self->buffer = _sbx_wire_buffer_take ();

  do
    n = size > 0 ? read (self->fd.fd, self->buffer, size) : 0;
  while (n < 0 && errno == EINTR);

  if (n > 0)
    {
      self->at = 0;
      self->end = (gsize) n;
      self->rest -= self->finishing ? (gsize) n : 0;
      if (n >= MUCH)
        _sbx_wire_fd_grow (&self->fd);
      return (gsize) n;
    }

  if (n == 0 || (errno == EAGAIN && self->finishing))
    take_end (self);
  else if (errno != EAGAIN)
    {
      const int errsv = errno;

      tell_end (self, g_error_new (G_IO_ERROR, (int) g_io_error_from_errno (errsv),
                                   _("Could not read what the other side writes: %s"),
                                   g_strerror (errsv)));
    }

  return 0;
}

static void
reader_ready_cb (gpointer user_data)
{
  SbxWireReader *self = user_data;
  const gint64 until = g_get_monotonic_time () + TURN_US;
  gsize done = 0;

  self->calls++;

  if (self->job != NULL)
    take_job (self);

  while (is_running (self))
    {
      gsize n = 0;

      if (self->at == self->end)
        {
          /* A reader that took little found all there was, and asks no second time. */
          n = done < TURN ? fill_buffer (self) : 0;
          done += n;

          if (n == 0)
            break;
        }

      if (!take_buffer (self, until) ||
          (n > 0 && n < SBX_WIRE_BUFFER_SIZE && !self->finishing))
        break;
    }

  if (is_running (self))
    _sbx_wire_source_set_ready (self->source, self->at < self->end || self->finishing);

  if (self->at == self->end)
    _sbx_wire_buffer_give_back (g_steal_pointer (&self->buffer));

  end_call (self);
}

SbxWireReader *
_sbx_wire_reader_new (int              fd,
                      GMainContext    *context,
                      gsize            max_size,
                      SbxWireLineFunc  line_func,
                      SbxWireEndFunc   end_func,
                      gpointer         user_data)
{
  SbxWireReader *self = g_new0 (SbxWireReader, 1);

  _sbx_wire_fd_init (&self->fd, fd);
  _sbx_wire_lifter_init (&self->lifter);
  self->max_size = max_size;
  self->line_func = line_func;
  self->end_func = end_func;
  self->user_data = user_data;
  self->source = _sbx_wire_source_new (fd, context, reader_ready_cb, self);
  _sbx_wire_source_watch (self->source, G_IO_IN);

  return self;
}

void
_sbx_wire_reader_free (SbxWireReader *self)
{
  if (self->freed)
    return;

  stop (self);
  _sbx_wire_fd_close (&self->fd);
  self->freed = TRUE;

  if (self->calls == 0)
    reader_destroy (self);
}

void
_sbx_wire_reader_pause (SbxWireReader *self)
{
  self->paused = TRUE;

  if (self->source != NULL)
    watch (self);
}

void
_sbx_wire_reader_resume (SbxWireReader *self)
{
  if (!self->paused)
    return;

  self->paused = FALSE;

  if (self->source == NULL)
    return;

  watch (self);

  if (self->at < self->end || self->finishing || self->job != NULL)
    _sbx_wire_source_set_ready (self->source, TRUE);
}

void
_sbx_wire_reader_finish (SbxWireReader *self)
{
  int size;

  if (self->finishing || self->source == NULL)
    return;

  size = fcntl (self->fd.fd, F_GETPIPE_SZ);
  self->finishing = TRUE;
  self->rest = size > 0 ? (gsize) size : SOCKET_REST;

  if (!self->paused)
    _sbx_wire_source_set_ready (self->source, TRUE);
}

gboolean
_sbx_wire_reader_has_ended (SbxWireReader *self)
{
  return self->ended;
}
