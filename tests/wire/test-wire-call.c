/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-error.h"
#include "wire-util.h"
#include "wire/sbx-wire-call-private.h"
#include "wire/sbx-wire-request-private.h"

/* What clients of sandbox.v1 send, what they should not, and what our own client sends. */

static gboolean
parse (SbxWireCall  *self,
       const char   *text,
       GError      **error)
{
  g_autoptr(SbxWireLine) line = wire_line (text);

  _sbx_wire_call_clear (self);

  return _sbx_wire_call_parse (self, line, error);
}

/* A request of a method that does not matter. */
static void
parse_params (SbxWireCall *self,
              const char  *params)
{
  g_autofree char *text = g_strdup_printf ("{\"id\":\"1\",\"method\":\"exec\",\"params\":%s}",
                                           params);
  g_autoptr(GError) error = NULL;

  parse (self, text, &error);
  g_assert_no_error (error);
}

#define assert_invalid(error, name) \
  G_STMT_START { \
    g_assert_error ((error), SBX_ERROR, SBX_ERROR_INVALID); \
    g_assert_nonnull (strstr ((error)->message, (name))); \
    g_clear_error (&(error)); \
  } G_STMT_END

static void
test_methods (void)
{
  static const struct
  {
    const char    *name;
    SbxWireMethod  method;
  } methods[] = {
    { "capabilities", SBX_WIRE_METHOD_CAPABILITIES },
    { "open", SBX_WIRE_METHOD_OPEN },
    { "close", SBX_WIRE_METHOD_CLOSE },
    { "cleanup_group", SBX_WIRE_METHOD_CLEANUP_GROUP },
    { "create_temp_dir", SBX_WIRE_METHOD_CREATE_TEMP_DIR },
    { "create_dir_all", SBX_WIRE_METHOD_CREATE_DIR_ALL },
    { "write_file", SBX_WIRE_METHOD_WRITE_FILE },
    { "read_file", SBX_WIRE_METHOD_READ_FILE },
    { "remove", SBX_WIRE_METHOD_REMOVE },
    { "exec", SBX_WIRE_METHOD_EXEC },
    { "spawn", SBX_WIRE_METHOD_SPAWN },
    { "shutdown", SBX_WIRE_METHOD_SHUTDOWN },
    { "cancel", SBX_WIRE_METHOD_CANCEL },
    { "wait", SBX_WIRE_METHOD_WAIT },
    { "kill", SBX_WIRE_METHOD_KILL },
    { "list_processes", SBX_WIRE_METHOD_LIST_PROCESSES },
    { "write_stdin", SBX_WIRE_METHOD_WRITE_STDIN },
    { "close_stdin", SBX_WIRE_METHOD_CLOSE_STDIN },
    { "resize_pty", SBX_WIRE_METHOD_RESIZE_PTY },
    { "list_dir", SBX_WIRE_METHOD_LIST_DIR },
    { "stat", SBX_WIRE_METHOD_STAT },
    { "rename", SBX_WIRE_METHOD_RENAME },
    { "copy", SBX_WIRE_METHOD_COPY },
    { "Open", SBX_WIRE_METHOD_UNKNOWN },
    { "reboot", SBX_WIRE_METHOD_UNKNOWN },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (methods); i++)
    {
      g_auto(SbxWireCall) self = { 0 };
      g_autofree char *text = g_strdup_printf ("{\"params\":{},\"method\":\"%s\",\"id\":\"x\"}",
                                               methods[i].name);
      g_autoptr(GError) error = NULL;

      parse (&self, text, &error);
      g_assert_no_error (error);
      g_assert_cmpint (self.method, ==, methods[i].method);
      g_assert_cmpstr (self.method_name, ==, methods[i].name);
      g_assert_cmpstr (self.id, ==, "x");
    }
}

static void
test_envelope (void)
{
  static const char * const good[] = {
    "{\"id\":\"\",\"method\":\"close\"}",
    "{\"id\":\"\",\"method\":\"close\",\"params\":null}",
    "{\"id\":\"\",\"method\":\"close\",\"params\":{},\"jsonrpc\":\"2.0\"}",
    "  {\"id\":\"\",\"method\":\"close\"}\r",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (good); i++)
    {
      g_auto(SbxWireCall) self = { 0 };
      g_autoptr(GError) error = NULL;

      g_assert_true (parse (&self, good[i], &error));
      g_assert_no_error (error);
      g_assert_cmpstr (self.id, ==, "");
      g_assert_nonnull (self.params);
      g_assert_cmpuint (json_object_get_size (self.params), ==, 0);
    }
}

