/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-error.h"
#include "core/sbx-reach.h"
#include "wire-util.h"
#include "wire/sbx-wire-request-private.h"

/* All texts are as sandbox.v1 has them, not as the code happens to write them. */

#define SESSION "{\"id\":\"s1\",\"extra\":[1]}"

static GBytes *
session (void)
{
  return wire_bytes (SESSION);
}

static SbxOpenRequest *
open_request (void)
{
  SbxOpenRequest *request = sbx_open_request_new_for_profile ("/home/me/tree", "default");

  sbx_open_request_set_request_id (request, "r1");
  sbx_open_request_set_group (request, "g1");

  return request;
}

static void
test_without_params (void)
{
  g_autoptr(GBytes) object = session ();

  wire_assert_text (_sbx_wire_request_capabilities (1),
                    "{\"id\":\"req_1\",\"method\":\"capabilities\",\"params\":{}}");
  wire_assert_text (_sbx_wire_request_shutdown (G_MAXUINT64),
                    "{\"id\":\"req_18446744073709551615\",\"method\":\"shutdown\",\"params\":{}}");
  wire_assert_text (_sbx_wire_request_close (7, object),
                    "{\"id\":\"req_7\",\"method\":\"close\",\"params\":{\"session\":" SESSION "}}");
}

static void
test_open (void)
{
  g_autoptr(SbxOpenRequest) request = open_request ();
  g_autoptr(GError) error = NULL;

  wire_assert_text (_sbx_wire_request_open (2, request, "bwrap", &error),
                    "{\"id\":\"req_2\",\"method\":\"open\",\"params\":{\"metadata\":{"
                    "\"protocol_version\":\"sandbox.v1\",\"request_id\":\"r1\","
                    "\"sandbox_group_id\":\"g1\"},"
                    "\"profile\":{\"provider\":\"bwrap\",\"name\":\"default\"},"
                    "\"workspace_sync\":{\"host_path\":\"/home/me/tree\"}}}");
  g_assert_no_error (error);

  sbx_open_request_set_cwd (request, "sub");
  sbx_open_request_set_tag (request, "b", "\"2\"");
  sbx_open_request_set_tag (request, "a", "1\n");
  wire_assert_text (_sbx_wire_request_open (3, request, "local-worktree", &error),
                    "{\"id\":\"req_3\",\"method\":\"open\",\"params\":{\"metadata\":{"
                    "\"protocol_version\":\"sandbox.v1\",\"request_id\":\"r1\","
                    "\"sandbox_group_id\":\"g1\",\"tags\":{\"a\":\"1\\n\",\"b\":\"\\\"2\\\"\"}},"
                    "\"profile\":{\"provider\":\"local-worktree\",\"name\":\"default\"},"
                    "\"workspace_sync\":{\"host_path\":\"/home/me/tree\"},\"cwd\":\"sub\"}}");
  g_assert_no_error (error);
}

/* Names that nobody gave are made up, others each time. */
static void
test_open_made_up (void)
{
  g_autoptr(SbxOpenRequest) request = sbx_open_request_new_for_profile ("/w", "p");
  char *groups[2] = { NULL, NULL };

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(SbxWireLine) line = wire_send (_sbx_wire_request_open (1, request, "x", &error));
      JsonObject *params = NULL;
      JsonObject *metadata = NULL;
      const char *request_id = NULL;
      const char *group = NULL;

      _sbx_json_object_get_object (_sbx_wire_line_get_object (line), "params", &params);
      _sbx_json_object_get_object (params, "metadata", &metadata);
      _sbx_json_object_get_string (metadata, "request_id", &request_id);
      _sbx_json_object_get_string (metadata, "sandbox_group_id", &group);

      g_assert_true (g_str_has_prefix (request_id, "req_"));
      g_assert_true (g_str_has_prefix (group, "sbxgrp_"));
      g_assert_true (g_uuid_string_is_valid (group + strlen ("sbxgrp_")));
      groups[i] = g_strdup (group);
    }

  g_assert_cmpstr (groups[0], !=, groups[1]);
  g_free (groups[1]);
  g_free (groups[0]);
}

static void
test_open_reach (void)
{
  g_autoptr(SbxReach) reach = sbx_reach_new ("/w");
  g_autoptr(SbxOpenRequest) request = sbx_open_request_new (reach);
  g_autoptr(GError) error = NULL;

  g_assert_null (_sbx_wire_request_open (1, request, "cloud", &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "cloud"));
}

