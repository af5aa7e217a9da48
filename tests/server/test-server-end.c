/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "server-fixture.h"

static gboolean
wake_cb (gpointer user_data)
{
  return G_SOURCE_CONTINUE;
}

#define poll_for(condition) \
  G_STMT_START { \
    const guint poll_wake = g_timeout_add (1, wake_cb, NULL); \
    test_wait_for (condition); \
    g_source_remove (poll_wake); \
  } G_STMT_END

/* Runs a command that goes on for ever, as request “exec”, and returns its pid. */
static pid_t
run_for_ever (Place      *place,
              const char *session,
              const char *argv)
{
  g_autofree char *line = g_strdup_printf ("{\"id\":\"exec\",\"method\":\"exec\",\"params\":{$S,"
                                           "\"argv\":[%s],\"collect\":false}}", argv);
  const char *start = "{\"id\":\"exec\",\"event\":{\"type\":\"started\",\"process_id\":\"";
  g_autofree char *started = NULL;

  place_send_to (place, session, line);
  started = place_receive (place);
  g_assert_true (g_str_has_prefix (started, start));

  return (pid_t) g_ascii_strtoll (started + strlen (start), NULL, 10);
}

/* One of everything is going on. */
static pid_t
begin_all (Place *place)
{
  g_autofree char *first = place_open (place);
  g_autofree char *second = place_open (place);
  pid_t pid;

  pid = run_for_ever (place, second, "\"sleep\",\"1000\"");
  place_send_to (place, first, "{\"id\":\"spawn\",\"method\":\"spawn\",\"params\":{$S,\"argv\":["
                               "\"sleep\",\"1000\"],\"follow\":true}}");
  g_free (place_receive (place));
  g_free (place_receive (place));
  place_send_to (place, first, "{\"id\":\"read\",\"method\":\"read_file\",\"params\":{$S,"
                               "\"path\":\"keep\"}}");
  place_send (place, OPEN_LINE ("opening", "keep", "g"));
  test_wait_for (place->provider->kept != NULL);

  return pid;
}

static void
test_end_of_input (void)
{
  g_autoptr(Place) place = place_new ();
  const pid_t pid = begin_all (place);
  SbxSession *session = SBX_SESSION (place->provider->session);

  place_close (place);
  g_assert_cmpint (sbx_session_get_state (session), ==, SBX_SESSION_STATE_CLOSED);
  poll_for (kill (pid, 0) == -1);
}

/* A provider that does not care for being cancelled is not waited for for ever, and what it opens
 * at last is closed. */
static void
test_stuck_open (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(TestMemorySession) session = g_object_new (TEST_TYPE_MEMORY_SESSION, NULL);

  place_send (place, OPEN_LINE ("1", "stuck", "g"));
  test_wait_for (place->provider->kept != NULL);
  place_close (place);
  place_expect_error (place, "1", "cancelled");
  sbx_open_invocation_return_session (SBX_OPEN_INVOCATION (place->provider->kept),
                                      SBX_SESSION (session));
  test_wait_for (sbx_session_get_state (SBX_SESSION (session)) == SBX_SESSION_STATE_CLOSED);
  g_clear_object (&place->provider->kept);
}

static void
test_shutdown (void)
{
  g_autoptr(Place) place = place_new ();
  const pid_t pid = begin_all (place);

  place_send (place, "{\"id\":\"shutdown\",\"method\":\"shutdown\",\"params\":{}}\n"
                     "{\"id\":\"late\",\"method\":\"capabilities\"}");
  place_wait (place);
  poll_for (kill (pid, 0) == -1);

  /* Everything has its reply before it, and nothing comes after it. */
  poll_for (place->watch == 0 || place->received->len > 0);
  test_wait_for (g_str_has_suffix (place->received->str, "{\"id\":\"shutdown\",\"result\":{}}\n"));
  g_assert_nonnull (strstr (place->received->str, "{\"id\":\"late\",\"error\":{\"code\":"
                                                  "\"closed\""));
  g_assert_nonnull (strstr (place->received->str, "{\"id\":\"exec\",\"error\":{\"code\":"
                                                  "\"cancelled\""));
  g_assert_nonnull (strstr (place->received->str, "{\"id\":\"read\",\"error\":{\"code\":"
                                                  "\"cancelled\""));
  g_assert_nonnull (strstr (place->received->str, "{\"id\":\"opening\",\"error\":{\"code\":"
                                                  "\"cancelled\""));
  g_assert_nonnull (strstr (place->received->str, "{\"id\":\"spawn\",\"event\":{\"type\":"
                                                  "\"end\"}}"));
}

