/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-error.h"
#include "json/sbx-json-private.h"

#include <string.h>

static JsonNode *
parse (const char *text,
       gssize      length,
       GError    **error)
{
  g_autoptr(GBytes) bytes = g_bytes_new (text, length < 0 ? strlen (text) : (gsize) length);

  return _sbx_json_parse (bytes, NULL, error);
}

static void
assert_refused (const char *text,
                gssize      length,
                SbxError    code,
                const char *message)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) node = parse (text, length, &error);

  g_assert_null (node);
  g_assert_error (error, SBX_ERROR, (int) code);

  if (message != NULL)
    g_assert_cmpstr (error->message, ==, message);
}

/* What must be read, and how it is written again. */
static const struct
{
  const char *name;
  const char *text;
  const char *written;
} good[] = {
  { "empty-array", "[]", "[]" },
  { "empty-object", "{}", "{}" },
  { "space-in-empty", " [ \t\r\n] ", "[]" },
  { "root-string", "\"a\"", "\"a\"" },
  { "root-number", "-7", "-7" },
  { "root-true", "true", "true" },
  { "root-false", " false", "false" },
  { "root-null", "null\n", "null" },
  { "order-kept", "{\"b\":1,\"a\":2,\"c\":{\"z\":[],\"y\":{}}}",
    "{\"b\":1,\"a\":2,\"c\":{\"z\":[],\"y\":{}}}" },
  { "space-everywhere", " { \"a\" : [ 1 , 2 , { } ] , \"b\" : null } ",
    "{\"a\":[1,2,{}],\"b\":null}" },
  { "empty-name", "{\"\":0}", "{\"\":0}" },
  { "name-differs-by-case", "{\"a\":0,\"A\":1}", "{\"a\":0,\"A\":1}" },
  { "same-name-elsewhere", "{\"a\":{\"a\":{\"a\":0}}}", "{\"a\":{\"a\":{\"a\":0}}}" },
  { "zero", "[0,-0]", "[0,0]" },
  { "largest-integers", "[9223372036854775807,-9223372036854775808]",
    "[9223372036854775807,-9223372036854775808]" },
  { "fractions", "[0.5,-0.25,10.0]", "[0.5,-0.25,10.0]" },
  { "negative-zero-fraction", "-0.0", "-0.0" },
  { "exponents", "[1e2,1E2,1e+2,1E-2,0e1,0e-0,1.5e3]", "[100.0,100.0,100.0,0.01,0.0,0.0,1500.0]" },
  { "largest-double", "1.7976931348623157e308", "1.7976931348623157e+308" },
  { "vanishes", "1e-400", "0.0" },
  { "close-to-zero",
    "-0.000000000000000000000000000000000000000000000000000000000000000000000000000001", "-1e-78" },
  { "all-escapes", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\u0008\\u000c\\n\\u000d\\t\"" },
  { "unicode-escapes", "\"\\u0061\\u00e9\\u20AC\\uD83D\\ude00\"", "\"aé€😀\"" },
  { "escaped-control", "\"\\u001f\\u007f\"", "\"\\u001f\\u007f\"" },
  { "escaped-quote", "\"\\u0022\\u005c\"", "\"\\\"\\\\\"" },
  { "backslash-then-u", "\"\\\\u0000\"", "\"\\\\u0000\"" },
  { "raw-delete", "\"\x7f\"", "\"\\u007f\"" },
  { "characters-of-each-length", "\"a\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\"",
    "\"a\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\"" },
  { "around-the-surrogates", "\"\xed\x9f\xbf\xee\x80\x80\"", "\"\xed\x9f\xbf\xee\x80\x80\"" },
  { "last-character", "\"\xf4\x8f\xbf\xbf\"", "\"\xf4\x8f\xbf\xbf\"" },
  { "line-separator", "\"\u2028\"", "\"\u2028\"" },
  { "comment-in-string", "\"/* a */ // b # c\"", "\"/* a */ // b # c\"" },
  { "brackets-in-string", "\"[[{{\"", "\"[[{{\"" },
};

static void
test_good (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) node = parse (good[i].text, -1, &error);
  g_autoptr(GBytes) written = NULL;

  g_assert_no_error (error);
  g_assert_nonnull (node);
  g_assert_true (json_node_is_immutable (node));

  written = _sbx_json_to_bytes (node, FALSE);
  g_assert_cmpmem (g_bytes_get_data (written, NULL), g_bytes_get_size (written), good[i].written,
                   strlen (good[i].written));
}

