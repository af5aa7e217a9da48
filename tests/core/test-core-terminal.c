/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "core-child.h"
#include "core-session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Commands with a terminal: a real one, and one that an implementation passes on. */

static SbxCommand *
terminal_command (const char *script)
{
  SbxCommand *command = test_command ("sh", "-c", script, NULL);

  sbx_command_set_terminal (command, TRUE);

  return command;
}

typedef struct
{
  GString  *text;
  gboolean  ended;
  char      chunk[256];
} Reading;

static void
read_cb (GObject      *object,
         GAsyncResult *result,
         gpointer      user_data)
{
  Reading *reading = user_data;
  g_autoptr(GError) error = NULL;
  const gssize n = g_input_stream_read_finish (G_INPUT_STREAM (object), result, &error);

  /* That the command has gone is the end and no error. */
  g_assert_no_error (error);
  if (n == 0)
    {
      reading->ended = TRUE;
      return;
    }

  g_string_append_len (reading->text, reading->chunk, n);
  g_input_stream_read_async (G_INPUT_STREAM (object), reading->chunk, sizeof reading->chunk,
                             G_PRIORITY_DEFAULT, NULL, read_cb, reading);
}

static void
begin_reading (Reading      *reading,
               GInputStream *input)
{
  reading->text = g_string_new (NULL);
  g_input_stream_read_async (input, reading->chunk, sizeof reading->chunk, G_PRIORITY_DEFAULT, NULL,
                             read_cb, reading);
}

static void
write_text (SbxTerminal *terminal,
            const char  *text)
{
  g_assert_true (g_output_stream_write_all (sbx_terminal_get_output_stream (terminal), text,
                                            strlen (text), NULL, NULL, NULL));
}

static void
test_child (void)
{
  g_autoptr(SbxSession) session = test_child_session_new ();
  g_autoptr(SbxCommand) command =
    terminal_command ("stty size; stty -echo; echo ready; read line; echo \"got $line\"; exit 4");
  g_autoptr(SbxProcess) process = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  SbxTerminal *terminal;
  Reading reading = { NULL, };

  sbx_command_set_terminal_size (command, 7, 33);
  process = sbx_session_create_process (session, command);
  terminal = sbx_process_get_terminal (process);
  g_assert_null (sbx_terminal_get_input_stream (terminal));
  g_assert_null (sbx_terminal_get_output_stream (terminal));
  g_assert_cmpint (sbx_terminal_steal_fd (terminal), ==, -1);
  g_assert_null (sbx_process_get_stdin_pipe (process));
  g_assert_cmpuint (sbx_terminal_get_rows (terminal), ==, 7);
  g_assert_cmpuint (sbx_terminal_get_columns (terminal), ==, 33);

  g_assert_true (sbx_process_start (process, NULL, NULL));
  begin_reading (&reading, sbx_terminal_get_input_stream (terminal));
  test_wait_for (strstr (reading.text->str, "ready") != NULL);
  write_text (terminal, "hello\n");
  result = sbx_process_wait (process, NULL, NULL);
  test_wait_for (reading.ended);

  g_assert_cmpstr (reading.text->str, ==, "7 33\r\nready\r\ngot hello\r\n");
  g_assert_cmpint (sbx_exec_result_get_exit_code (result), ==, 4);
  g_assert_cmpuint (g_bytes_get_size (sbx_exec_result_get_stdout (result)), ==, 0);
  g_string_free (reading.text, TRUE);
}

