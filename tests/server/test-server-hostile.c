/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "server-fixture.h"

/*
 * Whatever a client sends: it gets an answer that tells what is wrong, nobody else suffers, and the
 * next line is a new one.
 */

typedef struct
{
  const char *line;
  const char *id;      /* that the answer has */
  const char *code;
} Row;

static const Row rows[] = {
  { "nonsense", "unknown", "invalid_request" },
  { "{", "unknown", "invalid_request" },
  { "[]", "unknown", "invalid_request" },
  { "[\"1\",\"capabilities\",{}]", "unknown", "invalid_request" },
  { "\"text\"", "unknown", "invalid_request" },
  { "12", "unknown", "invalid_request" },
  { "null", "unknown", "invalid_request" },
  { "{}", "unknown", "invalid_request" },
  { "{}{}", "unknown", "invalid_request" },
  { "/* comment */ {}", "unknown", "invalid_request" },
  { "\xef\xbb\xbf{\"id\":\"1\",\"method\":\"capabilities\"}", "1", "invalid_request" },
  { "{\"method\":\"capabilities\"}", "unknown", "invalid_request" },
  { "{\"id\":1,\"method\":\"capabilities\"}", "unknown", "invalid_request" },
  { "{\"id\":null,\"method\":\"capabilities\"}", "unknown", "invalid_request" },
  { "{\"id\":{},\"method\":\"capabilities\"}", "unknown", "invalid_request" },
  { "{\"id\":\"1\"}", "1", "invalid_request" },
  { "{\"id\":\"1\",\"method\":7}", "1", "invalid_request" },
  { "{\"id\":\"1\",\"method\":\"\"}", "1", "invalid_request" },
  { "{\"id\":\"1\",\"method\":\"no_such\"}", "1", "unsupported_method" },
  { "{\"id\":\"1\",\"method\":\"admit\",\"params\":{}}", "1", "unsupported_method" },
  { "{\"id\":\"1\",\"method\":\"CAPABILITIES\"}", "1", "unsupported_method" },
  { "{\"id\":\"1\",\"method\":\"capabilities\",\"params\":[]}", "1", "invalid_request" },
  { "{\"id\":\"1\",\"method\":\"capabilities\",\"params\":3}", "1", "invalid_request" },
  { "{\"id\":\"1\",\"id\":\"2\",\"method\":\"capabilities\"}", "1", "invalid_request" },
  { "{\"id\":\"1\",\"method\":\"capabilities\",\"x\":9223372036854775808}", "1",
    "invalid_request" },
  { "{\"id\":\"1\",\"method\":\"capabilities\",\"x\":1e400}", "1", "invalid_request" },
  { "{\"id\":\"1\",\"method\":\"capabilities\",\"x\":\"\\ud800\"}", "1", "invalid_request" },
  { "{\"id\":\"1\",\"method\":\"capabilities\",\"x\":\"\\u0000\"}", "1", "invalid_request" },
  { "{\"id\":\"1\",\"method\":\"capabilities\",\"x\":\"\xff\xfe\"}", "1", "invalid_request" },
  { "{\"id\":\"1\",\"method\":\"capabilities\",\"x\":NaN}", "1", "invalid_request" },
  { "{\"id\":\"1\",\"method\":\"capabilities\",}", "1", "invalid_request" },
  { "{\"id\":\"1\",\"method\":\"close\",\"params\":{\"session\":\"s1\"}}", "1",
    "invalid_request" },
  { "{\"id\":\"1\",\"method\":\"close\",\"params\":{\"session\":{\"id\":5}}}", "1",
    "invalid_request" },
  { "{\"id\":\"1\",\"method\":\"close\",\"params\":{\"session\":{\"id\":\"../../etc\"}}}", "1",
    "unknown_session" },
  { "{\"id\":\"1\",\"method\":\"exec\",\"params\":null}", "1", "invalid_request" },
  { "{\"id\":\"1\",\"method\":\"cancel\",\"params\":{\"request_id\":1}}", "1",
    "invalid_request" },
  { "{\"id\":\"1\",\"method\":\"cleanup_group\",\"params\":{}}", "1", "invalid_request" },
  { "{\"id\":\"1\",\"method\":\"cleanup_group\",\"params\":{\"sandbox_group_id\":\"\"}}", "1",
    "invalid_request" },
};

