/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "json/sbx-json-private.h"

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

/* What the gate takes must be JSON for json-glib as well, and the same JSON. */
static void
compare (JsonNode     *node,
         const guint8 *data,
         size_t        size)
{
  g_autoptr(JsonParser) parser = json_parser_new_immutable ();
  g_autoptr(GError) error = NULL;

  json_parser_load_from_data (parser, (const char *) data, (gssize) size, &error);
  g_assert_no_error (error);
  g_assert_nonnull (json_parser_get_root (parser));
  g_assert_true (json_node_equal (json_parser_get_root (parser), node));
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        size_t        size)
{
  g_autoptr(GBytes) bytes = g_bytes_new (data, size);
  g_autoptr(GError) error = NULL;
  g_autoptr(GError) again_error = NULL;
  g_autoptr(JsonNode) node = _sbx_json_parse (bytes, NULL, &error);
  g_autoptr(JsonNode) again = NULL;
  g_autoptr(GBytes) written = NULL;

  /* Exactly one of the two, always. */
  g_assert_true ((node != NULL) != (error != NULL));

  if (node == NULL)
    return 0;

  compare (node, data, size);

  /* What is written is taken again, and says the same. */
  written = _sbx_json_to_bytes (node, size % 2 == 0);
  again = _sbx_json_parse (written, NULL, &again_error);
  g_assert_no_error (again_error);
  g_assert_true (json_node_equal (node, again));

  return 0;
}
