/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "session-util.h"

#include <fcntl.h>
#include <sys/resource.h>

/* Output and input that are not read as fast as they are written, and what happens when this
 * program itself has no descriptor left. */

#define MIB (1024 * 1024)

static gint64
get_memory (void)
{
  g_autofree char *text = NULL;
  const char *line;

  g_assert_true (g_file_get_contents ("/proc/self/status", &text, NULL, NULL));
  line = strstr (text, "VmRSS:");
  g_assert_nonnull (line);

  return g_ascii_strtoll (line + strlen ("VmRSS:"), NULL, 10) * 1024;
}

#ifndef __has_feature
#define __has_feature(x) 0
#endif

/* What checks memory keeps what was freed for a while. */
static gboolean
is_memory_checked (void)
{
#if defined (__SANITIZE_ADDRESS__) || __has_feature (address_sanitizer)
  return TRUE;
#else
  g_autofree char *maps = NULL;

  return g_file_get_contents ("/proc/self/maps", &maps, NULL, NULL) &&
         strstr (maps, "vgpreload") != NULL;
#endif
}

static void
assert_memory_flat (gint64 before)
{
  g_test_message ("grew by %d KiB", (int) ((get_memory () - before) / 1024));
  if (!is_memory_checked ())
    g_assert_cmpint (get_memory () - before, <, 16 * MIB);
}

static void
store_run (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  SbxExecResult **stored = user_data;
  g_autoptr(GError) error = NULL;

  *stored = sbx_process_run_finish (SBX_PROCESS (object), result, &error);
  g_assert_no_error (error);
}

typedef struct
{
  GInputStream *pipe;
  guint8        chunk[64 * 1024];
  guint64       total;
  guint64       limit;
  gboolean      ended;
} Reader;

static void
read_cb (GObject      *object,
         GAsyncResult *result,
         gpointer      user_data)
{
  Reader *self = user_data;
  g_autoptr(GError) error = NULL;
  const gssize n = g_input_stream_read_finish (self->pipe, result, &error);

  g_assert_no_error (error);
  self->total += n;
  self->ended = n == 0 || self->total >= self->limit;
  if (!self->ended)
    g_input_stream_read_async (self->pipe, self->chunk, sizeof self->chunk, G_PRIORITY_DEFAULT,
                               NULL, read_cb, self);
}

static void
read_until (Reader  *self,
            guint64  limit)
{
  self->limit = limit;
  self->ended = FALSE;
  g_input_stream_read_async (self->pipe, self->chunk, sizeof self->chunk, G_PRIORITY_DEFAULT,
                             NULL, read_cb, self);
  test_wait_for (self->ended);
}

/* A pipe has back-pressure: the command waits, and nothing is kept here meanwhile. */
static void
test_slow_reader (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autoptr(SbxCommand) command = shell ("head -c 300M /dev/zero; echo done >&2");
  g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
  g_autoptr(SbxExecResult) result = NULL;
  g_autofree Reader *reader = g_new0 (Reader, 1);
  g_autofree char *err = NULL;
  gint64 memory;

  reader->pipe = sbx_process_get_stdout_pipe (process);
  sbx_process_run_async (process, NULL, store_run, &result);
  read_until (reader, 1000);
  memory = get_memory ();

  /* Other things go on meanwhile; the command cannot. */
  for (guint i = 0; i < 20; i++)
    {
      g_autofree char *output = shell_output (session, "echo x");

      g_assert_cmpstr (output, ==, "x\n");
    }
  g_assert_null (result);

  read_until (reader, G_MAXUINT64);
  test_wait_for (result != NULL);
  g_assert_cmpuint (reader->total, ==, 300u * MIB);
  assert_exited_with (result, 0);
  err = bytes_to_text (sbx_exec_result_get_stderr (result));
  g_assert_cmpstr (err, ==, "done\n");
  assert_memory_flat (memory);
  close_session (session);
}

