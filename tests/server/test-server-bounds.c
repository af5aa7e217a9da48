/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>
#include <unistd.h>

#include "server-fixture.h"

#define MANY 10000

static gboolean
wake_cb (gpointer user_data)
{
  return G_SOURCE_CONTINUE;
}

/* Lets the server do all that it can do by itself. */
static void
settle (guint ms)
{
  const gint64 end = g_get_monotonic_time () + ms * 1000;
  const guint wake = g_timeout_add (1, wake_cb, NULL);

  while (g_get_monotonic_time () < end)
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (wake);
}

static void
test_sessions (void)
{
  g_autoptr(Place) place = place_new_idle ();
  g_autofree char *first = NULL;

  sbx_provider_server_set_max_sessions (place->server, 2);
  place_run (place);
  first = place_open (place);
  g_free (place_open (place));
  place_send (place, OPEN_LINE ("1", "plain", "g"));
  place_expect_error (place, "1", "too_many_sessions");
  place_send_to (place, first, "{\"id\":\"2\",\"method\":\"close\",\"params\":{$S}}");
  place_expect (place, "{\"id\":\"2\",\"result\":{}}");
  g_free (place_open (place));
  place_close (place);
}

static void
test_pending (void)
{
  g_autoptr(Place) place = place_new_idle ();
  g_autofree char *session = NULL;

  sbx_provider_server_set_max_pending (place->server, 4);
  place_run (place);
  session = place_open (place);

  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *line = g_strdup_printf ("{\"id\":\"%u\",\"method\":\"read_file\","
                                               "\"params\":{$S,\"path\":\"keep\"}}", i);

      place_send_to (place, session, line);
    }

  place_send_to (place, session, "{\"id\":\"4\",\"method\":\"remove\",\"params\":{$S,"
                                 "\"path\":\"x\"}}");
  place_expect_error (place, "4", "too_many_requests");
  g_assert_cmpuint (sbx_provider_server_get_n_pending (place->server), ==, 4);

  /* What makes room gets through. */
  place_send (place, "{\"id\":\"5\",\"method\":\"cancel\",\"params\":{\"request_id\":\"0\"}}");
  place_expect (place, "{\"id\":\"5\",\"result\":{}}");
  place_expect_error (place, "0", "cancelled");
  place_send_to (place, session, "{\"id\":\"6\",\"method\":\"remove\",\"params\":{$S,"
                                 "\"path\":\"x\"}}");
  place_expect (place, "{\"id\":\"6\",\"result\":{}}");
  place_close (place);
}

/* More requests than may be pending, sent without waiting: each is answered with what it asks for,
 * since none of them takes long. */
static void
test_pipelined (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *session = place_open (place);
  g_autoptr(GString) lines = g_string_new (NULL);

  for (guint i = 0; i < MANY; i++)
    g_string_append_printf (lines, "{\"id\":\"%u\",\"method\":\"remove\",\"params\":{\"session\":"
                                   "{\"id\":\"%s\"},\"path\":\"x\"}}\n", i, session);
  place_send_bytes (place, lines->str, lines->len);

  for (guint i = 0; i < MANY; i++)
    {
      g_autofree char *expected = g_strdup_printf ("{\"id\":\"%u\",\"result\":{}}", i);

      place_expect (place, expected);
    }

  place_close (place);
}

