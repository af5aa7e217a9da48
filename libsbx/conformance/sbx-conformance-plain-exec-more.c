/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conformance-checks-private.h"

#include <string.h>

/* sandbox.v1: how exec and spawn start what they are told to. */

static void
check_argv (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };
  g_autofree char *script = _sbx_trial_quote ("for a; do printf \"[%s]\" \"$a\"; done");
  g_autofree char *odd = _sbx_trial_quote ("a b\"c'd $HOME *\n\\");
  g_autofree char *argv = g_strdup_printf ("['sh','-c',%s,'sh','',%s,'-n','é']", script, odd);

  if (_sbx_seen_exec (&seen, trial, argv, ""))
    _sbx_seen_expect_out (&seen, trial, "[][a b\"c'd $HOME *\n\\][-n][é]");
}

static void
check_env (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };
  g_autofree char *value = _sbx_trial_quote ("a b=c'\"$x\n");
  g_autofree char *more = g_strdup_printf (",'env':{'SBX_A':%s,'SBX_B':''}", value);

  if (_sbx_seen_shell (&seen, trial, "printf \"%s|%s|\" \"$SBX_A\" \"${SBX_B-unset}\"; "
                       "test -n \"$PATH\" && echo path", more))
    _sbx_seen_expect_out (&seen, trial, "a b=c'\"$x\n||path\n");
}

static void
check_env_again (SbxTrial *trial)
{
  g_auto(SbxSeen) first = { { NULL } };
  g_auto(SbxSeen) second = { { NULL } };

  if (_sbx_seen_exec (&first, trial, "['true']", ",'env':{'SBX_ONCE':'1'}") &&
      _sbx_seen_shell (&second, trial, "echo ${SBX_ONCE-unset}", ""))
    _sbx_seen_expect_out (&second, trial, "unset\n");
}

static void
check_default_cwd (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };
  g_autofree char *wanted = g_strconcat (trial->cwd, "\n", NULL);

  if (*trial->cwd == '\0')
    _sbx_trial_skip (trial, "the session does not say where it is");
  else if (_sbx_seen_shell (&seen, trial, "pwd -P", ""))
    _sbx_seen_expect_out (&seen, trial, wanted);
}

static void
check_relative_cwd (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };
  g_auto(SbxSeen) seen = { { NULL } };

  if (_sbx_trial_call (trial, &reply, "create_dir_all", "{'session':$S,'path':'c1/c2'}") &&
      _sbx_seen_shell (&seen, trial, "echo here > f; pwd", ",'cwd':'c1/c2'") &&
      _sbx_seen_expect_exit (&seen, trial, 0))
    _sbx_trial_read_expect (trial, "c1/c2/f", "here\n", 5);
}

static void
check_absolute_cwd (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };
  g_auto(SbxSeen) seen = { { NULL } };
  g_autofree char *path = g_build_filename (trial->cwd, "c3", NULL);
  g_autofree char *quoted = _sbx_trial_quote (path);
  g_autofree char *more = g_strdup_printf (",'cwd':%s", quoted);

  if (*trial->cwd == '\0')
    _sbx_trial_skip (trial, "the session does not say where it is");
  else if (_sbx_trial_call (trial, &reply, "create_dir_all", "{'session':$S,'path':'c3'}") &&
           _sbx_seen_shell (&seen, trial, "echo there > f", more))
    _sbx_trial_read_expect (trial, "c3/f", "there\n", 6);
}

static void
check_shared_files (SbxTrial *trial)
{
  g_auto(SbxSeen) read = { { NULL } };
  g_auto(SbxSeen) written = { { NULL } };

  if (_sbx_trial_write (trial, "to-command", "from the client", 15) &&
      _sbx_seen_exec (&read, trial, "['cat','to-command']", "") &&
      _sbx_seen_expect_out (&read, trial, "from the client") &&
      _sbx_seen_shell (&written, trial, "printf command > from-command", ""))
    _sbx_trial_read_expect (trial, "from-command", "command", 7);
}

/* An error or an exit code: both tell that nothing ran. */
static void
expect_not_run (SbxTrial *trial,
                SbxSeen  *seen)
{
  if (seen->reply.result != NULL && _sbx_seen_read (seen, trial))
    _sbx_trial_expect (trial, seen->exit_code != 0,
                       "an error, or an exit code that is not 0, for what cannot be started");

  _sbx_trial_is_alive (trial);
}

static void
check_missing_program (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };

  if (_sbx_trial_answered (trial, &seen.reply, "exec",
                           "{'session':$S,'argv':['sbx-there-is-no-such-program']}"))
    expect_not_run (trial, &seen);
}

static void
check_missing_cwd (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };

  if (_sbx_trial_answered (trial, &seen.reply, "exec",
                           "{'session':$S,'argv':['true'],'cwd':'no/such/directory'}"))
    expect_not_run (trial, &seen);
}

static void
check_not_executable (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };

  if (_sbx_trial_write (trial, "no-program", "text", 4) &&
      _sbx_trial_answered (trial, &seen.reply, "exec",
                           "{'session':$S,'argv':['./no-program']}"))
    expect_not_run (trial, &seen);
}

