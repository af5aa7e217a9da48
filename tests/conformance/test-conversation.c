/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "sbx.h"
#include "test-util.h"

#include <glib/gstdio.h>
#include <string.h>

#define SECRET "s3cr3t-Pa55"

static GBytes *
bytes_of (const char *text)
{
  return g_bytes_new (text, strlen (text));
}

static char *
text_of (GBytes *bytes)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  return size > 0 ? g_strndup (data, size) : g_strdup ("");
}

static char *
cut (const char *line)
{
  g_autoptr(GBytes) bytes = bytes_of (line);
  g_autoptr(GBytes) result = sbx_conversation_cut_line (bytes);

  return text_of (result);
}

typedef struct
{
  const char *line;
  const char *cut;
} Cut;

static const Cut cuts[] = {
  { "{\"id\":\"req_1\",\"method\":\"capabilities\",\"params\":{}}",
    "{\"id\":\"req_1\",\"method\":\"capabilities\",\"params\":{}}" },
  { "{\"id\":\"r\",\"params\":{\"env\":{\"TOKEN\":\"abc\",\"N\":5},\"argv\":[\"sh\",\"-c\"]}}",
    "{\"id\":\"r\",\"params\":{\"env\":{\"TOKEN\":\"cut:3\",\"N\":0},\"argv\":[\"sh\","
    "\"cut:2\"]}}" },
  { "{\"id\":\"r\",\"result\":{\"content_base64\":\"AAEC\",\"size\":3,\"eof\":true}}",
    "{\"id\":\"r\",\"result\":{\"content_base64\":\"cut:base64:3\",\"size\":3,\"eof\":true}}" },
  { "{\"id\":\"r\",\"result\":{\"content_base64\":\"AAE\"}}",
    "{\"id\":\"r\",\"result\":{\"content_base64\":\"cut:bad-base64:3\"}}" },
  { "{\"id\":\"r\",\"result\":{\"provider_state_json\":\"{}\",\"cwd\":\"/w\"}}",
    "{\"id\":\"r\",\"result\":{\"provider_state_json\":\"cut:2\",\"cwd\":\"/w\"}}" },
  { "{\"id\":\"r\",\"error\":{\"code\":\"failed\",\"message\":\"no\",\"retryable\":false}}",
    "{\"id\":\"r\",\"error\":{\"code\":\"failed\",\"message\":\"cut:2\",\"retryable\":false}}" },
  { "{\"id\":\"r\",\"result\":{\"other\":{\"path\":\"p\",\"code\":\"c\",\"K9\":1.5}}}",
    "{\"id\":\"r\",\"result\":{\"other\":{\"path\":\"cut:1\",\"code\":\"cut:1\",\"cut-0\":0.5}}}" },
  { "no JSON: token=Abc1", "xx xxxx: xxxxx.xxx0" },
  { "\xff\"\\", "\\xff\"\\\\" },
  { "", "" },
};

static void
test_cut (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (cuts); i++)
    {
      g_autofree char *once = cut (cuts[i].line);
      g_autofree char *twice = NULL;

      g_assert_cmpstr (once, ==, cuts[i].cut);
      if (*once == '{')
        {
          twice = cut (once);
          g_assert_cmpstr (twice, ==, once);
        }
    }
}

/* Long strings are cut while they come, and are no different for it. */
static void
test_long (void)
{
  g_autofree char *base64 = g_strnfill (8 * 1024 * 1024, 'A');
  g_autofree char *state = g_strnfill (100000, '~');
  g_autofree char *line = NULL;
  g_autofree char *result = NULL;

  line = g_strdup_printf ("{\"id\":\"r\",\"result\":{\"content_base64\":\"%s\","
                          "\"provider_state_json\":\"%s\",\"message\":\"%s\"}}", base64, state,
                          base64);
  result = cut (line);
  g_assert_cmpstr (result, ==,
                   "{\"id\":\"r\",\"result\":{\"content_base64\":\"cut:base64:6291456\","
                   "\"provider_state_json\":\"cut:100000\",\"message\":\"cut:base64:6291456\"}}");
}

