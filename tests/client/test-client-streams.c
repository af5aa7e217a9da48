/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "client-util.h"

#include <string.h>

/* Output, and much of it: rows 6 to 11 and 27. Memory stays flat, and the caller's loop turns. */

#define MIB (1024 * 1024)

/* On a machine that has other things to do. What it is on an idle one is measured elsewhere. */
#define LATE_MS 1000

static void
assert_flat (gint64 before,
             gint64 limit_mib)
{
  if (test_memory_counts ())
    g_assert_cmpint (test_memory ("VmHWM:") - before, <, limit_mib * 1024);
}

typedef struct
{
  GString *out;
  GString *err;
  guint64  size;
  gboolean counts;    /* only */
} Seen;

static void
stdout_cb (SbxProcess *process,
           GBytes     *bytes,
           Seen       *seen)
{
  gsize size;
  const guchar *data = g_bytes_get_data (bytes, &size);

  if (!seen->counts)
    g_string_append_len (seen->out, (const char *) data, (gssize) size);
  seen->size += size;
}

static void
stderr_cb (SbxProcess *process,
           GBytes     *bytes,
           Seen       *seen)
{
  g_string_append_len (seen->err, g_bytes_get_data (bytes, NULL),
                       (gssize) g_bytes_get_size (bytes));
}

static SbxExecResult *
run_watched (SbxSession  *session,
             SbxCommand  *command,
             Seen        *seen,
             GError     **error)
{
  g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);

  seen->out = g_string_new (NULL);
  seen->err = g_string_new (NULL);
  g_signal_connect (process, "stdout", G_CALLBACK (stdout_cb), seen);
  g_signal_connect (process, "stderr", G_CALLBACK (stderr_cb), seen);
  return sbx_process_run (process, NULL, error);
}

static void
seen_clear (Seen *seen)
{
  g_string_free (seen->out, TRUE);
  g_string_free (seen->err, TRUE);
}

static void
assert_text (GBytes     *bytes,
             const char *expected)
{
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), expected,
                   strlen (expected));
}

/* Row 10 turned round: a result that says more than the events, less, nothing, something else. */
static void
test_result_and_events (void)
{
  static const struct
  {
    const char *options;
    const char *out;            /* collected */
    const char *err;
    const char *seen_out;       /* in signals */
    const char *seen_err;
  } cases[] = {
    { "events=all", "hello", "oh", "hello", "oh" },
    { "events=less", "hello", "oh", "hello", "oh" },
    { "events=none", "hello", "oh", "hello", "oh" },
    { "events=all,result=silent", "hello", "oh", "hello", "oh" },
    { "events=all,result=empty", "hello", "oh", "hello", "oh" },
    { "events=all,result=less", "he", "o", "hello", "oh" },
    { "events=all,result=other", "another", "another", NULL, NULL },
    { "events=other", "hello", "oh", "hello", "something else" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(TestClient) self = test_client_new (cases[i].options);
      g_autoptr(SbxSession) session = test_client_open (self);
      g_autoptr(SbxCommand) command = test_command ("true", NULL);
      g_autoptr(SbxExecResult) result = NULL;
      g_autoptr(GError) error = NULL;
      Seen seen = { NULL, };

      g_test_message ("%s", cases[i].options);
      result = run_watched (session, command, &seen, &error);
      g_assert_no_error (error);
      assert_text (sbx_exec_result_get_stdout (result), cases[i].out);
      assert_text (sbx_exec_result_get_stderr (result), cases[i].err);
      if (cases[i].seen_out != NULL)
        {
          g_assert_cmpstr (seen.out->str, ==, cases[i].seen_out);
          g_assert_cmpstr (seen.err->str, ==, cases[i].seen_err);
        }
      seen_clear (&seen);
    }
}

/* Live, and in the order in which it was written. */
static void
test_live (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autofree char *path = g_build_filename (self->workspace, "go", NULL);
  g_autoptr(SbxCommand) command =
    test_shell ("echo first; while ! test -e go; do sleep 0.01; done; echo second");
  g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
  g_autoptr(SbxExecResult) result = NULL;
  GAsyncResult *done = NULL;
  g_autoptr(GError) error = NULL;
  Seen seen = { .out = g_string_new (NULL), .err = g_string_new (NULL) };

  g_signal_connect (process, "stdout", G_CALLBACK (stdout_cb), &seen);
  sbx_process_run_async (process, NULL, test_store_result, &done);
  test_wait_for (g_str_equal (seen.out->str, "first\n"));
  g_assert_null (done);
  g_assert_true (g_file_set_contents (path, "", 0, NULL));
  test_wait_for (done != NULL);
  result = sbx_process_run_finish (process, done, &error);
  g_clear_object (&done);
  g_assert_no_error (error);
  g_assert_cmpstr (seen.out->str, ==, "first\nsecond\n");
  assert_text (sbx_exec_result_get_stdout (result), "first\nsecond\n");
  seen_clear (&seen);
}

/* Rows 9, 10 and 27: much that nobody collects. */
static void
test_stream (void)
{
  const char *modes[] = { "output=stream,size=64,chunk=8", "output=stream,size=256,chunk=64",
                          "output=stream,size=64,chunk=1024" };
  const guint64 sizes[] = { 64, 256, 64 };

  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autoptr(TestClient) self = test_client_new (modes[i]);
      g_autoptr(SbxSession) session = test_client_open (self);
      g_autoptr(SbxCommand) command = test_command ("true", NULL);
      g_autoptr(SbxExecResult) result = NULL;
      g_autoptr(GError) error = NULL;
      Seen seen = { .counts = TRUE };
      TestTimer timer;
      gint64 before;

      sbx_command_set_collect_limit (command, 0);
      test_memory_reset ();
      before = test_memory ("VmRSS:");
      test_timer_start (&timer);
      result = run_watched (session, command, &seen, &error);
      g_assert_cmpuint (test_timer_stop (&timer), <, LATE_MS);
      g_assert_no_error (error);
      g_assert_cmpuint (seen.size, ==, sizes[i] * MIB);
      assert_flat (before, 32);
      seen_clear (&seen);
    }
}

