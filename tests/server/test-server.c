/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "server-fixture.h"

static void
test_capabilities (void)
{
  g_autoptr(Place) place = place_new ();

  place_send (place, "{\"id\":\"req_1\",\"method\":\"capabilities\",\"params\":{}}");
  place_expect (place, "{\"id\":\"req_1\",\"result\":{\"exec\":true,\"features\":[\"multiplex\","
                       "\"cancel\",\"process\",\"stdin\",\"pty\",\"signals\",\"timeout\","
                       "\"quiet-result\",\"ranges\",\"files\"]}}");
  place_close (place);
}

static void
test_open (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *id = NULL;
  g_autofree char *expected = NULL;

  place_send (place, "{\"id\":\"1\",\"method\":\"open\",\"params\":{\"metadata\":{"
                     "\"protocol_version\":\"sandbox.v1\",\"request_id\":\"r 1\","
                     "\"sandbox_group_id\":\"g 1\",\"tags\":{\"a\":\"b\"}},\"profile\":{"
                     "\"provider\":\"any\",\"name\":\"plain\"},\"workspace_sync\":{"
                     "\"host_path\":\"/some/where\"},\"cwd\":\"/inside\"}}");
  test_wait_for (place_has_line (place));
  id = g_strdup (sbx_session_get_id (SBX_SESSION (place->provider->session)));
  expected = g_strdup_printf ("{\"id\":\"1\",\"result\":{\"id\":\"%s\",\"cwd\":\"/work\","
                              "\"capabilities\":{\"exec\":false,\"features\":[\"multiplex\","
                              "\"cancel\"]}}}", id);
  place_expect (place, expected);

  g_assert_cmpstr (sbx_open_request_get_workspace (place->provider->request), ==, "/some/where");
  g_assert_cmpstr (sbx_open_request_get_profile (place->provider->request), ==, "plain");
  g_assert_cmpstr (sbx_open_request_get_cwd (place->provider->request), ==, "/inside");
  g_assert_cmpstr (sbx_open_request_get_group (place->provider->request), ==, "g 1");
  g_assert_cmpstr (sbx_open_request_get_request_id (place->provider->request), ==, "r 1");
  g_assert_cmpstr (g_hash_table_lookup (sbx_open_request_get_tags (place->provider->request), "a"),
                   ==, "b");
  g_assert_cmpuint (sbx_provider_server_get_n_sessions (place->server), ==, 1);
  place_close (place);
}

static void
test_open_errors (void)
{
  g_autoptr(Place) place = place_new_idle ();

  sbx_provider_server_set_provider_name (place->server, "memory");
  place_run (place);

  place_send (place, OPEN_LINE ("1", "none", "g"));
  place_expect (place, "{\"id\":\"1\",\"error\":{\"code\":\"not_enforceable\",\"message\":"
                       "\"No namespaces\",\"retryable\":false}}");
  place_send (place, OPEN_LINE ("2", "exception", "g"));
  place_expect_error (place, "2", "failed");
  place_send (place, "{\"id\":\"3\",\"method\":\"open\",\"params\":{\"metadata\":{"
                     "\"protocol_version\":\"sandbox.v1\",\"request_id\":\"r\","
                     "\"sandbox_group_id\":\"g\"},\"profile\":{\"provider\":\"other\",\"name\":"
                     "\"x\"},\"workspace_sync\":{\"host_path\":\"/\"}}}");
  place_expect_error (place, "3", "bad_profile");
  place_send (place, "{\"id\":\"4\",\"method\":\"open\",\"params\":{}}");
  place_expect_error (place, "4", "invalid_request");
  g_assert_cmpuint (sbx_provider_server_get_n_sessions (place->server), ==, 0);
  place_close (place);
}

/* Two sessions that the provider calls the same are two. */
static void
test_open_twice_the_same (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *first = NULL;
  g_autofree char *second = NULL;

  place_send (place, OPEN_LINE ("1", "same", "g"));
  first = place_receive (place);
  place_send (place, OPEN_LINE ("1", "same", "g"));
  second = place_receive (place);
  g_assert_true (g_str_has_prefix (first, "{\"id\":\"1\",\"result\":{\"id\":\"same\","));
  g_assert_true (g_str_has_prefix (second, "{\"id\":\"1\",\"result\":{\"id\":\""));
  g_assert_cmpstr (first, !=, second);
  g_assert_cmpuint (sbx_provider_server_get_n_sessions (place->server), ==, 2);
  place_close (place);
}

