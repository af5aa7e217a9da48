/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-error.h"
#include "core/sbx-reach-private.h"

#include <string.h>

/* A reach as a text. */

static SbxReach *
parse (const char  *json,
       GError     **error)
{
  g_autoptr(GBytes) bytes = g_bytes_new (json, strlen (json));

  return sbx_reach_new_from_json (bytes, error);
}

static char *
to_text (SbxReach *reach)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) bytes = sbx_reach_to_json (reach, &error);

  g_assert_no_error (error);

  return g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
}

static SbxReach *
make_full (void)
{
  SbxReach *reach = sbx_reach_new ("/work");

  sbx_reach_add_read (reach, "/with\nnewline \"and\" \\ more");
  sbx_reach_add_read (reach, "/é");
  sbx_reach_add_write (reach, "/work/out");
  sbx_reach_add_domain (reach, "*.example.org");
  sbx_reach_add_socket (reach, "/run/s");
  sbx_reach_set_web_search (reach, TRUE);
  sbx_reach_set_git_mode (reach, SBX_GIT_MODE_COMMIT);
  sbx_reach_set_limit (reach, SBX_LIMIT_CPU_TIME, 60);
  sbx_reach_set_environment_key (reach, "bwrap", "{\"a\":[1,2.5],\"b\":null}");
  sbx_reach_set_variable (reach, "B", "x=y");
  sbx_reach_set_variable (reach, "A", "");

  return reach;
}

static void
add_entry (GListStore   *entries,
           SbxReachKind  kind,
           const char   *path)
{
  g_autoptr(SbxReachEntry) entry = _sbx_reach_entry_new (kind, path, "write[0]: \"out\"");

  if (kind == SBX_REACH_DOMAIN)
    entry->domain = g_strdup ("example.org");
  if (kind == SBX_REACH_GIT_DIR)
    entry->worktree = g_strdup ("/work");
  entry->writable = kind == SBX_REACH_WRITE;
  g_list_store_append (entries, entry);
}

static void
test_round_trip (void)
{
  g_autoptr(SbxReach) reach = make_full ();
  g_autofree char *text = to_text (reach);
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxReach) again = parse (text, &error);
  g_autofree char *text_again = NULL;

  g_assert_no_error (error);
  g_assert_true (sbx_reach_equal (reach, again));

  text_again = to_text (again);
  g_assert_cmpstr (text, ==, text_again);
  g_assert_nonnull (strstr (text, "\"environment\": {\n    \"bwrap\": {\n      \"a\": [\n"));
  g_assert_nonnull (strstr (text, "\"variables\": {\n    \"B\": \"x=y\",\n    \"A\": \"\"\n  }"));
}

static void
test_least (void)
{
  g_autoptr(SbxReach) reach = sbx_reach_new ("/");
  g_autofree char *text = to_text (reach);
  g_autoptr(SbxReach) again = parse (text, NULL);

  g_assert_cmpstr (text, ==, "{\n  \"cwd\": \"/\"\n}\n");
  g_assert_true (sbx_reach_equal (reach, again));
}

/* Nothing that a file says of this machine is believed. */
static void
test_entries (void)
{
  g_autoptr(SbxReach) reach = make_full ();
  g_autoptr(SbxReach) asked = sbx_reach_copy (reach);
  g_autoptr(GListStore) entries = g_list_store_new (SBX_TYPE_REACH_ENTRY);
  g_autoptr(SbxReach) again = NULL;
  g_autofree char *text = NULL;

  add_entry (entries, SBX_REACH_CWD, "/work");
  add_entry (entries, SBX_REACH_READ, "/é");
  add_entry (entries, SBX_REACH_WRITE, "/work/out");
  add_entry (entries, SBX_REACH_DOMAIN, NULL);
  add_entry (entries, SBX_REACH_SOCKET, "/run/s");
  add_entry (entries, SBX_REACH_GIT_DIR, "/work/.git");
  add_entry (entries, SBX_REACH_HIDDEN, "/work/runs");
  add_entry (entries, SBX_REACH_PROTECTED, "/work/.git/hooks");
  _sbx_reach_set_entries (reach, entries);

  text = to_text (reach);
  g_assert_nonnull (strstr (text, "    {\n      \"kind\": \"gitDir\",\n"
                                  "      \"path\": \"/work/.git\",\n"
                                  "      \"worktree\": \"/work\",\n"
                                  "      \"source\": \"write[0]: \\\"out\\\"\"\n    },\n"));
  g_assert_nonnull (strstr (text, "\"kind\": \"write\",\n      \"path\": \"/work/out\",\n"
                                  "      \"writable\": true,\n"));
  g_assert_nonnull (strstr (text, "\"kind\": \"domain\",\n      \"domain\": \"example.org\",\n"));

  again = parse (text, NULL);
  g_assert_nonnull (again);
  g_assert_false (sbx_reach_is_resolved (again));
  g_assert_false (sbx_reach_equal (again, reach));
  g_assert_true (sbx_reach_equal (again, asked));
}

