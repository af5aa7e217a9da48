/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conformance-checks-private.h"

#include <string.h>

/* The features process, stdin and pty. */

#define CHUNK (64 * 1024)
#define N_CHUNKS 16

/* Spawns, and gives the process's id, which the feature makes certain. */
static const char *
spawn (SbxTrial   *trial,
       SbxReply   *reply,
       const char *script,
       const char *more)
{
  g_autofree char *params = _sbx_seen_params (trial, script, more);
  SbxReply *replies[] = { reply, NULL };
  const char *id = NULL;

  if (!_sbx_trial_begin (trial, reply, "spawn", "%s", params) ||
      !_sbx_trial_finish (trial, replies, reply) ||
      !_sbx_trial_expect (trial, reply->result != NULL, "a result of spawn, not the error %s",
                          reply->code) ||
      !_sbx_trial_get_string (trial, reply->result, "process_id", &id))
    return NULL;

  return id;
}

static gboolean
wait_for (SbxTrial   *trial,
          const char *id,
          gint64     *code)
{
  g_auto(SbxReply) reply = { NULL };
  g_autofree char *name = _sbx_trial_quote (id);

  return _sbx_trial_call (trial, &reply, "wait", "{'session':$S,'process_id':%s}", name)
         && _sbx_trial_get_int (trial, reply.result, "exit_code", code);
}

static void
check_follow (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };
  SbxReply *replies[] = { &seen.reply, NULL };

  seen.reply.follow = TRUE;
  if (spawn (trial, &seen.reply, "echo out; echo err >&2; exit 3", ",'follow':true") == NULL ||
      _sbx_trial_wait_event (trial, replies, &seen.reply, "end") == NULL)
    return;

  seen.reply.result = NULL;
  if (!_sbx_seen_read (&seen, trial))
    return;

  _sbx_trial_expect (trial, seen.in_order && seen.n_started == 1 && seen.n_exited == 1,
                     "started, output, exited and end, in this order");
  _sbx_trial_expect (trial, seen.exited_code == 3, "exit code 3 in \"exited\"");
  _sbx_trial_expect (trial, seen.out->len == 4 && seen.err->len == 4,
                     "the output of the command in events");
}

static void
check_no_follow (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };
  g_autoptr(GBytes) line = NULL;
  gint64 code;
  const char *id = spawn (trial, &reply, "echo out", "");

  if (id == NULL || !wait_for (trial, id, &code))
    return;

  if (_sbx_peer_receive (trial->peer, g_get_monotonic_time () + 200 * 1000, &line)
      == SBX_PEER_LINE)
    _sbx_trial_fail (trial, "expected no events of a spawn whose client did not ask for them");
}

static void
check_wait (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };
  gint64 code = -1;
  const char *id = spawn (trial, &reply, "sleep 0.2; exit 7", "");

  for (int i = 0; i < 2; i++)
    if (id == NULL || !wait_for (trial, id, &code) ||
        !_sbx_trial_expect (trial, code == 7, "exit code 7, not %" G_GINT64_FORMAT, code))
      return;
}

static void
check_kill (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };
  g_auto(SbxReply) killed = { NULL };
  gint64 code = -1;
  g_autofree char *name = NULL;
  const char *id = spawn (trial, &reply, "sleep 30", "");

  if (id == NULL)
    return;

  name = _sbx_trial_quote (id);
  if (_sbx_trial_call (trial, &killed, "kill", "{'session':$S,'process_id':%s,'signal':9}", name) &&
      wait_for (trial, id, &code))
    _sbx_trial_expect (trial, code != 0, "an exit code that is not 0 of a killed command");
}

static void
check_list (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };
  g_auto(SbxReply) listed = { NULL };
  g_auto(SbxReply) killed = { NULL };
  g_auto(GStrv) ids = NULL;
  g_autofree char *name = NULL;
  const char *id = spawn (trial, &reply, "sleep 30", "");

  if (id == NULL || !_sbx_trial_call (trial, &listed, "list_processes", "{'session':$S}"))
    return;

  if (_sbx_trial_expect (trial, _sbx_json_object_get_strv (listed.result, "process_ids", &ids)
                                == SBX_JSON_PRESENT, "a list of strings \"process_ids\""))
    _sbx_trial_expect (trial, g_strv_contains ((const char * const *) ids, id),
                       "the process that runs to be listed");

  name = _sbx_trial_quote (id);
  _sbx_trial_call (trial, &killed, "kill", "{'session':$S,'process_id':%s,'signal':15}", name);
}

