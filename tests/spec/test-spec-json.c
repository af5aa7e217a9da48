/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-error.h"
#include "spec/sbx-sandbox-spec-private.h"

#include <string.h>

/* Specs as texts: what is written reads the same again, and what nobody would write ends soon. */

/* More than any of these takes under valgrind, far less than what is quadratic takes. */
#define SOON_US (60 * G_USEC_PER_SEC)

static SbxSandboxSpec *
parse (const char  *json,
       GError     **error)
{
  g_autoptr(GBytes) bytes = g_bytes_new (json, strlen (json));

  return sbx_sandbox_spec_new_from_json (bytes, error);
}

static char *
to_text (SbxSandboxSpec *spec)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) bytes = sbx_sandbox_spec_to_json (spec, &error);

  g_assert_no_error (error);

  return g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
}

static SbxSandboxSpec *
make_full (void)
{
  SbxSandboxSpec *spec = sbx_sandbox_spec_new ();

  sbx_sandbox_spec_set_key (spec, "build “1”");
  sbx_sandbox_spec_set_cwd (spec, "~/src/a b");
  sbx_sandbox_spec_add_read (spec, "~/notes");
  sbx_sandbox_spec_add_read (spec, "/with\nnewline");
  sbx_sandbox_spec_add_write (spec, ".");
  sbx_sandbox_spec_add_domain (spec, "*.Example.org");
  sbx_sandbox_spec_add_socket (spec, "/run/s");
  sbx_sandbox_spec_set_web_search (spec, TRUE);
  sbx_sandbox_spec_set_git_mode (spec, SBX_GIT_MODE_NONE);
  sbx_sandbox_spec_set_limit (spec, SBX_LIMIT_MEMORY, 1 << 20);
  sbx_sandbox_spec_set_limit (spec, SBX_LIMIT_OPEN_FILES, G_MAXINT64);
  sbx_sandbox_spec_set_environment_key (spec, "bwrap", "{ \"toolchain\": false }");

  return spec;
}

static void
test_round_trip (void)
{
  g_autoptr(SbxSandboxSpec) spec = make_full ();
  g_autoptr(GError) error = NULL;
  g_autofree char *text = to_text (spec);
  g_autoptr(SbxSandboxSpec) again = parse (text, &error);
  g_autofree char *text_again = NULL;

  g_assert_no_error (error);
  g_assert_true (sbx_sandbox_spec_equal (spec, again));

  text_again = to_text (again);
  g_assert_cmpstr (text, ==, text_again);
  g_assert_cmpstr (text, ==,
                   "{\n"
                   "  \"key\": \"build “1”\",\n"
                   "  \"cwd\": \"~/src/a b\",\n"
                   "  \"read\": [\n    \"~/notes\",\n    \"/with\\nnewline\"\n  ],\n"
                   "  \"write\": [\n    \".\"\n  ],\n"
                   "  \"network\": [\n    \"*.Example.org\"\n  ],\n"
                   "  \"sockets\": [\n    \"/run/s\"\n  ],\n"
                   "  \"webSearch\": true,\n"
                   "  \"git\": \"none\",\n"
                   "  \"limits\": {\n    \"memory\": 1048576,\n"
                   "    \"openFiles\": 9223372036854775807\n  },\n"
                   "  \"bwrap\": {\n    \"toolchain\": false\n  }\n"
                   "}\n");
}

static void
test_least (void)
{
  g_autoptr(SbxSandboxSpec) spec = sbx_sandbox_spec_new ();
  g_autofree char *text = to_text (spec);
  g_autoptr(SbxSandboxSpec) again = parse (text, NULL);

  g_assert_cmpstr (text, ==, "{}\n");
  g_assert_true (sbx_sandbox_spec_equal (spec, again));
}

/* Also what will be refused: nothing gets lost on the way to the message that refuses it. */
static void
test_strange_members (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxSandboxSpec) spec = parse ("{\"vm\": [1, null], \"srt\": null, \"x\": \"y\"}",
                                          &error);
  g_autofree char *text = to_text (spec);
  g_autoptr(SbxSandboxSpec) again = parse (text, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (sbx_sandbox_spec_get_environment_key (spec), ==, "vm");
  g_assert_cmpstr (sbx_sandbox_spec_get_settings (spec), ==, "[1,null]");
  g_assert_true (sbx_sandbox_spec_equal (spec, again));
}

