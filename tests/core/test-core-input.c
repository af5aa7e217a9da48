/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "core-child.h"
#include "core-session.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixinputstream.h>
#include <gio/gunixoutputstream.h>
#include <string.h>
#include <unistd.h>

/* What a command reads, for both kinds of implementation. */

#define MIB (1024 * 1024)

static GBytes *
make_bytes (gsize size)
{
  guint8 *data = g_malloc (size);

  for (gsize i = 0; i < size; i++)
    data[i] = (guint8) (i * 7 + i / 251);

  return g_bytes_new_take (data, size);
}

static SbxExecResult *
run_with_input (SbxSession *session,
                GBytes     *bytes,
                const char *script)
{
  g_autoptr(SbxCommand) command = test_command ("sh", "-c", script, NULL);
  g_autoptr(GError) error = NULL;
  SbxExecResult *result;

  sbx_command_set_stdin_bytes (command, bytes);
  result = sbx_session_exec (session, command, NULL, &error);
  g_assert_no_error (error);

  return result;
}

static void
test_bytes_child (void)
{
  static const gsize sizes[] = { 0, 1, 65536, 65537, MIB };
  g_autoptr(SbxSession) session = test_child_session_new ();

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr(GBytes) bytes = make_bytes (sizes[i]);
      g_autoptr(SbxExecResult) result = run_with_input (session, bytes, "cat");

      g_assert_true (sbx_exec_result_get_success (result));
      g_assert_true (g_bytes_equal (sbx_exec_result_get_stdout (result), bytes));
    }
}

/* Nothing at all is at its end at once. */
static void
test_null_child (void)
{
  g_autoptr(SbxSession) session = test_child_session_new ();
  g_autoptr(SbxExecResult) result = run_with_input (session, NULL, "cat; echo end");

  test_assert_bytes (sbx_exec_result_get_stdout (result), "end\n");
}

/* More than is read: neither a hang, nor a signal for us, nor an error. */
static void
test_not_read_child (void)
{
  g_autoptr(SbxSession) session = test_child_session_new ();
  g_autoptr(GBytes) bytes = make_bytes (MIB);
  g_autoptr(SbxExecResult) part = run_with_input (session, bytes, "head -c 10 | wc -c");
  g_autoptr(SbxExecResult) none = run_with_input (session, bytes, "exit 7");
  g_autoptr(SbxExecResult) closed = run_with_input (session, bytes,
                                                    "exec <&-; echo on >&2; exit 8");

  test_assert_bytes (sbx_exec_result_get_stdout (part), "10\n");
  g_assert_cmpint (sbx_exec_result_get_exit_code (none), ==, 7);
  g_assert_cmpint (sbx_exec_result_get_exit_code (closed), ==, 8);
  test_assert_bytes (sbx_exec_result_get_stderr (closed), "on\n");
}

static void
test_pipe_child (void)
{
  g_autoptr(SbxSession) session = test_child_session_new ();
  g_autoptr(SbxCommand) command = test_command ("cat", NULL);
  g_autoptr(SbxProcess) process = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  GOutputStream *pipe;

  sbx_command_set_stdin (command, SBX_STDIN_PIPE);
  process = sbx_session_create_process (session, command);
  pipe = sbx_process_get_stdin_pipe (process);
  g_assert_true (G_IS_UNIX_OUTPUT_STREAM (pipe));
  g_assert_true (fcntl (g_unix_output_stream_get_fd (G_UNIX_OUTPUT_STREAM (pipe)), F_GETFL) &
                 O_NONBLOCK);

  /* It may be written to before there is a command. */
  g_assert_true (g_output_stream_write_all (pipe, "before ", 7, NULL, NULL, NULL));
  g_assert_true (sbx_process_start (process, NULL, NULL));
  g_assert_true (g_output_stream_write_all (pipe, "after", 5, NULL, NULL, NULL));
  test_run_ready ();
  g_assert_cmpint (sbx_process_get_state (process), ==, SBX_PROCESS_STATE_RUNNING);

  g_assert_true (g_output_stream_close (pipe, NULL, NULL));
  result = sbx_process_wait (process, NULL, NULL);
  test_assert_bytes (sbx_exec_result_get_stdout (result), "before after");
}

