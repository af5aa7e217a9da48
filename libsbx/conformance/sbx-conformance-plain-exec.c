/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conformance-checks-private.h"

#include <string.h>

/* sandbox.v1: what exec says and gives. */

#define MIB (1024 * 1024)

static void
check_events (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };

  if (!_sbx_seen_shell (&seen, trial, "echo out; echo err >&2", ""))
    return;

  _sbx_trial_expect (trial, seen.n_started == 1, "one event \"started\", not %u", seen.n_started);
  _sbx_trial_expect (trial, seen.n_exited == 1, "one event \"exited\", not %u", seen.n_exited);
  _sbx_trial_expect (trial, seen.in_order, "started, then output, then exited");
  _sbx_trial_expect (trial, seen.exited_code == seen.exit_code,
                     "\"exited\" and the result to have the same exit code");
}

static void
check_streams (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };

  if (_sbx_seen_shell (&seen, trial, "printf out; printf err >&2", "") &&
      _sbx_seen_expect_exit (&seen, trial, 0) && _sbx_seen_expect_out (&seen, trial, "out"))
    _sbx_seen_expect_err (&seen, trial, "err");
}

static void
check_repeated (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };

  if (!_sbx_seen_shell (&seen, trial, "i=0; while [ $i -lt 500 ]; do echo line $i;"
                        " echo error $i >&2; i=$((i+1)); done", "") ||
      !_sbx_trial_expect (trial, seen.out->len > 0 && seen.err->len > 0,
                          "events with the output of the command"))
    return;

  if (_sbx_trial_expect_bytes (trial, seen.result_out, "in the result, as events had of output",
                               seen.out->data, seen.out->len))
    _sbx_trial_expect_bytes (trial, seen.result_err, "in the result, as events had of errors",
                             seen.err->data, seen.err->len);
}

static void
check_exit_codes (SbxTrial *trial)
{
  static const int codes[] = { 0, 1, 42, 126, 127, 255 };

  for (gsize i = 0; i < G_N_ELEMENTS (codes); i++)
    {
      g_auto(SbxSeen) seen = { { NULL } };
      g_autofree char *script = g_strdup_printf ("exit %d", codes[i]);

      if (!_sbx_seen_shell (&seen, trial, script, "") ||
          !_sbx_seen_expect_exit (&seen, trial, codes[i]))
        return;
    }
}

static void
check_stdin (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };

  if (_sbx_seen_exec (&seen, trial, "['cat']", ",'stdin_base64':'aGVsbG8KAQIDd29ybGQ='"))
    _sbx_seen_expect_out (&seen, trial, "hello\n\001\002\003world");
}

static void
check_no_stdin (SbxTrial *trial)
{
  g_auto(SbxSeen) absent = { { NULL } };
  g_auto(SbxSeen) null = { { NULL } };

  if (_sbx_seen_exec (&absent, trial, "['cat']", "") &&
      _sbx_seen_expect_exit (&absent, trial, 0) && _sbx_seen_expect_out (&absent, trial, "") &&
      _sbx_seen_exec (&null, trial, "['cat']", ",'stdin_base64':null"))
    _sbx_seen_expect_exit (&null, trial, 0);
}

static void
check_empty_stdin (SbxTrial *trial)
{
  g_auto(SbxSeen) empty = { { NULL } };

  if (_sbx_seen_shell (&empty, trial, "test -p /dev/stdin && echo pipe; cat",
                       ",'stdin_base64':''") &&
      _sbx_seen_expect_exit (&empty, trial, 0))
    _sbx_seen_expect_out (&empty, trial, "pipe\n");
}

static void
check_large_stdin (SbxTrial *trial)
{
  g_autofree guint8 *data = g_malloc (2 * MIB);
  g_autoptr(GBytes) bytes = NULL;
  g_autofree char *text = NULL;
  g_autofree char *more = NULL;
  g_auto(SbxSeen) seen = { { NULL } };

  for (gsize i = 0; i < 2 * MIB; i++)
    data[i] = (guint8) ((i * 2654435761u) >> 11);

  bytes = g_bytes_new (data, 2 * MIB);
  text = _sbx_trial_quote_base64 (bytes);
  more = g_strdup_printf (",'stdin_base64':%s", text);

  /* The command writes more than a pipe holds before it reads the first byte. */
  if (_sbx_seen_shell (&seen, trial, "head -c 300000 /dev/zero; cat", more) &&
      _sbx_trial_expect (trial, seen.result_out != NULL &&
                                g_bytes_get_size (seen.result_out) == 300000 + 2 * MIB,
                         "%d bytes of output", 300000 + 2 * MIB))
    {
      g_autoptr(GBytes) rest = g_bytes_new_from_bytes (seen.result_out, 300000, 2 * MIB);

      _sbx_trial_expect (trial, g_bytes_equal (rest, bytes), "the input back as output");
    }
}

