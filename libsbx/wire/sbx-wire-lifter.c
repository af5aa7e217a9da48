/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-lifter-private.h"

#include <string.h>

/* The depth at which protocol members have payloads: {"params":{"content_base64":…}}. Deeper names
 * are of others, an environment variable for one. */
#define PAYLOAD_DEPTH 2

#define FIRST_ROOM (64 * 1024)
/* A text that grew longer than this is not kept for the next line. */
#define KEPT_TEXT (64 * 1024)

typedef enum
{
  OUTSIDE,
  STRING,
  STRING_ESCAPE,
  PAYLOAD,
  PAYLOAD_ESCAPE,
} State;

typedef enum
{
  NO_NAME,
  NAME_OF_PAYLOAD,
  COLON_OF_PAYLOAD,
} Name;

#define ONES G_GUINT64_CONSTANT (0x0101010101010101)
#define HIGHS G_GUINT64_CONSTANT (0x8080808080808080)
#define HAS_ZERO(word) (((word) - ONES) & ~(word) & HIGHS)

/* The next quotation mark, backslash or newline. */
static const guint8 *
skip_string (const guint8 *at,
             const guint8 *end)
{
  while (end - at >= 8)
    {
      guint64 word;

      memcpy (&word, at, sizeof word);

      if ((HAS_ZERO (word ^ (ONES * '"')) | HAS_ZERO (word ^ (ONES * '\\')) |
           HAS_ZERO (word ^ (ONES * '\n'))) != 0)
        break;

      at += 8;
    }

  while (at < end && *at != '"' && *at != '\\' && *at != '\n')
    at++;

  return at;
}

/* Adds to what the gate gets, as far as the gate would take it. */
static void
keep (SbxWireLifter *self,
      const void    *bytes,
      gsize          n)
{
  const gsize room = SBX_WIRE_MAX_TEXT - self->text->len;

  if (n > room)
    {
      self->too_long = TRUE;
      n = room;
    }

  g_string_append_len (self->text, bytes, (gssize) n);
}

/* Makes room for @n more bytes, and for others to come unless those are all of them. */
static void
make_room (SbxWireLifter *self,
           gsize          n,
           gboolean       is_all)
{
  gsize room = self->n_bytes + n;

  if (room <= self->room)
    return;

  if (!is_all)
    room = MAX (room, MAX (FIRST_ROOM, self->room * 2));

  self->bytes = g_realloc (self->bytes, room);
  self->room = room;
}

static void
begin_payload (SbxWireLifter *self)
{
  self->payloads[self->n_payloads].offset = self->text->len;
  keep (self, "\"\"", 2);

  self->decoder = (SbxBase64Decoder) { .n_pending = 0 };
  self->n_bytes = 0;
  self->state = PAYLOAD;
}

static void
end_payload (SbxWireLifter *self)
{
  GBytes *bytes;

  if (self->n_bytes < self->room)
    self->bytes = g_realloc (self->bytes, self->n_bytes);

  bytes = g_bytes_new_take (g_steal_pointer (&self->bytes), self->n_bytes);
  self->payloads[self->n_payloads++].bytes = bytes;
  self->room = 0;
  self->state = OUTSIDE;
}

/* It is no base64, or not yet its end: puts what came of it into the text, as it was but for
 * escapes, and goes on as with any string. */
static void
give_back_payload (SbxWireLifter *self)
{
  const gsize size = _sbx_base64_encoded_size (self->n_bytes);

  g_string_truncate (self->text, self->payloads[self->n_payloads].offset + 1);

  if (size <= SBX_WIRE_MAX_TEXT - self->text->len)
    {
      const gsize begin = self->text->len;

      g_string_set_size (self->text, begin + size);
      _sbx_base64_encode (self->bytes, self->n_bytes, self->text->str + begin);
      keep (self, self->decoder.pending, self->decoder.n_pending);
    }
  else
    {
      self->too_long = TRUE;
    }

  if (self->state == PAYLOAD_ESCAPE)
    {
      keep (self, "\\", 1);
      keep (self, self->escape, self->n_escape);
    }

  g_clear_pointer (&self->bytes, g_free);
  self->room = 0;
  self->state = self->state == PAYLOAD_ESCAPE && self->n_escape == 0 ? STRING_ESCAPE : STRING;
}

