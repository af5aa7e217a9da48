/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "core/sbx-error.h"
#include "wire-pipe.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void
test_lines (void)
{
  g_auto(WirePipe) pipe = { .fd = -1 };

  wire_pipe_init (&pipe, 1024);
  wire_pipe_write_text (&pipe, "{\"id\":\"a\"}\n\n  \t\n\r\n{\"id\":\"b\"}\r\n[]\nnot JSON\n"
                               "{\"id\":\"c\",\"x\":NaN}\n \t {\"id\" : \"d\"} \n");
  test_wait_for (pipe.lines->len == 6);

  wire_pipe_assert_id (&pipe, 0, "a");
  wire_pipe_assert_id (&pipe, 1, "b");
  g_assert_null (_sbx_wire_line_get_object (wire_pipe_get (&pipe, 2)));
  g_assert_null (_sbx_wire_line_get_object (wire_pipe_get (&pipe, 3)));
  g_assert_null (_sbx_wire_line_get_object (wire_pipe_get (&pipe, 4)));
  g_assert_cmpstr (_sbx_wire_line_guess_id (wire_pipe_get (&pipe, 4)), ==, "c");
  wire_pipe_assert_id (&pipe, 5, "d");
  g_assert_false (pipe.ended);

  wire_pipe_close (&pipe);
  test_wait_for (pipe.ended);
  g_assert_no_error (pipe.error);
  g_assert_cmpuint (pipe.lines->len, ==, 6);
}

static void
test_nothing_at_once (void)
{
  g_auto(WirePipe) pipe = { .fd = -1 };

  wire_pipe_init (&pipe, 1024);
  wire_pipe_write_text (&pipe, "{\"id\":\"a\"}\n");
  wire_pipe_close (&pipe);
  g_assert_cmpuint (pipe.lines->len, ==, 0);
  test_wait_for (pipe.ended);
  g_assert_cmpuint (pipe.lines->len, ==, 1);
}

static void
test_single_bytes (void)
{
  const char *text = "{\"id\":\"a\",\"params\":{\"x_base64\":\"QUJD\\/w==\"}}\r\n{\"id\":\"b\"}\n";
  g_auto(WirePipe) pipe = { .fd = -1 };
  g_autoptr(GBytes) bytes = NULL;
  JsonObject *params = NULL;

  wire_pipe_init (&pipe, 1024);

  for (gsize i = 0; i < strlen (text); i++)
    {
      wire_pipe_write (&pipe, text + i, 1);
      wire_pipe_settle ();
    }

  g_assert_cmpuint (pipe.lines->len, ==, 2);
  wire_pipe_assert_id (&pipe, 0, "a");
  wire_pipe_assert_id (&pipe, 1, "b");
  _sbx_json_object_get_object (_sbx_wire_line_get_object (wire_pipe_get (&pipe, 0)), "params",
                               &params);
  g_assert_cmpint (_sbx_wire_line_get_payload (wire_pipe_get (&pipe, 0), params, "x_base64",
                                               &bytes), ==, SBX_JSON_PRESENT);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), "ABC\xff", 4);
}

static void
test_byte_order_mark (void)
{
  g_auto(WirePipe) pipe = { .fd = -1 };

  wire_pipe_init (&pipe, 1024);
  wire_pipe_write_text (&pipe, "\xef\xbb\xbf{\"id\":\"a\"}\n{\"id\":\"b\"}\n");
  test_wait_for (pipe.lines->len == 2);
  g_assert_error (_sbx_wire_line_get_error (wire_pipe_get (&pipe, 0)), SBX_ERROR,
                  SBX_ERROR_PROTOCOL);
  wire_pipe_assert_id (&pipe, 1, "b");
}

/* Half a line is told as a line before the end; a whole one without its newline is a good one. */
static void
test_unterminated (void)
{
  const char *texts[] = { "{\"id\":\"a\"}", "{\"id\":\"a\"", "{\"params\":{\"x_base64\":\"QUJD" };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_auto(WirePipe) pipe = { .fd = -1 };

      wire_pipe_init (&pipe, 1024);
      wire_pipe_write_text (&pipe, texts[i]);
      wire_pipe_close (&pipe);
      test_wait_for (pipe.ended);
      g_assert_no_error (pipe.error);
      g_assert_cmpuint (pipe.lines->len, ==, 1);
      g_assert_cmpint (_sbx_wire_line_get_object (wire_pipe_get (&pipe, 0)) != NULL, ==, i == 0);
    }
}

