/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-error.h"
#include "wire-util.h"
#include "wire/sbx-wire-reply-private.h"

/* What providers of sandbox.v1 send, and what they should not. */

typedef struct
{
  SbxWireLine  *line;
  SbxWireReply  reply;
} Reply;

static void
reply_clear (Reply *self)
{
  g_clear_pointer (&self->line, _sbx_wire_line_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Reply, reply_clear)

static void
reply_parse (Reply      *self,
             const char *text)
{
  g_autoptr(GError) error = NULL;

  reply_clear (self);
  self->line = wire_line (text);
  _sbx_wire_reply_parse (&self->reply, self->line, &error);
  g_assert_no_error (error);
}

/* The usual reply to a request. */
static void
reply_result (Reply      *self,
              const char *result)
{
  g_autofree char *text = g_strdup_printf ("{\"id\":\"req_1\",\"result\":%s}", result);

  reply_parse (self, text);
}

static void
reply_event (Reply      *self,
             const char *event)
{
  g_autofree char *text = g_strdup_printf ("{\"id\":\"req_1\",\"event\":%s}", event);

  reply_parse (self, text);
}

#define assert_protocol(error, name) \
  G_STMT_START { \
    g_assert_error ((error), SBX_ERROR, SBX_ERROR_PROTOCOL); \
    g_assert_nonnull (strstr ((error)->message, (name))); \
    g_clear_error (&(error)); \
  } G_STMT_END

static void
test_envelope (void)
{
  g_auto(Reply) self = { 0 };

  reply_parse (&self, "{\"id\":\"req_7\","
                      "\"event\":{\"type\":\"stdout\",\"data_base64\":\"eA==\"}}");
  g_assert_cmpstr (self.reply.id, ==, "req_7");
  g_assert_cmpuint (self.reply.number, ==, 7);
  g_assert_nonnull (self.reply.event);
  g_assert_false (self.reply.has_result);
  g_assert_null (self.reply.error);
  g_assert_false (self.reply.is_final);

  reply_parse (&self, "{\"id\":\"req_7\",\"result\":{\"exit_code\":0}}");
  g_assert_null (self.reply.event);
  g_assert_true (self.reply.has_result);
  g_assert_nonnull (self.reply.result);
  g_assert_true (self.reply.is_final);

  reply_parse (&self, "{\"id\":\"req_7\",\"error\":{\"code\":\"bad_profile\",\"message\":\"no such "
                      "profile\",\"retryable\":false}}");
  g_assert_false (self.reply.has_result);
  g_assert_nonnull (self.reply.error);
  g_assert_true (self.reply.is_final);

  /* All that is in one line counts. */
  reply_parse (&self, "{\"id\":\"req_7\",\"event\":{\"type\":\"exited\"},\"result\":{},\"x\":1}");
  g_assert_nonnull (self.reply.event);
  g_assert_true (self.reply.has_result);
  g_assert_true (self.reply.is_final);

  reply_parse (&self, "{\"id\":\"req_7\",\"event\":null,\"error\":null,\"result\":null}");
  g_assert_null (self.reply.event);
  g_assert_null (self.reply.error);
  g_assert_true (self.reply.has_result);
  g_assert_null (self.reply.result);
  g_assert_true (self.reply.is_final);

  /* None of the three: final, and the client sees that there is nothing. */
  reply_parse (&self, "{\"id\":\"req_7\"}");
  g_assert_true (self.reply.is_final);
  g_assert_false (self.reply.has_result);
  g_assert_null (self.reply.error);
}

static const struct
{
  const char *id;
  guint64     number;
} ids[] = {
  { "req_1", 1 },
  { "req_18446744073709551615", G_MAXUINT64 },
  { "req_18446744073709551616", 0 },
  { "req_99999999999999999999", 0 },
  { "req_0", 0 },
  { "req_01", 0 },
  { "req_+1", 0 },
  { "req_ 1", 0 },
  { "req_1 ", 0 },
  { "req_", 0 },
  { "req_1a", 0 },
  { "REQ_1", 0 },
  { "1", 0 },
  { "", 0 },
  { "unknown", 0 },
};

static void
test_ids (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (ids); i++)
    {
      g_auto(Reply) self = { 0 };
      g_autofree char *text = g_strdup_printf ("{\"id\":\"%s\",\"result\":{}}", ids[i].id);

      reply_parse (&self, text);
      g_assert_cmpstr (self.reply.id, ==, ids[i].id);
      g_assert_cmpuint (self.reply.number, ==, ids[i].number);
    }
}