static void
test_bad_envelope (void)
{
  static const struct
  {
    const char *text;
    const char *id;
  } bad[] = {
    { "", "unknown" },
    { "hello", "unknown" },
    { "[]", "unknown" },
    { "{}", "unknown" },
    { "{\"id\":5,\"method\":\"close\",\"params\":{}}", "unknown" },
    { "{\"id\":null,\"method\":\"close\"}", "unknown" },
    { "{\"id\":\"a\"}", "a" },
    { "{\"id\":\"a\",\"method\":null}", "a" },
    { "{\"id\":\"a\",\"method\":\"\"}", "a" },
    { "{\"id\":\"a\",\"method\":[\"close\"]}", "a" },
    { "{\"id\":\"a\",\"method\":\"close\",\"params\":[]}", "a" },
    { "{\"id\":\"a\",\"method\":\"close\",\"params\":\"\"}", "a" },
    /* No JSON, and yet it is plain whose call this was. */
    { "{\"id\":\"a\",\"method\":\"close\",\"params\":{\"x\":1e400}}", "a" },
    { "{\"id\":\"a\",\"method\":\"close\",\"params\":{\"x\":\"\\u0000\"}}", "a" },
    { "{\"id\":\"a\",\"method\":\"close\",", "a" },
    { "{\"id\":7,\"method\":\"close\",", "unknown" },
  };
  g_autofree char *long_id = g_strnfill (1025, 'x');
  g_autofree char *text = g_strdup_printf ("{\"id\":\"%s\",\"method\":\"close\"}", long_id);
  g_auto(SbxWireCall) longest = { 0 };
  g_autoptr(GError) long_error = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_auto(SbxWireCall) self = { 0 };
      g_autoptr(GError) error = NULL;

      g_assert_false (parse (&self, bad[i].text, &error));
      g_assert_true (error->domain == SBX_ERROR);
      g_assert_true (error->code == SBX_ERROR_INVALID || error->code == SBX_ERROR_TOO_LARGE);
      g_assert_cmpstr (self.id, ==, bad[i].id);
    }

  g_assert_false (parse (&longest, text, &long_error));
  g_assert_cmpstr (longest.id, ==, "unknown");
}

#define METADATA \
  "\"metadata\":{\"protocol_version\":\"sandbox.v1\",\"request_id\":\"r\"," \
  "\"sandbox_group_id\":\"g\"}"
#define PROFILE "\"profile\":{\"provider\":\"bwrap\",\"name\":\"p/q\"}"
#define SYNC "\"workspace_sync\":{\"host_path\":\"/w\"}"

