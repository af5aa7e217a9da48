/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conformance-checks-private.h"

#include <string.h>

/* The features signals, timeout and quiet-result. */

#define N_BYTES 200000
#define LIMIT 1000

/* The member "signal" of the result, or 0. */
static gint64
get_signal (JsonObject *object)
{
  gint64 number = 0;

  _sbx_json_object_get_int (object, "signal", &number);

  return number;
}

static void
check_signal (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };

  if (!_sbx_seen_shell (&seen, trial, "kill -15 $$; sleep 5", ""))
    return;

  _sbx_trial_expect (trial, get_signal (seen.reply.result) == 15, "\"signal\" 15 in the result");
  _sbx_trial_expect (trial, seen.exit_code == 128 + 15, "exit code 143, not %" G_GINT64_FORMAT,
                     seen.exit_code);
}

static void
check_signal_event (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };
  JsonObject *last;

  if (!_sbx_seen_shell (&seen, trial, "kill -9 $$", "") ||
      !_sbx_trial_expect (trial, seen.reply.events->len > 0, "an event \"exited\""))
    return;

  last = json_node_get_object (seen.reply.events->pdata[seen.reply.events->len - 1]);
  _sbx_trial_expect (trial, get_signal (last) == 9, "\"signal\" 9 in the event \"exited\"");
}

static void
check_no_signal (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };

  if (_sbx_seen_shell (&seen, trial, "exit 137", "") && _sbx_seen_expect_exit (&seen, trial, 137))
    _sbx_trial_expect (trial, get_signal (seen.reply.result) == 0,
                       "no \"signal\" for a command that exited with 137");
}

static void
expect_not_started (SbxTrial   *trial,
                    const char *params,
                    const char *wanted,
                    int         code)
{
  g_auto(SbxSeen) seen = { { NULL } };
  JsonObject *object = NULL;
  const char *kind = NULL;

  if (!_sbx_trial_call (trial, &seen.reply, "exec", "%s", params) ||
      !_sbx_seen_read (&seen, trial) ||
      !_sbx_trial_expect (trial, _sbx_json_object_get_object (seen.reply.result, "not_started",
                                                              &object) == SBX_JSON_PRESENT,
                          "\"not_started\" in the result") ||
      !_sbx_trial_get_string (trial, object, "kind", &kind))
    return;

  _sbx_trial_expect (trial, strcmp (kind, wanted) == 0, "the kind %s", wanted);
  _sbx_trial_expect (trial, seen.exit_code == code, "exit code %d, not %" G_GINT64_FORMAT, code,
                     seen.exit_code);
}

static void
check_not_found (SbxTrial *trial)
{
  expect_not_started (trial, "{'session':$S,'argv':['sbx-there-is-no-such-program']}", "not_found",
                      127);
}

static void
check_not_executable (SbxTrial *trial)
{
  if (_sbx_trial_write (trial, "not-executable", "text", 4))
    expect_not_started (trial, "{'session':$S,'argv':['./not-executable']}", "not_executable",
                        126);
}

static void
check_bad_cwd (SbxTrial *trial)
{
  expect_not_started (trial, "{'session':$S,'argv':['true'],'cwd':'no/such/directory'}", "bad_cwd",
                      126);
}

static void
check_timeout (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };
  const gint64 start = g_get_monotonic_time ();
  gboolean timed_out = FALSE;

  if (!_sbx_seen_exec (&seen, trial, "['sleep','30']", ",'timeout_ms':300"))
    return;

  _sbx_trial_expect (trial, g_get_monotonic_time () - start < 5 * G_USEC_PER_SEC,
                     "the command to be ended after 300 ms");
  _sbx_trial_expect (trial, seen.exit_code == 124, "exit code 124, not %" G_GINT64_FORMAT,
                     seen.exit_code);
  _sbx_json_object_get_boolean (seen.reply.result, "timed_out", &timed_out);
  _sbx_trial_expect (trial, timed_out || !_sbx_trial_has_feature (trial, "signals"),
                     "\"timed_out\" in the result");
}

static void
check_timeout_tree (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };

  if (_sbx_seen_shell (&seen, trial, "echo > beat-tree; "
                       "(i=0; while [ $i -lt 100 ]; do echo $i > beat-tree; sleep 0.05; "
                       "i=$((i+1)); done) >/dev/null 2>&1 & wait",
                       ",'timeout_ms':2000"))
    _sbx_trial_stands_still (trial, "beat-tree");
}

static void
check_timeout_output (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };

  if (_sbx_seen_shell (&seen, trial, "echo before; sleep 30", ",'timeout_ms':2000"))
    _sbx_trial_expect (trial, seen.out->len == 7 && memcmp (seen.out->data, "before\n", 7) == 0,
                       "what the command wrote before its time was over");
}

