/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-writer-private.h"

#include "core/sbx-library-private.h"
#include "wire/sbx-wire-render-private.h"
#include "wire/sbx-wire-source-private.h"

#include <errno.h>
#include <glib/gi18n-lib.h>
#include <unistd.h>

/* Of a buffer, what is encoded at a time: it is to be written while it is in the cache. */
#define BLOCK_SIZE (64 * 1024)
G_STATIC_ASSERT (BLOCK_SIZE <= SBX_WIRE_BUFFER_SIZE);

/* Bytes that one turn of the main loop, or one message that is pushed, may write. */
#define TURN (1024 * 1024)

typedef struct
{
  GList           link;
  SbxWireMessage *message;
  guint64         number;
  gsize           size;
  SbxWireCursor   cursor;
  /* Where it begins and ends in all that was written, of what is in the block. */
  guint64         begin;
  guint64         end;
} Item;

struct _SbxWireWriter
{
  SbxWireFd          fd;
  SbxWireSource     *source;
  SbxWireWriterFunc  func;
  gpointer           user_data;

  /* Of these some may be in the block already, as a whole or in part. */
  GQueue             items;
  guint64            last_number;
  guint64            written;
  gsize              waiting;

  /* What is to be written next, of which the first @block_at bytes were; or NULL. */
  char              *block;
  gsize              block_at;
  gsize              block_end;

  guint              corks;
  gboolean           finishing;
  /* Somebody saw that something waits, and may want to know when nothing does any more. */
  gboolean           owes_news;
  GError            *error;
  guint64            first_lost;

  guint              calls;
  gboolean           freed;
};

static void
item_free (Item *self)
{
  _sbx_wire_message_free (self->message);
  g_free (self);
}

static void
writer_destroy (SbxWireWriter *self)
{
  g_clear_error (&self->error);
  _sbx_wire_buffer_give_back (self->block);
  g_free (self);
}

static void
clear_items (SbxWireWriter *self)
{
  GList *link;

  while ((link = g_queue_pop_head_link (&self->items)) != NULL)
    item_free (link->data);

  self->waiting = 0;
  self->block_at = self->block_end = 0;
}

static void
fail (SbxWireWriter *self,
      int            errsv)
{
  Item *first = g_queue_peek_head (&self->items);

  self->first_lost = first != NULL ? first->number : self->last_number + 1;
  self->error = g_error_new (G_IO_ERROR, (int) g_io_error_from_errno (errsv),
                             _("Could not write to the other side: %s"), g_strerror (errsv));
  clear_items (self);
  self->owes_news = TRUE;
}

/* Fills the block with as much of what waits as there is room for. */
static void
fill_block (SbxWireWriter *self)
{
  if (self->block == NULL)
    self->block = _sbx_wire_buffer_take ();

  self->block_at = self->block_end = 0;

  for (GList *link = self->items.head; link != NULL; link = link->next)
    {
      Item *item = link->data;

      if (item->cursor.text == 0)
        item->begin = self->written + self->block_end;

      self->block_end += _sbx_wire_message_render (item->message, &item->cursor,
                                                   self->block + self->block_end,
                                                   BLOCK_SIZE - self->block_end);
      item->end = self->written + self->block_end;

      if (!item->cursor.complete)
        break;
    }
}

/* What is in the block and did not begin to be written leaves it, so that it can be withdrawn. */
static void
trim_block (SbxWireWriter *self)
{
  for (GList *link = self->items.tail; link != NULL; link = link->prev)
    {
      Item *item = link->data;

      if (item->cursor.text == 0)
        continue;

      if (item->begin < self->written)
        break;

      self->block_end = self->block_at + (gsize) (item->begin - self->written);
      item->cursor = (SbxWireCursor) { .text = 0 };
    }
}

static void
drop_written (SbxWireWriter *self)
{
  Item *item;

  while ((item = g_queue_peek_head (&self->items)) != NULL && item->cursor.complete &&
         item->end <= self->written)
    {
      g_queue_pop_head_link (&self->items);
      item_free (item);
    }
}

/* Writes until nothing waits, the descriptor takes no more, or it is enough for now. FALSE when
 * there is an error. */
static gboolean
write_out (SbxWireWriter *self)
{
  gsize done = 0;

  while (!g_queue_is_empty (&self->items) && done < TURN)
    {
      gssize n;

      if (self->block_at == self->block_end)
        fill_block (self);

      n = write (self->fd.fd, self->block + self->block_at, self->block_end - self->block_at);

      if (n < 0 && errno == EINTR)
        continue;

      /* Once there may be more room for what is much. */
      if (n < 0 && errno == EAGAIN && self->waiting >= BLOCK_SIZE && _sbx_wire_fd_grow (&self->fd))
        continue;

      if (n < 0 && errno == EAGAIN)
        break;

      if (n < 0)
        {
          fail (self, errno);
          return FALSE;
        }

      self->block_at += (gsize) n;
      self->written += (guint64) n;
      self->waiting -= (gsize) n;
      done += (gsize) n;
      drop_written (self);
    }

  trim_block (self);
  if (self->block_at == self->block_end)
    _sbx_wire_buffer_give_back (g_steal_pointer (&self->block));

  return TRUE;
}

