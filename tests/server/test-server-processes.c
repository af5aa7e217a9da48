/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "server-fixture.h"

/* Spawns a shell script with more parameters, and returns the id of its process. Request 1. */
static char *
spawn (Place      *place,
       const char *session,
       const char *script,
       const char *more)
{
  g_autofree char *line =
    g_strdup_printf ("{\"id\":\"1\",\"method\":\"spawn\",\"params\":{$S,\"argv\":[\"sh\",\"-c\","
                     "\"%s\"]%s}}", script, more);
  g_autofree char *started = NULL;
  g_autofree char *expected = NULL;
  g_autofree char *id = NULL;
  const char *start = "{\"id\":\"1\",\"event\":{\"type\":\"started\",\"process_id\":\"";

  place_send_to (place, session, line);
  started = place_receive (place);
  g_assert_true (g_str_has_prefix (started, start));
  id = g_strndup (started + strlen (start), strcspn (started + strlen (start), "\""));
  expected = g_strdup_printf ("{\"id\":\"1\",\"result\":{\"process_id\":\"%s\"}}", id);
  place_expect (place, expected);

  return g_steal_pointer (&id);
}

/* Sends a request about a process. */
static void
send_of (Place      *place,
         const char *session,
         const char *process,
         const char *request_id,
         const char *method,
         const char *more)
{
  g_autofree char *line =
    g_strdup_printf ("{\"id\":\"%s\",\"method\":\"%s\",\"params\":{$S,\"process_id\":\"%s\"%s}}",
                     request_id, method, process, more);

  place_send_to (place, session, line);
}

/* A client that does not know of more gets the start and the reply, and nothing ever after. */
static void
test_spawn (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *session = place_open (place);
  g_autofree char *process = spawn (place, session, "echo out; exit 3", "");

  send_of (place, session, process, "2", "wait", "");
  place_expect (place, "{\"id\":\"2\",\"result\":{\"exit_code\":3,\"stdout_base64\":\"\","
                       "\"stderr_base64\":\"\"}}");
  /* Also long after. */
  send_of (place, session, process, "3", "wait", "");
  place_expect (place, "{\"id\":\"3\",\"result\":{\"exit_code\":3,\"stdout_base64\":\"\","
                       "\"stderr_base64\":\"\"}}");
  place_close (place);
  g_assert_cmpuint (place->received->len, ==, 0);
}

static void
test_follow (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *session = place_open (place);
  g_autofree char *process =
    spawn (place, session, "echo out; read x; exit 3", ",\"follow\":true,\"open_stdin\":true");

  place_expect (place, "{\"id\":\"1\",\"event\":{\"type\":\"stdout\",\"data_base64\":"
                       "\"b3V0Cg==\"}}");
  /* Its id is taken until the end. */
  place_send (place, "{\"id\":\"1\",\"method\":\"capabilities\",\"params\":{}}");
  place_expect_error (place, "1", "invalid_request");

  send_of (place, session, process, "2", "close_stdin", "");
  place_expect (place, "{\"id\":\"2\",\"result\":{}}");
  place_expect (place, "{\"id\":\"1\",\"event\":{\"type\":\"exited\",\"exit_code\":3}}");
  place_expect (place, "{\"id\":\"1\",\"event\":{\"type\":\"end\"}}");

  place_send (place, "{\"id\":\"1\",\"method\":\"cancel\",\"params\":{\"request_id\":\"1\"}}");
  place_expect (place, "{\"id\":\"1\",\"result\":{}}");
  place_close (place);
}

/* What ends with its session is told of. */
static void
test_follow_closed (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *session = place_open (place);
  g_autofree char *exited = NULL;

  g_free (spawn (place, session, "exec sleep 1000", ",\"follow\":true"));
  place_send_to (place, session, "{\"id\":\"2\",\"method\":\"close\",\"params\":{$S}}");
  exited = place_receive (place);
  g_assert_true (g_str_has_prefix (exited, "{\"id\":\"1\",\"event\":{\"type\":\"exited\","));
  place_expect (place, "{\"id\":\"1\",\"event\":{\"type\":\"end\"}}");
  place_expect (place, "{\"id\":\"2\",\"result\":{}}");
  place_close (place);
}

static void
test_not_started (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *session = place_open (place);

  place_send_to (place, session, "{\"id\":\"1\",\"method\":\"spawn\",\"params\":{$S,\"argv\":["
                                 "\"/no/such\"],\"follow\":true}}");
  place_expect_error (place, "1", "file_io_failed");
  place_send (place, "{\"id\":\"1\",\"method\":\"cancel\",\"params\":{\"request_id\":\"9\"}}");
  place_expect (place, "{\"id\":\"1\",\"result\":{}}");
  place_close (place);
}