static void
test_close (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *id = place_open (place);
  TestMemorySession *session = place->provider->session;

  place_send_to (place, id, "{\"id\":\"1\",\"method\":\"close\",\"params\":{$S}}");
  place_expect (place, "{\"id\":\"1\",\"result\":{}}");
  g_assert_cmpint (sbx_session_get_state (SBX_SESSION (session)), ==, SBX_SESSION_STATE_CLOSED);
  g_assert_cmpuint (sbx_provider_server_get_n_sessions (place->server), ==, 0);

  place_send_to (place, id, "{\"id\":\"2\",\"method\":\"close\",\"params\":{$S}}");
  place_expect (place, "{\"id\":\"2\",\"result\":{}}");
  place_send_to (place, id, "{\"id\":\"3\",\"method\":\"remove\",\"params\":{$S,\"path\":\"x\"}}");
  place_expect_error (place, "3", "unknown_session");
  place_send_to (place, "never", "{\"id\":\"4\",\"method\":\"close\",\"params\":{$S}}");
  place_expect_error (place, "4", "unknown_session");
  place_send (place, "{\"id\":\"5\",\"method\":\"close\",\"params\":{}}");
  place_expect_error (place, "5", "invalid_request");
  place_close (place);
}

/* Whoever asks for it while it goes on waits for the same. */
static void
test_close_twice_at_once (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *id = place_open (place);
  TestMemorySession *session = place->provider->session;

  session->keep_close = TRUE;
  place_send_to (place, id, "{\"id\":\"1\",\"method\":\"close\",\"params\":{$S}}");
  place_send_to (place, id, "{\"id\":\"2\",\"method\":\"close\",\"params\":{$S}}");
  place_send (place, "{\"id\":\"3\",\"method\":\"cancel\",\"params\":{\"request_id\":\"none\"}}");
  place_expect (place, "{\"id\":\"3\",\"result\":{}}");
  sbx_close_invocation_return_done (SBX_CLOSE_INVOCATION (session->kept_close));
  place_expect (place, "{\"id\":\"1\",\"result\":{}}");
  place_expect (place, "{\"id\":\"2\",\"result\":{}}");
  place_close (place);
}

static void
test_files (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *id = place_open (place);

  place_send_to (place, id, "{\"id\":\"1\",\"method\":\"write_file\",\"params\":{$S,\"path\":\"f\","
                            "\"content_base64\":\"AAH/\"}}");
  place_expect (place, "{\"id\":\"1\",\"result\":{}}");
  place_send_to (place, id, "{\"id\":\"2\",\"method\":\"read_file\",\"params\":{$S,"
                            "\"path\":\"f\"}}");
  place_expect (place, "{\"id\":\"2\",\"result\":{\"content_base64\":\"AAH/\"}}");
  place_send_to (place, id, "{\"id\":\"3\",\"method\":\"read_file\",\"params\":{$S,"
                            "\"path\":\"x\"}}");
  place_expect (place, "{\"id\":\"3\",\"error\":{\"code\":\"file_io_failed\",\"message\":"
                       "\"Not there\",\"retryable\":false,\"errno\":\"ENOENT\"}}");
  place_send_to (place, id, "{\"id\":\"4\",\"method\":\"create_temp_dir\",\"params\":{$S,"
                            "\"prefix\":\"a b\"}}");
  place_expect (place, "{\"id\":\"4\",\"result\":{\"path\":\"/tmp/a b1\"}}");
  place_send_to (place, id, "{\"id\":\"5\",\"method\":\"create_dir_all\",\"params\":{$S,"
                            "\"path\":\"a/b\"}}");
  place_expect (place, "{\"id\":\"5\",\"result\":{}}");
  place_send_to (place, id, "{\"id\":\"6\",\"method\":\"rename\",\"params\":{$S,\"path\":\"f\","
                            "\"new_path\":\"g\"}}");
  place_expect (place, "{\"id\":\"6\",\"result\":{}}");
  place_send_to (place, id, "{\"id\":\"7\",\"method\":\"copy\",\"params\":{$S,\"path\":\"g\","
                            "\"new_path\":\"h\"}}");
  place_expect (place, "{\"id\":\"7\",\"result\":{}}");
  place_send_to (place, id, "{\"id\":\"8\",\"method\":\"remove\",\"params\":{$S,\"path\":\"g\"}}");
  place_expect (place, "{\"id\":\"8\",\"result\":{}}");
  place_send_to (place, id, "{\"id\":\"9\",\"method\":\"stat\",\"params\":{$S,\"path\":\"g\"}}");
  place_expect_error (place, "9", "file_io_failed");
  place_send_to (place, id, "{\"id\":\"10\",\"method\":\"read_file\",\"params\":{$S,"
                            "\"path\":\"h\"}}");
  place_expect (place, "{\"id\":\"10\",\"result\":{\"content_base64\":\"AAH/\"}}");
  place_close (place);
}

