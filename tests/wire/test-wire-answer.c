/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-error.h"
#include "core/sbx-exec-result-private.h"
#include "wire-util.h"
#include "wire/sbx-wire-answer-private.h"
#include "wire/sbx-wire-reply-private.h"

/* What a plain client must be able to read, and what our own client makes of it. */

static void
test_small (void)
{
  static const char * const ids[] = { "1", "a\"b", NULL };

  wire_assert_text (_sbx_wire_answer_done ("req_1"), "{\"id\":\"req_1\",\"result\":{}}");
  wire_assert_text (_sbx_wire_answer_done ("\"\n"), "{\"id\":\"\\\"\\n\",\"result\":{}}");
  wire_assert_text (_sbx_wire_answer_capabilities ("1", TRUE, 0),
                    "{\"id\":\"1\",\"result\":{\"exec\":true,\"features\":[]}}");
  wire_assert_text (_sbx_wire_answer_capabilities ("1", FALSE,
                                                   SBX_WIRE_MULTIPLEX | SBX_WIRE_QUIET_RESULT),
                    "{\"id\":\"1\",\"result\":{\"exec\":false,\"features\":[\"multiplex\","
                    "\"quiet-result\"]}}");
  wire_assert_text (_sbx_wire_answer_cleaned_count ("1", 2),
                    "{\"id\":\"1\",\"result\":{\"cleaned_count\":2}}");
  wire_assert_text (_sbx_wire_answer_path ("1", "/tmp/x"),
                    "{\"id\":\"1\",\"result\":{\"path\":\"/tmp/x\"}}");
  wire_assert_text (_sbx_wire_answer_spawn ("1", "7"),
                    "{\"id\":\"1\",\"result\":{\"process_id\":\"7\"}}");
  wire_assert_text (_sbx_wire_answer_spawn ("1", NULL), "{\"id\":\"1\",\"result\":{}}");
  wire_assert_text (_sbx_wire_answer_processes ("1", ids),
                    "{\"id\":\"1\",\"result\":{\"process_ids\":[\"1\",\"a\\\"b\"]}}");
}

static void
test_session (void)
{
  wire_assert_text (_sbx_wire_answer_session ("1", "s1", "/w", TRUE, SBX_WIRE_CANCEL,
                                              "{\"a\":1}"),
                    "{\"id\":\"1\",\"result\":{\"id\":\"s1\",\"cwd\":\"/w\",\"capabilities\":{"
                    "\"exec\":true,\"features\":[\"cancel\"]},"
                    "\"provider_state_json\":\"{\\\"a\\\":1}\"}}");
  wire_assert_text (_sbx_wire_answer_session ("1", "s1", NULL, FALSE, 0, NULL),
                    "{\"id\":\"1\",\"result\":{\"id\":\"s1\",\"capabilities\":{"
                    "\"exec\":false,\"features\":[]}}}");
}

static void
test_content (void)
{
  g_autoptr(GBytes) content = g_bytes_new_static ("\0\1\377", 3);
  g_autoptr(GBytes) empty = g_bytes_new_static ("", 0);

  wire_assert_text (_sbx_wire_answer_content ("1", content, -1, FALSE),
                    "{\"id\":\"1\",\"result\":{\"content_base64\":\"AAH/\"}}");
  wire_assert_text (_sbx_wire_answer_content ("1", empty, 3, TRUE),
                    "{\"id\":\"1\",\"result\":{\"content_base64\":\"\",\"size\":3,\"eof\":true}}");
}