static void append_random (GString *text,
                           int      depth,
                           gboolean harmless);

/* A member's name, and whether what is kept may stand below it. */
static const struct
{
  const char *name;
  gboolean    kept;
} names[] = {
  { "id", TRUE }, { "params", TRUE }, { "result", TRUE }, { "event", TRUE }, { "error", TRUE },
  { "session", TRUE }, { "env", FALSE }, { "tags", FALSE }, { "token", FALSE },
  { "message", FALSE }, { "provider_state_json", FALSE }, { "stdin_base64", FALSE },
  { "data_base64", FALSE }, { "password", FALSE }, { "details", FALSE }, { "path", TRUE },
  { SECRET, FALSE }, { "extra", FALSE }, { "code", TRUE },
};

static void
append_object (GString *text,
               int      depth)
{
  const gsize first = (gsize) g_test_rand_int_range (0, G_N_ELEMENTS (names));
  const gsize n = (gsize) g_test_rand_int_range (0, 5);

  g_string_append_c (text, '{');
  for (gsize i = 0; i < n; i++)
    {
      const gsize name = (first + i) % G_N_ELEMENTS (names);

      g_string_append_printf (text, "%s\"%s\":", i > 0 ? "," : "", names[name].name);
      append_random (text, depth - 1, names[name].kept);
    }
  g_string_append_c (text, '}');
}

static void
append_random (GString *text,
               int      depth,
               gboolean harmless)
{
  const int kind = g_test_rand_int_range (0, depth > 0 ? 6 : 3);

  if (kind >= 4)
    append_object (text, depth);
  else if (kind == 3)
    {
      g_string_append_c (text, '[');
      append_random (text, depth - 1, harmless);
      g_string_append_c (text, ',');
      append_random (text, depth - 1, harmless);
      g_string_append_c (text, ']');
    }
  else if (kind == 2)
    g_string_append (text, harmless ? "\"harmless\"" : "\"" SECRET "\"");
  else if (kind == 1)
    g_string_append (text, harmless ? "1" : "918273645");
  else
    g_string_append (text, harmless ? "null" : "\"aa " SECRET " bb\"");
}

/* Whatever the shape: what stands where nothing is known to be harmless does not get through. */
static void
test_secrets (void)
{
  for (int i = 0; i < 20000; i++)
    {
      g_autoptr(GString) line = g_string_new (NULL);
      g_autofree char *result = NULL;

      append_object (line, 5);
      /* Also where the line is no JSON, or not all of it is there. */
      if (i % 4 == 0)
        g_string_truncate (line, (gsize) g_test_rand_int_range (0, (gint32) line->len + 1));
      if (i % 4 == 1)
        g_string_append (line, " " SECRET);

      result = cut (line->str);
      if (strstr (result, "s3cr3t") != NULL || strstr (result, "Pa55") != NULL ||
          strstr (result, "918273645") != NULL)
        g_error ("%s\n%s", line->str, result);
    }
}

static SbxConversation *
load (const char  *record,
      GError     **error)
{
  g_autoptr(GBytes) bytes = bytes_of (record);

  return sbx_conversation_new_for_bytes (bytes, error);
}

static void
test_load (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxConversation) conversation = NULL;
  g_autoptr(GBytes) first = NULL;
  g_autoptr(GBytes) second = NULL;
  g_autofree char *first_text = NULL;
  g_autofree char *second_text = NULL;

  conversation = load ("{\"t_ms\":1,\"from\":\"client\",\"line\":{\"id\":\"r\",\"x\":\"cut:3\","
                       "\"y_base64\":\"cut:base64:4\",\"z\":\"cut:bad-base64:2\"}}\n\n"
                       "{\"t_ms\":25,\"from\":\"provider\",\"text\":\"\\\\xff\\\\\\\\ xx\","
                       "\"text_cut_bytes\":3}", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sbx_conversation_get_n_messages (conversation), ==, 2);
  g_assert_cmpint (sbx_conversation_get_side (conversation, 0), ==, SBX_CONVERSATION_SIDE_CLIENT);
  g_assert_cmpint (sbx_conversation_get_side (conversation, 1), ==, SBX_CONVERSATION_SIDE_PROVIDER);
  g_assert_cmpint (sbx_conversation_get_time (conversation, 1), ==, 25);

  first = sbx_conversation_get_line (conversation, 0);
  second = sbx_conversation_get_line (conversation, 1);
  first_text = text_of (first);
  second_text = text_of (second);
  g_assert_cmpstr (first_text, ==,
                   "{\"id\":\"r\",\"x\":\"xxx\",\"y_base64\":\"eHh4eA==\",\"z\":\"!!\"}");
  g_assert_cmpstr (second_text, ==, "\xff\\ xxxxx");
}

