/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conformance-checks-private.h"

#include <string.h>

/* sandbox.v1: envelopes, sessions and groups. */

#define OPEN "{'metadata':$M,'profile':{'provider':$P,'name':$N},'workspace_sync':{'host_path':$W}}"
#define OPEN_IN_GROUP \
  "{'metadata':{'protocol_version':'sandbox.v1','request_id':'r','sandbox_group_id':'%s'}," \
  "'profile':{'provider':$P,'name':$N},'workspace_sync':{'host_path':$W}}"
#define CLEANUP \
  "{'metadata':{'protocol_version':'sandbox.v1','request_id':'r','sandbox_group_id':'%s'}," \
  "'sandbox_group_id':'%s'}"

static void
check_capabilities (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };
  gboolean exec;

  if (_sbx_trial_call (trial, &reply, "capabilities", "{}"))
    _sbx_trial_expect (trial, _sbx_json_object_get_boolean (reply.result, "exec", &exec)
                              == SBX_JSON_PRESENT,
                       "a bare object with a boolean \"exec\"");
}

static void
check_features (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };
  g_auto(GStrv) features = NULL;

  if (_sbx_trial_call (trial, &reply, "capabilities", "{}"))
    _sbx_trial_expect (trial, _sbx_json_object_get_strv (reply.result, "features", &features)
                              != SBX_JSON_WRONG_TYPE,
                       "\"features\" to be a list of strings, or nothing");
}

/* What a check opened it closes; whether that is done well is asked elsewhere. */
static void
close_opened (SbxTrial *trial,
              SbxReply *opened)
{
  g_auto(SbxReply) closed = { NULL };
  g_autoptr(GBytes) bytes = NULL;
  g_autofree char *session = NULL;

  bytes = _sbx_json_to_bytes (json_object_get_member (opened->object, "result"), FALSE);
  session = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  _sbx_trial_answered (trial, &closed, "close", "{'session':%s}", session);
}

static void
check_open (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };
  JsonObject *capabilities;
  const char *id = NULL;
  const char *text = NULL;
  gboolean exec;

  if (!_sbx_trial_call (trial, &reply, "open", OPEN) ||
      !_sbx_trial_get_string (trial, reply.result, "id", &id))
    return;

  _sbx_trial_expect (trial, *id != '\0', "an \"id\" that is not empty");
  _sbx_trial_expect (trial, _sbx_json_object_get_string (reply.result, "cwd", &text)
                            != SBX_JSON_WRONG_TYPE, "\"cwd\" to be a string, or nothing");
  _sbx_trial_expect (trial, _sbx_json_object_get_string (reply.result, "provider_session_id", &text)
                            != SBX_JSON_WRONG_TYPE,
                     "\"provider_session_id\" to be a string, or nothing");
  _sbx_trial_expect (trial, _sbx_json_object_get_string (reply.result, "provider_state_json", &text)
                            != SBX_JSON_WRONG_TYPE,
                     "\"provider_state_json\" to be a string, or nothing");
  if (_sbx_trial_expect (trial, _sbx_json_object_get_object (reply.result, "capabilities",
                                                             &capabilities) == SBX_JSON_PRESENT,
                         "\"capabilities\" of the session"))
    _sbx_trial_expect (trial, _sbx_json_object_get_boolean (capabilities, "exec", &exec)
                              == SBX_JSON_PRESENT, "a boolean \"exec\" in \"capabilities\"");
  close_opened (trial, &reply);
}

static void
check_cwd (SbxTrial *trial)
{
  if (*trial->cwd == '\0')
    _sbx_trial_skip (trial, "the session does not say where it is");
  else
    _sbx_trial_expect (trial, g_path_is_absolute (trial->cwd), "\"cwd\" to be an absolute path");
}

static void
check_two_sessions (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };
  const char *first = NULL;
  const char *second = NULL;

  if (!_sbx_trial_call (trial, &reply, "open", OPEN) ||
      !_sbx_trial_get_string (trial, reply.result, "id", &second) ||
      !_sbx_trial_get_string (trial, json_node_get_object (trial->session_node), "id", &first))
    return;

  _sbx_trial_expect (trial, strcmp (first, second) != 0, "two sessions to have two ids");
  close_opened (trial, &reply);
}

static void
check_ids (SbxTrial *trial)
{
  static const struct
  {
    const char *sent;
    const char *wanted;
  } ids[] = {
    { "x", "x" },
    { "req 1/\\u00e9\\\"", "req 1/\303\251\"" },
    { "0123456789012345678901234567890123456789", "0123456789012345678901234567890123456789" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (ids); i++)
    {
      g_auto(SbxReply) reply = { NULL };
      g_autofree char *line = NULL;

      line = g_strdup_printf ("{\"id\":\"%s\",\"method\":\"capabilities\",\"params\":{}}",
                              ids[i].sent);
      _sbx_trial_send_line (trial, line);
      if (!_sbx_trial_receive (trial, ids[i].wanted, &reply))
        return;
    }
}

static void
check_foreign_provider (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };

  if (_sbx_trial_refused (trial, &reply, "open",
                          "{'metadata':$M,'profile':{'provider':'someone-else-entirely',"
                          "'name':$N},'workspace_sync':{'host_path':$W}}"))
    _sbx_trial_expect (trial, strcmp (reply.code, "bad_profile") == 0,
                       "the code bad_profile, not %s", reply.code);
}