static void
test_events (void)
{
  g_autoptr(GBytes) bytes = wire_bytes ("x");
  g_autoptr(SbxExecResult) exited = _sbx_exec_result_new_exited (3);
  g_autoptr(SbxExecResult) killed = _sbx_exec_result_new_signalled (9, FALSE);

  wire_assert_text (_sbx_wire_event_started ("1", "7"),
                    "{\"id\":\"1\",\"event\":{\"type\":\"started\",\"process_id\":\"7\"}}");
  wire_assert_text (_sbx_wire_event_started ("1", NULL),
                    "{\"id\":\"1\",\"event\":{\"type\":\"started\"}}");
  wire_assert_text (_sbx_wire_event_output ("1", "stdout", bytes),
                    "{\"id\":\"1\",\"event\":{\"type\":\"stdout\",\"data_base64\":\"eA==\"}}");
  wire_assert_text (_sbx_wire_event_exited ("1", exited),
                    "{\"id\":\"1\",\"event\":{\"type\":\"exited\",\"exit_code\":3}}");
  wire_assert_text (_sbx_wire_event_exited ("1", killed),
                    "{\"id\":\"1\",\"event\":{\"type\":\"exited\",\"exit_code\":137,"
                    "\"signal\":9}}");
  wire_assert_text (_sbx_wire_event_end ("1"), "{\"id\":\"1\",\"event\":{\"type\":\"end\"}}");
}

static void
test_exec (void)
{
  g_autoptr(SbxExecResult) exited = _sbx_exec_result_new_exited (0);
  g_autoptr(SbxExecResult) killed = _sbx_exec_result_new_signalled (11, TRUE);
  g_autoptr(SbxExecResult) late = _sbx_exec_result_new_timed_out ();
  g_autoptr(SbxExecResult) missing =
    _sbx_exec_result_new_not_started (SBX_NOT_STARTED_NOT_FOUND, 2, "no \"x\"");
  g_autoptr(SbxExecResult) cwd = _sbx_exec_result_new_not_started (SBX_NOT_STARTED_BAD_CWD, 0, "m");
  g_autoptr(SbxExecResult) lost = _sbx_exec_result_new_lost ("gone");

  _sbx_exec_result_take_output (exited, wire_bytes ("out"), 0, wire_bytes ("err"), 5);
  wire_assert_text (_sbx_wire_answer_exec ("1", exited, TRUE),
                    "{\"id\":\"1\",\"result\":{\"exit_code\":0,\"stdout_base64\":\"b3V0\","
                    "\"stderr_base64\":\"ZXJy\",\"stderr_truncated\":5}}");
  wire_assert_text (_sbx_wire_answer_exec ("1", exited, FALSE),
                    "{\"id\":\"1\",\"result\":{\"exit_code\":0,\"stdout_base64\":\"\","
                    "\"stderr_base64\":\"\"}}");

#define NO_OUTPUT "\"stdout_base64\":\"\",\"stderr_base64\":\"\""
  wire_assert_text (_sbx_wire_answer_exec ("1", killed, TRUE),
                    "{\"id\":\"1\",\"result\":{\"exit_code\":139," NO_OUTPUT ",\"signal\":11,"
                    "\"core_dumped\":true}}");
  wire_assert_text (_sbx_wire_answer_exec ("1", late, TRUE),
                    "{\"id\":\"1\",\"result\":{\"exit_code\":124," NO_OUTPUT
                    ",\"timed_out\":true}}");
  wire_assert_text (_sbx_wire_answer_exec ("1", missing, TRUE),
                    "{\"id\":\"1\",\"result\":{\"exit_code\":127," NO_OUTPUT ",\"not_started\":{"
                    "\"kind\":\"not_found\",\"message\":\"no \\\"x\\\"\",\"errno\":\"ENOENT\"}}}");
  wire_assert_text (_sbx_wire_answer_exec ("1", cwd, TRUE),
                    "{\"id\":\"1\",\"result\":{\"exit_code\":126," NO_OUTPUT ",\"not_started\":{"
                    "\"kind\":\"bad_cwd\",\"message\":\"m\"}}}");
  wire_assert_text (_sbx_wire_answer_exec ("1", lost, TRUE),
                    "{\"id\":\"1\",\"result\":{\"exit_code\":-1," NO_OUTPUT
                    ",\"message\":\"gone\"}}");
}

static void
assert_error (GQuark      domain,
              int         code,
              const char *message,
              const char *expected)
{
  g_autoptr(GError) error = g_error_new_literal (domain, code, message);
  g_autofree char *text = g_strdup_printf ("{\"id\":\"1\",\"error\":{%s}}", expected);

  wire_assert_text (_sbx_wire_answer_error ("1", error), text);
}