static const struct
{
  const char *text;
  const char *id;
} no_envelopes[] = {
  { "", NULL },
  { "hello", NULL },
  { "[]", NULL },
  { "[\"req_2\",{\"exit_code\":0}]", NULL },
  { "{}", NULL },
  { "{\"id\":null,\"result\":{}}", NULL },
  { "{\"id\":7,\"result\":{}}", NULL },
  { "{\"id\":\"req_7\",\"event\":1}", "req_7" },
  { "{\"id\":\"req_7\",\"event\":[]}", "req_7" },
  { "{\"id\":\"req_7\",\"error\":\"no\"}", "req_7" },
  { "{\"id\":\"req_7\",\"id\":\"req_8\"}", NULL },
  { "\xef\xbb\xbf{\"id\":\"req_7\",\"result\":{}}", NULL },
  { "{\"id\":\"req_7\",\"result\":{\"a\":\"\\ud800\"}}", NULL },
  { "{\"id\":\"req_7\",\"result\":{\"a\":\"\\u0000\"}}", NULL },
  { "{\"id\":\"req_7\",\"result\":{\"exit_code\":9223372036854775808}}", NULL },
  { "{\"id\":\"req_7\",\"result\":{\"exit_code\":1e400}}", NULL },
  { "{\"id\":\"req_7\",\"result\":{}", NULL },
};

static void
test_no_envelope (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (no_envelopes); i++)
    {
      g_autoptr(SbxWireLine) line = wire_line (no_envelopes[i].text);
      g_autoptr(GError) error = NULL;
      SbxWireReply reply;

      g_assert_false (_sbx_wire_reply_parse (&reply, line, &error));
      g_assert_true (g_error_matches (error, SBX_ERROR, SBX_ERROR_PROTOCOL) ||
                     g_error_matches (error, SBX_ERROR, SBX_ERROR_TOO_LARGE));
      g_assert_cmpstr (reply.id, ==, no_envelopes[i].id);
    }
}

static void
assert_event (const char       *text,
              SbxWireEventType  type,
              const char       *process_id,
              const char       *data)
{
  g_auto(Reply) self = { 0 };
  g_auto(SbxWireEvent) event = { 0 };
  g_autoptr(GError) error = NULL;

  reply_event (&self, text);
  g_assert_true (_sbx_wire_reply_get_event (&self.reply, &event, &error));
  g_assert_no_error (error);
  g_assert_cmpint (event.type, ==, type);
  g_assert_cmpstr (event.process_id, ==, process_id);
  wire_assert_bytes (event.data, data);
}

static void
test_events (void)
{
  assert_event ("{\"type\":\"started\"}", SBX_WIRE_EVENT_STARTED, NULL, "");
  assert_event ("{\"type\":\"started\",\"process_id\":null}", SBX_WIRE_EVENT_STARTED, NULL, "");
  assert_event ("{\"process_id\":\"42\",\"type\":\"started\",\"more\":[{}]}",
                SBX_WIRE_EVENT_STARTED, "42", "");
  assert_event ("{\"type\":\"stdout\",\"data_base64\":\"aGk=\"}", SBX_WIRE_EVENT_STDOUT, NULL,
                "hi");
  assert_event ("{\"type\":\"stderr\",\"data_base64\":\"aGk=\",\"process_id\":\"1\"}",
                SBX_WIRE_EVENT_STDERR, "1", "hi");
  assert_event ("{\"type\":\"stdout\"}", SBX_WIRE_EVENT_STDOUT, NULL, "");
  assert_event ("{\"type\":\"stderr\",\"data_base64\":null}", SBX_WIRE_EVENT_STDERR, NULL, "");
  assert_event ("{\"type\":\"exited\",\"exit_code\":0}", SBX_WIRE_EVENT_EXITED, NULL, "");
  assert_event ("{\"type\":\"end\"}", SBX_WIRE_EVENT_END, NULL, "");
  /* Of what is not known nothing else is looked at. */
  assert_event ("{\"type\":\"progress\",\"process_id\":7,\"data_base64\":false}",
                SBX_WIRE_EVENT_UNKNOWN, NULL, "");
  assert_event ("{\"type\":\"\"}", SBX_WIRE_EVENT_UNKNOWN, NULL, "");
  assert_event ("{\"type\":\"Stdout\"}", SBX_WIRE_EVENT_UNKNOWN, NULL, "");
}

