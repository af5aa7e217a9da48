/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "core-child.h"
#include "core-session.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixinputstream.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* What a command writes, on its way to whoever wants it: from a real child that writes to a
 * descriptor, and from an implementation that passes it on. */

static void
append_cb (SbxProcess *process,
           GBytes     *bytes,
           GByteArray *to)
{
  g_byte_array_append (to, g_bytes_get_data (bytes, NULL), (guint) g_bytes_get_size (bytes));
}

static void
count_cb (SbxProcess *process,
          GBytes     *bytes,
          guint64    *count)
{
  *count += g_bytes_get_size (bytes);
}

static guint
count_descriptors (void)
{
  g_autoptr(GDir) dir = g_dir_open ("/proc/self/fd", 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;

  return n;
}

/* It comes while the command runs, and not when it ends. */
static void
test_as_it_comes (void)
{
  g_autoptr(SbxSession) session = test_child_session_new ();
  g_autoptr(SbxCommand) command = test_command ("sh", "-c", "echo one; read x; echo two >&2", NULL);
  g_autoptr(GByteArray) out = g_byte_array_new ();
  g_autoptr(GByteArray) err = g_byte_array_new ();
  g_autoptr(SbxProcess) process = NULL;
  g_autoptr(SbxExecResult) result = NULL;

  sbx_command_set_stdin (command, SBX_STDIN_PIPE);
  process = sbx_session_create_process (session, command);
  g_signal_connect (process, "stdout", G_CALLBACK (append_cb), out);
  g_signal_connect (process, "stderr", G_CALLBACK (append_cb), err);
  g_assert_true (sbx_process_start (process, NULL, NULL));

  test_wait_for (out->len == 4);
  g_assert_cmpint (sbx_process_get_state (process), ==, SBX_PROCESS_STATE_RUNNING);
  g_assert_cmpuint (err->len, ==, 0);

  g_assert_true (g_output_stream_write_all (sbx_process_get_stdin_pipe (process), "go\n", 3, NULL,
                                            NULL, NULL));
  result = sbx_process_wait (process, NULL, NULL);
  g_assert_true (sbx_exec_result_get_success (result));
  g_assert_cmpmem (out->data, out->len, "one\n", 4);
  g_assert_cmpmem (err->data, err->len, "two\n", 4);
}

/* All that was written is there, also when the command ends at once. */
static void
test_nothing_lost (void)
{
  g_autoptr(SbxSession) session = test_child_session_new ();
  g_autoptr(SbxCommand) command =
    test_command ("sh", "-c", "head -c 60000 /dev/zero; head -c 50000 /dev/zero >&2", NULL);

  for (guint i = 0; i < 20; i++)
    {
      g_autoptr(SbxExecResult) result = sbx_session_exec (session, command, NULL, NULL);

      g_assert_true (sbx_exec_result_get_success (result));
      g_assert_cmpuint (g_bytes_get_size (sbx_exec_result_get_stdout (result)), ==, 60000);
      g_assert_cmpuint (g_bytes_get_size (sbx_exec_result_get_stderr (result)), ==, 50000);
    }
}

static gboolean
push_thousand (GObject       *owner,
               SbxInvocation *invocation)
{
  g_autofree char *text = g_strnfill (250, 'x');
  g_autoptr(GBytes) bytes = g_bytes_new (text, 250);

  sbx_exec_invocation_started (SBX_EXEC_INVOCATION (invocation), NULL);
  for (guint i = 0; i < 4; i++)
    {
      sbx_exec_invocation_emit_stdout (SBX_EXEC_INVOCATION (invocation), bytes);
      sbx_exec_invocation_emit_stderr (SBX_EXEC_INVOCATION (invocation), bytes);
    }
  sbx_exec_invocation_return_exited (SBX_EXEC_INVOCATION (invocation), 0);

  return TRUE;
}

static void
check_collect (SbxSession *session,
               guint64     limit,
               gsize       kept)
{
  g_autoptr(SbxCommand) command =
    test_command ("sh", "-c", "head -c 1000 /dev/zero; head -c 1000 /dev/zero >&2", NULL);
  g_autoptr(SbxProcess) process = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  guint64 n_out = 0;
  guint64 n_err = 0;

  sbx_command_set_collect_limit (command, limit);
  process = sbx_session_create_process (session, command);
  g_signal_connect (process, "stdout", G_CALLBACK (count_cb), &n_out);
  g_signal_connect (process, "stderr", G_CALLBACK (count_cb), &n_err);
  result = sbx_process_run (process, NULL, NULL);

  g_assert_cmpuint (g_bytes_get_size (sbx_exec_result_get_stdout (result)), ==, kept);
  g_assert_cmpuint (g_bytes_get_size (sbx_exec_result_get_stderr (result)), ==, kept);
  g_assert_cmpuint (sbx_exec_result_get_stdout_truncated (result), ==, 1000 - kept);
  g_assert_cmpuint (sbx_exec_result_get_stderr_truncated (result), ==, 1000 - kept);
  g_assert_cmpuint (n_out, ==, 1000);
  g_assert_cmpuint (n_err, ==, 1000);
}

static void
test_collect (void)
{
  g_autoptr(SbxSession) child = test_child_session_new ();
  g_autoptr(TestSession) push = test_session_new (push_thousand);

  for (guint i = 0; i < 2; i++)
    {
      SbxSession *session = i == 0 ? child : SBX_SESSION (push);

      check_collect (session, 0, 0);
      check_collect (session, 1, 1);
      check_collect (session, 600, 600);
      check_collect (session, 1000, 1000);
      check_collect (session, G_MAXUINT64, 1000);
    }
}

static gsize
waiting_in (GInputStream *pipe)
{
  int n = 0;

  g_assert_cmpint (ioctl (g_unix_input_stream_get_fd (G_UNIX_INPUT_STREAM (pipe)), FIONREAD, &n),
                   ==, 0);

  return (gsize) n;
}

typedef struct
{
  GByteArray   *bytes;
  gboolean      ended;
  guint8        chunk[16 * 1024];
} Reading;

static void
read_cb (GObject      *object,
         GAsyncResult *result,
         gpointer      user_data)
{
  Reading *reading = user_data;
  g_autoptr(GError) error = NULL;
  const gssize n = g_input_stream_read_finish (G_INPUT_STREAM (object), result, &error);

  g_assert_no_error (error);
  if (n == 0)
    {
      reading->ended = TRUE;
      return;
    }

  g_byte_array_append (reading->bytes, reading->chunk, (guint) n);
  g_input_stream_read_async (G_INPUT_STREAM (object), reading->chunk, sizeof reading->chunk,
                             G_PRIORITY_DEFAULT, NULL, read_cb, reading);
}

/* Reads all of it, and gives it back. */
static GByteArray *
read_all (GInputStream *pipe)
{
  Reading reading = { g_byte_array_new (), FALSE, };

  g_input_stream_read_async (pipe, reading.chunk, sizeof reading.chunk, G_PRIORITY_DEFAULT, NULL,
                             read_cb, &reading);
  test_wait_for (reading.ended);

  return reading.bytes;
}

static void
assert_zeros (GByteArray *bytes,
              gsize       size)
{
  g_assert_cmpuint (bytes->len, ==, size);
  for (guint i = 0; i < bytes->len; i++)
    if (bytes->data[i] != 0)
      g_error ("Byte %u is %u", i, bytes->data[i]);
}

static void
must_not_emit (SbxProcess *process,
               GBytes     *bytes,
               gpointer    user_data)
{
  g_assert_not_reached ();
}

/* A command that writes faster than is read is made to wait by the kernel. */
static void
test_pipe_child (void)
{
  const gsize size = 1024 * 1024;
  g_autoptr(SbxSession) session = test_child_session_new ();
  g_autoptr(SbxCommand) command = test_command ("head", "-c", "1048576", "/dev/zero", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
  GInputStream *pipe = sbx_process_get_stdout_pipe (process);
  g_autoptr(GByteArray) bytes = NULL;
  g_autoptr(SbxExecResult) result = NULL;

  g_assert_true (G_IS_UNIX_INPUT_STREAM (pipe));
  g_assert_true (sbx_process_get_stdout_pipe (process) == pipe);
  g_signal_connect (process, "stdout", G_CALLBACK (must_not_emit), NULL);
  g_assert_true (sbx_process_start (process, NULL, NULL));
  g_assert_true (sbx_process_get_stdout_pipe (process) == pipe);
  g_assert_null (sbx_process_get_stderr_pipe (process));

  test_poll_for (waiting_in (pipe) == 64 * 1024);
  test_run_ready ();
  g_assert_cmpint (sbx_process_get_state (process), ==, SBX_PROCESS_STATE_RUNNING);

  bytes = read_all (pipe);
  assert_zeros (bytes, size);

  result = sbx_process_wait (process, NULL, NULL);
  g_assert_true (sbx_exec_result_get_success (result));
  g_assert_cmpuint (g_bytes_get_size (sbx_exec_result_get_stdout (result)), ==, 0);
  g_assert_cmpuint (sbx_exec_result_get_stdout_truncated (result), ==, 0);
}

/* An end that is told before all was read. What was written is still there. */
static void
test_pipe_after_end (void)
{
  g_autoptr(SbxSession) session = test_child_session_new ();
  g_autoptr(SbxCommand) command = test_command ("head", "-c", "50000", "/dev/zero", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
  g_autoptr(GInputStream) pipe = g_object_ref (sbx_process_get_stdout_pipe (process));
  g_autoptr(SbxExecResult) result = sbx_process_run (process, NULL, NULL);
  g_autoptr(GByteArray) bytes = NULL;

  g_assert_true (sbx_exec_result_get_success (result));
  test_assert_finalizes (process);
  bytes = read_all (pipe);
  assert_zeros (bytes, 50000);
}

typedef struct
{
  SbxExecInvocation *invocation;
  GBytes            *chunk;
  gsize              left;
  guint              n_credits;
  gint64             least;
} Push;

/* As an implementation should that has much to say. */
static void
push_more (Push *push)
{
  while (push->left > 0 && sbx_exec_invocation_get_credit (push->invocation) > 0)
    {
      sbx_exec_invocation_emit_stdout (push->invocation, push->chunk);
      push->left -= g_bytes_get_size (push->chunk);
      push->least = MIN (push->least, sbx_exec_invocation_get_credit (push->invocation));
    }

  if (push->left == 0 && !sbx_invocation_is_answered (SBX_INVOCATION (push->invocation)))
    sbx_exec_invocation_return_exited (push->invocation, 0);
}

static void
credit_cb (SbxExecInvocation *invocation,
           Push              *push)
{
  push->n_credits++;
  push_more (push);
}

static void
test_pipe_push (void)
{
  const gsize size = 4 * 1024 * 1024;
  g_autoptr(TestSession) session = test_session_new (test_start_and_keep);
  g_autoptr(SbxCommand) command = test_command ("write", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (SBX_SESSION (session), command);
  g_autofree guint8 *zeros = g_malloc0 (10000);
  g_autoptr(GBytes) chunk = g_bytes_new (zeros, 8192);
  GInputStream *pipe = sbx_process_get_stdout_pipe (process);
  g_autoptr(GByteArray) bytes = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  Push push = { NULL, chunk, size, 0, G_MAXINT64 };

  g_signal_connect (process, "stdout", G_CALLBACK (must_not_emit), NULL);
  g_assert_true (sbx_process_start (process, NULL, NULL));
  push.invocation = SBX_EXEC_INVOCATION (session->kept);
  g_signal_connect (push.invocation, "credit", G_CALLBACK (credit_cb), &push);
  g_assert_cmpint (sbx_exec_invocation_get_credit (push.invocation), ==, 1024 * 1024);

  push_more (&push);
  test_run_ready ();
  g_assert_cmpuint (push.n_credits, ==, 0);
  g_assert_cmpuint (size - push.left, ==, 1024 * 1024 + 64 * 1024);

  bytes = read_all (pipe);
  assert_zeros (bytes, size);
  g_assert_cmpuint (push.n_credits, >=, 3);
  g_assert_cmpint (push.least, >, -8192);

  result = sbx_process_wait (process, NULL, NULL);
  g_assert_cmpuint (g_bytes_get_size (sbx_exec_result_get_stdout (result)), ==, 0);
}

/* One that does not wait has its call ended, with a reason, before memory is at an end. */
static void
test_pipe_flood (void)
{
  g_autoptr(TestSession) session = test_session_new (test_start_and_keep);
  g_autoptr(SbxCommand) command = test_command ("write", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (SBX_SESSION (session), command);
  g_autofree guint8 *zeros = g_malloc0 (1024 * 1024);
  g_autoptr(GBytes) chunk = g_bytes_new (zeros, 1024 * 1024);
  g_autoptr(GAsyncResult) done = NULL;
  g_autoptr(GError) error = NULL;
  guint n = 0;

  g_assert_nonnull (sbx_process_get_stderr_pipe (process));
  sbx_process_run_async (process, NULL, test_store_result, &done);

  while (!sbx_invocation_is_answered (session->kept) && n < 1000)
    {
      sbx_exec_invocation_emit_stderr (SBX_EXEC_INVOCATION (session->kept), chunk);
      n++;
    }

  g_assert_cmpuint (n, >=, 64);
  g_assert_cmpuint (n, <=, 66);
  g_assert_true (g_cancellable_is_cancelled (sbx_invocation_get_cancellable (session->kept)));
  test_wait_for (done != NULL);
  g_assert_null (sbx_process_run_finish (process, done, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE);

  /* How it ended comes too late. */
  sbx_exec_invocation_return_exited (SBX_EXEC_INVOCATION (session->kept), 0);
}

/* A reader that goes away: the command meets a broken pipe, as in a shell. */
static void
test_reader_gone_child (void)
{
  g_autoptr(SbxSession) session = test_child_session_new ();
  g_autoptr(SbxCommand) command = test_command ("yes", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
  GInputStream *pipe = sbx_process_get_stdout_pipe (process);
  g_autoptr(SbxExecResult) result = NULL;
  char byte;

  g_assert_true (sbx_process_start (process, NULL, NULL));
  test_poll_for (waiting_in (pipe) > 0);
  g_assert_cmpint (g_input_stream_read (pipe, &byte, 1, NULL, NULL), ==, 1);
  g_assert_true (g_input_stream_close (pipe, NULL, NULL));
  result = sbx_process_wait (process, NULL, NULL);
  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_SIGNALLED);
  g_assert_cmpint (sbx_exec_result_get_signal (result), ==, SIGPIPE);
}

/* And an implementation that waits for it goes on, into nowhere. */
static void
test_reader_gone_push (void)
{
  const gsize size = 8 * 1024 * 1024;
  g_autoptr(TestSession) session = test_session_new (test_start_and_keep);
  g_autoptr(SbxCommand) command = test_command ("write", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (SBX_SESSION (session), command);
  g_autofree guint8 *zeros = g_malloc0 (65536);
  g_autoptr(GBytes) chunk = g_bytes_new (zeros, 65536);
  GInputStream *pipe = sbx_process_get_stdout_pipe (process);
  g_autoptr(SbxExecResult) result = NULL;
  Push push = { NULL, chunk, size, 0, G_MAXINT64 };

  g_assert_true (sbx_process_start (process, NULL, NULL));
  push.invocation = SBX_EXEC_INVOCATION (session->kept);
  g_signal_connect (push.invocation, "credit", G_CALLBACK (credit_cb), &push);
  push_more (&push);
  g_assert_cmpuint (push.left, >, 0);

  g_assert_true (g_input_stream_close (pipe, NULL, NULL));
  result = sbx_process_wait (process, NULL, NULL);
  g_assert_true (sbx_exec_result_get_success (result));
  g_assert_cmpuint (push.left, ==, 0);
}

static GInputStream *
leave_unread (gsize size)
{
  g_autoptr(TestSession) session = test_session_new (test_start_and_keep);
  g_autoptr(SbxCommand) command = test_command ("write", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (SBX_SESSION (session), command);
  g_autofree guint8 *zeros = g_malloc0 (size);
  g_autoptr(GBytes) bytes = g_bytes_new (zeros, size);
  g_autoptr(GInputStream) pipe = g_object_ref (sbx_process_get_stdout_pipe (process));
  g_autoptr(SbxExecResult) result = NULL;

  g_assert_true (sbx_process_start (process, NULL, NULL));
  sbx_exec_invocation_emit_stdout (SBX_EXEC_INVOCATION (session->kept), bytes);
  sbx_exec_invocation_return_exited (SBX_EXEC_INVOCATION (session->kept), 0);
  result = sbx_process_wait (process, NULL, NULL);
  g_clear_object (&session->kept);
  test_assert_finalizes (process);

  return g_steal_pointer (&pipe);
}

/* What waits in front of a pipe outlives the process, for whoever holds the pipe. */
static void
test_remainder (void)
{
  const guint n_before = count_descriptors ();
  g_autoptr(GInputStream) pipe = leave_unread (500000);
  g_autoptr(GByteArray) bytes = read_all (pipe);

  assert_zeros (bytes, 500000);
  g_clear_object (&pipe);
  test_run_ready ();
  g_assert_cmpuint (count_descriptors (), ==, n_before);

  /* And nobody who does not. */
  pipe = leave_unread (500000);
  g_assert_cmpuint (count_descriptors (), ==, n_before + 2);
  g_clear_object (&pipe);
  test_poll_for (count_descriptors () == n_before);
}

static int kept_fd = -1;

static gboolean
write_and_keep_open (GObject       *owner,
                     SbxInvocation *invocation)
{
  g_autofree char *text = g_strnfill (300000, 'x');

  kept_fd = sbx_exec_invocation_steal_stdout_fd (SBX_EXEC_INVOCATION (invocation));
  g_assert_cmpint (fcntl (kept_fd, F_SETPIPE_SZ, 1024 * 1024), ==, 1024 * 1024);
  g_assert_cmpint (write (kept_fd, text, 300000), ==, 300000);
  sbx_exec_invocation_started (SBX_EXEC_INVOCATION (invocation), NULL);
  sbx_exec_invocation_return_exited (SBX_EXEC_INVOCATION (invocation), 0);

  /* One is made for each output, and handed out once. */
  g_assert_cmpint (sbx_exec_invocation_steal_stdout_fd (SBX_EXEC_INVOCATION (invocation)), ==, -1);
  g_assert_cmpint (errno, ==, EBADF);

  return TRUE;
}

/* Somebody holds the other end for ever. The process ends all the same, with all that was in it. */
static void
test_end_held_open (void)
{
  g_autoptr(TestSession) session = test_session_new (write_and_keep_open);
  g_autoptr(SbxCommand) command = test_command ("write", NULL);
  g_autoptr(SbxExecResult) result = sbx_session_exec (SBX_SESSION (session), command, NULL, NULL);

  g_assert_cmpuint (g_bytes_get_size (sbx_exec_result_get_stdout (result)), ==, 300000);
  close (kept_fd);
}

static void
block_cb (SbxProcess *process,
          GBytes     *bytes,
          guint      *n_blocks)
{
  /* Longer than the library waits for the end of the output. */
  if ((*n_blocks)++ == 0)
    g_usleep (1200 * 1000);
}

static void
test_slow_handler (void)
{
  g_autoptr(TestSession) session = test_session_new (write_and_keep_open);
  g_autoptr(SbxCommand) command = test_command ("write", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (SBX_SESSION (session), command);
  g_autoptr(SbxExecResult) result = NULL;
  guint64 n_out = 0;
  guint n_blocks = 0;

  g_signal_connect (process, "stdout", G_CALLBACK (block_cb), &n_blocks);
  g_signal_connect (process, "stdout", G_CALLBACK (count_cb), &n_out);
  result = sbx_process_run (process, NULL, NULL);
  close (kept_fd);
  g_assert_cmpuint (n_out, ==, 300000);
  g_assert_cmpuint (g_bytes_get_size (sbx_exec_result_get_stdout (result)), ==, 300000);
}

#define TICK_US 5000

typedef struct
{
  gint64 due;
  guint  n_ticks;
  guint  n_late;         /* chunks that went before a tick that was due */
  guint64 n_bytes;
} Ticking;

static gboolean
tick_cb (gpointer user_data)
{
  Ticking *ticking = user_data;

  /* One of each stream is delivered in one round, and there may have been one before. */
  g_assert_cmpuint (ticking->n_late, <=, 4);
  ticking->n_ticks++;
  ticking->n_late = 0;
  ticking->due = g_get_monotonic_time () + TICK_US;

  return G_SOURCE_CONTINUE;
}

static void
chunk_cb (SbxProcess *process,
          GBytes     *bytes,
          Ticking    *ticking)
{
  if (g_get_monotonic_time () > ticking->due)
    ticking->n_late++;

  ticking->n_bytes += g_bytes_get_size (bytes);
}

/* However much comes, the rest of the application has its turn. */
static void
test_fair (void)
{
  g_autoptr(SbxSession) session = test_child_session_new ();
  g_autoptr(SbxCommand) command =
    test_command ("sh", "-c", "head -c 33554432 /dev/zero & head -c 33554432 /dev/zero >&2; wait",
                  NULL);
  g_autoptr(SbxProcess) process = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  Ticking ticking = { g_get_monotonic_time () + TICK_US, };
  guint tick;

  process = sbx_session_create_process (session, command);
  g_signal_connect (process, "stdout", G_CALLBACK (chunk_cb), &ticking);
  g_signal_connect (process, "stderr", G_CALLBACK (chunk_cb), &ticking);
  tick = g_timeout_add (TICK_US / 1000, tick_cb, &ticking);
  result = sbx_process_run (process, NULL, NULL);
  g_source_remove (tick);

  g_assert_true (sbx_exec_result_get_success (result));
  g_assert_cmpuint (ticking.n_bytes, ==, 64 * 1024 * 1024);
  g_assert_cmpuint (ticking.n_ticks, >, 0);
  g_assert_cmpuint (g_bytes_get_size (sbx_exec_result_get_stdout (result)), ==, 16 * 1024 * 1024);
  g_assert_cmpuint (sbx_exec_result_get_stdout_truncated (result), ==, 16 * 1024 * 1024);
}

static void
test_cancel_stream (void)
{
  g_autoptr(SbxSession) session = test_child_session_new ();
  g_autoptr(SbxCommand) command = test_command ("yes", NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GAsyncResult) done = NULL;
  g_autoptr(GError) error = NULL;
  guint64 n_out = 0;

  g_signal_connect (process, "stdout", G_CALLBACK (count_cb), &n_out);
  sbx_process_run_async (process, cancellable, test_store_result, &done);
  test_wait_for (n_out > 1024 * 1024);
  g_cancellable_cancel (cancellable);
  test_wait_for (done != NULL);
  g_assert_null (sbx_process_run_finish (process, done, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpint (sbx_exec_result_get_signal (sbx_process_get_result (process)), ==, SIGKILL);
}

static void
test_no_descriptors_left (void)
{
  const guint n_before = count_descriptors ();

  for (guint i = 0; i < 3; i++)
    {
      g_autoptr(SbxSession) session = test_child_session_new ();
      g_autoptr(SbxCommand) command = test_command ("cat", NULL);
      g_autoptr(GBytes) bytes = g_bytes_new_static ("text", 4);
      g_autoptr(SbxProcess) unused = NULL;
      g_autoptr(SbxExecResult) result = NULL;

      sbx_command_set_stdin_bytes (command, bytes);
      unused = sbx_session_create_process (session, command);
      g_assert_nonnull (sbx_process_get_stdout_pipe (unused));
      result = sbx_session_exec (session, command, NULL, NULL);
      test_assert_bytes (sbx_exec_result_get_stdout (result), "text");
    }

  test_run_ready ();
  g_assert_cmpuint (count_descriptors (), ==, n_before);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  /* What GLib opens for itself is open from here on. */
  g_assert_true (g_spawn_command_line_sync ("true", NULL, NULL, NULL, NULL));

  g_test_add_func ("/core/output/as-it-comes", test_as_it_comes);
  g_test_add_func ("/core/output/nothing-lost", test_nothing_lost);
  g_test_add_func ("/core/output/collect", test_collect);
  g_test_add_func ("/core/output/pipe/child", test_pipe_child);
  g_test_add_func ("/core/output/pipe/after-end", test_pipe_after_end);
  g_test_add_func ("/core/output/pipe/push", test_pipe_push);
  g_test_add_func ("/core/output/pipe/flood", test_pipe_flood);
  g_test_add_func ("/core/output/reader-gone/child", test_reader_gone_child);
  g_test_add_func ("/core/output/reader-gone/push", test_reader_gone_push);
  g_test_add_func ("/core/output/remainder", test_remainder);
  g_test_add_func ("/core/output/end-held-open", test_end_held_open);
  g_test_add_func ("/core/output/slow-handler", test_slow_handler);
  g_test_add_func ("/core/output/fair", test_fair);
  g_test_add_func ("/core/output/cancel-stream", test_cancel_stream);
  g_test_add_func ("/core/output/no-descriptors-left", test_no_descriptors_left);

  return g_test_run ();
}