/* As many that take for ever, cancelled in another order: each is answered once. */
static void
test_cancelled (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *session = place_open (place);
  g_autoptr(GString) lines = g_string_new (NULL);
  g_autofree guint *n_answers = g_new0 (guint, 2 * MANY);
  guint n_cancelled = 0, n_refused = 0;

  for (guint i = 0; i < MANY; i++)
    g_string_append_printf (lines, "{\"id\":\"%u\",\"method\":\"read_file\",\"params\":{"
                                   "\"session\":{\"id\":\"%s\"},\"path\":\"keep\"}}\n", i,
                            session);
  for (guint i = 0; i < MANY; i++)
    g_string_append_printf (lines, "{\"id\":\"%u\",\"method\":\"cancel\",\"params\":{"
                                   "\"request_id\":\"%u\"}}\n", MANY + i, (i * 7919) % MANY);
  place_send_bytes (place, lines->str, lines->len);

  for (guint i = 0; i < 2 * MANY; i++)
    {
      g_autofree char *line = place_receive (place);
      const guint id = (guint) g_ascii_strtoull (line + strlen ("{\"id\":\""), NULL, 10);

      g_assert_cmpuint (id, <, 2 * MANY);
      n_answers[id]++;
      n_cancelled += strstr (line, "\"cancelled\"") != NULL;
      n_refused += strstr (line, "\"too_many_requests\"") != NULL;
    }

  for (guint i = 0; i < 2 * MANY; i++)
    g_assert_cmpuint (n_answers[i], ==, 1);
  g_assert_cmpuint (n_cancelled, ==, 1024);
  g_assert_cmpuint (n_refused, ==, MANY - 1024);
  g_assert_cmpuint (sbx_provider_server_get_n_pending (place->server), ==, 0);
  place_close (place);
}

static void
test_message_size (void)
{
  g_autoptr(Place) place = place_new_idle ();
  g_autoptr(GError) error = NULL;
  g_autofree char *long_line = g_strnfill (5000, ' ');
  g_autofree char *session = NULL;

  sbx_provider_server_set_max_message_size (place->server, 4096);
  place_run (place);
  session = place_open (place);
  memcpy (long_line, "{\"id\":\"1\"", 9);
  place_send (place, long_line);
  place_expect_error (place, "unknown", "too_large");

  test_wait_for (place->ended != NULL);
  g_assert_false (sbx_provider_server_run_finish (place->server, place->ended, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE);
  g_clear_object (&place->ended);
  g_assert_cmpint (sbx_session_get_state (SBX_SESSION (place->provider->session)), ==,
                   SBX_SESSION_STATE_CLOSED);
}

/* Content that waits to be written somewhere takes memory. */
static void
test_payload (void)
{
  g_autoptr(Place) place = place_new_idle ();
  g_autofree char *session = NULL;
  g_autofree char *zeros = g_strnfill (70000, 'A');

  sbx_provider_server_set_max_message_size (place->server, 100000);
  place_run (place);
  session = place_open (place);

  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *line = g_strdup_printf ("{\"id\":\"%u\",\"method\":\"write_file\","
                                               "\"params\":{$S,\"path\":\"keep\","
                                               "\"content_base64\":\"%s\"}}", i, zeros);

      place_send_to (place, session, line);
    }

  place_expect_error (place, "2", "too_many_requests");
  place_send_to (place, session, "{\"id\":\"3\",\"method\":\"write_file\",\"params\":{$S,"
                                 "\"path\":\"f\",\"content_base64\":\"\"}}");
  place_expect (place, "{\"id\":\"3\",\"result\":{}}");
  place_close (place);
}

/* How much a process has written so far. */
static guint64
get_written (const char *pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%s/io", pid);
  g_autofree char *text = NULL;
  const char *found;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return 0;

  found = strstr (text, "wchar: ");
  g_assert_nonnull (found);

  return g_ascii_strtoull (found + strlen ("wchar: "), NULL, 10);
}

