/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "fake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB (1024 * 1024)

static char *last_id;
static int shared = -1;

void
fake_write (int         fd,
            const void *bytes,
            gsize       size)
{
  const char *at = bytes;

  while (size > 0)
    {
      const gssize n = write (fd, at, size);

      if (n < 0 && errno == EINTR)
        continue;
      /* Who read it is gone, and so are we. */
      if (n < 0)
        fake_leave ();
      at += n;
      size -= (gsize) n;
    }
}

/* From here on several processes write lines. */
void
fake_share_output (void)
{
  shared = memfd_create ("output", MFD_CLOEXEC);
}

void
fake_lock_output (gboolean locked)
{
  struct flock lock = { .l_type = locked ? F_WRLCK : F_UNLCK, .l_whence = SEEK_SET };

  if (shared >= 0)
    fcntl (shared, F_SETLKW, &lock);
}

void
fake_send (const char *line,
           gsize       size)
{
  const char *end = fake_option ("crlf") != NULL ? "\r\n" : "\n";

  fake_lock_output (TRUE);
  if (fake_option ("blank") != NULL)
    fake_write (1, "\n  \t\r\n", 6);
  if (fake_option ("bom") != NULL)
    fake_write (1, "\xef\xbb\xbf", 3);
  if (fake_option ("dribble") != NULL)
    {
      for (gsize i = 0; i < size; i++)
        fake_write (1, line + i, 1);
    }
  else
    {
      fake_write (1, line, size);
    }
  fake_write (1, end, strlen (end));
  fake_lock_output (FALSE);
}

guchar *
fake_decode_base64 (const char *text,
                    gsize      *size)
{
  g_autofree guchar *bytes = g_base64_decode (text, size);
  g_autoptr(GString) again = g_string_sized_new (strlen (text) + 8);

  fake_append_base64 (again, bytes, *size);
  if (fake_option ("lax-base64") == NULL && !g_str_equal (again->str, text))
    return NULL;
  return g_steal_pointer (&bytes);
}

void
fake_append_base64 (GString    *text,
                    const void *bytes,
                    gsize       size)
{
  const gsize before = text->len;
  int state = 0;
  int save = 0;
  gsize n;

  g_string_set_size (text, before + (size / 3 + 1) * 4 + 4);
  n = g_base64_encode_step (bytes, size, FALSE, text->str + before, &state, &save);
  n += g_base64_encode_close (FALSE, text->str + before + n, &state, &save);
  g_string_truncate (text, before + n);
}

