/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <signal.h>
#include <string.h>

#include "server-fixture.h"

/* The member of an event, up to the next quotation mark. */
static char *
get_member (const char *line,
            const char *name)
{
  g_autofree char *start = g_strdup_printf ("\"%s\":\"", name);
  const char *found = strstr (line, start);

  g_assert_nonnull (found);
  found += strlen (start);

  return g_strndup (found, strcspn (found, "\""));
}

/* The id of the process whose start is told next. */
static char *
receive_started (Place *place)
{
  g_autofree char *line = place_receive (place);

  g_assert_nonnull (strstr (line, "\"event\":{\"type\":\"started\""));

  return get_member (line, "process_id");
}

static gboolean
wake_cb (gpointer user_data)
{
  return G_SOURCE_CONTINUE;
}

/* It has been killed; that it was reaped as well is told by nobody. */
static void
assert_gone (const char *pid)
{
  const guint wake = g_timeout_add (1, wake_cb, NULL);

  test_wait_for (kill ((pid_t) g_ascii_strtoll (pid, NULL, 10), 0) == -1);
  g_source_remove (wake);
}

static void
test_exec (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *id = place_open (place);

  place_send_to (place, id, "{\"id\":\"1\",\"method\":\"exec\",\"params\":{$S,\"argv\":[\"sh\","
                            "\"-c\",\"cat; exit 3\"],\"stdin_base64\":\"AAH/\"}}");
  g_free (receive_started (place));
  place_expect (place, "{\"id\":\"1\",\"event\":{\"type\":\"stdout\",\"data_base64\":\"AAH/\"}}");
  place_expect (place, "{\"id\":\"1\",\"event\":{\"type\":\"exited\",\"exit_code\":3}}");
  place_expect (place, "{\"id\":\"1\",\"result\":{\"exit_code\":3,\"stdout_base64\":\"AAH/\","
                       "\"stderr_base64\":\"\"}}");
  place_close (place);
}

static void
test_quiet (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *id = place_open (place);

  place_send_to (place, id, "{\"id\":\"1\",\"method\":\"exec\",\"params\":{$S,\"argv\":[\"echo\","
                            "\"hi\"],\"collect\":false}}");
  g_free (receive_started (place));
  place_expect (place, "{\"id\":\"1\",\"event\":{\"type\":\"stdout\",\"data_base64\":\"aGkK\"}}");
  place_expect (place, "{\"id\":\"1\",\"event\":{\"type\":\"exited\",\"exit_code\":0}}");
  place_expect (place, "{\"id\":\"1\",\"result\":{\"exit_code\":0,\"stdout_base64\":\"\","
                       "\"stderr_base64\":\"\"}}");

  place_send_to (place, id, "{\"id\":\"2\",\"method\":\"exec\",\"params\":{$S,\"argv\":[\"echo\","
                            "\"hi\"],\"collect_limit\":1}}");
  g_free (receive_started (place));
  place_expect (place, "{\"id\":\"2\",\"event\":{\"type\":\"stdout\",\"data_base64\":\"aGkK\"}}");
  place_expect (place, "{\"id\":\"2\",\"event\":{\"type\":\"exited\",\"exit_code\":0}}");
  place_expect (place, "{\"id\":\"2\",\"result\":{\"exit_code\":0,\"stdout_base64\":\"aA==\","
                       "\"stderr_base64\":\"\",\"stdout_truncated\":2}}");
  place_close (place);
}

static void
test_ends (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *id = place_open (place);
  g_autofree char *line = NULL;

  place_send_to (place, id, "{\"id\":\"1\",\"method\":\"exec\",\"params\":{$S,\"argv\":[\"sh\","
                            "\"-c\",\"kill -9 $$\"]}}");
  g_free (receive_started (place));
  place_expect (place, "{\"id\":\"1\",\"event\":{\"type\":\"exited\",\"exit_code\":137,"
                       "\"signal\":9}}");
  place_expect (place, "{\"id\":\"1\",\"result\":{\"exit_code\":137,\"stdout_base64\":\"\","
                       "\"stderr_base64\":\"\",\"signal\":9}}");

  place_send_to (place, id, "{\"id\":\"2\",\"method\":\"exec\",\"params\":{$S,\"argv\":[\"sleep\","
                            "\"1000\"],\"timeout_ms\":20}}");
  g_free (receive_started (place));
  place_expect (place, "{\"id\":\"2\",\"event\":{\"type\":\"exited\",\"exit_code\":124,"
                       "\"timed_out\":true}}");
  place_expect (place, "{\"id\":\"2\",\"result\":{\"exit_code\":124,\"stdout_base64\":\"\","
                       "\"stderr_base64\":\"\",\"timed_out\":true}}");

  place_send_to (place, id, "{\"id\":\"3\",\"method\":\"exec\",\"params\":{$S,\"argv\":["
                            "\"/no/such\"]}}");
  line = place_receive (place);
  g_assert_true (g_str_has_prefix (line, "{\"id\":\"3\",\"result\":{\"exit_code\":127,"
                                         "\"stdout_base64\":\"\",\"stderr_base64\":\"\","
                                         "\"not_started\":{\"kind\":\"not_found\","));
  place_close (place);
}

