/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "fake.h"

#include <string.h>

static gsize
skip_blank (FakeText text,
            gsize    i)
{
  while (i < text.size && strchr (" \t\r\n", text.data[i]) != NULL)
    i++;
  return i;
}

static gsize
skip_string (FakeText text,
             gsize    i)
{
  for (i++; i < text.size && text.data[i] != '"'; i++)
    if (text.data[i] == '\\')
      i++;
  return MIN (i + 1, text.size);
}

/* Where the value that begins at @i ends. */
static gsize
skip_value (FakeText text,
            gsize    i)
{
  int depth = 0;

  if (i < text.size && text.data[i] == '"')
    return skip_string (text, i);
  for (; i < text.size; i++)
    {
      const char c = text.data[i];

      if (c == '"')
        i = skip_string (text, i) - 1;
      else if (c == '{' || c == '[')
        depth++;
      else if ((c == '}' || c == ']' || c == ',') && depth == 0)
        break;
      else if ((c == '}' || c == ']') && --depth == 0)
        return i + 1;
    }
  return i;
}

FakeText
fake_json_element (FakeText  array,
                   gsize    *position)
{
  FakeText none = { NULL, 0 };
  gsize i = skip_blank (array, *position);
  gsize start;

  if (array.data == NULL || i >= array.size)
    return none;
  if (strchr ("[{,:", array.data[i]) != NULL && (*position == 0 || strchr (",:", array.data[i])))
    i = skip_blank (array, i + 1);
  if (i >= array.size || array.data[i] == ']' || array.data[i] == '}')
    return none;
  start = i;
  *position = skip_value (array, i);
  return (FakeText) { array.data + start, *position - start };
}

FakeText
fake_json_member (FakeText    object,
                  const char *name)
{
  FakeText none = { NULL, 0 };
  gsize i;

  if (object.data == NULL || object.size == 0 || object.data[0] != '{')
    return none;
  i = skip_blank (object, 1);
  while (i < object.size && object.data[i] == '"')
    {
      const gsize key = i + 1;
      const gsize key_size = skip_string (object, i) - key - 1;
      gsize value;

      i = skip_blank (object, key + key_size + 1);
      value = skip_blank (object, i + 1);
      i = skip_value (object, value);
      if (key_size == strlen (name) && memcmp (object.data + key, name, key_size) == 0)
        {
          while (i > value && strchr (" \t\r\n", object.data[i - 1]) != NULL)
            i--;
          return (FakeText) { object.data + value, i - value };
        }
      i = skip_blank (object, i);
      if (i < object.size && object.data[i] == ',')
        i = skip_blank (object, i + 1);
    }
  return none;
}

static gunichar
hex4 (const char *digits)
{
  char copy[5] = { 0, };

  memcpy (copy, digits, 4);
  return (gunichar) g_ascii_strtoull (copy, NULL, 16);
}

char *
fake_json_string (FakeText value)
{
  GString *text;

  if (value.data == NULL || value.size < 2 || value.data[0] != '"')
    return NULL;
  text = g_string_sized_new (value.size);
  for (gsize i = 1; i + 1 < value.size; i++)
    {
      const char *escape = "b\bf\fn\nr\rt\t";
      const char *found;
      gunichar c;

      if (value.data[i] != '\\')
        {
          g_string_append_c (text, value.data[i]);
          continue;
        }
      i++;
      found = strchr (escape, value.data[i]);
      if (value.data[i] == 'u' && i + 5 < value.size)
        {
          c = hex4 (value.data + i + 1);
          i += 4;
          if (c >= 0xd800 && c < 0xdc00 && i + 7 < value.size)
            {
              c = 0x10000 + ((c - 0xd800) << 10) + (hex4 (value.data + i + 3) - 0xdc00);
              i += 6;
            }
          g_string_append_unichar (text, c);
        }
      else
        {
          g_string_append_c (text, found != NULL ? found[1] : value.data[i]);
        }
    }
  return g_string_free (text, FALSE);
}

/* With its quotation marks; @value is UTF-8. */
void
fake_json_append (GString    *text,
                  const char *value)
{
  g_string_append_c (text, '"');
  for (const char *c = value; *c != '\0'; c++)
    {
      if (*c == '"' || *c == '\\')
        g_string_append_printf (text, "\\%c", *c);
      else if ((guchar) *c < 0x20)
        g_string_append_printf (text, "\\u%04x", *c);
      else
        g_string_append_c (text, *c);
    }
  g_string_append_c (text, '"');
}
