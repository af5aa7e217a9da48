/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "core/sbx-error.h"
#include "wire/sbx-wire-lifter-private.h"

#include <string.h>

static SbxWireLine *
line_new (const char *text)
{
  g_autoptr(GBytes) bytes = g_bytes_new (text, strlen (text));

  return _sbx_wire_line_new (bytes);
}

static JsonNode *
parse_plain (const char *text,
             gsize       length)
{
  g_autoptr(GBytes) bytes = g_bytes_new (text, length);

  return _sbx_json_parse (bytes, NULL, NULL);
}

static JsonObject *
get_params (SbxWireLine *line)
{
  JsonObject *root = _sbx_wire_line_get_object (line);
  JsonObject *params = NULL;

  g_assert_no_error (_sbx_wire_line_get_error (line));
  g_assert_cmpint (_sbx_json_object_get_object (root, "params", &params), ==, SBX_JSON_PRESENT);
  return params;
}

/* @expected is %NULL for what is no base64. */
static void
assert_payload (SbxWireLine *line,
                const char  *name,
                const char  *expected,
                gboolean     lifted)
{
  JsonObject *params = get_params (line);
  g_autoptr(GBytes) bytes = NULL;
  const SbxJsonFound found = _sbx_wire_line_get_payload (line, params, name, &bytes);

  g_assert_cmpint (_sbx_wire_line_is_payload (line, json_object_get_member (params, name)), ==,
                   lifted);

  if (expected == NULL)
    {
      g_assert_cmpint (found, ==, SBX_JSON_WRONG_TYPE);
      g_assert_null (bytes);
      return;
    }

  g_assert_cmpint (found, ==, SBX_JSON_PRESENT);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), expected,
                   strlen (expected));
}