/* A shutdown is over when the sandboxes are gone, not before. */
static void
test_shutdown_waits (void)
{
  g_autoptr(Place) place = place_new ();
  TestMemorySession *session;

  g_free (place_open (place));
  session = place->provider->session;
  session->keep_close = TRUE;
  place_send (place, "{\"id\":\"1\",\"method\":\"shutdown\"}\n"
                     "{\"id\":\"2\",\"method\":\"shutdown\"}");
  place_expect_error (place, "2", "closed");
  g_assert_cmpuint (place->received->len, ==, 0);
  sbx_close_invocation_return_done (SBX_CLOSE_INVOCATION (session->kept_close));
  place_expect (place, "{\"id\":\"1\",\"result\":{}}");
  place_wait (place);
}

/* A close that goes on is seen through, and told. */
static void
test_close_within_shutdown (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *id = place_open (place);
  TestMemorySession *session = place->provider->session;

  session->keep_close = TRUE;
  place_send_to (place, id, "{\"id\":\"1\",\"method\":\"close\",\"params\":{$S}}");
  place_send (place, "{\"id\":\"2\",\"method\":\"shutdown\"}\n{\"id\":\"3\",\"method\":\"stat\"}");
  place_expect_error (place, "3", "closed");
  sbx_close_invocation_return_done (SBX_CLOSE_INVOCATION (session->kept_close));
  place_expect (place, "{\"id\":\"1\",\"result\":{}}");
  place_expect (place, "{\"id\":\"2\",\"result\":{}}");
  place_wait (place);
}