/* A command whose output nobody reads has to wait, and goes on when somebody does. */
static void
test_back_pressure (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *session = place_open (place);
  g_autofree char *started = NULL;
  g_autofree char *pid = NULL;
  const char *start = "{\"id\":\"1\",\"event\":{\"type\":\"started\",\"process_id\":\"";
  guint64 written = 0, before;
  gsize n_read = 0;

  place_send_to (place, session, "{\"id\":\"1\",\"method\":\"exec\",\"params\":{$S,\"argv\":["
                                 "\"head\",\"-c\",\"50000000\",\"/dev/zero\"],"
                                 "\"collect\":false}}");
  started = place_receive (place);
  place_stop_reading (place);
  g_assert_true (g_str_has_prefix (started, start));
  pid = g_strndup (started + strlen (start), strcspn (started + strlen (start), "\""));

  do
    {
      before = written;
      settle (100);
      written = get_written (pid);
    }
  while (written != before || written == 0);

  /* What fits in two pipes and in the server. */
  g_assert_cmpuint (written, <, 5000000);

  /* A request still gets through, though its reply has to wait. */
  place_send_to (place, session, "{\"id\":\"2\",\"method\":\"write_file\",\"params\":{$S,"
                                 "\"path\":\"f\",\"content_base64\":\"\"}}");
  test_wait_for (g_hash_table_contains (place->provider->session->files, "f"));
  g_assert_cmpuint (get_written (pid), ==, written);

  place_read_on (place);
  for (;;)
    {
      g_autofree char *line = place_receive (place);

      if (strstr (line, "\"exited\"") != NULL)
        break;
      n_read += strlen (line);
    }

  g_assert_cmpuint (n_read, >, 50000000 / 3 * 4);
  place_expect (place, "{\"id\":\"1\",\"result\":{\"exit_code\":0,\"stdout_base64\":\"\","
                       "\"stderr_base64\":\"\"}}");
  place_close (place);
}

/* Nor are files read for a client that does not read them. */
static void
test_unread_files (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *session = place_open (place);
  TestMemorySession *memory = place->provider->session;

  g_hash_table_replace (memory->files, g_strdup ("f"),
                        g_bytes_new_take (g_malloc0 (1000000), 1000000));
  place_stop_reading (place);

  for (guint i = 0; i < 300; i++)
    {
      g_autofree char *line = g_strdup_printf ("{\"id\":\"%u\",\"method\":\"read_file\","
                                               "\"params\":{$S,\"path\":\"f\"}}", i);

      place_send_to (place, session, line);
    }

  settle (300);
  g_assert_cmpuint (memory->n_reads, <=, 128);

  place_read_on (place);
  for (guint i = 0; i < 300; i++)
    {
      g_autofree char *line = place_receive (place);
      g_autofree char *start = g_strdup_printf ("{\"id\":\"%u\",\"result\":{\"content_base64\":"
                                                "\"AAAA", i);

      g_assert_true (g_str_has_prefix (line, start));
    }

  g_assert_cmpuint (memory->n_reads, ==, 300);
  place_close (place);
}

#if defined (__SANITIZE_ADDRESS__)
# define SANITIZED TRUE
#elif defined (__has_feature)
# if __has_feature (address_sanitizer)
#  define SANITIZED TRUE
# endif
#endif
#ifndef SANITIZED
# define SANITIZED FALSE
#endif

/* Under a sanitizer each allocation takes its time. */
#define N_UNREAD (SANITIZED ? 48 : 200)
#define N_MANY (SANITIZED ? 10 : 100)

/* Nor are directories listed. */
static void
test_unread_lists (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *session = place_open (place);
  TestMemorySession *memory = place->provider->session;

  for (guint i = 0; i < 2000; i++)
    g_hash_table_replace (memory->files, g_strdup_printf ("a-name-of-some-length-%050u", i),
                          g_bytes_new_static ("x", 1));
  place_stop_reading (place);

  for (guint i = 0; i < N_UNREAD; i++)
    {
      g_autofree char *line = g_strdup_printf ("{\"id\":\"%u\",\"method\":\"list_dir\","
                                               "\"params\":{$S,\"path\":\".\"}}", i);

      place_send_to (place, session, line);
    }

  settle (1000);
  g_assert_cmpuint (memory->n_lists, >, 0);
  g_assert_cmpuint (memory->n_lists, <, 32);

  place_read_on (place);
  for (guint i = 0; i < N_UNREAD; i++)
    {
      g_autofree char *line = place_receive (place);

      g_assert_nonnull (strstr (line, "\"result\":{\"entries\":[{\"name\":\"a-name-of-"));
    }

  g_assert_cmpuint (memory->n_lists, ==, N_UNREAD);
  place_close (place);
}

