/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "roman.h"

#include <string.h>

static const struct
{
  int         value;
  const char *digits;
} steps[] = {
  { 1000, "M" }, { 900, "CM" }, { 500, "D" }, { 400, "CD" },
  { 100, "C" }, { 90, "XC" }, { 50, "L" }, { 40, "XL" },
  { 10, "X" }, { 9, "IX" }, { 5, "V" }, { 4, "IV" }, { 1, "I" },
};

/* Writes NUMBER in Roman digits and returns how many, or -1 if it has none or they do not fit. */
int
roman_format (int     number,
              char   *out,
              size_t  size)
{
  size_t length = 0;

  if (number < 1 || number > 3999)
    return -1;

  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
    while (number >= steps[i].value)
      {
        const size_t n = strlen (steps[i].digits);

        if (length + n >= size)
          return -1;

        memcpy (out + length, steps[i].digits, n);
        length += n;
        number -= steps[i].value;
      }

  out[length] = '\0';

  return (int) length;
}
