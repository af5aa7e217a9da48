/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "json/sbx-json-text-private.h"

#include <math.h>
#include <string.h>

/* Passes over digits, of which there must be one. */
static gboolean
skip_digits (SbxJsonText *self)
{
  const guint8 *from = self->at;

  while (self->at < self->end && g_ascii_isdigit (*self->at))
    self->at++;

  return self->at > from || _sbx_json_text_refuse (self, "no digit where one must be");
}

static gboolean
is_at (SbxJsonText *self,
       char         a,
       char         b)
{
  return self->at < self->end && (*self->at == a || *self->at == b);
}

/* Passes over fraction and exponent, if there are any. */
static gboolean
skip_rest (SbxJsonText *self)
{
  if (is_at (self, '.', '.'))
    {
      self->at++;

      if (!skip_digits (self))
        return FALSE;
    }

  if (is_at (self, 'e', 'E'))
    {
      self->at++;

      if (is_at (self, '+', '-'))
        self->at++;

      if (!skip_digits (self))
        return FALSE;
    }

  return TRUE;
}

static JsonNode *
make_int (SbxJsonText  *self,
          const guint8 *from,
          gboolean      negative)
{
  const guint64 limit = negative ? (guint64) G_MAXINT64 + 1 : G_MAXINT64;
  guint64 value = 0;

  for (const guint8 *at = from; at < self->at; at++)
    {
      const guint64 digit = *at - '0';

      if (value > (limit - digit) / 10)
        {
          _sbx_json_text_too_large (self, "an integer that does not fit in 64 bits");
          return NULL;
        }

      value = value * 10 + digit;
    }

  /* Negated as unsigned, since the most negative one has no positive counterpart. */
  return json_node_init_int (json_node_alloc (), (gint64) (negative ? -value : value));
}

static JsonNode *
make_double (SbxJsonText  *self,
             const guint8 *begin)
{
  const gsize length = (gsize) (self->at - begin);
  g_autofree char *digits = g_strndup ((const char *) begin, length);
  const double value = g_ascii_strtod (digits, NULL);

  if (!isfinite (value))
    {
      _sbx_json_text_too_large (self, "a number that is not finite");
      return NULL;
    }

  return json_node_init_double (json_node_alloc (), value);
}

JsonNode *
_sbx_json_text_read_number (SbxJsonText *self)
{
  const guint8 *begin = self->at;
  const guint8 *from;
  const guint8 *integer_end;

  if (*self->at == '-')
    self->at++;

  from = self->at;

  if (!skip_digits (self))
    return NULL;

  if (*from == '0' && self->at - from > 1)
    {
      self->at = from;
      _sbx_json_text_refuse (self, "a number that starts with a zero too many");
      return NULL;
    }

  integer_end = self->at;

  if (!skip_rest (self))
    return NULL;

  if ((gsize) (self->at - begin) > self->limits->max_number)
    {
      _sbx_json_text_too_large (self, "a number that is too long");
      return NULL;
    }

  return self->at == integer_end ? make_int (self, from, from > begin) : make_double (self, begin);
}