/* Row 10: 64 MiB in events, and again in the result. */
static void
test_repeated (void)
{
  g_autoptr(TestClient) self = test_client_new ("output=repeat,size=64");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;
  Seen seen = { .counts = TRUE };
  TestTimer timer;
  gint64 before;

  sbx_command_set_collect_limit (command, 0);
  test_memory_reset ();
  before = test_memory ("VmRSS:");
  test_timer_start (&timer);
  result = run_watched (session, command, &seen, &error);
  g_assert_cmpuint (test_timer_stop (&timer), <, LATE_MS);
  g_assert_no_error (error);
  g_assert_cmpuint (seen.size, ==, 64 * MIB);
  assert_flat (before, 160);
  seen_clear (&seen);
}

/* What comes in the result alone is no less: it is told before the end, and collected. */
static void
test_result_only (void)
{
  g_autoptr(TestClient) self = test_client_new ("output=result-only,size=16,chunk=64");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;
  const guchar *data;
  gsize size;
  Seen seen = { .counts = TRUE };

  result = run_watched (session, command, &seen, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (seen.size, ==, 16 * MIB);
  data = g_bytes_get_data (sbx_exec_result_get_stdout (result), &size);
  g_assert_cmpuint (size, ==, 16 * MIB);
  for (gsize i = 0; i < size; i += 4099)
    g_assert_cmpuint (data[i], ==, (guchar) (i % 65536 + i / 65536));
  seen_clear (&seen);
}

/* What is over the limit is counted. */
static void
test_collect_limit (void)
{
  g_autoptr(TestClient) self = test_client_new ("output=repeat,size=2");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;

  sbx_command_set_collect_limit (command, 1000);
  result = sbx_session_exec (session, command, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (sbx_exec_result_get_stdout (result)), ==, 1000);
  g_assert_cmpuint (sbx_exec_result_get_stdout_truncated (result), ==, 2 * MIB - 1000);
}

/* Row 9: who reads from a pipe decides how fast it goes. */
static void
test_back_pressure (void)
{
  g_autoptr(TestClient) self = test_client_new ("output=stream,size=256,chunk=64");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
  GInputStream *pipe = sbx_process_get_stdout_pipe (process);
  g_autoptr(SbxExecResult) result = NULL;
  GAsyncResult *done = NULL;
  g_autoptr(GError) error = NULL;
  guint64 size = 0;
  gint64 before;

  sbx_command_set_collect_limit (command, 0);
  test_memory_reset ();
  before = test_memory ("VmRSS:");
  sbx_process_run_async (process, NULL, test_store_result, &done);
  test_run_for (500);
  g_assert_null (done);
  assert_flat (before, 32);
  for (;;)
    {
      GAsyncResult *read = NULL;
      g_autoptr(GBytes) bytes = NULL;

      g_input_stream_read_bytes_async (pipe, 1 << 20, G_PRIORITY_DEFAULT, NULL, test_store_result,
                                       &read);
      test_wait_for (read != NULL);
      bytes = g_input_stream_read_bytes_finish (pipe, read, &error);
      g_clear_object (&read);
      g_assert_no_error (error);
      if (g_bytes_get_size (bytes) == 0)
        break;
      size += g_bytes_get_size (bytes);
    }
  g_assert_cmpuint (size, ==, (guint64) 256 * MIB);
  test_wait_for (done != NULL);
  result = sbx_process_run_finish (process, done, &error);
  g_clear_object (&done);
  g_assert_no_error (error);
  assert_flat (before, 48);
}

/* Rows 7 and 8: what it says on its error stream is read whatever it is, and kept in bounds. */
static void
test_error_floods (void)
{
  const char *kinds[] = { "lines", "unbroken", "binary", "not-utf8" };

  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *options = g_strdup_printf ("die-of-pipe,flood=%s,amount=64", kinds[i]);
      g_autoptr(TestClient) self = test_client_new (options);
      g_autoptr(SbxSession) session = test_client_open (self);
      g_autoptr(SbxCommand) command = test_command ("printf", "hello", NULL);
      g_autoptr(SbxExecResult) result = NULL;
      g_autoptr(GError) error = NULL;
      TestTimer timer;
      gint64 before;

      g_signal_handlers_disconnect_by_data (self->client, self);
      test_memory_reset ();
      before = test_memory ("VmRSS:");
      test_timer_start (&timer);
      result = sbx_session_exec (session, command, NULL, &error);
      g_assert_cmpuint (test_timer_stop (&timer), <, LATE_MS);
      g_assert_no_error (error);
      assert_text (sbx_exec_result_get_stdout (result), "hello");
      assert_flat (before, 16);
      g_assert_true (sbx_session_close (session, NULL, &error));
      g_assert_no_error (error);
    }
}

