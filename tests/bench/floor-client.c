/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * The least that a client can be: it writes requests to a provider and looks for the replies, and
 * parses and decodes nothing, so that what is measured with it is the provider.
 *
 *   floor-client CASE COUNT PROVIDER [ARGUMENT…]
 *
 * CASE is "capabilities", "read", or "exec", each COUNT times and one after the other; "ahead",
 * which is "read" with 64 of them in flight; or "write", COUNT MiB at once. It opens a session with
 * the profile in FLOOR_PROFILE on the directory FLOOR_WORKSPACE, and prints the seconds.
 */

#define N_AHEAD 64

static int to_provider;
static int from_provider;
static char *buffer;
static size_t capacity = 256 << 10;
static size_t length;
static size_t start;

static void
die (const char *what)
{
  perror (what);
  exit (1);
}

static void
send_bytes (const char *data,
            size_t      size)
{
  while (size > 0)
    {
      const ssize_t n = write (to_provider, data, size);

      if (n < 0)
        die ("write");
      data += n;
      size -= (size_t) n;
    }
}

/* The next line, which stays until the one after. */
static char *
read_line (size_t *size)
{
  size_t scanned = start;

  for (;;)
    {
      char *newline = memchr (buffer + scanned, '\n', length - scanned);
      ssize_t n;

      if (newline != NULL)
        {
          char *line = buffer + start;

          *size = (size_t) (newline - line);
          start = (size_t) (newline + 1 - buffer);
          return line;
        }

      memmove (buffer, buffer + start, length - start);
      length -= start;
      start = 0;
      scanned = length;
      if (length == capacity)
        buffer = realloc (buffer, capacity *= 2);
      n = read (from_provider, buffer + length, capacity - length);
      if (n <= 0)
        die ("read");
      length += (size_t) n;
    }
}

static int
begins_with_member (const char *line,
                    size_t      size,
                    const char *member)
{
  return memmem (line, size < 120 ? size : 120, member, strlen (member)) != NULL;
}

/* Passes over events. */
static char *
read_reply (size_t *size)
{
  for (;;)
    {
      char *line = read_line (size);

      if (begins_with_member (line, *size, "\"error\":"))
        {
          fprintf (stderr, "%.*s\n", (int) *size, line);
          exit (1);
        }
      if (begins_with_member (line, *size, "\"result\":"))
        return line;
    }
}

static double
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec + (double) time.tv_nsec / 1e9;
}

static void
request (long        number,
         const char *method,
         const char *session,
         const char *rest)
{
  char line[8192];
  const int size = snprintf (line, sizeof line,
                             "{\"id\":\"req_%ld\",\"method\":\"%s\",\"params\":{%s%s%s}}\n", number,
                             method, session != NULL ? "\"session\":" : "",
                             session != NULL ? session : "", rest);

  send_bytes (line, (size_t) size);
}

static char *
open_session (void)
{
  const char *workspace = getenv ("FLOOR_WORKSPACE");
  const char *profile = getenv ("FLOOR_PROFILE");
  char rest[4096];
  char *line, *result;
  size_t size;

  snprintf (rest, sizeof rest,
            "\"metadata\":{\"protocol_version\":\"sandbox.v1\",\"request_id\":\"r\","
            "\"sandbox_group_id\":\"bench\"},\"profile\":{\"provider\":\"bwrap\",\"name\":\"%s\"},"
            "\"workspace_sync\":{\"host_path\":\"%s\"}",
            profile != NULL ? profile : "default", workspace != NULL ? workspace : "/");
  request (0, "open", NULL, rest);
  line = read_reply (&size);
  result = strndup (line, size);
  line = strstr (result, "\"result\":") + 9;
  line[strlen (line) - 1] = '\0';

  return line;
}

static void
start_provider (char **argv)
{
  int in[2], out[2];

  if (pipe (in) != 0 || pipe (out) != 0)
    die ("pipe");

  if (fork () == 0)
    {
      dup2 (in[0], STDIN_FILENO);
      dup2 (out[1], STDOUT_FILENO);
      close (in[0]);
      close (in[1]);
      close (out[0]);
      close (out[1]);
      execvp (argv[0], argv);
      die (argv[0]);
    }

  close (in[0]);
  close (out[1]);
  to_provider = in[1];
  from_provider = out[0];
}

static void
write_file (const char *session,
            long        mib)
{
  const size_t encoded = ((size_t) mib << 20) / 3 * 4;
  char *line = malloc (encoded + 8192);
  const int head = snprintf (line, 8192,
                             "{\"id\":\"req_1\",\"method\":\"write_file\",\"params\":{"
                             "\"session\":%s,\"path\":\"bench-file\",\"content_base64\":\"",
                             session);
  size_t size;

  memset (line + head, 'A', encoded);
  memcpy (line + head + encoded, "\"}}\n", 4);
  send_bytes (line, (size_t) head + encoded + 4);
  read_reply (&size);
  free (line);
}

static void
run_case (const char *name,
          long        count,
          const char *session)
{
  const int ahead = strcmp (name, "ahead") == 0 ? N_AHEAD : 1;
  const char *method = strcmp (name, "exec") == 0           ? "exec"
                       : strcmp (name, "capabilities") == 0 ? "capabilities"
                                                            : "read_file";
  const char *rest = strcmp (name, "exec") == 0           ? ",\"argv\":[\"true\"]"
                     : strcmp (name, "capabilities") == 0 ? ""
                                                          : ",\"path\":\"bench-file\"";
  long sent = 0;
  size_t size;

  if (strcmp (name, "capabilities") == 0)
    session = NULL;

  for (long done = 0; done < count; done++)
    {
      for (; sent < count && sent - done < ahead; sent++)
        request (sent + 1, method, session, rest);
      read_reply (&size);
    }
}

int
main (int    argc,
      char **argv)
{
  char *session;
  double begin;
  size_t size;

  if (argc < 4)
    return 2;

  buffer = malloc (capacity);
  start_provider (argv + 3);
  session = open_session ();
  request (0, "write_file", session, ",\"path\":\"bench-file\",\"content_base64\":\"eHl6\"");
  read_reply (&size);

  begin = now ();
  if (strcmp (argv[1], "write") == 0)
    write_file (session, strtol (argv[2], NULL, 10));
  else
    run_case (argv[1], strtol (argv[2], NULL, 10), session);
  printf ("%.9f\n", now () - begin);

  request (0, "close", session, "");
  read_reply (&size);
  request (0, "shutdown", NULL, "");
  read_reply (&size);
  close (to_provider);
  while (wait (NULL) > 0)
    ;

  return 0;
}