static void
test_open (void)
{
  g_auto(SbxWireCall) self = { 0 };
  g_autoptr(SbxOpenRequest) request = NULL;
  g_autoptr(SbxOpenRequest) other = NULL;
  g_autoptr(GError) error = NULL;
  const char *provider = NULL;
  GHashTable *tags;

  parse_params (&self, "{" METADATA "," PROFILE "," SYNC "}");
  request = _sbx_wire_call_get_open (&self, &provider, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (provider, ==, "bwrap");
  g_assert_null (sbx_open_request_get_reach (request));
  g_assert_cmpstr (sbx_open_request_get_profile (request), ==, "p/q");
  g_assert_cmpstr (sbx_open_request_get_workspace (request), ==, "/w");
  g_assert_cmpstr (sbx_open_request_get_group (request), ==, "g");
  g_assert_cmpstr (sbx_open_request_get_request_id (request), ==, "r");
  g_assert_null (sbx_open_request_get_cwd (request));
  g_assert_cmpuint (g_hash_table_size (sbx_open_request_get_tags (request)), ==, 0);

  parse_params (&self, "{" PROFILE "," SYNC ",\"cwd\":\"sub\",\"reach\":{},"
                       "\"metadata\":{\"protocol_version\":\"sandbox.v1\",\"request_id\":\"\","
                       "\"sandbox_group_id\":\"g\",\"tags\":{\"a\":\"1\",\"b_base64\":\"aGk=\"}}}");
  other = _sbx_wire_call_get_open (&self, &provider, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sbx_open_request_get_cwd (other), ==, "sub");
  tags = sbx_open_request_get_tags (other);
  g_assert_cmpuint (g_hash_table_size (tags), ==, 2);
  g_assert_cmpstr (g_hash_table_lookup (tags, "a"), ==, "1");
  g_assert_cmpstr (g_hash_table_lookup (tags, "b_base64"), ==, "aGk=");
}

static void
test_bad_open (void)
{
  static const struct
  {
    const char *params;
    const char *name;
  } bad[] = {
    { "{}", "profile" },
    { "{" METADATA "," SYNC "}", "params.profile" },
    { "{" METADATA "," PROFILE "}", "params.workspace_sync" },
    { "{" PROFILE "," SYNC "}", "params.metadata" },
    { "{" METADATA "," PROFILE ",\"workspace_sync\":{\"host_path\":\"\"}}", "host_path" },
    { "{" METADATA "," PROFILE ",\"workspace_sync\":{\"host_path\":7}}", "host_path" },
    { "{" METADATA "," SYNC ",\"profile\":{\"provider\":\"x\",\"name\":\"\"}}", "profile.name" },
    { "{" METADATA "," SYNC ",\"profile\":{\"name\":\"x\"}}", "profile.provider" },
    { "{" METADATA "," SYNC "," PROFILE ",\"cwd\":[]}", "params.cwd" },
    { "{" SYNC "," PROFILE ",\"metadata\":{}}", "metadata.protocol_version" },
    { "{" SYNC "," PROFILE ",\"metadata\":{\"protocol_version\":\"sandbox.v9\","
      "\"request_id\":\"\",\"sandbox_group_id\":\"g\"}}", "sandbox.v1" },
    { "{" SYNC "," PROFILE ",\"metadata\":{\"protocol_version\":\"sandbox.v1\","
      "\"request_id\":\"\",\"sandbox_group_id\":\"\"}}", "metadata.sandbox_group_id" },
    { "{" SYNC "," PROFILE ",\"metadata\":{\"protocol_version\":\"sandbox.v1\","
      "\"request_id\":\"\",\"sandbox_group_id\":\"g\",\"tags\":{\"a\":1}}}", "metadata.tags.a" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_auto(SbxWireCall) self = { 0 };
      g_autoptr(GError) error = NULL;
      const char *provider = NULL;

      parse_params (&self, bad[i].params);
      g_assert_null (_sbx_wire_call_get_open (&self, &provider, &error));
      assert_invalid (error, bad[i].name);
    }
}

static void
test_group (void)
{
  g_auto(SbxWireCall) self = { 0 };
  g_autoptr(GError) error = NULL;

  parse_params (&self, "{" METADATA ",\"sandbox_group_id\":\"g\"}");
  g_assert_cmpstr (_sbx_wire_call_get_group (&self, &error), ==, "g");
  parse_params (&self, "{\"sandbox_group_id\":\"..\"}");
  g_assert_cmpstr (_sbx_wire_call_get_group (&self, &error), ==, "..");
  g_assert_no_error (error);

  parse_params (&self, "{" METADATA ",\"sandbox_group_id\":\"h\"}");
  g_assert_null (_sbx_wire_call_get_group (&self, &error));
  assert_invalid (error, "metadata.sandbox_group_id");
  parse_params (&self, "{" METADATA "}");
  g_assert_null (_sbx_wire_call_get_group (&self, &error));
  assert_invalid (error, "params.sandbox_group_id");
  parse_params (&self, "{\"sandbox_group_id\":\"\"}");
  g_assert_null (_sbx_wire_call_get_group (&self, &error));
  assert_invalid (error, "params.sandbox_group_id");
}

static void
test_strings (void)
{
  g_auto(SbxWireCall) self = { 0 };
  g_autoptr(GError) error = NULL;

  parse_params (&self, "{\"session\":{\"id\":\"s\",\"provider_state_json\":\"{\"},\"path\":\"p\","
                       "\"new_path\":\"n\",\"process_id\":\"1\",\"request_id\":\"req_2\"}");
  g_assert_cmpstr (_sbx_wire_call_get_session_id (&self, &error), ==, "s");
  g_assert_cmpstr (_sbx_wire_call_get_path (&self, &error), ==, "p");
  g_assert_cmpstr (_sbx_wire_call_get_new_path (&self, &error), ==, "n");
  g_assert_cmpstr (_sbx_wire_call_get_process_id (&self, &error), ==, "1");
  g_assert_cmpstr (_sbx_wire_call_get_request_id (&self, &error), ==, "req_2");
  g_assert_cmpstr (_sbx_wire_call_get_prefix (&self, &error), ==, "sbx-");
  g_assert_no_error (error);

  parse_params (&self, "{\"session\":\"s\",\"path\":\"\",\"new_path\":null,\"process_id\":1,"
                       "\"prefix\":false}");
  g_assert_null (_sbx_wire_call_get_session_id (&self, &error));
  assert_invalid (error, "params.session");
  g_assert_null (_sbx_wire_call_get_path (&self, &error));
  assert_invalid (error, "params.path");
  g_assert_null (_sbx_wire_call_get_new_path (&self, &error));
  assert_invalid (error, "params.new_path");
  g_assert_null (_sbx_wire_call_get_process_id (&self, &error));
  assert_invalid (error, "params.process_id");
  g_assert_null (_sbx_wire_call_get_request_id (&self, &error));
  assert_invalid (error, "params.request_id");
  g_assert_null (_sbx_wire_call_get_prefix (&self, &error));
  assert_invalid (error, "params.prefix");

  parse_params (&self, "{\"session\":{},\"prefix\":\"\"}");
  g_assert_null (_sbx_wire_call_get_session_id (&self, &error));
  assert_invalid (error, "params.session.id");
  g_assert_cmpstr (_sbx_wire_call_get_prefix (&self, &error), ==, "");
}

static void
test_range (void)
{
  static const char * const bad[] = {
    "{\"offset\":-1}", "{\"offset\":1.0}", "{\"length\":-1}", "{\"length\":\"1\"}",
    "{\"truncate\":0}", "{\"mode\":-1}", "{\"mode\":4096}", "{\"mode\":\"0644\"}",
  };
  g_auto(SbxWireCall) self = { 0 };
  g_autoptr(GError) error = NULL;
  SbxWireRange range;

  parse_params (&self, "{\"mode\":420}");
  g_assert_true (_sbx_wire_call_get_range (&self, &range, &error));
  g_assert_false (range.has_range);
  g_assert_cmpuint (range.offset, ==, 0);
  g_assert_cmpuint (range.length, ==, G_MAXUINT64);
  g_assert_true (range.truncate);
  g_assert_cmphex (range.mode, ==, 0644);

  parse_params (&self, "{\"offset\":9223372036854775807,\"length\":0,\"truncate\":false}");
  g_assert_true (_sbx_wire_call_get_range (&self, &range, &error));
  g_assert_true (range.has_range);
  g_assert_cmpuint (range.offset, ==, G_MAXINT64);
  g_assert_cmpuint (range.length, ==, 0);
  g_assert_false (range.truncate);
  g_assert_cmphex (range.mode, ==, 0);

  parse_params (&self, "{\"offset\":null,\"truncate\":true}");
  g_assert_true (_sbx_wire_call_get_range (&self, &range, &error));
  g_assert_true (range.has_range);
  g_assert_true (range.truncate);

  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      parse_params (&self, bad[i]);
      g_assert_false (_sbx_wire_call_get_range (&self, &range, &error));
      assert_invalid (error, "params.");
    }
}

static void
test_payloads (void)
{
  g_auto(SbxWireCall) self = { 0 };
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) content = NULL;
  g_autoptr(GBytes) data = NULL;

  parse_params (&self, "{\"content_base64\":\"AAECA/8=\",\"data_base64\":\"\"}");
  content = _sbx_wire_call_get_content (&self, &error);
  g_assert_cmpmem (g_bytes_get_data (content, NULL), g_bytes_get_size (content),
                   "\0\1\2\3\377", 5);
  data = _sbx_wire_call_get_data (&self, &error);
  wire_assert_bytes (data, "");

  parse_params (&self, "{\"content_base64\":\"AAECA/8\",\"data_base64\":null}");
  g_assert_null (_sbx_wire_call_get_content (&self, &error));
  assert_invalid (error, "params.content_base64");
  g_assert_null (_sbx_wire_call_get_data (&self, &error));
  assert_invalid (error, "params.data_base64");
}

