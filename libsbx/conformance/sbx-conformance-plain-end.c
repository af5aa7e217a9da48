/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conformance-checks-private.h"

#include "conformance/sbx-conformance-evidence-private.h"

/* sandbox.v1: the end of a provider, and what must not be found on its output. */

static void
expect_exit (SbxTrial *trial)
{
  if (!_sbx_trial_expect (trial, _sbx_peer_wait (trial->peer, _sbx_trial_deadline (trial))
                                 == SBX_PEER_ENDED,
                          "the provider to exit within %u ms", trial->plan->timeout_ms))
    return;

  _sbx_trial_expect (trial, _sbx_peer_get_status (trial->peer) == 0, "exit status 0, not %d",
                     _sbx_peer_get_status (trial->peer));
}

static void
check_shutdown (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };

  if (_sbx_trial_call (trial, &reply, "shutdown", "{}"))
    expect_exit (trial);
}

static void
check_shutdown_open (SbxTrial *trial)
{
  check_shutdown (trial);
}

static void
check_end (SbxTrial *trial)
{
  if (!_sbx_trial_is_alive (trial))
    return;

  _sbx_peer_end_input (trial->peer);
  expect_exit (trial);
}

static void
check_end_unterminated (SbxTrial *trial)
{
  g_autoptr(GBytes) bytes = g_bytes_new_static ("{\"id\":\"cut\",\"meth", 17);

  _sbx_trial_send_bytes (trial, bytes);
  _sbx_peer_end_input (trial->peer);
  _sbx_trial_expect (trial, _sbx_peer_wait (trial->peer, _sbx_trial_deadline (trial))
                            == SBX_PEER_ENDED,
                     "the provider to exit within %u ms", trial->plan->timeout_ms);
}

static void
check_nothing_after_reply (SbxTrial *trial)
{
  g_auto(SbxSeen) seen = { { NULL } };
  g_autoptr(GBytes) line = NULL;

  if (!_sbx_seen_shell (&seen, trial, "echo late", ""))
    return;

  if (_sbx_peer_receive (trial->peer, g_get_monotonic_time () + 300 * 1000, &line)
      == SBX_PEER_LINE)
    {
      g_clear_pointer (&trial->received, g_bytes_unref);
      trial->received = g_bytes_ref (line);
      _sbx_trial_fail (trial, "expected nothing after the reply to the only request");
    }
}

/* Comes last, and has nothing to ask: what was seen in all other checks of the level counts. */
static void
check_strays (SbxTrial *trial)
{
  if (trial->n_strays == 0)
    return;

  trial->received = g_bytes_ref (trial->stray);
  _sbx_trial_fail (trial, "expected messages with the id of a request in flight and nothing else "
                   "on standard output; there were %u other lines, of which this is the first",
                   trial->n_strays);
}

#define PLAIN SBX_CONFORMANCE_LEVEL_PLAIN

const SbxCheckEntry _sbx_checks_plain_end[] = {
  { 191, PLAIN, "nothing comes after the reply", check_nothing_after_reply,
    SBX_CHECK_EXEC | SBX_CHECK_FRESH },
  { 192, PLAIN, "shutdown is answered, and the provider exits with 0", check_shutdown,
    SBX_CHECK_FRESH | SBX_CHECK_SPOILS },
  { 193, PLAIN, "shutdown works with a session open", check_shutdown_open,
    SBX_CHECK_SESSION | SBX_CHECK_SPOILS },
  { 194, PLAIN, "the end of standard input ends the provider, with 0", check_end,
    SBX_CHECK_FRESH | SBX_CHECK_SPOILS },
  { 195, PLAIN, "a line that was cut off by the end of standard input ends it, too",
    check_end_unterminated, SBX_CHECK_FRESH | SBX_CHECK_SPOILS },
  { 199, PLAIN, "nothing but messages was on standard output in all these checks", check_strays,
    SBX_CHECK_NONE },
  { 0 }
};