static void
test_cleanup_group (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxWireMessage) message = _sbx_wire_request_cleanup_group (4, "g/1", &error);
  g_autofree char *text = wire_text (message);

  g_assert_no_error (error);
  g_assert_true (g_str_has_prefix (text,
                                   "{\"id\":\"req_4\",\"method\":\"cleanup_group\",\"params\":{"
                                   "\"metadata\":{\"protocol_version\":\"sandbox.v1\","
                                   "\"request_id\":\"req_"));
  g_assert_true (g_str_has_suffix (text, "\",\"sandbox_group_id\":\"g/1\"},"
                                         "\"sandbox_group_id\":\"g/1\"}}"));
}

static void
test_files (void)
{
  g_autoptr(GBytes) object = session ();
  g_autoptr(GBytes) content = g_bytes_new_static ("\0\1\377", 3);
  g_autoptr(GError) error = NULL;

  wire_assert_text (_sbx_wire_request_create_temp_dir (1, object, "smol wf-", &error),
                    "{\"id\":\"req_1\",\"method\":\"create_temp_dir\",\"params\":{\"session\":"
                    SESSION ",\"prefix\":\"smol wf-\"}}");
  wire_assert_text (_sbx_wire_request_path (2, "read_file", object, "a \"b\"\\c", &error),
                    "{\"id\":\"req_2\",\"method\":\"read_file\",\"params\":{\"session\":"
                    SESSION ",\"path\":\"a \\\"b\\\"\\\\c\"}}");
  wire_assert_text (_sbx_wire_request_write_file (3, object, "é", content, 0, &error),
                    "{\"id\":\"req_3\",\"method\":\"write_file\",\"params\":{\"session\":"
                    SESSION ",\"path\":\"é\",\"content_base64\":\"AAH/\"}}");
  wire_assert_text (_sbx_wire_request_write_file (4, object, "x", content, 0755, &error),
                    "{\"id\":\"req_4\",\"method\":\"write_file\",\"params\":{\"session\":"
                    SESSION ",\"path\":\"x\",\"content_base64\":\"AAH/\",\"mode\":493}}");
  wire_assert_text (_sbx_wire_request_two_paths (5, "rename", object, "a", "b", &error),
                    "{\"id\":\"req_5\",\"method\":\"rename\",\"params\":{\"session\":"
                    SESSION ",\"path\":\"a\",\"new_path\":\"b\"}}");
  wire_assert_text (_sbx_wire_request_read_range (6, object, "a", 10, 20, &error),
                    "{\"id\":\"req_6\",\"method\":\"read_file\",\"params\":{\"session\":"
                    SESSION ",\"path\":\"a\",\"offset\":10,\"length\":20}}");
  wire_assert_text (_sbx_wire_request_read_range (7, object, "a", 0, G_MAXUINT64, &error),
                    "{\"id\":\"req_7\",\"method\":\"read_file\",\"params\":{\"session\":"
                    SESSION ",\"path\":\"a\",\"offset\":0}}");
  wire_assert_text (_sbx_wire_request_write_range (8, object, "a", content, 5, FALSE, 0, &error),
                    "{\"id\":\"req_8\",\"method\":\"write_file\",\"params\":{\"session\":"
                    SESSION ",\"path\":\"a\",\"offset\":5,\"truncate\":false,"
                    "\"content_base64\":\"AAH/\"}}");
  g_assert_no_error (error);

  g_assert_null (_sbx_wire_request_read_range (9, object, "a", G_GUINT64_CONSTANT (1) << 63, 1,
                                               &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
}

static void
test_exec (void)
{
  const char * const argv[] = { "sh", "-c", "echo $A", "", NULL };
  g_autoptr(SbxCommand) command = sbx_command_new (argv);
  g_autoptr(GBytes) object = session ();
  g_autoptr(GBytes) input = wire_bytes ("abc");
  g_autoptr(GBytes) nothing = g_bytes_new_static ("", 0);
  g_autoptr(GError) error = NULL;

  wire_assert_text (_sbx_wire_request_exec (1, "exec", object, command, 0, &error),
                    "{\"id\":\"req_1\",\"method\":\"exec\",\"params\":{\"session\":" SESSION
                    ",\"argv\":[\"sh\",\"-c\",\"echo $A\",\"\"]}}");

  sbx_command_set_cwd (command, "sub");
  sbx_command_set_variable (command, "A", "1=2");
  sbx_command_set_variable (command, "B_base64", "");
  sbx_command_set_stdin_bytes (command, input);
  sbx_command_set_timeout (command, 1000);
  /* A plain provider gets nothing that sandbox.v1 does not have: its time is the client's care. */
  wire_assert_text (_sbx_wire_request_exec (2, "exec", object, command, 0, &error),
                    "{\"id\":\"req_2\",\"method\":\"exec\",\"params\":{\"session\":" SESSION
                    ",\"argv\":[\"sh\",\"-c\",\"echo $A\",\"\"],\"cwd\":\"sub\","
                    "\"env\":{\"A\":\"1=2\",\"B_base64\":\"\"},\"stdin_base64\":\"YWJj\"}}");

  /* An input that is empty is not the same as none. */
  sbx_command_set_stdin_bytes (command, nothing);
  sbx_command_set_cwd (command, NULL);
  wire_assert_text (_sbx_wire_request_exec (3, "spawn", object, command, 0, &error),
                    "{\"id\":\"req_3\",\"method\":\"spawn\",\"params\":{\"session\":" SESSION
                    ",\"argv\":[\"sh\",\"-c\",\"echo $A\",\"\"],"
                    "\"env\":{\"A\":\"1=2\",\"B_base64\":\"\"},\"stdin_base64\":\"\"}}");
  g_assert_no_error (error);
}

static void
test_exec_extensions (void)
{
  const char * const argv[] = { "top", NULL };
  const SbxWireFeatures all = SBX_WIRE_PROCESS | SBX_WIRE_STDIN | SBX_WIRE_PTY | SBX_WIRE_TIMEOUT |
                              SBX_WIRE_QUIET_RESULT;
  g_autoptr(SbxCommand) command = sbx_command_new (argv);
  g_autoptr(GBytes) object = session ();
  g_autoptr(GError) error = NULL;

  sbx_command_set_timeout (command, 1500);
  sbx_command_set_terminal (command, TRUE);
  sbx_command_set_terminal_size (command, 40, 120);
  wire_assert_text (_sbx_wire_request_exec (1, "exec", object, command, all, &error),
                    "{\"id\":\"req_1\",\"method\":\"exec\",\"params\":{\"session\":" SESSION
                    ",\"argv\":[\"top\"],\"pty\":{\"rows\":40,\"columns\":120},"
                    "\"timeout_ms\":1500,\"collect\":false}}");
  g_assert_no_error (error);

  g_assert_null (_sbx_wire_request_exec (2, "exec", object, command, all & ~SBX_WIRE_PTY, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED);
  g_clear_error (&error);

  sbx_command_set_terminal (command, FALSE);
  sbx_command_set_timeout (command, 0);
  sbx_command_set_stdin (command, SBX_STDIN_PIPE);
  wire_assert_text (_sbx_wire_request_exec (3, "spawn", object, command, all, &error),
                    "{\"id\":\"req_3\",\"method\":\"spawn\",\"params\":{\"session\":" SESSION
                    ",\"argv\":[\"top\"],\"open_stdin\":true,\"follow\":true}}");
  g_assert_no_error (error);

  g_assert_null (_sbx_wire_request_exec (4, "exec", object, command, all & ~SBX_WIRE_STDIN,
                                         &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED);
}

static void
test_processes (void)
{
  g_autoptr(GBytes) object = session ();
  g_autoptr(GBytes) data = wire_bytes ("hello");

  wire_assert_text (_sbx_wire_request_cancel (9, 7),
                    "{\"id\":\"req_9\",\"method\":\"cancel\",\"params\":{"
                    "\"request_id\":\"req_7\"}}");
  wire_assert_text (_sbx_wire_request_kill (1, object, "p\"1", 15),
                    "{\"id\":\"req_1\",\"method\":\"kill\",\"params\":{\"session\":" SESSION
                    ",\"process_id\":\"p\\\"1\",\"signal\":15}}");
  wire_assert_text (_sbx_wire_request_write_stdin (1, object, "p1", data),
                    "{\"id\":\"req_1\",\"method\":\"write_stdin\",\"params\":{\"session\":" SESSION
                    ",\"process_id\":\"p1\",\"data_base64\":\"aGVsbG8=\"}}");
  wire_assert_text (_sbx_wire_request_close_stdin (1, object, "p1"),
                    "{\"id\":\"req_1\",\"method\":\"close_stdin\",\"params\":{\"session\":" SESSION
                    ",\"process_id\":\"p1\"}}");
  wire_assert_text (_sbx_wire_request_resize_pty (1, object, "p1", 24, 80),
                    "{\"id\":\"req_1\",\"method\":\"resize_pty\",\"params\":{\"session\":" SESSION
                    ",\"process_id\":\"p1\",\"rows\":24,\"columns\":80}}");
}

#define BAD "bad\377name"

/* Takes @message: there must be none, and an error that names what was bad, escaped. */
static void
assert_no_text (SbxWireMessage *message,
                GError         *error)
{
  g_assert_null (message);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "UTF-8"));
  g_assert_nonnull (strstr (error->message, "bad\\xffname"));
  g_error_free (error);
}

static void
test_no_utf8 (void)
{
  const char * const argv[] = { "cat", BAD, NULL };
  const char * const good_argv[] = { "cat", NULL };
  g_autoptr(GBytes) object = session ();
  g_autoptr(SbxCommand) command = sbx_command_new (argv);
  g_autoptr(SbxCommand) cwd_command = sbx_command_new (good_argv);
  g_autoptr(SbxCommand) variable_command = sbx_command_new (good_argv);
  g_autoptr(SbxOpenRequest) workspace = sbx_open_request_new_for_profile (BAD, "p");
  g_autoptr(SbxOpenRequest) group = open_request ();
  g_autoptr(SbxOpenRequest) tag = open_request ();
  SbxWireMessage *message;
  GError *error = NULL;

  message = _sbx_wire_request_path (1, "remove", object, BAD, &error);
  assert_no_text (message, g_steal_pointer (&error));
  message = _sbx_wire_request_two_paths (1, "copy", object, "a", BAD, &error);
  assert_no_text (message, g_steal_pointer (&error));
  message = _sbx_wire_request_create_temp_dir (1, object, BAD, &error);
  assert_no_text (message, g_steal_pointer (&error));
  message = _sbx_wire_request_exec (1, "exec", object, command, 0, &error);
  assert_no_text (message, g_steal_pointer (&error));

  sbx_command_set_cwd (cwd_command, BAD);
  message = _sbx_wire_request_exec (1, "exec", object, cwd_command, 0, &error);
  assert_no_text (message, g_steal_pointer (&error));

  sbx_command_set_variable (variable_command, BAD, "1");
  message = _sbx_wire_request_exec (1, "exec", object, variable_command, 0, &error);
  assert_no_text (message, g_steal_pointer (&error));

  message = _sbx_wire_request_open (1, workspace, "x", &error);
  assert_no_text (message, g_steal_pointer (&error));
  sbx_open_request_set_group (group, BAD);
  message = _sbx_wire_request_open (1, group, "x", &error);
  assert_no_text (message, g_steal_pointer (&error));
  sbx_open_request_set_tag (tag, "a", BAD);
  message = _sbx_wire_request_open (1, tag, "x", &error);
  assert_no_text (message, g_steal_pointer (&error));
  message = _sbx_wire_request_cleanup_group (1, BAD, &error);
  assert_no_text (message, g_steal_pointer (&error));
}

/* The value of a variable may be a secret: an error tells its name. */
static void
test_secret (void)
{
  const char * const argv[] = { "env", NULL };
  g_autoptr(GBytes) object = session ();
  g_autoptr(SbxCommand) command = sbx_command_new (argv);
  g_autoptr(GError) error = NULL;

  sbx_command_set_variable (command, "TOKEN", "hunter2\377");
  g_assert_null (_sbx_wire_request_exec (1, "exec", object, command, 0, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "TOKEN"));
  g_assert_null (strstr (error->message, "hunter2"));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/wire/request/without-params", test_without_params);
  g_test_add_func ("/wire/request/open", test_open);
  g_test_add_func ("/wire/request/open-made-up", test_open_made_up);
  g_test_add_func ("/wire/request/open-reach", test_open_reach);
  g_test_add_func ("/wire/request/cleanup-group", test_cleanup_group);
  g_test_add_func ("/wire/request/files", test_files);
  g_test_add_func ("/wire/request/exec", test_exec);
  g_test_add_func ("/wire/request/exec-extensions", test_exec_extensions);
  g_test_add_func ("/wire/request/processes", test_processes);
  g_test_add_func ("/wire/request/no-utf8", test_no_utf8);
  g_test_add_func ("/wire/request/secret", test_secret);

  return g_test_run ();
}