static void
test_no_pipe (void)
{
  g_autoptr(SbxSession) session = test_child_session_new ();
  g_autoptr(SbxCommand) command = test_command ("cat", NULL);
  g_autoptr(GBytes) bytes = make_bytes (3);
  g_autoptr(SbxProcess) null = sbx_session_create_process (session, command);
  g_autoptr(SbxProcess) fed = NULL;

  sbx_command_set_stdin_bytes (command, bytes);
  fed = sbx_session_create_process (session, command);
  g_assert_null (sbx_process_get_stdin_pipe (null));
  g_assert_null (sbx_process_get_stdin_pipe (fed));
}

static void
wrote_cb (GObject      *object,
          GAsyncResult *result,
          gpointer      user_data)
{
  GError **error = user_data;

  g_assert_false (g_output_stream_write_all_finish (G_OUTPUT_STREAM (object), result, NULL,
                                                    error));
}

typedef void (*EndFunc) (SbxSession *session);

static void
check_writer_is_told (SbxSession *session,
                      EndFunc     end)
{
  g_autoptr(SbxCommand) command = test_command ("sleep", "100", NULL);
  g_autoptr(SbxProcess) process = NULL;
  g_autoptr(GBytes) bytes = make_bytes (MIB);
  g_autoptr(GError) error = NULL;
  g_autoptr(GOutputStream) pipe = NULL;
  g_autoptr(SbxExecResult) result = NULL;

  sbx_command_set_stdin (command, SBX_STDIN_PIPE);
  process = sbx_session_create_process (session, command);
  pipe = g_object_ref (sbx_process_get_stdin_pipe (process));
  g_assert_true (sbx_process_start (process, NULL, NULL));
  g_output_stream_write_all_async (pipe, g_bytes_get_data (bytes, NULL), MIB, G_PRIORITY_DEFAULT,
                                   NULL, wrote_cb, &error);
  test_run_ready ();
  g_assert_no_error (error);

  if (end != NULL)
    end (session);
  else
    g_assert_true (sbx_process_kill (process, 9, NULL));

  result = sbx_process_wait (process, NULL, NULL);
  test_wait_for (error != NULL);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE);
}

static void
end_kept (SbxSession *session)
{
  sbx_exec_invocation_return_exited (SBX_EXEC_INVOCATION (TEST_SESSION (session)->kept), 0);
}

static gboolean
read_and_keep (GObject       *owner,
               SbxInvocation *invocation)
{
  char byte;

  g_assert_cmpint (g_pollable_input_stream_read_nonblocking (
                     G_POLLABLE_INPUT_STREAM (sbx_exec_invocation_get_stdin (
                       SBX_EXEC_INVOCATION (invocation))), &byte, 1, NULL, NULL), ==, -1);

  return test_start_and_keep (owner, invocation);
}

/* Who still writes when the command has ended is told so, whatever the implementation did. */
static void
test_writer_is_told (void)
{
  g_autoptr(SbxSession) child = test_child_session_new ();
  g_autoptr(TestSession) idle = test_session_new (test_start_and_keep);
  g_autoptr(TestSession) reading = test_session_new (read_and_keep);

  check_writer_is_told (child, NULL);
  check_writer_is_told (SBX_SESSION (idle), end_kept);
  check_writer_is_told (SBX_SESSION (reading), end_kept);
}

static void
spliced_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  g_autoptr(SbxExecInvocation) invocation = user_data;
  g_autoptr(GBytes) bytes = NULL;

  g_assert_cmpint (g_output_stream_splice_finish (G_OUTPUT_STREAM (object), result, NULL), >=, 0);
  bytes = g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (object));
  sbx_exec_invocation_emit_stdout (invocation, bytes);
  sbx_exec_invocation_return_exited (invocation, 0);
}

/* An implementation that reads the input itself and gives it back as output. */
static gboolean
cat (GObject       *owner,
     SbxInvocation *invocation)
{
  SbxExecInvocation *exec = SBX_EXEC_INVOCATION (invocation);
  g_autoptr(GOutputStream) memory = g_memory_output_stream_new_resizable ();
  GInputStream *input = sbx_exec_invocation_get_stdin (exec);

  g_assert_true (sbx_exec_invocation_get_stdin (exec) == input);
  g_assert_cmpint (sbx_exec_invocation_steal_stdin_fd (exec), ==, -1);
  sbx_exec_invocation_started (exec, NULL);
  g_output_stream_splice_async (memory, input, G_OUTPUT_STREAM_SPLICE_CLOSE_TARGET,
                                G_PRIORITY_DEFAULT,
                                sbx_invocation_get_cancellable (invocation), spliced_cb,
                                g_object_ref (exec));

  return TRUE;
}