static void
check_unread_stdin (SbxTrial *trial)
{
  g_autofree guint8 *data = g_malloc0 (MIB);
  g_autoptr(GBytes) bytes = g_bytes_new_static (data, MIB);
  g_autofree char *text = _sbx_trial_quote_base64 (bytes);
  g_autofree char *more = g_strdup_printf (",'stdin_base64':%s", text);
  g_auto(SbxSeen) seen = { { NULL } };

  if (_sbx_seen_shell (&seen, trial, "echo done", more) &&
      _sbx_seen_expect_exit (&seen, trial, 0))
    _sbx_seen_expect_out (&seen, trial, "done\n");
}

static void
check_binary_output (SbxTrial *trial)
{
  static const guint8 wanted[] = { 0, 1, 2, 0xff, '\n', '\r', 0xc3, 0x28, 0xfe, 0 };
  g_auto(SbxSeen) seen = { { NULL } };

  if (!_sbx_seen_shell (&seen, trial, "printf \"\\000\\001\\002\\377\\n\\r\\303(\\376\\000\"", ""))
    return;

  _sbx_trial_expect_bytes (trial, seen.result_out, "in the result", wanted, sizeof wanted);
  if (_sbx_trial_expect (trial, seen.out->len == sizeof wanted, "%" G_GSIZE_FORMAT
                         " bytes in events, not %u", sizeof wanted, seen.out->len))
    _sbx_trial_expect (trial, memcmp (seen.out->data, wanted, sizeof wanted) == 0,
                       "the bytes in events as they were written");
}

static void
check_large_output (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };

  if (!_sbx_seen_shell (&seen, trial,
                        "head -c 3000000 /dev/zero; head -c 200000 /dev/zero >&2", ""))
    return;

  _sbx_trial_expect (trial, seen.result_out != NULL
                            && g_bytes_get_size (seen.result_out) == 3000000,
                     "3000000 bytes of standard output in the result");
  _sbx_trial_expect (trial, seen.result_err != NULL && g_bytes_get_size (seen.result_err) == 200000,
                     "200000 bytes of standard error in the result");
  _sbx_trial_expect (trial, seen.out->len == 3000000, "3000000 bytes of standard output in events");
}

static void
check_live_output (SbxTrial *trial)
{
  g_autofree char *params = _sbx_seen_params (trial, "echo first; sleep 1; echo second", "");
  g_auto(SbxReply) reply = { NULL };
  SbxReply *replies[] = { &reply, NULL };
  gint64 seen;

  if (!_sbx_trial_begin (trial, &reply, "exec", "%s", params) ||
      _sbx_trial_wait_event (trial, replies, &reply, "stdout") == NULL)
    return;

  seen = g_get_monotonic_time ();
  if (_sbx_trial_finish (trial, replies, &reply))
    _sbx_trial_expect (trial, reply.time - seen > 500 * 1000,
                       "an event with the output as soon as it is written, not at the end");
}

static void
check_large_argv (SbxTrial *trial)
{
  g_autofree char *word = g_strnfill (100 * 1000, 'w');
  g_autofree char *script = _sbx_trial_quote ("echo ${#1}");
  g_autofree char *argv = g_strdup_printf ("['sh','-c',%s,'sh','%s']", script, word);
  g_auto(SbxSeen) seen = { { NULL } };

  if (_sbx_seen_exec (&seen, trial, argv, ""))
    _sbx_seen_expect_out (&seen, trial, "100000\n");
}

#define PLAIN SBX_CONFORMANCE_LEVEL_PLAIN

const SbxCheckEntry _sbx_checks_plain_exec[] = {
  { 151, PLAIN, "exec tells started, output and exited, in this order", check_events,
    SBX_CHECK_EXEC },
  { 152, PLAIN, "standard output and standard error are kept apart", check_streams,
    SBX_CHECK_EXEC },
  { 153, PLAIN, "the result repeats all that events had", check_repeated, SBX_CHECK_EXEC },
  { 154, PLAIN, "the exit code is the command's", check_exit_codes, SBX_CHECK_EXEC },
  { 155, PLAIN, "the command reads the bytes that were sent for it", check_stdin, SBX_CHECK_EXEC },
  { 156, PLAIN, "without input the command reads the end at once", check_no_stdin,
    SBX_CHECK_EXEC },
  { 157, PLAIN, "empty input is a pipe at its end", check_empty_stdin, SBX_CHECK_EXEC },
  { 158, PLAIN, "2 MiB of input do not stop a command that writes first", check_large_stdin,
    SBX_CHECK_EXEC },
  { 159, PLAIN, "input that the command does not read is no error", check_unread_stdin,
    SBX_CHECK_EXEC },
  { 160, PLAIN, "output is any bytes", check_binary_output, SBX_CHECK_EXEC },
  { 161, PLAIN, "3 MiB of output are complete", check_large_output, SBX_CHECK_EXEC },
  { 162, PLAIN, "output comes as it is written", check_live_output, SBX_CHECK_EXEC },
  { 163, PLAIN, "an argument of 100 kB arrives whole", check_large_argv, SBX_CHECK_EXEC },
  { 0 }
};