static gsize
feed_payload (SbxWireLifter *self,
              const guint8  *text,
              gsize          n,
              gboolean       is_all)
{
  make_room (self, _sbx_base64_decoder_room (&self->decoder, n), is_all);

  return _sbx_base64_decoder_feed (&self->decoder, text, n, self->bytes, &self->n_bytes);
}

static const guint8 *
read_payload (SbxWireLifter *self,
              const guint8  *at,
              const guint8  *end)
{
  const guint8 *quote = NULL;

  /* Most are here as a whole. Later on there would be more to search than to decode. */
  if (self->room == 0)
    quote = memchr (at, '"', (gsize) (end - at));

  at += feed_payload (self, at, (gsize) ((quote != NULL ? quote : end) - at), quote != NULL);
  if (at == end)
    return end;

  if (*at == '"' && _sbx_base64_decoder_is_complete (&self->decoder))
    {
      end_payload (self);
      return at + 1;
    }

  if (*at == '\\')
    {
      self->n_escape = 0;
      self->state = PAYLOAD_ESCAPE;
      return at + 1;
    }

  if (*at != '\n')
    give_back_payload (self);

  return at;
}

/* Some write the slash as "\/", and some the plus as "\u002B". */
static const guint8 *
read_payload_escape (SbxWireLifter *self,
                     const guint8  *at)
{
  const guint8 c = *at;
  guint8 meant = 0;

  if (c == '\n')
    return at;

  if (self->n_escape == 0 ? c != '/' && c != 'u' : !g_ascii_isxdigit ((char) c))
    {
      give_back_payload (self);
      return at;
    }

  self->escape[self->n_escape++] = (char) c;

  if (c == '/' && self->n_escape == 1)
    meant = '/';
  else if (self->n_escape < 5)
    return at + 1;
  else if (memcmp (self->escape, "u00", 3) == 0)
    meant = (guint8) (g_ascii_xdigit_value (self->escape[3]) << 4 |
                      g_ascii_xdigit_value (self->escape[4]));

  if (feed_payload (self, &meant, 1, FALSE) == 1)
    self->state = PAYLOAD;
  else
    give_back_payload (self);

  return at + 1;
}

/* Whether what was read, of which what is from @from to @at is not in the text yet, ends in a name
 * of a payload, but for its quotation mark. */
static gboolean
is_payload_name (SbxWireLifter *self,
                 const guint8  *from,
                 const guint8  *at)
{
  static const char suffix[] = "_base64";
  const gsize length = sizeof suffix - 1;
  const gsize fresh = MIN ((gsize) (at - from), length);
  const gsize old = length - fresh;

  return memcmp (at - fresh, suffix + old, fresh) == 0 && self->text->len >= old &&
         memcmp (self->text->str + self->text->len - old, suffix, old) == 0;
}

/* Goes on to where a string begins, or to a newline. */
static const guint8 *
skip_outside (SbxWireLifter *self,
              const guint8  *at,
              const guint8  *end)
{
  for (; at < end && *at != '"' && *at != '\n'; at++)
    switch (*at)
      {
      case ' ':
      case '\t':
      case '\r':
        break;

      case ':':
        self->name = self->name == NAME_OF_PAYLOAD ? COLON_OF_PAYLOAD : NO_NAME;
        break;

      case '{':
      case '[':
        self->depth++;
        self->name = NO_NAME;
        break;

      case '}':
      case ']':
        self->depth -= self->depth > 0;
        self->name = NO_NAME;
        break;

      default:
        self->name = NO_NAME;
      }

  return at;
}

static gboolean
takes_payload (SbxWireLifter *self)
{
  return self->name == COLON_OF_PAYLOAD && self->depth == PAYLOAD_DEPTH &&
         self->n_payloads < SBX_WIRE_MAX_PAYLOADS && !self->too_long;
}

