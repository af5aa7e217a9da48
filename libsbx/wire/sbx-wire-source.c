/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-source-private.h"

#include <fcntl.h>
#include <unistd.h>

#define PIPE_SIZE (1024 * 1024)

/* One to read into, and one to write from while that is read. */
#define N_SPARES 2

struct _SbxWireSource
{
  GSource            source;
  int                fd;
  gpointer           tag;         /* while it waits for the descriptor */
  GIOCondition       condition;
  gboolean           ready;
  SbxWireSourceFunc  func;
  gpointer           user_data;
};

static gboolean
source_prepare (GSource *source,
                int     *timeout)
{
  *timeout = -1;

  return ((SbxWireSource *) source)->ready;
}

static gboolean
source_dispatch (GSource     *source,
                 GSourceFunc  callback,
                 gpointer     user_data)
{
  SbxWireSource *self = (SbxWireSource *) source;

  self->ready = FALSE;
  if (g_source_get_ready_time (source) >= 0)
    g_source_set_ready_time (source, -1);
  self->func (self->user_data);

  return G_SOURCE_CONTINUE;
}

static GSourceFuncs source_funcs = {
  .prepare = source_prepare,
  .dispatch = source_dispatch,
};

SbxWireSource *
_sbx_wire_source_new (int                fd,
                      GMainContext      *context,
                      SbxWireSourceFunc  func,
                      gpointer           user_data)
{
  GSource *source = g_source_new (&source_funcs, sizeof (SbxWireSource));
  SbxWireSource *self = (SbxWireSource *) source;

  self->fd = fd;
  self->func = func;
  self->user_data = user_data;

  g_source_set_static_name (source, "SbxWireSource");
  g_source_set_can_recurse (source, TRUE);
  g_source_attach (source, context);

  return self;
}

void
_sbx_wire_source_free (SbxWireSource *self)
{
  g_source_destroy (&self->source);
  g_source_unref (&self->source);
}

SbxWireSource *
_sbx_wire_source_ref (SbxWireSource *self)
{
  g_source_ref (&self->source);
  return self;
}

void
_sbx_wire_source_unref (SbxWireSource *self)
{
  g_source_unref (&self->source);
}

GMainContext *
_sbx_wire_source_get_context (SbxWireSource *self)
{
  return g_source_get_context (&self->source);
}

void
_sbx_wire_source_watch (SbxWireSource *self,
                        GIOCondition   condition)
{
  if (self->condition == condition)
    return;

  /* Errors are told even where nothing is asked for, so that would be a busy loop. */
  if (self->tag != NULL)
    g_source_remove_unix_fd (&self->source, g_steal_pointer (&self->tag));

  if (condition != 0)
    self->tag = g_source_add_unix_fd (&self->source, self->fd, condition | G_IO_HUP | G_IO_ERR);

  self->condition = condition;
}

void
_sbx_wire_source_set_ready (SbxWireSource *self,
                            gboolean       ready)
{
  self->ready = ready;
}

void
_sbx_wire_source_wake (SbxWireSource *self)
{
  g_source_set_ready_time (&self->source, 0);
}

void
_sbx_wire_fd_init (SbxWireFd *self,
                   int        fd)
{
  self->fd = fd;
  self->flags = fcntl (fd, F_GETFL);

  if (self->flags >= 0 && (self->flags & O_NONBLOCK) == 0)
    fcntl (fd, F_SETFL, self->flags | O_NONBLOCK);

  self->grown = FALSE;
}

void
_sbx_wire_fd_close (SbxWireFd *self)
{
  if (self->fd < 0)
    return;

  if (self->flags >= 0 && (self->flags & O_NONBLOCK) == 0)
    fcntl (self->fd, F_SETFL, self->flags);

  close (self->fd);
  self->fd = -1;
}

gboolean
_sbx_wire_fd_grow (SbxWireFd *self)
{
  int size;

  if (self->grown)
    return FALSE;

  self->grown = TRUE;
  size = fcntl (self->fd, F_GETPIPE_SZ);

  return size > 0 && size < PIPE_SIZE && fcntl (self->fd, F_SETPIPE_SZ, PIPE_SIZE) >= 0;
}

static void
spares_free (gpointer data)
{
  gpointer *spares = data;

  for (gsize i = 0; i < N_SPARES; i++)
    g_free (spares[i]);

  g_free (spares);
}

/* Buffers of this thread that nobody uses. */
static GPrivate all_spares = G_PRIVATE_INIT (spares_free);

gpointer
_sbx_wire_buffer_take (void)
{
  gpointer *spares = g_private_get (&all_spares);

  for (gsize i = 0; spares != NULL && i < N_SPARES; i++)
    if (spares[i] != NULL)
      return g_steal_pointer (&spares[i]);

  return g_malloc (SBX_WIRE_BUFFER_SIZE);
}

void
_sbx_wire_buffer_give_back (gpointer buffer)
{
  gpointer *spares = g_private_get (&all_spares);

  if (buffer == NULL)
    return;

  if (spares == NULL)
    {
      spares = g_new0 (gpointer, N_SPARES);
      g_private_set (&all_spares, spares);
    }

  for (gsize i = 0; i < N_SPARES; i++)
    if (spares[i] == NULL)
      {
        spares[i] = buffer;
        return;
      }

  g_free (buffer);
}