/* What base64 can have wrong with it. */
const char *
fake_broken_base64 (void)
{
  static const char *broken[][2] = {
    { "unpadded", "\"aGk\"" }, { "overpadded", "\"aGk==\"" }, { "character", "\"aG*=\"" },
    { "newline", "\"aG\\nk=\"" }, { "space", "\"aG k=\"" }, { "bits", "\"aGl=\"" },
    { "url", "\"_-8=\"" }, { "inner", "\"aGk=aGk=\"" }, { "one", "\"a\"" }, { "number", "7" },
    { "pads", "\"====\"" }, { "null", "null" }, { "escaped", "\"\\u0061Gk=\"" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (broken); i++)
    if (fake_option_is ("base64", broken[i][0]))
      return broken[i][1];
  return NULL;
}

/* "started" has a process id for its bytes, "exited" an exit code. */
void
fake_send_event (FakeRequest *request,
                 const char  *type,
                 const void  *bytes,
                 gsize        size)
{
  g_autoptr(GString) line = g_string_sized_new (size / 3 * 4 + 128);

  g_string_append (line, "{\"id\":");
  fake_json_append (line, request->id);
  g_string_append_printf (line, ",\"event\":{\"type\":\"%s\"", type);
  if (g_str_equal (type, "started"))
    g_string_append_printf (line, ",\"process_id\":\"%s\"", (const char *) bytes);
  else if (g_str_equal (type, "exited"))
    g_string_append_printf (line, ",\"exit_code\":%s", (const char *) bytes);
  else
    {
      g_string_append (line, ",\"data_base64\":\"");
      fake_append_base64 (line, bytes, size);
      g_string_append_c (line, '"');
    }
  g_string_append (line, "}}");
  fake_send (line->str, line->len);
}

/* Lines that no provider should send. $ID is the request's id, $OLD that of the one before. */
static const struct
{
  const char *kind;
  const char *line;
} kinds[] = {
  { "log", "12:00:01 INFO warming up" },
  { "not-utf8", "\xff\xfe\x80 is no text" },
  { "not-utf8-inside", "{\"id\":\"$ID\",\"result\":{\"exit_code\":0,\"x\":\"\xff\"}}" },
  { "number", "42" },
  { "array", "[\"$ID\",{\"exit_code\":0}]" },
  { "two-roots", "{\"id\":\"$ID\",\"result\":{\"exit_code\":0}} {}" },
  { "comment", "{\"id\":\"$ID\",/* fine */\"result\":{\"exit_code\":0}}" },
  { "number-id", "{\"id\":1,\"result\":{\"exit_code\":9}}" },
  { "null-id", "{\"id\":null,\"result\":{\"exit_code\":9}}" },
  { "object-id", "{\"id\":{},\"result\":{\"exit_code\":9}}" },
  { "empty-id", "{\"id\":\"\",\"result\":{\"exit_code\":9}}" },
  { "no-id", "{\"result\":{\"exit_code\":9}}" },
  { "foreign-id", "{\"id\":\"somebody's\",\"result\":{\"exit_code\":9}}" },
  { "later-id", "{\"id\":\"req_999999\",\"result\":{\"exit_code\":9}}" },
  { "padded-id", "{\"id\":\"req_0$NUMBER\",\"result\":{\"exit_code\":9}}" },
  { "spaced-id", "{\"id\":\" $ID\",\"result\":{\"exit_code\":9}}" },
  { "old-id", "{\"id\":\"$OLD\",\"result\":{\"exit_code\":9}}" },
  { "old-event", "{\"id\":\"$OLD\",\"event\":{\"type\":\"stdout\",\"data_base64\":\"b2xk\"}}" },
  { "only-id", "{\"id\":\"$ID\"}" },
  { "nulls", "{\"id\":\"$ID\",\"event\":null,\"error\":null,\"result\":null}" },
  { "null-result", "{\"id\":\"$ID\",\"result\":null}" },
  { "array-result", "{\"id\":\"$ID\",\"result\":[]}" },
  { "text-result", "{\"id\":\"$ID\",\"result\":\"done\"}" },
  { "empty-result", "{\"id\":\"$ID\",\"result\":{}}" },
  { "second-result", "{\"id\":\"$ID\",\"result\":{\"exit_code\":9}}" },
  { "text-error", "{\"id\":\"$ID\",\"error\":\"it is broken\"}" },
  { "empty-error", "{\"id\":\"$ID\",\"error\":{}}" },
  { "number-code", "{\"id\":\"$ID\",\"error\":{\"code\":5,\"message\":\"five\"}}" },
  { "error+result", ("{\"id\":\"$ID\",\"error\":{\"code\":\"both\",\"message\":\"error\"},"
                    "\"result\":{\"exit_code\":0}}") },
  { "event+result", ("{\"id\":\"$ID\",\"event\":{\"type\":\"stdout\",\"data_base64\":\"aGk=\"},"
                    "\"result\":{\"exit_code\":0}}") },
  { "event+error", ("{\"id\":\"$ID\",\"event\":{\"type\":\"stdout\",\"data_base64\":\"aGk=\"},"
                   "\"error\":{\"code\":\"both\",\"message\":\"event\"}}") },
  { "event", "{\"id\":\"$ID\",\"event\":{\"type\":\"stdout\",\"data_base64\":\"bGF0ZQ==\"}}" },
  { "event-text", "{\"id\":\"$ID\",\"event\":\"stdout\"}" },
  { "event-no-type", "{\"id\":\"$ID\",\"event\":{\"data_base64\":\"aGk=\"}}" },
  { "event-number-type", "{\"id\":\"$ID\",\"event\":{\"type\":1}}" },
  { "event-unknown", "{\"id\":\"$ID\",\"event\":{\"type\":\"progress\",\"percent\":50}}" },
  { "event-no-data", "{\"id\":\"$ID\",\"event\":{\"type\":\"stdout\"}}" },
  { "event-null-data", "{\"id\":\"$ID\",\"event\":{\"type\":\"stdout\",\"data_base64\":null}}" },
  { "event-number-data", "{\"id\":\"$ID\",\"event\":{\"type\":\"stdout\",\"data_base64\":5}}" },
  { "event-bad-base64", ("{\"id\":\"$ID\",\"event\":{\"type\":\"stdout\","
                        "\"data_base64\":\"a*==\"}}") },
  { "event-huge-exit", ("{\"id\":\"$ID\",\"event\":{\"type\":\"exited\","
                       "\"exit_code\":3000000000}}") },
  { "event-no-exit", "{\"id\":\"$ID\",\"event\":{\"type\":\"exited\"}}" },
  { "big-integer", "{\"id\":\"$ID\",\"result\":{\"exit_code\":9223372036854775808}}" },
  { "huge-float", "{\"id\":\"$ID\",\"result\":{\"exit_code\":1e400}}" },
  { "lone-surrogate", "{\"id\":\"$ID\",\"result\":{\"exit_code\":0,\"process_id\":\"\\ud800\"}}" },
  { "nul-escape", "{\"id\":\"$ID\",\"result\":{\"exit_code\":0,\"process_id\":\"a\\u0000b\"}}" },
  { "nul-byte", "{\"id\":\"$ID\",\"result\":{\"exit_code\":0,\"process_id\":\"a\1b\"}}" },
  { "duplicate", "{\"id\":\"$ID\",\"result\":{\"exit_code\":0,\"exit_code\":1}}" },
  { "nested", "{\"id\":\"$ID\",\"result\":{\"exit_code\":$NEST}}" },
};

static void
replace (GString    *text,
         const char *what,
         const char *by)
{
  g_string_replace (text, what, by, 0);
}

void
fake_send_kind (FakeRequest *request,
                const char  *kind)
{
  g_autoptr(GString) line = NULL;
  g_autofree char *nest = NULL;
  char *nul;

  for (gsize i = 0; i < G_N_ELEMENTS (kinds) && line == NULL; i++)
    if (g_str_equal (kinds[i].kind, kind))
      line = g_string_new (kinds[i].line);
  if (line == NULL && g_str_equal (kind, "env"))
    line = g_string_new (g_getenv ("FAKE_LINE"));
  if (line == NULL)
    {
      g_printerr ("fake-provider: no line is called %s\n", kind);
      _exit (70);
    }
  nest = g_strnfill (100000, '[');
  replace (line, "$ID", request->id);
  replace (line, "$NUMBER", g_str_has_prefix (request->id, "req_") ? request->id + 4 : "0");
  replace (line, "$OLD", last_id != NULL ? last_id : "req_0");
  replace (line, "$NEST", nest);
  nul = strchr (line->str, '\1');
  if (nul != NULL)
    *nul = '\0';
  fake_send (line->str, line->len);
}

/* "amount" MiB of it, to the error stream, or as one line that does not end to the output. */
void
fake_flood (void)
{
  const char *what = fake_option ("flood");
  const gint64 amount = fake_option_number ("amount", 64);
  const int fd = g_str_equal (what, "output") ? 1 : 2;
  g_autofree char *block = g_malloc (MIB);

  memset (block, 'x', MIB);
  if (g_str_equal (what, "lines"))
    {
      for (gsize i = 79; i < MIB; i += 80)
        block[i] = '\n';
    }
  else if (g_str_equal (what, "binary"))
    {
      for (gsize i = 0; i < MIB; i++)
        block[i] = (char) (i * 7 + i / 251);
    }
  else if (g_str_equal (what, "not-utf8"))
    {
      memset (block, '\xff', MIB);
    }
  for (gint64 i = 0; i < amount; i++)
    fake_write (fd, block, MIB);
  if (fd == 1)
    fake_write (fd, "\n", 1);
}

static void
send_answer (FakeRequest *request,
             GString     *line)
{
  if (fake_option_for ("half", request->method))
    {
      fake_write (1, line->str, line->len / 2);
      _exit (0);
    }
  if (fake_option_for ("unended", request->method))
    {
      fake_write (1, line->str, line->len);
      _exit (0);
    }
  fake_send (line->str, line->len);
}

static void
answer_line (FakeRequest *request,
             GString     *line)
{
  const gboolean here = fake_option_for ("at", request->method) ||
                        (fake_option ("at") == NULL && g_str_equal (request->method, "exec"));

  if (here && fake_option ("flood") != NULL)
    fake_flood ();
  if (here && fake_option ("before") != NULL)
    fake_send_kind (request, fake_option ("before"));
  if (fake_option_for ("die-during", request->method))
    {
      if (!g_str_equal (request->method, "exec"))
        fake_write (1, line->str, line->len / 2);
      fake_die ();
    }
  if (here && fake_option ("instead") != NULL)
    fake_send_kind (request, fake_option ("instead"));
  else
    send_answer (request, line);
  if (here && fake_option ("behind") != NULL)
    fake_send_kind (request, fake_option ("behind"));
  if (fake_option_for ("die-after", request->method))
    fake_die ();
  if (fake_option_for ("deaf", request->method))
    fake_hang ();
  g_free (last_id);
  last_id = g_strdup (request->id);
}

void
fake_answer (FakeRequest *request,
             const char  *result)
{
  g_autoptr(GString) line = g_string_sized_new (strlen (result) + 128);

  g_string_append (line, "{\"id\":");
  fake_json_append (line, request->id);
  g_string_append (line, ",\"result\":");
  g_string_append (line, result);
  g_string_append_c (line, '}');
  answer_line (request, line);
}

void
fake_answer_error (FakeRequest *request,
                   const char  *code,
                   const char  *message,
                   gboolean     retryable)
{
  g_autoptr(GString) line = g_string_new ("{\"id\":");

  fake_json_append (line, request->id);
  g_string_append (line, ",\"error\":{\"code\":");
  fake_json_append (line, code);
  g_string_append (line, ",\"message\":");
  fake_json_append (line, message);
  g_string_append_printf (line, ",\"retryable\":%s}}", retryable ? "true" : "false");
  answer_line (request, line);
}