static void
test_payload (void)
{
  const struct { const char *member; const char *expected; gboolean lifted; } cases[] = {
    { "\"x_base64\":\"QUJD\"", "ABC", TRUE },
    { "\"x_base64\":\"\"", "", TRUE },
    { "\"x_base64\" \t:\r  \"QQ==\"", "A", TRUE },
    { "\"x_base64\":\"QUI=\"", "AB", TRUE },
    /* As some write them. */
    { "\"x_base64\":\"Pz8\\/\"", "???", TRUE },
    { "\"x_base64\":\"\\/\\/8\\/Pz8\\/\"", "\xff\xff\x3f\x3f\x3f\x3f", TRUE },
    { "\"x_base64\":\"Pj4\\u002B\"", ">>>", TRUE },
    { "\"x_base64\":\"Pj4\\u002bQQ\\u003d\\u003D\"", ">>>A", TRUE },
    { "\"x_base64\":\"\\u0051UJD\"", "ABC", TRUE },
    /* Spelt so that it is not seen: found all the same. */
    { "\"x_base6\\u0034\":\"QUJD\"", "ABC", FALSE },
    { "\"\\u0078_base64\":\"QUJD\"", "ABC", TRUE },
    { "\"x_base64\":\"QUJ\"", NULL, FALSE },
    { "\"x_base64\":\"QUJDQ\"", NULL, FALSE },
    { "\"x_base64\":\"QR==\"", NULL, FALSE },
    { "\"x_base64\":\"QQ=\"", NULL, FALSE },
    { "\"x_base64\":\"QQ==QQ==\"", NULL, FALSE },
    { "\"x_base64\":\"====\"", NULL, FALSE },
    { "\"x_base64\":\" QUJD\"", NULL, FALSE },
    { "\"x_base64\":\"QUJD \"", NULL, FALSE },
    { "\"x_base64\":\"QU-_\"", NULL, FALSE },
    { "\"x_base64\":\"QUJD\\n\"", NULL, FALSE },
    { "\"x_base64\":\"QUJD\\\"\"", NULL, FALSE },
    { "\"x_base64\":\"QUJD\\\\\"", NULL, FALSE },
    { "\"x_base64\":\"QUJ\\u0022\"", NULL, FALSE },
    { "\"x_base64\":\"QUJ\\u1044\"", NULL, FALSE },
    { "\"x_base64\":\"QUJ\\u0144\"", NULL, FALSE },
    { "\"x_base64\":\"QQ=\\/\"", NULL, FALSE },
    { "\"x_base64\":\"QUJD\xc3\xa9\"", NULL, FALSE },
    { "\"x_base64\":7", NULL, FALSE },
    { "\"x_base64\":{}", NULL, FALSE },
    { "\"x_base64\":[\"QUJD\"]", NULL, FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf ("{\"id\":\"req_1\",\"params\":{\"a\":\"\",%s,\"b\":"
                                               "\"\"}}", cases[i].member);
      g_autoptr(SbxWireLine) line = line_new (text);
      g_autoptr(JsonNode) plain = parse_plain (text, strlen (text));
      g_autoptr(JsonNode) root = json_node_alloc ();

      g_test_message ("case %" G_GSIZE_FORMAT, i);
      g_assert_nonnull (plain);
      assert_payload (line, "x_base64", cases[i].expected, cases[i].lifted);
      g_assert_cmpuint (_sbx_wire_line_get_size (line), ==, strlen (text));

      /* Others stay what they are. */
      assert_payload (line, "a", "", FALSE);
      assert_payload (line, "b", "", FALSE);

      /* Nothing was lost. */
      _sbx_wire_line_put_back (line);
      json_node_init_object (root, _sbx_wire_line_get_object (line));
      g_assert_true (json_node_equal (root, plain));
      assert_payload (line, "x_base64", cases[i].expected, FALSE);
    }
}

static void
test_absent (void)
{
  g_autoptr(SbxWireLine) line = line_new ("{\"params\":{\"x_base64\":null}}");
  g_autoptr(GBytes) bytes = NULL;

  g_assert_cmpint (_sbx_wire_line_get_payload (line, get_params (line), "x_base64", &bytes), ==,
                   SBX_JSON_NULL);
  g_assert_cmpint (_sbx_wire_line_get_payload (line, get_params (line), "y_base64", &bytes), ==,
                   SBX_JSON_ABSENT);
  g_assert_null (bytes);
  g_assert_false (_sbx_wire_line_is_payload (line, NULL));
}

/* An environment variable may have any name, and is not for us to read. */
static void
test_deeper (void)
{
  g_autoptr(SbxWireLine) line = line_new ("{\"x_base64\":\"QUJD\",\"params\":{"
                                          "\"env\":{\"x_base64\":\"QUJD\"},"
                                          "\"list\":[\"x_base64\",\"QUJD\"]}}");
  JsonObject *env = NULL;
  const char *value = NULL;
  g_auto(GStrv) list = NULL;
  g_autoptr(GBytes) bytes = NULL;

  g_assert_cmpint (_sbx_json_object_get_object (get_params (line), "env", &env), ==,
                   SBX_JSON_PRESENT);
  g_assert_cmpint (_sbx_json_object_get_string (env, "x_base64", &value), ==, SBX_JSON_PRESENT);
  g_assert_cmpstr (value, ==, "QUJD");
  g_assert_cmpint (_sbx_json_object_get_strv (get_params (line), "list", &list), ==,
                   SBX_JSON_PRESENT);
  g_assert_cmpstr (list[1], ==, "QUJD");

  g_assert_cmpint (_sbx_wire_line_get_payload (line, env, "x_base64", &bytes), ==,
                   SBX_JSON_PRESENT);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), "ABC", 3);
}

static void
test_many (void)
{
  g_autoptr(GString) text = g_string_new ("{\"params\":{");
  g_autoptr(SbxWireLine) line = NULL;

  for (int i = 0; i < 20; i++)
    g_string_append_printf (text, "%s\"m%d_base64\":\"%s\"", i > 0 ? "," : "", i,
                            i % 2 == 0 ? "QUJD" : "REVG");
  g_string_append (text, "}}");

  line = line_new (text->str);

  for (int i = 0; i < 20; i++)
    {
      g_autofree char *name = g_strdup_printf ("m%d_base64", i);

      assert_payload (line, name, i % 2 == 0 ? "ABC" : "DEF", i < SBX_WIRE_MAX_PAYLOADS);
    }
}

