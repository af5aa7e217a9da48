/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "escape.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Everything ends when it is to end. */

/* For what must become true by itself; far from what a slow machine takes. */
#define SETTLE_S 15

static gboolean
becomes_zero (const char *text)
{
  const gint64 deadline = g_get_monotonic_time () + SETTLE_S * G_USEC_PER_SEC;

  while (escape_count (text) > 0)
    {
      if (g_get_monotonic_time () > deadline)
        return FALSE;

      g_usleep (10000);
    }

  return TRUE;
}

/* Nobody is left who was not there before: neither as seen from inside nor from outside. */
static void
assert_alone (EscapeBox *box)
{
  g_autofree char *output = escape_attack (box, "processes", NULL);

  escape_assert (output, "processes", 3);
  escape_assert (output, "strangers", 0);
  g_assert_cmpuint (escape_count (box->attack), ==, 0);
}

typedef struct
{
  const char     *name;
  guint           timeout;
  SbxExecOutcome  outcome;
} Survivor;

static void
test_survivor (gconstpointer data)
{
  const Survivor *survivor = data;
  g_auto(EscapeBox) box = { 0 };
  g_autoptr(SbxCommand) command = NULL;
  g_autoptr(SbxExecResult) result = NULL;

  escape_open (&box);
  command = escape_command (&box, survivor->name, NULL);
  sbx_command_set_timeout (command, survivor->timeout);
  result = escape_exec (&box, command);

  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, survivor->outcome);
  assert_alone (&box);

  /* And the sandbox is as good as before. */
  g_assert_cmpint (sbx_session_get_state (box.session), ==, SBX_SESSION_STATE_OPEN);
}

/* Another command takes the supervisor away from a command that goes on. */
static void
test_other_supervisor (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autoptr(SbxCommand) victim = NULL;
  g_autoptr(SbxProcess) process = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *output = NULL;

  escape_open (&box);
  victim = escape_command (&box, "other-reaper", NULL);
  process = escape_hold (&box, victim, NULL);
  output = escape_attack (&box, "kill-other-supervisors", NULL);
  escape_assert (output, "killed", 1);

  result = sbx_process_wait (process, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_LOST);
  assert_alone (&box);
}

/* Closing ends it all, whatever it does. */
static void
test_close (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autoptr(SbxCommand) command = NULL;
  g_autoptr(SbxProcess) process = NULL;

  escape_open (&box);
  command = escape_command (&box, "other-reaper", NULL);
  process = escape_hold (&box, command, NULL);
  g_assert_cmpuint (escape_count (box.attack), ==, 4);
  escape_close (&box);
  g_assert_cmpuint (escape_count (box.attack), ==, 0);
}

/* The host program of the next test: this program once more. It opens a sandbox, has something run
 * in it, has a child of its own that keeps all it has open, and waits to be killed. */
static G_NORETURN void
be_host (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autoptr(SbxCommand) command = NULL;
  g_autoptr(SbxProcess) process = NULL;
  pid_t child;

  escape_open (&box);
  command = escape_command (&box, "hold", NULL);
  process = escape_hold (&box, command, NULL);

  child = fork ();
  if (child == 0)
    {
      prctl (PR_SET_PDEATHSIG, 0, 0, 0, 0);
      alarm (ESCAPE_DEADLINE_S);
      for (;;)
        pause ();
    }

  dprintf (STDOUT_FILENO, "sandbox %d %s %s\n", (int) child, box.attack, escape_get_root ());
  for (;;)
    pause ();
}

static void
test_killed_host (void)
{
  g_autoptr(GSubprocess) host = NULL;
  g_autoptr(GDataInputStream) lines = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *line = NULL;
  g_auto(GStrv) words = NULL;
  g_autofree char *remove = NULL;
  gboolean ended;
  pid_t child;

  alarm (ESCAPE_DEADLINE_S);
  host = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error, "/proc/self/exe", "--host",
                           NULL);
  g_assert_no_error (error);
  lines = g_data_input_stream_new (g_subprocess_get_stdout_pipe (host));

  /* The test framework of the other program has things to say, too. */
  do
    {
      g_clear_pointer (&line, g_free);
      line = g_data_input_stream_read_line (lines, NULL, NULL, &error);
      g_assert_no_error (error);
      g_assert_nonnull (line);
    }
  while (!g_str_has_prefix (line, "sandbox "));

  words = g_strsplit (line, " ", -1);
  g_assert_cmpuint (g_strv_length (words), ==, 4);
  child = (pid_t) g_ascii_strtoll (words[1], NULL, 10);
  g_assert_cmpint (child, >, 1);
  g_assert_cmpuint (escape_count (words[2]), ==, 1);

  g_subprocess_force_exit (host);
  g_subprocess_wait (host, NULL, NULL);
  ended = becomes_zero (words[2]);

  /* The child has the socket still, and is not what ended it. */
  g_assert_cmpint (kill (child, 0), ==, 0);
  g_assert_cmpint (kill (child, SIGKILL), ==, 0);
  g_assert_true (ended);

  g_assert_true (strstr (words[3], "/sbx-escape-") != NULL);
  remove = g_strdup_printf ("rm -rf --one-file-system '%s'", words[3]);
  escape_outside ("/", remove);
  alarm (0);
}

int
main (int    argc,
      char **argv)
{
  static const Survivor survivors[] = {
    { "daemons", 0, SBX_EXEC_OUTCOME_EXITED },
    { "kill-supervisor", 0, SBX_EXEC_OUTCOME_LOST },
    { "stop-supervisor", 0, SBX_EXEC_OUTCOME_EXITED },
    { "stop-supervisor-and-stay", 500, SBX_EXEC_OUTCOME_TIMED_OUT },
    { "other-reaper", 500, SBX_EXEC_OUTCOME_TIMED_OUT },
    { "bomb", 500, SBX_EXEC_OUTCOME_TIMED_OUT },
  };
  const gboolean is_host = argc == 2 && strcmp (argv[1], "--host") == 0;

  if (is_host)
    argc = 1;

  escape_init (&argc, &argv);
  if (is_host)
    be_host ();

  for (gsize i = 0; i < G_N_ELEMENTS (survivors); i++)
    {
      g_autofree char *path = g_strconcat ("/escape/T4/", survivors[i].name, NULL);

      g_test_add_data_func (path, &survivors[i], test_survivor);
    }
  g_test_add_func ("/escape/T4/other-supervisor", test_other_supervisor);
  g_test_add_func ("/escape/baseline/close", test_close);
  g_test_add_func ("/escape/T22/killed-host", test_killed_host);

  return escape_run ();
}