static void
test_command (void)
{
  g_auto(SbxWireCall) self = { 0 };
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxCommand) plain = NULL;
  g_autoptr(SbxCommand) full = NULL;
  SbxWireExecOptions options;
  const char * const *argv;
  const char * const *environment;

  parse_params (&self, "{\"argv\":[\"true\"],\"stdin_base64\":null,\"env\":null,\"cwd\":\"\"}");
  plain = _sbx_wire_call_get_command (&self, &options, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sbx_command_get_argv (plain)[0], ==, "true");
  g_assert_null (sbx_command_get_cwd (plain));
  g_assert_null (sbx_command_get_environment (plain)[0]);
  g_assert_cmpint (sbx_command_get_stdin (plain), ==, SBX_STDIN_NULL);
  g_assert_cmpuint (sbx_command_get_timeout (plain), ==, 0);
  g_assert_false (sbx_command_get_terminal (plain));
  g_assert_true (options.collect);
  g_assert_false (options.follow);
  g_assert_cmpuint (options.collect_limit, ==, G_MAXUINT64);

  parse_params (&self, "{\"argv\":[\"sh\",\"-c\",\"\"],\"cwd\":\"/w\",\"env\":{\"A\":\"1=2\","
                       "\"B_base64\":\"aGk=\"},\"stdin_base64\":\"\",\"timeout_ms\":4294967295,"
                       "\"collect\":false,\"collect_limit\":10,\"follow\":true}");
  full = _sbx_wire_call_get_command (&self, &options, &error);
  g_assert_no_error (error);
  argv = sbx_command_get_argv (full);
  g_assert_cmpuint (g_strv_length ((GStrv) argv), ==, 3);
  g_assert_cmpstr (argv[2], ==, "");
  g_assert_cmpstr (sbx_command_get_cwd (full), ==, "/w");
  environment = sbx_command_get_environment (full);
  g_assert_cmpuint (g_strv_length ((GStrv) environment), ==, 2);
  g_assert_true (g_strv_contains (environment, "A=1=2"));
  g_assert_true (g_strv_contains (environment, "B_base64=aGk="));
  g_assert_cmpint (sbx_command_get_stdin (full), ==, SBX_STDIN_BYTES);
  g_assert_cmpuint (g_bytes_get_size (sbx_command_get_stdin_bytes (full)), ==, 0);
  g_assert_cmpuint (sbx_command_get_timeout (full), ==, G_MAXUINT32);
  g_assert_false (options.collect);
  g_assert_true (options.follow);
  g_assert_cmpuint (options.collect_limit, ==, 10);
}

