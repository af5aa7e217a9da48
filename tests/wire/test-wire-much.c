/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "wire-pipe.h"

#include <time.h>

/*
 * Lines with so much in them that a thread parses them.
 */

/* What a sanitizer makes of each allocation takes its time. */
#define N_VALUES(n) (memory_is_ours () ? (n) : (n) / 500)

/* A line with that many values, and in any case with so much in it that a thread parses it. */
static char *
much_text (const char *id,
           gsize       n_values)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "{\"id\":\"%s\",%*s\"result\":{\"x\":[1", id, 300 * 1024, "");

  for (gsize i = 1; i < N_VALUES (n_values); i++)
    g_string_append (text, ",1");

  g_string_append (text, "]}}\n");

  return g_string_free (text, FALSE);
}

/* How much of a processor this thread has used, in microseconds. */
static gint64
thread_time (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);

  return (gint64) now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000;
}

static void
drop_lines (gpointer user_data)
{
  WirePipe *pipe = user_data;
  const guint n = pipe->lines->len;

  /* The last one stays, to be looked at. */
  if (n > 1)
    g_ptr_array_remove_range (pipe->lines, 0, n - 1);

  pipe->data = GUINT_TO_POINTER (GPOINTER_TO_UINT (pipe->data) + 1);
}

/* Neither what is refused nor what is taken makes a turn of the loop a long one: the time that this
 * thread itself was busy, which other programs have no part in. */
static void
test_much (void)
{
  const gsize counts[] = { 8 * 1024 * 1024 - 200 * 1024, 490 * 1000 };

  for (gsize i = 0; i < G_N_ELEMENTS (counts); i++)
    {
      g_autofree char *text = much_text ("a", counts[i]);
      g_auto(WirePipe) pipe = { .fd = -1 };
      gint64 worst = 0;
      pid_t pid;

      wire_pipe_init (&pipe, G_MAXSIZE);
      pipe.after = drop_lines;
      pid = spawn_writer (&pipe, "", text, 3, "{\"id\":\"b\"}\n");

      while (!pipe.ended)
        {
          const gint64 begin = thread_time ();

          g_main_context_iteration (NULL, TRUE);
          worst = MAX (worst, thread_time () - begin);
        }

      reap (pid);
      g_assert_cmpuint (GPOINTER_TO_UINT (pipe.data), ==, 4);
      wire_pipe_assert_id (&pipe, 0, "b");
      if (memory_is_ours ())
        g_assert_cmpint (worst, <, 50 * 1000);
    }
}

/* Lines that are parsed in a thread keep their place among those that are not. */
static void
test_much_in_order (void)
{
  g_autofree char *one = much_text ("1", 200 * 1000);
  g_autofree char *three = much_text ("3", 200 * 1000);
  g_autofree char *block = g_strconcat ("{\"id\":\"0\"}\n", one, "{\"id\":\"2\"}\n", three,
                                        "{\"id\":\"4\"}\n", NULL);
  g_auto(WirePipe) pipe = { .fd = -1 };
  pid_t pid;

  wire_pipe_init (&pipe, G_MAXSIZE);
  pid = spawn_writer (&pipe, "", block, 1, "{\"id\":\"5\"}");
  test_wait_for (pipe.ended);
  reap (pid);
  g_assert_no_error (pipe.error);
  g_assert_cmpuint (pipe.lines->len, ==, 6);

  for (guint i = 0; i < 6; i++)
    {
      const char id[] = { (char) ('0' + i), '\0' };

      wire_pipe_assert_id (&pipe, i, id);
    }
}