/* What it says there ends up in "log", in lines that can be shown. */
static void
test_error_lines (void)
{
  g_autoptr(TestClient) self = test_client_new ("die-after=exec,status=0,say=one\033 two");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(SbxExecResult) result = NULL;

  result = sbx_session_exec (session, command, NULL, NULL);
  g_assert_nonnull (result);
  test_wait_for (self->n_closed > 0);
  g_assert_nonnull (strstr (self->log->str, "one"));
  g_assert_null (strchr (self->log->str, '\033'));
}

/* Row 6: a line that does not end ends the connection, not the machine. */
static void
test_endless_line (void)
{
  g_autoptr(TestClient) self = test_client_new ("flood=output,amount=1024");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;
  TestTimer timer;
  gint64 before;

  g_assert_cmpuint (sbx_provider_client_get_max_message_size (self->client), ==,
                    (guint64) 128 * MIB);
  test_memory_reset ();
  before = test_memory ("VmRSS:");
  test_timer_start (&timer);
  result = sbx_session_exec (session, command, NULL, &error);
  g_assert_cmpuint (test_timer_stop (&timer), <, LATE_MS);
  if (result != NULL)
    g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_LOST);
  else
    g_assert_cmpint (error->domain, ==, SBX_ERROR);
  assert_flat (before, 300);
  test_wait_for (sbx_provider_client_get_state (self->client) == SBX_PROVIDER_CLIENT_STATE_BROKEN);
}

