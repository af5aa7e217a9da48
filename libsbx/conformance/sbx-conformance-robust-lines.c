/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conformance-checks-private.h"

#include <string.h>

/* Robustness: lines that no good client sends. */

#define MIB (1024 * 1024)
#define HUGE_HEAD "{\"id\":\"huge\",\"method\":\"capabilities\",\"params\":{\"x\":\""
#define HUGE_LINE (512 * MIB)
#define MAX_MEMORY (400 * MIB)
#define N_NESTED 100000
#define N_PIPELINED 1000

/* Sends what may or may not be answered, and then something that must be. */
static gboolean
survives (SbxTrial   *trial,
          const char *line)
{
  _sbx_trial_send_line (trial, line);

  return _sbx_trial_is_alive (trial);
}

static void
check_garbage (SbxTrial *trial)
{
  static const char * const lines[] = {
    "this is no JSON", "{", "{\"id\":\"x\",\"method\":\"capabilities\",\"params\":{}", "}",
    "\"text\"", "[]", "null", "7", "{}", "{\"id\":\"x\"}{\"id\":\"y\"}", "\xef\xbb\xbf{}",
    "{\"id\":\"x\",\"method\":\"capabilities\",\"params\":{}} x", "{'id':'x'}", "// comment",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (lines); i++)
    if (!survives (trial, lines[i]))
      return;
}

static void
check_not_utf8 (SbxTrial *trial)
{
  if (survives (trial, "{\"id\":\"\xff\xfe\",\"method\":\"capabilities\",\"params\":{}}"))
    survives (trial, "\xff\xfe\xfd \xc3\x28");
}

static void
check_ids (SbxTrial *trial)
{
  static const char * const ids[] = { "7", "null", "{}", "[\"x\"]", "true", "1.5" };

  for (gsize i = 0; i < G_N_ELEMENTS (ids); i++)
    {
      g_autofree char *line = g_strdup_printf ("{\"id\":%s,\"method\":\"capabilities\","
                                               "\"params\":{}}", ids[i]);

      if (!survives (trial, line))
        return;
    }

  survives (trial, "{\"method\":\"capabilities\",\"params\":{}}");
}

static void
check_methods (SbxTrial *trial)
{
  static const char * const methods[] = { "7", "null", "{}", "[]", "\"\"", "\"\\u0000\"" };

  for (gsize i = 0; i < G_N_ELEMENTS (methods); i++)
    {
      g_autofree char *line = g_strdup_printf ("{\"id\":\"m\",\"method\":%s,\"params\":{}}",
                                               methods[i]);

      if (!survives (trial, line))
        return;
    }

  survives (trial, "{\"id\":\"m\",\"params\":{}}");
}

static void
check_params (SbxTrial *trial)
{
  static const char * const params[] = { "7", "null", "\"text\"", "[]", "true" };

  for (gsize i = 0; i < G_N_ELEMENTS (params); i++)
    {
      g_auto(SbxReply) reply = { NULL };

      if (!_sbx_trial_answered (trial, &reply, "read_file", "%s", params[i]))
        return;
    }

  _sbx_trial_is_alive (trial);
}

static void
check_nesting (SbxTrial *trial)
{
  g_autofree char *open = g_strnfill (N_NESTED, '[');
  g_autofree char *close = g_strnfill (N_NESTED, ']');
  g_autofree char *bare = g_strconcat (open, close, NULL);
  g_autofree char *within = g_strdup_printf ("{\"id\":\"deep\",\"method\":\"capabilities\","
                                             "\"params\":{\"x\":%s}}", bare);

  if (survives (trial, open) && survives (trial, bare))
    survives (trial, within);
}

static void
check_numbers (SbxTrial *trial)
{
  static const char * const numbers[] = { "9223372036854775808", "18446744073709551616", "1e400",
                                          "-1e400", "1e-400", "-0", "01", "0x10", "NaN", "1." };

  for (gsize i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      g_autofree char *line = g_strdup_printf ("{\"id\":\"number\",\"method\":\"capabilities\","
                                               "\"params\":{\"x\":%s}}", numbers[i]);

      if (!survives (trial, line))
        return;
    }
}

static void
check_strings (SbxTrial *trial)
{
  static const char * const strings[] = { "\\ud800", "\\udc00\\ud800", "\\u0000", "\\x41", "\\",
                                          "\t", "\\ud83d\\ude00" };

  for (gsize i = 0; i < G_N_ELEMENTS (strings); i++)
    {
      g_autofree char *line = g_strdup_printf ("{\"id\":\"string\",\"method\":\"capabilities\","
                                               "\"params\":{\"x\":\"%s\"}}", strings[i]);

      if (!survives (trial, line))
        return;
    }
}