static void
test_terminal (void)
{
  g_auto(SbxWireCall) self = { 0 };
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxCommand) sized = NULL;
  g_autoptr(SbxCommand) plain = NULL;
  g_autoptr(SbxCommand) open = NULL;
  SbxWireExecOptions options;
  guint rows = 0;
  guint columns = 0;
  int number = 0;

  parse_params (&self, "{\"argv\":[\"vi\"],\"pty\":{\"rows\":40,\"columns\":65535}}");
  sized = _sbx_wire_call_get_command (&self, &options, &error);
  g_assert_no_error (error);
  g_assert_true (sbx_command_get_terminal (sized));
  g_assert_cmpuint (sbx_command_get_rows (sized), ==, 40);
  g_assert_cmpuint (sbx_command_get_columns (sized), ==, 65535);

  parse_params (&self, "{\"argv\":[\"vi\"],\"pty\":{}}");
  plain = _sbx_wire_call_get_command (&self, &options, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sbx_command_get_rows (plain), ==, 24);
  g_assert_cmpuint (sbx_command_get_columns (plain), ==, 80);

  parse_params (&self, "{\"argv\":[\"cat\"],\"open_stdin\":true}");
  open = _sbx_wire_call_get_command (&self, &options, &error);
  g_assert_no_error (error);
  g_assert_cmpint (sbx_command_get_stdin (open), ==, SBX_STDIN_PIPE);

  parse_params (&self, "{\"rows\":1,\"columns\":2,\"signal\":64}");
  g_assert_true (_sbx_wire_call_get_size (&self, &rows, &columns, &error));
  g_assert_cmpuint (rows, ==, 1);
  g_assert_cmpuint (columns, ==, 2);
  g_assert_true (_sbx_wire_call_get_signal (&self, &number, &error));
  g_assert_cmpint (number, ==, 64);

  parse_params (&self, "{\"rows\":1,\"columns\":0,\"signal\":65}");
  g_assert_false (_sbx_wire_call_get_size (&self, &rows, &columns, &error));
  assert_invalid (error, "params.columns");
  g_assert_false (_sbx_wire_call_get_signal (&self, &number, &error));
  assert_invalid (error, "params.signal");
}