static void
check_no_profile (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };

  _sbx_trial_refused (trial, &reply, "open", "{'metadata':$M}");
}

static void
check_close_twice (SbxTrial *trial)
{
  g_auto(SbxReply) first = { NULL };
  g_auto(SbxReply) second = { NULL };

  if (_sbx_trial_call (trial, &first, "close", "{'session':$S}"))
    _sbx_trial_call (trial, &second, "close", "{'session':$S}");
}

static void
check_cleanup_unknown (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };
  gint64 count = -1;

  if (_sbx_trial_call (trial, &reply, "cleanup_group", CLEANUP, "sbx-nobody-has-this-group",
                       "sbx-nobody-has-this-group") &&
      _sbx_trial_get_int (trial, reply.result, "cleaned_count", &count))
    _sbx_trial_expect (trial, count == 0, "\"cleaned_count\" 0, not %" G_GINT64_FORMAT, count);
}

static void
check_cleanup_count (SbxTrial *trial)
{
  g_autofree char *group = g_strdup_printf ("sbx-conformance-%x", g_random_int ());
  gint64 count = -1;

  for (int i = 0; i < 2; i++)
    {
      g_auto(SbxReply) reply = { NULL };

      if (!_sbx_trial_call (trial, &reply, "open", OPEN_IN_GROUP, group))
        return;
    }

  for (int wanted = 2; wanted >= 0; wanted -= 2)
    {
      g_auto(SbxReply) reply = { NULL };

      if (!_sbx_trial_call (trial, &reply, "cleanup_group", CLEANUP, group, group) ||
          !_sbx_trial_get_int (trial, reply.result, "cleaned_count", &count) ||
          !_sbx_trial_expect (trial, count == wanted, "\"cleaned_count\" %d, not %"
                              G_GINT64_FORMAT, wanted, count))
        return;
    }
}

static void
check_unknown_method (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };

  if (_sbx_trial_refused (trial, &reply, "no_such_method", "{}"))
    {
      _sbx_trial_expect (trial, *reply.code != '\0', "a code that is not empty");
      _sbx_trial_is_alive (trial);
    }
}

static void
check_missing_params (SbxTrial *trial)
{
  static const char * const methods[] = { "read_file", "write_file", "remove", "create_dir_all",
                                          "exec", "spawn" };

  for (gsize i = 0; i < G_N_ELEMENTS (methods); i++)
    {
      g_auto(SbxReply) reply = { NULL };

      if (!_sbx_trial_refused (trial, &reply, methods[i], "{'session':$S}"))
        return;
    }

  _sbx_trial_is_alive (trial);
}

static void
check_missing_session (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };

  if (_sbx_trial_refused (trial, &reply, "read_file", "{'path':'a'}"))
    _sbx_trial_is_alive (trial);
}

static void
check_wrong_types (SbxTrial *trial)
{
  g_auto(SbxReply) path = { NULL };
  g_auto(SbxReply) argv = { NULL };

  if (_sbx_trial_refused (trial, &path, "read_file", "{'session':$S,'path':{'a':1}}") &&
      _sbx_trial_refused (trial, &argv, "exec", "{'session':$S,'argv':{'a':1}}"))
    _sbx_trial_is_alive (trial);
}

static void
check_unknown_members (SbxTrial *trial)
{
  g_autofree char *line = NULL;
  g_auto(SbxReply) reply = { NULL };

  line = _sbx_trial_expand (trial, "{'tomorrow':[{'a':1}],'params':{'tomorrow':{},'session':$S,"
                            "'path':'unknown-members','yesterday':null},'method':'create_dir_all',"
                            "'id':'unknown-members'}");
  _sbx_trial_send_line (trial, line);
  if (_sbx_trial_receive (trial, "unknown-members", &reply))
    _sbx_trial_expect (trial, reply.result != NULL, "a result, not the error %s", reply.code);
}

static void
check_session_members (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };
  g_autofree char *session = g_strndup (trial->session, strlen (trial->session) - 1);
  g_autofree char *line = g_strdup_printf ("{\"id\":\"session-members\",\"method\":"
                                           "\"create_dir_all\",\"params\":{\"session\":%s,"
                                           "\"tomorrow\":[1,2]},\"path\":\"session-members\"}}",
                                           session);

  _sbx_trial_send_line (trial, line);
  if (_sbx_trial_receive (trial, "session-members", &reply))
    _sbx_trial_expect (trial, reply.result != NULL, "a result, not the error %s", reply.code);
}

