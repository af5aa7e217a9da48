/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "wire-pipe.h"
#include "wire/sbx-wire-writer-private.h"

#include <signal.h>
#include <sys/wait.h>

/* A writer on one end of a pipe; the test reads the other end by itself. */
typedef struct
{
  SbxWireWriter *writer;
  int            fd;
  guint          n_drained;
  guint          n_failed;
  GError        *error;
  gboolean       free_in_func;
  gboolean       in_call;       /* the function must not be called from within another */
} Output;

static void
output_cb (SbxWireWriter *writer,
           const GError  *error,
           gpointer       user_data)
{
  Output *self = user_data;

  g_assert_true (writer == self->writer);
  g_assert_false (self->in_call);

  if (error == NULL)
    self->n_drained++;
  else
    {
      g_assert_cmpuint (self->n_failed++, ==, 0);
      self->error = g_error_copy (error);
    }

  if (self->free_in_func)
    g_clear_pointer (&self->writer, _sbx_wire_writer_free);
}

static void
output_init (Output *self)
{
  int fds[2];

  g_assert_true (g_unix_open_pipe (fds, FD_CLOEXEC, NULL));
  g_assert_true (g_unix_set_fd_nonblocking (fds[0], TRUE, NULL));
  *self = (Output) { .fd = fds[0] };
  self->writer = _sbx_wire_writer_new (fds[1], NULL, output_cb, self);
}

static void
output_clear (Output *self)
{
  if (self->fd >= 0)
    close (self->fd);

  g_clear_pointer (&self->writer, _sbx_wire_writer_free);
  g_clear_error (&self->error);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Output, output_clear)

/* Reads what is there, up to @n bytes. */
static char *
output_read (Output *self,
             gsize   n,
             gsize  *length)
{
  g_autofree char *bytes = g_malloc (n + 1);
  gsize at = 0;

  while (at < n)
    {
      const gssize m = read (self->fd, bytes + at, n - at);

      if (m <= 0)
        break;

      at += (gsize) m;
    }

  bytes[at] = '\0';
  if (length != NULL)
    *length = at;

  return g_steal_pointer (&bytes);
}

static void
assert_output (Output     *self,
               const char *expected)
{
  g_autofree char *text = output_read (self, 64 * 1024, NULL);

  g_assert_cmpstr (text, ==, expected);
}

static SbxWireMessage *
message_new (const char *text)
{
  SbxWireMessage *message = _sbx_wire_message_new ();

  g_string_append (_sbx_wire_message_get_text (message), text);

  return message;
}

static guint64
push (Output         *self,
      SbxWireMessage *message)
{
  guint64 number;

  self->in_call = TRUE;
  number = _sbx_wire_writer_push (self->writer, message);
  self->in_call = FALSE;

  return number;
}

static SbxWireMessage *
payload_message (gsize size)
{
  g_autoptr(SbxWireMessage) message = message_new ("{\"p\":{\"x_base64\":");
  guint8 *bytes = g_malloc (MAX (size, 1));
  g_autoptr(GBytes) content = NULL;

  for (gsize i = 0; i < size; i++)
    bytes[i] = (guint8) (i * 7 + i / 251);

  content = g_bytes_new_take (bytes, size);
  _sbx_wire_message_append_payload (message, content);
  g_string_append (_sbx_wire_message_get_text (message), "}}");

  return g_steal_pointer (&message);
}

/* More than a pipe takes. */
static guint64
push_much (Output *self)
{
  return push (self, payload_message (4 * 1024 * 1024));
}

static void
assert_message (SbxWireMessage *message,
                const char     *expected)
{
  g_autoptr(GBytes) bytes = _sbx_wire_message_to_bytes (message);

  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), expected,
                   strlen (expected));
  g_assert_cmpuint (_sbx_wire_message_get_size (message), ==, strlen (expected));
}