static void
test_load_bad (void)
{
  static const char * const records[] = {
    "{", "[]", "7", "{\"t_ms\":1}", "{\"t_ms\":1,\"from\":\"nobody\",\"line\":{}}",
    "{\"t_ms\":-1,\"from\":\"client\",\"line\":{}}", "{\"t_ms\":1,\"from\":\"client\"}",
    "{\"t_ms\":\"1\",\"from\":\"client\",\"line\":{}}",
    "{\"t_ms\":1,\"from\":\"client\",\"text\":\"\",\"text_cut_bytes\":-1}",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (records); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(SbxConversation) conversation = load (records[i], &error);

      g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
      g_assert_null (conversation);
    }
}

/* What a record asks for and nobody can have is not given; what a peer says may look like that. */
static void
test_load_large (void)
{
  static const char record[] =
    "{\"t_ms\":1,\"from\":\"client\",\"line\":[\"cut:999999999999\",\"cut:134217728\","
    "\"cut:1\"]}\n"
    "{\"t_ms\":1,\"from\":\"client\",\"text\":\"\",\"text_cut_bytes\":99999999999}\n";
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxConversation) conversation = load (record, &error);
  g_autoptr(GBytes) line = NULL;
  g_autoptr(GBytes) text = NULL;

  g_assert_no_error (error);
  line = sbx_conversation_get_line (conversation, 0);
  text = sbx_conversation_get_line (conversation, 1);
  g_assert_cmpuint (g_bytes_get_size (line), ==,
                    134217728 + strlen ("[\"cut:999999999999\",\"\",\"cut:1\"]"));
  g_assert_cmpuint (g_bytes_get_size (text), ==, 134217728);
}

static void
test_load_file (void)
{
  g_autofree char *folder = g_dir_make_tmp ("test-conversation-XXXXXX", NULL);
  g_autofree char *missing = g_build_filename (folder, "missing", NULL);
  g_autoptr(SbxConversation) conversation = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(GError) folder_error = NULL;

  conversation = sbx_conversation_load (missing, &error);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_assert_null (conversation);
  conversation = sbx_conversation_load (folder, &folder_error);
  g_assert_error (folder_error, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY);
  g_assert_null (conversation);

  g_rmdir (folder);
}