static const struct
{
  const char *text;
  const char *name;
} bad_events[] = {
  { "{}", "event.type" },
  { "{\"type\":null}", "event.type" },
  { "{\"type\":1}", "event.type" },
  { "{\"type\":\"started\",\"process_id\":7}", "event.process_id" },
  { "{\"type\":\"stdout\",\"data_base64\":7}", "event.data_base64" },
  { "{\"type\":\"stdout\",\"data_base64\":\"eA=\"}", "event.data_base64" },
  { "{\"type\":\"stdout\",\"data_base64\":\"eA\"}", "event.data_base64" },
  { "{\"type\":\"stdout\",\"data_base64\":\"eB==\"}", "event.data_base64" },
  { "{\"type\":\"stdout\",\"data_base64\":\" eA==\"}", "event.data_base64" },
  { "{\"type\":\"stdout\",\"data_base64\":\"eA==\\n\"}", "event.data_base64" },
  { "{\"type\":\"stderr\",\"data_base64\":\"-_-_\"}", "event.data_base64" },
  { "{\"type\":\"stderr\",\"data_base64\":\"eA==eA==\"}", "event.data_base64" },
  { "{\"type\":\"exited\",\"exit_code\":2147483648}", "event.exit_code" },
  { "{\"type\":\"exited\",\"exit_code\":256}", "event.exit_code" },
  { "{\"type\":\"exited\",\"exit_code\":0.0}", "event.exit_code" },
  { "{\"type\":\"exited\",\"exit_code\":\"0\"}", "event.exit_code" },
};

static void
test_bad_events (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (bad_events); i++)
    {
      g_auto(Reply) self = { 0 };
      g_auto(SbxWireEvent) event = { 0 };
      g_autoptr(GError) error = NULL;

      reply_event (&self, bad_events[i].text);
      g_assert_false (_sbx_wire_reply_get_event (&self.reply, &event, &error));
      assert_protocol (error, bad_events[i].name);
    }
}

/* What only an exit code says, and what the extension says besides. */
static const struct
{
  const char     *text;
  SbxExecOutcome  outcome;
  int             exit_code;
  int             signal_number;
  SbxNotStarted   not_started;
  int             error_number;
} ends[] = {
  { "{\"exit_code\":0}", SBX_EXEC_OUTCOME_EXITED, 0, 0, 0, 0 },
  { "{\"exit_code\":255}", SBX_EXEC_OUTCOME_EXITED, 255, 0, 0, 0 },
  { "{\"exit_code\":137}", SBX_EXEC_OUTCOME_EXITED, 137, 0, 0, 0 },
  { "{\"exit_code\":-1}", SBX_EXEC_OUTCOME_LOST, -1, 0, 0, 0 },
  { "{\"exit_code\":-2}", SBX_EXEC_OUTCOME_SIGNALLED, -1, 2, 0, 0 },
  { "{\"exit_code\":-9}", SBX_EXEC_OUTCOME_SIGNALLED, -1, 9, 0, 0 },
  { "{\"exit_code\":-64}", SBX_EXEC_OUTCOME_SIGNALLED, -1, 64, 0, 0 },
  { "{\"exit_code\":137,\"signal\":9}", SBX_EXEC_OUTCOME_SIGNALLED, -1, 9, 0, 0 },
  { "{\"exit_code\":129,\"signal\":1}", SBX_EXEC_OUTCOME_SIGNALLED, -1, 1, 0, 0 },
  { "{\"exit_code\":124,\"timed_out\":true}", SBX_EXEC_OUTCOME_TIMED_OUT, -1, 0, 0, 0 },
  { "{\"exit_code\":124,\"timed_out\":false}", SBX_EXEC_OUTCOME_EXITED, 124, 0, 0, 0 },
  { "{\"exit_code\":127,\"not_started\":{\"kind\":\"not_found\",\"message\":\"m\","
    "\"errno\":\"ENOENT\"}}", SBX_EXEC_OUTCOME_NOT_STARTED, -1, 0, SBX_NOT_STARTED_NOT_FOUND, 2 },
  { "{\"exit_code\":126,\"not_started\":{\"kind\":\"bad_cwd\"}}", SBX_EXEC_OUTCOME_NOT_STARTED, -1,
    0, SBX_NOT_STARTED_BAD_CWD, 0 },
  { "{\"exit_code\":126,\"not_started\":{\"kind\":\"bad_luck\",\"errno\":\"EHUH\"}}",
    SBX_EXEC_OUTCOME_NOT_STARTED, -1, 0, SBX_NOT_STARTED_OTHER, 0 },
  /* Members of others that happen to have the name of one of ours. */
  { "{\"exit_code\":3,\"signal\":\"SIGKILL\"}", SBX_EXEC_OUTCOME_EXITED, 3, 0, 0, 0 },
  { "{\"exit_code\":3,\"signal\":0}", SBX_EXEC_OUTCOME_EXITED, 3, 0, 0, 0 },
  { "{\"exit_code\":3,\"signal\":65}", SBX_EXEC_OUTCOME_EXITED, 3, 0, 0, 0 },
  { "{\"exit_code\":3,\"timed_out\":1,\"not_started\":null}", SBX_EXEC_OUTCOME_EXITED, 3, 0, 0, 0 },
};

