/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/*
 * Reads texts from the standard input, each after its length in four bytes, and writes for each one
 * line: what the gate read, written again, or "-" if it refused the text.
 */

#include "config.h"

#include "json/sbx-json-private.h"

#include <stdio.h>

int
main (void)
{
  guint32 length;

  while (fread (&length, sizeof length, 1, stdin) == 1)
    {
      g_autofree char *text = g_malloc (MAX (length, 1));
      g_autoptr(GBytes) bytes = NULL;
      g_autoptr(JsonNode) node = NULL;

      if (fread (text, 1, length, stdin) != length)
        return 1;

      bytes = g_bytes_new_static (text, length);
      node = _sbx_json_parse (bytes, NULL, NULL);

      if (node != NULL)
        {
          g_autoptr(GBytes) written = _sbx_json_to_bytes (node, FALSE);

          fwrite (g_bytes_get_data (written, NULL), 1, g_bytes_get_size (written), stdout);
          putchar ('\n');
        }
      else
        puts ("-");
    }

  return 0;
}