/* Whether it is what the server uses, and not what watches it. */
static gboolean
memory_counts (void)
{
  g_autofree char *maps = NULL;

  return !SANITIZED && g_file_get_contents ("/proc/self/maps", &maps, NULL, NULL) &&
         strstr (maps, "vgpreload") == NULL;
}

/* In bytes. */
static guint64
resident (void)
{
  g_autofree char *text = NULL;
  g_auto(GStrv) fields = NULL;

  g_assert_true (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  fields = g_strsplit (text, " ", 3);

  return g_ascii_strtoull (fields[1], NULL, 10) * (guint64) sysconf (_SC_PAGESIZE);
}

/* What a request has that nobody asked for is not kept while it is worked on: 100 lines of 60 kB,
 * which take 2 MB each as values. */
static void
test_many_values (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *session = place_open (place);
  g_autoptr(GString) values = g_string_new ("0");
  guint64 before;

  for (guint i = 0; i < 20000; i++)
    g_string_append (values, ",[]");

  before = resident ();
  for (guint i = 0; i < N_MANY; i++)
    {
      g_autofree char *line = g_strdup_printf ("{\"id\":\"%u\",\"method\":\"read_file\","
                                               "\"params\":{$S,\"path\":\"keep\",\"x\":[%s]}}",
                                               i, values->str);

      place_send_to (place, session, line);
    }

  test_wait_for (sbx_provider_server_get_n_pending (place->server) == N_MANY);
  if (memory_counts ())
    g_assert_cmpuint (resident (), <, before + 50 * 1024 * 1024);
  place_close (place);
}

/* Nor are requests read, once replies of any kind pile up. */
static void
test_unread_replies (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *id = g_strnfill (1000, 'x');
  g_autofree char *line = g_strdup_printf ("{\"id\":\"%s\",\"method\":\"capabilities\"}\n", id);
  const gsize length = strlen (line);
  gsize sent = 0, n_lines;
  guint n_refused = 0;

  place_stop_reading (place);
  /* Two seconds without a byte taken: a slow machine works on what it has read for long. */
  while (n_refused < 40 && sent < 100 * 1024 * 1024)
    {
      const gssize n = write (place->request_fd, line + sent % length, length - sent % length);

      if (n > 0)
        sent += (gsize) n;
      else
        settle (50);
      n_refused = n > 0 ? 0 : n_refused + 1;
    }

  /* The pipes, and what the server bears to hold: no more than that was taken. */
  g_assert_cmpuint (sent, >, 2 * 1024 * 1024);
  g_assert_cmpuint (sent, <, 32 * 1024 * 1024);

  place_read_on (place);
  n_lines = (sent + length - 1) / length;
  if (sent % length > 0)
    place_send_bytes (place, line + sent % length, length - sent % length);
  for (gsize i = 0; i < n_lines; i++)
    g_free (place_receive (place));
  place_close (place);
  g_assert_cmpuint (place->received->len, ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/server/bounds/sessions", test_sessions);
  g_test_add_func ("/server/bounds/pending", test_pending);
  g_test_add_func ("/server/bounds/pipelined", test_pipelined);
  g_test_add_func ("/server/bounds/cancelled", test_cancelled);
  g_test_add_func ("/server/bounds/message-size", test_message_size);
  g_test_add_func ("/server/bounds/payload", test_payload);
  g_test_add_func ("/server/bounds/back-pressure", test_back_pressure);
  g_test_add_func ("/server/bounds/unread-files", test_unread_files);
  g_test_add_func ("/server/bounds/unread-lists", test_unread_lists);
  g_test_add_func ("/server/bounds/many-values", test_many_values);
  g_test_add_func ("/server/bounds/unread-replies", test_unread_replies);

  return g_test_run ();
}