static void
test_errors (void)
{
  static const struct
  {
    SbxError    code;
    const char *name;
  } ours[] = {
    { SBX_ERROR_FAILED, "failed" },
    { SBX_ERROR_INVALID, "invalid_request" },
    { SBX_ERROR_REFUSED, "refused" },
    { SBX_ERROR_UNSUPPORTED, "unsupported_method" },
    { SBX_ERROR_NOT_ENFORCEABLE, "not_enforceable" },
    { SBX_ERROR_SETUP_FAILED, "setup_failed" },
    { SBX_ERROR_CLOSED, "closed" },
    { SBX_ERROR_LOST, "lost" },
    { SBX_ERROR_TOO_LARGE, "too_large" },
    { SBX_ERROR_UNANSWERED, "failed" },
    { SBX_ERROR_PROTOCOL, "failed" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (ours); i++)
    {
      g_autofree char *expected = g_strdup_printf ("\"code\":\"%s\",\"message\":\"why\","
                                                   "\"retryable\":false", ours[i].name);

      assert_error (SBX_ERROR, (int) ours[i].code, "why", expected);
    }

  assert_error (SBX_ERROR, SBX_ERROR_BUSY, "why",
                "\"code\":\"busy\",\"message\":\"why\",\"retryable\":true");
  assert_error (SBX_ERROR, SBX_ERROR_NOT_FOUND, "why",
                "\"code\":\"file_io_failed\",\"message\":\"why\",\"retryable\":false,"
                "\"errno\":\"ENOENT\"");
  assert_error (SBX_ERROR, SBX_ERROR_PROVIDER, "bad_profile: no: such",
                "\"code\":\"bad_profile\",\"message\":\"no: such\",\"retryable\":false");
  assert_error (SBX_ERROR, SBX_ERROR_PROVIDER_RETRYABLE, "ssh_not_ready: ",
                "\"code\":\"ssh_not_ready\",\"message\":\"\",\"retryable\":true");
  assert_error (SBX_ERROR, SBX_ERROR_PROVIDER, "what a mess: no code",
                "\"code\":\"failed\",\"message\":\"what a mess: no code\",\"retryable\":false");
  assert_error (G_IO_ERROR, G_IO_ERROR_CANCELLED, "why",
                "\"code\":\"cancelled\",\"message\":\"why\",\"retryable\":false");
  assert_error (G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "why",
                "\"code\":\"file_io_failed\",\"message\":\"why\",\"retryable\":false,"
                "\"errno\":\"ENOENT\"");
  assert_error (G_IO_ERROR, G_IO_ERROR_FAILED, "why",
                "\"code\":\"file_io_failed\",\"message\":\"why\",\"retryable\":false,"
                "\"errno\":\"EIO\"");
  assert_error (G_IO_ERROR, G_IO_ERROR_PARTIAL_INPUT, "why",
                "\"code\":\"file_io_failed\",\"message\":\"why\",\"retryable\":false");
  assert_error (G_KEY_FILE_ERROR, 0, "\xff",
                "\"code\":\"failed\",\"message\":\"\xef\xbf\xbd\",\"retryable\":false");

  wire_assert_text (_sbx_wire_answer_code ("1", "too_many_requests", "wait"),
                    "{\"id\":\"1\",\"error\":{\"code\":\"too_many_requests\",\"message\":\"wait\","
                    "\"retryable\":true}}");
  wire_assert_text (_sbx_wire_answer_code ("1", "bad_profile", "no"),
                    "{\"id\":\"1\",\"error\":{\"code\":\"bad_profile\",\"message\":\"no\","
                    "\"retryable\":false}}");
}

/* Takes @message: what our server writes is what our client reads. */
static SbxWireLine *
receive (SbxWireReply   *reply,
         SbxWireMessage *message)
{
  SbxWireLine *line = wire_send (message);
  g_autoptr(GError) error = NULL;

  _sbx_wire_reply_parse (reply, line, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (reply->id, ==, "req_1");

  return line;
}

/* What a caller gets from a file verb in this process is what it gets over the wire. */
static void
test_round_trip_io_errors (void)
{
  static const GIOErrorEnum codes[] = {
    G_IO_ERROR_NOT_FOUND, G_IO_ERROR_EXISTS, G_IO_ERROR_IS_DIRECTORY, G_IO_ERROR_NOT_DIRECTORY,
    G_IO_ERROR_NOT_EMPTY, G_IO_ERROR_NOT_REGULAR_FILE, G_IO_ERROR_FILENAME_TOO_LONG,
    G_IO_ERROR_INVALID_FILENAME, G_IO_ERROR_TOO_MANY_LINKS, G_IO_ERROR_NO_SPACE,
    G_IO_ERROR_INVALID_ARGUMENT, G_IO_ERROR_PERMISSION_DENIED, G_IO_ERROR_NOT_SUPPORTED,
    G_IO_ERROR_READ_ONLY, G_IO_ERROR_TIMED_OUT, G_IO_ERROR_BUSY, G_IO_ERROR_WOULD_BLOCK,
    G_IO_ERROR_TOO_MANY_OPEN_FILES, G_IO_ERROR_BROKEN_PIPE, G_IO_ERROR_NOT_CONNECTED,
    G_IO_ERROR_CONNECTION_REFUSED, G_IO_ERROR_FAILED, G_IO_ERROR_CANCELLED,
  };

  for (gsize i = 0; i < G_N_ELEMENTS (codes); i++)
    {
      g_autoptr(GError) sent = g_error_new_literal (G_IO_ERROR, (int) codes[i], "“f”: why");
      g_autoptr(GError) received = NULL;
      g_autoptr(SbxWireLine) line G_GNUC_UNUSED = NULL;
      SbxWireReply reply;

      line = receive (&reply, _sbx_wire_answer_error ("req_1", sent));
      received = _sbx_wire_reply_get_error (&reply);
      g_assert_error (received, G_IO_ERROR, (int) codes[i]);
      g_assert_cmpstr (received->message, ==, "“f”: why");
    }
}

static void
test_no_utf8 (void)
{
  SbxWireReply reply;
  g_autoptr(SbxWireLine) path G_GNUC_UNUSED =
    receive (&reply, _sbx_wire_answer_path ("req_1", "/a\377b"));
  g_autoptr(SbxWireLine) session G_GNUC_UNUSED = NULL;
  g_autoptr(GError) path_error = _sbx_wire_reply_get_error (&reply);
  g_autoptr(GError) session_error = NULL;

  g_assert_error (path_error, G_IO_ERROR, G_IO_ERROR_INVALID_FILENAME);
  g_assert_nonnull (strstr (path_error->message, "UTF-8"));

  session = receive (&reply, _sbx_wire_answer_session ("req_1", "s", "/\377", TRUE, 0, NULL));
  session_error = _sbx_wire_reply_get_error (&reply);
  g_assert_error (session_error, G_IO_ERROR, G_IO_ERROR_INVALID_FILENAME);
}

static void
assert_same_end (SbxExecResult *result)
{
  SbxWireReply reply;
  g_autoptr(SbxWireLine) line G_GNUC_UNUSED =
    receive (&reply, _sbx_wire_answer_exec ("req_1", result, TRUE));
  g_autoptr(SbxWireLine) event_line G_GNUC_UNUSED = NULL;
  g_autoptr(GError) error = NULL;
  g_auto(SbxWireExecEnd) end = { 0 };
  g_auto(SbxWireEvent) event = { 0 };

  g_assert_true (_sbx_wire_reply_get_exec_end (&reply, &end, &error));
  g_assert_cmpint (end.outcome, ==, sbx_exec_result_get_outcome (result));
  g_assert_cmpint (end.exit_code, ==, sbx_exec_result_get_exit_code (result));
  g_assert_cmpint (end.signal_number, ==, sbx_exec_result_get_signal (result));
  g_assert_cmpint (end.core_dumped, ==, sbx_exec_result_get_core_dumped (result));
  g_assert_cmpint (end.not_started, ==, sbx_exec_result_get_not_started (result));
  g_assert_cmpint (end.error_number, ==, sbx_exec_result_get_errno (result));
  g_assert_true (g_bytes_equal (end.stdout_bytes, sbx_exec_result_get_stdout (result)));
  g_assert_true (g_bytes_equal (end.stderr_bytes, sbx_exec_result_get_stderr (result)));
  g_assert_cmpuint (end.stdout_truncated, ==, sbx_exec_result_get_stdout_truncated (result));
  g_assert_cmpuint (end.stderr_truncated, ==, sbx_exec_result_get_stderr_truncated (result));

  if (end.message != NULL)
    g_assert_cmpstr (end.message, ==, sbx_exec_result_get_message (result));

  event_line = receive (&reply, _sbx_wire_event_exited ("req_1", result));
  g_assert_false (reply.is_final);
  g_assert_true (_sbx_wire_reply_get_event (&reply, &event, &error));
  g_assert_cmpint (event.end.outcome, ==, sbx_exec_result_get_outcome (result));
  g_assert_cmpint (event.end.signal_number, ==, sbx_exec_result_get_signal (result));
}

static void
test_round_trip_exec (void)
{
  g_autoptr(SbxExecResult) exited = _sbx_exec_result_new_exited (255);
  g_autoptr(SbxExecResult) hung_up = _sbx_exec_result_new_signalled (1, FALSE);
  g_autoptr(SbxExecResult) crashed = _sbx_exec_result_new_signalled (11, TRUE);
  g_autoptr(SbxExecResult) late = _sbx_exec_result_new_timed_out ();
  g_autoptr(SbxExecResult) lost = _sbx_exec_result_new_lost ("gone");

  _sbx_exec_result_take_output (exited, g_bytes_new_static ("\0\377", 2), G_MAXINT64,
                                g_bytes_new_static ("\n", 1), 1);
  assert_same_end (exited);
  assert_same_end (hung_up);
  assert_same_end (crashed);
  assert_same_end (late);
  assert_same_end (lost);

  for (int i = SBX_NOT_STARTED_OTHER; i <= SBX_NOT_STARTED_RESOURCES; i++)
    {
      g_autoptr(SbxExecResult) result =
        _sbx_exec_result_new_not_started ((SbxNotStarted) i, i, "“x”: why");

      assert_same_end (result);
    }
}

static GFileInfo *
make_info (const char *name,
           GFileType   type,
           guint32     mode,
           const char *target)
{
  GFileInfo *info = g_file_info_new ();

  g_file_info_set_name (info, name);
  g_file_info_set_file_type (info, type);
  g_file_info_set_size (info, 12);
  g_file_info_set_is_symlink (info, target != NULL);
  if (target != NULL)
    g_file_info_set_symlink_target (info, target);
  g_file_info_set_attribute_uint32 (info, "unix::mode", mode);
  g_file_info_set_attribute_uint32 (info, "unix::uid", 1000);
  g_file_info_set_attribute_uint32 (info, "unix::gid", 0);
  g_file_info_set_attribute_uint64 (info, "time::modified", 1000000000);
  g_file_info_set_attribute_uint32 (info, "time::modified-usec", 7);

  return info;
}

static void
assert_same_info (GFileInfo *a,
                  GFileInfo *b)
{
  static const char * const numbers[] = { "unix::mode", "unix::uid", "unix::gid",
                                          "time::modified-usec" };

  g_assert_cmpstr (g_file_info_get_name (a), ==, g_file_info_get_name (b));
  g_assert_cmpint (g_file_info_get_file_type (a), ==, g_file_info_get_file_type (b));
  g_assert_cmpint (g_file_info_get_size (a), ==, g_file_info_get_size (b));
  g_assert_cmpint (g_file_info_get_is_symlink (a), ==, g_file_info_get_is_symlink (b));
  g_assert_cmpstr (g_file_info_get_attribute_byte_string (a, "standard::symlink-target"), ==,
                   g_file_info_get_attribute_byte_string (b, "standard::symlink-target"));
  g_assert_cmpuint (g_file_info_get_attribute_uint64 (a, "time::modified"), ==,
                    g_file_info_get_attribute_uint64 (b, "time::modified"));

  for (gsize i = 0; i < G_N_ELEMENTS (numbers); i++)
    g_assert_cmpuint (g_file_info_get_attribute_uint32 (a, numbers[i]), ==,
                      g_file_info_get_attribute_uint32 (b, numbers[i]));
}

static void
test_infos (void)
{
  g_autoptr(GFileInfo) file = make_info ("a", G_FILE_TYPE_REGULAR, 0100644, NULL);
  g_autoptr(GFileInfo) link = make_info ("b\377", G_FILE_TYPE_SYMBOLIC_LINK, 0120777, "\377/x");

  wire_assert_text (_sbx_wire_answer_info ("1", file),
                    "{\"id\":\"1\",\"result\":{\"name\":\"a\",\"type\":\"file\",\"size\":12,"
                    "\"mode\":33188,\"uid\":1000,\"gid\":0,\"mtime_us\":1000000000000007}}");
  wire_assert_text (_sbx_wire_answer_info ("1", link),
                    "{\"id\":\"1\",\"result\":{\"name\":\"b\xef\xbf\xbd\","
                    "\"name_base64\":\"Yv8=\",\"type\":\"symlink\",\"size\":12,\"mode\":41471,"
                    "\"uid\":1000,\"gid\":0,\"mtime_us\":1000000000000007,"
                    "\"target\":\"\xef\xbf\xbd/x\",\"target_base64\":\"/y94\"}}");
}

static void
test_round_trip_infos (void)
{
  g_autoptr(GListStore) sent = g_list_store_new (G_TYPE_FILE_INFO);
  g_autoptr(GListStore) received = NULL;
  g_autoptr(SbxWireLine) line G_GNUC_UNUSED = NULL;
  g_autoptr(SbxWireLine) stat_line G_GNUC_UNUSED = NULL;
  g_autoptr(GFileInfo) root = make_info ("/", G_FILE_TYPE_DIRECTORY, 0040755, NULL);
  g_autoptr(GFileInfo) same_root = NULL;
  g_autoptr(GError) error = NULL;
  SbxWireReply reply;

  for (guint i = 0; i < 4; i++)
    {
      static const char * const names[] = { "plain", "\377\376", "with \"\n", "a_base64" };
      g_autoptr(GFileInfo) info =
        make_info (names[i], i == 3 ? G_FILE_TYPE_SPECIAL : G_FILE_TYPE_SYMBOLIC_LINK,
                   i == 3 ? 0010600 : 0120777, i == 3 ? NULL : names[i]);

      g_list_store_append (sent, info);
    }

  line = receive (&reply, _sbx_wire_answer_infos ("req_1", G_LIST_MODEL (sent)));
  received = _sbx_wire_reply_get_infos (&reply, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (received)), ==, 4);

  for (guint i = 0; i < 4; i++)
    {
      g_autoptr(GFileInfo) a = g_list_model_get_item (G_LIST_MODEL (sent), i);
      g_autoptr(GFileInfo) b = g_list_model_get_item (G_LIST_MODEL (received), i);

      assert_same_info (a, b);
    }

  stat_line = receive (&reply, _sbx_wire_answer_info ("req_1", root));
  same_root = _sbx_wire_reply_get_info (&reply, &error);
  g_assert_no_error (error);
  assert_same_info (root, same_root);
}

/* As many entries as an answer may have are as many as a client takes; one more is an error, not a
 * line that nobody can read. */
static void
test_many_infos (void)
{
  g_autoptr(GListStore) infos = g_list_store_new (G_TYPE_FILE_INFO);
  g_autoptr(GFileInfo) info = make_info ("b\377", G_FILE_TYPE_SYMBOLIC_LINK, 0120777, "\377/x");
  g_autoptr(GListStore) received = NULL;
  g_autoptr(SbxWireLine) line G_GNUC_UNUSED = NULL;
  g_autoptr(SbxWireLine) error_line G_GNUC_UNUSED = NULL;
  g_autoptr(GError) error = NULL;
  SbxWireReply reply;

  for (guint i = 0; i < 15000; i++)
    g_list_store_append (infos, info);

  line = receive (&reply, _sbx_wire_answer_infos ("req_1", G_LIST_MODEL (infos)));
  received = _sbx_wire_reply_get_infos (&reply, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (received)), ==, 15000);

  g_list_store_append (infos, info);
  error_line = receive (&reply, _sbx_wire_answer_infos ("req_1", G_LIST_MODEL (infos)));
  error = _sbx_wire_reply_get_error (&reply);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_PROVIDER);
  g_assert_true (g_str_has_prefix (error->message, "too_large: "));
}