static void
check_unknown_process (SbxTrial *trial)
{
  g_auto(SbxReply) waited = { NULL };
  g_auto(SbxReply) killed = { NULL };

  if (_sbx_trial_refused (trial, &waited, "wait", "{'session':$S,'process_id':'nobody'}") &&
      _sbx_trial_refused (trial, &killed, "kill",
                          "{'session':$S,'process_id':'nobody','signal':9}"))
    _sbx_trial_is_alive (trial);
}

static void
check_bad_signal (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };
  g_auto(SbxReply) killed = { NULL };
  g_auto(SbxReply) ended = { NULL };
  g_autofree char *name = NULL;
  const char *id = spawn (trial, &reply, "sleep 5", "");

  if (id == NULL)
    return;

  name = _sbx_trial_quote (id);
  if (_sbx_trial_refused (trial, &killed, "kill", "{'session':$S,'process_id':%s,'signal':-9}",
                          name))
    _sbx_trial_call (trial, &ended, "kill", "{'session':$S,'process_id':%s,'signal':9}", name);
}

/* exec with input that comes later; gives the process's id. */
static char *
begin_input (SbxTrial   *trial,
             SbxReply  **replies,
             SbxReply   *reply,
             const char *script,
             const char *more)
{
  g_autofree char *params = _sbx_seen_params (trial, script, more);
  const char *id = NULL;
  JsonObject *event;

  if (!_sbx_trial_begin (trial, reply, "exec", "%s", params))
    return NULL;

  event = _sbx_trial_wait_event (trial, replies, reply, "started");
  if (event == NULL || !_sbx_trial_get_string (trial, event, "process_id", &id))
    return NULL;

  return _sbx_trial_quote (id);
}

/* Sends a request about the process, and waits for its reply among those of the exec. */
static gboolean
tell (SbxTrial    *trial,
      SbxReply    *exec,
      SbxReply    *reply,
      const char  *method,
      const char  *id,
      const char  *more)
{
  SbxReply *replies[] = { exec, reply, NULL };

  return _sbx_trial_begin (trial, reply, method, "{'session':$S,'process_id':%s%s}", id, more)
         && _sbx_trial_finish (trial, replies, reply)
         && _sbx_trial_expect (trial, reply->result != NULL, "a result of %s, not the error %s",
                               method, reply->code);
}

static void
check_input (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };
  g_auto(SbxReply) written = { NULL };
  g_auto(SbxReply) closed = { NULL };
  SbxReply *replies[] = { &seen.reply, NULL };
  g_autofree char *id = begin_input (trial, replies, &seen.reply, "cat", ",'open_stdin':true");

  if (id == NULL ||
      !tell (trial, &seen.reply, &written, "write_stdin", id, ",'data_base64':'YWJj'") ||
      _sbx_trial_wait_event (trial, replies, &seen.reply, "stdout") == NULL ||
      !tell (trial, &seen.reply, &closed, "close_stdin", id, "") ||
      !_sbx_trial_finish (trial, replies, &seen.reply) || !_sbx_seen_read (&seen, trial) ||
      !_sbx_seen_expect_exit (&seen, trial, 0))
    return;

  _sbx_trial_expect (trial, seen.out->len == 3 && memcmp (seen.out->data, "abc", 3) == 0,
                     "what was written as input back as output");
}

static void
check_much_input (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };
  g_auto(SbxReply) closed = { NULL };
  SbxReply *replies[] = { &seen.reply, NULL };
  g_autofree guint8 *data = g_malloc0 (CHUNK);
  g_autoptr(GBytes) bytes = g_bytes_new_static (data, CHUNK);
  g_autofree char *text = _sbx_trial_quote_base64 (bytes);
  g_autofree char *more = g_strdup_printf (",'data_base64':%s", text);
  g_autofree char *wanted = g_strdup_printf ("%d\n", CHUNK * N_CHUNKS);
  g_autofree char *id = begin_input (trial, replies, &seen.reply, "sleep 0.3; wc -c | tr -d ' '",
                                     ",'open_stdin':true");

  for (int i = 0; i < N_CHUNKS; i++)
    {
      g_auto(SbxReply) written = { NULL };

      if (id == NULL || !tell (trial, &seen.reply, &written, "write_stdin", id, more))
        return;
    }

  if (tell (trial, &seen.reply, &closed, "close_stdin", id, "") &&
      _sbx_trial_finish (trial, replies, &seen.reply) && _sbx_seen_read (&seen, trial))
    _sbx_trial_expect (trial, seen.out->len == strlen (wanted) &&
                              memcmp (seen.out->data, wanted, seen.out->len) == 0,
                       "the command to have read %d bytes", CHUNK * N_CHUNKS);
}