static void
test_ends (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      g_auto(Reply) self = { 0 };
      g_auto(SbxWireExecEnd) end = { 0 };
      g_auto(SbxWireEvent) event = { 0 };
      g_autofree char *event_text = g_strconcat ("{\"type\":\"exited\",", ends[i].text + 1, NULL);
      g_autoptr(GError) error = NULL;

      reply_result (&self, ends[i].text);
      g_assert_true (_sbx_wire_reply_get_exec_end (&self.reply, &end, &error));
      g_assert_no_error (error);
      g_assert_cmpint (end.outcome, ==, ends[i].outcome);
      g_assert_cmpint (end.exit_code, ==, ends[i].exit_code);
      g_assert_cmpint (end.signal_number, ==, ends[i].signal_number);
      g_assert_cmpint (end.not_started, ==, ends[i].not_started);
      g_assert_cmpint (end.error_number, ==, ends[i].error_number);
      g_assert_null (end.stdout_bytes);
      g_assert_null (end.stderr_bytes);
      g_assert_true ((end.message != NULL) ==
                     (end.outcome == SBX_EXEC_OUTCOME_LOST ||
                      end.outcome == SBX_EXEC_OUTCOME_NOT_STARTED));

      reply_event (&self, event_text);
      g_assert_true (_sbx_wire_reply_get_event (&self.reply, &event, &error));
      g_assert_no_error (error);
      g_assert_cmpint (event.end.outcome, ==, ends[i].outcome);
      g_assert_cmpint (event.end.exit_code, ==, ends[i].exit_code);
      g_assert_cmpint (event.end.signal_number, ==, ends[i].signal_number);
    }
}

static const struct
{
  const char *text;
  const char *name;
} bad_ends[] = {
  { "{}", "result.exit_code" },
  { "null", "result.exit_code" },
  { "{\"exit_code\":null}", "result.exit_code" },
  { "{\"exit_code\":0.0}", "result.exit_code" },
  { "{\"exit_code\":true}", "result.exit_code" },
  { "{\"exit_code\":\"0\"}", "result.exit_code" },
  { "{\"exit_code\":256}", "result.exit_code" },
  { "{\"exit_code\":-65}", "result.exit_code" },
  { "{\"exit_code\":2147483647}", "result.exit_code" },
  { "{\"exit_code\":-2147483649}", "result.exit_code" },
  { "{\"exit_code\":0,\"stdout_base64\":[]}", "result.stdout_base64" },
  { "{\"exit_code\":0,\"stderr_base64\":\"a\"}", "result.stderr_base64" },
  { "[0]", "result" },
  { "true", "result" },
  { "\"\"", "result" },
};

static void
test_bad_ends (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (bad_ends); i++)
    {
      g_auto(Reply) self = { 0 };
      g_auto(SbxWireExecEnd) end = { 0 };
      g_autoptr(GError) error = NULL;

      reply_result (&self, bad_ends[i].text);
      g_assert_false (_sbx_wire_reply_get_exec_end (&self.reply, &end, &error));
      assert_protocol (error, bad_ends[i].name);
      g_assert_null (end.message);
      g_assert_null (end.stdout_bytes);
    }
}

static void
test_output (void)
{
  g_auto(Reply) self = { 0 };
  g_auto(SbxWireExecEnd) end = { 0 };
  g_autoptr(GError) error = NULL;

  reply_result (&self, "{\"exit_code\":0,\"stdout_base64\":\"b3V0\",\"stderr_base64\":\"\","
                       "\"stdout_truncated\":12,\"stderr_truncated\":-1}");
  _sbx_wire_reply_get_exec_end (&self.reply, &end, &error);
  g_assert_no_error (error);
  wire_assert_bytes (end.stdout_bytes, "out");
  wire_assert_bytes (end.stderr_bytes, "");
  g_assert_cmpuint (end.stdout_truncated, ==, 12);
  g_assert_cmpuint (end.stderr_truncated, ==, 0);
}

static void
assert_error (const char *text,
              GQuark      domain,
              int         code,
              const char *message)
{
  g_auto(Reply) self = { 0 };
  g_autofree char *line = g_strdup_printf ("{\"id\":\"req_1\",\"error\":%s}", text);
  g_autoptr(GError) error = NULL;

  reply_parse (&self, line);
  error = _sbx_wire_reply_get_error (&self.reply);
  g_assert_error (error, domain, code);

  if (message != NULL)
    g_assert_cmpstr (error->message, ==, message);
}