/* What would take long to make anything of is refused, however well formed it is. */
static void
test_too_much (void)
{
  g_autoptr(GString) entries = g_string_new ("{\"id\":\"req_1\",\"result\":{\"entries\":[");
  g_autoptr(GString) session = g_string_new ("{\"id\":\"req_1\",\"result\":{\"id\":\"s\",\"x\":\"");
  g_autoptr(SbxWireLine) entries_line = NULL;
  g_autoptr(SbxWireLine) session_line = NULL;
  g_autoptr(GListStore) infos = NULL;
  g_autoptr(GError) error = NULL;
  g_auto(SbxWireSession) opened = { 0 };
  SbxWireReply reply;

  for (guint i = 0; i <= 15000; i++)
    g_string_append (entries, i > 0 ? ",{}" : "{}");
  g_string_append (entries, "]}}");
  entries_line = wire_line (entries->str);
  g_assert_true (_sbx_wire_reply_parse (&reply, entries_line, &error));
  infos = _sbx_wire_reply_get_infos (&reply, &error);
  g_assert_null (infos);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE);
  g_clear_error (&error);

  for (guint i = 0; i < 64 * 1024; i++)
    g_string_append (session, "0123456789abcdef");
  g_string_append (session, "\"}}");
  session_line = wire_line (session->str);
  g_assert_true (_sbx_wire_reply_parse (&reply, session_line, &error));
  g_assert_false (_sbx_wire_reply_get_session (&reply, &opened, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE);
}