/* What must be refused as no JSON, or as more than we take for it. */
static const struct
{
  const char *name;
  const char *text;
} bad[] = {
  { "empty", "" },
  { "space-alone", " \n" },
  { "byte-order-mark", "\xef\xbb\xbf{}" },
  { "utf-16", "\xff\xfe" },
  { "second-root", "{\"a\":1}{\"b\":2}" },
  { "second-root-after-space", "1 2" },
  { "second-root-array", "[][]" },
  { "bracket-after-root", "[]]" },
  { "brace-after-root", "{}}" },
  { "comma-after-root", "[]," },
  { "block-comment", "/* c */[]" },
  { "block-comment-within", "[1/* c */]" },
  { "line-comment", "[] // c" },
  { "hash-comment", "[] # c" },
  { "variable", "var x = [];" },
  { "form-feed-as-space", "[\f]" },
  { "no-break-space", "[\xc2\xa0]" },
  { "open-array", "[" },
  { "open-array-after-value", "[1" },
  { "open-array-after-comma", "[1," },
  { "open-object", "{" },
  { "open-object-after-name", "{\"a\"" },
  { "open-object-after-colon", "{\"a\":" },
  { "open-object-after-value", "{\"a\":1" },
  { "open-object-after-comma", "{\"a\":1," },
  { "wrong-closer-of-array", "[1}" },
  { "wrong-closer-of-object", "{\"a\":1]" },
  { "crossed", "[{\"a\":1]}" },
  { "comma-first", "[,1]" },
  { "comma-alone", "[,]" },
  { "comma-last", "[1,]" },
  { "comma-twice", "[1,,2]" },
  { "comma-last-in-object", "{\"a\":1,}" },
  { "comma-alone-in-object", "{,}" },
  { "no-comma", "[1 2]" },
  { "no-comma-in-object", "{\"a\":1 \"b\":2}" },
  { "semicolon", "[1;2]" },
  { "colon-in-array", "[\"a\":1]" },
  { "colon-twice", "{\"a\"::1}" },
  { "comma-for-colon", "{\"a\",1}" },
  { "name-alone", "{\"a\"}" },
  { "name-without-quotes", "{a:1}" },
  { "name-in-single-quotes", "{'a':1}" },
  { "name-number", "{1:1}" },
  { "name-null", "{null:1}" },
  { "name-object", "{{}:1}" },
  { "name-twice", "{\"a\":1,\"a\":2}" },
  { "name-twice-escaped", "{\"a\":1,\"\\u0061\":2}" },
  { "name-twice-far-apart", "{\"a\":{\"a\":1},\"b\":[],\"a\":2}" },
  { "name-empty-twice", "{\"\":1,\"\":2}" },
  { "single-quotes", "['a']" },
  { "string-open", "[\"a" },
  { "string-open-quote-alone", "\"" },
  { "string-open-after-backslash", "\"\\" },
  { "string-open-after-escaped-quote", "\"\\\"" },
  { "string-newline", "\"a\nb\"" },
  { "string-tab", "\"a\tb\"" },
  { "string-control", "\"a\x1f\"" },
  { "string-control-in-long", "\"aaaaaaaaaaaaaaaaaaaaaa\x01" "aaaaaaaaaaaaaaaaaaa\"" },
  { "escape-x", "\"\\x41\"" },
  { "escape-a", "\"\\a\"" },
  { "escape-capital-u", "\"\\U0041\"" },
  { "escape-single-quote", "\"\\'\"" },
  { "escape-not-ascii", "\"\\\xc3\xa9\"" },
  { "escape-newline", "\"\\\n\"" },
  { "escape-zero", "\"\\0\"" },
  { "unicode-three-digits", "\"\\u004\"" },
  { "unicode-no-digit", "\"\\u\"" },
  { "unicode-not-hexadecimal", "\"\\u00g0\"" },
  { "unicode-cut", "\"\\u00" },
  { "unicode-nul", "\"x\\u0000y\"" },
  { "unicode-nul-in-name", "{\"\\u0000\":1}" },
  { "surrogate-high-alone", "\"\\ud800\"" },
  { "surrogate-low-alone", "\"\\udc00\"" },
  { "surrogate-high-twice", "\"\\ud800\\ud800\"" },
  { "surrogate-high-then-character", "\"\\ud800a\"" },
  { "surrogate-high-then-escape", "\"\\ud800\\n\"" },
  { "surrogate-high-then-other", "\"\\ud800\\u0041\"" },
  { "surrogate-swapped", "\"\\udc00\\ud800\"" },
  { "surrogate-cut", "\"\\ud800\\u" },
  { "surrogate-cut-backslash", "\"\\ud800\\" },
  { "utf-8-lone-continuation", "\"\x80\"" },
  { "utf-8-cut", "\"\xe2\x82\"" },
  { "utf-8-cut-at-end", "\"\xf0\x9f" },
  { "utf-8-bad-continuation", "\"\xe2\x28\xa1\"" },
  { "utf-8-too-long-two", "\"\xc0\xaf\"" },
  { "utf-8-too-long-three", "\"\xe0\x9f\xbf\"" },
  { "utf-8-too-long-four", "\"\xf0\x8f\xbf\xbf\"" },
  { "utf-8-nul-in-two", "\"\xc0\x80\"" },
  { "utf-8-surrogate", "\"\xed\xa0\x80\"" },
  { "utf-8-beyond-last", "\"\xf4\x90\x80\x80\"" },
  { "utf-8-five-bytes", "\"\xf8\x88\x80\x80\x80\"" },
  { "utf-8-latin-1", "\"caf\xe9\"" },
  { "utf-8-outside-string", "[\xc3\xa9]" },
  { "number-plus", "+1" },
  { "number-minus-alone", "-" },
  { "number-minus-twice", "--1" },
  { "number-minus-space", "- 1" },
  { "number-leading-zero", "010" },
  { "number-leading-zero-negative", "-01" },
  { "number-zero-zero", "00" },
  { "number-point-first", ".5" },
  { "number-point-first-negative", "-.5" },
  { "number-point-last", "1." },
  { "number-point-then-exponent", "1.e1" },
  { "number-point-twice", "1.2.3" },
  { "number-exponent-empty", "1e" },
  { "number-exponent-sign-alone", "1e+" },
  { "number-exponent-twice", "1e1e1" },
  { "number-exponent-fraction", "1e1.5" },
  { "number-exponent-signs", "1e+-1" },
  { "number-hexadecimal", "0x10" },
  { "number-binary", "0b1" },
  { "number-underscore", "1_000" },
  { "number-letters-after", "1a" },
  { "number-suffix", "1L" },
  { "number-full-width", "\xef\xbc\x91" },
  { "number-in-other-digits", "\xd9\xa1" },
  { "nan", "NaN" },
  { "infinity", "Infinity" },
  { "infinity-negative", "-Infinity" },
  { "inf", "[inf]" },
  { "word-capital", "True" },
  { "word-cut", "tru" },
  { "word-cut-null", "[nul]" },
  { "word-longer", "truee" },
  { "word-longer-null", "nulll" },
  { "word-other", "undefined" },
  { "words-joined", "[truefalse]" },
};