static void
test_bad_exec (void)
{
  static const char * const params[] = {
    "\"argv\":[]",
    "\"argv\":[\"\"]",
    "\"argv\":[1]",
    "\"argv\":\"true\"",
    "\"argv\":[\"true\"],\"cwd\":3",
    "\"argv\":[\"true\"],\"env\":null,\"stdin_base64\":\"=\"",
    "\"argv\":[\"true\"],\"env\":{\"a=b\":\"c\"}",
    "\"argv\":[\"true\"],\"stdin_base64\":\"!!!!\"",
    "\"argv\":[\"true\"],\"timeout_ms\":-1",
    "\"argv\":[\"true\"],\"pty\":{\"rows\":0,\"columns\":1}",
  };
  g_autoptr(Place) place = place_new ();
  g_autofree char *id = place_open (place);

  for (gsize i = 0; i < G_N_ELEMENTS (params); i++)
    {
      g_autofree char *line = g_strdup_printf ("{\"id\":\"1\",\"method\":\"exec\",\"params\":{$S,"
                                               "%s}}", params[i]);

      place_send_to (place, id, line);
      place_expect_error (place, "1", "invalid_request");
    }

  place_send (place, "{\"id\":\"2\",\"method\":\"exec\",\"params\":{\"argv\":[\"true\"]}}");
  place_expect_error (place, "2", "invalid_request");
  place_close (place);
}

/* Its output is complete, and comes before its end, also where a client takes its time. */
static void
test_much_output (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *id = place_open (place);
  g_autofree char *start = g_strdup ("{\"id\":\"1\",\"event\":{\"type\":\"stdout\"");
  g_autofree char *result = NULL;
  g_autofree char *base64 = NULL;
  g_autofree guchar *bytes = NULL;
  gsize n_events = 0, size = 0, n_bytes = 0;

  place_send_to (place, id, "{\"id\":\"1\",\"method\":\"exec\",\"params\":{$S,\"argv\":[\"head\","
                            "\"-c\",\"5000000\",\"/dev/zero\"]}}");
  g_free (receive_started (place));

  for (;;)
    {
      g_autofree char *line = place_receive (place);
      g_autofree char *data = NULL;
      g_autofree guchar *part = NULL;

      if (!g_str_has_prefix (line, start))
        {
          g_assert_cmpstr (line, ==, "{\"id\":\"1\",\"event\":{\"type\":\"exited\","
                                     "\"exit_code\":0}}");
          break;
        }

      data = get_member (line, "data_base64");
      part = g_base64_decode (data, &size);
      g_assert_cmpuint (size, <=, 65536);
      n_bytes += size;
      n_events++;
    }

  g_assert_cmpuint (n_bytes, ==, 5000000);
  result = place_receive (place);
  base64 = get_member (result, "stdout_base64");
  bytes = g_base64_decode (base64, &size);
  g_assert_cmpuint (size, ==, 5000000);
  place_close (place);
}

static void
test_cancel (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *id = place_open (place);
  g_autofree char *pid = NULL;

  place_send_to (place, id, "{\"id\":\"1\",\"method\":\"exec\",\"params\":{$S,\"argv\":[\"sleep\","
                            "\"1000\"]}}");
  pid = receive_started (place);
  place_send (place, "{\"id\":\"2\",\"method\":\"cancel\",\"params\":{\"request_id\":\"1\"}}");
  place_expect (place, "{\"id\":\"2\",\"result\":{}}");
  place_expect_error (place, "1", "cancelled");
  assert_gone (pid);

  /* Too late. */
  place_send (place, "{\"id\":\"3\",\"method\":\"cancel\",\"params\":{\"request_id\":\"1\"}}");
  place_expect (place, "{\"id\":\"3\",\"result\":{}}");
  place_close (place);
}

/* One exec writes for ever, and others are answered meanwhile. */
static void
test_concurrent (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *id = place_open (place);
  guint n_replies = 0;

  place_send_to (place, id, "{\"id\":\"1\",\"method\":\"exec\",\"params\":{$S,\"argv\":[\"yes\"],"
                            "\"collect\":false}}");
  g_free (receive_started (place));

  while (n_replies < 100)
    {
      g_autofree char *line = NULL;

      place_send_to (place, id, "{\"id\":\"2\",\"method\":\"create_dir_all\",\"params\":{$S,"
                                "\"path\":\"a\"}}");
      for (;;)
        {
          g_free (line);
          line = place_receive (place);
          if (g_str_has_prefix (line, "{\"id\":\"2\""))
            break;
          g_assert_true (g_str_has_prefix (line, "{\"id\":\"1\",\"event\":{\"type\":\"stdout\""));
        }
      g_assert_cmpstr (line, ==, "{\"id\":\"2\",\"result\":{}}");
      n_replies++;
    }

  place_close (place);
}

/* Closing the session ends what runs in it, and that is told of it. */
static void
test_close_within (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *id = place_open (place);
  g_autofree char *pid = NULL;
  g_autofree char *line = NULL;

  place_send_to (place, id, "{\"id\":\"1\",\"method\":\"exec\",\"params\":{$S,\"argv\":[\"sh\","
                            "\"-c\",\"echo a; exec sleep 1000\"]}}");
  pid = receive_started (place);
  place_expect (place, "{\"id\":\"1\",\"event\":{\"type\":\"stdout\",\"data_base64\":\"YQo=\"}}");
  place_send_to (place, id, "{\"id\":\"2\",\"method\":\"close\",\"params\":{$S}}");
  g_free (place_receive (place));
  line = place_receive (place);
  g_assert_true (g_str_has_prefix (line, "{\"id\":\"1\",\"result\":"));
  place_expect (place, "{\"id\":\"2\",\"result\":{}}");
  assert_gone (pid);
  place_close (place);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/server/exec", test_exec);
  g_test_add_func ("/server/exec/quiet", test_quiet);
  g_test_add_func ("/server/exec/ends", test_ends);
  g_test_add_func ("/server/exec/bad", test_bad_exec);
  g_test_add_func ("/server/exec/much-output", test_much_output);
  g_test_add_func ("/server/exec/cancel", test_cancel);
  g_test_add_func ("/server/exec/concurrent", test_concurrent);
  g_test_add_func ("/server/exec/close-within", test_close_within);

  return g_test_run ();
}
