/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conversation-cut-private.h"

#include <string.h>

/* A string of more bytes than this becomes a marker. */
#define MAX_STRING 4096

/* 1 for what base64 consists of. */
static const guint8 alphabet[256] = {
  ['+'] = 1, ['/'] = 1, ['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1,
};

static gboolean
is_base64 (char c)
{
  return alphabet[(guint8) c] != 0;
}

static void
append (SbxCutScanner *self,
        const char    *data,
        gsize          size)
{
  const gsize room = SBX_CUT_MAX_LINE - self->line->len;

  g_string_append_len (self->line, data, (gssize) MIN (size, room));
  self->dropped += size - MIN (size, room);
}

static void
begin_string (SbxCutScanner *self)
{
  self->in_string = TRUE;
  self->string_start = self->line->len;
  self->string_size = 0;
  self->n_base64 = 0;
  self->n_padding = 0;
  self->not_base64 = FALSE;
}

static void
end_string (SbxCutScanner *self)
{
  self->in_string = FALSE;
  if (self->string_size <= MAX_STRING)
    return;

  g_string_truncate (self->line, MIN (self->string_start, self->line->len));
  if (!self->not_base64 && (self->n_base64 + self->n_padding) % 4 == 0)
    g_string_append_printf (self->line, "cut:base64:%" G_GUINT64_FORMAT,
                            (self->n_base64 + self->n_padding) / 4 * 3 - self->n_padding);
  else
    g_string_append_printf (self->line, "cut:%" G_GUINT64_FORMAT, self->string_size);
}

/* Most of a large payload is this, so it is done in one go. Returns how much was taken. */
static gsize
take_base64 (SbxCutScanner *self,
             const char    *data,
             gsize          size)
{
  gsize n = 0;

  if (self->n_padding > 0 || self->escaped)
    return 0;

  while (n < size && is_base64 (data[n]))
    n++;

  if (self->string_size < MAX_STRING)
    append (self, data, MIN (n, MAX_STRING - self->string_size));
  self->n_base64 += n;
  self->string_size += n;

  return n;
}

static void
take_in_string (SbxCutScanner *self,
                char           c)
{
  if (!self->escaped && c == '"')
    {
      end_string (self);
      append (self, &c, 1);
      return;
    }

  if (is_base64 (c) && self->n_padding == 0)
    self->n_base64++;
  else if (c == '=' && self->n_padding < 2)
    self->n_padding++;
  else
    self->not_base64 = TRUE;

  self->escaped = !self->escaped && c == '\\';
  self->string_size++;
  /* Beyond that it will be replaced, if it ever ends. */
  if (self->string_size <= MAX_STRING)
    append (self, &c, 1);
}

/* The state of the next line. */
static void
reset (SbxCutScanner *self)
{
  g_string_truncate (self->line, 0);
  self->dropped = 0;
  self->in_string = FALSE;
  self->escaped = FALSE;
}

static void
end_line (SbxCutScanner  *self,
          SbxCutLineFunc  func,
          gpointer        user_data)
{
  g_autoptr(GBytes) line = NULL;
  guint64 dropped = self->dropped;
  gsize size = self->line->len;

  if (self->in_string && self->string_size > MAX_STRING)
    dropped += self->string_size - MAX_STRING;
  while (size > 0 && g_ascii_isspace (self->line->str[size - 1]))
    size--;

  line = g_bytes_new (self->line->str, size);
  reset (self);
  if (size > 0)
    func (line, dropped, user_data);
}

void
_sbx_cut_scanner_feed (SbxCutScanner  *self,
                       const char     *data,
                       gsize           size,
                       SbxCutLineFunc  func,
                       gpointer        user_data)
{
  if (self->line == NULL)
    self->line = g_string_new (NULL);

  for (gsize i = 0; i < size; i++)
    {
      if (self->in_string)
        i += take_base64 (self, data + i, size - i);
      if (i == size)
        break;

      if (data[i] == '\n')
        end_line (self, func, user_data);
      else if (self->in_string)
        take_in_string (self, data[i]);
      else
        {
          append (self, data + i, 1);
          if (data[i] == '"')
            begin_string (self);
        }
    }
}

void
_sbx_cut_scanner_finish (SbxCutScanner  *self,
                         SbxCutLineFunc  func,
                         gpointer        user_data)
{
  if (self->line != NULL && self->line->len > 0)
    end_line (self, func, user_data);
}

void
_sbx_cut_scanner_clear (SbxCutScanner *self)
{
  if (self->line != NULL)
    g_string_free (self->line, TRUE);
  memset (self, 0, sizeof *self);
}