static void
test_errors (void)
{
  assert_error ("{\"code\":\"bad_profile\",\"message\":\"no such profile\"}", SBX_ERROR,
                SBX_ERROR_PROVIDER, "bad_profile: no such profile");
  assert_error ("{\"code\":\"unknown_method\",\"message\":\"what?\"}", SBX_ERROR,
                SBX_ERROR_UNSUPPORTED, "unknown_method: what?");
  assert_error ("{\"code\":\"unsupported_method\",\"message\":\"no\",\"retryable\":true}",
                SBX_ERROR, SBX_ERROR_UNSUPPORTED, "unsupported_method: no");
  assert_error ("{\"code\":\"ssh_not_ready\",\"message\":\"wait\",\"retryable\":true}", SBX_ERROR,
                SBX_ERROR_PROVIDER_RETRYABLE, "ssh_not_ready: wait");
  assert_error ("{\"code\":\"x\",\"message\":\"\\u001b[2J\\u202e\",\"retryable\":false,\"y\":1}",
                SBX_ERROR, SBX_ERROR_PROVIDER, "x: \\x1b[2J\\u202e");
  assert_error ("{\"code\":\"file_io_failed\",\"message\":\"gone\",\"errno\":\"ENOENT\"}",
                G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "gone");
  assert_error ("{\"code\":\"file_io_failed\",\"message\":\"no\",\"errno\":\"EACCES\"}", G_IO_ERROR,
                G_IO_ERROR_PERMISSION_DENIED, "no");
  assert_error ("{\"code\":\"file_io_failed\",\"message\":\"no\",\"errno\":\"EFTYPE\"}", G_IO_ERROR,
                G_IO_ERROR_NOT_REGULAR_FILE, "no");
  assert_error ("{\"code\":\"file_io_failed\",\"message\":\"\",\"errno\":\"EACCES\"}", G_IO_ERROR,
                G_IO_ERROR_PERMISSION_DENIED, "file_io_failed");
  /* Nobody but the caller cancels. */
  assert_error ("{\"code\":\"file_io_failed\",\"message\":\"no\",\"errno\":\"ECANCELED\"}",
                SBX_ERROR, SBX_ERROR_PROVIDER, NULL);
  assert_error ("{\"code\":\"file_io_failed\",\"message\":\"no\",\"errno\":2}", SBX_ERROR,
                SBX_ERROR_PROVIDER, "file_io_failed: no");
  assert_error ("{\"code\":\"file_io_failed\",\"message\":\"no\",\"errno\":\"ENEW\"}", SBX_ERROR,
                SBX_ERROR_PROVIDER, "file_io_failed: no");
  assert_error ("{\"code\":\"cancelled\",\"message\":\"as you wish\"}", G_IO_ERROR,
                G_IO_ERROR_CANCELLED, "as you wish");
  assert_error ("{}", SBX_ERROR, SBX_ERROR_PROTOCOL, NULL);
  assert_error ("{\"code\":\"x\"}", SBX_ERROR, SBX_ERROR_PROTOCOL, NULL);
  assert_error ("{\"code\":\"\",\"message\":\"x\"}", SBX_ERROR, SBX_ERROR_PROTOCOL, NULL);
  assert_error ("{\"code\":5,\"message\":\"x\"}", SBX_ERROR, SBX_ERROR_PROTOCOL, NULL);
  assert_error ("{\"code\":\"x\",\"message\":\"x\",\"retryable\":\"yes\"}", SBX_ERROR,
                SBX_ERROR_PROTOCOL, NULL);
}

static void
assert_capabilities (const char      *text,
                     gboolean         expected_exec,
                     SbxWireFeatures  expected_features)
{
  g_auto(Reply) self = { 0 };
  g_autoptr(GError) error = NULL;
  SbxWireFeatures features = ~0u;
  gboolean exec = -1;

  reply_result (&self, text);
  _sbx_wire_reply_get_capabilities (&self.reply, &exec, &features, &error);
  g_assert_no_error (error);
  g_assert_cmpint (exec, ==, expected_exec);
  g_assert_cmphex (features, ==, expected_features);
}

static void
test_capabilities (void)
{
  static const char * const bad[] = { "{\"exec\":1}", "{\"features\":{}}", "{\"capabilities\":7}",
                                      "{\"capabilities\":{\"exec\":\"yes\"}}", "[true]" };

  assert_capabilities ("{\"exec\":true}", TRUE, 0);
  assert_capabilities ("{\"exec\":false}", FALSE, 0);
  assert_capabilities ("{}", FALSE, 0);
  assert_capabilities ("null", FALSE, 0);
  assert_capabilities ("{\"capabilities\":{\"exec\":true}}", TRUE, 0);
  assert_capabilities ("{\"exec\":true,\"features\":[\"multiplex\",\"cancel\",\"process\","
                       "\"stdin\",\"pty\",\"signals\",\"timeout\",\"quiet-result\",\"ranges\","
                       "\"files\"]}", TRUE, 0x3ff);
  assert_capabilities ("{\"exec\":true,\"features\":[\"files\",\"teleport\",7,{},null]}", TRUE,
                       SBX_WIRE_FILES);
  assert_capabilities ("{\"capabilities\":{\"exec\":true,\"features\":[\"pty\"]}}", TRUE,
                       SBX_WIRE_PTY);

  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_auto(Reply) self = { 0 };
      g_autoptr(GError) error = NULL;
      SbxWireFeatures features;
      gboolean exec;

      reply_result (&self, bad[i]);
      g_assert_false (_sbx_wire_reply_get_capabilities (&self.reply, &exec, &features, &error));
      g_assert_error (error, SBX_ERROR, SBX_ERROR_PROTOCOL);
    }
}