static void
test_refused (void)
{
  const char *texts[] = {
    "", " \t\r", "7", "\"x\"", "null", "[]", "[{\"id\":\"a\"}]", "{", "}", "{}{}", "{}x", "{} //",
    "{\"a\":1,}", "{\"a\" 1}", "{'a':1}", "{\"a\":01}", "{\"a\":NaN}", "{\"a\":1,\"a\":2}",
    "\xef\xbb\xbf{}", "{\"a\":9223372036854775808}", "{\"a\":1e400}", "{\"a\":\"\\ud800\"}",
    "{\"a\":\"\\udc00\\ud800\"}", "{\"a\":\"\\u0000\"}", "{\"a\":\"\xff\"}", "{\"a\":\"\xc0\x80\"}",
    "{\"a\":\"\\x\"}", "{\"a\":\"\t\"}", "{\"a\":\"b}", "{\"p\":{\"a_base64\":\"QUJD}}",
    "{\"p\":{\"a_base64\":\"QUJD", "{\"p\":{\"a_base64\":\"", "{\"p\":{\"a_base64\":\"QUJD\"",
    "{\"p\":{\"a_base64\":\"QUJD\\", "{\"p\":{\"a_base64\":\"QUJD\\u00",
    "{\"p\":{\"a_base64\":\"Q\n",
    "{\"p\":{\"a_base64\":\"QUJD\\x\"}}", "{\"p\":{\"a_base64\":\"QUJD\t\"}}",
    "{\"p\":{\"a_base64\":\"QUJD\xff\"}}", "{\"p\":{\"a_base64\":\"QUJD\\u00zz\"}}",
    "{\"p\":{\"a_base64\":\"QUJD\":\"x\"}}", "{\"p\":{\"x\",\"a_base64\":\"QUJD\"}}",
    "{\"p\":{\"a_base64\":\"QUJD\",\"a_base64\":\"QUJD\"}}", "{\"p\":{\"a_base64\":\"QUJD\"}}\"",
    "{{\"a_base64\":\"QUJD\"}", "[{\"a_base64\":\"QUJD\"}]",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr(SbxWireLine) line = line_new (texts[i]);

      g_test_message ("text %" G_GSIZE_FORMAT, i);
      g_assert_null (_sbx_wire_line_get_object (line));
      g_assert_nonnull (_sbx_wire_line_get_error (line));
      g_assert_cmpuint (_sbx_wire_line_get_error (line)->domain, ==, SBX_ERROR);
    }
}

static void
test_refused_nul (void)
{
  const char text[] = "{\"a\":\"b\0c\"}";
  const char payload[] = "{\"p\":{\"a_base64\":\"QUJD\0QUJD\"}}";
  g_autoptr(GBytes) bytes = g_bytes_new (text, sizeof text - 1);
  g_autoptr(GBytes) payload_bytes = g_bytes_new (payload, sizeof payload - 1);
  g_autoptr(SbxWireLine) line = _sbx_wire_line_new (bytes);
  g_autoptr(SbxWireLine) payload_line = _sbx_wire_line_new (payload_bytes);

  g_assert_null (_sbx_wire_line_get_object (line));
  g_assert_null (_sbx_wire_line_get_object (payload_line));
}

static void
test_refused_nested (void)
{
  g_autofree char *open = g_strnfill (100 * 1000, '[');
  g_autofree char *close = g_strnfill (100 * 1000, ']');
  g_autofree char *text = g_strconcat ("{\"id\":\"req_9\",\"params\":", open, close, "}", NULL);
  g_autoptr(SbxWireLine) line = line_new (text);
  g_autoptr(SbxWireLine) only_open = line_new (open);
  g_autoptr(SbxWireLine) only_close = line_new (close);

  g_assert_error (_sbx_wire_line_get_error (line), SBX_ERROR, SBX_ERROR_TOO_LARGE);
  g_assert_cmpstr (_sbx_wire_line_guess_id (line), ==, "req_9");
  g_assert_nonnull (_sbx_wire_line_get_error (only_open));
  g_assert_nonnull (_sbx_wire_line_get_error (only_close));
}