static void
check_duplicates (SbxTrial *trial)
{
  if (survives (trial, "{\"id\":\"a\",\"id\":\"b\",\"method\":\"capabilities\",\"params\":{}}") &&
      survives (trial, "{\"id\":\"a\",\"method\":\"shutdown\",\"method\":\"capabilities\","
                       "\"params\":{}}"))
    survives (trial, "{\"id\":\"a\",\"method\":\"capabilities\",\"params\":{\"x\":1,\"x\":2}}");
}

static void
check_same_id (SbxTrial *trial)
{
  for (int i = 0; i < 3; i++)
    _sbx_trial_send_line (trial, "{\"id\":\"same\",\"method\":\"capabilities\",\"params\":{}}");

  _sbx_trial_is_alive (trial);
}

/* A message in pieces of one byte. */
static void
check_dribble (SbxTrial *trial)
{
  static const char line[] = "{\"id\":\"dribble\",\"method\":\"capabilities\",\"params\":{}}\n";
  g_auto(SbxReply) reply = { NULL };

  for (gsize i = 0; i < sizeof line - 1; i++)
    {
      g_autoptr(GBytes) byte = g_bytes_new_static (line + i, 1);

      _sbx_trial_send_bytes (trial, byte);
      if (!_sbx_peer_flush (trial->peer, _sbx_trial_deadline (trial)))
        break;
      g_usleep (200);
    }

  if (_sbx_trial_receive (trial, "dribble", &reply))
    _sbx_trial_expect (trial, reply.result != NULL, "a result, not the error %s", reply.code);
}

static void
check_pipelined (SbxTrial *trial)
{
  const gint64 start = g_get_monotonic_time ();
  g_autoptr(GString) lines = g_string_new (NULL);
  g_autoptr(GBytes) bytes = NULL;

  for (int i = 0; i < N_PIPELINED; i++)
    g_string_append_printf (lines, "{\"id\":\"p%d\",\"method\":\"capabilities\",\"params\":{}}\n",
                            i);
  bytes = g_string_free_to_bytes (g_steal_pointer (&lines));
  _sbx_trial_send_bytes (trial, bytes);

  for (int i = 0; i < N_PIPELINED; i++)
    {
      g_auto(SbxReply) reply = { NULL };
      g_autofree char *id = g_strdup_printf ("p%d", i);

      if (!_sbx_trial_receive (trial, id, &reply) ||
          !_sbx_trial_expect (trial, reply.result != NULL, "a result, not the error %s",
                              reply.code))
        return;
    }

  _sbx_trial_expect (trial, g_get_monotonic_time () - start
                            < 3 * (gint64) trial->plan->timeout_ms * 1000,
                     "a thousand answers in good time");
}

/* It must be refused, or the provider may end; it must not be kept. */
static void
check_huge_line (SbxTrial *trial)
{
  g_autofree char *block = g_strnfill (MIB, 'a');
  g_autoptr(GBytes) bytes = g_bytes_new_static (block, MIB);
  g_autoptr(GBytes) end = g_bytes_new_static ("\"}}\n", 4);
  g_autoptr(GBytes) head = NULL;
  const guint64 before = _sbx_peer_get_memory (trial->peer);
  guint64 most = 0;

  head = g_bytes_new_static (HUGE_HEAD, sizeof HUGE_HEAD - 1);
  _sbx_peer_send (trial->peer, head);
  for (int i = 0; i < HUGE_LINE / MIB && most < MAX_MEMORY; i++)
    {
      _sbx_peer_send (trial->peer, bytes);
      if (!_sbx_peer_flush (trial->peer, _sbx_trial_deadline (trial)))
        break;
      most = MAX (most, _sbx_peer_get_memory (trial->peer));
    }
  _sbx_peer_send (trial->peer, end);

  if (!_sbx_trial_expect (trial, most < MAX_MEMORY, "a line of 512 MiB to be refused, not kept: "
                          "%" G_GUINT64_FORMAT " MiB of memory, and %" G_GUINT64_FORMAT " before",
                          most / MIB, before / MIB))
    return;

  if (_sbx_peer_wait (trial->peer, g_get_monotonic_time () + 200 * 1000) != SBX_PEER_ENDED)
    _sbx_trial_is_alive (trial);
}