static void
test_bad (gconstpointer data)
{
  assert_refused (bad[GPOINTER_TO_UINT (data)].text, -1, SBX_ERROR_PROTOCOL, NULL);
}

/* A NUL is no end of the text, wherever it stands. */
static void
test_nul (void)
{
  assert_refused ("\0", 1, SBX_ERROR_PROTOCOL, NULL);
  assert_refused ("[]\0", 3, SBX_ERROR_PROTOCOL, NULL);
  assert_refused ("[1\0]", 4, SBX_ERROR_PROTOCOL, NULL);
  assert_refused ("\"a\0b\"", 5, SBX_ERROR_PROTOCOL, NULL);
  assert_refused ("{\"a\0\":1}", 8, SBX_ERROR_PROTOCOL, NULL);
}

/*
 * Each prefix of a text that has everything in it is refused, and read in its own memory: a byte
 * beyond the end would be seen by a checker of memory.
 */
static void
test_prefixes (void)
{
  const char *text = "{\"a\":[1,-2.5e+3,true,false,null,"
                     "\"\\u00e9\\ud83d\\ude00\xc3\xa9\xe2\x82\xac\"]}";
  const gsize length = strlen (text);

  for (gsize i = 0; i < length; i++)
    {
      g_autofree char *copy = g_memdup2 (text, i);
      g_autoptr(GBytes) bytes = g_bytes_new_static (copy, i);
      g_autoptr(GError) error = NULL;
      g_autoptr(JsonNode) node = _sbx_json_parse (bytes, NULL, &error);

      g_assert_null (node);
      g_assert_error (error, SBX_ERROR, SBX_ERROR_PROTOCOL);
    }
}