/* What the session's verbs are, according to what the wire has. */
static void
test_feature_table (void)
{
  const SbxCapabilities plain = SBX_CAPABILITIES_EXEC | SBX_CAPABILITIES_FILES |
                                SBX_CAPABILITIES_START;
  g_auto(GStrv) names = _sbx_wire_features_to_names (SBX_WIRE_FILES | SBX_WIRE_MULTIPLEX);

  g_assert_cmpstr (names[0], ==, "multiplex");
  g_assert_cmpstr (names[1], ==, "files");
  g_assert_null (names[2]);

  g_assert_cmphex (_sbx_wire_features_to_capabilities (TRUE, 0), ==, plain);
  g_assert_cmphex (_sbx_wire_features_to_capabilities (FALSE, 0), ==, SBX_CAPABILITIES_FILES);
  g_assert_cmphex (_sbx_wire_features_to_capabilities (FALSE, SBX_WIRE_PTY | SBX_WIRE_RANGES), ==,
                   SBX_CAPABILITIES_FILES | SBX_CAPABILITIES_RANGES);
  g_assert_cmphex (_sbx_wire_features_to_capabilities (TRUE, SBX_WIRE_PROCESS), ==,
                   plain | SBX_CAPABILITIES_SPAWN | SBX_CAPABILITIES_SIGNALS);
  g_assert_cmphex (_sbx_wire_features_of_capabilities (plain), ==, 0);
  g_assert_cmphex (_sbx_wire_features_of_capabilities (SBX_CAPABILITIES_SPAWN), ==,
                   SBX_WIRE_PROCESS);
  g_assert_cmphex (_sbx_wire_features_of_capabilities (SBX_CAPABILITIES_LISTING), ==, 0);
  g_assert_cmphex (_sbx_wire_features_of_capabilities (~0u), ==,
                   SBX_WIRE_PROCESS | SBX_WIRE_STDIN | SBX_WIRE_PTY | SBX_WIRE_RANGES |
                     SBX_WIRE_FILES);
}

static void
test_session (void)
{
  /* Members that we do not know go back as they came, base64 among them. */
  static const char text[] =
    "{\"id\":\"s1\",\"provider_session_id\":\"vm-7\",\"cwd\":\"/w\",\"capabilities\":{"
    "\"exec\":true,\"features\":[\"ranges\"]},\"provider_state_json\":\"{\\\"a\\\":1}\","
    "\"token_base64\":\"aGk=\",\"odd_base64\":\"not base64\","
    "\"x\":{\"y_base64\":\"aGk=\",\"z\":[1,2.5,null,true]}}";
  g_auto(Reply) self = { 0 };
  g_auto(SbxWireSession) session = { 0 };
  g_autoptr(GError) error = NULL;

  reply_result (&self, text);
  _sbx_wire_reply_get_session (&self.reply, &session, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (session.id, ==, "s1");
  g_assert_cmpstr (session.cwd, ==, "/w");
  g_assert_true (session.exec);
  g_assert_cmphex (session.features, ==, SBX_WIRE_RANGES);
  wire_assert_bytes (session.text, text);
}

static void
test_plain_sessions (void)
{
  static const struct
  {
    const char *text;
    const char *cwd;
    gboolean    exec;
  } sessions[] = {
    { "{\"id\":\"s\"}", NULL, FALSE },
    { "{\"id\":\"s\",\"cwd\":null,\"capabilities\":null,\"provider_state_json\":null}", NULL,
      FALSE },
    { "{\"id\":\"s\",\"cwd\":\"\",\"capabilities\":{}}", NULL, FALSE },
    { "{\"id\":\"s\",\"cwd\":\"/a b\",\"capabilities\":{\"exec\":true}}", "/a b", TRUE },
  };
  static const char * const bad[] = {
    "{}", "null", "[]", "{\"id\":\"\"}", "{\"id\":7}", "{\"id\":\"s\",\"cwd\":1}",
    "{\"id\":\"s\",\"capabilities\":[]}", "{\"id\":\"s\",\"capabilities\":{\"exec\":0}}",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (sessions); i++)
    {
      g_auto(Reply) self = { 0 };
      g_auto(SbxWireSession) session = { 0 };
      g_autoptr(GError) error = NULL;

      reply_result (&self, sessions[i].text);
      _sbx_wire_reply_get_session (&self.reply, &session, &error);
      g_assert_no_error (error);
      g_assert_cmpstr (session.id, ==, "s");
      g_assert_cmpstr (session.cwd, ==, sessions[i].cwd);
      g_assert_cmpint (session.exec, ==, sessions[i].exec);
      wire_assert_bytes (session.text, sessions[i].text);
    }

  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_auto(Reply) self = { 0 };
      g_auto(SbxWireSession) session = { 0 };
      g_autoptr(GError) error = NULL;

      reply_result (&self, bad[i]);
      g_assert_false (_sbx_wire_reply_get_session (&self.reply, &session, &error));
      g_assert_error (error, SBX_ERROR, SBX_ERROR_PROTOCOL);
    }
}