/* The last line, without its newline, and one that is refused. */
static void
test_much_at_the_end (void)
{
  const char *begins[] = { "{\"id\":\"a\",\"x\":[1", "{\"id\":\"a\",\"x\":[?" };

  for (gsize i = 0; i < G_N_ELEMENTS (begins); i++)
    {
      g_autoptr(GString) block = g_string_new (NULL);
      g_auto(WirePipe) pipe = { .fd = -1 };
      pid_t pid;

      g_string_append_printf (block, ",%*s1", 300 * 1024, "");
      for (gsize j = 0; j < N_VALUES (200 * 1000); j++)
        g_string_append (block, ",1");

      wire_pipe_init (&pipe, G_MAXSIZE);
      pid = spawn_writer (&pipe, begins[i], block->str, 1, i == 0 ? "]}" : "]");
      test_wait_for (pipe.ended);
      reap (pid);
      g_assert_cmpuint (pipe.lines->len, ==, 1);
      g_assert_true (_sbx_wire_reader_has_ended (pipe.reader));

      if (i == 0)
        wire_pipe_assert_id (&pipe, 0, "a");
      else
        g_assert_cmpstr (_sbx_wire_line_guess_id (wire_pipe_get (&pipe, 0)), ==, "a");
    }
}

/* Writes @text into the pipe while the loop runs, so that all of it was read when it returns. */
static void
feed (WirePipe   *pipe,
      const char *text)
{
  const gsize length = strlen (text);

  for (gsize at = 0; at < length;)
    {
      const gsize n = MIN (length - at, 4096);

      wire_pipe_write (pipe, text + at, n);
      at += n;
      if (at < length)
        while (g_main_context_iteration (NULL, FALSE))
          ;
    }

  /* Reads the end of it, and has a thread begin. */
  g_main_context_iteration (NULL, FALSE);
}

static void
test_much_and_pause (void)
{
  g_autofree char *text = much_text ("a", 400 * 1000);
  g_auto(WirePipe) pipe = { .fd = -1 };

  wire_pipe_init (&pipe, G_MAXSIZE);
  feed (&pipe, text);
  _sbx_wire_reader_pause (pipe.reader);
  wire_pipe_write_text (&pipe, "{\"id\":\"b\"}\n");
  wire_pipe_close (&pipe);

  /* Also once it was parsed. */
  for (const gint64 until = g_get_monotonic_time () + 300 * 1000; g_get_monotonic_time () < until;)
    g_main_context_iteration (NULL, FALSE);

  g_assert_cmpuint (pipe.lines->len, ==, 0);
  _sbx_wire_reader_resume (pipe.reader);
  _sbx_wire_reader_pause (pipe.reader);
  _sbx_wire_reader_resume (pipe.reader);
  g_assert_cmpuint (pipe.lines->len, ==, 0);
  test_wait_for (pipe.ended);
  g_assert_cmpuint (pipe.lines->len, ==, 2);
  wire_pipe_assert_id (&pipe, 0, "a");
  wire_pipe_assert_id (&pipe, 1, "b");
}

/* Freed, and the context with it, before the thread is through. */
static void
test_much_and_free (void)
{
  g_autofree char *text = much_text ("a", 400 * 1000);

  for (int i = 0; i < 5; i++)
    {
      g_auto(WirePipe) pipe = { .fd = -1 };

      wire_pipe_init (&pipe, G_MAXSIZE);
      feed (&pipe, text);
      g_clear_pointer (&pipe.reader, _sbx_wire_reader_free);
      wire_pipe_settle ();
      g_assert_cmpuint (pipe.lines->len, ==, 0);
      g_assert_false (pipe.ended);
    }
}

/* Whoever wrote it is gone, while its end of the pipe is held by somebody else. */
static void
test_much_and_finish (void)
{
  g_autofree char *text = much_text ("a", 400 * 1000);
  g_auto(WirePipe) pipe = { .fd = -1 };

  wire_pipe_init (&pipe, G_MAXSIZE);
  feed (&pipe, text);
  wire_pipe_write_text (&pipe, "{\"id\":\"b\"}\n");
  _sbx_wire_reader_finish (pipe.reader);
  test_wait_for (pipe.ended);
  g_assert_no_error (pipe.error);
  g_assert_cmpuint (pipe.lines->len, ==, 2);
  wire_pipe_assert_id (&pipe, 1, "b");
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/wire-much/late", test_much);
  g_test_add_func ("/wire-much/order", test_much_in_order);
  g_test_add_func ("/wire-much/end", test_much_at_the_end);
  g_test_add_func ("/wire-much/pause", test_much_and_pause);
  g_test_add_func ("/wire-much/free", test_much_and_free);
  g_test_add_func ("/wire-much/finish", test_much_and_finish);

  return g_test_run ();
}
