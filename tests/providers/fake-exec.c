/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "fake.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK 16384

static GArray *spawned;
static pid_t running;           /* what exec waits for, or 0 */

typedef struct
{
  pid_t    pid;
  int      in;          /* -1 once it is closed */
  int      out[2];
  int      failure;     /* errno of what kept it from starting, or 0 */
  guchar  *input;
  gsize    input_size;
  gsize    written;
  GString *collected[2];
} Child;

static GPtrArray *
read_argv (FakeRequest *request)
{
  GPtrArray *argv = g_ptr_array_new_with_free_func (g_free);
  const FakeText array = fake_json_member (request->params, "argv");
  gsize position = 0;
  FakeText element;

  while ((element = fake_json_element (array, &position)).data != NULL)
    g_ptr_array_add (argv, fake_json_string (element));
  g_ptr_array_add (argv, NULL);
  return argv;
}

static char **
read_environment (FakeRequest *request)
{
  char **environment = g_get_environ ();
  const FakeText env = fake_json_member (request->params, "env");
  gsize position = 0;
  FakeText name;

  while ((name = fake_json_element (env, &position)).data != NULL)
    {
      const FakeText value = fake_json_element (env, &position);
      g_autofree char *name_text = fake_json_string (name);
      g_autofree char *value_text = fake_json_string (value);

      environment = g_environ_setenv (environment, name_text, value_text, TRUE);
    }
  return environment;
}

/* In the child: everything that is wrong goes back through @report. */
static void
become (Child       *child,
        int          in,
        int          out,
        int          err,
        int          report,
        FakeRequest *request,
        const char  *cwd)
{
  g_autoptr(GPtrArray) argv = read_argv (request);
  g_auto(GStrv) environment = read_environment (request);
  g_autofree char *below = fake_json_string (fake_json_member (request->params, "cwd"));

  if (fake_option ("orphans") == NULL)
    prctl (PR_SET_PDEATHSIG, SIGKILL);
  setpgid (0, 0);
  signal (SIGTERM, SIG_DFL);
  signal (SIGPIPE, SIG_DFL);
  dup2 (in, 0);
  dup2 (out, 1);
  dup2 (err, 2);
  if (chdir (cwd) == 0 && (below == NULL || *below == '\0' || chdir (below) == 0))
    execvpe (g_ptr_array_index (argv, 0), (char **) argv->pdata, environment);
  child->failure = errno;
  fake_write (report, &child->failure, sizeof child->failure);
  _exit (127);
}

static void
start (Child       *child,
       FakeRequest *request,
       const char  *cwd,
       gboolean     captured)
{
  g_autofree char *input = fake_json_string (fake_json_member (request->params, "stdin_base64"));
  const int null_fd = open ("/dev/null", O_RDWR | O_CLOEXEC);
  int in[2] = { -1, -1 }, out[2] = { -1, -1 }, err[2] = { -1, -1 }, report[2];

  *child = (Child) { .in = -1, .out = { -1, -1 } };
  if (pipe2 (report, O_CLOEXEC) != 0 || (input != NULL && pipe2 (in, O_CLOEXEC) != 0) ||
      (captured && (pipe2 (out, O_CLOEXEC) != 0 || pipe2 (err, O_CLOEXEC) != 0)))
    fake_die ();
  if (input != NULL)
    child->input = g_base64_decode (input, &child->input_size);

  child->pid = fork ();
  if (child->pid == 0)
    become (child, input != NULL ? in[0] : null_fd, captured ? out[1] : null_fd,
            captured ? err[1] : null_fd, report[1], request, cwd);
  setpgid (child->pid, child->pid);
  if (captured)
    running = child->pid;
  close (report[1]);
  close (null_fd);
  if (input != NULL)
    {
      close (in[0]);
      child->in = in[1];
      fcntl (child->in, F_SETFL, O_NONBLOCK);
    }
  if (captured)
    {
      close (out[1]);
      close (err[1]);
      child->out[0] = out[0];
      child->out[1] = err[0];
    }
  if (read (report[0], &child->failure, sizeof child->failure) != sizeof child->failure)
    child->failure = 0;
  close (report[0]);
}