static void
test_small_results (void)
{
  g_auto(Reply) self = { 0 };
  g_autoptr(GError) error = NULL;
  g_autofree char *process_id = NULL;
  g_autofree char *none = NULL;
  g_autofree char *path = NULL;
  guint count = 0;

  reply_result (&self, "{\"process_id\":\"spawn_1\"}");
  g_assert_true (_sbx_wire_reply_get_spawned (&self.reply, &process_id, &error));
  g_assert_cmpstr (process_id, ==, "spawn_1");
  reply_result (&self, "null");
  g_assert_true (_sbx_wire_reply_get_spawned (&self.reply, &none, &error));
  g_assert_null (none);
  reply_result (&self, "{\"process_id\":12}");
  g_assert_false (_sbx_wire_reply_get_spawned (&self.reply, &none, &error));
  assert_protocol (error, "result.process_id");

  reply_result (&self, "{\"path\":\"/tmp/x y\"}");
  path = _sbx_wire_reply_get_path (&self.reply, &error);
  g_assert_cmpstr (path, ==, "/tmp/x y");
  reply_result (&self, "{\"path\":\"\"}");
  g_assert_null (_sbx_wire_reply_get_path (&self.reply, &error));
  assert_protocol (error, "result.path");

  reply_result (&self, "{\"cleaned_count\":4294967295}");
  g_assert_true (_sbx_wire_reply_get_cleaned_count (&self.reply, &count, &error));
  g_assert_cmpuint (count, ==, G_MAXUINT32);
  reply_result (&self, "{\"cleaned_count\":-1}");
  g_assert_false (_sbx_wire_reply_get_cleaned_count (&self.reply, &count, &error));
  assert_protocol (error, "result.cleaned_count");
  reply_result (&self, "{}");
  g_assert_false (_sbx_wire_reply_get_cleaned_count (&self.reply, &count, &error));
  assert_protocol (error, "result.cleaned_count");
}

static void
test_content (void)
{
  g_auto(Reply) self = { 0 };
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) content = NULL;
  g_autoptr(GBytes) part = NULL;
  gint64 size = 7;

  reply_result (&self, "{\"content_base64\":\"AAH/\"}");
  content = _sbx_wire_reply_get_content (&self.reply, &size, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (g_bytes_get_data (content, NULL), g_bytes_get_size (content), "\0\1\377", 3);
  g_assert_cmpint (size, ==, -1);

  reply_result (&self, "{\"content_base64\":\"\",\"size\":9223372036854775807,\"eof\":false}");
  part = _sbx_wire_reply_get_content (&self.reply, &size, &error);
  wire_assert_bytes (part, "");
  g_assert_cmpint (size, ==, G_MAXINT64);

  reply_result (&self, "{}");
  g_assert_null (_sbx_wire_reply_get_content (&self.reply, &size, &error));
  assert_protocol (error, "result.content_base64");
  reply_result (&self, "null");
  g_assert_null (_sbx_wire_reply_get_content (&self.reply, &size, &error));
  assert_protocol (error, "result.content_base64");
}