static void
test_listing (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *id = place_open (place);
  g_autofree char *line = NULL;
  g_autofree char *entries = NULL;

  place_send_to (place, id, "{\"id\":\"1\",\"method\":\"write_file\",\"params\":{$S,\"path\":\"f\","
                            "\"content_base64\":\"AAH/\"}}");
  place_expect (place, "{\"id\":\"1\",\"result\":{}}");
  place_send_to (place, id, "{\"id\":\"2\",\"method\":\"stat\",\"params\":{$S,\"path\":\"f\"}}");
  line = place_receive (place);
  g_assert_true (g_str_has_prefix (line, "{\"id\":\"2\",\"result\":{"));
  g_assert_nonnull (strstr (line, "\"size\":3"));
  place_send_to (place, id, "{\"id\":\"3\",\"method\":\"list_dir\",\"params\":{$S,"
                            "\"path\":\".\"}}");
  entries = place_receive (place);
  g_assert_true (g_str_has_prefix (entries, "{\"id\":\"3\",\"result\":{\"entries\":[{"));
  g_assert_nonnull (strstr (entries, "\"name\":\"f\""));
  place_close (place);
}

static void
test_ranges (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *id = place_open (place);

  place_send_to (place, id, "{\"id\":\"1\",\"method\":\"write_file\",\"params\":{$S,\"path\":\"f\","
                            "\"content_base64\":\"MDEyMzQ1Njc4OQ==\"}}");
  place_expect (place, "{\"id\":\"1\",\"result\":{}}");
  place_send_to (place, id, "{\"id\":\"2\",\"method\":\"read_file\",\"params\":{$S,\"path\":\"f\","
                            "\"offset\":3,\"length\":3}}");
  place_expect (place, "{\"id\":\"2\",\"result\":{\"content_base64\":\"MzQ1\",\"size\":10,"
                       "\"eof\":false}}");
  place_send_to (place, id, "{\"id\":\"3\",\"method\":\"read_file\",\"params\":{$S,\"path\":\"f\","
                            "\"offset\":9}}");
  place_expect (place, "{\"id\":\"3\",\"result\":{\"content_base64\":\"OQ==\",\"size\":10,"
                       "\"eof\":true}}");
  place_send_to (place, id, "{\"id\":\"4\",\"method\":\"write_file\",\"params\":{$S,\"path\":\"f\","
                            "\"content_base64\":\"YWI=\",\"offset\":4,\"truncate\":false}}");
  place_expect (place, "{\"id\":\"4\",\"result\":{}}");
  place_send_to (place, id, "{\"id\":\"5\",\"method\":\"write_file\",\"params\":{$S,\"path\":\"f\","
                            "\"content_base64\":\"Yw==\",\"offset\":6,\"truncate\":true}}");
  place_expect (place, "{\"id\":\"5\",\"result\":{}}");
  place_send_to (place, id, "{\"id\":\"6\",\"method\":\"read_file\",\"params\":{$S,"
                            "\"path\":\"f\"}}");
  place_expect (place, "{\"id\":\"6\",\"result\":{\"content_base64\":\"MDEyM2FiYw==\"}}");
  place_send_to (place, id, "{\"id\":\"7\",\"method\":\"read_file\",\"params\":{$S,\"path\":\"f\","
                            "\"offset\":-1}}");
  place_expect_error (place, "7", "invalid_request");
  place_close (place);
}

/* A file that is larger than those that are read many at a time. */
static void
test_large_file (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *id = place_open (place);
  g_autofree char *zeros = g_malloc0 (3000000);
  g_autofree char *base64 = g_base64_encode ((const guchar *) zeros, 3000000);
  g_autofree char *expected = NULL;

  g_hash_table_replace (place->provider->session->files, g_strdup ("f"),
                        g_bytes_new_take (g_steal_pointer (&zeros), 3000000));
  place_send_to (place, id, "{\"id\":\"1\",\"method\":\"read_file\",\"params\":{$S,"
                            "\"path\":\"f\"}}");
  expected = g_strdup_printf ("{\"id\":\"1\",\"result\":{\"content_base64\":\"%s\"}}", base64);
  place_expect (place, expected);
  place_close (place);
}