static void
check_timeout_unused (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };

  if (_sbx_seen_shell (&seen, trial, "echo quick; exit 4", ",'timeout_ms':60000") &&
      _sbx_seen_expect_exit (&seen, trial, 4))
    _sbx_seen_expect_out (&seen, trial, "quick\n");
}

static gsize
get_size (GBytes *bytes)
{
  return bytes != NULL ? g_bytes_get_size (bytes) : 0;
}

static void
check_quiet (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };
  g_autofree char *script = g_strdup_printf ("head -c %d /dev/zero; echo err >&2", N_BYTES);

  if (!_sbx_seen_shell (&seen, trial, script, ",'collect':false"))
    return;

  _sbx_trial_expect (trial, get_size (seen.result_out) == 0 && get_size (seen.result_err) == 0,
                     "a result without output");
  _sbx_trial_expect (trial, seen.out->len == N_BYTES && seen.err->len == 4,
                     "all of the output in events");
}

static void
check_collect (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };

  if (_sbx_seen_shell (&seen, trial, "echo all", ",'collect':true"))
    _sbx_seen_expect_out (&seen, trial, "all\n");
}

static void
check_limit (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };
  g_autofree char *script = NULL;
  gint64 cut = 0;

  script = g_strdup_printf ("printf begin; head -c %d /dev/zero; echo err >&2", N_BYTES - 5);
  if (!_sbx_seen_shell (&seen, trial, script, ",'collect_limit':1000"))
    return;

  _sbx_json_object_get_int (seen.reply.result, "stdout_truncated", &cut);
  _sbx_trial_expect (trial, get_size (seen.result_out) == LIMIT && cut == N_BYTES - LIMIT,
                     "%d bytes of output in the result, and \"stdout_truncated\" %d", LIMIT,
                     N_BYTES - LIMIT);
  if (trial->problem == NULL)
    _sbx_trial_expect (trial, memcmp (g_bytes_get_data (seen.result_out, NULL), "begin", 5) == 0,
                       "the beginning of the output in the result");
  _sbx_trial_expect (trial, get_size (seen.result_err) == 4, "all of standard error in the result");
  _sbx_trial_expect (trial, seen.out->len == N_BYTES, "all of the output in events");
}

static void
check_limit_unused (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };
  gint64 cut = 0;

  if (!_sbx_seen_shell (&seen, trial, "echo all", ",'collect_limit':4") ||
      !_sbx_seen_expect_out (&seen, trial, "all\n"))
    return;

  _sbx_json_object_get_int (seen.reply.result, "stdout_truncated", &cut);
  _sbx_trial_expect (trial, cut == 0, "nothing to be cut");
}

#define SIGNALS SBX_CONFORMANCE_LEVEL_SIGNALS
#define TIMEOUT SBX_CONFORMANCE_LEVEL_TIMEOUT
#define QUIET SBX_CONFORMANCE_LEVEL_QUIET_RESULT

const SbxCheckEntry _sbx_checks_ends[] = {
  { 301, SIGNALS, "the result tells which signal ended the command", check_signal,
    SBX_CHECK_EXEC },
  { 302, SIGNALS, "so does the event", check_signal_event, SBX_CHECK_EXEC },
  { 303, SIGNALS, "an exit code above 128 is no signal", check_no_signal, SBX_CHECK_EXEC },
  { 304, SIGNALS, "a program that does not exist was not started", check_not_found,
    SBX_CHECK_EXEC },
  { 305, SIGNALS, "a file that is no program was not started", check_not_executable,
    SBX_CHECK_EXEC },
  { 306, SIGNALS, "in a directory that does not exist nothing was started", check_bad_cwd,
    SBX_CHECK_EXEC },
  { 321, TIMEOUT, "a command is ended when its time is over", check_timeout, SBX_CHECK_EXEC },
  { 322, TIMEOUT, "so is all that it started", check_timeout_tree, SBX_CHECK_EXEC },
  { 323, TIMEOUT, "what it wrote before is not lost", check_timeout_output, SBX_CHECK_EXEC },
  { 324, TIMEOUT, "a command that ends in time is not touched", check_timeout_unused,
    SBX_CHECK_EXEC },
  { 341, QUIET, "with collect false the result has no output, and events have all", check_quiet,
    SBX_CHECK_EXEC },
  { 342, QUIET, "with collect true the result has the output", check_collect, SBX_CHECK_EXEC },
  { 343, QUIET, "collect_limit cuts what is in the result, and tells how much", check_limit,
    SBX_CHECK_EXEC },
  { 344, QUIET, "collect_limit does not cut what fits", check_limit_unused, SBX_CHECK_EXEC },
  { 0 }
};
