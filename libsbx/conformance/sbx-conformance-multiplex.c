/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conformance-checks-private.h"

#include <string.h>

/* The features multiplex and cancel. */

#define N_READS 64

/* Writes one file and waits for another. */
#define WAIT_FOR(own, other) \
  "i=0; echo > " own "; while [ ! -e " other " ] && [ $i -lt 80 ]; " \
  "do sleep 0.1; i=$((i+1)); done; test -e " other

static void
check_not_blocked (SbxTrial *trial)
{
  g_auto(SbxReply) slow = { NULL };
  g_auto(SbxReply) quick = { NULL };
  SbxReply *replies[] = { &slow, &quick, NULL };

  if (!_sbx_trial_begin (trial, &slow, "exec", "{'session':$S,'argv':['sleep','2']}") ||
      !_sbx_trial_begin (trial, &quick, "create_dir_all", "{'session':$S,'path':'quick'}") ||
      !_sbx_trial_finish (trial, replies, &quick) ||
      !_sbx_trial_expect (trial, slow.node == NULL, "a quick request to be answered while a slow "
                          "one is worked on"))
    return;

  _sbx_trial_finish (trial, replies, &slow);
}

static void
check_parallel (SbxTrial *trial)
{
  g_auto(SbxReply) first = { NULL };
  g_auto(SbxReply) second = { NULL };
  SbxReply *replies[] = { &first, &second, NULL };

  g_autofree char *one = _sbx_seen_params (trial, WAIT_FOR ("m1", "m2"), "");
  g_autofree char *two = _sbx_seen_params (trial, WAIT_FOR ("m2", "m1"), "");

  if (!_sbx_trial_begin (trial, &first, "exec", "%s", one) ||
      !_sbx_trial_begin (trial, &second, "exec", "%s", two))
    return;

  for (gsize i = 0; replies[i] != NULL; i++)
    {
      gint64 code = -1;

      if (!_sbx_trial_finish (trial, replies, replies[i]) ||
          !_sbx_trial_expect (trial, replies[i]->result != NULL, "a result, not the error %s",
                              replies[i]->code) ||
          !_sbx_trial_get_int (trial, replies[i]->result, "exit_code", &code) ||
          !_sbx_trial_expect (trial, code == 0, "two commands to run at the same time"))
        return;
    }
}

static void
check_many_reads (SbxTrial *trial)
{
  SbxReply all[N_READS] = { { NULL } };
  SbxReply *replies[N_READS + 1] = { NULL };

  for (guint i = 0; i < N_READS; i++)
    {
      g_autofree char *name = g_strdup_printf ("many-%u", i);

      replies[i] = &all[i];
      if (!_sbx_trial_write (trial, name, name, strlen (name)))
        goto out;
    }

  for (guint i = 0; i < N_READS; i++)
    _sbx_trial_begin (trial, &all[i], "read_file", "{'session':$S,'path':'many-%u'}", i);

  for (guint i = 0; i < N_READS; i++)
    {
      g_autofree char *name = g_strdup_printf ("many-%u", i);
      g_autoptr(GBytes) content = NULL;

      if (!_sbx_trial_finish (trial, replies, &all[i]) ||
          !_sbx_trial_expect (trial, all[i].result != NULL, "a result, not the error %s",
                              all[i].code) ||
          !_sbx_trial_get_payload (trial, all[i].result, "content_base64", &content) ||
          !_sbx_trial_expect_bytes (trial, content, "in the file that the request names", name,
                                    strlen (name)))
        break;
    }

out:
  for (guint i = 0; i < N_READS; i++)
    _sbx_reply_clear (&all[i]);
}

static void
check_order (SbxTrial *trial)
{
  g_auto(SbxSeen) first = { { NULL } };
  g_auto(SbxSeen) second = { { NULL } };
  SbxReply *replies[] = { &first.reply, &second.reply, NULL };
  g_autofree char *params = NULL;

  params = _sbx_seen_params (trial, "i=0; while [ $i -lt 300 ]; do echo $i; i=$((i+1)); done", "");
  if (!_sbx_trial_begin (trial, &first.reply, "exec", "%s", params) ||
      !_sbx_trial_begin (trial, &second.reply, "exec", "%s", params) ||
      !_sbx_trial_finish (trial, replies, &first.reply) ||
      !_sbx_trial_finish (trial, replies, &second.reply) ||
      !_sbx_seen_read (&first, trial) || !_sbx_seen_read (&second, trial))
    return;

  for (int i = 0; i < 2; i++)
    {
      SbxSeen *seen = i == 0 ? &first : &second;

      _sbx_trial_expect (trial, seen->in_order, "started, output and exited in order");
      _sbx_trial_expect_bytes (trial, seen->result_out, "of output, as events had it",
                               seen->out->data, seen->out->len);
    }
}

/* A command that writes without end must not keep others waiting. */
static void
check_fair (SbxTrial *trial)
{
  g_auto(SbxReply) flood = { NULL };
  SbxReply *replies[] = { &flood, NULL, NULL };
  g_autofree char *params = NULL;

  flood.lossy = TRUE;
  params = _sbx_seen_params (trial, "head -c 60000000 /dev/zero",
                             _sbx_trial_has_feature (trial, "quiet-result")
                             ? ",'collect':false" : "");
  if (!_sbx_trial_begin (trial, &flood, "exec", "%s", params))
    return;

  for (int i = 0; i < 10; i++)
    {
      g_auto(SbxReply) quick = { NULL };
      const gint64 start = g_get_monotonic_time ();

      replies[1] = &quick;
      if (!_sbx_trial_begin (trial, &quick, "create_dir_all", "{'session':$S,'path':'fair'}") ||
          !_sbx_trial_finish (trial, replies, &quick) ||
          !_sbx_trial_expect (trial, g_get_monotonic_time () - start < 3 * G_USEC_PER_SEC,
                              "a quick answer while a command writes a lot"))
        return;
    }

  replies[1] = NULL;
  _sbx_trial_finish (trial, replies, &flood);
}