static void
check_unread_output (SbxTrial *trial)
{
  g_auto(SbxReply) flood = { NULL };
  SbxReply *replies[] = { &flood, NULL };
  g_autofree char *params = NULL;
  guint64 most = 0;

  if (!_sbx_trial_has_feature (trial, "quiet-result"))
    {
      _sbx_trial_skip (trial, "without the feature \"quiet-result\" the result has all output");
      return;
    }

  flood.lossy = TRUE;
  params = _sbx_seen_params (trial, "head -c 300000000 /dev/zero", ",'collect':false");
  _sbx_trial_begin (trial, &flood, "exec", "%s", params);
  _sbx_peer_flush (trial->peer, _sbx_trial_deadline (trial));
  for (int i = 0; i < 20; i++)
    {
      g_usleep (50 * 1000);
      most = MAX (most, _sbx_peer_get_memory (trial->peer));
    }

  if (_sbx_trial_expect (trial, most < 150 * MIB, "the command to be kept waiting while the client "
                         "does not read, not %" G_GUINT64_FORMAT " MiB of memory", most / MIB))
    _sbx_trial_finish (trial, replies, &flood);
}

static void
check_nul (SbxTrial *trial)
{
  static const char * const params[] = {
    "'argv':['true','a\\u0000b']", "'argv':['tr\\u0000ue']",
    "'argv':['true'],'cwd':'a\\u0000b'", "'argv':['true'],'env':{'A':'a\\u0000b'}",
    "'argv':['true'],'env':{'A\\u0000':'b'}", "'argv':['true'],'env':{'':'b'}",
    "'argv':['true'],'env':{'A=B':'c'}", "'argv':['']",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (params); i++)
    {
      g_auto(SbxReply) reply = { NULL };
      gint64 code = 0;

      if (!_sbx_trial_answered (trial, &reply, "exec", "{'session':$S,%s}", params[i]))
        return;

      if (reply.result != NULL)
        _sbx_json_object_get_int (reply.result, "exit_code", &code);
      if (!_sbx_trial_expect (trial, reply.code != NULL || code != 0,
                              "an error for what no process can be started with"))
        return;
    }
}

static void
check_nul_paths (SbxTrial *trial)
{
  static const char * const methods[] = { "read_file", "create_dir_all", "remove" };

  for (gsize i = 0; i < G_N_ELEMENTS (methods); i++)
    {
      g_auto(SbxReply) reply = { NULL };

      if (!_sbx_trial_refused (trial, &reply, methods[i], "{'session':$S,'path':'a\\u0000b'}"))
        return;
    }
}

#define ROBUST SBX_CONFORMANCE_LEVEL_ROBUSTNESS

const SbxCheckEntry _sbx_checks_robust_lines[] = {
  { 401, ROBUST, "lines that are no requests end nothing", check_garbage, SBX_CHECK_NONE },
  { 402, ROBUST, "lines that are not UTF-8 end nothing", check_not_utf8, SBX_CHECK_NONE },
  { 403, ROBUST, "ids that are no strings end nothing", check_ids, SBX_CHECK_NONE },
  { 404, ROBUST, "methods that are no names end nothing", check_methods, SBX_CHECK_NONE },
  { 405, ROBUST, "parameters that are no object are answered", check_params, SBX_CHECK_NONE },
  { 406, ROBUST, "100,000 nested brackets end nothing", check_nesting, SBX_CHECK_NONE },
  { 407, ROBUST, "numbers that do not fit end nothing", check_numbers, SBX_CHECK_NONE },
  { 408, ROBUST, "strings that are none end nothing", check_strings, SBX_CHECK_NONE },
  { 409, ROBUST, "members that are there twice end nothing", check_duplicates, SBX_CHECK_NONE },
  { 410, ROBUST, "three requests with one id end nothing", check_same_id, SBX_CHECK_SPOILS },
  { 411, ROBUST, "a request that comes byte by byte is answered", check_dribble,
    SBX_CHECK_NONE },
  { 412, ROBUST, "a thousand requests sent at once are all answered", check_pipelined,
    SBX_CHECK_NONE },
  { 413, ROBUST, "a line of 512 MiB is refused and not kept", check_huge_line,
    SBX_CHECK_FRESH | SBX_CHECK_SPOILS },
  { 414, ROBUST, "a command whose output nobody reads is kept waiting", check_unread_output,
    SBX_CHECK_EXEC | SBX_CHECK_SPOILS },
  { 415, ROBUST, "commands that no process can have are answered with an error", check_nul,
    SBX_CHECK_EXEC },
  { 416, ROBUST, "a NUL in a path is answered with an error", check_nul_paths,
    SBX_CHECK_SESSION },
  { 0 }
};