static void
test_equal (void)
{
  g_autoptr(SbxSandboxSpec) one = make_full ();
  g_autoptr(SbxSandboxSpec) other = make_full ();

  g_assert_true (sbx_sandbox_spec_equal (one, one));
  g_assert_true (sbx_sandbox_spec_equal (one, other));

  sbx_sandbox_spec_set_environment_key (other, "bwrap", "{\"toolchain\":false}");
  g_assert_true (sbx_sandbox_spec_equal (one, other));
  sbx_sandbox_spec_set_environment_key (other, "bwrap", "{\"toolchain\": true}");
  g_assert_false (sbx_sandbox_spec_equal (one, other));
  sbx_sandbox_spec_set_environment_key (other, NULL, NULL);
  g_assert_false (sbx_sandbox_spec_equal (one, other));
  g_assert_null (sbx_sandbox_spec_get_settings (other));
  sbx_sandbox_spec_set_environment_key (other, "bwrap", "{\"toolchain\": false}");
  sbx_sandbox_spec_set_key (other, NULL);
  g_assert_false (sbx_sandbox_spec_equal (one, other));
  sbx_sandbox_spec_set_key (other, sbx_sandbox_spec_get_key (one));
  sbx_sandbox_spec_add_read (other, "/more");
  g_assert_false (sbx_sandbox_spec_equal (one, other));
}

/* Setters take what a getter of the same spec gave. */
static void
test_own_texts (void)
{
  g_autoptr(SbxSandboxSpec) spec = make_full ();

  sbx_sandbox_spec_set_key (spec, sbx_sandbox_spec_get_key (spec));
  sbx_sandbox_spec_set_cwd (spec, sbx_sandbox_spec_get_cwd (spec));
  sbx_sandbox_spec_set_environment_key (spec, sbx_sandbox_spec_get_environment_key (spec),
                                        sbx_sandbox_spec_get_settings (spec));

  g_assert_cmpstr (sbx_sandbox_spec_get_key (spec), ==, "build “1”");
  g_assert_cmpstr (sbx_sandbox_spec_get_cwd (spec), ==, "~/src/a b");
  g_assert_cmpstr (sbx_sandbox_spec_get_environment_key (spec), ==, "bwrap");
  g_assert_cmpstr (sbx_sandbox_spec_get_settings (spec), ==, "{\"toolchain\":false}");
}

static void
assert_not_written (SbxSandboxSpec *spec,
                    const char     *part)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (sbx_sandbox_spec_to_json (spec, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, part));
}

static void
test_not_utf8 (void)
{
  g_autoptr(SbxSandboxSpec) path = sbx_sandbox_spec_new ();
  g_autoptr(SbxSandboxSpec) cwd = sbx_sandbox_spec_new ();
  g_autoptr(SbxSandboxSpec) settings = sbx_sandbox_spec_new ();

  sbx_sandbox_spec_add_read (path, "/good");
  sbx_sandbox_spec_add_write (path, "/bad\xff");
  assert_not_written (path, "write: “/bad\\xff” is not UTF-8");

  sbx_sandbox_spec_set_cwd (cwd, "\xc3");
  assert_not_written (cwd, "cwd: “\\xc3” is not UTF-8");

  sbx_sandbox_spec_set_environment_key (settings, "bwrap", "{");
  assert_not_written (settings, "environment \"bwrap\"");
}

/* The spec @json is refused soon, with a short message that has @part in it. */
static void
assert_refused_soon (GString    *json,
                     int         code,
                     const char *part)
{
  const gint64 begin = g_get_monotonic_time ();
  g_autoptr(GError) error = NULL;

  g_assert_null (parse (json->str, &error));
  g_assert_error (error, SBX_ERROR, code);
  g_assert_nonnull (strstr (error->message, part));
  g_assert_cmpuint (strlen (error->message), <, 2000);
  g_assert_cmpint (g_get_monotonic_time () - begin, <, SOON_US);
}

static GString *
make_list (const char *before,
           const char *entry,
           guint       n_entries,
           const char *after)
{
  GString *json = g_string_new (before);

  for (guint i = 0; i < n_entries; i++)
    g_string_append_printf (json, "%s%s", i > 0 ? "," : "", entry);

  return g_string_append (json, after);
}

static void
test_hostile_lists (void)
{
  g_autoptr(GString) million = make_list ("{\"read\": [", "\"\"", 1000000, "]}");
  g_autoptr(GString) long_list = make_list ("{\"write\": [", "\"a\"", 10001, "]}");
  g_autoptr(GString) deep = g_string_new ("{\"read\": ");
  g_autoptr(GString) list_for_text = make_list ("{\"git\": [", "\"\\u202e\"", 50000, "]}");

  assert_refused_soon (million, SBX_ERROR_TOO_LARGE, "spec cannot be read");
  assert_refused_soon (long_list, SBX_ERROR_TOO_LARGE, "write has 10001 entries");
  assert_refused_soon (list_for_text, SBX_ERROR_INVALID, "git");

  for (guint i = 0; i < 1000000; i++)
    g_string_append_c (deep, '[');
  assert_refused_soon (deep, SBX_ERROR_TOO_LARGE, "spec cannot be read");
}