/* Strings of every length up to some words with one special byte at every place. */
static void
test_places (void)
{
  static const struct { char byte; gboolean refused; } specials[] = {
    { '\x01', TRUE }, { '\x1f', TRUE }, { ' ', FALSE }, { '!', FALSE }, { '#', FALSE },
    { '[', FALSE }, { ']', FALSE }, { '\x7f', FALSE }, { '\x80', TRUE }, { '\xff', TRUE },
  };

  for (gsize s = 0; s < G_N_ELEMENTS (specials); s++)
    for (gsize length = 1; length < 34; length++)
      for (gsize place = 0; place < length; place++)
        {
          g_autoptr(GString) text = g_string_new ("\"");
          g_autoptr(GError) error = NULL;
          g_autoptr(JsonNode) node = NULL;

          for (gsize i = 0; i < length; i++)
            g_string_append_c (text, i == place ? specials[s].byte : 'x');

          g_string_append_c (text, '"');
          node = parse (text->str, (gssize) text->len, &error);
          g_assert_true ((node == NULL) == specials[s].refused);

          if (node != NULL)
            g_assert_cmpmem (json_node_get_string (node), length, text->str + 1, length);
        }
}

/* The message tells where, and nothing that the text said. */
static void
test_messages (void)
{
  assert_refused ("[1,SECRET]", -1, SBX_ERROR_PROTOCOL,
                  "Not JSON at byte 3: no value where one must be");
  assert_refused ("{\"a\":1,\"a\":2}", -1, SBX_ERROR_PROTOCOL,
                  "Not JSON at byte 10: a name that the object has already");
  assert_refused ("[9223372036854775808]", -1, SBX_ERROR_TOO_LARGE,
                  "JSON over a limit at byte 20: an integer that does not fit in 64 bits");
}

/* "[[[…" of @depth, closed again if @closed. */
static GBytes *
nested (guint    depth,
        gboolean closed)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < depth; i++)
    g_string_append_c (text, '[');

  for (guint i = 0; closed && i < depth; i++)
    g_string_append_c (text, ']');

  return g_string_free_to_bytes (text);
}

static void
test_depth (void)
{
  const SbxJsonLimits defaults = SBX_JSON_DEFAULT_LIMITS;
  SbxJsonLimits one = SBX_JSON_DEFAULT_LIMITS;
  const struct
  {
    guint depth;
    gboolean closed;
    const SbxJsonLimits *limits;
    gboolean good;
  } cases[] = {
    { 64, TRUE, &defaults, TRUE }, { 65, TRUE, &defaults, FALSE },
    { 100 * 1000, FALSE, &defaults, FALSE }, { 100 * 1000, TRUE, &defaults, FALSE },
    { 1, TRUE, &one, TRUE }, { 2, TRUE, &one, FALSE },
  };

  one.max_depth = 1;

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GBytes) text = nested (cases[i].depth, cases[i].closed);
      g_autoptr(GError) error = NULL;
      g_autoptr(JsonNode) node = _sbx_json_parse (text, cases[i].limits, &error);

      if (cases[i].good)
        g_assert_no_error (error);
      else
        g_assert_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE);

      g_assert_true ((node != NULL) == cases[i].good);
    }
}

static void
test_numbers (void)
{
  g_autofree char *long_number = g_strnfill (129, '1');
  g_autofree char *long_fraction = g_strdup_printf ("0.%s", long_number);

  assert_refused ("9223372036854775808", -1, SBX_ERROR_TOO_LARGE, NULL);
  assert_refused ("-9223372036854775809", -1, SBX_ERROR_TOO_LARGE, NULL);
  assert_refused ("18446744073709551615", -1, SBX_ERROR_TOO_LARGE, NULL);
  assert_refused ("18446744073709551616", -1, SBX_ERROR_TOO_LARGE, NULL);
  assert_refused ("99999999999999999999999999", -1, SBX_ERROR_TOO_LARGE, NULL);
  assert_refused ("1e400", -1, SBX_ERROR_TOO_LARGE, NULL);
  assert_refused ("-1e400", -1, SBX_ERROR_TOO_LARGE, NULL);
  assert_refused ("1e99999999999999999999", -1, SBX_ERROR_TOO_LARGE, NULL);
  assert_refused (long_number, -1, SBX_ERROR_TOO_LARGE, NULL);
  assert_refused (long_fraction, -1, SBX_ERROR_TOO_LARGE, NULL);
}