static void
test_message (void)
{
  g_autoptr(SbxWireMessage) message = message_new ("{\"a\":");
  g_autoptr(GBytes) content = g_bytes_new_static ("AB", 2);
  g_autoptr(GBytes) nothing = g_bytes_new_static ("", 0);

  _sbx_wire_message_append_string (message,
                                   "q\" b\\ /\b\f\n\r\t\001\037\177 \xc3\xa9 \xe2\x82\xac");
  g_string_append (_sbx_wire_message_get_text (message), ",\"b\":");
  _sbx_wire_message_append_payload (message, content);
  g_string_append (_sbx_wire_message_get_text (message), ",\"c\":");
  _sbx_wire_message_append_payload (message, nothing);
  g_string_append (_sbx_wire_message_get_text (message), ",\"d\":");
  _sbx_wire_message_append_payload (message, content);
  _sbx_wire_message_append_string (message, "");

  assert_message (message, "{\"a\":\"q\\\" b\\\\ /\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f \xc3\xa9 "
                           "\xe2\x82\xac\",\"b\":\"QUI=\",\"c\":\"\",\"d\":\"QUI=\"\"\"\n");
}

/* What a message says is what the gate reads, whatever is in the string. */
static void
test_message_strings (void)
{
  for (gunichar c = 1; c < 0x3000; c++)
    {
      g_autoptr(SbxWireMessage) message = message_new ("{\"id\":");
      g_autoptr(SbxWireLine) line = NULL;
      g_autoptr(GBytes) bytes = NULL;
      const char *value = NULL;
      char text[8] = "";

      text[g_unichar_to_utf8 (c, text)] = '\0';
      _sbx_wire_message_append_string (message, text);
      g_string_append (_sbx_wire_message_get_text (message), "}");
      bytes = _sbx_wire_message_to_bytes (message);
      line = _sbx_wire_line_new (bytes);
      g_assert_no_error (_sbx_wire_line_get_error (line));
      _sbx_json_object_get_string (_sbx_wire_line_get_object (line), "id", &value);
      g_assert_cmpstr (value, ==, text);
    }
}

static void
test_at_once (void)
{
  g_auto(Output) output = { .fd = -1 };
  guint64 number;

  output_init (&output);
  number = push (&output, message_new ("{}"));
  assert_output (&output, "{}\n");
  g_assert_true (_sbx_wire_writer_is_written (output.writer, number));
  g_assert_false (_sbx_wire_writer_is_written (output.writer, number + 1));
  g_assert_false (_sbx_wire_writer_withdraw (output.writer, number));
  g_assert_cmpuint (_sbx_wire_writer_get_waiting (output.writer), ==, 0);

  /* Nothing waited, so there is nothing to tell. */
  wire_pipe_settle ();
  g_assert_cmpuint (output.n_drained, ==, 0);
}

static void
test_waiting (void)
{
  g_auto(Output) output = { .fd = -1 };
  const gsize size = 4 * 1024 * 1024;
  g_autoptr(SbxWireMessage) same = payload_message (size);
  g_autoptr(GBytes) expected = _sbx_wire_message_to_bytes (same);
  g_autoptr(GString) all = g_string_new (NULL);
  guint64 first;
  guint64 second;

  output_init (&output);
  first = push (&output, payload_message (size));
  second = push (&output, message_new ("{\"id\":\"b\"}"));
  g_assert_cmpuint (second, >, first);
  g_assert_false (_sbx_wire_writer_is_written (output.writer, first));
  g_assert_cmpuint (_sbx_wire_writer_get_waiting (output.writer), <, g_bytes_get_size (expected));
  g_assert_cmpuint (_sbx_wire_writer_get_waiting (output.writer), >, size / 4);

  /* It does not turn while the other side does not read. */
  wire_pipe_settle ();
  g_assert_false (g_main_context_pending (NULL));

  while (output.n_drained == 0)
    {
      gsize n;
      g_autofree char *part = output_read (&output, 100 * 1000, &n);

      g_string_append_len (all, part, (gssize) n);
      g_main_context_iteration (NULL, FALSE);
    }

  g_assert_true (_sbx_wire_writer_is_written (output.writer, first));
  g_assert_true (_sbx_wire_writer_is_written (output.writer, second));
  g_assert_cmpuint (_sbx_wire_writer_get_waiting (output.writer), ==, 0);

  for (gsize n = 1; n > 0; )
    {
      g_autofree char *part = output_read (&output, 100 * 1000, &n);

      g_string_append_len (all, part, (gssize) n);
    }

  g_assert_cmpmem (all->str, all->len - 11, g_bytes_get_data (expected, NULL),
                   g_bytes_get_size (expected));
  g_assert_cmpstr (all->str + all->len - 11, ==, "{\"id\":\"b\"}\n");
  wire_pipe_settle ();
  g_assert_cmpuint (output.n_drained, ==, 1);
}

