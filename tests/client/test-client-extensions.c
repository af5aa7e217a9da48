/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "client-util.h"

#include <string.h>

/* Providers that say they can do more than sandbox.v1, and do it badly. */

/* A client whose provider answers @method with @lines, each with its id where it says $ID. */
static TestClient *
make_client (const char *features,
             const char *method,
             const char *lines)
{
  g_autofree char *options = g_strdup_printf ("features=%s,at=%s,instead=env", features, method);
  TestClient *self = test_client_new (options);

  sbx_provider_client_set_variable (self->client, "FAKE_LINE", lines);
  sbx_provider_client_set_grace (self->client, 300);
  return self;
}

/* Whatever that was, the next call never knows. */
static void
assert_works (SbxSession *session)
{
  g_autoptr(GError) error = NULL;

  g_assert_true (sbx_session_create_dir_all (session, "d", NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpint (sbx_session_get_state (session), ==, SBX_SESSION_STATE_OPEN);
}

static void
test_list_dir (void)
{
  static const struct
  {
    const char *entries;
    int         n;              /* or -1 for an error */
  } cases[] = {
    { "[]", 0 },
    { "[{\"name\":\"a\",\"type\":\"file\"},{\"name\":\"b c\",\"type\":\"directory\"}]", 2 },
    { "[{\"name\":\"a\",\"type\":\"file\",\"size\":6,\"mode\":33188,\"x\":[null]}]", 1 },
    { "[{\"name\":\"/etc/passwd\",\"type\":\"file\"}]", -1 },
    { "[{\"name\":\"a/b\",\"type\":\"file\"}]", -1 },
    { "[{\"name\":\"..\",\"type\":\"directory\"}]", -1 },
    { "[{\"name\":\".\",\"type\":\"directory\"}]", -1 },
    { "[{\"name\":\"\",\"type\":\"file\"}]", -1 },
    { "[{\"name\":\"a\\u0000b\",\"type\":\"file\"}]", -1 },
    { "[{\"name\":\"a\",\"name_base64\":\"Li4vYQ==\",\"type\":\"file\"}]", -1 },
    { "[{\"name\":\"a\",\"name_base64\":\"YQBi\",\"type\":\"file\"}]", -1 },
    { "[{\"name\":\"a\",\"name_base64\":\"a*\",\"type\":\"file\"}]", -1 },
    { "[{\"name\":7,\"type\":\"file\"}]", -1 },
    { "[{\"type\":\"file\"}]", -1 },
    { "[{\"name\":\"a\",\"type\":\"file\",\"size\":-1}]", -1 },
    { "[{\"name\":\"a\",\"type\":\"file\",\"size\":\"6\"}]", -1 },
    { "[null]", -1 },
    { "[[]]", -1 },
    { "{}", -1 },
    { "null", -1 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *line = g_strdup_printf ("{\"id\":\"$ID\",\"result\":{\"entries\":%s}}",
                                               cases[i].entries);
      g_autoptr(TestClient) self = make_client ("files", "list_dir", line);
      g_autoptr(SbxSession) session = test_client_open (self);
      g_autoptr(GListModel) infos = NULL;
      g_autoptr(GError) error = NULL;

      g_test_message ("%s", cases[i].entries);
      infos = sbx_session_list_dir (session, ".", NULL, &error);
      if (cases[i].n >= 0)
        {
          g_assert_no_error (error);
          g_assert_cmpuint (g_list_model_get_n_items (infos), ==, cases[i].n);
        }
      else
        {
          g_assert_null (infos);
          g_assert_error (error, SBX_ERROR, SBX_ERROR_PROTOCOL);
        }
      assert_works (session);
    }
}

/* Errors of files are those of files, whatever stands beside them. */
static void
test_errno (void)
{
  static const struct
  {
    const char *errno_text;
    int         code;
  } cases[] = {
    { "\"ENOENT\"", G_IO_ERROR_NOT_FOUND },
    { "\"EACCES\"", G_IO_ERROR_PERMISSION_DENIED },
    { "\"ENOSPC\"", G_IO_ERROR_NO_SPACE },
    { "\"EISDIR\"", G_IO_ERROR_IS_DIRECTORY },
  };
  static const char *odd[] = { "\"ENOTHING\"", "\"\"", "2", "null", "{}" };

  for (gsize i = 0; i < G_N_ELEMENTS (cases) + G_N_ELEMENTS (odd); i++)
    {
      const gboolean known = i < G_N_ELEMENTS (cases);
      g_autofree char *line =
        g_strdup_printf ("{\"id\":\"$ID\",\"error\":{\"code\":\"file_io_failed\",\"message\":\"it"
                         "\",\"errno\":%s}}",
                         known ? cases[i].errno_text : odd[i - G_N_ELEMENTS (cases)]);
      g_autoptr(TestClient) self = make_client ("files", "read_file", line);
      g_autoptr(SbxSession) session = test_client_open (self);
      g_autoptr(GBytes) bytes = NULL;
      g_autoptr(GError) error = NULL;

      g_test_message ("%s", line);
      bytes = sbx_session_read_file (session, "a", 0, NULL, &error);
      g_assert_null (bytes);
      if (known)
        g_assert_error (error, G_IO_ERROR, cases[i].code);
      else
        g_assert_nonnull (error);
      assert_works (session);
    }
}

/* More than was asked for is not taken. */
static void
test_range (void)
{
  static const struct
  {
    const char *result;
    gssize      size;           /* or -1 for an error */
  } cases[] = {
    { "{\"content_base64\":\"YWJj\",\"size\":10,\"eof\":false}", 3 },
    { "{\"content_base64\":\"\",\"size\":2,\"eof\":true}", 0 },
    { "{\"content_base64\":\"YWJjZGVm\",\"size\":10,\"eof\":false}", -1 },
    { "{\"content_base64\":7}", -1 },
    { "{}", -1 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *line = g_strdup_printf ("{\"id\":\"$ID\",\"result\":%s}", cases[i].result);
      g_autoptr(TestClient) self = make_client ("ranges", "read_file", line);
      g_autoptr(SbxSession) session = test_client_open (self);
      g_autoptr(GBytes) bytes = NULL;
      g_autoptr(GError) error = NULL;

      g_test_message ("%s", line);
      bytes = sbx_session_read_range (session, "a", 2, 3, NULL, NULL, &error);
      if (cases[i].size >= 0)
        {
          g_assert_no_error (error);
          g_assert_cmpuint (g_bytes_get_size (bytes), ==, cases[i].size);
        }
      else
        {
          g_assert_null (bytes);
          g_assert_nonnull (error);
          g_assert_cmpint (error->domain, ==, SBX_ERROR);
        }
      assert_works (session);
    }
}

/* How a command ended, said in every way there is. */
static void
test_exec_end (void)
{
  static const struct
  {
    const char *members;
    int         outcome;        /* or -1 for an error */
    int         number;         /* signal, or kind */
  } cases[] = {
    { "\"exit_code\":3", SBX_EXEC_OUTCOME_EXITED, 0 },
    { "\"exit_code\":137,\"signal\":9", SBX_EXEC_OUTCOME_SIGNALLED, 9 },
    { "\"exit_code\":139,\"signal\":11,\"core_dumped\":true", SBX_EXEC_OUTCOME_SIGNALLED, 11 },
    { "\"exit_code\":124,\"timed_out\":true", SBX_EXEC_OUTCOME_TIMED_OUT, 0 },
    { "\"exit_code\":0,\"timed_out\":false,\"signal\":null", SBX_EXEC_OUTCOME_EXITED, 0 },
    { "\"exit_code\":127,\"not_started\":{\"kind\":\"not_found\",\"message\":\"no\"}",
      SBX_EXEC_OUTCOME_NOT_STARTED, SBX_NOT_STARTED_NOT_FOUND },
    { "\"exit_code\":126,\"not_started\":{\"kind\":\"something new\"}",
      SBX_EXEC_OUTCOME_NOT_STARTED, SBX_NOT_STARTED_OTHER },
    /* Others may mean something else by these names: the number decides. */
    { "\"exit_code\":128,\"signal\":0", SBX_EXEC_OUTCOME_EXITED, 0 },
    { "\"exit_code\":128,\"signal\":65", SBX_EXEC_OUTCOME_EXITED, 0 },
    { "\"exit_code\":128,\"signal\":-9", SBX_EXEC_OUTCOME_EXITED, 0 },
    { "\"exit_code\":128,\"signal\":\"KILL\"", SBX_EXEC_OUTCOME_EXITED, 0 },
    { "\"exit_code\":124,\"timed_out\":1", SBX_EXEC_OUTCOME_EXITED, 0 },
    { "\"exit_code\":127,\"not_started\":\"no\"", SBX_EXEC_OUTCOME_EXITED, 0 },
    { "\"signal\":[9]", -1, 0 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *line = g_strdup_printf ("{\"id\":\"$ID\",\"result\":{%s}}",
                                               cases[i].members);
      g_autoptr(TestClient) self = make_client ("signals", "exec", line);
      g_autoptr(SbxSession) session = test_client_open (self);
      g_autoptr(SbxCommand) command = test_command ("true", NULL);
      g_autoptr(SbxExecResult) result = NULL;
      g_autoptr(GError) error = NULL;

      g_test_message ("%s", line);
      result = sbx_session_exec (session, command, NULL, &error);
      if (cases[i].outcome < 0)
        {
          g_assert_null (result);
          g_assert_error (error, SBX_ERROR, SBX_ERROR_PROTOCOL);
        }
      else
        {
          g_assert_no_error (error);
          g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, cases[i].outcome);
        }
      if (cases[i].outcome == SBX_EXEC_OUTCOME_SIGNALLED)
        g_assert_cmpint (sbx_exec_result_get_signal (result), ==, cases[i].number);
      if (cases[i].outcome == SBX_EXEC_OUTCOME_NOT_STARTED)
        g_assert_cmpint (sbx_exec_result_get_not_started (result), ==, cases[i].number);
      assert_works (session);
    }
}

#define REPLY "{\"id\":\"$ID\",\"result\":{\"process_id\":\"p7\"}}"
#define OUTPUT "{\"id\":\"$ID\",\"event\":{\"type\":\"stdout\",\"data_base64\":\"b2sK\"}}"
#define EXITED "{\"id\":\"$ID\",\"event\":{\"type\":\"exited\",\"exit_code\":4}}"
#define END "{\"id\":\"$ID\",\"event\":{\"type\":\"end\"}}"

static void
collect_cb (SbxProcess *process,
            GBytes     *bytes,
            GString    *seen)
{
  g_string_append_len (seen, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
}

/* A process in the background that is followed: what it says after the reply. */
static void
test_follow (void)
{
  static const struct
  {
    const char *lines;
    int         outcome;
    const char *output;
  } cases[] = {
    { REPLY "\n" OUTPUT "\n" EXITED "\n" END, SBX_EXEC_OUTCOME_EXITED, "ok\n" },
    { OUTPUT "\n" REPLY "\n" OUTPUT "\n" EXITED "\n" END, SBX_EXEC_OUTCOME_EXITED, "ok\nok\n" },
    { REPLY "\n" EXITED "\n" END "\n" OUTPUT "\n" END "\n" REPLY, SBX_EXEC_OUTCOME_EXITED, "" },
    { REPLY "\n" EXITED "\n" EXITED "\n" END, SBX_EXEC_OUTCOME_EXITED, "" },
    { REPLY "\n" END, SBX_EXEC_OUTCOME_LOST, "" },
    { REPLY "\n{\"id\":\"$ID\",\"event\":{\"type\":\"news\"}}\n" EXITED "\n" END,
      SBX_EXEC_OUTCOME_EXITED, "" },
    { REPLY "\nwhat is this\n" OUTPUT "\n" EXITED "\n" END, SBX_EXEC_OUTCOME_EXITED, "ok\n" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(TestClient) self = make_client ("process", "spawn", cases[i].lines);
      g_autoptr(SbxSession) session = test_client_open (self);
      g_autoptr(SbxCommand) command = test_command ("true", NULL);
      g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
      g_autoptr(GString) seen = g_string_new (NULL);
      g_autoptr(GError) error = NULL;
      SbxExecResult *result;

      g_test_message ("%s", cases[i].lines);
      g_signal_connect (process, "stdout", G_CALLBACK (collect_cb), seen);
      g_assert_true (sbx_process_start (process, NULL, &error));
      g_assert_no_error (error);
      test_wait_for (sbx_process_get_state (process) == SBX_PROCESS_STATE_ENDED);
      result = sbx_process_get_result (process);
      g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, cases[i].outcome);
      if (cases[i].outcome == SBX_EXEC_OUTCOME_EXITED)
        g_assert_cmpint (sbx_exec_result_get_exit_code (result), ==, 4);
      g_assert_cmpstr (seen->str, ==, cases[i].output);
      assert_works (session);
    }
}

/* One whose events cannot be read is lost, alone and at once. */
static void
test_follow_badly (void)
{
  static const char *events[] = {
    "{\"id\":\"$ID\",\"event\":{\"type\":\"stdout\",\"data_base64\":\"*\"}}",
    "{\"id\":\"$ID\",\"event\":{\"type\":\"exited\",\"exit_code\":1000}}",
    "{\"id\":\"$ID\",\"event\":[]}",
    "{\"id\":\"$ID\",\"event\":{\"type\":7}}",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (events); i++)
    {
      g_autofree char *lines = g_strconcat (REPLY "\n", events[i], "\n" OUTPUT "\n" END, NULL);
      g_autoptr(TestClient) self = make_client ("process", "spawn", lines);
      g_autoptr(SbxSession) session = test_client_open (self);
      g_autoptr(SbxCommand) command = test_command ("true", NULL);
      g_autoptr(SbxProcess) process = NULL;
      g_autoptr(GError) error = NULL;

      g_test_message ("%s", lines);
      process = sbx_session_spawn (session, command, NULL, &error);
      g_assert_no_error (error);
      test_wait_for (sbx_process_get_state (process) == SBX_PROCESS_STATE_ENDED);
      g_assert_cmpint (sbx_exec_result_get_outcome (sbx_process_get_result (process)), ==,
                       SBX_EXEC_OUTCOME_LOST);
      assert_works (session);
    }
}

/* One that is followed ends with its session, and with its provider. */
static void
test_follow_end (void)
{
  const char *modes[] = { "features=process", "features=process,die-before=read_file" };

  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autoptr(TestClient) self = test_client_new (modes[i]);
      g_autoptr(SbxSession) session = test_client_open (self);
      g_autoptr(SbxCommand) command = test_command ("sleep", "1000", NULL);
      g_autoptr(SbxProcess) process = NULL;
      g_autoptr(GError) error = NULL;

      process = sbx_session_spawn (session, command, NULL, &error);
      g_assert_no_error (error);
      if (i == 0)
        g_assert_true (sbx_session_close (session, NULL, &error));
      else
        g_assert_null (sbx_session_read_file (session, "a", 0, NULL, NULL));
      test_wait_for (sbx_process_get_state (process) == SBX_PROCESS_STATE_ENDED);
      g_assert_cmpint (sbx_exec_result_get_outcome (sbx_process_get_result (process)), ==,
                       SBX_EXEC_OUTCOME_LOST);
    }
}

/* It was asked not to repeat the output, and does, or says that it left some out. */
static void
test_quiet (void)
{
  const char *modes[] = { "features=quiet-result,events=all",
                          "features=quiet-result,events=all,result=empty",
                          "features=quiet-result,events=all,result=silent" };

  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autoptr(TestClient) self = test_client_new (modes[i]);
      g_autoptr(SbxSession) session = test_client_open (self);
      g_autoptr(SbxCommand) command = test_command ("true", NULL);
      g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
      g_autoptr(GString) seen = g_string_new (NULL);
      g_autoptr(SbxExecResult) result = NULL;
      g_autoptr(GError) error = NULL;
      GBytes *out;

      g_signal_connect (process, "stdout", G_CALLBACK (collect_cb), seen);
      result = sbx_process_run (process, NULL, &error);
      g_assert_no_error (error);
      out = sbx_exec_result_get_stdout (result);
      g_assert_cmpmem (g_bytes_get_data (out, NULL), g_bytes_get_size (out), "hello", 5);
      g_assert_cmpstr (seen->str, ==, "hello");
      g_assert_cmpuint (test_client_count_record (self, "\"collect\":false"), ==, 1);
    }
}

/* Nobody reads what is written, and the reply that would be the credit never comes. */
static void
test_stdin_unanswered (void)
{
  g_autoptr(TestClient) self = test_client_new ("multiplex,features=multiplex+stdin+cancel,"
                                                "silent=write_stdin");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("sleep", "1000", NULL);
  g_autoptr(SbxProcess) process = NULL;
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  GAsyncResult *done = NULL;
  GAsyncResult *written = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *much = g_malloc0 (8 * 1024 * 1024);
  gint64 before;

  /* The command is over, and the reply still does not come: that is bounded as with any call. */
  sbx_provider_client_set_call_timeout (self->client, 500);
  sbx_provider_client_set_grace (self->client, 300);
  sbx_command_set_stdin (command, SBX_STDIN_PIPE);
  process = sbx_session_create_process (session, command);
  sbx_process_run_async (process, cancellable, test_store_result, &done);
  test_memory_reset ();
  before = test_memory ("VmRSS:");
  g_output_stream_write_all_async (sbx_process_get_stdin_pipe (process), much, 8 * 1024 * 1024,
                                   G_PRIORITY_DEFAULT, cancellable, test_store_result, &written);
  test_run_for (300);
  g_assert_null (written);
  if (test_memory_counts ())
    g_assert_cmpint (test_memory ("VmHWM:") - before, <, 12 * 1024);
  g_cancellable_cancel (cancellable);
  test_wait_for (done != NULL && written != NULL);
  result = sbx_process_run_finish (process, done, &error);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_object (&done);
  g_clear_object (&written);
}

/* Names that nobody knows, and too many of them, are passed over. */
static void
test_unknown_features (void)
{
  g_autoptr(TestClient) self = test_client_new ("features=teleport+files+files+MULTIPLEX+ +x");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_auto(GStrv) features = sbx_provider_client_dup_features (self->client);

  g_assert_cmpuint (g_strv_length (features), ==, 1);
  g_assert_cmpstr (features[0], ==, "files");
  g_assert_false (sbx_session_get_capabilities (session) & SBX_CAPABILITIES_SPAWN);
  assert_works (session);
}

int
main (int   argc,
      char *argv[])
{
  test_client_init (&argc, &argv);

  g_test_add_func ("/client/extensions/list-dir", test_list_dir);
  g_test_add_func ("/client/extensions/errno", test_errno);
  g_test_add_func ("/client/extensions/range", test_range);
  g_test_add_func ("/client/extensions/exec-end", test_exec_end);
  g_test_add_func ("/client/extensions/follow", test_follow);
  g_test_add_func ("/client/extensions/follow-badly", test_follow_badly);
  g_test_add_func ("/client/extensions/follow-end", test_follow_end);
  g_test_add_func ("/client/extensions/quiet", test_quiet);
  g_test_add_func ("/client/extensions/stdin-unanswered", test_stdin_unanswered);
  g_test_add_func ("/client/extensions/unknown-features", test_unknown_features);

  return g_test_run ();
}
