/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "roman.h"

#include <stdio.h>
#include <string.h>

static const struct
{
  int         number;
  const char *expected;   /* NULL: there is none */
} cases[] = {
  { 1, "I" }, { 4, "IV" }, { 9, "IX" }, { 14, "XIV" }, { 40, "XL" }, { 90, "XC" }, { 400, "CD" },
  { 1444, "MCDXLIV" }, { 1994, "MCMXCIV" }, { 3888, "MMMDCCCLXXXVIII" }, { 3999, "MMMCMXCIX" },
  { 0, NULL }, { -1, NULL }, { 4000, NULL },
};

int
main (void)
{
  int failed = 0;

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
      char text[ROMAN_SIZE];
      const int length = roman_format (cases[i].number, text, sizeof text);
      const int good = cases[i].expected == NULL
                     ? length == -1
                     : length == (int) strlen (cases[i].expected)
                       && strcmp (text, cases[i].expected) == 0;

      printf ("%s %d is %s\n", good ? "ok    " : "not ok", cases[i].number,
              length < 0 ? "no Roman number" : text);
      failed += !good;
    }

  printf ("%zu checks, %d failed\n", sizeof cases / sizeof cases[0], failed);

  return failed != 0;
}
