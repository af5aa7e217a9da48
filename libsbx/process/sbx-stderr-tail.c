/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "process/sbx-stderr-tail-private.h"

#include "core/sbx-text-private.h"

#include <gio/gunixinputstream.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_SIZE 1024
#define TAIL_SIZE 2048
#define MAX_CHUNKS 1024

struct _SbxStderrTail
{
  gatomicrefcount  ref_count;     /* the owner's, and one while a read is under way */
  GInputStream    *stream;
  GCancellable    *cancellable;
  GString         *tail;
  char             chunk[CHUNK_SIZE];
};

static void read_more (SbxStderrTail *self);

static void
append (SbxStderrTail *self,
        const char    *data,
        gsize          size)
{
  g_string_append_len (self->tail, data, size);
  if (self->tail->len > TAIL_SIZE)
    g_string_erase (self->tail, 0, self->tail->len - TAIL_SIZE);
}

static void
tail_unref (SbxStderrTail *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  g_input_stream_close (self->stream, NULL, NULL);
  g_clear_object (&self->stream);
  g_clear_object (&self->cancellable);
  g_string_free (self->tail, TRUE);
  g_free (self);
}

static void
read_cb (GObject      *object,
         GAsyncResult *result,
         gpointer      user_data)
{
  SbxStderrTail *self = user_data;
  const gssize n = g_input_stream_read_finish (G_INPUT_STREAM (object), result, NULL);

  if (n > 0)
    {
      append (self, self->chunk, n);
      read_more (self);
    }

  tail_unref (self);
}

static void
read_more (SbxStderrTail *self)
{
  g_atomic_ref_count_inc (&self->ref_count);
  g_input_stream_read_async (self->stream, self->chunk, sizeof self->chunk, G_PRIORITY_DEFAULT,
                             self->cancellable, read_cb, self);
}

SbxStderrTail *
_sbx_stderr_tail_new (GInputStream *stream)
{
  SbxStderrTail *self = g_new0 (SbxStderrTail, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->stream = g_object_ref (stream);
  self->cancellable = g_cancellable_new ();
  self->tail = g_string_new (NULL);
  read_more (self);

  return self;
}

void
_sbx_stderr_tail_free (SbxStderrTail *self)
{
  g_cancellable_cancel (self->cancellable);
  tail_unref (self);
}

/* The end of a child may be known before its last words were read. There are no more of them than a
 * pipe can hold. */
static void
catch_up (SbxStderrTail *self)
{
  const int fd = g_unix_input_stream_get_fd (G_UNIX_INPUT_STREAM (self->stream));
  struct pollfd ready = { fd, POLLIN, 0 };
  char chunk[CHUNK_SIZE];

  for (guint i = 0; i < MAX_CHUNKS && poll (&ready, 1, 0) > 0; i++)
    {
      const gssize n = read (fd, chunk, sizeof chunk);

      if (n <= 0)
        break;

      append (self, chunk, n);
    }
}

char *
_sbx_stderr_tail_get_text (SbxStderrTail *self)
{
  g_autofree char *text = NULL;

  catch_up (self);
  text = g_strndup (self->tail->str, self->tail->len);

  g_strdelimit (text, "\n\r", ' ');

  return _sbx_text_escape (g_strstrip (text));
}