static void
test_withdraw (void)
{
  g_auto(Output) output = { .fd = -1 };
  g_autoptr(GString) all = g_string_new (NULL);
  guint64 numbers[4];
  gsize waiting;

  output_init (&output);
  numbers[0] = push_much (&output);
  waiting = _sbx_wire_writer_get_waiting (output.writer);
  numbers[1] = push (&output, message_new ("{\"id\":\"b\"}"));
  numbers[2] = push (&output, message_new ("{\"id\":\"c\"}"));
  numbers[3] = push (&output, message_new ("{\"id\":\"d\"}"));
  g_assert_cmpuint (_sbx_wire_writer_get_waiting (output.writer), ==, waiting + 33);

  /* Some of the first went out already; of the others nothing did. */
  g_assert_false (_sbx_wire_writer_withdraw (output.writer, numbers[0]));
  g_assert_true (_sbx_wire_writer_withdraw (output.writer, numbers[2]));
  g_assert_false (_sbx_wire_writer_withdraw (output.writer, numbers[2]));
  g_assert_false (_sbx_wire_writer_withdraw (output.writer, 1000));
  g_assert_cmpuint (_sbx_wire_writer_get_waiting (output.writer), ==, waiting + 22);

  while (output.n_drained == 0)
    {
      gsize n;
      g_autofree char *part = output_read (&output, 100 * 1000, &n);

      g_string_append_len (all, part, (gssize) n);

      /* To the end of it one that was not begun can be taken back. */
      if (_sbx_wire_writer_get_waiting (output.writer) < 1000 * 1000 && numbers[3] != 0)
        {
          g_assert_true (_sbx_wire_writer_withdraw (output.writer, numbers[3]));
          numbers[3] = 0;
        }

      g_main_context_iteration (NULL, FALSE);
    }

  g_assert_true (_sbx_wire_writer_is_written (output.writer, numbers[1]));

  for (gsize n = 1; n > 0; )
    {
      g_autofree char *part = output_read (&output, 100 * 1000, &n);

      g_string_append_len (all, part, (gssize) n);
    }

  g_assert_true (g_str_has_suffix (all->str, "\"}}\n{\"id\":\"b\"}\n"));
}

/* What the block has of a message that was not begun is no reason to send it. */
static void
test_withdraw_all (void)
{
  g_auto(Output) output = { .fd = -1 };
  g_autofree char *filling = g_strnfill (1000, 'x');
  guint64 numbers[3000];
  guint n_withdrawn = 0;
  gsize n_lines = 0;

  output_init (&output);

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    numbers[i] = push (&output, message_new (filling));

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    n_withdrawn += _sbx_wire_writer_withdraw (output.writer, numbers[i]);

  /* One of them may have been begun. */
  g_assert_cmpuint (_sbx_wire_writer_get_waiting (output.writer), <, 1001);
  g_assert_cmpuint (n_withdrawn, >, 1000);

  for (;;)
    {
      gsize n;
      g_autofree char *part = output_read (&output, 1001, &n);

      if (n == 0 && _sbx_wire_writer_get_waiting (output.writer) == 0)
        break;

      g_assert_cmpuint (n, ==, 1001);
      g_assert_cmpint (part[1000], ==, '\n');
      n_lines++;
      g_main_context_iteration (NULL, FALSE);
    }

  g_assert_cmpuint (n_lines + n_withdrawn, ==, G_N_ELEMENTS (numbers));
}