/* What nobody reads any more ends the command as it ends any other. */
static void
test_reader_goes_away (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autoptr(SbxCommand) command = shell ("exec cat /dev/zero");
  g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
  g_autoptr(SbxExecResult) result = NULL;
  g_autofree Reader *reader = g_new0 (Reader, 1);

  reader->pipe = sbx_process_get_stdout_pipe (process);
  sbx_process_run_async (process, NULL, store_run, &result);
  read_until (reader, MIB);
  g_assert_true (g_input_stream_close (reader->pipe, NULL, NULL));
  test_wait_for (result != NULL);
  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_SIGNALLED);
  g_assert_cmpint (sbx_exec_result_get_signal (result), ==, SIGPIPE);
  close_session (session);
}

/* No more is kept than was asked for. */
static void
test_collect_limit (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autoptr(SbxCommand) command = shell ("head -c 200M /dev/zero; printf end >&2");
  g_autoptr(SbxExecResult) result = NULL;
  const gint64 memory = get_memory ();

  sbx_command_set_collect_limit (command, 1000);
  result = run_command (session, command);
  assert_exited_with (result, 0);
  g_assert_cmpint (g_bytes_get_size (sbx_exec_result_get_stdout (result)), ==, 1000);
  g_assert_cmpuint (sbx_exec_result_get_stdout_truncated (result), ==, 200u * MIB - 1000);
  g_assert_cmpint (g_bytes_get_size (sbx_exec_result_get_stderr (result)), ==, 3);
  assert_memory_flat (memory);
  close_session (session);
}

static void
test_large_input (void)
{
  enum { SIZE = 20 * MIB };
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autofree char *data = g_strnfill (SIZE, 'i');
  g_autoptr(GBytes) bytes = g_bytes_new_static (data, SIZE);
  struct { const char *script; const char *seen; } const cases[] = {
    { "wc -c", "20971520\n" },
    { "head -c 3", "iii" },
    { "exec <&-; echo closed", "closed\n" },
    { "true", "" },
    { "sleep 0.2; head -c 100000 | wc -c", "100000\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(SbxCommand) command = shell (cases[i].script);
      g_autoptr(SbxExecResult) result = NULL;
      g_autofree char *output = NULL;

      sbx_command_set_stdin_bytes (command, bytes);
      result = run_command (session, command);
      assert_exited_with (result, 0);
      output = bytes_to_text (sbx_exec_result_get_stdout (result));
      g_assert_cmpstr (output, ==, cases[i].seen);
    }

  close_session (session);
}

static void
wrote_cb (GObject      *object,
          GAsyncResult *result,
          gpointer      user_data)
{
  GError **error = user_data;

  g_output_stream_write_all_finish (G_OUTPUT_STREAM (object), result, NULL, error);
  if (*error == NULL)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_FAILED, "It came through");
}

/* A pipe to a command that does not read waits, and breaks with the command's end. */
static void
test_unread_input (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autoptr(SbxCommand) command = shell ("echo ready; sleep 0.2; exit 4");
  g_autoptr(SbxProcess) process = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *data = g_strnfill (MIB, 'x');

  sbx_command_set_stdin (command, SBX_STDIN_PIPE);
  process = sbx_session_create_process (session, command);
  sbx_process_run_async (process, NULL, store_run, &result);
  g_output_stream_write_all_async (sbx_process_get_stdin_pipe (process), data, MIB,
                                   G_PRIORITY_DEFAULT, NULL, wrote_cb, &error);
  test_wait_for (result != NULL);
  assert_exited_with (result, 4);
  test_wait_for (error != NULL);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE);
  close_session (session);
}