static void
test_round_trip_session (void)
{
  SbxWireReply reply;
  g_autoptr(SbxWireLine) line G_GNUC_UNUSED =
    receive (&reply, _sbx_wire_answer_session ("req_1", "s", "/w \"é", TRUE,
                                               SBX_WIRE_MULTIPLEX | SBX_WIRE_FILES, "{}"));
  g_auto(SbxWireSession) session = { 0 };
  g_autoptr(GError) error = NULL;

  g_assert_true (_sbx_wire_reply_get_session (&reply, &session, &error));
  g_assert_cmpstr (session.id, ==, "s");
  g_assert_cmpstr (session.cwd, ==, "/w \"é");
  g_assert_true (session.exec);
  g_assert_cmphex (session.features, ==, SBX_WIRE_MULTIPLEX | SBX_WIRE_FILES);
  wire_assert_bytes (session.text,
                     "{\"id\":\"s\",\"cwd\":\"/w \\\"é\",\"capabilities\":{\"exec\":true,"
                     "\"features\":[\"multiplex\",\"files\"]},\"provider_state_json\":\"{}\"}");
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/wire/answer/small", test_small);
  g_test_add_func ("/wire/answer/session", test_session);
  g_test_add_func ("/wire/answer/content", test_content);
  g_test_add_func ("/wire/answer/events", test_events);
  g_test_add_func ("/wire/answer/exec", test_exec);
  g_test_add_func ("/wire/answer/errors", test_errors);
  g_test_add_func ("/wire/answer/no-utf8", test_no_utf8);
  g_test_add_func ("/wire/answer/infos", test_infos);
  g_test_add_func ("/wire/answer/many-infos", test_many_infos);
  g_test_add_func ("/wire/answer/too-much", test_too_much);
  g_test_add_func ("/wire/answer/round-trip-io-errors", test_round_trip_io_errors);
  g_test_add_func ("/wire/answer/round-trip-exec", test_round_trip_exec);
  g_test_add_func ("/wire/answer/round-trip-infos", test_round_trip_infos);
  g_test_add_func ("/wire/answer/round-trip-session", test_round_trip_session);

  return g_test_run ();
}