static void
test_resize_child (void)
{
  g_autoptr(SbxSession) session = test_child_session_new ();
  g_autoptr(SbxCommand) command =
    terminal_command ("trap 'stty size; exit' WINCH; stty size; echo ready; "
                      "while :; do sleep 0.01; done");
  g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
  SbxTerminal *terminal = sbx_process_get_terminal (process);
  Reading reading = { NULL, };

  /* Before the start it is the size to start with. */
  g_assert_true (sbx_terminal_resize (terminal, 10, 20, NULL));
  g_assert_true (sbx_process_start (process, NULL, NULL));
  begin_reading (&reading, sbx_terminal_get_input_stream (terminal));
  test_wait_for (strstr (reading.text->str, "ready") != NULL);
  g_assert_true (sbx_terminal_resize (terminal, 30, 40, NULL));
  g_assert_cmpuint (sbx_terminal_get_rows (terminal), ==, 30);
  test_wait_for (reading.ended);
  g_assert_cmpstr (reading.text->str, ==, "10 20\r\nready\r\n30 40\r\n");
  g_string_free (reading.text, TRUE);

  /* When all is over it is nobody's concern. */
  test_wait_for (sbx_process_get_state (process) == SBX_PROCESS_STATE_ENDED);
  g_assert_true (sbx_terminal_resize (terminal, 1, 1, NULL));
}