static void
test_guess (void)
{
  g_autofree char *long_id = g_strnfill (200, 'x');
  g_autofree char *too_long_id = g_strnfill (201, 'x');
  g_autofree char *long_text = g_strdup_printf ("{\"id\":\"%s\",", long_id);
  g_autofree char *too_long_text = g_strdup_printf ("{\"id\":\"%s\",", too_long_id);
  const struct { const char *text; const char *id; } cases[] = {
    { "{\"id\":\"req_1\",\"result\":NaN}", "req_1" },
    { "{\"result\":{\"x\":NaN},\"id\" : \t\"req_1\"}", "req_1" },
    { "{\"result\":{\"id\":\"no\"},\"id\":\"req_1\",}", "req_1" },
    { "{\"result\":[{\"id\":\"no\"}],\"id\":\"req_1\",}", "req_1" },
    { "{\"result\":\"\\\"id\\\":\\\"no\\\"\",\"id\":\"req_1\",}", "req_1" },
    { "{\"result\":\"id\",\"id\":\"req_1\",}", "req_1" },
    { "{\"id\":\"req_1", NULL },
    { "{\"id\":", NULL },
    { "{\"id\"", NULL },
    { "{\"id", NULL },
    { "{\"id\":7,}", NULL },
    { "{\"id\":\"a\\u0062\",}", NULL },
    { "{\"id\":\"a\\\"b\",}", NULL },
    { "{\"id\":\"\xff\",}", NULL },
    { "{\"i\\u0064\":\"req_1\",}", NULL },
    { "\xef\xbb\xbf{\"id\":\"req_1\"}", "req_1" },
    { "\"id\":\"req_1\"", NULL },
    { "not JSON", NULL },
    { "}}}}{\"id\":\"req_1\"", NULL },
    { "\\\"{\"id\":\"req_1\"", NULL },
    { "{\"a\":\"b\\", NULL },
    { "{\"p\":{\"a_base64\":\"QUJD\"},\"id\":\"req_1\",}", "req_1" },
    { "{\"id\":\"\",}", "" },
    { long_text, long_id },
    { too_long_text, NULL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(SbxWireLine) line = line_new (cases[i].text);

      g_test_message ("text %" G_GSIZE_FORMAT, i);
      g_assert_nonnull (_sbx_wire_line_get_error (line));
      g_assert_cmpstr (_sbx_wire_line_guess_id (line), ==, cases[i].id);
    }
}

/* What a line must not be too small for: an argument vector as long as the kernel takes, and the
 * names of a large directory. */
static void
test_large (void)
{
  g_autoptr(GString) text = g_string_new ("{\"params\":{\"argv\":[\"x\"");
  g_autoptr(SbxWireLine) line = NULL;
  g_auto(GStrv) argv = NULL;

  for (int i = 0; i < 200 * 1000; i++)
    g_string_append_printf (text, ",\"%d\"", i);
  g_string_append (text, "]}}");

  line = line_new (text->str);
  g_assert_cmpint (_sbx_json_object_get_strv (get_params (line), "argv", &argv), ==,
                   SBX_JSON_PRESENT);
  g_assert_cmpuint (g_strv_length (argv), ==, 200 * 1000 + 1);
  g_assert_cmpstr (argv[200 * 1000], ==, "199999");
}

static void
test_too_long (void)
{
  const gsize size = SBX_WIRE_MAX_TEXT + 1024;
  g_autofree char *filling = g_strnfill (size, 'x');
  g_autofree char *payload = g_strnfill (size / 4 * 4, 'A');
  g_autofree char *text = g_strconcat ("{\"id\":\"req_1\",\"params\":{\"a\":\"", filling,
                                       "\",\"b_base64\":\"QUJD\"}}", NULL);
  g_autofree char *good_text = g_strconcat ("{\"params\":{\"x_base64\":\"", payload, "\"}}", NULL);
  g_autofree char *bad_text = g_strconcat ("{\"id\":\"req_1\",\"params\":{\"x_base64\":\"", payload,
                                           "-\"}}", NULL);
  g_autoptr(SbxWireLine) line = line_new (text);
  g_autoptr(SbxWireLine) good = line_new (good_text);
  g_autoptr(SbxWireLine) bad = line_new (bad_text);
  g_autoptr(GBytes) bytes = NULL;

  g_assert_error (_sbx_wire_line_get_error (line), SBX_ERROR, SBX_ERROR_TOO_LARGE);
  g_assert_cmpstr (_sbx_wire_line_guess_id (line), ==, "req_1");
  g_assert_cmpuint (_sbx_wire_line_get_size (line), ==, strlen (text));

  g_assert_cmpint (_sbx_wire_line_get_payload (good, get_params (good), "x_base64", &bytes), ==,
                   SBX_JSON_PRESENT);
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, size / 4 * 3);

  g_assert_error (_sbx_wire_line_get_error (bad), SBX_ERROR, SBX_ERROR_TOO_LARGE);
  g_assert_cmpstr (_sbx_wire_line_guess_id (bad), ==, "req_1");
}

