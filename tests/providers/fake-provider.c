/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "fake.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static GString *received;       /* of standard input, from the line that is next on */
static gsize consumed;
static int record_fd = -1;
static GHashTable *working;     /* id -> pid, of requests that processes of their own work on */
static GPtrArray *held;         /* requests that are answered in the wrong order */

static void
free_request (FakeRequest *request)
{
  g_free (request->id);
  g_free (request->method);
  g_free ((char *) request->line.data);
  g_free (request);
}

/* The next line, without its newline, or NULL at the end of the input. */
static char *
read_line (void)
{
  gsize looked_at = consumed;

  for (;;)
    {
      const char *end = memchr (received->str + looked_at, '\n', received->len - looked_at);
      gssize n;

      if (end != NULL)
        {
          char *line = g_strndup (received->str + consumed,
                                  (gsize) (end - received->str) - consumed);

          consumed = (gsize) (end - received->str) + 1;
          return line;
        }
      g_string_erase (received, 0, (gssize) consumed);
      looked_at = received->len;
      consumed = 0;
      g_string_set_size (received, looked_at + 65536);
      do
        n = read (0, received->str + looked_at, 65536);
      while (n < 0 && errno == EINTR);
      g_string_truncate (received, looked_at + (gsize) MAX (n, 0));
      if (n <= 0)
        return NULL;
    }
}

/* A client of a plain provider has one request in flight. */
static void
check_alone (void)
{
  struct pollfd fd = { .fd = 0, .events = POLLIN };

  if (consumed < received->len || (poll (&fd, 1, 20) > 0 && (fd.revents & POLLIN)))
    {
      g_printerr ("fake-provider: a request came before the answer to another\n");
      _exit (71);
    }
}

static FakeRequest *
parse_request (char *line)
{
  FakeRequest *request = g_new0 (FakeRequest, 1);

  request->line = (FakeText) { line, strlen (line) };
  request->id = fake_json_string (fake_json_member (request->line, "id"));
  request->method = fake_json_string (fake_json_member (request->line, "method"));
  request->params = fake_json_member (request->line, "params");
  if (request->id == NULL)
    request->id = g_strdup ("unknown");
  return request;
}

static void
shut_down (FakeRequest *request)
{
  fake_end_spawned ();
  fake_answer (request, "{}");
  if (fake_option ("await-eof") != NULL)
    while (read_line () != NULL)
      ;
  if (fake_option ("stay") != NULL)
    fake_hang ();
  if (fake_option ("heir") != NULL)
    fake_leave_heir ();
  exit ((int) fake_option_number ("exit", 0));
}

static void
handle_here (FakeRequest *request)
{
  const char *method = request->method;

  if (fake_option_for ("die-before", method))
    fake_die ();
  if (fake_option_for ("silent", method))
    return;
  if (fake_option_for ("hang", method))
    fake_hang ();
  if (fake_option_for ("slow", method))
    g_usleep ((gulong) fake_option_number ("delay", 100) * 1000);
  if (fake_option ("strict") != NULL)
    check_alone ();
  if (g_str_equal (method, "shutdown"))
    shut_down (request);
  else
    fake_handle (request);
}

static void
reap_workers (void)
{
  GHashTableIter iter;
  gpointer pid;

  g_hash_table_iter_init (&iter, working);
  while (g_hash_table_iter_next (&iter, NULL, &pid))
    if (waitpid (GPOINTER_TO_INT (pid), NULL, WNOHANG) != 0)
      g_hash_table_iter_remove (&iter);
}

static void
handle_cancel (FakeRequest *request)
{
  g_autofree char *id = fake_json_string (fake_json_member (request->params, "request_id"));
  const pid_t pid = GPOINTER_TO_INT (g_hash_table_lookup (working, id));

  if (fake_option_for ("silent", "cancel"))
    return;
  if (pid > 0)
    {
      FakeRequest cancelled = { .id = id, .method = (char *) "cancelled" };

      /* Not in the middle of a line. */
      fake_lock_output (TRUE);
      kill (-pid, SIGKILL);
      waitpid (pid, NULL, 0);
      fake_lock_output (FALSE);
      g_hash_table_remove (working, id);
      fake_answer_error (&cancelled, "cancelled", "it was cancelled", FALSE);
    }
  fake_answer (request, "{}");
}

/* What takes long is done by a process of its own, when several requests may be in flight. */
static gboolean
handle_elsewhere (FakeRequest *request)
{
  static const char *here[] = { "capabilities", "open", "close", "cleanup_group", "shutdown",
                                "spawn", NULL };
  pid_t pid;

  reap_workers ();
  if (g_str_equal (request->method, "cancel"))
    {
      handle_cancel (request);
      return TRUE;
    }
  if (g_strv_contains (here, request->method))
    return FALSE;
  pid = fork ();
  if (pid == 0)
    {
      setpgid (0, 0);
      handle_here (request);
      _exit (0);
    }
  setpgid (pid, pid);
  g_hash_table_insert (working, g_strdup (request->id), GINT_TO_POINTER (pid));
  return TRUE;
}

/* Answers in the wrong order, when "reorder" requests for a file have come. */
static gboolean
hold_back (FakeRequest *request)
{
  if (fake_option ("reorder") == NULL || !g_str_equal (request->method, "read_file"))
    return FALSE;
  g_ptr_array_add (held, request);
  if (held->len < fake_option_number ("reorder", 2))
    return TRUE;
  while (held->len > 0)
    {
      FakeRequest *last = g_ptr_array_steal_index (held, held->len - 1);

      fake_handle (last);
      free_request (last);
    }
  return TRUE;
}

static void
serve (void)
{
  const gboolean multiplex = fake_option ("multiplex") != NULL;
  char *line;

  while ((line = read_line ()) != NULL)
    {
      FakeRequest *request;

      if (record_fd >= 0)
        {
          g_autofree char *whole = g_strconcat (line, "\n", NULL);

          fake_write (record_fd, whole, strlen (whole));
        }
      if (*g_strstrip (line) == '\0')
        {
          g_free (line);
          continue;
        }
      request = parse_request (line);
      if (request->method == NULL)
        fake_answer_error (request, "invalid_request", "this is no request", FALSE);
      else if (hold_back (request))
        continue;
      else if (!multiplex || !handle_elsewhere (request))
        handle_here (request);
      free_request (request);
    }
}

int
main (int   argc,
      char *argv[])
{
  const char *mode = g_getenv ("FAKE_MODE");
  const char *record = g_getenv ("FAKE_RECORD");

  if (argc < 2 || !g_str_equal (argv[argc - 1], "serve"))
    {
      g_printerr ("Usage: %s [OPTION[=VALUE],…] serve\n", argv[0]);
      return 2;
    }
  fake_options_set (argc > 2 ? argv[1] : mode != NULL ? mode : "plain");
  if (record != NULL)
    record_fd = open (record, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  received = g_string_new (NULL);
  working = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  held = g_ptr_array_new ();
  signal (SIGPIPE, fake_option ("die-of-pipe") != NULL ? SIG_DFL : SIG_IGN);
  if (fake_option ("ignore-term") != NULL)
    signal (SIGTERM, SIG_IGN);
  if (fake_option ("multiplex") != NULL)
    fake_share_output ();
  if (fake_option ("die-at-start") != NULL)
    fake_die ();

  serve ();
  fake_end_spawned ();
  if (fake_option ("ignore-eof") != NULL)
    fake_hang ();
  return (int) fake_option_number ("exit", 0);
}