static void
close_input (Child *child)
{
  if (child->in >= 0)
    close (child->in);
  child->in = -1;
}

static void
write_input (Child *child)
{
  gssize n = 0;

  if (child->written < child->input_size)
    n = write (child->in, child->input + child->written, child->input_size - child->written);
  if (n > 0)
    child->written += (gsize) n;
  if (child->written == child->input_size || (n < 0 && errno != EAGAIN && errno != EINTR))
    close_input (child);
}

static void
relay (Child       *child,
       FakeRequest *request)
{
  static const char *names[2] = { "stdout", "stderr" };
  g_autofree char *chunk = g_malloc (CHUNK);

  while (child->out[0] >= 0 || child->out[1] >= 0)
    {
      struct pollfd fds[4] = {
        { .fd = child->out[0], .events = POLLIN },
        { .fd = child->out[1], .events = POLLIN },
        { .fd = child->in, .events = POLLOUT },
        { .fd = 0, .events = 0 },
      };

      poll (fds, 4, -1);
      if (fds[3].revents & (POLLHUP | POLLERR))
        fake_leave ();
      if (child->in >= 0 && fds[2].revents != 0)
        write_input (child);
      for (int i = 0; i < 2; i++)
        {
          gssize n;

          if (child->out[i] < 0 || fds[i].revents == 0)
            continue;
          n = read (child->out[i], chunk, CHUNK);
          if (n > 0)
            {
              fake_send_event (request, names[i], chunk, (gsize) n);
              g_string_append_len (child->collected[i], chunk, n);
              continue;
            }
          close (child->out[i]);
          child->out[i] = -1;
        }
    }
  close_input (child);
}

/* Nobody is there any more who could want to know. */
void
fake_leave (void)
{
  if (fake_option ("orphans") == NULL)
    {
      if (running > 0)
        kill (-running, SIGKILL);
      fake_end_spawned ();
    }
  _exit (0);
}

static char *
exit_code_of (pid_t pid)
{
  int status;

  while (waitpid (pid, &status, 0) < 0 && errno == EINTR)
    ;
  running = 0;
  return g_strdup_printf ("%d", WIFEXITED (status) ? WEXITSTATUS (status) : -WTERMSIG (status));
}

static void
append_output (GString    *result,
               const char *name,
               GString    *bytes)
{
  const char *output = fake_option ("result");
  const char *broken = fake_broken_base64 ();

  /* "result" is about what it says of the output: nothing, empty, less or more than the events did,
   * or something else. */
  if (g_strcmp0 (output, "silent") == 0)
    return;
  if (broken != NULL && g_str_equal (name, "stdout"))
    {
      g_string_append_printf (result, ",\"%s_base64\":%s", name, broken);
      return;
    }
  g_string_append_printf (result, ",\"%s_base64\":\"", name);
  if (g_strcmp0 (output, "less") == 0)
    fake_append_base64 (result, bytes->str, bytes->len / 2);
  else if (g_strcmp0 (output, "other") == 0)
    fake_append_base64 (result, "another", 7);
  else if (g_strcmp0 (output, "empty") != 0)
    fake_append_base64 (result, bytes->str, bytes->len);
  g_string_append_c (result, '"');
}

static void
finish_exec (FakeRequest *request,
             const char  *exit_code,
             GString     *out,
             GString     *err)
{
  g_autoptr(GString) result = g_string_new (NULL);
  const char *said = fake_option ("exit-code");

  fake_send_event (request, "exited", exit_code, 0);
  if (said == NULL || *said != '\0')
    g_string_append_printf (result, "{\"exit_code\":%s", said != NULL ? said : exit_code);
  else
    g_string_append (result, "{\"nothing\":0");
  append_output (result, "stdout", out);
  append_output (result, "stderr", err);
  g_string_append_c (result, '}');
  fake_answer (request, result->str);
}

/* "size" MiB of output in events of "chunk" KiB, repeated in the result or not. The bytes count up,
 * each block from its own number on. */