static void
test_limit (void)
{
  g_auto(WirePipe) pipe = { .fd = -1 };

  wire_pipe_init (&pipe, 10);
  wire_pipe_write_text (&pipe, "{\"id\":\"a\"}\n");
  test_wait_for (pipe.lines->len == 1);
  wire_pipe_assert_id (&pipe, 0, "a");

  wire_pipe_write_text (&pipe, "{\"id\":\"b\"}\n{\"id\":\"cc\"}\n{\"id\":\"d\"}\n");
  test_wait_for (pipe.ended);
  g_assert_error (pipe.error, SBX_ERROR, SBX_ERROR_TOO_LARGE);
  g_assert_cmpuint (pipe.lines->len, ==, 2);

  wire_pipe_settle ();
  g_assert_cmpuint (pipe.lines->len, ==, 2);
}

/* The same for one that does not end. */
static void
test_limit_unterminated (void)
{
  g_auto(WirePipe) pipe = { .fd = -1 };

  wire_pipe_init (&pipe, 10);
  wire_pipe_write_text (&pipe, "{\"id\":\"a\"}");
  wire_pipe_settle ();
  g_assert_false (pipe.ended);

  wire_pipe_write_text (&pipe, " ");
  test_wait_for (pipe.ended);
  g_assert_error (pipe.error, SBX_ERROR, SBX_ERROR_TOO_LARGE);
  g_assert_cmpuint (pipe.lines->len, ==, 0);
}

/* A GiB without a newline, of what stays in the text, of base64 and of what is none. */
static void
test_endless (void)
{
  const char *heads[] = {
    "", "\"", "{\"params\":{\"x_base64\":\"", "{\"params\":{\"x_base64\":\"-", "[1,",
  };
  const char *contents[] = { "x", "x", "A", "A", " " };
  const gsize limit = 32 * 1024 * 1024;

  for (gsize i = 0; i < G_N_ELEMENTS (heads); i++)
    {
      g_autoptr(GString) block = g_string_new (NULL);
      g_auto(WirePipe) pipe = { .fd = -1 };
      const gsize before = wire_pipe_memory ("VmRSS:");
      pid_t pid;

      while (block->len < 256 * 1024)
        g_string_append (block, contents[i]);

      wire_pipe_init (&pipe, limit);
      pid = spawn_writer (&pipe, heads[i], block->str, 4096, "\n");
      test_wait_for (pipe.ended);
      g_assert_error (pipe.error, SBX_ERROR, SBX_ERROR_TOO_LARGE);
      g_assert_cmpuint (pipe.lines->len, ==, 0);

      if (memory_is_ours ())
        g_assert_cmpuint (wire_pipe_memory ("VmRSS:"), <, before + 40 * 1024);

      g_clear_pointer (&pipe.reader, _sbx_wire_reader_free);
      reap (pid);
    }
}

/* 64 MiB of bytes may cost little more than that. */
static void
test_payload_memory (void)
{
  const gsize count = 256;
  g_autofree char *block = g_strnfill (256 * 1024 / 3 * 4, 'A');
  const gsize length = strlen (block);
  g_auto(WirePipe) pipe = { .fd = -1 };
  g_autoptr(GBytes) bytes = NULL;
  JsonObject *params = NULL;
  const gsize size = count * length / 4 * 3;
  gsize before;
  pid_t pid;

  /* The highest so far must be that of now. */
  if (memory_is_ours ())
    {
      const int fd = open ("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

      g_assert_cmpint (write (fd, "5", 1), ==, 1);
      close (fd);
    }
  before = wire_pipe_memory ("VmHWM:");

  wire_pipe_init (&pipe, SBX_WIRE_DEFAULT_MAX_SIZE);
  pid = spawn_writer (&pipe, "{\"params\":{\"x_base64\":\"", block, count, "\"}}\n");
  test_wait_for (pipe.ended);
  reap (pid);

  g_assert_no_error (pipe.error);
  g_assert_cmpuint (pipe.lines->len, ==, 1);

  if (memory_is_ours ())
    g_assert_cmpuint (wire_pipe_memory ("VmHWM:"), <, before + size / 1024 + 2048);

  _sbx_json_object_get_object (_sbx_wire_line_get_object (wire_pipe_get (&pipe, 0)), "params",
                               &params);
  g_assert_cmpint (_sbx_wire_line_get_payload (wire_pipe_get (&pipe, 0), params, "x_base64",
                                               &bytes), ==, SBX_JSON_PRESENT);
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, size);
}

static void
pause_after (gpointer self)
{
  _sbx_wire_reader_pause (((WirePipe *) self)->reader);
}