static void
expect_alive (Place *place)
{
  place_send (place, "{\"id\":\"alive\",\"method\":\"cancel\",\"params\":{\"request_id\":\"x\"}}");
  place_expect (place, "{\"id\":\"alive\",\"result\":{}}");
}

static void
test_lines (void)
{
  g_autoptr(Place) place = place_new ();

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *start = g_strdup_printf ("{\"id\":\"%s\",\"error\":{\"code\":\"%s\",",
                                                rows[i].id, rows[i].code);
      g_autofree char *line = NULL;

      place_send (place, rows[i].line);
      line = place_receive (place);
      if (!g_str_has_prefix (line, start))
        g_error ("%s: %s", rows[i].line, line);
      g_assert_true (g_utf8_validate (line, -1, NULL));
      expect_alive (place);
    }

  g_assert_cmpuint (sbx_provider_server_get_n_pending (place->server), ==, 0);
  place_close (place);
}

static void
test_session_lines (void)
{
  static const char * const params[] = {
    "\"write_file\",\"params\":{$S,\"path\":\"f\"}",
    "\"write_file\",\"params\":{$S,\"path\":\"f\",\"content_base64\":null}",
    "\"write_file\",\"params\":{$S,\"path\":\"f\",\"content_base64\":\"A\"}",
    "\"write_file\",\"params\":{$S,\"path\":\"f\",\"content_base64\":\"AA\"}",
    "\"write_file\",\"params\":{$S,\"path\":\"f\",\"content_base64\":\"AB==\"}",
    "\"write_file\",\"params\":{$S,\"path\":\"f\",\"content_base64\":\"AA==AA==\"}",
    "\"write_file\",\"params\":{$S,\"path\":\"f\",\"content_base64\":\"A A=\"}",
    "\"write_file\",\"params\":{$S,\"path\":\"f\",\"content_base64\":\"-_==\"}",
    "\"write_file\",\"params\":{$S,\"path\":\"f\",\"content_base64\":\"\",\"mode\":-1}",
    "\"write_file\",\"params\":{$S,\"path\":\"f\",\"content_base64\":\"\",\"offset\":1e3}",
    "\"write_file\",\"params\":{$S,\"content_base64\":\"\"}",
    "\"read_file\",\"params\":{$S}",
    "\"read_file\",\"params\":{$S,\"path\":\"\"}",
    "\"read_file\",\"params\":{$S,\"path\":[]}",
    "\"read_file\",\"params\":{$S,\"path\":\"f\",\"length\":-1}",
    "\"rename\",\"params\":{$S,\"path\":\"f\"}",
    "\"create_temp_dir\",\"params\":{$S,\"prefix\":\"a/b\"}",
    "\"create_temp_dir\",\"params\":{$S,\"prefix\":1}",
    "\"wait\",\"params\":{$S}",
    "\"kill\",\"params\":{$S,\"process_id\":1}",
  };
  g_autoptr(Place) place = place_new ();
  g_autofree char *session = place_open (place);

  for (gsize i = 0; i < G_N_ELEMENTS (params); i++)
    {
      g_autofree char *line = g_strdup_printf ("{\"id\":\"1\",\"method\":%s}", params[i]);

      g_test_message ("%s", line);
      place_send_to (place, session, line);
      place_expect_error (place, "1", "invalid_request");
    }

  g_assert_cmpuint (g_hash_table_size (place->provider->session->files), ==, 0);
  place_close (place);
}

static void
test_nesting (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(GString) line = g_string_new ("{\"id\":\"1\",\"x\":");

  for (guint i = 0; i < 100000; i++)
    g_string_append_c (line, '[');

  place_send (place, line->str);
  g_free (place_receive (place));
  expect_alive (place);
  place_close (place);
}