static void
test_hostile_texts (void)
{
  g_autofree char *megabytes = g_strnfill (8 * 1024 * 1024, 'a');
  g_autofree char *kilobytes = g_strnfill (60 * 1024, 'a');
  g_autoptr(GString) huge = g_string_new (NULL);
  g_autoptr(GString) path = g_string_new (NULL);
  g_autoptr(GString) domain = g_string_new (NULL);
  g_autoptr(GString) name = g_string_new (NULL);

  g_string_printf (huge, "{\"read\": [\"%s\"]}", megabytes);
  assert_refused_soon (huge, SBX_ERROR_TOO_LARGE, "spec cannot be read");
  g_string_printf (path, "{\"read\": [\"/%s\"]}", kilobytes);
  assert_refused_soon (path, SBX_ERROR_TOO_LARGE, "read: the path \"/aaa");
  g_string_printf (domain, "{\"network\": [\"%s.org\"]}", kilobytes);
  assert_refused_soon (domain, SBX_ERROR_INVALID, "not a sandbox domain");
  g_string_printf (name, "{\"limits\": {\"%s\": 1}}", kilobytes);
  assert_refused_soon (name, SBX_ERROR_INVALID, "limits");
}

/* As much as there may be of everything is taken, in time that grows with it alone. */
static void
test_largest (void)
{
  const gint64 begin = g_get_monotonic_time ();
  g_autoptr(GString) json = g_string_new ("{");
  g_autoptr(SbxSandboxSpec) spec = NULL;
  g_autoptr(SbxReach) asked = NULL;
  g_autoptr(GError) error = NULL;
  static const char * const fields[] = { "read", "write", "sockets" };

  for (gsize f = 0; f < G_N_ELEMENTS (fields); f++)
    {
      g_string_append_printf (json, "%s\"%s\": [", f > 0 ? "," : "", fields[f]);
      for (guint i = 0; i < 10000; i++)
        g_string_append_printf (json, "%s\"/same/long/path/to/%u\"", i > 0 ? "," : "", i);
      g_string_append_c (json, ']');
    }
  g_string_append_c (json, '}');

  spec = parse (json->str, &error);
  g_assert_no_error (error);
  asked = _sbx_sandbox_spec_to_asked (spec, NULL, FALSE, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_strv_length ((GStrv) sbx_reach_get_write (asked)), ==, 10000);
  g_assert_cmpstr (sbx_reach_get_sockets (asked)[9999], ==, "/same/long/path/to/9999");
  g_assert_cmpint (g_get_monotonic_time () - begin, <, SOON_US);
}

/* In code there is no reader to stop it: what is used is bounded all the same. */
static void
test_many_in_code (void)
{
  const gint64 begin = g_get_monotonic_time ();
  g_autoptr(SbxSandboxSpec) spec = sbx_sandbox_spec_new ();
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < 200000; i++)
    {
      g_autofree char *path = g_strdup_printf ("/p/%u", i % 100000);

      sbx_sandbox_spec_add_read (spec, path);
    }

  g_assert_cmpuint (g_strv_length ((GStrv) sbx_sandbox_spec_get_read (spec)), ==, 100000);
  g_assert_null (_sbx_sandbox_spec_to_asked (spec, NULL, FALSE, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE);
  g_assert_nonnull (strstr (error->message, "read has 100000 entries"));
  g_assert_cmpint (g_get_monotonic_time () - begin, <, SOON_US);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/spec/json/round-trip", test_round_trip);
  g_test_add_func ("/spec/json/least", test_least);
  g_test_add_func ("/spec/json/strange-members", test_strange_members);
  g_test_add_func ("/spec/json/equal", test_equal);
  g_test_add_func ("/spec/json/own-texts", test_own_texts);
  g_test_add_func ("/spec/json/not-utf8", test_not_utf8);
  g_test_add_func ("/spec/json/hostile-lists", test_hostile_lists);
  g_test_add_func ("/spec/json/hostile-texts", test_hostile_texts);
  g_test_add_func ("/spec/json/largest", test_largest);
  g_test_add_func ("/spec/json/many-in-code", test_many_in_code);

  return g_test_run ();
}