/* Reads what stays in the text, until a payload begins or the line ends. */
static const guint8 *
read_text (SbxWireLifter *self,
           const guint8  *at,
           const guint8  *end)
{
  const guint8 *from = at;

  while (at < end)
    {
      if (self->state == STRING_ESCAPE)
        {
          if (*at == '\n')
            break;

          at++;
          self->state = STRING;
        }
      else if (self->state == STRING)
        {
          at = skip_string (at, end);
          if (at == end || *at == '\n')
            break;

          if (*at == '\\')
            self->state = STRING_ESCAPE;
          else
            {
              self->name = is_payload_name (self, from, at) ? NAME_OF_PAYLOAD : NO_NAME;
              self->state = OUTSIDE;
            }

          at++;
        }
      else
        {
          at = skip_outside (self, at, end);
          if (at == end || *at == '\n')
            break;

          if (takes_payload (self))
            {
              keep (self, from, (gsize) (at - from));
              begin_payload (self);
              return at + 1;
            }

          self->state = STRING;
          at++;
        }
    }

  keep (self, from, (gsize) (at - from));
  return at;
}

gsize
_sbx_wire_lifter_feed (SbxWireLifter *self,
                       const guint8  *bytes,
                       gsize          n_bytes,
                       gboolean      *ended)
{
  const guint8 *at = bytes;
  const guint8 *const end = bytes + n_bytes;

  *ended = FALSE;

  while (at < end)
    {
      if (self->state == PAYLOAD)
        at = read_payload (self, at, end);
      else if (self->state == PAYLOAD_ESCAPE)
        at = read_payload_escape (self, at);
      else
        at = read_text (self, at, end);

      if (at < end && *at == '\n')
        {
          *ended = TRUE;
          self->size += (gsize) (at - bytes);
          return (gsize) (at - bytes) + 1;
        }
    }

  self->size += n_bytes;
  return n_bytes;
}

static gboolean
is_blank (const GString *text)
{
  return strspn (text->str, " \t\r") == text->len;
}

/* Makes ready for another line. */
static void
reset (SbxWireLifter *self)
{
  if (self->text->allocated_len > KEPT_TEXT)
    {
      g_string_free (self->text, TRUE);
      self->text = g_string_new (NULL);
    }

  g_string_truncate (self->text, 0);
  g_clear_pointer (&self->bytes, g_free);
  self->room = 0;
  self->size = 0;
  self->too_long = FALSE;
  self->state = OUTSIDE;
  self->name = NO_NAME;
  self->depth = 0;
  self->n_payloads = 0;
}

SbxWireLine *
_sbx_wire_lifter_finish (SbxWireLifter *self,
                         gsize          max_text)
{
  SbxWireLine *line = NULL;

  /* A payload without an end: so that the gate sees none either. */
  if (self->state == PAYLOAD || self->state == PAYLOAD_ESCAPE)
    g_string_truncate (self->text, self->payloads[self->n_payloads].offset + 1);

  if (self->text->len > max_text && !is_blank (self->text))
    {
      line = _sbx_wire_line_new_unparsed (self->text, self->too_long, self->size, self->payloads,
                                          self->n_payloads);
      self->text = g_string_new (NULL);
    }
  else if (self->n_payloads > 0 || self->too_long || !is_blank (self->text))
    line = _sbx_wire_line_new_lifted (self->text, self->too_long, self->size, self->payloads,
                                      self->n_payloads);

  reset (self);
  return line;
}

void
_sbx_wire_lifter_init (SbxWireLifter *self)
{
  *self = (SbxWireLifter) { .text = g_string_new (NULL) };
}

void
_sbx_wire_lifter_clear (SbxWireLifter *self)
{
  for (gsize i = 0; i < self->n_payloads; i++)
    g_bytes_unref (self->payloads[i].bytes);

  self->n_payloads = 0;
  g_clear_pointer (&self->bytes, g_free);
  g_string_free (g_steal_pointer (&self->text), TRUE);
}
