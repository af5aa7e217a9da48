/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "client/sbx-client-stderr-private.h"

#include "core/sbx-text-private.h"
#include "files/sbx-fd-private.h"

#include <errno.h>
#include <glib-unix.h>
#include <glib/gi18n-lib.h>
#include <string.h>

#define CHUNK_SIZE (16 * 1024)
#define MAX_LINE 1000
#define MAX_TAIL 800

/* In one go of the main loop; what is more is counted. */
#define MAX_LINES 64

/* Of catching up: more than a pipe holds. */
#define MAX_CHUNKS 128

struct _SbxClientStderr
{
  int                  fd;
  GSource             *source;
  SbxClientStderrFunc  func;        /* %NULL once freed */
  gpointer             user_data;
  GString             *line;        /* the one that is not complete yet */
  GString             *tail;
  guint                n_told;      /* in this go */
  guint                n_left_out;
  guint                overlong : 1;    /* the line was told; the rest of it is passed over */
};

static void
stderr_clear (SbxClientStderr *self)
{
  g_string_free (self->line, TRUE);
  g_string_free (self->tail, TRUE);
}

static void
stderr_stop (SbxClientStderr *self)
{
  if (self->source != NULL)
    g_source_destroy (self->source);

  g_clear_pointer (&self->source, g_source_unref);
  _sbx_clear_fd (&self->fd);
}

static void
tell_line (SbxClientStderr *self)
{
  g_autofree char *line = NULL;

  if (self->line->len == 0)
    return;

  line = g_strndup (self->line->str, self->line->len);
  g_string_truncate (self->line, 0);

  if (self->n_told++ >= MAX_LINES)
    self->n_left_out++;
  else if (self->func != NULL && *g_strstrip (line) != '\0')
    self->func (line, self->user_data);
}

static void
tell_left_out (SbxClientStderr *self)
{
  const guint n = self->n_left_out;
  g_autofree char *line = NULL;

  self->n_told = 0;
  self->n_left_out = 0;
  if (n == 0 || self->func == NULL)
    return;

  line = g_strdup_printf (ngettext ("(%u more line)", "(%u more lines)", n), n);
  self->func (line, self->user_data);
}

static void
add_to_line (SbxClientStderr *self,
             const char      *data,
             gsize            size)
{
  if (self->overlong)
    return;

  size = MIN (size, MAX_LINE - self->line->len);
  g_string_append_len (self->line, data, size);

  /* A text that is looked at as a string must not end early. */
  for (char *nul = self->line->str; (nul = memchr (nul, '\0', self->line->str + self->line->len -
                                                              nul)) != NULL;)
    *nul = '?';

  if (self->line->len < MAX_LINE)
    return;

  g_string_append (self->line, "…");
  tell_line (self);
  self->overlong = TRUE;
}

static void
add (SbxClientStderr *self,
     const char      *data,
     gsize            size)
{
  const char *end = data + size;

  if (size >= MAX_TAIL)
    g_string_truncate (self->tail, 0);
  g_string_append_len (self->tail, size > MAX_TAIL ? end - MAX_TAIL : data, MIN (size, MAX_TAIL));
  if (self->tail->len > MAX_TAIL)
    g_string_erase (self->tail, 0, self->tail->len - MAX_TAIL);

  while (data < end)
    {
      const char *newline = memchr (data, '\n', end - data);

      add_to_line (self, data, (newline != NULL ? newline : end) - data);
      if (newline == NULL)
        break;

      tell_line (self);
      self->overlong = FALSE;
      data = newline + 1;
    }
}

/* How much came: 0 at the end, or -1 when nothing is there yet. */
static gssize
read_chunk (SbxClientStderr *self)
{
  char chunk[CHUNK_SIZE];
  gssize n;

  if (self->fd < 0)
    return 0;

  do
    n = read (self->fd, chunk, sizeof chunk);
  while (n < 0 && errno == EINTR);

  if (n > 0)
    add (self, chunk, n);

  return n < 0 && errno != EAGAIN ? 0 : n;
}

static void
stderr_unref (SbxClientStderr *self)
{
  g_rc_box_release_full (self, (GDestroyNotify) stderr_clear);
}

static gboolean
readable_cb (int          fd,
             GIOCondition condition,
             gpointer     user_data)
{
  SbxClientStderr *self = g_rc_box_acquire ((SbxClientStderr *) user_data);

  if (read_chunk (self) == 0)
    {
      tell_line (self);
      stderr_stop (self);
    }

  tell_left_out (self);
  stderr_unref (self);

  return G_SOURCE_CONTINUE;
}

SbxClientStderr *
_sbx_client_stderr_new (int                  fd,
                        GMainContext        *context,
                        SbxClientStderrFunc  func,
                        gpointer             user_data)
{
  SbxClientStderr *self = g_rc_box_new0 (SbxClientStderr);

  self->fd = fd;
  self->func = func;
  self->user_data = user_data;
  self->line = g_string_new (NULL);
  self->tail = g_string_new (NULL);

  /* Whoever is told may run the loop; the provider must not wait meanwhile. */
  self->source = g_unix_fd_source_new (fd, G_IO_IN | G_IO_HUP | G_IO_ERR);
  g_source_set_can_recurse (self->source, TRUE);
  g_source_set_callback (self->source, G_SOURCE_FUNC (readable_cb), self, NULL);
  g_source_attach (self->source, context);

  return self;
}

void
_sbx_client_stderr_free (SbxClientStderr *self)
{
  self->func = NULL;
  stderr_stop (self);
  stderr_unref (self);
}

void
_sbx_client_stderr_catch_up (SbxClientStderr *self)
{
  g_rc_box_acquire (self);

  for (guint i = 0; i < MAX_CHUNKS && read_chunk (self) > 0; i++)
    ;

  tell_line (self);
  tell_left_out (self);
  stderr_unref (self);
}

char *
_sbx_client_stderr_get_tail (SbxClientStderr *self)
{
  const char *start = self->tail->str;
  const char *end = start + self->tail->len;
  g_autofree char *text = NULL;

  /* It may begin in the middle of a character. */
  if (self->tail->len == MAX_TAIL)
    while (start < end && ((guchar) *start & 0xc0) == 0x80)
      start++;

  text = g_strndup (start, end - start);
  for (char *nul = text; (nul = memchr (nul, '\0', text + (end - start) - nul)) != NULL;)
    *nul = '?';
  g_strdelimit (text, "\n\r", ' ');

  return _sbx_text_escape (g_strstrip (text));
}