static void
check_late_input (SbxTrial *trial)
{
  g_auto(SbxReply) exec = { NULL };
  g_auto(SbxReply) closed = { NULL };
  g_auto(SbxReply) written = { NULL };
  SbxReply *replies[] = { &exec, &written, NULL };
  g_autofree char *id = begin_input (trial, replies, &exec, "cat; sleep 0.5",
                                     ",'open_stdin':true");

  if (id == NULL || !tell (trial, &exec, &closed, "close_stdin", id, "") ||
      !_sbx_trial_begin (trial, &written, "write_stdin",
                         "{'session':$S,'process_id':%s,'data_base64':'YWJj'}", id) ||
      !_sbx_trial_finish (trial, replies, &written) ||
      !_sbx_trial_expect (trial, written.code != NULL, "an error of write_stdin after close_stdin"))
    return;

  _sbx_trial_finish (trial, replies, &exec);
}

static void
check_input_unknown (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };

  if (_sbx_trial_refused (trial, &reply, "write_stdin",
                          "{'session':$S,'process_id':'nobody','data_base64':'YWJj'}"))
    _sbx_trial_is_alive (trial);
}

static void
check_pty (SbxTrial *trial)
{
  static const char wanted[] = "tty\r\n33 101\r\n";
  g_auto(SbxSeen) seen = { { NULL } };

  if (!_sbx_seen_shell (&seen, trial, "test -t 0 && test -t 1 && test -t 2 && echo tty; stty size",
                        ",'pty':{'rows':33,'columns':101}"))
    return;

  _sbx_trial_expect (trial, seen.out->len == strlen (wanted) &&
                            memcmp (seen.out->data, wanted, seen.out->len) == 0,
                     "a terminal of 33 rows and 101 columns");
}

static void
check_resize (SbxTrial *trial)
{
  g_auto(SbxReply) exec = { NULL };
  g_auto(SbxReply) resized = { NULL };
  SbxReply *replies[] = { &exec, NULL };
  gint64 code = -1;
  g_autofree char *id = NULL;

  id = begin_input (trial, replies, &exec, "i=0; while [ \"$(stty size)\" != \"40 90\" ]; do "
                    "[ $i -lt 60 ] || exit 9; sleep 0.1; i=$((i+1)); done",
                    ",'pty':{'rows':33,'columns':101}");
  if (id == NULL || !tell (trial, &exec, &resized, "resize_pty", id, ",'rows':40,'columns':90") ||
      !_sbx_trial_finish (trial, replies, &exec) ||
      !_sbx_trial_expect (trial, exec.result != NULL, "a result of exec, not an error") ||
      !_sbx_trial_get_int (trial, exec.result, "exit_code", &code))
    return;

  _sbx_trial_expect (trial, code == 0, "the terminal to have 40 rows and 90 columns");
}

static void
check_bad_pty (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };

  if (_sbx_trial_refused (trial, &reply, "exec",
                          "{'session':$S,'argv':['true'],'pty':{'rows':-1,'columns':80}}"))
    _sbx_trial_is_alive (trial);
}

#define PROCESS SBX_CONFORMANCE_LEVEL_PROCESS
#define STDIN SBX_CONFORMANCE_LEVEL_STDIN
#define PTY SBX_CONFORMANCE_LEVEL_PTY

const SbxCheckEntry _sbx_checks_process[] = {
  { 241, PROCESS, "events of a spawned process follow where they are asked for", check_follow,
    SBX_CHECK_EXEC },
  { 242, PROCESS, "no events follow where they are not asked for", check_no_follow,
    SBX_CHECK_EXEC },
  { 243, PROCESS, "wait tells the exit code, as often as it is asked", check_wait,
    SBX_CHECK_EXEC },
  { 244, PROCESS, "kill ends a process", check_kill, SBX_CHECK_EXEC },
  { 245, PROCESS, "list_processes has what runs", check_list, SBX_CHECK_EXEC },
  { 246, PROCESS, "an unknown process is answered with an error", check_unknown_process,
    SBX_CHECK_EXEC },
  { 247, PROCESS, "a signal that is none is answered with an error", check_bad_signal,
    SBX_CHECK_EXEC },
  { 261, STDIN, "input can be written while the command runs", check_input, SBX_CHECK_EXEC },
  { 262, STDIN, "1 MiB of input arrives in parts", check_much_input, SBX_CHECK_EXEC },
  { 263, STDIN, "input after its end is answered with an error", check_late_input,
    SBX_CHECK_EXEC },
  { 264, STDIN, "input for an unknown process is answered with an error", check_input_unknown,
    SBX_CHECK_EXEC },
  { 281, PTY, "a command has a terminal of the size that was asked for", check_pty,
    SBX_CHECK_EXEC },
  { 282, PTY, "the terminal can be resized", check_resize, SBX_CHECK_EXEC },
  { 283, PTY, "a size that is none is answered with an error", check_bad_pty, SBX_CHECK_EXEC },
  { 0 }
};
