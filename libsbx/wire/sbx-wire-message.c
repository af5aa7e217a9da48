/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-render-private.h"

#include "wire/sbx-base64-private.h"

#include <string.h>

typedef struct
{
  /* Where in the text its characters belong. */
  gsize   offset;
  GBytes *bytes;
} Payload;

struct _SbxWireMessage
{
  GString *text;
  GArray  *payloads;    /* Payload, or NULL for none */
  /* Characters that the payloads become. */
  gsize    encoded;
};

static void
payload_clear (gpointer data)
{
  Payload *payload = data;

  g_bytes_unref (payload->bytes);
}

SbxWireMessage *
_sbx_wire_message_new (void)
{
  SbxWireMessage *self = g_new0 (SbxWireMessage, 1);

  self->text = g_string_sized_new (256);

  return self;
}

void
_sbx_wire_message_free (SbxWireMessage *self)
{
  g_string_free (self->text, TRUE);
  g_clear_pointer (&self->payloads, g_array_unref);
  g_free (self);
}

GString *
_sbx_wire_message_get_text (SbxWireMessage *self)
{
  return self->text;
}

void
_sbx_wire_message_append_string (SbxWireMessage *self,
                                 const char     *value)
{
  static const char short_escapes[128] = {
    ['"'] = '"', ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r',
    ['\t'] = 't',
  };

  g_string_append_c (self->text, '"');

  while (*value != '\0')
    {
      gsize plain = 0;
      guint8 c;

      while ((guint8) value[plain] >= 0x20 && value[plain] != '"' && value[plain] != '\\' &&
             value[plain] != 0x7f)
        plain++;

      g_string_append_len (self->text, value, (gssize) plain);
      value += plain;
      c = (guint8) *value;

      if (c == '\0')
        break;

      if (short_escapes[c] != '\0')
        {
          g_string_append_c (self->text, '\\');
          g_string_append_c (self->text, short_escapes[c]);
        }
      else
        g_string_append_printf (self->text, "\\u%04x", c);

      value++;
    }

  g_string_append_c (self->text, '"');
}

void
_sbx_wire_message_append_payload (SbxWireMessage *self,
                                  GBytes         *bytes)
{
  const Payload payload = { self->text->len + 1, g_bytes_ref (bytes) };

  if (self->payloads == NULL)
    {
      self->payloads = g_array_new (FALSE, FALSE, sizeof (Payload));
      g_array_set_clear_func (self->payloads, payload_clear);
    }

  g_string_append (self->text, "\"\"");
  g_array_append_val (self->payloads, payload);
  self->encoded += _sbx_base64_encoded_size (g_bytes_get_size (bytes));
}

gsize
_sbx_wire_message_get_size (SbxWireMessage *self)
{
  return self->text->len + self->encoded + 1;
}

/* Copies as much as there is room for of the text before @limit. */
static gsize
render_text (SbxWireMessage *self,
             SbxWireCursor  *cursor,
             gsize           limit,
             char           *output,
             gsize           room)
{
  const gsize n = MIN (limit - cursor->text, room);

  memcpy (output, self->text->str + cursor->text, n);
  cursor->text += n;

  return n;
}

/* Encodes as many whole groups as there is room for. */
static gsize
render_payload (const Payload *payload,
                SbxWireCursor *cursor,
                char          *output,
                gsize          room)
{
  gsize size;
  const guint8 *bytes = g_bytes_get_data (payload->bytes, &size);
  const gsize n = MIN (size - cursor->bytes, room / 4 * 3);

  if (n == 0)
    return 0;

  _sbx_base64_encode (bytes + cursor->bytes, n, output);
  cursor->bytes += n;

  return _sbx_base64_encoded_size (n);
}

gsize
_sbx_wire_message_render (SbxWireMessage *self,
                          SbxWireCursor  *cursor,
                          char           *output,
                          gsize           room)
{
  const gsize n_payloads = self->payloads != NULL ? self->payloads->len : 0;
  gsize done = 0;

  for (; cursor->payload < n_payloads; cursor->payload++, cursor->bytes = 0)
    {
      const Payload *payload = &g_array_index (self->payloads, Payload, cursor->payload);

      done += render_text (self, cursor, payload->offset, output + done, room - done);
      if (cursor->text < payload->offset)
        return done;

      done += render_payload (payload, cursor, output + done, room - done);
      if (cursor->bytes < g_bytes_get_size (payload->bytes))
        return done;
    }

  done += render_text (self, cursor, self->text->len, output + done, room - done);

  if (cursor->text == self->text->len && done < room)
    {
      output[done++] = '\n';
      cursor->complete = TRUE;
    }

  return done;
}

GBytes *
_sbx_wire_message_to_bytes (SbxWireMessage *self)
{
  const gsize size = _sbx_wire_message_get_size (self);
  g_autofree char *line = g_malloc (size);
  SbxWireCursor cursor = { .text = 0 };
  const gsize n = _sbx_wire_message_render (self, &cursor, line, size);

  g_assert (n == size && cursor.complete);

  return g_bytes_new_take (g_steal_pointer (&line), size);
}