static void
test_cork (void)
{
  g_auto(Output) output = { .fd = -1 };
  guint64 number;

  output_init (&output);
  _sbx_wire_writer_cork (output.writer);
  _sbx_wire_writer_cork (output.writer);
  push (&output, message_new ("{\"id\":\"a\"}"));
  number = push (&output, message_new ("{\"id\":\"b\"}"));
  push (&output, message_new ("{\"id\":\"c\"}"));
  g_assert_true (_sbx_wire_writer_withdraw (output.writer, number));
  _sbx_wire_writer_uncork (output.writer);
  assert_output (&output, "");
  wire_pipe_settle ();
  assert_output (&output, "");

  output.in_call = TRUE;
  _sbx_wire_writer_uncork (output.writer);
  output.in_call = FALSE;
  assert_output (&output, "{\"id\":\"a\"}\n{\"id\":\"c\"}\n");
}

/* Who saw that something waits is told when nothing does any more, however that came about. */
static void
test_news (void)
{
  g_auto(Output) output = { .fd = -1 };
  guint64 number;

  output_init (&output);
  _sbx_wire_writer_cork (output.writer);
  push (&output, message_new ("{}"));
  g_assert_cmpuint (_sbx_wire_writer_get_waiting (output.writer), ==, 3);
  _sbx_wire_writer_uncork (output.writer);
  g_assert_cmpuint (output.n_drained, ==, 0);
  test_wait_for (output.n_drained == 1);

  _sbx_wire_writer_cork (output.writer);
  number = push (&output, message_new ("{}"));
  g_assert_cmpuint (_sbx_wire_writer_get_waiting (output.writer), ==, 3);
  _sbx_wire_writer_uncork (output.writer);
  g_assert_false (_sbx_wire_writer_withdraw (output.writer, number));
  test_wait_for (output.n_drained == 2);

  wire_pipe_settle ();
  g_assert_cmpuint (output.n_drained, ==, 2);
}

static void
test_peer_gone (void)
{
  g_auto(Output) output = { .fd = -1 };
  guint64 good;
  guint64 number;

  output_init (&output);
  good = push (&output, message_new ("{}"));
  close (output.fd);
  output.fd = -1;

  number = push (&output, message_new ("{}"));
  g_assert_cmpuint (output.n_failed, ==, 0);
  test_wait_for (output.n_failed == 1);
  g_assert_error (output.error, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE);

  g_assert_true (_sbx_wire_writer_is_written (output.writer, good));
  g_assert_false (_sbx_wire_writer_is_written (output.writer, number));
  g_assert_false (_sbx_wire_writer_withdraw (output.writer, number));

  /* What comes later goes nowhere, and is not told again. */
  number = push (&output, message_new ("{}"));
  g_assert_false (_sbx_wire_writer_is_written (output.writer, number));
  g_assert_cmpuint (_sbx_wire_writer_get_waiting (output.writer), ==, 0);
  _sbx_wire_writer_cork (output.writer);
  push (&output, message_new ("{}"));
  _sbx_wire_writer_uncork (output.writer);
  _sbx_wire_writer_finish (output.writer);
  wire_pipe_settle ();
  g_assert_cmpuint (output.n_failed, ==, 1);
  g_assert_cmpuint (output.n_drained, ==, 0);
}

static void
test_peer_goes (void)
{
  g_auto(Output) output = { .fd = -1 };
  guint64 numbers[2];

  output_init (&output);
  numbers[0] = push_much (&output);
  numbers[1] = push (&output, message_new ("{}"));
  wire_pipe_settle ();
  close (output.fd);
  output.fd = -1;
  test_wait_for (output.n_failed == 1);
  g_assert_false (_sbx_wire_writer_is_written (output.writer, numbers[0]));
  g_assert_false (_sbx_wire_writer_is_written (output.writer, numbers[1]));
  wire_pipe_settle ();
  g_assert_false (g_main_context_pending (NULL));
}

