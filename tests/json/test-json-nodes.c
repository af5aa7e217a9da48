/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "json/sbx-json-private.h"

#include <math.h>
#include <string.h>

static JsonObject *
parse_object (const char *text,
              JsonNode  **node)
{
  g_autoptr(GBytes) bytes = g_bytes_new_static (text, strlen (text));
  g_autoptr(GError) error = NULL;

  *node = _sbx_json_parse (bytes, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (JSON_NODE_HOLDS_OBJECT (*node));

  return json_node_get_object (*node);
}

static void
test_members (void)
{
  g_autoptr(JsonNode) node = NULL;
  JsonObject *object = parse_object ("{\"i\":-3,\"d\":1.5,\"b\":true,\"s\":\"x\",\"o\":{},"
                                     "\"a\":[\"p\",\"q\"],\"m\":[\"p\",1],\"n\":null}", &node);
  g_auto(GStrv) strv = NULL;
  const char *string = "old";
  JsonObject *inner = NULL;
  JsonArray *array = NULL;
  gboolean boolean = FALSE;
  double number = 7;
  gint64 integer = 7;

  g_assert_cmpint (_sbx_json_object_get_int (object, "i", &integer), ==, SBX_JSON_PRESENT);
  g_assert_cmpint (integer, ==, -3);
  g_assert_cmpint (_sbx_json_object_get_double (object, "d", &number), ==, SBX_JSON_PRESENT);
  g_assert_cmpfloat (number, ==, 1.5);
  g_assert_cmpint (_sbx_json_object_get_double (object, "i", &number), ==, SBX_JSON_PRESENT);
  g_assert_cmpfloat (number, ==, -3);
  g_assert_cmpint (_sbx_json_object_get_boolean (object, "b", &boolean), ==, SBX_JSON_PRESENT);
  g_assert_true (boolean);
  g_assert_cmpint (_sbx_json_object_get_string (object, "s", &string), ==, SBX_JSON_PRESENT);
  g_assert_cmpstr (string, ==, "x");
  g_assert_cmpint (_sbx_json_object_get_object (object, "o", &inner), ==, SBX_JSON_PRESENT);
  g_assert_cmpuint (json_object_get_size (inner), ==, 0);
  g_assert_cmpint (_sbx_json_object_get_array (object, "m", &array), ==, SBX_JSON_PRESENT);
  g_assert_cmpuint (json_array_get_length (array), ==, 2);
  g_assert_cmpint (_sbx_json_object_get_strv (object, "a", &strv), ==, SBX_JSON_PRESENT);
  g_assert_cmpuint (g_strv_length (strv), ==, 2);
  g_assert_cmpstr (strv[1], ==, "q");
}

/* Every getter with every member of another type: no warning, and the value stays as it was. */
static void
test_members_other (void)
{
  static const char *const names[] = { "i", "d", "b", "s", "o", "a", "m", "n", "missing" };
  g_autoptr(JsonNode) node = NULL;
  JsonObject *object = parse_object ("{\"i\":-3,\"d\":1.5,\"b\":true,\"s\":\"x\",\"o\":{},"
                                     "\"a\":[\"p\",\"q\"],\"m\":[\"p\",1],\"n\":null}", &node);

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      const char c = names[i][0];
      const SbxJsonFound other = g_str_equal (names[i], "missing") ? SBX_JSON_ABSENT
                                 : c == 'n' ? SBX_JSON_NULL : SBX_JSON_WRONG_TYPE;
      const char *string = "old";
      JsonObject *inner = NULL;
      JsonArray *array = NULL;
      char **strv = NULL;
      gboolean boolean = 2;
      double number = 7;
      gint64 integer = 7;

      if (c != 'i')
        g_assert_cmpint (_sbx_json_object_get_int (object, names[i], &integer), ==, other);
      if (c != 'i' && c != 'd')
        g_assert_cmpint (_sbx_json_object_get_double (object, names[i], &number), ==, other);
      if (c != 'b')
        g_assert_cmpint (_sbx_json_object_get_boolean (object, names[i], &boolean), ==, other);
      if (c != 's')
        g_assert_cmpint (_sbx_json_object_get_string (object, names[i], &string), ==, other);
      if (c != 'o')
        g_assert_cmpint (_sbx_json_object_get_object (object, names[i], &inner), ==, other);
      if ((c != 'a' && c != 'm') || other == SBX_JSON_ABSENT)
        g_assert_cmpint (_sbx_json_object_get_array (object, names[i], &array), ==, other);
      if (c != 'a')
        g_assert_cmpint (_sbx_json_object_get_strv (object, names[i], &strv), ==, other);

      g_assert_cmpint (integer, ==, 7);
      g_assert_cmpfloat (number, ==, 7);
      g_assert_cmpint (boolean, ==, 2);
      g_assert_cmpstr (string, ==, "old");
      g_assert_true (inner == NULL && array == NULL && strv == NULL);
    }
}

/* What no text can hold is written as something that one can. */
static void
test_write (void)
{
  g_autoptr(JsonObject) object = json_object_new ();
  g_autoptr(JsonArray) array = json_array_new ();
  g_autoptr(JsonNode) node = NULL;
  g_autoptr(JsonNode) again = NULL;
  g_autoptr(GBytes) compact = NULL;
  g_autoptr(GBytes) pretty = NULL;
  g_autoptr(GError) error = NULL;
  const char *expected = "{\"name\":\"a\xef\xbf\xbd\\u001b\\\"\","
                         "\"numbers\":[null,null,2.0,0.1,0.30000000000000004],\"e\":[]}";
  const char *indented = "{\n  \"name\": \"a\xef\xbf\xbd\\u001b\\\"\",\n"
                         "  \"numbers\": [\n    null,\n    null,\n    2.0,\n    0.1,\n"
                         "    0.30000000000000004\n  ],\n  \"e\": []\n}\n";

  json_array_add_double_element (array, INFINITY);
  json_array_add_double_element (array, NAN);
  json_array_add_double_element (array, 2);
  json_array_add_double_element (array, 0.1);
  json_array_add_double_element (array, 0.1 + 0.2);
  json_object_set_string_member (object, "name", "a\xff\x1b\"");
  json_object_set_array_member (object, "numbers", json_array_ref (array));
  json_object_set_array_member (object, "e", json_array_new ());
  node = json_node_init_object (json_node_alloc (), object);

  compact = _sbx_json_to_bytes (node, FALSE);
  g_assert_cmpmem (g_bytes_get_data (compact, NULL), g_bytes_get_size (compact), expected,
                   strlen (expected));

  pretty = _sbx_json_to_bytes (node, TRUE);
  g_assert_cmpmem (g_bytes_get_data (pretty, NULL), g_bytes_get_size (pretty), indented,
                   strlen (indented));

  again = _sbx_json_parse (pretty, NULL, &error);
  g_assert_no_error (error);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/json/members", test_members);
  g_test_add_func ("/json/members-other", test_members_other);
  g_test_add_func ("/json/write", test_write);

  return g_test_run ();
}