static void
stream (FakeRequest *request)
{
  const gint64 size = fake_option_number ("size", 64) * 1024 * 1024;
  const gsize chunk = (gsize) fake_option_number ("chunk", 64) * 1024;
  const gboolean repeated = fake_option_is ("output", "repeat");
  g_autofree guchar *block = g_malloc (chunk);
  g_autoptr(GString) out = g_string_new (NULL);
  g_autoptr(GString) err = g_string_new (NULL);

  fake_send_event (request, "started", "p1", 0);
  for (gint64 done = 0, n = 0; done < size; done += (gint64) chunk, n++)
    {
      for (gsize i = 0; i < chunk; i++)
        block[i] = (guchar) (i + (gsize) n);
      if (!fake_option_is ("output", "result-only"))
        fake_send_event (request, "stdout", block, chunk);
      if (repeated || fake_option_is ("output", "result-only"))
        g_string_append_len (out, (char *) block, (gssize) chunk);
      if (fake_option ("delay") != NULL)
        g_usleep ((gulong) fake_option_number ("delay", 10) * 1000);
    }
  finish_exec (request, "0", out, err);
}

/* "exec-script": no command is run, and the output is what the test knows. */
static gboolean
scripted (FakeRequest *request)
{
  g_autoptr(GString) out = g_string_new ("hello");
  g_autoptr(GString) err = g_string_new ("oh");

  if (fake_option ("output") != NULL)
    {
      stream (request);
      return TRUE;
    }
  if (fake_option ("events") == NULL)
    return FALSE;

  fake_send_event (request, "started", "p1", 0);
  if (!fake_option_is ("events", "none"))
    fake_send_event (request, "stdout", out->str, fake_option_is ("events", "less") ? 2 : out->len);
  if (fake_option_is ("events", "all"))
    fake_send_event (request, "stderr", err->str, err->len);
  if (fake_option_is ("events", "other"))
    fake_send_event (request, "stderr", "something else", 14);
  finish_exec (request, "0", out, err);
  return TRUE;
}

void
fake_exec (FakeRequest *request,
           const char  *cwd)
{
  g_autoptr(GString) out = NULL;
  g_autoptr(GString) err = NULL;
  g_autofree char *exit_code = NULL;
  g_autofree char *name = NULL;
  Child child;

  if (fake_option_for ("die-during", "exec"))
    {
      fake_send_event (request, "started", "p1", 0);
      fake_send_event (request, "stdout", "last", 4);
      fake_die ();
    }
  if (scripted (request))
    return;

  out = g_string_new (NULL);
  err = g_string_new (NULL);
  start (&child, request, cwd, TRUE);
  child.collected[0] = out;
  child.collected[1] = err;
  if (child.failure == 0)
    {
      name = g_strdup_printf ("%d", (int) child.pid);
      fake_send_event (request, "started", name, 0);
    }
  relay (&child, request);
  exit_code = exit_code_of (child.pid);
  g_free (child.input);
  if (child.failure != 0)
    fake_answer_error (request, "exec_failed", g_strerror (child.failure), FALSE);
  else
    finish_exec (request, exit_code, out, err);
}

void
fake_spawn (FakeRequest *request,
            const char  *cwd)
{
  g_autofree char *name = NULL;
  g_autofree char *result = NULL;
  Child child;

  start (&child, request, cwd, FALSE);
  while (child.in >= 0)
    {
      struct pollfd fd = { .fd = child.in, .events = POLLOUT };

      poll (&fd, 1, -1);
      write_input (&child);
    }
  g_free (child.input);
  if (child.failure != 0)
    {
      waitpid (child.pid, NULL, 0);
      fake_answer_error (request, "exec_failed", g_strerror (child.failure), FALSE);
      return;
    }
  if (spawned == NULL)
    spawned = g_array_new (FALSE, FALSE, sizeof (pid_t));
  g_array_append_val (spawned, child.pid);
  name = g_strdup_printf ("%d", (int) child.pid);
  result = g_strdup_printf ("{\"process_id\":\"%s\"}", name);
  fake_send_event (request, "started", name, 0);
  fake_answer (request, result);
}

void
fake_end_spawned (void)
{
  for (gsize i = 0; spawned != NULL && i < spawned->len; i++)
    {
      const pid_t pid = g_array_index (spawned, pid_t, i);

      kill (-pid, SIGKILL);
      waitpid (pid, NULL, 0);
    }
  if (spawned != NULL)
    g_array_set_size (spawned, 0);
}