static void
test_free_in_func (void)
{
  g_auto(Output) output = { .fd = -1 };

  output_init (&output);
  output.free_in_func = TRUE;
  push_much (&output);

  while (output.writer != NULL)
    {
      G_GNUC_UNUSED g_autofree char *part = output_read (&output, 1024 * 1024, NULL);

      g_main_context_iteration (NULL, FALSE);
    }

  g_assert_cmpuint (output.n_drained, ==, 1);
  wire_pipe_settle ();
}

static void
test_free_in_error (void)
{
  g_auto(Output) output = { .fd = -1 };

  output_init (&output);
  output.free_in_func = TRUE;
  close (output.fd);
  output.fd = -1;
  push (&output, message_new ("{}"));
  test_wait_for (output.n_failed == 1);
  wire_pipe_settle ();
}

static gboolean
is_at_end (Output *self)
{
  char c;

  return read (self->fd, &c, 1) == 0;
}

static void
test_finish (void)
{
  g_auto(Output) output = { .fd = -1 };
  guint64 number;
  gsize total = 0;

  output_init (&output);
  push_much (&output);
  _sbx_wire_writer_finish (output.writer);

  number = push (&output, message_new ("{\"id\":\"late\"}"));
  g_assert_false (_sbx_wire_writer_is_written (output.writer, number));

  while (output.n_drained == 0)
    {
      gsize n;
      G_GNUC_UNUSED g_autofree char *part = output_read (&output, 1024 * 1024, &n);

      total += n;
      g_main_context_iteration (NULL, FALSE);
    }

  for (gsize n = 1; n > 0; total += n)
    {
      G_GNUC_UNUSED g_autofree char *part = output_read (&output, 1024 * 1024, &n);
    }

  g_assert_cmpuint (total, ==,
                    strlen ("{\"p\":{\"x_base64\":\"\"}}\n") + (4 * 1024 * 1024 + 2) / 3 * 4);
  g_assert_true (is_at_end (&output));
  g_assert_false (_sbx_wire_writer_is_written (output.writer, number));
  g_assert_true (_sbx_wire_writer_is_written (output.writer, number - 1));
}

static void
test_finish_idle (void)
{
  g_auto(Output) output = { .fd = -1 };

  output_init (&output);
  push (&output, message_new ("{}"));
  _sbx_wire_writer_finish (output.writer);
  assert_output (&output, "{}\n");
  g_assert_true (is_at_end (&output));

  _sbx_wire_writer_finish (output.writer);
  wire_pipe_settle ();
}

static void
test_finish_corked (void)
{
  g_auto(Output) output = { .fd = -1 };

  output_init (&output);
  _sbx_wire_writer_cork (output.writer);
  push (&output, message_new ("{}"));
  _sbx_wire_writer_finish (output.writer);
  assert_output (&output, "");
  _sbx_wire_writer_uncork (output.writer);
  assert_output (&output, "{}\n");
  g_assert_true (is_at_end (&output));
}

static GBytes *
get_payload (SbxWireLine *line)
{
  JsonObject *object = NULL;
  GBytes *bytes = NULL;

  g_assert_cmpint (_sbx_json_object_get_object (_sbx_wire_line_get_object (line), "p", &object), ==,
                   SBX_JSON_PRESENT);
  g_assert_true (_sbx_wire_line_is_payload (line, json_object_get_member (object, "x_base64")));
  g_assert_cmpint (_sbx_wire_line_get_payload (line, object, "x_base64", &bytes), ==,
                   SBX_JSON_PRESENT);
  return bytes;
}