static void
test_cleanup_group (void)
{
  g_autoptr(Place) place = place_new ();

  place_send (place, OPEN_LINE ("1", "plain", "a"));
  place_send (place, OPEN_LINE ("2", "plain", "a"));
  place_send (place, OPEN_LINE ("3", "plain", "b"));
  for (guint i = 0; i < 3; i++)
    g_free (place_receive (place));

  place->provider->n_to_clean = 5;
  place_send (place, "{\"id\":\"4\",\"method\":\"cleanup_group\",\"params\":{\"metadata\":{"
                     "\"protocol_version\":\"sandbox.v1\",\"request_id\":\"r\","
                     "\"sandbox_group_id\":\"a\"},\"sandbox_group_id\":\"a\"}}");
  place_expect (place, "{\"id\":\"4\",\"result\":{\"cleaned_count\":7}}");
  g_assert_cmpstr (place->provider->cleaned->str, ==, "a ");
  g_assert_cmpuint (sbx_provider_server_get_n_sessions (place->server), ==, 1);

  place->provider->n_to_clean = 0;
  place_send (place, "{\"id\":\"5\",\"method\":\"cleanup_group\",\"params\":{\"metadata\":{"
                     "\"protocol_version\":\"sandbox.v1\",\"request_id\":\"r\","
                     "\"sandbox_group_id\":\"none\"},\"sandbox_group_id\":\"none\"}}");
  place_expect (place, "{\"id\":\"5\",\"result\":{\"cleaned_count\":0}}");
  place_close (place);
}

static void
test_properties (void)
{
  g_autoptr(Place) place = place_new_idle ();
  g_autoptr(SbxProvider) provider = NULL;
  g_autoptr(GInputStream) input = NULL;
  g_autoptr(GOutputStream) output = NULL;
  g_autofree char *name = NULL;
  guint64 size;
  guint sessions, pending, n_sessions, n_pending;

  g_object_get (place->server, "provider", &provider, "input", &input, "output", &output,
                "max-message-size", &size, "max-sessions", &sessions, "max-pending", &pending,
                "n-sessions", &n_sessions, "n-pending", &n_pending, NULL);
  g_assert_true (SBX_PROVIDER (place->provider) == provider);
  g_assert_true (sbx_provider_server_get_provider (place->server) == provider);
  g_assert_cmpuint (size, ==, 134217728);
  g_assert_cmpuint (sessions, ==, 256);
  g_assert_cmpuint (pending, ==, 1024);
  g_assert_cmpuint (n_sessions + n_pending, ==, 0);
  g_assert_null (sbx_provider_server_get_provider_name (place->server));

  g_object_set (place->server, "provider-name", "me", "max-message-size", (guint64) 4096,
                "max-sessions", 3, "max-pending", 4, NULL);
  g_object_get (place->server, "provider-name", &name, NULL);
  g_assert_cmpstr (name, ==, "me");
  g_assert_cmpuint (sbx_provider_server_get_max_message_size (place->server), ==, 4096);
  g_assert_cmpuint (sbx_provider_server_get_max_sessions (place->server), ==, 3);
  g_assert_cmpuint (sbx_provider_server_get_max_pending (place->server), ==, 4);
}

static void
test_no_descriptor (void)
{
  g_autoptr(TestMemoryProvider) provider = g_object_new (TEST_TYPE_MEMORY_PROVIDER, NULL);
  g_autoptr(GInputStream) input = g_memory_input_stream_new ();
  g_autoptr(GOutputStream) output = g_memory_output_stream_new_resizable ();
  g_autoptr(SbxProviderServer) server =
    sbx_provider_server_new (SBX_PROVIDER (provider), input, output);
  g_autoptr(GError) error = NULL;

  g_assert_false (sbx_provider_server_run (server, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "GMemoryInputStream"));
}

static void
test_run_twice (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(GError) error = NULL;

  g_assert_false (sbx_provider_server_run (place->server, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_BUSY);
  place_close (place);
  g_clear_error (&error);
  g_assert_false (sbx_provider_server_run (place->server, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_BUSY);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/server/capabilities", test_capabilities);
  g_test_add_func ("/server/open", test_open);
  g_test_add_func ("/server/open/errors", test_open_errors);
  g_test_add_func ("/server/open/twice-the-same", test_open_twice_the_same);
  g_test_add_func ("/server/close", test_close);
  g_test_add_func ("/server/close/twice-at-once", test_close_twice_at_once);
  g_test_add_func ("/server/files", test_files);
  g_test_add_func ("/server/files/listing", test_listing);
  g_test_add_func ("/server/files/ranges", test_ranges);
  g_test_add_func ("/server/files/large", test_large_file);
  g_test_add_func ("/server/cleanup-group", test_cleanup_group);
  g_test_add_func ("/server/properties", test_properties);
  g_test_add_func ("/server/no-descriptor", test_no_descriptor);
  g_test_add_func ("/server/run-twice", test_run_twice);

  return g_test_run ();
}
