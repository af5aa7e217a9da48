/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "json/sbx-json-text-private.h"

#include <string.h>

/* What a byte within a string is. */
enum
{
  PLAIN,
  QUOTE,
  ESCAPE,
  CONTROL,
  /* The first byte of a character of two, three or four bytes. */
  LEAD,
  NEVER,
};

static const guint8 classes[256] = {
  [0x00 ... 0x1f] = CONTROL,
  ['"'] = QUOTE,
  ['\\'] = ESCAPE,
  [0x80 ... 0xc1] = NEVER,
  [0xc2 ... 0xf4] = LEAD,
  [0xf5 ... 0xff] = NEVER,
};

#define ONES G_GUINT64_CONSTANT (0x0101010101010101)
#define HIGHS G_GUINT64_CONSTANT (0x8080808080808080)

/* Whether one of eight bytes is zero, in its highest bit. */
#define HAS_ZERO(word) (((word) - ONES) & ~(word) & HIGHS)

/* Passes over plain bytes, eight at a time while there are as many. */
static const guint8 *
skip_plain (const guint8 *at,
            const guint8 *end)
{
  while (end - at >= 8)
    {
      guint64 word;

      memcpy (&word, at, sizeof word);

      /* A byte below 0x20 borrows into its highest bit; one above 0x7f has it. */
      if ((((word - ONES * 0x20) | word) & HIGHS) != 0 || HAS_ZERO (word ^ (ONES * '"')) != 0 ||
          HAS_ZERO (word ^ (ONES * '\\')) != 0)
        break;

      at += 8;
    }

  while (at < end && classes[*at] == PLAIN)
    at++;

  return at;
}

/* The length of the character at @at, or 0 if that is no UTF-8. */
static gsize
character_length (const guint8 *at,
                  const guint8 *end)
{
  const gsize length = *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;

  if ((gsize) (end - at) < length)
    return 0;

  for (gsize i = 1; i < length; i++)
    if ((at[i] & 0xc0) != 0x80)
      return 0;

  /* Longer than it need be, a surrogate, or beyond the last character. */
  if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
      (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
    return 0;

  return length;
}

/* Reads the four digits after "\u". */
static gboolean
read_hex (SbxJsonText *self,
          gunichar    *unit)
{
  *unit = 0;

  for (int i = 0; i < 4; i++)
    {
      const int digit = self->at < self->end ? g_ascii_xdigit_value ((char) *self->at) : -1;

      if (digit < 0)
        return _sbx_json_text_refuse (self, "\\u without four hexadecimal digits");

      *unit = *unit << 4 | (gunichar) digit;
      self->at++;
    }

  return TRUE;
}

static gboolean
read_unicode_escape (SbxJsonText *self,
                     GString     *string)
{
  gunichar unit;
  gunichar low;

  if (!read_hex (self, &unit))
    return FALSE;

  if (unit >= 0xd800 && unit < 0xdc00)
    {
      if (self->end - self->at < 2 || self->at[0] != '\\' || self->at[1] != 'u')
        return _sbx_json_text_refuse (self, "a surrogate without the other half");

      self->at += 2;

      if (!read_hex (self, &low))
        return FALSE;

      if (low < 0xdc00 || low > 0xdfff)
        return _sbx_json_text_refuse (self, "a surrogate without the other half");

      unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    }
  else if (unit >= 0xdc00 && unit <= 0xdfff)
    return _sbx_json_text_refuse (self, "a surrogate without the other half");

  if (unit == 0)
    return _sbx_json_text_refuse (self, "a NUL in a string");

  g_string_append_unichar (string, unit);
  return TRUE;
}

static gboolean
read_escape (SbxJsonText *self,
             GString     *string)
{
  static const char meanings[128] = {
    ['"'] = '"', ['\\'] = '\\', ['/'] = '/', ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t',
  };
  guint8 c;

  self->at++;

  if (self->at == self->end)
    return _sbx_json_text_refuse (self, "a string without an end");

  c = *self->at;

  if (c == 'u')
    {
      self->at++;
      return read_unicode_escape (self, string);
    }

  if (c >= 128 || meanings[c] == '\0')
    return _sbx_json_text_refuse (self, "an escape that JSON does not have");

  self->at++;
  g_string_append_c (string, meanings[c]);
  return TRUE;
}

/* Passes over what stands for itself. FALSE for what may not be in a string at all. */
static gboolean
skip_literal (SbxJsonText *self)
{
  for (;;)
    {
      gsize length;

      self->at = skip_plain (self->at, self->end);

      if (self->at == self->end)
        return _sbx_json_text_refuse (self, "a string without an end");

      switch (classes[*self->at])
        {
        case LEAD:
          length = character_length (self->at, self->end);
          if (length == 0)
            return _sbx_json_text_refuse (self, "bytes that are no UTF-8");

          self->at += length;
          break;

        case CONTROL:
          return _sbx_json_text_refuse (self, "a control character in a string");

        case NEVER:
          return _sbx_json_text_refuse (self, "bytes that are no UTF-8");

        default:
          return TRUE;
        }
    }
}

gboolean
_sbx_json_text_read_string (SbxJsonText *self,
                            GString     *string)
{
  const guint8 *begin = ++self->at;

  g_string_truncate (string, 0);

  for (;;)
    {
      const guint8 *from = self->at;

      if (!skip_literal (self))
        return FALSE;

      if ((gsize) (self->at - begin) > self->limits->max_string)
        return _sbx_json_text_too_large (self, "a string that is too long");

      g_string_append_len (string, (const char *) from, self->at - from);

      if (*self->at == '"')
        break;

      if (!read_escape (self, string))
        return FALSE;
    }

  self->at++;
  return TRUE;
}
