/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * The least that a provider can be: it answers sandbox.v1 from memory and parses no JSON, so that
 * what is measured with it is the client. It looks for "id" and "method" at the head of a line.
 *
 *   FLOOR_PAYLOAD   bytes that read_file answers with (100)
 *   FLOOR_STREAM    MiB of standard output that exec streams (0)
 *   FLOOR_CHUNK     bytes of each event of it (65536)
 *   FLOOR_REPEAT    1: the result repeats all output
 */

#define HEAD_SIZE 256

static char *buffer;
static size_t capacity = 1 << 20;
static size_t length;

static size_t
get_size (const char *name,
          size_t      otherwise)
{
  const char *value = getenv (name);

  return value != NULL ? strtoull (value, NULL, 10) : otherwise;
}

/* Base64 of that many bytes: which ones is all the same. */
static char *
make_base64 (size_t size)
{
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const size_t whole = (size + 2) / 3 * 4;
  char *text = malloc (whole + 1);

  for (size_t i = 0; i < whole; i++)
    text[i] = alphabet[(i * 7 + i / 61) % 64];
  if (size % 3 == 1)
    memcpy (text + whole - 3, "Q==", 3);
  else if (size % 3 == 2)
    memcpy (text + whole - 2, "A=", 2);
  text[whole] = '\0';

  return text;
}

static void
write_all (struct iovec *parts,
           int           n_parts)
{
  while (n_parts > 0)
    {
      ssize_t n = writev (STDOUT_FILENO, parts, n_parts);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        exit (3);

      while (n_parts > 0 && (size_t) n >= parts->iov_len)
        {
          n -= (ssize_t) parts->iov_len;
          parts++;
          n_parts--;
        }
      if (n_parts > 0)
        {
          parts->iov_base = (char *) parts->iov_base + n;
          parts->iov_len -= (size_t) n;
        }
    }
}

/* @id with its quotation marks. */
static void
reply (const char *id,
       size_t      id_length,
       const char *begin,
       const char *payload,
       const char *end)
{
  struct iovec parts[] = {
    { (char *) "{\"id\":", 6 },
    { (char *) id, id_length },
    { (char *) begin, strlen (begin) },
    { (char *) payload, strlen (payload) },
    { (char *) end, strlen (end) },
  };

  write_all (parts, 5);
}

static void
answer_exec (const char *id,
             size_t      id_length)
{
  static char *chunk, *all;
  const size_t size = get_size ("FLOOR_CHUNK", 65536);
  const size_t total = get_size ("FLOOR_STREAM", 0) << 20;
  const int repeat = (int) get_size ("FLOOR_REPEAT", 0);

  if (chunk == NULL)
    chunk = make_base64 (size);
  if (all == NULL)
    all = make_base64 (repeat ? total : 0);

  reply (id, id_length, ",\"event\":{\"type\":\"started\",\"process_id\":\"1\"}}\n", "", "");
  for (size_t sent = 0; sent + size <= total; sent += size)
    reply (id, id_length, ",\"event\":{\"type\":\"stdout\",\"data_base64\":\"", chunk, "\"}}\n");
  reply (id, id_length, ",\"event\":{\"type\":\"exited\",\"exit_code\":0}}\n", "", "");
  reply (id, id_length, ",\"result\":{\"exit_code\":0,\"stderr_base64\":\"\",\"stdout_base64\":\"",
         all, "\"}}\n");
}

static void
answer (char *line)
{
  static char *payload;
  const char *id = strstr (line, "\"id\":");
  const char *method = strstr (line, "\"method\":\"");
  const char *end;

  if (id == NULL || method == NULL)
    return;

  id += 5;
  end = strchr (id + 1, '"') + 1;
  method += 10;
  if (payload == NULL)
    payload = make_base64 (get_size ("FLOOR_PAYLOAD", 100));

  if (strncmp (method, "read_file\"", 10) == 0)
    reply (id, (size_t) (end - id), ",\"result\":{\"content_base64\":\"", payload, "\"}}\n");
  else if (strncmp (method, "exec\"", 5) == 0)
    answer_exec (id, (size_t) (end - id));
  else if (strncmp (method, "open\"", 5) == 0)
    reply (id, (size_t) (end - id),
           ",\"result\":{\"id\":\"s\",\"cwd\":\"/work\",\"capabilities\":{\"exec\":true}}}\n", "",
           "");
  else if (strncmp (method, "capabilities\"", 13) == 0)
    reply (id, (size_t) (end - id), ",\"result\":{\"exec\":true}}\n", "", "");
  else
    reply (id, (size_t) (end - id), ",\"result\":{}}\n", "", "");

  if (strncmp (method, "shutdown\"", 9) == 0)
    exit (0);
}

static void
handle_lines (size_t from)
{
  char *begin = buffer;
  char *newline;

  while ((newline = memchr (buffer + from, '\n', length - from)) != NULL)
    {
      char head[HEAD_SIZE + 1];
      const size_t size = (size_t) (newline - begin) < HEAD_SIZE ? (size_t) (newline - begin)
                                                                 : HEAD_SIZE;

      memcpy (head, begin, size);
      head[size] = '\0';
      answer (head);
      begin = newline + 1;
      from = (size_t) (begin - buffer);
    }

  length -= (size_t) (begin - buffer);
  memmove (buffer, begin, length);
}

int
main (void)
{
  buffer = malloc (capacity);

  for (;;)
    {
      const size_t from = length;
      ssize_t n;

      if (length == capacity)
        buffer = realloc (buffer, capacity *= 2);

      n = read (STDIN_FILENO, buffer + length, capacity - length);
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return 0;

      length += (size_t) n;
      handle_lines (from);
    }
}