/* A line must outlive nothing: its bytes stay when it goes. */
static void
test_bytes_stay (void)
{
  SbxWireLine *line = line_new ("{\"params\":{\"x_base64\":\"QUJD\"}}");
  g_autoptr(GBytes) bytes = NULL;

  g_assert_true (_sbx_wire_line_ref (line) == line);
  _sbx_wire_line_unref (line);
  g_assert_cmpint (_sbx_wire_line_get_payload (line, get_params (line), "x_base64", &bytes), ==,
                   SBX_JSON_PRESENT);
  _sbx_wire_line_unref (line);

  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), "ABC", 3);
}

static void
assert_same (SbxWireLine *line,
             SbxWireLine *other)
{
  const GError *error = _sbx_wire_line_get_error (line);
  g_autoptr(JsonNode) root = json_node_alloc ();
  g_autoptr(JsonNode) other_root = json_node_alloc ();

  g_assert_cmpuint (_sbx_wire_line_get_size (line), ==, _sbx_wire_line_get_size (other));
  g_assert_cmpstr (_sbx_wire_line_guess_id (line), ==, _sbx_wire_line_guess_id (other));

  if (error != NULL)
    {
      g_assert_error (_sbx_wire_line_get_error (other), error->domain, error->code);
      g_assert_cmpstr (error->message, ==, _sbx_wire_line_get_error (other)->message);
      return;
    }

  json_node_init_object (root, _sbx_wire_line_get_object (line));
  json_node_init_object (other_root, _sbx_wire_line_get_object (other));
  g_assert_true (json_node_equal (root, other_root));

  _sbx_wire_line_put_back (line);
  _sbx_wire_line_put_back (other);
  g_assert_true (json_node_equal (root, other_root));
}

static void
feed_all (SbxWireLifter *lifter,
          const char    *text,
          gsize          length)
{
  g_autofree guint8 *exact = g_malloc (MAX (length, 1));
  gboolean ended;

  memcpy (exact, text, length);
  g_assert_cmpuint (_sbx_wire_lifter_feed (lifter, exact, length, &ended), ==, length);
  g_assert_false (ended);
}