static void
check_empty_argv (SbxTrial *trial)
{
  g_auto(SbxReply) exec = { NULL };
  g_auto(SbxReply) spawn = { NULL };

  if (_sbx_trial_refused (trial, &exec, "exec", "{'session':$S,'argv':[]}") &&
      _sbx_trial_refused (trial, &spawn, "spawn", "{'session':$S,'argv':[]}"))
    _sbx_trial_is_alive (trial);
}

static void
check_bad_stdin (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };

  if (_sbx_trial_refused (trial, &reply, "exec",
                          "{'session':$S,'argv':['true'],'stdin_base64':'AAA'}"))
    _sbx_trial_is_alive (trial);
}

static void
check_signal (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };

  if (_sbx_seen_shell (&seen, trial, "kill -9 $$", ""))
    _sbx_trial_expect (trial, seen.exit_code == -9 || seen.exit_code == 128 + 9
                              || seen.exit_code == -1,
                       "-9, 137 or -1 for a command that signal 9 ended, not %" G_GINT64_FORMAT,
                       seen.exit_code);
}

/* Waits for what a command writes in the background. */
static void
wait_for_file (SbxTrial   *trial,
               const char *path,
               const char *content)
{
  const gint64 deadline = _sbx_trial_deadline (trial);
  const gsize size = strlen (content);

  while (g_get_monotonic_time () < deadline)
    {
      g_auto(SbxReply) reply = { NULL };
      g_autoptr(GBytes) bytes = NULL;

      if (!_sbx_trial_answered (trial, &reply, "read_file", "{'session':$S,'path':'%s'}", path))
        return;

      if (reply.result != NULL &&
          (!_sbx_trial_get_payload (trial, reply.result, "content_base64", &bytes) ||
           (g_bytes_get_size (bytes) == size &&
            memcmp (g_bytes_get_data (bytes, NULL), content, size) == 0)))
        return;

      g_usleep (20 * 1000);
    }

  _sbx_trial_fail (trial, "expected the spawned command to write \"%s\" into %s", content, path);
}

static void
check_spawn (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };
  const char *id = NULL;
  g_autofree char *params = NULL;

  params = _sbx_seen_params (trial, "cat > spawned; printf $SBX_S >> spawned",
                             ",'stdin_base64':'aW4t','env':{'SBX_S':'env'}");
  if (!_sbx_trial_call (trial, &reply, "spawn", "%s", params) ||
      !_sbx_trial_expect (trial, _sbx_json_object_get_string (reply.result, "process_id", &id)
                                 != SBX_JSON_WRONG_TYPE,
                          "\"process_id\" to be a string, or nothing"))
    return;

  wait_for_file (trial, "spawned", "in-env");
}

static void
check_spawn_returns (SbxTrial *trial)
{
  const gint64 start = g_get_monotonic_time ();
  g_auto(SbxReply) reply = { NULL };
  g_auto(SbxSeen) seen = { { NULL } };

  if (_sbx_trial_call (trial, &reply, "spawn", "{'session':$S,'argv':['sleep','5']}") &&
      _sbx_seen_exec (&seen, trial, "['true']", ""))
    _sbx_trial_expect (trial, g_get_monotonic_time () - start < 4 * G_USEC_PER_SEC,
                       "an answer while the spawned command runs");
}

#define PLAIN SBX_CONFORMANCE_LEVEL_PLAIN

const SbxCheckEntry _sbx_checks_plain_exec_more[] = {
  { 171, PLAIN, "arguments arrive as they are, without a shell", check_argv, SBX_CHECK_EXEC },
  { 172, PLAIN, "env adds to the environment", check_env, SBX_CHECK_EXEC },
  { 173, PLAIN, "env is for one command", check_env_again, SBX_CHECK_EXEC },
  { 174, PLAIN, "a command starts in the session's working directory", check_default_cwd,
    SBX_CHECK_EXEC },
  { 175, PLAIN, "a relative cwd is below the session's", check_relative_cwd, SBX_CHECK_EXEC },
  { 176, PLAIN, "an absolute cwd is taken as it is", check_absolute_cwd, SBX_CHECK_EXEC },
  { 177, PLAIN, "commands and file methods see the same files", check_shared_files,
    SBX_CHECK_EXEC },
  { 178, PLAIN, "a program that does not exist is told", check_missing_program, SBX_CHECK_EXEC },
  { 179, PLAIN, "a file that cannot be executed is told", check_not_executable, SBX_CHECK_EXEC },
  { 180, PLAIN, "a working directory that does not exist is told", check_missing_cwd,
    SBX_CHECK_EXEC },
  { 181, PLAIN, "an empty argv is answered with an error", check_empty_argv, SBX_CHECK_EXEC },
  { 182, PLAIN, "input that is no base64 is answered with an error", check_bad_stdin,
    SBX_CHECK_EXEC },
  { 183, PLAIN, "a command that a signal ended did not succeed", check_signal, SBX_CHECK_EXEC },
  { 184, PLAIN, "spawn starts a command with input and environment", check_spawn,
    SBX_CHECK_EXEC },
  { 185, PLAIN, "spawn does not wait for the command", check_spawn_returns,
    SBX_CHECK_EXEC | SBX_CHECK_SPOILS },
  { 0 }
};