static void
close_finished (SbxWireWriter *self)
{
  if (!self->finishing || !g_queue_is_empty (&self->items))
    return;

  _sbx_wire_source_watch (self->source, 0);
  _sbx_wire_fd_close (&self->fd);
}

/* Writes what can be written now, and has the loop do the rest. */
static void
flush (SbxWireWriter *self)
{
  if (self->error == NULL && !g_queue_is_empty (&self->items))
    write_out (self);

  if (self->error == NULL && !g_queue_is_empty (&self->items))
    {
      self->owes_news = TRUE;
      _sbx_wire_source_watch (self->source, G_IO_OUT);
      return;
    }

  _sbx_wire_source_watch (self->source, 0);
  if (self->owes_news)
    _sbx_wire_source_set_ready (self->source, TRUE);

  close_finished (self);
}

static void
writer_ready_cb (gpointer user_data)
{
  SbxWireWriter *self = user_data;

  if (self->corks == 0)
    flush (self);

  if (!self->owes_news || !g_queue_is_empty (&self->items))
    return;

  self->owes_news = FALSE;
  self->calls++;
  self->func (self, self->error, self->user_data);

  if (--self->calls == 0 && self->freed)
    writer_destroy (self);
}

SbxWireWriter *
_sbx_wire_writer_new (int                fd,
                      GMainContext      *context,
                      SbxWireWriterFunc  func,
                      gpointer           user_data)
{
  SbxWireWriter *self = g_new0 (SbxWireWriter, 1);

  /* Or a peer that goes away would take us with it. */
  _sbx_library_init ();

  _sbx_wire_fd_init (&self->fd, fd);
  self->func = func;
  self->user_data = user_data;
  self->source = _sbx_wire_source_new (fd, context, writer_ready_cb, self);

  return self;
}

void
_sbx_wire_writer_free (SbxWireWriter *self)
{
  if (self->freed)
    return;

  g_clear_pointer (&self->source, _sbx_wire_source_free);
  _sbx_wire_fd_close (&self->fd);
  clear_items (self);
  self->freed = TRUE;

  if (self->calls == 0)
    writer_destroy (self);
}

guint64
_sbx_wire_writer_push (SbxWireWriter  *self,
                       SbxWireMessage *message)
{
  const gboolean idle = g_queue_is_empty (&self->items);
  Item *item;

  self->last_number++;

  if (self->freed || self->error != NULL || self->finishing)
    {
      if (self->error == NULL && self->first_lost == 0)
        self->first_lost = self->last_number;

      _sbx_wire_message_free (message);
      return self->last_number;
    }

  item = g_new0 (Item, 1);
  item->link.data = item;
  item->message = message;
  item->number = self->last_number;
  item->size = _sbx_wire_message_get_size (message);
  self->waiting += item->size;
  g_queue_push_tail_link (&self->items, &item->link);

  if (idle && self->corks == 0)
    flush (self);

  return self->last_number;
}

static Item *
find_item (SbxWireWriter *self,
           guint64        number)
{
  /* Who asks mostly does so for one of the last. */
  for (GList *link = self->items.tail; link != NULL; link = link->prev)
    {
      Item *item = link->data;

      if (item->number == number)
        return item;
      if (item->number < number)
        break;
    }

  return NULL;
}

gboolean
_sbx_wire_writer_withdraw (SbxWireWriter *self,
                           guint64        number)
{
  Item *item = find_item (self, number);

  if (item == NULL || item->cursor.text > 0)
    return FALSE;

  g_queue_unlink (&self->items, &item->link);
  self->waiting -= item->size;
  item_free (item);

  /* It may have been the last that waited. */
  if (self->corks == 0 && g_queue_is_empty (&self->items))
    flush (self);

  return TRUE;
}

gboolean
_sbx_wire_writer_is_written (SbxWireWriter *self,
                             guint64        number)
{
  if (number > self->last_number || (self->first_lost != 0 && number >= self->first_lost))
    return FALSE;

  return find_item (self, number) == NULL;
}

gsize
_sbx_wire_writer_get_waiting (SbxWireWriter *self)
{
  if (self->waiting > 0)
    self->owes_news = TRUE;

  return self->waiting;
}

void
_sbx_wire_writer_cork (SbxWireWriter *self)
{
  self->corks++;
}

void
_sbx_wire_writer_uncork (SbxWireWriter *self)
{
  g_return_if_fail (self->corks > 0);

  if (--self->corks == 0 && !self->freed)
    flush (self);
}

void
_sbx_wire_writer_finish (SbxWireWriter *self)
{
  self->finishing = TRUE;

  if (self->corks == 0)
    flush (self);
}