/* Bytes come as they like. */
static void
test_recorder (void)
{
  static const char asked[] = "{\"id\":\"a\",\"method\":\"read_file\",\"params\":{}}\r\n"
                              "\n{\"id\":\"b\",\"method\":\"shutdown\",\"params\":{}}";
  static const char answered[] = "{\"id\":\"a\",\"result\":{\"content_base64\":\"AAAA\"}}\n"
                                 "log: token\n{\"id\":\"b\",\"result\":{}}\n";
  g_autoptr(SbxConversationRecorder) recorder = sbx_conversation_recorder_new ();
  g_autoptr(SbxConversation) conversation = NULL;
  g_autoptr(GBytes) record = NULL;
  g_autoptr(GBytes) line = NULL;
  g_autofree char *text = NULL;
  g_autoptr(GError) error = NULL;

  for (gsize i = 0; i < MAX (sizeof asked, sizeof answered) - 1; i++)
    {
      g_autoptr(GBytes) one = i < sizeof asked - 1 ? g_bytes_new (asked + i, 1) : NULL;
      g_autoptr(GBytes) other = i < sizeof answered - 1 ? g_bytes_new (answered + i, 1) : NULL;

      if (one != NULL)
        sbx_conversation_recorder_feed (recorder, SBX_CONVERSATION_SIDE_CLIENT, one);
      if (other != NULL)
        sbx_conversation_recorder_feed (recorder, SBX_CONVERSATION_SIDE_PROVIDER, other);
    }
  sbx_conversation_recorder_finish (recorder, SBX_CONVERSATION_SIDE_CLIENT);
  sbx_conversation_recorder_finish (recorder, SBX_CONVERSATION_SIDE_PROVIDER);

  record = sbx_conversation_recorder_take (recorder);
  conversation = sbx_conversation_new_for_bytes (record, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sbx_conversation_get_n_messages (conversation), ==, 5);

  g_clear_pointer (&record, g_bytes_unref);
  record = sbx_conversation_recorder_take (recorder);
  g_assert_cmpuint (g_bytes_get_size (record), ==, 0);

  line = sbx_conversation_get_cut_line (conversation, 1);
  text = text_of (line);
  g_assert_nonnull (strstr (text, "cut:base64:3"));
}

static char *
answer (SbxConversationPlayer *player,
        const char            *line)
{
  g_autoptr(GBytes) bytes = bytes_of (line);
  g_autoptr(GBytes) result = sbx_conversation_player_answer (player, bytes);

  return text_of (result);
}

#define CLIENT(line) "{\"t_ms\":1,\"from\":\"client\",\"line\":" line "}\n"
#define PROVIDER(line) "{\"t_ms\":1,\"from\":\"provider\",\"line\":" line "}\n"

static const char recorded[] =
  CLIENT ("{\"id\":\"r1\",\"method\":\"stat\",\"params\":{}}")
  CLIENT ("{\"id\":\"r2\",\"method\":\"exec\",\"params\":{}}")
  PROVIDER ("{\"id\":\"r2\",\"event\":{\"type\":\"stdout\",\"data_base64\":\"cut:base64:3\"}}")
  PROVIDER ("{\"id\":\"r1\",\"result\":{\"size\":7}}")
  "{\"t_ms\":1,\"from\":\"provider\",\"text\":\"xxx\"}\n"
  PROVIDER ("{\"id\":\"r2\",\"result\":{\"exit_code\":0}}")
  CLIENT ("{\"id\":\"r3\",\"method\":\"stat\",\"params\":{}}")
  PROVIDER ("{\"id\":\"r3\",\"error\":{\"code\":\"failed\",\"message\":\"cut:2\"}}")
  CLIENT ("{\"id\":\"r4\",\"method\":\"shutdown\",\"params\":{}}")
  PROVIDER ("{\"id\":\"r4\",\"result\":{}}");

static void
test_player (void)
{
  static const char * const asked[][2] = {
    { "{\"id\":\"x\",\"method\":\"exec\"}",
      "{\"id\":\"x\",\"event\":{\"type\":\"stdout\",\"data_base64\":\"eHh4\"}}\nxxx\n"
      "{\"id\":\"x\",\"result\":{\"exit_code\":0}}\n" },
    { "{\"id\":\"r2\",\"method\":\"stat\"}", "{\"id\":\"r2\",\"result\":{\"size\":7}}\n" },
    { "no request", "" },
    { "{\"id\":\"y\",\"method\":\"stat\"}",
      "{\"id\":\"y\",\"error\":{\"code\":\"failed\",\"message\":\"xx\"}}\n" },
    { "{\"id\":\"z\",\"method\":\"stat\"}",
      "{\"id\":\"z\",\"error\":{\"code\":\"not_recorded\",\"message\":\"the record has no further "
      "answer to that\",\"retryable\":false}}\n" },
    { "{\"id\":\"w\",\"method\":\"shutdown\"}", "{\"id\":\"w\",\"result\":{}}\n" },
  };
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxConversation) conversation = load (recorded, &error);
  g_autoptr(SbxConversationPlayer) player = NULL;

  g_assert_no_error (error);
  player = sbx_conversation_player_new (conversation);
  for (gsize i = 0; i < G_N_ELEMENTS (asked); i++)
    {
      g_autofree char *text = NULL;

      g_assert_false (sbx_conversation_player_is_over (player));
      text = answer (player, asked[i][0]);
      g_assert_cmpstr (text, ==, asked[i][1]);
    }
  g_assert_true (sbx_conversation_player_is_over (player));
}