static void
assert_not_written (SbxReach   *reach,
                    const char *part)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (sbx_reach_to_json (reach, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, part));
  g_assert_null (strstr (error->message, "secret"));
}

static void
test_not_utf8 (void)
{
  g_autoptr(SbxReach) path = sbx_reach_new ("/");
  g_autoptr(SbxReach) cwd = sbx_reach_new ("/\xfe");
  g_autoptr(SbxReach) variable = sbx_reach_new ("/");
  g_autoptr(SbxReach) settings = sbx_reach_new ("/");
  g_autoptr(SbxReach) entry = sbx_reach_new ("/");
  g_autoptr(GListStore) entries = g_list_store_new (SBX_TYPE_REACH_ENTRY);

  sbx_reach_add_read (path, "/bad\xff");
  assert_not_written (path, "read: “/bad\\xff” is not UTF-8");
  assert_not_written (cwd, "cwd: “/\\xfe” is not UTF-8");
  sbx_reach_set_variable (variable, "TOKEN", "secret\xff");
  assert_not_written (variable, "variable “TOKEN” is not UTF-8");
  sbx_reach_set_environment_key (settings, "bwrap", "no JSON");
  assert_not_written (settings, "environment \"bwrap\"");
  add_entry (entries, SBX_REACH_PROTECTED, "/work/\xff");
  _sbx_reach_set_entries (entry, entries);
  assert_not_written (entry, "entries: “/work/\\xff” is not UTF-8");
}

static void
test_bad_variable (void)
{
  g_autoptr(SbxReach) reach = sbx_reach_new ("/");

  sbx_reach_set_variable (reach, "a=b", "secret");
  assert_not_written (reach, "“a=b”");
}

static void
test_refused (void)
{
  static const struct { const char *json; const char *part; } refusals[] = {
    { "null", "no JSON object" },
    { "{", "cannot be read" },
    { "{\"vm\": 1}", "Unknown field \"vm\"" },
    { "{\"key\": \"a\"}", "Unknown field \"key\"" },
    { "{\"read\": \"a\"}", "read must be a list" },
    { "{\"cwd\": 1}", "cwd needs a non-empty path" },
    { "{\"network\": [\"*.com\"]}", "not a sandbox domain" },
    { "{\"limits\": {\"memory\": 0}}", "memory" },
    { "{\"environment\": {}}", "environment must be an object of one key" },
    { "{\"environment\": {\"a\": {}, \"b\": {}}}", "environment must be an object of one key" },
    { "{\"environment\": {\"a\": 1}}", "environment: " },
    { "{\"environment\": null}", "environment must be an object of one key" },
    { "{\"variables\": [\"A=secret\"]}", "variables must be an object" },
    { "{\"variables\": {\"A\": 1}}", "the value of \"A\" must be a text" },
    { "{\"variables\": {\"\": \"secret\"}}", "“”" },
    { "{\"variables\": {\"A=B\": \"secret\"}}", "“A=B”" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (refusals); i++)
    {
      g_autoptr(GError) error = NULL;

      g_assert_null (parse (refusals[i].json, &error));
      g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
      if (strstr (error->message, refusals[i].part) == NULL)
        g_error ("“%s” is not in: %s", refusals[i].part, error->message);
      g_assert_null (strstr (error->message, "secret"));
    }
}

/* Adding what is there, or much that is not, takes time that grows with it alone. */
static void
test_many (void)
{
  const gint64 begin = g_get_monotonic_time ();
  g_autoptr(SbxReach) reach = sbx_reach_new ("/");
  g_autoptr(SbxReach) copy = NULL;

  for (guint i = 0; i < 400000; i++)
    {
      g_autofree char *path = g_strdup_printf ("/a/path/%u", i % 200000);

      sbx_reach_add_write (reach, path);
    }

  copy = sbx_reach_copy (reach);
  g_assert_cmpuint (g_strv_length ((GStrv) sbx_reach_get_write (copy)), ==, 200000);
  g_assert_cmpstr (sbx_reach_get_write (copy)[199999], ==, "/a/path/199999");
  g_assert_true (sbx_reach_equal (reach, copy));
  sbx_reach_add_write (copy, "/a/path/7");
  g_assert_true (sbx_reach_equal (reach, copy));
  g_assert_cmpint (g_get_monotonic_time () - begin, <, 60 * G_USEC_PER_SEC);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/reach/json/round-trip", test_round_trip);
  g_test_add_func ("/reach/json/least", test_least);
  g_test_add_func ("/reach/json/entries", test_entries);
  g_test_add_func ("/reach/json/not-utf8", test_not_utf8);
  g_test_add_func ("/reach/json/bad-variable", test_bad_variable);
  g_test_add_func ("/reach/json/refused", test_refused);
  g_test_add_func ("/reach/many", test_many);

  return g_test_run ();
}