/* Uses up all descriptors but @left. */
static GArray *
use_up (guint left)
{
  GArray *fds = g_array_new (FALSE, FALSE, sizeof (int));
  int fd;

  while ((fd = open ("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
    g_array_append_val (fds, fd);

  for (guint i = 0; i < left && fds->len > 0; i++)
    {
      close (g_array_index (fds, int, fds->len - 1));
      g_array_set_size (fds, fds->len - 1);
    }

  return fds;
}

static void
give_back (GArray *fds)
{
  for (guint i = 0; i < fds->len; i++)
    close (g_array_index (fds, int, i));
  g_array_unref (fds);
}

static void
try_with (Place      *place,
          SbxSession *session,
          guint       left)
{
  GArray *fds = use_up (left);
  g_autoptr(SbxOpenRequest) request = place_request (place);
  g_autoptr(GError) open_error = NULL;
  g_autoptr(GError) exec_error = NULL;
  g_autoptr(GError) read_error = NULL;
  g_autoptr(SbxSession) opened = NULL;
  g_autoptr(SbxCommand) command = shell ("echo hi");
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GBytes) bytes = NULL;

  opened = sbx_provider_open (SBX_PROVIDER (place->provider), request, NULL, &open_error);
  result = sbx_session_exec (session, command, NULL, &exec_error);
  bytes = sbx_session_read_file (session, "/etc/passwd", 0, NULL, &read_error);
  give_back (fds);

  g_test_message ("%u left: open: %s; exec: %s; read: %s", left,
                  open_error != NULL ? open_error->message : "ok",
                  exec_error != NULL ? exec_error->message
                                     : sbx_exec_result_get_message (result),
                  read_error != NULL ? read_error->message : "ok");

  /* The cause is named, and no other is made up. */
  if (open_error != NULL)
    g_assert_nonnull (strstr (open_error->message, "oo many open files"));
  if (exec_error != NULL)
    g_assert_nonnull (strstr (exec_error->message, "oo many open files"));
  else if (sbx_exec_result_get_outcome (result) == SBX_EXEC_OUTCOME_NOT_STARTED)
    g_assert_cmpint (sbx_exec_result_get_not_started (result), ==, SBX_NOT_STARTED_RESOURCES);
  else
    assert_exited_with (result, 0);
  if (read_error != NULL)
    g_assert_nonnull (strstr (read_error->message, "oo many open files"));

  if (opened != NULL)
    close_session (opened);
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

static void
test_descriptors (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  struct rlimit before;
  struct rlimit low;
  guint n_before = 0;

  close_session (session);
  g_clear_object (&session);
  session = place_open (place);
  g_free (shell_output (session, "true"));

  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &before), ==, 0);
  low = before;
  low.rlim_cur = 300;

  /* What a session opens for itself only later, to watch what is written, is there after the first
   * round. */
  for (guint round = 0; round < 2; round++)
    {
      g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &low), ==, 0);
      for (guint left = 0; left < 220; left += left < 90 && round == 0 ? 1 : 10)
        {
          g_autofree char *output = NULL;

          try_with (place, session, left);

          /* All works again, and nothing was lost on the way. */
          output = shell_output (session, "echo again");
          g_assert_cmpstr (output, ==, "again\n");
        }
      g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &before), ==, 0);

      while (g_main_context_iteration (NULL, FALSE))
        ;
      if (round == 0)
        n_before = count_descriptors ();
    }

  /* What could not even be removed for want of a descriptor was removed by a later open. */
  g_assert_cmpint (count_sessions (place->data), ==, 1);

  /* What a worker of the first session still had open may be gone by now. */
  g_assert_cmpint (count_descriptors (), <=, n_before);
  close_session (session);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  adopt_orphans ();
  signal (SIGPIPE, SIG_IGN);

  g_test_add_func ("/session/streams/slow-reader", test_slow_reader);
  g_test_add_func ("/session/streams/reader-goes-away", test_reader_goes_away);
  g_test_add_func ("/session/streams/collect-limit", test_collect_limit);
  g_test_add_func ("/session/streams/large-input", test_large_input);
  g_test_add_func ("/session/streams/unread-input", test_unread_input);
  g_test_add_func ("/session/streams/descriptors", test_descriptors);

  return g_test_run ();
}