static void
test_cancel (void)
{
  g_autoptr(Place) place = place_new ();
  const pid_t pid = begin_all (place);
  g_autoptr(GError) error = NULL;

  g_cancellable_cancel (place->cancellable);
  test_wait_for (place->ended != NULL);
  g_assert_false (sbx_provider_server_run_finish (place->server, place->ended, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_object (&place->ended);
  g_assert_cmpuint (sbx_provider_server_get_n_sessions (place->server), ==, 0);
  poll_for (kill (pid, 0) == -1);
}

static void
test_cancelled_before (void)
{
  g_autoptr(Place) place = place_new_idle ();
  g_autoptr(GError) error = NULL;

  g_cancellable_cancel (place->cancellable);
  g_assert_false (sbx_provider_server_run (place->server, place->cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* The client is gone without a word, in the middle of what it asked for. */
static void
test_client_gone (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *id = place_open (place);
  const pid_t pid = run_for_ever (place, id, "\"yes\"");

  place_stop_reading (place);
  close (place->reply_fd);
  place->reply_fd = -1;
  place_wait (place);
  poll_for (kill (pid, 0) == -1);
}

/* Whether nothing more fits into the pipe of which this is the end that is read. How many bytes
 * those are does not say it: pages are not all used to their end, and a user with many pipes gets
 * small ones (pipe(7), “pipe-user-pages-soft”). */
static gboolean
is_full (int fd)
{
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", fd);
  struct pollfd writer = { .fd = open (path, O_WRONLY | O_NONBLOCK | O_CLOEXEC),
                           .events = POLLOUT };

  g_assert_cmpint (writer.fd, >=, 0);
  g_assert_cmpint (poll (&writer, 1, 0), >=, 0);
  close (writer.fd);

  return (writer.revents & POLLOUT) == 0;
}

/* A client that reads nothing any more does not hold up the end for ever. */
static void
test_client_stuck (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *id = place_open (place);
  const pid_t pid = run_for_ever (place, id, "\"yes\"");

  place_stop_reading (place);
  poll_for (is_full (place->reply_fd));
  close (place->request_fd);
  place->request_fd = -1;
  place_wait (place);
  poll_for (kill (pid, 0) == -1);
}

static void
test_lost (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *id = place_open (place);
  g_autoptr(GError) error = g_error_new_literal (SBX_ERROR, SBX_ERROR_LOST, "It burned down");
  g_autofree char *exited = NULL;

  run_for_ever (place, id, "\"sleep\",\"1000\"");
  sbx_session_fail (SBX_SESSION (place->provider->session), error);
  exited = place_receive (place);
  g_assert_true (g_str_has_prefix (exited, "{\"id\":\"exec\",\"event\":{\"type\":\"exited\","
                                           "\"exit_code\":-1"));
  g_free (exited);
  exited = place_receive (place);
  g_assert_true (g_str_has_prefix (exited, "{\"id\":\"exec\",\"result\":{\"exit_code\":-1,"));
  g_assert_nonnull (strstr (exited, "It burned down"));

  place_send_to (place, id, "{\"id\":\"1\",\"method\":\"remove\",\"params\":{$S,\"path\":\"x\"}}");
  place_expect_error (place, "1", "closed");
  place_send_to (place, id, "{\"id\":\"2\",\"method\":\"close\",\"params\":{$S}}");
  place_expect (place, "{\"id\":\"2\",\"result\":{}}");
  place_close (place);
}

/* What could not be removed is told, and the session is closed all the same. */
static void
test_close_fails (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *id = place_open (place);
  TestMemorySession *session = place->provider->session;

  session->keep_close = TRUE;
  place_send_to (place, id, "{\"id\":\"1\",\"method\":\"close\",\"params\":{$S}}");
  test_wait_for (session->kept_close != NULL);
  sbx_invocation_return_error (session->kept_close, SBX_ERROR_FAILED, "A file is left");
  place_expect (place, "{\"id\":\"1\",\"error\":{\"code\":\"failed\",\"message\":"
                       "\"A file is left\",\"retryable\":false}}");
  g_assert_cmpuint (sbx_provider_server_get_n_sessions (place->server), ==, 0);
  place_send_to (place, id, "{\"id\":\"2\",\"method\":\"close\",\"params\":{$S}}");
  place_expect (place, "{\"id\":\"2\",\"result\":{}}");
  place_close (place);
}

static void
count_cb (SbxProviderServer *server,
          GParamSpec        *pspec,
          gpointer           user_data)
{
  guint *count = user_data;

  (*count)++;
}

static void
test_notify (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *id = NULL;
  guint n_sessions = 0;
  guint n_pending = 0;

  g_signal_connect (place->server, "notify::n-sessions", G_CALLBACK (count_cb), &n_sessions);
  g_signal_connect (place->server, "notify::n-pending", G_CALLBACK (count_cb), &n_pending);
  id = place_open (place);
  g_assert_cmpuint (n_sessions, ==, 1);
  g_assert_cmpuint (n_pending, ==, 2);
  place_close (place);
  g_assert_cmpuint (n_sessions, ==, 2);
}

/* A server that nobody holds goes on until its client is through with it. */
static void
test_dropped (void)
{
  g_autoptr(Place) place = place_new ();
  gpointer server = place->server;

  g_object_add_weak_pointer (server, &server);
  g_object_unref (place->server);
  g_assert_nonnull (server);
  g_free (place_open (place));
  close (place->request_fd);
  place->request_fd = -1;
  test_wait_for (place->ended != NULL);
  place->server = g_object_ref (server);
  g_object_remove_weak_pointer (server, &server);
  g_assert_true (sbx_provider_server_run_finish (place->server, place->ended, NULL));
  g_clear_object (&place->ended);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/server/end/input", test_end_of_input);
  g_test_add_func ("/server/end/stuck-open", test_stuck_open);
  g_test_add_func ("/server/end/shutdown", test_shutdown);
  g_test_add_func ("/server/end/shutdown-waits", test_shutdown_waits);
  g_test_add_func ("/server/end/close-within-shutdown", test_close_within_shutdown);
  g_test_add_func ("/server/end/cancel", test_cancel);
  g_test_add_func ("/server/end/cancelled-before", test_cancelled_before);
  g_test_add_func ("/server/end/client-gone", test_client_gone);
  g_test_add_func ("/server/end/client-stuck", test_client_stuck);
  g_test_add_func ("/server/end/lost", test_lost);
  g_test_add_func ("/server/end/close-fails", test_close_fails);
  g_test_add_func ("/server/end/notify", test_notify);
  g_test_add_func ("/server/end/dropped", test_dropped);

  return g_test_run ();
}