static void
test_endless_line_small (void)
{
  g_autoptr(TestClient) self = test_client_new ("flood=output,amount=1024");
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;
  gint64 before;

  sbx_provider_client_set_max_message_size (self->client, 2 * MIB);
  session = test_client_open (self);
  test_memory_reset ();
  before = test_memory ("VmRSS:");
  result = sbx_session_exec (session, command, NULL, &error);
  assert_flat (before, 16);
  test_wait_for (sbx_provider_client_get_state (self->client) == SBX_PROVIDER_CLIENT_STATE_BROKEN);
}

/* Row 11: a file of 64 MiB there and back. */
static void
test_big_file (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxSession) session = test_client_open (self);
  const gsize size = (gsize) 64 * MIB;
  guchar *data = g_malloc (size);
  g_autoptr(GBytes) content = NULL;
  g_autoptr(GBytes) read = NULL;
  g_autoptr(GError) error = NULL;
  TestTimer timer;
  gint64 before;

  for (gsize i = 0; i < size; i++)
    data[i] = (guchar) ((i * 2654435761u) >> 13);
  content = g_bytes_new_take (data, size);
  test_memory_reset ();
  before = test_memory ("VmRSS:");
  test_timer_start (&timer);
  g_assert_true (sbx_session_write_file (session, "big", content, 0, NULL, &error));
  g_assert_no_error (error);
  assert_flat (before, 16);
  read = sbx_session_read_file (session, "big", size, NULL, &error);
  g_assert_cmpuint (test_timer_stop (&timer), <, LATE_MS);
  g_assert_no_error (error);
  g_assert_true (g_bytes_equal (read, content));
  assert_flat (before, 160);
}

/* A file that is larger than asked for is refused where it arrives. */
static void
test_max_size (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autofree char *path = g_build_filename (self->workspace, "a", NULL);
  g_autoptr(GError) error = NULL;

  g_assert_true (g_file_set_contents (path, "0123456789", 10, NULL));
  g_assert_null (sbx_session_read_file (session, "a", 9, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE);
}

/* 2 MiB of input for a command that writes first. */
static void
test_big_input (void)
{
  g_autoptr(TestClient) self = test_client_new ("strict");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_shell ("printf ready; wc -c");
  g_autofree char *data = g_malloc0 (2 * MIB);
  g_autoptr(GBytes) input = g_bytes_new_static (data, 2 * MIB);
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;

  sbx_command_set_stdin_bytes (command, input);
  result = sbx_session_exec (session, command, NULL, &error);
  g_assert_no_error (error);
  assert_text (sbx_exec_result_get_stdout (result), "ready2097152\n");
}

/* Slowly, and for longer than any call may take that is no command. */
static void
test_trickle (void)
{
  g_autoptr(TestClient) self = test_client_new ("output=stream,size=1,chunk=32,delay=20,dribble");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;
  Seen seen = { .counts = TRUE };

  sbx_provider_client_set_call_timeout (self->client, 300);
  result = run_watched (session, command, &seen, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (seen.size, ==, MIB);
  seen_clear (&seen);
}

int
main (int   argc,
      char *argv[])
{
  test_client_init (&argc, &argv);

  g_test_add_func ("/client/streams/result-and-events", test_result_and_events);
  g_test_add_func ("/client/streams/live", test_live);
  g_test_add_func ("/client/streams/row-27-stream", test_stream);
  g_test_add_func ("/client/streams/row-10-repeated", test_repeated);
  g_test_add_func ("/client/streams/result-only", test_result_only);
  g_test_add_func ("/client/streams/collect-limit", test_collect_limit);
  g_test_add_func ("/client/streams/row-9-back-pressure", test_back_pressure);
  g_test_add_func ("/client/streams/row-7-and-8-error-floods", test_error_floods);
  g_test_add_func ("/client/streams/error-lines", test_error_lines);
  g_test_add_func ("/client/streams/row-6-endless-line", test_endless_line);
  g_test_add_func ("/client/streams/row-6-endless-line-small", test_endless_line_small);
  g_test_add_func ("/client/streams/row-11-big-file", test_big_file);
  g_test_add_func ("/client/streams/max-size", test_max_size);
  g_test_add_func ("/client/streams/big-input", test_big_input);
  g_test_add_func ("/client/streams/trickle", test_trickle);

  return g_test_run ();
}