static void
test_bytes_push (void)
{
  static const gsize sizes[] = { 0, 1, 65537, MIB };
  g_autoptr(TestSession) session = test_session_new (cat);
  g_autoptr(SbxExecResult) nothing = run_with_input (SBX_SESSION (session), NULL, "");

  g_assert_cmpuint (g_bytes_get_size (sbx_exec_result_get_stdout (nothing)), ==, 0);

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr(GBytes) bytes = make_bytes (sizes[i]);
      g_autoptr(SbxExecResult) result = run_with_input (SBX_SESSION (session), bytes, "");

      g_assert_true (g_bytes_equal (sbx_exec_result_get_stdout (result), bytes));
    }
}

static void
test_pipe_push (void)
{
  g_autoptr(TestSession) session = test_session_new (cat);
  g_autoptr(SbxCommand) command = test_command ("cat", NULL);
  g_autoptr(SbxProcess) process = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  GOutputStream *pipe;

  sbx_command_set_stdin (command, SBX_STDIN_PIPE);
  process = sbx_session_create_process (SBX_SESSION (session), command);
  pipe = sbx_process_get_stdin_pipe (process);
  g_assert_true (sbx_process_start (process, NULL, NULL));
  g_assert_true (g_output_stream_write_all (pipe, "some", 4, NULL, NULL, NULL));
  test_run_ready ();
  g_assert_cmpint (sbx_process_get_state (process), ==, SBX_PROCESS_STATE_RUNNING);
  g_assert_true (g_output_stream_close (pipe, NULL, NULL));
  result = sbx_process_wait (process, NULL, NULL);
  test_assert_bytes (sbx_exec_result_get_stdout (result), "some");
}

static gboolean
ignore_input (GObject       *owner,
              SbxInvocation *invocation)
{
  sbx_exec_invocation_started (SBX_EXEC_INVOCATION (invocation), NULL);

  return test_keep (owner, invocation);
}

static void
test_not_read_push (void)
{
  g_autoptr(TestSession) session = test_session_new (ignore_input);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(GBytes) bytes = make_bytes (MIB);
  g_autoptr(SbxProcess) process = NULL;
  g_autoptr(SbxExecResult) result = NULL;

  sbx_command_set_stdin_bytes (command, bytes);
  process = sbx_session_create_process (SBX_SESSION (session), command);
  g_assert_true (sbx_process_start (process, NULL, NULL));
  test_run_ready ();
  sbx_exec_invocation_return_exited (SBX_EXEC_INVOCATION (session->kept), 0);
  result = sbx_process_wait (process, NULL, NULL);
  g_assert_true (sbx_exec_result_get_success (result));
}

/* A command that was to read bytes and has none is refused, and what was made for it is whole. */
static void
test_no_bytes (void)
{
  g_autoptr(SbxSession) session = test_child_session_new ();
  g_autoptr(SbxCommand) command = test_command ("cat", NULL);
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;

  sbx_command_set_stdin (command, SBX_STDIN_BYTES);
  result = sbx_session_exec (session, command, NULL, &error);
  g_assert_null (result);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/core/input/bytes/child", test_bytes_child);
  g_test_add_func ("/core/input/bytes/push", test_bytes_push);
  g_test_add_func ("/core/input/bytes/none", test_no_bytes);
  g_test_add_func ("/core/input/null", test_null_child);
  g_test_add_func ("/core/input/not-read/child", test_not_read_child);
  g_test_add_func ("/core/input/not-read/push", test_not_read_push);
  g_test_add_func ("/core/input/pipe/child", test_pipe_child);
  g_test_add_func ("/core/input/pipe/push", test_pipe_push);
  g_test_add_func ("/core/input/pipe/none", test_no_pipe);
  g_test_add_func ("/core/input/pipe/writer-is-told", test_writer_is_told);

  return g_test_run ();
}