/* What one provider said is asked of another, whose faults are the difference. */
static void
test_replay (void)
{
  static const char record[] =
    CLIENT ("{\"id\":\"r1\",\"method\":\"capabilities\",\"params\":{}}")
    PROVIDER ("{\"id\":\"r1\",\"result\":{\"exec\":true}}")
    CLIENT ("{\"id\":\"r2\",\"method\":\"open\",\"params\":{\"metadata\":{\"protocol_version\":"
            "\"sandbox.v1\",\"request_id\":\"r\",\"sandbox_group_id\":\"g\"},\"profile\":"
            "{\"provider\":\"fake\",\"name\":\"default\"},\"workspace_sync\":{\"host_path\":"
            "\"/nowhere\"}}}")
    PROVIDER ("{\"id\":\"r2\",\"result\":{\"id\":\"then\",\"cwd\":\"/nowhere\",\"capabilities\":"
              "{\"exec\":true}}}")
    CLIENT ("{\"id\":\"r3\",\"method\":\"write_file\",\"params\":{\"session\":{\"id\":\"then\"},"
            "\"path\":\"/nowhere/f\",\"content_base64\":\"cut:base64:7\"}}")
    PROVIDER ("{\"id\":\"r3\",\"result\":{}}")
    CLIENT ("{\"id\":\"r4\",\"method\":\"remove\",\"params\":{\"session\":{\"id\":\"then\"},"
            "\"path\":\"f\"}}")
    PROVIDER ("{\"id\":\"r4\",\"result\":{}}");
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxConversation) conversation = load (record, &error);
  const char *good[] = { g_getenv ("SBX_FAKE_PROVIDER"), "plain", "serve", NULL };
  const char *bad[] = { g_getenv ("SBX_FAKE_PROVIDER"), "fail=remove", "serve", NULL };
  g_auto(GStrv) none = NULL;
  g_auto(GStrv) some = NULL;

  g_assert_no_error (error);
  none = sbx_conversation_replay (conversation, good, NULL, 20000, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (none[0], ==, NULL);

  some = sbx_conversation_replay (conversation, bad, NULL, 20000, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_strv_length (some), ==, 2);
  g_assert_cmpstr (some[0], ==, "r4 (remove): result: nothing, was an object");
  g_assert_cmpstr (some[1], ==, "r4 (remove): error: an object, was nothing");
}

static void
test_replay_hangs (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxConversation) conversation = load (recorded, &error);
  const char *argv[] = { g_getenv ("SBX_FAKE_PROVIDER"), "silent=all", "serve", NULL };
  g_auto(GStrv) differences = NULL;

  differences = sbx_conversation_replay (conversation, argv, NULL, 200, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (differences[0], ==, "r1 (stat): no answer in time");
  g_assert_cmpstr (differences[1], ==, NULL);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/conversation/cut", test_cut);
  g_test_add_func ("/conversation/long", test_long);
  g_test_add_func ("/conversation/secrets", test_secrets);
  g_test_add_func ("/conversation/load", test_load);
  g_test_add_func ("/conversation/load-bad", test_load_bad);
  g_test_add_func ("/conversation/load-large", test_load_large);
  g_test_add_func ("/conversation/load-file", test_load_file);
  g_test_add_func ("/conversation/recorder", test_recorder);
  g_test_add_func ("/conversation/player", test_player);
  g_test_add_func ("/conversation/replay", test_replay);
  g_test_add_func ("/conversation/replay-hangs", test_replay_hangs);

  return g_test_run ();
}