static void
test_kill (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *session = place_open (place);
  g_autofree char *process = spawn (place, session, "exec sleep 1000", "");
  g_autofree char *listed = NULL;

  listed = g_strdup_printf ("{\"id\":\"2\",\"result\":{\"process_ids\":[\"%s\"]}}", process);
  place_send_to (place, session, "{\"id\":\"2\",\"method\":\"list_processes\",\"params\":{$S}}");
  place_expect (place, listed);
  send_of (place, session, process, "3", "wait", "");
  send_of (place, session, process, "4", "kill", ",\"signal\":65");
  place_expect_error (place, "4", "invalid_request");
  send_of (place, session, process, "5", "kill", ",\"signal\":15");
  place_expect (place, "{\"id\":\"5\",\"result\":{}}");
  place_expect (place, "{\"id\":\"3\",\"result\":{\"exit_code\":143,\"stdout_base64\":\"\","
                       "\"stderr_base64\":\"\",\"signal\":15}}");
  send_of (place, session, process, "6", "kill", ",\"signal\":9");
  place_expect (place, "{\"id\":\"6\",\"result\":{}}");
  place_send_to (place, session, "{\"id\":\"7\",\"method\":\"list_processes\",\"params\":{$S}}");
  place_expect (place, "{\"id\":\"7\",\"result\":{\"process_ids\":[]}}");
  place_close (place);
}

/* A process of another session is none. */
static void
test_unknown (void)
{
  static const char * const methods[] = {
    "wait", "kill", "write_stdin", "close_stdin", "resize_pty",
  };
  g_autoptr(Place) place = place_new ();
  g_autofree char *first = place_open (place);
  g_autofree char *second = place_open (place);
  g_autofree char *process = spawn (place, first, "exec sleep 1000", "");

  for (gsize i = 0; i < G_N_ELEMENTS (methods); i++)
    {
      send_of (place, second, process, "2", methods[i], ",\"signal\":9,\"data_base64\":\"\"");
      place_expect_error (place, "2", "unknown_process");
    }

  place_close (place);
}

static void
test_wait_cancelled (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *session = place_open (place);
  g_autofree char *process = spawn (place, session, "exec sleep 1000", "");
  g_autofree char *listed = NULL;

  send_of (place, session, process, "2", "wait", "");
  place_send (place, "{\"id\":\"3\",\"method\":\"cancel\",\"params\":{\"request_id\":\"2\"}}");
  place_expect (place, "{\"id\":\"3\",\"result\":{}}");
  place_expect_error (place, "2", "cancelled");
  listed = g_strdup_printf ("{\"id\":\"4\",\"result\":{\"process_ids\":[\"%s\"]}}", process);
  place_send_to (place, session, "{\"id\":\"4\",\"method\":\"list_processes\",\"params\":{$S}}");
  place_expect (place, listed);
  place_close (place);
}

static void
test_stdin (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *session = place_open (place);
  g_autofree char *process =
    spawn (place, session, "exec cat", ",\"follow\":true,\"open_stdin\":true");
  g_autoptr(GString) lines = g_string_new (NULL);

  /* What a command makes of it may be there before the reply. */
  send_of (place, session, process, "2", "write_stdin", ",\"data_base64\":\"AAE=\"");
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *line = place_receive (place);

      g_string_append (lines, line);
    }
  g_assert_nonnull (strstr (lines->str, "{\"id\":\"2\",\"result\":{}}"));
  g_assert_nonnull (strstr (lines->str, "{\"id\":\"1\",\"event\":{\"type\":\"stdout\","
                                        "\"data_base64\":\"AAE=\"}}"));

  send_of (place, session, process, "3", "write_stdin", "");
  place_expect_error (place, "3", "invalid_request");
  send_of (place, session, process, "4", "write_stdin", ",\"data_base64\":\"\"");
  place_expect (place, "{\"id\":\"4\",\"result\":{}}");
  send_of (place, session, process, "5", "resize_pty", ",\"rows\":1,\"columns\":1");
  place_expect_error (place, "5", "invalid_request");
  send_of (place, session, process, "6", "close_stdin", "");
  place_expect (place, "{\"id\":\"6\",\"result\":{}}");
  place_expect (place, "{\"id\":\"1\",\"event\":{\"type\":\"exited\",\"exit_code\":0}}");
  place_expect (place, "{\"id\":\"1\",\"event\":{\"type\":\"end\"}}");
  place_close (place);
}

/* The reply comes when the command's pipe has taken it all; what waits behind can be cancelled. */
static void
test_stdin_credit (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *session = place_open (place);
  g_autofree char *process = spawn (place, session, "exec sleep 1000", ",\"open_stdin\":true");
  g_autofree guchar *zeros = g_malloc0 (300000);
  g_autofree char *base64 = g_base64_encode (zeros, 300000);
  g_autofree char *data = g_strdup_printf (",\"data_base64\":\"%s\"", base64);

  send_of (place, session, process, "2", "write_stdin", data);
  send_of (place, session, process, "3", "write_stdin", data);
  send_of (place, session, process, "4", "close_stdin", "");
  place_send (place, "{\"id\":\"5\",\"method\":\"cancel\",\"params\":{\"request_id\":\"3\"}}");
  place_expect_error (place, "3", "cancelled");
  place_expect (place, "{\"id\":\"5\",\"result\":{}}");
  place_send (place, "{\"id\":\"6\",\"method\":\"cancel\",\"params\":{\"request_id\":\"2\"}}");
  place_expect (place, "{\"id\":\"6\",\"result\":{}}");
  place_expect_error (place, "2", "cancelled");
  place_expect (place, "{\"id\":\"4\",\"result\":{}}");
  send_of (place, session, process, "7", "write_stdin", ",\"data_base64\":\"AAE=\"");
  place_expect_error (place, "7", "file_io_failed");
  place_close (place);
}