/* One line at a time, though all of them were read at once, and the end only after them. */
static void
test_pause (void)
{
  g_auto(WirePipe) pipe = { .fd = -1 };

  wire_pipe_init (&pipe, 1024);
  pipe.after = pause_after;
  wire_pipe_write_text (&pipe, "{\"id\":\"a\"}\n{\"id\":\"b\"}\n{\"id\":\"c\"}");
  wire_pipe_close (&pipe);

  for (guint i = 1; i <= 3; i++)
    {
      test_wait_for (pipe.lines->len == i);
      wire_pipe_settle ();
      g_assert_cmpuint (pipe.lines->len, ==, i);
      g_assert_false (pipe.ended);

      /* Within a call nothing is told. */
      _sbx_wire_reader_resume (pipe.reader);
      g_assert_cmpuint (pipe.lines->len, ==, i);
    }

  test_wait_for (pipe.ended);
  wire_pipe_assert_id (&pipe, 2, "c");
}

static void
pause_and_resume_after (gpointer self)
{
  _sbx_wire_reader_pause (((WirePipe *) self)->reader);
  _sbx_wire_reader_resume (((WirePipe *) self)->reader);
}

static void
test_pause_and_resume (void)
{
  g_auto(WirePipe) pipe = { .fd = -1 };

  wire_pipe_init (&pipe, 1024);
  pipe.after = pause_and_resume_after;
  wire_pipe_write_text (&pipe, "{\"id\":\"a\"}\n{\"id\":\"b\"}\n{\"id\":\"c\"}");
  wire_pipe_close (&pipe);
  test_wait_for (pipe.ended);
  g_assert_cmpuint (pipe.lines->len, ==, 3);
}

/* A paused reader does not wake at the end of the stream either, again and again. */
static void
test_pause_is_quiet (void)
{
  g_auto(WirePipe) pipe = { .fd = -1 };

  wire_pipe_init (&pipe, 1024);
  _sbx_wire_reader_pause (pipe.reader);
  wire_pipe_write_text (&pipe, "{\"id\":\"a\"}\n");
  wire_pipe_close (&pipe);

  wire_pipe_settle ();
  g_assert_false (g_main_context_pending (NULL));
  g_assert_cmpuint (pipe.lines->len, ==, 0);

  _sbx_wire_reader_resume (pipe.reader);
  test_wait_for (pipe.ended);
  g_assert_cmpuint (pipe.lines->len, ==, 1);
}

static void
free_after (gpointer self)
{
  g_clear_pointer (&((WirePipe *) self)->reader, _sbx_wire_reader_free);
}

static void
test_free_in_line (void)
{
  g_auto(WirePipe) pipe = { .fd = -1 };

  wire_pipe_init (&pipe, 1024);
  pipe.after = free_after;
  wire_pipe_write_text (&pipe, "{\"id\":\"a\"}\n{\"id\":\"b\"}\n");
  test_wait_for (pipe.lines->len == 1);
  wire_pipe_settle ();
  g_assert_cmpuint (pipe.lines->len, ==, 1);
  g_assert_false (pipe.ended);
}

/* The last line, which has no newline: so the end is on its way. */
static void
test_free_in_last_line (void)
{
  g_auto(WirePipe) pipe = { .fd = -1 };

  wire_pipe_init (&pipe, 1024);
  pipe.after = free_after;
  wire_pipe_write_text (&pipe, "{\"id\":\"a\"}");
  wire_pipe_close (&pipe);
  test_wait_for (pipe.lines->len == 1);
  wire_pipe_settle ();
  g_assert_false (pipe.ended);
}

static void
free_at_end_cb (SbxWireReader *reader,
                const GError  *error,
                gpointer       user_data)
{
  gboolean *ended = user_data;

  g_assert_false (*ended);
  *ended = TRUE;
  _sbx_wire_reader_free (reader);
}

static void
no_line_cb (SbxWireReader *reader,
            SbxWireLine   *line,
            gpointer       user_data)
{
  g_assert_not_reached ();
}

static void
test_free_in_end (void)
{
  gboolean ended = FALSE;
  int fds[2];

  g_assert_true (g_unix_open_pipe (fds, FD_CLOEXEC, NULL));
  _sbx_wire_reader_new (fds[0], NULL, 1024, no_line_cb, free_at_end_cb, &ended);
  close (fds[1]);
  test_wait_for (ended);
  wire_pipe_settle ();
}

/* Whoever handles a line runs the loop until the next one came. */
static void
wait_after (gpointer data)
{
  WirePipe *self = data;
  const guint len = self->lines->len;

  if (len < 4)
    test_wait_for (self->lines->len > len);
  else
    free_after (self);
}