/* Blank lines and carriage returns are passed over; lines may come in pieces. */
static void
test_framing (void)
{
  static const char request[] =
    "\n  \n\r\n{\"id\":\"1\",\"method\":\"cancel\",\"params\":{\"request_id\":\"x\"}}\r\n";
  g_autoptr(Place) place = place_new ();

  for (gsize i = 0; i < strlen (request); i++)
    {
      place_send_bytes (place, request + i, 1);
      while (g_main_context_iteration (NULL, FALSE))
        continue;
    }

  place_expect (place, "{\"id\":\"1\",\"result\":{}}");

  /* A last line without its newline is one; half of one is answered as what it is. */
  place_send_bytes (place, "{\"id\":\"2\",\"meth", 16);
  place_close (place);
  place_expect_error (place, "2", "invalid_request");
}

/* Params may be left out where nothing is required. */
static void
test_params (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *first = NULL;
  g_autofree char *second = NULL;

  place_send (place, "{\"method\":\"capabilities\",\"unknown\":[1,2],\"id\":\"1\"}");
  first = place_receive (place);
  place_send (place, "{\"params\":null,\"method\":\"capabilities\",\"id\":\"1\"}");
  second = place_receive (place);
  g_assert_true (g_str_has_prefix (first, "{\"id\":\"1\",\"result\":{\"exec\":true"));
  g_assert_cmpstr (first, ==, second);
  place_close (place);
}

/* Any string is an id. */
static void
test_ids (void)
{
  g_autoptr(Place) place = place_new ();

  place_send (place, "{\"id\":\"\",\"method\":\"cancel\",\"params\":{\"request_id\":\"x\"}}");
  place_expect (place, "{\"id\":\"\",\"result\":{}}");
  place_send (place, "{\"id\":\"a\\\"\\\\\\n\\u00e4\",\"method\":\"cancel\",\"params\":{"
                     "\"request_id\":\"x\"}}");
  place_expect (place, "{\"id\":\"a\\\"\\\\\\nä\",\"result\":{}}");
  place_close (place);
}

static void
test_duplicate_id (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *session = place_open (place);

  place_send_to (place, session, "{\"id\":\"1\",\"method\":\"read_file\",\"params\":{$S,"
                                 "\"path\":\"keep\"}}");
  place_send (place, "{\"id\":\"1\",\"method\":\"capabilities\"}");
  place_expect_error (place, "1", "invalid_request");
  place_send (place, "{\"id\":\"2\",\"method\":\"cancel\",\"params\":{\"request_id\":\"1\"}}");
  place_expect (place, "{\"id\":\"2\",\"result\":{}}");
  place_expect_error (place, "1", "cancelled");
  place_close (place);
}

/* One that cancels itself, and one that cancels what cannot be cancelled. */
static void
test_odd_cancels (void)
{
  g_autoptr(Place) place = place_new ();

  place_send (place, "{\"id\":\"1\",\"method\":\"cancel\",\"params\":{\"request_id\":\"1\"}}");
  place_expect (place, "{\"id\":\"1\",\"result\":{}}");
  place_send (place, OPEN_LINE ("2", "keep", "g"));
  place_send (place, "{\"id\":\"3\",\"method\":\"cancel\",\"params\":{\"request_id\":\"2\"}}");
  place_expect (place, "{\"id\":\"3\",\"result\":{}}");
  g_assert_true (g_cancellable_is_cancelled (sbx_invocation_get_cancellable
                                               (place->provider->kept)));
  g_clear_object (&place->provider->kept);
  place_expect_error (place, "2", "cancelled");
  place_close (place);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/server/hostile/lines", test_lines);
  g_test_add_func ("/server/hostile/session-lines", test_session_lines);
  g_test_add_func ("/server/hostile/nesting", test_nesting);
  g_test_add_func ("/server/hostile/framing", test_framing);
  g_test_add_func ("/server/hostile/params", test_params);
  g_test_add_func ("/server/hostile/ids", test_ids);
  g_test_add_func ("/server/hostile/duplicate-id", test_duplicate_id);
  g_test_add_func ("/server/hostile/odd-cancels", test_odd_cancels);

  return g_test_run ();
}