/* Messages of all sizes around those of the blocks, which a reader gets as they were. */
static void
test_round_trip (void)
{
  static const gsize sizes[] = {
    0, 1, 2, 3, 7, 8, 48 * 1024 - 40, 48 * 1024 - 15, 48 * 1024 - 14, 48 * 1024 - 13,
    48 * 1024 - 12, 48 * 1024 - 11, 48 * 1024 - 10, 48 * 1024 - 9, 48 * 1024 - 1, 48 * 1024,
    48 * 1024 + 1, 96 * 1024, 1000 * 1000, 5,
  };
  g_auto(WirePipe) pipe = { .fd = -1 };
  Output output = { .fd = -1 };

  wire_pipe_init (&pipe, SBX_WIRE_DEFAULT_MAX_SIZE);
  output.writer = _sbx_wire_writer_new (pipe.fd, NULL, output_cb, &output);
  pipe.fd = -1;

  for (int corked = 0; corked < 2; corked++)
    {
      if (corked)
        _sbx_wire_writer_cork (output.writer);
      for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
        push (&output, payload_message (sizes[i]));
      if (corked)
        _sbx_wire_writer_uncork (output.writer);
    }

  _sbx_wire_writer_finish (output.writer);
  test_wait_for (pipe.ended);
  g_assert_cmpuint (pipe.lines->len, ==, 2 * G_N_ELEMENTS (sizes));

  for (guint i = 0; i < pipe.lines->len; i++)
    {
      g_autoptr(SbxWireMessage) message = payload_message (sizes[i % G_N_ELEMENTS (sizes)]);
      g_autoptr(GBytes) expected = _sbx_wire_message_to_bytes (message);
      SbxWireLine *line = wire_pipe_get (&pipe, i);
      g_autoptr(SbxWireLine) same = _sbx_wire_line_new (expected);
      g_autoptr(GBytes) bytes = get_payload (line);
      g_autoptr(GBytes) same_bytes = get_payload (same);

      g_assert_cmpuint (_sbx_wire_line_get_size (line) + 1, ==, g_bytes_get_size (expected));
      g_assert_true (g_bytes_equal (bytes, same_bytes));
    }

  g_clear_pointer (&output.writer, _sbx_wire_writer_free);
}

static void
test_flags (void)
{
  g_auto(Output) output = { .fd = -1 };
  int fds[2];
  int copy;

  g_assert_true (g_unix_open_pipe (fds, FD_CLOEXEC, NULL));
  copy = fcntl (fds[1], F_DUPFD_CLOEXEC, 3);
  output.fd = fds[0];
  output.writer = _sbx_wire_writer_new (fds[1], NULL, output_cb, &output);
  g_assert_cmpint (fcntl (copy, F_GETFL) & O_NONBLOCK, !=, 0);
  _sbx_wire_writer_finish (output.writer);
  g_assert_cmpint (fcntl (copy, F_GETFL) & O_NONBLOCK, ==, 0);
  close (copy);
}

/* In a process that never heard of this library. */
static void
test_signal (void)
{
  if (g_test_subprocess ())
    {
      signal (SIGPIPE, SIG_DFL);
      test_peer_gone ();
      return;
    }

  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_passed ();
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/wire-writer/signal", test_signal);
  g_test_add_func ("/wire-writer/message", test_message);
  g_test_add_func ("/wire-writer/message-strings", test_message_strings);
  g_test_add_func ("/wire-writer/at-once", test_at_once);
  g_test_add_func ("/wire-writer/waiting", test_waiting);
  g_test_add_func ("/wire-writer/withdraw", test_withdraw);
  g_test_add_func ("/wire-writer/withdraw-all", test_withdraw_all);
  g_test_add_func ("/wire-writer/cork", test_cork);
  g_test_add_func ("/wire-writer/news", test_news);
  g_test_add_func ("/wire-writer/peer-gone", test_peer_gone);
  g_test_add_func ("/wire-writer/peer-goes", test_peer_goes);
  g_test_add_func ("/wire-writer/free-in-func", test_free_in_func);
  g_test_add_func ("/wire-writer/free-in-error", test_free_in_error);
  g_test_add_func ("/wire-writer/finish", test_finish);
  g_test_add_func ("/wire-writer/finish-idle", test_finish_idle);
  g_test_add_func ("/wire-writer/finish-corked", test_finish_corked);
  g_test_add_func ("/wire-writer/round-trip", test_round_trip);
  g_test_add_func ("/wire-writer/flags", test_flags);

  return g_test_run ();
}