static void
test_nested (void)
{
  g_auto(WirePipe) pipe = { .fd = -1 };

  wire_pipe_init (&pipe, 1024);
  pipe.after = wait_after;
  wire_pipe_write_text (&pipe, "{\"id\":\"a\"}\n{\"id\":\"b\"}\n{\"id\":\"c\"}\n{\"id\":\"d\"}\n"
                               "{}\n");
  test_wait_for (pipe.lines->len == 4);
  wire_pipe_assert_id (&pipe, 3, "d");
  wire_pipe_settle ();
  g_assert_cmpuint (pipe.lines->len, ==, 4);
}

/* Somebody else holds the other end. */
static void
test_finish (void)
{
  g_auto(WirePipe) pipe = { .fd = -1 };

  wire_pipe_init (&pipe, 1024);
  wire_pipe_write_text (&pipe, "{\"id\":\"a\"}\n{\"id\":\"b\"}\nhalf");
  _sbx_wire_reader_finish (pipe.reader);
  g_assert_cmpuint (pipe.lines->len, ==, 0);
  test_wait_for (pipe.ended);
  g_assert_no_error (pipe.error);
  g_assert_cmpuint (pipe.lines->len, ==, 3);
  wire_pipe_assert_id (&pipe, 1, "b");

  _sbx_wire_reader_finish (pipe.reader);
  wire_pipe_settle ();
}

static void
test_finish_paused (void)
{
  g_auto(WirePipe) pipe = { .fd = -1 };

  wire_pipe_init (&pipe, 1024);
  pipe.after = pause_after;
  wire_pipe_write_text (&pipe, "{\"id\":\"a\"}\n{\"id\":\"b\"}\n");
  test_wait_for (pipe.lines->len == 1);
  _sbx_wire_reader_finish (pipe.reader);
  wire_pipe_settle ();
  g_assert_cmpuint (pipe.lines->len, ==, 1);

  _sbx_wire_reader_resume (pipe.reader);
  test_wait_for (pipe.lines->len == 2);
  g_assert_false (pipe.ended);

  _sbx_wire_reader_resume (pipe.reader);
  test_wait_for (pipe.ended);
}

/* The other holder writes as fast as it can: that must not go on for ever. */
static void
test_finish_is_bounded (void)
{
  g_autofree char *block = g_strnfill (4096, '\n');
  g_auto(WirePipe) pipe = { .fd = -1 };
  const int line = 4000;
  int fd;
  pid_t pid;

  block[line] = '7';
  wire_pipe_init (&pipe, 1024);
  fd = fcntl (pipe.fd, F_DUPFD_CLOEXEC, 3);
  pid = spawn_writer (&pipe, "", block, G_MAXSIZE / 2, "");
  test_wait_for (pipe.lines->len > 0);
  _sbx_wire_reader_finish (pipe.reader);
  test_wait_for (pipe.ended);
  g_assert_no_error (pipe.error);

  close (fd);
  g_clear_pointer (&pipe.reader, _sbx_wire_reader_free);
  reap (pid);
}

static void
test_socket (void)
{
  g_auto(WirePipe) pipe = { .fd = -1 };
  int fds[2];

  g_assert_no_errno (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds));
  pipe.fd = fds[1];
  pipe.lines = g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_wire_line_unref);
  pipe.reader = _sbx_wire_reader_new (fds[0], NULL, 1024, wire_pipe_line_cb, wire_pipe_end_cb,
                                      &pipe);
  wire_pipe_write_text (&pipe, "{\"id\":\"a\"}\n{\"id\":\"b\"}");
  test_wait_for (pipe.lines->len == 1);
  _sbx_wire_reader_finish (pipe.reader);
  test_wait_for (pipe.ended);
  g_assert_cmpuint (pipe.lines->len, ==, 2);
}

static void
test_file (void)
{
  g_auto(WirePipe) pipe = { .fd = -1 };
  g_autofree char *path = NULL;
  const int fd = g_file_open_tmp (NULL, &path, NULL);
  const char *text = "{\"id\":\"a\"}\n{\"id\":\"b\"}\n";

  g_assert_cmpint (write (fd, text, strlen (text)), ==, strlen (text));
  g_assert_cmpint (lseek (fd, 0, SEEK_SET), ==, 0);
  unlink (path);

  pipe.lines = g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_wire_line_unref);
  pipe.reader = _sbx_wire_reader_new (fd, NULL, 1024, wire_pipe_line_cb, wire_pipe_end_cb, &pipe);
  test_wait_for (pipe.ended);
  g_assert_no_error (pipe.error);
  g_assert_cmpuint (pipe.lines->len, ==, 2);
}