static void
append_cb (SbxProcess *process,
           GBytes     *bytes,
           GString    *to)
{
  g_string_append_len (to, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
}

/* Nobody asked for the terminal: what the command writes comes as its output. */
static void
test_unclaimed_child (void)
{
  g_autoptr(SbxSession) session = test_child_session_new ();
  g_autoptr(SbxCommand) command =
    terminal_command ("test -t 0 && test -t 1 && test -t 2 && echo yes; echo error >&2; "
                      "stty -echo; echo ready; read x; echo $x");
  g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
  g_autoptr(GString) out = g_string_new (NULL);
  g_autoptr(SbxExecResult) result = NULL;
  SbxTerminal *terminal;

  g_signal_connect (process, "stdout", G_CALLBACK (append_cb), out);
  g_assert_true (sbx_process_start (process, NULL, NULL));
  test_wait_for (strstr (out->str, "ready") != NULL);

  /* Then it is for writing and its size alone. */
  terminal = sbx_process_get_terminal (process);
  g_assert_null (sbx_terminal_get_input_stream (terminal));
  g_assert_cmpint (sbx_terminal_steal_fd (terminal), ==, -1);
  g_assert_true (sbx_terminal_resize (terminal, 5, 5, NULL));
  write_text (terminal, "typed\n");

  result = sbx_process_wait (process, NULL, NULL);
  g_assert_cmpstr (out->str, ==, "yes\r\nerror\r\nready\r\ntyped\r\n");
  test_assert_bytes (sbx_exec_result_get_stdout (result), out->str);
  g_assert_cmpuint (g_bytes_get_size (sbx_exec_result_get_stderr (result)), ==, 0);
}

static void
test_steal (void)
{
  g_autoptr(SbxSession) session = test_child_session_new ();
  g_autoptr(SbxCommand) command = terminal_command ("echo ready; sleep 100");
  g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
  g_autoptr(SbxTerminal) terminal = g_object_ref (sbx_process_get_terminal (process));
  g_autoptr(GInputStream) input = NULL;
  g_autoptr(GOutputStream) output = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  struct winsize size = { 0, };
  int fd;

  g_assert_true (sbx_process_start (process, NULL, NULL));
  input = g_object_ref (sbx_terminal_get_input_stream (terminal));
  output = g_object_ref (sbx_terminal_get_output_stream (terminal));

  fd = sbx_terminal_steal_fd (terminal);
  g_assert_cmpint (fd, >=, 0);
  g_assert_true (fcntl (fd, F_GETFL) & O_NONBLOCK);
  g_assert_true (fcntl (fd, F_GETFD) & FD_CLOEXEC);
  g_assert_true (g_input_stream_is_closed (input));
  g_assert_true (g_output_stream_is_closed (output));
  g_assert_null (sbx_terminal_get_input_stream (terminal));
  g_assert_null (sbx_terminal_get_output_stream (terminal));
  g_assert_cmpint (sbx_terminal_steal_fd (terminal), ==, -1);

  g_assert_true (sbx_terminal_resize (terminal, 11, 12, NULL));
  g_assert_cmpint (ioctl (fd, TIOCGWINSZ, &size), ==, 0);
  g_assert_cmpint (size.ws_row, ==, 11);
  g_assert_cmpint (size.ws_col, ==, 12);

  g_assert_true (sbx_process_kill (process, 9, NULL));
  result = sbx_process_wait (process, NULL, NULL);
  test_assert_finalizes (process);
  g_assert_cmpint (fcntl (fd, F_GETFD), >=, 0);
  close (fd);
}

/* Streams hold what they read from, whatever becomes of the terminal. */
static void
test_streams_stay (void)
{
  g_autoptr(SbxSession) session = test_child_session_new ();
  g_autoptr(SbxCommand) command = terminal_command ("echo left behind");
  g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
  g_autoptr(GInputStream) input = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  Reading reading = { NULL, };

  g_assert_nonnull (sbx_process_get_terminal (process));
  g_assert_true (sbx_process_start (process, NULL, NULL));
  input = g_object_ref (sbx_terminal_get_input_stream (sbx_process_get_terminal (process)));
  result = sbx_process_wait (process, NULL, NULL);
  test_assert_finalizes (process);

  begin_reading (&reading, input);
  test_wait_for (reading.ended);
  g_assert_cmpstr (reading.text->str, ==, "left behind\r\n");
  g_string_free (reading.text, TRUE);
}

static gboolean
resize_cb (SbxExecInvocation *invocation,
           guint              rows,
           guint              columns,
           GString           *journal)
{
  g_string_append_printf (journal, "%ux%u ", rows, columns);

  return rows != 13;
}

static void
push_text (SbxInvocation *invocation,
           const char    *text)
{
  g_autoptr(GBytes) bytes = g_bytes_new (text, strlen (text));

  sbx_exec_invocation_emit_stdout (SBX_EXEC_INVOCATION (invocation), bytes);
}

static void
test_push (void)
{
  g_autoptr(TestSession) session = test_session_new (test_keep);
  g_autoptr(SbxCommand) command = terminal_command ("");
  g_autoptr(SbxProcess) process = sbx_session_create_process (SBX_SESSION (session), command);
  g_autoptr(GString) journal = g_string_new (NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(GAsyncResult) done = NULL;
  SbxTerminal *terminal = sbx_process_get_terminal (process);
  SbxExecInvocation *invocation;
  Reading reading = { NULL, };
  char typed[16] = { 0, };

  g_assert_true (sbx_terminal_resize (terminal, 50, 60, NULL));
  sbx_process_run_async (process, NULL, test_store_result, &done);
  invocation = SBX_EXEC_INVOCATION (session->kept);

  /* The size that it was given before the start is in the command. */
  g_assert_cmpuint (sbx_command_get_rows (sbx_exec_invocation_get_command (invocation)), ==, 50);
  g_assert_cmpuint (sbx_command_get_columns (sbx_exec_invocation_get_command (invocation)), ==, 60);
  g_signal_connect (invocation, "resize", G_CALLBACK (resize_cb), journal);

  push_text (session->kept, "early ");
  g_assert_null (sbx_terminal_get_input_stream (terminal));
  sbx_exec_invocation_started (invocation, NULL);
  g_assert_cmpint (sbx_terminal_steal_fd (terminal), ==, -1);
  begin_reading (&reading, sbx_terminal_get_input_stream (terminal));
  push_text (session->kept, "output");

  write_text (terminal, "typed");
  g_assert_cmpint (g_input_stream_read (sbx_exec_invocation_get_stdin (invocation), typed,
                                        sizeof typed, NULL, NULL), ==, 5);
  g_assert_cmpstr (typed, ==, "typed");

  g_assert_true (sbx_terminal_resize (terminal, 12, 34, NULL));
  g_assert_false (sbx_terminal_resize (terminal, 13, 35, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED);
  g_assert_cmpstr (journal->str, ==, "12x34 13x35 ");

  sbx_exec_invocation_return_exited (invocation, 0);
  g_assert_true (sbx_terminal_resize (terminal, 1, 1, NULL));
  test_wait_for (reading.ended && done != NULL);
  g_assert_cmpstr (reading.text->str, ==, "early output");
  g_string_free (reading.text, TRUE);
}

static void
test_unclaimed_push (void)
{
  g_autoptr(TestSession) session = test_session_new (test_start_and_keep);
  g_autoptr(SbxCommand) command = terminal_command ("");
  g_autoptr(SbxProcess) process = sbx_session_create_process (SBX_SESSION (session), command);
  g_autoptr(GString) out = g_string_new (NULL);
  g_autoptr(SbxExecResult) result = NULL;
  SbxExecInvocation *invocation;
  char typed[16] = { 0, };

  g_signal_connect (process, "stdout", G_CALLBACK (append_cb), out);
  g_assert_true (sbx_process_start (process, NULL, NULL));
  invocation = SBX_EXEC_INVOCATION (session->kept);
  push_text (session->kept, "shown");
  g_assert_cmpstr (out->str, ==, "shown");
  write_text (sbx_process_get_terminal (process), "typed");
  g_assert_cmpint (g_input_stream_read (sbx_exec_invocation_get_stdin (invocation), typed,
                                        sizeof typed, NULL, NULL), ==, 5);
  sbx_exec_invocation_return_exited (invocation, 0);
  result = sbx_process_wait (process, NULL, NULL);
  test_assert_bytes (sbx_exec_result_get_stdout (result), "shown");
}

static gboolean
give_terminals (GObject       *owner,
                SbxInvocation *invocation)
{
  for (guint i = 0; i < 2; i++)
    {
      const int fd = posix_openpt (O_RDWR | O_NOCTTY | O_CLOEXEC);

      g_assert_cmpint (fd, >=, 0);
      sbx_exec_invocation_take_terminal_fd (SBX_EXEC_INVOCATION (invocation), fd);
      g_assert_cmpint (fcntl (fd, F_GETFD) >= 0, ==,
                       i == 0 && sbx_command_get_terminal (sbx_exec_invocation_get_command (
                                   SBX_EXEC_INVOCATION (invocation))));
    }

  return test_answer_at_once (owner, invocation);
}

/* One too many, and one that nobody wanted, are closed. */
static void
test_closed (void)
{
  g_autoptr(TestSession) session = test_session_new (give_terminals);
  g_autoptr(SbxCommand) with = terminal_command ("");
  g_autoptr(SbxCommand) without = test_command ("true", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (SBX_SESSION (session), with);
  g_autoptr(SbxExecResult) one = NULL;
  g_autoptr(SbxExecResult) other = NULL;

  g_assert_nonnull (sbx_process_get_terminal (process));
  one = sbx_process_run (process, NULL, NULL);
  other = sbx_session_exec (SBX_SESSION (session), without, NULL, NULL);
  g_assert_nonnull (one);
  g_assert_nonnull (other);
}

static void
test_none (void)
{
  g_autoptr(TestSession) session = test_session_new (test_answer_at_once);
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (SBX_SESSION (session), command);
  g_autoptr(TestSession) lacking = NULL;
  g_autoptr(SbxCommand) with = terminal_command ("");
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_null (sbx_process_get_terminal (process));

  lacking = g_object_new (TEST_TYPE_SESSION, "capabilities",
                          TEST_ALL_CAPABILITIES & ~SBX_CAPABILITIES_TERMINAL, NULL);
  result = sbx_session_exec (SBX_SESSION (lacking), with, NULL, &error);
  g_assert_null (result);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_UNSUPPORTED);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/core/terminal/child", test_child);
  g_test_add_func ("/core/terminal/child/resize", test_resize_child);
  g_test_add_func ("/core/terminal/child/unclaimed", test_unclaimed_child);
  g_test_add_func ("/core/terminal/child/steal", test_steal);
  g_test_add_func ("/core/terminal/child/streams-stay", test_streams_stay);
  g_test_add_func ("/core/terminal/push", test_push);
  g_test_add_func ("/core/terminal/push/unclaimed", test_unclaimed_push);
  g_test_add_func ("/core/terminal/closed", test_closed);
  g_test_add_func ("/core/terminal/none", test_none);

  return g_test_run ();
}