static void
test_bad_commands (void)
{
  static const struct
  {
    const char *params;
    const char *name;
  } bad[] = {
    { "{}", "params.argv" },
    { "{\"argv\":[]}", "params.argv" },
    { "{\"argv\":[\"\"]}", "params.argv" },
    { "{\"argv\":\"true\"}", "params.argv" },
    { "{\"argv\":[\"a\",5]}", "params.argv" },
    { "{\"argv\":[\"a\",null]}", "params.argv" },
    { "{\"argv\":[\"a\"],\"cwd\":5}", "params.cwd" },
    { "{\"argv\":[\"a\"],\"env\":[]}", "params.env" },
    { "{\"argv\":[\"a\"],\"env\":{\"A\":5}}", "params.env.A" },
    { "{\"argv\":[\"a\"],\"env\":{\"A\":null}}", "params.env.A" },
    { "{\"argv\":[\"a\"],\"env\":{\"\":\"x\"}}", "Environment" },
    { "{\"argv\":[\"a\"],\"env\":{\"A=B\":\"x\"}}", "A=B" },
    { "{\"argv\":[\"a\"],\"stdin_base64\":\"!\"}", "params.stdin_base64" },
    { "{\"argv\":[\"a\"],\"stdin_base64\":5}", "params.stdin_base64" },
    { "{\"argv\":[\"a\"],\"stdin_base64\":\"\",\"open_stdin\":true}", "params.open_stdin" },
    { "{\"argv\":[\"a\"],\"open_stdin\":1}", "params.open_stdin" },
    { "{\"argv\":[\"a\"],\"pty\":true}", "params.pty" },
    { "{\"argv\":[\"a\"],\"pty\":{\"rows\":0}}", "params.pty.rows" },
    { "{\"argv\":[\"a\"],\"pty\":{\"columns\":65536}}", "params.pty.columns" },
    { "{\"argv\":[\"a\"],\"pty\":{},\"stdin_base64\":\"\"}", "terminal" },
    { "{\"argv\":[\"a\"],\"timeout_ms\":-1}", "params.timeout_ms" },
    { "{\"argv\":[\"a\"],\"timeout_ms\":4294967296}", "params.timeout_ms" },
    { "{\"argv\":[\"a\"],\"collect\":\"no\"}", "params.collect" },
    { "{\"argv\":[\"a\"],\"collect_limit\":-1}", "params.collect_limit" },
    { "{\"argv\":[\"a\"],\"follow\":1}", "params.follow" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_auto(SbxWireCall) self = { 0 };
      g_autoptr(GError) error = NULL;
      SbxWireExecOptions options;

      parse_params (&self, bad[i].params);
      g_assert_null (_sbx_wire_call_get_command (&self, &options, &error));
      assert_invalid (error, bad[i].name);
    }
}

/* Takes @message: what our client writes is what our server reads. */
static void
receive (SbxWireCall    *self,
         SbxWireMessage *message)
{
  g_autoptr(SbxWireLine) line = wire_send (message);
  g_autoptr(GError) error = NULL;

  _sbx_wire_call_clear (self);
  _sbx_wire_call_parse (self, line, &error);
  g_assert_no_error (error);
}

static void
test_round_trip_exec (void)
{
  const char * const argv[] = { "sh", "\"\\\n\t\x7f\x1f é😀", "", NULL };
  g_autoptr(GBytes) session = wire_bytes ("{\"id\":\"s \\\"1\\\"\"}");
  g_autoptr(GBytes) input = g_bytes_new_static ("\0\377\n", 3);
  g_autoptr(SbxCommand) command = sbx_command_new (argv);
  g_autoptr(SbxCommand) received = NULL;
  g_autoptr(GError) error = NULL;
  g_auto(SbxWireCall) self = { 0 };
  SbxWireExecOptions options;

  sbx_command_set_cwd (command, "a\nb");
  sbx_command_set_variable (command, "é", "\"=\n");
  sbx_command_set_stdin_bytes (command, input);
  sbx_command_set_timeout (command, 1);
  receive (&self, _sbx_wire_request_exec (12, "exec", session, command, SBX_WIRE_TIMEOUT, &error));
  g_assert_cmpstr (self.id, ==, "req_12");
  g_assert_cmpint (self.method, ==, SBX_WIRE_METHOD_EXEC);
  g_assert_cmpstr (_sbx_wire_call_get_session_id (&self, &error), ==, "s \"1\"");

  received = _sbx_wire_call_get_command (&self, &options, &error);
  g_assert_no_error (error);
  g_assert_true (g_strv_equal (sbx_command_get_argv (received), argv));
  g_assert_true (g_strv_equal (sbx_command_get_environment (received),
                               sbx_command_get_environment (command)));
  g_assert_cmpstr (sbx_command_get_cwd (received), ==, "a\nb");
  g_assert_true (g_bytes_equal (sbx_command_get_stdin_bytes (received), input));
  g_assert_cmpuint (sbx_command_get_timeout (received), ==, 1);
}

static void
test_round_trip_rest (void)
{
  g_autoptr(GBytes) session = wire_bytes ("{\"id\":\"s\"}");
  g_autoptr(SbxOpenRequest) request = sbx_open_request_new_for_profile ("/w\"", "p");
  g_autoptr(SbxOpenRequest) received = NULL;
  g_autoptr(GBytes) content = g_bytes_new_static ("\0\1\2", 3);
  g_autoptr(GBytes) received_content = NULL;
  g_autoptr(GError) error = NULL;
  g_auto(SbxWireCall) self = { 0 };
  const char *provider = NULL;
  SbxWireRange range;

  sbx_open_request_set_group (request, "g");
  sbx_open_request_set_tag (request, "t_base64", "x");
  receive (&self, _sbx_wire_request_open (1, request, "bwrap", &error));
  g_assert_cmpint (self.method, ==, SBX_WIRE_METHOD_OPEN);
  received = _sbx_wire_call_get_open (&self, &provider, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (provider, ==, "bwrap");
  g_assert_cmpstr (sbx_open_request_get_workspace (received), ==, "/w\"");
  g_assert_cmpstr (sbx_open_request_get_group (received), ==, "g");
  g_assert_cmpstr (g_hash_table_lookup (sbx_open_request_get_tags (received), "t_base64"), ==, "x");

  receive (&self, _sbx_wire_request_cleanup_group (2, "g", &error));
  g_assert_cmpstr (_sbx_wire_call_get_group (&self, &error), ==, "g");

  receive (&self, _sbx_wire_request_write_range (3, session, "f", content, 7, FALSE, 0600,
                                                 &error));
  g_assert_cmpint (self.method, ==, SBX_WIRE_METHOD_WRITE_FILE);
  received_content = _sbx_wire_call_get_content (&self, &error);
  g_assert_true (g_bytes_equal (received_content, content));
  g_assert_true (_sbx_wire_call_get_range (&self, &range, &error));
  g_assert_true (range.has_range);
  g_assert_cmpuint (range.offset, ==, 7);
  g_assert_false (range.truncate);
  g_assert_cmphex (range.mode, ==, 0600);

  receive (&self, _sbx_wire_request_path (4, "stat", session, "a\nb", &error));
  g_assert_cmpint (self.method, ==, SBX_WIRE_METHOD_STAT);
  g_assert_cmpstr (_sbx_wire_call_get_path (&self, &error), ==, "a\nb");
  g_assert_true (_sbx_wire_call_get_range (&self, &range, &error));
  g_assert_false (range.has_range);

  receive (&self, _sbx_wire_request_cancel (5, 4));
  g_assert_cmpstr (_sbx_wire_call_get_request_id (&self, &error), ==, "req_4");
  g_assert_no_error (error);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/wire/call/methods", test_methods);
  g_test_add_func ("/wire/call/envelope", test_envelope);
  g_test_add_func ("/wire/call/bad-envelope", test_bad_envelope);
  g_test_add_func ("/wire/call/open", test_open);
  g_test_add_func ("/wire/call/bad-open", test_bad_open);
  g_test_add_func ("/wire/call/group", test_group);
  g_test_add_func ("/wire/call/strings", test_strings);
  g_test_add_func ("/wire/call/range", test_range);
  g_test_add_func ("/wire/call/payloads", test_payloads);
  g_test_add_func ("/wire/call/command", test_command);
  g_test_add_func ("/wire/call/terminal", test_terminal);
  g_test_add_func ("/wire/call/bad-commands", test_bad_commands);
  g_test_add_func ("/wire/call/round-trip-exec", test_round_trip_exec);
  g_test_add_func ("/wire/call/round-trip-rest", test_round_trip_rest);

  return g_test_run ();
}