static void
test_no_stdin (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *session = place_open (place);
  g_autofree char *process = spawn (place, session, "exec sleep 1000", "");

  send_of (place, session, process, "2", "write_stdin", ",\"data_base64\":\"AAE=\"");
  place_expect_error (place, "2", "invalid_request");
  send_of (place, session, process, "3", "close_stdin", "");
  place_expect_error (place, "3", "invalid_request");
  place_close (place);
}

/* Adds what an event of output carries, and says whether it was one. */
static gboolean
take_output (const char *line,
             GString    *text)
{
  const char *start = "{\"id\":\"1\",\"event\":{\"type\":\"stdout\",\"data_base64\":\"";
  g_autofree guchar *part = NULL;
  g_autofree char *base64 = NULL;
  gsize size;

  if (!g_str_has_prefix (line, start))
    return FALSE;

  base64 = g_strndup (line + strlen (start), strcspn (line + strlen (start), "\""));
  part = g_base64_decode (base64, &size);
  g_string_append_len (text, (const char *) part, (gssize) size);

  return TRUE;
}

static void
test_pty (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *session = place_open (place);
  g_autofree char *process =
    spawn (place, session, "stty size; read x; stty size; echo err >&2",
           ",\"follow\":true,\"pty\":{\"rows\":11,\"columns\":22}");
  g_autoptr(GString) output = g_string_new (NULL);
  g_autoptr(GString) others = g_string_new (NULL);

  /* What it wrote first was written in the size that it was given. */
  while (strstr (output->str, "11 22") == NULL)
    {
      g_autofree char *line = place_receive (place);

      g_assert_true (take_output (line, output));
    }

  send_of (place, session, process, "2", "resize_pty", ",\"rows\":33,\"columns\":44");
  send_of (place, session, process, "3", "close_stdin", "");
  send_of (place, session, process, "4", "write_stdin", ",\"data_base64\":\"Cg==\"");

  while (strstr (others->str, "\"end\"") == NULL)
    {
      g_autofree char *line = place_receive (place);

      if (!take_output (line, output))
        g_string_append (others, line);
    }

  g_assert_nonnull (strstr (output->str, "33 44"));
  g_assert_nonnull (strstr (output->str, "err"));
  g_assert_nonnull (strstr (others->str, "{\"id\":\"2\",\"result\":{}}"));
  g_assert_nonnull (strstr (others->str, "{\"id\":\"3\",\"error\":{\"code\":\"invalid_request\""));
  g_assert_nonnull (strstr (others->str, "{\"id\":\"4\",\"result\":{}}"));
  g_assert_nonnull (strstr (others->str, "{\"type\":\"exited\",\"exit_code\":0}"));
  place_close (place);
}

/* One whose output nobody follows has a terminal all the same. */
static void
test_pty_unfollowed (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *session = place_open (place);
  g_autofree char *process =
    spawn (place, session, "test -t 1 && read x && exit 5", ",\"pty\":{\"rows\":1,\"columns\":2}");

  send_of (place, session, process, "2", "write_stdin", ",\"data_base64\":\"Cg==\"");
  place_expect (place, "{\"id\":\"2\",\"result\":{}}");
  send_of (place, session, process, "3", "wait", "");
  place_expect (place, "{\"id\":\"3\",\"result\":{\"exit_code\":5,\"stdout_base64\":\"\","
                       "\"stderr_base64\":\"\"}}");
  place_close (place);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/server/spawn", test_spawn);
  g_test_add_func ("/server/spawn/follow", test_follow);
  g_test_add_func ("/server/spawn/follow-closed", test_follow_closed);
  g_test_add_func ("/server/spawn/not-started", test_not_started);
  g_test_add_func ("/server/process/kill", test_kill);
  g_test_add_func ("/server/process/unknown", test_unknown);
  g_test_add_func ("/server/process/wait-cancelled", test_wait_cancelled);
  g_test_add_func ("/server/stdin", test_stdin);
  g_test_add_func ("/server/stdin/credit", test_stdin_credit);
  g_test_add_func ("/server/stdin/none", test_no_stdin);
  g_test_add_func ("/server/pty", test_pty);
  g_test_add_func ("/server/pty/unfollowed", test_pty_unfollowed);

  return g_test_run ();
}