static void
test_read_error (void)
{
  g_auto(WirePipe) pipe = { .fd = -1 };
  const int fd = open ("/", O_RDONLY | O_CLOEXEC);

  pipe.lines = g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_wire_line_unref);
  pipe.reader = _sbx_wire_reader_new (fd, NULL, 1024, wire_pipe_line_cb, wire_pipe_end_cb, &pipe);
  test_wait_for (pipe.ended);
  g_assert_error (pipe.error, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY);
}

/* Standard input may be shared with a shell, which would not like to find it changed. */
static void
test_flags (void)
{
  g_auto(WirePipe) pipe = { .fd = -1 };
  int fds[2];
  int copy;

  g_assert_true (g_unix_open_pipe (fds, FD_CLOEXEC, NULL));
  copy = fcntl (fds[0], F_DUPFD_CLOEXEC, 3);
  pipe.fd = fds[1];
  pipe.reader = _sbx_wire_reader_new (fds[0], NULL, 1024, wire_pipe_line_cb, wire_pipe_end_cb,
                                      &pipe);
  g_assert_cmpint (fcntl (copy, F_GETFL) & O_NONBLOCK, !=, 0);
  g_clear_pointer (&pipe.reader, _sbx_wire_reader_free);
  g_assert_cmpint (fcntl (copy, F_GETFL) & O_NONBLOCK, ==, 0);
  g_assert_cmpint (fcntl (fds[0], F_GETFD), ==, -1);
  close (copy);
}

static gboolean
count_cb (gpointer user_data)
{
  ++*(guint *) user_data;
  return G_SOURCE_CONTINUE;
}

/* However much there is to read, others get their turns. */
static void
test_fair (void)
{
  g_autoptr(GString) block = g_string_new (NULL);
  g_autoptr(GSource) source = g_idle_source_new ();
  g_auto(WirePipe) pipe = { .fd = -1 };
  guint turns = 0;
  pid_t pid;

  while (block->len < 64 * 1024)
    g_string_append_printf (block, "%1023s\n", "");

  wire_pipe_init (&pipe, 1023);
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, count_cb, &turns, NULL);
  g_source_attach (source, NULL);
  pid = spawn_writer (&pipe, "", block->str, 1024, "");
  test_wait_for (pipe.ended);
  g_source_destroy (source);
  reap (pid);

  /* 64 MiB, no more than one and a buffer in a turn. */
  g_assert_cmpuint (turns, >=, 50);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  /* What is allocated is not to be touched by the allocator. */
  mallopt (M_PERTURB, 0);

  g_test_add_func ("/wire-reader/payload-memory", test_payload_memory);
  g_test_add_func ("/wire-reader/lines", test_lines);
  g_test_add_func ("/wire-reader/nothing-at-once", test_nothing_at_once);
  g_test_add_func ("/wire-reader/single-bytes", test_single_bytes);
  g_test_add_func ("/wire-reader/byte-order-mark", test_byte_order_mark);
  g_test_add_func ("/wire-reader/unterminated", test_unterminated);
  g_test_add_func ("/wire-reader/limit", test_limit);
  g_test_add_func ("/wire-reader/limit-unterminated", test_limit_unterminated);
  g_test_add_func ("/wire-reader/endless", test_endless);
  g_test_add_func ("/wire-reader/pause", test_pause);
  g_test_add_func ("/wire-reader/pause-and-resume", test_pause_and_resume);
  g_test_add_func ("/wire-reader/pause-is-quiet", test_pause_is_quiet);
  g_test_add_func ("/wire-reader/free-in-line", test_free_in_line);
  g_test_add_func ("/wire-reader/free-in-last-line", test_free_in_last_line);
  g_test_add_func ("/wire-reader/free-in-end", test_free_in_end);
  g_test_add_func ("/wire-reader/nested", test_nested);
  g_test_add_func ("/wire-reader/finish", test_finish);
  g_test_add_func ("/wire-reader/finish-paused", test_finish_paused);
  g_test_add_func ("/wire-reader/finish-is-bounded", test_finish_is_bounded);
  g_test_add_func ("/wire-reader/socket", test_socket);
  g_test_add_func ("/wire-reader/file", test_file);
  g_test_add_func ("/wire-reader/read-error", test_read_error);
  g_test_add_func ("/wire-reader/flags", test_flags);
  g_test_add_func ("/wire-reader/fair", test_fair);

  return g_test_run ();
}