/* A command that shows that it lives by what it writes into a file, and says so once it does. */
#define BEAT \
  "i=0; echo > %s; echo on; while [ $i -lt 200 ]; do echo $i > %s; sleep 0.05; i=$((i+1)); done"

static void
check_cancel (SbxTrial *trial)
{
  g_auto(SbxReply) slow = { NULL };
  g_auto(SbxReply) cancel = { NULL };
  SbxReply *replies[] = { &slow, &cancel, NULL };
  g_autofree char *script = g_strdup_printf (BEAT, "beat-cancel", "beat-cancel");
  g_autofree char *params = _sbx_seen_params (trial, script, "");
  const gint64 start = g_get_monotonic_time ();

  if (!_sbx_trial_begin (trial, &slow, "exec", "%s", params) ||
      _sbx_trial_wait_event (trial, replies, &slow, "stdout") == NULL ||
      !_sbx_trial_begin (trial, &cancel, "cancel", "{'request_id':'%s'}", slow.id) ||
      !_sbx_trial_finish (trial, replies, &cancel) || !_sbx_trial_finish (trial, replies, &slow))
    return;

  _sbx_trial_expect (trial, cancel.result != NULL, "a result of cancel, not the error %s",
                     cancel.code);
  _sbx_trial_expect (trial, g_strcmp0 (slow.code, "cancelled") == 0,
                     "the error cancelled for the request that was cancelled");
  _sbx_trial_expect (trial, g_get_monotonic_time () - start < 8 * G_USEC_PER_SEC,
                     "the command to be ended, not waited for");
  _sbx_trial_stands_still (trial, "beat-cancel");
}

static void
check_cancel_late (SbxTrial *trial)
{
  g_auto(SbxReply) done = { NULL };
  g_auto(SbxReply) late = { NULL };
  g_auto(SbxReply) unknown = { NULL };
  SbxReply *replies[] = { &done, &late, NULL };

  if (_sbx_trial_begin (trial, &done, "capabilities", "{}") &&
      _sbx_trial_finish (trial, replies, &done) &&
      _sbx_trial_begin (trial, &late, "cancel", "{'request_id':'%s'}", done.id) &&
      _sbx_trial_finish (trial, replies, &late) &&
      _sbx_trial_expect (trial, late.result != NULL, "a result, not the error %s", late.code))
    _sbx_trial_call (trial, &unknown, "cancel", "{'request_id':'nobody'}");
}

static void
check_cancel_others (SbxTrial *trial)
{
  g_auto(SbxReply) cancelled = { NULL };
  g_auto(SbxReply) kept = { NULL };
  g_auto(SbxReply) cancel = { NULL };
  SbxReply *replies[] = { &cancelled, &kept, &cancel, NULL };
  gint64 code = -1;

  if (_sbx_trial_begin (trial, &cancelled, "exec", "{'session':$S,'argv':['sleep','20']}") &&
      _sbx_trial_begin (trial, &kept, "exec", "{'session':$S,'argv':['sleep','1']}") &&
      _sbx_trial_begin (trial, &cancel, "cancel", "{'request_id':'%s'}", cancelled.id) &&
      _sbx_trial_finish (trial, replies, &cancelled) &&
      _sbx_trial_finish (trial, replies, &kept) && _sbx_trial_finish (trial, replies, &cancel) &&
      _sbx_trial_expect (trial, kept.result != NULL, "the other command to go on, not the error %s",
                         kept.code) &&
      _sbx_trial_get_int (trial, kept.result, "exit_code", &code))
    _sbx_trial_expect (trial, code == 0, "exit code 0 of the other command");
}

static void
check_cancel_nothing (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };

  if (_sbx_trial_refused (trial, &reply, "cancel", "{}"))
    _sbx_trial_is_alive (trial);
}

#define MULTIPLEX SBX_CONFORMANCE_LEVEL_MULTIPLEX
#define CANCEL SBX_CONFORMANCE_LEVEL_CANCEL

const SbxCheckEntry _sbx_checks_multiplex[] = {
  { 201, MULTIPLEX, "a quick request is answered while a slow one is worked on",
    check_not_blocked, SBX_CHECK_EXEC },
  { 202, MULTIPLEX, "two commands run at the same time", check_parallel, SBX_CHECK_EXEC },
  { 203, MULTIPLEX, "64 requests in flight are answered each with its own", check_many_reads,
    SBX_CHECK_SESSION },
  { 204, MULTIPLEX, "messages of one request keep their order", check_order, SBX_CHECK_EXEC },
  { 205, MULTIPLEX, "a command that writes a lot keeps nobody waiting", check_fair,
    SBX_CHECK_EXEC },
  { 221, CANCEL, "cancel ends a command, whose request is answered with cancelled",
    check_cancel, SBX_CHECK_EXEC },
  { 222, CANCEL, "a cancel that comes too late is no error", check_cancel_late,
    SBX_CHECK_NONE },
  { 223, CANCEL, "other requests go on after a cancel", check_cancel_others, SBX_CHECK_EXEC },
  { 224, CANCEL, "a cancel that names no request is answered with an error",
    check_cancel_nothing, SBX_CHECK_NONE },
  { 0 }
};