static void
check_blank_lines (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };

  _sbx_trial_send_line (trial, "");
  _sbx_trial_send_line (trial, "  \t ");
  _sbx_trial_call (trial, &reply, "capabilities", "{}");
}

static void
check_crlf (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };

  _sbx_trial_send_line (trial, "{\"id\":\"crlf\",\"method\":\"capabilities\",\"params\":{}}\r");
  if (_sbx_trial_receive (trial, "crlf", &reply))
    _sbx_trial_expect (trial, reply.result != NULL, "a result, not the error %s", reply.code);
}

static void
check_spaces (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };

  _sbx_trial_send_line (trial, " { \"params\" : { } , \"method\" : \"cap\\u0061bilities\" ,"
                               " \"id\" : \"sp\\u0061ces\" } ");
  if (_sbx_trial_receive (trial, "spaces", &reply))
    _sbx_trial_expect (trial, reply.result != NULL, "a result, not the error %s", reply.code);
}

static void
check_pipelined (SbxTrial *trial)
{
  g_auto(SbxReply) first = { NULL };
  g_auto(SbxReply) second = { NULL };
  SbxReply *replies[] = { &first, &second, NULL };

  if (_sbx_trial_begin (trial, &first, "capabilities", "{}") &&
      _sbx_trial_begin (trial, &second, "no_such_method", "{}") &&
      _sbx_trial_finish (trial, replies, &first) && _sbx_trial_finish (trial, replies, &second))
    _sbx_trial_expect (trial, first.result != NULL && second.code != NULL,
                       "a result and an error");
}

static void
check_tags (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };
  const char *id;

  if (_sbx_trial_call (trial, &reply, "open",
                       "{'metadata':{'protocol_version':'sandbox.v1','request_id':'r',"
                       "'sandbox_group_id':$G,'tags':{'run':'1','a b':''}},"
                       "'profile':{'provider':$P,'name':$N},'workspace_sync':{'host_path':$W}}") &&
      _sbx_json_object_get_string (reply.result, "id", &id) == SBX_JSON_PRESENT)
    close_opened (trial, &reply);
}

#define PLAIN SBX_CONFORMANCE_LEVEL_PLAIN

const SbxCheckEntry _sbx_checks_plain[] = {
  { 101, PLAIN, "capabilities is a bare object that says whether commands can be executed",
    check_capabilities, SBX_CHECK_NONE },
  { 102, PLAIN, "features, if there are any, are a list of names", check_features, SBX_CHECK_NONE },
  { 103, PLAIN, "every reply has the id of its request, whatever string that is", check_ids,
    SBX_CHECK_NONE },
  { 104, PLAIN, "an unknown method is answered with an error", check_unknown_method,
    SBX_CHECK_NONE },
  { 105, PLAIN, "blank lines are passed over", check_blank_lines, SBX_CHECK_NONE },
  { 106, PLAIN, "a carriage return before the newline is accepted", check_crlf, SBX_CHECK_NONE },
  { 107, PLAIN, "spaces, escapes and the order of members do not matter", check_spaces,
    SBX_CHECK_NONE },
  { 108, PLAIN, "two requests sent at once are both answered", check_pipelined,
    SBX_CHECK_NONE },
  { 109, PLAIN, "open without a profile is answered with an error", check_no_profile,
    SBX_CHECK_NONE },
  { 110, PLAIN, "a profile of another provider is answered with bad_profile",
    check_foreign_provider, SBX_CHECK_NONE },
  { 111, PLAIN, "open gives a session with an id and its capabilities", check_open,
    SBX_CHECK_NONE },
  { 112, PLAIN, "open takes tags", check_tags, SBX_CHECK_NONE },
  { 113, PLAIN, "the working directory of a session is an absolute path", check_cwd,
    SBX_CHECK_SESSION },
  { 114, PLAIN, "two sessions can be open, and have two ids", check_two_sessions,
    SBX_CHECK_SESSION },
  { 115, PLAIN, "a request without its parameters is answered with an error",
    check_missing_params, SBX_CHECK_SESSION },
  { 116, PLAIN, "a request without its session is answered with an error", check_missing_session,
    SBX_CHECK_SESSION },
  { 117, PLAIN, "parameters of the wrong type are answered with an error", check_wrong_types,
    SBX_CHECK_SESSION },
  { 118, PLAIN, "unknown members of a request and its parameters are passed over",
    check_unknown_members, SBX_CHECK_SESSION },
  { 119, PLAIN, "unknown members of the session sent along are passed over",
    check_session_members, SBX_CHECK_SESSION },
  { 120, PLAIN, "cleanup_group of an unknown group cleans nothing", check_cleanup_unknown,
    SBX_CHECK_NONE },
  { 121, PLAIN, "cleanup_group counts the sessions that it cleans", check_cleanup_count,
    SBX_CHECK_NONE },
  { 122, PLAIN, "close can be asked for twice", check_close_twice,
    SBX_CHECK_SESSION | SBX_CHECK_SPOILS },
  { 0 }
};