/* However the bytes come, the line is the same. */
static void
test_splits (void)
{
  const char *texts[] = {
    "{\"id\":\"req_1\",\"params\":{\"x_base64\":\"QUJDREVGR0hJSktMTU5PUFFS\",\"b\":1}}",
    ("{\"id\":\"req_1\",\"params\":{\"x_base64\" : \"Pz8\\/Pj4\\u002bQQ\\u003d=\" ,"
     "\"b\":[\"\\\\\"]}}"),
    "{\"id\":\"req_1\",\"params\":{\"x_base64\":\"QUJDREVGR0hJSk-\",\"b_base64\":\"QR==\"}}",
    "{\"id\":\"req_1\",\"params\":{\"x_base64\":\"QUJDRE\\u00e9\",\"b_base64\":\"QUJ\\\"QUJ\"}}",
    "{\"id\":\"req_1\",\"params\":{\"x_base64\":\"QUJD\\x\"}}",
    "{\"id\":\"req_1\",\"params\":{\"x_base64\":\"QUJD\\u00x0\"}}",
    "{\"id\":\"req_1\",\"params\":{\"_base64\":\"QUJD\",\"_base64x\":\"QUJD\",\"base64\":\"\"}}",
    "{\"id\":\"req_1\",\"params\":{\"\\\"_base64\":\"QUJD\",\"\\\\\":\"\xc3\xa9\\ud83d\\ude00\"}}",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      const gsize length = strlen (texts[i]);
      g_auto(SbxWireLifter) lifter = { .size = 0 };

      _sbx_wire_lifter_init (&lifter);

      for (gsize first = 0; first <= length; first++)
        for (gsize second = first; second <= length; second++)
          {
            g_autoptr(SbxWireLine) whole = line_new (texts[i]);
            g_autoptr(SbxWireLine) line = NULL;

            feed_all (&lifter, texts[i], first);
            feed_all (&lifter, texts[i] + first, second - first);
            feed_all (&lifter, texts[i] + second, length - second);
            line = _sbx_wire_lifter_finish (&lifter, G_MAXSIZE);
            g_assert_nonnull (line);
            assert_same (line, whole);
          }
    }
}

/* A line that breaks off anywhere, and the good one after it. */
static void
test_cut (void)
{
  const char *text = "{\"id\":\"req_1\",\"params\":{\"x_base64\":\"QUJD\\/\\u002bQQ==\","
                     "\"b\":\"\\\"\"}}";
  g_auto(SbxWireLifter) lifter = { .size = 0 };

  _sbx_wire_lifter_init (&lifter);

  for (gsize length = 1; length < strlen (text); length++)
    {
      g_autofree char *cut = g_strdup_printf ("%.*s\n{\"params\":{\"x_base64\":\"QUJD\"}}\n",
                                              (int) length, text);
      const gsize size = strlen (cut);
      gboolean ended = FALSE;
      const gsize n = _sbx_wire_lifter_feed (&lifter, (const guint8 *) cut, size, &ended);
      g_autoptr(SbxWireLine) line = NULL;
      g_autoptr(SbxWireLine) next = NULL;

      g_assert_true (ended);
      g_assert_cmpuint (n, ==, length + 1);
      line = _sbx_wire_lifter_finish (&lifter, G_MAXSIZE);
      g_assert_error (_sbx_wire_line_get_error (line), SBX_ERROR, SBX_ERROR_PROTOCOL);
      g_assert_cmpuint (_sbx_wire_line_get_size (line), ==, length);

      g_assert_cmpuint (_sbx_wire_lifter_feed (&lifter, (const guint8 *) cut + n, size - n,
                                               &ended), ==, size - n);
      g_assert_true (ended);
      next = _sbx_wire_lifter_finish (&lifter, G_MAXSIZE);
      assert_payload (next, "x_base64", "ABC", TRUE);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/wire-line/payload", test_payload);
  g_test_add_func ("/wire-line/absent", test_absent);
  g_test_add_func ("/wire-line/deeper", test_deeper);
  g_test_add_func ("/wire-line/many", test_many);
  g_test_add_func ("/wire-line/refused", test_refused);
  g_test_add_func ("/wire-line/refused-nul", test_refused_nul);
  g_test_add_func ("/wire-line/refused-nested", test_refused_nested);
  g_test_add_func ("/wire-line/guess", test_guess);
  g_test_add_func ("/wire-line/large", test_large);
  g_test_add_func ("/wire-line/too-long", test_too_long);
  g_test_add_func ("/wire-line/bytes-stay", test_bytes_stay);
  g_test_add_func ("/wire-line/splits", test_splits);
  g_test_add_func ("/wire-line/cut", test_cut);

  return g_test_run ();
}