static void
test_info (void)
{
  g_auto(Reply) self = { 0 };
  g_autoptr(GError) error = NULL;
  g_autoptr(GFileInfo) info = NULL;
  g_autoptr(GFileInfo) link = NULL;

  /* 2001-09-09 01:46:40.123456 UTC */
  reply_result (&self, "{\"name\":\"a.txt\",\"type\":\"file\",\"size\":12,\"mode\":33188,\"uid\":0,"
                       "\"gid\":4294967295,\"mtime_us\":1000000000123456,\"inode\":7}");
  info = _sbx_wire_reply_get_info (&self.reply, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (g_file_info_get_name (info), ==, "a.txt");
  g_assert_cmpint (g_file_info_get_file_type (info), ==, G_FILE_TYPE_REGULAR);
  g_assert_cmpint (g_file_info_get_size (info), ==, 12);
  g_assert_cmphex (g_file_info_get_attribute_uint32 (info, "unix::mode"), ==, 0100644);
  g_assert_cmpuint (g_file_info_get_attribute_uint32 (info, "unix::uid"), ==, 0);
  g_assert_cmpuint (g_file_info_get_attribute_uint32 (info, "unix::gid"), ==, G_MAXUINT32);
  g_assert_cmpuint (g_file_info_get_attribute_uint64 (info, "time::modified"), ==, 1000000000);
  g_assert_cmpuint (g_file_info_get_attribute_uint32 (info, "time::modified-usec"), ==, 123456);
  g_assert_false (g_file_info_get_is_symlink (info));

  /* Bytes, and permissions alone. */
  reply_result (&self, "{\"name\":\"?\",\"name_base64\":\"Yf9i\",\"type\":\"symlink\",\"mode\":511,"
                       "\"target\":\"?\",\"target_base64\":\"/w==\"}");
  link = _sbx_wire_reply_get_info (&self.reply, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (g_file_info_get_name (link), ==, "a\377b");
  g_assert_true (g_utf8_validate (g_file_info_get_display_name (link), -1, NULL));
  g_assert_true (g_file_info_get_is_symlink (link));
  g_assert_cmpstr (g_file_info_get_symlink_target (link), ==, "\377");
  g_assert_cmphex (g_file_info_get_attribute_uint32 (link, "unix::mode"), ==, 0120777);
}

static void
test_bad_infos (void)
{
  static const struct
  {
    const char *text;
    const char *name;
  } bad[] = {
    { "{}", "name" },
    { "{\"name\":\"a\"}", "type" },
    { "{\"name\":\"a\",\"type\":7}", "type" },
    { "{\"name\":7,\"type\":\"file\"}", "name" },
    { "{\"name\":\"\",\"type\":\"file\"}", "name" },
    { "{\"name\":\".\",\"type\":\"file\"}", "name" },
    { "{\"name\":\"..\",\"type\":\"file\"}", "name" },
    { "{\"name\":\"a/b\",\"type\":\"file\"}", "name" },
    { "{\"name\":\"a\",\"name_base64\":\"Li4=\",\"type\":\"file\"}", "name" },
    { "{\"name\":\"a\",\"name_base64\":\"YQBi\",\"type\":\"file\"}", "name_base64" },
    { "{\"name\":\"a\",\"name_base64\":\"!\",\"type\":\"file\"}", "name_base64" },
    { "{\"name\":\"a\",\"type\":\"file\",\"size\":-1}", "size" },
    { "{\"name\":\"a\",\"type\":\"file\",\"mode\":65536}", "mode" },
    { "{\"name\":\"a\",\"type\":\"file\",\"uid\":4294967296}", "uid" },
    { "{\"name\":\"a\",\"type\":\"file\",\"mtime_us\":9223372036854775807}", "mtime_us" },
    { "7", "entries" },
  };
  g_auto(Reply) self = { 0 };
  g_autoptr(GError) error = NULL;
  g_autoptr(GListStore) empty = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *text = g_strdup_printf ("{\"entries\":[%s]}", bad[i].text);

      reply_result (&self, text);
      g_assert_null (_sbx_wire_reply_get_infos (&self.reply, &error));
      assert_protocol (error, bad[i].name);
    }

  reply_result (&self, "{}");
  g_assert_null (_sbx_wire_reply_get_infos (&self.reply, &error));
  assert_protocol (error, "result.entries");

  reply_result (&self, "{\"entries\":[]}");
  empty = _sbx_wire_reply_get_infos (&self.reply, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (empty)), ==, 0);
}

/* An ack may be anything at all. */
static void
test_odd_acks (void)
{
  static const char * const acks[] = { "true", "\"ok\"", "[]", "0" };

  for (gsize i = 0; i < G_N_ELEMENTS (acks); i++)
    {
      g_auto(Reply) self = { 0 };

      reply_result (&self, acks[i]);
      g_assert_true (self.reply.is_final);
      g_assert_true (self.reply.has_result);
      g_assert_true (self.reply.is_odd);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/wire/reply/envelope", test_envelope);
  g_test_add_func ("/wire/reply/ids", test_ids);
  g_test_add_func ("/wire/reply/no-envelope", test_no_envelope);
  g_test_add_func ("/wire/reply/events", test_events);
  g_test_add_func ("/wire/reply/bad-events", test_bad_events);
  g_test_add_func ("/wire/reply/ends", test_ends);
  g_test_add_func ("/wire/reply/bad-ends", test_bad_ends);
  g_test_add_func ("/wire/reply/output", test_output);
  g_test_add_func ("/wire/reply/errors", test_errors);
  g_test_add_func ("/wire/reply/capabilities", test_capabilities);
  g_test_add_func ("/wire/reply/feature-table", test_feature_table);
  g_test_add_func ("/wire/reply/session", test_session);
  g_test_add_func ("/wire/reply/plain-sessions", test_plain_sessions);
  g_test_add_func ("/wire/reply/small-results", test_small_results);
  g_test_add_func ("/wire/reply/content", test_content);
  g_test_add_func ("/wire/reply/info", test_info);
  g_test_add_func ("/wire/reply/bad-infos", test_bad_infos);
  g_test_add_func ("/wire/reply/odd-acks", test_odd_acks);

  return g_test_run ();
}