/* Parses @text, and parses it with a limit that is one lower. */
static void
assert_limit (const char          *text,
              const SbxJsonLimits *enough,
              const SbxJsonLimits *lower)
{
  g_autoptr(GBytes) bytes = g_bytes_new_static (text, strlen (text));
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) accepted = _sbx_json_parse (bytes, enough, &error);
  g_autoptr(JsonNode) refused = NULL;

  g_assert_no_error (error);
  g_assert_nonnull (accepted);

  refused = _sbx_json_parse (bytes, lower, &error);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE);
  g_assert_null (refused);
}

static void
test_limits (void)
{
  SbxJsonLimits enough = SBX_JSON_DEFAULT_LIMITS;
  SbxJsonLimits lower = SBX_JSON_DEFAULT_LIMITS;

  enough.max_size = 8;
  lower.max_size = 7;
  assert_limit ("[1,2,3 ]", &enough, &lower);

  enough = lower = (SbxJsonLimits) SBX_JSON_DEFAULT_LIMITS;
  enough.max_tokens = 6;
  lower.max_tokens = 5;
  assert_limit ("{\"a\":[1,2,null]}", &enough, &lower);
  assert_limit ("[0,0,0,0,0]", &enough, &lower);

  enough = lower = (SbxJsonLimits) SBX_JSON_DEFAULT_LIMITS;
  enough.max_members = 2;
  lower.max_members = 1;
  assert_limit ("{\"a\":{\"b\":1},\"c\":2}", &enough, &lower);

  enough = lower = (SbxJsonLimits) SBX_JSON_DEFAULT_LIMITS;
  enough.max_string = 8;
  lower.max_string = 7;
  assert_limit ("{\"ab\\u00e9\":0}", &enough, &lower);
  assert_limit ("\"abcdefgh\"", &enough, &lower);

  enough = lower = (SbxJsonLimits) SBX_JSON_DEFAULT_LIMITS;
  enough.max_number = 5;
  lower.max_number = 4;
  assert_limit ("[-12.5]", &enough, &lower);
  assert_limit ("[12345]", &enough, &lower);
}

/* A megabyte of "0,0,0…" would be 40 MB of nodes. */
static void
test_many (void)
{
  g_autoptr(GString) text = g_string_new ("[0");

  while (text->len < 1024 * 1024)
    g_string_append (text, ",0");

  g_string_append_c (text, ']');
  assert_refused (text->str, (gssize) text->len, SBX_ERROR_TOO_LARGE, NULL);
}

/* Names whose hash is the same are quadratic: a full object of them must not take long. */
static void
test_collisions (void)
{
  const SbxJsonLimits defaults = SBX_JSON_DEFAULT_LIMITS;
  g_autoptr(GString) text = g_string_new ("{");
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) node = NULL;
  const gint64 begin = g_get_monotonic_time ();

  /* The hash of GLib is 33 * x + y for two characters: the same for x + 1 and y - 33. */
  g_assert_cmpuint (g_str_hash ("bA"), ==, g_str_hash ("ab"));

  for (guint i = 0; i < defaults.max_members; i++)
    {
      g_string_append (text, i > 0 ? ",\"" : "\"");

      for (guint bit = 0; bit < 12; bit++)
        g_string_append (text, (i >> bit & 1) != 0 ? "bA" : "ab");

      g_string_append (text, "\":0");
    }

  g_string_append_c (text, '}');
  node = parse (text->str, (gssize) text->len, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (json_object_get_size (json_node_get_object (node)), ==, defaults.max_members);
  g_assert_cmpint (g_get_monotonic_time () - begin, <, 120 * G_USEC_PER_SEC);
}

static void
add_tables (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    {
      g_autofree char *path = g_strdup_printf ("/json/good/%s", good[i].name);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_good);
    }

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *path = g_strdup_printf ("/json/bad/%s", bad[i].name);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_bad);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  add_tables ();
  g_test_add_func ("/json/nul", test_nul);
  g_test_add_func ("/json/prefixes", test_prefixes);
  g_test_add_func ("/json/places", test_places);
  g_test_add_func ("/json/messages", test_messages);
  g_test_add_func ("/json/depth", test_depth);
  g_test_add_func ("/json/numbers", test_numbers);
  g_test_add_func ("/json/limits", test_limits);
  g_test_add_func ("/json/many", test_many);
  g_test_add_func ("/json/collisions", test_collisions);

  return g_test_run ();
}
